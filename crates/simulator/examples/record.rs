//! What the whole crawler makes of fixed trials: one line for each, with a digest of every table, of every request and of the
//! feed. Two builds that print the same made the same choices. Run it before and after a change that must not change any:
//!
//! ```sh
//! cargo run --release -p vernal-simulator --example record
//! ```
//!
//! With a folder as argument, the tables and requests are written there too, so that two builds can be compared by `diff`.
//! Names of trials behind it choose among them.

use std::error::Error;
use std::path::{Path, PathBuf};

use vernal_crawler::{Act, Crawler, DiskFreeMin, GroupLimits, ImportanceBy, Settings};
use vernal_frontier::VisitOrder;
use vernal_model::{HintSource, Moment, Seed, Site, Span, Url};
use vernal_repository::Repository;
use vernal_simulator::drift::DriftSettings;
use vernal_simulator::trial::{Faults, Trial};
use vernal_simulator::web::{SitemapManner, Web, WebSettings};
use xxhash_rust::xxh3::xxh3_64;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

fn main() -> Result<()> {
    let out = std::env::args().nth(1).map(PathBuf::from);
    let daily = |policy: &str| Settings {
        policy: policy.into(),
        budget: "20%/day".parse().expect("a budget"),
        ..Settings::default()
    };
    let once = Settings { once: true, concurrency: 32, ..Settings::default() };
    let small = GroupLimits { visits: 1, bytes: 1 };
    let full = Settings { pages_max: 120, importance: ImportanceBy::Links, ..daily("vernal") };
    let topics = Settings { topics_every: Some(Span::from_days(3)), ..daily("correlated") };
    let hints = Settings { hints: true, ..daily("vernal") };
    let bytes = Settings { budget: "3MB/day".parse()?, ..daily("vernal") };
    let trials: Vec<(&str, Web, Settings, u64)> = vec![
        ("once", realistic(1), once.clone(), 3),
        ("once-small-groups", realistic(1), Settings { group: small, ..once.clone() }, 3),
        ("once-hints", with_sitemaps(2), Settings { hints: true, ..once }, 3),
        ("vernal", realistic(2), daily("vernal"), 25),
        ("vernal-visits", realistic(3), Settings { budget: "100/day".parse()?, ..daily("vernal") }, 20),
        ("vernal-bytes", realistic(3), bytes, 20),
        ("vernal-few-noise-books", realistic(4), Settings { noise_books_max: 2, ..daily("vernal") }, 20),
        ("refresh-time", realistic(5), daily("refresh-time"), 25),
        ("round-robin-hostile", hostile(1), daily("round-robin"), 12),
        ("collection", realistic(6), full.clone(), 25),
        ("collection-by-importance", realistic(6), Settings { visit_order: VisitOrder::Importance, ..full }, 20),
        ("topics", realistic(7), topics.clone(), 20),
        ("topics-vernal", realistic(7), Settings { policy: "vernal".into(), ..topics }, 20),
        ("hints", with_sitemaps(8), hints.clone(), 30),
        ("hints-round-robin", with_sitemaps(8), Settings { policy: "round-robin".into(), ..hints }, 20),
        ("hybrid", realistic(9), daily("hybrid"), 20),
    ];
    let chosen: Vec<String> = std::env::args().skip(2).collect();
    let is_chosen = |name: &str| chosen.is_empty() || chosen.iter().any(|chosen| chosen == name);
    for (name, web, settings, days) in trials.iter().filter(|trial| is_chosen(trial.0)) {
        let folder = tempfile::tempdir()?;
        let told = record(web, folder.path(), settings, *days)?;
        println!("{name} tables {:016x} requests {:016x} {}", xxh3_64(&told.0), xxh3_64(&told.1), told.2);
        if let Some(out) = &out {
            std::fs::create_dir_all(out)?;
            std::fs::write(out.join(format!("{name}.tables")), &told.0)?;
            std::fs::write(out.join(format!("{name}.requests")), &told.1)?;
        }
    }
    Ok(())
}

fn realistic(chance: u64) -> Web {
    Web::new(WebSettings { chance, ..WebSettings::realistic(5, 50) }).expect("settings of a web")
}

fn hostile(chance: u64) -> Web {
    Web::new(WebSettings { chance, ..WebSettings::hostile(4, 40) }).expect("settings of a web")
}

fn with_sitemaps(chance: u64) -> Web {
    let drift = DriftSettings { bursty: 0.0, ..DriftSettings::default() };
    let settings = WebSettings { chance, sitemaps: SitemapManner::Partly, drift, ..WebSettings::realistic(4, 50) };
    Web::new(settings).expect("settings of a web")
}

/// One trial with faults, acts of people in its midst, and a restart: its tables, its requests, and its last words.
fn record(web: &Web, folder: &Path, settings: &Settings, days: u64) -> Result<(Vec<u8>, Vec<u8>, String)> {
    let start = web.settings().origin + Span::from_days(1);
    let mut crawler = opened(folder, settings, start)?;
    let root = |site: usize| Url::parse(&format!("{}/", web.root(site)));
    let seeds = (0..web.sites() - 1).map(|site| Ok(Seed::new(root(site)?, start)));
    crawler.act(Act::AddSeeds(seeds.collect::<Result<_>>()?), start)?;
    let faults = Faults { lost_reports: 0.002, slow_sites: 0.2, slow_factor: 20.0, ..Faults::default() };
    let mut requests = Vec::new();
    let mut trial = Trial::new(web, crawler, start, 7).with_faults(faults);
    let half = start + Span::from_hours(12 * days);
    trial.run_until(half)?;
    let site = root(1)?.site();
    let now = trial.now();
    let late = Seed { weight: 2.0, ..Seed::new(root(web.sites() - 1)?, now) };
    trial.crawler().act(Act::AddSeeds(vec![late]), now)?;
    trial.crawler().act(Act::Pause(Some(site.clone())), now)?;
    trial.crawler().act(Act::Hint { source: HintSource::IndexNow, urls: vec![root(0)?] }, now)?;
    trial.run_until(half + Span::from_hours(30))?;
    let now = trial.now();
    trial.crawler().act(Act::Resume(Some(site)), now)?;
    note(&trial, &mut requests);
    trial.close()?;
    let now = now + Span::from_secs(300);
    let mut trial = Trial::new(web, opened(folder, settings, now)?, now, 8);
    trial.run_until(start + Span::from_days(days))?;
    note(&trial, &mut requests);
    let now = trial.now();
    trial.crawler().commit(now)?;
    let why = trial.crawler().why(&root(0)?, now)?;
    let check = trial.crawler().check(&root(0)?, now)?;
    requests.extend(format!("{why:?}\n{check:?}\n{:?}\n", trial.crawler().promises_kept(now)).into_bytes());
    let mut tables = Vec::new();
    let reader = trial.crawler().reader();
    reader.dump(&mut tables)?;
    let totals = reader.totals();
    let words =
        format!("held {} visits {} versions {} events {}", totals.held, totals.visits, totals.versions, totals.events);
    Ok((tables, requests, words))
}

fn opened(folder: &Path, settings: &Settings, now: Moment) -> Result<Crawler> {
    let fixed = vernal_repository::Settings { id: Some(7), ..vernal_repository::Settings::default() };
    let (repository, _) = Repository::open(folder, fixed, now)?;
    let settings = Settings { disk_free_min: DiskFreeMin::NOTHING, ..settings.clone() };
    Ok(Crawler::open(repository, settings, now)?)
}

fn note(trial: &Trial<'_>, requests: &mut Vec<u8>) {
    for asked in trial.asked() {
        let site = Site::new(&asked.site);
        let line = format!("{site} {} {} {:?} {}\n", asked.url, asked.started, asked.status, asked.conditional);
        requests.extend(line.into_bytes());
    }
}
