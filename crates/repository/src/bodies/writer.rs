//! The writer of segments.
//!
//! Records gather in a buffer and go to the file in large writes; `sync` makes them durable. A segment that has passed
//! its limit is sealed at the first `keep` after a `sync`, never within a group. By then the caller has acknowledged what was
//! synced before, because deeds are committed after the bytes of the segment. So a sealed segment holds only acknowledged
//! records and is never cut after a crash. In return, a segment may exceed its limit by one group.
//!
//! A failed write or sync leaves the buffer and the end as they were. The call may be repeated.

use std::fs::{self, File, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use vernal_model::{Location, Moment};

use super::keep::{self, CachedFields, Keep, KeepKind, WarcInfo};
use super::member::MemberMaker;
use super::scan::{ScanLimits, scan};
use super::segment::{End, FOLDER, SegmentFile, sealed_path, segment_name, segments, sync_folder};
use crate::{Error, Result};

const BUFFER_BYTES: usize = 1 << 20; // one write() for about a hundred pages
const RECORD_END: &[u8] = b"\r\n\r\n";
const HEAD_BYTES_MAX: u64 = 64 << 10; // what the reader allows for named fields; ours stay far below

/// What was cut at opening because it was not acknowledged.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CutTail {
    /// Bytes cut from open segments, removed ones included.
    pub bytes: u64,
    /// Serials of open segments that were removed whole.
    pub removed: Vec<u32>,
    /// The segment that lost acknowledged bytes, as a line for people. Its records are lost; all others can be read.
    pub lost: Option<String>,
}

/// The one writer of a repository's segments.
pub struct Segments {
    dir: PathBuf,
    info: WarcInfo,
    limit_bytes: u64,
    maker: MemberMaker,
    open: Option<OpenSegment>,
    /// The end of everything before the open segment.
    sealed_end: End,
    serial_max: u32,
}

struct OpenSegment {
    file: File,
    path: PathBuf,
    serial: u32,
    /// Bytes in the file; the buffer follows them.
    flushed: u64,
    buffer: Vec<u8>,
    /// A buffer for the head of a record.
    head: Vec<u8>,
    cached_fields: CachedFields,
    /// The length up to which everything is synced.
    synced: u64,
    /// The name of the file may not be durable yet.
    name_is_new: bool,
}

impl Segments {
    /// Opens the segments of the repository in `dir` for writing and cuts what was never acknowledged.
    ///
    /// `acknowledged` is the end named by the last durable deed group: an open segment is cut to it, later open
    /// segments are removed. `Some(End::default())` means that nothing was ever acknowledged. `None` means that the end is
    /// unknown, because the journal is lost: then every whole record stays, and only a torn tail is cut. Sealed segments are
    /// never changed. A file that lost acknowledged bytes is sealed as it is, because nothing may take the place of a lost
    /// record; `CutTail` tells of it.
    pub fn open(
        dir: &Path,
        info: WarcInfo,
        limit_bytes: u64,
        acknowledged: Option<End>,
        _now: Moment,
    ) -> Result<(Segments, CutTail)> {
        let folder = dir.join(FOLDER);
        if !folder.exists() {
            fs::create_dir_all(&folder).map_err(Error::io("make", &folder))?;
            sync_folder(dir)?;
        }
        let found = segments(dir)?;
        let lost = acknowledged.and_then(|end| lost_of(&found, end));
        let short = lost.as_ref().and(acknowledged).unwrap_or_default();
        let mut cut = CutTail { lost, ..CutTail::default() };
        let mut segments = Segments {
            dir: dir.to_owned(),
            info,
            limit_bytes,
            maker: MemberMaker::new(),
            open: None,
            sealed_end: End::default(),
            serial_max: 0,
        };
        for file in &found {
            segments.seal()?;
            segments.serial_max = segments.serial_max.max(file.serial);
            if file.open {
                segments.take_up(file, acknowledged, &mut cut)?;
            } else {
                segments.sealed_end = End { segment: file.serial, length: file.bytes };
            }
            if file.serial == short.segment {
                segments.seal()?;
            }
        }
        segments.serial_max = segments.serial_max.max(short.segment);
        segments.sealed_end = segments.sealed_end.max(short);
        Ok((segments, cut))
    }

    /// Appends the records of one exchange. Returns the location of the main record; its request record follows it.
    pub fn keep(&mut self, keep: &Keep<'_>, now: Moment) -> Result<Location> {
        let exchange = keep.exchange;
        let block_bytes = (exchange.response_head.len() + exchange.body.len()) as u64;
        let limit = ScanLimits::default().record_bytes_max as u64 - HEAD_BYTES_MAX;
        if block_bytes > limit || exchange.request_head.len() as u64 > limit {
            return Err(Error::RecordTooLarge { bytes: block_bytes, limit });
        }
        self.make_room(now)?;
        let Segments { open, maker, info, .. } = self;
        let open = open.as_mut().expect("room was made in an open segment");
        let buffer_before = open.buffer.len();
        let location = open.append_exchange(keep, maker, info.repository);
        open.flush_when_full(buffer_before)?;
        Ok(location)
    }

    /// Appends a member of an older segment byte for byte. It keeps its id, which stays unique because no serial is used twice.
    pub(crate) fn append_member(&mut self, member: &[u8], now: Moment) -> Result<Location> {
        self.make_room(now)?;
        let open = self.open.as_mut().expect("room was made in an open segment");
        let (offset, buffer_before) = (open.length(), open.buffer.len());
        open.buffer.extend_from_slice(member);
        open.flush_when_full(buffer_before)?;
        Ok(Location { segment: open.serial, offset, length: member.len() as u32 })
    }

    pub(crate) fn dir(&self) -> &Path {
        &self.dir
    }

    /// The end of what was kept so far, synced or not.
    pub fn end(&self) -> End {
        match &self.open {
            Some(open) => End { segment: open.serial, length: open.length() },
            None => self.sealed_end,
        }
    }

    /// Makes everything kept so far durable, including the names of new files.
    pub fn sync(&mut self) -> Result<()> {
        let Some(open) = &mut self.open else { return Ok(()) };
        if open.synced < open.length() {
            open.flush()?;
            open.file.sync_data().map_err(Error::io("sync", &open.path))?;
            open.synced = open.length();
        }
        if open.name_is_new {
            sync_folder(&self.dir.join(FOLDER))?;
            open.name_is_new = false;
        }
        Ok(())
    }

    /// Seals the open segment, which is never written again. To be called when everything in it is acknowledged.
    pub fn seal(&mut self) -> Result<()> {
        self.sync()?;
        let Some(open) = &self.open else { return Ok(()) };
        let sealed = sealed_path(&open.path);
        fs::rename(&open.path, &sealed).map_err(Error::io("seal", &open.path))?;
        self.sealed_end = self.end();
        tracing::debug!(segment = open.serial, bytes = open.length(), path = %sealed.display(), "segment sealed");
        self.open = None;
        sync_folder(&self.dir.join(FOLDER))
    }

    /// Opens a new segment where there is none or the open one has passed its limit.
    pub(crate) fn make_room(&mut self, now: Moment) -> Result<()> {
        if let Some(open) = &self.open {
            let group_begins = open.synced == open.length();
            if open.length() < self.limit_bytes || !group_begins {
                return Ok(());
            }
            self.seal()?;
        }
        let serial = self.serial_max + 1;
        let name = segment_name(serial, now);
        let path = self.dir.join(FOLDER).join(format!("{name}.open"));
        let file = OpenOptions::new().create_new(true).write(true).open(&path).map_err(Error::io("make", &path))?;
        tracing::debug!(segment = serial, path = %path.display(), "segment begun");
        self.serial_max = serial;
        let mut open = OpenSegment {
            file,
            path,
            serial,
            flushed: 0,
            buffer: Vec::new(),
            head: Vec::new(),
            cached_fields: CachedFields::default(),
            synced: 0,
            name_is_new: true,
        };
        let id = keep::record_id(self.info.repository, serial, 0);
        let (head, block) = keep::warcinfo_record(&self.info, &id, &name, now);
        self.maker.deflated(&mut open.buffer, &[&head, &block, RECORD_END]);
        self.open = Some(open);
        Ok(())
    }

    /// Continues an open segment of an earlier process, without its unacknowledged tail.
    fn take_up(&mut self, file: &SegmentFile, acknowledged: Option<End>, cut: &mut CutTail) -> Result<()> {
        let keep_bytes = match acknowledged {
            Some(end) if end.segment == file.serial => end.length.min(file.bytes),
            // It was about to be sealed, so everything in it was acknowledged.
            Some(end) if end.segment > file.serial => file.bytes,
            Some(_) => 0,
            None => whole_bytes(&file.path)?,
        };
        cut.bytes += file.bytes.saturating_sub(keep_bytes);
        if keep_bytes == 0 {
            fs::remove_file(&file.path).map_err(Error::io("remove", &file.path))?;
            cut.removed.push(file.serial);
            return sync_folder(&self.dir.join(FOLDER));
        }
        let handle = OpenOptions::new().write(true).open(&file.path).map_err(Error::io("open", &file.path))?;
        if keep_bytes < file.bytes {
            handle.set_len(keep_bytes).map_err(Error::io("cut", &file.path))?;
            handle.sync_all().map_err(Error::io("sync", &file.path))?;
        }
        self.open = Some(OpenSegment {
            file: handle,
            path: file.path.clone(),
            serial: file.serial,
            flushed: keep_bytes,
            buffer: Vec::new(),
            head: Vec::new(),
            cached_fields: CachedFields::default(),
            synced: keep_bytes,
            name_is_new: false,
        });
        Ok(())
    }
}

impl OpenSegment {
    fn length(&self) -> u64 {
        self.flushed + self.buffer.len() as u64
    }

    fn append_exchange(&mut self, keep: &Keep<'_>, maker: &mut MemberMaker, repository: u128) -> Location {
        let offset = self.length();
        let id = keep::record_id(repository, self.serial, offset);
        let mut head = std::mem::take(&mut self.head);
        let mut cached_fields = std::mem::take(&mut self.cached_fields);
        let common = cached_fields.of(keep);
        let [block_head, block_body] = keep::main_record(&mut head, keep, &common, &id);
        let parts = [&head, block_head, block_body, RECORD_END];
        let revisit = matches!(keep.what, KeepKind::Revisit { .. });
        // Heads without a body are stored uncompressed too: deflating them would be the largest cost of an unchanged page.
        match keep.exchange.content_encoded || revisit {
            true => maker.stored(&mut self.buffer, &parts),
            false => maker.deflated(&mut self.buffer, &parts),
        }
        let length = (self.length() - offset) as u32;
        if matches!(keep.what, KeepKind::Revisit { server_not_modified: true, .. }) {
            let metadata_id = keep::record_id(repository, self.serial, self.length());
            let [status_name, said] = keep::not_modified_record(&mut head, keep, &common, &metadata_id, &id);
            maker.stored(&mut self.buffer, &[&head, status_name, said, RECORD_END]);
        }
        if !keep.exchange.request_head.is_empty() {
            let request_id = keep::record_id(repository, self.serial, self.length());
            let block = keep::request_record(&mut head, keep, &common, &request_id, &id);
            maker.stored(&mut self.buffer, &[&head, block, RECORD_END]);
        }
        (self.head, self.cached_fields) = (head, cached_fields);
        Location { segment: self.serial, offset, length }
    }

    /// Removes a record that cannot be written from the buffer, so that the end is as before.
    fn flush_when_full(&mut self, buffer_before: usize) -> Result<()> {
        if self.buffer.len() < BUFFER_BYTES {
            return Ok(());
        }
        self.flush().inspect_err(|_| self.buffer.truncate(buffer_before))
    }

    /// Writes the buffer to the end of the file. The offset is set each time, so that a failed write can be repeated.
    fn flush(&mut self) -> Result<()> {
        if self.buffer.is_empty() {
            return Ok(());
        }
        self.file.seek(SeekFrom::Start(self.flushed)).map_err(Error::io("write", &self.path))?;
        self.file.write_all(&self.buffer).map_err(Error::io("write", &self.path))?;
        self.flushed += self.buffer.len() as u64;
        self.buffer.clear();
        Ok(())
    }
}

/// The line about a segment that lacks acknowledged bytes.
fn lost_of(found: &[SegmentFile], end: End) -> Option<String> {
    if end.segment == 0 {
        return None;
    }
    let Some(file) = found.iter().find(|file| file.serial == end.segment) else {
        return Some(Error::SegmentMissing(end.segment).to_string());
    };
    let what = || format!("{} bytes were acknowledged and it has fewer", end.length);
    let lost = || Error::Corrupt { what: what(), segment: end.segment, offset: file.bytes }.to_string();
    (file.bytes < end.length).then(lost)
}

/// The end of the last whole record of all segments.
pub(crate) fn whole_end(dir: &Path) -> Result<End> {
    let Some(last) = segments(dir)?.pop() else { return Ok(End::default()) };
    let length = if last.open { whole_bytes(&last.path)? } else { last.bytes };
    Ok(End { segment: last.serial, length })
}

/// The end of the last whole record. `verify` reports damage before it.
fn whole_bytes(path: &Path) -> Result<u64> {
    let whole = scan(path)?.flatten().last();
    Ok(whole.map_or(0, |scanned| scanned.offset + scanned.length))
}
