//! Checks the whole journal without changing it: every checksum, position and sequence.
//!
//! Unlike a replay it does not stop at damage but continues at the next whole frame. So one run reports all faults, and a repair
//! can save everything that is still readable.

use std::fs::File;
use std::io::{BufReader, Read};
use std::os::unix::fs::FileExt;
use std::path::Path;

use vernal_model::Partition;

use super::file::{self, FileHead, HEAD_BYTES};
use super::frame::{self, Frame, FrameRead};
use super::read::ReadFrom;
use crate::bodies::End;
use crate::{Error, Result, folder};

const FAULTS_LISTED_MAX: usize = 1_000; // more are counted, not listed

/// The result of checking the whole journal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JournalReport {
    pub files: u64,
    pub frames: u64,
    pub deeds: u64,
    pub bytes: u64,
    /// The journal begins with a checkpoint that contains all deeds up to this one; 0 where it begins with the first deed.
    pub begins_after: u64,
    /// The first thousand faults, by file and byte.
    pub faults: Vec<String>,
    pub faults_total: u64,
    /// Bytes after the last whole frame: an unfinished or torn write, which is no damage.
    pub unfinished_bytes: u64,
}

impl JournalReport {
    pub fn is_sound(&self) -> bool {
        self.faults_total == 0
    }

    fn fault(&mut self, path: &Path, offset: u64, what: impl Into<String>) {
        self.faults_total += 1;
        if self.faults.len() < FAULTS_LISTED_MAX {
            let fault = Error::CorruptFile { what: what.into(), path: path.to_owned(), offset };
            self.faults.push(fault.to_string());
        }
    }
}

/// Checks every frame of the journal of the repository in `dir`: its checksum, that positions and the sequences of each
/// partition have no gap, and that the acknowledged end of the bodies never goes back. Nothing is written, so it may
/// run during a crawl. `progress` is called with the bytes done and the total.
pub fn verify_journal(dir: &Path, progress: &mut dyn FnMut(u64, u64)) -> Result<JournalReport> {
    let seed = folder::known_format(dir)?.seed();
    walk(&dir.join(super::FOLDER), seed, progress, &mut |_| Ok(()))
}

/// Calls `take` with every readable frame, in order, and reports the faults between them.
pub(crate) fn walk(
    folder: &Path,
    seed: u64,
    progress: &mut dyn FnMut(u64, u64),
    take: &mut dyn FnMut(Frame) -> Result<()>,
) -> Result<JournalReport> {
    let numbers = if folder.exists() { file::in_force(folder, seed)?.0 } else { Vec::new() };
    let mut sizes = Vec::new();
    for &number in &numbers {
        let path = file::path(folder, number);
        sizes.push(std::fs::metadata(&path).map_err(Error::io("look at", &path))?.len());
    }
    let total = sizes.iter().sum();
    let mut walk = JournalWalk::new(seed, numbers.len() as u64, total);
    let mut done = 0;
    for (place, (&number, &bytes)) in numbers.iter().zip(&sizes).enumerate() {
        let path = file::path(folder, number);
        if place > 0 && numbers[place - 1] + 1 != number {
            walk.report.fault(&path, 0, "the journal file before it is missing");
            walk.forget();
        }
        let is_last = place + 1 == numbers.len();
        let mut within = |offset: u64| progress(done + offset, total);
        walk.file(&path, number, bytes, is_last, &mut within, take)?;
        done += bytes;
        progress(done, total);
    }
    Ok(walk.report)
}

/// The expectations for the next frame.
struct JournalWalk {
    seed: u64,
    report: JournalReport,
    /// The position of the next deed; `None` after damage.
    next: Option<u64>,
    /// The last sequence of each partition; `None` after damage.
    sequences: Vec<Option<u64>>,
    end: End,
    /// The position of the checkpoint that is being read.
    checkpoint: Option<u64>,
}

impl JournalWalk {
    fn new(seed: u64, files: u64, bytes: u64) -> JournalWalk {
        JournalWalk {
            seed,
            report: JournalReport { files, bytes, ..JournalReport::default() },
            next: Some(1),
            sequences: vec![Some(0); usize::from(Partition::COUNT)],
            end: End::default(),
            checkpoint: None,
        }
    }

    /// After damage nothing is known of the next frame.
    fn forget(&mut self) {
        self.next = None;
        self.sequences.fill(None);
    }

    fn file(
        &mut self,
        path: &Path,
        number: u32,
        length: u64,
        is_last: bool,
        progress: &mut dyn FnMut(u64),
        take: &mut dyn FnMut(Frame) -> Result<()>,
    ) -> Result<()> {
        let file = File::open(path).map_err(Error::io("open", path))?;
        let mut head = [0; HEAD_BYTES];
        if length >= HEAD_BYTES as u64 {
            file.read_exact_at(&mut head, 0).map_err(Error::io("read", path))?;
        }
        match file::read_head(&head, number, self.seed) {
            Ok(head) => self.begins(path, head),
            Err(_) if is_last && (length < HEAD_BYTES as u64 || head == [0; HEAD_BYTES]) => {
                self.report.unfinished_bytes += length;
                return Ok(());
            }
            Err(what) => {
                self.report.fault(path, 0, what);
                self.checkpoint = None;
                self.forget();
            }
        }
        let faults_before = self.report.faults_total;
        // A checkpoint counts only once it is whole.
        let may_be_torn = is_last && self.checkpoint.is_none();
        let mut offset = HEAD_BYTES as u64;
        while offset < length {
            let handle = file.try_clone().map_err(Error::io("open", path))?;
            let mut input = BufReader::new(ReadFrom { file: handle, offset });
            let (reached, damage) = self.frames(path, &mut input, offset, length, progress, take)?;
            let Some((what, torn)) = damage else { break };
            offset = match self.next_frame(&file, path, reached)? {
                Some(found) => {
                    self.report.fault(path, reached, what);
                    found
                }
                None if torn && may_be_torn => {
                    self.report.unfinished_bytes += length - reached;
                    break;
                }
                None => {
                    self.report.fault(path, reached, what);
                    self.forget();
                    break;
                }
            };
            self.forget();
        }
        if self.checkpoint.is_some() && self.next.is_none() && self.report.faults_total == faults_before {
            self.report.fault(path, length, "the checkpoint ends too soon");
        }
        Ok(())
    }

    /// Reads frames until the end or the first damage. Returns the damage and whether a torn write can be its cause.
    fn frames(
        &mut self,
        path: &Path,
        input: &mut impl Read,
        mut offset: u64,
        length: u64,
        progress: &mut dyn FnMut(u64),
        take: &mut dyn FnMut(Frame) -> Result<()>,
    ) -> Result<(u64, Option<(String, bool)>)> {
        loop {
            match frame::next(input, length - offset, self.seed).map_err(Error::io("read", path))? {
                FrameRead::End => return Ok((offset, None)),
                FrameRead::Torn(what) => return Ok((offset, Some((what.to_owned(), true)))),
                FrameRead::Unreadable(why) => {
                    return Ok((offset, Some((format!("a frame cannot be read: {why}"), false))));
                }
                FrameRead::Frame(frame, bytes) => {
                    self.check(path, offset, &frame);
                    take(frame)?;
                    offset += bytes;
                    progress(offset);
                }
            }
        }
    }

    fn begins(&mut self, path: &Path, FileHead { first, checkpoint }: FileHead) {
        self.checkpoint = checkpoint.then_some(first);
        if checkpoint {
            self.report.begins_after = first;
            self.forget();
            return;
        }
        if let Some(due) = self.next.filter(|due| *due != first) {
            self.report.fault(path, 0, format!("it begins with deed {first}, {due} was due"));
            self.sequences.fill(None);
        }
        self.next = Some(first);
    }

    fn check(&mut self, path: &Path, offset: u64, frame: &Frame) {
        self.report.frames += 1;
        self.report.deeds += frame.entries.len() as u64;
        if let Some(position) = self.checkpoint {
            self.end = frame.end;
            // Behind its last frame the log goes on.
            self.next = frame.ends_checkpoint().then_some(position + 1);
            if frame.first != position || frame.restated().is_none() {
                self.report.fault(
                    path,
                    offset,
                    format!("a frame does not belong to the checkpoint of deed {position}"),
                );
            }
            return;
        }
        if let Some(due) = self.next.filter(|due| *due != frame.first) {
            self.report.fault(path, offset, format!("a frame begins with deed {}, {due} was due", frame.first));
            self.sequences.fill(None);
        }
        self.next = Some(frame.first + frame.entries.len() as u64);
        for (partition, sequence, _) in &frame.entries {
            let Some(last) = self.sequences.get_mut(usize::from(partition.0)) else {
                self.report.fault(path, offset, format!("there is no partition {}", partition.0));
                continue;
            };
            if let Some(last) = last.filter(|last| last + 1 != sequence.0) {
                let what = format!("partition {} goes from deed {last} to {}", partition.0, sequence.0);
                self.report.fault(path, offset, what);
            }
            *last = Some(sequence.0);
        }
        if frame.end < self.end {
            self.report.fault(path, offset, "the acknowledged end of the bodies goes back");
        }
        self.end = self.end.max(frame.end);
    }

    /// The offset of the next whole frame after the damage at `offset`.
    fn next_frame(&self, file: &File, path: &Path, offset: u64) -> Result<Option<u64>> {
        let mut rest = Vec::new();
        let handle = file.try_clone().map_err(Error::io("open", path))?;
        ReadFrom { file: handle, offset: offset + 1 }.read_to_end(&mut rest).map_err(Error::io("read", path))?;
        Ok(frame::find(&rest, self.seed).map(|found| offset + 1 + found as u64))
    }
}
