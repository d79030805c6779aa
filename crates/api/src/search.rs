//! Full text over current, past and removed text. The first line counts, the others are hits.

use std::sync::Arc;

use axum::extract::State;
use serde::{Deserialize, Serialize};
use tokio::time::Instant;
use vernal_model::Moment;
use vernal_search::ask::answer::RoleAsked;
use vernal_search::{Answer, Asked, Error, Progress, SearchStatus, Sort, Within};

use super::answer::{self, ApiError, ApiResult};
use super::parameters::{Parameters, site, url};
use super::shared::Shared;

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SearchQuery {
    #[serde(default)]
    q: String,
    #[serde(default)]
    r#in: In,
    at: Option<String>,
    like: Option<String>,
    site: Option<String>,
    tag: Option<String>,
    lang: Option<String>,
    kind: Option<String>,
    role: Option<Role>,
    from: Option<String>,
    until: Option<String>,
    #[serde(default)]
    sort: Order,
    after: Option<String>,
    limit: Option<usize>,
}

#[derive(Copy, Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum In {
    #[default]
    Now,
    Removed,
    Past,
}

#[derive(Copy, Clone, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Role {
    Main,
    Frame,
}

#[derive(Copy, Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Order {
    #[default]
    Relevance,
    Fresh,
    Newest,
}

#[derive(Serialize)]
struct Head<'a> {
    #[serde(flatten)]
    answer: &'a Answer,
    took_ms: f64,
}

#[derive(Serialize)]
struct Rest {
    after: String,
}

/// What `status` tells of the index.
#[derive(Serialize)]
pub struct SearchJson {
    units: u64,
    bytes: u64,
    cursor: String,
    behind_events: u64,
    events_per_s: u64,
}

#[derive(Serialize)]
struct ProgressJson {
    cursor: String,
    end: String,
    events: u64,
    units: u64,
}

pub async fn show(State(shared): State<Arc<Shared>>, Parameters(query): Parameters<SearchQuery>) -> ApiResult {
    let asked = asked(&shared, &query)?;
    let began = Instant::now();
    let (answered, asked) = answer::on_blocking_thread(move || {
        let answered = shared.search.search(&asked)?;
        Ok((answered, asked))
    })
    .await?;
    let took_ms = began.elapsed().as_micros() as f64 / 1e3;
    Ok(answer::lines(move |lines| {
        lines.line(&Head { answer: &answered, took_ms })?;
        for hit in &answered.hits {
            lines.line(hit)?;
        }
        if answered.has_more {
            lines.line(&Rest { after: format!("a{:x}", asked.skip + answered.hits.len()) })?;
        }
        Ok(())
    }))
}

/// Makes the index anew and tells how far it is.
pub async fn rebuild(State(shared): State<Arc<Shared>>) -> ApiResult {
    Ok(answer::lines(move |lines| {
        let mut is_heard = true;
        let done = shared.search.rebuild(&mut |progress: Progress| {
            let row = ProgressJson {
                cursor: progress.cursor.to_string(),
                end: progress.end.to_string(),
                events: progress.events,
                units: progress.units,
            };
            // A reader who has gone does not end the work.
            is_heard = is_heard && lines.line(&row).is_ok() && lines.flush().is_ok();
        });
        match done {
            Ok(status) => lines.line(&serde_json::json!({ "done": of_status(status, shared.search.rate()) }))?,
            Err(error) => lines.line(&serde_json::json!({ "error": error.to_string() }))?,
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
    let skip = match query.after.as_deref() {
        None => 0,
        Some(text) => after(text).ok_or_else(|| ApiError::bad_request(format!("`{text}` is no place in a list")))?,
    };
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

fn after(text: &str) -> Option<usize> {
    usize::from_str_radix(text.strip_prefix('a')?, 16).ok()
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
