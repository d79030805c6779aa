//! Whether the process lives.

use std::sync::Arc;

use axum::extract::State;
use schemars::JsonSchema;
use serde::Serialize;

use super::answer::{self, One};
use super::nouns::Nouns;
use super::shared::Shared;

#[derive(Serialize, JsonSchema)]
pub struct Health {
    crawling: bool,
    ok: bool,
}

pub fn routes(nouns: Nouns) -> Nouns {
    nouns.get("/healthz", "Whether the process lives; needs no token", show)
}

pub async fn show(State(shared): State<Arc<Shared>>) -> One<Health> {
    answer::value(&Health { crawling: shared.backend.pulse().is_some(), ok: true })
}
