//! Mends a journal that lost deeds while the tables still have what those deeds did.
//!
//! ```text
//! DIR/journal.mended   the new journal while it is written: a checkpoint of the tables
//! ```
//!
//! The damaged journal stays where it is until the new one is whole and synced. Then it moves to `DIR/damaged-…/journal`. If a
//! process ends between the two renames, the next opening does the second one.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use vernal_model::Moment;

use crate::bodies::{End, whole_end};
use crate::folder::{self, make_folder, sync_folder};
use crate::journal::{self, Checkpoint, Contains, Frame};
use crate::recover::{TABLES_FOLDER, is_damage, open_tables_in};
use crate::repair::unused_name;
use crate::repository::Repository;
use crate::tables::{Group, Restatement, Shared, apply, dump};
use crate::{Error, Result};

pub(crate) const FOLDER: &str = "journal.mended";

/// What a journal was mended from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mended {
    /// Where the damaged journal is now.
    pub folder: PathBuf,
    /// The faults of the damaged journal.
    pub faults: Vec<String>,
    /// Deeds that no frame holds any more. The tables have what they did.
    pub deeds_lost: u64,
    /// Deeds behind those that the tables had seen, taken from the frames that can be read.
    pub deeds_taken: u64,
    /// The last deed that the tables have seen.
    pub position: u64,
}

impl Repository {
    /// Writes the journal of `dir` anew from the tables and the frames that can be read. `None` where the tables cannot be
    /// read either, or never saw the deeds that were lost: then only the segments help.
    pub fn mend_journal(dir: &Path, now: Moment) -> Result<Option<Mended>> {
        let lock = folder::lock(dir)?;
        let seed = folder::format(dir, None)?.0.seed();
        if !dir.join(TABLES_FOLDER).exists() {
            return Ok(None);
        }
        let (tables, live) = match open_tables_in(dir) {
            Err(error) if is_damage(&error) => return Ok(None),
            opened => opened?,
        };
        let shared = Shared::new(dir, tables, live, lock);
        let position = shared.live().state.position;
        match dump(&shared, &mut io::sink()) {
            Err(error) if is_damage(&error) => return Ok(None),
            _ if position == 0 => return Ok(None),
            read => read?,
        }
        let mut mended = Mended { position, ..Mended::default() };
        let Some(end) = take_readable(&shared, seed, &mut mended)? else { return Ok(None) };
        write(&shared, seed, end.max(whole_end(dir)?))?;
        shared.tables.persist()?;
        mended.folder = swap(dir, now)?;
        Ok(Some(mended))
    }
}

/// Applies the frames behind those that the tables have seen. `None` where deeds between them are lost.
fn take_readable(shared: &Shared, seed: u64, mended: &mut Mended) -> Result<Option<End>> {
    let (mut end, mut seen, mut has_gap) = (End::default(), 0, false);
    let mut take = |frame: Frame| -> Result<()> {
        end = end.max(frame.end);
        let deeds = frame.entries.len() as u64;
        let position = shared.live().state.position;
        if frame.restated().is_some() {
            // The deeds before a checkpoint were not lost: the tables contain them.
            seen = frame.first;
            has_gap |= frame.first > position;
            return Ok(());
        }
        has_gap |= frame.first > position + 1;
        if has_gap {
            return Ok(());
        }
        if frame.first > position {
            let entries = frame.entries.iter().map(|(partition, sequence, deed)| (*partition, *sequence, deed));
            let group = Group { moment: frame.moment, first: frame.first, entries: entries.collect(), written: None };
            apply(shared, &group)?;
            mended.deeds_taken += deeds;
        } else {
            seen += deeds;
        }
        Ok(())
    };
    let folder = shared.dir.join(journal::FOLDER);
    let report = journal::walk(&folder, seed, &mut |_, _| {}, &mut take)?;
    mended.faults = report.faults;
    mended.deeds_lost = mended.position.saturating_sub(seen);
    mended.position = shared.live().state.position;
    Ok((!has_gap).then_some(end))
}

/// Writes a journal that begins with a checkpoint of the tables.
fn write(shared: &Shared, seed: u64, end: End) -> Result<()> {
    let folder = shared.dir.join(FOLDER);
    // Without the old journal, an opening after a crash would take a half-written one for whole.
    make_folder(&shared.dir.join(journal::FOLDER))?;
    if folder.exists() {
        fs::remove_dir_all(&folder).map_err(Error::io("remove", &folder))?;
    }
    make_folder(&folder)?;
    let contains = {
        let state = &shared.live().state;
        Contains { position: state.position, moment: state.moment, end }
    };
    let mut checkpoint = Checkpoint::begin_journal(&folder, seed, contains)?;
    let mut restatement = Restatement::begin(shared, &mut |part| checkpoint.append(part))?;
    while let Some(part) = restatement.next()? {
        checkpoint.append(part)?;
    }
    checkpoint.sync()?;
    checkpoint.read_back(u64::MAX).map(drop)
}

fn swap(dir: &Path, now: Moment) -> Result<PathBuf> {
    let journal = dir.join(journal::FOLDER);
    let aside = dir.join(unused_name(dir, now));
    make_folder(&aside)?;
    fs::rename(&journal, aside.join(journal::FOLDER)).map_err(Error::io("move aside", &journal))?;
    finish(dir)?;
    sync_folder(&aside)?;
    Ok(aside)
}

/// Puts a mended journal into its place where the damaged one was moved aside.
pub(crate) fn finish(dir: &Path) -> Result<()> {
    let (mended, journal) = (dir.join(FOLDER), dir.join(journal::FOLDER));
    if journal.exists() || !mended.exists() {
        return Ok(());
    }
    fs::rename(&mended, &journal).map_err(Error::io("put in place", &mended))?;
    sync_folder(dir)
}
