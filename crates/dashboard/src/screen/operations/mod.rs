//! Keeping it running: one screen each for how the crawl stands, its settings, seeds, noise, exports, what was forgotten, and
//! what went wrong.

mod exports;
mod forgotten;
mod log;
mod noise;
mod seeds;
mod settings;
mod state;

use std::sync::Arc;

use axum::Router;
use axum::routing::{get, post};

use crate::dashboard::House;

/// The screens of this place: the last part of the address, and the name.
const TABS: [(&str, &str); 7] = [
    ("state", "State"),
    ("settings", "Settings"),
    ("seeds", "Seeds"),
    ("noise", "Noise"),
    ("exports", "Exports"),
    ("forgotten", "Forgotten"),
    ("log", "Log"),
];

/// The tabs, of which one is shown.
pub struct Tabs(&'static str);

impl Tabs {
    pub fn all(&self) -> Vec<(String, &'static str, bool)> {
        TABS.map(|(name, words)| (format!("/operations/{name}"), words, name == self.0)).into_iter().collect()
    }
}

pub fn routes() -> Router<Arc<House>> {
    Router::new()
        .route("/operations", get(state::show))
        .route("/operations/state", get(state::show).post(state::act))
        .route("/operations/verify", get(state::verify))
        .route("/operations/settings", get(settings::show))
        .route("/operations/keys", post(settings::keys))
        .route("/operations/seeds", get(seeds::list).post(seeds::act))
        .route("/operations/noise", get(noise::list).post(noise::act))
        .route("/operations/exports", get(exports::show))
        .route("/operations/forgotten", get(forgotten::list))
        .route("/operations/log", get(log::show))
}
