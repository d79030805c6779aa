//! The whole crawler on worlds of the laboratory, with the world's own truth as the judge: what the policy alone reaches
//! there, what blemished answers and faults cost, and what must hold whatever goes wrong.

#![allow(clippy::unwrap_used, reason = "the helpers of tests fail as tests do")]

use std::collections::BTreeSet;

use vernal_frontier::audit;
use vernal_model::{Budget, Moment, Site, Span};
use vernal_simulator::lab::generate::settings::{Births, Capped, Hints, Weights, WithRate};
use vernal_simulator::lab::{LabTrial, Options, World, WorldSettings};
use vernal_simulator::trial::whole_crawl::{self, Conditions, Crawled};
use vernal_simulator::trial::{Faults, WebRequest};
use vernal_simulator::wire::world::Blemishes;

fn small() -> WorldSettings {
    WorldSettings { pages: 300, sites: 4, days: 60.0, warm_up_days: 15.0, ..WorldSettings::default() }
}

fn budget() -> Budget {
    "10%/day".parse().unwrap()
}

fn crawled(world: &World, policy: &str, conditions: &Conditions) -> Crawled {
    crawled_at(budget(), world, policy, conditions)
}

fn crawled_at(budget: Budget, world: &World, policy: &str, conditions: &Conditions) -> Crawled {
    let folder = tempfile::tempdir().unwrap();
    let settings = whole_crawl::settings(world, policy, budget, conditions.chance);
    whole_crawl::crawl(world, folder.path(), settings, conditions).unwrap()
}

fn bad() -> Conditions {
    Conditions {
        blemishes: Blemishes { noise: 0.05, misses: 0.05, errors: 0.02 },
        faults: Faults {
            lost_reports: 0.05,
            worker_deaths_per_day: 20.0,
            slow_sites: 0.3,
            slow_factor: 50.0,
            clock_steps_per_day: 2.0,
            clock_step: Span::from_secs(600),
        },
        ..Conditions::default()
    }
}

fn alone(world: &World, policy: &str) -> f64 {
    alone_at(budget(), world, policy)
}

fn alone_at(budget: Budget, world: &World, policy: &str) -> f64 {
    let mut made = vernal_policy::by_name(policy).unwrap();
    let options = Options { budget, refresh_min: Span::from_hours(1), ..Options::default() };
    LabTrial::run(world, made.as_mut(), &options).unwrap().after.freshness
}

fn assert_polite(crawled: &Crawled, chance: u64) {
    let visits = crawled.visits().map(|(site, from, until)| (Site::new(site), from, until));
    let breaches = audit(visits, Span::from_secs(1), 1);
    assert!(breaches.is_empty(), "chance {chance}: {:?}", &breaches[..breaches.len().min(3)]);
}

#[test]
fn the_whole_crawler_is_nearly_as_fresh_as_its_policy_alone() {
    for policy in ["round-robin", "vernal"] {
        let (mut whole, mut policy_alone) = (0.0, 0.0);
        for chance in [1, 2, 3] {
            let world = small().draw("small", chance);
            let crawled = crawled(&world, policy, &Conditions { chance, ..Conditions::default() });
            assert!(crawled.not_found.is_empty() && crawled.missed == 0 && crawled.noisy == 0, "chance {chance}");
            assert_eq!(crawled.held, 304, "every page and each site's list");
            assert_polite(&crawled, chance);
            whole += crawled.findings.after.freshness / 3.0;
            policy_alone += alone(&world, policy) / 3.0;
        }
        // Samples and the lists take a part of so small a budget; each site's robots.txt, one request a day, does not.
        assert!(whole > policy_alone - 0.05 && whole < policy_alone + 0.02, "{policy}: {whole} {policy_alone}");
    }
}

#[test]
fn the_whole_crawler_hears_how_important_pages_are() {
    let weights = Weights { exponent: 1.0, with_rate: WithRate::Correlated };
    let world = WorldSettings { weights: Some(weights), ..small() }.draw("weighed", 1);
    let whole = crawled(&world, "vernal", &Conditions::default()).findings.after.freshness;
    let (policy_alone, unweighed) = (alone(&world, "vernal"), alone(&world, "round-robin"));
    assert!(whole > policy_alone - 0.05 && policy_alone > unweighed + 0.2, "{whole} {policy_alone} {unweighed}");
}

#[test]
fn the_whole_crawler_hears_what_sites_say_of_their_changes_and_learns_how_far_to_trust_it() {
    let freshness = |recall: f64, false_per_change: f64, hears: bool| {
        let hints = Hints { recall: vec![recall], false_per_change: vec![false_per_change] };
        let mean = [1, 2].map(|chance| {
            let world = WorldSettings { hints: Some(hints.clone()), ..small() }.draw("announced", chance);
            let folder = tempfile::tempdir().unwrap();
            let settings = whole_crawl::settings(&world, "vernal", budget(), chance);
            let settings = vernal_crawler::Settings { hints: settings.hints && hears, ..settings };
            let conditions = Conditions { chance, ..Conditions::default() };
            let crawled = whole_crawl::crawl(&world, folder.path(), settings, &conditions).unwrap();
            assert_polite(&crawled, chance);
            crawled.findings.after.freshness
        });
        (mean[0] + mean[1]) / 2.0
    };
    let (heard, deaf) = (freshness(0.9, 0.1, true), freshness(0.9, 0.1, false));
    assert!(heard > deaf + 0.03, "{heard} with hints, {deaf} without");
    // Words that are hardly ever true cost little.
    let (lied, deaf) = (freshness(0.1, 5.0, true), freshness(0.1, 5.0, false));
    assert!(lied > deaf - 0.02, "{lied} with lies, {deaf} without");
}

#[test]
fn the_whole_crawler_spends_a_budget_of_many_visits_to_each_page() {
    let (world, plenty) = (small().draw("small", 1), "1000%/day".parse().unwrap());
    let whole = crawled_at(plenty, &world, "vernal", &Conditions::default()).findings.after.freshness;
    let policy_alone = alone_at(plenty, &world, "vernal");
    assert!((whole - policy_alone).abs() < 0.005, "{whole} {policy_alone}");
}

#[test]
fn misses_cost_freshness_and_every_blemish_is_counted() {
    let world = small().draw("small", 1);
    let clean = crawled(&world, "vernal", &Conditions::default());
    let blind = Blemishes { misses: 0.5, ..Blemishes::default() };
    let blind = crawled(&world, "vernal", &Conditions { blemishes: blind, ..Conditions::default() });
    assert!(blind.missed > 100, "{}", blind.missed);
    let (with, without) = (clean.findings.after.freshness, blind.findings.after.freshness);
    assert!(without < with - 0.02, "{with} {without}");
    let noisy = Blemishes { noise: 0.3, ..Blemishes::default() };
    let noisy = crawled(&world, "vernal", &Conditions { blemishes: noisy, ..Conditions::default() });
    assert!(noisy.noisy > 100 && noisy.missed == 0, "{} {}", noisy.noisy, noisy.missed);
}

#[test]
fn whatever_goes_wrong_no_page_is_lost_and_no_site_is_pressed() {
    for chance in [1, 2, 3] {
        let world = small().draw("small", chance);
        let crawled = crawled(&world, "vernal", &Conditions { chance, ..bad() });
        assert!(crawled.lost > 50, "chance {chance}: {}", crawled.lost);
        assert!(crawled.not_found.is_empty(), "chance {chance}: {:?}", crawled.not_found);
        assert_polite(&crawled, chance);
    }
}

#[test]
fn one_number_replays_a_crawl_with_all_that_went_wrong() {
    let world = small().draw("small", 4);
    let crawl = |chance| crawled(&world, "vernal", &Conditions { chance, ..bad() });
    let (first, again, other) = (crawl(4), crawl(4), crawl(5));
    assert!(first == again);
    assert_ne!(first.asked, other.asked);
}

#[test]
fn pages_that_are_born_are_found_and_those_that_go_are_left() {
    let births = Some(Births { per_week: 0.2 });
    let world = WorldSettings { births, ..small() }.draw("births", 1);
    let crawled = crawled(&world, "vernal", &Conditions::default());
    assert!(crawled.not_found.is_empty(), "{:?}", crawled.not_found);
    let read: BTreeSet<&str> =
        crawled.asked.iter().filter(|asked| asked.status == Some(200)).map(|asked| asked.url.as_str()).collect();
    let born_early = world.pages.iter().enumerate().filter(|(_, page)| {
        page.born > world.origin && page.born < world.origin + Span::from_days(30) && page.gone > world.end
    });
    let early: Vec<bool> =
        born_early.map(|(page, _)| read.iter().any(|url| url.ends_with(&format!("/page-{page}")))).collect();
    let found = early.iter().filter(|&&found| found).count();
    assert!(early.len() > 50 && found * 100 > early.len() * 97, "{found} of {}", early.len());
    let gone = crawled.asked.iter().filter(|asked| asked.status == Some(404) && !asked.robots).count();
    assert!((50..3_000).contains(&gone), "{gone}");
}

/// Lists change more often than any page, and a policy that seeks freshness alone leaves them for it.
#[test]
fn where_pages_come_and_go_the_lists_that_name_them_are_not_given_up() {
    let births = Some(Births { per_week: 0.2 });
    let world = WorldSettings { births, ..small() }.draw("births", 2);
    let crawled = crawled(&world, "vernal", &Conditions { chance: 2, ..Conditions::default() });
    let (whole, alone) = (crawled.findings.after.freshness, alone(&world, "vernal"));
    assert!(whole > alone - 0.15, "{whole} {alone}");
}

#[test]
fn a_percentage_of_the_held_pages_is_spent_on_pages_alone() {
    let world = small().draw("small", 1);
    let crawled = crawled(&world, "round-robin", &Conditions::default());
    let settled = world.origin + Span::from_days(5);
    let later = || crawled.asked.iter().filter(|asked| asked.started > settled);
    let (pages, robots) = (later().filter(|asked| !asked.robots).count(), later().filter(|asked| asked.robots).count());
    assert!(robots > 200, "{robots}: each site's is asked for once a day");
    let paid = 0.1 * crawled.held as f64 * 55.0;
    assert!((pages as f64 / paid - 1.0).abs() < 0.03, "{pages} visits, {paid} paid for");
}

#[test]
fn pages_that_are_gone_pay_for_no_visits() {
    let births = Some(Births { per_week: 0.2 });
    let world = WorldSettings { births, ..small() }.draw("births", 1);
    let crawled = crawled(&world, "vernal", &Conditions::default());
    let online = 304.0;
    assert!(crawled.held as f64 > 1.2 * online, "{}: many are not known to be gone", crawled.held);
    let is_read = |asked: &&WebRequest| asked.status == Some(200) && !asked.robots;
    let first: BTreeSet<&str> = crawled.asked.iter().filter(is_read).map(|asked| asked.url.as_str()).collect();
    let (requests, _) = crawled.requests();
    let (again, paid) = (requests as f64 - first.len() as f64, 0.1 * online * 60.0);
    assert!(again < 1.1 * paid && again > 0.9 * paid, "{again} visits, {paid} paid for");
}

#[test]
fn a_site_that_may_be_asked_seldom_is_asked_seldom() {
    let politeness = Some(Capped { pages: 0.3, visits_per_page_day: 0.05 });
    let world = WorldSettings { politeness, ..small() }.draw("capped", 1);
    let most = world.sites[0].visits_per_day_max.unwrap();
    let crawled = crawled(&world, "vernal", &Conditions::default());
    let wait = Span::from_secs_f64(86_400.0 / most - 1.0);
    // The delay is known once its robots.txt was read.
    let starts: Vec<Moment> = crawled
        .asked
        .iter()
        .filter(|asked| asked.site == "site-0.example")
        .map(|asked| asked.started)
        .skip(1)
        .collect();
    assert!(starts.len() > 100);
    let soonest = starts.windows(2).map(|pair| pair[1].since(pair[0])).min().unwrap();
    assert!(soonest >= wait, "{soonest} {wait}");
}
