//! What a visit costs, counted in looks at pages.

use vernal_model::{Chance, Moment, PageKey, Partition, PolicyState, Span};

use super::policy::ByValue;
use crate::{Held, Refresh, Seen, TestView, Valued};

const PER_SECOND: u32 = 2_000;
const AT_ONCE: usize = 10;
const PASSES: u32 = 3;
/// A site of any size may take so many.
const LOOKS_MAX: f64 = 40.0;

/// Looks per visit of passes over one site, one right after another. One page changed at first, so that there is a clock,
/// which every visit slows down a little.
fn looks_per_visit(name: &str, pages: u32) -> f64 {
    let mut policy = ByValue::named(name).unwrap();
    let mut now = Moment::from_secs(1_700_000_000);
    for number in 0..pages {
        policy.recall(&Held {
            last_visit: now - Span::from_secs(u64::from((pages - number) / PER_SECOND) + 2),
            ..Held::new(PageKey::new(Partition(0), number), 0, now, &PolicyState::default())
        });
    }
    let view = TestView::of(pages.into(), AT_ONCE);
    let mut visits = 0;
    while visits < pages * PASSES {
        now += Span::from_micros(1_000_000 * AT_ONCE as u64 / u64::from(PER_SECOND));
        for page in policy.choose(&view, now, &mut Chance::new(1)) {
            visits += 1;
            policy.learn(&Seen { changed: Some(visits == 1), ..Seen::new(page, now) });
        }
    }
    policy.queue.looks() as f64 / f64::from(visits)
}

#[test]
fn looks_per_visit_do_not_grow_with_the_pages_of_a_site() {
    // Four times the pages take four times as long, in which a page climbs some levels more.
    for name in ["vernal", "bayes"] {
        let (few, many) = (looks_per_visit(name, 8_000), looks_per_visit(name, 32_000));
        assert!(
            few < LOOKS_MAX && many < 1.25 * few + 2.0,
            "{name}: {few:.1} looks with few pages and {many:.1} with many"
        );
    }
}

const SITES: u32 = 10;
const MINUTES_PER_DAY: u32 = 24 * 60;
/// Each page climbs a hundred and forty levels in these two days, and would be looked at on each of them if it waited alone.
const LOOKS_PER_PAGE_MAX: f64 = 20.0;

/// Looks per page where a crawl begins: all pages are visited for the first time within six hours, a tenth of them a day is
/// visited again, and every minute somebody asks for the best. In the first two days.
fn looks_per_page_at_first(name: &str, pages: u32) -> f64 {
    let mut policy = ByValue::named(name).unwrap();
    let start = Moment::from_secs(1_700_000_000);
    let (mut found, mut visits) = (0, 0);
    for minute in 1..2 * MINUTES_PER_DAY {
        let now = start + Span::from_secs(u64::from(minute) * 60);
        while found < pages.min(pages * minute / 360) {
            policy.recall(&Held::new(PageKey::new(Partition(0), found), found % SITES, now, &PolicyState::default()));
            found += 1;
        }
        let view = TestView::of(found.into(), 1);
        policy.best(&view, now);
        if visits < pages * minute / (10 * MINUTES_PER_DAY) {
            for page in policy.choose(&view, now, &mut Chance::new(1)) {
                visits += 1;
                let changed = Some(visits % 5 == 0);
                policy.learn(&Seen { changed, ..Seen::new(page, now) });
            }
        }
    }
    policy.queue.looks() as f64 / f64::from(pages)
}

#[test]
fn pages_that_were_first_visited_together_do_not_climb_side_by_side() {
    for name in ["vernal", "bayes"] {
        let looks = looks_per_page_at_first(name, 400);
        assert!(looks < LOOKS_PER_PAGE_MAX, "{name}: {looks:.1} looks a page");
    }
}
