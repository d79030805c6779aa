//! Opens a repository and recovers what an interrupted process left unfinished.
//!
//! The order matters. The tables tell the last deed that they applied. From there the journal is replayed and its torn tail is
//! cut. Only then are the bodies cut to the end that the last frame acknowledged.

use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use vernal_model::Moment;

use crate::bodies::{Segments, WarcInfo};
use crate::folder::{self, make_folder, sync_folder};
use crate::forget::Rewriting;
use crate::journal::{self, Frame, Journal, Tail};
use crate::repository::{Repository, Settings};
use crate::shorten::Shortening;
use crate::sieve::{self, KnownSet};
use crate::tables::rows::State;
use crate::tables::{Group, Live, Obsolete, STORE_FILES_MAX, Shared, Tables, apply, closed};
use crate::{Error, Result, bodies, graph, mend, passes, repair};

pub(crate) const TABLES_FOLDER: &str = "tables";

/// What opening had to recover.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Recovery {
    /// Whether the repository was made by this opening.
    pub made: bool,
    /// Whether a copy of FORMAT was lost or damaged, and was written anew from the other.
    pub format_mended: bool,
    pub tables: TablesRecovery,
    /// Commit groups of the journal that were applied to the tables.
    pub groups_replayed: u64,
    pub deeds_replayed: u64,
    /// Bytes of torn, unacknowledged writes that were cut.
    pub journal_bytes_cut: u64,
    pub segment_bytes_cut: u64,
    /// The line about a segment that lost acknowledged bytes. Its records are lost, and everything else can be read.
    pub segment_lost: Option<String>,
    /// Runs of the known set that were no longer used.
    pub runs_removed: usize,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub enum TablesRecovery {
    /// The tables existed and could be read.
    #[default]
    Sound,
    /// The tables were rebuilt from the journal, for this reason.
    Rebuilt(String),
}

impl Repository {
    /// Opens the repository in `dir`, or makes it if there is none. Refuses a folder that another process has locked, and a
    /// format that is newer than ours.
    pub fn open(dir: &Path, settings: Settings, now: Moment) -> Result<(Repository, Recovery)> {
        make_folder(dir)?;
        let lock = folder::lock(dir)?;
        repair::finish(dir)?;
        if repair::is_unfinished(dir) {
            return Err(Error::RepairUnfinished(dir.to_owned()));
        }
        Repository::open_locked(dir, lock, settings, now)
    }

    /// Opens the repository with a lock that the caller holds.
    pub(crate) fn open_locked(
        dir: &Path,
        lock: File,
        settings: Settings,
        now: Moment,
    ) -> Result<(Repository, Recovery)> {
        mend::finish(dir)?;
        let made = !folder::has_format(dir);
        let (format, format_mended) = folder::format(dir, settings.id)?;
        let journal_folder = dir.join(journal::FOLDER);
        for name in [journal::FOLDER, sieve::FOLDER] {
            make_folder(&dir.join(name))?;
        }
        let mut recovery = Recovery { made, format_mended, ..Recovery::default() };
        let opened = match settings.tables_in_memory {
            true => tables_in_memory(dir)?,
            false => open_tables(dir, settings.store_files_max, &mut recovery)?,
        };
        let opened = not_behind(dir, opened, format.seed(), &settings, &mut recovery)?;
        journal::remove_replaced(&journal_folder, format.seed())?;
        let shared = Arc::new(Shared::new(dir, opened.tables, opened.live, lock));
        let replayed = replay(&shared, format.seed(), &mut recovery);
        if replayed.is_err() && matches!(recovery.tables, TablesRecovery::Rebuilt(_)) {
            // Tables that stop at damage of the journal must not pass for those that saw all of it.
            closed::distrust(&dir.join(TABLES_FOLDER))?;
        }
        let (tail, obsolete) = replayed?;
        let applied = shared.live().state.position;
        if applied >= tail.next {
            return Err(journal_is_short(&journal_folder, &tail, applied));
        }
        graph::remove_if_ahead(&dir.join(graph::FOLDER), applied)?;
        graph::remove_pieces_if_ahead(&dir.join(graph::FOLDER), applied)?;
        passes::remove_those_ahead(&dir.join(passes::FOLDER), applied)?;
        // A journal without deeds may be new or may replace a lost one. Then the acknowledged end is unknown, and every whole
        // record stays.
        let acknowledged = (tail.next > 1).then_some(tail.end);
        let info = warc_info(settings.clone(), format.id);
        let (segments, cut) = Segments::open(dir, info, settings.segment_bytes_max, acknowledged, now)?;
        recovery.segment_bytes_cut = cut.bytes;
        recovery.segment_lost = cut.lost;
        recovery.journal_bytes_cut = tail.cut_bytes;
        let journal = Journal::resume(&journal_folder, format.seed(), tail)?;
        let mut repository = Repository {
            shared,
            segments,
            journal,
            obsolete,
            commits_unsynced: 0,
            sieve_from: 0,
            broken: false,
            shortening: Shortening::new(settings.journal, settings.journal_bytes_min),
            rewriting: Rewriting::default(),
        };
        repository.sync_tables()?;
        let in_force = repository.shared.live().known.generations();
        recovery.runs_removed = sieve::remove_orphans(&dir.join(sieve::FOLDER), in_force)?;
        tracing::debug!(
            dir = %dir.display(),
            position = applied,
            groups_replayed = recovery.groups_replayed,
            deeds_replayed = recovery.deeds_replayed,
            bytes_cut = recovery.journal_bytes_cut + recovery.segment_bytes_cut,
            tables = ?recovery.tables,
            "repository opened"
        );
        Ok((repository, recovery))
    }
}

struct Opened {
    tables: Tables,
    live: Live,
}

/// Opens the tables. Tables that cannot be read are replaced by empty ones, because the journal has everything.
fn open_tables(dir: &Path, files_max: usize, recovery: &mut Recovery) -> Result<Opened> {
    let folder = dir.join(TABLES_FOLDER);
    if !folder.exists() {
        let journal = dir.join(journal::FOLDER);
        let has_journal = fs::read_dir(&journal).is_ok_and(|mut entries| entries.next().is_some());
        if has_journal {
            recovery.tables = TablesRecovery::Rebuilt("the folder of the tables was missing".into());
        }
        return fresh_tables(dir, files_max);
    }
    match read_tables(dir, files_max) {
        Ok(opened) => Ok(opened),
        Err(error) if !is_damage(&error) => Err(error),
        Err(error) => {
            recovery.tables = TablesRecovery::Rebuilt(error.to_string());
            fresh_tables(dir, files_max)
        }
    }
}

/// Tables that have not seen all of the checkpoint that the journal begins with are made anew: the deeds that they lack are gone,
/// and rows that these deeds removed would stay.
fn not_behind(dir: &Path, opened: Opened, seed: u64, settings: &Settings, recovery: &mut Recovery) -> Result<Opened> {
    let (applied, begins_after) =
        (opened.live.state.position, journal::begins_after(&dir.join(journal::FOLDER), seed)?);
    if applied == 0 || applied >= begins_after {
        return Ok(opened);
    }
    drop(opened);
    let why = format!("they have seen deed {applied}, and the journal begins after deed {begins_after}");
    recovery.tables = TablesRecovery::Rebuilt(why);
    fresh_tables(dir, settings.store_files_max)
}

/// The folder of the known set.
pub(crate) fn sieve_folder(dir: &Path) -> PathBuf {
    dir.join(sieve::FOLDER)
}

/// The tables in `dir` with the state in memory, made if they do not exist.
pub(crate) fn open_tables_in(dir: &Path) -> Result<(Tables, Live)> {
    read_tables(dir, STORE_FILES_MAX).map(|opened| (opened.tables, opened.live))
}

fn read_tables(dir: &Path, files_max: usize) -> Result<Opened> {
    let folder = dir.join(TABLES_FOLDER);
    if folder.exists() {
        closed::check(&folder)?;
    }
    let tables = Tables::open_with(&folder, files_max)?;
    tables.check_waiting()?;
    with_live(dir, tables)
}

fn with_live(dir: &Path, tables: Tables) -> Result<Opened> {
    let state: State = tables.state()?.unwrap_or_default();
    let sites = tables.sites()?;
    let known = KnownSet::open(&dir.join(sieve::FOLDER), state.run_big, state.run_small)?;
    Ok(Opened { tables, live: Live { state, sites, known } })
}

/// Whether an error shows that the tables are damaged. A full disk or a missing permission does not.
pub(crate) fn is_damage(error: &Error) -> bool {
    let damaged = |error: &io::Error| {
        // A process that was killed while making the store left some of its files without the mark that the store exists.
        // Making it again then fails because the files exist.
        let half_made = error.kind() == ErrorKind::AlreadyExists;
        half_made || matches!(error.kind(), ErrorKind::NotFound | ErrorKind::UnexpectedEof | ErrorKind::InvalidData)
    };
    match error {
        Error::Row { .. } | Error::CorruptFile { .. } => true,
        Error::Io { source, .. } => damaged(source),
        Error::Tables { source, .. } => match source {
            fjall::Error::Io(error) | fjall::Error::Storage(fjall::LsmError::Io(error)) => damaged(error),
            fjall::Error::Locked | fjall::Error::Poisoned => false,
            _ => true,
        },
        _ => false,
    }
}

/// Whether an error that a read met shows that the tables or the known set are damaged.
pub(crate) fn is_damage_of_tables(error: &Error) -> bool {
    match error {
        Error::Row { .. } | Error::Tables { .. } => is_damage(error),
        Error::CorruptFile { path, .. } => {
            path.components().any(|part| part.as_os_str() == TABLES_FOLDER || part.as_os_str() == sieve::FOLDER)
        }
        _ => false,
    }
}

fn fresh_tables(dir: &Path, files_max: usize) -> Result<Opened> {
    let folder = dir.join(TABLES_FOLDER);
    if folder.exists() {
        fs::remove_dir_all(&folder).map_err(Error::io("remove", &folder))?;
    }
    sieve::remove_orphans(&dir.join(sieve::FOLDER), (0, 0))?;
    let opened = read_tables(dir, files_max)?;
    sync_folder(dir)?;
    Ok(opened)
}

fn tables_in_memory(dir: &Path) -> Result<Opened> {
    sieve::remove_orphans(&dir.join(sieve::FOLDER), (0, 0))?;
    with_live(dir, Tables::in_memory()?)
}

/// Applies the rest of the journal to the tables.
fn replay(shared: &Shared, seed: u64, recovery: &mut Recovery) -> Result<(Tail, Obsolete)> {
    let applied = shared.live().state.position;
    let mut obsolete = Obsolete::default();
    let mut take = |frame: Frame| -> Result<()> {
        recovery.groups_replayed += 1;
        recovery.deeds_replayed += frame.entries.len() as u64;
        let entries = frame.entries.iter().map(|(partition, sequence, deed)| (*partition, *sequence, deed));
        let group = Group { moment: frame.moment, first: frame.first, entries: entries.collect(), written: None };
        obsolete.append(apply(shared, &group)?);
        Ok(())
    };
    let tail = journal::replay(&shared.dir.join(journal::FOLDER), seed, applied, &mut take)?;
    Ok((tail, obsolete))
}

/// The error for a journal that ends before the tables. The journal is synced before the tables, so only damage can cause
/// this. Going on would cut acknowledged bodies, so a person must decide.
fn journal_is_short(folder: &Path, tail: &Tail, applied: u64) -> Error {
    let what = format!(
        "it ends after deed {}, and the tables have seen {applied}; `vernal verify --repair` mends it from the tables",
        tail.next - 1
    );
    let (number, offset) = tail.file.unwrap_or((tail.next_file, 0));
    Error::CorruptFile { what, path: journal::file_path(folder, number), offset }
}

fn warc_info(settings: Settings, id: u128) -> WarcInfo {
    bodies::WarcInfo {
        software: settings.software,
        operator: settings.operator,
        contact: settings.contact,
        user_agent: settings.user_agent,
        robots: settings.robots,
        repository: id,
    }
}
