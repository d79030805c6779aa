//! The results of a comparison in two sizes: a line for each trial, a cell for each policy, world and budget.

use std::collections::BTreeMap;

use serde::Serialize;
use vernal_model::Span;
use vernal_policy::measure::{GAP_FROM, GAP_TO, gap_closed};

use super::standing::Standing;
use crate::lab::bounds::{BoundKind, Bounds};
use crate::lab::compare::{Compared, Row, knows_rates};
use crate::lab::measure::SiteFigures;
use crate::lab::statistics::{
    BOOTSTRAP_DRAWS, Interval, mean_interval, mean_of_sites, paired_difference, site_bootstrap,
};

/// The policy that others are held against.
pub const BASELINE: &str = GAP_FROM;
/// The chance number of the bootstrap: it is no part of what is compared.
const BOOTSTRAP_CHANCE: u64 = 1;

/// One trial, as a machine reads it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Line<'a> {
    #[serde(flatten)]
    pub row: &'a Row,
    /// (F − F_round-robin)/(F_hindsight − F_round-robin) of trials with the same world, budget and chance number.
    pub gap_closed: Option<f64>,
    /// Freshness of the first days, from the very start: how fast it learns. They are `first_days`, sixty at most.
    pub first_60_days: f64,
}

/// One policy on one world at one budget, over all chance numbers.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Cell {
    pub world: String,
    pub budget: String,
    pub policy: String,
    pub freshness: Interval,
    /// To the baseline: pairs over chance numbers on invented worlds, whole sites drawn again on recordings.
    pub difference: Option<Interval>,
    pub gap_closed: Option<Interval>,
    /// To the best of the policies that have to learn the rates, on this world at this budget.
    pub standing: Standing,
    pub bound: Option<f64>,
    /// What the freshness may be held against in this window, and which of the bounds that is.
    pub bound_held: Option<f64>,
    pub held_against: Option<BoundKind>,
    pub change_ratio: f64,
    pub age_days: f64,
    pub harmonic: f64,
    pub visits: f64,
    pub wasted: f64,
    pub never_visited: f64,
    pub first_60_days: f64,
    /// How many days these are: a shorter world has no more.
    pub first_days: f64,
    pub cpu_s: f64,
}

impl Cell {
    /// What its freshness is held against, with a word where that is not the bound of the long run; `none` where there is none.
    pub fn bound_shown(&self, none: &str) -> String {
        match (self.bound_held, self.held_against) {
            (Some(bound), Some(BoundKind::Window)) => format!("{bound:.4} in this window"),
            (Some(bound), Some(BoundKind::Clairvoyant)) => format!("{bound:.4} clairvoyant"),
            (Some(bound), _) => format!("{bound:.4}"),
            (None, _) => none.to_owned(),
        }
    }
}

/// The title of the freshness of the first days, by how many there were; less than one is told in hours or minutes.
pub fn first_days_title(cells: &[Cell]) -> String {
    let days = || cells.iter().map(|cell| cell.first_days);
    let (least, most) = days().fold((f64::INFINITY, 0.0f64), |(least, most), days| (least.min(days), most.max(days)));
    if cells.is_empty() {
        return "first days".to_owned();
    }
    let rounded = |days: f64| (days * 10.0).round() / 10.0;
    let (short, long) = match least < 1.0 {
        true => [least, most].map(|days| Span::from_secs_f64(days * 86_400.0).to_string()).into(),
        false => (rounded(least).to_string(), format!("{} days", rounded(most))),
    };
    match long.strip_suffix(" days").unwrap_or(&long) == short {
        true => format!("first {long}"),
        false => format!("first {short} to {long}"),
    }
}

/// A line for each trial, in the order of the results.
pub fn lines(compared: &[Compared]) -> Vec<Line<'_>> {
    let mut found: BTreeMap<(&str, &str, u64, &str), f64> = BTreeMap::new();
    for Compared { row, .. } in compared {
        found.insert((&row.world, &row.budget, row.chance, &row.policy), row.freshness);
    }
    compared.iter().map(|one| line(&one.row, &found)).collect()
}

fn line<'a>(row: &'a Row, found: &BTreeMap<(&'a str, &'a str, u64, &'a str), f64>) -> Line<'a> {
    let of = |policy: &'a str| found.get(&(row.world.as_str(), row.budget.as_str(), row.chance, policy)).copied();
    let ends = of(GAP_FROM).zip(of(GAP_TO));
    let gap_closed = ends.and_then(|(from, to)| gap_closed(row.freshness, from, to));
    Line { row, gap_closed, first_60_days: row.freshness_first }
}

/// A cell for each policy, world and budget, in the order of the results. `is_recorded` tells worlds that are the same
/// for every chance number: there the uncertainty lies in the sites, and whole sites are drawn again.
pub fn summary(compared: &[Compared], is_recorded: impl Fn(&str) -> bool) -> Vec<Cell> {
    let mut order: Vec<(&str, &str, &str)> = Vec::new();
    let mut trials: BTreeMap<(&str, &str, &str), Vec<&Compared>> = BTreeMap::new();
    for one in compared {
        let key = (one.row.world.as_str(), one.row.budget.as_str(), one.row.policy.as_str());
        let group = trials.entry(key).or_default();
        if group.is_empty() {
            order.push(key);
        }
        group.push(one);
    }
    let mut cells = Vec::with_capacity(order.len());
    let mut groups: Vec<&[&Compared]> = Vec::with_capacity(order.len());
    for (world, budget, policy) in order {
        let of = |policy| trials.get(&(world, budget, policy)).map(Vec::as_slice);
        let own = of(policy).unwrap_or_default();
        let base = of(BASELINE).filter(|_| policy != BASELINE);
        let compared = ComparedWith { own, base, known: of(GAP_TO) };
        let told = if is_recorded(world) { compared.by_sites() } else { compared.by_chance_numbers() };
        cells.push(described(own, told));
        groups.push(own);
    }
    let standings: Vec<Standing> = (0..cells.len())
        .map(|place| {
            let cell = &cells[place];
            let Some(best) = best_learner(&cells, cell).filter(|_| !knows_rates(&cell.policy)) else {
                return Standing::KnowsRates;
            };
            if best == place {
                return Standing::Best;
            }
            let compared = ComparedWith { own: groups[place], base: Some(groups[best]), known: None };
            let told = if is_recorded(&cell.world) { compared.by_sites() } else { compared.by_chance_numbers() };
            Standing::Behind { best: cells[best].policy.clone(), by: told.1.unwrap_or_default() }
        })
        .collect();
    for (cell, standing) in cells.iter_mut().zip(standings) {
        cell.standing = standing;
    }
    cells
}

/// The place of the policy with the highest freshness on the world and budget of a cell, among those that have to learn the
/// rates.
fn best_learner(cells: &[Cell], cell: &Cell) -> Option<usize> {
    let is_rival = |other: &Cell| other.world == cell.world && other.budget == cell.budget;
    let learners = cells.iter().enumerate().filter(|(_, other)| is_rival(other) && !knows_rates(&other.policy));
    learners.max_by(|(_, one), (_, other)| one.freshness.mean.total_cmp(&other.freshness.mean)).map(|(place, _)| place)
}

/// A policy's trials, and those it is held against.
struct ComparedWith<'a> {
    own: &'a [&'a Compared],
    base: Option<&'a [&'a Compared]>,
    known: Option<&'a [&'a Compared]>,
}

/// Freshness, its difference to the baseline, and the gap closed.
type MainFigures = (Interval, Option<Interval>, Option<Interval>);

impl ComparedWith<'_> {
    fn by_chance_numbers(&self) -> MainFigures {
        let own = freshness(self.own);
        let difference = self.base.map(|base| paired_difference(&own, &freshness(base)));
        let gap = self.base.zip(self.known).and_then(|(base, known)| {
            let (base, known) = (freshness(base), freshness(known));
            let pairs = own.iter().zip(base.iter().zip(&known));
            let gaps: Vec<f64> = pairs.filter_map(|(&own, (&base, &known))| gap_closed(own, base, known)).collect();
            let mean = gap_closed(mean_interval(&own).mean, mean_interval(&base).mean, mean_interval(&known).mean)?;
            // How far the gaps of single chance numbers scatter says how sure that of the means is.
            let spread = mean_interval(&gaps);
            Some(Interval {
                mean,
                low: mean + spread.low - spread.mean,
                high: mean + spread.high - spread.mean,
                ..spread
            })
        });
        (mean_interval(&own), difference, gap)
    }

    fn by_sites(&self) -> MainFigures {
        let own = sites(self.own);
        let draws = BOOTSTRAP_DRAWS;
        let whole = site_bootstrap([&own], BOOTSTRAP_CHANCE, draws, |[freshness]| Some(freshness));
        let difference = self.base.and_then(|base| {
            site_bootstrap([&own, &sites(base)], BOOTSTRAP_CHANCE, draws, |[own, base]| Some(own - base))
        });
        let gap = self.base.zip(self.known).and_then(|(base, known)| {
            let ends = [&own[..], &sites(base), &sites(known)];
            site_bootstrap(ends, BOOTSTRAP_CHANCE, draws, |[own, base, known]| gap_closed(own, base, known))
        });
        (whole.unwrap_or_default(), difference, gap)
    }
}

fn freshness(trials: &[&Compared]) -> Vec<f64> {
    trials.iter().map(|one| one.row.freshness).collect()
}

fn sites(trials: &[&Compared]) -> Vec<SiteFigures> {
    let each: Vec<&[SiteFigures]> = trials.iter().map(|one| one.findings.sites.as_slice()).collect();
    mean_of_sites(&each)
}

fn described(trials: &[&Compared], (freshness, difference, gap_closed): MainFigures) -> Cell {
    let mean =
        |figure: fn(&Row) -> f64| trials.iter().map(|one| figure(&one.row)).sum::<f64>() / trials.len().max(1) as f64;
    let bound = |bound: fn(&Row) -> Option<f64>| {
        let bounds: Vec<f64> = trials.iter().filter_map(|one| bound(&one.row)).collect();
        (!bounds.is_empty()).then(|| bounds.iter().sum::<f64>() / bounds.len() as f64)
    };
    let held = Bounds::mean(trials.iter().map(|one| &one.bounds)).held_against();
    let name = |figure: fn(&Row) -> &String| trials.first().map(|one| figure(&one.row).clone()).unwrap_or_default();
    Cell {
        world: name(|row| &row.world),
        budget: name(|row| &row.budget),
        policy: name(|row| &row.policy),
        freshness,
        difference,
        gap_closed,
        standing: Standing::default(),
        bound: bound(|row| row.bound),
        bound_held: held.map(|(_, bound)| bound),
        held_against: held.map(|(which, _)| which),
        change_ratio: mean(|row| row.change_ratio),
        age_days: mean(|row| row.age_days),
        harmonic: mean(|row| row.harmonic),
        visits: mean(|row| row.visits as f64),
        wasted: mean(|row| row.wasted as f64),
        never_visited: mean(|row| row.never_visited as f64),
        first_60_days: mean(|row| row.freshness_first),
        first_days: mean(|row| row.first_days),
        cpu_s: mean(|row| row.cpu_s),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_days_are_never_none() {
        let title = |days: &[f64]| {
            let cell = |&first_days: &f64| Cell { first_days, ..described(&[], Default::default()) };
            first_days_title(&days.iter().map(cell).collect::<Vec<_>>())
        };
        assert_eq!(title(&[60.0, 60.0]), "first 60 days");
        assert_eq!(title(&[30.0, 60.04]), "first 30 to 60 days");
        assert_eq!(title(&[1.0 / 48.0]), "first 30m");
        assert_eq!(title(&[0.25, 60.0]), "first 6h to 60d");
        assert_eq!(title(&[]), "first days");
    }
}
