//! Full text over current, past and removed text. The first line counts, the others are hits.

use std::sync::Arc;

use axum::extract::State;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::time::Instant;
use vernal_model::Moment;
use vernal_search::ask::answer::RoleAsked;
use vernal_search::{Answer, Asked, Error, Hit, Progress, SearchStatus, Sort, Within};

use super::answer::{self, ApiError, ApiResult, Listed, Many};
use super::nouns::Nouns;
use super::paging::{self, Part};
use super::parameters::{Parameters, site, url};
use super::shared::Shared;

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SearchQuery {
    /// Words, "exact words", begin*, fields such as site:, title:, anchor: (words of links to the page) and topic:, AND OR NOT - ( )
    #[serde(default)]
    q: String,
    /// now, removed (what changes took away) or past (both)
    #[serde(default)]
    r#in: In,
    /// The text that was held at this time
    at: Option<String>,
    /// Pages with the telling words of this page
    like: Option<String>,
    /// A host, with its port where that is not the scheme's own
    site: Option<String>,
    /// Only what a seed with this tag covers
    tag: Option<String>,
    /// Only pages of this topic
    topic: Option<String>,
    /// Only pages in this language, such as en
    lang: Option<String>,
    /// Only what this kind of change made or took: structure, content, presentation, behaviour or new
    kind: Option<String>,
    /// main: only main text; frame: only menus, headers and footers
    role: Option<Role>,
    /// Only text that came, or went, since this time
    from: Option<String>,
    /// Only text that came, or went, before this time
    until: Option<String>,
    /// relevance, fresh or newest
    #[serde(default)]
    sort: Order,
    /// Where an earlier answer ended
    after: Option<String>,
    /// At most so many hits
    limit: Option<usize>,
}

#[derive(Copy, Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum In {
    #[default]
    Now,
    Removed,
    Past,
}

#[derive(Copy, Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Role {
    Main,
    Frame,
}

#[derive(Copy, Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Order {
    #[default]
    Relevance,
    Fresh,
    Newest,
}

#[derive(Serialize, JsonSchema)]
pub struct Head {
    #[serde(flatten)]
    answer: Answer,
    took_ms: f64,
}

/// The first line counts, the others are hits.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
pub enum SearchLine {
    Head(Box<Head>),
    Hit(Box<Hit>),
}

/// How far a new index is, and how it ended.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
pub enum RebuildLine {
    Progress(ProgressJson),
    Done { done: SearchJson },
    Failed { error: String },
}

/// What `status` tells of the index.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "SearchStatus")]
pub struct SearchJson {
    units: u64,
    bytes: u64,
    cursor: String,
    behind_events: u64,
    events_per_s: u64,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "RebuildProgress")]
pub struct ProgressJson {
    cursor: String,
    end: String,
    events: u64,
    units: u64,
}

pub fn routes(nouns: Nouns) -> Nouns {
    nouns
        .get(
            "/api/v1/search",
            "Full text over current, past and removed text; the first line counts, the others are hits",
            show,
        )
        .post("/api/v1/search/rebuild", "Makes the text index anew, and tells how far it is as JSON lines", rebuild)
}

pub async fn show(
    State(shared): State<Arc<Shared>>,
    Parameters(query): Parameters<SearchQuery>,
) -> ApiResult<Listed<SearchLine>> {
    let asked = asked(&shared, &query)?;
    let began = Instant::now();
    let (answered, asked) = answer::on_blocking_thread(move || {
        let answered = shared.search.search(&asked)?;
        Ok((answered, asked))
    })
    .await?;
    let took_ms = began.elapsed().as_micros() as f64 / 1e3;
    Ok(answer::listed(move |lines| {
        let mut answered = answered;
        let hits = std::mem::take(&mut answered.hits);
        let (shown, has_more) = (hits.len(), answered.has_more);
        lines.line(&SearchLine::Head(Box::new(Head { answer: answered, took_ms })))?;
        for hit in hits {
            lines.line(&SearchLine::Hit(Box::new(hit)))?;
        }
        if has_more {
            lines.rest(paging::name(asked.skip + shown))?;
        }
        Ok(())
    }))
}

/// Makes the index anew and tells how far it is.
pub async fn rebuild(State(shared): State<Arc<Shared>>) -> ApiResult<Many<RebuildLine>> {
    Ok(answer::lines(move |lines| {
        let mut is_heard = true;
        let done = shared.search.rebuild(&mut |progress: Progress| {
            let row = RebuildLine::Progress(ProgressJson {
                cursor: progress.cursor.to_string(),
                end: progress.end.to_string(),
                events: progress.events,
                units: progress.units,
            });
            // A reader who has gone does not end the work.
            is_heard = is_heard && lines.line(&row).is_ok() && lines.flush().is_ok();
        });
        match done {
            Ok(status) => lines.line(&RebuildLine::Done { done: of_status(status, shared.search.rate()) })?,
            Err(error) => lines.line(&RebuildLine::Failed { error: error.to_string() })?,
        }
        Ok(())
    }))
}

pub fn status(shared: &Shared) -> Option<SearchJson> {
    Some(of_status(shared.search.status()?, shared.search.rate()))
}

fn of_status(status: SearchStatus, events_per_s: u64) -> SearchJson {
    let SearchStatus { units, bytes, cursor, behind_events } = status;
    SearchJson { units, bytes, cursor: cursor.to_string(), behind_events, events_per_s }
}

fn asked(shared: &Shared, query: &SearchQuery) -> Result<Asked, ApiError> {
    let now = shared.clock.now();
    let moment = |text: &Option<String>| {
        text.as_deref().map(|text| Moment::parse(text, now).map_err(ApiError::bad_request)).transpose()
    };
    let skip = Part::read(query.limit, query.after.as_deref())?.skipped();
    if query.q.trim().is_empty() && query.like.is_none() {
        return Err(ApiError::bad_request("give something to look for: q, or like with a URL"));
    }
    Ok(Asked {
        within: match (moment(&query.at)?, query.r#in) {
            (Some(at), _) => Within::At(at),
            (None, In::Now) => Within::Now,
            (None, In::Removed) => Within::Removed,
            (None, In::Past) => Within::Past,
        },
        like: query.like.as_deref().map(url).transpose()?,
        site: query.site.as_deref().map(site).transpose()?.map(|site| site.as_str().to_owned()),
        tag: query.tag.clone(),
        topic: query.topic.clone(),
        language: query.lang.clone(),
        kind: query.kind.clone(),
        role: query.role.map(|role| match role {
            Role::Main => RoleAsked::Main,
            Role::Frame => RoleAsked::Frame,
        }),
        since: moment(&query.from)?,
        until: moment(&query.until)?,
        sort: match query.sort {
            Order::Relevance => Sort::Relevance,
            Order::Fresh => Sort::Fresh,
            Order::Newest => Sort::Newest,
        },
        limit: query.limit.unwrap_or(vernal_search::ask::answer::LIMIT),
        skip,
        seeds: shared.reader.seeds()?,
        ..Asked::new(&query.q, now)
    })
}

impl From<Error> for ApiError {
    fn from(error: Error) -> ApiError {
        match error {
            Error::Query(fault) => ApiError::bad_request(fault),
            Error::Asked(_) => ApiError::bad_request(error),
            Error::NoText(_) => ApiError::not_found(error),
            Error::Repository(error) => error.into(),
            Error::Closed => ApiError::new(
                axum::http::StatusCode::SERVICE_UNAVAILABLE,
                "the search index is being opened; ask again in a moment",
            ),
            Error::Anew => ApiError::new(axum::http::StatusCode::SERVICE_UNAVAILABLE, error),
            other => ApiError::failed(other),
        }
    }
}
