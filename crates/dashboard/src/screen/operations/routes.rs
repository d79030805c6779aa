//! The addresses of these screens.

use crate::dashboard::House;
use axum::Router;
use axum::routing::{get, post};
use std::sync::Arc;

use super::{exports, forgotten, log, noise, seeds, settings, state};

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
