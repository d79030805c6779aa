//! No site can slow another: a good site beside hostile ones is visited as often as alone. Time is virtual, and every answer
//! takes its time.

#![allow(clippy::unwrap_used, reason = "the helpers of tests fail as tests do")]

mod small_web;

use std::collections::BTreeMap;

use small_web::{START, answered, said};
use vernal_crawler::{Act, Crawler, DiskFreeMin, Settings};
use vernal_model::{Failure, Moment, Order, OrderKind, Outcome, Report, Seed, Span, Stage, Url};
use vernal_repository::Repository;

const QUICK: Span = Span::from_millis(100);
const WHOLE_VISIT: Span = Span::from_secs(60);
/// A step looks at some candidates only, so the next one is due soon even where nothing says so.
const STEP_MAX: Span = Span::from_secs(1);
const COMMIT_EVERY: Span = Span::from_secs(60);
const GOOD: &str = "http://good.example/";

/// What a site does to whoever asks it.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Kind {
    Good,
    /// Accepts the connection and says nothing.
    Silent,
    /// Nobody answers for its name.
    SlowName,
    /// Its robots.txt comes at once, and its pages never end.
    Drip,
    /// Every byte comes so slowly that not even robots.txt has an end.
    SlowHead,
    /// Its pages come whole, after a long time.
    Slow,
    Redirects,
    Links,
    Sitemaps,
    /// Large bodies that take their time.
    Huge,
    Resets,
    /// The worker ends its connections, because they are flooded.
    Flood,
}

/// Those that keep slots.
const TARPITS: [Kind; 5] = [Kind::Silent, Kind::SlowName, Kind::Drip, Kind::SlowHead, Kind::Slow];
const OTHERS: [Kind; 6] = [Kind::Redirects, Kind::Links, Kind::Sitemaps, Kind::Huge, Kind::Resets, Kind::Flood];

/// A web of such sites, and a crawler whose orders take their time.
struct World {
    crawler: Crawler,
    now: Moment,
    sites: BTreeMap<String, Kind>,
    /// Reports on their way, by the Moment at which they arrive.
    coming: BTreeMap<(Moment, u64), Report>,
    /// The URLs that were answered, and when.
    visits: Vec<(Moment, Url)>,
    in_flight_max: usize,
    committed: Moment,
    _folder: tempfile::TempDir,
}

impl World {
    fn new(concurrency: usize, kinds: &[Kind]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let kept = vernal_repository::Settings { tables_in_memory: true, ..Default::default() };
        let (repository, _) = Repository::open(folder.path(), kept, START).unwrap();
        let settings = Settings {
            budget: "1000000/s".parse().unwrap(),
            policy: "vernal".into(),
            hints: true,
            concurrency,
            disk_free_min: DiskFreeMin::NOTHING,
            ..Settings::default()
        };
        let crawler = Crawler::open(repository, settings, START).unwrap();
        let (sites, coming, visits) = Default::default();
        let mut world =
            World { crawler, now: START, sites, coming, visits, in_flight_max: 0, committed: START, _folder: folder };
        for (number, &kind) in kinds.iter().enumerate() {
            world.add(&format!("s{number}.example"), kind);
        }
        world
    }

    fn add(&mut self, site: &str, kind: Kind) {
        self.sites.insert(site.to_owned(), kind);
        let seed = Seed::new(Url::parse(&format!("http://{site}/")).unwrap(), self.now);
        self.crawler.act(Act::AddSeeds(vec![seed]), self.now).unwrap();
    }

    fn run_for(&mut self, span: Span) {
        let end = self.now + span;
        while self.now < end {
            for order in self.crawler.step(self.now).unwrap() {
                let id = order.id.0;
                let (report, took) = self.answer(order);
                let at = self.now + took;
                self.coming.insert((at, id), Report { started: self.now, finished: at, ..report });
            }
            self.in_flight_max = self.in_flight_max.max(self.coming.len());
            if self.now.since(self.committed) >= COMMIT_EVERY {
                self.crawler.commit(self.now).unwrap();
                self.committed = self.now;
            }
            let arrival = self.coming.first_key_value().map(|(&(at, _), _)| at);
            let next = [self.crawler.next_wake(self.now), arrival].into_iter().flatten().min().unwrap_or(end);
            let soon = self.now + Span::from_millis(10);
            self.now = next.clamp(soon, self.now + STEP_MAX).min(end);
            while let Some(entry) = self.coming.first_entry().filter(|entry| entry.key().0 <= self.now) {
                let report = entry.remove();
                self.visits.push((self.now, report.order.url.clone()));
                self.crawler.report(report, self.now).unwrap();
            }
        }
    }

    /// What the order brings within the worker's limits, and how long that takes.
    fn answer(&self, order: Order) -> (Report, Span) {
        let patience = order.patience.map_or(WHOLE_VISIT, |patience| patience.min(WHOLE_VISIT));
        let (report, took) = self.unlimited(order);
        if took <= patience {
            return (report, took);
        }
        let failure = Failure::Timeout(Stage::Total);
        (Report::unanswered(report.order, self.now, self.now, Outcome::Failed(failure)), patience)
    }

    fn unlimited(&self, order: Order) -> (Report, Span) {
        let failed = |order: Order, failure, took: u64| {
            let report = Report::unanswered(order, self.now, self.now, Outcome::Failed(failure));
            (report, Span::from_secs(took))
        };
        let kind = self.sites.get(order.url.host()).copied().unwrap_or(Kind::Silent);
        let is_robots = order.kind == OrderKind::Robots;
        match kind {
            Kind::Silent => failed(order, Failure::Timeout(Stage::FirstByte), 30),
            Kind::SlowName => failed(order, Failure::Dns("no answer in time".into()), 10),
            Kind::SlowHead => failed(order, Failure::Timeout(Stage::Total), 60),
            _ if is_robots => (answered(order, self.now, "text/plain", ""), QUICK),
            Kind::Drip => failed(order, Failure::Timeout(Stage::Total), 60),
            Kind::Resets => failed(order, Failure::Truncated, 0),
            Kind::Flood => failed(order, Failure::Protocol("a flood of frames without content".into()), 0),
            Kind::Redirects => {
                let to = order.url.join(&format!("{}x", order.url.path())).ok();
                let outcome = Outcome::Moved { status: 302, to, permanent: false };
                (Report::unanswered(order, self.now, self.now, outcome), QUICK)
            }
            Kind::Sitemaps if order.url.path().starts_with("/sitemap") => {
                let body = nested(&order.url);
                (answered(order, self.now, "application/xml", &body), QUICK)
            }
            kind => {
                let took = match kind {
                    Kind::Slow => Span::from_secs(25),
                    Kind::Huge => Span::from_secs(5),
                    _ => QUICK,
                };
                let links = if kind == Kind::Links { 100 } else { 2 };
                let body = page(&order.url, links);
                (answered(order, self.now, "text/html", &body), took)
            }
        }
    }

    /// Visits to pages of the good site.
    fn good(&self) -> usize {
        self.visits.iter().filter(|(_, url)| url.as_str().starts_with(GOOD)).count()
    }

    fn asked(&self, site: &str) -> usize {
        self.visits.iter().filter(|(_, url)| url.host() == site).count()
    }
}

/// A page of a site without end: each page names as many others.
fn page(url: &Url, links: u64) -> String {
    let number: u64 = url.path().trim_start_matches("/p").parse().unwrap_or(0);
    let first = number.wrapping_mul(links) % (1 << 40) + 1;
    let links: String = (first..first + links).map(|next| format!("<p><a href=/p{next}>page {next}</a></p>")).collect();
    format!("<title>Page {number}</title><p>Page {number}: {}.</p>{links}", said(number as usize))
}

/// An index that names 900 more.
fn nested(url: &Url) -> String {
    let base = url.as_str().trim_end_matches(".xml");
    let entry = |number| format!("<sitemap><loc>{base}-{number}.xml</loc></sitemap>");
    let entries: String = (0..900).map(entry).collect();
    format!("<sitemapindex xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">{entries}</sitemapindex>")
}

/// The visits to the good site within ten minutes beside such sites.
fn good_visits(kinds: &[Kind]) -> usize {
    let mut world = World::new(8, kinds);
    world.add("good.example", Kind::Good);
    world.run_for(Span::from_secs(600));
    assert!(world.in_flight_max <= 8);
    for (number, kind) in kinds.iter().enumerate() {
        assert!(world.asked(&format!("s{number}.example")) > 0, "{kind:?} was never asked");
    }
    world.good()
}

#[test]
fn a_good_site_beside_twenty_hostile_ones_keeps_its_visits() {
    let alone = good_visits(&[]);
    assert!(alone > 500, "{alone} alone");
    let of_each: Vec<Kind> = TARPITS.iter().chain(&OTHERS).cycle().take(20).copied().collect();
    let mut webs = vec![of_each];
    webs.extend(TARPITS.iter().chain(&OTHERS).map(|&kind| vec![kind; 20]));
    for kinds in webs {
        let beside = good_visits(&kinds);
        eprintln!("{beside} of {alone} beside {:?} and others", kinds[0]);
        assert!(beside * 10 >= alone * 8, "{beside} beside {kinds:?}, {alone} alone");
    }
}

#[test]
fn a_new_site_is_visited_soon_though_two_hundred_tarpits_came_before_it() {
    for kind in TARPITS {
        let mut world = World::new(64, &[kind; 200]);
        world.run_for(Span::from_millis(100));
        world.add("good.example", Kind::Good);
        let added = world.now;
        world.run_for(Span::from_secs(120));
        let first = world.visits.iter().find(|(_, url)| url.as_str() == GOOD).map(|(at, _)| at.since(added));
        eprintln!("{kind:?}: the first visit after {first:?}, {} visits", world.good());
        assert!(first.is_some_and(|first| first <= Span::from_secs(30)), "beside {kind:?}: {first:?}");
        assert!(world.good() >= 70, "beside {kind:?}: {}", world.good());
    }
}

#[test]
fn many_new_sites_that_answer_use_most_slots() {
    let mut world = World::new(64, &[Kind::Good; 300]);
    world.run_for(Span::from_secs(20));
    let asked = (0..300).map(|number| world.asked(&format!("s{number}.example")));
    assert!(asked.min() > Some(8), "every site had its turn again and again");
}

#[test]
fn sitemaps_that_name_sitemaps_without_end_are_a_trap_that_is_told() {
    let mut world = World::new(8, &[Kind::Sitemaps]);
    world.run_for(Span::from_secs(1_200));
    world.crawler.commit(world.now).unwrap();
    let reader = world.crawler.reader();
    let site = reader.sites().into_iter().find(|row| row.site.as_str() == "s0.example").unwrap();
    let told = site.profile.traps;
    assert!(told.iter().any(|words| words.contains("100 in a row name no page")), "{told:?}");
    let files = world.visits.iter().filter(|(_, url)| url.path().starts_with("/sitemap")).count();
    assert!((100..=110).contains(&files), "{files}");
    assert!(reader.totals().known < 3_000, "{} URLs are known", reader.totals().known);
    let pages = world.asked("s0.example") - files;
    assert!(pages > 700, "its pages are visited all the same: {pages}");
}
