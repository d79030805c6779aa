//! The whole crawler in a worse world: reports are lost, workers die, sites are slow, the clock steps. Nothing is lost,
//! no site is pressed, and one number replays it all.

#![allow(clippy::unwrap_used, reason = "the helpers of tests fail as tests do")]

use std::collections::BTreeSet;

use vernal_crawler::{Act, Crawler, Settings};
use vernal_frontier::audit;
use vernal_model::{PageState, Seed, Site, Span, Url};
use vernal_repository::Repository;
use vernal_simulator::trial::{Faults, StopReason, Trial, WebRequest};
use vernal_simulator::web::{Web, WebSettings};

const STEPS_MAX: usize = 2_000_000;

fn settings() -> Settings {
    Settings { once: true, concurrency: 32, ..Settings::default() }
}

fn bad() -> Faults {
    Faults {
        lost_reports: 0.05,
        worker_deaths_per_day: 2_000.0,
        slow_sites: 0.4,
        slow_factor: 50.0,
        clock_steps_per_day: 500.0,
        clock_step: Span::from_secs(40),
    }
}

struct End {
    asked: Vec<WebRequest>,
    held: BTreeSet<String>,
    failed: u64,
}

fn crawled(web: &Web, faults: Faults, chance: u64) -> End {
    let folder = tempfile::tempdir().unwrap();
    let now = web.settings().origin;
    let repository = vernal_repository::Settings { id: Some(7), ..vernal_repository::Settings::default() };
    let (repository, _) = Repository::open(folder.path(), repository, now).unwrap();
    let mut crawler = Crawler::open(repository, settings(), now).unwrap();
    let root = |site| Seed::new(Url::parse(&format!("{}/", web.root(site))).unwrap(), now);
    crawler.act(Act::AddSeeds((0..web.sites()).map(root).collect()), now).unwrap();
    let mut trial = Trial::new(web, crawler, now, chance).with_faults(faults);
    assert_eq!(trial.run_until_idle(STEPS_MAX).unwrap(), StopReason::Idle, "chance {chance}");
    let reader = trial.crawler().reader();
    let pages = reader.pages(None, usize::MAX).unwrap();
    let held = pages.iter().filter(|page| page.state == PageState::Held).map(|page| page.url.to_string()).collect();
    let failed = pages.iter().map(|page| u64::from(page.failures)).sum();
    End { asked: trial.asked().to_vec(), held, failed }
}

#[test]
fn nothing_is_lost_and_no_site_is_pressed_whatever_goes_wrong() {
    let web = Web::new(WebSettings::plain(4, 60).still()).unwrap();
    for chance in [1, 2, 3] {
        let end = crawled(&web, bad(), chance);
        for truth in web.truth().into_iter().filter(|truth| truth.must_be_held()) {
            assert!(end.held.contains(&truth.url), "chance {chance}: {} is lost ({} failures)", truth.url, end.failed);
        }
        let pages = end.asked.iter().filter(|asked| !asked.robots).count();
        assert!(pages > 240, "chance {chance}: something was asked again: {pages}");
        let visits = end.asked.iter().map(|asked| (Site::new(&asked.site), asked.started, asked.finished));
        let breaches = audit(visits, settings().delay, settings().per_site);
        assert!(breaches.is_empty(), "chance {chance}: {:?}", &breaches[..breaches.len().min(3)]);
    }
}

#[test]
fn one_number_replays_every_fault() {
    let web = Web::new(WebSettings::plain(3, 30).still()).unwrap();
    let (first, again, other) = (crawled(&web, bad(), 5), crawled(&web, bad(), 5), crawled(&web, bad(), 6));
    assert_eq!(first.asked, again.asked);
    assert_ne!(first.asked, other.asked);
}

#[test]
fn each_fault_alone_is_felt_and_survived() {
    let web = Web::new(WebSettings::plain(4, 60).still()).unwrap();
    let nothing = Faults::default();
    let all_held = |end: &End| {
        let truths = web.truth().into_iter().filter(|truth| truth.must_be_held());
        truths.into_iter().all(|truth| end.held.contains(&truth.url))
    };
    let lost = |end: &End| end.asked.iter().filter(|asked| asked.lost).count();
    let longest = |end: &End| end.asked.iter().map(|asked| asked.finished.since(asked.started)).max().unwrap();
    let length = |end: &End| end.asked.last().unwrap().started.since(end.asked[0].started);

    let well = crawled(&web, nothing, 9);
    assert!(all_held(&well) && lost(&well) == 0);
    let losing = crawled(&web, Faults { lost_reports: 0.1, ..nothing }, 9);
    assert!(all_held(&losing) && lost(&losing) > 10, "{}", lost(&losing));
    let slow = Faults { slow_sites: 0.5, slow_factor: 50.0, ..nothing };
    let waiting = crawled(&web, slow, 9);
    assert!(all_held(&waiting) && longest(&waiting) > longest(&well).scaled(10.0), "{}", longest(&waiting));
    // A worker dies with what it waits for, and the slower the sites the more that is.
    let dying = crawled(&web, Faults { worker_deaths_per_day: 20_000.0, ..slow }, 9);
    assert!(all_held(&dying) && lost(&waiting) == 0 && lost(&dying) > 2, "{}", lost(&dying));
    let stepping = Faults { clock_steps_per_day: 5_000.0, clock_step: Span::from_secs(600), ..nothing };
    let stepping = crawled(&web, stepping, 9);
    assert!(all_held(&stepping) && length(&stepping) > length(&well) + Span::from_secs(600));
}

#[test]
fn without_faults_a_trial_is_what_it_was() {
    let web = Web::new(WebSettings::plain(3, 30).still()).unwrap();
    let end = crawled(&web, Faults::default(), 5);
    assert_eq!(end.asked.len(), 3 * 30 + 3);
}
