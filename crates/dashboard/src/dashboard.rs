//! What whoever serves the dashboard gives, and the routes.

use std::sync::Arc;

use axum::Router;
use axum::extract::{DefaultBodyLimit, Request, State};
use axum::http::header::{ACCEPT, ORIGIN};
use axum::http::{Extensions, Method, StatusCode};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{any, get};
use tower::ServiceExt;
use tower_http::compression::CompressionLayer;

use crate::problem::Problem;
use crate::reader::Reader;
use crate::session::Sessions;
use crate::{assets, headers, screen};

/// No form is larger; seeds are the longest.
const FORM_BYTES_MAX: usize = 1 << 20;

/// What the dashboard is made of.
pub struct Dashboard {
    /// The API with its guard. What the dashboard has no route for goes there as well.
    pub api: Router,
    /// What is kept of the connection of a request for the questions that it leads to.
    pub carry: fn(&Extensions) -> Extensions,
    /// Text that nobody can guess.
    pub random: fn() -> std::io::Result<String>,
    /// Whether the listener speaks TLS.
    pub is_secure: bool,
    /// Where archived bytes are shown, if they are.
    pub archive: Option<String>,
    /// Whether nothing can be changed: the folder is only shown.
    pub read_only: bool,
}

/// The dashboard at work.
pub struct House {
    pub api: Router,
    pub carry: fn(&Extensions) -> Extensions,
    pub random: fn() -> std::io::Result<String>,
    pub is_secure: bool,
    pub archive: Option<String>,
    pub read_only: bool,
    pub sessions: Sessions,
    pub assets: String,
}

/// The screens, and the API behind them.
pub fn router(dashboard: Dashboard) -> Router {
    let Dashboard { api, carry, random, is_secure, archive, read_only } = dashboard;
    let (sessions, assets) = (Sessions::default(), assets::folder());
    let house = Arc::new(House { api, carry, random, is_secure, archive, read_only, sessions, assets });
    screen::routes()
        .layer(middleware::from_fn_with_state(Arc::clone(&house), told))
        .route("/assets/{content}/{*name}", get(assets::show))
        .layer(DefaultBodyLimit::max(FORM_BYTES_MAX))
        .layer(middleware::from_fn_with_state((), headers::safe))
        .layer(CompressionLayer::new())
        .with_state(Arc::clone(&house))
        .fallback_service(any(behind).with_state(house))
}

/// What the dashboard has no screen for goes to the API; whoever looks for a page that is not there is told so in HTML.
async fn behind(State(house): State<Arc<House>>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let accept = parts.headers.get(ACCEPT).and_then(|accept| accept.to_str().ok()).unwrap_or_default();
    let is_person = accept.contains("text/html") && !parts.uri.path().starts_with("/api/");
    let reader = is_person.then(|| Reader::of(&parts, &house));
    let answer = match house.api.clone().oneshot(Request::from_parts(parts, body)).await {
        Ok(answer) => answer,
        Err(never) => match never {},
    };
    match reader.filter(|_| answer.status() == StatusCode::NOT_FOUND) {
        Some(reader) => {
            let line = "there is no screen at this address";
            headers::marked(screen::wrong(&reader, &Problem::new(StatusCode::NOT_FOUND, line)).await)
        }
        None => answer,
    }
}

/// Refuses writes that do not come from our own pages, and draws what went wrong.
async fn told(State(house): State<Arc<House>>, request: Request, next: Next) -> Response {
    let (parts, body) = request.into_parts();
    let reader = Reader::of(&parts, &house);
    let writes = ![Method::GET, Method::HEAD].contains(&parts.method);
    let response = if writes && !reader.is_own_origin() {
        let line = match parts.headers.contains_key(ORIGIN) {
            true => "a form of another origin was sent here; it was not carried out",
            false => "forms must say which page they come from; programs use the API",
        };
        Problem::new(StatusCode::FORBIDDEN, line).into_response()
    } else {
        next.run(Request::from_parts(parts, body)).await
    };
    match response.extensions().get::<Problem>().cloned() {
        Some(problem) => screen::wrong(&reader, &problem).await,
        None => response,
    }
}
