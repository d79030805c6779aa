//! Makes a repository anew from its segments, where neither its journal nor its tables can be read. The segments stay where they
//! are, and the caller reads them from the first record on.
//!
//! ```text
//! DIR/repaired.new/         the new state while it is made: FORMAT, journal, tables, and a link to the segments
//! DIR/repaired.new/aside    the name of the folder that the old files will go to
//! DIR/repaired.new/whole    the same, when the new state is whole
//! DIR/damaged-YYYYMMDDhhmmss/{FORMAT,journal,tables,known,graph,passes}
//! ```
//!
//! The old files stay in their places until the new state is whole and synced. Then they are moved aside, and none is deleted.
//! If a process ends meanwhile, the next opening goes on with it. An earlier Vernal moved them first and left `DIR/repairing` until
//! it had ended; such a folder cannot be opened, because it is incomplete.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde::de::DeserializeOwned;
use vernal_model::{Control, Deed, ForgottenRow, Moment, Restated, Scope, Seed, Site, SiteState, Span, Url};

use crate::folder::{self, make_folder, sync_folder};
use crate::journal::{self, Frame};
use crate::recover::TABLES_FOLDER;
use crate::repository::{Repository, Settings};
use crate::tables::rows::{StampedSite, State};
use crate::tables::{Tables, keys};
use crate::{Error, Result, bodies, graph, passes, sieve};

pub(crate) const MARK_FILE: &str = "repairing";
const BESIDE_FOLDER: &str = "repaired.new";
const ASIDE_FILE: &str = "aside";
const WHOLE_FILE: &str = "whole";

pub(crate) fn is_unfinished(dir: &Path) -> bool {
    dir.join(MARK_FILE).exists()
}

/// The files that a repair replaces, and what could still be read of them.
#[derive(Clone, Debug, Default)]
pub struct DamagedFiles {
    /// Where they go when the new state stands.
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
    /// The ledger of what was forgotten.
    pub forgotten: Vec<ForgottenRow>,
}

impl Repository {
    /// Begins a state that knows nothing beside the one in `dir`: every whole record stays. It counts after `end_repair` and
    /// `put_repaired`.
    pub fn begin_repair(dir: &Path, settings: Settings, now: Moment) -> Result<(Repository, DamagedFiles)> {
        let lock = folder::lock(dir)?;
        finish(dir)?;
        let beside = dir.join(BESIDE_FOLDER);
        if beside.exists() {
            fs::remove_dir_all(&beside).map_err(Error::io("remove", &beside))?;
        }
        for folder in [&dir.join(bodies::FOLDER), &beside, &beside.join(graph::FOLDER), &beside.join(passes::FOLDER)] {
            make_folder(folder)?;
        }
        let link = beside.join(bodies::FOLDER);
        symlink(Path::new("..").join(bodies::FOLDER), &link).map_err(Error::io("link", &link))?;
        let aside = dir.join(unused_name(dir, now));
        name_aside(&beside.join(ASIDE_FILE), &aside)?;
        let format = folder::known_format(dir).ok();
        let earlier = fs::read_to_string(dir.join(MARK_FILE)).unwrap_or_default();
        // Where an earlier Vernal was interrupted, the first folder that it moved files to holds the original ones.
        let all = earlier.lines().map(|name| dir.join(name)).chain([dir.to_owned()]);
        let mut all = all.map(|folder| saved(&folder, format.as_ref().map(folder::Format::seed)));
        let saved = all.find(|saved| *saved != Salvaged::default()).unwrap_or_default();
        let settings = Settings { id: format.map(|format| format.id).or(settings.id), ..settings };
        let (repository, _) = Repository::open_locked(&beside, lock, settings, now)?;
        Ok((repository, DamagedFiles { folder: aside, saved }))
    }

    /// Ends the repair when everything is restored. Once this repository is closed, `put_repaired` puts it in its place.
    pub fn end_repair(&mut self) -> Result<()> {
        self.sync_tables()?;
        let beside = &self.shared.dir;
        let (begun, whole) = (beside.join(ASIDE_FILE), beside.join(WHOLE_FILE));
        fs::rename(&begun, &whole).map_err(Error::io("make", &whole))?;
        sync_folder(beside)
    }

    /// Puts a repaired state that is whole and closed in the place of the old one. Each opening does this too.
    pub fn put_repaired(dir: &Path) -> Result<()> {
        let _lock = folder::lock(dir)?;
        finish(dir)
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

fn name_aside(path: &Path, aside: &Path) -> Result<()> {
    let name = aside.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let mut file = fs::File::create(path).map_err(Error::io("make", path))?;
    file.write_all(name.as_bytes()).map_err(Error::io("write", path))?;
    file.sync_all().map_err(Error::io("sync", path))
}

/// Moves the old files aside and those of a whole repaired state in. A crash leaves some parts moved, and the next call moves the
/// rest.
pub(crate) fn finish(dir: &Path) -> Result<()> {
    let beside = dir.join(BESIDE_FOLDER);
    let Ok(name) = fs::read_to_string(beside.join(WHOLE_FILE)) else { return Ok(()) };
    let aside = dir.join(name);
    make_folder(&aside)?;
    for part in folder::FORMAT_FILES {
        let (old, new) = (dir.join(part), beside.join(part));
        if new.exists() {
            // Without FORMAT the folder would be nobody's, so it is copied and replaced at once.
            if old.exists() {
                fs::copy(&old, aside.join(part)).map_err(Error::io("copy", &old))?;
            }
            fs::rename(&new, &old).map_err(Error::io("put in place", &new))?;
        }
    }
    for part in [journal::FOLDER, TABLES_FOLDER, sieve::FOLDER, graph::FOLDER, passes::FOLDER] {
        let (old, new) = (dir.join(part), beside.join(part));
        if !new.exists() {
            continue;
        }
        if old.exists() {
            fs::rename(&old, aside.join(part)).map_err(Error::io("move aside", &old))?;
        }
        fs::rename(&new, &old).map_err(Error::io("put in place", &new))?;
    }
    let mark = dir.join(MARK_FILE);
    if mark.exists() {
        fs::remove_file(&mark).map_err(Error::io("remove", &mark))?;
    }
    sync_folder(&aside)?;
    sync_folder(dir)?;
    fs::remove_dir_all(&beside).map_err(Error::io("remove", &beside))?;
    sync_folder(dir)
}

/// Reads what the tables and the journal in a folder of damaged files still contain: first the tables, then later deeds.
fn saved(aside: &Path, seed: Option<u64>) -> Salvaged {
    let (position, saved) = of_tables(&aside.join(TABLES_FOLDER)).unwrap_or_default();
    let mut salvage = Salvage {
        seeds: saved.seeds.into_iter().map(|seed| (seed.url.clone(), seed)).collect(),
        paused: saved.paused,
        standings: saved.standings.into_iter().collect(),
        forgotten: saved.forgotten.into_iter().map(|row| (row.id, row)).collect(),
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
    let forgotten = tables.meta.prefix(keys::FORGOT_PREFIX).map(|guard| salvaged(&guard.value().ok()?));
    let forgotten = forgotten.collect::<Option<Vec<ForgottenRow>>>()?;
    Some((state.position, Salvaged { seeds, paused: state.paused, standings, forgotten }))
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
    forgotten: BTreeMap<u32, ForgottenRow>,
}

impl Salvage {
    fn take(&mut self, deed: Deed) {
        match deed {
            Deed::Seeded(seed) => drop(self.seeds.insert(seed.url.clone(), seed)),
            Deed::Unseeded(url) => drop(self.seeds.remove(&url)),
            Deed::SiteSeen(site, profile) => drop(self.standings.insert(site, profile.standing)),
            Deed::Controlled(control) => self.paused = control == Control::PauseAll,
            Deed::Forgot(row) => drop(self.forgotten.insert(row.id, *row)),
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
                let entries = rows.iter().filter(|one| one.key.starts_with(keys::FORGOT_PREFIX.as_bytes()));
                let entries = entries.filter_map(|one| salvaged::<ForgottenRow>(&one.row));
                self.forgotten.extend(entries.map(|row| (row.id, row)));
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
        let (seeds, forgotten) = (self.seeds.into_values().collect(), self.forgotten.into_values().collect());
        Salvaged { seeds, paused: self.paused, standings: standings.collect(), forgotten }
    }
}
