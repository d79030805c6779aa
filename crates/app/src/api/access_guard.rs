//! Who may ask over the network: on loopback only programs of this machine, elsewhere only who has the token.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::header::{AUTHORIZATION, HOST, ORIGIN};
use axum::http::{HeaderMap, Method, StatusCode};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};

use super::answer::ApiError;

/// The rules of one listener.
#[derive(Clone, Debug)]
pub struct AccessGuard {
    pub listening_on: SocketAddr,
    pub token: Option<String>,
    /// Paths that ask for a key or a signature of their own instead of the token.
    pub keyed: Vec<&'static str>,
}

/// The path that needs no token: it says only that the process lives.
const OPEN_PATH: &str = "/healthz";

pub fn is_loopback(address: &SocketAddr) -> bool {
    match address.ip() {
        IpAddr::V4(address) => address.is_loopback(),
        IpAddr::V6(address) => address.is_loopback(),
    }
}

impl AccessGuard {
    pub fn guard(self, router: Router) -> Router {
        router.layer(middleware::from_fn_with_state(Arc::new(self), check))
    }

    fn judge(&self, method: &Method, path: &str, headers: &HeaderMap) -> Result<(), ApiError> {
        let refuse = |status, line: &str| Err(ApiError::new(status, line));
        let host = headers.get(HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
        // A page of the web may have its name point to us (rebinding); the name in Host gives it away.
        if is_loopback(&self.listening_on) && !is_loopback_name(host) {
            return refuse(StatusCode::FORBIDDEN, "the Host of this request is no name of this machine");
        }
        if !is_reading(method) && !is_own_origin(headers, host) {
            return refuse(StatusCode::FORBIDDEN, "writes from another origin are refused");
        }
        // A page of another site cannot read our answers, but its requests would still cost us work.
        if path.starts_with("/api/") && headers.get("sec-fetch-site").is_some_and(|from| from == "cross-site") {
            return refuse(StatusCode::FORBIDDEN, "questions from another site's page are refused");
        }
        if path == OPEN_PATH || self.keyed.contains(&path) {
            return Ok(());
        }
        match &self.token {
            Some(token) if !bears(headers, token) => {
                refuse(StatusCode::UNAUTHORIZED, "give the token as Authorization: Bearer")
            }
            _ => Ok(()),
        }
    }
}

async fn check(State(guard): State<Arc<AccessGuard>>, request: Request, next: Next) -> Response {
    match guard.judge(request.method(), request.uri().path(), request.headers()) {
        Ok(()) => next.run(request).await,
        Err(error) => error.into_response(),
    }
}

fn is_reading(method: &Method) -> bool {
    matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS)
}

fn is_loopback_name(host: &str) -> bool {
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => host.rsplit_once(':').map_or(host, |(name, _)| name),
    };
    name.eq_ignore_ascii_case("localhost") || name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// Browsers name the origin of every write. None is named by programs, which could name what they like.
fn is_own_origin(headers: &HeaderMap, host: &str) -> bool {
    let Some(origin) = headers.get(ORIGIN) else { return true };
    let origin = origin.to_str().unwrap_or_default();
    let site = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
    site.is_some_and(|site| site.eq_ignore_ascii_case(host))
}

fn bears(headers: &HeaderMap, token: &str) -> bool {
    let given = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let given = given.strip_prefix("Bearer ").unwrap_or_default();
    is_same(given.trim().as_bytes(), token.as_bytes())
}

/// Takes as long for a token that is nearly right as for one that is all wrong.
pub fn is_same(given: &[u8], token: &[u8]) -> bool {
    let mut differs = u8::from(given.len() != token.len());
    for (place, byte) in token.iter().enumerate() {
        differs |= byte ^ given.get(place).copied().unwrap_or(!byte);
    }
    std::hint::black_box(differs) == 0 && !token.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(given: &[(&'static str, &str)]) -> HeaderMap {
        given.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect()
    }

    fn judged(guard: &AccessGuard, method: Method, given: &[(&'static str, &str)]) -> Option<u16> {
        guard.judge(&method, "/api/v1/seeds", &headers(given)).err().map(|error| error.status.as_u16())
    }

    #[test]
    fn on_loopback_the_host_must_be_a_loopback_name() {
        let guard = AccessGuard { listening_on: "127.0.0.1:8376".parse().unwrap(), token: None, keyed: Vec::new() };
        for host in ["localhost:8376", "127.0.0.1:8376", "[::1]:8376", "LOCALHOST", "127.9.9.9"] {
            assert_eq!(judged(&guard, Method::GET, &[("host", host)]), None, "{host}");
        }
        for host in
            ["", "evil.example", "localhost.evil.example:8376", "127.0.0.1.evil.example", "10.0.0.1", "[fe80::1]"]
        {
            assert_eq!(judged(&guard, Method::GET, &[("host", host)]), Some(403), "{host}");
        }
    }

    #[test]
    fn a_write_with_a_foreign_origin_is_refused() {
        let guard = AccessGuard { listening_on: "127.0.0.1:8376".parse().unwrap(), token: None, keyed: Vec::new() };
        let write = |origin| judged(&guard, Method::POST, &[("host", "localhost:8376"), ("origin", origin)]);
        assert_eq!(write("http://localhost:8376"), None);
        for origin in ["https://evil.example", "null", "http://localhost:9999", "http://127.0.0.1:8376"] {
            assert_eq!(write(origin), Some(403), "{origin}");
        }
        assert_eq!(judged(&guard, Method::POST, &[("host", "localhost:8376")]), None);
        let from_elsewhere = [("host", "localhost:8376"), ("sec-fetch-site", "cross-site")];
        assert_eq!(judged(&guard, Method::GET, &from_elsewhere), Some(403));
    }

    #[test]
    fn beyond_loopback_only_the_whole_token_opens() {
        let guard = AccessGuard {
            listening_on: "0.0.0.0:8376".parse().unwrap(),
            token: Some("s3cret".into()),
            keyed: vec!["/indexnow"],
        };
        let with = |token| judged(&guard, Method::GET, &[("host", "crawl.example"), ("authorization", token)]);
        assert_eq!(with("Bearer s3cret"), None);
        for token in ["", "Bearer ", "Bearer s3cre", "Bearer s3cret1", "Basic s3cret", "s3cret"] {
            assert_eq!(with(token), Some(401), "{token}");
        }
        for open in ["/healthz", "/indexnow"] {
            assert!(guard.judge(&Method::GET, open, &headers(&[("host", "x")])).is_ok());
        }
        assert!(guard.judge(&Method::GET, "/websub", &headers(&[("host", "x")])).is_err());
    }
}
