//! Deliveries: what was sent, what waits and what was given up.

use askama::Template;
use axum::extract::Query;
use axum::http::Method;
use axum::response::Response;
use serde::Deserialize;

use super::watches::Tabs;
use crate::answers::{Delivery, Status};
use crate::fields::Fields;
use crate::frame::{Frame, Place};
use crate::problem::Told;
use crate::question::{Question, link, segment};
use crate::reader::Reader;
use crate::screen::page::{drawn, leads_to};
use crate::times::{Time, Times};

const ROWS: usize = 50;
const STATES: [(&str, &str); 4] = [("", "All"), ("waiting", "Waiting"), ("sent", "Sent"), ("given-up", "Given up")];

#[derive(Default, Deserialize)]
#[serde(default)]
pub struct Asked {
    state: String,
    watch: String,
    route: String,
    after: String,
}

#[derive(Template)]
#[template(path = "deliveries.html")]
struct Deliveries {
    frame: Frame,
    tabs: Tabs,
    states: Vec<(&'static str, String, bool)>,
    rows: Vec<Row>,
    more: Option<String>,
}

pub struct Row {
    pub id: String,
    pub made: Time,
    pub route: String,
    pub watch: String,
    pub watch_link: String,
    pub line: String,
    pub events: Vec<(String, String)>,
    pub answer: (&'static str, String),
    pub tries: String,
    pub is_done: bool,
}

pub async fn list(reader: Reader, Query(asked): Query<Asked>) -> Told<Response> {
    let status: Status = reader.one(Question::of("status")).await?;
    let question = Question::of("deliveries")
        .with_some("state", Some(&asked.state))
        .with_some("watch", Some(&asked.watch))
        .with_some("route", Some(&asked.route))
        .with_some("after", Some(&asked.after))
        .with("limit", ROWS);
    let listed = reader.list::<Delivery>(question).await?;
    let times = Times::new(status.now());
    let address = |state: &str, after: &str| {
        link("/deliveries", &[("state", state), ("watch", &asked.watch), ("route", &asked.route), ("after", after)])
    };
    drawn(&Deliveries {
        frame: Frame::of(&reader, "Deliveries", Place::Watches, &status),
        tabs: Tabs::of(&status, "deliveries"),
        states: STATES.map(|(name, words)| (words, address(name, ""), name == asked.state)).into_iter().collect(),
        rows: listed.rows.iter().map(|delivery| row(delivery, &times)).collect(),
        more: listed.after.map(|after| address(&asked.state, &after)),
    })
}

pub fn row(delivery: &Delivery, times: &Times) -> Row {
    let last = delivery.latest.last();
    let answer = match (&*delivery.state, last) {
        ("sent", Some(last)) => {
            let status = last.status.map_or_else(|| "taken".into(), |status| status.to_string());
            ("good", format!("{status} in {} ms", last.took_ms))
        }
        ("sent", None) => ("good", "taken".into()),
        ("given-up", last) => {
            ("bad-t", last.map_or_else(|| "given up".into(), |last| format!("given up: {}", last.answer)))
        }
        (_, Some(last)) => {
            let status = last.status.map_or_else(|| last.answer.clone(), |status| status.to_string());
            ("warn-t", format!("{status}, waits"))
        }
        (_, None) => ("", "waits for its first try".into()),
    };
    let next = delivery.next.as_deref().map(|next| times.moment(Some(next)).words);
    Row {
        id: delivery.id.clone(),
        made: times.moment(delivery.made.as_deref()),
        route: delivery.route.clone(),
        watch: delivery.watch_name.clone(),
        watch_link: format!("/watches/{}", segment(&delivery.watch)),
        line: delivery.line.clone(),
        events: delivery.events.iter().take(3).map(|id| (id.clone(), format!("/changes/{}", segment(id)))).collect(),
        tries: match (delivery.tries, next) {
            (0, None) => String::new(),
            (tries, None) => format!("try {tries}"),
            (tries, Some(next)) => format!("try {tries}, again at {next}"),
        },
        answer,
        is_done: delivery.state != "waiting",
    }
}

/// Sends one anew.
pub async fn again(reader: Reader, fields: Fields) -> Told<Response> {
    let question = Question::of(&format!("deliveries/{}/again", segment(fields.one("id"))));
    reader.send(Method::POST, question, None).await?;
    Ok(leads_to(fields.some("back").unwrap_or("/deliveries")))
}
