//! Policies on worlds of the laboratory, from the command line: `lab WORLDS POLICIES BUDGET CHANCES [TRACE]`, such as
//! `lab pub,ota,stalker round-robin,hindsight,bayes,vernal 5%/day 10 web.csv.gz`. Means over the chance numbers.

use std::process::ExitCode;

use vernal_policy::measure::{GAP_FROM, GAP_TO, gap_closed};
use vernal_simulator::lab::compare::{Made, knows_rates};
use vernal_simulator::lab::trace::{self, Selection};
use vernal_simulator::lab::{Bounder, ComputedBounds, LabScenario, LabTrial, Options, World};

type Failure = Box<dyn std::error::Error>;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match told(&words) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("lab: {error}");
            ExitCode::FAILURE
        }
    }
}

fn told(words: &[String]) -> Result<(), Failure> {
    let [worlds, policies, budget, chances, trace @ ..] = words else {
        return Err("lab WORLDS POLICIES BUDGET CHANCES [TRACE]".into());
    };
    let chances: u64 = chances.parse()?;
    println!("world    policy           freshness    gap  of bound  first 60 d  change ratio  age, d   visits");
    for name in worlds.split(',') {
        let recorded = match trace {
            [path, ..] if Selection::NAMES.contains(&name) => {
                Some(trace::load(path.as_ref(), &Selection::by_name(name)?)?.0)
            }
            _ => None,
        };
        let mut ends = (None, None);
        for policy in policies.split(',') {
            let mean = mean_of(name, recorded.as_ref(), policy, budget, chances)?;
            match policy {
                GAP_FROM => ends.0 = Some(mean.freshness),
                GAP_TO => ends.1 = Some(mean.freshness),
                _ => {}
            }
            let gap = ends.0.zip(ends.1).and_then(|(from, to)| gap_closed(mean.freshness, from, to));
            let gap = gap.map_or("-".to_owned(), |gap| format!("{gap:.2}"));
            let Mean { freshness, of_bound, first, change_ratio, age_days, visits } = mean;
            println!(
                "{name:8} {policy:16} {freshness:9.4} {gap:>6} {of_bound:9.4} {first:11.4} {change_ratio:13.4} \
                 {age_days:7.3} {visits:8.0}"
            );
        }
    }
    Ok(())
}

#[derive(Default)]
struct Mean {
    freshness: f64,
    of_bound: f64,
    first: f64,
    change_ratio: f64,
    age_days: f64,
    visits: f64,
}

fn mean_of(name: &str, recorded: Option<&World>, policy: &str, budget: &str, chances: u64) -> Result<Mean, Failure> {
    let mut mean = Mean::default();
    let mut bound = None;
    for chance in 1..=chances {
        let invented;
        let world = match recorded {
            Some(world) => world,
            None => {
                invented = LabScenario::by_name(name)?.world(chance)?;
                &invented
            }
        };
        let options = Options {
            budget: budget.parse()?,
            rates_known: knows_rates(policy),
            numbers_drawn: recorded.is_some(),
            chance,
            ..Options::default()
        };
        let known = bound.filter(|_| recorded.is_some());
        let of = known.or_else(|| ComputedBounds.bounds(world, &options).of_freshness()).unwrap_or(1.0);
        bound = Some(of);
        let mut policy = Made::by_name(policy)?;
        let findings = LabTrial::run(world, policy.refresh(), &options)?;
        policy.end()?;
        let part = 1.0 / chances as f64;
        mean.freshness += part * findings.after.freshness;
        mean.of_bound += part * findings.after.freshness / of;
        mean.first += part * findings.first.freshness;
        mean.change_ratio += part * findings.after.change_ratio;
        mean.age_days += part * findings.after.age_days;
        mean.visits += part * findings.after.visits as f64;
    }
    Ok(mean)
}
