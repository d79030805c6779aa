//! Policies that give each page a stride, the Span it would wait if the budget were its own, scaled to the budget.
//!
//! How they are scaled: pages stand in the order of a virtual time. Whatever the budget pays for is taken from the
//! front, and a page that was visited goes to the back by its stride. So every page is visited in proportion to
//! 1/stride, the sum of all visits is the budget, and no clock says how fast virtual time runs: it runs as fast as the
//! budget pays (stride scheduling, Waldspurger and Weihl 1995).
//!
//! A page whose stride is far beyond the others' would hardly ever come to the front: one that has waited
//! [`ROUNDS_MAX`] times the mean wait that the budget allows comes first.
//!
//! The state of a page: format (1), virtual Moment of its last visit (8, little-endian), then the rule's own bytes.

use std::collections::VecDeque;

use vernal_model::{Chance, Moment, PageKey, PolicyState, Span};

use super::agenda::{Agenda, Terms};
use super::refresh_time::RefreshTerms;
use super::words::{Words, last_visit, lot, mean_wait, word};
use crate::{Held, OwnTerms, Refresh, Seen, View};

/// No page waits longer than this many mean waits.
const ROUNDS_MAX: f64 = 8.0;
/// How many pages that have waited too long are looked at in one choice, if their sites have no room.
const LATE_MAX: usize = 64;
/// How many places a late answer goes forward before all are sorted anew; more than are under way at once.
const OUT_OF_ORDER_MAX: usize = 256;
const FORMAT: u8 = 1;
/// Format and virtual Moment stand before the note.
const HEAD_BYTES: usize = 9;
pub(super) const NOTE_BYTES_MAX: usize = PolicyState::BYTES_MAX - HEAD_BYTES;

/// What makes one policy of this family differ from another.
pub trait Rule: Send {
    const NAME: &'static str;
    type Note: Copy + Default + Send;

    /// What is known of a page without a state.
    fn new_note(&self, page: PageKey) -> Self::Note {
        let _ = page;
        Self::Note::default()
    }
    /// Adapts what was kept of a page to the parameters of today.
    fn adapt(&self, note: &mut Self::Note, page: PageKey) {
        let _ = (note, page);
    }
    /// Sets the parameters that a page has of its own, before it is recalled; `None` takes them away.
    fn set_terms(&mut self, page: PageKey, terms: Option<RefreshTerms>) {
        let _ = (page, terms);
    }
    /// Whether pages can have parameters of their own.
    const HAS_TERMS: bool = false;
    /// Hears what a visit found.
    fn hear(&self, note: &mut Self::Note, seen: &Seen);
    /// How far behind its last visit, at `base` in virtual time, the page's next one stands.
    fn stride(&self, note: &Self::Note, page: PageKey, base: Moment) -> Span;
    /// Writes the note into the bytes and gives back how many it took.
    fn state(&self, note: &Self::Note, bytes: &mut [u8; NOTE_BYTES_MAX]) -> usize;
    fn note_from(&self, bytes: &[u8]) -> Option<Self::Note>;
    fn why(&self, note: &Self::Note, now: Moment) -> Words;
}

#[derive(Debug, Default)]
pub struct Strides<R: Rule> {
    rule: R,
    agenda: Agenda<Place<R::Note>>,
    /// The virtual Moment of the last page taken.
    reached: Moment,
    /// Pages by last visit, oldest first; an entry counts only while the page has not been visited since.
    waiting: VecDeque<(Moment, PageKey)>,
    unsorted: bool,
    mean_wait: Option<Span>,
}

#[derive(Copy, Clone, Debug, Default)]
struct Place<T> {
    /// Where in virtual time its last visit was.
    base: Moment,
    note: T,
}

impl<R: Rule + Default> Strides<R> {
    pub fn new() -> Self {
        Strides::by(R::default())
    }
}

impl<R: Rule> Strides<R> {
    /// By a rule with parameters of its own.
    pub fn by(rule: R) -> Self {
        Strides {
            rule,
            agenda: Agenda::default(),
            reached: Moment::EPOCH,
            waiting: VecDeque::new(),
            unsorted: false,
            mean_wait: None,
        }
    }

    fn put(&mut self, page: PageKey, site: Option<u32>, visit: Moment, place: Place<R::Note>) {
        let due = place.base + self.rule.stride(&place.note, page, place.base);
        self.agenda.put(page, site, visit, due, place);
        self.wait(visit, page);
    }

    /// Answers come nearly in the order of their visits: a page goes a few places forward, and only a restart sorts all.
    fn wait(&mut self, visit: Moment, page: PageKey) {
        if !self.unsorted {
            let later = self.waiting.iter().rev().take(OUT_OF_ORDER_MAX).take_while(|&&(last, _)| last > visit).count();
            self.unsorted = later == OUT_OF_ORDER_MAX;
            return self.waiting.insert(self.waiting.len() - later, (visit, page));
        }
        self.waiting.push_back((visit, page));
    }

    /// Takes the pages that have waited too long, oldest first.
    fn take_late(&mut self, view: &dyn View, now: Moment) -> Vec<PageKey> {
        let mut taken = Vec::new();
        self.sweep();
        let Some(limit) = self.mean_wait.map(|mean| mean.scaled(ROUNDS_MAX).max(view.refresh_min())) else {
            return taken;
        };
        let mut late: Vec<(Moment, PageKey)> = Vec::new();
        for &(visit, page) in &self.waiting {
            // Pages of one Moment stand in the order of their answers here: all of them, then in the order of the keys.
            let is_full = late.len() >= LATE_MAX && late.last().is_some_and(|&(last, _)| last < visit);
            if visit + limit > now || is_full {
                break;
            }
            let is_current = self.agenda.find(page).is_some_and(|entry| entry.last_visit == visit);
            if is_current && self.agenda.is_waiting(page) && view.has_room(page) {
                late.push((visit, page));
            }
        }
        late.sort_unstable();
        late.dedup();
        taken.extend(late.into_iter().map(|(_, page)| page).take(view.visits_left()));
        for &page in &taken {
            self.agenda.take_out(page);
        }
        taken
    }

    /// Drops from the front what was visited since, or forgotten.
    fn sweep(&mut self) {
        // One page that waits long keeps what was visited behind it from being dropped: twice the pages are enough.
        let is_long = self.waiting.len() > 2 * self.agenda.len() + LATE_MAX;
        if is_long || self.unsorted {
            let agenda = &self.agenda;
            self.waiting.retain(|&(visit, page)| agenda.find(page).is_some_and(|entry| entry.last_visit == visit));
        }
        if std::mem::take(&mut self.unsorted) {
            self.waiting.make_contiguous().sort_unstable();
        }
        while let Some(&(visit, page)) = self.waiting.front() {
            if self.agenda.find(page).is_some_and(|entry| entry.last_visit == visit) {
                break;
            }
            self.waiting.pop_front();
        }
    }

    /// The oldest last visit of a page that is not in flight.
    fn oldest(&self) -> Option<Moment> {
        let current = |&&(visit, page): &&(Moment, PageKey)| {
            self.agenda.is_waiting(page) && self.agenda.find(page).is_some_and(|entry| entry.last_visit == visit)
        };
        if self.unsorted {
            return self.waiting.iter().filter(current).map(|&(visit, _)| visit).min();
        }
        self.waiting.iter().find(current).map(|&(visit, _)| visit)
    }
}

impl<R: Rule> Refresh for Strides<R> {
    fn name(&self) -> &'static str {
        R::NAME
    }

    fn recall(&mut self, held: &Held<'_>) {
        let mut place = self.place_from(held.state).unwrap_or_else(|| self.new_place(held.page));
        self.rule.adapt(&mut place.note, held.page);
        self.reached = self.reached.max(place.base);
        if place.base == Moment::EPOCH {
            // Nothing is known yet: spread over the first stride, or all would stand at one point.
            let stride = self.rule.stride(&place.note, held.page, place.base);
            let share = lot(held.page, 0) as f64 / u64::MAX as f64;
            self.agenda.put(held.page, Some(held.site), held.last_visit, Moment::EPOCH + stride.scaled(share), place);
            return self.wait(held.last_visit, held.page);
        }
        self.put(held.page, Some(held.site), held.last_visit, place);
    }

    fn choose(&mut self, view: &dyn View, now: Moment, _: &mut Chance) -> Vec<PageKey> {
        self.mean_wait = mean_wait(view.held(), view.per_day());
        let mut chosen = self.take_late(view, now);
        let left = view.visits_left().saturating_sub(chosen.len());
        let drawn = self.agenda.draw(view, Terms::next_in_order(now), left);
        if let Some(last) = drawn.last().and_then(|&page| self.agenda.find(page)) {
            self.reached = self.reached.max(last.due);
        }
        chosen.extend(drawn);
        chosen
    }

    fn learn(&mut self, seen: &Seen) -> PolicyState {
        let known = self.agenda.find(seen.page);
        // A page that was visited before its turn does not stand further back for it.
        let base = known.map_or(self.reached, |entry| entry.due.min(self.reached));
        let mut place = known.map_or_else(|| self.new_place(seen.page), |entry| entry.note);
        place.base = base.max(Moment::from_micros(1));
        self.rule.hear(&mut place.note, seen);
        self.put(seen.page, None, seen.moment, place);
        self.state_of(&place)
    }

    fn put_back(&mut self, page: PageKey) {
        self.agenda.put_back(page);
    }

    fn forget(&mut self, page: PageKey) {
        self.rule.set_terms(page, None);
        self.agenda.forget(page);
    }

    fn next_due(&self, view: &dyn View, now: Moment) -> Option<Moment> {
        let rested = self.oldest()? + view.refresh_min();
        if rested > now {
            return Some(rested);
        }
        if self.agenda.is_ready(view, Terms::next_in_order(now)) {
            return Some(now);
        }
        let waiting = self.waiting.iter().filter(|&&(_, page)| self.agenda.is_waiting(page));
        waiting.map(|&(visit, _)| visit + view.refresh_min()).filter(|&rested| rested > now).min()
    }

    fn why(&self, page: PageKey, now: Moment) -> Words {
        let Some(entry) = self.agenda.find(page) else { return Vec::new() };
        let mut words = self.rule.why(&entry.note.note, now);
        words.insert(1, last_visit(entry.last_visit, now));
        if let Some(mean) = self.mean_wait {
            let budget = format!("scaled to it: a page waits {mean} on average, {} at most", mean.scaled(ROUNDS_MAX));
            words.push(word("budget", budget));
        }
        words
    }

    fn own_terms(&mut self) -> Option<&mut dyn OwnTerms> {
        R::HAS_TERMS.then_some(self as &mut dyn OwnTerms)
    }
}

impl<R: Rule> OwnTerms for Strides<R> {
    fn set_terms(&mut self, page: PageKey, terms: Option<RefreshTerms>) {
        self.rule.set_terms(page, terms);
    }
}

impl<R: Rule> Strides<R> {
    fn state_of(&self, place: &Place<R::Note>) -> PolicyState {
        let (mut bytes, mut note) = ([FORMAT; PolicyState::BYTES_MAX], [0; NOTE_BYTES_MAX]);
        let end = HEAD_BYTES + self.rule.state(&place.note, &mut note);
        bytes[1..HEAD_BYTES].copy_from_slice(&place.base.micros().to_le_bytes());
        bytes[HEAD_BYTES..end].copy_from_slice(&note[..end - HEAD_BYTES]);
        PolicyState::new(&bytes[..end]).expect("a note is cut to what a policy may keep")
    }

    fn new_place(&self, page: PageKey) -> Place<R::Note> {
        Place { base: Moment::EPOCH, note: self.rule.new_note(page) }
    }

    /// What a state of this family says to a rule.
    pub(super) fn note_of(rule: &R, state: &PolicyState) -> Option<R::Note> {
        rule.note_from(state.bytes().get(HEAD_BYTES..)?)
    }

    fn place_from(&self, state: &PolicyState) -> Option<Place<R::Note>> {
        let (&format, rest) = state.bytes().split_first()?;
        let (base, rest) = rest.split_first_chunk::<8>()?;
        let base = i64::from_le_bytes(*base);
        let note = self.rule.note_from(rest)?;
        (format == FORMAT && base > 0).then_some(Place { base: Moment::from_micros(base), note })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A page's number and one are its stride in days.
    #[derive(Default)]
    struct ByNumber;

    impl Rule for ByNumber {
        const NAME: &'static str = "by-number";
        type Note = ();
        fn hear(&self, (): &mut (), _: &Seen) {}
        fn stride(&self, (): &(), page: PageKey, _: Moment) -> Span {
            Span::from_days(u64::from(page.number) + 1)
        }
        fn state(&self, (): &(), _: &mut [u8; NOTE_BYTES_MAX]) -> usize {
            0
        }
        fn note_from(&self, _: &[u8]) -> Option<()> {
            Some(())
        }
        fn why(&self, (): &(), _: Moment) -> Words {
            Vec::new()
        }
    }

    struct OneVisit {
        pages: u64,
    }

    impl View for OneVisit {
        fn visits_left(&self) -> usize {
            1
        }
        fn has_room(&self, _: PageKey) -> bool {
            true
        }
        fn refresh_min(&self) -> Span {
            Span::from_secs(1)
        }
        fn held(&self) -> u64 {
            self.pages
        }
        fn per_day(&self) -> f64 {
            1.0
        }
    }

    fn visits_of(numbers: &[u32], days: u64) -> Vec<u32> {
        let mut policy = Strides::<ByNumber>::new();
        let key = |number: u32| PageKey::new(vernal_model::Partition(0), number);
        let mut seen = Seen {
            page: key(0),
            moment: Moment::EPOCH,
            previous: None,
            changed: None,
            degree: 0.0,
            last_modified: None,
            wire_bytes: 0,
        };
        for &number in numbers {
            policy.learn(&Seen { page: key(number), ..seen });
        }
        let mut visits = vec![0; numbers.len()];
        for day in 1..=days {
            seen.moment = Moment::EPOCH + Span::from_days(day);
            let view = OneVisit { pages: numbers.len() as u64 };
            for page in policy.choose(&view, seen.moment, &mut Chance::new(1)) {
                policy.learn(&Seen { page, ..seen });
                visits[numbers.iter().position(|&number| key(number) == page).unwrap()] += 1;
            }
        }
        visits
    }

    #[test]
    fn visits_are_in_proportion_to_one_over_the_stride_and_fill_the_budget() {
        // Strides of 1, 2 and 4 days: 4 to 2 to 1.
        assert_eq!(visits_of(&[0, 1, 3], 700), [400, 200, 100]);
    }

    #[test]
    fn a_page_with_a_stride_of_ten_years_still_comes_after_eight_rounds() {
        let visits = visits_of(&[0, 3_650], 1_600);
        assert!((99..=101).contains(&visits[1]), "{visits:?}");
    }
}
