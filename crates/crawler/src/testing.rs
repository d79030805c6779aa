//! What the tests of several parts share: a crawler over a repository of its own, and a small web written by hand.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use sha1::Digest as _;
use tempfile::TempDir;
use vernal_document::{Input, read, robots_text};
use vernal_frontier::Waiting;
use vernal_model::{
    Admitted, Deed, Digest, Exchange, Found, Location, Moment, Order, OrderId, OrderKind, Outcome, Page, PageKey,
    PageState, Partition, PolicyState, Report, Seed, Sequence, Site, Span, Url, Validators, Version, Via, Visit,
    Visited, WaitingPlace,
};
use vernal_repository::bodies::Keep;
use vernal_repository::{Repository, Sieving, UrlRow};

use crate::crawler::Crawler;
use crate::in_flight::Asked;
use crate::work::{Durable, Work};
use crate::{Act, DiskFreeMin, Result, Settings};

pub const START: Moment = Moment::from_secs(1_777_600_000);
/// So many steps are more than any crawl of a test takes.
const STEPS_MAX: usize = 20_000;
/// The least time between two steps, and that where nothing says when the next one is due.
const STEP: Span = Span::from_millis(10);
const UNTOLD: Span = Span::from_secs(1);

pub fn after(secs: u64) -> Moment {
    START + Span::from_secs(secs)
}

pub fn url(text: &str) -> Url {
    Url::parse(text).unwrap()
}

pub fn seed(text: &str) -> Seed {
    Seed::new(url(text), START)
}

/// Settings of a crawl that neither budget, delay nor disk holds back.
pub fn unhindered() -> Settings {
    Settings {
        budget: "1000/s".parse().unwrap(),
        delay: Span::ZERO,
        disk_free_min: DiskFreeMin::NOTHING,
        ..Settings::default()
    }
}

pub fn key_of(text: &str, number: u32) -> PageKey {
    PageKey::new(url(text).partition(), number)
}

/// The row of a page that is held and well, with one version.
pub fn held(text: &str, number: u32) -> Page {
    let version = Version {
        number: 1,
        moment: START,
        status: 200,
        payload: Digest([number as u8; 20]),
        body_bytes: 100,
        location: None,
    };
    Page {
        key: key_of(text, number),
        url: url(text),
        state: PageState::Held,
        depth: 0,
        found_on: None,
        admitted: START,
        first_visit: START,
        last_visit: START,
        last_confirmed: Some(START),
        last_outcome: Outcome::Read { status: 200 },
        visits: 1,
        compared: 0,
        changes: 0,
        misses: 0,
        missing_since: None,
        failures: 0,
        not_before: START,
        version: Some(version),
        validators: Validators::default(),
        importance: 1.0,
        noisy: false,
        policy: PolicyState::default(),
    }
}

/// The row of a page that never could be read, and is tried again then.
pub fn failed(text: &str, number: u32, not_before: Moment) -> Page {
    Page {
        state: PageState::Failed,
        version: None,
        last_confirmed: None,
        failures: 1,
        not_before,
        ..held(text, number)
    }
}

pub fn url_row(text: &str, number: u32) -> UrlRow {
    let url = url(text);
    UrlRow {
        page: key_of(text, number),
        place: WaitingPlace { site: url.site(), band: 0, arrival: u64::from(number) },
        url,
        via: Via::Link,
        depth: 0,
        found_on: None,
        admitted: START,
        rank: 0,
    }
}

pub fn waiting(text: &str, number: u32) -> Waiting {
    crate::partition::window_row(url_row(text, number))
}

/// The deed by which URLs of one partition come to wait.
pub fn admission(rows: &[UrlRow]) -> Deed {
    let admitted = rows.iter().map(|row| Admitted {
        number: row.page.number,
        url: row.url.clone(),
        via: row.via,
        depth: row.depth,
        found_on: row.found_on,
        moment: row.admitted,
        rank: row.rank,
        place: row.place.clone(),
    });
    Deed::Sieved { through: Sequence(0), admitted: admitted.collect(), barred: Vec::new() }
}

/// The deed of a visit after which the row of the page is this.
pub fn visit(was: Option<PageState>, page: &Page, place: Option<WaitingPlace>) -> Visited {
    let visit = Visit {
        started: page.last_visit,
        finished: page.last_visit,
        outcome: page.last_outcome.clone(),
        address: None,
        wire_bytes: 10,
        version: None,
        record: None,
        decided_by: None,
        changed: None,
        second_look: false,
        robots: None,
    };
    Visited { page: page.clone(), was, left: place, visit, document: None, event: None }
}

pub fn order(text: &str, page: PageKey) -> Order {
    Order {
        id: OrderId(0),
        page,
        url: url(text),
        kind: OrderKind::Page,
        validators: Validators::default(),
        held: None,
        gap: Span::ZERO,
        patience: None,
        public_only: false,
    }
}

/// An order, and the Moment at which it is answered.
pub type Given = (Order, Moment);

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
    Report {
        exchange: Some(exchange),
        document: Some(if is_robots { robots_text(body.as_bytes()) } else { parsed.document }),
        signature: (!is_robots).then_some(parsed.signature),
        wire_bytes: 100,
        ..Report::unanswered(order, now, now, Outcome::Read { status: 200 })
    }
}

/// A page of HTML that says this and leads there.
pub fn html(words: &str, links: &[&str]) -> String {
    let links: String = links.iter().map(|link| format!("<p><a href=\"{link}\">to {link}</a></p>")).collect();
    format!("<html><head><title>A page</title></head><body><p>{words}</p>{links}</body></html>")
}

#[derive(Clone)]
enum Served {
    Body(&'static str, String),
    Outcome(Outcome),
}

/// The pages of an invented web by URL; every other URL is gone.
#[derive(Clone, Default)]
pub struct Web(BTreeMap<Url, Served>);

impl Web {
    /// Sites with this many pages each, all linked from a front page.
    pub fn of_sites(sites: &[&str], pages: usize) -> Self {
        let mut web = Web::default();
        for site in sites {
            let links: Vec<String> = (0..pages).map(|page| format!("/p{page}")).collect();
            let links: Vec<&str> = links.iter().map(String::as_str).collect();
            web.put(&format!("http://{site}/"), &html(&format!("The front page of {site} names all others."), &links));
            for page in 0..pages {
                let words = format!("Page {page} of {site} says its own words, {}.", page * 7_919);
                web.put(&format!("http://{site}/p{page}"), &html(&words, &["/"]));
            }
        }
        web
    }

    pub fn put(&mut self, at: &str, body: &str) {
        self.0.insert(url(at), Served::Body("text/html", body.into()));
    }

    pub fn put_as(&mut self, at: &str, content_type: &'static str, body: &str) {
        self.0.insert(url(at), Served::Body(content_type, body.into()));
    }

    pub fn answers(&mut self, at: &str, outcome: Outcome) {
        self.0.insert(url(at), Served::Outcome(outcome));
    }

    pub fn report(&self, order: Order, now: Moment) -> Report {
        match self.0.get(&order.url) {
            Some(Served::Body(content_type, body)) => answered(order, now, content_type, body),
            Some(Served::Outcome(outcome)) => Report::unanswered(order, now, now, outcome.clone()),
            None => Report::unanswered(order, now, now, Outcome::Gone { status: 404 }),
        }
    }
}

/// A crawler over a repository of its own.
pub struct Bench {
    pub crawler: Crawler,
    pub now: Moment,
    /// The requested URLs, and when.
    pub asked: Vec<(Moment, String)>,
    settings: Settings,
    folder: TempDir,
}

impl Bench {
    pub fn new(settings: Settings) -> Self {
        Bench::over(tempfile::tempdir().unwrap(), settings, START)
    }

    /// With these seeds.
    pub fn seeded(settings: Settings, seeds: &[&str]) -> Self {
        let mut bench = Bench::new(settings);
        let seeds = seeds.iter().map(|text| seed(text)).collect();
        bench.crawler.act(Act::AddSeeds(seeds), START).unwrap();
        bench
    }

    fn over(folder: TempDir, settings: Settings, now: Moment) -> Self {
        let crawler = Crawler::open(repository(&folder, now), settings.clone(), now).unwrap();
        Bench { crawler, now, asked: Vec::new(), settings, folder }
    }

    /// Over a fresh repository whose commits are written down.
    pub fn recorded(settings: Settings) -> (Self, Written) {
        let (mut bench, folder, written) = (Bench::new(settings), tempfile::tempdir().unwrap(), Written::default());
        let repository = repository(&folder, START);
        let (reader, limits) = (repository.reader(), bench.settings.group);
        let durable = Recorder { written: Arc::clone(&written), repository: Some(repository) };
        bench.crawler.core.work = Work::new(Box::new(durable), reader, limits);
        bench.folder = folder;
        (bench, written)
    }

    /// Lets URLs pass the sieve as if links had led to them; a page is then known by its key.
    pub fn admit(&mut self, texts: &[&str]) {
        let Crawler { core, plan, .. } = &mut self.crawler;
        for text in texts {
            core.announce(Found { url: url(text), via: Via::Link, depth: 1, found_on: None, forward: 0 });
        }
        core.work.commit(self.now).unwrap();
        plan.sieve(core, self.now).unwrap();
        core.work.commit(self.now).unwrap();
        plan.sieved(core);
        core.partitions.note_active();
    }

    /// What an order for a URL that is known would be for.
    pub fn asked_for(&mut self, text: &str) -> (PageKey, Asked) {
        let core = &mut self.crawler.core;
        let key = core.work.key_of(&url(text)).unwrap().and_then(|known| known.key).expect("it was admitted");
        if let Some(page) = core.work.page(key).unwrap() {
            return (key, Asked::Again(Box::new(page)));
        }
        let (row, partition) = (core.work.url(key).unwrap().expect("it waits"), core.partitions.of_mut(key.partition));
        let waiting = partition.waiting.take(&mut partition.sites, row).expect("it waits");
        (key, Asked::First(Box::new(waiting)))
    }

    /// Visits a known URL, which answers with this report.
    pub fn visit(&mut self, text: &str, answer: impl FnOnce(Order, Moment) -> Report) {
        let (key, asked) = self.asked_for(text);
        let report = answer(order(text, key), self.now);
        self.crawler.take_page(asked, report, None).unwrap();
    }

    /// Visits a known URL, which answers with this HTML page.
    pub fn read(&mut self, text: &str, body: &str) {
        self.visit(text, |order, now| answered(order, now, "text/html", body));
    }

    /// Visits a known URL, with an outcome that brings no page.
    pub fn meet(&mut self, text: &str, outcome: Outcome) {
        self.visit(text, |order, now| Report::unanswered(order, now, now, outcome));
    }

    /// The next process over the same folder.
    pub fn reopened(self) -> Self {
        let settings = self.settings.clone();
        self.reopened_with(settings)
    }

    pub fn reopened_with(self, settings: Settings) -> Self {
        let Bench { crawler, now, folder, .. } = self;
        crawler.close(now).unwrap();
        Bench::over(folder, settings, now)
    }

    /// One step, whose orders are answered at once; says whether there were any.
    pub fn step(&mut self, web: &Web) -> bool {
        let orders = self.crawler.step(self.now).unwrap();
        let has_asked = !orders.is_empty();
        for order in orders {
            self.asked.push((self.now, order.url.to_string()));
            self.crawler.report(web.report(order, self.now), self.now).unwrap();
        }
        has_asked
    }

    pub fn run_for(&mut self, web: &Web, span: Span) {
        let end = self.now + span;
        while self.now < end {
            let has_asked = self.step(web);
            self.pass_time(has_asked, end);
        }
    }

    /// Until nothing waits and nothing is due.
    pub fn run_until_idle(&mut self, web: &Web) {
        for _ in 0..STEPS_MAX {
            let has_asked = self.step(web);
            if self.crawler.is_idle(self.now) {
                return;
            }
            self.pass_time(has_asked, Moment::NEVER);
        }
        panic!("the crawl does not come to its end: {:?}", self.crawler.pulse());
    }

    /// A report is worth a step at once; without one the crawler says when.
    fn pass_time(&mut self, has_asked: bool, end: Moment) {
        let next = match has_asked {
            true => self.now + STEP,
            false => self.crawler.next_wake(self.now).unwrap_or(self.now + UNTOLD),
        };
        self.now = next.max(self.now + STEP).min(end);
    }

    pub fn commit(&mut self) {
        self.crawler.commit(self.now).unwrap();
    }

    /// The row of a page by its URL, as the crawler sees it now.
    pub fn page(&self, text: &str) -> Option<Page> {
        self.crawler.core.work.page_by_url(&url(text)).unwrap()
    }

    pub fn times_asked(&self, text: &str) -> usize {
        self.asked.iter().filter(|(_, asked)| asked == text).count()
    }

    /// Puts a page into the tables and the partition as if it had been held for long.
    pub fn hold(&mut self, page: &Page) {
        let core = &mut self.crawler.core;
        let (id, site) = (page.key.partition, page.url.site());
        core.partitions.settle(&site, id);
        let place = WaitingPlace { site: site.clone(), band: 0, arrival: u64::from(page.key.number) };
        let row =
            UrlRow { page: page.key, url: page.url.clone(), place: place.clone(), ..url_row(page.url.as_str(), 0) };
        core.work.push(id, admission(&[row]));
        core.work.push(id, Deed::Visited(Box::new(visit(None, page, Some(place)))));
        let partition = core.partitions.of_mut(id);
        partition.recall_numbers(partition.numbers().max(page.key.number + 1));
        partition.recall_page(page, crate::settings::Promise::default(), self.now);
        partition.count_held(&site, i64::from(page.state == PageState::Held));
        core.work.commit(self.now).unwrap();
        core.partitions.note_active();
    }
}

/// Everything that was committed, in its order.
pub type Written = Arc<Mutex<Vec<(Partition, Deed)>>>;

/// Writes down what is committed, before a repository makes it durable if there is one.
pub struct Recorder {
    pub written: Written,
    pub repository: Option<Repository>,
}

impl Durable for Recorder {
    fn keep(&mut self, keep: &Keep<'_>) -> Result<Location> {
        match &mut self.repository {
            Some(repository) => Ok(repository.keep(keep)?),
            None => Ok(Location { segment: 0, offset: 0, length: 0 }),
        }
    }

    fn commit(&mut self, deeds: &[(Partition, Deed)], now: Moment) -> Result<()> {
        self.written.lock().unwrap().extend_from_slice(deeds);
        if let Some(repository) = &mut self.repository {
            repository.commit(deeds, now)?;
        }
        Ok(())
    }

    fn sieve(&mut self, urls_max: usize) -> Result<Sieving> {
        let sieving = self.repository.as_mut().map(|repository| repository.sieve(urls_max)).transpose()?;
        Ok(sieving.expect("who sieves has a repository"))
    }

    fn derived(&self) -> &Repository {
        self.repository.as_ref().expect("who runs passes has a repository")
    }

    fn rewrite(&mut self, _: bool, _: Moment) -> Result<bool> {
        Ok(false)
    }

    fn end_repair(&mut self) -> Result<()> {
        Ok(())
    }

    fn close(self: Box<Self>) -> Result<()> {
        Ok(())
    }
}

pub fn repository(folder: &TempDir, now: Moment) -> Repository {
    let settings = vernal_repository::Settings { tables_in_memory: true, id: Some(1), ..Default::default() };
    Repository::open(folder.path(), settings, now).unwrap().0
}

/// A site of the partition with this number, the same at every call.
pub fn site_of_partition(partition: u8) -> Site {
    let mut sites = (0..10_000).map(|number| format!("s{number}.example"));
    let here = sites.find(|site| url(&format!("http://{site}/")).partition() == Partition(partition));
    Site::new(&here.expect("each has some"))
}
