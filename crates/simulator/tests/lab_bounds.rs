//! No policy exceeds the bound that it is held against, in any world of the protocol.

#![allow(clippy::unwrap_used, reason = "the helpers of tests fail as tests do")]

mod side_by_side;

use side_by_side::side_by_side;
use vernal_model::Budget;
use vernal_simulator::lab::compare::{Made, knows_rates};
use vernal_simulator::lab::generate::scenario::NAMES;
use vernal_simulator::lab::{Bounder, ComputedBounds, LabScenario, LabTrial, Options, World};

const PAGES: usize = 200;
const SITES: usize = 10;
const DAYS: f64 = 80.0;
const CHANCES: [u64; 3] = [1, 2, 3];
const BUDGETS: [&str; 2] = ["3%/day", "15%/day"];
/// The model's optimum is one of the mean: a world of 200 pages and 60 days lies about so far from it by chance.
const BY_CHANCE: f64 = 0.03;

/// Every invented world of the protocol, in small.
fn scenarios() -> Vec<LabScenario> {
    let mut scenarios = Vec::new();
    for name in NAMES {
        let mut scenario = LabScenario::by_name(name).unwrap();
        let Some(world) = &mut scenario.world else { continue };
        (world.pages, world.sites, world.days, world.warm_up_days) = (PAGES, SITES, DAYS, DAYS / 4.0);
        scenarios.extend(scenario.variants());
    }
    scenarios
}

#[test]
fn no_policy_in_any_world_is_above_its_bound() {
    side_by_side(&scenarios(), |scenario| {
        let worlds = CHANCES.map(|chance| (chance, scenario.world(chance).unwrap()));
        for budget in BUDGETS {
            let budget: Budget = budget.parse().unwrap();
            let mut above = vec![(0.0, 0.0); vernal_policy::NAMES.len()];
            for (chance, world) in &worlds {
                let chance = *chance;
                let options = Options { budget, chance, ..Options::default() };
                let bounds = ComputedBounds.bounds(world, &options);
                let (clairvoyant, bound) = (bounds.clairvoyant.unwrap(), bounds.of_freshness().unwrap());
                for (policy, above) in vernal_policy::NAMES.iter().zip(&mut above) {
                    let options = Options { rates_known: knows_rates(policy), ..options.clone() };
                    let mut made = Made::by_name(policy).unwrap();
                    let freshness = LabTrial::run(world, made.refresh(), &options).unwrap().after.freshness;
                    assert!(
                        freshness <= clairvoyant + 1e-9,
                        "{policy} on {} at {budget}, chance {chance}: {freshness} above {clairvoyant}",
                        scenario.name
                    );
                    above.0 += (freshness - bound) / CHANCES.len() as f64;
                    above.1 += (freshness - bounds.window.unwrap_or(clairvoyant)) / CHANCES.len() as f64;
                }
            }
            for (policy, (above, above_certified)) in vernal_policy::NAMES.iter().zip(above) {
                let name = &scenario.name;
                assert!(
                    above_certified <= 0.0,
                    "{policy} on {name} at {budget}: {above_certified} above the certificate"
                );
                assert!(above <= BY_CHANCE, "{policy} on {name} at {budget}: {above} above the optimum");
            }
        }
    });
}

#[test]
fn where_pages_are_born_or_announce_their_changes_the_model_s_optimum_is_no_bound() {
    for scenario in scenarios() {
        let settings = scenario.world.clone().unwrap();
        let world = scenario.world(1).unwrap();
        let bounds = ComputedBounds.bounds(&world, &Options::default());
        if settings.births.is_some() || settings.hints.is_some() {
            assert_eq!(bounds.optimum, None, "{}", scenario.name);
        }
        assert!(bounds.of_freshness().is_some(), "{}", scenario.name);
    }
}

/// Policies that a law is tried with where all of them would take too long: the plainest, ours, those that know every rate,
/// and those that seek changes and may leave budget unspent.
const SOME: [&str; 8] = [
    "round-robin",
    "vernal",
    "optimal",
    "hindsight",
    "vernal:change-ratio",
    "index:change-ratio",
    "refresh-time",
    "heritrix-fixed",
];

#[test]
fn at_tiny_budgets_and_in_short_windows_results_stay_below_what_they_are_held_against() {
    for name in ["w1", "w6-opposed", "w8"] {
        let Some(mut scenario) = scenarios().into_iter().find(|scenario| scenario.name == name) else {
            panic!("{name} is a world of the protocol")
        };
        for (days, warm_up_days) in [(20.0, 0.0), (30.0, 10.0), (80.0, 20.0)] {
            let settings = scenario.world.as_mut().unwrap();
            (settings.days, settings.warm_up_days) = (days, warm_up_days);
            let worlds = CHANCES.map(|chance| (chance, scenario.world(chance).unwrap()));
            side_by_side(&["0.1%/day", "1%/day", "3%/day", "10%/day", "15%/day"], |budget| {
                held_against(&scenario.name, &worlds, budget.parse().unwrap(), days - warm_up_days);
            });
        }
    }
}

fn held_against(name: &str, worlds: &[(u64, World)], budget: Budget, days: f64) {
    let mut above = vec![(0.0, 0.0); SOME.len()];
    for (chance, world) in worlds {
        let options = Options { budget, chance: *chance, ..Options::default() };
        let bounds = ComputedBounds.bounds(world, &options);
        let (_, bound) = bounds.held_against().unwrap();
        assert!(bound <= bounds.clairvoyant.unwrap(), "nothing looser than the clairvoyant is shown");
        for (policy, above) in SOME.iter().zip(&mut above) {
            let options = Options { rates_known: knows_rates(policy), ..options.clone() };
            let after = LabTrial::run(world, Made::by_name(policy).unwrap().refresh(), &options).unwrap().after;
            above.0 += (after.freshness - bound) / CHANCES.len() as f64;
            let most = bounds.change_ratio_of(after.visits, days);
            assert_eq!(most.is_none(), after.visits == 0);
            above.1 += (after.change_ratio - most.unwrap_or(0.0)) / CHANCES.len() as f64;
        }
    }
    for (policy, (freshness, change_ratio)) in SOME.iter().zip(above) {
        let place = format!("{policy} on {name} at {budget} in {days} days");
        assert!(freshness <= BY_CHANCE, "{place}: {freshness} above its bound");
        assert!(change_ratio <= BY_CHANCE, "{place}: a change ratio {change_ratio} above its bound");
    }
}
