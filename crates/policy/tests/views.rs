//! What a view says of budget and patience reaches the policy through the promises around it.

use vernal_model::{Chance, Moment, PageKey, Partition, PolicyState, Span};
use vernal_policy::{Held, Seen, View, by_name};

const PAGES: u32 = 20;

/// One visit a slot.
#[derive(Copy, Clone, Default)]
struct Slot {
    counts_bytes: bool,
    may_abandon: bool,
}

/// Visits in a slot, and slots in a day.
const SLOTS_PER_DAY: u64 = 4;

impl View for Slot {
    fn visits_left(&self) -> usize {
        1
    }
    fn has_room(&self, _: PageKey) -> bool {
        true
    }
    fn refresh_min(&self) -> Span {
        Span::from_hours(1)
    }
    fn held(&self) -> u64 {
        u64::from(PAGES)
    }
    fn per_day(&self) -> f64 {
        SLOTS_PER_DAY as f64
    }
    fn counts_bytes(&self) -> bool {
        self.counts_bytes
    }
    fn may_abandon(&self) -> bool {
        self.may_abandon
    }
}

/// How often each page is visited in so many days; each is seen changed at every fourth visit.
fn visits(view: Slot, days: u64, importance: impl Fn(u32) -> f32, bytes: impl Fn(u32) -> u64) -> Vec<u32> {
    let key = |number| PageKey::new(Partition(0), number);
    let mut policy = by_name("vernal").expect("it is the default");
    for number in 0..PAGES {
        policy.recall(&Held {
            importance: importance(number),
            wire_bytes: bytes(number),
            ..Held::new(key(number), number, Moment::EPOCH, &PolicyState::default())
        });
    }
    let (mut visits, mut chance) = (vec![0; PAGES as usize], Chance::new(1));
    let mut last = vec![Moment::EPOCH; PAGES as usize];
    for slot in 1..days * SLOTS_PER_DAY {
        let now = Moment::EPOCH + Span::from_hours(24 / SLOTS_PER_DAY * slot);
        for page in policy.choose(&view, now, &mut chance) {
            let number = page.number as usize;
            visits[number] += 1;
            let previous = Some(std::mem::replace(&mut last[number], now));
            let changed = Some(visits[number] % 4 == 0);
            let wire_bytes = bytes(page.number);
            policy.learn(&Seen { page, moment: now, previous, changed, degree: 0.1, last_modified: None, wire_bytes });
        }
    }
    visits
}

#[test]
fn where_bytes_are_counted_light_pages_are_visited_more_often() {
    let bytes = |number: u32| if number < PAGES / 2 { 2_000 } else { 200_000 };
    let half = PAGES as usize / 2;
    let sums = |visits: Vec<u32>| (visits[..half].iter().sum::<u32>(), visits[half..].iter().sum::<u32>());
    let (light, heavy) = sums(visits(Slot { counts_bytes: true, ..Slot::default() }, 400, |_| 1.0, bytes));
    assert!(light > 2 * heavy, "{light} visits to light pages, {heavy} to heavy ones");
    let (light, heavy) = sums(visits(Slot::default(), 400, |_| 1.0, bytes));
    assert!(light < 2 * heavy, "where visits are counted bytes do not matter: {light} and {heavy}");
}

#[test]
fn a_page_that_is_worth_nothing_is_left_for_ever_only_where_that_is_allowed() {
    let importance = |number: u32| if number == 0 { 1e-9 } else { 1.0 };
    let patient = visits(Slot::default(), 400, importance, |_| 1_000);
    assert!(patient[0] >= 3, "it is looked at now and then: {}", patient[0]);
    let abandoning = visits(Slot { may_abandon: true, ..Slot::default() }, 400, importance, |_| 1_000);
    assert_eq!(abandoning[0], 0);
    assert!(abandoning[1..].iter().all(|&visits| visits > 0));
}
