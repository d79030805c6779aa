//! What a visit costs, counted in looks at pages.

use vernal_model::{Chance, Moment, PageKey, Partition, PolicyState, Span};

use super::policy::Index;
use super::reference::hour::Hour;
use crate::{Held, Refresh, Seen};

const PER_SECOND: u32 = 2_000;
const AT_ONCE: usize = 10;
const PASSES: u32 = 3;
/// A site of any size may take so many.
const LOOKS_MAX: f64 = 40.0;

/// Looks per visit of passes over one site, one right after another. One page changed at first, so that there is a clock,
/// which every visit slows down a little.
fn looks_per_visit(name: &str, pages: u32) -> f64 {
    let mut policy = Index::named(name).unwrap();
    let mut now = Moment::from_secs(1_700_000_000);
    for number in 0..pages {
        policy.recall(&Held {
            page: PageKey::new(Partition(0), number),
            site: 0,
            path: 0,
            importance: 1.0,
            admitted: now,
            last_visit: now - Span::from_secs(u64::from((pages - number) / PER_SECOND) + 2),
            wire_bytes: 0,
            at_least_every: None,
            at_most_every: None,
            known_rate: None,
            state: &PolicyState::default(),
        });
    }
    let view = Hour { visits_left: AT_ONCE, held: pages.into() };
    let mut visits = 0;
    while visits < pages * PASSES {
        now += Span::from_micros(1_000_000 * AT_ONCE as u64 / u64::from(PER_SECOND));
        for page in policy.choose(&view, now, &mut Chance::new(1)) {
            visits += 1;
            policy.learn(&Seen {
                page,
                moment: now,
                previous: None,
                changed: Some(visits == 1),
                degree: 0.0,
                last_modified: None,
                wire_bytes: 0,
            });
        }
    }
    policy.looks as f64 / f64::from(visits)
}

#[test]
fn looks_per_visit_do_not_grow_with_the_pages_of_a_site() {
    // Four times the pages take four times as long, in which a page climbs some rungs more.
    for name in ["vernal", "bayes"] {
        let (few, many) = (looks_per_visit(name, 8_000), looks_per_visit(name, 32_000));
        assert!(
            few < LOOKS_MAX && many < 1.25 * few + 2.0,
            "{name}: {few:.1} looks with few pages and {many:.1} with many"
        );
    }
}
