//! The HTTP surface: one file per noun. Every command line but `run` and `demo` asks here too, through the socket of a
//! running crawl or in process, so that both give the same answer.
//!
//! This room knows no crawl that runs: whoever serves the router gives it the parts behind it, a [`CrawlBackend`], a [`Clock`]
//! and a [`TextIndex`].
//!
//! - `shared`: the state that every handler reads. `backend`: what stands behind it.
//! - `access_guard`: who may ask; `access`: its parts, with the role that each route needs.
//! - `seed_entry`: seeds as people give them, in files and in requests.
//! - `nouns`: the routes, each with its description, which `signature` reads from the handler's types and `description` writes
//!   down (OpenAPI); a file of a noun names its routes in `routes`.
//! - `paging`: lists in parts. `caching`: what clients may keep.
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
mod caching;
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
mod description;
mod diff;
mod diff_json;
mod event_filter;
mod event_json;
mod event_schema;
mod event_text;
mod export;
mod folds;
mod forget;
mod health;
mod hints;
mod history;
mod indexnow;
mod links;
mod marks;
mod measures;
mod memento;
mod metrics;
mod names;
mod noise;
mod nouns;
mod openapi;
mod other_forms;
mod page;
mod pages;
mod paging;
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
mod signature;
mod sites;
mod status;
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
use axum::routing::get;

pub use access::{AccessTokens, CorsOrigins, origin, random_text};
pub use access_guard::{AccessGuard, PeerAddress, is_loopback};
pub use alerting::{Alerting, spelled_as_the_feed};
pub use archive_origin::{ArchiveOrigin, archive_router};
pub use backend::{BackendError, Clock, CrawlBackend, Reasons, TextIndex, TraceRow};
pub use change::{Answers, ChangeJson, Paragraph, named_noise, paragraph};
pub use connection_counts::ConnectionCounts;
pub use event_schema::event_schema;
pub use settings::{SettingRow, Settings};
pub use shared::Shared;
pub use watch_feed::WatchFeed;

use nouns::Nouns;

/// No question is larger; seeds come in parts.
const REQUEST_BYTES_MAX: usize = 16 << 20;

/// The files that name routes, in the order of the description.
const NOUNS: &[fn(Nouns) -> Nouns] = &[
    status::routes,
    sites::routes,
    pages::routes,
    page::routes,
    history::routes,
    diff::routes,
    blame::routes,
    body::routes,
    links::routes,
    check::routes,
    why::routes,
    hints::routes,
    names::routes,
    noise::routes,
    topics::routes,
    search::routes,
    changes::routes,
    change_counts::routes,
    marks::routes,
    series::routes,
    seeds::routes,
    control::routes,
    forget::routes,
    watches::routes,
    alert_routes::routes,
    deliveries::routes,
    tokens::routes,
    settings::routes,
    plan::routes,
    trace::routes,
    export::routes,
    verify::routes,
    compact::routes,
    atom::routes,
    memento::routes,
    resource_sync::routes,
    metrics::routes,
    health::routes,
];

fn nouns() -> Nouns {
    NOUNS.iter().fold(Nouns::default(), |nouns, routes| routes(nouns))
}

/// All routes, for the socket and for commands in process. A listener on the network adds its `AccessGuard`.
pub fn router(shared: Arc<Shared>) -> Router {
    let nouns = openapi::routes(nouns())
        .others("/indexnow", get(indexnow::one).post(indexnow::many))
        .others("/websub", get(websub::verify).post(websub::deliver));
    nouns
        .router()
        .fallback(answer::no_such_route)
        .method_not_allowed_fallback(answer::no_such_method)
        .layer(DefaultBodyLimit::max(REQUEST_BYTES_MAX))
        .layer(middleware::from_fn(caching::conditional))
        .layer(middleware::from_fn(answer::safe_headers))
        .layer(middleware::from_fn_with_state(Arc::clone(&shared), damage::noted))
        .layer(caching::packing())
        .with_state(shared)
}
