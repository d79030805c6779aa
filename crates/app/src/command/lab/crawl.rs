//! `vernal lab crawl`

use clap::Args;
use vernal_frontier::{Breach, audit};
use vernal_model::{Budget, Site, Span};
use vernal_simulator::lab::compare::Made;
use vernal_simulator::lab::{LabTrial, Options, Source, World};
use vernal_simulator::trial::Faults;
use vernal_simulator::trial::whole_crawl::{self, Conditions, Crawled};
use vernal_simulator::wire::world::Blemishes;

use super::trials::{budgets, chances};
use super::worlds::{Invented, Length};
use crate::command::Context;
use crate::error::{Error, OrFail, Result};
use crate::output::{Column, Sink, Table};
use crate::runtime::clock::cpu_seconds;
use crate::runtime::parts;

#[derive(Args)]
#[command(
    after_help = "The whole crawler in virtual time: frontier, politeness, robots.txt, verdicts and policy, on a repository \
                  that is thrown away. Exits with 1 if a page was not found or a site was asked too soon, and says which \
                  chance number replays it."
)]
pub struct Arguments {
    /// The policy, with parameters if need be: hybrid:v=4
    #[arg(long, value_name = "NAME", default_value = "vernal")]
    policy: String,
    /// A budget: 5%/day, 500/day; may be repeated [default: 5%/day]
    #[arg(long = "budget", value_name = "BUDGET")]
    budgets: Vec<String>,
    /// The number that webs, faults and choices are drawn from; 1..10 are ten of them
    #[arg(long, value_name = "NUMBER", default_value = "1")]
    chance: String,
    #[command(flatten)]
    invented: Invented,
    #[command(flatten)]
    length: Length,
    /// The share of visits to an unchanged page that find something that differs by itself
    #[arg(long, value_name = "SHARE", default_value_t = 0.0)]
    noise: f64,
    /// The share of visits to a changed page that are told that it is the same
    #[arg(long, value_name = "SHARE", default_value_t = 0.0)]
    misses: f64,
    /// The share of visits that a site answers with an error
    #[arg(long, value_name = "SHARE", default_value_t = 0.0)]
    errors: f64,
    /// The share of reports that never arrive
    #[arg(long, value_name = "SHARE", default_value_t = 0.0)]
    lost_reports: f64,
    /// Deaths of workers a day; what is under way with one is lost
    #[arg(long, value_name = "N", default_value_t = 0.0)]
    worker_deaths: f64,
    /// The share of sites that take fifty times as long to answer
    #[arg(long, value_name = "SHARE", default_value_t = 0.0)]
    slow_sites: f64,
    /// Steps of the clock a day, ten minutes forward each
    #[arg(long, value_name = "N", default_value_t = 0.0)]
    clock_steps: f64,
}

/// By how much longer a slow site takes, and how far the clock steps.
const SLOW_FACTOR: f64 = 50.0;
const CLOCK_STEP: Span = Span::from_secs(600);

/// A file system in memory, on Linux.
const MEMORY_FOLDER: &str = "/dev/shm";

const COLUMNS: [Column; 14] = [
    Column::left("world"),
    Column::left("budget"),
    Column::right("chance"),
    Column::right("freshness"),
    Column::right("policy alone"),
    Column::right("change ratio"),
    Column::right("requests"),
    Column::right("robots.txt"),
    Column::right("missed"),
    Column::right("noisy"),
    Column::right("lost"),
    Column::right("not found"),
    Column::right("too soon"),
    Column::right("both per CPU s"),
];

/// One crawl, with what there is to say of it.
struct CrawlRow {
    world: String,
    budget: Budget,
    chance: u64,
    crawled: Crawled,
    alone: f64,
    breaches: Vec<Breach>,
    cpu_s: f64,
}

pub fn crawl(context: &Context, arguments: &Arguments) -> Result<()> {
    let policy = parts::with_parameters(context, &arguments.policy)?;
    let (budgets, chances) = (budgets(&arguments.budgets)?, chances(&arguments.chance)?);
    arguments.check()?;
    let (mut sink, mut table) = (Sink::stdout(), Table::new(&COLUMNS));
    let mut wrong = Vec::new();
    for source in arguments.invented.sources(&arguments.length)? {
        let Source::Invented(scenario) = source else { continue };
        for &chance in &chances {
            let world = scenario.world(chance).or_fail()?;
            for &budget in &budgets {
                let rows = arguments.rows(&world, &policy, budget, chance)?;
                wrong.extend(rows.wrong());
                if context.json {
                    sink.line(&rows.json(&policy).to_string())?;
                } else {
                    table.row(&mut sink, rows.cells())?;
                }
            }
        }
    }
    if context.json {
        sink.flush()?
    } else {
        table.end(&mut sink)?
    }
    if wrong.is_empty() { Ok(()) } else { Err(Error::Failed(wrong.join("; "))) }
}

impl Arguments {
    fn check(&self) -> Result<()> {
        let shares = [
            ("--noise", self.noise),
            ("--misses", self.misses),
            ("--errors", self.errors),
            ("--lost-reports", self.lost_reports),
            ("--slow-sites", self.slow_sites),
        ];
        if let Some((name, share)) = shares.iter().find(|(_, share)| !(0.0..1.0).contains(share)) {
            return Err(Error::Usage(format!("{name} is a share, at least 0 and below 1, not {share}")));
        }
        let rates = [("--worker-deaths", self.worker_deaths), ("--clock-steps", self.clock_steps)];
        match rates.iter().find(|(_, rate)| !(0.0..=100_000.0).contains(rate)) {
            Some((name, rate)) => Err(Error::Usage(format!("{name} is a number a day from 0 to 100000, not {rate}"))),
            None => Ok(()),
        }
    }

    fn rows(&self, world: &World, policy: &str, budget: Budget, chance: u64) -> Result<CrawlRow> {
        let conditions = Conditions {
            chance,
            blemishes: Blemishes { noise: self.noise, misses: self.misses, errors: self.errors },
            faults: Faults {
                lost_reports: self.lost_reports,
                worker_deaths_per_day: self.worker_deaths,
                slow_sites: self.slow_sites,
                slow_factor: SLOW_FACTOR,
                clock_steps_per_day: self.clock_steps,
                clock_step: CLOCK_STEP,
            },
            ..Conditions::default()
        };
        let settings = whole_crawl::settings(world, policy, budget, chance);
        let (delay, per_site, refresh_min) = (settings.delay, settings.per_site, settings.refresh_min);
        let scratch = scratch().or_fail()?;
        let begun = cpu_seconds();
        let crawled = whole_crawl::crawl(world, scratch.path(), settings, &conditions).or_fail()?;
        let cpu_s = cpu_seconds() - begun;
        let visits = crawled.visits().map(|(site, from, until)| (Site::new(site), from, until));
        let breaches = audit(visits, delay, per_site);
        let mut policy = Made::by_name(policy).or_fail()?;
        let options = Options { budget, chance, refresh_min, ..Options::default() };
        let alone = LabTrial::run(world, policy.refresh(), &options).or_fail()?.after.freshness;
        Ok(CrawlRow { world: world.name.clone(), budget, chance, crawled, alone, breaches, cpu_s })
    }
}

/// A temporary folder: in memory where the system has such a place, so that no trial waits for a disk.
fn scratch() -> std::io::Result<tempfile::TempDir> {
    let mut builder = tempfile::Builder::new();
    builder.prefix("vernal-lab-");
    builder.tempdir_in(MEMORY_FOLDER).or_else(|_| builder.tempdir())
}

impl CrawlRow {
    /// Requests of both kinds: one for robots.txt is as much work as one for a page.
    fn requests_per_cpu_s(&self) -> f64 {
        self.crawled.asked.len() as f64 / self.cpu_s.max(1e-9)
    }

    /// A broken law, with the chance number that reproduces it.
    fn wrong(&self) -> Option<String> {
        let (lacking, pressed) = (self.crawled.not_found.first(), self.breaches.first());
        let what = match (lacking, pressed) {
            (Some(url), _) => format!("{} pages were not found, such as {url}", self.crawled.not_found.len()),
            (None, Some(breach)) => format!("{} was asked too soon, at {}", breach.site, breach.started),
            (None, None) => return None,
        };
        Some(format!("{} at {}: {what}; --chance {} shows it again", self.world, self.budget, self.chance))
    }

    fn cells(&self) -> Vec<String> {
        let (crawled, after) = (&self.crawled, &self.crawled.findings.after);
        let (requests, robots) = crawled.requests();
        vec![
            self.world.clone(),
            self.budget.to_string(),
            self.chance.to_string(),
            format!("{:.4}", after.freshness),
            format!("{:.4}", self.alone),
            format!("{:.3}", after.change_ratio),
            requests.to_string(),
            robots.to_string(),
            crawled.missed.to_string(),
            crawled.noisy.to_string(),
            crawled.lost.to_string(),
            crawled.not_found.len().to_string(),
            self.breaches.len().to_string(),
            format!("{:.0}", self.requests_per_cpu_s()),
        ]
    }

    fn json(&self, policy: &str) -> serde_json::Value {
        let (crawled, after) = (&self.crawled, &self.crawled.findings.after);
        let (requests, robots) = crawled.requests();
        serde_json::json!({
            "policy": policy, "world": self.world, "budget": self.budget.to_string(), "chance": self.chance,
            "freshness": after.freshness, "policy_alone": self.alone, "change_ratio": after.change_ratio,
            "age_days": after.age_days, "visits": after.visits, "wasted": after.wasted,
            "requests": requests, "robots_requests": robots, "held": crawled.held,
            "missed": crawled.missed, "noisy": crawled.noisy, "lost": crawled.lost,
            "not_found": crawled.not_found.len(), "too_soon": self.breaches.len(), "cpu_s": self.cpu_s,
        })
    }
}
