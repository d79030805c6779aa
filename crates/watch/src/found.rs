//! What was found becomes deliveries, events held for digests, and troubles that begin or end.
//!
//! Whatever is not sent at once is held in one place, for one digest: what a schedule, quiet hours or `at_most` holds back, what a
//! route that is down has too much of, and what a page says that changes back and forth. It goes when the first of these is due.

use std::collections::HashMap;

use vernal_model::{EventKind, Moment, Span};
use vernal_repository::Cursor;

use crate::matching::Matching;
use crate::outbox::{Alert, Delivery, Held, Reason, Record, State, TroubleKind, WatchEntry};
use crate::told::{Told, WORDS_BYTES_MAX};
use crate::trouble;
use crate::watch::{AtMost, How, To, Watch};

/// Deliveries that wait on one route; what is beyond them is held for a digest.
const WAITING_MAX: usize = 10_000;
/// The span that `at_most` counts over.
const DAY: Span = Span::from_days(1);

/// An event that a watch covers, with what it means to it.
#[derive(Clone, Debug)]
pub struct Found {
    pub watch: String,
    pub cursor: Cursor,
    pub told: Told,
    pub seen: Moment,
    pub matching: Matching,
}

/// The records of what was found, in its order.
pub fn records_of(state: &State, found: Vec<Found>, now: Moment) -> Vec<Record> {
    let mut taking = Taking { state, records: Vec::new(), sent: HashMap::new(), troubles: HashMap::new(), now };
    found.into_iter().for_each(|found| taking.take(found));
    taking.records
}

/// Makes records of what was found.
struct Taking<'a> {
    state: &'a State,
    records: Vec<Record>,
    /// Deliveries of the last day by watch and route, those of this step included.
    sent: HashMap<(String, String), usize>,
    /// What watches have lost after the events of this step, where that differs.
    troubles: HashMap<String, Option<TroubleKind>>,
    now: Moment,
}

impl Taking<'_> {
    fn take(&mut self, found: Found) {
        let Some(entry) = self.state.watches.get(&found.watch).filter(|entry| entry.seen < found.cursor) else {
            return;
        };
        let Matching { told, lost, back } = found.matching;
        self.records.push(Record::Heard { watch: found.watch.clone(), at: found.seen });
        if let Some(kind) = lost {
            let event = told.unwrap_or(found.told).bounded(WORDS_BYTES_MAX);
            let trouble = trouble::begun(kind, &event, self.now);
            self.records.extend(trouble::deliveries(entry, &trouble, self.now));
            self.troubles.insert(found.watch.clone(), Some(kind));
            self.records.push(Record::Trouble { watch: found.watch, trouble: Some(Box::new(trouble)) });
            return;
        }
        let before = entry.trouble.as_ref().map(|trouble| trouble.kind);
        let lost = self.troubles.get(&found.watch).copied().unwrap_or(before);
        let is_over = lost.is_some_and(|lost| back == Some(lost) || lost == TroubleKind::Silent);
        if is_over {
            self.troubles.insert(found.watch.clone(), None);
            self.records.push(Record::Trouble { watch: found.watch.clone(), trouble: None });
        }
        let told = match told {
            // That a lost page is back is told, whatever the conditions say.
            None if is_over && found.told.event != EventKind::Changed && found.told.is_readable() => Some(found.told),
            told => told,
        };
        let Some(told) = told.map(|told| told.bounded(WORDS_BYTES_MAX)) else { return };
        for to in &entry.watch.to {
            self.send(entry, to, &told);
        }
    }

    fn send(&mut self, entry: &WatchEntry, to: &To, told: &Told) {
        // What is for a route that is there no more waits for it, and is told elsewhere in the end.
        let Some(route) = self.state.route(&to.route) else { return self.send_at_once(&entry.watch, to, told) };
        let loud_at = self.state.loud_at(&entry.watch.id, route, self.now);
        let is_quiet = loud_at > self.now;
        if to.how == How::AtOnce
            && !is_quiet
            && !self.is_repeated(&entry.watch.id, to, told)
            && self.has_room(entry, to)
        {
            return self.send_at_once(&entry.watch, to, told);
        }
        let due = match to.how {
            How::AtOnce if is_quiet => loud_at,
            _ => {
                let due = to.schedule().next_after(self.now, &route.route.zone());
                self.state.loud_at(&entry.watch.id, route, due)
            }
        };
        let (watch, route) = (entry.watch.id.clone(), to.route.clone());
        self.records.push(Record::Held { watch, route, told: Box::new(told.clone()), due });
    }

    fn send_at_once(&mut self, watch: &Watch, to: &To, told: &Told) {
        let id = format!("{}/{}/{}", watch.id, told.id, to.route);
        // Several rows of one event of a site are one delivery.
        let same = self.records.iter_mut().rev().find_map(|record| match record {
            Record::Deliver(delivery) if delivery.id == id => Some(delivery),
            _ => None,
        });
        match same {
            Some(delivery) => delivery.alert.events.push(told.clone()),
            None => {
                let alert = Alert::of_event(told.clone());
                let delivery = Delivery::new(id, (&watch.id, watch.shown_name()), &to.route, alert, self.now);
                self.records.push(Record::Deliver(Box::new(delivery)));
            }
        }
    }

    /// Whether one more may be sent at once, which is then counted.
    fn has_room(&mut self, entry: &WatchEntry, to: &To) -> bool {
        let (watch, state, now) = (&entry.watch, self.state, self.now);
        let key = (watch.id.clone(), to.route.clone());
        let sent = self.sent.entry(key).or_insert_with(|| sent_today(state, &watch.id, &to.route, now));
        let has_room = to.at_most.is_none_or(|AtMost(most)| *sent < most as usize) && *sent < WAITING_MAX;
        *sent += usize::from(has_room);
        has_room
    }

    /// Whether the page changes back and forth and that was told of it within a day: what follows becomes one line of a digest.
    fn is_repeated(&self, watch: &str, to: &To, told: &Told) -> bool {
        let is_same = |one: &Delivery| {
            let is_lately = one.is_waiting() || one.made + DAY > self.now;
            let mut events = one.alert.events.iter();
            one.watch == watch
                && one.route == to.route
                && is_lately
                && events.any(|event| event.url == told.url && event.change.flapping && event.id != told.id)
        };
        let is_new = |record: &Record| matches!(record, Record::Deliver(one) if is_same(one));
        told.change.flapping && (self.records.iter().any(is_new) || self.state.deliveries.values().rev().any(is_same))
    }
}

/// The digests that are due.
pub fn digests_due(state: &State, now: Moment) -> Vec<Record> {
    let held =
        state.watches.values().flat_map(|entry| entry.held.iter().map(move |(route, held)| (entry, route, held)));
    held.filter(|(.., held)| held.due <= now)
        .flat_map(|(entry, route, held)| released(entry, route, held, now))
        .collect()
}

/// What was held for a route as its digest.
pub fn released(entry: &WatchEntry, route: &str, held: &Held, now: Moment) -> Vec<Record> {
    let watch = (entry.watch.id.as_str(), entry.watch.shown_name());
    let digest = held.closed().map(|(name, alert)| {
        let id = format!("{}/{name}/{route}", entry.watch.id);
        Record::Deliver(Box::new(Delivery::new(id, watch, route, alert, now)))
    });
    digest.into_iter().chain([Record::Released { watch: entry.watch.id.clone(), route: route.to_owned() }]).collect()
}

/// How many deliveries of single events a watch has sent on a route in the last day, or has still to send.
fn sent_today(state: &State, watch: &str, route: &str, now: Moment) -> usize {
    let of_watch = state.deliveries.values().rev().filter(|one| one.watch == watch && one.route == route);
    let single = of_watch.filter(|one| one.alert.reason == Reason::Changed);
    single.filter(|one| one.is_waiting() || one.made + DAY > now).count()
}
