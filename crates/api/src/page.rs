//! Everything known of one page.

use std::sync::Arc;

use axum::extract::State;
use schemars::JsonSchema;
use serde::Serialize;
use vernal_model::{DocumentRow, Event, Page, PageKey, PageState, Url, Version, Via};
use vernal_repository::{KnownState, Reader};

use super::answer::{self, ApiError, ApiResult, One};
use super::forget;
use super::hints;
use super::names;
use super::nouns::Nouns;
use super::pages::{self, Row};
use super::papers::{self, LastChange};
use super::parameters::{OfUrl, Parameters, url};
use super::shared::{RobotsVisit, Shared, time};
use super::topics::{self, TopicJson};
use super::url_record::{self, UrlRecordJson};

#[derive(Serialize, JsonSchema)]
pub struct PageAnswer {
    #[serde(flatten)]
    row: Row,
    /// Its second names, the first of them.
    also_named: Vec<String>,
    /// Since when it is a second name, and why: canonical, spelling or person.
    named_since: Option<String>,
    named_by: Option<&'static str>,
    key: String,
    detail: String,
    admitted: Option<String>,
    first_visit: Option<String>,
    found_on: Option<String>,
    /// The page that uses it, if it was found as an image, a script or a style sheet of that page.
    requisite_of: Option<String>,
    back_links: u32,
    /// What links alone say of it; the mean over held pages is 1.
    score: Option<f32>,
    compared: u32,
    misses: u16,
    missing_since: Option<String>,
    failures: u16,
    not_before: Option<String>,
    etag: Option<String>,
    last_modified: Option<String>,
    trouble: Option<String>,
    /// For a page that was refused.
    robots_visit: Option<RobotsVisit>,
    /// What it is best known for, as far as topics were reckoned.
    topics: Vec<TopicJson>,
    newest: Option<VersionRow>,
    document: Option<DocumentJson>,
    /// Refresh time, degree of success and thresholds, as paper 004 keeps them; null for a page that is not held.
    url_record: Option<UrlRecordJson>,
    /// What is said of its changes; null where nobody spoke.
    hints: Option<hints::OfPage>,
    /// What the methods of paper 003 say of its last change; null where there was none.
    papers: Option<LastChange>,
}

#[derive(Serialize, JsonSchema)]
pub struct VersionRow {
    pub number: u32,
    pub moment: Option<String>,
    pub status: u16,
    pub payload_digest: String,
    pub body_bytes: u32,
    pub archived: bool,
    /// Its body was kept and is lost.
    pub lost: bool,
}

#[derive(Serialize, JsonSchema)]
pub struct DocumentJson {
    title: String,
    language: String,
    content_type: String,
    paragraphs: usize,
    links: usize,
    /// The marks of paper 003 that are kept with the version: opening tags, root mean square, checksum.
    tags: u32,
    rms: f32,
    checksum: f32,
    noindex: bool,
    nofollow: bool,
    noarchive: bool,
}

/// A URL that is known and has not been visited.
#[derive(Serialize, JsonSchema)]
pub struct Unvisited {
    url: String,
    site: String,
    state: &'static str,
    back_links: u32,
    score: Option<f32>,
    admitted: Option<String>,
    depth: Option<u16>,
    found_on: Option<String>,
    rank: Option<i32>,
    /// What the last failure of its site was.
    trouble: Option<String>,
    robots_visit: Option<RobotsVisit>,
}

#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
pub enum PageShown {
    Visited(Box<PageAnswer>),
    Unvisited(Box<Unvisited>),
}

pub fn routes(nouns: Nouns) -> Nouns {
    nouns.of_page("page", "Everything known of one page", show)
}

pub async fn show(
    State(shared): State<Arc<Shared>>,
    Parameters(asked): Parameters<OfUrl>,
) -> ApiResult<One<PageShown>> {
    let url = url(&asked.url)?;
    match shared.reader.page_by_url(&url)? {
        Some(page) => {
            let shown = move || Ok(PageShown::Visited(Box::new(visited(&shared, &page)?)));
            Ok(answer::value(&answer::on_blocking_thread(shown).await?))
        }
        None => Ok(answer::value(&PageShown::Unvisited(Box::new(unvisited(&shared, &url)?)))),
    }
}

/// The page of a URL, or the line that says there is none.
pub fn of(shared: &Shared, url: &Url) -> Result<Page, ApiError> {
    if let Some(page) = shared.reader.page_by_url(url)? {
        return Ok(page);
    }
    if let Some(entry) = forget::entry_of(&shared.reader, url)? {
        return Err(ApiError::not_found(forget::why_barred(url, entry.id)));
    }
    Err(match shared.reader.key_of(url)?.map(|known| known.state) {
        Some(KnownState::Waiting | KnownState::Visited) => {
            ApiError::not_found(format!("{url} waits for its first visit"))
        }
        Some(KnownState::Barred) => ApiError::not_found(format!("{url} is known and barred")),
        None => ApiError::not_found(format!("{url} is not known here")),
    })
}

/// What happened to a page, without what is told of its names, the oldest first.
pub fn other_events(reader: &Reader, page: PageKey) -> Result<Vec<Event>, vernal_repository::Error> {
    let events = reader.page_events(page)?.into_iter().map(|(_, _, event)| event);
    Ok(events.filter(|event| !event.kind.is_of_names()).collect())
}

fn visited(shared: &Shared, page: &Page) -> Result<PageAnswer, ApiError> {
    let reader = &shared.reader;
    let known = reader.key_of(&page.url)?;
    let is_requisite = reader.url(page.key)?.is_some_and(|row| row.via == Via::Requisite);
    Ok(PageAnswer {
        row: pages::row(reader, page, &shared.seeds()?)?,
        also_named: names::second_names(reader, page.key)?,
        named_since: reader.name_row(page.key)?.same_as.and_then(|same| time(same.since)),
        named_by: reader.name_row(page.key)?.same_as.map(|same| same.why.name()),
        key: page.key.to_string(),
        detail: page.last_outcome.detail(),
        admitted: time(page.admitted),
        first_visit: time(page.first_visit),
        found_on: found_on(shared, page.found_on)?,
        requisite_of: found_on(shared, page.found_on.filter(|_| is_requisite))?,
        back_links: known.map_or(0, |known| known.back_links),
        score: reader.score(page.key)?,
        compared: page.compared,
        misses: page.misses,
        missing_since: page.missing_since.and_then(time),
        failures: page.failures,
        not_before: time(page.not_before),
        etag: page.validators.etag.as_deref().map(str::to_owned),
        last_modified: page.validators.last_modified.as_deref().map(str::to_owned),
        trouble: shared.trouble(&page.url),
        robots_visit: if page.state == PageState::Refused { shared.robots(&page.url)? } else { None },
        topics: topics::of_page(reader, page.key)?,
        newest: page.version.map(|version| version_row(&version)),
        document: reader.document(page.key)?.map(document),
        url_record: (page.state == PageState::Held).then(|| url_record::of(shared, page)).transpose()?,
        hints: hints::of_page(&reader.page_hints(page.key)?),
        papers: papers::last_change(shared, page)?,
    })
}

fn found_on(shared: &Shared, key: Option<PageKey>) -> Result<Option<String>, ApiError> {
    let Some(key) = key else { return Ok(None) };
    Ok(shared.reader.url(key)?.map(|row| row.url.to_string()))
}

pub fn version_row(version: &Version) -> VersionRow {
    VersionRow {
        number: version.number,
        moment: time(version.moment),
        status: version.status,
        payload_digest: version.payload.to_string(),
        body_bytes: version.body_bytes,
        archived: version.body().is_some(),
        lost: version.is_lost(),
    }
}

fn document(row: DocumentRow) -> DocumentJson {
    DocumentJson {
        title: row.title.into(),
        language: row.language.into(),
        content_type: row.content_type.into(),
        paragraphs: row.signature.paragraphs.len(),
        links: row.links.len(),
        tags: row.signature.tags,
        rms: row.signature.rms,
        checksum: row.signature.checksum,
        noindex: row.directives.noindex,
        nofollow: row.directives.nofollow,
        noarchive: row.directives.noarchive,
    }
}

fn unvisited(shared: &Shared, url: &Url) -> Result<Unvisited, ApiError> {
    let Some(known) = shared.reader.key_of(url)? else {
        if let Some(entry) = forget::entry_of(&shared.reader, url)? {
            return Err(ApiError::not_found(forget::why_barred(url, entry.id)));
        }
        return Err(ApiError::not_found(format!("{url} is not known here")));
    };
    let row = known.key.map(|key| shared.reader.url(key)).transpose()?.flatten();
    Ok(Unvisited {
        url: url.to_string(),
        site: url.site_text().to_owned(),
        state: if known.state == KnownState::Barred { "barred" } else { "waiting" },
        back_links: known.back_links,
        score: known.key.map(|key| shared.reader.score(key)).transpose()?.flatten(),
        admitted: row.as_ref().and_then(|row| time(row.admitted)),
        depth: row.as_ref().map(|row| row.depth),
        found_on: found_on(shared, row.as_ref().and_then(|row| row.found_on))?,
        rank: row.map(|row| row.rank),
        trouble: shared.trouble(url),
        robots_visit: shared.robots(url)?,
    })
}
