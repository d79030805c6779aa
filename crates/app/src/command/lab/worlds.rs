//! The worlds that a command line names.

use std::path::{Path, PathBuf};

use clap::Args;
use vernal_model::{Moment, Span, nearest};
use vernal_simulator::lab::generate::scenario;
use vernal_simulator::lab::trace::own::{CENSORED_NOTE, Head};
use vernal_simulator::lab::trace::{self, Selection, Summary, recrawl};
use vernal_simulator::lab::{LabScenario, Source, World};

use crate::command::Context;
use crate::command::trace as own_trace;
use crate::error::{Error, OrFail, Result};
use crate::runtime::clock::wall;
use crate::runtime::folder::Folder;

/// Where nobody names a world.
const WORLD: &str = "w1";
/// Bad rows listed one by one; the others are counted.
const WRONG_TOLD_MAX: usize = 20;

#[derive(Args)]
pub struct Invented {
    /// Worlds of the protocol, separated by commas: w1, w2, … [default: w1]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    worlds: Vec<String>,
    /// A scenario file; may be repeated
    #[arg(long = "scenario", value_name = "FILE")]
    scenarios: Vec<PathBuf>,
    /// Pages of the world, instead of the scenario's
    #[arg(long, value_name = "N")]
    pages: Option<usize>,
}

#[derive(Args)]
pub struct Length {
    /// Days of the world, instead of the scenario's or the recording's
    #[arg(long, value_name = "N")]
    days: Option<f64>,
    /// What happens before is measured apart, such as 60d
    #[arg(long, value_name = "SPAN")]
    warm_up: Option<String>,
}

impl Length {
    fn warm_up(&self) -> Result<Option<Span>> {
        self.warm_up.as_deref().map(Span::parse).transpose().or_usage()
    }

    /// Something must be left to be measured after the warm-up.
    fn check(days: f64, warm_up_days: f64) -> Result<()> {
        if warm_up_days < days || days <= 0.0 {
            return Ok(());
        }
        let shorter = Span::from_secs_f64((days / 3.0 * 24.0).floor().max(1.0) * 3_600.0);
        Err(Error::Usage(format!(
            "a warm-up of {warm_up_days} days leaves nothing of {days} days to be measured: give more --days than that, or a \
             shorter one, such as --warm-up {shorter}"
        )))
    }
}

/// A world of which there are several kinds, such as w6, is all of them.
fn kinds_of(name: &str) -> Vec<&str> {
    let kinds =
        scenario::NAMES.iter().filter(|other| other.strip_prefix(name).is_some_and(|kind| kind.starts_with('-')));
    let kinds: Vec<&str> = kinds.copied().collect();
    if kinds.is_empty() || scenario::NAMES.contains(&name) { vec![name] } else { kinds }
}

impl Invented {
    pub fn is_given(&self) -> bool {
        !self.worlds.is_empty() || !self.scenarios.is_empty() || self.pages.is_some()
    }

    pub fn sources(&self, length: &Length) -> Result<Vec<Source>> {
        let mut scenarios = Vec::new();
        for path in &self.scenarios {
            scenarios.push(LabScenario::load(path).or_fail()?);
        }
        let named =
            if self.worlds.is_empty() && scenarios.is_empty() { vec![WORLD.to_owned()] } else { self.worlds.clone() };
        for name in named.iter().flat_map(|name| kinds_of(name)) {
            known("world", name, scenario::NAMES)?;
            scenarios.push(LabScenario::by_name(name).or_fail()?);
        }
        let mut worlds: Vec<LabScenario> = Vec::new();
        for mut scenario in scenarios {
            if let Some(selection) = &scenario.replay {
                return Err(Error::Usage(format!(
                    "{} replays a recording: `vernal lab replay --trace FILE --web {selection}`",
                    scenario.name
                )));
            }
            if let Some(world) = &mut scenario.world {
                world.days = length.days.unwrap_or(world.days);
                world.warm_up_days = length.warm_up()?.map_or(world.warm_up_days, Span::days_f64);
                Length::check(world.days, world.warm_up_days)?;
                if let Some(pages) = self.pages {
                    world.sites = (world.sites * pages).div_ceil(world.pages.max(1)).clamp(1, pages.max(1));
                    world.pages = pages;
                }
            }
            // Whatever was changed is checked as a file would be.
            let scenario = LabScenario::parse(&scenario.name, &scenario.text()).or_usage()?;
            for variant in scenario.variants() {
                // Results go by the names of worlds: a world that is given twice is one, and two of one name cannot be told
                // apart.
                match worlds.iter().find(|known| known.name == variant.name) {
                    Some(known) if *known == variant => {}
                    Some(_) => {
                        return Err(Error::Usage(format!(
                            "two different worlds are named {}: give one of them another name in its file",
                            variant.name
                        )));
                    }
                    None => worlds.push(variant),
                }
            }
        }
        Ok(worlds.into_iter().map(|world| Source::Invented(Box::new(world))).collect())
    }
}

#[derive(Args)]
pub struct Recorded {
    /// A trace (CSV, or the JSON lines of `GET /trace`), gzipped or not, or the folder of Microsoft's recrawl release
    #[arg(long, value_name = "PATH")]
    trace: Option<PathBuf>,
    /// A part of the shared recording by name: pub, pubs, pubold, ota, otaold or stalker
    #[arg(long, value_name = "NAME")]
    web: Option<String>,
    /// Only sites whose names begin so; may be repeated
    #[arg(long, value_name = "PREFIX")]
    sites: Vec<String>,
    /// Where the world begins: a date
    #[arg(long, value_name = "DATE")]
    from: Option<String>,
    /// At most so many pages of each site
    #[arg(long, value_name = "N")]
    site_cap: Option<usize>,
    /// At most so many pages in all
    #[arg(long, value_name = "N")]
    max_pages: Option<usize>,
    /// Kinds of change that do not count, such as none,presentation; in place of those that a --web leaves out
    #[arg(long, value_name = "KINDS")]
    ignore_kinds: Option<String>,
}

impl Recorded {
    pub fn is_given(&self) -> bool {
        self.trace.is_some() || self.web.is_some()
    }

    /// The world, and what is to be known about it.
    pub fn world(&self, context: &Context, length: &Length) -> Result<(World, Vec<String>)> {
        let selection = self.selection(length)?;
        let (mut world, summary) = match &self.trace {
            Some(path) if path.is_dir() => {
                self.refuse_for_recrawl()?;
                let world = recrawl::load(path, &selection, None).or_fail()?;
                let summary = Summary {
                    sites: world.sites.len() as u64,
                    pages: world.pages.len() as u64,
                    changes: world.changes_total() as u64,
                    ..Summary::default()
                };
                (world, summary)
            }
            Some(path) => self.recording(path, &selection)?,
            None if context.in_force.is_default("data") => {
                return Err(Error::usage(
                    "what shall be replayed? Give --trace FILE, or --data DIR for one's own crawl",
                ));
            }
            None => own_crawl(context, &selection)?,
        };
        let mut notes = Vec::new();
        if length.warm_up.is_none() && world.warm_up.days_f64() * 2.0 > world.length().days_f64() {
            world.warm_up = world.length().scaled(1.0 / 3.0);
            notes.push("the recording is short: its first third is the warm-up".to_owned());
        }
        Length::check(world.length().days_f64(), world.warm_up.days_f64())?;
        let (name, Summary { sites, pages, changes, .. }) = (&world.name, summary);
        let (lasts, warm_up) = (world.length(), world.warm_up);
        notes.insert(
            0,
            format!("{name}: {sites} sites, {pages} pages, {changes} changes in {lasts}, warm-up {warm_up}"),
        );
        if sites == 1 {
            notes.push("there is one site: no interval between sites can be told".to_owned());
        }
        if world.censored {
            let is_recrawl = self.trace.as_ref().is_some_and(|path| path.is_dir());
            let note = if is_recrawl { recrawl::CENSORED_NOTE } else { CENSORED_NOTE };
            notes.push(format!("interval-censored: {note}"));
        }
        notes.iter().for_each(|note| tracing::info!("{note}"));
        Ok((world, notes))
    }

    /// The release of Microsoft tells neither dates nor kinds of change, and its pages are drawn before their hosts have
    /// names: who asks for a part of it by these would be given the whole of it.
    fn refuse_for_recrawl(&self) -> Result<()> {
        let given = [
            ("--web", self.web.is_some()),
            ("--sites", !self.sites.is_empty()),
            ("--from", self.from.is_some()),
            ("--ignore-kinds", self.ignore_kinds.is_some()),
        ];
        match given.iter().find(|(_, is_given)| *is_given) {
            Some((flag, _)) => Err(Error::Usage(format!(
                "{flag} is for trace files; of a folder of the recrawl release --site-cap, --max-pages and --days take a part"
            ))),
            None => Ok(()),
        }
    }

    fn selection(&self, length: &Length) -> Result<Selection> {
        let mut selection = match &self.web {
            Some(name) => {
                known("web", name, &Selection::NAMES)?;
                Selection::by_name(name).or_usage()?
            }
            None => Selection::default(),
        };
        if let Some(from) = &self.from {
            selection.from = Some(Moment::parse(from, wall()).or_usage()?);
        }
        for (flag, most) in [("--site-cap", self.site_cap), ("--max-pages", self.max_pages)] {
            if most == Some(0) {
                return Err(Error::Usage(format!("{flag} 0 leaves no page: give at least 1, or leave it out for all")));
            }
        }
        selection.days = length.days.or(selection.days);
        selection.warm_up = length.warm_up()?.unwrap_or(selection.warm_up);
        selection.site_cap = self.site_cap.or(selection.site_cap);
        selection.pages_max = self.max_pages.or(selection.pages_max);
        if let Some(kinds) = &self.ignore_kinds {
            selection.ignored = Selection::kinds(kinds).or_usage()?;
        }
        if !self.sites.is_empty() {
            selection.only = self.sites.clone();
        }
        Ok(selection)
    }

    /// Bad rows are listed by line and passed over.
    fn recording(&self, path: &Path, selection: &Selection) -> Result<(World, Summary)> {
        let (mut world, summary, wrong) = trace::load_good_rows(path, selection).or_fail()?;
        for error in wrong.iter().take(WRONG_TOLD_MAX) {
            tracing::warn!("{error}");
        }
        if wrong.len() > WRONG_TOLD_MAX {
            tracing::warn!("and {} more bad rows", wrong.len() - WRONG_TOLD_MAX);
        }
        world.censored = world.censored || Head::of(path).is_some_and(|head| head.censored);
        if self.web.is_none() {
            let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
            world.name = name.unwrap_or(world.name);
        }
        Ok((world, summary))
    }
}

/// The crawl of the data folder, through the very format that `export trace` writes.
fn own_crawl(context: &Context, selection: &Selection) -> Result<(World, Summary)> {
    let (mut bytes, mut head) = (Vec::new(), Head::default());
    context.block_on(async {
        let folder = Folder::open(context, false).await?;
        (bytes, head) = own_trace::whole(&folder).await?;
        folder.close()
    })?;
    let selection = &Selection { observed_until: head.observed_until(), ..selection.clone() };
    let name = context.settings.data.display().to_string();
    let (mut world, summary) = trace::read(&bytes, &name, selection).or_fail()?;
    world.censored = true;
    world.name = "own".into();
    Ok((world, summary))
}

/// Refuses a name that is none, with the nearest that is one.
fn known(what: &str, name: &str, names: &[&str]) -> Result<()> {
    if names.contains(&name) {
        return Ok(());
    }
    let near = nearest(name, names.iter().copied());
    let meant = near.map_or_else(String::new, |near| format!(" (did you mean {near}?)"));
    Err(Error::Usage(format!("there is no {what} `{name}`{meant}; there are {}", names.join(", "))))
}
