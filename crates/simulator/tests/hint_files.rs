//! Lists, feeds, tables and tags on a small web written by hand: where they are looked for, and what becomes of their words.

#![allow(clippy::unwrap_used, reason = "the helpers of tests fail as tests do")]

use std::collections::BTreeMap;

use sha1::Digest as _;
use vernal_crawler::{Act, Crawler, Settings};
use vernal_document::{Input, read, robots_text};
use vernal_model::{
    Digest, Exchange, HintSource, ListingKind, Moment, Order, OrderKind, Outcome, Report, Seed, Span, Url,
};
use vernal_repository::Repository;

const ROOT: &str = "http://hand.example/";
const COMMIT_EVERY: Span = Span::from_hours(6);
const START: Moment = Moment::from_secs(1_777_600_000);

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

fn said(round: usize) -> String {
    format!("{}, and {}", WORDS[round % WORDS.len()], WORDS[(round / WORDS.len() + 1) % WORDS.len()])
}

/// A site of a few files, asked by a crawler step by step.
struct Hand {
    crawler: Crawler,
    now: Moment,
    files: BTreeMap<&'static str, (&'static str, String)>,
    asked: Vec<(Moment, String)>,
    committed: Moment,
    _folder: tempfile::TempDir,
}

impl Hand {
    fn new(budget: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (repository, _) = Repository::open(folder.path(), vernal_repository::Settings::default(), START).unwrap();
        let settings = Settings {
            hints: true,
            policy: "vernal".into(),
            budget: budget.parse().unwrap(),
            delay: Span::from_millis(10),
            ..Settings::default()
        };
        let mut crawler = Crawler::open(repository, settings, START).unwrap();
        crawler.act(Act::AddSeeds(vec![Seed::new(Url::parse(ROOT).unwrap(), START)]), START).unwrap();
        Hand { crawler, now: START, files: BTreeMap::new(), asked: Vec::new(), committed: START, _folder: folder }
    }

    fn put(&mut self, path: &'static str, content_type: &'static str, body: impl Into<String>) {
        self.files.insert(path, (content_type, body.into()));
    }

    fn run_for(&mut self, span: Span) {
        let end = self.now + span;
        while self.now < end {
            for order in self.crawler.tick(self.now).unwrap() {
                self.asked.push((self.now, order.url.path().to_owned()));
                let report = self.report(order);
                self.crawler.report(report, self.now).unwrap();
            }
            self.crawler.follow_scope(self.now).unwrap();
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
        let Some((content_type, body)) = self.files.get(order.url.path()) else {
            return Report::unanswered(order, self.now, self.now, Outcome::Gone { status: 404 });
        };
        let head = format!("HTTP/1.1 200 OK\r\nContent-Type: {content_type}\r\n\r\n");
        let exchange = Exchange { response_head: head.into(), body: body.clone().into(), ..Exchange::default() };
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
        let unanswered = Report::unanswered(order, self.now, self.now, Outcome::Read { status: 200 });
        Report {
            exchange: Some(exchange),
            document: Some(document),
            signature: (!is_robots).then_some(parsed.signature),
            wire_bytes: 100,
            ..unanswered
        }
    }

    fn asked_for(&self, path: &str, since: Moment) -> usize {
        self.asked.iter().filter(|(at, asked)| asked == path && *at >= since).count()
    }
}

fn page(head: &str, words: &str) -> String {
    format!(
        "<html><head><title>Page</title>{head}</head><body><p>Some words that stay, and then {words}.</p></body></html>"
    )
}

fn url(path: &str) -> Url {
    Url::parse(ROOT).unwrap().join(path).unwrap()
}

#[test]
fn where_robots_names_no_sitemap_the_usual_place_is_tried_once() {
    let mut hand = Hand::new("100%/day");
    hand.put("/", "text/html", page("", "one"));
    hand.run_for(Span::from_days(20));
    assert_eq!(hand.asked_for("/sitemap.xml", START), 1);
    assert!(hand.asked_for("/robots.txt", START) > 10);
}

#[test]
fn an_index_is_followed_and_its_lists_find_pages_that_nothing_links_to() {
    let mut hand = Hand::new("100%/day");
    hand.put("/robots.txt", "text/plain", "User-agent: *\nDisallow: /no\nSitemap: /maps/index.xml\n");
    let index = format!("<sitemapindex><sitemap><loc>{ROOT}maps/1.xml</loc></sitemap></sitemapindex>");
    hand.put("/maps/index.xml", "application/xml", index);
    let list = format!("<urlset><url><loc>{ROOT}lonely</loc></url><url><loc>{ROOT}no</loc></url></urlset>");
    hand.put("/maps/1.xml", "application/xml", list);
    hand.put("/", "text/html", page("", "one"));
    hand.put("/lonely", "text/html", page("", "two"));
    hand.put("/no", "text/html", page("", "three"));
    hand.run_for(Span::from_days(1));
    assert!(hand.asked_for("/lonely", START) >= 1);
    assert_eq!(hand.asked_for("/no", START), 0, "robots.txt holds for them too");
    assert_eq!(hand.asked_for("/sitemap.xml", START), 0, "robots.txt named one");
    let hints = hand.crawler.reader().site_hints(&url("/").site()).unwrap();
    let kinds: Vec<ListingKind> = hints.files.iter().map(|(_, file)| file.kind).collect();
    assert!(kinds.contains(&ListingKind::SitemapIndex) && kinds.contains(&ListingKind::Sitemap), "{kinds:?}");
}

#[test]
fn a_feed_that_a_page_names_is_read_and_its_news_are_hints() {
    let mut hand = Hand::new("300%/day");
    let feed = |date: &str| format!("<feed><entry><link href=\"/news\"/><updated>{date}</updated></entry></feed>");
    let link = "<link rel=\"alternate\" type=\"application/atom+xml\" href=\"/feed\">";
    hand.put("/", "text/html", page(link, "<a href=\"/news\">news</a>"));
    hand.put("/news", "text/html", page("", "one"));
    hand.put("/feed", "application/atom+xml", feed("2020-01-01T00:00:00Z"));
    hand.run_for(Span::from_days(1));
    assert_eq!(hand.asked_for("/feed", START), 1);
    let key = hand.crawler.reader().page_by_url(&url("/news")).unwrap().unwrap().key;
    for _ in 0..60 {
        hand.put("/feed", "application/atom+xml", feed(&hand.now.warc_date()));
        hand.run_for(Span::from_days(1));
        if hand.crawler.reader().page_hints(key).unwrap().pending.iter().any(|hint| hint.source == HintSource::Feed) {
            return;
        }
    }
    let hints = hand.crawler.reader().site_hints(&url("/").site()).unwrap();
    let heard = hints.sources.iter().find(|(source, _)| *source == HintSource::Feed).map_or(0, |(_, row)| row.heard);
    assert!(heard > 0, "{hints:?}");
}

#[test]
fn a_page_whose_table_proved_good_is_visited_only_when_the_table_moves() {
    let mut hand = Hand::new("400%/day");
    let link = "<link rel=\"volatile-information\" href=\"/prices.tvi\">";
    let table = |at: Moment| format!("volatile-information 1\npage /prices\npart price {} 1\n", at.warc_date());
    hand.put("/", "text/html", page("", "<a href=\"/prices\">prices</a>"));
    hand.put("/prices", "text/html", page(link, "nothing yet"));
    hand.put("/prices.tvi", "text/plain", table(START));
    hand.run_for(Span::from_days(2));
    for round in 0..40 {
        hand.put("/prices", "text/html", page(link, &said(round)));
        hand.put("/prices.tvi", "text/plain", table(hand.now));
        hand.run_for(Span::from_days(2));
    }
    let site = url("/").site();
    let hints = hand.crawler.reader().site_hints(&site).unwrap();
    let (_, row) = hints.sources.iter().find(|(source, _)| *source == HintSource::Companion).unwrap();
    assert!(row.right > 5.0 && row.wrong < row.right / 2.0, "{row:?}");
    let quiet = hand.now;
    hand.run_for(Span::from_days(20));
    let (pages, tables) = (hand.asked_for("/prices", quiet), hand.asked_for("/prices.tvi", quiet));
    assert!(pages <= 3 && tables > 3 * pages.max(1), "the page was asked for {pages} times, its table {tables} times");
    hand.put("/prices", "text/html", page(link, "the price is another one"));
    hand.put("/prices.tvi", "text/plain", table(hand.now));
    let moved = hand.now;
    hand.run_for(Span::from_days(6));
    assert!(hand.asked_for("/prices", moved) >= 1, "the table moved");
}

#[test]
fn a_site_whose_static_pages_stay_as_they_are_is_believed_until_they_do_not() {
    let mut hand = Hand::new("400%/day");
    let tag = "<meta name=\"meta-updates\" content=\"PERIODIC=10\">";
    hand.put("/", "text/html", page(tag, "one"));
    hand.run_for(Span::from_days(80));
    let trust = |hand: &Hand| {
        let hints = hand.crawler.reader().site_hints(&url("/").site()).unwrap();
        hints.sources.into_iter().find(|(source, _)| *source == HintSource::MetaUpdates).unwrap().1
    };
    let row = trust(&hand);
    assert!(row.right > 4.0 && row.wrong == 0.0, "{row:?}");
    let (before, length) = (hand.now, Span::from_days(40));
    hand.run_for(length);
    let visits = hand.asked_for("/", before);
    assert!((2..=8).contains(&visits), "ten days between visits, samples apart: {visits}");
    for round in 0..20 {
        hand.put("/", "text/html", page(tag, &said(round)));
        hand.run_for(Span::from_days(9));
    }
    assert!(trust(&hand).wrong > 1.0, "{:?}", trust(&hand));
}
