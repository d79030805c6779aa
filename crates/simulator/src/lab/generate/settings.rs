//! What an invented world is made of, and which settings are refused.

use serde::{Deserialize, Serialize};
use vernal_model::{Chance, Moment, Span};

use super::draw;
use crate::lab::world::World;
use crate::{Error, Result};

/// A world holds at most this many changes, so that a mistake in a file cannot fill the memory.
const CHANGES_MAX: f64 = 200e6;

/// A world lasts at most eighty years: policies keep times as seconds in 32 bits, which end on 7 February 2106, and visit
/// nothing after that.
const DAYS_MAX: f64 = 29_200.0;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct WorldSettings {
    pub pages: usize,
    pub sites: usize,
    pub days: f64,
    pub warm_up_days: f64,
    pub rates: Rates,
    pub process: Process,
    /// Publications of a site that touch many of its pages at once, on top of the pages' own changes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub publications: Option<Publications>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drift: Option<RateDrift>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub births: Option<Births>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weights: Option<Weights>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hints: Option<Hints>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub politeness: Option<Capped>,
}

/// Log-normal change rates with an effect of the site and one of the page.
#[derive(Copy, Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rates {
    pub changes_per_day_median: f64,
    /// Sigma of the logarithm, between sites and between the pages of a site.
    pub spread_site: f64,
    pub spread_page: f64,
}

/// How a page changes at its rate.
#[derive(Copy, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", tag = "law")]
pub enum Process {
    #[default]
    Poisson,
    /// Clusters of changes; between them nothing.
    Bursty { changes_per_burst: f64, burst_days: f64 },
    /// `regular` of the pages change at equal waits with a little jitter, `diurnal` in the busy hours of their site
    /// only, the rest by Poisson.
    Periodic { regular: f64, diurnal: f64, jitter: f64, busy_hours: f64 },
}

#[derive(Copy, Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Publications {
    /// Publications a day of the median site, and how far sites differ (sigma of the logarithm).
    pub per_day_median: f64,
    pub spread: f64,
    /// The share of a site's pages that takes part in each.
    pub pages: f64,
    /// The pages' own rates are multiplied by this.
    pub own: f64,
}

/// At a share of the run, the rates of half the sites are multiplied by the factor and those of the others divided.
#[derive(Copy, Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RateDrift {
    pub at: f64,
    pub factor: f64,
}

/// New pages a week as a share of those at the start; pages live so long that their number stays.
#[derive(Copy, Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Births {
    pub per_week: f64,
}

#[derive(Copy, Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Weights {
    /// The k-th most important page weighs k to the power of minus this.
    pub exponent: f64,
    pub with_rate: WithRate,
}

/// How importance and change rate go together.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WithRate {
    Independent,
    /// The fastest pages weigh most.
    Correlated,
    /// The quietest pages weigh most.
    Opposed,
}

/// What sites say of their changes: each list is one side of a grid of worlds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hints {
    /// The share of changes that is announced.
    pub recall: Vec<f64>,
    /// False announcements for each change there is.
    pub false_per_change: Vec<f64>,
}

/// One site has many pages and may be asked seldom.
#[derive(Copy, Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Capped {
    /// Its share of all pages.
    pub pages: f64,
    /// Visits a day for each of its pages.
    pub visits_per_page_day: f64,
}

/// The world of the anchor numbers: 5,000 pages, 100 sites, 200 days.
impl Default for WorldSettings {
    fn default() -> Self {
        WorldSettings {
            pages: 5_000,
            sites: 100,
            days: 200.0,
            warm_up_days: 50.0,
            rates: Rates { changes_per_day_median: 1.0 / 30.0, spread_site: 1.2, spread_page: 1.0 },
            process: Process::Poisson,
            publications: None,
            drift: None,
            births: None,
            weights: None,
            hints: None,
            politeness: None,
        }
    }
}

impl WorldSettings {
    /// Whether something moves pages of one site at the same time: publications, busy hours, or rates that drift by site.
    pub fn changes_together(&self) -> bool {
        let has_busy_hours = matches!(self.process, Process::Periodic { diurnal, .. } if diurnal > 0.0);
        self.publications.is_some() || self.drift.is_some() || has_busy_hours
    }

    pub fn draw(&self, name: &str, chance: u64) -> World {
        let origin = Moment::from_secs(ORIGIN_SECS);
        let (days, warm_up) = (days(self.days), days(self.warm_up_days));
        draw::draw(self, World::new(name, origin, days, warm_up), &Chance::new(chance).stream("lab"))
    }

    pub(crate) fn check(&self) -> Result<()> {
        let wrong = |what: &str| Err(Error::Lab(what.to_owned()));
        let within = |value: f64, low: f64, high: f64| value >= low && value <= high;
        if !(1..=10_000_000).contains(&self.pages) || !(1..=self.pages).contains(&self.sites) {
            return wrong("a world has 1 to 10000000 pages, and at least one page for each site");
        }
        if !within(self.days, 1.0, DAYS_MAX) || !within(self.warm_up_days, 0.0, self.days) {
            return wrong(&format!(
                "a world lasts 1 to {DAYS_MAX} days, so that it ends before February 2106, where policies' times do, and its \
                 warm-up no longer than that"
            ));
        }
        let rates = self.rates;
        if !within(rates.changes_per_day_median, 0.0, 100.0)
            || !within(rates.spread_site, 0.0, 4.0)
            || !within(rates.spread_page, 0.0, 4.0)
        {
            return wrong("the median rate lies in 0..=100 changes a day, each spread in 0..=4");
        }
        let spread = rates.spread_site.powi(2) + rates.spread_page.powi(2);
        let changes = rates.changes_per_day_median * (spread / 2.0).exp() * self.days * self.pages as f64;
        if changes > CHANGES_MAX {
            return wrong("a world has at most 200 million changes: fewer pages, days or changes, please");
        }
        match self.process {
            Process::Poisson => {}
            Process::Bursty { changes_per_burst, burst_days } => {
                if !within(changes_per_burst, 1.0, 1_000.0) || !within(burst_days, 0.0, 1_000.0) {
                    return wrong("a burst has 1 to 1000 changes in at most 1000 days");
                }
            }
            Process::Periodic { regular, diurnal, jitter, busy_hours } => {
                let shares = [regular, diurnal, regular + diurnal, jitter];
                if shares.iter().any(|&share| !within(share, 0.0, 1.0)) || !within(busy_hours, 0.1, 24.0) {
                    return wrong("shares and jitter lie in 0..=1, busy hours in 0.1..=24");
                }
            }
        }
        self.check_extras()
    }

    fn check_extras(&self) -> Result<()> {
        let within = |value: f64, low: f64, high: f64| value >= low && value <= high;
        let publications = self.publications.is_none_or(|publications| {
            within(publications.per_day_median, 0.0, 100.0)
                && within(publications.spread, 0.0, 4.0)
                && within(publications.pages, 0.0, 1.0)
                && within(publications.own, 0.0, 10.0)
        });
        let drift = self.drift.is_none_or(|drift| within(drift.at, 0.0, 1.0) && within(drift.factor, 0.01, 100.0));
        let births = self.births.is_none_or(|births| within(births.per_week, 0.0, 10.0));
        let weights = self.weights.is_none_or(|weights| within(weights.exponent, 0.0, 4.0));
        let hints = self.hints.as_ref().is_none_or(|hints| {
            hints.recall.iter().all(|&recall| within(recall, 0.0, 1.0))
                && hints.false_per_change.iter().all(|&number| within(number, 0.0, 100.0))
                && !hints.recall.is_empty()
                && !hints.false_per_change.is_empty()
        });
        let politeness = self.politeness.is_none_or(|capped| {
            within(capped.pages, 0.0, 1.0) && within(capped.visits_per_page_day, 0.0, 1_000.0) && self.sites > 1
        });
        let parts = [
            (publications, "publications"),
            (drift, "drift"),
            (births, "births"),
            (weights, "weights"),
            (hints, "hints"),
            (politeness, "politeness"),
        ];
        match parts.iter().find(|(fits, _)| !fits) {
            Some((_, part)) => Err(Error::Lab(format!("a number of [world.{part}] is out of its range"))),
            None => Ok(()),
        }
    }
}

/// Invented worlds begin on 1 January 2026, a Thursday.
const ORIGIN_SECS: i64 = 1_767_225_600;

fn days(days: f64) -> Span {
    Span::from_secs_f64(days * 86_400.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_world_ends_after_the_last_second_that_policies_can_tell() {
        let of = |days| WorldSettings { days, pages: 10, sites: 1, ..WorldSettings::default() };
        assert!(of(DAYS_MAX).check().is_ok());
        let end = Moment::from_secs(ORIGIN_SECS) + days(DAYS_MAX);
        assert!(end < Moment::from_secs(i64::from(u32::MAX)));
        let told = of(36_500.0).check().unwrap_err().to_string();
        assert!(told.contains("29200 days") && told.contains("2106"), "{told}");
    }
}
