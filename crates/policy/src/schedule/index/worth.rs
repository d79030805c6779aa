//! The value of a page now, and the time at which it reaches another.

use super::page::Page;
use super::policy::Index;
use super::rule::Timing;
use crate::estimate::Gamma;
use crate::schedule::allocation::{Allocation, Wanted};
use crate::schedule::value::{Curve, Objective, Rate};

/// However little a page is worth, it is looked at again after this many days, or after so many turns of all pages if
/// the budget is small.
pub(super) const LONGEST_WAIT_DAYS: f64 = 90.0;
pub(super) const LONGEST_WAIT_TURNS: f64 = 8.0;

impl Index {
    /// Whether the page may be left for ever: because somebody allows it, or because it is known to be hopeless.
    pub(super) fn abandons(&self, page: &Page) -> bool {
        self.may_abandon || (self.rule.abandons && page.is_known())
    }

    /// The mean rate that is expected of a page: that of its siblings, as many times as pages of its importance have it.
    pub(super) fn prior_of(&self, page: &Page) -> f64 {
        self.siblings_of(page) * self.times_of(page)
    }

    /// The mean rate of a page's siblings: its path's, its site's, that of its site's topics, or that of all.
    pub(super) fn siblings_of(&self, page: &Page) -> f64 {
        let site = &self.sites[page.site as usize];
        let by_path =
            site.group(page.group).map(|group| group.mean).filter(|&mean| mean > 0.0 && self.rule.path_priors);
        let mean = by_path.unwrap_or(site.all.mean);
        if mean > 0.0 { f64::from(mean) } else { self.above_site(page.site) }
    }

    pub(super) fn belief_of(&self, page: &Page) -> Gamma {
        self.belief_from(page, self.prior_of(page))
    }

    /// What is believed of a page of which this rate was expected.
    pub(super) fn belief_from(&self, page: &Page, prior: f64) -> Gamma {
        let firm = self.firmness.shape();
        Gamma { a: firm + f64::from(page.shape), b: firm / prior + f64::from(page.scale) }
    }

    pub(super) fn rate_of(&self, page: &Page) -> Rate {
        match page.is_known() {
            true => Rate::Known(f64::from(page.rate())),
            false if self.rule.known_rates => Rate::Known(self.belief_of(page).mean()),
            false => Rate::Believed(self.belief_of(page)),
        }
    }

    /// How likely a page is up to date a time `o` after its visit, corrected by how right such words were lately.
    pub(super) fn fresh_now(&self, page: &Page, o: f64) -> f64 {
        let survival = self.rate_of(page).survival(o);
        if page.is_known() { survival } else { self.shared.calibration.corrected(survival) }
    }

    /// Importance over cost.
    pub(super) fn weight_of(&self, page: &Page) -> f64 {
        let importance = f64::from(page.importance());
        if !self.counts_bytes || self.bytes.1 == 0 {
            return importance;
        }
        let mean = self.bytes.0 / self.bytes.1 as f64;
        importance * mean / page.bytes().unwrap_or(mean).max(1.0)
    }

    pub(super) fn value_of(&self, number: u32, page: &Page, o: f64) -> f64 {
        self.worth_of(number, page).curve(o).value
    }

    /// The operational time at which a page is worth `value`, not before `from`.
    pub(super) fn time_of(&self, number: u32, page: &Page, value: f64, from: f64) -> f64 {
        let worth = self.worth_of(number, page);
        worth.time_of(value, from, worth.curve(from))
    }

    /// What decides the value of a page at any time, put together once.
    pub(super) fn worth_of(&self, number: u32, page: &Page) -> Worth {
        match self.rule.timing {
            Timing::Value => Worth::Grown {
                rate: self.rate_of(page),
                weight: self.weight_of(page),
                objective: self.rule.objective,
                harmonic_share: self.rule.harmonic_share,
            },
            Timing::Even(allocation) => Worth::PerDay(self.visits_of(page, allocation)),
            Timing::Random(allocation) => Worth::PerDay(self.visits_of(page, allocation) / luck(number, page.last)),
        }
    }

    /// Visits per day that an allocation grants; one in turn before there is a price.
    pub(super) fn visits_of(&self, page: &Page, allocation: Allocation) -> f64 {
        if self.shared.price == 0.0 {
            return 1.0;
        }
        allocation.visits(self.wanted(page), f64::from(self.shared.price))
    }

    pub(super) fn wanted(&self, page: &Page) -> Wanted {
        Wanted { rate: self.rate_of(page).mean(), importance: self.weight_of(page) }
    }

    /// Operational time of one page, when no reading of its site is at hand.
    pub(super) fn operational_alone(&self, number: u32, page: &Page, now: f64) -> f64 {
        let last = page.last_day();
        let elapsed = match &self.sites[page.site as usize].clock {
            Some(clock) if now > last => clock.operational(last, now),
            _ => (now - last).max(0.0),
        };
        elapsed + self.hinted(number)
    }

    /// Hints of a page's change, in days that they are worth.
    pub(super) fn hinted(&self, number: u32) -> f64 {
        self.hints.get(&number).map_or(0.0, |&days| f64::from(days))
    }
}

/// How the value of one page grows with the operational time since its last visit.
#[derive(Copy, Clone, Debug)]
pub(super) enum Worth {
    Grown { rate: Rate, weight: f64, objective: Objective, harmonic_share: f64 },
    PerDay(f64),
}

impl Worth {
    pub fn curve(&self, o: f64) -> Curve {
        match *self {
            Worth::PerDay(visits) => Curve { value: o * visits, growth: visits, bend: 0.0 },
            Worth::Grown { rate, weight, objective, harmonic_share } => {
                objective.curve(rate, o, harmonic_share).times(weight)
            }
        }
    }

    /// When it reaches a worth that lies `away` above that of `now`, in logarithm, where one step from there tells it.
    pub fn near(&self, now: Curve, o: f64, away: f64) -> Option<f64> {
        match self {
            Worth::PerDay(_) => None,
            Worth::Grown { .. } => now.near(o, away),
        }
    }

    /// When it reaches a worth, or a little before; not before `o`, whose curve this is.
    pub fn time_of(&self, worth: f64, o: f64, now: Curve) -> f64 {
        match *self {
            _ if now.value >= worth => o,
            Worth::PerDay(visits) if visits > 0.0 => worth / visits,
            Worth::Grown { rate, weight, objective, harmonic_share } if weight > 0.0 => {
                objective.time_after(rate, worth / weight, o, now.times(1.0 / weight), harmonic_share)
            }
            _ => f64::INFINITY,
        }
    }
}

/// A draw from the exponential distribution with mean 1 that belongs to one visit, so that a restart draws the same.
fn luck(number: u32, last: u32) -> f64 {
    let share = vernal_model::Chance::new(u64::from(number) << 32 | u64::from(last)).stream("random timing").share();
    (-(1.0 - share).ln()).max(1e-6)
}
