//! Pause, resume, block: the whole crawl or one site.

use std::sync::Arc;

use axum::extract::State;
use schemars::JsonSchema;
use serde::Serialize;
use vernal_crawler::{Act, Acted};
use vernal_model::Site;

use super::answer::{self, ApiError, ApiResult, One};
use super::nouns::Nouns;
use super::parameters::{Fields, OfSite, site};
use super::shared::Shared;

#[derive(Serialize, JsonSchema)]
pub struct Done {
    done: bool,
    /// The whole of the site that was meant; null for the whole crawl.
    site: Option<String>,
}

pub fn routes(nouns: Nouns) -> Nouns {
    nouns
        .post("/api/v1/pause", "Pauses the crawl, or one site", pause)
        .post("/api/v1/resume", "Resumes the crawl, or one site", resume)
        .post("/api/v1/block", "Never asks this site again", block)
}

pub async fn pause(State(shared): State<Arc<Shared>>, Fields(asked): Fields<OfSite>) -> ApiResult<One<Done>> {
    let site = named(&asked)?;
    act(&shared, Act::Pause(site.clone()), site).await
}

pub async fn resume(State(shared): State<Arc<Shared>>, Fields(asked): Fields<OfSite>) -> ApiResult<One<Done>> {
    let site = named(&asked)?;
    act(&shared, Act::Resume(site.clone()), site).await
}

pub async fn block(State(shared): State<Arc<Shared>>, Fields(asked): Fields<OfSite>) -> ApiResult<One<Done>> {
    let site = named(&asked)?.ok_or_else(|| ApiError::bad_request("name the site to block"))?;
    act(&shared, Act::Block(site.clone()), Some(site)).await
}

fn named(asked: &OfSite) -> Result<Option<Site>, ApiError> {
    asked.site.as_deref().map(site).transpose()
}

async fn act(shared: &Shared, act: Act, site: Option<Site>) -> ApiResult<One<Done>> {
    match shared.backend.act(act, shared.clock.now()).await? {
        Acted::UnknownSite(site) => Err(ApiError::not_found(format!("no site {site} is known here"))),
        _ => Ok(answer::value(&Done { done: true, site: site.map(|site| site.to_string()) })),
    }
}
