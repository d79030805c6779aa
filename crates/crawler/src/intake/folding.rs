//! The folds that the operations of a change join, and the events that a site gets from them (see `noise::fold` in room
//! `document`).

use std::collections::BTreeMap;

use vernal_document::noise::{self, FoldVisit, OperationMarks};
use vernal_model::{
    Change, Deed, DocumentRow, Event, EventKind, FoldKey, FoldRow, Folded, Kind, Kinds, NumberRun, OperationFold, Page,
    PageKey, Report, Telling, ToldFolds, VersionRow, VersionTold,
};

use super::verdict::Verdict;
use crate::Result;
use crate::work::Work;

/// What is kept of a later version for those who follow the feed.
pub(crate) struct Told {
    visit: FoldVisit,
    numbers: Vec<NumberRun>,
    marks: OperationMarks,
}

impl Told {
    /// `None` where the visit made no version after the first. The paragraphs must have their numbers.
    pub fn of(
        (before, old): (Option<&Page>, Option<&DocumentRow>),
        page: &Page,
        report: &Report,
        verdict: &Verdict,
    ) -> Option<Told> {
        let Verdict::Differs(change) = verdict else { return None };
        let (version, new) = (page.version?.number, report.signature.as_ref()?);
        let marks = match old.filter(|_| change.is_change()) {
            Some(old) => noise::operation_marks(&page.url.site(), change, &old.signature.paragraphs, &new.paragraphs),
            None => OperationMarks::default(),
        };
        let seen_same = before.and_then(|page| page.last_confirmed).unwrap_or(page.first_visit);
        let visit = FoldVisit { page: page.key, version, seen_same, moment: report.started };
        Some(Told { visit, numbers: NumberRun::of(&new.paragraphs), marks })
    }

    /// What is not told as a change of its own page joins no fold.
    pub fn without_folds(self) -> Told {
        Told { marks: OperationMarks::default(), ..self }
    }

    /// The deeds of the version: its row, the folds that it joined, and what the site has to tell of them.
    pub fn deeds(self, work: &Work, event: Option<&Event>) -> Result<Vec<Deed>> {
        let FoldVisit { page, version, .. } = self.visit;
        let mut rows = self.joined(work)?;
        let key = |mark: &u64| FoldKey { mark: *mark, number: rows.get(mark).map_or(0, |row| row.number) };
        let row = VersionRow {
            operations: self.marks.operations.iter().map(key).collect(),
            notes: self.marks.notes.iter().map(key).collect(),
            numbers: self.numbers,
        };
        let tellings = event.map(|event| tellings(event, &row, &mut rows)).unwrap_or_default();
        let mut deeds = vec![Deed::VersionTold(Box::new(VersionTold { page, version, row }))];
        let folds: Vec<(u64, FoldRow)> = rows.into_iter().collect();
        if !folds.is_empty() {
            deeds.push(folded(page, folds, None));
        }
        deeds.extend(tellings.into_iter().map(|telling| folded(page, Vec::new(), Some(telling))));
        Ok(deeds)
    }

    /// The rows of all folds that the version joins, by mark.
    fn joined(&self, work: &Work) -> Result<BTreeMap<u64, FoldRow>> {
        let mut rows = BTreeMap::new();
        for &mark in self.marks.operations.iter().chain(&self.marks.notes) {
            if rows.contains_key(&mark) {
                continue;
            }
            let page = self.visit.page;
            let known = work.folds(page.partition, mark)?;
            let is_counted = match known.as_ref().filter(|row| noise::continues(row, &self.visit)) {
                Some(row) => work.is_page_of_fold(page, mark, row)?,
                None => false,
            };
            rows.insert(mark, noise::join(known, &self.visit, is_counted));
        }
        Ok(rows)
    }
}

fn folded(page: PageKey, folds: Vec<(u64, FoldRow)>, telling: Option<Telling>) -> Deed {
    Deed::Folded(Box::new(Folded { page, folds, telling }))
}

/// The events of the site: folds of the same versions have one event. Marks them as told.
fn tellings(event: &Event, row: &VersionRow, rows: &mut BTreeMap<u64, FoldRow>) -> Vec<Telling> {
    let mut groups: BTreeMap<(u64, u32), Vec<u64>> = BTreeMap::new();
    for (mark, row) in rows.iter_mut().filter(|(_, row)| noise::is_due(&row.current)) {
        let OperationFold { versions, pages, told, .. } = &mut row.current;
        *told = *pages;
        groups.entry((*versions, *pages)).or_default().push(*mark);
    }
    groups.into_iter().map(|((_, pages), marks)| telling(event, row, pages, &marks)).collect()
}

fn telling(event: &Event, row: &VersionRow, pages: u32, marks: &[u64]) -> Telling {
    let mut change = Change { left: Kinds::default(), ..event.change.clone() };
    let mut folds = ToldFolds { pages, ..ToldFolds::default() };
    (change.paragraphs, folds.operations) = of_folds(&event.change.paragraphs, &row.operations, marks);
    (change.notes, folds.notes) = of_folds(&event.change.notes, &row.notes, marks);
    if !change.paragraphs.is_empty() {
        change.left.insert(Kind::Content);
    }
    change.notes.iter().for_each(|note| change.left.insert(note.kind));
    (change.kinds, change.noise, change.flapping) = (change.left, Vec::new(), false);
    let detail = format!("the same change on {pages} pages of the site so far").into();
    Telling { event: Event { kind: EventKind::Template, change, detail, ..event.clone() }, folds }
}

/// Those of the items whose folds have these marks.
fn of_folds<T: Clone>(items: &[T], folds: &[FoldKey], marks: &[u64]) -> (Vec<T>, Vec<FoldKey>) {
    let told = items.iter().zip(folds).filter(|(_, fold)| marks.contains(&fold.mark));
    told.map(|(item, fold)| (item.clone(), *fold)).unzip()
}
