//! Pages of other origins that may ask (CORS). None may unless a person lists it, each by its whole name.

use axum::http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_METHOD, ORIGIN, VARY,
};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode};
use axum::response::{IntoResponse, Response};
use url::Url;

const METHODS: &str = "GET, HEAD, POST, PUT, PATCH, DELETE";
const HEADERS: &str = "authorization, content-type, if-none-match, last-event-id";
const EXPOSED: &str = "etag, link, retry-after, www-authenticate";
/// A browser asks again after so many seconds.
const MAX_AGE_SECS: &str = "600";

/// The origins that are listed.
#[derive(Clone, Debug, Default)]
pub struct CorsOrigins(pub Vec<String>);

/// An origin as browsers write it. `*` and `null` are refused: either would let every page in.
pub fn origin(text: &str) -> Result<String, String> {
    let wrong = || format!("`{text}` is no origin: give scheme and host, such as https://board.example");
    let url = Url::parse(text).map_err(|_| wrong())?;
    let is_bare = url.path() == "/" && url.query().is_none() && url.fragment().is_none() && url.username().is_empty();
    let origin = url.origin().ascii_serialization();
    let is_web = matches!(url.scheme(), "http" | "https");
    // What was given must be the origin itself, so that nobody believes that a path counts.
    if is_web && is_bare && url.password().is_none() && !text.ends_with('/') && !text.contains(['@', '*']) {
        return Ok(origin);
    }
    Err(wrong())
}

impl CorsOrigins {
    /// The origin of this request, if it is listed.
    pub fn listed(&self, headers: &HeaderMap) -> Option<HeaderValue> {
        let given = headers.get(ORIGIN)?;
        self.0.iter().any(|listed| listed.as_bytes() == given.as_bytes()).then(|| given.clone())
    }

    /// The answer to a browser that asks before it asks.
    pub fn preflight(&self, method: &Method, headers: &HeaderMap) -> Option<Response> {
        let is_preflight = method == Method::OPTIONS && headers.contains_key(ACCESS_CONTROL_REQUEST_METHOD);
        if !is_preflight || self.listed(headers).is_none() {
            return None;
        }
        let allowed = [
            (ACCESS_CONTROL_ALLOW_METHODS, METHODS),
            (ACCESS_CONTROL_ALLOW_HEADERS, HEADERS),
            (ACCESS_CONTROL_MAX_AGE, MAX_AGE_SECS),
        ];
        Some((StatusCode::NO_CONTENT, allowed).into_response())
    }

    /// Tells the browser that its page may read this answer. Credentials of the browser's own, such as cookies, are never
    /// allowed: a page brings its token itself.
    pub fn mark(&self, listed: Option<HeaderValue>, response: &mut Response) {
        if self.0.is_empty() {
            return;
        }
        let headers = response.headers_mut();
        // An answer for one origin must not be kept for another.
        headers.append(VARY, HeaderValue::from_static("origin"));
        if let Some(origin) = listed {
            headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
            headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static(EXPOSED));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_is_scheme_host_and_port_and_nothing_else() {
        for (text, read) in [
            ("https://board.example", "https://board.example"),
            ("https://Board.EXAMPLE:443", "https://board.example"),
            ("http://localhost:5173", "http://localhost:5173"),
            ("http://[::1]:80", "http://[::1]"),
        ] {
            assert_eq!(origin(text).as_deref(), Ok(read));
        }
        for text in [
            "*",
            "null",
            "",
            "board.example",
            "https://board.example/",
            "https://board.example/app",
            "https://u@board.example",
            "https://board.example?",
            "https://board.example#x",
            "file:///x",
            "data:text/html,x",
            "https://*.example",
        ] {
            assert!(origin(text).is_err(), "{text}");
        }
    }

    fn headers(given: &[(&'static str, &str)]) -> HeaderMap {
        given.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect()
    }

    #[test]
    fn only_listed_origins_get_a_preflight_answer_and_none_is_allowed_credentials() {
        let cors = CorsOrigins(vec!["https://board.example".into()]);
        let asked = |origin: &str| headers(&[("origin", origin), ("access-control-request-method", "POST")]);
        let answer = cors.preflight(&Method::OPTIONS, &asked("https://board.example")).unwrap();
        assert_eq!(answer.status(), StatusCode::NO_CONTENT);
        assert!(answer.headers()[ACCESS_CONTROL_ALLOW_HEADERS].to_str().unwrap().contains("authorization"));
        for origin in
            ["https://evil.example", "null", "*", "http://board.example", "https://board.example.evil.example"]
        {
            assert!(cors.preflight(&Method::OPTIONS, &asked(origin)).is_none(), "{origin}");
            assert!(cors.listed(&asked(origin)).is_none(), "{origin}");
        }
        assert!(cors.preflight(&Method::GET, &asked("https://board.example")).is_none());
        assert!(CorsOrigins::default().preflight(&Method::OPTIONS, &asked("https://board.example")).is_none());
    }

    #[test]
    fn an_answer_names_the_one_origin_that_asked_and_is_kept_for_no_other() {
        let cors = CorsOrigins(vec!["https://a.example".into(), "https://b.example".into()]);
        let mut response = ().into_response();
        cors.mark(cors.listed(&headers(&[("origin", "https://b.example")])), &mut response);
        assert_eq!(response.headers()[ACCESS_CONTROL_ALLOW_ORIGIN], "https://b.example");
        assert_eq!(response.headers()[VARY], "origin");
        assert!(!response.headers().contains_key("access-control-allow-credentials"));
        let mut response = ().into_response();
        cors.mark(None, &mut response);
        assert!(!response.headers().contains_key(ACCESS_CONTROL_ALLOW_ORIGIN));
        assert_eq!(response.headers()[VARY], "origin");
    }
}
