//! The whole crawler on a world of the laboratory: `ring FOLDER POLICY PAGES SITES DAYS BUDGET [NOISE MISSES ERRORS]`, timed
//! from outside. With a folder in memory nothing waits for a disk.

use std::process::ExitCode;

use vernal_simulator::lab::WorldSettings;
use vernal_simulator::trial::whole::{self, Conditions};
use vernal_simulator::wire::world::Blemishes;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match turned(&words) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("ring: {error}");
            ExitCode::FAILURE
        }
    }
}

fn turned(words: &[String]) -> Result<(), Box<dyn std::error::Error>> {
    let [folder, policy, pages, sites, days, budget, blemishes @ ..] = words else {
        return Err("ring FOLDER POLICY PAGES SITES DAYS BUDGET [NOISE MISSES ERRORS]".into());
    };
    let days: f64 = days.parse()?;
    let settings = WorldSettings {
        pages: pages.parse()?,
        sites: sites.parse()?,
        days,
        warm_up_days: days / 4.0,
        ..WorldSettings::default()
    };
    let world = settings.draw("ring", 1);
    let blemishes = match blemishes {
        [noise, misses, errors] => {
            Blemishes { noise: noise.parse()?, misses: misses.parse()?, errors: errors.parse()? }
        }
        _ => Blemishes { noise: 0.02, misses: 0.02, errors: 0.002 },
    };
    let conditions = Conditions { blemishes, ..Conditions::default() };
    let settings = whole::settings(&world, policy, budget.parse()?, 1);
    let crawled = whole::crawl(&world, folder.as_ref(), settings, &conditions)?;
    let (requests, robots) = crawled.requests();
    println!(
        "{} requests: {requests} for pages, {robots} for robots.txt; {} held, {} not found; {} missed, {} noisy, {} lost; freshness {:.4}",
        requests + robots,
        crawled.held,
        crawled.not_found.len(),
        crawled.missed,
        crawled.noisy,
        crawled.lost,
        crawled.findings.after.freshness
    );
    Ok(())
}
