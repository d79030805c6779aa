//! Holds the visits that were made against the politeness that was promised: each run by its own promise.

use std::collections::BTreeMap;

use vernal_frontier::{Breach, audit};
use vernal_model::{Moment, PageKey, Site};
use vernal_repository::runs::Politeness;
use vernal_repository::{Reader, Result};

/// One visit that really asked a site: when it started and when it ended.
pub type Request = (Site, Moment, Moment);

/// The visits that really asked a site.
pub fn requests(reader: &Reader) -> Result<Vec<Request>> {
    let mut sites: BTreeMap<PageKey, Site> = BTreeMap::new();
    let mut requests = Vec::new();
    for row in reader.visit_book() {
        let (page, visit) = row?;
        if !visit.outcome.asked() || visit.is_imported() {
            continue;
        }
        let site = match (&visit.robots, page) {
            (Some(robots), _) => Some(robots.site()),
            (None, Some(page)) if sites.contains_key(&page) => sites.get(&page).cloned(),
            (None, Some(page)) => {
                // Visits lie page by page, so that one site at a time is remembered.
                sites.clear();
                let site = reader.url(page)?.map(|row| row.url.site());
                sites.extend(site.clone().map(|site| (page, site)));
                site
            }
            (None, None) => None,
        };
        requests.extend(site.map(|site| (site, visit.started, visit.finished)));
    }
    Ok(requests)
}

/// Each run is judged by its own promise, and all runs together by the mildest one, so that a restart cannot evade the
/// audit.
pub fn breaches(requests: &[Request], promises: &[Politeness]) -> Vec<Breach> {
    let mut found = Vec::new();
    for (place, promise) in promises.iter().enumerate() {
        let begins = if place == 0 { Moment::EPOCH } else { promise.started };
        let ends = promises.get(place + 1).map_or(Moment::NEVER, |next| next.started);
        let within = requests.iter().filter(|(_, started, _)| (begins..ends).contains(started)).cloned();
        found.extend(audit(within, promise.delay, promise.per_site));
    }
    if promises.len() > 1 {
        let delay = promises.iter().map(|promise| promise.delay).min().unwrap_or_default();
        let per_site = promises.iter().map(|promise| promise.per_site).max().unwrap_or(1);
        for breach in audit(requests.iter().cloned(), delay, per_site) {
            if !found.contains(&breach) {
                found.push(breach);
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use vernal_model::Span;

    #[test]
    fn each_run_is_judged_by_its_own_promise() {
        let site = Site::new("a.example");
        let at = |millis: i64| Moment::from_micros(millis * 1_000);
        let quick = Politeness { started: at(0), delay: Span::from_millis(10), per_site: 1 };
        let slow = Politeness { started: at(1_000), delay: Span::from_millis(500), per_site: 1 };
        let visits = |starts: &[i64]| -> Vec<Request> {
            starts.iter().map(|&start| (site.clone(), at(start), at(start))).collect()
        };
        assert_eq!(breaches(&visits(&[0, 20, 40, 1_000, 1_600]), &[quick, slow]), []);
        assert_eq!(breaches(&visits(&[0, 20, 1_000, 1_100]), &[quick, slow]).len(), 1);
        assert_eq!(breaches(&visits(&[995, 1_000]), &[quick, slow]).len(), 1);
    }
}
