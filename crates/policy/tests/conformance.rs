//! Laws that every policy obeys, run against each name there is, on a small invented world.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use vernal_model::{Chance, Moment, PageKey, Partition, PolicyState, Span, TopicId, TopicOf};
use vernal_policy::{Held, NAMES, Refresh, Seen, View, by_name};

const REFRESH_MIN: Span = Span::from_hours(1);

struct World {
    visits_left: usize,
    /// Sites without room.
    full: BTreeSet<u32>,
    pages: u32,
    per_day: f64,
}

impl World {
    fn new(visits_left: usize, pages: u32) -> Self {
        World { visits_left, full: BTreeSet::new(), pages, per_day: 20.0 }
    }
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
        self.per_day
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
    at_least_every: Option<Span>,
    at_most_every: Option<Span>,
}

type Rows = BTreeMap<PageKey, Row>;

fn recalled(name: &str, rows: &Rows) -> Box<dyn Refresh> {
    restarted(name, rows, &BTreeMap::new())
}

/// What is remembered of sites comes before their pages.
fn restarted(name: &str, rows: &Rows, sites: &BTreeMap<u32, Vec<u8>>) -> Box<dyn Refresh> {
    let mut policy = by_name(name).expect("every name has a policy");
    let spec = vernal_policy::parameters::PolicySpec::parse(name).expect("every name is a policy");
    assert_eq!(policy.name(), spec.name());
    for (&site, state) in sites {
        policy.site_memory().into_iter().for_each(|memory| memory.recall_site(site, state));
    }
    for (&page, row) in rows {
        policy.recall(&held(page, row));
        policy.topical().into_iter().for_each(|topical| topical.topics(page, &topics_of(page)));
    }
    policy
}

/// Some pages have no topics, the others two: topics reach over sites and partitions, and overlap.
fn topics_of(page: PageKey) -> Vec<TopicOf> {
    let of = |topic: u32| TopicOf { topic: TopicId(topic), reputation: 1.0 / (1.0 + page.number as f32) };
    if page.number.is_multiple_of(5) { Vec::new() } else { vec![of(page.number % 3), of(10 + page.number % 2)] }
}

fn held(page: PageKey, row: &Row) -> Held<'_> {
    Held {
        path: page.number % 8,
        importance: [1.0, 1.0, 3.0, 20.0][page.number as usize % 4],
        at_least_every: row.at_least_every,
        at_most_every: row.at_most_every,
        known_rate: Some(0.05 + f64::from(page.number % 5) / 10.0),
        last_visit: row.last_visit,
        ..Held::new(page, site_of(page), row.admitted, &row.state)
    }
}

fn first_rows(pages: u32) -> Rows {
    let row = |number: u32| Row {
        admitted: Moment::EPOCH,
        last_visit: Moment::from_secs(i64::from(number % 7) * 60),
        state: PolicyState::default(),
        at_least_every: None,
        at_most_every: None,
    };
    (0..pages).map(|number| (page(number), row(number))).collect()
}

fn visit(policy: &mut dyn Refresh, rows: &mut Rows, page: PageKey, now: Moment, changed: Option<bool>) {
    let row = rows.get_mut(&page).expect("only known pages are visited");
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
}

fn find(policy: &mut dyn Refresh, rows: &mut Rows, now: Moment) {
    let page = page(rows.len() as u32);
    let row = Row { admitted: now, last_visit: now, ..first_rows(1)[&self::page(0)].clone() };
    policy.recall(&held(page, &row));
    policy.topical().into_iter().for_each(|topical| topical.topics(page, &topics_of(page)));
    rows.insert(page, row);
}

fn leave(policy: &mut dyn Refresh, rows: &mut Rows, out: &[PageKey]) {
    let last = page(rows.len() as u32 - 1);
    if rows.len() > 1 && !out.contains(&last) {
        policy.forget(last);
        rows.remove(&last);
    }
}

/// What is chosen in the 24 hours from `now`, for policies that spread a day's visits over it.
fn chosen_within_a_day(policy: &mut dyn Refresh, world: &World, now: Moment) -> Vec<PageKey> {
    (0..24).flat_map(|hour| policy.choose(world, now + Span::from_hours(hour), &mut Chance::new(4))).collect()
}

/// One step of a random life.
#[derive(Clone, Debug)]
enum Step {
    Wait(u64),
    Choose {
        visits_left: usize,
        full: BTreeSet<u32>,
    },
    Answer {
        changed: Option<bool>,
    },
    PutBack,
    /// A page is read for the first time.
    Find,
    /// The page that was found last goes, if it is at home.
    Leave,
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

fn steps_with_finds() -> impl Strategy<Value = Vec<Step>> {
    steps_with(Just(Step::Find))
}

fn steps_with(more: impl Strategy<Value = Step> + Clone) -> impl Strategy<Value = Vec<Step>> {
    steps().prop_flat_map(move |steps| {
        let more = prop::collection::vec((any::<prop::sample::Index>(), more.clone()), 0..20);
        (Just(steps), more).prop_map(|(mut steps, more)| {
            for (place, step) in more {
                steps.insert(place.index(steps.len()), step);
            }
            steps
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn budget_rest_and_uniqueness_hold_and_a_restart_changes_no_choice(life in steps(), pages in 1u32..40) {
        for name in NAMES {
            live(name, &life, pages)?;
        }
    }

    /// There are eight paths, and sections begin with twenty pages.
    #[test]
    fn sections_of_a_site_change_none_of_it(life in steps_with_finds(), pages in 140u32..170) {
        live("vernal", &life, pages)?;
    }

    /// How stiff a clock is follows from the pages that go by it.
    #[test]
    fn pages_that_come_and_go_make_no_clock_another_than_after_a_restart(
        life in steps_with(prop_oneof![Just(Step::Find), Just(Step::Leave)]),
        pages in 4u32..40,
    ) {
        live("vernal", &life, pages)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn every_policy_keeps_the_laws_at_the_ends_of_its_parameters(life in steps(), pages in 1u32..40) {
        for text in ENDS {
            live(text, &life, pages)?;
        }
    }
}

/// Each parameter at both ends of its range, with one of the policies that have it.
const ENDS: [&str; 26] = [
    "adaptive:alpha=0.01,kappa=1",
    "adaptive:alpha=0.9999,kappa=1000",
    "adaptive-frequency:alpha=0.01,kappa=1,v=1,dates=1,cycle=10m",
    "adaptive-frequency:alpha=0.9999,kappa=1000,v=100,dates=100,cycle=365d",
    "hybrid:v=1,p=0.001",
    "hybrid:v=100,p=1",
    "hybrid:v=1,dates=100,cycle=10m",
    "groups:hybrid:v=17,cycle=365d",
    "greedy:p=0.001",
    "greedy:k=1",
    "greedy:k=100000,p=1",
    "greedy:k=100000,p=0.001,cycle=10m",
    "proportional:with-repeats:k=2,cycle=1h",
    "proportional:p=0.001,k=1,cycle=365d",
    "correlated:k=1,d=0.01,topics=1",
    "correlated:k=100000,d=0.99,topics=20",
    "correlated:authority:k=2,cycle=10m",
    "correlated:path:k=100000,cycle=365d",
    "groups:correlated:k=3,p=0.5",
    "feature-groups:k=1,cycle=10m",
    "refresh-time:lower=0.001,upper=0.001,initial=0.25,visits=1",
    "refresh-time:lower=1,upper=1,initial=4,visits=100",
    "refresh-time:lower=0.001,upper=1",
    "refresh-time:upper=0.31",
    "change-frequency:dates=2",
    "change-frequency:dates=1000",
];

#[test]
fn every_parameter_of_the_catalogue_is_led_through_a_life_at_both_ends() {
    for parameter in vernal_policy::parameters::ALL {
        for end in [parameter.least, parameter.most] {
            let given = format!("{}={}", parameter.name, parameter.unit.text(end));
            let is_of = |text: &str| {
                let name = vernal_policy::parameters::PolicySpec::parse(text).expect("they are in range").name();
                parameter.of.contains(&name) && text.split([':', ',']).any(|part| part == given)
            };
            assert!(ENDS.iter().any(|text| is_of(text)), "{given} of {:?}", parameter.of);
        }
    }
}

/// Leads a random life and looks at every choice.
fn live(name: &str, life: &[Step], pages: u32) -> Result<(), TestCaseError> {
    let (mut now, mut out) = (Moment::from_secs(10_000), Vec::<PageKey>::new());
    let mut rows = first_rows(pages);
    let mut policy = recalled(name, &rows);
    let mut sites = BTreeMap::new();
    for step in life {
        match step {
            Step::Wait(secs) => now += Span::from_secs(*secs),
            Step::Choose { visits_left, full } => {
                let world = World { full: full.clone(), ..World::new(*visits_left, rows.len() as u32) };
                let due = policy.next_due(&world, now);
                let chosen = policy.choose(&world, now, &mut Chance::new(1));
                prop_assert!(chosen.len() <= *visits_left, "{} above budget", name);
                if *visits_left > 0 {
                    prop_assert_eq!(due == Some(now), !chosen.is_empty(), "{} next_due {:?}", name, due);
                }
                for &page in &chosen {
                    prop_assert!(!out.contains(&page), "{} chose {} twice", name, page);
                    prop_assert!(rows[&page].last_visit + REFRESH_MIN <= now, "{} within refresh_min", name);
                    prop_assert!(world.has_room(page), "{} without room", name);
                    out.push(page);
                }
            }
            Step::Answer { changed } => {
                if !out.is_empty() {
                    let page = out.remove(0);
                    visit(policy.as_mut(), &mut rows, page, now, *changed);
                    let site = site_of(page);
                    sites.extend(
                        policy.site_memory().and_then(|memory| memory.site_state(site)).map(|state| (site, state)),
                    );
                }
            }
            Step::PutBack => {
                if let Some(page) = out.pop() {
                    policy.put_back(page);
                }
            }
            Step::Find => find(policy.as_mut(), &mut rows, now),
            Step::Leave => leave(policy.as_mut(), &mut rows, &out),
            // A policy that never stopped has nothing more to say than one that was recalled from the rows.
            Step::Restart => {
                for page in out.drain(..) {
                    policy.put_back(page);
                }
                let world = World::new(7, rows.len() as u32);
                let mut restarted = restarted(name, &rows, &sites);
                let chosen = policy.choose(&world, now, &mut Chance::new(2));
                prop_assert_eq!(&chosen, &restarted.choose(&world, now, &mut Chance::new(2)), "{}", name);
                for page in rows.keys() {
                    prop_assert_eq!(policy.why(*page, now), restarted.why(*page, now), "{}", name);
                }
                out = chosen;
                policy = restarted;
            }
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn promises_do_not_break_the_budget_and_spare_the_pages_that_are_to_be_spared(life in steps(), pages in 4u32..40) {
        for name in NAMES {
            let (mut now, mut out) = (Moment::from_secs(10_000), Vec::<PageKey>::new());
            let mut rows = first_rows(pages);
            for (at, row) in rows.values_mut().enumerate() {
                row.at_least_every = (at % 3 == 0).then_some(Span::from_hours(2 + at as u64));
                row.at_most_every = (at % 5 == 0).then_some(Span::from_hours(10 * at as u64));
            }
            let mut policy = recalled(name, &rows);
            for step in &life {
                match step {
                    Step::Wait(secs) => now += Span::from_secs(*secs),
                    Step::Choose { visits_left, full } => {
                        let world = World { full: full.clone(), ..World::new(*visits_left, rows.len() as u32) };
                        let due = policy.next_due(&world, now);
                        let chosen = policy.choose(&world, now, &mut Chance::new(1));
                        prop_assert!(chosen.len() <= *visits_left, "{} above budget", name);
                        prop_assert!(chosen.is_empty() || due == Some(now), "{} next_due {:?}", name, due);
                        for &page in &chosen {
                            prop_assert!(!out.contains(&page), "{} chose {} twice", name, page);
                            let row = &rows[&page];
                            let rest = row.at_most_every.unwrap_or_default().max(REFRESH_MIN);
                            prop_assert!(row.last_visit + rest <= now, "{} chose {} too early", name, page);
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
                    Step::Find => find(policy.as_mut(), &mut rows, now),
                    Step::Leave => leave(policy.as_mut(), &mut rows, &out),
                    Step::Restart => {
                        out.clear();
                        policy = recalled(name, &rows);
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
            let world = World { per_day: 48.0, ..World::new(2, 30) };
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
        let world = World { per_day: 50.0, ..World::new(50, 5) };
        assert!(!policy.why(page(2), now).is_empty());
        policy.forget(page(2));
        assert!(policy.why(page(2), now).is_empty());
        let chosen = chosen_within_a_day(policy.as_mut(), &world, now);
        assert_eq!(chosen.len(), 4, "{name}");
        assert!(!chosen.contains(&page(2)));
        policy.forget(chosen[0]);
        policy.put_back(chosen[0]);
        assert!(chosen_within_a_day(policy.as_mut(), &world, now).is_empty(), "{name}");
        assert_eq!(policy.next_due(&world, now), None, "{name}");
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
        policy.recall(&Held::new(page(1), 1, first, &state));
        let world = World::new(9, 1);
        assert_eq!(policy.choose(&world, first + Span::from_days(100), &mut Chance::new(5)), [page(1)]);
    }
}

#[test]
fn unknown_names_and_broken_states_do_no_harm() {
    assert!(by_name("astrology").is_none());
    for name in NAMES {
        let mut rows = first_rows(1);
        rows.get_mut(&page(0)).unwrap().state = PolicyState::new(&[255; 40]).unwrap();
        let mut policy = recalled(name, &rows);
        let world = World::new(1, 1);
        let now = Moment::from_secs(0) + Span::from_days(100);
        assert_eq!(policy.choose(&world, now, &mut Chance::new(6)), [page(0)]);
    }
}

#[test]
fn new_pages_are_seen_and_gone_ones_left_in_the_middle_of_a_life() {
    for name in NAMES {
        let mut rows = first_rows(20);
        let mut policy = recalled(name, &rows);
        let mut now = Moment::from_secs(10_000);
        let mut chance = Chance::new(7);
        let mut seen_new = 0;
        for hour in 0..24 * 120 {
            now += Span::from_hours(1);
            if hour == 24 * 10 {
                for number in 20..30 {
                    let seen = Seen { page: page(number), ..a_visit(now) };
                    let state = policy.learn(&seen);
                    let row = Row { admitted: now, last_visit: now, state, at_least_every: None, at_most_every: None };
                    policy.recall(&held(page(number), &row));
                    rows.insert(page(number), row);
                }
                for number in 0..5 {
                    policy.forget(page(number));
                    rows.remove(&page(number));
                }
            }
            let world = World { per_day: 24.0, ..World::new(1, rows.len() as u32) };
            for page in policy.choose(&world, now, &mut chance) {
                assert!(rows.contains_key(&page), "{name} chose a page that is gone");
                seen_new += u32::from(page.number >= 20);
                visit(policy.as_mut(), &mut rows, page, now, Some(page.number % 2 == 0));
            }
        }
        assert!(seen_new >= 10, "{name} visited new pages {seen_new} times");
    }
}

/// Promises are kept whenever the budget allows it, whatever the policy would rather do.
#[test]
fn promises_are_kept_when_the_budget_allows_and_the_overdue_are_told_when_not() {
    for name in NAMES {
        let mut rows = first_rows(40);
        for number in [3, 17, 31] {
            rows.get_mut(&page(number)).unwrap().at_least_every = Some(Span::from_hours(6));
        }
        for number in [5, 18] {
            rows.get_mut(&page(number)).unwrap().at_most_every = Some(Span::from_days(20));
        }
        let mut policy = recalled(name, &rows);
        let (mut now, mut chance) = (Moment::from_secs(0) + Span::from_days(30), Chance::new(9));
        for hour in 0..24 * 60 {
            now += Span::from_hours(1);
            let world = World { per_day: 24.0, ..World::new(1, 40) };
            for page in policy.choose(&world, now, &mut chance) {
                let row = &rows[&page];
                if let Some(every) = row.at_most_every {
                    assert!(row.last_visit + every <= now, "{name} visited {page} too early");
                }
                visit(policy.as_mut(), &mut rows, page, now, Some(chance.happens(0.3)));
            }
            for (page, row) in &rows {
                let Some(every) = row.at_least_every else { continue };
                // Three promises may fall into one hour with one visit.
                let late = now.since(row.last_visit + every);
                assert!(hour < 3 || late <= Span::from_hours(3), "{name} is {late} late for {page}");
            }
        }
        let unkept = policy.promising().unwrap().unkept(now + Span::from_days(1));
        assert_eq!((unkept.promised, unkept.overdue), (3, 3), "{name}");
        assert!((unkept.needs_per_day - 12.0).abs() < 1e-9, "{name}");
        assert!(policy.why(page(3), now).iter().any(|(word, _)| word == "promise"), "{name}");
        assert!(unkept.remedies(24.0, |_| Span::from_secs(1)).is_empty());
        assert_eq!(unkept.remedies(6.0, |_| Span::from_secs(1)).len(), 1);
    }
}

#[test]
fn the_same_life_gives_the_same_choices() {
    for name in NAMES {
        let life = || {
            let mut rows = first_rows(60);
            let mut policy = recalled(name, &rows);
            let (mut now, mut chance, mut choices) = (Moment::from_secs(0), Chance::new(11), Vec::new());
            for _ in 0..24 * 40 {
                now += Span::from_hours(1);
                let chosen = policy.choose(&World { per_day: 72.0, ..World::new(3, 60) }, now, &mut chance);
                for &page in &chosen {
                    visit(
                        policy.as_mut(),
                        &mut rows,
                        page,
                        now,
                        Some(chance.happens(f64::from(page.number % 4) / 5.0)),
                    );
                }
                choices.extend(chosen);
            }
            choices
        };
        assert_eq!(life(), life(), "{name}");
    }
}

fn a_visit(now: Moment) -> Seen {
    Seen {
        page: PageKey::default(),
        moment: now,
        previous: None,
        changed: None,
        degree: 0.0,
        last_modified: None,
        wire_bytes: 9,
    }
}

/// Four years with a budget of a twentieth of the pages a day, where only one site of four ever changes: whoever does
/// not say that it abandons pages visits every page now and then. `hindsight` says so, and takes the rates it is told.
#[test]
fn no_page_of_a_quiet_site_is_starved_for_ever() {
    for name in NAMES.iter().copied().filter(|&name| name != "hindsight") {
        let mut rows = first_rows(120);
        let mut policy = recalled(name, &rows);
        let (mut now, mut chance) = (Moment::from_secs(10_000), Chance::new(12));
        let mut visits = BTreeMap::<PageKey, u32>::new();
        for _ in 0..4 * 365 {
            // Begin of a day, so that every synchronisation point is open.
            now = Moment::from_secs((now.secs() / 86_400 + 1) * 86_400);
            let world = World { per_day: 6.0, ..World::new(6, 120) };
            for page in policy.choose(&world, now, &mut chance) {
                *visits.entry(page).or_default() += 1;
                let changed = site_of(page) == 0 && chance.happens(0.9);
                visit(policy.as_mut(), &mut rows, page, now, Some(changed));
            }
        }
        let least = rows.keys().map(|page| visits.get(page).copied().unwrap_or(0)).min();
        assert!(least >= Some(3), "{name} visited a page {least:?} times");
    }
}
