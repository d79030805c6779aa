//! The addresses of these screens.

use crate::dashboard::House;
use axum::Router;
use axum::routing::get;
use std::sync::Arc;

use super::{crawl, papers};

pub fn routes() -> Router<Arc<House>> {
    Router::new().route("/lab", get(crawl::show)).route("/lab/papers", get(papers::show))
}
