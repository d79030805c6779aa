//! How the policies of a comparison stand to the best of them, and what a reader must know about that: the same words under
//! the table of the terminal and in the report.

use std::collections::BTreeMap;

use super::summary::Cell;
use crate::lab::compare::Source;
use crate::lab::statistics::Interval;

/// The policy whose standing is explained.
const OURS: &str = "vernal";

/// How a policy stands to the best of those that have to learn the rates.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Standing {
    /// It is told the rates, or is another kind of measure.
    KnowsRates,
    #[default]
    Best,
    /// Its difference to the best, trial by trial.
    Behind { best: String, by: Interval },
}

impl Standing {
    /// Whether the trials cannot tell it from the best.
    pub fn is_within_spread(&self) -> bool {
        match self {
            Standing::Behind { by, .. } => by.count > 1 && by.low <= 0.0 && by.high >= 0.0,
            Standing::KnowsRates | Standing::Best => false,
        }
    }

    pub fn shown(&self) -> String {
        match self {
            Standing::KnowsRates => "knows the rates".into(),
            Standing::Best => "best".into(),
            Standing::Behind { .. } if self.is_within_spread() => "within ± of the best".into(),
            Standing::Behind { by, .. } => difference(by),
        }
    }
}

/// What is known of a world beforehand.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WorldFacts {
    pub about: String,
    /// Whether pages of one site change together; `None` for recordings, which nobody made.
    pub changes_together: Option<bool>,
}

/// The facts of each world by its name.
pub fn facts_of(sources: &[Source]) -> BTreeMap<String, WorldFacts> {
    let facts = |source: &Source| match source {
        Source::Recorded(_) => WorldFacts::default(),
        Source::Invented(scenario) => WorldFacts {
            about: scenario.about.clone(),
            changes_together: scenario.world.as_ref().map(|world| world.changes_together()),
        },
    };
    sources.iter().map(|source| (source.name().to_owned(), facts(source))).collect()
}

/// What the table itself does not say, one line each.
pub fn notes(cells: &[Cell], facts: &BTreeMap<String, WorldFacts>) -> Vec<String> {
    let ours = cells.iter().filter(|cell| cell.policy == OURS);
    let standing = ours.filter_map(|cell| standing_note(cell, facts.get(&cell.world)));
    standing.chain(cells.iter().filter_map(above_bound_note)).collect()
}

fn standing_note(cell: &Cell, facts: Option<&WorldFacts>) -> Option<String> {
    let Standing::Behind { best, by } = &cell.standing else { return None };
    let place = format!("{} at {}", cell.world, cell.budget);
    if cell.standing.is_within_spread() {
        return Some(format!(
            "{place}: {OURS} is within ± of the best, {best} ({}); these {} chance numbers cannot tell them apart.",
            difference(by),
            by.count
        ));
    }
    if by.count == 1 {
        return Some(format!(
            "{place}: {OURS} is behind {best} by {:.4} in one trial; whether that is chance, --chance 1..10 shows.",
            by.mean.abs()
        ));
    }
    let why = match facts {
        Some(WorldFacts { changes_together: Some(false), .. }) => {
            " No two pages change together in this world, as bayes assumes. vernal also watches whether the pages of a site do, \
             and where they never do, that costs a little."
                .to_owned()
        }
        Some(WorldFacts { about, .. }) if !about.is_empty() => format!(" This world: {about}"),
        _ => String::new(),
    };
    Some(format!("{place}: {OURS} is behind {best} ({}).{why}", difference(by)))
}

fn above_bound_note(cell: &Cell) -> Option<String> {
    let bound = cell.bound_held.filter(|&bound| cell.freshness.mean > bound)?;
    Some(format!(
        "{} at {}: {} is {:.4} above its bound of {bound:.4}. The bound is one of the mean over many worlds; a small world, or \
         the mean of a few, may lie above it by chance.",
        cell.world,
        cell.budget,
        cell.policy,
        cell.freshness.mean - bound
    ))
}

fn difference(by: &Interval) -> String {
    by.half().map_or(format!("{:+.4}", by.mean), |half| format!("{:+.4} ± {half:.4}", by.mean))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interval(mean: f64, half: f64, count: u64) -> Interval {
        Interval { mean, low: mean - half, high: mean + half, count }
    }

    fn cell(by: Interval) -> Cell {
        let standing = Standing::Behind { best: "bayes".into(), by };
        Cell { world: "w1".into(), budget: "5%/day".into(), policy: OURS.into(), standing, ..Cell::default() }
    }

    fn told(cell: Cell, changes_together: Option<bool>) -> (String, Vec<String>) {
        let facts = WorldFacts { about: "pages and sites.".into(), changes_together };
        (cell.standing.shown(), notes(&[cell], &[("w1".to_owned(), facts)].into()))
    }

    #[test]
    fn what_the_trials_cannot_tell_apart_is_said_to_be_so() {
        let (shown, notes) = told(cell(interval(-0.0005, 0.001, 8)), Some(false));
        assert_eq!(shown, "within ± of the best");
        assert!(notes[0].contains("cannot tell them apart"), "{notes:?}");
        let (shown, notes) = told(cell(interval(-0.0016, f64::INFINITY, 1)), Some(false));
        assert_eq!(shown, "-0.0016");
        assert!(notes[0].contains("in one trial") && notes[0].contains("--chance 1..10"), "{notes:?}");
    }

    #[test]
    fn a_real_difference_is_given_with_its_reason() {
        let (shown, notes) = told(cell(interval(-0.0023, 0.0006, 8)), Some(false));
        assert_eq!(shown, "-0.0023 ± 0.0006");
        assert!(notes[0].contains("No two pages change together"), "{notes:?}");
        assert!(told(cell(interval(-0.0023, 0.0006, 8)), Some(true)).1[0].ends_with("This world: pages and sites."));
    }

    #[test]
    fn a_result_above_its_bound_is_explained_and_one_below_is_not() {
        let above = |mean| Cell {
            freshness: interval(mean, 0.01, 5),
            bound_held: Some(0.6776),
            policy: "hindsight".into(),
            ..Cell::default()
        };
        let told = notes(&[above(0.6783), above(0.6770)], &BTreeMap::new());
        assert_eq!(told.len(), 1);
        assert!(told[0].contains("0.0007 above its bound of 0.6776"), "{told:?}");
    }
}
