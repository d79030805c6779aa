//! How a site behaved when it was asked, and what follows for the next request.

use vernal_model::{Failure, Moment, Outcome, Report, Span, Wall};

use crate::core::Core;
use crate::in_flight::Request;

/// A site that fails is not asked for its delay, doubled with each failure in a row, up to this.
const BACK_OFF_MAX: Span = Span::from_hours(1);
/// The shortest first step of a back-off, so that a crawl without delay backs off too.
const BACK_OFF_MIN: Span = Span::from_secs(1);

/// Frees the site's slot and notes how the site behaves.
pub(crate) fn answered(core: &mut Core, request: &Request, report: &Report, now: Moment) {
    if let Some(address) = request.address {
        core.sites.addresses.answered(address);
    }
    core.sites.slots.ended(request.level);
    // What the order waited for politeness is not the site's fault.
    let took = core.settings.real(report.finished.since(report.started));
    let id = core.partitions.home_of(&report.order.url);
    let delay = core.settings.delay.max(BACK_OFF_MIN);
    let sites = &mut core.partitions.of_mut(id).sites;
    sites.politeness.answered(&request.site, report.finished);
    let life = sites.site_mut(&request.site);
    life.pace.note(&report.outcome, took);
    life.note_reach(&report.outcome, report.order.patience);
    let profile = &mut life.profile;
    let address = report.exchange.as_ref().and_then(|exchange| exchange.address).or(profile.address);
    let has_moved = std::mem::replace(&mut profile.address, address) != address;
    let trouble = site_trouble(&report.outcome);
    if trouble.is_none() && profile.failures == 0 && !has_moved {
        return;
    }
    match trouble {
        None => {
            profile.failures = 0;
            profile.trouble = None;
        }
        Some(retry_after) => {
            profile.trouble = Some(report.outcome.detail().into());
            profile.failures = profile.failures.saturating_add(1);
            let back_off = delay.scaled(2f64.powi(i32::from(profile.failures.min(16)))).min(BACK_OFF_MAX);
            profile.not_before = now + retry_after.unwrap_or_default().max(back_off);
            let until = profile.not_before;
            tracing::debug!(site = request.site.as_str(), %until, failures = profile.failures, "site backs off");
            sites.politeness.hold(&request.site, until);
        }
    }
    if core.partitions.is_known(&request.site) {
        core.note_site(&request.site, id);
    }
}

/// Whether the site itself, not only this page, is in trouble, and the wait that it asked for.
fn site_trouble(outcome: &Outcome) -> Option<Option<Span>> {
    match outcome {
        Outcome::Failed(Failure::Status { status, retry_after }) if *status == 429 || *status >= 500 => {
            Some(*retry_after)
        }
        Outcome::Failed(Failure::Dns(_) | Failure::Connect(_) | Failure::Tls(_) | Failure::Timeout(_)) => Some(None),
        // Many sites refuse robots with a plain 403: a site that refuses is left alone for a while, whatever it means.
        Outcome::Blocked { wall: Wall::Bot | Wall::Forbidden, .. } => Some(None),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use vernal_model::{Order, PageKey, Site};

    use super::*;
    use crate::in_flight::Asked;
    use crate::testing::{Bench, START, answered as read, failed, html, order, unhindered, url};
    use crate::{Settings, sites::addresses::AddressBook};

    const PAGE: &str = "http://a.example/x";

    /// A site that is known and was asked for a page.
    fn bench(delay: Span) -> Bench {
        let mut bench = Bench::new(Settings { delay, ..unhindered() });
        let (site, id) = (url(PAGE).site(), url(PAGE).partition());
        bench.crawler.core.partitions.settle(&site, id);
        bench
    }

    fn request(address: Option<std::net::IpAddr>) -> Request {
        let page = Box::new(failed(PAGE, 1, START));
        Request { page: None, site: url(PAGE).site(), address, asked: Asked::Again(page), level: 0 }
    }

    fn end(bench: &mut Bench, outcome: Outcome, now: Moment) {
        let report = Report::unanswered(order(PAGE, PageKey::default()), now, now, outcome);
        answered(&mut bench.crawler.core, &request(None), &report, now);
    }

    fn earliest(bench: &Bench) -> Moment {
        bench.crawler.core.partitions.of(url(PAGE).partition()).sites.politeness.earliest(&url(PAGE).site())
    }

    fn down() -> Outcome {
        Outcome::Failed(Failure::Connect("no".into()))
    }

    #[test]
    fn a_site_in_trouble_is_left_alone_twice_as_long_each_time_and_at_most_an_hour() {
        for delay in [Span::ZERO, Span::from_secs(3)] {
            let (mut bench, mut waits) = (bench(delay), Vec::new());
            let mut now = START;
            for _ in 0..20 {
                end(&mut bench, down(), now);
                waits.push(earliest(&bench).since(now));
                now = earliest(&bench);
            }
            let first = delay.max(BACK_OFF_MIN);
            for (failures, wait) in waits.iter().enumerate() {
                let doubled = first.scaled(2f64.powi(failures as i32 + 1));
                assert_eq!(*wait, doubled.min(BACK_OFF_MAX), "{failures}");
            }
        }
    }

    #[test]
    fn a_good_answer_ends_the_trouble_and_the_next_failure_begins_anew() {
        let mut bench = bench(Span::ZERO);
        (0..6).for_each(|_| end(&mut bench, down(), START));
        let life = |bench: &Bench| {
            let sites = &bench.crawler.core.partitions.of(url(PAGE).partition()).sites;
            sites.site(&Site::new("a.example")).unwrap().profile.clone()
        };
        assert_eq!(life(&bench).failures, 6);
        assert!(life(&bench).trouble.is_some());
        let now = earliest(&bench);
        let good = read(Order { ..order(PAGE, PageKey::default()) }, now, "text/html", &html("Words.", &[]));
        answered(&mut bench.crawler.core, &request(None), &good, now);
        assert_eq!((life(&bench).failures, life(&bench).trouble), (0, None));
        end(&mut bench, down(), now);
        assert_eq!(earliest(&bench), now + BACK_OFF_MIN.scaled(2.0));
        bench.commit();
        let row = bench.crawler.reader().site(&Site::new("a.example"));
        assert!(row.is_none_or(|row| row.profile.failures == 1), "what is journalled is what is known");
    }

    #[test]
    fn the_longer_of_retry_after_and_back_off_is_obeyed() {
        for (asked, wait) in [(Some(7_200), 7_200), (Some(1), 2), (None, 2)] {
            let mut bench = bench(Span::ZERO);
            let retry_after = asked.map(Span::from_secs);
            end(&mut bench, Outcome::Failed(Failure::Status { status: 429, retry_after }), START);
            assert_eq!(earliest(&bench), START + Span::from_secs(wait), "{asked:?}");
        }
    }

    #[test]
    fn a_page_in_trouble_is_no_site_in_trouble() {
        for outcome in [
            Outcome::Failed(Failure::Truncated),
            Outcome::Failed(Failure::Status { status: 404, retry_after: None }),
            Outcome::Blocked { wall: Wall::Login, status: 403, evidence: String::new() },
            Outcome::Gone { status: 410 },
            Outcome::NotModified,
        ] {
            let mut bench = bench(Span::ZERO);
            end(&mut bench, outcome.clone(), START);
            assert!(earliest(&bench) <= START, "{outcome:?}");
        }
    }

    #[test]
    fn the_address_that_answered_is_remembered_and_its_place_is_free_again() {
        let mut bench = bench(Span::ZERO);
        let address = "192.0.2.7".parse().unwrap();
        let limits = vernal_model::AddressLimits { at_once: 1, ..Default::default() };
        bench.crawler.core.sites.addresses = AddressBook::new(limits);
        bench.crawler.core.sites.addresses.asked(address, START);
        assert_eq!(bench.crawler.core.sites.addresses.earliest(address, false), None);
        let mut report = read(order(PAGE, PageKey::default()), START, "text/html", &html("Words.", &[]));
        report.exchange.as_mut().unwrap().address = Some(address);
        answered(&mut bench.crawler.core, &request(Some(address)), &report, START);
        assert!(bench.crawler.core.sites.addresses.earliest(address, false).is_some());
        let sites = &bench.crawler.core.partitions.of(url(PAGE).partition()).sites;
        assert_eq!(sites.site(&Site::new("a.example")).unwrap().profile.address, Some(address));
    }
}
