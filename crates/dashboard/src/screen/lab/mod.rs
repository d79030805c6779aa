//! The lab: this crawl's own record, and the machine of the founding papers at work.

mod crawl;
mod papers;

use std::sync::Arc;

use axum::Router;
use axum::routing::get;

use crate::dashboard::House;

pub fn routes() -> Router<Arc<House>> {
    Router::new().route("/lab", get(crawl::show)).route("/lab/papers", get(papers::show))
}
