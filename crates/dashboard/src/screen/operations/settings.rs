//! The settings in force, each with its source, and those of this browser.

use askama::Template;
use axum::extract::State;
use axum::response::Response;
use std::sync::Arc;

use super::Tabs;
use super::state::row;
use crate::answers::{Setting, Status};
use crate::dashboard::House;
use crate::fields::Fields;
use crate::frame::{Frame, Place};
use crate::problem::Told;
use crate::question::Question;
use crate::reader::Reader;
use crate::screen::page::{drawn, leads_to, with_cookie};
use crate::session;

/// A choice of the browser is kept for a year.
const KEPT_S: u32 = 365 * 86_400;

#[derive(Template)]
#[template(path = "operations-settings.html")]
struct Settings {
    frame: Frame,
    tabs: Tabs,
    given: Vec<(String, String, String)>,
    usual: Vec<(String, String, String)>,
    budget: String,
    data: String,
}

pub async fn show(reader: Reader) -> Told<Response> {
    let status: Status = reader.one(Question::of("status")).await?;
    let rows = reader.list::<Setting>(Question::of("settings")).await?.rows;
    let (usual, given): (Vec<&Setting>, Vec<&Setting>) = rows.iter().partition(|setting| setting.source == "default");
    drawn(&Settings {
        frame: Frame::of(&reader, "Settings", Place::Operations, &status),
        tabs: Tabs("settings"),
        given: given.into_iter().map(row).collect(),
        usual: usual.into_iter().map(row).collect(),
        budget: status.budget.clone(),
        data: status.data.clone(),
    })
}

/// Whether single keys act in this browser.
pub async fn keys(State(house): State<Arc<House>>, fields: Fields) -> Response {
    let keys = if fields.one("keys") == "off" { "off" } else { "on" };
    with_cookie(leads_to("/operations/settings"), &session::set("keys", keys, Some(KEPT_S), house.is_secure))
}
