//! Login and logout, light and dark, and the list behind "More" on small screens.

use std::sync::Arc;

use askama::Template;
use axum::Form;
use axum::extract::{Query, State};
use axum::http::HeaderMap;
use axum::response::Response;
use serde::Deserialize;

use super::page::{drawn, leads_to, own_address, with_cookie};
use crate::answers::Status;
use crate::dashboard::House;
use crate::frame::{Frame, Place};
use crate::problem::{Problem, Told};
use crate::question::Question;
use crate::reader::Reader;
use crate::session::{self, COOKIE_NAME};

/// Light or dark is kept for a year.
const THEME_KEPT_S: u32 = 365 * 86_400;

#[derive(Template)]
#[template(path = "login.html")]
struct Login {
    frame: Frame,
    wrong: Option<String>,
}

#[derive(Template)]
#[template(path = "more.html")]
struct More {
    frame: Frame,
}

#[derive(Deserialize)]
#[serde(default)]
#[derive(Default)]
pub struct Asked {
    /// A token in an address, as `vernal run` prints it.
    token: Option<String>,
    back: String,
    theme: String,
}

/// The form; with a token in the address, as the terminal shows it, the door itself.
pub async fn show(State(house): State<Arc<House>>, reader: Reader, Query(asked): Query<Asked>) -> Told<Response> {
    if asked.token.is_some() {
        return enter(&house, reader, asked).await;
    }
    let back = if asked.back.is_empty() { "/" } else { own_address(&asked.back) };
    let frame = Frame { address: back.to_owned(), ..Frame::bare(&reader, "Log in", Place::Beside) };
    drawn(&Login { frame, wrong: None })
}

pub async fn login(State(house): State<Arc<House>>, reader: Reader, Form(asked): Form<Asked>) -> Told<Response> {
    enter(&house, reader, asked).await
}

async fn enter(house: &House, reader: Reader, asked: Asked) -> Told<Response> {
    let token = asked.token.unwrap_or_default().trim().to_owned();
    let back = own_address(&asked.back).to_owned();
    // The API says whether the token opens anything.
    if let Err(problem) = reader.clone().with_token(&token)?.one::<Status>(Question::of("status")).await {
        let frame = Frame { address: back, has_token: false, ..Frame::bare(&reader, "Log in", Place::Beside) };
        let mut response = drawn(&Login { frame, wrong: Some(problem.line) })?;
        *response.status_mut() = problem.status;
        return Ok(response);
    }
    let name = (house.random)().map_err(|error| Problem::failed(format!("begin a session: {error}")))?;
    let cookie = session::set(COOKIE_NAME, &name, None, house.is_secure);
    house.sessions.begin(name, token);
    Ok(with_cookie(leads_to(&back), &cookie))
}

pub async fn logout(State(house): State<Arc<House>>, headers: HeaderMap) -> Response {
    if let Some(name) = session::cookie(&headers, COOKIE_NAME) {
        house.sessions.end(name);
    }
    with_cookie(leads_to("/"), &session::set(COOKIE_NAME, "", Some(0), house.is_secure))
}

pub async fn theme(State(house): State<Arc<House>>, Form(asked): Form<Asked>) -> Response {
    let theme = if asked.theme == "dark" { "dark" } else { "light" };
    with_cookie(leads_to(&asked.back), &session::set("theme", theme, Some(THEME_KEPT_S), house.is_secure))
}

pub async fn more(reader: Reader) -> Told<Response> {
    let status: Status = reader.one(Question::of("status")).await?;
    drawn(&More { frame: Frame::of(&reader, "More", Place::Beside, &status) })
}
