//! A small web written by hand, asked by a crawler step by step.
#![allow(dead_code, clippy::unwrap_used, reason = "each test uses a part, and its helpers fail as tests do")]

use std::collections::{BTreeMap, BTreeSet};

use sha1::Digest as _;
use vernal_crawler::{Act, Crawler, Settings};
use vernal_document::{Input, read, robots_text};
use vernal_model::{Digest, Exchange, Failure, Moment, Order, OrderKind, Outcome, Report, Seed, Span, Url};
use vernal_repository::Repository;

pub const ROOT: &str = "http://hand.example/";
const COMMIT_EVERY: Span = Span::from_hours(6);
pub const START: Moment = Moment::from_secs(1_777_600_000);

/// What pages say one after the other: plain words, which nobody takes for noise.
const WORDS: [&str; 7] = [
    "apples are cheap in autumn",
    "nobody sells pears any more",
    "the market is closed for repairs",
    "a new baker has come to town",
    "cheese from the hills is back",
    "the fishmonger wants his stall moved",
    "rain has spoilt the strawberries",
];

pub fn said(round: usize) -> String {
    format!("{}, and {}", WORDS[round % WORDS.len()], WORDS[(round / WORDS.len() + 1) % WORDS.len()])
}

/// A site of a few files, asked by a crawler step by step.
pub struct SmallWeb {
    pub crawler: Crawler,
    pub now: Moment,
    files: BTreeMap<&'static str, (&'static str, String)>,
    pub asked: Vec<(Moment, String)>,
    committed: Moment,
    /// Paths that answer with an error, whatever lies there.
    pub broken: BTreeSet<&'static str>,
    _folder: tempfile::TempDir,
}

impl SmallWeb {
    pub fn new(budget: &str) -> Self {
        SmallWeb::with(Settings { budget: budget.parse().unwrap(), hints: true, ..Settings::default() })
    }

    pub fn with(settings: Settings) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (repository, _) = Repository::open(folder.path(), vernal_repository::Settings::default(), START).unwrap();
        let settings = Settings { policy: "vernal".into(), delay: Span::from_millis(10), ..settings };
        let mut crawler = Crawler::open(repository, settings, START).unwrap();
        crawler.act(Act::AddSeeds(vec![Seed::new(Url::parse(ROOT).unwrap(), START)]), START).unwrap();
        let (files, asked, broken) = Default::default();
        SmallWeb { crawler, now: START, files, asked, committed: START, broken, _folder: folder }
    }

    pub fn put(&mut self, path: &'static str, content_type: &'static str, body: impl Into<String>) {
        self.files.insert(path, (content_type, body.into()));
    }

    /// From now on the path is missing.
    pub fn take(&mut self, path: &str) {
        self.files.remove(path);
    }

    pub fn run_for(&mut self, span: Span) {
        let end = self.now + span;
        while self.now < end {
            for order in self.crawler.step(self.now).unwrap() {
                self.asked.push((self.now, order.url.path().to_owned()));
                let report = self.report(order);
                self.crawler.report(report, self.now).unwrap();
            }
            // A sync for every visit would be all the work.
            if self.now.since(self.committed) >= COMMIT_EVERY {
                self.crawler.commit(self.now).unwrap();
                self.committed = self.now;
            }
            let commit = self.crawler.has_uncommitted().then(|| self.committed + COMMIT_EVERY);
            let next = [self.crawler.next_wake(self.now), commit].into_iter().flatten().min().unwrap_or(end);
            self.now = next.max(self.now + Span::from_millis(10)).min(end);
        }
        self.crawler.commit(self.now).unwrap();
    }

    fn report(&self, order: Order) -> Report {
        if self.broken.contains(order.url.path()) {
            let failure = Failure::Status { status: 500, retry_after: None };
            return Report::unanswered(order, self.now, self.now, Outcome::Failed(failure));
        }
        let Some((content_type, body)) = self.files.get(order.url.path()) else {
            return Report::unanswered(order, self.now, self.now, Outcome::Gone { status: 404 });
        };
        answered(order, self.now, content_type, body)
    }

    pub fn asked_for(&self, path: &str, since: Moment) -> usize {
        self.asked.iter().filter(|(at, asked)| asked == path && *at >= since).count()
    }
}

/// The report of an order that was answered with this body.
pub fn answered(order: Order, now: Moment, content_type: &str, body: &str) -> Report {
    let head = format!("HTTP/1.1 200 OK\r\nContent-Type: {content_type}\r\n\r\n");
    let exchange = Exchange { response_head: head.into(), body: body.into(), ..Exchange::default() };
    let parsed = read(&Input {
        url: &order.url,
        bytes: body.as_bytes(),
        content_type: Some(content_type),
        content_language: None,
        robots_tags: &[],
        payload: Digest(sha1::Sha1::digest(body.as_bytes()).into()),
    });
    let is_robots = order.kind == OrderKind::Robots;
    let document = if is_robots { robots_text(body.as_bytes()) } else { parsed.document };
    Report {
        exchange: Some(exchange),
        document: Some(document),
        signature: (!is_robots).then_some(parsed.signature),
        wire_bytes: 100,
        ..Report::unanswered(order, now, now, Outcome::Read { status: 200 })
    }
}

pub fn page(head: &str, words: &str) -> String {
    format!(
        "<html><head><title>Page</title>{head}</head><body><p>Some words that stay, and then {words}.</p></body></html>"
    )
}

pub fn url(path: &str) -> Url {
    Url::parse(ROOT).unwrap().join(path).unwrap()
}
