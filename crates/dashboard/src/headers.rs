//! What browsers are told to refuse, on every answer of the dashboard.

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, HeaderName, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use axum::http::{HeaderValue, Response};
use axum::middleware::Next;

/// Everything is ours, nothing is inline, and no script may write markup. `img-src` has no `data:`: all drawings are SVG in
/// the page.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; img-src 'self'; \
                      connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; \
                      require-trusted-types-for 'script'; trusted-types 'none'";

/// On an answer, the origin that this screen may frame.
#[derive(Clone)]
pub struct Frames(pub String);

/// `same-origin`: with `no-referrer`, browsers hide the origin of our own forms, and writes without one are refused.
const KEPT: [(HeaderName, &str); 5] = [
    (X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (X_FRAME_OPTIONS, "DENY"),
    (REFERRER_POLICY, "same-origin"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
];

pub async fn safe(State(()): State<()>, request: Request, next: Next) -> Response<Body> {
    marked(next.run(request).await)
}

pub fn marked(mut response: Response<Body>) -> Response<Body> {
    let policy = match response.extensions().get::<Frames>() {
        Some(Frames(origin)) => HeaderValue::from_str(&format!("{POLICY}; frame-src {origin}")),
        None => Ok(HeaderValue::from_static(POLICY)),
    };
    let headers = response.headers_mut();
    headers.insert(CONTENT_SECURITY_POLICY, policy.unwrap_or(HeaderValue::from_static(POLICY)));
    headers.entry(CACHE_CONTROL).or_insert(HeaderValue::from_static("private, no-store"));
    for (name, value) in KEPT {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}
