//! The HTTP surface: one file per noun. Every command line but `run` and `demo` asks here too, through the socket of a
//! running crawl or in process, so that both give the same answer.
//!
//! This room knows no crawl that runs: whoever serves the router gives it the parts behind it, a [`CrawlBackend`], a [`Clock`]
//! and a [`TextIndex`].
//!
//! - `shared`: the state that every handler reads. `backend`: what stands behind it.
//! - `access_guard`: who may ask; `access`: its parts, with the role that each route needs.
//! - `seed_entry`: seeds as people give them, in files and in requests.
//! - `parameters`: what requests ask for; a type `…Query` is the query of one noun.
//! - `answer`: the forms of an answer; a type `…Answer` is the JSON of one noun, and `…Json` a part of it.

mod access;
mod access_guard;
mod alert_routes;
mod alerting;
mod answer;
mod archive_origin;
mod atom;
mod atom_text;
mod backend;
mod blame;
mod body;
mod change;
mod change_counts;
mod change_stream;
mod changes;
mod check;
mod compact;
mod connection_counts;
mod control;
mod damage;
mod deliveries;
mod diff;
mod event_filter;
mod event_json;
mod event_schema;
mod event_text;
mod export;
mod folds;
mod health;
mod hints;
mod history;
mod indexnow;
mod links;
mod measures;
mod memento;
mod metrics;
mod names;
mod noise;
mod openapi;
mod openapi_alerts;
mod openapi_feed;
mod page;
mod pages;
mod papers;
mod parameters;
mod plan;
mod replica;
mod resource_sync;
mod search;
pub mod seed_entry;
mod seeds;
mod series;
mod settings;
mod shared;
mod sites;
mod status;
mod status_page;
mod tokens;
mod topics;
mod trace;
mod url_record;
mod verify;
mod version_pair;
mod watch_feed;
mod watches;
mod websub;
mod why;
mod words_asked;

use std::sync::Arc;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::middleware;
use axum::routing::{delete, get, post};

pub use access::{AccessTokens, CorsOrigins, origin, random_text};
pub use access_guard::{AccessGuard, PeerAddress, is_loopback};
pub use alerting::Alerting;
pub use archive_origin::{ArchiveOrigin, archive_router};
pub use backend::{BackendError, Clock, CrawlBackend, Reasons, TextIndex, TraceRow};
pub use change::{Answers, ChangeJson, Paragraph, named_noise, paragraph};
pub use connection_counts::ConnectionCounts;
pub use event_schema::event_schema;
pub use settings::{SettingRow, Settings};
pub use shared::Shared;
pub use watch_feed::WatchFeed;

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
        .merge(of_feed())
        .route("/series", get(series::show))
        .route("/seeds", get(seeds::list).post(seeds::add).delete(seeds::remove))
        .route("/pause", post(control::pause))
        .route("/resume", post(control::resume))
        .route("/block", post(control::block))
        .route("/settings", get(settings::list))
        .route("/tokens", get(tokens::list).post(tokens::add))
        .route("/tokens/{name}", delete(tokens::revoke))
        .route("/check", get(check::show))
        .route("/why", get(why::show))
        .route("/plan", get(plan::show))
        .route("/trace", get(trace::list))
        .route("/export", get(export::stream))
        .route("/verify", get(verify::stream))
        .route("/compact", post(compact::compact))
        .merge(watches::routes())
        .merge(alert_routes::routes())
        .merge(deliveries::routes())
        .route("/openapi.json", get(openapi::show));
    Router::new()
        .nest("/api/v1", api)
        .route("/", get(status_page::show))
        .route("/style.css", get(status_page::style))
        .route("/feed.atom", get(atom::feed))
        .route("/metrics", get(metrics::show))
        .route("/indexnow", get(indexnow::one).post(indexnow::many))
        .route("/websub", get(websub::verify).post(websub::deliver))
        .route("/healthz", get(health::show))
        .route("/timegate/{*url}", get(memento::timegate))
        .route("/timemap/{*url}", get(memento::timemap))
        .route("/memento/{*url}", get(memento::memento))
        .route("/resourcesync/capabilitylist.xml", get(resource_sync::capability_list))
        .route("/resourcesync/changelist.xml", get(resource_sync::index))
        .route("/resourcesync/changelist/{list}", get(resource_sync::change_list))
        .fallback(answer::no_such_route)
        .layer(DefaultBodyLimit::max(REQUEST_BYTES_MAX))
        .layer(middleware::from_fn(answer::safe_headers))
        .layer(middleware::from_fn_with_state(Arc::clone(&shared), damage::noted))
        .with_state(shared)
}

/// The change feed, but for its form as Atom.
fn of_feed() -> Router<Arc<Shared>> {
    Router::new()
        .route("/changes", get(changes::list))
        .route("/changes/stream", get(change_stream::stream))
        .route("/changes/schema", get(changes::schema))
        .route("/changes/count", get(change_counts::show))
        .route("/changes/{id}", get(changes::one))
}
