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

/// What is said of a page's price and of when it is due.
fn price_and_due(policy: &dyn vernal_policy::Refresh, page: PageKey, now: Moment) -> [String; 2] {
    let why = policy.why(page, now);
    ["price", "due"].map(|name| why.iter().find(|(word, _)| word == name).expect("it is told").1.clone())
}

#[test]
fn visits_for_all_are_told_only_after_a_choice_that_had_them() {
    let key = |number| PageKey::new(Partition(0), number);
    let at = |hours| Moment::EPOCH + Span::from_hours(hours);
    for name in ["vernal", "bayes", "optimal"] {
        let mut policy = by_name(name).expect("it is one of ours");
        for number in 0..2 {
            // The first page is promised more than there is.
            let at_least_every = (number == 0).then_some(Span::from_hours(2));
            let state = PolicyState::default();
            policy.recall(&Held { at_least_every, ..Held::new(key(number), 0, Moment::EPOCH, &state) });
        }
        let mut chance = Chance::new(1);
        let _ = policy.valued().and_then(|valued| valued.best(&Slot::default(), at(3)));
        let [price, due] = price_and_due(policy.as_ref(), key(1), at(3));
        assert_eq!(price, "not known before the first choice", "{name}");
        assert!(due.starts_with("not known before the first choice; "), "{name}: {due}");
        assert_eq!(policy.choose(&Slot::default(), at(3), &mut chance), [key(0)], "{name}");
        let [price, due] = price_and_due(policy.as_ref(), key(1), at(3));
        assert_eq!(price, "not known: promises took every visit of the last choice", "{name}");
        assert!(due.starts_with("when promises leave visits"), "{name}: {due}");
        let seen = |page, moment| Seen {
            page,
            moment,
            previous: Some(Moment::EPOCH),
            changed: Some(false),
            degree: 0.0,
            last_modified: None,
            wire_bytes: 0,
        };
        policy.learn(&seen(key(0), at(3)));
        while let [page] = policy.choose(&Slot::default(), at(4), &mut chance)[..] {
            policy.learn(&seen(page, at(4)));
        }
        // All have just been visited.
        let [price, due] = price_and_due(policy.as_ref(), key(1), at(4));
        assert!(
            price.contains("visits for all") && due.starts_with("as soon as it has rested"),
            "{name}: {price}, {due}"
        );
    }
}
