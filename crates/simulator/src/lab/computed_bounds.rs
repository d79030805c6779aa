//! The bounds of a world, computed.
//!
//! - The model's optimum (Cho and Garcia-Molina 2003), in the long run and certified for a window of finite length, and
//!   the greatest change ratio, 1 − e^(−ΣΔ/R): for worlds whose changes follow the model.
//! - The clairvoyant, who knows every change beforehand: for every world.
//!
//! A budget in bytes has no bound here: what a visit costs is then a matter of choice.

use vernal_model::{BudgetUnit, Moment};
use vernal_policy::measure::bound::{change_ratio_bound, freshness_bound, freshness_bound_of_window};
use vernal_policy::measure::clairvoyant::{Clairvoyant, Slot};

use super::bounds::{Bounder, Bounds, day_of, free_share, rated_pages, versions, visits_per_day};
use super::trial::Options;
use super::world::World;

/// Computes every bound that holds.
pub struct ComputedBounds;

impl Bounder for ComputedBounds {
    fn bounds(&self, world: &World, options: &Options) -> Bounds {
        if options.budget.unit == BudgetUnit::WireBytes {
            return Bounds::default();
        }
        let knowing = Clairvoyant::new(versions(world), slots(world, options), day_of(world.measured_from()));
        let clairvoyant = freshness_of(&knowing, world);
        if !world.modelled {
            let (found, visits) = knowing.most_found();
            let change_ratio = (visits > 0).then(|| found as f64 / visits as f64);
            return Bounds { change_ratio, clairvoyant, found_max: Some(found), ..Bounds::default() };
        }
        let (pages, per_day) = (rated_pages(world), visits_per_day(world, &options.budget));
        let days = world.end.since(world.measured_from()).days_f64();
        let has_pages = pages.iter().any(|page| page.importance > 0.0);
        let rates = pages.iter().map(|page| page.rate);
        Bounds {
            optimum: has_pages.then(|| freshness_bound(&pages, per_day)),
            window: (has_pages && days > 0.0).then(|| freshness_bound_of_window(&pages, per_day, days)),
            change_ratio: (per_day > 0.0).then(|| change_ratio_bound(rates.clone(), per_day)),
            clairvoyant,
            free_share: has_pages.then(|| free_share(pages.len() as f64 / per_day, world.warm_up.days_f64(), days)),
            changes_per_day: Some(rates.sum()),
            found_max: None,
        }
    }
}

/// The slots of a trial, with what its budget pays for in each if all of it is spent.
fn slots(world: &World, options: &Options) -> Vec<Slot> {
    let mut lives: Vec<(Moment, i64)> = Vec::new();
    for page in 0..world.pages.len() {
        let (from, until) = world.life(page);
        if until > from {
            lives.extend([(from, 1), (until, -1)]);
        }
    }
    lives.sort_unstable();
    let (mut held, mut next, mut in_hand) = (0i64, 0, 0.0);
    let (mut slots, mut now) = (Vec::new(), world.origin);
    while now + options.slot < world.end {
        now += options.slot;
        while let Some(&(moment, step)) = lives.get(next)
            && moment <= now
        {
            held += step;
            next += 1;
        }
        in_hand += options.budget.per_second(held.max(0) as u64) * options.slot.secs_f64();
        let visits = (in_hand + 1e-9).floor().max(0.0);
        in_hand -= visits;
        slots.push(Slot { at: day_of(now), visits: visits as usize });
    }
    slots
}

/// The share of page-time that is up to date under a policy that knows every change beforehand.
fn freshness_of(clairvoyant: &Clairvoyant, world: &World) -> Option<f64> {
    let from = world.measured_from();
    let (mut online, mut free) = (0.0, 0.0);
    for (number, page) in world.pages.iter().enumerate() {
        let (born, gone) = world.life(number);
        let weight = f64::from(page.weight);
        let first = world.changes(number).first().map_or(gone, |change| change.moment);
        online += weight * gone.since(born.max(from)).days_f64();
        free += weight * first.since(born.max(from)).days_f64();
    }
    if online <= 0.0 {
        return None;
    }
    Some(((free + clairvoyant.won()) / online).min(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::compare::{Made, knows_rates};
    use crate::lab::{LabScenario, LabTrial};

    #[test]
    fn no_policy_exceeds_the_clairvoyant_and_known_rates_stay_below_the_certified_optimum() {
        let text = "name = 't'\nabout = ''\n[world]\npages = 200\nsites = 5\ndays = 60.0\nwarm_up_days = 10.0";
        let scenario = LabScenario::parse("t", text).unwrap();
        let world = scenario.world(3).unwrap();
        for policy in ["round-robin", "bayes", "hindsight"] {
            let options = Options { rates_known: knows_rates(policy), ..Options::default() };
            let bounds = ComputedBounds.bounds(&world, &options);
            let mut made = Made::by_name(policy).unwrap();
            let findings = LabTrial::run(&world, made.refresh(), &options).unwrap();
            let (real, clair) = (findings.after.freshness, bounds.clairvoyant.unwrap());
            assert!(real <= clair && clair <= 1.0, "{policy}: {real} {clair}");
            assert!(bounds.window.unwrap() > bounds.optimum.unwrap());
            let most = bounds.change_ratio_of(findings.after.visits, 50.0).unwrap();
            assert!(findings.after.change_ratio <= most + 0.02, "{policy}");
        }
    }
}
