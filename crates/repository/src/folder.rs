//! The folder of a repository: its FORMAT file and its lock.
//!
//! ```text
//! DIR/FORMAT, and the same in DIR/FORMAT.copy:
//!   vernal-repository 9
//!   partitions 64
//!   suffixes psl-2
//!   id 0123456789abcdef0123456789abcdef
//!   sum 0123456789abcdef                   XXH3-64 of the lines before; older folders have none
//! ```
//!
//! Without the id no frame of the journal can be checked, so the file has a second copy. Whichever is whole mends the other.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::hash::{BuildHasher, RandomState};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;

use vernal_model::Partition;
use xxhash_rust::xxh3::xxh3_64;

pub(crate) use crate::bodies::sync_folder;
use crate::{Error, Result};

const FORMAT_FILE: &str = "FORMAT";
const COPY_FILE: &str = "FORMAT.copy";
/// FORMAT and its copy.
pub(crate) const FORMAT_FILES: [&str; 2] = [FORMAT_FILE, COPY_FILE];
pub(crate) const LOCK_FILE: &str = "lock";
/// The files that a copy of a repository needs.
pub(crate) const COPIED_FILES: [&str; 3] = [FORMAT_FILE, COPY_FILE, crate::repair::MARK_FILE];
const ID_DIGITS: usize = 32;
const SUM: &str = "sum ";
const NAME: &str = "vernal-repository";
const FORMAT: u32 = 9;
/// The oldest format that is read. Later formats added deeds and tables, packed the waiting URLs and gave the rows of noise another
/// layout, so tables of format 4 and before are rebuilt from the journal. Formats 6 to 9 added deeds and tables alone, and parts
/// behind rows, so tables of format 5 are used as they are.
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

/// The id of the repository in this folder.
pub(crate) fn id(dir: &Path) -> Result<u128> {
    let text = format_text(dir)?.unwrap_or_default();
    Ok(read_format(dir, &text)?.id)
}

/// Whether a repository was made in this folder.
pub fn has_format(dir: &Path) -> bool {
    dir.join(FORMAT_FILE).exists() || dir.join(COPY_FILE).exists()
}

/// Reads FORMAT, or writes it into a folder that has none. Also tells whether one of its copies was damaged and is mended now.
/// A readable older format is raised to ours, because the Vernal that made the folder could not read what we write into it.
pub(crate) fn format(dir: &Path, id: Option<u128>) -> Result<(Format, bool)> {
    let Some(text) = format_text(dir)? else { return Ok((begin_format(dir, id)?, false)) };
    let format = read_format(dir, &text)?;
    let ours = text_of(format.id);
    let copies = [FORMAT_FILE, COPY_FILE].map(|name| fs::read(dir.join(name)).ok());
    if copies.iter().all(|copy| copy.as_deref() == Some(ours.as_bytes())) {
        return Ok((format, false));
    }
    write_format(dir, format.id)?;
    // An older Vernal wrote neither the sum nor the copy.
    let was_whole = sum_of(&text).is_none();
    Ok((Format { number: FORMAT, ..format }, !was_whole))
}

/// Reads FORMAT without writing.
pub(crate) fn known_format(dir: &Path) -> Result<Format> {
    let text = format_text(dir)?;
    let missing = || Error::io("read", &dir.join(FORMAT_FILE))(ErrorKind::NotFound.into());
    read_format(dir, &text.ok_or_else(missing)?)
}

/// The text of FORMAT, or that of its copy where FORMAT is lost or damaged; `None` where there is neither.
fn format_text(dir: &Path) -> Result<Option<String>> {
    let read = |name: &str| -> Result<Option<String>> {
        let path = dir.join(name);
        match fs::read(&path) {
            Ok(bytes) => Ok(Some(String::from_utf8_lossy(&bytes).into_owned())),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(Error::io("read", &path)(error)),
        }
    };
    let is_whole = |text: &String| sum_of(text) == Some(true);
    let (first, copy) = (read(FORMAT_FILE)?, read(COPY_FILE)?);
    // A Vernal that writes no sum, be it older or newer, is taken at its word.
    let is_plain =
        |text: &String| sum_of(text).is_none() && !matches!(read_format(dir, text), Err(Error::NotOurs { .. }));
    if first.as_ref().is_some_and(|text| is_whole(text) || is_plain(text)) {
        return Ok(first);
    }
    Ok(copy.filter(is_whole).or(first))
}

/// Whether the text has the sum that it names; `None` where it names none.
fn sum_of(text: &str) -> Option<bool> {
    let at = text.rfind(SUM).filter(|at| *at == 0 || text.as_bytes()[at - 1] == b'\n')?;
    Some(text[at + SUM.len()..].trim_end() == format!("{:016x}", xxh3_64(&text.as_bytes()[..at])))
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
        Ok(_) => return Err(Error::NewerFormat { dir: dir.to_owned(), found, ours }),
        Err(_) => return Err(not_ours(format!("its {FORMAT_FILE} names no number"))),
    };
    let partitions = value("partitions").unwrap_or("none");
    if partitions.trim() != Partition::COUNT.to_string() {
        return Err(not_ours(format!("it has {partitions} partitions, not {}", Partition::COUNT)));
    }
    let id = value("id").filter(|id| id.trim().len() == ID_DIGITS);
    let id = id.and_then(|id| u128::from_str_radix(id.trim(), 16).ok());
    Ok(Format { number, id: id.ok_or_else(|| not_ours(format!("its {FORMAT_FILE} has no id")))? })
}

fn begin_format(dir: &Path, id: Option<u128>) -> Result<Format> {
    if dir.join(crate::journal::FOLDER).exists() {
        let why = format!("it has a journal and no {FORMAT_FILE}");
        return Err(Error::NotOurs { dir: dir.to_owned(), why });
    }
    write_format(dir, id.unwrap_or_else(random_id))
}

fn text_of(id: u128) -> String {
    let text = format!("{NAME} {FORMAT}\npartitions {}\nsuffixes {SUFFIXES}\nid {id:032x}\n", Partition::COUNT);
    let sum = xxh3_64(text.as_bytes());
    format!("{text}{SUM}{sum:016x}\n")
}

fn write_format(dir: &Path, id: u128) -> Result<Format> {
    let text = text_of(id);
    for name in [FORMAT_FILE, COPY_FILE] {
        let (path, fresh) = (dir.join(name), dir.join("FORMAT.new"));
        let mut file = File::create(&fresh).map_err(Error::io("make", &fresh))?;
        file.write_all(text.as_bytes()).map_err(Error::io("write", &fresh))?;
        file.sync_all().map_err(Error::io("sync", &fresh))?;
        fs::rename(&fresh, &path).map_err(Error::io("make", &path))?;
        sync_folder(dir)?;
    }
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
        let (made, _) = format(dir.path(), None).unwrap();
        assert_eq!(format(dir.path(), None).unwrap(), (made.clone(), false));
        let text = fs::read_to_string(dir.path().join(FORMAT_FILE)).unwrap();
        let older = text.replace("vernal-repository 9", "vernal-repository 2");
        fs::write(dir.path().join(FORMAT_FILE), &older[..older.find(SUM).unwrap()]).unwrap();
        assert_eq!(format(dir.path(), None).unwrap(), (made, false), "the format before is read");
        assert_eq!(fs::read_to_string(dir.path().join(FORMAT_FILE)).unwrap(), text, "and is ours from then on");
        fs::write(dir.path().join(FORMAT_FILE), "vernal-repository 10\npartitions 64\n").unwrap();
        let refused = format(dir.path(), None).unwrap_err();
        assert!(matches!(refused, Error::NewerFormat { .. }));
        assert!(refused.to_string().contains("vernal-repository 10"), "{refused}");
        fs::write(dir.path().join(FORMAT_FILE), "vernal-repository 1\npartitions 64\n").unwrap();
        let refused = format(dir.path(), None).unwrap_err();
        assert!(matches!(refused, Error::OlderFormat { .. }));
        let told = refused.to_string();
        assert!(told.contains("vernal-repository 1") && told.contains("vernal verify --repair"), "{told}");
        fs::remove_file(dir.path().join(COPY_FILE)).unwrap();
        fs::write(dir.path().join(FORMAT_FILE), "something else\n").unwrap();
        assert!(matches!(format(dir.path(), None), Err(Error::NotOurs { .. })));
    }

    #[test]
    fn any_damage_of_one_copy_is_mended_by_the_other() {
        let dir = tempfile::tempdir().unwrap();
        let (made, _) = format(dir.path(), None).unwrap();
        let good = fs::read(dir.path().join(FORMAT_FILE)).unwrap();
        for name in [FORMAT_FILE, COPY_FILE] {
            let path = dir.path().join(name);
            let check = |what: &str| {
                assert_eq!(known_format(dir.path()).unwrap(), made, "{name}: {what}");
                assert_eq!(format(dir.path(), None).unwrap().0, made, "{name}: {what}");
                assert_eq!(fs::read(&path).unwrap(), good, "{name}: {what}");
            };
            for at in 0..good.len() {
                for bit in 0..8 {
                    let mut bad = good.clone();
                    bad[at] ^= 1 << bit;
                    fs::write(&path, &bad).unwrap();
                    check(&format!("bit {bit} of byte {at}"));
                }
                fs::write(&path, &good[..at]).unwrap();
                check(&format!("cut to {at}"));
            }
            fs::remove_file(&path).unwrap();
            assert!(has_format(dir.path()));
            check("removed");
        }
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
