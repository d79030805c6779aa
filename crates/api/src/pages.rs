//! The visited pages, as a list that streams.

use std::sync::Arc;

use axum::extract::State;
use schemars::JsonSchema;
use serde::Serialize;
use vernal_model::{Page, PageKey, PageState, Site};
use vernal_repository::Reader;

use super::answer::{self, ApiError, ApiResult, Lines, Listed, StreamError};
use super::names;
use super::nouns::Nouns;
use super::paging::Part;
use super::parameters::{List, Parameters, Sort, site};
use super::shared::{Seeds, Shared, time};

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "PageRow")]
pub struct Row {
    pub url: String,
    pub site: String,
    pub state: &'static str,
    pub version: Option<u32>,
    pub status: Option<u16>,
    pub last_visit: Option<String>,
    pub last_confirmed: Option<String>,
    pub last_outcome: &'static str,
    pub visits: u32,
    pub changes: u32,
    pub depth: u16,
    pub body_bytes: Option<u32>,
    pub importance: f32,
    pub tags: Vec<String>,
    /// The first name of this page, if it is a second name.
    pub same_as: Option<String>,
}

const COLUMNS: [&str; 10] = [
    "url",
    "state",
    "version",
    "last_visit",
    "last_confirmed",
    "visits",
    "changes",
    "depth",
    "body_bytes",
    "importance",
];

/// Which pages are asked for.
struct PagesQuery {
    site: Option<Site>,
    state: Option<PageState>,
    tag: Option<String>,
    part: Part,
}

pub fn routes(nouns: Nouns) -> Nouns {
    nouns.get("/api/v1/pages", "The visited pages", list)
}

pub async fn list(State(shared): State<Arc<Shared>>, Parameters(asked): Parameters<List>) -> ApiResult<Listed<Row>> {
    let query = PagesQuery {
        site: asked.site.as_deref().map(site).transpose()?,
        state: asked.state.as_deref().map(state).transpose()?,
        tag: asked.tag,
        part: Part::read(asked.limit, asked.after.as_deref())?,
    };
    let sort = asked.sort;
    if let Some(text) = &sort {
        Sort::read(text, &COLUMNS)?;
    }
    let (reader, seeds) = (shared.reader.clone(), shared.seeds()?);
    Ok(answer::listed(move |lines| match sort {
        None => in_order_of_keys(&reader, &seeds, &query, lines),
        Some(text) => sorted(&reader, &seeds, &query, &text, lines),
    }))
}

fn state(text: &str) -> Result<PageState, ApiError> {
    let found = PageState::ALL.into_iter().find(|state| state.name() == text);
    found.ok_or_else(|| {
        let names = PageState::ALL.map(PageState::name).join(", ");
        ApiError::bad_request(format!("`{text}` is no state of a page; there are {names}"))
    })
}

impl PagesQuery {
    fn covers(&self, page: &Page, seeds: &Seeds) -> bool {
        self.site.as_ref().is_none_or(|site| page.url.site_text() == site.as_str())
            && self.state.is_none_or(|state| page.state == state)
            && seeds.tagged(self.tag.as_deref(), &page.url, page.depth)
    }
}

fn in_order_of_keys(
    reader: &Reader,
    seeds: &Seeds,
    query: &PagesQuery,
    lines: &mut Lines<Row>,
) -> Result<(), StreamError> {
    let covered = reader.pages_after(None).filter(|page| page.as_ref().map_or(true, |page| query.covers(page, seeds)));
    query.part.write(covered, lines, |page| Ok(row(reader, &page?, seeds)?))
}

/// Only the sort keys are held in memory; the rows are read again in their order.
fn sorted(
    reader: &Reader,
    seeds: &Seeds,
    query: &PagesQuery,
    text: &str,
    lines: &mut Lines<Row>,
) -> Result<(), StreamError> {
    let Ok(sort) = Sort::read(text, &COLUMNS) else { return Ok(()) };
    let mut keys: Vec<(Key, PageKey)> = Vec::new();
    for page in reader.pages_after(None) {
        let page = page?;
        if query.covers(&page, seeds) {
            keys.push((key(&page, sort.column), page.key));
        }
    }
    keys.sort_unstable();
    if sort.descending {
        keys.reverse();
    }
    let pages = keys.into_iter().filter_map(|(_, page)| reader.page(page).transpose());
    query.part.write(pages, lines, |page| Ok(row(reader, &page?, seeds)?))
}

#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    Number(i64),
    Text(Box<str>),
}

fn key(page: &Page, column: &str) -> Key {
    Key::Number(match column {
        "url" => return Key::Text(page.url.as_str().into()),
        "state" => return Key::Text(page.state.name().into()),
        "version" => page.version.map_or(0, |version| i64::from(version.number)),
        "last_visit" => page.last_visit.micros(),
        "last_confirmed" => page.last_confirmed.map_or(i64::MIN, |moment| moment.micros()),
        "visits" => i64::from(page.visits),
        "changes" => i64::from(page.changes),
        "depth" => i64::from(page.depth),
        "body_bytes" => page.version.map_or(-1, |version| i64::from(version.body_bytes)),
        _ => (f64::from(page.importance) * 1e6) as i64,
    })
}

pub fn row(reader: &Reader, page: &Page, seeds: &Seeds) -> Result<Row, vernal_repository::Error> {
    let same_as = reader.name_row(page.key)?.same_as;
    let same_as = same_as.map(|same| names::url_of(reader, same.first)).transpose()?.flatten();
    Ok(Row {
        url: page.url.to_string(),
        site: page.url.site_text().to_owned(),
        state: page.state.name(),
        version: page.version.map(|version| version.number),
        status: page.last_outcome.status(),
        last_visit: time(page.last_visit),
        last_confirmed: page.last_confirmed.and_then(time),
        last_outcome: page.last_outcome.name(),
        visits: page.visits,
        changes: page.changes,
        depth: page.depth,
        body_bytes: page.version.map(|version| version.body_bytes),
        importance: page.importance,
        tags: seeds.tags(&page.url, page.depth),
        same_as,
    })
}
