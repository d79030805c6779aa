//! The reference of the ladder: every page looked at, every time.

use vernal_model::{Chance, Moment, PageKey, Partition, PolicyState, Span};

use super::page::{Place, days};
use super::policy::Index;
use crate::{Held, Refresh, Seen, View};

impl Index {
    /// The value of every page at home, by looking at each.
    pub(super) fn rescan(&self, now: Moment) -> Vec<(f64, u32)> {
        let home = self.pages.numbers().filter(|&number| self.pages.at(number).place == Place::Home);
        let value = |number: u32| self.value_of(number, self.operational_alone(number, days(now)));
        home.map(|number| (value(number), number)).collect()
    }
}

struct Hour {
    visits_left: usize,
    held: u64,
}

impl View for Hour {
    fn visits_left(&self) -> usize {
        self.visits_left
    }
    fn has_room(&self, _: PageKey) -> bool {
        true
    }
    fn refresh_min(&self) -> Span {
        Span::ZERO
    }
    fn held(&self) -> u64 {
        self.held
    }
    fn per_day(&self) -> f64 {
        self.visits_left as f64 * 24.0
    }
}

const PAGES: u32 = 300;
const SITES: u32 = 12;

/// Pages of a site change together now and then, and each alone at its own rate.
fn changes(chance: &mut Chance) -> Vec<Vec<f64>> {
    let mut together: Vec<Vec<f64>> = Vec::new();
    for site in 0..SITES {
        let mut time = 0.0;
        let mut times = Vec::new();
        while time < 200.0 {
            time += chance.wait(0.02 * f64::from(site));
            times.push(time);
        }
        together.push(times);
    }
    let page = |number: u32| {
        let mut times = together[(number % SITES) as usize].clone();
        let rate = 0.005 * 1.02f64.powi((number % 200) as i32);
        let mut time = 0.0;
        while time < 200.0 {
            time += chance.wait(rate);
            times.push(time);
        }
        times.sort_by(f64::total_cmp);
        times
    };
    (0..PAGES).map(page).collect()
}

fn first_moment() -> Moment {
    Moment::from_secs(1_700_000_000)
}

fn recalled(name: &str, rate: impl Fn(u32) -> Option<f64>) -> Index {
    let mut policy = Index::named(name).unwrap();
    for number in 0..PAGES {
        policy.recall(&Held {
            page: PageKey::new(Partition(0), number),
            site: number % SITES,
            path: number % 5,
            importance: 1.0 + (number % 3) as f32,
            admitted: first_moment(),
            last_visit: first_moment(),
            wire_bytes: 0,
            at_least_every: None,
            at_most_every: None,
            known_rate: rate(number),
            state: &PolicyState::default(),
        });
    }
    policy
}

/// The ladder never passes over a page that is worth a rung more than the ones it takes.
#[test]
fn the_ladder_takes_what_a_rescan_of_every_page_would_take() {
    for name in ["bayes", "vernal", "index", "vernal:age", "bayes:harmonic", "bayes:change-ratio"] {
        let changes = changes(&mut Chance::new(5));
        let mut policy = recalled(name, |number| Some(changes[number as usize].len() as f64 / 200.0));
        let mut last = vec![0.0; PAGES as usize];
        for hour in 1..24 * 150u64 {
            let now = first_moment() + Span::from_hours(hour);
            let visits_left = if hour % 7 == 0 { 3 } else { usize::from(hour % 2 == 0) };
            let view = Hour { visits_left, held: PAGES.into() };
            policy.best(&view, now);
            let mut values = policy.rescan(now);
            values.sort_by(|a, b| b.0.total_cmp(&a.0));
            let chosen = policy.choose(&view, now, &mut Chance::new(1));
            assert_eq!(chosen.len(), visits_left.min(values.len()));
            for (place, page) in chosen.iter().enumerate() {
                let taken = values.iter().find(|&&(_, number)| number == page.number).unwrap().0;
                let waited = hour as f64 / 24.0 - last[page.number as usize];
                if waited < policy.longest_wait {
                    let best = values[place].0;
                    assert!(taken >= best / 1.26 - 1e-12, "{name}, hour {hour}: took {taken} and left {best}");
                }
                let today = hour as f64 / 24.0;
                let seen = last[page.number as usize];
                let changed = changes[page.number as usize].iter().any(|&change| change > seen && change <= today);
                policy.learn(&Seen {
                    page: *page,
                    moment: now,
                    previous: None,
                    changed: Some(changed),
                    degree: 0.0,
                    last_modified: None,
                    wire_bytes: 0,
                });
                last[page.number as usize] = today;
            }
        }
    }
}
