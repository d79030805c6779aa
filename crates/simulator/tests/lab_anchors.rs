//! The anchor numbers of a trial that was made before this program, in another language: 5,000 pages on 100 sites at 5 %
//! a day, 1,500 pages on 30 sites at 10 %.

#![allow(clippy::unwrap_used, reason = "the helpers of tests fail as tests do")]

mod side_by_side;

use std::collections::BTreeMap;

use side_by_side::side_by_side;
use vernal_simulator::lab::compare::knows_rates;
use vernal_simulator::lab::{LabScenario, LabTrial, Options, World};

/// Freshness over the optimum for known rates, and how far it may lie from the trial's: at 5 % a day the trial's own error, the
/// standard deviation over its worlds; at 10 % it told none.
struct Anchor {
    world: &'static str,
    budget: &'static str,
    policy: &'static str,
    of_optimum: f64,
    within: f64,
    /// Whether whoever can use them is told the rates.
    rates_known: bool,
}

const fn anchor(
    world: &'static str,
    budget: &'static str,
    policy: &'static str,
    of_optimum: f64,
    within: f64,
) -> Anchor {
    Anchor { world, budget, policy, of_optimum, within, rates_known: true }
}

const ANCHORS: &[Anchor] = &[
    anchor("w1", "5%/day", "round-robin", 0.962, 0.007),
    anchor("w1", "5%/day", "greedy", 0.912, 0.020),
    anchor("w1", "5%/day", "proportional:with-repeats", 0.853, 0.014),
    anchor("w1", "5%/day", "hybrid", 0.869, 0.029),
    anchor("w1", "5%/day", "refresh-time", 0.858, 0.028),
    anchor("w1", "5%/day", "optimal", 0.999, 0.003),
    anchor("w1", "5%/day", "random-optimal", 0.871, 0.007),
    anchor("w1", "5%/day", "index", 0.998, 0.002),
    anchor("w1", "5%/day", "bayes", 0.982, 0.004),
    // Proportional to known rates, the mean of the belief taken for the rate, and the greatest learned chance of a change.
    anchor("w1", "5%/day", "index:change-ratio", 0.689, 0.105),
    Anchor { rates_known: false, ..anchor("w1", "5%/day", "index", 0.978, 0.011) },
    anchor("w1", "5%/day", "bayes:change-ratio", 0.691, 0.122),
    anchor("w1", "10%/day", "refresh-time", 0.914, 0.028),
    anchor("w1-small", "10%/day", "round-robin", 0.964, 0.014),
    anchor("w1-small", "10%/day", "greedy", 0.952, 0.020),
    anchor("w1-small", "10%/day", "hybrid", 0.939, 0.029),
    anchor("w1-small", "10%/day", "optimal", 1.000, 0.008),
    anchor("w1-small", "10%/day", "random-optimal", 0.885, 0.014),
    anchor("w1-small", "10%/day", "index", 1.001, 0.008),
    anchor("w1-small", "10%/day", "bayes", 0.991, 0.010),
];

const CHANCES: [u64; 10] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10];

/// The optimum of Cho and Garcia-Molina as a reference of its own: h(x) = θΔ solved page by page, θ by bisection.
fn optimum(world: &World, visits_per_day: f64) -> f64 {
    let h = |x: f64| 1.0 - (1.0 + x) * (-x).exp();
    let solved = |y: f64| {
        let (mut low, mut high) = (0.0, 60.0);
        for _ in 0..60 {
            let x = (low + high) / 2.0;
            if h(x) < y { low = x } else { high = x }
        }
        (low + high) / 2.0
    };
    let visits = |theta: f64, rate: f64| if theta * rate >= 1.0 { 0.0 } else { rate / solved(theta * rate) };
    let (mut low, mut high) = (1e-9, 1e4);
    for _ in 0..50 {
        let theta = f64::sqrt(low * high);
        let spent: f64 = world.pages.iter().map(|page| visits(theta, page.rate)).sum();
        if spent > visits_per_day { low = theta } else { high = theta }
    }
    let fresh = |rate: f64| {
        let visits = visits(high, rate);
        if visits <= 0.0 { 0.0 } else { visits / rate * (1.0 - (-rate / visits).exp()) }
    };
    world.pages.iter().map(|page| fresh(page.rate)).sum::<f64>() / world.pages.len() as f64
}

#[test]
fn the_reference_optimum_is_the_printed_one() {
    let mut world = World::default();
    for rate in 1..=5 {
        let page = vernal_simulator::lab::world::WorldPage { rate: f64::from(rate), ..Default::default() };
        world.push(page, &[], &[]);
    }
    assert!((optimum(&world, 5.0) - 0.37389).abs() < 1e-5, "{}", optimum(&world, 5.0));
}

/// Freshness over the optimum of every anchor, on the worlds of one chance number.
fn ratios(chance: u64) -> Vec<f64> {
    let mut worlds: BTreeMap<&str, World> = BTreeMap::new();
    let mut optima: BTreeMap<(&str, &str), f64> = BTreeMap::new();
    let mut ratio = |anchor: &Anchor| {
        let drawn = || LabScenario::by_name(anchor.world).unwrap().world(chance).unwrap();
        let world = worlds.entry(anchor.world).or_insert_with(drawn);
        let options = Options {
            budget: anchor.budget.parse().unwrap(),
            rates_known: anchor.rates_known && knows_rates(anchor.policy),
            chance,
            ..Options::default()
        };
        let mut policy = vernal_policy::by_name(anchor.policy).unwrap();
        let findings = LabTrial::run(world, policy.as_mut(), &options).unwrap();
        let per_day = options.budget.amount / 100.0 * world.pages.len() as f64;
        let optimum = optima.entry((anchor.world, anchor.budget)).or_insert_with(|| optimum(world, per_day));
        findings.after.freshness / *optimum
    };
    ANCHORS.iter().map(&mut ratio).collect()
}

#[test]
fn the_anchor_numbers_are_met_within_the_trials_own_errors() {
    let of_chances = side_by_side(&CHANCES, |&chance| ratios(chance));
    for (number, anchor) in ANCHORS.iter().enumerate() {
        let ratios: Vec<f64> = of_chances.iter().map(|ratios| ratios[number]).collect();
        let mean = ratios.iter().sum::<f64>() / ratios.len() as f64;
        println!("{} {} {}: {mean:.4} of the optimum, {ratios:.4?}", anchor.world, anchor.budget, anchor.policy);
        assert!(
            (mean - anchor.of_optimum).abs() <= anchor.within,
            "{} on {} at {}: {mean:.4} of the optimum instead of {}",
            anchor.policy,
            anchor.world,
            anchor.budget,
            anchor.of_optimum
        );
    }
}
