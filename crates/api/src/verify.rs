//! Reads everything on disk and checks it: checksums, the tables against the journal, and the politeness of visits.

use std::sync::Arc;

use axum::extract::State;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use vernal_crawler::audit::{breaches, requests};
use vernal_model::Moment;
use vernal_repository::runs::{self, Politeness};
use vernal_repository::{Reader, bodies, compare_tables, note_damage, verify_journal};

use super::answer::{self, ANEW, ApiResult, Lines, Many, StreamError};
use super::nouns::Nouns;
use super::parameters::Parameters;
use super::shared::Shared;

/// Faults listed one by one; the others are counted.
const FAULTS_TOLD_MAX: usize = 100;
/// A progress line follows each time that this much more has been read.
const PROGRESS_BYTES: u64 = 16 << 20;
/// A journal up to this size is applied to an empty store at every verification of a stopped folder; a larger one when
/// `deep` asks for it, because that takes as long as the crawl's commits did.
const COMPARED_BYTES_MAX: u64 = 64 << 20;

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VerifyQuery {
    /// Also hold the tables against the journal, however large it is.
    #[serde(default)]
    deep: bool,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "VerifyProgress")]
pub struct Progress {
    progress: Share,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "VerifyShare")]
pub struct Share {
    /// What is being read.
    part: &'static str,
    done_bytes: u64,
    total_bytes: u64,
}

#[derive(Default, Serialize, JsonSchema)]
pub struct Verified {
    sound: bool,
    segments: u64,
    segment_bytes: u64,
    records: u64,
    responses: u64,
    revisits: u64,
    unfinished_bytes: u64,
    segment_faults: u64,
    journal_files: u64,
    journal_frames: u64,
    journal_deeds: u64,
    /// The journal begins with a checkpoint that contains all deeds up to this one.
    journal_begins_after: u64,
    journal_bytes: u64,
    journal_faults: u64,
    /// Whether the tables were held against the journal applied anew: not beside a running crawl, and a large journal
    /// only when `deep` asks for it.
    tables_compared: bool,
    pages: u64,
    versions: u64,
    /// Versions whose bodies are known to be lost.
    versions_lost: u64,
    visits: u64,
    /// Visits that a repair restored from records.
    visits_unjudged: u64,
    table_faults: u64,
    /// Both copies of the book of runs are lost.
    runs_faults: u64,
    politeness_breaches: u64,
    faults: Vec<String>,
}

/// Progress now and then, and the verdict last.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
pub enum VerifyLine {
    Progress(Progress),
    Verdict(Box<Verified>),
}

impl Verified {
    fn fault(&mut self, line: String) {
        if self.faults.len() < FAULTS_TOLD_MAX {
            self.faults.push(line);
        }
    }
}

pub fn routes(nouns: Nouns) -> Nouns {
    nouns.get("/api/v1/verify", "Checks everything on disk; progress lines, then the verdict", stream)
}

/// JSON lines: progress now and then, and the verdict last.
pub async fn stream(
    State(shared): State<Arc<Shared>>,
    Parameters(query): Parameters<VerifyQuery>,
) -> ApiResult<Many<VerifyLine>> {
    Ok(answer::lines(move |lines| {
        let mut verified = Verified::default();
        segments(&shared, lines, &mut verified)?;
        journal(&shared, lines, &mut verified)?;
        let read = tables(&shared.reader, &mut verified);
        unread(&shared, read, &mut verified)?;
        let small = verified.journal_bytes <= COMPARED_BYTES_MAX;
        if shared.backend.is_stopped() && verified.journal_faults == 0 && (query.deep || small) {
            let compared = compare(&shared, lines, &mut verified);
            unread(&shared, compared, &mut verified)?;
        }
        let judged = politeness(&shared, &mut verified);
        unread(&shared, judged, &mut verified)?;
        let faults = [
            verified.segment_faults,
            verified.journal_faults,
            verified.table_faults,
            verified.runs_faults,
            verified.politeness_breaches,
        ];
        verified.sound = faults.iter().all(|faults| *faults == 0);
        lines.line(&VerifyLine::Verdict(Box::new(verified)))?;
        Ok(())
    }))
}

/// Tables that cannot be read are a fault like any other, and made anew at the next opening.
fn unread(shared: &Shared, read: Result<(), StreamError>, verified: &mut Verified) -> Result<(), StreamError> {
    let Err(StreamError::Repository(error)) = read else { return read };
    verified.table_faults += 1;
    let anew = if note_damage(&shared.reader, &error) { ANEW } else { "" };
    verified.fault(format!("{error}{anew}"));
    Ok(())
}

/// Writes a progress line each time that enough more of one part has been read.
fn progress_writer<'a>(lines: &'a mut Lines<VerifyLine>, part: &'static str) -> impl FnMut(u64, u64) + 'a {
    let mut told = 0;
    move |done_bytes: u64, total_bytes: u64| {
        if done_bytes >= told + PROGRESS_BYTES {
            told = done_bytes;
            // A reader that has gone is noticed at the end.
            let _ = lines.line(&VerifyLine::Progress(Progress { progress: Share { part, done_bytes, total_bytes } }));
            let _ = lines.flush();
        }
    }
}

/// Every frame, every checksum, every sequence.
fn journal(shared: &Shared, lines: &mut Lines<VerifyLine>, verified: &mut Verified) -> Result<(), StreamError> {
    let report = verify_journal(&shared.settings.data, &mut progress_writer(lines, "journal"))?;
    verified.journal_files = report.files;
    verified.journal_frames = report.frames;
    verified.journal_deeds = report.deeds;
    verified.journal_begins_after = report.begins_after;
    verified.journal_bytes = report.bytes;
    verified.journal_faults = report.faults_total;
    for fault in report.faults {
        verified.fault(fault);
    }
    if report.deeds == 0 && verified.responses > 0 {
        verified.journal_faults += 1;
        verified.fault(
            "the journal is lost, so the records belong to no page; `vernal verify --repair` restores them".into(),
        );
    }
    Ok(())
}

/// The tables are the journal applied, row by row.
fn compare(shared: &Shared, lines: &mut Lines<VerifyLine>, verified: &mut Verified) -> Result<(), StreamError> {
    let report = compare_tables(&shared.reader, &mut progress_writer(lines, "journal, applied anew"))?;
    verified.tables_compared = true;
    verified.table_faults += report.faults.len() as u64;
    for fault in report.faults {
        verified.fault(fault);
    }
    Ok(())
}

fn segments(shared: &Shared, lines: &mut Lines<VerifyLine>, verified: &mut Verified) -> Result<(), StreamError> {
    let report = bodies::verify(&shared.settings.data, &mut progress_writer(lines, "segments"))?;
    verified.segments = report.segments;
    verified.segment_bytes = report.bytes;
    verified.records = report.records;
    verified.responses = report.responses;
    verified.revisits = report.revisits;
    verified.unfinished_bytes = report.unfinished_bytes;
    verified.segment_faults = report.faults_total;
    for fault in &report.faults {
        verified.fault(fault.to_string());
    }
    Ok(())
}

/// Every row can be read, and every version has its record.
fn tables(reader: &Reader, verified: &mut Verified) -> Result<(), StreamError> {
    for page in reader.pages_after(None) {
        let page = match page {
            Ok(page) => page,
            Err(error) => {
                verified.table_faults += 1;
                verified.fault(error.to_string());
                continue;
            }
        };
        verified.pages += 1;
        for version in reader.versions(page.key)? {
            verified.versions += 1;
            // What a repair marked as lost is told and no new fault.
            verified.versions_lost += u64::from(version.is_lost());
            let Some(location) = version.body() else { continue };
            let what = match reader.body(&location) {
                Ok(record) if record.payload_digest().is_none_or(|digest| digest == version.payload) => continue,
                Ok(_) => "its record has another payload digest".to_owned(),
                Err(error) => error.to_string(),
            };
            verified.table_faults += 1;
            verified.fault(format!("version {} of {}: {what}", version.number, page.url));
        }
    }
    Ok(())
}

/// Checks every visit against the politeness that was promised when it was made.
fn politeness(shared: &Shared, verified: &mut Verified) -> Result<(), StreamError> {
    let mut visits = requests(&shared.reader)?;
    verified.visits = visits.len() as u64;
    let book = runs::book(&shared.settings.data);
    if book.promises.is_empty() && book.repaired.is_none() && !visits.is_empty() {
        verified.visits_unjudged = verified.visits;
        verified.runs_faults += 1;
        verified.fault(
            "runs.jsonl is lost, so nobody knows what the runs promised and no visit is judged; `vernal verify --repair` \
             begins it anew"
                .into(),
        );
        return Ok(());
    }
    // Records have whole seconds only, which the audit would take for visits in too quick succession.
    let judged_from = book.repaired.unwrap_or(Moment::EPOCH);
    visits.retain(|(_, started, _)| *started >= judged_from);
    verified.visits_unjudged = verified.visits - visits.len() as u64;
    for breach in breaches(&visits, &promises(shared, book.promises)) {
        verified.politeness_breaches += 1;
        verified.fault(format!(
            "{} was asked at {}, before {}",
            breach.site,
            breach.started.rfc3339(),
            breach.earliest.rfc3339()
        ));
    }
    Ok(())
}

fn promises(shared: &Shared, written: Vec<Politeness>) -> Vec<Politeness> {
    if !written.is_empty() {
        return written;
    }
    vec![Politeness {
        started: Moment::EPOCH,
        delay: shared.settings.crawler.delay,
        per_site: shared.settings.crawler.per_site,
    }]
}
