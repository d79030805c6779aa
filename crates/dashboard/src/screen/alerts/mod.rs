//! Alerts: the watches, making one (`watch_form`), what was delivered, and where it goes.

mod deliveries;
mod new_watch;
mod routes;
mod watch_form;
mod watches;

use std::sync::Arc;

use axum::Router;
use axum::routing::get;

use crate::dashboard::House;

pub use deliveries::{Row as DeliveryRow, row as delivery_row};

pub fn routes() -> Router<Arc<House>> {
    Router::new()
        .route("/watches", get(watches::list))
        .route("/watches/new", get(new_watch::form).post(new_watch::make))
        .route("/watches/{id}", get(watches::show).post(watches::act))
        .route("/watches/{id}/change", get(new_watch::form_of).post(new_watch::change))
        .route("/deliveries", get(deliveries::list).post(deliveries::again))
        .route("/routes", get(routes::list).post(routes::act))
}
