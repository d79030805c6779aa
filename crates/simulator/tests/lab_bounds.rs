//! No policy exceeds the bound that it is held against, in any world of the protocol.

#![allow(clippy::unwrap_used, reason = "the helpers of tests fail as tests do")]

use vernal_model::Budget;
use vernal_simulator::lab::compare::{Made, knows_rates};
use vernal_simulator::lab::generate::scenario::NAMES;
use vernal_simulator::lab::{Bounder, LabScenario, LabTrial, Options, Reckoned};

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
    for scenario in scenarios() {
        for budget in BUDGETS {
            let budget: Budget = budget.parse().unwrap();
            let mut above = vec![(0.0, 0.0); vernal_policy::NAMES.len()];
            for chance in CHANCES {
                let world = scenario.world(chance).unwrap();
                let options = Options { budget, chance, ..Options::default() };
                let bounds = Reckoned.bounds(&world, &options);
                let (clairvoyant, bound) = (bounds.clairvoyant.unwrap(), bounds.of_freshness().unwrap());
                for (policy, above) in vernal_policy::NAMES.iter().zip(&mut above) {
                    let options = Options { rates_known: knows_rates(policy), ..options.clone() };
                    let mut made = Made::by_name(policy).unwrap();
                    let freshness = LabTrial::run(&world, made.refresh(), &options).unwrap().after.freshness;
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
    }
}

#[test]
fn where_pages_are_born_or_announce_their_changes_the_model_s_optimum_is_no_bound() {
    for scenario in scenarios() {
        let settings = scenario.world.clone().unwrap();
        let world = scenario.world(1).unwrap();
        let bounds = Reckoned.bounds(&world, &Options::default());
        if settings.births.is_some() || settings.hints.is_some() {
            assert_eq!(bounds.optimum, None, "{}", scenario.name);
        }
        assert!(bounds.of_freshness().is_some(), "{}", scenario.name);
    }
}
