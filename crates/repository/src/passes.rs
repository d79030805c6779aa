//! The progress of passes over the whole repository, kept so that the next process continues them instead of starting over.
//!
//! ```text
//! DIR/passes/NAME                                                   all numbers little-endian
//!
//! file:    magic "VRNLPASS" | position u64 | progress of the pass (postcard) | checksum u64
//! ```
//!
//! The position is that of the last deed that was applied when the file was written. The checksum is XXH3-64 over everything
//! before it. Its seed is made of the name and the version of this program, because the layout of the progress may differ
//! between versions. A file is derived data and may be lost, so it is never synced; a file that is torn, of another version,
//! or ahead of the journal is ignored. A new file is written under another name first, so that a process that is killed
//! leaves the previous one in place.

use std::fs::{self, File};
use std::io::{BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;
use xxhash_rust::xxh3::{Xxh3, xxh3_64_with_seed};

use crate::folder::make_folder;
use crate::{Error, Reader, Repository, Result};

/// The folder with the progress of passes within a repository.
pub(crate) const FOLDER: &str = "passes";
const MAGIC: &[u8; 8] = b"VRNLPASS";
const HEAD_BYTES: usize = 16;
const CHECKSUM_BYTES: usize = 8;
const PIECE_BYTES: usize = 1 << 18;

impl Repository {
    /// Keeps the progress of a pass, in place of what was kept under this name before. The deeds that it counts on have to
    /// be committed already. Nothing is kept where the tables lie in memory: there a pass ends with its process.
    pub fn keep_pass(&self, name: &str, progress: &impl Serialize) -> Result<()> {
        if self.shared.ends_with_process() {
            return Ok(());
        }
        let folder = self.shared.dir.join(FOLDER);
        make_folder(&folder)?;
        let unfinished = folder.join(format!("{name}.new"));
        let file = File::create(&unfinished).map_err(Error::io("make", &unfinished))?;
        let mut writer = BufWriter::with_capacity(PIECE_BYTES, Hashed { file, hash: Xxh3::with_seed(seed(name)) });
        let position = self.shared.live().state.position;
        let mut write = |bytes: &[u8]| writer.write_all(bytes).map_err(Error::io("write", &unfinished));
        write(MAGIC)?;
        write(&position.to_le_bytes())?;
        postcard::to_io(progress, &mut writer).map_err(|why| Error::CorruptFile {
            what: format!("the progress of a pass cannot be written ({why})"),
            path: unfinished.clone(),
            offset: 0,
        })?;
        let hashed = writer.into_inner().map_err(|error| Error::io("write", &unfinished)(error.into_error()))?;
        let Hashed { mut file, hash } = hashed;
        file.write_all(&hash.digest().to_le_bytes()).map_err(Error::io("write", &unfinished))?;
        fs::rename(&unfinished, folder.join(name)).map_err(Error::io("rename", &unfinished))
    }

    /// Removes what was kept of a pass, because the pass has ended or its progress is of no use.
    pub fn forget_pass(&self, name: &str) -> Result<()> {
        remove(&self.shared.dir.join(FOLDER).join(name))
    }
}

impl Reader {
    /// The progress of a pass as it was kept last. `None` when there is none, when it cannot be read, or when it does not
    /// belong to the present state of this repository.
    pub fn kept_pass<T: DeserializeOwned>(&self, name: &str) -> Option<T> {
        let bytes = fs::read(self.dir().join(FOLDER).join(name)).ok()?;
        let (content, checksum) = bytes.split_last_chunk::<CHECKSUM_BYTES>()?;
        let is_whole = content.len() >= HEAD_BYTES
            && content.starts_with(MAGIC)
            && u64::from_le_bytes(*checksum) == xxh3_64_with_seed(content, seed(name));
        let fits = is_whole && position_of(content)? <= self.shared.live().state.position;
        if fits { postcard::from_bytes(&content[HEAD_BYTES..]).ok() } else { None }
    }
}

/// Removes the progress of passes that saw deeds which this repository has not applied. Those deeds were lost, and other
/// deeds will get their positions.
pub(crate) fn remove_those_ahead(folder: &Path, applied: u64) -> Result<()> {
    let Ok(entries) = fs::read_dir(folder) else { return Ok(()) };
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort_unstable();
    for path in paths {
        let mut head = [0; HEAD_BYTES];
        let read = File::open(&path).and_then(|mut file| file.read_exact(&mut head));
        let position = read.ok().filter(|()| head.starts_with(MAGIC)).and_then(|()| position_of(&head));
        if position.is_none_or(|position| position > applied) {
            remove(&path)?;
        }
    }
    Ok(())
}

fn position_of(head: &[u8]) -> Option<u64> {
    head.get(MAGIC.len()..HEAD_BYTES)?.first_chunk::<8>().map(|bytes| u64::from_le_bytes(*bytes))
}

fn seed(name: &str) -> u64 {
    xxh3_64_with_seed(env!("CARGO_PKG_VERSION").as_bytes(), xxh3_64_with_seed(name.as_bytes(), 0))
}

pub(crate) fn remove(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(Error::io("remove", path)(error)),
        _ => Ok(()),
    }
}

/// A file that hashes what is written to it.
struct Hashed {
    file: File,
    hash: Xxh3,
}

impl Write for Hashed {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let written = self.file.write(bytes)?;
        self.hash.update(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.file.flush()
    }
}

#[cfg(test)]
mod tests {
    use vernal_model::Moment;

    use super::*;
    use crate::Settings;

    const PROGRESS: (u32, [f64; 3], &str) = (7, [0.5, -1.0, 3.25], "reckoning");
    type Progress = (u32, [f64; 3], String);

    #[test]
    fn what_was_kept_is_found_again_until_it_is_forgotten() {
        let dir = tempfile::tempdir().unwrap();
        let (repository, _) = Repository::open(dir.path(), Settings::default(), Moment::EPOCH).unwrap();
        let reader = repository.reader();
        assert_eq!(reader.kept_pass::<Progress>("one"), None);
        repository.keep_pass("one", &(1, [0.0; 3], "before")).unwrap();
        repository.keep_pass("one", &PROGRESS).unwrap();
        assert_eq!(reader.kept_pass::<Progress>("one"), Some((7, [0.5, -1.0, 3.25], "reckoning".into())));
        assert_eq!(reader.kept_pass::<Progress>("two"), None);
        repository.forget_pass("one").unwrap();
        repository.forget_pass("one").unwrap();
        assert_eq!(reader.kept_pass::<Progress>("one"), None);
    }

    #[test]
    fn a_file_with_any_byte_changed_cut_or_under_another_name_is_as_good_as_none() {
        let dir = tempfile::tempdir().unwrap();
        let (repository, _) = Repository::open(dir.path(), Settings::default(), Moment::EPOCH).unwrap();
        let reader = repository.reader();
        repository.keep_pass("one", &PROGRESS).unwrap();
        let (path, other) = (dir.path().join(FOLDER).join("one"), dir.path().join(FOLDER).join("two"));
        let good = fs::read(&path).unwrap();
        fs::write(&other, &good).unwrap();
        assert_eq!(reader.kept_pass::<Progress>("two"), None);
        for at in 0..good.len() {
            let mut bad = good.clone();
            bad[at] ^= 1 << (at % 8);
            fs::write(&path, &bad).unwrap();
            assert_eq!(reader.kept_pass::<Progress>("one"), None, "byte {at}");
            fs::write(&path, &good[..at]).unwrap();
            assert_eq!(reader.kept_pass::<Progress>("one"), None, "cut to {at}");
        }
    }

    #[test]
    fn what_saw_deeds_that_were_lost_is_removed() {
        let dir = tempfile::tempdir().unwrap();
        let written = |name: &str, position: u64| {
            let mut bytes = MAGIC.to_vec();
            bytes.extend_from_slice(&position.to_le_bytes());
            fs::write(dir.path().join(name), bytes).unwrap();
        };
        written("behind", 5);
        written("ahead", 6);
        fs::write(dir.path().join("torn.new"), "VRNL").unwrap();
        remove_those_ahead(dir.path(), 5).unwrap();
        assert!(dir.path().join("behind").exists());
        assert!(!dir.path().join("ahead").exists() && !dir.path().join("torn.new").exists());
    }
}
