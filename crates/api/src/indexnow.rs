//! Takes pushes in the manner of IndexNow: a sender names URLs that have changed. Each becomes a hint, believed as far
//! as earlier hints of its site were right.
//! Where keys are set, a push needs one of them and no token; where none are set, this path is guarded like every other.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::extract::rejection::JsonRejection;
use axum::http::StatusCode;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use vernal_crawler::{Act, Acted};
use vernal_model::{HintSource, Url};

use super::access::secret::is_same;
use super::answer::{self, ApiError, ApiResult, One};
use super::parameters::{Parameters, url};
use super::shared::Shared;

/// The standard allows as many URLs in one push.
const URLS_MAX: usize = 10_000;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OnePush {
    url: String,
    #[serde(default)]
    key: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ManyPush {
    host: String,
    #[serde(default)]
    key: String,
    url_list: Vec<String>,
}

pub async fn one(State(shared): State<Arc<Shared>>, Parameters(push): Parameters<OnePush>) -> ApiResult<One<Hinted>> {
    check_key(&shared, &push.key)?;
    hint(&shared, HintSource::IndexNow, vec![url(&push.url)?]).await
}

pub async fn many(
    State(shared): State<Arc<Shared>>,
    push: Result<Json<ManyPush>, JsonRejection>,
) -> ApiResult<One<Hinted>> {
    let Json(push) = push.map_err(|rejection| ApiError::bad_request(rejection.body_text()))?;
    check_key(&shared, &push.key)?;
    if push.url_list.len() > URLS_MAX {
        return Err(ApiError::bad_request(format!("a push names at most {URLS_MAX} URLs")));
    }
    let urls: Vec<Url> = push.url_list.iter().map(|text| url(text)).collect::<Result<_, _>>()?;
    if let Some(foreign) =
        urls.iter().find(|url| !url.host().eq_ignore_ascii_case(&push.host) && url.site_text() != push.host)
    {
        let line = format!("{foreign} does not belong to {}", push.host);
        return Err(ApiError::new(StatusCode::UNPROCESSABLE_ENTITY, line));
    }
    hint(&shared, HintSource::IndexNow, urls).await
}

fn check_key(shared: &Shared, key: &str) -> Result<(), ApiError> {
    let keys = &shared.settings.indexnow_keys;
    if keys.is_empty() || keys.iter().any(|known| is_same(key.as_bytes(), known.as_bytes())) {
        return Ok(());
    }
    Err(ApiError::new(StatusCode::FORBIDDEN, "the key is none of ours"))
}

/// What became of the URLs of a push.
#[derive(Serialize, JsonSchema)]
pub struct Hinted {
    found: usize,
    hinted: usize,
    ignored: usize,
}

/// Gives URLs to the crawl, and tells what became of them.
pub async fn hint(shared: &Shared, source: HintSource, urls: Vec<Url>) -> ApiResult<One<Hinted>> {
    match shared.backend.act(Act::Hint { source, urls }, shared.clock.now()).await? {
        Acted::Hinted { hinted, found, ignored } => Ok(answer::value(&Hinted { found, hinted, ignored })),
        _ => Err(ApiError::failed("a push was taken for something else")),
    }
}
