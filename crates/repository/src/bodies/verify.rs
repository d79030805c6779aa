//! Reads all segments and checks their records against their checksums.

use std::collections::HashSet;
use std::path::Path;

use super::keep::digest_of;
use super::scan::{Scanned, scan};
use super::segment::{SegmentFile, segments};
use crate::{Error, Result};

const FAULTS_LISTED_MAX: usize = 1_000; // more are counted, not listed

/// The result of checking all segments.
#[derive(Debug, Default)]
pub struct VerifyReport {
    pub segments: u64,
    pub bytes: u64,
    pub records: u64,
    pub responses: u64,
    pub revisits: u64,
    /// The first thousand faults, each an `Error::Corrupt` with segment and offset.
    pub faults: Vec<Error>,
    pub faults_total: u64,
    /// Bytes after the last whole record of an open segment: an unfinished write, which is no damage.
    pub unfinished_bytes: u64,
}

impl VerifyReport {
    pub fn is_sound(&self) -> bool {
        self.faults_total == 0
    }

    fn fault(&mut self, segment: u32, offset: u64, what: impl Into<String>) {
        self.faults_total += 1;
        if self.faults.len() < FAULTS_LISTED_MAX {
            self.faults.push(Error::Corrupt { what: what.into(), segment, offset });
        }
    }
}

/// Checks every member, every block and payload digest, and that the target of every revisit exists. `progress` is
/// called with the bytes done and the total.
pub fn verify(dir: &Path, progress: &mut dyn FnMut(u64, u64)) -> Result<VerifyReport> {
    let files = segments(dir)?;
    let total = files.iter().map(|file| file.bytes).sum();
    let mut report = VerifyReport { segments: files.len() as u64, bytes: total, ..VerifyReport::default() };
    let mut targets = Targets::default();
    let mut done = 0;
    for file in &files {
        let mut before = |bytes: u64| progress(done + bytes, total);
        verify_segment(file, &mut report, &mut targets, &mut before)?;
        done += file.bytes;
        progress(done, total);
    }
    for (mark, segment, offset) in targets.wanted {
        if !targets.present.contains(&mark) {
            report.fault(segment, offset, "the record that this revisit refers to is not here");
        }
    }
    Ok(report)
}

/// Payloads that are here and payloads that revisits refer to, by a mark of 8 bytes each.
#[derive(Default)]
struct Targets {
    present: HashSet<u64>,
    wanted: Vec<(u64, u32, u64)>,
}

fn verify_segment(
    file: &SegmentFile,
    report: &mut VerifyReport,
    targets: &mut Targets,
    progress: &mut dyn FnMut(u64),
) -> Result<()> {
    // Damage at the end of an open segment may be an unfinished write. Whether records follow decides.
    let mut unfinished = None;
    let mut records = 0;
    for item in scan(&file.path)? {
        if let Some((offset, what)) = unfinished.take() {
            report.fault(file.serial, offset, what);
        }
        match item {
            Ok(scanned) => {
                records += 1;
                progress(scanned.offset);
                verify_record(file.serial, &scanned, records == 1, report, targets);
            }
            Err(damage) if damage.truncated && file.open => unfinished = Some((damage.offset, damage.what)),
            Err(damage) => report.fault(file.serial, damage.offset, damage.what),
        }
    }
    if let Some((offset, _)) = unfinished {
        report.unfinished_bytes += file.bytes.saturating_sub(offset);
    }
    report.records += records;
    Ok(())
}

fn verify_record(segment: u32, scanned: &Scanned, first: bool, report: &mut VerifyReport, targets: &mut Targets) {
    let record = &scanned.record;
    let mut fault = |what: &str| report.fault(segment, scanned.offset, what);
    if first != (record.kind() == "warcinfo") {
        fault("warcinfo is not where a segment begins");
    }
    if record.id().is_none() || record.date().is_none() {
        fault("a record has no id or no date");
    }
    if record.block_digest().is_none_or(|digest| digest != digest_of(&[&record.block])) {
        fault("the block digest differs");
    }
    if let Some(payload) = record.payload()
        && record.payload_digest().is_none_or(|digest| digest != digest_of(&[payload]))
    {
        fault("the payload digest differs");
    }
    match record.kind() {
        "response" | "resource" => {
            report.responses += 1;
            targets.present.extend(record.payload_mark());
        }
        "revisit" => {
            report.revisits += 1;
            match record.referred_mark() {
                Some(mark) => targets.wanted.push((mark, segment, scanned.offset)),
                None => report.fault(segment, scanned.offset, "a revisit does not say what it refers to"),
            }
        }
        _ => {}
    }
}
