//! Live equals simulated: one world, one state of the copy, two drivers of the same crawler. The binary crawls the served web
//! in fast time; the simulator crawls it in virtual time; both must spend their visits on the same pages, up to what the order
//! of answers makes of it. How much that is, simulated crawls tell among themselves: `vernal` makes much of little, and
//! when a page is met some minutes later, another site of the same kind may be thought to be in a busy hour.

#![allow(clippy::unwrap_used, reason = "the helpers of tests fail as tests do")]

mod common;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use common::{HOUR, Running, vernal, wait_until, wall};
use vernal_crawler::{Act, Crawler, DiskFreeMin, Settings};
use vernal_model::{Moment, Seed, Span, TimeOrigin, Url};
use vernal_repository::Repository;
use vernal_simulator::drift::DriftSettings;
use vernal_simulator::serve::{ServeOptions, Served, serve};
use vernal_simulator::trial::{Faults, StopReason, Trial};
use vernal_simulator::web::{Web, WebSettings};

/// One real second of the live crawl.
const SCALE: f64 = 10_000.0;
const POLICY: &str = "vernal";
const BUDGET: &str = "600%/day";
/// A busy machine answers late: then a site is asked for more than one page at a time, in both crawls.
const PER_SITE: u16 = 8;
const REFRESH_MIN: Span = Span::from_secs(600);
/// What is compared.
const STRETCH: Span = Span::from_hours(60);
/// Simulated crawls, which differ in when they begin and in when answers come.
const SIMULATED: u64 = 12;
/// A process takes a part of a second to begin: in fast time, up to an hour. Each simulated crawl begins so much later than the
/// one before it.
const LATER_SECS: u64 = 240;
/// An answer takes so many times as long as in other trials, which is about what a real network takes in fast time.
const SLOWER: f64 = 1_000.0;
/// The live crawl may differ from the simulated ones so many times as much as each of them does from the others; other
/// policies must differ more.
const APART_MAX: f64 = 1.75;
const OTHERS: [&str; 2] = ["round-robin", "lambda"];
const OTHER_CRAWLS: u64 = 4;

type VisitsByPage = BTreeMap<String, u32>;

#[test]
fn the_live_crawl_spends_its_visits_where_the_simulated_one_does() {
    let folder = tempfile::tempdir().unwrap();
    let [held, live] = ["held", "live"].map(|name| folder.path().join(name));
    let start = HOUR + Span::from_hours(12);
    let origin: Arc<OnceLock<TimeOrigin>> = Arc::default();
    let served = world(start, Arc::clone(&origin));
    discover(&served, &held, HOUR);
    copy(&held, &live);

    let in_virtual_time = |policy: &str, chance: u64| {
        let data = folder.path().join(format!("{policy}-{chance}"));
        copy(&held, &data);
        simulate(&served, &data, start, policy, chance)
    };
    let simulated = simulated_side_by_side(&in_virtual_time);
    let in_fast_time = crawl(&served, &live, start, &origin);

    let others =
        |at: usize| together(simulated.iter().enumerate().filter(|(other, _)| *other != at).map(|(_, one)| one));
    let apart = simulated.iter().enumerate().map(|(at, one)| share_elsewhere(one, &others(at)));
    let among = apart.sum::<f64>() / SIMULATED as f64;
    let from_simulated = |visits: &VisitsByPage| share_elsewhere(visits, &together(&simulated));
    let elsewhere = from_simulated(&in_fast_time);
    println!("live: {elsewhere} of the visits went elsewhere, {among} among simulated crawls");
    assert!(
        elsewhere <= APART_MAX * among,
        "{elsewhere} of the visits went elsewhere, and {among} among simulated crawls"
    );
    for other in OTHERS {
        // One crawl of another policy differs by some hundredths from the next: the mean of a few is held against the limit.
        let otherwise = (0..OTHER_CRAWLS).map(|chance| from_simulated(&in_virtual_time(other, chance))).sum::<f64>();
        let otherwise = otherwise / OTHER_CRAWLS as f64;
        assert!(otherwise > APART_MAX * among, "{other} must be told apart, and differs by {otherwise} for {among}");
    }
}

/// The simulated crawls, two at a time; they end before the live one begins, which must not be slowed down by them.
fn simulated_side_by_side(in_virtual_time: &(impl Fn(&str, u64) -> VisitsByPage + Sync)) -> Vec<VisitsByPage> {
    let half = |chances: std::ops::Range<u64>| move || chances.map(|chance| in_virtual_time(POLICY, chance)).collect();
    std::thread::scope(|scope| {
        let first = scope.spawn(half(0..SIMULATED / 2));
        let mut all: Vec<VisitsByPage> = half(SIMULATED / 2..SIMULATED)();
        all.splice(0..0, first.join().unwrap());
        all
    })
}

/// Sites whose pages change at very different rates, from `start` on.
fn world(start: Moment, origin: Arc<OnceLock<TimeOrigin>>) -> Served {
    let drift = DriftSettings { never: 0.5, bursty: 0.0, changes_per_day_median: 12.0, ..DriftSettings::default() };
    let web = Web::new(WebSettings { origin: start, drift, ..WebSettings::plain(8, 40) }).unwrap();
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
    assert_eq!(trial.run_until_idle(1_000_000).unwrap(), StopReason::Idle);
    trial.close().unwrap();
}

fn simulate(served: &Served, data: &Path, start: Moment, policy: &str, chance: u64) -> VisitsByPage {
    let begins = start + Span::from_secs(LATER_SECS * chance);
    // Its time is as fast as that of the live crawl, so that a site which takes a minute of it is no slow one.
    let counted = TimeOrigin { moment: begins, wall: begins, scale: SCALE };
    let crawler = open(data, Settings { time_origin: Some(counted), ..settings(policy) }, begins);
    let network = Faults { slow_sites: 1.0, slow_factor: SLOWER, ..Faults::default() };
    let trial = Trial::new(served.web(), crawler, begins, chance).with_faults(network);
    let mut trial = trial.committing_every(Span::from_hours(1));
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

/// The visits of several crawls as if one had made them.
fn together<'a>(crawls: impl IntoIterator<Item = &'a VisitsByPage>) -> VisitsByPage {
    let mut all = VisitsByPage::new();
    for (page, visits) in crawls.into_iter().flatten() {
        *all.entry(page.clone()).or_default() += visits;
    }
    all
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
