//! Promises around any policy: pages that are to be visited at least so often are served before it chooses, the most
//! overdue first, and pages that are to be visited at most so often are held back from it until they may be.
//!
//! A page without promises costs one look into an empty place. The policy inside needs to know nothing: a page that is
//! served here and that it chooses as well is visited once, and one that it chooses too early is held back until its
//! time and then put back.

use std::collections::BTreeSet;

use vernal_model::{Chance, Moment, PageKey, PolicyState, Span};

use super::promise::Promise;
use super::rest::Rest;
use crate::pages::Pages;
use crate::schedule::words::{Words, word};
use crate::{
    Believing, Best, Held, Hinted, OwnTerms, Promising, Refresh, Sampled, Seen, SiteMemory, Topical, Unkept, Valued,
    View, Weighable,
};

pub struct Promises {
    name: &'static str,
    inner: Box<dyn Refresh>,
    promised: Pages<Promise>,
    /// Pages that are promised a visit and not in flight, by the Moment of the promise.
    due: BTreeSet<(Moment, PageKey)>,
    /// Pages that the policy chose too early, by the Moment at which they may be visited.
    early: BTreeSet<(Moment, PageKey)>,
    last: LastChoice,
}

/// What was left to the policy inside when visits were last given out.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum LastChoice {
    NotYet,
    Left,
    /// Promises took every visit; whether any was left before.
    Taken {
        left_before: bool,
    },
}

impl Promises {
    /// The policy `inner`, known as `name`, with promises kept.
    pub fn around(name: &'static str, inner: Box<dyn Refresh>) -> Self {
        Promises {
            name,
            inner,
            promised: Pages::default(),
            due: BTreeSet::new(),
            early: BTreeSet::new(),
            last: LastChoice::NotYet,
        }
    }

    /// Takes note of how many visits promises took of those that there were.
    fn note(&mut self, taken: usize, visits: usize) {
        let left_before = matches!(self.last, LastChoice::Left | LastChoice::Taken { left_before: true });
        match visits {
            0 => {}
            visits if taken < visits => self.last = LastChoice::Left,
            _ => self.last = LastChoice::Taken { left_before },
        }
    }

    /// The price of a visit, and what follows from it, come from what the policy inside chose last: says so where it has not
    /// chosen yet, or not this time.
    fn qualify(&self, words: &mut Words) {
        let (price, due) = match self.last {
            LastChoice::Left => return,
            LastChoice::NotYet => ("not known before the first choice", "not known before the first choice;"),
            LastChoice::Taken { .. } => {
                ("not known: promises took every visit of the last choice", "when promises leave visits for others:")
            }
        };
        if !words.iter().any(|(name, _)| name == "price") {
            return;
        }
        for (name, value) in words {
            match name.as_str() {
                "price" if self.last == (LastChoice::Taken { left_before: true }) => {
                    *value = format!("{price}; before, {value}");
                }
                "price" => *value = price.to_owned(),
                "due" => *value = format!("{due} {value}"),
                _ => {}
            }
        }
    }

    /// Promised pages that are due, the most overdue first.
    fn serve(&mut self, view: &dyn View, now: Moment) -> Vec<PageKey> {
        let due = self.due.iter().take_while(|&&(due, _)| due <= now);
        let ready = due.map(|&(_, page)| page).filter(|&page| self.is_ready(page, view, now));
        let served: Vec<PageKey> = ready.take(view.visits_left()).collect();
        for &page in &served {
            self.take_out(page);
        }
        served
    }

    fn is_ready(&self, page: PageKey, view: &dyn View, now: Moment) -> bool {
        let Some(promise) = self.promised.find(page) else { return false };
        let allowed = promise.allowed_from().max(promise.last_visit + view.refresh_min());
        allowed <= now && view.has_room(page)
    }

    /// Whether a promised page is due and can be visited now.
    fn is_owed(&self, view: &dyn View, now: Moment) -> bool {
        let overdue = self.due.iter().take_while(|&&(due, _)| due <= now);
        overdue.map(|&(_, page)| page).any(|page| self.is_ready(page, view, now))
    }

    fn take_out(&mut self, page: PageKey) {
        let Some(promise) = self.promised.find_mut(page) else { return };
        promise.is_in_flight = true;
        if let Some(due) = promise.due() {
            self.due.remove(&(due, page));
        }
        if promise.is_in_flight_inside {
            self.early.remove(&(promise.allowed_from(), page));
        }
    }

    /// Gives back to the policy the pages that it chose too early and that may be visited now.
    fn release(&mut self, now: Moment) {
        while let Some(&(from, page)) = self.early.first().filter(|&&(from, _)| from <= now) {
            self.early.remove(&(from, page));
            if let Some(promise) = self.promised.find_mut(page) {
                promise.is_in_flight_inside = false;
            }
            self.inner.put_back(page);
        }
    }

    /// Whether a page that the policy chose may go; else it is kept.
    fn may_go(&mut self, page: PageKey, now: Moment) -> bool {
        let Some(promise) = self.promised.find_mut(page) else { return true };
        promise.is_in_flight_inside = true;
        if promise.is_in_flight {
            return false;
        }
        let from = promise.allowed_from();
        if from > now {
            self.early.insert((from, page));
            return false;
        }
        self.take_out(page);
        true
    }

    /// Leaves nothing behind of what was known of a page's promises.
    fn clear(&mut self, page: PageKey) -> Option<Promise> {
        let promise = self.promised.remove(page)?;
        if let Some(due) = promise.due() {
            self.due.remove(&(due, page));
        }
        self.early.remove(&(promise.allowed_from(), page));
        Some(promise)
    }

    /// Keeps the promises of a page that is not in flight, if there are any.
    fn keep(&mut self, page: PageKey, promise: Promise) {
        if !promise.says_something() {
            return;
        }
        if let Some(due) = promise.due() {
            self.due.insert((due, page));
        }
        self.promised.insert(page, promise);
    }
}

impl Refresh for Promises {
    fn name(&self) -> &'static str {
        self.name
    }

    fn recall(&mut self, held: &Held<'_>) {
        self.clear(held.page);
        self.keep(held.page, Promise::of(held));
        self.inner.recall(held);
    }

    fn choose(&mut self, view: &dyn View, now: Moment, chance: &mut Chance) -> Vec<PageKey> {
        if self.promised.len() == 0 {
            self.note(0, view.visits_left());
            return self.inner.choose(view, now, chance);
        }
        self.release(now);
        let mut chosen = self.serve(view, now);
        self.note(chosen.len(), view.visits_left());
        while chosen.len() < view.visits_left() {
            let rest = Rest { view, visits_left: view.visits_left() - chosen.len() };
            let more = self.inner.choose(&rest, now, chance);
            if more.is_empty() {
                break;
            }
            chosen.extend(more.into_iter().filter(|&page| self.may_go(page, now)));
        }
        chosen
    }

    fn learn(&mut self, seen: &Seen) -> PolicyState {
        if let Some(promise) = self.clear(seen.page) {
            let waiting =
                Promise { last_visit: seen.moment, is_in_flight: false, is_in_flight_inside: false, ..promise };
            self.keep(seen.page, waiting);
        }
        self.inner.learn(seen)
    }

    fn put_back(&mut self, page: PageKey) {
        let Some(promise) = self.clear(page) else { return self.inner.put_back(page) };
        self.keep(page, Promise { is_in_flight: false, is_in_flight_inside: false, ..promise });
        self.inner.put_back(page);
    }

    fn forget(&mut self, page: PageKey) {
        self.clear(page);
        self.inner.forget(page);
    }

    fn next_due(&self, view: &dyn View, now: Moment) -> Option<Moment> {
        let inner = self.inner.next_due(view, now);
        if self.promised.len() == 0 {
            return inner;
        }
        if self.is_owed(view, now) {
            return Some(now);
        }
        let after = (Moment::from_micros(now.micros().saturating_add(1)), PageKey::default());
        let promised = self.due.range(after..).next().map(|&(due, _)| due);
        let released = self.early.first().map(|&(from, _)| from.max(now));
        [inner, promised, released].into_iter().flatten().min()
    }

    fn saves_up(&self) -> Span {
        self.inner.saves_up()
    }

    fn why(&self, page: PageKey, now: Moment) -> Vec<(String, String)> {
        let mut words = self.inner.why(page, now);
        self.qualify(&mut words);
        let Some(promise) = self.promised.find(page) else { return words };
        if let (Some(every), Some(due)) = (promise.at_least_every, promise.due()) {
            let standing = match due {
                due if promise.is_in_flight => format!("due {due}, on its way"),
                due if due > now => format!("due in {}", due.since(now)),
                due => format!("overdue by {}, served before all others", now.since(due)),
            };
            words.push(word("promise", format!("at least every {every}: {standing}")));
        }
        if let Some(every) = promise.at_most_every {
            let from = promise.allowed_from();
            let standing =
                if from > now { format!("not before {from}, in {}", from.since(now)) } else { "may be visited".into() };
            words.push(word("promise", format!("at most every {every}: {standing}")));
        }
        words
    }

    fn valued(&mut self) -> Option<&mut dyn Valued> {
        let is_valued = self.inner.valued().is_some();
        is_valued.then_some(self as &mut dyn Valued)
    }

    fn weighable(&mut self) -> Option<&mut dyn Weighable> {
        self.inner.weighable()
    }

    fn hinted(&mut self) -> Option<&mut dyn Hinted> {
        self.inner.hinted()
    }

    fn topical(&mut self) -> Option<&mut dyn Topical> {
        self.inner.topical()
    }

    fn own_terms(&mut self) -> Option<&mut dyn OwnTerms> {
        self.inner.own_terms()
    }

    fn site_memory(&mut self) -> Option<&mut dyn SiteMemory> {
        self.inner.site_memory()
    }

    fn believing(&self) -> Option<&dyn Believing> {
        self.inner.believing()
    }

    fn sampled(&self) -> Option<&dyn Sampled> {
        self.inner.sampled()
    }

    fn promising(&self) -> Option<&dyn Promising> {
        Some(self)
    }

    fn promising_mut(&mut self) -> Option<&mut dyn Promising> {
        Some(self)
    }
}

impl Valued for Promises {
    fn best(&mut self, view: &dyn View, now: Moment) -> Option<f64> {
        let best = self.inner.valued()?.best(view, now)?;
        // A promise goes before every value.
        Some(if self.is_owed(view, now) { f64::INFINITY } else { best })
    }

    fn best_at_most(&mut self, view: &dyn View, now: Moment) -> Option<Best> {
        let best = self.inner.valued()?.best_at_most(view, now)?;
        Some(if self.is_owed(view, now) { Best::AtMost(f64::INFINITY) } else { best })
    }
}

impl Promising for Promises {
    fn unkept(&self, now: Moment) -> Unkept {
        let mut unkept = self.inner.promising().map_or_else(Unkept::default, |inner| inner.unkept(now));
        for (_, promise) in self.promised.iter() {
            let (Some(every), Some(due)) = (promise.at_least_every, promise.due()) else { continue };
            unkept.add(promise.site, every, now.since(due));
        }
        unkept
    }

    fn promise(&mut self, held: &Held<'_>, in_flight: bool) {
        let page = held.page;
        let before = self.clear(page);
        let (is_in_flight, is_in_flight_inside) =
            before.map_or((in_flight, in_flight), |before| (before.is_in_flight, before.is_in_flight_inside));
        let is_kept_back = is_in_flight_inside && !is_in_flight;
        let is_sent_by_promise = is_in_flight && !is_in_flight_inside;
        let promise = Promise::of(held);
        // A page that was sent for its promise stays known until it is back, or the policy inside would send it once more.
        if !promise.says_something() && !is_sent_by_promise {
            if is_kept_back {
                self.inner.put_back(page);
            }
            return;
        }
        let last_visit = before.map_or(promise.last_visit, |before| before.last_visit);
        let promise = Promise { last_visit, is_in_flight, is_in_flight_inside, ..promise };
        if is_kept_back {
            self.early.insert((promise.allowed_from(), page));
        }
        if let Some(due) = promise.due().filter(|_| !is_in_flight) {
            self.due.insert((due, page));
        }
        self.promised.insert(page, promise);
    }
}
