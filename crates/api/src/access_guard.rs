//! Who may ask over the network: on loopback programs of this machine may read and the owner of the data folder may do
//! everything; elsewhere only who has a token may do anything. A token has a role, and each route needs one.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, HttpBody};
use axum::extract::{Request, State};
use axum::http::header::{AUTHORIZATION, HOST, ORIGIN, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use tokio::sync::Semaphore;
use tokio::time::{Instant, timeout};
use vernal_repository::Role;

use super::REQUEST_BYTES_MAX;
use super::access::places::{self, Places};
use super::access::rates::{self, Rate, Rates};
use super::access::roles::{self, OPEN_PATH};
use super::access::secret::is_same;
use super::access::{AccessTokens, CorsOrigins};
use super::answer::{self, ApiError};
use super::connection_counts::ConnectionCounts;
use super::marks::Asking;

/// The rules of one listener.
#[derive(Clone)]
pub struct AccessGuard {
    pub listening_on: SocketAddr,
    /// The token that a person gave in the settings; it may do everything.
    pub token: Option<String>,
    /// What opens everything on loopback where no token was given.
    pub local_token: String,
    /// Tokens with roles, made by `vernal token add`.
    pub tokens: Arc<AccessTokens>,
    /// Paths that ask for a key or a signature of their own instead of the token.
    pub keyed: Vec<&'static str>,
    pub cors: CorsOrigins,
    /// Requests a second of one token, or of one address without one.
    pub requests_per_second: f64,
    /// Where refusals are counted.
    pub counts: Arc<ConnectionCounts>,
}

/// Who sent a request, as the listener saw the connection. Behind a proxy it is the proxy.
#[derive(Copy, Clone, Debug)]
pub struct PeerAddress(pub IpAddr);

/// The body of a request must have come after so long.
const BODY_PATIENCE: Duration = Duration::from_secs(30);
/// Bodies read at a time; others wait.
const BODIES_AT_ONCE_MAX: usize = 4;
/// Whoever has no token sends less: ten thousand URLs of a push, or a feed.
const KEYED_BYTES_MAX: usize = 4 << 20;

/// Whose token a request carries, as far as limits count.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Asker {
    /// Bears the token that a person wrote into the settings.
    Given,
    /// Bears the token of the data folder.
    Local,
    Named(String),
    Address(IpAddr),
}

/// Who asks and what they may do; no role at all beyond loopback without a token.
#[derive(Debug, PartialEq, Eq)]
struct Known {
    asker: Asker,
    role: Option<Role>,
}

impl Known {
    /// The name under which it is noted what they do.
    fn asking(&self) -> Asking {
        Asking(match &self.asker {
            Asker::Named(name) => name.clone(),
            Asker::Given => "given token".to_owned(),
            Asker::Local => "local".to_owned(),
            Asker::Address(_) => "anyone".to_owned(),
        })
    }
}

/// A request that goes no further.
#[derive(Debug)]
struct Refusal {
    error: ApiError,
    /// A token would help.
    asks_for_token: bool,
    come_again: Option<Duration>,
}

impl Refusal {
    fn new(status: StatusCode, line: impl std::fmt::Display) -> Refusal {
        Refusal { error: ApiError::new(status, line), asks_for_token: false, come_again: None }
    }

    fn unauthorized(line: &str) -> Refusal {
        Refusal { asks_for_token: true, ..Refusal::new(StatusCode::UNAUTHORIZED, line) }
    }

    fn too_many(line: &str, wait: Duration) -> Refusal {
        Refusal { come_again: Some(wait), ..Refusal::new(StatusCode::TOO_MANY_REQUESTS, line) }
    }

    fn count(&self, counts: &ConnectionCounts) {
        let count = match self.error.status {
            StatusCode::UNAUTHORIZED => &counts.unauthorized,
            StatusCode::FORBIDDEN => &counts.forbidden,
            StatusCode::TOO_MANY_REQUESTS => &counts.too_many,
            StatusCode::SERVICE_UNAVAILABLE => &counts.without_place,
            _ => return,
        };
        count.fetch_add(1, Ordering::Relaxed);
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let mut response = self.error.into_response();
        let headers = response.headers_mut();
        if self.asks_for_token {
            headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer realm=\"vernal\""));
        }
        if let Some(wait) = self.come_again {
            headers.insert(RETRY_AFTER, rates::seconds(wait).into());
        }
        response
    }
}

pub fn is_loopback(address: &SocketAddr) -> bool {
    match address.ip() {
        IpAddr::V4(address) => address.is_loopback(),
        IpAddr::V6(address) => address.is_loopback(),
    }
}

impl AccessGuard {
    pub fn guard(self, router: Router) -> Router {
        let at_work = Arc::new(GuardAtWork::new(self));
        // What is refused has the same safe headers as what is answered.
        router.layer(middleware::from_fn_with_state(at_work, check)).layer(middleware::from_fn(answer::safe_headers))
    }

    /// Keeps pages of the web out that ask in their reader's name.
    fn judge_origin(&self, method: &Method, path: &str, headers: &HeaderMap) -> Result<(), Refusal> {
        let refuse = |line: &str| Err(Refusal::new(StatusCode::FORBIDDEN, line));
        let host = headers.get(HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
        // A page of the web may have its name point to us (rebinding); the name in Host gives it away.
        if is_loopback(&self.listening_on) && !is_loopback_name(host) {
            return refuse("the Host of this request is no name of this machine");
        }
        if self.cors.listed(headers).is_some() {
            return Ok(());
        }
        let writes = !roles::only_reads(method, path);
        if writes && !is_own_origin(headers, host) {
            return refuse("writes from another origin are refused");
        }
        // A page of another site cannot read our answers, but its requests would still cost us work.
        let is_question = path.starts_with("/api/") || (writes && !self.keyed.contains(&path));
        if is_question && headers.get("sec-fetch-site").is_some_and(|from| from == "cross-site") {
            return refuse("questions from another site's page are refused");
        }
        Ok(())
    }

    /// Whose token this is; `None` for one that opens nothing.
    fn bearer(&self, text: &str) -> Result<Option<Known>, Refusal> {
        let (own, asker) = match &self.token {
            Some(token) => (token, Asker::Given),
            None => (&self.local_token, Asker::Local),
        };
        if is_same(text.as_bytes(), own.as_bytes()) {
            return Ok(Some(Known { asker, role: Some(Role::Admin) }));
        }
        let bearer = self.tokens.bearer(text).map_err(|error| {
            tracing::error!("{error}");
            Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, "the tokens of this crawl cannot be read, so none is taken")
        })?;
        Ok(bearer.map(|bearer| Known { asker: Asker::Named(bearer.name), role: Some(bearer.role) }))
    }

    /// What somebody without a token may do.
    fn nobody(&self, peer: IpAddr) -> Known {
        // Every program of this machine may read, unless the owner gave a token to shut them out.
        let may_read = is_loopback(&self.listening_on) && self.token.is_none();
        Known { asker: Asker::Address(peer), role: may_read.then_some(Role::Read) }
    }

    /// Whether they may ask this.
    fn judge_role(&self, known: &Known, method: &Method, path: &str) -> Result<(), Refusal> {
        if path == OPEN_PATH || self.keyed.contains(&path) {
            return Ok(());
        }
        let needed = roles::needed(method, path);
        match (known.role, &known.asker) {
            (Some(role), _) if role >= needed => Ok(()),
            (Some(role), Asker::Named(name)) => {
                let line = format!("the token {name} has the role {role}, and this needs {needed}");
                Err(Refusal::new(StatusCode::FORBIDDEN, line))
            }
            (Some(_), _) => Err(Refusal::unauthorized(
                "through this port this needs a token with a role for it (`vernal token add`), or the one in the file \
                 local-token of the data folder, given as Authorization: Bearer; the commands of vernal need none",
            )),
            (None, _) => Err(Refusal::unauthorized("give a token as Authorization: Bearer")),
        }
    }
}

/// The guard, and what it counts. Pushes with keys of their own never wait for other writes, nor those for them.
struct GuardAtWork {
    guard: AccessGuard,
    bodies: Semaphore,
    keyed: Semaphore,
    requests: Mutex<Rates<Asker>>,
    failures: Mutex<Rates<IpAddr>>,
    places: Places,
}

async fn check(State(at_work): State<Arc<GuardAtWork>>, request: Request, next: Next) -> Response {
    let cors = &at_work.guard.cors;
    if let Some(mut answer) = cors.preflight(request.method(), request.headers()) {
        cors.mark(cors.listed(request.headers()), &mut answer);
        return answer;
    }
    let listed = cors.listed(request.headers());
    let mut response = at_work.answer(request, next).await.unwrap_or_else(|refusal| {
        refusal.count(&at_work.guard.counts);
        refusal.into_response()
    });
    cors.mark(listed, &mut response);
    response
}

impl GuardAtWork {
    fn new(guard: AccessGuard) -> GuardAtWork {
        GuardAtWork {
            bodies: Semaphore::new(BODIES_AT_ONCE_MAX),
            keyed: Semaphore::new(BODIES_AT_ONCE_MAX),
            requests: Mutex::new(Rates::new(Rate::of_requests(guard.requests_per_second))),
            failures: Mutex::new(Rates::new(Rate::of_failures())),
            places: Places::new(),
            guard,
        }
    }

    async fn answer(&self, request: Request, next: Next) -> Result<Response, Refusal> {
        let (method, path) = (request.method().clone(), request.uri().path().to_owned());
        let peer = request.extensions().get().map_or(Ipv4Addr::UNSPECIFIED.into(), |PeerAddress(peer)| *peer);
        let peer = rates::network(peer);
        let now = Instant::now();
        let known = self.admit(&method, &path, request.headers(), peer, now)?;
        let mut request = request;
        request.extensions_mut().insert(known.asking());
        let place = self.places.take(&path).await.map_err(|none| Refusal {
            come_again: Some(places::COME_AGAIN),
            ..Refusal::new(StatusCode::SERVICE_UNAVAILABLE, none)
        })?;
        let request = match roles::is_reading(&method) || request.body().is_end_stream() {
            true => request,
            false => self.whole(request).await?,
        };
        let response = next.run(request).await;
        // A key or signature that is wrong counts like a wrong token.
        if self.guard.keyed.contains(&&*path) && response.status() == StatusCode::FORBIDDEN {
            let _ = locked(&self.failures).take(&peer, now);
        }
        Ok(place.held_by(response))
    }

    /// Everything that is judged before a request costs anything.
    fn admit(
        &self,
        method: &Method,
        path: &str,
        headers: &HeaderMap,
        peer: IpAddr,
        now: Instant,
    ) -> Result<Known, Refusal> {
        self.guard.judge_origin(method, path, headers)?;
        let is_keyed = self.guard.keyed.contains(&path);
        let known = match given_token(headers).filter(|_| !is_keyed && path != OPEN_PATH) {
            Some(text) => self.known_by(text, peer, now)?,
            None => self.guard.nobody(peer),
        };
        locked(&self.requests)
            .take(&known.asker, now)
            .map_err(|wait| Refusal::too_many("too many requests; Retry-After says when to come again", wait))?;
        if is_keyed {
            locked(&self.failures).wait(&peer, now).map_err(slowed_down)?;
        }
        self.guard.judge_role(&known, method, path)?;
        Ok(known)
    }

    /// Who bears this token. An address that gave too many wrong ones is slowed down: of it, only tokens that are made of
    /// random numbers are taken, because nobody can guess those, and whoever shares the address is not shut out.
    fn known_by(&self, text: &str, peer: IpAddr, now: Instant) -> Result<Known, Refusal> {
        let slowed = locked(&self.failures).wait(&peer, now);
        match self.guard.bearer(text)? {
            Some(known) if slowed.is_ok() || known.asker != Asker::Given => Ok(known),
            Some(_) => Err(slowed_down(slowed.err().unwrap_or_default())),
            None => {
                locked(&self.failures).take(&peer, now).map_err(slowed_down)?;
                Err(Refusal::unauthorized("this token opens nothing: it is wrong, was revoked or has expired"))
            }
        }
    }

    /// The request with its whole body, which is read only now that the guard let it pass.
    async fn whole(&self, request: Request) -> Result<Request, Refusal> {
        let is_keyed = self.guard.keyed.contains(&request.uri().path());
        let (room, bytes_max) =
            if is_keyed { (&self.keyed, KEYED_BYTES_MAX) } else { (&self.bodies, REQUEST_BYTES_MAX) };
        let failed = |error| Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, error);
        let _permit = room.acquire().await.map_err(failed)?;
        let (parts, body) = request.into_parts();
        let line = match timeout(BODY_PATIENCE, axum::body::to_bytes(body, bytes_max)).await {
            Ok(Ok(bytes)) => return Ok(Request::from_parts(parts, Body::from(bytes))),
            Ok(Err(error)) => format!("read the body of this request: {error}; it may have {bytes_max} bytes"),
            Err(_) => format!("the body of this request did not come within {} s", BODY_PATIENCE.as_secs()),
        };
        Err(Refusal::new(StatusCode::BAD_REQUEST, line))
    }
}

fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn slowed_down(wait: Duration) -> Refusal {
    Refusal::too_many("too many wrong tokens came from this address; Retry-After says when to try again", wait)
}

/// The token that a request carries. Other kinds of proof are none.
fn given_token(headers: &HeaderMap) -> Option<&str> {
    let given = headers.get(AUTHORIZATION)?.to_str().ok()?;
    let (kind, token) = given.split_once(' ')?;
    kind.eq_ignore_ascii_case("bearer").then(|| token.trim())
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

#[cfg(test)]
mod tests {
    use axum::routing::get;
    use tower::ServiceExt;
    use vernal_model::Moment;

    use super::*;

    fn wall() -> Moment {
        Moment::from_secs(1_800_000_000)
    }

    const PEER: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 7));
    const LOOPBACK: &str = "127.0.0.1:8376";
    const BEYOND: &str = "192.0.2.1:8376";

    fn headers(given: &[(&'static str, &str)]) -> HeaderMap {
        given.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect()
    }

    /// A guard over a folder with one token of each role, and the texts of these tokens by role.
    struct House {
        _dir: tempfile::TempDir,
        guard: AccessGuard,
        texts: [String; 3],
    }

    fn house(listening_on: &str, token: Option<&str>) -> House {
        let dir = tempfile::tempdir().unwrap();
        let tokens = AccessTokens::of_folder(dir.path().to_owned(), wall);
        let texts = Role::ALL.map(|role| tokens.add(role.name(), role, None).unwrap().text);
        let guard = AccessGuard {
            listening_on: listening_on.parse().unwrap(),
            token: token.map(str::to_owned),
            local_token: "l0cal".into(),
            tokens: Arc::new(tokens),
            keyed: Vec::new(),
            cors: CorsOrigins::default(),
            requests_per_second: 1_000.0,
            counts: Arc::default(),
        };
        House { _dir: dir, guard, texts }
    }

    /// The status with which a fresh guard refuses this; `None` where it lets it pass.
    fn judged_at(guard: &AccessGuard, method: Method, path: &str, given: &[(&'static str, &str)]) -> Option<u16> {
        let at_work = GuardAtWork::new(guard.clone());
        let now = Instant::now();
        at_work.admit(&method, path, &headers(given), PEER, now).err().map(|refusal| refusal.error.status.as_u16())
    }

    fn judged(guard: &AccessGuard, method: Method, given: &[(&'static str, &str)]) -> Option<u16> {
        judged_at(guard, method, "/api/v1/seeds", given)
    }

    #[test]
    fn on_loopback_the_host_must_be_a_loopback_name() {
        let House { guard, .. } = &house(LOOPBACK, None);
        for host in ["localhost:8376", "127.0.0.1:8376", "[::1]:8376", "LOCALHOST", "127.9.9.9"] {
            assert_eq!(judged(guard, Method::GET, &[("host", host)]), None, "{host}");
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
            assert_eq!(judged(guard, Method::GET, &[("host", host)]), Some(403), "{host}");
        }
    }

    #[test]
    fn a_write_with_a_foreign_origin_is_refused_unless_the_origin_is_listed() {
        let House { guard, .. } = &house(LOOPBACK, None);
        let own = ("authorization", "Bearer l0cal");
        let write = |guard: &AccessGuard, origin: &str| {
            judged(guard, Method::POST, &[("host", "localhost:8376"), ("origin", origin), own])
        };
        assert_eq!(write(guard, "http://localhost:8376"), None);
        for origin in ["https://evil.example", "null", "http://localhost:9999", "http://127.0.0.1:8376"] {
            assert_eq!(write(guard, origin), Some(403), "{origin}");
        }
        assert_eq!(judged(guard, Method::POST, &[("host", "localhost:8376"), own]), None);
        let from_elsewhere = [("host", "localhost:8376"), ("sec-fetch-site", "cross-site")];
        assert_eq!(judged(guard, Method::GET, &from_elsewhere), Some(403));
        let listing = AccessGuard { cors: CorsOrigins(vec!["https://board.example".into()]), ..guard.clone() };
        assert_eq!(write(&listing, "https://board.example"), None);
        assert_eq!(write(&listing, "https://evil.example"), Some(403));
        let without_token = [("host", "localhost:8376"), ("origin", "https://board.example")];
        assert_eq!(judged(&listing, Method::POST, &without_token), Some(401), "being listed is no token");
    }

    #[test]
    fn without_a_token_a_write_through_the_port_carries_that_of_the_folder() {
        let House { guard, .. } = &house(LOOPBACK, None);
        let host = ("host", "localhost:8376");
        for method in [Method::POST, Method::DELETE, Method::PUT] {
            assert_eq!(judged(guard, method.clone(), &[host]), Some(401), "{method}");
            assert_eq!(judged(guard, method, &[host, ("authorization", "Bearer l0cal")]), None);
        }
        assert_eq!(judged(guard, Method::GET, &[host]), None);
        assert_eq!(judged_at(guard, Method::GET, "/api/v1/tokens", &[host]), Some(401));
        let given = house(LOOPBACK, Some("s3cret")).guard;
        assert_eq!(judged(&given, Method::POST, &[host, ("authorization", "Bearer l0cal")]), Some(401));
        assert_eq!(judged(&given, Method::GET, &[host]), Some(401));
        assert_eq!(judged(&given, Method::GET, &[host, ("authorization", "bearer  s3cret")]), None);
    }

    #[test]
    fn a_token_does_what_its_role_may_and_no_more_wherever_it_listens() {
        let acts = [
            (Method::GET, "/api/v1/status", Role::Read),
            (Method::HEAD, "/metrics", Role::Read),
            (Method::POST, "/api/v1/pause", Role::Operate),
            (Method::DELETE, "/api/v1/seeds", Role::Operate),
            (Method::GET, "/websub", Role::Operate),
            (Method::GET, "/api/v1/tokens", Role::Admin),
            (Method::DELETE, "/api/v1/tokens/x", Role::Admin),
            (Method::POST, "/api/v1/nobody-thought-of-it", Role::Admin),
        ];
        for (listening_on, given) in [(LOOPBACK, None), (LOOPBACK, Some("s3cret")), (BEYOND, None)] {
            let House { guard, texts, .. } = &house(listening_on, given);
            for (role, text) in Role::ALL.into_iter().zip(texts) {
                let bearer = format!("Bearer {text}");
                let with = [("host", "localhost"), ("authorization", &*bearer)];
                for (method, path, needed) in &acts {
                    let expected = (role < *needed).then_some(403);
                    assert_eq!(judged_at(guard, method.clone(), path, &with), expected, "{role}: {method} {path}");
                }
            }
            guard.tokens.revoke("admin").unwrap();
            let revoked = format!("Bearer {}", texts[2]);
            for path in ["/api/v1/status", "/"] {
                let with = [("host", "localhost"), ("authorization", &*revoked)];
                assert_eq!(judged_at(guard, Method::GET, path, &with), Some(401), "revoked: {path}");
            }
        }
    }

    #[test]
    fn a_push_that_is_a_get_is_a_write_too() {
        let House { guard, .. } = &house(LOOPBACK, None);
        let push = |guard: &AccessGuard, extra: &[(&'static str, &str)]| {
            judged_at(guard, Method::GET, "/indexnow", &[&[("host", "localhost:8376")], extra].concat())
        };
        let own = ("authorization", "Bearer l0cal");
        assert_eq!(push(guard, &[]), Some(401));
        assert_eq!(push(guard, &[own]), None);
        assert_eq!(push(guard, &[own, ("sec-fetch-site", "cross-site")]), Some(403));
        assert_eq!(push(guard, &[own, ("origin", "https://evil.example")]), Some(403));
        let keyed = AccessGuard { keyed: vec!["/indexnow"], ..guard.clone() };
        assert_eq!(push(&keyed, &[]), None, "its key is looked at where it is read");
    }

    #[test]
    fn beyond_loopback_only_a_whole_token_opens() {
        let guard = AccessGuard { keyed: vec!["/indexnow"], ..house("0.0.0.0:8376", Some("s3cret")).guard };
        let with = |token| judged(&guard, Method::GET, &[("host", "crawl.example"), ("authorization", token)]);
        assert_eq!(with("Bearer s3cret"), None);
        for token in ["", "Bearer ", "Bearer s3cre", "Bearer s3cret1", "Basic s3cret", "s3cret", "Bearer l0cal"] {
            assert_eq!(with(token), Some(401), "{token}");
        }
        for open in ["/healthz", "/indexnow"] {
            assert_eq!(judged_at(&guard, Method::GET, open, &[("host", "x")]), None, "{open}");
            let wrong = [("host", "x"), ("authorization", "Bearer wrong")];
            assert_eq!(judged_at(&guard, Method::GET, open, &wrong), None, "{open} needs none");
        }
        for path in ["/websub", "/", "/metrics", "/style.css", "/nowhere", "/healthz/", "/api/v1/openapi.json"] {
            assert_eq!(judged_at(&guard, Method::GET, path, &[("host", "x")]), Some(401), "{path}");
        }
    }

    #[test]
    fn a_damaged_file_of_tokens_lets_nobody_in() {
        let House { guard, texts, _dir: dir } = house(BEYOND, None);
        std::fs::write(dir.path().join("tokens"), "VRNLTOKN and then something else").unwrap();
        let tokens = AccessTokens::of_folder(dir.path().to_owned(), wall);
        let guard = AccessGuard { tokens: Arc::new(tokens), ..guard };
        let bearer = format!("Bearer {}", texts[2]);
        assert_eq!(judged(&guard, Method::GET, &[("host", "x"), ("authorization", &*bearer)]), Some(500));
        assert_eq!(judged(&guard, Method::GET, &[("host", "x")]), Some(401));
    }

    #[test]
    fn wrong_tokens_slow_their_address_down_and_nobody_else() {
        let House { guard, texts, _dir } = house(BEYOND, Some("guessable"));
        let at_work = GuardAtWork::new(guard);
        let began = Instant::now();
        let ask = |text: &str, peer: [u8; 4], after: Duration| {
            let bearer = format!("Bearer {text}");
            let with = headers(&[("host", "x"), ("authorization", &*bearer)]);
            let told = at_work.admit(&Method::GET, "/api/v1/status", &with, peer.into(), began + after);
            told.err().map(|refusal| refusal.into_response().status().as_u16())
        };
        let (bad, good) = ([192, 0, 2, 66], [192, 0, 2, 7]);
        let failures = rates::FAILURES_AT_ONCE as usize;
        for _ in 0..failures {
            assert_eq!(ask("wrong", bad, Duration::ZERO), Some(401));
        }
        assert_eq!(ask("wrong", bad, Duration::ZERO), Some(429));
        assert_eq!(ask("guessable", bad, Duration::ZERO), Some(429), "a right guess looks like a wrong one");
        assert_eq!(ask(&texts[0], bad, Duration::ZERO), None, "nobody guesses these");
        assert_eq!(ask("guessable", good, Duration::ZERO), None);
        let later = rates::FAILURE_EVERY;
        assert_eq!(ask("wrong", bad, later), Some(401), "one more after a while");
        assert_eq!(ask("guessable", bad, later), Some(429));
        assert_eq!(ask("guessable", bad, later * 2), None);
    }

    #[test]
    fn each_token_and_each_address_has_its_own_rate() {
        let House { guard, texts, _dir } = house(LOOPBACK, None);
        let at_work = GuardAtWork::new(AccessGuard { requests_per_second: 2.0, ..guard });
        let now = Instant::now();
        let ask = |text: Option<&String>, peer: u8| {
            let bearer = text.map(|text| format!("Bearer {text}"));
            let mut with = headers(&[("host", "localhost")]);
            if let Some(bearer) = bearer {
                with.insert(AUTHORIZATION, bearer.parse().unwrap());
            }
            let told = at_work.admit(&Method::GET, "/api/v1/status", &with, [127, 0, 0, peer].into(), now);
            told.err().map(|refusal| refusal.into_response())
        };
        let allowed = (2.0 * rates::BURST_SECONDS) as usize;
        for text in [None, Some(&texts[0]), Some(&texts[1])] {
            for _ in 0..allowed {
                assert!(ask(text, 1).is_none());
            }
            let refused = ask(text, 1).unwrap();
            assert_eq!((refused.status().as_u16(), &refused.headers()[RETRY_AFTER]), (429, &"1".parse().unwrap()));
        }
        assert!(ask(None, 2).is_none(), "another address has its own");
        assert!(ask(Some(&texts[0]), 2).is_some(), "a token has one, wherever it comes from");
    }

    #[tokio::test(start_paused = true)]
    async fn an_expensive_question_waits_for_its_place_and_is_then_asked_to_come_again() {
        let House { guard, _dir, .. } = house(LOOPBACK, None);
        let counts = Arc::clone(&guard.counts);
        let endless = get(|| async {
            Body::from_stream(futures_util::stream::pending::<Result<bytes::Bytes, std::io::Error>>())
        });
        let router = guard.guard(Router::new().route("/api/v1/verify", endless).route("/", get(|| async { "small" })));
        let ask = async |path: &str| {
            let request = Request::builder().uri(path).header("host", "localhost").body(Body::empty()).unwrap();
            router.clone().oneshot(request).await.unwrap()
        };
        let under_way = ask("/api/v1/verify").await;
        assert_eq!(under_way.status(), StatusCode::OK);
        let refused = ask("/api/v1/verify").await;
        assert_eq!((refused.status(), &refused.headers()[RETRY_AFTER]), (StatusCode::SERVICE_UNAVAILABLE, &5.into()));
        assert_eq!(counts.without_place.load(Ordering::Relaxed), 1);
        assert_eq!(ask("/").await.status(), StatusCode::OK, "small questions go on");
        drop(under_way);
        assert_eq!(ask("/api/v1/verify").await.status(), StatusCode::OK);
    }

    #[tokio::test]
    async fn what_is_refused_says_how_to_be_let_in_and_listed_pages_may_read_it() {
        let House { guard, texts, _dir } = house(BEYOND, None);
        let guard = AccessGuard { cors: CorsOrigins(vec!["https://board.example".into()]), ..guard };
        let counts = Arc::clone(&guard.counts);
        let router = guard.guard(Router::new().route("/api/v1/status", get(|| async { "fine" })));
        let ask = async |method: &str, given: &[(&str, &str)]| {
            let mut request = Request::builder().method(method).uri("/api/v1/status").header("host", "x");
            for (name, value) in given {
                request = request.header(*name, *value);
            }
            router.clone().oneshot(request.body(Body::empty()).unwrap()).await.unwrap()
        };
        let from_board = ("origin", "https://board.example");
        let refused = ask("GET", &[from_board]).await;
        assert_eq!(refused.status(), StatusCode::UNAUTHORIZED);
        assert_eq!(refused.headers()[WWW_AUTHENTICATE], "Bearer realm=\"vernal\"");
        assert_eq!(refused.headers()["access-control-allow-origin"], "https://board.example");
        assert_eq!(
            (&refused.headers()["cache-control"], &refused.headers()["x-content-type-options"]),
            (&HeaderValue::from_static("no-store"), &HeaderValue::from_static("nosniff"))
        );
        let bearer = format!("Bearer {}", texts[0]);
        let answer = ask("GET", &[from_board, ("authorization", &bearer), ("sec-fetch-site", "cross-site")]).await;
        assert_eq!(answer.status(), StatusCode::OK);
        assert_eq!(answer.headers()["access-control-allow-origin"], "https://board.example");
        assert!(!answer.headers().contains_key("access-control-allow-credentials"));
        let before = ask("OPTIONS", &[from_board, ("access-control-request-method", "GET")]).await;
        assert_eq!(before.status(), StatusCode::NO_CONTENT);
        assert_eq!(before.headers()["access-control-allow-origin"], "https://board.example");
        let stranger = [("origin", "https://evil.example"), ("access-control-request-method", "GET")];
        let refused = ask("OPTIONS", &stranger).await;
        assert_eq!(refused.status(), StatusCode::UNAUTHORIZED);
        assert!(!refused.headers().contains_key("access-control-allow-origin"));
        assert_eq!(counts.unauthorized.load(Ordering::Relaxed), 2);
    }
}
