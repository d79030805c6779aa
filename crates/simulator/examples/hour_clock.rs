//! Whether a clock of hours would win, on recorded histories: `hour_clock WEBS CHANCES TRACE`, such as
//! `hour_clock pub,ota,stalker 10 web.csv.gz`.
//!
//! Printed for each web: how unequal the hours of the day are; then the freshness of `vernal` as it is, and in a time that
//! runs as fast as pages of this web change in each hour of the day, or of the week. Those speeds are taken from the
//! whole recording, so that the last two are above what a policy could learn. The gap is that of docs/refresh.md.

#[path = "clocks/compared.rs"]
mod compared;

use std::process::ExitCode;

use vernal_model::{Chance, Moment, PageKey, PolicyState, Span};
use vernal_policy::{Believing, Held, RateSums, Refresh, Seen, View, by_name};
use vernal_simulator::lab::trace::{self, Selection};
use vernal_simulator::lab::{LabTrial, World};

use compared::{Failure, compare, options, run};

const HOURS_OF_WEEK: usize = 168;
/// Changes that each hour of the week is given beforehand, so that none stands still.
const CHANGES_BEFOREHAND: f64 = 10.0;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match told(&words) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("hour_clock: {error}");
            ExitCode::FAILURE
        }
    }
}

fn told(words: &[String]) -> Result<(), Failure> {
    let [webs, chances, path] = words else { return Err("hour_clock WEBS CHANCES TRACE".into()) };
    let chances: u64 = chances.parse()?;
    for web in webs.split(',') {
        let (world, _) = trace::load(path.as_ref(), &Selection::by_name(web)?)?;
        println!("{web}: {} pages on {} sites", world.pages.len(), world.sites.len());
        let by_day = Hours::of(&world, 24);
        let by_week = Hours::of(&world, HOURS_OF_WEEK);
        println!("  speed by hour of the day: {by_day}");
        compare(
            &world,
            chances,
            vec![
                ("clock of the site", Box::new(|chance| run(&world, "vernal", chance))),
                ("of the site, by hours of the day", Box::new(|chance| run_in(&world, &by_day, chance))),
                ("of the site, by hours of the week", Box::new(|chance| run_in(&world, &by_week, chance))),
            ],
        )?;
    }
    Ok(())
}

fn run_in(world: &World, hours: &Hours, chance: u64) -> Result<f64, Failure> {
    let mut policy = InHours { inner: by_name("vernal").ok_or("a policy by its name")?, hours };
    Ok(LabTrial::run(world, &mut policy, &options("vernal", chance))?.after.freshness)
}

/// How fast time runs in each hour, 1 on the average.
struct Hours {
    speeds: Vec<f64>,
    /// The time that has run at the beginning of each hour, in hours.
    before: Vec<f64>,
}

impl Hours {
    fn of(world: &World, hours: usize) -> Hours {
        let mut counts = vec![CHANGES_BEFOREHAND * HOURS_OF_WEEK as f64 / hours as f64; hours];
        for page in 0..world.pages.len() {
            for change in world.changes(page).iter().filter(|change| change.moment > world.origin) {
                counts[(change.moment.since(Moment::default()).secs_f64() / 3_600.0) as usize % hours] += 1.0;
            }
        }
        let mean = counts.iter().sum::<f64>() / hours as f64;
        let speeds: Vec<f64> = counts.iter().map(|count| count / mean).collect();
        let before = speeds.iter().scan(0.0, |sum, speed| Some(std::mem::replace(sum, *sum + speed))).collect();
        Hours { speeds, before }
    }

    /// The same moment in the time of these hours.
    fn run(&self, moment: Moment) -> Moment {
        let hours = moment.since(Moment::default()).secs_f64() / 3_600.0;
        let length = self.speeds.len() as f64;
        let turns = (hours / length).floor();
        let rest = hours - turns * length;
        let hour = (rest as usize).min(self.speeds.len() - 1);
        let run = turns * length + self.before[hour] + (rest - hour as f64) * self.speeds[hour];
        Moment::default() + Span::from_secs_f64(run * 3_600.0)
    }
}

impl std::fmt::Display for Hours {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.speeds.iter().try_for_each(|speed| write!(out, "{speed:.1} "))
    }
}

/// A policy that lives in the time of such hours.
struct InHours<'a> {
    inner: Box<dyn Refresh>,
    hours: &'a Hours,
}

impl Refresh for InHours<'_> {
    fn name(&self) -> &'static str {
        "vernal"
    }

    fn recall(&mut self, held: &Held<'_>) {
        let (admitted, last_visit) = (self.hours.run(held.admitted), self.hours.run(held.last_visit));
        self.inner.recall(&Held { admitted, last_visit, ..*held });
    }

    fn choose(&mut self, view: &dyn View, now: Moment, chance: &mut Chance) -> Vec<PageKey> {
        self.inner.choose(view, self.hours.run(now), chance)
    }

    fn learn(&mut self, seen: &Seen) -> PolicyState {
        let previous = seen.previous.map(|moment| self.hours.run(moment));
        self.inner.learn(&Seen { moment: self.hours.run(seen.moment), previous, ..*seen })
    }

    fn put_back(&mut self, page: PageKey) {
        self.inner.put_back(page);
    }

    fn forget(&mut self, page: PageKey) {
        self.inner.forget(page);
    }

    /// A trial of the laboratory never asks for it.
    fn next_due(&self, _: &dyn View, _: Moment) -> Option<Moment> {
        None
    }

    fn why(&self, page: PageKey, now: Moment) -> Vec<(String, String)> {
        self.inner.why(page, self.hours.run(now))
    }

    fn believing(&self) -> Option<&dyn Believing> {
        Some(self)
    }
}

impl Believing for InHours<'_> {
    fn rates(&self) -> RateSums {
        self.inner.believing().map_or_else(RateSums::default, |believing| believing.rates())
    }
}
