//! Why a page is due when it is.

use std::sync::Arc;

use axum::extract::State;
use schemars::JsonSchema;
use serde::Serialize;

use super::answer::{self, ApiError, ApiResult, One};
use super::nouns::Nouns;
use super::page;
use super::parameters::{OfUrl, Parameters, url};
use super::shared::Shared;

#[derive(Serialize, JsonSchema)]
pub struct WhyAnswer {
    url: String,
    policy: String,
    reasons: Vec<Reason>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "WhyReason")]
pub struct Reason {
    name: String,
    value: String,
}

pub fn routes(nouns: Nouns) -> Nouns {
    nouns.of_page("why", "Why a page is due when it is", show)
}

pub async fn show(
    State(shared): State<Arc<Shared>>,
    Parameters(asked): Parameters<OfUrl>,
) -> ApiResult<One<WhyAnswer>> {
    let url = url(&asked.url)?;
    let reasons = shared.backend.why(url.clone(), shared.clock.now()).await?;
    let Some(reasons) = reasons else {
        let page = page::of(&shared, &url)?;
        return Err(ApiError::not_found(format!(
            "{url} is {}, not held: it is not due for a refresh",
            page.state.name()
        )));
    };
    let mut shown: Vec<Reason> = Vec::new();
    for (name, value) in reasons {
        // A reason that the policy gives replaces the crawler's reason of the same name: it says more.
        match shown.iter_mut().find(|reason| reason.name == name) {
            Some(reason) => reason.value = value,
            None => shown.push(Reason { name, value }),
        }
    }
    Ok(answer::value(&WhyAnswer {
        url: url.to_string(),
        policy: shared.settings.crawler.policy.clone(),
        reasons: shown,
    }))
}
