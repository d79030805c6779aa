//! The log of the outbox: frames appended to one file in the data folder, each synced before anything is done because of it.
//!
//! ```text
//! DIR/watch/log
//!   "vernal watch log 1\n"
//!   frame*   length u32 LE · CRC-32 of the payload u32 LE · payload: a JSON array of records
//! ```
//!
//! A frame is whole or it is not there: a torn end is cut off when the log is opened. Once the file is some times larger than
//! what it says, it is written anew as one frame with everything, beside the old one, and takes its place.

use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use vernal_model::Moment;
use vernal_repository::Cursor;

use super::Outbox;
use super::record::Record;
use super::state::State;
use crate::{Error, Result};

const HEAD: &[u8] = b"vernal watch log 1\n";
const FOLDER: &str = "watch";
const FILE: &str = "log";
const FILE_ANEW: &str = "log.new";
const FILE_DAMAGED: &str = "log.damaged";
/// One frame. The largest is that of a log written anew.
const FRAME_BYTES_MAX: u32 = 1 << 30;
/// A log below this is not written anew.
const ANEW_BYTES_MIN: u64 = 4 << 20;
/// A log is written anew once it is so many times what it was then.
const ANEW_FACTOR: u64 = 3;

pub struct Log {
    folder: PathBuf,
    file: File,
    bytes: u64,
    /// Its size when it was written anew.
    whole_bytes: u64,
}

/// A log that was opened, and what was found damaged in it.
pub struct Opened {
    pub outbox: Outbox,
    pub damage: Option<String>,
}

impl Log {
    /// Whether a data folder has one.
    pub fn exists(data: &Path) -> bool {
        data.join(FOLDER).join(FILE).exists()
    }

    /// Opens the log of a data folder, or makes it.
    pub fn open(data: &Path) -> Result<Opened> {
        let folder = data.join(FOLDER);
        let made = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder);
        made.map_err(|source| Error::Io { act: "make", path: folder.clone(), source })?;
        let path = folder.join(FILE);
        let io = |act: &'static str| {
            move |source: std::io::Error, path: &Path| Error::Io { act, path: path.to_owned(), source }
        };
        let opened = OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600).open(&path);
        let mut file = opened.map_err(|source| io("open")(source, &path))?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(|source| io("read")(source, &path))?;
        let mut state = State::default();
        let (good, damage) = match read(&bytes, &mut state) {
            Ok(read) => read,
            Err(what) => return Err(Error::Log { path, what }),
        };
        if damage.is_some() {
            let copy = folder.join(FILE_DAMAGED);
            std::fs::write(&copy, &bytes).map_err(|source| io("write")(source, &copy))?;
        }
        let mut log = Log { folder, file, bytes: good, whole_bytes: good };
        if good == 0 {
            log.cut(0)?;
            log.append(HEAD)?;
            log.sync()?;
            log.sync_folder()?;
        } else {
            log.cut(good)?;
        }
        Ok(Opened { outbox: Outbox { log, state }, damage })
    }

    fn append(&mut self, bytes: &[u8]) -> Result<()> {
        let written = self.file.write_all(bytes);
        match written {
            Ok(()) => {
                self.bytes += bytes.len() as u64;
                Ok(())
            }
            Err(source) => {
                // Half a frame must not stand before the next one.
                self.cut(self.bytes)?;
                Err(self.io("write", source))
            }
        }
    }

    fn cut(&mut self, bytes: u64) -> Result<()> {
        let cut = self.file.set_len(bytes).and_then(|()| self.file.seek(SeekFrom::Start(bytes)));
        cut.map_err(|source| self.io("cut", source))?;
        self.bytes = bytes;
        Ok(())
    }

    fn sync(&self) -> Result<()> {
        self.file.sync_data().map_err(|source| self.io("sync", source))
    }

    fn sync_folder(&self) -> Result<()> {
        let synced = File::open(&self.folder).and_then(|folder| folder.sync_all());
        synced.map_err(|source| self.io("sync", source))
    }

    /// Writes everything as one frame into a new file, which takes the place of the old one.
    fn write_anew(&mut self, state: &State) -> Result<()> {
        let path = self.folder.join(FILE_ANEW);
        let io = |source| Error::Io { act: "write", path: path.clone(), source };
        let bytes = frame(&[Record::Whole(Box::new(state.clone()))])?;
        let opened = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&path);
        let mut file = opened.map_err(io)?;
        let written = file.write_all(HEAD).and_then(|()| file.write_all(&bytes)).and_then(|()| file.sync_all());
        written.map_err(io)?;
        std::fs::rename(&path, self.folder.join(FILE)).map_err(io)?;
        self.file = file;
        self.bytes = (HEAD.len() + bytes.len()) as u64;
        self.whole_bytes = self.bytes;
        self.sync_folder()
    }

    fn is_long(&self) -> bool {
        self.bytes >= ANEW_BYTES_MIN && self.bytes >= self.whole_bytes.saturating_mul(ANEW_FACTOR)
    }

    fn io(&self, act: &'static str, source: std::io::Error) -> Error {
        Error::Io { act, path: self.folder.join(FILE), source }
    }
}

impl Outbox {
    /// Moves the places of watches that found nothing. This costs no sync: after a crash the events before them are read again.
    pub fn pass(&mut self, watches: Vec<String>, upto: Cursor) -> Result<()> {
        let seen = Record::Seen { watches, upto };
        self.log.append(&frame(std::slice::from_ref(&seen))?)?;
        self.state.apply(seen);
        Ok(())
    }

    /// Writes these records as one frame and applies them. Returns when they are on disk.
    pub fn commit(&mut self, records: Vec<Record>, now: Moment) -> Result<()> {
        if records.is_empty() {
            return Ok(());
        }
        let is_erasure = records.iter().any(|record| matches!(record, Record::Forgot { .. }));
        let bytes = frame(&records)?;
        self.log.append(&bytes)?;
        self.log.sync()?;
        records.into_iter().for_each(|record| self.state.apply(record));
        // What was erased must leave the older frames too.
        if is_erasure || self.log.is_long() {
            self.state.trim(now);
            self.log.write_anew(&self.state)?;
        }
        Ok(())
    }
}

fn frame(records: &[Record]) -> Result<Vec<u8>> {
    let payload = serde_json::to_vec(records).map_err(|error| Error::Wrong(format!("write a record: {error}")))?;
    let length = u32::try_from(payload.len()).ok().filter(|length| *length <= FRAME_BYTES_MAX);
    let length = length.ok_or_else(|| Error::wrong("a frame of the watch log is too large"))?;
    let mut bytes = Vec::with_capacity(payload.len() + 8);
    bytes.extend_from_slice(&length.to_le_bytes());
    bytes.extend_from_slice(&crc32fast::hash(&payload).to_le_bytes());
    bytes.extend_from_slice(&payload);
    Ok(bytes)
}

/// Applies all whole frames. Gives the length of what is good, and what is damaged behind it; an end that is only torn is no
/// damage.
fn read(bytes: &[u8], state: &mut State) -> std::result::Result<(u64, Option<String>), String> {
    let Some(mut rest) = bytes.strip_prefix(HEAD) else {
        return match HEAD.starts_with(bytes) {
            true => Ok((0, None)),
            false => Err("this is no watch log, or one of a newer version".into()),
        };
    };
    loop {
        let good = (bytes.len() - rest.len()) as u64;
        if rest.is_empty() {
            return Ok((good, None));
        }
        let Some(head) = rest.first_chunk::<8>() else { return Ok((good, None)) };
        let length = u32::from_le_bytes([head[0], head[1], head[2], head[3]]);
        let checksum = u32::from_le_bytes([head[4], head[5], head[6], head[7]]);
        let Some(payload) = rest[8..].get(..length as usize).filter(|_| length <= FRAME_BYTES_MAX) else {
            return Ok((good, None));
        };
        let behind = &rest[8 + length as usize..];
        let records: Option<Vec<Record>> =
            (crc32fast::hash(payload) == checksum).then(|| serde_json::from_slice(payload).ok()).flatten();
        match records {
            Some(records) => records.into_iter().for_each(|record| state.apply(record)),
            None if behind.is_empty() => return Ok((good, None)),
            None => {
                let lost = bytes.len() as u64 - good;
                return Ok((
                    good,
                    Some(format!("{lost} bytes behind byte {good} cannot be read; they are kept in {FILE_DAMAGED}")),
                ));
            }
        }
        rest = behind;
    }
}
