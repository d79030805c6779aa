//! Pause, resume, block: the whole crawl or one site.

use std::sync::Arc;

use axum::extract::State;
use vernal_crawler::{Act, Acted};
use vernal_model::Site;

use super::answer::{self, ApiError, ApiResult};
use super::parameters::{Fields, OfSite, site};
use super::shared::Shared;

pub async fn pause(State(shared): State<Arc<Shared>>, Fields(asked): Fields<OfSite>) -> ApiResult {
    let site = named(&asked)?;
    act(&shared, Act::Pause(site.clone()), site).await
}

pub async fn resume(State(shared): State<Arc<Shared>>, Fields(asked): Fields<OfSite>) -> ApiResult {
    let site = named(&asked)?;
    act(&shared, Act::Resume(site.clone()), site).await
}

pub async fn block(State(shared): State<Arc<Shared>>, Fields(asked): Fields<OfSite>) -> ApiResult {
    let site = named(&asked)?.ok_or_else(|| ApiError::bad_request("name the site to block"))?;
    act(&shared, Act::Block(site.clone()), Some(site)).await
}

fn named(asked: &OfSite) -> Result<Option<Site>, ApiError> {
    asked.site.as_deref().map(site).transpose()
}

/// Whoever names a page is told the site that was meant: the whole of it, or null for the whole crawl.
async fn act(shared: &Shared, act: Act, site: Option<Site>) -> ApiResult {
    match shared.backend.act(act, shared.clock.now()).await? {
        Acted::UnknownSite(site) => Err(ApiError::not_found(format!("no site {site} is known here"))),
        _ => {
            let site = site.map(|site| site.to_string());
            Ok(answer::value(&serde_json::json!({ "done": true, "site": site })))
        }
    }
}
