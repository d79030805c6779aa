//! Promises around a policy that knows nothing of them, held against a plain list of all pages.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use vernal_model::{Chance, Moment, PageKey, Partition, PolicyState, Span};
use vernal_policy::schedule::Promises;
use vernal_policy::{Held, Refresh, Seen, TestView, View};

/// Visits pages by their numbers, whatever happens.
#[derive(Default)]
struct ByNumber {
    waiting: BTreeSet<PageKey>,
    in_flight: BTreeSet<PageKey>,
}

impl Refresh for ByNumber {
    fn name(&self) -> &'static str {
        "by number"
    }

    fn recall(&mut self, held: &Held<'_>) {
        self.in_flight.remove(&held.page);
        self.waiting.insert(held.page);
    }

    fn choose(&mut self, view: &dyn View, _: Moment, _: &mut Chance) -> Vec<PageKey> {
        let chosen: Vec<PageKey> = self.waiting.iter().copied().take(view.visits_left()).collect();
        for page in &chosen {
            self.waiting.remove(page);
            assert!(self.in_flight.insert(*page));
        }
        chosen
    }

    fn learn(&mut self, seen: &Seen) -> PolicyState {
        self.put_back(seen.page);
        PolicyState::default()
    }

    fn put_back(&mut self, page: PageKey) {
        if self.in_flight.remove(&page) {
            self.waiting.insert(page);
        }
    }

    fn forget(&mut self, page: PageKey) {
        self.in_flight.remove(&page);
        self.waiting.remove(&page);
    }

    fn next_due(&self, _: &dyn View, now: Moment) -> Option<Moment> {
        (!self.waiting.is_empty()).then_some(now)
    }

    fn why(&self, _: PageKey, _: Moment) -> Vec<(String, String)> {
        Vec::new()
    }
}

/// What is promised of a page, and where it is.
#[derive(Copy, Clone, Debug)]
struct Row {
    at_least_every: Option<Span>,
    at_most_every: Option<Span>,
    last_visit: Moment,
    is_in_flight: bool,
}

impl Row {
    fn allowed_from(&self) -> Moment {
        self.last_visit + self.at_most_every.unwrap_or(Span::ZERO)
    }

    /// Where the two promises contradict each other, the page is spared.
    fn due(&self) -> Option<Moment> {
        let every = self.at_least_every?.max(self.at_most_every.unwrap_or(Span::ZERO));
        Some(self.last_visit + every)
    }
}

/// At least and at most every so many hours.
type Hours = (Option<u64>, Option<u64>);

#[derive(Clone, Debug)]
struct Hour {
    passed: u64,
    visits_left: usize,
    /// What becomes of each page in flight, by its number: visited, put back, forgotten, or nothing yet.
    fates: Vec<u8>,
    /// What is promised anew of a page.
    anew: Option<(usize, Hours)>,
}

const PAGES: usize = 12;

fn key(number: usize) -> PageKey {
    PageKey::new(Partition(0), number as u32)
}

fn hours() -> impl Strategy<Value = Vec<Hour>> {
    let anew = prop::option::of((0..PAGES, (prop::option::of(1u64..15), prop::option::of(1u64..15))));
    let hour = (0u64..6, 0usize..PAGES + 3, prop::collection::vec(0u8..12, PAGES), anew);
    let hour = hour.prop_map(|(passed, visits_left, fates, anew)| Hour { passed, visits_left, fates, anew });
    prop::collection::vec(hour, 1..25)
}

fn promises() -> impl Strategy<Value = Vec<Hours>> {
    prop::collection::vec((prop::option::of(1u64..15), prop::option::of(1u64..15)), 1..=PAGES)
}

fn recalled(promised: &[Hours], start: Moment) -> (Promises, BTreeMap<PageKey, Row>) {
    let mut policy = Promises::around("by number", Box::new(ByNumber::default()));
    let mut rows = BTreeMap::new();
    for (number, &(least, most)) in promised.iter().enumerate() {
        let (at_least_every, at_most_every) = (least.map(Span::from_hours), most.map(Span::from_hours));
        let state = PolicyState::default();
        policy.recall(&Held { at_least_every, at_most_every, ..Held::new(key(number), 0, start, &state) });
        rows.insert(key(number), Row { at_least_every, at_most_every, last_visit: start, is_in_flight: false });
    }
    (policy, rows)
}

/// The promised pages that are due and may be visited, the most overdue first.
fn owed(rows: &BTreeMap<PageKey, Row>, now: Moment) -> Vec<PageKey> {
    let mut owed = Vec::new();
    for (&page, row) in rows.iter().filter(|(_, row)| !row.is_in_flight && row.allowed_from() <= now) {
        owed.extend(row.due().filter(|&due| due <= now).map(|due| (due, page)));
    }
    owed.sort_unstable();
    owed.into_iter().map(|(_, page)| page).collect()
}

proptest! {
    #[test]
    fn what_is_owed_goes_first_who_is_spared_waits_and_no_visit_is_wasted(promised in promises(), hours in hours()) {
        let mut now = Moment::from_secs(1_700_000_000);
        let (mut policy, mut rows) = recalled(&promised, now);
        for hour in hours {
            now += Span::from_hours(hour.passed);
            if let Some((number, (least, most))) = hour.anew
                && let Some(row) = rows.get_mut(&key(number))
            {
                (row.at_least_every, row.at_most_every) = (least.map(Span::from_hours), most.map(Span::from_hours));
                let state = PolicyState::default();
                let (at_least_every, at_most_every) = (row.at_least_every, row.at_most_every);
                let held = Held::new(key(number), 0, row.last_visit, &state);
                let held = Held { at_least_every, at_most_every, ..held };
                policy.promising_mut().unwrap().promise(&held, row.is_in_flight);
            }
            let view = TestView::of(rows.len() as u64, hour.visits_left);
            let owed = owed(&rows, now);
            let chosen = policy.choose(&view, now, &mut Chance::new(1));
            prop_assert!(chosen.len() <= hour.visits_left);
            let served = owed.len().min(hour.visits_left);
            prop_assert_eq!(&chosen[..served], &owed[..served]);
            for page in &chosen {
                let row = rows.get_mut(page).unwrap();
                prop_assert!(!std::mem::replace(&mut row.is_in_flight, true), "{:?} was in flight", page);
                prop_assert!(row.allowed_from() <= now, "{:?} was to be spared", page);
            }
            let waiting = || rows.values().filter(|row| !row.is_in_flight);
            if chosen.len() < hour.visits_left {
                prop_assert!(waiting().all(|row| row.allowed_from() > now), "visits were left");
                let next = waiting().map(Row::allowed_from).min();
                prop_assert_eq!(policy.next_due(&view, now), next);
            }
            let in_flight: Vec<PageKey> = rows.iter().filter(|(_, row)| row.is_in_flight).map(|(&page, _)| page).collect();
            for page in in_flight {
                let row = rows.get_mut(&page).unwrap();
                match hour.fates[page.number as usize] {
                    0..6 => {
                        policy.learn(&Seen::new(page, now));
                        (row.last_visit, row.is_in_flight) = (now, false);
                    }
                    6..9 => {
                        policy.put_back(page);
                        row.is_in_flight = false;
                    }
                    9 => {
                        policy.forget(page);
                        rows.remove(&page);
                    }
                    _ => {}
                }
            }
        }
    }

    #[test]
    fn promises_that_are_not_kept_are_counted_with_what_they_need(promised in promises(), passed in 0u64..30) {
        let start = Moment::from_secs(1_700_000_000);
        let (policy, rows) = recalled(&promised, start);
        let now = start + Span::from_hours(passed);
        let unkept = policy.promising().unwrap().unkept(now);
        let dues: Vec<Moment> = rows.values().filter_map(Row::due).collect();
        prop_assert_eq!(unkept.promised as usize, dues.len());
        prop_assert_eq!(unkept.overdue as usize, dues.iter().filter(|&&due| due < now).count());
        let most = dues.iter().map(|&due| now.since(due)).max().unwrap_or(Span::ZERO);
        prop_assert_eq!(unkept.most_overdue, most);
        let needs: f64 = dues.iter().map(|due| 1.0 / due.since(start).days_f64()).sum();
        prop_assert!((unkept.needs_per_day - needs).abs() < 1e-6);
    }
}

#[test]
fn a_page_that_is_promised_nothing_any_more_is_like_any_other() {
    let start = Moment::from_secs(1_700_000_000);
    let (mut policy, _) = recalled(&[(Some(1), Some(24)), (None, None)], start);
    let state = PolicyState::default();
    policy.recall(&Held::new(key(0), 0, start, &state));
    assert_eq!(policy.choose(&TestView::of(2, 5), start, &mut Chance::new(1)), [key(0), key(1)]);
    assert_eq!(policy.promising().unwrap().unkept(start + Span::from_days(9)).promised, 0);
    assert!(policy.why(key(0), start).is_empty());
}
