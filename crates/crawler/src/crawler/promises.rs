//! Whether the promises to visit pages at least so often are kept, and what would keep those that are not.

use vernal_model::{Moment, Site, Span};
use vernal_policy::{Remedy, Unkept};

use super::Crawler;

/// How the promises stand.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PromisesKept {
    /// Pages that were promised a visit at least so often, and those of them that are overdue.
    pub promised: u64,
    pub overdue: u64,
    pub most_overdue: Span,
    /// Visits a day that all promises together need, and those that the budget pays for.
    pub needs_per_day: f64,
    pub per_day: f64,
    pub cures: Vec<Cure>,
}

/// What stands in the way of promises, as what would clear it.
#[derive(Clone, Debug, PartialEq)]
pub enum Cure {
    /// A budget for held pages of at least so many visits a day.
    Budget { per_day: f64 },
    /// A delay between two visits to the site of at most this; it is `now` at present.
    Delay { site: Site, at_most: Span, now: Span },
}

impl Crawler {
    /// Whether anybody promised anything.
    pub fn has_promises(&self) -> bool {
        self.promises
    }

    pub fn promises_kept(&self, now: Moment) -> PromisesKept {
        let (mut all, mut cures) = (Unkept::default(), Vec::new());
        for partition in self.partitions.iter().filter(|_| self.promises) {
            let Some(promising) = partition.policy.promising() else { continue };
            let unkept = promising.unkept(now);
            let site_of = |number: u32| &partition.sites[number as usize].site;
            // The budget is that of all partitions and judged below.
            for remedy in unkept.remedies(f64::INFINITY, |site| partition.politeness.delay(site_of(site))) {
                if let Remedy::Delay { site, at_most } = remedy {
                    let site = site_of(site).clone();
                    cures.push(Cure::Delay { now: partition.politeness.delay(&site), site, at_most });
                }
            }
            all.join(&unkept);
        }
        let per_day = self.coordinator.refresh_per_day(self.waiting(), self.held(), self.mean_visit_bytes());
        if all.needs_per_day > per_day {
            cures.insert(0, Cure::Budget { per_day: all.needs_per_day });
        }
        PromisesKept {
            promised: all.promised,
            overdue: all.overdue,
            most_overdue: all.most_overdue,
            needs_per_day: all.needs_per_day,
            per_day,
            cures,
        }
    }
}
