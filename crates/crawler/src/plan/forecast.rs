//! Forecasts which pages would be visited when, and what that would gain, without a request. The policy loads the held
//! pages as in a crawl and chooses slot by slot; no visit of the forecast finds a result.
//!
//! The forecast is the policy's own belief, and only as good as its model. It begins with what the crawler itself believes
//! now, which knows more than the tables: what the policy of the plan expects of the copy is moved to that. A policy
//! without a model forecasts visits and no freshness.

use std::collections::HashMap;

use vernal_model::{
    Budget, BudgetUnit, Chance, Moment, Page, PageKey, Partition, Seed, Site, SiteState, Span, TopicOf, Url,
};
use vernal_policy::{Held, Refresh, Seen, View};
use vernal_repository::Reader;

use crate::intake::page_life::{VisitOwner, visit_owner};
use crate::settings::{Promise, promise_of};
use crate::{Error, Result, Settings};

/// The longest slot of a plan, unless a year would then have more slots than it has hours.
const SLOT_MAX: Span = Span::from_hours(1);
const SLOTS_MAX: f64 = 24.0 * 366.0;
/// Slots within the time of a promise, so that no slot hides a wait that breaks the promise.
const LOOKS_PER_PROMISE: f64 = 4.0;
/// No belief is moved further than this.
const POWER_MAX: f64 = 100.0;
/// How often the believed freshness is computed during a plan, because that reads every page.
const LOOKS_MAX: f64 = 96.0;

/// What is expected to happen, budget by budget.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The first visits under the first budget, in order.
    pub visits: Vec<PlannedVisit>,
    pub forecasts: Vec<Forecast>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct PlannedVisit {
    pub url: Url,
    pub site: Site,
    pub at: Moment,
    pub last_visit: Moment,
}

/// The forecast for one budget.
#[derive(Clone, Debug, PartialEq)]
pub struct Forecast {
    pub budget: Budget,
    pub visits: u64,
    pub pages_visited: u64,
    /// Believed freshness now and at the end, and its mean over the plan.
    pub now: Option<f64>,
    pub end: Option<f64>,
    pub mean: Option<f64>,
    /// Promises of regular visits that would be broken, and the longest delay among them.
    pub promises: u64,
    pub promises_broken: u64,
    pub longest_overdue: Span,
    /// Visits are planned in steps of this length: no page is visited twice in one, and a promise may be late by one.
    pub slot: Span,
}

/// A held page under its number in the plan.
struct Planned {
    page: Page,
    site: u32,
    path: u32,
    promise: Promise,
    topics: Vec<TopicOf>,
}

/// A site and what the policy remembers of it.
type Remembered = (Site, Box<[u8]>);

/// Plans for `span` from `now` on, with the freshness that the crawler believes in now. At most `visits_max` visits are listed; all are counted.
pub fn plan(
    reader: &Reader,
    settings: &Settings,
    budgets: &[Budget],
    span: Span,
    visits_max: usize,
    (now, believed): (Moment, Option<f64>),
) -> Result<Plan> {
    let (pages, sites) = held(reader, settings)?;
    let totals = reader.totals();
    // The mean cost of a request so far, most of which find nothing new; before the first request a plan has no page.
    let visit_bytes = totals.wire_bytes as f64 / totals.visits.max(1) as f64;
    let mut plan = Plan { visits: Vec::new(), forecasts: Vec::new() };
    for (index, &budget) in budgets.iter().enumerate() {
        let mut course = Course::new(settings, budget, &pages, &sites, now)?.costing(visit_bytes);
        let listed = if index == 0 { visits_max } else { 0 };
        course.begin_with(believed);
        let forecast = course.run(span, listed, &mut plan.visits);
        plan.forecasts.push(forecast);
    }
    Ok(plan)
}

/// The pages that are with the policy, numbered anew, and the names of their sites with the policy's memory of them.
fn held(reader: &Reader, settings: &Settings) -> Result<(Vec<Planned>, Vec<Remembered>)> {
    let seeds: Vec<Seed> = reader.seeds()?;
    let mut postures: HashMap<Site, Box<[u8]>> = HashMap::new();
    for row in reader.sites() {
        if row.profile.standing == SiteState::Active {
            postures.insert(row.site, row.profile.policy);
        }
    }
    let mut pages = Vec::new();
    let mut sites: Vec<Remembered> = Vec::new();
    let mut numbers: HashMap<Site, u32> = HashMap::new();
    let mut paths: HashMap<(u32, Box<str>), u32> = HashMap::new();
    for page in reader.held_pages() {
        let page = page?;
        let name = page.url.site();
        let Some(state) = postures.get(&name).filter(|_| visit_owner(&page) == VisitOwner::Policy) else { continue };
        let site = *numbers.entry(name.clone()).or_insert_with(|| {
            sites.push((name, state.clone()));
            sites.len() as u32 - 1
        });
        let next = paths.len() as u32;
        let path = *paths.entry((site, page.url.first_folder().into())).or_insert(next);
        let promise = promise_of(&seeds, &settings.promises, &page.url, page.depth);
        let topics = if settings.topics_every.is_some() { reader.topics_of(page.key)? } else { Vec::new() };
        pages.push(Planned { page, site, path, promise, topics });
    }
    Ok((pages, sites))
}

/// The simulation of one budget.
struct Course<'a> {
    policy: Box<dyn Refresh>,
    pages: &'a [Planned],
    sites: &'a [Remembered],
    per_day: f64,
    delay: Span,
    refresh_min: Span,
    abandon: bool,
    last_visit: Vec<Moment>,
    visited: Vec<bool>,
    now: Moment,
    /// The belief is raised to this power, so that it begins where the crawler's belief stands.
    power: f64,
    forecast: Forecast,
}

impl<'a> Course<'a> {
    fn new(
        settings: &Settings,
        budget: Budget,
        pages: &'a [Planned],
        sites: &'a [Remembered],
        now: Moment,
    ) -> Result<Self> {
        let mut policy = vernal_policy::named(&settings.policy).map_err(Error::Policy)?;
        let url_terms = settings.url_terms_book();
        for (number, (_, state)) in sites.iter().enumerate() {
            if let Some(policy) = policy.site_memory().filter(|_| !state.is_empty()) {
                policy.recall_site(number as u32, state);
            }
        }
        for (number, planned) in pages.iter().enumerate() {
            if let Some(policy) = policy.own_terms() {
                policy.set_terms(key(number), url_terms.of(&planned.page.url));
            }
            policy.recall(&Held {
                page: key(number),
                site: planned.site,
                path: planned.path,
                importance: planned.page.importance,
                admitted: planned.page.admitted,
                last_visit: planned.page.last_visit,
                wire_bytes: planned.page.version.map_or(0, |version| u64::from(version.body_bytes)),
                at_least_every: planned.promise.at_least_every,
                at_most_every: planned.promise.at_most_every,
                known_rate: None,
                state: &planned.page.policy,
            });
            if let Some(policy) = policy.topical() {
                policy.topics(key(number), &planned.topics);
            }
        }
        let held = pages.len() as u64;
        let promises = pages.iter().filter(|planned| planned.promise.at_least_every.is_some()).count() as u64;
        Ok(Course {
            policy,
            pages,
            sites,
            per_day: budget.per_second(held) * 86_400.0,
            delay: settings.delay,
            refresh_min: settings.refresh_min,
            abandon: settings.abandon,
            last_visit: pages.iter().map(|planned| planned.page.last_visit).collect(),
            visited: vec![false; pages.len()],
            // Policies know visits and refresh times in whole seconds.
            now: whole_second(now),
            power: 1.0,
            forecast: Forecast {
                budget,
                visits: 0,
                pages_visited: 0,
                now: None,
                end: None,
                mean: None,
                promises,
                promises_broken: 0,
                longest_overdue: Span::ZERO,
                slot: SLOT_MAX,
            },
        })
    }

    /// Converts a budget of bytes into visits of this size.
    fn costing(mut self, visit_bytes: f64) -> Self {
        if self.forecast.budget.unit == BudgetUnit::WireBytes {
            self.per_day /= visit_bytes.max(1.0);
        }
        self
    }

    /// The length of a slot: the refresh minimum, or a fraction of the shortest promise if that is less; at most an
    /// hour.
    fn slot(&self, span: Span) -> Span {
        let promised = self.pages.iter().filter_map(|planned| planned.promise.at_least_every).min();
        let promised = promised.map_or(SLOT_MAX, |promised| promised.scaled(1.0 / LOOKS_PER_PROMISE));
        let slot = SLOT_MAX.min(span).min(self.refresh_min).min(promised).max(span.scaled(1.0 / SLOTS_MAX));
        Span::from_secs(slot.secs_f64().ceil().max(1.0) as u64)
    }

    fn run(&mut self, span: Span, listed: usize, visits: &mut Vec<PlannedVisit>) -> Forecast {
        let slot = self.slot(span);
        self.forecast.slot = slot;
        let per_slot = slot.secs_f64() / self.delay.secs_f64().max(0.001);
        let mut room = vec![1.0f64; self.sites.len()];
        let end = self.now + span;
        let mut chance = Chance::new(1).stream("plan");
        let mut in_hand = 0.0;
        let (mut believed, mut looks, mut look) = (0.0, 0.0, self.now);
        self.forecast.now = self.forecast.now.or_else(|| self.believed());
        while self.now < end {
            in_hand += self.per_day * slot.days_f64();
            room.iter_mut().for_each(|room| *room = (*room + per_slot).min(per_slot.max(1.0)));
            while in_hand >= 1.0 {
                let view = Slot {
                    left: in_hand as usize,
                    pages: self.pages,
                    room: &room,
                    per_day: self.per_day,
                    refresh_min: self.refresh_min,
                    counts_bytes: self.forecast.budget.unit == BudgetUnit::WireBytes,
                    may_abandon: self.abandon,
                };
                let chosen = self.policy.choose(&view, self.now, &mut chance);
                if chosen.is_empty() {
                    break;
                }
                for page in chosen {
                    in_hand -= 1.0;
                    self.visit(page, &mut room, listed, visits);
                }
            }
            // Unspent visits do not accumulate beyond what the budget account may hold.
            in_hand = in_hand.min((self.per_day * self.policy.saves_up().days_f64()).max(1.0));
            self.now += slot;
            if self.now >= look {
                look += span.scaled(1.0 / LOOKS_MAX);
                if let Some(share) = self.believed() {
                    (believed, looks) = (believed + share, looks + 1.0);
                }
            }
        }
        self.forecast.end = self.believed();
        self.forecast.mean = (looks > 0.0).then(|| believed / looks);
        self.forecast.pages_visited = self.visited.iter().filter(|&&visited| visited).count() as u64;
        self.count_broken(end);
        self.forecast.clone()
    }

    fn visit(&mut self, page: PageKey, room: &mut [f64], listed: usize, visits: &mut Vec<PlannedVisit>) {
        let number = page.number as usize;
        let planned = &self.pages[number];
        let last_visit = std::mem::replace(&mut self.last_visit[number], self.now);
        self.note_wait(planned, last_visit, self.now);
        room[planned.site as usize] -= 1.0;
        self.visited[number] = true;
        self.forecast.visits += 1;
        if visits.len() < listed {
            let (url, site) = (planned.page.url.clone(), self.sites[planned.site as usize].0.clone());
            visits.push(PlannedVisit { url, site, at: self.now, last_visit });
        }
        self.policy.learn(&Seen {
            page,
            moment: self.now,
            previous: Some(last_visit),
            changed: None,
            degree: 0.0,
            last_modified: None,
            wire_bytes: 0,
        });
    }

    /// Counts a promise that such a wait breaks.
    fn note_wait(&mut self, planned: &Planned, from: Moment, to: Moment) {
        let Some(promised) = planned.promise.at_least_every else { return };
        // A visit may be late by up to one slot.
        let late = to.since(from + promised);
        if late > self.forecast.slot {
            self.forecast.promises_broken += 1;
            self.forecast.longest_overdue = self.forecast.longest_overdue.max(late);
        }
    }

    /// Counts promises that are still broken at the end.
    fn count_broken(&mut self, end: Moment) {
        for number in 0..self.pages.len() {
            self.note_wait(&self.pages[number], self.last_visit[number], end);
        }
    }

    fn believed(&self) -> Option<f64> {
        let share = self.policy.believing()?.belief(self.now).share()?;
        Some(share.powf(self.power))
    }

    /// Lets the forecast begin with what the crawler believes. A policy without a model goes on without.
    fn begin_with(&mut self, crawler: Option<f64>) {
        let (Some(crawler), Some(own)) = (crawler, self.believed()) else { return };
        self.forecast.now = Some(crawler);
        // A survival raised to a power is that of rates so many times as high.
        let power = crawler.ln() / own.ln();
        if power.is_finite() {
            self.power = power.clamp(1.0 / POWER_MAX, POWER_MAX);
        }
    }
}

/// The first whole second at or after this Moment.
fn whole_second(moment: Moment) -> Moment {
    Moment::from_secs((moment.micros() + 999_999).div_euclid(1_000_000))
}

fn key(number: usize) -> PageKey {
    PageKey::new(Partition(0), number as u32)
}

/// The view of the policy in one slot.
struct Slot<'a> {
    left: usize,
    pages: &'a [Planned],
    /// The number of requests that each site may get in this slot.
    room: &'a [f64],
    per_day: f64,
    refresh_min: Span,
    counts_bytes: bool,
    may_abandon: bool,
}

impl View for Slot<'_> {
    fn counts_bytes(&self) -> bool {
        self.counts_bytes
    }

    fn may_abandon(&self) -> bool {
        self.may_abandon
    }

    fn visits_left(&self) -> usize {
        self.left
    }

    fn has_room(&self, page: PageKey) -> bool {
        self.pages.get(page.number as usize).is_some_and(|planned| self.room[planned.site as usize] >= 1.0)
    }

    fn refresh_min(&self) -> Span {
        self.refresh_min
    }

    fn held(&self) -> u64 {
        self.pages.len() as u64
    }

    fn per_day(&self) -> f64 {
        self.per_day
    }
}

#[cfg(test)]
mod tests;
