//! The files of the journal: their names, their heads, and making a new one.

use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use super::frame::{array, checksum};
use crate::folder::sync_folder;
use crate::{Error, Result};

const MAGIC: &[u8; 8] = b"VRNLJRNL";
const FORMAT: u32 = 2;
/// The format of a file that begins with restated rows, so that nothing is missing before it.
const FORMAT_RESTATED: u32 = 3;
pub(super) const HEAD_BYTES: usize = 32;
const SUFFIX: &str = ".log";

pub(crate) fn path(folder: &Path, number: u32) -> PathBuf {
    folder.join(format!("{number:08}{SUFFIX}"))
}

/// The numbers of the files, in order. A gap is an error.
pub(super) fn numbers(folder: &Path) -> Result<Vec<u32>> {
    let numbers = listed(folder)?;
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

/// What the head of a file says.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) struct FileHead {
    /// The position of the first deed.
    pub first: u64,
    /// Whether a journal begins here, with the rows of the tables in place of earlier deeds.
    pub restated: bool,
}

/// Makes the file `number` with this head. It is durable when this returns.
pub(super) fn create(folder: &Path, number: u32, begins: FileHead, seed: u64) -> Result<File> {
    let path = path(folder, number);
    // A file with this name can only be an unfinished one without a frame.
    let file = OpenOptions::new().read(true).write(true).create(true).truncate(true).open(&path);
    let file = file.map_err(Error::io("make", &path))?;
    file.write_all_at(&head(number, begins, seed), 0).map_err(Error::io("write the head of", &path))?;
    file.sync_all().map_err(Error::io("sync", &path))?;
    sync_folder(folder)?;
    Ok(file)
}

fn head(number: u32, begins: FileHead, seed: u64) -> [u8; HEAD_BYTES] {
    let mut head = [0; HEAD_BYTES];
    head[..8].copy_from_slice(MAGIC);
    let format = if begins.restated { FORMAT_RESTATED } else { FORMAT };
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
    if format != FORMAT && format != FORMAT_RESTATED {
        return Err(format!("its format is {format}, this Vernal reads {FORMAT} and {FORMAT_RESTATED}"));
    }
    if checksum(seed, &head[..24], &[]) != u64::from_le_bytes(array(&head[24..])) {
        return Err("the checksum of its head is wrong".into());
    }
    let written = u32::from_le_bytes(array(&head[12..16]));
    if written != number {
        return Err(format!("it was written as file {written}"));
    }
    let first = u64::from_le_bytes(array(&head[16..24]));
    Ok(FileHead { first, restated: format == FORMAT_RESTATED })
}
