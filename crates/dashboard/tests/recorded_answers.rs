//! The screens of search, alerts, lab, operations and evidence before answers that a small repository gave, and before the same
//! answers with hostile text in every field.

#![allow(clippy::unwrap_used, reason = "the helpers of tests fail as tests do")]

use std::cell::RefCell;
use std::sync::Arc;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::http::header::{COOKIE, HOST, LOCATION, ORIGIN};
use axum::http::{Method, StatusCode};
use axum::response::{IntoResponse, Response};
use html5ever::tendril::StrTendril;
use html5ever::tokenizer::{BufferQueue, TagKind, Token, TokenSink, TokenSinkResult, Tokenizer};
use serde_json::{Value, json};
use tower::ServiceExt;
use vernal_dashboard::{Dashboard, router};

const HOSTILE: &str = "\"'><script>alert(1)</script><img src=x onerror=alert(1)>\u{202e}\0";
const ARCHIVE: &str = "http://127.0.0.1:8377";
const PAGE: &str = "http%3A%2F%2Fharbour.example%2Fguides%2Flarge-yachts-17.php";

/// The addresses of the screens.
fn screens() -> Vec<String> {
    let fixed = [
        "/search",
        "/search?q=the&in=removed",
        "/watches",
        "/watches/new",
        "/watches/new?over=site&what=news.example&words=harbour",
        "/watches/new?event=e1",
        "/watches/w1",
        "/watches/w1/change",
        "/deliveries",
        "/routes",
        "/lab",
        "/lab/papers",
        "/operations",
        "/operations/verify",
        "/operations/settings",
        "/operations/seeds",
        "/operations/noise",
        "/operations/exports?site=a.example",
        "/operations/forgotten",
        "/operations/log",
        "/help",
        "/login",
    ];
    let of_page = ["/evidence", "/links", "/as-it-was"].map(|path| format!("{path}?url={PAGE}"));
    fixed.into_iter().map(str::to_owned).chain(of_page).collect()
}

fn recorded() -> Value {
    serde_json::from_str(include_str!("answers.json")).unwrap()
}

/// Names and words become hostile; what a program reads, such as times and states, stays.
fn poisoned(value: &mut Value, key: &str) {
    const WORDS: [&str; 22] = [
        "title",
        "text",
        "headings",
        "words",
        "name",
        "owner",
        "value",
        "line",
        "body",
        "target",
        "before",
        "after",
        "what",
        "reason",
        "detail",
        "anchor",
        "tags",
        "watch_name",
        "answer",
        "says",
        "trouble",
        "robots",
    ];
    match value {
        Value::String(text) if WORDS.contains(&key) => *text = HOSTILE.to_owned(),
        Value::String(text) if key == "url" && text.starts_with("http") => text.push_str(HOSTILE),
        Value::Array(all) => all.iter_mut().for_each(|one| poisoned(one, key)),
        Value::Object(fields) => fields.iter_mut().for_each(|(key, value)| poisoned(value, &key.clone())),
        _ => {}
    }
}

/// An API that gives these answers; what it was told to do is answered with the request.
fn api(answers: Value) -> Router {
    let answers = Arc::new(answers);
    Router::new().fallback(move |request: Request| {
        let answers = Arc::clone(&answers);
        async move { answer(&answers, request).await }
    })
}

async fn answer(answers: &Value, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let path = parts.uri.path().trim_start_matches("/api/v1/").to_owned();
    if parts.method != Method::GET && path != "watches/preview" {
        let body = String::from_utf8(to_bytes(body, 1 << 20).await.unwrap().into()).unwrap();
        return json!({ "asked": format!("{} {}", parts.method, parts.uri), "body": body, "new": 1, "known": 0, "undo": "u7" })
            .to_string()
            .into_response();
    }
    match &answers[&path] {
        Value::Null => {
            (StatusCode::NOT_FOUND, json!({ "detail": "there is no such thing" }).to_string()).into_response()
        }
        Value::Array(rows) => rows.iter().map(|row| format!("{row}\n")).collect::<String>().into_response(),
        one => one.to_string().into_response(),
    }
}

fn dashboard(answers: Value) -> Router {
    router(Dashboard {
        api: api(answers),
        carry: |_| axum::http::Extensions::new(),
        random: || Ok("random".into()),
        is_secure: false,
        archive: Some(ARCHIVE.into()),
        read_only: false,
    })
}

async fn got(dashboard: &Router, address: &str) -> (StatusCode, String) {
    let request = Request::get(address).header(HOST, "127.0.0.1:8376").body(Body::empty()).unwrap();
    read(dashboard.clone().oneshot(request).await.unwrap()).await
}

async fn sent(dashboard: &Router, address: &str, origin: &str, form: &str) -> Response {
    let request = Request::post(address)
        .header(HOST, "127.0.0.1:8376")
        .header(ORIGIN, origin)
        .header("content-type", "application/x-www-form-urlencoded")
        .body(Body::from(form.to_owned()));
    dashboard.clone().oneshot(request.unwrap()).await.unwrap()
}

async fn read(response: Response) -> (StatusCode, String) {
    let status = response.status();
    let bytes = to_bytes(response.into_body(), 16 << 20).await.unwrap();
    (status, String::from_utf8(bytes.into()).unwrap())
}

/// An element with its attributes.
type Tag = (String, Vec<(String, String)>);

/// Opening tags with their attributes, as a browser reads them.
#[derive(Default)]
struct Tags(RefCell<Vec<Tag>>);

impl TokenSink for Tags {
    type Handle = ();

    fn process_token(&self, token: Token, _: u64) -> TokenSinkResult<()> {
        if let Token::TagToken(tag) = token
            && tag.kind == TagKind::StartTag
        {
            let attributes = tag.attrs.iter().map(|one| (one.name.local.to_string(), one.value.to_string()));
            self.0.borrow_mut().push((tag.name.to_string(), attributes.collect()));
        }
        TokenSinkResult::Continue
    }
}

fn tags(html: &str) -> Vec<(String, Vec<(String, String)>)> {
    let tokenizer = Tokenizer::new(Tags::default(), Default::default());
    let input = BufferQueue::default();
    input.push_back(StrTendril::from(html));
    let _ = tokenizer.feed(&input);
    tokenizer.end();
    tokenizer.sink.0.take()
}

fn attribute<'t>(tag: &'t (String, Vec<(String, String)>), name: &str) -> Option<&'t str> {
    tag.1.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_str())
}

/// What holds of every screen, whatever it shows.
fn check(address: &str, html: &str) {
    let tags = tags(html);
    let count = |name: &str| tags.iter().filter(|tag| tag.0 == name).count();
    assert_eq!((count("h1"), count("main"), count("script"), count("img")), (1, 1, 1, 0), "{address}");
    let mut ids: Vec<&str> = tags.iter().filter_map(|tag| attribute(tag, "id")).collect();
    let all = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(all, ids.len(), "{address} has an id twice");
    let labelled: Vec<&str> =
        tags.iter().filter(|tag| tag.0 == "label").filter_map(|tag| attribute(tag, "for")).collect();
    for tag in &tags {
        for (name, value) in &tag.1 {
            assert!(!name.starts_with("on") && name != "style", "{address}: {name} of {}", tag.0);
            let leads = ["href", "src", "action"].contains(&&**name);
            assert!(!leads || !value.trim_start().to_ascii_lowercase().starts_with("javascript"), "{address}: {value}");
        }
        if tag.0 == "th" {
            assert!(attribute(tag, "scope").is_some(), "{address}: a head of a table without scope");
        }
        let is_field = ["input", "select", "textarea"].contains(&&*tag.0)
            && !["hidden", "checkbox", "radio"].contains(&attribute(tag, "type").unwrap_or(""));
        if is_field {
            let id = attribute(tag, "id").unwrap_or_default();
            assert!(labelled.contains(&id), "{address}: a field without a label: {tag:?}");
        }
        if tag.0 == "form" && attribute(tag, "method").is_none() {
            assert!(attribute(tag, "action").is_some(), "{address}: a form that leads nowhere");
        }
    }
    for link in tags.iter().filter(|tag| tag.0 == "a").filter_map(|tag| attribute(tag, "href")) {
        let stays =
            link.starts_with('/') && !link.starts_with("//") || link.starts_with('#') || link.starts_with(ARCHIVE);
        assert!(stays, "{address} leads to {link}");
    }
}

#[tokio::test]
async fn every_screen_is_whole() {
    let dashboard = dashboard(recorded());
    for address in screens() {
        let (status, html) = got(&dashboard, &address).await;
        assert_eq!(status, StatusCode::OK, "{address}: {html}");
        check(&address, &html);
    }
}

#[tokio::test]
async fn hostile_text_stays_text_on_every_screen() {
    let mut answers = recorded();
    for (_, answer) in answers.as_object_mut().unwrap() {
        poisoned(answer, "");
    }
    let dashboard = dashboard(answers);
    for address in screens() {
        let (status, html) = got(&dashboard, &address).await;
        assert_eq!(status, StatusCode::OK, "{address}: {html}");
        check(&address, &html);
    }
    let hostile: String = url::form_urlencoded::byte_serialize(HOSTILE.as_bytes()).collect();
    for address in [
        "/search?in=removed&q=",
        "/search?q=a&at=",
        "/watches/new?what=",
        "/operations/noise?site=",
        "/operations/exports?tag=",
    ] {
        let address = format!("{address}{hostile}");
        let (status, html) = got(&dashboard, &address).await;
        assert_eq!(status, StatusCode::OK, "{address}");
        check(&address, &html);
    }
}

#[tokio::test]
async fn a_folder_with_nothing_in_it_has_screens_too() {
    let empty: Value =
        ["search", "watches", "deliveries", "routes", "settings", "seeds", "noise", "pages", "sites", "links"]
            .into_iter()
            .map(|name| (name.to_owned(), json!([])))
            .chain([("status".to_owned(), json!({})), ("series".to_owned(), json!({}))])
            .collect::<serde_json::Map<String, Value>>()
            .into();
    let dashboard = dashboard(empty);
    let without_page = screens().into_iter().filter(|address| {
        !["w1", "event=", "verify", "/evidence", "/links", "/as-it-was"].iter().any(|part| address.contains(part))
    });
    for address in without_page {
        let (status, html) = got(&dashboard, &address).await;
        assert_eq!(status, StatusCode::OK, "{address}: {html}");
        check(&address, &html);
    }
}

#[tokio::test]
async fn search_tells_the_life_of_a_paragraph_and_leads_to_the_change_that_took_it_away() {
    let dashboard = dashboard(recorded());
    let (_, html) = got(&dashboard, "/search?q=the&in=removed").await;
    assert!(html.contains("<mark>the</mark>") && html.contains("; gone between "), "{html}");
    assert!(html.contains("href=\"/diff?url=") && html.contains("/watches/new?over=search"), "{html}");
}

#[tokio::test]
async fn the_papers_lists_are_told_with_their_draw() {
    let dashboard = dashboard(recorded());
    let (_, html) = got(&dashboard, "/lab/papers").await;
    for words in ["first third by rank", "56.7 %", "11 of 30 changed", "31 sampled"] {
        assert!(html.contains(words), "{words} is missing in {html}");
    }
}

#[tokio::test]
async fn forms_act_only_for_our_own_pages() {
    let dashboard = dashboard(recorded());
    let own = "http://127.0.0.1:8376";
    let seeds = "act=add&urls=http%3A%2F%2Fa.example%2F&tags=news";
    let done = sent(&dashboard, "/operations/seeds", own, seeds).await;
    assert_eq!(done.status(), StatusCode::SEE_OTHER);
    assert_eq!(done.headers()[LOCATION], "/operations/seeds?new=1&known=0");
    for (address, form) in [
        ("/operations/state", "act=pause"),
        ("/operations/state", "act=block&site=a.example"),
        ("/operations/noise", "act=allow&site=a.example&id=3"),
        ("/watches/w1", "act=remove"),
        ("/deliveries", "id=w1%2Fe1%2Fdesk"),
        ("/routes", "act=enable&name=desk"),
        ("/operations/keys", "keys=off"),
    ] {
        let done = sent(&dashboard, address, own, form).await;
        assert_eq!(done.status(), StatusCode::SEE_OTHER, "{address} {form}");
        let refused = sent(&dashboard, address, "http://evil.example", form).await;
        assert_eq!(refused.status(), StatusCode::FORBIDDEN, "{address} {form}");
    }
    let wrong = sent(&dashboard, "/operations/state", own, "act=explode").await;
    assert_eq!(wrong.status(), StatusCode::BAD_REQUEST);
    let elsewhere = sent(&dashboard, "/operations/noise", own, "act=forget&site=a&id=1&back=//evil.example").await;
    assert_eq!(elsewhere.headers()[LOCATION], "/");
}

#[tokio::test]
async fn a_watch_is_shown_before_it_is_saved() {
    let dashboard = dashboard(recorded());
    let form = "act=preview&over=site&what=news.example&kinds=content&to=press-desk";
    let (status, html) = read(sent(&dashboard, "/watches/new", "http://127.0.0.1:8376", form).await).await;
    assert_eq!(status, StatusCode::OK);
    assert!(html.contains("would have told 829 times, 47.4 a day, of 890 changes"), "{html}");
    assert!(html.contains("value=\"press-desk\" checked"), "{html}");
}

#[tokio::test]
async fn only_the_archive_may_be_framed_and_only_where_it_is_shown() {
    let dashboard = dashboard(recorded());
    let policy = |response: &Response| response.headers()["content-security-policy"].to_str().unwrap().to_owned();
    let ask = |address: String| {
        let request =
            Request::get(address).header(HOST, "127.0.0.1:8376").header(COOKIE, "theme=dark").body(Body::empty());
        dashboard.clone().oneshot(request.unwrap())
    };
    let shown = ask(format!("/as-it-was?url={PAGE}")).await.unwrap();
    assert!(policy(&shown).ends_with(&format!("frame-src {ARCHIVE}")), "{}", policy(&shown));
    let (_, html) = read(shown).await;
    let frame = tags(&html).into_iter().find(|tag| tag.0 == "iframe").unwrap();
    assert_eq!(attribute(&frame, "sandbox"), Some("allow-popups"));
    assert!(attribute(&frame, "src").unwrap().starts_with(&format!("{ARCHIVE}/20")));
    assert!(!policy(&ask("/help".into()).await.unwrap()).contains("frame-src"));
}

#[tokio::test]
async fn a_change_is_marked_and_the_reader_is_led_back() {
    let dashboard = dashboard(recorded());
    let own = "http://127.0.0.1:8376";
    let marked = sent(&dashboard, "/changes/e1/mark", own, "state=act&back=%2Fchanges%3Fsite%3Da.example").await;
    assert_eq!(marked.status(), StatusCode::SEE_OTHER);
    assert_eq!(marked.headers()[LOCATION], "/changes?site=a.example&undo=u7");
    let (_, html) = got(&dashboard, "/changes/e1?undo=u7").await;
    let shown = tags(&html);
    let has = |name: &str, value: &str| {
        shown.iter().any(|(_, attributes)| {
            attributes.contains(&("name".into(), name.into())) && attributes.contains(&("value".into(), value.into()))
        })
    };
    assert!(has("undo", "u7") && has("state", "seen") && has("back", "/changes/e5-7"));
    let undone = sent(&dashboard, "/undo", own, "undo=u7&back=%2Fchanges").await;
    assert_eq!((undone.status(), &undone.headers()[LOCATION]), (StatusCode::SEE_OTHER, &"/changes".parse().unwrap()));
    assert_eq!(sent(&dashboard, "/changes/e1/mark", own, "state=gone").await.status(), StatusCode::BAD_REQUEST);
    assert_eq!(
        sent(&dashboard, "/changes/e1/mark", "http://b.example", "state=act").await.status(),
        StatusCode::FORBIDDEN
    );
}
