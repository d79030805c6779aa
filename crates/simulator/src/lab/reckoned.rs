//! The bounds of a world, reckoned.
//!
//! - The model's optimum (Cho and Garcia-Molina 2003), in the long run and certified for a window of finite length, and
//!   the greatest change ratio, 1 − e^(−ΣΔ/R): for worlds whose changes follow the model.
//! - The clairvoyant: every version is a task that may be done from its change to the next one, and the earlier the
//!   better. With equal weights, taking the version that lasts longest first is best, slot by slot; with unequal ones a
//!   price for a visit gives a bound that no schedule can exceed. The most changes that visits can find come from taking
//!   the version that ends first.
//!
//! A budget in bytes has no bound here: what a visit costs is then a matter of choice.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use vernal_model::{BudgetUnit, Moment};
use vernal_policy::measure::bound::{change_ratio_bound, freshness_bound, freshness_bound_of_window};

use super::bounds::{Bounder, Bounds, VersionLife, rated_pages, version_lives, visits_per_day};
use super::trial::Options;
use super::world::World;

/// Reckons every bound that holds.
pub struct Reckoned;

/// Steps in which the best price of a visit is looked for.
const PRICE_STEPS: usize = 80;
const GOLDEN: f64 = 0.618_033_988_749_894_9;

impl Bounder for Reckoned {
    fn bounds(&self, world: &World, options: &Options) -> Bounds {
        if options.budget.unit == BudgetUnit::WireBytes {
            return Bounds::default();
        }
        let slots = slots(world, options);
        let clairvoyant = clairvoyant(world, &slots);
        if !world.modelled {
            return Bounds { change_ratio: most_found(world, &slots), clairvoyant, ..Bounds::default() };
        }
        let (pages, per_day) = (rated_pages(world), visits_per_day(world, &options.budget));
        let days = world.end.since(world.measured_from()).days_f64();
        let has_pages = pages.iter().any(|page| page.importance > 0.0);
        let rates = pages.iter().map(|page| page.rate);
        Bounds {
            optimum: has_pages.then(|| freshness_bound(&pages, per_day)),
            window: (has_pages && days > 0.0).then(|| freshness_bound_of_window(&pages, per_day, days)),
            change_ratio: (per_day > 0.0).then(|| change_ratio_bound(rates, per_day)),
            clairvoyant,
        }
    }
}

/// An instant at which visits are given out, and how many.
#[derive(Copy, Clone, Debug, PartialEq)]
struct Slot {
    at: Moment,
    visits: usize,
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
        slots.push(Slot { at: now, visits: visits as usize });
    }
    slots
}

/// Versions that are worth something after the warm-up, in the order in which they appear.
fn worth_having(world: &World) -> Vec<VersionLife> {
    let mut lives = version_lives(world);
    lives.retain(|life| life.until > world.measured_from());
    lives.sort_by_key(|life| life.from);
    lives
}

/// The share of page-time that one can have up to date who knows every change beforehand.
fn clairvoyant(world: &World, slots: &[Slot]) -> Option<f64> {
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
    let lives = worth_having(world);
    let equal = lives.windows(2).all(|pair| pair[0].weight == pair[1].weight);
    let won = if equal { longest_first(&lives, slots, from) } else { at_a_price(&lives, slots, from) };
    Some(((free + won) / online).min(1.0))
}

/// Weighted days won by taking the version that lasts longest at each slot; the best there is with equal weights.
fn longest_first(lives: &[VersionLife], slots: &[Slot], from: Moment) -> f64 {
    let (mut heap, mut next, mut won) = (BinaryHeap::new(), 0, 0.0);
    let weight = lives.first().map_or(0.0, |life| life.weight);
    for slot in slots {
        while let Some(life) = lives.get(next)
            && life.from <= slot.at
        {
            heap.push(life.until);
            next += 1;
        }
        for _ in 0..slot.visits {
            let Some(until) = heap.pop() else { break };
            if until <= slot.at {
                heap.clear();
                break;
            }
            won += weight * until.since(slot.at.max(from)).days_f64();
        }
    }
    won
}

/// Weighted days that no schedule exceeds: Σ visits · y + Σ max(0, worth − y), at the best price y.
fn at_a_price(lives: &[VersionLife], slots: &[Slot], from: Moment) -> f64 {
    let visits: f64 = slots.iter().map(|slot| slot.visits as f64).sum();
    let worth = |life: &VersionLife| {
        let place = slots.partition_point(|slot| slot.at < life.from);
        let at = slots.get(place).map_or(life.until, |slot| slot.at);
        life.weight * life.until.since(at.max(from)).days_f64()
    };
    let worths: Vec<f64> = lives.iter().map(worth).collect();
    let bound = |price: f64| visits * price + worths.iter().map(|worth| (worth - price).max(0.0)).sum::<f64>();
    let (mut low, mut high) = (0.0, worths.iter().copied().fold(0.0, f64::max));
    for _ in 0..PRICE_STEPS {
        let (left, right) = (high - GOLDEN * (high - low), low + GOLDEN * (high - low));
        if bound(left) < bound(right) { high = right } else { low = left }
    }
    bound((low + high) / 2.0)
}

/// The greatest share of the visits after the warm-up that can find a change: the version that ends first is taken first.
fn most_found(world: &World, slots: &[Slot]) -> Option<f64> {
    let (lives, from) = (worth_having(world), world.measured_from());
    let (mut heap, mut next, mut found, mut visits) = (BinaryHeap::new(), 0, 0u64, 0u64);
    for slot in slots.iter().filter(|slot| slot.at >= from) {
        while let Some(life) = lives.get(next)
            && life.from <= slot.at
        {
            heap.push(Reverse(life.until));
            next += 1;
        }
        visits += slot.visits as u64;
        while heap.peek().is_some_and(|Reverse(until)| *until <= slot.at) {
            heap.pop();
        }
        for _ in 0..slot.visits {
            found += u64::from(heap.pop().is_some());
        }
    }
    (visits > 0).then(|| found as f64 / visits as f64)
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
            let bounds = Reckoned.bounds(&world, &options);
            let mut made = Made::by_name(policy).unwrap();
            let findings = LabTrial::run(&world, made.refresh(), &options).unwrap();
            let (real, clair) = (findings.after.freshness, bounds.clairvoyant.unwrap());
            assert!(real <= clair && clair <= 1.0, "{policy}: {real} {clair}");
            assert!(bounds.window.unwrap() > bounds.optimum.unwrap());
            assert!(findings.after.change_ratio <= bounds.change_ratio.unwrap() + 0.02, "{policy}");
        }
    }

    #[test]
    fn a_price_never_bounds_below_the_best_schedule() {
        let day = |day: u64| Moment::EPOCH + vernal_model::Span::from_days(day);
        let life = |from, until| VersionLife { page: 0, from: day(from), until: day(until), weight: 1.0 };
        let lives = [life(0, 4), life(0, 9), life(1, 3), life(2, 20)];
        let slots: Vec<Slot> =
            (1..8).map(|number| Slot { at: day(number), visits: usize::from(number != 4) }).collect();
        assert!(at_a_price(&lives, &slots, Moment::EPOCH) >= longest_first(&lives, &slots, Moment::EPOCH));
    }
}
