//! A log of checksummed frames in one file of the data folder, each synced before anything is done because of it.
//!
//! ```text
//! DIR/watch/FILE
//!   a line with the name of the log and the number of its form
//!   frame*   length u32 LE · CRC-32 of the payload u32 LE · payload: a JSON array of records
//! ```
//!
//! A frame is whole or it is not there: a torn end is cut off when the log is opened. Once the file is some times larger than
//! what it says, it is written anew as one frame with everything, beside the old one, and takes its place.

use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::{Error, Result};

const FOLDER: &str = "watch";
/// One frame. The largest is that of a log written anew.
const FRAME_BYTES_MAX: u32 = 1 << 30;
/// A log below this is not written anew.
const ANEW_BYTES_MIN: u64 = 4 << 20;
/// A log is written anew once it is so many times what it was then.
const ANEW_FACTOR: u64 = 3;

/// Which log.
#[derive(Copy, Clone, Debug)]
pub struct LogName {
    pub file: &'static str,
    pub head: &'static [u8],
}

pub struct FrameLog {
    name: LogName,
    folder: PathBuf,
    file: File,
    bytes: u64,
    /// Its size when it was written anew.
    whole_bytes: u64,
}

impl LogName {
    /// Whether a data folder has this log.
    pub fn exists(self, data: &Path) -> bool {
        data.join(FOLDER).join(self.file).exists()
    }

    fn beside(self, folder: &Path, what: &str) -> PathBuf {
        folder.join(format!("{}.{what}", self.file))
    }
}

impl FrameLog {
    /// Opens the log of a data folder, or makes it, and gives its records to `apply`. The text says what was found damaged.
    pub fn open<R: DeserializeOwned>(
        data: &Path,
        name: LogName,
        apply: &mut dyn FnMut(R),
    ) -> Result<(FrameLog, Option<String>)> {
        let folder = data.join(FOLDER);
        let made = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder);
        made.map_err(|source| Error::Io { act: "make", path: folder.clone(), source })?;
        let path = folder.join(name.file);
        let io = |act: &'static str| {
            move |source: std::io::Error, path: &Path| Error::Io { act, path: path.to_owned(), source }
        };
        let opened = OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600).open(&path);
        let mut file = opened.map_err(|source| io("open")(source, &path))?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(|source| io("read")(source, &path))?;
        let copy = name.beside(&folder, DAMAGED);
        let (good, damage) = match read(name, &bytes, apply) {
            Ok(read) => read,
            Err(what) => return Err(Error::Log { path, what }),
        };
        if damage.is_some() {
            std::fs::write(&copy, &bytes).map_err(|source| io("write")(source, &copy))?;
        }
        let mut log = FrameLog { name, folder, file, bytes: good, whole_bytes: good };
        if good == 0 {
            log.cut(0)?;
            log.append_bytes(name.head)?;
            log.sync()?;
            log.sync_folder()?;
        } else {
            log.cut(good)?;
        }
        Ok((log, damage))
    }

    /// Appends these records as one frame. It is on disk after the next [`FrameLog::sync`].
    pub fn append<R: Serialize>(&mut self, records: &[R]) -> Result<()> {
        self.append_bytes(&frame(records)?)
    }

    fn append_bytes(&mut self, bytes: &[u8]) -> Result<()> {
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

    pub fn sync(&self) -> Result<()> {
        self.file.sync_data().map_err(|source| self.io("sync", source))
    }

    fn sync_folder(&self) -> Result<()> {
        let synced = File::open(&self.folder).and_then(|folder| folder.sync_all());
        synced.map_err(|source| self.io("sync", source))
    }

    /// Writes this record, which says everything, into a new file that takes the place of the old one.
    pub fn write_anew<R: Serialize>(&mut self, whole: &R) -> Result<()> {
        let path = self.name.beside(&self.folder, "new");
        let io = |source| Error::Io { act: "write", path: path.clone(), source };
        let bytes = frame(std::slice::from_ref(whole))?;
        let opened = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&path);
        let mut file = opened.map_err(io)?;
        let written =
            file.write_all(self.name.head).and_then(|()| file.write_all(&bytes)).and_then(|()| file.sync_all());
        written.map_err(io)?;
        std::fs::rename(&path, self.folder.join(self.name.file)).map_err(io)?;
        self.file = file;
        self.bytes = (self.name.head.len() + bytes.len()) as u64;
        self.whole_bytes = self.bytes;
        self.sync_folder()
    }

    pub fn is_long(&self) -> bool {
        self.bytes >= ANEW_BYTES_MIN && self.bytes >= self.whole_bytes.saturating_mul(ANEW_FACTOR)
    }

    fn io(&self, act: &'static str, source: std::io::Error) -> Error {
        Error::Io { act, path: self.folder.join(self.name.file), source }
    }
}

fn frame<R: Serialize>(records: &[R]) -> Result<Vec<u8>> {
    let payload = serde_json::to_vec(records).map_err(|error| Error::Wrong(format!("write a record: {error}")))?;
    let length = u32::try_from(payload.len()).ok().filter(|length| *length <= FRAME_BYTES_MAX);
    let length = length.ok_or_else(|| Error::wrong("a frame of the watch log is too large"))?;
    let mut bytes = Vec::with_capacity(payload.len() + 8);
    bytes.extend_from_slice(&length.to_le_bytes());
    bytes.extend_from_slice(&crc32fast::hash(&payload).to_le_bytes());
    bytes.extend_from_slice(&payload);
    Ok(bytes)
}

/// Of the copy of a log that was damaged.
const DAMAGED: &str = "damaged";

/// Applies all whole frames. Gives the length of what is good, and what is damaged behind it; an end that is only torn is no
/// damage.
fn read<R: DeserializeOwned>(
    name: LogName,
    bytes: &[u8],
    apply: &mut dyn FnMut(R),
) -> std::result::Result<(u64, Option<String>), String> {
    let Some(mut rest) = bytes.strip_prefix(name.head) else {
        return match name.head.starts_with(bytes) {
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
        let records: Option<Vec<R>> =
            (crc32fast::hash(payload) == checksum).then(|| serde_json::from_slice(payload).ok()).flatten();
        match records {
            Some(records) => records.into_iter().for_each(&mut *apply),
            None if behind.is_empty() => return Ok((good, None)),
            None => {
                let lost = bytes.len() as u64 - good;
                return Ok((
                    good,
                    Some(format!(
                        "{lost} bytes behind byte {good} cannot be read; they are kept in {}.{DAMAGED}",
                        name.file
                    )),
                ));
            }
        }
        rest = behind;
    }
}
