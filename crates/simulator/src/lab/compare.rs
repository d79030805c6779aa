//! Many policies on many worlds: the same worlds for all of them, one row for each trial.
//!
//! Trials run on several threads and come back in the order of worlds, budgets, policies and chance numbers. Same inputs
//! give the same rows to the last byte, but for `cpu_s`, which whoever runs the comparison measures: this room has no
//! clock.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use serde::{Deserialize, Serialize};
use vernal_model::Budget;
use vernal_policy::Refresh;

use super::bounds::{BoundKind, Bounder, Bounds};
use super::generate::LabScenario;
use super::measure::Findings;
use super::outside::Outside;
use super::statistics::{Interval, paired_difference};
use super::trial::{LabTrial, Options};
use super::world::World;
use crate::{Error, Result};

/// Policies that are told each page's change rate, whatever their objective; all others have to learn it.
const KNOWING: &[&str] = &["hindsight", "optimal", "random-optimal", "lambda", "index"];

/// Whether a policy of this name is told each page's change rate.
pub fn knows_rates(policy: &str) -> bool {
    KNOWING.contains(&policy.split(':').next().unwrap_or(policy))
}

/// A name that begins so is a command line: the policy is a program of its own.
pub const OUTSIDE_PREFIX: &str = "exec:";

/// Where worlds come from.
#[derive(Clone, Debug)]
pub enum Source {
    /// An invented world, another one for each chance number.
    Invented(Box<LabScenario>),
    /// A recording, the same for each chance number, which then decides only between equals and what policies draw.
    Recorded(Arc<World>),
}

impl Source {
    pub fn name(&self) -> &str {
        match self {
            Source::Invented(scenario) => &scenario.name,
            Source::Recorded(world) => &world.name,
        }
    }
}

/// What is to be compared.
#[derive(Clone, Debug)]
pub struct Comparison {
    pub policies: Vec<String>,
    pub sources: Vec<Source>,
    pub budgets: Vec<Budget>,
    pub chances: Vec<u64>,
    /// Budget, chance number and knowledge of rates are set for each trial; the rest holds for all.
    pub options: Options,
    /// Threads.
    pub jobs: usize,
}

/// What a comparison needs from its caller.
pub struct Means<'a> {
    pub bounds: &'a dyn Bounder,
    /// CPU seconds of the calling thread so far.
    pub cpu_seconds: &'a (dyn Fn() -> f64 + Sync),
    /// Called after each trial: how many are done, and of how many.
    pub progress: &'a (dyn Fn(usize, usize) + Sync),
}

/// One trial: its row, and everything that was measured.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Compared {
    pub row: Row,
    pub bounds: Bounds,
    pub findings: Findings,
}

/// One line of the result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    pub policy: String,
    pub world: String,
    pub budget: String,
    pub chance: u64,
    /// Share of page-time up to date after the warm-up, weighted by importance.
    pub freshness: f64,
    /// The optimum of the model in the long run where it holds, else the clairvoyant's freshness.
    pub bound: Option<f64>,
    /// What this window's freshness may be held against, and which of the bounds that is: a window any of which stands by
    /// the first readings, which are free, is no long run.
    pub bound_held: Option<f64>,
    pub held_against: Option<BoundKind>,
    pub change_ratio: f64,
    pub age_days: f64,
    pub harmonic: f64,
    pub visits: u64,
    pub wasted: u64,
    pub never_visited: u64,
    pub cpu_s: f64,
    pub freshness_unweighted: f64,
    pub freshness_first: f64,
    /// How many days the first ones are: fewer than wanted where the world is shorter.
    pub first_days: f64,
    pub freshness_warm_up: f64,
    pub divergence: f64,
    pub age_days_p95: f64,
    pub bytes: u64,
    pub site_peak: u64,
    pub pages: u64,
    pub bound_optimum: Option<f64>,
    pub bound_window: Option<f64>,
    /// For the visits that were really made.
    pub bound_change_ratio: Option<f64>,
    pub bound_clairvoyant: Option<f64>,
}

/// How one policy stands to another on one world at one budget, over chance numbers.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Difference {
    pub policy: String,
    pub baseline: String,
    pub world: String,
    pub budget: String,
    pub freshness: Interval,
}

/// One trial to be made, by places in the comparison's lists.
#[derive(Copy, Clone, Debug)]
struct Unit {
    source: usize,
    budget: usize,
    policy: usize,
    chance: usize,
}

impl Comparison {
    pub fn run(&self, means: &Means<'_>) -> Result<Vec<Compared>> {
        self.check()?;
        let units = self.units();
        let worlds = Worlds::new(self, &units);
        let (next, done, stop) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicBool::new(false));
        let results: Vec<OnceLock<Result<Compared>>> = units.iter().map(|_| OnceLock::new()).collect();
        let work = || {
            while !stop.load(Ordering::Relaxed) {
                let number = next.fetch_add(1, Ordering::Relaxed);
                let Some(&unit) = units.get(number) else { break };
                let result = self.trial(unit, &worlds, means);
                stop.fetch_or(result.is_err(), Ordering::Relaxed);
                let _ = results[number].set(result);
                (means.progress)(done.fetch_add(1, Ordering::Relaxed) + 1, units.len());
            }
        };
        std::thread::scope(|scope| {
            let others: Vec<_> = (1..self.jobs.clamp(1, units.len().max(1))).map(|_| scope.spawn(work)).collect();
            work();
            drop(others);
        });
        let mut compared: Vec<(Unit, Compared)> = Vec::with_capacity(units.len());
        for (unit, result) in units.iter().zip(results) {
            // A trial that was not begun follows an error, which stands before or after it in this list.
            let Some(result) = result.into_inner() else { continue };
            compared.push((*unit, result?));
        }
        compared.sort_by_key(|(unit, _)| (unit.source, unit.budget, unit.policy, unit.chance));
        Ok(compared.into_iter().map(|(_, compared)| compared).collect())
    }

    fn check(&self) -> Result<()> {
        let empty = [
            (self.policies.is_empty(), "policy"),
            (self.sources.is_empty(), "world"),
            (self.budgets.is_empty(), "budget"),
            (self.chances.is_empty(), "chance number"),
        ];
        if let Some((_, what)) = empty.iter().find(|(empty, _)| *empty) {
            return Err(Error::Lab(format!("a comparison needs at least one {what}")));
        }
        // Rows are grouped by name, so a name that is there twice would be averaged with itself.
        let named = [
            ("policy", repeated(self.policies.iter().cloned())),
            ("world", repeated(self.sources.iter().map(|source| source.name().to_owned()))),
            ("budget", repeated(self.budgets.iter().map(Budget::to_string))),
            ("chance number", repeated(self.chances.iter().map(u64::to_string))),
        ];
        if let Some((what, name)) = named.into_iter().find_map(|(what, name)| Some((what, name?))) {
            return Err(Error::Lab(format!("the {what} {name} is there twice in one comparison")));
        }
        self.policies.iter().try_for_each(|name| check_name(name))
    }

    /// World by world, so that few of them are in memory at a time.
    fn units(&self) -> Vec<Unit> {
        let mut units = Vec::new();
        for source in 0..self.sources.len() {
            for chance in 0..self.chances.len() {
                for budget in 0..self.budgets.len() {
                    for policy in 0..self.policies.len() {
                        units.push(Unit { source, budget, policy, chance });
                    }
                }
            }
        }
        units
    }

    fn trial(&self, unit: Unit, worlds: &Worlds<'_>, means: &Means<'_>) -> Result<Compared> {
        let world = worlds.take(unit)?;
        let name = &self.policies[unit.policy];
        let options = Options {
            budget: self.budgets[unit.budget],
            chance: self.chances[unit.chance],
            rates_known: knows_rates(name),
            numbers_drawn: matches!(self.sources[unit.source], Source::Recorded(_)),
            ..self.options.clone()
        };
        let bounds = *worlds.bounds(unit).get_or_init(|| means.bounds.bounds(&world, &options));
        let mut policy = Made::by_name(name)?;
        let begun = (means.cpu_seconds)();
        let findings = LabTrial::run(&world, policy.refresh(), &options)?;
        let cpu_s = (means.cpu_seconds)() - begun;
        policy.end()?;
        worlds.give_back(unit);
        let row = row(name, &world, &options, &findings, &bounds, cpu_s);
        Ok(Compared { row, bounds, findings })
    }
}

/// The first name that is there more than once.
fn repeated(names: impl Iterator<Item = String>) -> Option<String> {
    let mut seen = BTreeSet::new();
    names.into_iter().find(|name| !seen.insert(name.clone()))
}

/// A policy of ours, or a program.
pub enum Made {
    Ours(Box<dyn Refresh>),
    Outside(Box<Outside>),
}

impl Made {
    pub fn by_name(name: &str) -> Result<Self> {
        if let Some(command) = name.strip_prefix(OUTSIDE_PREFIX) {
            return Ok(Made::Outside(Box::new(Outside::start(command)?)));
        }
        vernal_policy::named(name).map(Made::Ours).map_err(Error::PolicyUnknown)
    }

    pub fn refresh(&mut self) -> &mut dyn Refresh {
        match self {
            Made::Ours(policy) => policy.as_mut(),
            Made::Outside(outside) => outside.as_mut(),
        }
    }

    /// Ends a program, and says what went wrong with it on the way.
    pub fn end(self) -> Result<()> {
        match self {
            Made::Ours(_) => Ok(()),
            Made::Outside(outside) => outside.end(),
        }
    }
}

fn check_name(name: &str) -> Result<()> {
    if name.starts_with(OUTSIDE_PREFIX) {
        return Ok(());
    }
    vernal_policy::named(name).map(|_| ()).map_err(Error::PolicyUnknown)
}

fn row(policy: &str, world: &World, options: &Options, findings: &Findings, bounds: &Bounds, cpu_s: f64) -> Row {
    let after = &findings.after;
    let days = world.end.since(world.measured_from()).days_f64();
    Row {
        policy: policy.to_owned(),
        world: world.name.clone(),
        budget: options.budget.to_string(),
        chance: options.chance,
        freshness: after.freshness,
        bound: bounds.of_freshness(),
        bound_held: bounds.held_against().map(|(_, bound)| bound),
        held_against: bounds.held_against().map(|(which, _)| which),
        change_ratio: after.change_ratio,
        age_days: after.age_days,
        harmonic: after.harmonic,
        visits: after.visits,
        wasted: after.wasted,
        never_visited: findings.never_visited,
        cpu_s,
        freshness_unweighted: after.freshness_unweighted,
        freshness_first: findings.first.freshness,
        first_days: options.first.min(world.length()).days_f64(),
        freshness_warm_up: findings.warm_up.freshness,
        divergence: after.divergence,
        age_days_p95: after.age_days_p95,
        bytes: after.bytes,
        site_peak: after.site_peak,
        pages: findings.pages,
        bound_optimum: bounds.optimum,
        bound_window: bounds.window,
        bound_change_ratio: bounds.change_ratio_of(after.visits - after.failed, days),
        bound_clairvoyant: bounds.clairvoyant,
    }
}

/// Each policy against a baseline that met the same worlds.
pub fn differences(rows: &[Row], baseline: &str) -> Vec<Difference> {
    let mut cells: BTreeMap<(&str, &str, &str), BTreeMap<u64, f64>> = BTreeMap::new();
    let mut order: Vec<(&str, &str, &str)> = Vec::new();
    for row in rows {
        let cell = (row.world.as_str(), row.budget.as_str(), row.policy.as_str());
        if !cells.contains_key(&cell) {
            order.push(cell);
        }
        cells.entry(cell).or_default().insert(row.chance, row.freshness);
    }
    let mut told = Vec::new();
    for cell in order {
        let (world, budget, policy) = cell;
        let Some(base) = cells.get(&(world, budget, baseline)).filter(|_| policy != baseline) else { continue };
        let pairs: Vec<(f64, f64)> =
            cells[&cell].iter().filter_map(|(chance, &value)| Some((value, *base.get(chance)?))).collect();
        let (subject, base): (Vec<f64>, Vec<f64>) = pairs.into_iter().unzip();
        told.push(Difference {
            policy: policy.to_owned(),
            baseline: baseline.to_owned(),
            world: world.to_owned(),
            budget: budget.to_owned(),
            freshness: paired_difference(&subject, &base),
        });
    }
    told
}

/// Worlds that are in use: made when first asked for, gone after their last trial.
struct Worlds<'c> {
    comparison: &'c Comparison,
    slots: Vec<Mutex<WorldSlot>>,
    bounds: Vec<OnceLock<Bounds>>,
}

#[derive(Default)]
struct WorldSlot {
    world: Option<Arc<World>>,
    trials_left: usize,
}

impl<'c> Worlds<'c> {
    fn new(comparison: &'c Comparison, units: &[Unit]) -> Self {
        let count = comparison.sources.len() * comparison.chances.len();
        let per_world = units.len() / count.max(1);
        Worlds {
            comparison,
            slots: (0..count).map(|_| Mutex::new(WorldSlot { world: None, trials_left: per_world })).collect(),
            bounds: (0..count * comparison.budgets.len()).map(|_| OnceLock::new()).collect(),
        }
    }

    fn slot(&self, unit: Unit) -> usize {
        unit.source * self.comparison.chances.len() + unit.chance
    }

    /// Another thread that wants the same world waits while it is made.
    fn take(&self, unit: Unit) -> Result<Arc<World>> {
        let mut slot = self.slots[self.slot(unit)].lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some(world) = &slot.world {
            return Ok(Arc::clone(world));
        }
        let world = match &self.comparison.sources[unit.source] {
            Source::Recorded(world) => Arc::clone(world),
            Source::Invented(scenario) => Arc::new(scenario.world(self.comparison.chances[unit.chance])?),
        };
        slot.world = Some(Arc::clone(&world));
        Ok(world)
    }

    fn give_back(&self, unit: Unit) {
        let mut slot = self.slots[self.slot(unit)].lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        slot.trials_left = slot.trials_left.saturating_sub(1);
        if slot.trials_left == 0 {
            slot.world = None;
        }
    }

    /// Recordings have one bound for all chance numbers.
    fn bounds(&self, unit: Unit) -> &OnceLock<Bounds> {
        let chance = match &self.comparison.sources[unit.source] {
            Source::Recorded(_) => 0,
            Source::Invented(_) => unit.chance,
        };
        let world = unit.source * self.comparison.chances.len() + chance;
        &self.bounds[world * self.comparison.budgets.len() + unit.budget]
    }
}
