//! Who may ask over the network: on loopback programs of this machine may read and the owner of the data folder may write;
//! elsewhere only who has the token may do either.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use std::time::Duration;

use axum::Router;
use axum::body::{Body, HttpBody};
use axum::extract::{Request, State};
use axum::http::header::{AUTHORIZATION, HOST, ORIGIN};
use axum::http::{HeaderMap, Method, StatusCode};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use tokio::sync::Semaphore;
use tokio::time::timeout;

use super::REQUEST_BYTES_MAX;
use super::answer::ApiError;

/// The rules of one listener.
#[derive(Clone, Debug)]
pub struct AccessGuard {
    pub listening_on: SocketAddr,
    pub token: Option<String>,
    /// What writes must carry where no token was given.
    pub local_token: String,
    /// Paths that ask for a key or a signature of their own instead of the token.
    pub keyed: Vec<&'static str>,
}

/// The path that needs no token: it says only that the process lives.
const OPEN_PATH: &str = "/healthz";
/// Paths that change something even where they are read, as their standards want it.
const CHANGING_PATHS: [&str; 2] = ["/indexnow", "/websub"];
/// The body of a request must have come after so long.
const BODY_PATIENCE: Duration = Duration::from_secs(30);
/// Bodies read at a time; others wait.
const BODIES_AT_ONCE_MAX: usize = 4;
/// Whoever has no token sends less: ten thousand URLs of a push, or a feed.
const KEYED_BYTES_MAX: usize = 4 << 20;

pub fn is_loopback(address: &SocketAddr) -> bool {
    match address.ip() {
        IpAddr::V4(address) => address.is_loopback(),
        IpAddr::V6(address) => address.is_loopback(),
    }
}

impl AccessGuard {
    pub fn guard(self, router: Router) -> Router {
        let at_work = GuardAtWork {
            guard: self,
            bodies: Semaphore::new(BODIES_AT_ONCE_MAX),
            keyed: Semaphore::new(BODIES_AT_ONCE_MAX),
        };
        router.layer(middleware::from_fn_with_state(Arc::new(at_work), check))
    }

    fn judge(&self, method: &Method, path: &str, headers: &HeaderMap) -> Result<(), ApiError> {
        let refuse = |status, line: &str| Err(ApiError::new(status, line));
        let host = headers.get(HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
        // A page of the web may have its name point to us (rebinding); the name in Host gives it away.
        if is_loopback(&self.listening_on) && !is_loopback_name(host) {
            return refuse(StatusCode::FORBIDDEN, "the Host of this request is no name of this machine");
        }
        let writes = !is_reading(method) || CHANGING_PATHS.contains(&path);
        if writes && !is_own_origin(headers, host) {
            return refuse(StatusCode::FORBIDDEN, "writes from another origin are refused");
        }
        // A page of another site cannot read our answers, but its requests would still cost us work.
        let is_question = path.starts_with("/api/") || (writes && !self.keyed.contains(&path));
        if is_question && headers.get("sec-fetch-site").is_some_and(|from| from == "cross-site") {
            return refuse(StatusCode::FORBIDDEN, "questions from another site's page are refused");
        }
        if path == OPEN_PATH || self.keyed.contains(&path) {
            return Ok(());
        }
        match &self.token {
            Some(token) if !bears(headers, token) => {
                refuse(StatusCode::UNAUTHORIZED, "give the token as Authorization: Bearer")
            }
            None if writes && !bears(headers, &self.local_token) => refuse(
                StatusCode::UNAUTHORIZED,
                "a write through this port needs the token in the file local-token of the data folder, given as \
                 Authorization: Bearer; the commands of vernal need none",
            ),
            _ => Ok(()),
        }
    }
}

/// The guard, and how many bodies are read at a time. Pushes with keys of their own never wait for other writes, nor those
/// for them.
struct GuardAtWork {
    guard: AccessGuard,
    bodies: Semaphore,
    keyed: Semaphore,
}

async fn check(State(at_work): State<Arc<GuardAtWork>>, request: Request, next: Next) -> Response {
    if let Err(error) = at_work.guard.judge(request.method(), request.uri().path(), request.headers()) {
        return error.into_response();
    }
    if is_reading(request.method()) || request.body().is_end_stream() {
        return next.run(request).await;
    }
    match at_work.whole(request).await {
        Ok(request) => next.run(request).await,
        Err(error) => error.into_response(),
    }
}

impl GuardAtWork {
    /// The request with its whole body, which is read only now that the guard let it pass.
    async fn whole(&self, request: Request) -> Result<Request, ApiError> {
        let is_keyed = self.guard.keyed.contains(&request.uri().path());
        let (room, bytes_max) =
            if is_keyed { (&self.keyed, KEYED_BYTES_MAX) } else { (&self.bodies, REQUEST_BYTES_MAX) };
        let _permit = room.acquire().await.map_err(ApiError::failed)?;
        let (parts, body) = request.into_parts();
        let line = match timeout(BODY_PATIENCE, axum::body::to_bytes(body, bytes_max)).await {
            Ok(Ok(bytes)) => return Ok(Request::from_parts(parts, Body::from(bytes))),
            Ok(Err(error)) => format!("read the body of this request: {error}; it may have {bytes_max} bytes"),
            Err(_) => format!("the body of this request did not come within {} s", BODY_PATIENCE.as_secs()),
        };
        Err(ApiError::bad_request(line))
    }
}

fn is_reading(method: &Method) -> bool {
    matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS)
}

fn is_loopback_name(host: &str) -> bool {
    // The whole of it must be a name and perhaps a port; of anything else no part is taken for a name.
    let (name, port) = match host.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((inner, "")) => (inner.parse().map(IpAddr::V6), None),
        Some((inner, rest)) => (inner.parse().map(IpAddr::V6), Some(rest.strip_prefix(':').unwrap_or("no port"))),
        None => {
            let (name, port) = host.split_once(':').map_or((host, None), |(name, port)| (name, Some(port)));
            if name.eq_ignore_ascii_case("localhost") {
                return port.is_none_or(is_port);
            }
            (name.parse().map(IpAddr::V4), port)
        }
    };
    name.is_ok_and(|address| address.is_loopback()) && port.is_none_or(is_port)
}

fn is_port(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit()) && text.parse::<u16>().is_ok()
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

    fn guard_of(listening_on: &str, token: Option<&str>) -> AccessGuard {
        let token = token.map(str::to_owned);
        let listening_on = listening_on.parse().unwrap();
        AccessGuard { listening_on, token, local_token: "l0cal".into(), keyed: Vec::new() }
    }

    fn judged(guard: &AccessGuard, method: Method, given: &[(&'static str, &str)]) -> Option<u16> {
        guard.judge(&method, "/api/v1/seeds", &headers(given)).err().map(|error| error.status.as_u16())
    }

    #[test]
    fn on_loopback_the_host_must_be_a_loopback_name() {
        let guard = guard_of("127.0.0.1:8376", None);
        for host in ["localhost:8376", "127.0.0.1:8376", "[::1]:8376", "LOCALHOST", "127.9.9.9"] {
            assert_eq!(judged(&guard, Method::GET, &[("host", host)]), None, "{host}");
        }
        for host in [
            "",
            "evil.example",
            "localhost.evil.example:8376",
            "127.0.0.1.evil.example",
            "10.0.0.1",
            "[fe80::1]",
            "[::1].evil.example",
            "[::1]evil.example:80",
            "[127.0.0.1]",
            "localhost:8376.evil.example",
            "localhost:",
            "127.0.0.1:evil",
            "evil.example:80:127.0.0.1",
            "[::1",
            "::1",
            "localhost:99999",
            "evil@localhost",
            "localhost.",
        ] {
            assert_eq!(judged(&guard, Method::GET, &[("host", host)]), Some(403), "{host}");
        }
    }

    #[test]
    fn a_write_with_a_foreign_origin_is_refused() {
        let guard = guard_of("127.0.0.1:8376", None);
        let own = ("authorization", "Bearer l0cal");
        let write = |origin| judged(&guard, Method::POST, &[("host", "localhost:8376"), ("origin", origin), own]);
        assert_eq!(write("http://localhost:8376"), None);
        for origin in ["https://evil.example", "null", "http://localhost:9999", "http://127.0.0.1:8376"] {
            assert_eq!(write(origin), Some(403), "{origin}");
        }
        assert_eq!(judged(&guard, Method::POST, &[("host", "localhost:8376"), own]), None);
        let from_elsewhere = [("host", "localhost:8376"), ("sec-fetch-site", "cross-site")];
        assert_eq!(judged(&guard, Method::GET, &from_elsewhere), Some(403));
    }

    #[test]
    fn without_a_token_a_write_through_the_port_carries_that_of_the_folder() {
        let guard = guard_of("127.0.0.1:8376", None);
        let host = ("host", "localhost:8376");
        for method in [Method::POST, Method::DELETE, Method::PUT] {
            assert_eq!(judged(&guard, method.clone(), &[host]), Some(401), "{method}");
            assert_eq!(judged(&guard, method, &[host, ("authorization", "Bearer l0cal")]), None);
        }
        assert_eq!(judged(&guard, Method::GET, &[host]), None);
        let given = guard_of("127.0.0.1:8376", Some("s3cret"));
        assert_eq!(judged(&given, Method::POST, &[host, ("authorization", "Bearer l0cal")]), Some(401));
    }

    #[test]
    fn a_push_that_is_a_get_is_a_write_too() {
        let guard = guard_of("127.0.0.1:8376", None);
        let push = |guard: &AccessGuard, extra: &[(&'static str, &str)]| {
            let given = headers(&[&[("host", "localhost:8376")], extra].concat());
            guard.judge(&Method::GET, "/indexnow", &given).err().map(|error| error.status.as_u16())
        };
        let own = ("authorization", "Bearer l0cal");
        assert_eq!(push(&guard, &[]), Some(401));
        assert_eq!(push(&guard, &[own]), None);
        assert_eq!(push(&guard, &[own, ("sec-fetch-site", "cross-site")]), Some(403));
        assert_eq!(push(&guard, &[own, ("origin", "https://evil.example")]), Some(403));
        let keyed = AccessGuard { keyed: vec!["/indexnow"], ..guard };
        assert_eq!(push(&keyed, &[]), None, "its key is looked at where it is read");
    }

    #[test]
    fn beyond_loopback_only_the_whole_token_opens() {
        let guard = AccessGuard { keyed: vec!["/indexnow"], ..guard_of("0.0.0.0:8376", Some("s3cret")) };
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
