//! A stopped folder on the network, for looking only.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::Request;
use axum::http::{Method, StatusCode};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use vernal_api::{AccessGuard, AccessTokens, random_text};

use super::clock::wall;
use super::connections::ConnectionLimits;
use super::tls::Tls;
use super::{crawl, dashboard, descriptors, network};
use crate::command::Context;
use crate::error::{OrFail, Result};

/// How long connections that stay open are waited for at the end.
const PATIENCE: Duration = Duration::from_millis(500);

/// What was judged before the folder was opened.
pub struct Checked {
    token: Option<String>,
    tls: Option<Tls>,
}

/// A folder that is shown until it is closed.
pub struct Shown {
    pub url: String,
    stop: watch::Sender<bool>,
    server: JoinHandle<()>,
}

pub fn check(context: &Context) -> Result<Checked> {
    Ok(Checked { token: crawl::token(context)?, tls: crawl::tls(context)? })
}

pub fn show(context: &Context, checked: Checked, router: Router) -> Result<Shown> {
    let settings = &context.settings;
    let listener = crawl::listen(settings.listen, "listen")?;
    let listening_on = listener.local_addr().or_fail()?;
    let (stop, stopped) = watch::channel(false);
    let counts = Arc::default();
    let guard = AccessGuard {
        listening_on,
        token: checked.token,
        // Nobody needs what nothing can be changed with.
        local_token: random_text().or_fail()?,
        tokens: Arc::new(AccessTokens::of_folder(settings.data.clone(), wall)),
        keyed: Vec::new(),
        cors: settings.access.cors.clone(),
        requests_per_second: settings.access.rate,
        counts: Arc::clone(&counts),
    };
    let scheme = if checked.tls.is_some() { "https" } else { "http" };
    let guarded = guard.guard(router.layer(middleware::from_fn(only_looking)));
    let router = dashboard::before(guarded, checked.tls.is_some(), None, true);
    let limits = ConnectionLimits::of_descriptors(descriptors::limit());
    let server = network::serve(listener, router, limits, counts, checked.tls, stopped);
    Ok(Shown { url: format!("{scheme}://{listening_on}/"), stop, server })
}

/// Whatever would change something is refused.
async fn only_looking(request: Request, next: Next) -> Response {
    if [Method::GET, Method::HEAD, Method::OPTIONS].contains(request.method()) {
        return next.run(request).await;
    }
    let line = "this folder is only shown and cannot be changed; `vernal run` and the other commands change it";
    let status = StatusCode::CONFLICT;
    let problem = serde_json::json!({
        "type": "about:blank", "title": "Conflict", "status": status.as_u16(), "detail": line, "error": line
    });
    (status, [("content-type", "application/problem+json")], problem.to_string()).into_response()
}

impl Shown {
    pub async fn close(self) {
        let _ = self.stop.send(true);
        let abort = self.server.abort_handle();
        if tokio::time::timeout(PATIENCE, self.server).await.is_err() {
            abort.abort();
        }
    }
}
