//! How a site behaved when it was asked, and what that means for the next request.

use vernal_model::{Failure, Moment, Outcome, Report, Span, Wall};

use crate::core::Core;
use crate::in_flight::Request;

/// A site that fails is left alone for its delay, doubled with each failure in a row, up to this.
const BACK_OFF_MAX: Span = Span::from_hours(1);
/// The least first step of a back-off, so that a crawl without delay backs off too.
const BACK_OFF_MIN: Span = Span::from_secs(1);

/// Frees the site's slot and notes how the site behaves.
pub(crate) fn answered(core: &mut Core, request: &Request, report: &Report, now: Moment) {
    if let Some(address) = request.address {
        core.sites.addresses.answered(address);
    }
    let id = core.partitions.home_of(&report.order.url);
    let delay = core.settings.delay.max(BACK_OFF_MIN);
    let sites = &mut core.partitions.of_mut(id).sites;
    sites.politeness.answered(&request.site, report.finished);
    let profile = &mut sites.site_mut(&request.site).profile;
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

/// Whether the site itself, not only this page, is in trouble; with the wait that it asked for.
fn site_trouble(outcome: &Outcome) -> Option<Option<Span>> {
    match outcome {
        Outcome::Failed(Failure::Status { status, retry_after }) if *status == 429 || *status >= 500 => {
            Some(*retry_after)
        }
        Outcome::Failed(Failure::Dns(_) | Failure::Connect(_) | Failure::Tls(_) | Failure::Timeout(_)) => Some(None),
        Outcome::Blocked { wall: Wall::Bot, .. } => Some(None),
        _ => None,
    }
}
