//! The ring turns: whole crawls of the invented web in virtual time, with the web's own truth as the judge.

#![allow(clippy::unwrap_used, reason = "the helpers of tests fail as tests do")]

mod invented;
mod small_web;

use std::collections::{BTreeMap, BTreeSet};

use invented::{opened, seeded};
use vernal_crawler::{Act, Settings};
use vernal_frontier::{VisitOrder, audit};
use vernal_model::{Chance, Moment, Page, PageState, Seed, Site, Span, Url};
use vernal_repository::Reader;
use vernal_simulator::drift::DriftSettings;
use vernal_simulator::trial::{StopReason, Trial, WebRequest};
use vernal_simulator::web::{Shares, Web, WebSettings};

/// More steps than any of these crawls needs.
const STEPS_MAX: usize = 2_000_000;

/// Pages within the traps of one site that a crawl may hold before it has understood them: 240 months of a calendar, and
/// searches, mirrors and ever-deeper paths until their sameness shows.
const TRAP_PAGES_PER_SITE_MAX: usize = 900;

fn settings() -> Settings {
    Settings { once: true, concurrency: 32, ..Settings::default() }
}

fn pages(reader: &Reader) -> Vec<Page> {
    reader.pages(None, usize::MAX).unwrap()
}

fn held(reader: &Reader) -> BTreeSet<String> {
    let held = pages(reader).into_iter().filter(|page| page.state == PageState::Held);
    held.map(|page| page.url.to_string()).collect()
}

/// What must be equal at the end of two crawls of one web: held URLs, payloads, links, outcomes and the known set.
fn end_of(reader: &Reader) -> BTreeMap<String, String> {
    let end = |page: Page| {
        let links = reader.document(page.key).unwrap().map(|document| document.links);
        let payload = page.version.map(|version| version.payload);
        (page.url.to_string(), format!("{:?} {:?} {payload:?} {links:?}", page.state, page.last_outcome.name()))
    };
    pages(reader).into_iter().map(end).collect()
}

fn assert_polite(trial: &Trial<'_>, settings: &Settings) {
    let visits = trial.asked().iter().map(|asked| (Site::new(&asked.site), asked.started, asked.finished));
    let breaches = audit(visits, settings.delay, settings.per_site);
    assert!(breaches.is_empty(), "{:?}", &breaches[..breaches.len().min(3)]);
}

#[test]
fn every_reachable_allowed_page_is_held_and_nothing_forbidden_is_asked() {
    for chance in [1, 2, 3] {
        let web = Web::new(WebSettings { chance, ..WebSettings::realistic(6, 60) }.still()).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let start = web.settings().origin + Span::from_days(1);
        let mut trial = Trial::new(&web, seeded(&web, folder.path(), settings(), start), start, chance);
        assert_eq!(trial.run_until_idle(STEPS_MAX).unwrap(), StopReason::Idle);
        assert_polite(&trial, &settings());
        let held = held(&trial.crawler().reader());
        let asked: BTreeSet<&str> = trial.asked().iter().map(|asked| asked.url.as_str()).collect();
        for truth in web.truth() {
            if truth.must_be_held() {
                assert!(held.contains(&truth.url), "chance {chance}: {} ({:?}) is not held", truth.url, truth.class);
            }
            if !truth.allowed {
                assert!(!asked.contains(truth.url.as_str()), "chance {chance}: {} is forbidden", truth.url);
            }
        }
        let listed: BTreeSet<String> = web.truth().into_iter().map(|truth| truth.url).collect();
        let mut trap_pages: BTreeMap<&str, usize> = BTreeMap::new();
        for url in held.difference(&listed) {
            *trap_pages.entry(url.split('/').nth(2).unwrap_or("")).or_default() += 1;
        }
        let most = trap_pages.values().max().copied().unwrap_or(0);
        assert!(most < TRAP_PAGES_PER_SITE_MAX, "chance {chance}: pages of traps: {trap_pages:?}");
    }
}

#[test]
fn each_page_is_asked_for_once_when_nothing_fails() {
    let web = Web::new(WebSettings::plain(4, 80).still()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let start = web.settings().origin;
    let mut trial = Trial::new(&web, seeded(&web, folder.path(), settings(), start), start, 1);
    assert_eq!(trial.run_until_idle(STEPS_MAX).unwrap(), StopReason::Idle);
    let mut urls: Vec<&str> = trial.asked().iter().map(|asked| asked.url.as_str()).collect();
    let all = urls.len();
    urls.sort_unstable();
    urls.dedup();
    assert_eq!(urls.len(), all, "none twice");
    assert_eq!(all, 4 * 80 + 4, "every page and one robots.txt per site");
    assert_eq!(held(&trial.crawler().reader()).len(), 4 * 80);
}

/// The first visits of each site, in their order: depth, when it was admitted, when it was asked for.
fn first_visits(trial: &mut Trial<'_>) -> BTreeMap<String, Vec<(u16, Moment, Moment)>> {
    let pages = pages(&trial.crawler().reader());
    let by_url: BTreeMap<&str, &Page> = pages.iter().map(|page| (page.url.as_str(), page)).collect();
    let mut sites: BTreeMap<String, Vec<(u16, Moment, Moment)>> = BTreeMap::new();
    for asked in trial.asked().iter().filter(|asked| !asked.robots) {
        let Some(page) = by_url.get(asked.url.as_str()) else { continue };
        sites.entry(asked.site.clone()).or_default().push((page.depth, page.admitted, asked.started));
    }
    sites
}

/// How often a page was asked for while one of its site with fewer links from the seed had been admitted and was not asked
/// for yet.
fn overtakings(trial: &mut Trial<'_>) -> usize {
    let overtaken = |visits: &[(u16, Moment, Moment)]| {
        let before = |at: usize| {
            let (depth, _, started) = visits[at];
            visits[at + 1..].iter().any(|&(later, admitted, _)| later < depth && admitted < started)
        };
        (0..visits.len()).filter(|&at| before(at)).count()
    };
    first_visits(trial).values().map(|visits| overtaken(visits)).sum()
}

/// The paper's order draws from all three lists, so there it does happen.
#[test]
fn breadth_first_no_page_is_asked_for_before_one_of_its_site_that_is_nearer_to_the_seed() {
    let crawled = |visit_order: VisitOrder| {
        let web = Web::new(WebSettings::plain(3, 600).still()).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let start = web.settings().origin;
        let settings = Settings { visit_order, ..settings() };
        let mut trial = Trial::new(&web, seeded(&web, folder.path(), settings, start), start, 1);
        assert_eq!(trial.run_until_idle(STEPS_MAX).unwrap(), StopReason::Idle);
        let deepest = first_visits(&mut trial).values().flatten().map(|&(depth, ..)| depth).max();
        assert!(deepest >= Some(3), "{deepest:?}");
        overtakings(&mut trial)
    };
    assert_eq!(crawled(VisitOrder::BreadthFirst), 0);
    assert!(crawled(VisitOrder::Paper) > 0);
}

#[test]
fn a_second_pass_over_an_unchanged_web_asks_with_conditions_and_keeps_no_second_body() {
    let web = Web::new(WebSettings::plain(3, 50).still()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let start = web.settings().origin;
    let mut first = Trial::new(&web, seeded(&web, folder.path(), settings(), start), start, 1);
    first.run_until_idle(STEPS_MAX).unwrap();
    let (now, before) = (first.now(), first.crawler().reader().totals());
    first.close().unwrap();

    let again = Settings { refresh_min: Span::ZERO, budget: "1000000/s".parse().unwrap(), ..settings() };
    let now = now + Span::from_hours(1);
    let mut second = Trial::new(&web, opened(folder.path(), again, now), now, 2);
    assert_eq!(second.run_until_idle(STEPS_MAX).unwrap(), StopReason::Idle);
    let pages_asked: Vec<_> = second.asked().iter().filter(|asked| !asked.robots).collect();
    assert_eq!(pages_asked.len(), 150, "every held page once");
    assert!(pages_asked.iter().all(|asked| asked.conditional && asked.status == Some(304)));
    let after = second.crawler().reader().totals();
    assert_eq!((after.versions, after.changes, after.events), (before.versions, before.changes, before.events));
}

#[test]
fn the_same_chance_number_gives_the_same_repository() {
    let dump = || {
        let web = Web::new(WebSettings::realistic(3, 30)).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let start = web.settings().origin + Span::from_days(3);
        let mut trial = Trial::new(&web, seeded(&web, folder.path(), settings(), start), start, 7);
        trial.run_until_idle(STEPS_MAX).unwrap();
        let mut text = Vec::new();
        trial.crawler().reader().dump(&mut text).unwrap();
        text
    };
    assert!(dump() == dump());
}

/// Kills the crawler at random steps; `rounds` kills, then an uninterrupted end.
fn end_after_kills(web: &Web, rounds: usize, chance: u64) -> (BTreeMap<String, String>, u64) {
    let folder = tempfile::tempdir().unwrap();
    let start = web.settings().origin;
    let mut now = start;
    let mut chance = Chance::new(chance).stream("kills");
    let mut acknowledged: BTreeSet<String> = BTreeSet::new();
    let mut starts: BTreeMap<String, Moment> = BTreeMap::new();
    for round in 0..=rounds {
        let crawler = if round == 0 {
            seeded(web, folder.path(), settings(), now)
        } else {
            opened(folder.path(), settings(), now)
        };
        let here = held(&crawler.reader());
        assert!(acknowledged.is_subset(&here), "round {round} lost {:?}", acknowledged.difference(&here).next());
        let mut trial = Trial::new(web, crawler, now, chance.bits());
        let steps = if round == rounds { STEPS_MAX } else { chance.below(120) as usize };
        trial.run_until_idle(steps).unwrap();
        for asked in trial.asked() {
            let last = starts.insert(asked.site.clone(), asked.started);
            let gap = last.map(|last| asked.started.since(last));
            assert!(gap.is_none_or(|gap| gap >= settings().delay), "round {round}: {} after {gap:?}", asked.url);
        }
        acknowledged = held(&trial.crawler().reader());
        now = trial.now() + Span::from_millis(chance.below(500));
        if round == rounds {
            let reader = trial.crawler().reader();
            return (end_of(&reader), reader.totals().known);
        }
        // Dropped where it stands: what was not committed is lost, as at a kill.
    }
    unreachable!("the last round returns")
}

#[test]
fn a_crawl_killed_at_random_steps_ends_like_one_that_was_not() {
    let web = Web::new(WebSettings::plain(5, 60).still()).unwrap();
    let whole = end_after_kills(&web, 0, 1);
    for chance in [11, 12] {
        let broken = end_after_kills(&web, 25, chance);
        assert_eq!(broken.1, whole.1, "the known set, chance {chance}");
        assert!(broken.0 == whole.0, "pages, payloads, links and outcomes, chance {chance}");
    }
}

#[test]
fn a_budget_bounds_every_request_and_held_pages_are_visited_again() {
    let web = Web::new(WebSettings::plain(3, 40)).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let start = web.settings().origin;
    let budget = Settings { budget: "240/day".parse().unwrap(), once: false, ..Settings::default() };
    let mut trial = Trial::new(&web, seeded(&web, folder.path(), budget, start), start, 1);
    trial.run_until(start + Span::from_days(5)).unwrap();
    let requests = trial.asked().len() as f64;
    let purse = 240.0 / 24.0;
    assert!(requests <= 5.0 * 240.0 + purse + 1.0, "{requests} requests");
    assert!(requests >= 5.0 * 240.0 * 0.95, "the budget is spent, not only kept: {requests}");
    let reader = trial.crawler().reader();
    assert_eq!(held(&reader).len(), 120);
    // Once round takes 120 pages at 240 a day; the split with discovery doubles that at most.
    let oldest = pages(&reader).iter().map(|page| page.last_visit).min().unwrap();
    assert!(trial.now().since(oldest) <= Span::from_days(1), "no page is starved: {oldest}");
    assert!(reader.totals().changes > 0);
}

#[test]
fn with_one_visit_in_hand_one_robots_txt_is_asked_for_at_a_time() {
    // More sites than visits in a day, and all their robots.txt become too old together.
    let web = Web::new(WebSettings::plain(40, 5).still()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let start = web.settings().origin;
    let settings = Settings { budget: "5%/day".parse().unwrap(), ..Settings::default() };
    let mut trial = Trial::new(&web, seeded(&web, folder.path(), settings, start), start, 1);
    trial.run_until(start + Span::from_days(4)).unwrap();
    let later = trial.asked().iter().filter(|asked| asked.started > start + Span::from_days(1));
    let (robots, pages): (Vec<_>, Vec<_>) = later.partition(|asked| asked.robots);
    assert!(robots.len() > 20 && pages.len() > 20, "{} robots.txt and {} pages", robots.len(), pages.len());
    for two in robots.windows(2) {
        assert!(two[0].finished < two[1].started, "{two:?}");
    }
}

#[test]
fn a_robots_txt_that_was_asked_for_is_followed_by_a_visit_to_its_site() {
    // More sites than visits in a day, so that nearly every visit needs a robots.txt that became too old.
    for policy in ["round-robin", "vernal"] {
        let web = Web::new(WebSettings::plain(40, 5).still()).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let start = web.settings().origin;
        let settings = Settings { budget: "5%/day".parse().unwrap(), policy: policy.into(), ..Settings::default() };
        let mut trial = Trial::new(&web, seeded(&web, folder.path(), settings, start), start, 1);
        trial.run_until(start + Span::from_days(8)).unwrap();
        let later: Vec<_> = trial.asked().iter().filter(|asked| asked.started > start + Span::from_days(1)).collect();
        let robots = later.iter().filter(|asked| asked.robots).count();
        let is_unused = |next: &&[&WebRequest]| {
            next[0].robots && !next[1..].iter().any(|asked| !asked.robots && asked.site == next[0].site)
        };
        let unused = later.windows(4).filter(is_unused).count();
        assert!(robots > 40 && 2 * robots <= later.len() + 1, "{policy}: {robots} robots.txt of {}", later.len());
        // Samples, second looks and retries have turns of their own: one of them, with a robots.txt of its own, may come in between.
        assert_eq!(unused, 0, "{policy}: of {robots}");
    }
}

#[test]
fn limits_bound_what_is_held_and_what_is_beyond_them_waits() {
    let web = Web::new(WebSettings::plain(3, 60).still()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let start = web.settings().origin;
    let few = Settings { per_site_pages_max: Some(7), pages_max: 17, ..settings() };
    let mut trial = Trial::new(&web, seeded(&web, folder.path(), few, start), start, 1);
    assert_eq!(trial.run_until_idle(STEPS_MAX).unwrap(), StopReason::Idle);
    assert_eq!(held(&trial.crawler().reader()).len(), 17, "two sites have their seven, the third has the rest");
    assert!(trial.crawler().reader().totals().waiting > 0);
    let now = trial.now() + Span::from_secs(5);
    trial.close().unwrap();

    let mut more = Trial::new(&web, opened(folder.path(), settings(), now), now, 2);
    assert_eq!(more.run_until_idle(STEPS_MAX).unwrap(), StopReason::Idle);
    assert_eq!(held(&more.crawler().reader()).len(), 180, "nothing was barred by the limits");
}

#[test]
fn limits_hold_where_pages_fail_and_no_page_is_first_visited_twice() {
    let share = Shares { missing: 0.2, server_error: 0.1, busy: 0.1, ..Shares::none() };
    let web = Web::new(WebSettings { share, ..WebSettings::plain(4, 60) }.still()).unwrap();
    for (chance, per_site) in [(1, 5), (2, 9), (3, 23)] {
        let folder = tempfile::tempdir().unwrap();
        let start = web.settings().origin;
        let few = Settings { per_site_pages_max: Some(per_site), pages_max: 60, ..settings() };
        let mut trial = Trial::new(&web, seeded(&web, folder.path(), few, start), start, chance);
        assert_eq!(trial.run_until_idle(STEPS_MAX).unwrap(), StopReason::Idle);
        let reader = trial.crawler().reader();
        let totals = reader.totals();
        let mut per_site_held: BTreeMap<String, u64> = BTreeMap::new();
        for page in pages(&reader).iter().filter(|page| page.state == PageState::Held) {
            *per_site_held.entry(page.url.site_text().to_owned()).or_default() += 1;
            assert_eq!(page.version.map(|version| version.number), Some(1), "{}", page.url);
        }
        assert!(per_site_held.values().all(|&held| held <= per_site), "{per_site_held:?}");
        assert!(totals.held <= 60 && totals.held == per_site_held.values().sum::<u64>(), "each is counted once");
        let waiting = totals.known - totals.barred - pages(&reader).len() as u64;
        assert_eq!(totals.waiting, waiting, "what is known was visited or waits");
    }
}

#[test]
fn a_page_that_was_refused_is_tried_again_by_the_next_process() {
    let web = Web::new(WebSettings::plain(1, 5).still()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let start = web.settings().origin;
    let nowhere = Web::new(WebSettings::plain(1, 5).still()).unwrap().rooted(vec!["http://elsewhere.example".into()]);
    // The first process meets a web in which the site has no name: its robots.txt cannot be had.
    let mut first = Trial::new(&nowhere, seeded(&web, folder.path(), settings(), start), start, 1);
    assert_eq!(first.run_until_idle(STEPS_MAX).unwrap(), StopReason::Idle);
    assert_eq!(first.crawler().reader().totals().waiting, 1, "a crawl that ends by itself does not wait for it");
    first.run_until(start + Span::from_secs(600)).unwrap();
    assert_eq!(first.crawler().reader().totals().refused, 1);
    let now = first.now() + Span::from_secs(5);
    first.close().unwrap();
    let mut second = Trial::new(&web, opened(folder.path(), settings(), now), now, 2);
    assert_eq!(second.run_until_idle(STEPS_MAX).unwrap(), StopReason::Idle);
    assert_eq!(held(&second.crawler().reader()).len(), 5);
}

/// The share of the held pages that are as the web has them now.
fn true_freshness(web: &Web, reader: &Reader, now: Moment) -> f64 {
    let visited: BTreeMap<String, Moment> =
        pages(reader).into_iter().map(|page| (page.url.to_string(), page.last_visit)).collect();
    let fresh = web.truth().into_iter().filter_map(|truth| {
        let visited = *visited.get(&truth.url)?;
        Some(web.drift().last(truth.page, now).is_none_or(|changed| changed <= visited))
    });
    let fresh: Vec<bool> = fresh.collect();
    fresh.iter().filter(|&&fresh| fresh).count() as f64 / fresh.len() as f64
}

#[test]
fn samples_drawn_by_chance_measure_the_freshness_that_is_true() {
    let web = Web::new(WebSettings { drift: DriftSettings::independent(0.4), ..WebSettings::plain(3, 40) }).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let start = web.settings().origin;
    let often = Settings { budget: "100%/day".parse().unwrap(), once: false, ..Settings::default() };
    let crawler = seeded(&web, folder.path(), often, start);
    let mut trial = Trial::new(&web, crawler, start, 3).committing_every(Span::from_hours(1));
    let (days, mut sum) = (100, 0.0);
    for day in 1..=days {
        trial.run_until(start + Span::from_days(day)).unwrap();
        sum += true_freshness(&web, &trial.crawler().reader(), trial.now());
    }
    let measured = trial.crawler().pulse().measured.unwrap();
    assert!(measured.samples > 150, "{measured:?}");
    // One in fifty, and none for hours in which nothing is visited.
    let asked = trial.asked().len() as u32;
    assert!(measured.samples <= asked / 50 + 1, "{measured:?} of {asked} requests");
    let share = f64::from(measured.fresh) / f64::from(measured.samples);
    let truth = sum / days as f64;
    assert!((share - truth).abs() < 0.1, "measured {share:.3} of {}, true {truth:.3}", measured.samples);
    assert!((0.6..0.95).contains(&truth), "{truth}");
}

#[test]
fn a_crawl_that_was_only_opened_says_whether_pages_may_be_abandoned() {
    let web = Web::new(WebSettings::plain(1, 10).still()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let start = web.settings().origin;
    let policy = || Settings { policy: "vernal".into(), ..settings() };
    let mut trial = Trial::new(&web, seeded(&web, folder.path(), policy(), start), start, 1);
    trial.run_until(start + Span::from_days(2)).unwrap();
    let (page, now) = (Url::parse(&format!("{}/", web.root(0))).unwrap(), trial.now());
    trial.close().unwrap();
    for abandon in [true, false] {
        let mut crawler = opened(folder.path(), Settings { abandon, ..policy() }, now);
        let why = crawler.why(&page, now).unwrap().unwrap();
        let due = &why.iter().find(|(name, _)| name == "due").unwrap().1;
        assert_eq!(due.contains("may be abandoned"), abandon, "{due}");
    }
}

#[test]
fn an_address_that_was_met_before_keeps_its_limits_from_the_first_request_of_a_new_process_on() {
    let web = Web::new(WebSettings::plain(60, 8).still()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let (mut now, address) = (web.settings().origin, "192.0.2.1".parse().unwrap());
    let mut first = Trial::new(&web, seeded(&web, folder.path(), settings(), now), now, 1).behind(address);
    first.run_until(now + Span::from_secs(6)).unwrap();
    now = first.now() + Span::from_secs(1);
    drop(first);
    let again = Settings { concurrency: 64, ..settings() };
    let mut second = Trial::new(&web, opened(folder.path(), again.clone(), now), now, 2).behind(address);
    assert_eq!(second.run_until_idle(STEPS_MAX).unwrap(), StopReason::Idle);
    assert_eq!(held(&second.crawler().reader()).len(), 480);
    let asked = second.asked();
    for one in asked {
        let second = asked.iter().filter(|other| other.started >= one.started);
        let starts = second.filter(|other| other.started.since(one.started) < Span::from_secs(1)).count();
        let under_way = asked.iter().filter(|other| other.started <= one.started && other.finished > one.started);
        assert!(starts as f64 <= again.address.per_second, "{starts} starts in the second from {}", one.started);
        assert!(under_way.count() <= again.address.at_once as usize);
    }
}

#[test]
fn back_link_counts_are_those_of_the_held_pages_however_links_and_pages_come_and_go() {
    let share = Shares { missing: 0.05, busy: 0.05, ..Shares::none() };
    let web = Web::new(WebSettings { share, ..WebSettings::plain(4, 60) }).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let start = web.settings().origin;
    let often = Settings { budget: "1200/day".parse().unwrap(), once: false, ..Settings::default() };
    let mut trial = Trial::new(&web, seeded(&web, folder.path(), often, start), start, 3);
    for day in [2, 4, 7] {
        trial.run_until(start + Span::from_days(day)).unwrap();
        while trial.crawler().reader().totals().found_pending > 0 || trial.crawler().has_uncommitted() {
            let next = trial.now() + Span::from_secs(1);
            trial.run_until(next).unwrap();
        }
        let reader = trial.crawler().reader();
        let mut counts: BTreeMap<(u8, u64), u32> = BTreeMap::new();
        for page in pages(&reader).iter().filter(|page| page.state == PageState::Held) {
            for link in reader.document(page.key).unwrap().map(|row| row.links).unwrap_or_default() {
                if let Some(partition) = link.counted.partition() {
                    *counts.entry((partition.0, link.target.0)).or_default() += 1;
                }
            }
        }
        assert!(counts.values().any(|&count| count > 1) && reader.totals().changes > 0);
        for page in pages(&reader) {
            let expected = counts.get(&(page.key.partition.0, page.url.fingerprint().0)).copied().unwrap_or(0);
            let known = reader.key_of(&page.url).unwrap().unwrap();
            assert_eq!(known.back_links, expected, "day {day}: {}", page.url);
        }
    }
}

#[test]
fn sites_that_cannot_be_asked_for_a_while_do_not_starve_the_others_of_their_partition() {
    let root = "http://well.example.org";
    let web = Web::new(WebSettings::plain(1, 20).still()).unwrap().rooted(vec![root.into()]);
    let folder = tempfile::tempdir().unwrap();
    let start = web.settings().origin;
    let mut trial = Trial::new(&web, opened(folder.path(), settings(), start), start, 1);
    // More URLs than one window takes, all on sites that nobody can reach.
    let dead = |n: usize| Seed::new(Url::parse(&format!("http://dead{}.example.org/{n}", n % 12)).unwrap(), start);
    trial.crawler().act(Act::AddSeeds((0..12 * 256).map(dead).collect()), start).unwrap();
    trial.run_until(start + Span::from_secs(5)).unwrap();
    assert!(trial.crawler().pulse().window > 0);
    let well = Seed::new(Url::parse(&format!("{root}/")).unwrap(), start);
    let now = trial.now();
    trial.crawler().act(Act::AddSeeds(vec![well]), now).unwrap();
    trial.run_until(now + Span::from_secs(60)).unwrap();
    trial.crawler().commit(now + Span::from_secs(60)).unwrap();
    assert!(!held(&trial.crawler().reader()).is_empty(), "long before the others are given up");
    // And those that rested are not forgotten.
    assert_eq!(trial.run_until_idle(STEPS_MAX).unwrap(), StopReason::Idle);
    assert_eq!(pages(&trial.crawler().reader()).len(), 20 + 12 * 256);
}

#[test]
fn a_wider_scope_finds_on_unchanged_pages_what_led_out_of_it_before() {
    let web = Web::new(WebSettings::plain(4, 40).still()).unwrap();
    let start = web.settings().origin;
    let root = |site: usize| Url::parse(&format!("{}/", web.root(site))).unwrap();
    let seed = |site: usize, depth| Seed { depth, ..Seed::new(root(site), start) };
    let whole = {
        let folder = tempfile::tempdir().unwrap();
        let mut trial = Trial::new(&web, opened(folder.path(), settings(), start), start, 1);
        trial.crawler().act(Act::AddSeeds((0..2).map(|site| seed(site, None)).collect()), start).unwrap();
        assert_eq!(trial.run_until_idle(STEPS_MAX).unwrap(), StopReason::Idle);
        held(&trial.crawler().reader())
    };
    assert_eq!(whole.len(), 80);
    for killed in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let narrow = || Settings { exclude: vec!["//[^/]+/.*[13579]".into()], ..settings() };
        let mut trial = Trial::new(&web, opened(folder.path(), narrow(), start), start, 1);
        trial.crawler().act(Act::AddSeeds((0..2).map(|site| seed(site, Some(2))).collect()), start).unwrap();
        assert_eq!(trial.run_until_idle(STEPS_MAX).unwrap(), StopReason::Idle);
        let few = held(&trial.crawler().reader());
        assert!((2..40).contains(&few.len()), "{}", few.len());
        let mut now = trial.now() + Span::from_secs(5);
        trial.close().unwrap();

        // Another process with wider rules; deeper seeds come while it runs.
        let mut trial = Trial::new(&web, opened(folder.path(), settings(), now), now, 2);
        if killed {
            trial.run_until_idle(1).unwrap();
            now = trial.now() + Span::from_secs(5);
            drop(trial);
            trial = Trial::new(&web, opened(folder.path(), settings(), now), now, 3);
        }
        assert_eq!(trial.run_until_idle(STEPS_MAX).unwrap(), StopReason::Idle);
        let more = held(&trial.crawler().reader());
        assert!(more.len() > few.len() && more.is_superset(&few));
        let now = trial.now();
        trial.crawler().act(Act::AddSeeds((0..2).map(|site| seed(site, None)).collect()), now).unwrap();
        assert!(trial.crawler().pulse().scope_pass_pages.is_some());
        assert_eq!(trial.run_until_idle(STEPS_MAX).unwrap(), StopReason::Idle);
        assert_eq!(held(&trial.crawler().reader()), whole);
        assert_eq!(trial.crawler().pulse().scope_pass_pages, None);
        let again = trial.asked().iter().filter(|asked| !asked.robots && few.contains(&asked.url)).count();
        assert_eq!(again, 0, "what we hold was read from the archive, not asked for again");
    }
}

#[test]
fn sessions_are_learned_told_and_dropped_and_traps_cost_little_once_they_are_understood() {
    let share = Shares { trap_sites: 1.0, ..Shares::none() };
    let web = Web::new(WebSettings { share, ..WebSettings::plain(5, 10) }.still()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let start = web.settings().origin + Span::from_days(1);
    let mut trial = Trial::new(&web, seeded(&web, folder.path(), settings(), start), start, 1);
    assert_eq!(trial.run_until_idle(STEPS_MAX).unwrap(), StopReason::Idle);
    let reader = trial.crawler().reader();
    let (mut sessions, mut sites) = (0, 0);
    for row in reader.sites() {
        let asked: Vec<_> = trial.asked().iter().filter(|asked| asked.site == row.site.as_str()).collect();
        let in_session = asked.iter().filter(|asked| asked.url.contains("/session/")).count();
        let of = |part: &str| asked.iter().filter(|asked| asked.url.contains(part)).count();
        eprintln!(
            "{}: {} asked, session {in_session}, calendar {}, find {}, deep {}; {:?}",
            row.site,
            asked.len(),
            of("/calendar/"),
            of("/find"),
            of("/deep/"),
            row.profile.traps
        );
        if in_session > 0 {
            sites += 1;
            sessions += usize::from(row.profile.traps.iter().any(|words| words.contains("`visit`")));
            assert!(in_session <= 60, "{in_session} requests in a session of {}", row.site);
            assert!(asked.iter().any(|asked| asked.url.ends_with("/session/basket")), "asked for without its session");
        }
    }
    assert!(sites > 0 && sessions == sites, "{sessions} of {sites}");
}

/// The visits to a chain of pages, each naming the next, within two minutes at one visit a second.
fn chain_visits(links_beside: usize) -> usize {
    let mut web = small_web::SmallWeb::new("1000000/s");
    web.put("/robots.txt", "text/plain", "User-agent: *\nCrawl-delay: 1\n");
    let beside: String = (0..links_beside).map(|number| format!("<a href=/beside/{number}>{number}</a> ")).collect();
    web.put("/", "text/html", small_web::page("", &beside));
    web.crawler
        .act(Act::AddSeeds(vec![Seed::new(Url::parse("http://chain.example/chain/0").unwrap(), web.now)]), web.now)
        .unwrap();
    for number in 0..200 {
        let next = format!("{}; <a href=/chain/{}>the next page</a>", small_web::said(number), number + 1);
        web.put(format!("/chain/{number}").leak(), "text/html", small_web::page("", &next));
    }
    web.run_for(Span::from_secs(120));
    web.asked.iter().filter(|(_, path)| path.starts_with("/chain/")).count()
}

#[test]
fn a_chain_of_pages_is_followed_as_fast_beside_a_site_with_many_urls_as_alone() {
    let (alone, beside) = (chain_visits(0), chain_visits(300));
    assert!(alone >= 110, "{alone} alone");
    assert!(beside * 10 >= alone * 9, "{beside} beside another site, {alone} alone");
}
