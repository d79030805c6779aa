//! Every screen, drawn of answers that a real crawl of the invented web gave, and of the same answers with hostile words in
//! every field: what sites say stays text, and no element, attribute or address is made of it.

#![allow(clippy::unwrap_used, reason = "the helpers of tests fail as tests do")]

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Body;
use axum::http::{Request, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use html5ever::TokenizerResult;
use html5ever::tendril::StrTendril;
use html5ever::tokenizer::{BufferQueue, TagKind, Token, TokenSink, TokenSinkResult, Tokenizer};
use http_body_util::BodyExt;
use serde_json::Value;
use tower::ServiceExt;
use vernal_dashboard::Dashboard;

/// The address of each screen.
const SCREENS: &[&str] = &[
    "/",
    "/plan",
    "/changes",
    "/changes?site=a&kind=content&q=%3Cb%3E&in=added&min=slight&event=all&before=c1",
    "/changes/e1-2",
    "/page?url=http://a.example/",
    "/diff?url=http://a.example/",
    "/diff?url=http://a.example/&view=side",
    "/diff?url=http://a.example/&view=text",
    "/diff?url=http://a.example/&view=source",
    "/blame?url=http://a.example/",
    "/sites",
    "/sites/a.example",
    "/login",
    "/more",
];

/// What the API answered while the demonstration ran.
fn recorded(path: &str, query: &str) -> Option<&'static str> {
    Some(match path {
        "/api/v1/status" => include_str!("answers/status.json"),
        "/api/v1/series" => include_str!("answers/series.json"),
        "/api/v1/sites" => include_str!("answers/sites.jsonl"),
        "/api/v1/plan" => include_str!("answers/plan.json"),
        "/api/v1/page" => include_str!("answers/page.json"),
        "/api/v1/why" => include_str!("answers/why.json"),
        "/api/v1/history" => include_str!("answers/history.jsonl"),
        "/api/v1/diff" if query.contains("view=source") => include_str!("answers/source.txt"),
        "/api/v1/diff" => include_str!("answers/diff.json"),
        "/api/v1/blame" => include_str!("answers/blame.json"),
        "/api/v1/changes" => include_str!("answers/changes.jsonl"),
        "/api/v1/changes/count" => include_str!("answers/counts.json"),
        "/api/v1/pages" => include_str!("answers/pages.jsonl"),
        "/api/v1/noise" => include_str!("answers/noise.jsonl"),
        event if event.starts_with("/api/v1/changes/") => include_str!("answers/event.json"),
        _ => return None,
    })
}

/// How an answer is changed before the dashboard sees it.
type Change = Arc<dyn Fn(&str) -> String + Send + Sync>;

/// The dashboard before answers that were recorded.
fn dashboard(change: Change) -> Router {
    let answer = move |uri: Uri| {
        let change = Arc::clone(&change);
        async move {
            match recorded(uri.path(), uri.query().unwrap_or_default()) {
                Some(text) => change(text).into_response(),
                None => StatusCode::NOT_FOUND.into_response(),
            }
        }
    };
    serving(Router::new().fallback(answer))
}

fn serving(api: Router) -> Router {
    vernal_dashboard::router(Dashboard {
        api,
        carry: |_| axum::http::Extensions::new(),
        random: || Ok("a name of a session".into()),
        is_secure: false,
        archive: None,
        read_only: false,
    })
}

fn ask(router: &Router, request: Request<Body>) -> Response {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(router.clone().oneshot(request)).unwrap()
}

fn html(router: &Router, address: &str) -> (StatusCode, String) {
    let answer = ask(router, Request::get(address).header("host", "localhost").body(Body::empty()).unwrap());
    let status = answer.status();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let bytes = runtime.block_on(answer.into_body().collect()).unwrap().to_bytes();
    (status, String::from_utf8(bytes.to_vec()).unwrap())
}

/// Elements with the names of their attributes, and where links and forms lead.
#[derive(Default)]
struct Skeleton {
    elements: RefCell<Vec<(String, Vec<String>)>>,
    addresses: RefCell<Vec<String>>,
}

impl TokenSink for Skeleton {
    type Handle = ();

    fn process_token(&self, token: Token, _: u64) -> TokenSinkResult<()> {
        let Token::TagToken(tag) = token else { return TokenSinkResult::Continue };
        if tag.kind == TagKind::StartTag {
            let mut names: Vec<String> = tag.attrs.iter().map(|one| one.name.local.to_string()).collect();
            names.sort();
            self.elements.borrow_mut().push((tag.name.to_string(), names));
            let leads = ["href", "src", "action", "data-part", "data-row"];
            let values = tag.attrs.iter().filter(|one| leads.contains(&&*one.name.local));
            self.addresses.borrow_mut().extend(values.map(|one| one.value.to_string()));
        }
        TokenSinkResult::Continue
    }
}

fn skeleton(html: &str) -> Skeleton {
    let tokenizer = Tokenizer::new(Skeleton::default(), Default::default());
    let input = BufferQueue::default();
    input.push_back(StrTendril::from(html));
    while let TokenizerResult::Script(_) | TokenizerResult::EncodingIndicator(_) = tokenizer.feed(&input) {}
    tokenizer.end();
    tokenizer.sink
}

/// Fields that the API fills with words of its own, never with those of sites.
const OWN: &[&str] = &["op", "role", "event", "kinds", "left", "standing", "state", "outcome", "degree", "names"];

/// Every text of an answer replaced; with `keeps`, moments and the API's own words stay.
fn replaced(text: &str, with: &str, keeps: bool) -> String {
    let lines = text.lines().map(|line| match serde_json::from_str::<Value>(line) {
        Ok(mut value) => {
            put(&mut value, "", with, keeps);
            value.to_string()
        }
        Err(_) => with.replace(['\n', '\r'], " "),
    });
    lines.collect::<Vec<String>>().join("\n")
}

fn put(value: &mut Value, name: &str, with: &str, keeps: bool) {
    match value {
        Value::String(text) => {
            let is_moment = text.len() >= 20 && text.ends_with('Z') && text.as_bytes()[10] == b'T';
            if !(keeps && (is_moment || OWN.contains(&name))) {
                *text = with.to_owned();
            }
        }
        Value::Array(values) => values.iter_mut().for_each(|value| put(value, name, with, keeps)),
        Value::Object(fields) => {
            let counts = ["site", "tag", "kind", "degree", "event"].contains(&name);
            fields.iter_mut().for_each(|(name, value)| put(value, name, with, keeps));
            // Counts have the words of sites as names.
            if counts && !keeps {
                let numbers: Vec<Value> = fields.values().take(1).cloned().collect();
                fields.clear();
                fields.extend(numbers.into_iter().map(|number| (with.to_owned(), number)));
            }
        }
        _ => {}
    }
}

fn hostile() -> Vec<String> {
    include_str!("hostile.jsonl").lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn screens_are_drawn_of_what_a_real_crawl_answers() {
    let router = dashboard(Arc::new(str::to_owned));
    for screen in SCREENS {
        let (status, html) = html(&router, screen);
        assert_eq!(status, StatusCode::OK, "{screen}: {html}");
        let found = skeleton(&html).elements.into_inner();
        let count = |name: &str| found.iter().filter(|(own, _)| own == name).count();
        assert_eq!((count("h1"), count("main"), count("style")), (1, 1, 0), "{screen}");
        assert!(!html.contains("–</dd>\n"), "{screen}");
        let mut ids: Vec<&str> = html.split(" id=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
        ids.sort_unstable();
        assert!(ids.windows(2).all(|pair| pair[0] != pair[1]), "{screen}: an id stands twice: {ids:?}");
    }
}

#[test]
fn words_of_sites_make_no_element_attribute_or_address() {
    let hostile = hostile();
    assert!(hostile.len() >= 60, "{}", hostile.len());
    let current = Arc::new(Mutex::new((String::new(), false)));
    let given = Arc::clone(&current);
    let router = dashboard(Arc::new(move |text| {
        let (with, keeps) = &*given.lock().unwrap();
        replaced(text, with, *keeps)
    }));
    for keeps in [true, false] {
        for screen in SCREENS {
            *current.lock().unwrap() = ("a word".into(), keeps);
            let plain = skeleton(&html(&router, screen).1).elements.into_inner();
            for text in &hostile {
                *current.lock().unwrap() = (text.clone(), keeps);
                let (status, html) = html(&router, screen);
                assert_eq!(status, StatusCode::OK, "{screen} with {text:?}");
                let drawn = skeleton(&html);
                assert_eq!(drawn.elements.into_inner(), plain, "{screen} with {text:?}");
                let leads = drawn.addresses.into_inner();
                let is_ours = |address: &String| {
                    address.is_empty()
                        || address.starts_with('#')
                        || (address.starts_with('/') && !address.starts_with("//"))
                };
                assert!(leads.iter().all(is_ours), "{screen} with {text:?}: {leads:?}");
            }
        }
    }
}

#[test]
fn nothing_is_inline_and_every_attribute_is_known() {
    let router = dashboard(Arc::new(str::to_owned));
    let mut names = BTreeSet::new();
    for screen in SCREENS {
        let (_, html) = html(&router, screen);
        for (element, attributes) in skeleton(&html).elements.into_inner() {
            assert!(
                element != "script" || attributes.contains(&"src".to_owned()),
                "{screen}: a script within the page"
            );
            names.extend(attributes);
        }
    }
    let inline: Vec<&String> =
        names.iter().filter(|name| name.starts_with("on") || *name == "style" || *name == "srcdoc").collect();
    assert!(inline.is_empty(), "{inline:?}");
}

#[test]
fn every_answer_says_what_browsers_must_refuse() {
    let router = dashboard(Arc::new(str::to_owned));
    for address in ["/", "/changes/e1-2", "/login", "/page", "/diff?url=x&view=source"] {
        let answer = ask(&router, Request::get(address).header("host", "localhost").body(Body::empty()).unwrap());
        let field = |name: &str| answer.headers().get(name).map_or("", |value| value.to_str().unwrap()).to_owned();
        let policy = field("content-security-policy");
        for part in [
            "default-src 'none'",
            "script-src 'self'",
            "style-src 'self'",
            "form-action 'self'",
            "base-uri 'none'",
            "frame-ancestors 'none'",
            "require-trusted-types-for 'script'",
        ] {
            assert!(policy.contains(part), "{address}: {policy}");
        }
        assert!(!policy.contains("unsafe") && !policy.contains("frame-src"), "{policy}");
        assert_eq!((&*field("x-content-type-options"), &*field("x-frame-options")), ("nosniff", "DENY"), "{address}");
    }
}

#[test]
fn writes_come_from_our_own_pages_only() {
    let router = dashboard(Arc::new(str::to_owned));
    let theme = |origin: Option<&str>| {
        let mut request = Request::post("/theme").header("host", "localhost:8376");
        request = request.header("content-type", "application/x-www-form-urlencoded");
        if let Some(origin) = origin {
            request = request.header("origin", origin);
        }
        ask(&router, request.body(Body::from("theme=dark&back=%2Fsites")).unwrap())
    };
    for foreign in
        [None, Some("null"), Some("http://evil.example"), Some("http://localhost:8377"), Some("http://localhost")]
    {
        assert_eq!(theme(foreign).status(), StatusCode::FORBIDDEN, "{foreign:?}");
    }
    let answer = theme(Some("http://localhost:8376"));
    assert_eq!((answer.status(), &answer.headers()["location"]), (StatusCode::SEE_OTHER, &"/sites".parse().unwrap()));
    let cookie = answer.headers()["set-cookie"].to_str().unwrap();
    assert!(cookie.starts_with("theme=dark; Path=/; HttpOnly; SameSite=Strict"), "{cookie}");
}

/// An API that asks for a token, as one does beyond loopback.
fn guarded() -> Router {
    let answer = |request: Request<Body>| async move {
        let bearer = request.headers().get("authorization").and_then(|value| value.to_str().ok());
        match (bearer, recorded(request.uri().path(), "")) {
            (Some("Bearer s3cret"), Some(text)) => text.into_response(),
            (Some("Bearer s3cret"), None) => StatusCode::NOT_FOUND.into_response(),
            _ => (StatusCode::UNAUTHORIZED, r#"{"detail":"give a token as Authorization: Bearer"}"#).into_response(),
        }
    };
    serving(Router::new().fallback(answer))
}

#[test]
fn without_a_token_every_screen_is_the_door_and_a_token_opens_it() {
    let router = guarded();
    for screen in SCREENS.iter().filter(|screen| **screen != "/login") {
        let (status, html) = html(&router, screen);
        assert_eq!(status, StatusCode::UNAUTHORIZED, "{screen}");
        assert!(html.contains("action=\"/login\"") && html.contains("type=\"password\""), "{screen}");
    }
    let login = |token: &str| {
        let request = Request::post("/login").header("host", "v.example").header("origin", "https://v.example");
        let request = request.header("content-type", "application/x-www-form-urlencoded");
        ask(&router, request.body(Body::from(format!("token={token}&back=%2Fchanges"))).unwrap())
    };
    assert_eq!(login("wrong").status(), StatusCode::UNAUTHORIZED);
    let answer = login("s3cret");
    assert_eq!((answer.status(), &answer.headers()["location"]), (StatusCode::SEE_OTHER, &"/changes".parse().unwrap()));
    let cookie = answer.headers()["set-cookie"].to_str().unwrap().to_owned();
    assert!(
        cookie.contains("HttpOnly; SameSite=Strict") && !cookie.contains("s3cret"),
        "the cookie is no token: {cookie}"
    );
    let session = cookie.split(';').next().unwrap();
    let with = |method: &str, address: &str| {
        let request = Request::builder().method(method).uri(address).header("host", "v.example");
        let request = request.header("origin", "https://v.example").header("cookie", session);
        ask(&router, request.body(Body::empty()).unwrap()).status()
    };
    assert_eq!(with("GET", "/changes"), StatusCode::OK);
    assert_eq!(with("POST", "/logout"), StatusCode::SEE_OTHER);
    assert_eq!(with("GET", "/changes"), StatusCode::UNAUTHORIZED, "the session has ended");
}

#[test]
fn what_fails_says_what_happened_and_what_to_do() {
    let fails = |status: StatusCode| {
        let answer = move |uri: Uri| async move {
            match uri.path() {
                "/api/v1/status" => include_str!("answers/status.json").into_response(),
                _ => (status, r#"{"detail":"the <thing> is wrong"}"#).into_response(),
            }
        };
        serving(Router::new().fallback(answer))
    };
    for status in [400, 403, 404, 409, 429, 500, 503].map(|code| StatusCode::from_u16(code).unwrap()) {
        let (told, html) = html(&fails(status), "/changes/e1-2");
        assert_eq!(told, status);
        assert!(
            html.contains("the &#60;thing&#62; is wrong") && html.contains("<h1>") && html.contains("role=\"alert\""),
            "{html}"
        );
    }
}

#[test]
fn a_crawl_that_stopped_paused_or_is_full_says_so_first() {
    type State = (&'static str, &'static str, fn(&mut Value));
    let states: [State; 4] = [
        ("stopped", "Nothing crawls here", |status| status["crawl"] = Value::Null),
        ("paused", "The crawl is paused", |status| status["paused"] = true.into()),
        ("disk full", "The disk is full", |status| status["crawl"]["disk_full"] = true.into()),
        ("running", "believed up to date", |_| {}),
    ];
    for (pulse, banner, put) in states {
        let router = dashboard(Arc::new(move |text| match serde_json::from_str::<Value>(text) {
            Ok(mut value) if value.get("policy").is_some() && value.get("held").is_some() => {
                put(&mut value);
                value.to_string()
            }
            _ => text.to_owned(),
        }));
        let (_, html) = html(&router, "/");
        assert!(html.contains(pulse) && html.contains(banner), "{pulse}: {html}");
        assert_eq!(html.contains("data-cursor"), pulse != "stopped", "{pulse}");
    }
}

#[test]
fn an_empty_folder_says_what_comes_next() {
    let empty = |text: &str| match serde_json::from_str::<Value>(text) {
        Ok(mut value) => {
            for name in ["held", "visits", "changes", "total"] {
                if value.get(name).is_some_and(Value::is_u64) {
                    value[name] = 0.into();
                }
            }
            for name in ["rows", "forecasts", "paragraphs"] {
                if value.get(name).is_some_and(Value::is_array) {
                    value[name] = Value::Array(Vec::new());
                }
            }
            value.to_string()
        }
        Err(_) => String::new(),
    };
    let router = dashboard(Arc::new(empty));
    for (screen, says) in
        [("/", "No page is held yet"), ("/changes", "No change yet"), ("/sites", "No site is known yet")]
    {
        let (status, html) = html(&router, screen);
        assert_eq!(status, StatusCode::OK);
        assert!(html.contains(says), "{screen}: {html}");
    }
}

#[test]
fn an_address_without_a_screen_is_told_to_people_in_html_and_to_programs_as_before() {
    let router = dashboard(Arc::new(str::to_owned));
    let asked = |address: &str, accept: &str| {
        let request = Request::get(address).header("host", "localhost").header("accept", accept);
        let answer = ask(&router, request.body(Body::empty()).unwrap());
        let is_html =
            answer.headers().get("content-type").is_some_and(|kind| kind.to_str().unwrap().starts_with("text/html"));
        (answer.status().as_u16(), is_html, answer.headers().contains_key("content-security-policy"))
    };
    assert_eq!(asked("/nowhere", "text/html,*/*"), (404, true, true));
    assert_eq!(asked("/nowhere", "*/*"), (404, false, false));
    assert_eq!(asked("/api/v1/nowhere", "text/html"), (404, false, false));
    assert_eq!(asked("/api/v1/status", "text/html").0, 200);
}
