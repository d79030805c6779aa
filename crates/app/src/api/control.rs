//! Pause, resume, block: the whole crawl or one site.

use std::sync::Arc;

use axum::extract::State;
use vernal_crawler::{Act, Acted};
use vernal_model::Site;

use super::answer::{self, Answered, No};
use super::parameters::{Asked, OfSite, site};
use super::shared::Shared;

pub async fn pause(State(shared): State<Arc<Shared>>, Asked(asked): Asked<OfSite>) -> Answered {
    act(&shared, Act::Pause(named(&asked)?)).await
}

pub async fn resume(State(shared): State<Arc<Shared>>, Asked(asked): Asked<OfSite>) -> Answered {
    act(&shared, Act::Resume(named(&asked)?)).await
}

pub async fn block(State(shared): State<Arc<Shared>>, Asked(asked): Asked<OfSite>) -> Answered {
    let site = named(&asked)?.ok_or_else(|| No::wrong("name the site to block"))?;
    act(&shared, Act::Block(site)).await
}

fn named(asked: &OfSite) -> Result<Option<Site>, No> {
    asked.site.as_deref().map(site).transpose()
}

async fn act(shared: &Shared, act: Act) -> Answered {
    match shared.hands.act(act, shared.clock.now()).await.map_err(No::failed)? {
        Acted::UnknownSite(site) => Err(No::unknown(format!("no site {site} is known here"))),
        _ => Ok(answer::value(&serde_json::json!({ "done": true }))),
    }
}
