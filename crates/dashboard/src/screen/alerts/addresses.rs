//! The addresses of these screens.

use crate::dashboard::House;
use axum::Router;
use axum::routing::get;
use std::sync::Arc;

use super::{deliveries, new_watch, routes, watches};

pub fn addresses() -> Router<Arc<House>> {
    Router::new()
        .route("/watches", get(watches::list))
        .route("/watches/new", get(new_watch::form).post(new_watch::make))
        .route("/watches/{id}", get(watches::show).post(watches::act))
        .route("/watches/{id}/change", get(new_watch::form_of).post(new_watch::change))
        .route("/deliveries", get(deliveries::list).post(deliveries::again))
        .route("/routes", get(routes::list).post(routes::act))
}
