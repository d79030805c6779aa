//! The files of the journal: their names, their heads, and making a new one.

use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use super::frame::{array, checksum};
use crate::folder::sync_folder;
use crate::{Error, Result};

const MAGIC: &[u8; 8] = b"VRNLJRNL";
const FORMAT: u32 = 2;
/// The format of a checkpoint: the rows of the tables, in place of all deeds up to a position.
const FORMAT_CHECKPOINT: u32 = 3;
pub(super) const HEAD_BYTES: usize = 32;
const SUFFIX: &str = ".log";

pub(crate) fn path(folder: &Path, number: u32) -> PathBuf {
    folder.join(format!("{number:08}{SUFFIX}"))
}

/// The numbers of the files from the last checkpoint on, in order. A gap is an error.
pub(super) fn numbers(folder: &Path, seed: u64) -> Result<Vec<u32>> {
    let (numbers, _) = in_force(folder, seed)?;
    let gap = numbers.windows(2).find(|pair| pair[0] + 1 != pair[1]);
    if let Some(pair) = gap {
        let what = "the journal file before it is missing".into();
        return Err(Error::CorruptFile { what, path: path(folder, pair[1]), offset: 0 });
    }
    Ok(numbers)
}

/// The numbers of the existing files, in order, with any gaps.
pub(super) fn listed(folder: &Path) -> Result<Vec<u32>> {
    let mut numbers = Vec::new();
    for entry in fs::read_dir(folder).map_err(Error::io("list", folder))? {
        let name = entry.map_err(Error::io("list", folder))?.file_name();
        let number: Option<u32> = name.to_str().and_then(|name| name.strip_suffix(SUFFIX)?.parse().ok());
        numbers.extend(number);
    }
    numbers.sort_unstable();
    Ok(numbers)
}

/// The numbers of the files from the last checkpoint on, and of those that it replaced, which a crash may leave behind.
pub(super) fn in_force(folder: &Path, seed: u64) -> Result<(Vec<u32>, Vec<u32>)> {
    let mut replaced = listed(folder)?;
    for place in (1..replaced.len()).rev() {
        if head_of(folder, replaced[place], seed)?.is_some_and(|head| head.checkpoint) {
            let numbers = replaced.split_off(place);
            return Ok((numbers, replaced));
        }
    }
    Ok((replaced, Vec::new()))
}

/// The head of a file; `None` where it cannot be read.
pub(super) fn head_of(folder: &Path, number: u32, seed: u64) -> Result<Option<FileHead>> {
    let path = path(folder, number);
    let file = File::open(&path).map_err(Error::io("open", &path))?;
    let mut head = [0; HEAD_BYTES];
    match file.read_exact_at(&mut head, 0) {
        Ok(()) => Ok(read_head(&head, number, seed).ok()),
        Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => Ok(None),
        Err(error) => Err(Error::io("read", &path)(error)),
    }
}

/// What the head of a file says.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) struct FileHead {
    /// The position of the first deed; of a checkpoint, that of the last deed that its rows contain.
    pub first: u64,
    pub checkpoint: bool,
}

/// Makes the file `number` of the log with its head. It is durable when this returns.
pub(super) fn create(folder: &Path, number: u32, first: u64, seed: u64) -> Result<File> {
    // A file with this name can only be an unfinished one without a frame.
    create_at(&path(folder, number), number, FileHead { first, checkpoint: false }, seed)
}

/// Makes a file with this head.
pub(super) fn create_at(path: &Path, number: u32, begins: FileHead, seed: u64) -> Result<File> {
    let file = OpenOptions::new().read(true).write(true).create(true).truncate(true).open(path);
    let file = file.map_err(Error::io("make", path))?;
    file.write_all_at(&head(number, begins, seed), 0).map_err(Error::io("write the head of", path))?;
    file.sync_all().map_err(Error::io("sync", path))?;
    path.parent().map_or(Ok(()), sync_folder)?;
    Ok(file)
}

fn head(number: u32, begins: FileHead, seed: u64) -> [u8; HEAD_BYTES] {
    let mut head = [0; HEAD_BYTES];
    head[..8].copy_from_slice(MAGIC);
    let format = if begins.checkpoint { FORMAT_CHECKPOINT } else { FORMAT };
    head[8..12].copy_from_slice(&format.to_le_bytes());
    head[12..16].copy_from_slice(&number.to_le_bytes());
    head[16..24].copy_from_slice(&begins.first.to_le_bytes());
    let sum = checksum(seed, &head[..24], &[]);
    head[24..].copy_from_slice(&sum.to_le_bytes());
    head
}

/// Reads the head of a file. The error says what is wrong with it.
pub(super) fn read_head(head: &[u8; HEAD_BYTES], number: u32, seed: u64) -> std::result::Result<FileHead, String> {
    if head[..8] != *MAGIC {
        return Err("this is no journal file".into());
    }
    let format = u32::from_le_bytes(array(&head[8..12]));
    if format != FORMAT && format != FORMAT_CHECKPOINT {
        return Err(format!("its format is {format}, this Vernal reads {FORMAT} and {FORMAT_CHECKPOINT}"));
    }
    if checksum(seed, &head[..24], &[]) != u64::from_le_bytes(array(&head[24..])) {
        return Err("the checksum of its head is wrong".into());
    }
    let written = u32::from_le_bytes(array(&head[12..16]));
    if written != number {
        return Err(format!("it was written as file {written}"));
    }
    let first = u64::from_le_bytes(array(&head[16..24]));
    Ok(FileHead { first, checkpoint: format == FORMAT_CHECKPOINT })
}
