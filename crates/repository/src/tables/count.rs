//! Updates the counters of a site and of the repository for a deed, each exactly once.

use vernal_model::{ErasedPage, EventKind, Eviction, Outcome, PageState, Partition, Site, SiteCounts, Visit, Visited};

use super::apply::Applying;
use super::rows::Totals;
use crate::sieve::Resolved;

impl Applying<'_> {
    pub(super) fn count_visited(&mut self, partition: Partition, visited: &Visited) {
        let totals = &mut self.state.totals;
        count_request(totals, &visited.visit);
        if let Some(count) = visited.was.and_then(|was| of_state(totals, was)) {
            less(count);
        }
        if let Some(count) = of_state(totals, visited.page.state) {
            *count += 1;
        }
        let (left, changed) = (visited.left.is_some(), is_change(visited));
        totals.noise += u64::from(is_noise(visited));
        if left {
            less(&mut totals.waiting);
        }
        totals.changes += u64::from(changed);
        totals.events += u64::from(visited.event.is_some());
        if let Some(version) = &visited.visit.version {
            totals.versions += 1;
            totals.body_bytes += u64::from(version.body_bytes);
        }
        self.count_in_series(partition, visited.page.url.site_text(), |counts| counts.count_page(visited));
        let Some(row) = self.site(partition, visited.page.url.site_text()) else { return };
        count_request_of_site(&mut row.counts, &visited.visit);
        if left {
            less(&mut row.counts.waiting);
        }
        if let Some(count) = visited.was.and_then(|was| of_site(&mut row.counts, was)) {
            less(count);
        }
        if let Some(count) = of_site(&mut row.counts, visited.page.state) {
            *count += 1;
        }
        row.counts.changes += u64::from(changed);
    }

    /// Counts a page that is no longer held, without a visit.
    pub(super) fn count_left(&mut self, partition: Partition, leaving: &Eviction) {
        if let Some(count) = of_state(&mut self.state.totals, leaving.was) {
            less(count);
        }
        let Some(row) = self.site(partition, leaving.page.url.site_text()) else { return };
        if let Some(count) = of_site(&mut row.counts, leaving.was) {
            less(count);
        }
    }

    /// Counts a page of which nothing is left. What its visits cost was spent and stays counted.
    pub(super) fn count_erased(&mut self, partition: Partition, erased: &ErasedPage) {
        let totals = &mut self.state.totals;
        less(&mut totals.known);
        if let Some(count) = erased.was.and_then(|was| of_state(totals, was)) {
            less(count);
        }
        if erased.left.is_some() {
            less(&mut totals.waiting);
        }
        totals.versions = totals.versions.saturating_sub(erased.counts.versions);
        totals.body_bytes = totals.body_bytes.saturating_sub(erased.counts.body_bytes);
        totals.events += u64::from(erased.event.is_some());
        let Some(row) = self.site(partition, erased.site.as_str()) else { return };
        less(&mut row.counts.known);
        if let Some(count) = erased.was.and_then(|was| of_site(&mut row.counts, was)) {
            less(count);
        }
        if erased.left.is_some() {
            less(&mut row.counts.waiting);
        }
    }

    /// Counts a visit that is not to a page.
    pub(super) fn count_visit(&mut self, partition: Partition, site: &str, visit: &Visit) {
        count_request(&mut self.state.totals, visit);
        self.count_in_series(partition, site, |counts| counts.count_other(visit));
        let Some(row) = self.site(partition, site) else { return };
        count_request_of_site(&mut row.counts, visit);
    }

    pub(super) fn count_decided(&mut self, partition: Partition, site: &Site, resolved: Resolved, barred: bool) {
        let is_new = resolved == Resolved::New;
        let waits = !barred && matches!(resolved, Resolved::New | Resolved::Readmitted);
        let totals = &mut self.state.totals;
        totals.known += u64::from(is_new);
        totals.barred += u64::from(is_new && barred);
        totals.waiting += u64::from(waits);
        if resolved == Resolved::Readmitted {
            less(&mut totals.barred);
        }
        let Some(row) = self.site(partition, site.as_str()) else { return };
        row.counts.known += u64::from(is_new);
        row.counts.waiting += u64::from(waits);
    }
}

/// Counts the request and bytes of a visit, including robots.txt.
fn count_request(totals: &mut Totals, visit: &Visit) {
    totals.visits += u64::from(visit.outcome.asked());
    totals.wire_bytes += visit.wire_bytes;
}

fn count_request_of_site(counts: &mut SiteCounts, visit: &Visit) {
    counts.visits += u64::from(visit.outcome.asked());
    counts.wire_bytes += visit.wire_bytes;
    counts.failures += u64::from(matches!(visit.outcome, Outcome::Failed(_)));
}

/// Whether something is left that matters to a reader.
fn is_change(visited: &Visited) -> bool {
    let told = |kind| matches!(kind, EventKind::Changed | EventKind::Template);
    visited.event.as_ref().is_some_and(|event| told(event.kind) && event.change.is_change())
}

/// Whether something differed and all of it was noise.
fn is_noise(visited: &Visited) -> bool {
    visited.event.as_ref().is_some_and(|event| event.kind == EventKind::Changed && event.change.is_noise())
}

/// Evicted pages have no counter: they are the known URLs that neither wait nor have another state.
fn of_state(totals: &mut Totals, state: PageState) -> Option<&mut u64> {
    Some(match state {
        PageState::Held => &mut totals.held,
        PageState::Gone => &mut totals.gone,
        PageState::Moved => &mut totals.moved,
        PageState::Blocked => &mut totals.blocked,
        PageState::Refused => &mut totals.refused,
        PageState::Failed => &mut totals.failed,
        PageState::Left => return None,
    })
}

fn of_site(counts: &mut SiteCounts, state: PageState) -> Option<&mut u64> {
    match state {
        PageState::Held => Some(&mut counts.held),
        PageState::Gone => Some(&mut counts.gone),
        _ => None,
    }
}

fn less(count: &mut u64) {
    *count = count.saturating_sub(1);
}
