//! Promises that are not kept, and the remedies.

use std::collections::BTreeMap;

use vernal_model::Span;

/// The promises of a policy's pages, and how far behind their visits are.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Unkept {
    /// Pages with such a promise, and how many of them are overdue.
    pub promised: u64,
    pub overdue: u64,
    pub most_overdue: Span,
    /// Visits a day that all promises together need.
    pub needs_per_day: f64,
    /// The visits a day for each site with such promises.
    pub sites: BTreeMap<u32, SiteNeed>,
}

#[derive(Copy, Clone, Debug, Default, PartialEq)]
pub struct SiteNeed {
    pub needs_per_day: f64,
    pub overdue: u64,
}

/// A change of settings that would let the promises be kept.
#[derive(Copy, Clone, Debug, PartialEq)]
pub enum Remedy<S = u32> {
    /// A budget for held pages of at least so many visits a day.
    Budget { per_day: f64 },
    /// A delay between two visits to the site of at most this; it is `now` at present.
    Delay { site: S, at_most: Span, now: Span },
}

impl Unkept {
    pub fn add(&mut self, site: u32, every: Span, overdue_by: Span) {
        let per_day = if every == Span::ZERO { 0.0 } else { 1.0 / every.days_f64() };
        let is_overdue = u64::from(overdue_by > Span::ZERO);
        self.promised += 1;
        self.overdue += is_overdue;
        self.most_overdue = self.most_overdue.max(overdue_by);
        self.needs_per_day += per_day;
        let need = self.sites.entry(site).or_default();
        need.needs_per_day += per_day;
        need.overdue += is_overdue;
    }

    /// Adds another partition's promises. Its sites are left out, because site numbers are local to a partition.
    pub fn join(&mut self, other: &Unkept) {
        self.promised += other.promised;
        self.overdue += other.overdue;
        self.most_overdue = self.most_overdue.max(other.most_overdue);
        self.needs_per_day += other.needs_per_day;
    }

    /// What prevents the promises from being kept: a budget below what they need, and sites whose delay allows too few
    /// visits. Empty if all can be kept, even if some are still overdue.
    pub fn remedies(&self, per_day: f64, delay_of: impl Fn(u32) -> Span) -> Vec<Remedy> {
        let mut remedies = Vec::new();
        if self.needs_per_day > per_day {
            remedies.push(Remedy::Budget { per_day: self.needs_per_day });
        }
        for (&site, need) in &self.sites {
            let at_most = Span::from_secs_f64(86_400.0 / need.needs_per_day);
            let now = delay_of(site);
            if need.needs_per_day > 0.0 && now > at_most {
                remedies.push(Remedy::Delay { site, at_most, now });
            }
        }
        remedies
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_keep_promises_is_named_and_nothing_else() {
        let mut unkept = Unkept::default();
        for _ in 0..48 {
            unkept.add(3, Span::from_hours(1), Span::ZERO);
        }
        unkept.add(5, Span::from_days(1), Span::from_hours(2));
        assert_eq!((unkept.promised, unkept.overdue, unkept.most_overdue), (49, 1, Span::from_hours(2)));
        let delay = |site: u32| Span::from_secs(if site == 3 { 90 } else { 1 });
        let remedies = unkept.remedies(1_000.0, delay);
        let [Remedy::Budget { per_day }, Remedy::Delay { site: 3, at_most, .. }] = remedies[..] else {
            panic!("{remedies:?}")
        };
        assert!((per_day - 1_153.0).abs() < 1e-6);
        assert!((at_most.secs_f64() - 75.0).abs() < 1e-3);
        assert_eq!(unkept.remedies(2_000.0, |_| Span::from_secs(1)), []);
    }
}
