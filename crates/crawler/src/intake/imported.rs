//! Visits that others made and that were imported. They go through the same stages as our own, and nothing that plans visits hears
//! of them.
//!
//! A visit after everything that is known of its page goes on with the page's row. One from before is put between the versions
//! that are there: the row of the page stays as it is, and only visit, version and event are new.

use vernal_model::{
    Change, Deed, DocumentRow, Event, EventKind, Moment, NumberRun, Outcome, Page, Report, Version, VersionRow,
    VersionTold, Visit, Visited,
};

use super::effects::{Arrived, VisitEffects, document_row};
use super::folding::Told;
use super::judging::{Intake, number_paragraphs};
use super::verdict::{self, Verdict};
use super::{apply_effects, archive_record, events, page_life};
use crate::Result;
use crate::core::Core;

/// The version before the next one that is put in, as far as judging needs it.
#[derive(Clone)]
pub(crate) struct Earlier {
    pub version: Version,
    pub document: DocumentRow,
    /// The last visit that found it.
    pub seen: Moment,
}

/// What is put in among the versions of one page.
pub(crate) struct PutIn {
    pub page: Page,
    pub earlier: Option<Earlier>,
    /// The number that the next version gets.
    pub number: u32,
    /// The row of the page's newest document, whose paragraphs share their numbers with those of earlier ones.
    pub newest: Option<DocumentRow>,
}

/// Applies a visit that goes on with the page's row, but lets nobody learn of it.
pub(crate) fn apply_quietly(core: &mut Core, mut effects: VisitEffects) -> Result<()> {
    let before = effects.before.as_ref();
    // What own visits found is what a schedule is made of.
    effects.page.compared = before.map_or(0, |page| page.compared);
    effects.page.changes = before.map_or(0, |page| page.changes);
    effects.finding.counted = None;
    effects.redirect = None;
    effects.found.clear();
    if let Some(event) = &mut effects.event {
        event.detail = Event::IMPORTED.into();
    }
    let partition = effects.page.key.partition;
    if let Some(told) = effects.told.take() {
        let deeds = told.without_folds().deeds(&core.work, None)?;
        deeds.into_iter().for_each(|deed| core.work.push(partition, deed));
    }
    core.work.push(partition, Deed::Visited(Box::new(apply_effects::visited(effects))));
    Ok(())
}

impl Intake {
    /// A visit that goes on with the page's row.
    pub fn imported(&mut self, core: &mut Core, arrived: Arrived<'_>) -> Result<Option<VisitEffects>> {
        self.effects(core, arrived)
    }

    /// Puts a visit from before in. Returns whether it made a version.
    pub fn put_in(&mut self, core: &mut Core, among: &mut PutIn, mut report: Report) -> Result<bool> {
        let before = among.earlier.as_ref().map(|earlier| page_at(&among.page, earlier));
        let mut verdict = match verdict::by_cheap_tests(before.as_ref(), &report) {
            Some(verdict) => verdict,
            None => {
                let page = before.as_ref().unwrap_or(&among.page);
                let old = among.earlier.as_ref().map(|earlier| earlier.document.clone());
                self.judge(core, page, old.as_ref(), &mut report, false)?.verdict
            }
        };
        let keep = archive_record::record(&report, &verdict, before.as_ref());
        let record = keep.map(|keep| core.work.keep(&keep)).transpose()?;
        let is_version = matches!(verdict, Verdict::First | Verdict::Differs(_)) && report.signature.is_some();
        let row = before.clone().unwrap_or_else(|| Page { version: None, last_confirmed: None, ..among.page.clone() });
        let mut page = page_life::after(row, &report, &verdict, record);
        let (mut event, mut document) = (None, None);
        if is_version {
            if let Some(version) = &mut page.version {
                version.number = among.number;
            }
            among.number += 1;
            let told = self.told(core, among, (before.as_ref(), &page), &mut report, &mut verdict)?;
            event = told.0;
            document = told.1;
        } else if let Some(earlier) = among.earlier.as_mut().filter(|_| is_seen(&report.outcome)) {
            earlier.seen = report.started;
        }
        let version = page.version.filter(|_| is_version);
        if let (Some(version), Some(document)) = (version, document) {
            among.earlier = Some(Earlier { version, document, seen: report.started });
        }
        let visit = Visit {
            started: report.started,
            finished: report.finished,
            address: report.exchange.as_ref().and_then(|exchange| exchange.address),
            wire_bytes: report.wire_bytes,
            version,
            record,
            decided_by: verdict.decided_by(),
            changed: None,
            second_look: false,
            robots: None,
            outcome: report.outcome,
        };
        let visited = Visited {
            was: Some(among.page.state),
            left: None,
            page: among.page.clone(),
            visit,
            document: among.newest.clone().filter(|_| is_version),
            event,
        };
        core.work.push(among.page.key.partition, Deed::Visited(Box::new(visited)));
        Ok(is_version)
    }

    /// The event and the document of a version that is put in. Its paragraphs get numbers that no other version of the page has,
    /// but for those that the version before had too.
    fn told(
        &mut self,
        core: &mut Core,
        among: &mut PutIn,
        (before, page): (Option<&Page>, &Page),
        report: &mut Report,
        verdict: &mut Verdict,
    ) -> Result<(Option<Event>, Option<DocumentRow>)> {
        let free = among.newest.as_ref().map_or(1, |row| row.next_paragraph.max(1));
        let old = among.earlier.as_ref().map(|earlier| DocumentRow {
            next_paragraph: free.max(earlier.document.next_paragraph),
            ..earlier.document.clone()
        });
        let old = old.unwrap_or_else(|| DocumentRow { next_paragraph: free, ..DocumentRow::default() });
        let mut next = free;
        let mut numbers = Vec::new();
        if let Some(signature) = report.signature.as_mut() {
            next = number_paragraphs(Some(&old), signature, verdict);
            numbers = NumberRun::of(&signature.paragraphs);
        }
        if let Some(newest) = &mut among.newest {
            newest.next_paragraph = newest.next_paragraph.max(next);
        }
        let deeds = match Told::of((before, Some(&old)), page, report, verdict) {
            Some(told) => told.without_folds().deeds(&core.work, None)?,
            None => {
                let row = VersionRow { operations: Vec::new(), notes: Vec::new(), numbers };
                let version = page.version.map_or(0, |version| version.number);
                vec![Deed::VersionTold(Box::new(VersionTold { page: page.key, version, row }))]
            }
        };
        deeds.into_iter().for_each(|deed| core.work.push(page.key.partition, deed));
        let event = events::event(before, page, report, verdict, false).map(|event| Event {
            kind: EventKind::Imported,
            detail: Event::IMPORTED.into(),
            change: Change { flapping: false, ..event.change },
            ..event
        });
        Ok((event, document_row(report, Some(&old), next)))
    }
}

/// The page as it was when this was its newest version.
fn page_at(page: &Page, earlier: &Earlier) -> Page {
    Page {
        version: Some(earlier.version),
        last_confirmed: Some(earlier.seen),
        state: vernal_model::PageState::Held,
        ..page.clone()
    }
}

fn is_seen(outcome: &Outcome) -> bool {
    matches!(outcome, Outcome::Read { .. } | Outcome::NotModified)
}
