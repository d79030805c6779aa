//! Policies that are programs of their own: they play by the same rules, and a broken one is an error and no hang.

#![allow(clippy::unwrap_used, reason = "the helpers of tests fail as tests do")]

use std::path::PathBuf;
use std::time::Duration;

use vernal_simulator::lab::compare::Made;
use vernal_simulator::lab::generate::WorldSettings;
use vernal_simulator::lab::generate::settings::{Births, Capped};
use vernal_simulator::lab::outside::Outside;
use vernal_simulator::lab::{Findings, LabTrial, Options, World};

fn world() -> World {
    let settings = WorldSettings {
        pages: 100,
        sites: 5,
        days: 40.0,
        warm_up_days: 10.0,
        births: Some(Births { per_week: 0.1 }),
        politeness: Some(Capped { pages: 0.3, visits_per_page_day: 0.05 }),
        ..WorldSettings::default()
    };
    settings.draw("outside", 1)
}

fn options() -> Options {
    Options { budget: "20%/day".parse().unwrap(), ..Options::default() }
}

fn played(command: &str) -> Findings {
    let mut made = Made::by_name(&format!("exec:{command}")).unwrap();
    let findings = LabTrial::run(&world(), made.refresh(), &options()).unwrap();
    made.end().unwrap();
    findings
}

fn ours(name: &str) -> Findings {
    LabTrial::run(&world(), vernal_policy::by_name(name).unwrap().as_mut(), &options()).unwrap()
}

/// The Rust example, which cargo builds beside the tests of this package.
fn example() -> Option<PathBuf> {
    let path = std::env::current_exe().unwrap().parent()?.parent()?.join("examples/outside-policy");
    path.exists().then_some(path)
}

#[test]
fn the_example_in_rust_does_as_round_robin_does() {
    let Some(example) = example() else { return };
    let (theirs, ours) = (played(&example.display().to_string()), ours("round-robin"));
    assert_eq!(theirs.after.visits, ours.after.visits);
    assert!((theirs.after.freshness - ours.after.freshness).abs() < 0.02);
    assert_eq!(theirs, played(&example.display().to_string()), "same inputs, same findings");
}

#[test]
fn the_example_in_python_plays_by_the_rules() {
    let python = std::process::Command::new("python3").arg("--version").output();
    if !python.is_ok_and(|output| output.status.success()) {
        return;
    }
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/outside_policy.py");
    let theirs = played(&format!("python3 {script}"));
    assert_eq!(theirs.after.visits, ours("round-robin").after.visits);
    assert!(theirs.after.freshness > 0.3);
}

/// What a trial with a broken program says, if it is given so long for each answer.
fn complaint(command: &str, patience: Duration) -> String {
    let mut outside = Outside::start_with(command, patience).unwrap();
    let findings = LabTrial::run(&world(), &mut outside, &options());
    match outside.end() {
        Err(error) => error.to_string(),
        Ok(()) => findings.unwrap_err().to_string(),
    }
}

#[test]
fn a_broken_program_is_an_error_that_names_it_and_never_a_hang() {
    for (command, words) in [
        ("false", "before its answer"),
        ("true", "before its answer"),
        ("no-such-program-anywhere", "before its answer"),
        ("head -c 0", "before its answer"),
        ("yes nonsense", "is no answer"),
        ("yes '{\"pages\":[1],\"more\":2}'", "is no answer"),
        ("yes '{\"pages\":[99999]}'", "not held"),
    ] {
        // Long enough for a program that has to wait for a busy machine.
        let complaint = complaint(command, Duration::from_secs(120));
        assert!(complaint.contains(words), "{command}: {complaint}");
    }
    let complaint = complaint("sleep 600", Duration::from_millis(300));
    assert!(complaint.contains("did not answer within 0.3 s"), "{complaint}");
    assert!(complaint.contains("`sleep 600`: asked to choose at 20"), "the program and the deed: {complaint}");
}
