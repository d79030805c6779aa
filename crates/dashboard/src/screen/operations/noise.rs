//! The rules about noise: what was learned, on what evidence, and the last word of people over it.

use askama::Template;
use axum::http::Method;
use axum::response::Response;
use serde_json::{Map, Value};

use super::Tabs;
use crate::answers::{Rule, Status};
use crate::chart::{Svg, meter};
use crate::fields::Fields;
use crate::frame::{Frame, Place};
use crate::numbers::{count, counted, percent};
use crate::problem::Told;
use crate::question::{Question, link};
use crate::reader::Reader;
use crate::screen::page::unknown_act;
use crate::screen::page::{drawn, leads_to};
use crate::times::{Time, Times};

const ROWS: usize = 100;
/// Letters of an example that are shown.
const EXAMPLE_LETTERS: usize = 160;
const STANDINGS: [(&str, &str); 7] = [
    ("", "All"),
    ("learned", "Learned"),
    ("suspected", "Suspected"),
    ("added", "Added"),
    ("allowed", "Allowed"),
    ("turned", "Turned"),
    ("content", "Content"),
];

#[derive(Template)]
#[template(path = "operations-noise.html")]
struct Noise {
    frame: Frame,
    tabs: Tabs,
    standings: Vec<(&'static str, String, bool)>,
    site: String,
    rows: Vec<Row>,
    more: Option<String>,
    fields: Fields,
}

struct Row {
    site: String,
    id: u32,
    what: String,
    before: String,
    after: String,
    place: String,
    evidence: Option<Svg>,
    evidence_words: String,
    reason: String,
    since: Time,
    chip: &'static str,
    standing: String,
    /// The word of a person that fits, and how the button is called.
    word: (&'static str, &'static str),
}

pub async fn list(reader: Reader, fields: Fields) -> Told<Response> {
    let status: Status = reader.one(Question::of("status")).await?;
    let (site, standing) = (fields.one("site").to_owned(), fields.one("standing").to_owned());
    let asked = Question::of("noise")
        .with_some("site", Some(&site))
        .with_some("standing", Some(&standing))
        .with_some("after", fields.some("after"))
        .with("limit", ROWS);
    let listed = reader.list::<Rule>(asked).await?;
    let times = Times::new(status.now());
    let address = |standing: &str, after: &str| {
        link("/operations/noise", &[("site", &*site), ("standing", standing), ("after", after)])
    };
    drawn(&Noise {
        frame: Frame::of(&reader, "Noise", Place::Operations, &status),
        tabs: Tabs("noise"),
        standings: STANDINGS.map(|(name, words)| (words, address(name, ""), name == standing)).into_iter().collect(),
        rows: listed.rows.iter().map(|rule| row(rule, &times)).collect(),
        more: listed.after.as_deref().map(|after| address(&standing, after)),
        site,
        fields,
    })
}

fn row(rule: &Rule, times: &Times) -> Row {
    let share = (rule.compared > 0).then(|| rule.differed as f64 / rule.compared as f64);
    let chip = match &*rule.standing {
        "learned" => "good",
        "added" => "warn",
        "allowed" | "turned" => "line",
        _ => "",
    };
    let short = |text: &str| text.chars().take(EXAMPLE_LETTERS).collect::<String>();
    Row {
        site: rule.site.clone(),
        id: rule.id,
        what: rule.what.clone(),
        before: short(&rule.before),
        after: short(&rule.after),
        place: match &*rule.on {
            "page" => rule.page.clone().unwrap_or_else(|| "one page".into()),
            "template" => "every page of a template".into(),
            _ => "the whole site".into(),
        },
        evidence: share.map(|share| meter(share, &format!("{} %", percent(share)), false)),
        evidence_words: format!(
            "{} of {}, {}",
            count(rule.differed),
            count(rule.compared),
            counted(rule.pages, "page")
        ),
        reason: rule.reason.clone(),
        since: times.moment(rule.since.as_deref()),
        chip,
        standing: rule.standing.clone(),
        word: match &*rule.standing {
            "learned" | "suspected" | "added" => ("allow", "Allow"),
            _ => ("forget", "Forget"),
        },
    }
}

/// Adds, allows or forgets a rule.
pub async fn act(reader: Reader, fields: Fields) -> Told<Response> {
    let word = fields.one("act");
    if !["add", "allow", "forget"].contains(&word) {
        return Err(unknown_act(word));
    }
    let mut body = Map::new();
    body.insert("word".into(), word.into());
    for name in ["site", "words", "kind", "notes", "page", "reason"] {
        if let Some(value) = fields.some(name) {
            body.insert(name.into(), value.into());
        }
    }
    if let Some(id) = fields.some("id") {
        body.insert("id".into(), id.parse::<u32>().map_or_else(|_| id.into(), Value::from));
    }
    reader.send(Method::POST, Question::of("noise"), Some(&Value::Object(body))).await?;
    Ok(leads_to(fields.some("back").unwrap_or("/operations/noise")))
}
