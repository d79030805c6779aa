//! Pause, resume, block: the whole crawl or one site.

use std::sync::Arc;

use axum::extract::State;
use vernal_crawler::{Act, Acted};
use vernal_model::Site;

use super::answer::{self, ApiError, ApiResult};
use super::parameters::{OfSite, Parameters, site};
use super::shared::Shared;

pub async fn pause(State(shared): State<Arc<Shared>>, Parameters(asked): Parameters<OfSite>) -> ApiResult {
    act(&shared, Act::Pause(named(&asked)?)).await
}

pub async fn resume(State(shared): State<Arc<Shared>>, Parameters(asked): Parameters<OfSite>) -> ApiResult {
    act(&shared, Act::Resume(named(&asked)?)).await
}

pub async fn block(State(shared): State<Arc<Shared>>, Parameters(asked): Parameters<OfSite>) -> ApiResult {
    let site = named(&asked)?.ok_or_else(|| ApiError::bad_request("name the site to block"))?;
    act(&shared, Act::Block(site)).await
}

fn named(asked: &OfSite) -> Result<Option<Site>, ApiError> {
    asked.site.as_deref().map(site).transpose()
}

async fn act(shared: &Shared, act: Act) -> ApiResult {
    match shared.backend.act(act, shared.clock.now()).await.map_err(ApiError::failed)? {
        Acted::UnknownSite(site) => Err(ApiError::not_found(format!("no site {site} is known here"))),
        _ => Ok(answer::value(&serde_json::json!({ "done": true }))),
    }
}
