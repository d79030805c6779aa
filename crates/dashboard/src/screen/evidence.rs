//! One visit: what was asked, what came, what was decided and why, and where the bytes lie.

use askama::Template;
use axum::extract::Query;
use axum::http::StatusCode;
use axum::response::Response;
use serde::Deserialize;

use super::page::drawn;
use super::page_head::PageHead;
use crate::answers::{Evidence, Page, Status};
use crate::frame::{Frame, Place};
use crate::numbers::{bytes, count};
use crate::problem::{Problem, Told};
use crate::question::{Question, link};
use crate::reader::Reader;
use crate::times::{Time, Times, second_of};
use crate::words;

/// Visits among which the one that is asked for is looked for.
const VISITS_READ: usize = 2_000;
/// Visits beside it in the list.
const VISITS_SHOWN: usize = 25;
/// Letters of what the site wrote that are shown.
const DETAIL_MAX: usize = 2_000;

#[derive(Deserialize)]
pub struct Asked {
    url: String,
    /// When it began.
    visit: Option<String>,
}

#[derive(Template)]
#[template(path = "evidence.html")]
struct EvidenceScreen {
    frame: Frame,
    head: PageHead,
    says: String,
    rows: Vec<(&'static str, String)>,
    noise: Vec<(String, String, String)>,
    leads: Vec<(String, &'static str)>,
    visits: Vec<Line>,
}

struct Line {
    at: Time,
    link: String,
    outcome: String,
    is_shown: bool,
}

pub async fn show(reader: Reader, Query(asked): Query<Asked>) -> Told<Response> {
    let status: Status = reader.one(Question::of("status")).await?;
    let page: Page = reader.one(Question::of("page").with("url", &asked.url)).await?;
    let history = Question::of("history").with("url", &asked.url).with("limit", VISITS_READ);
    let visits = reader.list::<Evidence>(history).await?.rows;
    let is_asked = |visit: &Evidence| visit.visit.started.is_some() && visit.visit.started == asked.visit;
    let place = match &asked.visit {
        None => Some(0).filter(|_| !visits.is_empty()),
        Some(_) => visits.iter().position(is_asked),
    };
    let Some(place) = place else {
        return Err(Problem::new(StatusCode::NOT_FOUND, format!("no such visit to {} is kept", asked.url)));
    };
    let times = Times::new(status.now());
    let evidence = &visits[place];
    let first = place.saturating_sub(VISITS_SHOWN / 2);
    let beside = visits.iter().enumerate().skip(first).take(VISITS_SHOWN);
    drawn(&EvidenceScreen {
        frame: Frame::of(&reader, "Evidence", Place::Sites, &status),
        head: PageHead::of(&page, "/evidence"),
        says: says(evidence, &times),
        rows: rows(evidence, &times),
        noise: noise(evidence),
        leads: leads(&asked.url, evidence),
        visits: beside.map(|(at, visit)| line(&asked.url, visit, at == place, &times)).collect(),
    })
}

fn line(url: &str, visit: &Evidence, is_shown: bool, times: &Times) -> Line {
    let started = visit.visit.started.as_deref();
    Line {
        at: times.moment(started),
        link: link("/evidence", &[("url", url), ("visit", started.unwrap_or_default())]),
        outcome: found(visit).to_owned(),
        is_shown,
    }
}

/// What a visit came to, in two words.
fn found(visit: &Evidence) -> &str {
    match visit.visit.changed {
        Some(true) => "a change",
        Some(false) if visit.visit.is_noise() => "only noise",
        Some(false) => "the same",
        None if visit.visit.version.as_ref().is_some_and(|version| version.number == 1) => "new",
        None => &visit.visit.outcome,
    }
}

fn says(visit: &Evidence, times: &Times) -> String {
    let at = times.moment(visit.visit.started.as_deref()).words;
    let second = if visit.visit.second_look { ", minutes after another, to learn what is noise" } else { "" };
    let imported = if visit.visit.imported { " Somebody else made it; an import brought it here." } else { "" };
    format!("The visit of {at}{second}: {}.{imported}", found(visit))
}

fn rows(evidence: &Evidence, times: &Times) -> Vec<(&'static str, String)> {
    let visit = &evidence.visit;
    let took = visit.started.as_deref().and_then(second_of).zip(evidence.finished.as_deref().and_then(second_of));
    let took = took.map_or_else(String::new, |(from, until)| format!(", {} s later finished", (until - from).max(0.0)));
    let mut rows = vec![("Asked", format!("{}{took}", visit.started.clone().unwrap_or_default()))];
    rows.extend(evidence.address.clone().map(|address| ("Address", address)));
    let status = visit.status.map_or_else(String::new, |status| format!("{status}, "));
    rows.push(("Answer", format!("{status}{}, {} on the wire", visit.outcome, bytes(visit.wire_bytes))));
    if !visit.detail.is_empty() {
        rows.push(("Detail", words::cut(&visit.detail, DETAIL_MAX)));
    }
    rows.extend(evidence.decided_by.clone().map(|decided| ("Decided by", decided)));
    if let Some(change) = &visit.change {
        rows.push(("Kinds that differ", change.kinds.join(", ")));
        rows.push(("Left after noise", if change.left.is_empty() { "nothing".into() } else { change.left.join(", ") }));
        rows.push(("How much", format!("{} ({:.3})", change.degree, change.magnitude)));
    }
    if visit.seen_same.is_some() {
        let bracket = times.bracket(visit.seen_same.as_deref(), visit.seen_different.as_deref());
        rows.push(("Changed between", bracket.to_string()));
    }
    if visit.folded {
        rows.push(("Told", "once for the whole site: many of its pages differ alike".into()));
    }
    rows.extend(
        evidence.counted.map(|counted| ("For the schedule", (if counted { "a change" } else { "no change" }).into())),
    );
    if let Some(version) = &visit.version {
        rows.push(("Version", format!("{}, {}", version.number, bytes(version.body_bytes))));
        rows.push(("Payload", version.payload_digest.clone()));
    }
    if let Some(place) = &evidence.record {
        let (offset, length) = (count(place.offset), count(place.length));
        rows.push(("WARC record", format!("segment {}, at byte {offset}, {length} bytes long", place.segment)));
    }
    rows
}

fn noise(evidence: &Evidence) -> Vec<(String, String, String)> {
    let aside = evidence.visit.change.iter().flat_map(|change| &change.noise);
    let short = |text: &Option<String>| words::cut(text.as_deref().unwrap_or_default(), DETAIL_MAX / 5);
    aside
        .map(|noise| (format!("{}: {}", noise.kind, noise.detector), short(&noise.before), short(&noise.after)))
        .collect()
}

fn leads(url: &str, evidence: &Evidence) -> Vec<(String, &'static str)> {
    let Some(version) = &evidence.visit.version else { return Vec::new() };
    let number = version.number.to_string();
    let mut leads = vec![
        (link("/as-it-was", &[("url", url), ("version", &number)]), "As it was"),
        (Question::of("body").with("url", url).with("version", version.number).address(), "The bytes"),
    ];
    if version.number > 1 {
        let before = (version.number - 1).to_string();
        leads.insert(
            0,
            (
                link("/diff", &[("url", url), ("from", &before), ("to", &number)]),
                "What differs from the version before",
            ),
        );
    }
    leads
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_visit_is_told_with_all_its_evidence() {
        let text = r#"{"started":"2026-11-20T22:56:21.224Z","finished":"2026-11-20T22:56:22.268Z","outcome":"read",
            "status":200,"detail":"<b>","version":{"number":13,"payload_digest":"sha1:X","body_bytes":2274},
            "decided_by":"content","address":"127.0.1.8","wire_bytes":2633,"second_look":true,"counted":true,"changed":true,
            "record":{"segment":1,"offset":13685917,"length":2869}}"#;
        let evidence: Evidence = serde_json::from_str(text).unwrap();
        let times = Times::new(Some("2026-11-21T00:00:00Z"));
        assert_eq!(
            says(&evidence, &times),
            "The visit of 20 Nov 22:56, minutes after another, to learn what is noise: a change."
        );
        let rows = rows(&evidence, &times);
        assert!(rows.contains(&("WARC record", "segment 1, at byte 13,685,917, 2,869 bytes long".into())), "{rows:?}");
        assert!(leads("http://a.example/", &evidence)[0].0.ends_with("&from=12&to=13"));
    }
}
