//! The address of each screen.

use std::sync::Arc;

use axum::Router;
use axum::routing::{get, post};

use super::{
    alerts, as_it_was, blame, changes, diff, event, evidence, help, history_page, lab, links, live, login, marks,
    operations, overview, plan, search, site, sites,
};
use crate::dashboard::House;

pub fn routes() -> Router<Arc<House>> {
    Router::new()
        .route("/", get(overview::show))
        .route("/changes", get(changes::show))
        .route("/changes/{id}", get(event::show))
        .route("/changes/{id}/mark", post(marks::mark))
        .route("/undo", post(marks::undo))
        .route("/blame", get(blame::show))
        .route("/sites", get(sites::show))
        .route("/sites/{site}", get(site::show))
        .route("/diff", get(diff::show))
        .route("/page", get(history_page::show))
        .route("/plan", get(plan::show))
        .route("/login", get(login::show).post(login::login))
        .route("/logout", post(login::logout))
        .route("/theme", post(login::theme))
        .route("/search", get(search::show))
        .route("/more", get(login::more))
        .route("/as-it-was", get(as_it_was::show))
        .route("/evidence", get(evidence::show))
        .route("/links", get(links::show))
        .route("/help", get(help::show))
        .route("/live", get(live::stream))
        .merge(alerts::addresses())
        .merge(lab::routes())
        .merge(operations::routes())
}
