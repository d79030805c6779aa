//! One policy on one world, in virtual time.
//!
//! All pages of the start are fetched at the origin, for nothing; a page that is born later is found and fetched at
//! once, for nothing too, and one that goes leaves without a visit. Everything else is paid from the budget, slot by
//! slot, with fractions carried over. The policy meets what it meets in a live crawl: `learn` and then `recall` of a new
//! page, `choose` with a View, `learn` after each visit, `forget`.
//!
//! - `view`: what the policy can see. `upcoming`: what happens without a visit.

mod upcoming;
mod view;

use vernal_model::{Budget, BudgetAccount, BudgetUnit, Chance, Moment, PageKey, PolicyState, Span};
use vernal_policy::{Held, RateSums, Refresh, Seen};

use self::upcoming::{Upcoming, upcoming};
use self::view::{PageNumbers, TrialView};
use super::measure::{Calibration, Findings, Gauge};
use super::world::World;
use crate::{Error, Result};

/// How a trial is run.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    pub budget: Budget,
    /// Visits are given out once per slot, all at its beginning.
    pub slot: Span,
    pub refresh_min: Span,
    pub chance: u64,
    /// The policy is told each page's change rate.
    pub rates_known: bool,
    /// The numbers that pages go by are drawn, so that chance decides between equals. A recording needs this, because it
    /// is the same for each chance number.
    pub numbers_drawn: bool,
    /// Sites say truthfully when a page last changed.
    pub last_modified: bool,
    /// The share of visits that get no answer.
    pub failures: f64,
    /// At most this many visits are chosen at a time, so that what one batch found can guide the next one of the slot.
    pub batch_max: usize,
    /// The first days, measured apart.
    pub first: Span,
    /// How often the policy's belief is compared with the truth.
    pub calibrate_every: Span,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            budget: Budget { amount: 5.0, unit: BudgetUnit::PercentOfHeld, cycle: Span::from_days(1) },
            slot: Span::from_hours(1),
            refresh_min: Span::ZERO,
            chance: 1,
            rates_known: false,
            numbers_drawn: false,
            last_modified: false,
            failures: 0.0,
            batch_max: usize::MAX,
            first: Span::from_days(60),
            calibrate_every: Span::from_days(5),
        }
    }
}

/// A trial in progress.
pub struct LabTrial<'a> {
    world: &'a World,
    options: &'a Options,
    policy: &'a mut dyn Refresh,
    gauge: Gauge<'a>,
    view: TrialView<'a>,
    now: Moment,
    /// The unspent budget, in its unit.
    in_hand: f64,
    bytes_online: u64,
    failing: Chance,
    choosing: Chance,
    /// Births, ends and hints to come, in the order of time.
    upcoming: Vec<(Moment, Upcoming, u32)>,
    next_upcoming: usize,
    /// The round in which a page was last chosen, so that none is chosen twice in one.
    chosen_in: Vec<u64>,
    /// The round in which a page was last visited.
    visited_in: Vec<u64>,
    round: u64,
    /// The last round of the slot before.
    round_before: u64,
    calibration: Vec<Calibration>,
}

impl<'a> LabTrial<'a> {
    /// Runs a policy through a world.
    pub fn run(world: &'a World, policy: &'a mut dyn Refresh, options: &'a Options) -> Result<Findings> {
        if options.slot == Span::ZERO {
            return Err(Error::Lab("a slot must last some time".into()));
        }
        let mut trial = LabTrial::begin(world, policy, options);
        while trial.now + options.slot < world.end {
            trial.step()?;
        }
        trial.apply_upcoming(world.end);
        Ok(trial.gauge.finish(trial.calibration))
    }

    fn begin(world: &'a World, policy: &'a mut dyn Refresh, options: &'a Options) -> Self {
        let chance = Chance::new(options.chance);
        let caps = world.sites.iter().any(|site| site.visits_per_day_max.is_some());
        let mut trial = LabTrial {
            world,
            options,
            policy,
            gauge: Gauge::new(world, options.first),
            view: TrialView {
                world,
                numbers: PageNumbers::of(world.pages.len(), options.numbers_drawn.then(|| chance.stream("numbers"))),
                refresh_min: options.refresh_min,
                visits_left: 0,
                held: 0,
                per_day: 0.0,
                mean_rate: None,
                counts_bytes: options.budget.unit == BudgetUnit::WireBytes,
                room: if caps { vec![0.0; world.sites.len()] } else { Vec::new() },
                asked: vec![0; world.sites.len()],
            },
            now: world.origin,
            in_hand: 0.0,
            bytes_online: 0,
            failing: chance.stream("failures"),
            choosing: chance.stream("choose"),
            upcoming: upcoming(world),
            next_upcoming: 0,
            chosen_in: vec![0; world.pages.len()],
            visited_in: vec![0; world.pages.len()],
            round: 0,
            round_before: 0,
            calibration: Vec::new(),
        };
        for page in 0..world.pages.len() {
            let (from, until) = world.life(page);
            if from == world.origin && until > from {
                trial.admit(page, from);
            }
        }
        trial
    }

    /// One slot: first the births, ends and hints since the last one, then the visits that the budget pays for.
    fn step(&mut self) -> Result<()> {
        let slot = self.options.slot;
        let before = self.now;
        self.now += slot;
        self.apply_upcoming(self.now);
        self.refill_budget(slot);
        self.round_before = self.round;
        while self.round_of_visits()? {}
        let peak = self.view.asked.iter_mut().map(std::mem::take).max().unwrap_or(0);
        self.gauge.slot_closed(self.now, u64::from(peak));
        if day_of(self.world, before) != day_of(self.world, self.now) {
            self.sum_up();
        }
        let every = self.options.calibrate_every;
        if every > Span::ZERO && count_of(self.world, before, every) != count_of(self.world, self.now, every) {
            self.calibrate();
        }
        Ok(())
    }

    /// Refills the budget account and each site's room for one slot.
    fn refill_budget(&mut self, slot: Span) {
        let per_second = self.options.budget.per_second(self.view.held);
        let per_visit = self.cost_of_a_visit();
        self.view.per_day = per_second * 86_400.0 / per_visit;
        // Budget that is left over in a slot is not saved up beyond the next one, unless the policy visits in certain hours
        // only; fractions of a visit are.
        let saves_up = Some(self.policy.saves_up()).filter(|&span| span > BudgetAccount::IN_HAND_MAX).unwrap_or(slot);
        let most = (per_second * saves_up.secs_f64()).max(per_visit) + per_visit;
        self.in_hand = (self.in_hand + per_second * slot.secs_f64()).min(most);
        for (room, site) in self.view.room.iter_mut().zip(&self.world.sites) {
            let share = site.visits_per_day_max.map_or(f64::INFINITY, |visits| visits * slot.days_f64());
            *room = (*room + share).min(share.max(1.0));
        }
    }

    fn cost_of_a_visit(&self) -> f64 {
        match self.options.budget.unit {
            BudgetUnit::Visits | BudgetUnit::PercentOfHeld => 1.0,
            BudgetUnit::WireBytes => (self.bytes_online as f64 / self.view.held.max(1) as f64).max(1.0),
        }
    }

    /// Asks the policy once and makes the visits it chose. False when there is nothing more to do in this slot.
    ///
    /// All visits of a slot are made at one instant, so that a second one to the same page could find nothing: that page is
    /// put back, and a policy that can name no other has no use for the rest of the budget.
    fn round_of_visits(&mut self) -> Result<bool> {
        let left = (self.in_hand / self.cost_of_a_visit() + 1e-9).floor().max(0.0) as usize;
        self.view.visits_left = left.min(self.options.batch_max);
        if self.view.visits_left == 0 || self.view.held == 0 {
            return Ok(false);
        }
        self.round += 1;
        let mut chance = self.choosing.numbered(self.round);
        let chosen = self.policy.choose(&self.view, self.now, &mut chance);
        self.check(&chosen)?;
        let mut made = 0;
        for &key in &chosen {
            let page = self.view.numbers.page(key);
            let site = self.world.pages[page].site as usize;
            if self.visited_in[page] > self.round_before || !self.view.has_room_at(site) {
                self.policy.put_back(key);
                continue;
            }
            self.view.take_room(site);
            self.visited_in[page] = self.round;
            self.visit(key, page);
            made += 1;
        }
        Ok(made > 0)
    }

    fn check(&mut self, chosen: &[PageKey]) -> Result<()> {
        let wrong = |what: String| Err(Error::Choice { policy: self.policy.name().to_owned(), what });
        if chosen.len() > self.view.visits_left {
            return wrong(format!("{} pages with {} visits left", chosen.len(), self.view.visits_left));
        }
        for key in chosen {
            let page = self.view.numbers.find(*key);
            let online = page.map(|page| &self.world.pages[page]).is_some_and(|page| page.is_online(self.now));
            let Some(page) = page.filter(|_| online) else {
                return wrong(format!("page {key}, which is not held"));
            };
            if std::mem::replace(&mut self.chosen_in[page], self.round) == self.round {
                return wrong(format!("page {key} twice"));
            }
        }
        Ok(())
    }

    fn visit(&mut self, key: PageKey, page: usize) {
        let bytes = u64::from(self.world.pages[page].bytes);
        self.in_hand -= if self.options.budget.unit == BudgetUnit::WireBytes { bytes as f64 } else { 1.0 };
        let previous = Some(self.gauge.last_visit(page));
        let failed = self.options.failures > 0.0 && self.failing.happens(self.options.failures);
        let (changed, degree) = if failed {
            self.gauge.fail(page, self.now);
            (None, 0.0)
        } else {
            let found = self.gauge.visit(page, self.now);
            (Some(found.changed), found.degree)
        };
        let last_modified = self.options.last_modified.then(|| last_modified(self.world, page, self.now));
        let moment = self.now;
        let seen = Seen { page: key, moment, previous, changed, degree, last_modified, wire_bytes: bytes };
        self.policy.learn(&seen);
    }

    /// Applies births, ends and hints up to a Moment, in the order of time.
    fn apply_upcoming(&mut self, until: Moment) {
        while let Some(&(moment, what, page)) = self.upcoming.get(self.next_upcoming)
            && moment <= until
        {
            self.next_upcoming += 1;
            let number = page as usize;
            match what {
                Upcoming::Birth => self.admit(number, moment),
                Upcoming::Hint => {
                    if let Some(hinted) = self.policy.hinted() {
                        hinted.hint(self.view.numbers.key(number), self.world.hint_worth(number));
                    }
                }
                Upcoming::End => {
                    self.policy.forget(self.view.numbers.key(number));
                    self.view.held -= 1;
                    self.bytes_online -= u64::from(self.world.pages[number].bytes);
                }
            }
        }
    }

    /// A page was read for the first time.
    fn admit(&mut self, page: usize, moment: Moment) {
        let facts = &self.world.pages[page];
        let key = self.view.numbers.key(page);
        let wire_bytes = u64::from(facts.bytes);
        let state: PolicyState = self.policy.learn(&Seen {
            page: key,
            moment,
            previous: None,
            changed: None,
            degree: 0.0,
            last_modified: self.options.last_modified.then(|| last_modified(self.world, page, moment)),
            wire_bytes,
        });
        self.policy.recall(&Held {
            page: key,
            site: facts.site,
            path: facts.path,
            importance: facts.weight,
            admitted: moment,
            last_visit: moment,
            wire_bytes,
            at_least_every: None,
            at_most_every: None,
            known_rate: self.options.rates_known.then_some(facts.rate),
            state: &state,
        });
        self.view.held += 1;
        self.bytes_online += wire_bytes;
    }

    /// Once a day the coordinator sums up what is known of change rates.
    fn sum_up(&mut self) {
        let sums = self.policy.believing().map_or_else(RateSums::default, |believing| believing.rates());
        self.view.mean_rate = (sums.weight > 0.0).then(|| sums.mean());
    }

    fn calibrate(&mut self) {
        let Some(believing) = self.policy.believing() else { return };
        let believed = believing.belief(self.now).weighted_share();
        let (mut fresh, mut weight) = (0.0, 0.0);
        for (number, page) in self.world.pages.iter().enumerate() {
            if page.is_online(self.now) {
                weight += f64::from(page.weight);
                fresh += if self.gauge.is_fresh(number, self.now) { f64::from(page.weight) } else { 0.0 };
            }
        }
        if let Some(believed) = believed.filter(|_| weight > 0.0) {
            self.calibration.push(Calibration {
                day: self.now.since(self.world.origin).days_f64(),
                believed,
                real: fresh / weight,
            });
        }
    }
}

fn last_modified(world: &World, page: usize, now: Moment) -> Moment {
    let changes = world.changes(page);
    let seen = changes.partition_point(|change| change.moment <= now);
    seen.checked_sub(1).map_or(world.pages[page].born, |last| changes[last].moment)
}

fn day_of(world: &World, moment: Moment) -> u64 {
    count_of(world, moment, Span::from_days(1))
}

fn count_of(world: &World, moment: Moment, every: Span) -> u64 {
    moment.since(world.origin).micros() / every.micros().max(1)
}
