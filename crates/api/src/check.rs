//! What stands between a URL and its next visit, without a request.

use std::sync::Arc;

use axum::extract::State;
use schemars::JsonSchema;
use serde::Serialize;
use vernal_model::Url;

use super::answer::{self, ApiResult, One};
use super::nouns::Nouns;
use super::parameters::{OfUrl, Parameters, url};
use super::seed_entry::literal_address;
use super::shared::{RobotsVisit, Shared, time};

#[derive(Serialize, JsonSchema)]
pub struct CheckAnswer {
    url: String,
    in_scope: bool,
    seed: Option<String>,
    robots: &'static str,
    robots_visit: Option<RobotsVisit>,
    /// When the copy in force was read, and whether later requests for the file failed.
    robots_read: Option<String>,
    robots_stale: bool,
    crawl_delay_secs: Option<f64>,
    guard: String,
    trap: Option<String>,
    state: &'static str,
    site: String,
    site_standing: &'static str,
    trouble: Option<String>,
    next_slot: Option<String>,
}

pub fn routes(nouns: Nouns) -> Nouns {
    nouns.of_page("check", "What stands between a URL and its next visit", show)
}

pub async fn show(
    State(shared): State<Arc<Shared>>,
    Parameters(asked): Parameters<OfUrl>,
) -> ApiResult<One<CheckAnswer>> {
    let check = shared.backend.check(url(&asked.url)?, shared.clock.now()).await?;
    Ok(answer::value(&CheckAnswer {
        robots_visit: shared.robots(&check.url)?,
        trouble: shared.trouble(&check.url),
        guard: guard(&shared, &check.url),
        site: check.url.site_text().to_owned(),
        url: check.url.to_string(),
        in_scope: check.in_scope,
        seed: check.seed.map(|seed| seed.to_string()),
        robots: check.robots,
        robots_read: check.robots_read.and_then(time),
        robots_stale: check.robots_stale,
        crawl_delay_secs: check.crawl_delay_secs,
        trap: check.trap,
        state: check.state,
        site_standing: check.site_standing,
        next_slot: time(check.next_slot),
    }))
}

/// A literal address is judged here and now; a name is judged by its address when it is dialled.
fn guard(shared: &Shared, url: &Url) -> String {
    match literal_address(url) {
        Some(address) => match (shared.settings.guard)(address, shared.settings.crawler.allow_private) {
            Ok(()) => "open".into(),
            Err(why) => format!("shut: {why}"),
        },
        None => "judged by address at each visit".into(),
    }
}
