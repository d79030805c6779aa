//! What no policy can exceed on a world.
//! The formulas belong to room `policy`; here a world becomes their input. A comparison is given a [`Bounder`], so that its
//! caller decides which bounds are computed.

use serde::{Deserialize, Serialize};
use vernal_model::{Budget, BudgetUnit, Moment};
use vernal_policy::measure::bound::change_ratio_bound;
use vernal_policy::measure::clairvoyant::Version;
use vernal_policy::schedule::allocation::Wanted;

use super::trial::Options;
use super::world::World;

/// Bounds of one world at one budget; `None` where nobody computed it or it does not hold.
#[derive(Copy, Clone, Debug, Default, PartialEq, Serialize)]
pub struct Bounds {
    /// The optimum for known rates in the long run (Cho and Garcia-Molina 2003); holds for modelled worlds only.
    pub optimum: Option<f64>,
    /// The optimum certified for a window of finite length.
    pub window: Option<f64>,
    /// The greatest change ratio of any policy that spends all of its budget.
    pub change_ratio: Option<f64>,
    /// The freshness of a policy that knows every change beforehand; holds for every world.
    pub clairvoyant: Option<f64>,
    /// The share of the time after the warm-up that pages visited in turn still stand by their first reading, which is
    /// free; where the model holds.
    pub free_share: Option<f64>,
    /// Changes of all pages a day; where the model holds.
    pub changes_per_day: Option<f64>,
    /// The most visits after the warm-up that can find a change; where the model does not hold.
    pub found_max: Option<u64>,
}

/// What a result is held against.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BoundKind {
    /// The optimum of the model in the long run.
    Optimum,
    /// Its certificate for the window.
    Window,
    Clairvoyant,
}

impl Bounds {
    /// What results of this very window may be held against, and how much it is.
    ///
    /// As long as any of the window stands by first readings, which are free, that is the certificate for the window. No
    /// share of them is small enough for the optimum of the long run: what they are worth goes by the rates of the pages,
    /// and those that change rarely live on them long. The clairvoyant, who knows this very world, is never exceeded in it,
    /// so that nothing above the clairvoyant's bound is worth showing.
    pub fn held_against(&self) -> Option<(BoundKind, f64)> {
        let is_free_in_part = self.free_share.is_some_and(|share| share > 0.0);
        let modelled = match (self.optimum, self.window) {
            (Some(_), Some(window)) if is_free_in_part => Some((BoundKind::Window, window)),
            (Some(optimum), _) => Some((BoundKind::Optimum, optimum)),
            (None, _) => None,
        };
        let clairvoyant = self.clairvoyant.map(|bound| (BoundKind::Clairvoyant, bound));
        match (modelled, clairvoyant) {
            (Some(modelled), Some(clairvoyant)) if clairvoyant.1 < modelled.1 => Some(clairvoyant),
            (modelled, clairvoyant) => modelled.or(clairvoyant),
        }
    }

    /// The bounds of a mean over several worlds: the means of theirs. The lesser of two is to be taken of these means,
    /// since the model's bounds hold in the mean only, and a mean of what is the lesser in each world may lie below the
    /// results.
    pub fn mean<'a>(all: impl Iterator<Item = &'a Bounds> + Clone) -> Bounds {
        let mean = |of: fn(&Bounds) -> Option<f64>| {
            let (mut sum, mut count) = (0.0, 0u32);
            for bound in all.clone().filter_map(of) {
                (sum, count) = (sum + bound, count + 1);
            }
            (count > 0).then(|| sum / f64::from(count))
        };
        Bounds {
            optimum: mean(|bounds| bounds.optimum),
            window: mean(|bounds| bounds.window),
            change_ratio: mean(|bounds| bounds.change_ratio),
            clairvoyant: mean(|bounds| bounds.clairvoyant),
            free_share: mean(|bounds| bounds.free_share),
            changes_per_day: mean(|bounds| bounds.changes_per_day),
            found_max: None,
        }
    }

    /// The greatest change ratio of any policy that makes so many visits in so many days: who makes fewer finds more with
    /// each. `None` without a visit.
    pub fn change_ratio_of(&self, visits: u64, days: f64) -> Option<f64> {
        match (visits, self.changes_per_day, self.found_max) {
            (0, ..) => None,
            (visits, Some(changes), _) => Some(change_ratio_bound([changes].into_iter(), visits as f64 / days)),
            (visits, None, Some(found)) => Some((found as f64 / visits as f64).min(1.0)),
            (_, None, None) => None,
        }
    }

    /// The bound that a result is held against: the optimum where the model holds, which is one of the mean over many
    /// worlds, else the clairvoyant's, which is one of this very world.
    pub fn of_freshness(&self) -> Option<f64> {
        self.optimum.or(self.clairvoyant)
    }
}

/// Computes the bounds of a world.
pub trait Bounder: Sync {
    fn bounds(&self, world: &World, options: &Options) -> Bounds;
}

/// Computes no bounds.
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
        // Not rounded, which would matter in a small world.
        BudgetUnit::PercentOfHeld => budget.amount / 100.0 * held / budget.cycle.days_f64(),
        BudgetUnit::WireBytes => {
            let bytes: f64 = world.pages.iter().map(|page| f64::from(page.bytes)).sum();
            per_day / (bytes / world.pages.len().max(1) as f64).max(1.0)
        }
    }
}

/// The share of the days after a warm-up that pages stand by their first reading, if all are visited in turn, each for the
/// first time somewhere within the first turn.
pub fn free_share(turn_days: f64, warm_up_days: f64, days: f64) -> f64 {
    let until = turn_days.min(warm_up_days + days);
    if until <= warm_up_days || days <= 0.0 {
        return 0.0;
    }
    let reread = (until * until - warm_up_days * warm_up_days) / (2.0 * turn_days);
    (until - warm_up_days - reread) / days
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_free_fades_within_a_turn() {
        // A turn of ten days: half of it in the mean, a quarter of twenty days; after the warm-up of a turn nothing.
        assert!((free_share(10.0, 0.0, 20.0) - 0.25).abs() < 1e-12);
        assert!((free_share(10.0, 0.0, 10.0) - 0.5).abs() < 1e-12);
        assert!((free_share(10.0, 5.0, 5.0) - 0.25).abs() < 1e-12);
        assert_eq!(free_share(10.0, 10.0, 20.0), 0.0);
        assert_eq!(free_share(f64::INFINITY, 60.0, 140.0), 1.0);
    }

    #[test]
    fn a_window_is_held_against_its_certificate_while_anything_is_free_and_never_above_the_clairvoyant() {
        let held = |free_share, clairvoyant| {
            let (optimum, window) = (Some(0.5), Some(0.6));
            Bounds { optimum, window, free_share: Some(free_share), clairvoyant, ..Bounds::default() }.held_against()
        };
        assert_eq!(held(0.0, Some(0.9)), Some((BoundKind::Optimum, 0.5)));
        assert_eq!(held(0.001, Some(0.9)), Some((BoundKind::Window, 0.6)));
        assert_eq!(held(0.3, None), Some((BoundKind::Window, 0.6)));
        assert_eq!(held(0.3, Some(0.55)), Some((BoundKind::Clairvoyant, 0.55)));
        assert_eq!(held(0.0, Some(0.4)), Some((BoundKind::Clairvoyant, 0.4)));
        let recorded = Bounds { clairvoyant: Some(0.7), ..Bounds::default() };
        assert_eq!(recorded.held_against(), Some((BoundKind::Clairvoyant, 0.7)));
        assert_eq!(Bounds::default().held_against(), None);
    }

    #[test]
    fn a_mean_is_held_against_the_lesser_of_the_means() {
        let of = |clairvoyant| Bounds {
            optimum: Some(0.5),
            window: Some(0.6),
            free_share: Some(0.1),
            clairvoyant: Some(clairvoyant),
            ..Bounds::default()
        };
        // In the first world the clairvoyant is the lesser, in the mean of both the certificate is.
        assert_eq!(of(0.5).held_against(), Some((BoundKind::Clairvoyant, 0.5)));
        let both = Bounds::mean([of(0.5), of(0.9)].iter());
        assert!(matches!(both.held_against(), Some((BoundKind::Window, bound)) if (bound - 0.6).abs() < 1e-12));
        assert_eq!(Bounds::mean([].iter()), Bounds::default());
    }

    #[test]
    fn whoever_makes_fewer_visits_may_find_more_with_each() {
        let modelled = Bounds { changes_per_day: Some(10.0), ..Bounds::default() };
        let (few, many) =
            (modelled.change_ratio_of(100, 10.0).unwrap(), modelled.change_ratio_of(1_000, 10.0).unwrap());
        assert!((many - (1.0 - (-0.1f64).exp())).abs() < 1e-12 && (few - (1.0 - (-1.0f64).exp())).abs() < 1e-12);
        let recorded = Bounds { found_max: Some(30), ..Bounds::default() };
        assert_eq!(recorded.change_ratio_of(60, 10.0), Some(0.5));
        assert_eq!(recorded.change_ratio_of(20, 10.0), Some(1.0));
        assert_eq!(recorded.change_ratio_of(0, 10.0), None);
    }
}
