//! Laws that every policy obeys, run against each name there is, on a small invented world.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use vernal_model::{Chance, Moment, PageKey, Partition, PolicyState, Span};
use vernal_policy::{Held, NAMES, Refresh, Seen, View, by_name};

const REFRESH_MIN: Span = Span::from_hours(1);

struct World {
    visits_left: usize,
    /// Sites without room.
    full: BTreeSet<u32>,
    pages: u32,
}

impl View for World {
    fn visits_left(&self) -> usize {
        self.visits_left
    }
    fn has_room(&self, page: PageKey) -> bool {
        !self.full.contains(&site_of(page))
    }
    fn refresh_min(&self) -> Span {
        REFRESH_MIN
    }
    fn held(&self) -> u64 {
        u64::from(self.pages)
    }
    fn per_day(&self) -> f64 {
        self.visits_left as f64
    }
}

fn page(number: u32) -> PageKey {
    PageKey::new(Partition((number % 3) as u8), number)
}

fn site_of(page: PageKey) -> u32 {
    page.number % 4
}

/// What the tables know of a page.
#[derive(Clone)]
struct Row {
    admitted: Moment,
    last_visit: Moment,
    state: PolicyState,
}

/// What the tables know: pages, and what the policy remembers of their sites.
#[derive(Clone, Default)]
struct Rows {
    pages: BTreeMap<PageKey, Row>,
    sites: BTreeMap<u32, Vec<u8>>,
}

fn recalled(name: &str, rows: &Rows) -> Box<dyn Refresh> {
    let mut policy = by_name(name).expect("every name has a policy");
    assert_eq!(policy.name(), name);
    for (&site, state) in &rows.sites {
        policy.recall_site(site, state);
    }
    for (&page, row) in &rows.pages {
        policy.recall(&Held {
            page,
            site: site_of(page),
            path: 0,
            importance: 1.0,
            wire_bytes: 0,
            at_least_every: None,
            at_most_every: None,
            known_rate: None,
            admitted: row.admitted,
            last_visit: row.last_visit,
            state: &row.state,
        });
    }
    policy
}

fn first_rows(pages: u32) -> Rows {
    let row = |number: u32| Row {
        admitted: Moment::EPOCH,
        last_visit: Moment::from_secs(i64::from(number % 7) * 60),
        state: PolicyState::default(),
    };
    Rows { pages: (0..pages).map(|number| (page(number), row(number))).collect(), sites: BTreeMap::new() }
}

fn visit(policy: &mut dyn Refresh, rows: &mut Rows, page: PageKey, now: Moment, changed: Option<bool>) {
    let row = rows.pages.get_mut(&page).expect("only known pages are visited");
    let seen = Seen {
        page,
        moment: now,
        previous: Some(row.last_visit),
        changed,
        degree: 0.5,
        last_modified: None,
        wire_bytes: 1_000,
    };
    row.state = policy.learn(&seen);
    row.last_visit = now;
    assert!(row.state.bytes().len() <= PolicyState::BYTES_MAX);
    if let Some(state) = policy.site_state(site_of(page)) {
        rows.sites.insert(site_of(page), state);
    }
    assert_eq!(policy.site_state(site_of(page)), None, "nothing is new when nothing was heard");
}

/// One step of a random life.
#[derive(Clone, Debug)]
enum Step {
    Wait(u64),
    Choose { visits_left: usize, full: BTreeSet<u32> },
    Answer { changed: Option<bool> },
    PutBack,
    Restart,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        (1u64..200_000).prop_map(Step::Wait),
        (0usize..12, prop::collection::btree_set(0u32..4, 0..3))
            .prop_map(|(visits_left, full)| Step::Choose { visits_left, full }),
        any::<Option<bool>>().prop_map(|changed| Step::Answer { changed }),
        any::<Option<bool>>().prop_map(|changed| Step::Answer { changed }),
        Just(Step::PutBack),
        Just(Step::Restart),
    ];
    prop::collection::vec(step, 1..120)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn budget_rest_and_uniqueness_hold_and_a_restart_changes_no_choice(life in steps(), pages in 1u32..40) {
        for name in NAMES {
            let (mut now, mut out) = (Moment::from_secs(10_000), Vec::<PageKey>::new());
            let mut rows = first_rows(pages);
            let mut policy = recalled(name, &rows);
            for step in &life {
                match step {
                    Step::Wait(secs) => now += Span::from_secs(*secs),
                    Step::Choose { visits_left, full } => {
                        let world = World { visits_left: *visits_left, full: full.clone(), pages };
                        let due = policy.next_due(&world, now);
                        let chosen = policy.choose(&world, now, &mut Chance::new(1));
                        prop_assert!(chosen.len() <= *visits_left, "{} above budget", name);
                        if *visits_left > 0 {
                            prop_assert_eq!(due == Some(now), !chosen.is_empty(), "{} next_due {:?}", name, due);
                        }
                        for &page in &chosen {
                            prop_assert!(!out.contains(&page), "{} chose {} twice", name, page);
                            prop_assert!(rows.pages[&page].last_visit + REFRESH_MIN <= now, "{} within refresh_min", name);
                            prop_assert!(world.has_room(page), "{} without room", name);
                            out.push(page);
                        }
                    }
                    Step::Answer { changed } => {
                        if !out.is_empty() {
                            let page = out.remove(0);
                            visit(policy.as_mut(), &mut rows, page, now, *changed);
                        }
                    }
                    Step::PutBack => {
                        if let Some(page) = out.pop() {
                            policy.put_back(page);
                        }
                    }
                    // A policy that never stopped has nothing more to say than one that was recalled from the rows.
                    Step::Restart => {
                        for page in out.drain(..) {
                            policy.put_back(page);
                        }
                        let world = World { visits_left: 7, full: BTreeSet::new(), pages };
                        let mut restarted = recalled(name, &rows);
                        let chosen = policy.choose(&world, now, &mut Chance::new(2));
                        prop_assert_eq!(&chosen, &restarted.choose(&world, now, &mut Chance::new(2)), "{}", name);
                        for page in rows.pages.keys() {
                            prop_assert_eq!(policy.why(*page, now), restarted.why(*page, now), "{}", name);
                        }
                        out = chosen;
                        policy = restarted;
                    }
                }
            }
        }
    }
}

#[test]
fn a_quiet_page_among_busy_ones_is_never_starved() {
    for name in NAMES {
        let mut rows = first_rows(30);
        let mut policy = recalled(name, &rows);
        let quiet = page(11);
        let (mut now, mut visits) = (Moment::from_secs(10_000), 0);
        // Two visits an hour for thirty pages that always change: the budget never suffices.
        for _ in 0..24 * 400 {
            now += Span::from_hours(1);
            let world = World { visits_left: 2, full: BTreeSet::new(), pages: 30 };
            for page in policy.choose(&world, now, &mut Chance::new(3)) {
                visits += u32::from(page == quiet);
                visit(policy.as_mut(), &mut rows, page, now, Some(page != quiet));
            }
        }
        assert!(visits >= 4, "{name} visited the quiet page {visits} times in 400 days");
    }
}

#[test]
fn a_forgotten_page_is_never_chosen_and_has_no_why() {
    for name in NAMES {
        let mut policy = recalled(name, &first_rows(5));
        let now = Moment::from_secs(0) + Span::from_days(100);
        let world = World { visits_left: 50, full: BTreeSet::new(), pages: 5 };
        assert!(!policy.why(page(2), now).is_empty());
        policy.forget(page(2));
        assert!(policy.why(page(2), now).is_empty());
        let chosen = policy.choose(&world, now, &mut Chance::new(4));
        assert_eq!(chosen.len(), 4);
        assert!(!chosen.contains(&page(2)));
        policy.forget(chosen[0]);
        policy.put_back(chosen[0]);
        assert!(policy.choose(&world, now, &mut Chance::new(4)).is_empty());
        assert_eq!(policy.next_due(&world, now), None);
    }
}

#[test]
fn a_page_that_was_learned_before_it_was_recalled_is_known_once() {
    for name in NAMES {
        let mut policy = by_name(name).expect("every name has a policy");
        let first = Moment::from_secs(0);
        let seen = Seen {
            page: page(1),
            moment: first,
            previous: None,
            changed: None,
            degree: 0.0,
            last_modified: None,
            wire_bytes: 9,
        };
        let state = policy.learn(&seen);
        policy.recall(&Held {
            page: page(1),
            site: 1,
            path: 0,
            importance: 1.0,
            wire_bytes: 0,
            at_least_every: None,
            at_most_every: None,
            known_rate: None,
            admitted: first,
            last_visit: first,
            state: &state,
        });
        let world = World { visits_left: 9, full: BTreeSet::new(), pages: 1 };
        assert_eq!(policy.choose(&world, first + Span::from_days(100), &mut Chance::new(5)), [page(1)]);
    }
}

#[test]
fn unknown_names_and_broken_states_do_no_harm() {
    assert!(by_name("astrology").is_none());
    for name in NAMES {
        let mut rows = first_rows(1);
        rows.pages.get_mut(&page(0)).unwrap().state = PolicyState::new(&[255; 40]).unwrap();
        rows.sites.insert(0, vec![255; 90]);
        let mut policy = recalled(name, &rows);
        let world = World { visits_left: 1, full: BTreeSet::new(), pages: 1 };
        let now = Moment::from_secs(0) + Span::from_days(100);
        assert_eq!(policy.choose(&world, now, &mut Chance::new(6)), [page(0)]);
    }
}
