//! The page's row after a visit, and when the next visit is due. A page is in exactly one place: with the policy (held
//! and readable), with the retries (at `not_before`), or with neither for ever.

use vernal_frontier::Waiting;
use vernal_model::{
    Failure, Location, Moment, Outcome, Page, PageState, PolicyState, Report, Span, Validators, Version,
};

use super::verdict::Verdict;

/// A held page is Gone only after so many visits in a row found it missing …
const GONE_MISSES_MIN: u16 = 3;
/// … over at least this long, because sites lose pages for an afternoon.
const GONE_AFTER: Span = Span::from_days(1);
/// The first retry after a miss; the next one comes when it can decide. On a web whose pages come and go, more retries
/// would cost most of the visits and gain nothing.
const MISS_AGAIN: Span = Span::from_hours(1);
/// How often a page that is gone is visited again.
const GONE_AGAIN: Span = Span::from_days(30);

/// The wait before the first retry of a failed visit; the next retry waits four times as long. These quick retries
/// count as waiting.
const RETRY_AGAIN: Span = Span::from_secs(30);
pub(crate) const QUICK_RETRIES_MAX: u16 = 2;
/// After the quick retries, the wait begins here and doubles up to `RETRY_MAX`.
const RETRY_SLOW: Span = Span::from_days(1);
const RETRY_MAX: Span = Span::from_days(30);

/// How often a page that was never read is asked for again when its body was beyond our limits.
const TOO_LARGE_AGAIN: Span = Span::from_days(90);

const REFUSED_AGAIN: Span = Span::from_days(1);
const MOVED_AGAIN: Span = Span::from_days(7);
/// A permanent redirect is remembered this long before the old URL is asked again.
const MOVED_PERMANENTLY_AGAIN: Span = Span::from_days(90);

/// Which part decides on the page's next visit.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum VisitOwner {
    Policy,
    Retry {
        at: Moment,
        quick: bool,
    },
    /// The page left the collection: it is not visited again unless it is wanted again.
    Nobody,
}

pub(crate) fn visit_owner(page: &Page) -> VisitOwner {
    if page.state == PageState::Left {
        return VisitOwner::Nobody;
    }
    let is_well = page.state == PageState::Held && page.misses == 0 && page.failures == 0;
    if is_well && lost_body(page) {
        return VisitOwner::Retry { at: page.not_before, quick: true };
    }
    if is_well {
        return VisitOwner::Policy;
    }
    VisitOwner::Retry { at: page.not_before, quick: (1..=QUICK_RETRIES_MAX).contains(&page.failures) }
}

/// Whether the body of its newest version is lost on our side.
fn lost_body(page: &Page) -> bool {
    page.version.is_some_and(|version| version.is_lost())
}

/// The row of a page that is visited for the first time.
pub(crate) fn first_row(waiting: &Waiting, report: &Report) -> Page {
    Page {
        key: waiting.page,
        url: waiting.url.clone(),
        state: PageState::Failed,
        depth: waiting.depth,
        found_on: waiting.found_on,
        admitted: waiting.admitted,
        first_visit: report.started,
        last_visit: report.started,
        last_confirmed: None,
        last_outcome: report.outcome.clone(),
        visits: 0,
        compared: 0,
        changes: 0,
        misses: 0,
        missing_since: None,
        failures: 0,
        not_before: Moment::EPOCH,
        version: None,
        validators: Validators::default(),
        importance: 1.0,
        noisy: false,
        policy: PolicyState::default(),
    }
}

/// The row after this visit. `record` is where the body is kept, if it was kept.
pub(crate) fn after(mut page: Page, report: &Report, verdict: &Verdict, record: Option<Location>) -> Page {
    let now = report.started;
    page.last_visit = now;
    page.last_outcome = report.outcome.clone();
    page.visits += u32::from(report.outcome.asked());
    match &report.outcome {
        Outcome::Read { status } => read(&mut page, report, verdict, *status, record),
        Outcome::NotModified => confirmed(&mut page, now),
        Outcome::Moved { permanent, .. } => {
            page.state = PageState::Moved;
            well_again(&mut page);
            page.not_before = now + if *permanent { MOVED_PERMANENTLY_AGAIN } else { MOVED_AGAIN };
        }
        Outcome::Gone { .. } => missed(&mut page, now),
        Outcome::Blocked { .. } => {
            // A redirect that turned out to lead to a login page was no move.
            if page.state == PageState::Moved && page.version.is_some() {
                page.state = PageState::Held;
            }
            // A block is not lifted within minutes: no quick retries.
            page.failures = page.failures.max(QUICK_RETRIES_MAX);
            failed(&mut page, PageState::Blocked, now);
        }
        Outcome::Refused(_) => {
            // A held page stays held; it only may not be visited now.
            if page.version.is_none() {
                page.state = PageState::Refused;
            }
            page.failures = page.failures.max(QUICK_RETRIES_MAX + 1);
            page.not_before = now + REFUSED_AGAIN;
        }
        Outcome::Failed(failure) => {
            if is_beyond_limits(failure) {
                page.failures = page.failures.max(QUICK_RETRIES_MAX);
            }
            failed(&mut page, PageState::Failed, now);
            if is_beyond_limits(failure) && page.version.is_none() {
                page.not_before = now + TOO_LARGE_AGAIN;
            }
            if let Failure::Status { retry_after: Some(wait), .. } = failure {
                page.not_before = page.not_before.max(now + *wait);
            }
        }
    }
    if lost_body(&page) {
        // The answer brought no bytes: the next request need not be the next moment.
        page.not_before = page.not_before.max(now + RETRY_SLOW);
    }
    if verdict.changed().is_some() {
        page.compared += 1;
        page.changes += u32::from(verdict.changed() == Some(true));
    }
    page
}

fn read(page: &mut Page, report: &Report, verdict: &Verdict, status: u16, record: Option<Location>) {
    confirmed(page, report.started);
    page.validators = report.validators.clone();
    let is_new_version = matches!(verdict, Verdict::First | Verdict::Differs(_));
    let Some(signature) = report.signature.as_ref().filter(|_| is_new_version) else { return };
    page.version = Some(Version {
        number: page.version.map_or(1, |version| version.number + 1),
        moment: report.started,
        status,
        payload: signature.payload,
        body_bytes: report.exchange.as_ref().map_or(0, |exchange| exchange.body.len() as u32),
        location: record,
    });
}

/// The page was read, or its site confirmed that it is unchanged.
fn confirmed(page: &mut Page, now: Moment) {
    page.state = PageState::Held;
    page.last_confirmed = Some(now);
    page.not_before = now;
    well_again(page);
}

fn well_again(page: &mut Page) {
    page.misses = 0;
    page.missing_since = None;
    page.failures = 0;
}

fn missed(page: &mut Page, now: Moment) {
    page.failures = 0;
    page.misses = page.misses.saturating_add(1);
    let since = *page.missing_since.get_or_insert(now);
    let confirmed_gone = page.misses >= GONE_MISSES_MIN && now.since(since) >= GONE_AFTER;
    // Nothing is held of a URL that was never read: one miss is enough.
    if page.version.is_none() || page.state == PageState::Gone || confirmed_gone {
        page.state = PageState::Gone;
        page.not_before = now + GONE_AGAIN;
        return;
    }
    let decided = (since + GONE_AFTER).max(now + MISS_AGAIN);
    page.not_before = if page.misses + 1 < GONE_MISSES_MIN { now + MISS_AGAIN } else { decided };
}

/// Whether the answer exceeds a limit of ours. It will again, so there are no quick retries.
pub(crate) fn is_beyond_limits(failure: &Failure) -> bool {
    matches!(failure, Failure::TooLarge | Failure::Bomb | Failure::HeadTooLarge)
}

fn failed(page: &mut Page, without_version: PageState, now: Moment) {
    page.failures = page.failures.saturating_add(1);
    if page.version.is_none() {
        page.state = without_version;
    }
    let wait = if page.failures <= QUICK_RETRIES_MAX {
        RETRY_AGAIN.scaled(4f64.powi(i32::from(page.failures) - 1))
    } else {
        let doublings = i32::from(page.failures - QUICK_RETRIES_MAX - 1).min(8);
        RETRY_SLOW.scaled(2f64.powi(doublings)).min(RETRY_MAX)
    };
    page.not_before = now + wait;
}

#[cfg(test)]
mod tests {
    use vernal_model::{Order, OrderId, OrderKind, PageKey, Refusal, Signature, Url, Via, WaitingPlace};

    use super::super::verdict;
    use super::*;

    fn report(outcome: Outcome, day: f64) -> Report {
        let url = Url::parse("http://example.org/a").unwrap();
        let started = Moment::EPOCH + Span::from_days(1).scaled(day);
        let read = matches!(outcome, Outcome::Read { .. });
        Report {
            order: Order {
                id: OrderId(1),
                page: PageKey::default(),
                url,
                kind: OrderKind::Page,
                validators: Validators::default(),
                held: None,
                gap: Span::ZERO,
                patience: None,
                public_only: false,
            },
            started,
            finished: started,
            outcome,
            exchange: None,
            document: None,
            signature: read.then(Signature::default),
            validators: Validators::default(),
            wire_bytes: 0,
        }
    }

    fn held() -> Page {
        let read = report(Outcome::Read { status: 200 }, 0.0);
        let waiting = Waiting {
            page: PageKey::default(),
            url: read.order.url.clone(),
            place: WaitingPlace { site: read.order.url.site(), band: 0, arrival: 0 },
            rank: 0,
            depth: 0,
            via: Via::Seed,
            found_on: None,
            admitted: Moment::EPOCH,
        };
        after(first_row(&waiting, &read), &read, &Verdict::First, None)
    }

    fn visited(page: Page, outcome: Outcome, day: f64) -> Page {
        after(page, &report(outcome, day), &Verdict::Silent, None)
    }

    #[test]
    fn a_held_page_is_gone_only_after_three_misses_over_a_day() {
        let gone = || Outcome::Gone { status: 404 };
        let mut page = held();
        for hour in 0..5 {
            page = visited(page, gone(), 1.0 + f64::from(hour) / 24.0);
            assert_eq!(page.state, PageState::Held, "five misses within five hours are an outage");
        }
        page = visited(page, gone(), 2.1);
        assert_eq!(page.state, PageState::Gone);
        assert!(page.version.is_some(), "the last good version stays");
        page = after(page, &report(Outcome::Read { status: 200 }, 40.0), &Verdict::Same(Default::default()), None);
        assert_eq!((page.state, page.misses), (PageState::Held, 0));
    }

    #[test]
    fn what_fails_blocks_or_is_refused_never_costs_a_version() {
        let page = held();
        for outcome in [
            Outcome::Failed(Failure::Truncated),
            Outcome::Blocked { wall: vernal_model::Wall::Bot, status: 403, evidence: String::new() },
            Outcome::Refused(Refusal::Robots),
        ] {
            let after = visited(page.clone(), outcome, 1.0);
            assert_eq!((after.state, after.version), (PageState::Held, page.version));
            assert!(matches!(visit_owner(&after), VisitOwner::Retry { .. }));
        }
    }

    #[test]
    fn a_page_whose_body_is_lost_is_asked_for_at_once_and_waits_when_that_brings_nothing() {
        let lost = Location { segment: 1, offset: 0, length: 0 };
        let mut page = held();
        page.version = page.version.map(|version| Version { location: Some(lost), ..version });
        assert_eq!(visit_owner(&page), VisitOwner::Retry { at: page.not_before, quick: true });
        let same = Verdict::Same(Default::default());
        let told = after(page.clone(), &report(Outcome::NotModified, 1.0), &same, None);
        assert_eq!(visit_owner(&told), VisitOwner::Retry { at: told.last_visit + RETRY_SLOW, quick: true });
        let found = Location { segment: 2, offset: 7, length: 9 };
        let read = report(Outcome::Read { status: 200 }, 1.0);
        let again = verdict::by_cheap_tests(Some(&page), &read).unwrap();
        assert_eq!(again.changed(), Some(false), "the same bytes are no change");
        let read = after(page, &read, &again, Some(found));
        let version = read.version.unwrap();
        assert_eq!((version.number, version.location), (2, Some(found)), "they are a version, so that they are kept");
        assert_eq!(visit_owner(&read), VisitOwner::Policy);
    }

    #[test]
    fn what_is_too_large_is_asked_for_once_and_again_after_months() {
        for failure in [Failure::TooLarge, Failure::Bomb, Failure::HeadTooLarge] {
            let first = Page { version: None, state: PageState::Failed, ..held() };
            let mut page = first.clone();
            for turn in 0..3 {
                page = visited(page, Outcome::Failed(failure.clone()), f64::from(turn) * 100.0);
                assert_eq!(page.not_before.since(page.last_visit), TOO_LARGE_AGAIN);
                assert!(matches!(visit_owner(&page), VisitOwner::Retry { quick: false, .. }), "no crawl waits for it");
            }
            let grown = visited(held(), Outcome::Failed(failure), 1.0);
            assert_eq!(grown.not_before.since(grown.last_visit), RETRY_SLOW, "a held page may shrink again");
            assert!(matches!(visit_owner(&grown), VisitOwner::Retry { quick: false, .. }));
        }
    }

    #[test]
    fn retries_come_slower_and_slower_but_never_stop() {
        let mut page = held();
        let mut waits = Vec::new();
        for turn in 0..12 {
            page = visited(page, Outcome::Failed(Failure::Truncated), f64::from(turn) * 100.0);
            waits.push(page.not_before.since(page.last_visit));
        }
        assert!(waits.is_sorted(), "{waits:?}");
        assert_eq!((waits[0], waits[1], waits[11]), (RETRY_AGAIN, RETRY_AGAIN.scaled(4.0), RETRY_MAX));
    }

    #[test]
    fn a_retry_after_is_obeyed() {
        let wait = Span::from_hours(5);
        let status = Outcome::Failed(Failure::Status { status: 503, retry_after: Some(wait) });
        let page = visited(held(), status, 1.0);
        assert_eq!(page.not_before, page.last_visit + wait);
    }
}
