//! The HTTP surface: one file per noun. Every command line but `run` and `demo` asks here too, through the socket of a
//! running crawl or in process, so that both give the same answer.
//!
//! This room knows no crawl that runs: whoever serves the router gives it the parts behind it, a [`CrawlBackend`], a [`Clock`]
//! and a [`TextIndex`].
//!
//! - `shared`: the state that every handler reads. `backend`: what stands behind it. `access_guard`: who may ask.
//! - `seed_entry`: seeds as people give them, in files and in requests.
//! - `parameters`: what requests ask for; a type `…Query` is the query of one noun.
//! - `answer`: the forms of an answer; a type `…Answer` is the JSON of one noun, and `…Json` a part of it.

mod access_guard;
mod answer;
mod backend;
mod blame;
mod body;
mod change;
mod changes;
mod check;
mod compact;
mod connection_counts;
mod control;
mod damage;
mod diff;
mod event_filter;
mod event_json;
mod event_schema;
mod event_text;
mod folds;
mod health;
mod hints;
mod history;
mod indexnow;
mod links;
mod measures;
mod metrics;
mod names;
mod noise;
mod openapi;
mod page;
mod pages;
mod papers;
mod parameters;
mod plan;
mod replica;
mod search;
pub mod seed_entry;
mod seeds;
mod settings;
mod shared;
mod sites;
mod status;
mod status_page;
mod topics;
mod trace;
mod url_record;
mod verify;
mod version_pair;
mod websub;
mod why;

use std::sync::Arc;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::middleware;
use axum::routing::{get, post};

pub use access_guard::{AccessGuard, is_loopback};
pub use backend::{BackendError, Clock, CrawlBackend, Reasons, TextIndex, TraceRow};
pub use change::{Answers, ChangeJson, Paragraph, named_noise, paragraph};
pub use connection_counts::ConnectionCounts;
pub use event_schema::event_schema;
pub use settings::{SettingRow, Settings};
pub use shared::Shared;

/// No question is larger; seeds come in parts.
const REQUEST_BYTES_MAX: usize = 16 << 20;

/// All routes, for the socket and for commands in process. A listener on the network adds its `AccessGuard`.
pub fn router(shared: Arc<Shared>) -> Router {
    let of_page = Router::new()
        .route("/", get(page::show))
        .route("/history", get(history::list))
        .route("/diff", get(diff::show))
        .route("/blame", get(blame::show))
        .route("/body", get(body::show))
        .route("/links", get(links::list))
        .route("/check", get(check::show))
        .route("/why", get(why::show));
    let api = Router::new()
        .route("/status", get(status::show))
        .route("/sites", get(sites::list))
        .route("/pages", get(pages::list))
        .nest("/pages/{url}", of_page)
        .route("/page", get(page::show))
        .route("/history", get(history::list))
        .route("/diff", get(diff::show))
        .route("/blame", get(blame::show))
        .route("/hints", get(hints::list))
        .route("/names", get(names::list).post(names::decide))
        .route("/noise", get(noise::list).post(noise::decide))
        .route("/body", get(body::show))
        .route("/links", get(links::list))
        .route("/topics", get(topics::list))
        .route("/search", get(search::show))
        .route("/search/rebuild", post(search::rebuild))
        .route("/changes", get(changes::list))
        .route("/changes/stream", get(changes::stream))
        .route("/changes/schema", get(changes::schema))
        .route("/seeds", get(seeds::list).post(seeds::add).delete(seeds::remove))
        .route("/pause", post(control::pause))
        .route("/resume", post(control::resume))
        .route("/block", post(control::block))
        .route("/settings", get(settings::list))
        .route("/check", get(check::show))
        .route("/why", get(why::show))
        .route("/plan", get(plan::show))
        .route("/trace", get(trace::list))
        .route("/verify", get(verify::stream))
        .route("/compact", post(compact::compact))
        .route("/openapi.json", get(openapi::show));
    Router::new()
        .nest("/api/v1", api)
        .route("/", get(status_page::show))
        .route("/style.css", get(status_page::style))
        .route("/metrics", get(metrics::show))
        .route("/indexnow", get(indexnow::one).post(indexnow::many))
        .route("/websub", get(websub::verify).post(websub::deliver))
        .route("/healthz", get(health::show))
        .fallback(answer::no_such_route)
        .layer(DefaultBodyLimit::max(REQUEST_BYTES_MAX))
        .layer(middleware::from_fn(answer::safe_headers))
        .layer(middleware::from_fn_with_state(Arc::clone(&shared), damage::noted))
        .with_state(shared)
}
