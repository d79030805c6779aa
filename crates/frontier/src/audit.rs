//! Finds every request of a visit book that came too early or exceeded the limit of its site.

use std::collections::BTreeMap;

use vernal_model::{Moment, Site, Span};

/// A request that came too early.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Breach {
    pub site: Site,
    /// When the request that was too early started.
    pub started: Moment,
    /// When it would have been allowed to start.
    pub earliest: Moment,
}

/// Every request of a visit book that broke the delay or exceeded the number of requests at a time. The visits may come in
/// any order.
pub fn audit(visits: impl Iterator<Item = (Site, Moment, Moment)>, delay: Span, per_site: u16) -> Vec<Breach> {
    let mut by_site: BTreeMap<Site, Vec<(Moment, Moment)>> = BTreeMap::new();
    for (site, started, finished) in visits {
        by_site.entry(site).or_default().push((started, finished));
    }
    let mut breaches = Vec::new();
    for (site, mut visits) in by_site {
        visits.sort_unstable();
        let mut in_flight: Vec<Moment> = Vec::new();
        let mut rested = Moment::from_micros(i64::MIN);
        for (started, finished) in visits {
            in_flight.retain(|&end| end > started);
            let mut earliest = rested;
            if in_flight.len() >= usize::from(per_site.max(1)) {
                earliest = earliest.max(in_flight.iter().copied().min().unwrap_or(Moment::from_micros(i64::MIN)));
            }
            if started < earliest {
                breaches.push(Breach { site: site.clone(), started, earliest });
            }
            in_flight.push(finished);
            rested = rested.max(if per_site > 1 { started } else { finished } + delay);
        }
    }
    breaches
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Moment {
        Moment::from_secs(1_000) + Span::from_millis(millis)
    }

    #[test]
    fn the_audit_finds_what_came_too_early_and_nothing_else() {
        let site = Site::new("a.org");
        let visit = |start: u64, end: u64| (site.clone(), at(start), at(end));
        let breach =
            |start: u64, earliest: u64| Breach { site: site.clone(), started: at(start), earliest: at(earliest) };
        let second = Span::from_secs(1);
        assert_eq!(audit([visit(2_000, 2_500), visit(0, 1_000)].into_iter(), second, 1), []);
        let overlapping = [visit(0, 3_000), visit(1_500, 1_600), visit(4_000, 4_100)];
        assert_eq!(audit(overlapping.clone().into_iter(), second, 1), [breach(1_500, 4_000)]);
        assert_eq!(audit(overlapping.into_iter(), second, 2), []);
        let crowd = [visit(0, 9_000), visit(1_000, 9_000), visit(2_000, 2_100)];
        assert_eq!(audit(crowd.into_iter(), second, 2), [breach(2_000, 9_000)]);
    }
}
