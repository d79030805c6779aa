//! The address of each screen.

use std::sync::Arc;

use axum::Router;
use axum::routing::{get, post};

use super::{alert_routes, deliveries, door, live, new_watch, operations, overview, plan, search, watches};
use crate::dashboard::House;

pub fn routes() -> Router<Arc<House>> {
    Router::new()
        .route("/", get(overview::show))
        .route("/plan", get(plan::show))
        .route("/login", get(door::show).post(door::login))
        .route("/logout", post(door::logout))
        .route("/theme", post(door::theme))
        .route("/search", get(search::show))
        .route("/watches", get(watches::list))
        .route("/watches/new", get(new_watch::form).post(new_watch::make))
        .route("/watches/{id}", get(watches::show).post(watches::act))
        .route("/watches/{id}/change", get(new_watch::form_of).post(new_watch::change))
        .route("/deliveries", get(deliveries::list).post(deliveries::again))
        .route("/routes", get(alert_routes::list).post(alert_routes::act))
        .route("/more", get(door::more))
        .route("/live", get(live::stream))
        .merge(operations::routes())
}
