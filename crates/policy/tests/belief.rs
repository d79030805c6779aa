//! What a policy believes of its pages, against what is true of them.

#![allow(clippy::unwrap_used, reason = "the helpers of tests fail as tests do")]

use vernal_model::{Chance, Moment, PageKey, Partition, PolicyState, Span};
use vernal_policy::{Held, Refresh, Seen, View, by_name};

const PAGES: u32 = 200;
const SITES: u32 = 4;

struct Hour;

impl View for Hour {
    fn visits_left(&self) -> usize {
        PAGES as usize / 24
    }
    fn has_room(&self, _: PageKey) -> bool {
        true
    }
    fn refresh_min(&self) -> Span {
        Span::ZERO
    }
    fn held(&self) -> u64 {
        PAGES.into()
    }
    fn per_day(&self) -> f64 {
        f64::from(PAGES)
    }
}

/// The mean freshness that was believed and that was true over the last days of three weeks, with every page visited
/// about once a day.
fn believed_and_true(name: &str, changes_a_day: f64) -> (f64, f64) {
    let start = Moment::from_secs(1_700_000_000);
    let mut policy: Box<dyn Refresh> = by_name(name).unwrap();
    for number in 0..PAGES {
        policy.recall(&Held::new(PageKey::new(Partition(0), number), number % SITES, start, &PolicyState::default()));
    }
    let mut chance = Chance::new(7);
    let mut last = vec![start; PAGES as usize];
    let (mut believed, mut fresh, mut hours) = (0.0, 0.0, 0.0);
    for hour in 1..=24 * 21u64 {
        let now = start + Span::from_hours(hour);
        for page in policy.choose(&Hour, now, &mut Chance::new(hour)) {
            let previous = std::mem::replace(&mut last[page.number as usize], now);
            let changed = chance.happens(1.0 - (-changes_a_day * now.since(previous).days_f64()).exp());
            policy.learn(&Seen {
                page,
                moment: now,
                previous: Some(previous),
                changed: Some(changed),
                degree: 0.0,
                last_modified: None,
                wire_bytes: 0,
            });
        }
        if hour > 24 * 14 {
            let later = now + Span::from_secs(1_800);
            let belief = policy.believing().unwrap().belief(later);
            believed += belief.share().unwrap();
            let survival = |last: &Moment| (-changes_a_day * later.since(*last).days_f64()).exp();
            fresh += last.iter().map(survival).sum::<f64>() / f64::from(PAGES);
            hours += 1.0;
        }
    }
    (believed / hours, fresh / hours)
}

/// The first guess is a change in fifty days; these pages change far more often, or far less.
#[test]
fn what_is_believed_of_fast_and_slow_pages_comes_near_what_is_true() {
    for name in ["bayes", "vernal"] {
        for changes_a_day in [0.002, 0.05, 0.5, 2.0] {
            let (believed, fresh) = believed_and_true(name, changes_a_day);
            println!("{name}, {changes_a_day} changes a day: {believed:.4} believed, {fresh:.4} true");
            assert!((believed - fresh).abs() < 0.08, "{name}, {changes_a_day} a day: {believed:.3} is not {fresh:.3}");
        }
    }
}
