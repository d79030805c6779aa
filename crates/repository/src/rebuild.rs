//! Checks that the tables are the deeds applied: applies the journal to an empty second store and compares the two.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write};
use std::path::Path;

use xxhash_rust::xxh3::Xxh3;

use crate::folder::{self, make_folder};
use crate::journal::{self, Frame};
use crate::reader::Reader;
use crate::recover::{open_tables_in, sieve_folder};
use crate::tables::{Group, Shared, apply, dump};
use crate::{Error, Result};

/// The folder of the second store while it is needed.
const REBUILT_FOLDER: &str = "rebuilt";

/// The result of comparing the tables with the journal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TablesReport {
    /// Deeds that were applied to the second store.
    pub deeds: u64,
    /// Rows that were compared.
    pub rows: u64,
    /// One line for each table that differs.
    pub faults: Vec<String>,
}

/// Applies the whole journal to an empty store in `DIR/rebuilt`, compares every table with it, and removes it again. It
/// needs as much disk space as the tables. Nothing may be written meanwhile.
pub fn compare_tables(reader: &Reader, progress: &mut dyn FnMut(u64, u64)) -> Result<TablesReport> {
    let beside = reader.dir().join(REBUILT_FOLDER);
    remove(&beside)?;
    let compared = rebuild(reader.dir(), &beside, progress).and_then(|(rebuilt, deeds)| {
        let (ours, theirs) = (marks(&reader.shared)?, marks(&rebuilt)?);
        Ok(TablesReport { deeds, rows: ours.rows(), faults: ours.differences(&theirs) })
    });
    remove(&beside)?;
    compared
}

/// To be called with an error that a read met. Damaged tables are a cache: they are made anew at the next opening. Returns
/// whether the error was of this kind.
pub fn note_damage(reader: &Reader, error: &Error) -> bool {
    reader.shared.distrust(error)
}

fn remove(folder: &Path) -> Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(Error::io("remove", folder)(error)),
        _ => Ok(()),
    }
}

fn rebuild(dir: &Path, beside: &Path, progress: &mut dyn FnMut(u64, u64)) -> Result<(Shared, u64)> {
    let seed = folder::known_format(dir)?.seed();
    make_folder(&sieve_folder(beside))?;
    let lock = folder::lock(beside)?;
    let (tables, live) = open_tables_in(beside)?;
    let shared = Shared::new(beside, tables, live, lock);
    let mut deeds = 0;
    let mut take = |frame: Frame| -> Result<()> {
        deeds += frame.entries.len() as u64;
        let entries = frame.entries.iter().map(|(partition, sequence, deed)| (*partition, *sequence, deed));
        let group = Group { moment: frame.moment, first: frame.first, entries: entries.collect(), written: None };
        let obsolete = apply(&shared, &group)?;
        // This store is never replayed, so nothing has to wait for a sync.
        obsolete.runs.iter().try_for_each(|path| fs::remove_file(path).map_err(Error::io("remove", path)))
    };
    journal::walk(&dir.join(journal::FOLDER), seed, progress, &mut take)?;
    Ok((shared, deeds))
}

/// Count and checksum of each table, computed from its dump line by line.
#[derive(Default)]
struct TableChecksums {
    line: Vec<u8>,
    tables: BTreeMap<String, (u64, Xxh3)>,
}

fn marks(shared: &Shared) -> Result<TableChecksums> {
    let mut marks = TableChecksums::default();
    dump(shared, &mut marks)?;
    Ok(marks)
}

impl TableChecksums {
    fn rows(&self) -> u64 {
        self.tables.values().map(|(rows, _)| rows).sum()
    }

    fn differences(&self, rebuilt: &TableChecksums) -> Vec<String> {
        let mut names: Vec<&String> = self.tables.keys().chain(rebuilt.tables.keys()).collect();
        names.sort_unstable();
        names.dedup();
        let of = |marks: &TableChecksums, name: &String| {
            marks.tables.get(name).map_or((0, 0), |(rows, hash)| (*rows, hash.digest()))
        };
        let told = |name: &String| {
            let (ours, theirs) = (of(self, name), of(rebuilt, name));
            let line = || match ours.0 == theirs.0 {
                true => format!("table {name}: some of its {} rows are not what the journal gives", ours.0),
                false => format!("table {name}: it has {} rows, and the journal gives {}", ours.0, theirs.0),
            };
            (ours != theirs).then(line)
        };
        names.into_iter().filter_map(told).collect()
    }

    fn take_line(&mut self) {
        let name = self.line.split(|&byte| byte == b'\t').next().unwrap_or_default();
        let (rows, hash) = self.tables.entry(String::from_utf8_lossy(name).into_owned()).or_default();
        *rows += 1;
        hash.update(&self.line);
        self.line.clear();
    }
}

impl Write for TableChecksums {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for part in bytes.split_inclusive(|&byte| byte == b'\n') {
            self.line.extend_from_slice(part);
            if part.ends_with(b"\n") {
                self.take_line();
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
