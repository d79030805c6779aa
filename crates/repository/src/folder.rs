//! The folder of a repository: its FORMAT file and its lock.
//!
//! ```text
//! DIR/FORMAT:
//!   vernal-repository 5
//!   partitions 64
//!   suffixes psl-2
//!   id 0123456789abcdef0123456789abcdef
//! ```

use std::fs::{self, File, OpenOptions, TryLockError};
use std::hash::{BuildHasher, RandomState};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;

use vernal_model::Partition;

pub(crate) use crate::bodies::sync_folder;
use crate::{Error, Result};

const FORMAT_FILE: &str = "FORMAT";
const LOCK_FILE: &str = "lock";
const NAME: &str = "vernal-repository";
const FORMAT: u32 = 5;
/// The oldest format that is read. Later formats added deeds and tables, packed the waiting URLs and gave the rows of noise another
/// layout, so tables of format 4 and before are rebuilt from the journal.
const FORMAT_READ_MIN: u32 = 2;
/// The public-suffix list that decides partitions. Known sites keep their partition, whatever a newer list says.
const SUFFIXES: &str = "psl-2";

/// What FORMAT says of a repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Format {
    number: u32,
    /// A random number given when the repository was made.
    pub id: u128,
}

impl Format {
    /// Seeds the checksums of the journal.
    pub fn seed(&self) -> u64 {
        (self.id >> 64) as u64 ^ self.id as u64
    }
}

const FOLDER_MODE: u32 = 0o700;

/// Makes a folder with its parents. It is durable when this returns.
pub(crate) fn make_folder(folder: &Path) -> Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    let parent = folder.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    make_folder(parent)?;
    // What is crawled may be private: the folder is for its owner alone, unless a person opens it.
    match fs::DirBuilder::new().mode(FOLDER_MODE).create(folder) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => Err(Error::io("make", folder)(error)),
        _ => sync_folder(parent),
    }
}

/// Locks the folder for this process, or names the process that holds it. The lock ends with the file handle, even when the
/// process is killed.
pub(crate) fn lock(dir: &Path) -> Result<File> {
    let path = dir.join(LOCK_FILE);
    let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path);
    let mut file = file.map_err(Error::io("open", &path))?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            let mut process = String::new();
            let _ = file.read_to_string(&mut process);
            return Err(Error::Held { dir: dir.to_owned(), process: process.trim().to_owned() });
        }
        Err(TryLockError::Error(error)) => return Err(Error::io("lock", &path)(error)),
    }
    file.set_len(0).map_err(Error::io("write", &path))?;
    writeln!(file, "{}", std::process::id()).map_err(Error::io("write", &path))?;
    Ok(file)
}

/// Reads FORMAT, or writes it into a folder that has none. A readable older format is raised to ours, because the Vernal that
/// made the folder could not read what we write into it.
pub(crate) fn format(dir: &Path, id: Option<u128>) -> Result<Format> {
    let path = dir.join(FORMAT_FILE);
    match fs::read_to_string(&path) {
        Ok(text) => {
            let format = read_format(dir, &text)?;
            if format.number < FORMAT {
                write_format(dir, format.id)?;
            }
            Ok(Format { number: FORMAT, ..format })
        }
        Err(error) if error.kind() == ErrorKind::NotFound => begin_format(dir, id),
        Err(error) => Err(Error::io("read", &path)(error)),
    }
}

/// Reads FORMAT without writing.
pub(crate) fn known_format(dir: &Path) -> Result<Format> {
    let path = dir.join(FORMAT_FILE);
    let text = fs::read_to_string(&path).map_err(Error::io("read", &path))?;
    read_format(dir, &text)
}

/// Moves the FORMAT of an older Vernal aside, so that a repair can begin a folder of our own format around its segments.
pub(crate) fn put_older_format_aside(dir: &Path, aside: &Path) -> Result<()> {
    let path = dir.join(FORMAT_FILE);
    match known_format(dir) {
        Err(Error::OlderFormat { .. }) => {
            fs::rename(&path, aside.join(FORMAT_FILE)).map_err(Error::io("move aside", &path))
        }
        _ => Ok(()),
    }
}

fn read_format(dir: &Path, text: &str) -> Result<Format> {
    let value = |name: &str| {
        text.lines().find_map(|line| line.split_once(' ').filter(|(first, _)| *first == name).map(|(_, rest)| rest))
    };
    let not_ours = |why: String| Error::NotOurs { dir: dir.to_owned(), why };
    let number = value(NAME).ok_or_else(|| not_ours(format!("its {FORMAT_FILE} does not name {NAME}")))?;
    let (found, ours) = (format!("{NAME} {number}"), format!("{NAME} {FORMAT}"));
    let number = match number.trim().parse::<u32>() {
        Ok(number @ FORMAT_READ_MIN..=FORMAT) => number,
        Ok(number) if number < FORMAT => return Err(Error::OlderFormat { dir: dir.to_owned(), found, ours }),
        _ => return Err(Error::NewerFormat { dir: dir.to_owned(), found, ours }),
    };
    let partitions = value("partitions").unwrap_or("none");
    if partitions.trim() != Partition::COUNT.to_string() {
        return Err(not_ours(format!("it has {partitions} partitions, not {}", Partition::COUNT)));
    }
    let id = value("id").and_then(|id| u128::from_str_radix(id.trim(), 16).ok());
    Ok(Format { number, id: id.ok_or_else(|| not_ours(format!("its {FORMAT_FILE} has no id")))? })
}

fn begin_format(dir: &Path, id: Option<u128>) -> Result<Format> {
    if dir.join(crate::journal::FOLDER).exists() {
        let why = format!("it has a journal and no {FORMAT_FILE}");
        return Err(Error::NotOurs { dir: dir.to_owned(), why });
    }
    write_format(dir, id.unwrap_or_else(random_id))
}

fn write_format(dir: &Path, id: u128) -> Result<Format> {
    let text = format!("{NAME} {FORMAT}\npartitions {}\nsuffixes {SUFFIXES}\nid {id:032x}\n", Partition::COUNT);
    let (path, fresh) = (dir.join(FORMAT_FILE), dir.join("FORMAT.new"));
    let mut file = File::create(&fresh).map_err(Error::io("make", &fresh))?;
    file.write_all(text.as_bytes()).map_err(Error::io("write", &fresh))?;
    file.sync_all().map_err(Error::io("sync", &fresh))?;
    fs::rename(&fresh, &path).map_err(Error::io("make", &path))?;
    sync_folder(dir)?;
    Ok(Format { number: FORMAT, id })
}

/// A random number that differs between repositories and cannot be guessed. The system seeds `RandomState`.
fn random_id() -> u128 {
    let half = || u128::from(RandomState::new().hash_one(std::process::id()));
    half() << 64 | half()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_keeps_its_format_and_another_one_is_refused_by_name() {
        let dir = tempfile::tempdir().unwrap();
        let made = format(dir.path(), None).unwrap();
        assert_eq!(format(dir.path(), None).unwrap(), made);
        let text = fs::read_to_string(dir.path().join(FORMAT_FILE)).unwrap();
        fs::write(dir.path().join(FORMAT_FILE), text.replace("vernal-repository 5", "vernal-repository 2")).unwrap();
        assert_eq!(format(dir.path(), None).unwrap(), made, "the format before is read");
        assert_eq!(fs::read_to_string(dir.path().join(FORMAT_FILE)).unwrap(), text, "and is ours from then on");
        fs::write(dir.path().join(FORMAT_FILE), "vernal-repository 6\npartitions 64\n").unwrap();
        let refused = format(dir.path(), None).unwrap_err();
        assert!(matches!(refused, Error::NewerFormat { .. }));
        assert!(refused.to_string().contains("vernal-repository 6"), "{refused}");
        fs::write(dir.path().join(FORMAT_FILE), "vernal-repository 1\npartitions 64\n").unwrap();
        let refused = format(dir.path(), None).unwrap_err();
        assert!(matches!(refused, Error::OlderFormat { .. }));
        let told = refused.to_string();
        assert!(told.contains("vernal-repository 1") && told.contains("vernal verify --repair"), "{told}");
        fs::write(dir.path().join(FORMAT_FILE), "something else\n").unwrap();
        assert!(matches!(format(dir.path(), None), Err(Error::NotOurs { .. })));
    }

    #[test]
    fn a_second_holder_is_told_who_the_first_is() {
        let dir = tempfile::tempdir().unwrap();
        let held = lock(dir.path()).unwrap();
        let Err(Error::Held { process, .. }) = lock(dir.path()) else { panic!("locked twice") };
        assert_eq!(process, std::process::id().to_string());
        drop(held);
        lock(dir.path()).unwrap();
    }

    #[test]
    fn parents_are_made_too() {
        let dir = tempfile::tempdir().unwrap();
        let deep = dir.path().join("a/b/c");
        make_folder(&deep).unwrap();
        make_folder(&deep).unwrap();
        assert!(deep.is_dir());
    }
}
