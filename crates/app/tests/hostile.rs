//! A whole crawl of a web that attacks: it ends by itself, stays small, and has a recorded outcome for every page.

#![allow(clippy::unwrap_used, reason = "the helpers of tests fail as tests do")]

mod common;

use std::collections::BTreeMap;
use std::fs;
use std::process::Stdio;
use std::sync::Arc;

use common::{Running, assert_sound, json_lines, told, vernal, wait_until, wall};
use vernal_model::Moment;
use vernal_simulator::serve::{ServeOptions, serve};
use vernal_simulator::web::{Class, Expected, Shares, Web, WebSettings};

/// One real second counts as so many, for the crawl and for the web, so that retries pass quickly.
const SCALE: u64 = 600;
const MEMORY_BYTES_MAX: u64 = 256 << 20;

fn is_attack(class: Class) -> bool {
    matches!(
        class,
        Class::Drip | Class::Endless | Class::CutOff | Class::LyingLength | Class::Silent | Class::Bomb | Class::Huge
    )
}

/// The most memory that a process had so far; `None` when it has ended.
fn memory_peak(process: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: u64 = line.trim().trim_end_matches("kB").trim().parse().ok()?;
    Some(kib << 10)
}

#[test]
fn a_web_that_attacks_is_crawled_to_its_end_within_bounds() {
    // Traps take their time, a link after the other; and whether a page that is busy every other minute is met in a free
    // one depends on the machine. Both have tests of their own in virtual time.
    let share = Shares { hostile: 0.15, huge: 0.03, trap_sites: 0.0, busy: 0.0, ..Shares::realistic() };
    let settings = WebSettings { share, ..WebSettings::hostile(6, 40) }.still();
    let start = wall();
    let hour = move || Moment::from_micros(start.micros() + wall().since(start).scaled(SCALE as f64).micros() as i64);
    let web = Web::new(WebSettings { origin: start, ..settings }).unwrap();
    let served = serve(&web, Arc::new(hour), &ServeOptions::default()).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    let mut command = vernal(&data);
    command.args(["run", "-q", "--json", "--allow-private", "--no-serve", "--until-idle", "--time-scale", "600"]);
    command.args(["--delay", "1s", "--delay-max", "1s", "--per-site", "4"]);
    command.args(["--connect-timeout", "1s", "--first-byte-timeout", "1s", "--total-timeout", "2s"]);
    let summary = dir.path().join("summary");
    let written = fs::File::create(&summary).unwrap();
    let child = command.args(served.seeds()).stdin(Stdio::null()).stdout(written).spawn();
    let mut running = Running(child.unwrap());
    let (mut peak, mut ended) = (0, None);
    wait_until("the crawl ends by itself", || {
        peak = memory_peak(running.0.id()).unwrap_or(peak).max(peak);
        ended = running.0.try_wait().unwrap();
        ended.is_some()
    });
    // Of such a web a seed may be out of reach, which is told at the end.
    let summary: serde_json::Value = serde_json::from_str(&fs::read_to_string(&summary).unwrap()).unwrap();
    let is_reached = summary["seeds_unreached"].as_array().is_some_and(Vec::is_empty);
    let code = ended.and_then(|status| status.code());
    assert_eq!((&summary["ended"], code), (&"idle".into(), Some(i32::from(!is_reached))), "{summary}");
    assert!((1..MEMORY_BYTES_MAX).contains(&peak), "{peak} bytes of memory");

    let row = |page: serde_json::Value| {
        let text = |name: &str| page[name].as_str().unwrap().to_owned();
        (text("url"), (text("state"), text("last_outcome")))
    };
    let pages = json_lines(&told(vernal(&data).args(["pages", "--json"])));
    let pages: BTreeMap<String, (String, String)> = pages.into_iter().map(row).collect();
    let mut attacks = 0;
    for truth in served.web().truth().into_iter().filter(|truth| truth.allowed && truth.reachable) {
        let Some((state, outcome)) = pages.get(&truth.url) else {
            panic!("{} ({:?}) has no outcome", truth.url, truth.class)
        };
        if is_attack(truth.class) {
            attacks += 1;
            assert_eq!((state.as_str(), outcome.as_str()), ("failed", "failed"), "{} ({:?})", truth.url, truth.class);
        } else if truth.class.expected() == Expected::Held {
            assert_eq!(state, "held", "{} ({:?}): {outcome}", truth.url, truth.class);
        }
    }
    assert!(attacks >= 10, "{attacks} pages attacked");
    eprintln!("{} pages, {attacks} attacks, {} MB of memory", pages.len(), peak >> 20);
    assert_sound(&data);
}
