//! The ladder against a look at every page: the same beliefs, the same clocks, and a choice that nobody hurried. On a cut
//! of recorded histories always; on whole recordings by hand:
//! `VERNAL_TRACE=web.csv.gz cargo test --release -p vernal-simulator --test lab_rescan -- --ignored --nocapture`.

#![allow(clippy::unwrap_used, reason = "the helpers of tests fail as tests do")]

use std::collections::BTreeMap;

use vernal_model::{Chance, Moment, PageKey, PolicyState, Span};
use vernal_policy::estimate::{Gamma, Reading, SiteClock};
use vernal_policy::measure::{GAP_FROM, GAP_TO, gap_closed};
use vernal_policy::schedule::{HARMONIC_SHARE, Objective, Rate};
use vernal_policy::{Held, Refresh, Seen, View};
use vernal_simulator::lab::compare::knows_rates;
use vernal_simulator::lab::trace::{self, Selection};
use vernal_simulator::lab::{LabTrial, Options, World};

/// The site clock as it was found: every page is looked at whenever one is chosen, priors are fitted every day, and
/// nothing is remembered but what the formulas name.
#[derive(Default)]
struct Rescan {
    pages: BTreeMap<PageKey, Page>,
    sites: BTreeMap<u32, Site>,
    mean: f64,
    fitted_day: i64,
}

struct Page {
    site: u32,
    path: u32,
    last: f64,
    evidence: (f64, f64),
    compared: bool,
}

#[derive(Default)]
struct Site {
    clock: Option<SiteClock>,
    reading: Reading,
    pages: u32,
    mean: f64,
    paths: BTreeMap<u32, f64>,
}

const POOLING: f64 = 5.0;
const HALF_LIFE_DAYS: f64 = 365.0;
/// As the policy has them: a clock needs two pages, and on a large site a change.
const CLOCK_PAGES_MIN: u32 = 2;
const CLOCK_AT_ONCE_PAGES_MAX: u32 = 64;
const LONGEST_WAIT_DAYS: f64 = 160.0;

fn days(moment: Moment) -> f64 {
    moment.micros() as f64 / 86_400e6
}

impl Rescan {
    fn prior(&self, page: &Page) -> f64 {
        let site = &self.sites[&page.site];
        let mean = site.paths.get(&page.path).copied().unwrap_or(site.mean);
        if mean > 0.0 { mean } else { self.mean }
    }

    fn belief(&self, page: &Page) -> Gamma {
        Gamma { a: 1.0 + page.evidence.0, b: 1.0 / self.prior(page) + page.evidence.1 }
    }

    fn value(&self, page: &Page, now: f64) -> f64 {
        if now - page.last >= LONGEST_WAIT_DAYS {
            return f64::MAX;
        }
        let site = &self.sites[&page.site];
        let o = if site.clock.is_some() { site.reading.operational(page.last) } else { now - page.last };
        Objective::Freshness.value(Rate::Believed(self.belief(page)), o, HARMONIC_SHARE)
    }

    /// The pooled means: all, then each site, then each path.
    fn fit(&mut self) {
        let mut sums: BTreeMap<(u32, Option<u32>), (f64, f64)> = BTreeMap::new();
        for page in self.pages.values().filter(|page| page.compared) {
            for path in [None, Some(page.path)] {
                let sum = sums.entry((page.site, path)).or_default();
                *sum = (sum.0 + self.belief(page).mean(), sum.1 + 1.0);
            }
        }
        let sites = sums.iter().filter(|((_, path), _)| path.is_none());
        let share = |&(rates, count): &(f64, f64)| (count / (count + POOLING), rates / count);
        let (weighted, weight) = sites
            .map(|(_, sum)| share(sum))
            .fold((0.0, 0.0), |total, (share, mean)| (total.0 + share * mean, total.1 + share));
        self.mean = (2.0 * 0.02 + weighted) / (2.0 + weight);
        let pooled = |parent: f64, (rates, count): (f64, f64)| (POOLING * parent + rates) / (POOLING + count);
        for (&(site, path), &sum) in &sums {
            let site = self.sites.get_mut(&site).unwrap();
            match path {
                None => site.mean = pooled(self.mean, sum),
                Some(path) => {
                    site.paths.insert(path, pooled(site.mean, sum));
                }
            }
        }
    }
}

impl Refresh for Rescan {
    fn name(&self) -> &'static str {
        "rescan"
    }

    fn recall(&mut self, held: &Held<'_>) {
        let (site, path, last) = (held.site, held.path, days(held.last_visit));
        self.sites.entry(site).or_default().pages += 1;
        self.pages.insert(held.page, Page { site, path, last, evidence: (0.0, 0.0), compared: false });
    }

    fn choose(&mut self, view: &dyn View, now: Moment, _: &mut Chance) -> Vec<PageKey> {
        let today = days(now) as i64;
        if self.fitted_day != today {
            self.fitted_day = today;
            self.fit();
        }
        let now = days(now);
        for site in self.sites.values_mut() {
            if let Some(clock) = &mut site.clock {
                clock.shared_by(site.pages);
                clock.roll(now, now);
                clock.read(now, &mut site.reading);
            }
        }
        let rested = self.pages.iter().filter(|(_, page)| page.last < now);
        let mut values: Vec<(f64, PageKey)> = rested.map(|(&key, page)| (self.value(page, now), key)).collect();
        values.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        values.truncate(view.visits_left());
        values.into_iter().map(|(_, key)| key).collect()
    }

    fn learn(&mut self, seen: &Seen) -> PolicyState {
        let now = days(seen.moment);
        let Some(page) = self.pages.get(&seen.page) else { return PolicyState::default() };
        let (last, base) = (page.last, 1.0 / self.prior(page));
        let Some(changed) = seen.changed.filter(|_| now > last) else { return PolicyState::default() };
        let kept = (-(now - last) / HALF_LIFE_DAYS).exp2();
        let before = Gamma { a: 1.0 + page.evidence.0 * kept, b: base + page.evidence.1 * kept };
        let site = self.sites.get_mut(&page.site).unwrap();
        let worth_it = changed || site.pages <= CLOCK_AT_ONCE_PAGES_MAX;
        if site.clock.is_none() && site.pages >= CLOCK_PAGES_MIN && worth_it {
            site.clock = Some(SiteClock::default());
        }
        let pages = site.pages;
        let o = site.clock.as_mut().map_or(now - last, |clock| {
            clock.shared_by(pages);
            clock.roll(last, now);
            clock.operational(last, now)
        });
        let after = if changed { before.seen_changed(o) } else { before.seen_unchanged(o) };
        site.clock.iter_mut().for_each(|clock| clock.hear(before, after.mean(), last, now, changed));
        let page = self.pages.get_mut(&seen.page).unwrap();
        page.evidence = ((after.a - 1.0).max(0.0), (after.b - base).max(0.0));
        (page.last, page.compared) = (now, true);
        PolicyState::default()
    }

    fn put_back(&mut self, _: PageKey) {}

    fn forget(&mut self, page: PageKey) {
        if let Some(page) = self.pages.remove(&page) {
            self.sites.get_mut(&page.site).unwrap().pages -= 1;
        }
    }

    fn next_due(&self, _: &dyn View, now: Moment) -> Option<Moment> {
        Some(now)
    }

    fn why(&self, _: PageKey, _: Moment) -> Vec<(String, String)> {
        Vec::new()
    }
}

fn policy(name: &str) -> Box<dyn Refresh> {
    match name {
        "rescan" => Box::new(Rescan { mean: 0.02, ..Rescan::default() }),
        name => vernal_policy::by_name(name).unwrap(),
    }
}

/// The mean freshness over chance numbers.
fn freshness(world: &World, name: &str, chances: u64) -> f64 {
    let of = |chance: u64| {
        let options = Options { rates_known: knows_rates(name), numbers_drawn: true, chance, ..Options::default() };
        LabTrial::run(world, policy(name).as_mut(), &options).unwrap().after.freshness
    };
    (1..=chances).map(of).sum::<f64>() / chances as f64
}

fn small() -> World {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/traces/small.csv.gz");
    let from = Some(Moment::from_secs(1_685_000_000));
    let ignored = Selection::kinds("none,presentation").unwrap();
    let selection =
        Selection { from, days: Some(365.0), warm_up: Span::from_days(60), ignored, ..Selection::default() };
    trace::load(path.as_ref(), &selection).unwrap().0
}

#[test]
fn the_ladder_keeps_recorded_pages_as_fresh_as_a_look_at_every_page_would() {
    let world = small();
    let (ladder, rescan) = (freshness(&world, "vernal", 10), freshness(&world, "rescan", 10));
    println!("ladder {ladder:.4}, rescan {rescan:.4}");
    assert!((ladder - rescan).abs() < 0.002, "ladder {ladder:.4}, rescan {rescan:.4}");
}

#[test]
fn vernal_closes_more_of_the_gap_than_the_belief_without_a_clock() {
    let world = small();
    let [turns, known, belief, vernal] = [GAP_FROM, GAP_TO, "bayes", "vernal"].map(|name| freshness(&world, name, 3));
    let gap = |freshness| gap_closed(freshness, turns, known).unwrap();
    assert!(gap(vernal) > gap(belief) && gap(vernal) > 1.0, "{:.2} and {:.2} of the gap", gap(vernal), gap(belief));
}

#[test]
#[ignore = "whole recordings, every page every hour"]
fn the_ladder_keeps_whole_recordings_as_fresh_as_a_look_at_every_page_would() {
    let path = std::env::var("VERNAL_TRACE").unwrap();
    for (name, chances) in [("stalker", 10), ("ota", 10), ("otaold", 10), ("pubs", 1)] {
        let world = trace::load(path.as_ref(), &Selection::by_name(name).unwrap()).unwrap().0;
        let (ladder, rescan) = (freshness(&world, "vernal", chances), freshness(&world, "rescan", chances));
        println!("{name}: ladder {ladder:.4}, rescan {rescan:.4}");
        assert!((ladder - rescan).abs() < 0.002, "{name}: ladder {ladder:.4}, rescan {rescan:.4}");
    }
}
