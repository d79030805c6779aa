//! Repairs a repository whose journal is lost or damaged. The old files are moved aside and never deleted. The segments stay
//! where they are, and the caller reads them from the first record on.
//!
//! ```text
//! DIR/repairing      one line per attempt: the name of the folder that the old files went to
//! DIR/damaged-YYYYMMDDhhmmss/{journal,tables,known,graph}
//! ```
//!
//! While `DIR/repairing` exists, the repository cannot be opened, because it is incomplete.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde::de::DeserializeOwned;
use vernal_model::{Control, Deed, Moment, Restated, Scope, Seed, Site, SiteState, Span, Url};

use crate::folder::{self, make_folder, sync_folder};
use crate::journal::{self, Frame};
use crate::recover::TABLES_FOLDER;
use crate::repository::{Repository, Settings};
use crate::tables::rows::{StampedSite, State};
use crate::tables::{Tables, keys};
use crate::{Error, Result, graph, passes, sieve};

pub(crate) const MARK_FILE: &str = "repairing";

pub(crate) fn is_unfinished(dir: &Path) -> bool {
    dir.join(MARK_FILE).exists()
}

/// The files that were moved aside, and what could still be read of them.
#[derive(Clone, Debug, Default)]
pub struct DamagedFiles {
    pub folder: PathBuf,
    pub saved: Salvaged,
}

/// State that the segments do not contain, as far as the damaged journal and tables could be read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Salvaged {
    pub seeds: Vec<Seed>,
    pub paused: bool,
    /// Sites that a person paused or blocked.
    pub standings: Vec<(Site, SiteState)>,
}

impl Repository {
    /// Moves journal, tables and known set of `dir` aside and opens the repository without them: it knows nothing, and every
    /// whole record stays. It is in repair until `end_repair`.
    pub fn begin_repair(dir: &Path, settings: Settings, now: Moment) -> Result<(Repository, DamagedFiles)> {
        let lock = folder::lock(dir)?;
        let mut earlier: Vec<String> = match fs::read_to_string(dir.join(MARK_FILE)) {
            Ok(text) => text.lines().map(str::to_owned).collect(),
            Err(_) => Vec::new(),
        };
        let name = unused_name(dir, now);
        earlier.push(name.clone());
        mark(dir, &earlier)?;
        let aside = dir.join(&name);
        make_folder(&aside)?;
        for part in [journal::FOLDER, TABLES_FOLDER, sieve::FOLDER, graph::FOLDER, passes::FOLDER] {
            let (from, to) = (dir.join(part), aside.join(part));
            if from.exists() {
                fs::rename(&from, &to).map_err(Error::io("move aside", &from))?;
            }
        }
        folder::put_older_format_aside(dir, &aside)?;
        sync_folder(&aside)?;
        sync_folder(dir)?;
        let seed = folder::known_format(dir).ok().map(|format| format.seed());
        // Folders of interrupted attempts hold only what those attempts made. The first folder holds the original files.
        let mut all = earlier.iter().map(|name| saved(&dir.join(name), seed));
        let saved = all.find(|saved| *saved != Salvaged::default()).unwrap_or_default();
        let (repository, _) = Repository::open_locked(dir, lock, settings, now)?;
        Ok((repository, DamagedFiles { folder: aside, saved }))
    }

    /// Ends the repair when everything is restored. From now on the repository opens like any other.
    pub fn end_repair(&mut self) -> Result<()> {
        self.sync_tables()?;
        let path = self.shared.dir.join(MARK_FILE);
        if path.exists() {
            fs::remove_file(&path).map_err(Error::io("remove", &path))?;
        }
        sync_folder(&self.shared.dir)
    }

    /// Moves the tables and the known set of `dir` aside, so that the next opening rebuilds them from the journal.
    pub fn move_tables_aside(dir: &Path, now: Moment) -> Result<PathBuf> {
        let _lock = folder::lock(dir)?;
        let aside = dir.join(unused_name(dir, now));
        make_folder(&aside)?;
        for part in [TABLES_FOLDER, sieve::FOLDER] {
            let from = dir.join(part);
            if from.exists() {
                fs::rename(&from, aside.join(part)).map_err(Error::io("move aside", &from))?;
            }
        }
        sync_folder(&aside)?;
        sync_folder(dir)?;
        Ok(aside)
    }
}

pub(crate) fn unused_name(dir: &Path, now: Moment) -> String {
    let first = format!("damaged-{}", now.fourteen_digits());
    let further = (2..).map(|number| format!("{first}-{number}"));
    let mut names = std::iter::once(first.clone()).chain(further);
    names.find(|name| !dir.join(name).exists()).unwrap_or(first)
}

fn mark(dir: &Path, attempts: &[String]) -> Result<()> {
    let (path, fresh) = (dir.join(MARK_FILE), dir.join("repairing.new"));
    let mut file = fs::File::create(&fresh).map_err(Error::io("make", &fresh))?;
    file.write_all((attempts.join("\n") + "\n").as_bytes()).map_err(Error::io("write", &fresh))?;
    file.sync_all().map_err(Error::io("sync", &fresh))?;
    fs::rename(&fresh, &path).map_err(Error::io("make", &path))?;
    sync_folder(dir)
}

/// Reads what the tables and the journal in a folder of damaged files still contain: first the tables, then later deeds.
fn saved(aside: &Path, seed: Option<u64>) -> Salvaged {
    let (position, saved) = of_tables(&aside.join(TABLES_FOLDER)).unwrap_or_default();
    let mut salvage = Salvage {
        seeds: saved.seeds.into_iter().map(|seed| (seed.url.clone(), seed)).collect(),
        paused: saved.paused,
        standings: saved.standings.into_iter().collect(),
    };
    let Some(seed) = seed else { return salvage.saved() };
    let mut take = |frame: Frame| -> Result<()> {
        for (place, (_, _, deed)) in frame.entries.into_iter().enumerate() {
            if frame.first + place as u64 > position {
                salvage.take(deed);
            }
        }
        Ok(())
    };
    // Damage is ignored: this reads whatever is left.
    let _ = journal::walk(&aside.join(journal::FOLDER), seed, &mut |_, _| {}, &mut take);
    salvage.saved()
}

fn of_tables(folder: &Path) -> Option<(u64, Salvaged)> {
    if !folder.exists() {
        return None;
    }
    let tables = Tables::open(folder).ok()?;
    let state: State = salvaged(&tables.meta.get(keys::STATE).ok()??)?;
    let seeds = tables.meta.prefix(keys::SEED_PREFIX).map(|guard| salvaged_seed(&guard.value().ok()?));
    let seeds = seeds.collect::<Option<Vec<Seed>>>()?;
    let sites = tables.sites.iter().filter_map(|guard| salvaged::<StampedSite>(&guard.value().ok()?));
    let standings = sites.map(|site| (site.row.site, site.row.profile.standing)).collect();
    Some((state.position, Salvaged { seeds, paused: state.paused, standings }))
}

/// Decodes a row of any format. It works for rows whose layout has not changed since.
fn salvaged<T: DeserializeOwned>(row: &[u8]) -> Option<T> {
    postcard::from_bytes(row.get(1..)?).ok()
}

/// A seed as it was written in format 1.
#[derive(Deserialize)]
struct SeedOfFormat1 {
    url: Url,
    added: Moment,
    tags: Vec<String>,
    weight: f32,
    scope: Scope,
    depth: Option<u16>,
    at_least_every: Option<Span>,
    moved_to: Option<Url>,
}

fn salvaged_seed(row: &[u8]) -> Option<Seed> {
    if row.first() != Some(&1) {
        return salvaged(row);
    }
    let old: SeedOfFormat1 = salvaged(row)?;
    let SeedOfFormat1 { url, added, tags, weight, scope, depth, at_least_every, moved_to } = old;
    Some(Seed { tags, weight, scope, depth, at_least_every, moved_to, ..Seed::new(url, added) })
}

#[derive(Default)]
struct Salvage {
    seeds: BTreeMap<Url, Seed>,
    paused: bool,
    standings: BTreeMap<Site, SiteState>,
}

impl Salvage {
    fn take(&mut self, deed: Deed) {
        match deed {
            Deed::Seeded(seed) => drop(self.seeds.insert(seed.url.clone(), seed)),
            Deed::Unseeded(url) => drop(self.seeds.remove(&url)),
            Deed::SiteSeen(site, profile) => drop(self.standings.insert(site, profile.standing)),
            Deed::Controlled(control) => self.paused = control == Control::PauseAll,
            Deed::Restated(restated) => self.take_rows(&restated),
            _ => {}
        }
    }

    /// Rows of a checkpoint.
    fn take_rows(&mut self, restated: &Restated) {
        match restated {
            Restated::Rows { table, rows } if **table == *"meta" => {
                let seeds = rows.iter().filter(|one| one.key.starts_with(keys::SEED_PREFIX.as_bytes()));
                let seeds = seeds.filter_map(|one| salvaged_seed(&one.row));
                self.seeds.extend(seeds.map(|seed| (seed.url.clone(), seed)));
            }
            Restated::Rows { table, rows } if **table == *"sites" => {
                let sites = rows.iter().filter_map(|one| salvaged::<StampedSite>(&one.row));
                self.standings.extend(sites.map(|site| (site.row.site, site.row.profile.standing)));
            }
            Restated::State(row) => self.paused = salvaged::<State>(row).is_some_and(|state| state.paused),
            Restated::Rows { .. } | Restated::Known(_) | Restated::KnownMore(_) => {}
        }
    }

    fn saved(self) -> Salvaged {
        let standings = self.standings.into_iter().filter(|(_, standing)| *standing != SiteState::Active);
        Salvaged { seeds: self.seeds.into_values().collect(), paused: self.paused, standings: standings.collect() }
    }
}
