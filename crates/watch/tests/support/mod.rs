//! A feed that a test writes, receivers on loopback, and a clock that the test moves.
#![allow(dead_code, reason = "each test uses its own part")]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::collections::HashMap;
use std::path::Path;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use vernal_model::{Moment, Span};
use vernal_repository::Cursor;
use vernal_watch::{
    Alerts, Batch, Connection, DialTls, Feed, FeedEvent, Follow, LocalFuture, MailStream, Network, Over, Post,
    PostAnswer, Result, Route, SendError, Told, Watch,
};

pub const NOON: Moment = Moment::from_secs(1_800_000_000);

/// Events in memory.
#[derive(Default)]
pub struct Written {
    pub events: Mutex<Vec<FeedEvent>>,
    /// Paragraphs of pages as they are now.
    pub pages: Mutex<HashMap<String, Vec<String>>>,
    pub hits: Mutex<Vec<String>>,
    pub clock: Arc<Clock>,
}

pub struct Clock(AtomicI64);

impl Default for Clock {
    fn default() -> Clock {
        Clock(AtomicI64::new(NOON.micros()))
    }
}

impl Clock {
    pub fn now(&self) -> Moment {
        Moment::from_micros(self.0.load(Ordering::SeqCst))
    }

    pub fn set(&self, now: Moment) {
        self.0.store(now.micros(), Ordering::SeqCst);
    }

    pub fn pass(&self, span: Span) {
        self.0.fetch_add(span.micros() as i64, Ordering::SeqCst);
    }
}

pub fn event(number: u64, kind: &str, url: &str, before: Option<&str>, after: Option<&str>) -> Value {
    let site = url.split('/').nth(2).unwrap_or_default();
    let words = before.is_some() || after.is_some();
    let paragraphs = if words {
        json!([{ "op": "edited", "id": "p1-1-1", "role": "main", "before": before, "after": after }])
    } else {
        json!([])
    };
    json!({ "id": format!("e1-{number}"), "cursor": Cursor(number).to_string(), "event": kind, "url": url, "site": site,
        "title": "A page", "left": ["content"], "kinds": ["content"], "degree": "moderate", "magnitude": 0.3,
        "paragraphs": paragraphs })
}

impl Written {
    pub fn push(&self, kind: &str, url: &str, before: Option<&str>, after: Option<&str>) {
        self.push_with(kind, url, before, after, |_| {});
    }

    pub fn push_with(
        &self,
        kind: &str,
        url: &str,
        before: Option<&str>,
        after: Option<&str>,
        change: impl FnOnce(&mut Value),
    ) {
        let mut events = self.events.lock().unwrap();
        let number = events.len() as u64 + 1;
        let mut written = event(number, kind, url, before, after);
        change(&mut written);
        let told: Told = serde_json::from_value(written).unwrap();
        events.push(FeedEvent { cursor: Cursor(number), seen: self.clock.now(), rows: vec![told], whole: None });
    }
}

impl Feed for Written {
    fn after(&self, after: Cursor, limit: usize) -> Result<Batch> {
        let events = self.events.lock().unwrap();
        let events: Vec<FeedEvent> = events.iter().filter(|event| event.cursor > after).take(limit).cloned().collect();
        Ok(Batch { upto: events.last().map(|event| event.cursor), events })
    }

    fn before(&self, before: Cursor, limit: usize) -> Result<Batch> {
        let events = self.events.lock().unwrap();
        let older = events.iter().rev().filter(|event| event.cursor < before);
        let events: Vec<FeedEvent> = older.take(limit).cloned().collect();
        Ok(Batch { upto: events.last().map(|event| event.cursor), events })
    }

    fn with_words(&self, told: Told) -> Result<Told> {
        Ok(told)
    }

    fn is_hit(&self, _: &str, url: &str, _: Cursor) -> Result<bool> {
        Ok(self.hits.lock().unwrap().iter().any(|hit| hit == url))
    }

    fn page_has(&self, url: &str, is_asked: &dyn Fn(&str) -> bool) -> Result<bool> {
        Ok(self.pages.lock().unwrap().get(url).is_some_and(|texts| texts.iter().any(|text| is_asked(text))))
    }

    fn read_at(&self, _: &Over) -> Option<Moment> {
        None
    }

    fn end(&self) -> Cursor {
        Cursor(self.events.lock().unwrap().len() as u64)
    }

    fn now(&self) -> Moment {
        self.clock.now()
    }
}

/// Connections without a guard, to loopback alone.
pub struct Loopback;

impl Network for Loopback {
    fn post(&self, post: Post) -> LocalFuture<'_, std::result::Result<PostAnswer, SendError>> {
        Box::pin(async move {
            let failed = |error: std::io::Error| SendError(error.to_string());
            let rest = post.url.strip_prefix("http://").unwrap();
            let (host, path) = rest.split_once('/').unwrap();
            let mut stream = TcpStream::connect(host).await.map_err(failed)?;
            let mut head = format!("POST /{path} HTTP/1.1\r\nHost: {host}\r\ncontent-length: {}\r\n", post.body.len());
            post.headers.iter().for_each(|(name, value)| head.push_str(&format!("{name}: {value}\r\n")));
            stream.write_all(format!("{head}\r\n").as_bytes()).await.map_err(failed)?;
            stream.write_all(&post.body).await.map_err(failed)?;
            let mut answer = String::new();
            stream.read_to_string(&mut answer).await.map_err(failed)?;
            let status = answer.split(' ').nth(1).and_then(|status| status.parse().ok());
            let body = answer.split_once("\r\n\r\n").map_or("", |(_, body)| body);
            let status = status.ok_or_else(|| SendError("no answer".into()))?;
            Ok(PostAnswer { status, body: body.as_bytes().to_vec() })
        })
    }

    fn dial<'a>(
        &'a self,
        host: &'a str,
        port: u16,
        _: DialTls<'a>,
    ) -> LocalFuture<'a, std::result::Result<Connection, SendError>> {
        Box::pin(async move {
            let stream = TcpStream::connect((host, port)).await.map_err(|error| SendError(error.to_string()))?;
            let peer = stream.peer_addr().unwrap();
            Ok((Box::new(stream) as Box<dyn MailStream>, peer))
        })
    }
}

/// A request that a receiver got.
#[derive(Clone, Debug)]
pub struct Got {
    pub head: String,
    pub body: String,
}

impl Got {
    pub fn header(&self, name: &str) -> Option<String> {
        let line = self.head.lines().find_map(|line| line.strip_prefix(&format!("{name}: ")))?;
        Some(line.to_owned())
    }

    pub fn id(&self) -> String {
        self.header("webhook-id").unwrap()
    }

    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }
}

/// An HTTP server that gives the status that a script says for each request.
pub struct Receiver {
    pub url: String,
    pub got: Arc<Mutex<Vec<Got>>>,
}

impl Receiver {
    pub async fn start(script: impl Fn(&Got) -> u16 + 'static) -> Receiver {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/hook", listener.local_addr().unwrap());
        let got: Arc<Mutex<Vec<Got>>> = Arc::default();
        let kept = Arc::clone(&got);
        tokio::task::spawn_local(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let Some(request) = read_request(&mut stream).await else { continue };
                let status = script(&request);
                kept.lock().unwrap().push(request);
                let _ = stream.write_all(format!("HTTP/1.1 {status} x\r\n\r\nsaid {status}").as_bytes()).await;
            }
        });
        Receiver { url, got }
    }

    pub fn ids(&self) -> Vec<String> {
        self.got.lock().unwrap().iter().map(Got::id).collect()
    }

    pub fn bodies(&self) -> Vec<Value> {
        self.got.lock().unwrap().iter().map(Got::json).collect()
    }

    pub fn route(&self, name: &str) -> Route {
        let route = json!({ "name": name, "time_zone": "UTC", "to": { "webhook": { "url": self.url } } });
        serde_json::from_value(route).unwrap()
    }
}

async fn read_request(stream: &mut TcpStream) -> Option<Got> {
    let mut bytes = Vec::new();
    loop {
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse::<usize>().ok())?;
        if body.len() >= length {
            return Some(Got { head: head.to_owned(), body: body.to_owned() });
        }
    }
}

/// Where the frames of a log end.
pub fn frames(log: &[u8]) -> Vec<usize> {
    let mut place = log.iter().position(|&byte| byte == b'\n').unwrap() + 1;
    let mut ends = Vec::new();
    while let Some(head) = log.get(place..place + 4) {
        place += 8 + u32::from_le_bytes(head.try_into().unwrap()) as usize;
        ends.push(place);
    }
    ends
}

/// Everything together, on one thread.
pub struct Room {
    pub feed: Arc<Written>,
    pub alerts: Arc<Mutex<Alerts>>,
    pub follow: Follow,
    pub clock: Arc<Clock>,
}

impl Room {
    pub fn open(dir: &Path, feed: Arc<Written>, routes: Vec<Route>) -> Room {
        let end = Cursor(u64::MAX);
        let (programs, kept): (Vec<Route>, Vec<Route>) = routes.into_iter().partition(Route::is_command);
        let (mut alerts, damage) = Alerts::open(dir, programs, end).unwrap();
        assert_eq!(damage, None);
        let clock = Arc::clone(&feed.clock);
        for route in kept {
            alerts.put_route(route, clock.now()).unwrap();
        }
        let alerts = Arc::new(Mutex::new(alerts));
        let time = Arc::clone(&clock);
        let follow = Follow::new(
            Arc::clone(&alerts),
            Arc::<Written>::clone(&feed),
            Arc::new(Loopback),
            Arc::new(move || time.now()),
            Some("http://127.0.0.1:8376".into()),
        );
        Room { feed, alerts, follow, clock }
    }

    pub fn watch(&self, watch: Value) -> String {
        let watch: Watch = serde_json::from_value(watch).unwrap();
        let now = self.clock.now();
        self.alerts.lock().unwrap().add(watch, Cursor::START, (now, now)).unwrap().id
    }

    /// Reads the feed to its end and sends until nothing is due.
    pub async fn run(&mut self) {
        while self.follow.turn().await.unwrap() {}
        loop {
            self.follow.settle().await.unwrap();
            self.follow.turn().await.unwrap();
            if self.alerts.lock().unwrap().due(&Default::default(), self.clock.now()).is_empty() {
                return self.follow.settle().await.unwrap();
            }
        }
    }

    pub async fn run_after(&mut self, span: Span) {
        self.clock.pass(span);
        self.run().await;
    }
}

/// Runs a test on one thread.
pub fn on_one_thread(test: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    tokio::task::LocalSet::new().block_on(&runtime, test);
}
