//! All sites in a table that can be sorted by any of its columns.

use askama::Template;
use axum::extract::Query;
use axum::response::Response;
use serde::Deserialize;

use super::overview::{best_hint, state};
use super::page::drawn;
use crate::answers::{Site, Status};
use crate::frame::{Frame, Place};
use crate::numbers::{bytes, count, counted, figure, share};
use crate::problem::Told;
use crate::question::{Question, link, segment};
use crate::reader::Reader;

const SITES_SHOWN: usize = 100;
const USUAL: &str = "-held";

#[derive(Deserialize)]
#[serde(default)]
#[derive(Default)]
pub struct Asked {
    sort: String,
    tag: String,
    after: String,
}

#[derive(Template)]
#[template(path = "sites.html")]
struct Sites {
    frame: Frame,
    lead: String,
    columns: Vec<Column>,
    rows: Vec<Line>,
    more: Option<String>,
}

struct Column {
    words: &'static str,
    link: String,
    /// `ascending`, `descending`, or nothing.
    order: &'static str,
    is_number: bool,
}

struct Line {
    name: String,
    link: String,
    tags: Vec<String>,
    /// What a cell is called on small screens, and its figure.
    figures: Vec<(&'static str, String)>,
    hint: String,
    state: (&'static str, String),
}

const COLUMNS: [(&str, &str); 8] = [
    ("site", "Site"),
    ("held", "Pages"),
    ("waiting", "Waiting"),
    ("freshness", "Believed fresh"),
    ("change_rate", "Changes a day and page"),
    ("visits", "Visits"),
    ("changes", "Changes"),
    ("wire_bytes", "On the wire"),
];

pub async fn show(reader: Reader, Query(asked): Query<Asked>) -> Told<Response> {
    let sort = if asked.sort.is_empty() { USUAL } else { &asked.sort };
    let list = Question::of("sites").with("sort", sort).with("limit", SITES_SHOWN);
    let list = list.with_some("tag", Some(&asked.tag)).with_some("after", Some(&asked.after));
    let (status, listed) = tokio::join!(reader.one::<Status>(Question::of("status")), reader.list::<Site>(list));
    let (status, listed) = (status?, listed?);
    let troubled = listed.rows.iter().filter(|site| site.trouble.is_some()).count() as u64;
    let trouble = if troubled == 0 {
        "All of those shown answer".to_owned()
    } else {
        format!("{} in trouble", counted(troubled, "site"))
    };
    let totals = &status.totals;
    drawn(&Sites {
        frame: Frame::of(&reader, "Sites", Place::Sites, &status),
        lead: format!("{} with {} held. {trouble}.", counted(totals.sites, "site"), counted(totals.held, "page")),
        columns: COLUMNS.map(|(name, words)| column(name, words, sort, &asked.tag)).into_iter().collect(),
        rows: listed.rows.iter().map(line).collect(),
        more: listed.after.map(|after| link("/sites", &[("sort", sort), ("tag", &asked.tag), ("after", &after)])),
    })
}

fn column(name: &'static str, words: &'static str, sort: &str, tag: &str) -> Column {
    let (falling, order) = match () {
        () if sort == name => (true, "ascending"),
        () if sort.strip_prefix('-') == Some(name) => (false, "descending"),
        () => (name != "site", ""),
    };
    let next = if falling { format!("-{name}") } else { name.to_owned() };
    Column { words, link: link("/sites", &[("sort", &*next), ("tag", tag)]), order, is_number: name != "site" }
}

fn line(site: &Site) -> Line {
    let (counts, measures) = (&site.counts, &site.measures);
    Line {
        name: site.site.clone(),
        link: format!("/sites/{}", segment(&site.site)),
        tags: site.tags.clone(),
        figures: vec![
            ("pages", count(counts.held)),
            ("waiting", count(counts.waiting)),
            ("fresh", share(measures.freshness_believed)),
            ("changes a day", measures.change_rate_per_day.map_or("–".into(), figure)),
            ("visits", count(counts.visits)),
            ("changes", count(counts.changes)),
            ("wire", bytes(counts.wire_bytes)),
        ],
        hint: best_hint(site),
        state: state(site),
    }
}
