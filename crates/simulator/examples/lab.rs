//! A policy on a world of the laboratory, from the command line: `lab WORLD POLICY BUDGET [TRACE]`.

use std::process::ExitCode;

use vernal_simulator::lab::compare::{Made, knows_rates};
use vernal_simulator::lab::trace::{self, Selection};
use vernal_simulator::lab::{LabScenario, LabTrial, Options};

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

fn told(words: &[String]) -> Result<(), Box<dyn std::error::Error>> {
    let [world, policy, budget, trace @ ..] = words else { return Err("lab WORLD POLICY BUDGET [TRACE]".into()) };
    let scenario = LabScenario::by_name(world)?;
    let world = match (&scenario.replay, trace) {
        (Some(selection), [path, ..]) => {
            let (world, summary) = trace::load(path.as_ref(), &Selection::by_name(selection)?)?;
            eprintln!("{summary:?}");
            world
        }
        (Some(_), []) => return Err("a recording is needed".into()),
        (None, _) => scenario.world(1)?,
    };
    let options = Options { budget: budget.parse()?, rates_known: knows_rates(policy), ..Options::default() };
    let mut policy = Made::by_name(policy)?;
    let findings = LabTrial::run(&world, policy.refresh(), &options)?;
    policy.end()?;
    println!("after   {:?}", findings.after);
    println!("first   {:?}", findings.first);
    println!("never visited {} of {}", findings.never_visited, findings.pages);
    Ok(())
}
