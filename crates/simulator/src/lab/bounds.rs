//! What no policy can exceed on a world.
//!
//! The formulas belong to room `policy`; here a world is put into their words. A [`Bounder`] is handed to a comparison,
//! so that whoever runs one decides which bounds are worth their time.

use serde::Serialize;
use vernal_model::{Budget, BudgetUnit, Moment};
use vernal_policy::measure::clairvoyant::Version;
use vernal_policy::schedule::allocation::Wanted;

use super::trial::Options;
use super::world::World;

/// Bounds of one world at one budget; `None` where nobody computed it or it does not hold.
#[derive(Copy, Clone, Debug, Default, PartialEq, Serialize)]
pub struct Bounds {
    /// The optimum for known rates in the long run (Cho and Garcia-Molina 2003); holds for modelled worlds only.
    pub optimum: Option<f64>,
    /// The same, certified for a window of finite length.
    pub window: Option<f64>,
    /// The greatest change ratio of any policy.
    pub change_ratio: Option<f64>,
    /// What one could reach who knew every change beforehand; holds for every world.
    pub clairvoyant: Option<f64>,
}

impl Bounds {
    /// The bound that a result is held against: the optimum where the model holds, which is one of the mean over many
    /// worlds, else the clairvoyant's, which is one of this very world.
    pub fn of_freshness(&self) -> Option<f64> {
        self.optimum.or(self.clairvoyant)
    }
}

/// Knows how to bound a world.
pub trait Bounder: Sync {
    fn bounds(&self, world: &World, options: &Options) -> Bounds;
}

/// Bounds nothing.
pub struct Unbounded;

impl Bounder for Unbounded {
    fn bounds(&self, _: &World, _: &Options) -> Bounds {
        Bounds::default()
    }
}

/// The pages that are online after the warm-up.
pub fn rated_pages(world: &World) -> Vec<Wanted> {
    let middle = world.measured_from();
    let online = |&(number, _): &(usize, &super::world::WorldPage)| world.life(number).1 > middle;
    let pages = world.pages.iter().enumerate().filter(online);
    pages.map(|(_, page)| Wanted { rate: page.rate, importance: f64::from(page.weight) }).collect()
}

/// Pages online at a time, in the mean over the days after the warm-up.
pub fn held_mean(world: &World) -> f64 {
    let (from, until) = (world.measured_from(), world.end);
    let whole = until.since(from).days_f64();
    let days = |page| {
        let (born, gone) = world.life(page);
        gone.min(until).since(born.max(from)).days_f64()
    };
    if whole > 0.0 { (0..world.pages.len()).map(days).sum::<f64>() / whole } else { 0.0 }
}

/// Visits a day that a budget pays for on this world, in the mean.
pub fn visits_per_day(world: &World, budget: &Budget) -> f64 {
    let held = held_mean(world);
    let per_day = budget.per_second(held.round() as u64) * 86_400.0;
    match budget.unit {
        BudgetUnit::Visits => per_day,
        // Not rounded: a small world would feel it.
        BudgetUnit::PercentOfHeld => budget.amount / 100.0 * held / budget.cycle.days_f64(),
        BudgetUnit::WireBytes => {
            let bytes: f64 = world.pages.iter().map(|page| f64::from(page.bytes)).sum();
            per_day / (bytes / world.pages.len().max(1) as f64).max(1.0)
        }
    }
}

/// Every version that has to be fetched to be had: all but each page's first.
pub fn versions(world: &World) -> impl Iterator<Item = Version> + '_ {
    world.pages.iter().enumerate().flat_map(|(number, page)| {
        let (changes, end) = (world.changes(number), world.life(number).1);
        changes.iter().enumerate().map(move |(place, change)| Version {
            from: day_of(change.moment),
            until: day_of(changes.get(place + 1).map_or(end, |next| next.moment)),
            importance: f64::from(page.weight),
        })
    })
}

/// A Moment as the clairvoyant counts: days since 1970, equal for equal Moments.
pub fn day_of(moment: Moment) -> f64 {
    moment.micros() as f64 / 86_400e6
}
