//! Laws of the laboratory: exact measures, the same bytes for the same inputs, and what theory says of simple worlds.

#![allow(clippy::unwrap_used, reason = "the helpers of tests fail as tests do")]

use std::collections::BTreeMap;
use std::sync::Arc;

use vernal_model::{Budget, Chance, Moment, PageKey, PolicyState, Span};
use vernal_policy::{Held, Refresh, Seen, View};
use vernal_simulator::lab::bounds::{versions, visits_per_day};
use vernal_simulator::lab::compare::differences;
use vernal_simulator::lab::generate::WorldSettings;
use vernal_simulator::lab::generate::settings::{Births, Capped, Process, Publications, Rates};
use vernal_simulator::lab::world::{WorldChange, WorldPage, WorldSite};
use vernal_simulator::lab::{Comparison, LabScenario, LabTrial, Means, Options, Source, Unbounded, World};

fn budget(text: &str) -> Budget {
    text.parse().unwrap()
}

fn small() -> WorldSettings {
    WorldSettings { pages: 200, sites: 10, days: 60.0, warm_up_days: 20.0, ..WorldSettings::default() }
}

fn run(world: &World, policy: &str, options: &Options) -> vernal_simulator::lab::Findings {
    LabTrial::run(world, vernal_policy::by_name(policy).unwrap().as_mut(), options).unwrap()
}

/// A policy that visits as told, and remembers what it was shown.
#[derive(Default)]
struct Scripted {
    /// Which pages at which slot.
    script: BTreeMap<u64, Vec<u32>>,
    slot: u64,
    recalled: Vec<u32>,
    learned: Vec<(u32, Moment, Option<Moment>, Option<bool>)>,
    forgotten: Vec<u32>,
    put_back: Vec<u32>,
}

impl Refresh for Scripted {
    fn name(&self) -> &'static str {
        "scripted"
    }
    fn recall(&mut self, held: &Held<'_>) {
        assert!(self.learned.iter().any(|learned| learned.0 == held.page.number), "learn comes before recall");
        self.recalled.push(held.page.number);
    }
    fn choose(&mut self, _: &dyn View, _: Moment, _: &mut Chance) -> Vec<PageKey> {
        self.slot += 1;
        let chosen = self.script.remove(&self.slot).unwrap_or_default();
        chosen.into_iter().map(|page| PageKey { number: page, ..PageKey::default() }).collect()
    }
    fn learn(&mut self, seen: &Seen) -> PolicyState {
        self.learned.push((seen.page.number, seen.moment, seen.previous, seen.changed));
        PolicyState::default()
    }
    fn put_back(&mut self, page: PageKey) {
        self.put_back.push(page.number);
    }
    fn forget(&mut self, page: PageKey) {
        self.forgotten.push(page.number);
    }
    fn next_due(&self, _: &dyn View, now: Moment) -> Option<Moment> {
        Some(now)
    }
    fn why(&self, _: PageKey, _: Moment) -> Vec<(String, String)> {
        Vec::new()
    }
}

/// A world of whole days: one site, pages given as (born, gone, changes).
fn by_hand(days: u64, warm_up: u64, pages: &[(u64, Option<u64>, &[u64])]) -> World {
    let origin = Moment::from_secs(0);
    let at = |day: u64| origin + Span::from_days(day);
    let mut world = World::new("by hand", origin, Span::from_days(days), Span::from_days(warm_up));
    world.sites.push(WorldSite { name: "one.example".into(), visits_per_day_max: None });
    for (born, gone, changes) in pages {
        let change = |&day: &u64| WorldChange {
            moment: at(day),
            degree: 0.25,
            kind: vernal_simulator::lab::world::ChangeKind::Content,
        };
        let changes: Vec<WorldChange> = changes.iter().map(change).collect();
        let gone = gone.map_or(Moment::NEVER, at);
        world.push(WorldPage { born: at(*born), gone, weight: 1.0, bytes: 10, ..WorldPage::default() }, &changes, &[]);
    }
    world.rate_in_hindsight();
    world
}

fn daily() -> Options {
    Options { slot: Span::from_days(1), budget: budget("1000/day"), ..Options::default() }
}

#[test]
fn every_measure_of_a_small_world_is_the_one_worked_out_by_hand() {
    // One page over ten days changes on days 2, 4 and 7 and is visited on days 3 and 8.
    let world = by_hand(10, 0, &[(0, None, &[2, 4, 7])]);
    let script = BTreeMap::from([(3, vec![0]), (9, vec![0])]);
    let mut policy = Scripted { script, ..Scripted::default() };
    let findings = LabTrial::run(&world, &mut policy, &daily()).unwrap();
    // Slot 3 asks twice (it found something to do), so that the ninth question is asked on day 8.
    assert_eq!(policy.learned[1].1, Moment::from_secs(0) + Span::from_days(3));
    assert_eq!(policy.learned[2].1, Moment::from_secs(0) + Span::from_days(8));
    let after = &findings.after;
    // Fresh on 0..2, 3..4 and 8..10; stale on 2..3 and 4..8.
    assert!((after.freshness - 0.5).abs() < 1e-12, "{after:?}");
    assert!((after.age_days - (0.5 + 8.0) / 10.0).abs() < 1e-12);
    // One unseen change on 2..3 and 4..7, two on 7..8.
    assert!((after.harmonic - (1.0 + 3.0 + 1.5) / 10.0).abs() < 1e-12);
    assert!((after.divergence - (0.25 + 0.75 + 0.5) / 10.0).abs() < 1e-6);
    assert_eq!((after.visits, after.changed, after.wasted), (2, 2, 0));
    assert_eq!(findings.days, [1.0, 1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0]);
    // Above an age of x there are max(0, 1 − x) + max(0, 4 − x) of ten days: 0.5 days at 3.5.
    assert!((after.age_days_p95 - 3.5).abs() < 0.1, "{}", after.age_days_p95);
}

#[test]
fn warm_up_and_result_are_cut_where_the_warm_up_ends() {
    let world = by_hand(10, 5, &[(0, None, &[4])]);
    let script = BTreeMap::from([(6, vec![0])]);
    let findings = LabTrial::run(&world, &mut Scripted { script, ..Scripted::default() }, &daily()).unwrap();
    assert!((findings.warm_up.freshness - 0.8).abs() < 1e-12);
    assert!((findings.after.freshness - 0.8).abs() < 1e-12);
    // Age on day 5 runs from 1 to 2.
    assert!((findings.after.age_days - 1.5 / 5.0).abs() < 1e-12);
    assert_eq!((findings.warm_up.visits, findings.after.visits), (0, 1));
}

#[test]
fn births_are_found_at_once_and_ends_leave_for_nothing() {
    let world = by_hand(10, 0, &[(0, Some(4), &[]), (3, None, &[5]), (20, None, &[])]);
    let mut policy = Scripted::default();
    let findings = LabTrial::run(&world, &mut policy, &daily()).unwrap();
    assert_eq!(policy.recalled, [0, 1]);
    assert_eq!(policy.forgotten, [0]);
    assert_eq!(findings.after.visits, 0);
    // 4 of 4 days of the first, 2 of 7 of the second.
    assert!((findings.after.freshness - 6.0 / 11.0).abs() < 1e-12);
}

#[test]
fn a_choice_beyond_the_rules_is_an_error_that_names_the_policy() {
    let world = by_hand(10, 0, &[(0, None, &[]), (6, None, &[])]);
    for (script, words) in [(vec![0, 0], "twice"), (vec![1], "not held"), (vec![7], "not held")] {
        let mut policy = Scripted { script: BTreeMap::from([(1, script)]), ..Scripted::default() };
        let error = LabTrial::run(&world, &mut policy, &daily()).unwrap_err().to_string();
        assert!(error.contains("scripted") && error.contains(words), "{error}");
    }
    let mut policy = Scripted { script: BTreeMap::from([(1, vec![0])]), ..Scripted::default() };
    let poor = Options { budget: budget("1000/week"), slot: Span::from_secs(1), ..Options::default() };
    assert!(LabTrial::run(&world, &mut policy, &poor).is_ok(), "nothing is asked while nothing is in hand");
}

/// A reference that knows only states at instants: every ten minutes, which pages are up to date, and how old.
fn sampled(world: &World, visits: &[(u32, Moment)]) -> (f64, f64) {
    let step = Span::from_secs(600);
    let (mut fresh, mut age, mut all) = (0u64, 0.0, 0u64);
    for number in 0..world.pages.len() {
        let (from, until) = world.life(number);
        let mine: Vec<Moment> = visits.iter().filter(|visit| visit.0 == number as u32).map(|visit| visit.1).collect();
        let mut now = world.measured_from().max(from) + Span::from_secs(300);
        while now < until {
            let last = mine.iter().copied().filter(|&visit| visit <= now).max().unwrap_or(from).max(from);
            let unseen = world.changes(number).iter().find(|change| change.moment > last && change.moment <= now);
            fresh += u64::from(unseen.is_none());
            age += unseen.map_or(0.0, |change| now.since(change.moment).days_f64());
            all += 1;
            now += step;
        }
    }
    (fresh as f64 / all as f64, age / all as f64)
}

/// Passes everything on and takes down the visits.
struct Watched<'a> {
    policy: &'a mut dyn Refresh,
    visits: Vec<(u32, Moment)>,
}

impl Refresh for Watched<'_> {
    fn name(&self) -> &'static str {
        self.policy.name()
    }
    fn recall(&mut self, held: &Held<'_>) {
        self.policy.recall(held);
    }
    fn choose(&mut self, view: &dyn View, now: Moment, chance: &mut Chance) -> Vec<PageKey> {
        self.policy.choose(view, now, chance)
    }
    fn learn(&mut self, seen: &Seen) -> PolicyState {
        if seen.previous.is_some() {
            self.visits.push((seen.page.number, seen.moment));
        }
        self.policy.learn(seen)
    }
    fn put_back(&mut self, page: PageKey) {
        self.policy.put_back(page);
    }
    fn forget(&mut self, page: PageKey) {
        self.policy.forget(page);
    }
    fn next_due(&self, view: &dyn View, now: Moment) -> Option<Moment> {
        self.policy.next_due(view, now)
    }
    fn why(&self, page: PageKey, now: Moment) -> Vec<(String, String)> {
        self.policy.why(page, now)
    }
}

#[test]
fn integrals_agree_with_brute_force_sampling() {
    let settings = WorldSettings {
        pages: 40,
        sites: 4,
        days: 40.0,
        warm_up_days: 7.3,
        births: Some(Births { per_week: 0.2 }),
        process: Process::Bursty { changes_per_burst: 3.0, burst_days: 0.5 },
        ..WorldSettings::default()
    };
    for (chance, name) in (1..4).zip(["round-robin", "refresh-time", "round-robin"]) {
        let world = settings.draw("sampled", chance);
        let mut policy = vernal_policy::by_name(name).unwrap();
        let mut watched = Watched { policy: policy.as_mut(), visits: Vec::new() };
        let options = Options { budget: budget("20%/day"), ..Options::default() };
        let findings = LabTrial::run(&world, &mut watched, &options).unwrap();
        let (fresh, age) = sampled(&world, &watched.visits);
        assert!((findings.after.freshness - fresh).abs() < 1e-3, "{} {fresh}", findings.after.freshness);
        assert!((findings.after.age_days - age).abs() < 2e-3 * (1.0 + age), "{} {age}", findings.after.age_days);
    }
}

#[test]
fn round_robin_on_poisson_pages_has_the_freshness_of_theory() {
    for (rate, share) in [(0.02, "5%/day"), (0.1, "10%/day"), (1.0, "50%/day")] {
        let settings = WorldSettings {
            pages: 2_000,
            days: 300.0,
            rates: Rates { changes_per_day_median: rate, spread_site: 0.0, spread_page: 0.0 },
            ..WorldSettings::default()
        };
        let world = settings.draw("even", 5);
        let findings = run(&world, "round-robin", &Options { budget: budget(share), ..Options::default() });
        let x = rate / (budget(share).amount / 100.0);
        let theory = (1.0 - (-x).exp()) / x;
        assert!(
            (findings.after.freshness - theory).abs() < 0.006,
            "{rate} {share}: {} {theory}",
            findings.after.freshness
        );
        let ratio = 1.0 - (-x).exp();
        assert!((findings.after.change_ratio - ratio).abs() < 0.01, "{} {ratio}", findings.after.change_ratio);
    }
}

#[test]
fn the_budget_is_spent_to_the_visit_and_never_exceeded() {
    let world = small().draw("budget", 3);
    for (text, per_day) in [("5%/day", 10.0), ("7/day", 7.0), ("35/week", 5.0), ("3/hour", 72.0)] {
        let options = Options { budget: budget(text), ..Options::default() };
        let findings = run(&world, "round-robin", &options);
        let visits = (findings.after.visits + findings.warm_up.visits) as f64;
        assert!(visits <= 60.0 * per_day && visits >= 60.0 * per_day - per_day / 12.0 - 2.0, "{text}: {visits}");
        assert!((visits_per_day(&world, &options.budget) - per_day).abs() < 1e-6);
    }
    let bytes = run(&world, "round-robin", &Options { budget: budget("100kB/day"), ..Options::default() });
    let spent = (bytes.after.bytes + bytes.warm_up.bytes) as f64 / 60.0;
    assert!((80_000.0..115_000.0).contains(&spent), "{spent} bytes a day");
}

/// Chooses the first page whenever it is asked.
#[derive(Default)]
struct Stubborn {
    visits: Vec<Moment>,
    put_back: usize,
}

impl Refresh for Stubborn {
    fn name(&self) -> &'static str {
        "stubborn"
    }
    fn recall(&mut self, _: &Held<'_>) {}
    fn choose(&mut self, _: &dyn View, _: Moment, _: &mut Chance) -> Vec<PageKey> {
        assert!(self.put_back <= 10, "a round without a new visit ends the slot");
        vec![PageKey::default()]
    }
    fn learn(&mut self, seen: &Seen) -> PolicyState {
        self.visits.extend(seen.previous.map(|_| seen.moment));
        PolicyState::default()
    }
    fn put_back(&mut self, _: PageKey) {
        self.put_back += 1;
    }
    fn forget(&mut self, _: PageKey) {}
    fn next_due(&self, _: &dyn View, now: Moment) -> Option<Moment> {
        Some(now)
    }
    fn why(&self, _: PageKey, _: Moment) -> Vec<(String, String)> {
        Vec::new()
    }
}

#[test]
fn no_page_is_visited_twice_at_one_instant_whatever_the_budget() {
    let world = by_hand(10, 0, &[(0, None, &[]), (0, None, &[])]);
    for failures in [0.0, 1.0] {
        let mut policy = Stubborn::default();
        let findings = LabTrial::run(&world, &mut policy, &Options { failures, ..daily() }).unwrap();
        assert!(policy.visits.is_sorted_by(|one, next| one < next), "{:?}", policy.visits);
        assert_eq!((policy.visits.len(), policy.put_back, findings.after.visits), (9, 9, 9));
    }
    let world = small().draw("rich", 3);
    let rich = Options { budget: budget("1000000/day"), slot: Span::from_days(1), ..Options::default() };
    for policy in vernal_policy::NAMES {
        let findings = run(&world, policy, &rich);
        assert!(findings.after.visits <= 200 * 40, "{policy}: {} visits", findings.after.visits);
    }
}

#[test]
fn whoever_visits_in_some_hours_of_the_day_spends_what_the_others_spend() {
    let world = small().draw("points", 3);
    let options = Options { budget: budget("20%/day"), ..Options::default() };
    let visits = |policy: &str| {
        let findings = run(&world, policy, &options);
        findings.after.visits + findings.warm_up.visits
    };
    let (all, a_day) = (visits("round-robin"), small().pages as u64 / 5);
    for points in ["at-once", "front-loaded", "even", "quiet-hours"] {
        let spent = visits(&format!("round-robin:{points}"));
        assert!(spent + a_day >= all && spent <= all + a_day, "{points}: {spent} of {all}");
    }
}

#[test]
fn a_capped_site_is_never_asked_beyond_its_cap() {
    let settings = WorldSettings { politeness: Some(Capped { pages: 0.3, visits_per_page_day: 0.02 }), ..small() };
    let world = settings.draw("capped", 1);
    let options = Options { budget: budget("20%/day"), ..Options::default() };
    let findings = run(&world, "round-robin", &options);
    let cap = world.sites[0].visits_per_day_max.unwrap();
    assert!((cap - 1.2).abs() < 1e-9);
    assert!(findings.sites[0].visits as f64 <= cap * 40.0 + 2.0, "{}", findings.sites[0].visits);
    let others: u64 = findings.sites[1..].iter().map(|site| site.visits).sum();
    assert!(others as f64 >= (40.0 - cap) * 40.0 - 5.0, "what one site may not have goes to the others: {others}");
}

#[test]
fn failed_visits_are_paid_for_and_refresh_nothing() {
    let world = small().draw("failing", 2);
    let lucky = run(&world, "round-robin", &Options { budget: budget("20%/day"), ..Options::default() });
    let unlucky = Options { budget: budget("20%/day"), failures: 0.5, ..Options::default() };
    let findings = run(&world, "round-robin", &unlucky);
    assert_eq!(findings.after.visits, lucky.after.visits);
    let share = findings.after.failed as f64 / findings.after.visits as f64;
    assert!((share - 0.5).abs() < 0.05, "{share}");
    assert!(findings.after.freshness < lucky.after.freshness);
}

#[test]
fn pages_of_a_publication_change_at_one_instant() {
    let publications = Publications { per_day_median: 0.2, spread: 0.0, pages: 0.5, own: 0.0 };
    let world = WorldSettings { publications: Some(publications), ..small() }.draw("together", 4);
    let mut touched: BTreeMap<(u32, Moment), usize> = BTreeMap::new();
    for (number, page) in world.pages.iter().enumerate() {
        for change in world.changes(number) {
            *touched.entry((page.site, change.moment)).or_default() += 1;
        }
    }
    let mean = touched.values().sum::<usize>() as f64 / touched.len() as f64;
    assert!((mean - 10.0).abs() < 1.0, "half of twenty pages each time: {mean}");
    assert!(!world.modelled);
}

#[test]
fn a_world_is_the_same_for_the_same_number_and_another_for_another() {
    for name in ["w1-small", "w2", "w5"] {
        let scenario = LabScenario::by_name(name).unwrap();
        assert!(scenario.world(1).unwrap() == scenario.world(1).unwrap());
        assert!(scenario.world(1).unwrap() != scenario.world(2).unwrap());
    }
    let w5 = LabScenario::by_name("w5").unwrap().world(1).unwrap();
    let born = w5.pages.iter().filter(|page| page.born > w5.origin).count() as f64;
    let expected = 5_000.0 * 0.2 / 7.0 * 200.0;
    assert!((born - expected).abs() < 4.0 * expected.sqrt(), "{born} births");
    assert_eq!(versions(&w5).count(), w5.changes_total());
}

#[test]
fn a_comparison_gives_the_same_rows_whatever_the_threads() {
    let recorded = Arc::new(small().draw("recorded", 9));
    let scenario = LabScenario { name: "tiny".into(), about: "a test".into(), world: Some(small()), replay: None };
    let comparison = |jobs| Comparison {
        policies: vec!["round-robin".into(), "refresh-time".into()],
        sources: vec![Source::Invented(Box::new(scenario.clone())), Source::Recorded(Arc::clone(&recorded))],
        budgets: vec![budget("5%/day"), budget("20%/day")],
        chances: vec![1, 2, 3],
        options: Options::default(),
        jobs,
    };
    let rows = |jobs| {
        let done = std::sync::atomic::AtomicUsize::new(0);
        let progress = |_, of| {
            assert_eq!(of, 24);
            done.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        };
        let means = Means { bounds: &Unbounded, cpu_seconds: &|| 0.0, progress: &progress };
        let compared = comparison(jobs).run(&means).unwrap();
        assert_eq!(done.into_inner(), 24);
        compared
    };
    let (one, three) = (rows(1), rows(3));
    assert_eq!(serde_json::to_string(&one).unwrap(), serde_json::to_string(&three).unwrap());
    let cell =
        |row: &vernal_simulator::lab::Row| (row.world.clone(), row.budget.clone(), row.policy.clone(), row.chance);
    assert_eq!(cell(&one[0].row), ("tiny".into(), "5%/day".into(), "round-robin".into(), 1));
    assert_eq!(cell(&one[23].row), ("recorded".into(), "20%/day".into(), "refresh-time".into(), 3));
    let told: Vec<_> = one.iter().map(|compared| compared.row.clone()).collect();
    let differences = differences(&told, "round-robin");
    assert_eq!(differences.len(), 4);
    assert_eq!(differences[0].freshness.count, 3);
    let nobody = Comparison { policies: vec!["astrology".into()], ..comparison(1) };
    let means = Means { bounds: &Unbounded, cpu_seconds: &|| 0.0, progress: &|_, _| {} };
    let twice = Comparison { chances: vec![1, 2, 1], ..comparison(1) };
    let told = twice.run(&means).unwrap_err().to_string();
    assert!(told.contains("chance number 1 is there twice"), "{told}");
    assert!(nobody.run(&means).unwrap_err().to_string().contains("astrology"));
}
