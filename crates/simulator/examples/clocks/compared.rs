//! Kinds of clocks side by side on one web: the freshness of each, and how much of the gap it closes.

use vernal_policy::by_name;
use vernal_policy::measure::{GAP_FROM, GAP_TO, gap_closed};
use vernal_simulator::lab::{LabTrial, Options, World};

pub type Failure = Box<dyn std::error::Error>;
/// Freshness by chance number.
pub type Run<'a> = Box<dyn Fn(u64) -> Result<f64, Failure> + 'a>;

/// Prints the two ends of the gap and each clock between or above them, all as means over the chance numbers.
pub fn compare(world: &World, chances: u64, clocks: Vec<(&str, Run<'_>)>) -> Result<(), Failure> {
    let end = |name| mean(chances, |chance| run(world, name, chance));
    let (from, to) = (end(GAP_FROM)?, end(GAP_TO)?);
    println!("  {GAP_FROM:33} {from:.4}\n  {GAP_TO:33} {to:.4}");
    for (name, clock) in clocks {
        let freshness = mean(chances, clock)?;
        let gap = gap_closed(freshness, from, to).map_or("-".to_owned(), |gap| format!("{gap:.2}"));
        println!("  {name:33} {freshness:.4}  gap closed {gap}");
    }
    Ok(())
}

pub fn options(policy: &str, chance: u64) -> Options {
    Options { rates_known: policy == GAP_TO, numbers_drawn: true, chance, ..Options::default() }
}

pub fn run(world: &World, name: &str, chance: u64) -> Result<f64, Failure> {
    let mut policy = by_name(name).ok_or("a policy by its name")?;
    Ok(LabTrial::run(world, &mut *policy, &options(name, chance))?.after.freshness)
}

fn mean(chances: u64, run: impl Fn(u64) -> Result<f64, Failure>) -> Result<f64, Failure> {
    let mut sum = 0.0;
    for chance in 1..=chances {
        sum += run(chance)?;
    }
    Ok(sum / chances as f64)
}
