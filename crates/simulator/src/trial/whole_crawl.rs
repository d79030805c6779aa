//! The whole crawler on a world of the laboratory: frontier, politeness, outcomes, verdicts and policy together, with the
//! world's own truth as the judge. A policy alone on the same world is the reference: the freshness that the whole crawler
//! has less is the price of finding pages, of waiting for sites, and of wrong verdicts.

use std::path::Path;

use vernal_crawler::{Act, Crawler, Settings, Weights};
use vernal_model::{Budget, Moment, Span};
use vernal_repository::Repository;

use super::{Faults, Trial, WebRequest};
use crate::Result;
use crate::lab::World;
use crate::lab::measure::{Findings, Gauge};
use crate::wire::world::{Blemishes, WorldWire, parsed};

/// A page that was online for this long, and for this many cycles in which the budget could visit every page, ought to be
/// held. A policy that seeks freshness alone may leave pages that change often, such as lists, for as long.
const FOUND_WITHIN: Span = Span::from_days(90);
const FOUND_WITHIN_TURNS: f64 = 8.0;
/// A site whose politeness allows fewer visits than this for each of its pages need not have been read to the end.
const VISITS_TO_FIND: f64 = 4.0;
/// Requests at a time, over all sites.
const CONCURRENCY_MAX: usize = 1_024;
/// Well below the hour for which a budget is saved up: where an hour pays for a visit or two, a longer wait loses some.
const IDLE_WAIT: Span = Span::from_secs(900);
/// This many waits fit between two visits to a site on average.
const IDLE_WAITS_PER_VISIT: f64 = 4.0;
/// A group of deeds writes a row for every site that it visited and one for the whole, so that small groups would be most
/// of the work.
const COMMIT_EVERY: Span = Span::from_hours(6);
/// As for policies alone: a look at every page each ten minutes would be most of the work.
const RATES_EVERY: Span = Span::from_days(1);
/// The repository's number is not drawn, so that its files are the same in every trial.
const REPOSITORY_ID: u128 = 7;

/// Under what conditions a world is crawled.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Conditions {
    pub chance: u64,
    pub blemishes: Blemishes,
    pub faults: Faults,
    /// How long a crawler that has nothing to send is left alone.
    pub idle_wait: Span,
    pub commit_every: Span,
    /// The first days, measured apart.
    pub first: Span,
}

impl Default for Conditions {
    fn default() -> Self {
        Conditions {
            chance: 1,
            blemishes: Blemishes::default(),
            faults: Faults::default(),
            idle_wait: IDLE_WAIT,
            commit_every: COMMIT_EVERY,
            first: Span::from_days(60),
        }
    }
}

/// What a crawl of a world showed.
#[derive(Clone, Debug, PartialEq)]
pub struct Crawled {
    /// As of a policy alone; a page that is not held yet is not up to date.
    pub findings: Findings,
    /// Every request, robots.txt and lists included.
    pub asked: Vec<WebRequest>,
    /// Visits that took a changed page for the same, and visits that took an unchanged page for changed.
    pub missed: u64,
    pub noisy: u64,
    /// Reports that were lost.
    pub lost: u64,
    pub held: u64,
    /// Pages that were online long enough at the end to be held, and are not.
    pub not_found: Vec<String>,
}

/// The settings of the live crawl, with a policy and a budget, for the sites of a world.
pub fn settings(world: &World, policy: &str, budget: Budget, chance: u64) -> Settings {
    let caps = world.sites.iter().filter_map(|site| site.visits_per_day_max);
    let longest = caps.map(|visits| Span::from_secs_f64(86_400.0 / visits.max(1e-6))).max();
    let defaults = Settings::default();
    Settings {
        policy: policy.to_owned(),
        topics_every: Settings::topics_for(policy),
        rates_every: RATES_EVERY,
        budget,
        chance,
        hints: world.has_hints(),
        pages_max: (world.pages.len() + world.sites.len()) as u64,
        concurrency: world.sites.len().clamp(1, CONCURRENCY_MAX),
        pass_piece_pages: usize::MAX,
        // No one asks a trial for back links.
        links_at_hand: false,
        noise_books_max: defaults.noise_books_max.max(world.sites.len()),
        delay_max: longest.unwrap_or(defaults.delay_max).max(defaults.delay_max),
        ..defaults
    }
}

/// Crawls a world from its origin to its end, with a repository in the folder that is not used again.
pub fn crawl(world: &World, folder: &Path, settings: Settings, conditions: &Conditions) -> Result<Crawled> {
    let wire = WorldWire::new(world, conditions.blemishes, conditions.chance)?;
    let found_within = found_within(world, &settings.budget);
    let idle_wait = conditions.idle_wait.min(idle_wait_for(world, &settings.budget));
    let settings = Settings { weights: weights(world, &wire)?, ..settings };
    // This repository is not opened again, so its tables need not outlive the trial.
    let files = vernal_repository::Settings {
        id: Some(REPOSITORY_ID),
        tables_in_memory: true,
        ..vernal_repository::Settings::default()
    };
    let (repository, _) = Repository::open(folder, files, world.origin)?;
    let mut crawler = Crawler::open(repository, settings, world.origin)?;
    crawler.act(Act::AddSeeds(wire.seeds()?), world.origin)?;
    let mut trial = Trial::new(&wire, crawler, world.origin, conditions.chance)
        .committing_every(conditions.commit_every)
        .waiting_when_idle(idle_wait)
        .with_faults(conditions.faults);
    trial.run_until(world.end)?;
    let asked = std::mem::take(&mut trial.asked);
    // Everything is committed. The repository is not opened again, so it need not be closed in order.
    trial.crawler().commit(world.end)?;
    let held = trial.crawler().reader().totals().held;
    Ok(judged(world, &wire, asked, held, found_within, conditions.first))
}

/// The importance of the world's pages as weights of the settings; none where all pages count the same.
fn weights(world: &World, wire: &WorldWire<'_>) -> Result<Weights> {
    let mut weights = Weights::default();
    if world.pages.iter().any(|page| page.weight != 1.0) {
        for (number, page) in world.pages.iter().enumerate() {
            weights.urls.insert(parsed(&wire.url(number))?.fingerprint(), page.weight);
        }
    }
    Ok(weights)
}

/// How long a crawler with nothing to send is left alone: not so long that a site with many visits to spend waits for it.
fn idle_wait_for(world: &World, budget: &Budget) -> Span {
    let per_site = budget.per_second(world.pages.len() as u64) / world.sites.len().max(1) as f64;
    Span::from_secs_f64((1.0 / (IDLE_WAITS_PER_VISIT * per_site)).clamp(1.0, IDLE_WAIT.secs_f64()))
}

fn found_within(world: &World, budget: &Budget) -> Span {
    let pages = world.pages.len() as u64;
    let turn_secs = pages as f64 / budget.per_second(pages).max(f64::MIN_POSITIVE);
    FOUND_WITHIN.max(Span::from_secs_f64(FOUND_WITHIN_TURNS * turn_secs)).min(world.length())
}

/// Compares what was requested with the truth of the world.
fn judged(
    world: &World,
    wire: &WorldWire<'_>,
    asked: Vec<WebRequest>,
    held: u64,
    found_within: Span,
    first: Span,
) -> Crawled {
    let mut gauge = Gauge::of_nothing(world, first);
    let (mut missed, mut noisy, mut lost) = (0, 0, 0);
    for asked in &asked {
        lost += u64::from(asked.lost);
        let Some(page) = wire.page_at(&asked.url).filter(|_| !asked.robots) else { continue };
        let now = asked.started;
        let is_answer = matches!(asked.status, Some(200 | 304)) && !asked.lost;
        if is_answer && !gauge.is_held(page) {
            gauge.begin(page, now);
            continue;
        }
        let is_fresh = gauge.is_fresh(page, now);
        let is_missed = asked.status == Some(304) && !is_fresh;
        if !is_answer || is_missed {
            missed += u64::from(is_answer && is_missed);
            gauge.fail(page, now);
            continue;
        }
        noisy += u64::from(asked.status == Some(200) && is_fresh);
        gauge.visit(page, now);
    }
    let mut pages_of = vec![0.0; world.sites.len()];
    world.pages.iter().for_each(|page| pages_of[page.site as usize] += 1.0);
    let is_lacking = |&page: &usize| {
        let (from, until) = world.life(page);
        let lived = until.since(from);
        let site = world.pages[page].site as usize;
        let may_be_asked = world.sites[site].visits_per_day_max.map_or(f64::INFINITY, |most| most * lived.days_f64());
        let in_time = lived >= found_within && may_be_asked >= VISITS_TO_FIND * pages_of[site];
        until == world.end && in_time && !gauge.is_held(page)
    };
    let not_found = (0..world.pages.len()).filter(is_lacking).map(|page| wire.url(page)).collect();
    Crawled { findings: gauge.finish(Vec::new()), asked, missed, noisy, lost, held, not_found }
}

impl Crawled {
    /// Requests for pages, and for robots.txt.
    pub fn requests(&self) -> (u64, u64) {
        let robots = self.asked.iter().filter(|asked| asked.robots).count() as u64;
        (self.asked.len() as u64 - robots, robots)
    }

    /// When each site was asked, in the order of time.
    pub fn visits(&self) -> impl Iterator<Item = (&str, Moment, Moment)> {
        self.asked.iter().map(|asked| (asked.site.as_str(), asked.started, asked.finished))
    }
}
