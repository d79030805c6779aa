//! Live equals simulated: one world, one state of the copy, two drivers of the same crawler. The binary crawls the served web
//! in fast time; the simulator crawls it in virtual time; both must spend their visits on the same pages.

#![allow(clippy::unwrap_used, reason = "the helpers of tests fail as tests do")]

mod common;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use common::{Running, vernal, wait_until, wall};
use vernal_crawler::{Act, Crawler, DiskFreeMin, Settings};
use vernal_model::{Moment, Seed, Span, TimeOrigin, Url};
use vernal_repository::Repository;
use vernal_simulator::drift::DriftSettings;
use vernal_simulator::serve::{ServeOptions, Served, serve};
use vernal_simulator::trial::{Paused, Trial};
use vernal_simulator::web::{Web, WebSettings};

/// One real second of the live crawl.
const SCALE: f64 = 10_000.0;
/// A policy that believes each page for itself. The clocks of `vernal` make much of little: some minutes decide which of two
/// sites is thought to be in a busy hour, and a tenth of its visits follow.
const POLICY: &str = "bayes";
const BUDGET: &str = "600%/day";
/// A busy machine answers late: then a site is asked for more than one page at a time, in both crawls.
const PER_SITE: u16 = 8;
const REFRESH_MIN: Span = Span::from_secs(600);
/// What is compared.
const STRETCH: Span = Span::from_hours(60);
/// Of all visits so many may go to other pages: a page is met some minutes sooner or later by a real network.
const ELSEWHERE_MAX: f64 = 0.12;

type VisitsByPage = BTreeMap<String, u32>;

#[test]
fn the_live_crawl_spends_its_visits_where_the_simulated_one_does() {
    let folder = tempfile::tempdir().unwrap();
    let [simulated, live, other] = ["simulated", "live", "other"].map(|name| folder.path().join(name));
    let began = wall();
    let start = began + Span::from_hours(12);
    let origin: Arc<OnceLock<TimeOrigin>> = Arc::default();
    let served = world(start, Arc::clone(&origin));
    discover(&served, &simulated, began);
    copy(&simulated, &live);
    copy(&simulated, &other);

    let in_virtual_time = simulate(&served, &simulated, start, POLICY);
    let by_turns = simulate(&served, &other, start, "round-robin");
    let in_fast_time = crawl(&served, &live, start, &origin);

    let elsewhere = share_elsewhere(&in_virtual_time, &in_fast_time);
    let otherwise = share_elsewhere(&in_virtual_time, &by_turns);
    assert!(elsewhere <= ELSEWHERE_MAX, "{elsewhere} of the visits went elsewhere");
    assert!(otherwise > 1.5 * ELSEWHERE_MAX, "another policy must be told apart, and differs by {otherwise} only");
}

/// Three sites whose pages change at very different rates, from `start` on.
fn world(start: Moment, origin: Arc<OnceLock<TimeOrigin>>) -> Served {
    let drift = DriftSettings { never: 0.5, bursty: 0.0, changes_per_day_median: 12.0, ..DriftSettings::default() };
    let web = Web::new(WebSettings { origin: start, drift, ..WebSettings::plain(3, 20) }).unwrap();
    let hour = move || origin.get().map_or(start, |origin| origin.at(wall()));
    serve(&web, Arc::new(hour), &ServeOptions { spread_addresses: true, ..ServeOptions::default() }).unwrap()
}

fn settings(policy: &str) -> Settings {
    Settings {
        budget: BUDGET.parse().unwrap(),
        policy: policy.into(),
        refresh_min: REFRESH_MIN,
        per_site: PER_SITE,
        disk_free_min: DiskFreeMin { bytes: 0, share: 0.0 },
        ..Settings::default()
    }
}

fn open(data: &Path, settings: Settings, now: Moment) -> Crawler {
    let (repository, _) = Repository::open(data, vernal_repository::Settings::default(), now).unwrap();
    Crawler::open(repository, settings, now).unwrap()
}

/// Every page is held before anything changes, so that both crawls begin alike.
fn discover(served: &Served, data: &Path, now: Moment) {
    let mut crawler = open(data, Settings { once: true, ..settings(POLICY) }, now);
    let seeds = served.seeds().iter().map(|url| Seed::new(Url::parse(url).unwrap(), now)).collect();
    crawler.act(Act::AddSeeds(seeds), now).unwrap();
    let mut trial = Trial::new(served.web(), crawler, now, 1);
    assert_eq!(trial.run_until_idle(1_000_000).unwrap(), Paused::Idle);
    trial.close().unwrap();
}

fn simulate(served: &Served, data: &Path, start: Moment, policy: &str) -> VisitsByPage {
    let crawler = open(data, settings(policy), start);
    let mut trial = Trial::new(served.web(), crawler, start, 1).committing_every(Span::from_hours(1));
    trial.run_until(start + STRETCH).unwrap();
    let mut visits = VisitsByPage::new();
    for asked in trial.asked().iter().filter(|asked| !asked.robots) {
        *visits.entry(asked.url.clone()).or_default() += 1;
    }
    trial.close().unwrap();
    visits
}

/// The binary goes on with the same folder, whose time is from now on counted fast.
fn crawl(served: &Served, data: &Path, start: Moment, origin: &OnceLock<TimeOrigin>) -> VisitsByPage {
    let counted = TimeOrigin { moment: start, wall: wall(), scale: SCALE };
    open(data, Settings { time_origin: Some(counted), ..settings(POLICY) }, start).close(start).unwrap();
    origin.set(counted).unwrap();
    let mut command = vernal(data);
    command.args([
        "run",
        "--allow-private",
        "--no-serve",
        "--policy",
        POLICY,
        "--budget",
        BUDGET,
        "--refresh-min",
        "10m",
    ]);
    command.args(["--per-site", &PER_SITE.to_string(), "--time-scale", &SCALE.to_string()]);
    let running = Running::start(&mut command, data);
    let end = start + STRETCH;
    wait_until("the stretch is over", || counted.at(wall()) >= end);
    assert_eq!(running.stop(), Some(0));
    let mut visits = VisitsByPage::new();
    for asked in served.log().iter().filter(|asked| asked.path.as_ref() != "/robots.txt" && asked.started < end) {
        *visits.entry(format!("{}{}", served.web().root(asked.site), asked.path)).or_default() += 1;
    }
    visits
}

/// The share of visits that one crawl made and the other did not, as shares of all of its visits.
fn share_elsewhere(one: &VisitsByPage, other: &VisitsByPage) -> f64 {
    let sum = |visits: &VisitsByPage| f64::from(visits.values().sum::<u32>());
    let share = |visits: &VisitsByPage, page| f64::from(visits.get(page).copied().unwrap_or(0)) / sum(visits);
    let pages = one.keys().chain(other.keys().filter(|page| !one.contains_key(*page)));
    pages.map(|page| (share(one, page) - share(other, page)).abs()).sum::<f64>() / 2.0
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        match entry.file_type().unwrap() {
            kind if kind.is_dir() => copy(&entry.path(), &target),
            kind if kind.is_file() => drop(std::fs::copy(entry.path(), target).unwrap()),
            _ => {}
        }
    }
}
