//! What is told beside the conditions: a page or a region that is lost, silence, and a route that takes nothing. It is told
//! again until somebody acknowledges it or it is over.

use vernal_model::{Moment, Span};

use crate::outbox::{Alert, Delivery, Reason, Record, State, Trouble, TroubleKind, WatchEntry};
use crate::told::Told;

/// How often it is told again.
pub const AGAIN_EVERY: Span = Span::from_days(1);
/// That a route took nothing is told so often at most.
const GIVEN_UP_TOLD_EVERY: Span = Span::from_days(1);

/// That this event begins.
pub fn begun(kind: TroubleKind, told: &Told, now: Moment) -> Trouble {
    let says = match kind {
        TroubleKind::Region => format!("what this watch is about is no longer on the page; {}", told.line()),
        TroubleKind::Page | TroubleKind::Silent => told.line(),
    };
    let event = Some(told.clone());
    Trouble { kind, event, says, since: now, told: 1, next: now + AGAIN_EVERY, acknowledged: false }
}

/// Deliveries of what is told beside the conditions go to every route of the watch at once.
pub fn deliveries(entry: &WatchEntry, trouble: &Trouble, now: Moment) -> Vec<Record> {
    let name =
        trouble.event.as_ref().map_or_else(|| format!("silent-{}", entry.heard.micros()), |told| told.id.clone());
    let (name, reason) = match (trouble.told, trouble.kind) {
        (0 | 1, TroubleKind::Silent) => (name, Reason::Silent),
        (0 | 1, _) => (name, Reason::Lost),
        (times, _) => (format!("still-{name}-{times}"), Reason::StillLost),
    };
    let says = match reason {
        Reason::StillLost => format!(
            "still so since {}: {} (acknowledge it with `vernal watch acknowledge {}`)",
            trouble.since.rfc3339(),
            trouble.says,
            entry.watch.id
        ),
        _ => trouble.says.clone(),
    };
    let alert = Alert {
        reason,
        says: Some(says),
        since: trouble.event.as_ref().map(|told| told.cursor.clone()),
        events: trouble.event.clone().into_iter().collect(),
        more: 0,
    };
    let deliver = |to: &crate::watch::To| {
        let id = format!("{}/{name}/{}", entry.watch.id, to.route);
        let watch = (entry.watch.id.as_str(), entry.watch.shown_name());
        Record::Deliver(Box::new(Delivery::new(id, watch, &to.route, alert.clone(), now)))
    };
    entry.watch.to.iter().map(deliver).collect()
}

/// Troubles that are to be told again.
pub fn reminders(state: &State, now: Moment) -> Vec<Record> {
    let mut records = Vec::new();
    for entry in state.watches.values().filter(|entry| entry.watch.enabled) {
        let Some(trouble) = entry.trouble.as_ref().filter(|trouble| !trouble.acknowledged && trouble.next <= now)
        else {
            continue;
        };
        let again = Trouble { told: trouble.told + 1, next: now + AGAIN_EVERY, ..trouble.clone() };
        records.extend(deliveries(entry, &again, now));
        records.push(Record::Trouble { watch: entry.watch.id.clone(), trouble: Some(Box::new(again)) });
    }
    records
}

/// Watches over which nothing was seen for as long as they say. `read` is when the page was read last, where that is known.
pub fn silences(
    state: &State,
    read: &dyn Fn(&WatchEntry) -> Option<Moment>,
    crawl_now: Moment,
    now: Moment,
) -> Vec<Record> {
    let mut records = Vec::new();
    for entry in state.watches.values().filter(|entry| entry.watch.enabled && entry.trouble.is_none()) {
        let Ok(Some(span)) = entry.watch.silent_for() else { continue };
        let says = match read(entry).filter(|read| *read + span <= crawl_now) {
            Some(read) => format!("the page could not be read since {}", read.rfc3339()),
            None if entry.heard + span <= crawl_now => format!("nothing changed since {}", entry.heard.rfc3339()),
            None => continue,
        };
        let says = format!("{}: {says}", entry.watch.shown_name());
        let trouble = Trouble {
            kind: TroubleKind::Silent,
            event: None,
            says,
            since: now,
            told: 1,
            next: now + AGAIN_EVERY,
            acknowledged: false,
        };
        records.extend(deliveries(entry, &trouble, now));
        records.push(Record::Trouble { watch: entry.watch.id.clone(), trouble: Some(Box::new(trouble)) });
    }
    records
}

/// That a delivery was given up, or its route switched itself off, on the next route that works: of the same watch first.
pub fn told_elsewhere(state: &State, delivery: &Delivery, why: &str, now: Moment) -> Option<Record> {
    if delivery.alert.reason == Reason::GivenUp {
        return None;
    }
    let begins = format!("the route {} ", delivery.route);
    let was_told = state.deliveries.values().rev().any(|one| {
        one.alert.reason == Reason::GivenUp
            && one.made + GIVEN_UP_TOLD_EVERY > now
            && one.alert.says.as_ref().is_some_and(|says| says.starts_with(&begins))
    });
    if was_told {
        return None;
    }
    let works = |name: &str| {
        name != delivery.route && state.route(name).is_some_and(|route| route.disabled.is_none() && !route.is_failing())
    };
    let own = state.watches.get(&delivery.watch);
    let own = own.and_then(|entry| entry.watch.to.iter().map(|to| to.route.as_str()).find(|name| works(name)));
    // A feed reaches those alone who read that of this watch.
    let others = state.all_routes().filter(|entry| !entry.route.is_atom()).map(|entry| entry.route.name.as_str());
    let route = own.or_else(|| others.into_iter().find(|name| works(name)))?;
    let says = format!("{begins}{why}; the first that it did not take: {}", delivery.alert.line());
    let alert = Alert { reason: Reason::GivenUp, says: Some(says), ..delivery.alert.clone() };
    let id = format!("{}-given-up/{route}", delivery.id.replace('/', "-"));
    let watch = (delivery.watch.as_str(), delivery.watch_name.clone());
    Some(Record::Deliver(Box::new(Delivery::new(id, watch, route, alert, now))))
}
