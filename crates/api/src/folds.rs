//! What the listing shows of events whose operations many pages of a site share: the event of the site has them, as it is
//! now, and the events of the pages only what is left.

use std::collections::HashMap;

use schemars::JsonSchema;
use serde::Serialize;
use vernal_model::{Change, Event, EventKind, FoldKey, FoldRow, Kind, OperationFold, PageKey, Partition, ToldFolds};
use vernal_repository::{Cursor, Reader, Result};

use super::shared::Shared;

/// Folds that are kept in memory while a feed is written; beyond this they are read again.
const FOLDS_KEPT_MAX: usize = 1 << 14;

/// An event on its way to a reader.
pub struct Row {
    pub event: Event,
    /// The folds of the site that have operations of this event.
    pub part_of: Vec<String>,
    pub fold: Option<Fold>,
    /// Why some of its words are not here, where they could not be read.
    pub unread: Option<String>,
}

/// What an event of a site says of its pages.
#[derive(Serialize, JsonSchema)]
pub struct Fold {
    pub id: String,
    /// How many pages have the change now.
    pub pages: u32,
    /// The first of them.
    pub sample: Vec<FoldedPage>,
}

/// A page with the same change as others of its site.
#[derive(Serialize, JsonSchema)]
pub struct FoldedPage {
    pub url: String,
    pub version: u32,
    /// The event of the page, which the event of the site replaces where nothing else is left in it.
    pub id: Option<String>,
    pub cursor: Option<String>,
    pub replaced: bool,
}

/// The folds that were read for one answer.
#[derive(Default)]
pub struct Folds {
    rows: HashMap<(Partition, u64), Option<FoldRow>>,
}

impl Folds {
    /// The listing of one event of the store: the event with what is left in it, no row where nothing is, or of an event
    /// of a site one row for each group of operations that the same pages have.
    pub fn listed(&mut self, shared: &Shared, cursor: Cursor, event: Event) -> Result<Vec<Row>> {
        let reader = &shared.reader;
        match event.kind {
            EventKind::Template => self.of_site(reader, cursor, event, true),
            EventKind::Changed if event.change.is_change() => {
                let row = self.of_page(reader, event, true)?;
                let has_own = row.event.change.is_change() || row.part_of.is_empty();
                Ok(if has_own { vec![row] } else { Vec::new() })
            }
            _ => Ok(vec![plain(event)]),
        }
    }

    /// The same for a reader who keeps copies of pages: every event is there, and whole.
    pub fn whole(&mut self, shared: &Shared, cursor: Cursor, event: Event) -> Result<Vec<Row>> {
        match event.kind {
            EventKind::Template => self.of_site(&shared.reader, cursor, event, false),
            EventKind::Changed => Ok(vec![self.of_page(&shared.reader, event, false)?]),
            _ => Ok(vec![plain(event)]),
        }
    }

    /// Whether all that the event tells is told by the site.
    pub fn is_folded(&mut self, reader: &Reader, event: &Event) -> Result<bool> {
        if event.kind != EventKind::Changed || !event.change.is_change() {
            return Ok(false);
        }
        let row = self.of_page(reader, event.clone(), true)?;
        Ok(!row.part_of.is_empty() && !row.event.change.is_change())
    }

    /// Finds which operations of a page's event the site tells, and takes them out.
    fn of_page(&mut self, reader: &Reader, event: Event, takes_out: bool) -> Result<Row> {
        // A requisite of the page made no version of it.
        let version = event.version.filter(|_| !event.is_of_requisite());
        let row = version.map(|version| reader.version_row(event.page, version)).transpose()?.flatten();
        let Some(row) = row.filter(|row| !(row.operations.is_empty() && row.notes.is_empty())) else {
            return Ok(plain(event));
        };
        let mut groups = Groups::default();
        let (mut own_operations, mut own_notes) = (Vec::new(), Vec::new());
        for (keys, own) in [(&row.operations, &mut own_operations), (&row.notes, &mut own_notes)] {
            for &key in keys {
                let told = self.fold(reader, event.page.partition, key)?.filter(|fold| fold.is_told());
                own.push(told.is_none());
                told.into_iter().for_each(|fold| groups.add(key, fold));
            }
        }
        let mut event = event;
        if takes_out && !groups.is_empty() {
            leave(&mut event.change, &own_operations, &own_notes);
        }
        Ok(Row { event, part_of: groups.ids(), fold: None, unread: None })
    }

    /// The rows of an event of a site. A fold that was told again later is listed there.
    fn of_site(&mut self, reader: &Reader, cursor: Cursor, event: Event, only_newest: bool) -> Result<Vec<Row>> {
        let Some(told) = reader.told_folds(cursor)? else { return Ok(vec![plain(event)]) };
        let mut groups = Groups::default();
        for &key in told.operations.iter().chain(&told.notes) {
            let Some(fold) = self.fold(reader, event.page.partition, key)? else { continue };
            if !only_newest || fold.told == told.pages {
                groups.add(key, fold);
            }
        }
        groups.0.iter().map(|group| self.of_group(reader, &event, &told, group)).collect()
    }

    fn of_group(&mut self, reader: &Reader, event: &Event, told: &ToldFolds, group: &Group) -> Result<Row> {
        let mut event = event.clone();
        let of_group = |keys: &[FoldKey]| keys.iter().map(|key| group.keys.contains(key)).collect::<Vec<bool>>();
        leave(&mut event.change, &of_group(&told.operations), &of_group(&told.notes));
        let pages = group.fold.pages;
        event.detail = format!("on {pages} pages").into();
        let sample = group.fold.sample.iter().map(|&(page, version)| self.folded_page(reader, page, version));
        let sample = sample.collect::<Result<Vec<Option<FoldedPage>>>>()?.into_iter().flatten().collect();
        let fold = Some(Fold { id: group.id(), pages, sample });
        Ok(Row { event, part_of: Vec::new(), fold, unread: None })
    }

    fn folded_page(&mut self, reader: &Reader, page: PageKey, version: u32) -> Result<Option<FoldedPage>> {
        let Some(row) = reader.page(page)? else { return Ok(None) };
        let events = reader.page_events(page)?;
        let found = events.into_iter().find(|(_, _, event)| event.version == Some(version) && !event.is_of_requisite());
        let replaced = match &found {
            Some((_, _, event)) => self.is_folded(reader, event)?,
            None => false,
        };
        Ok(Some(FoldedPage {
            url: row.url.to_string(),
            version,
            id: found.as_ref().map(|(_, id, _)| format!("e{id}")),
            cursor: found.as_ref().map(|(cursor, _, _)| cursor.to_string()),
            replaced,
        }))
    }

    fn fold(&mut self, reader: &Reader, partition: Partition, key: FoldKey) -> Result<Option<&OperationFold>> {
        if self.rows.len() >= FOLDS_KEPT_MAX {
            self.rows.clear();
        }
        let row = match self.rows.entry((partition, key.mark)) {
            std::collections::hash_map::Entry::Occupied(known) => known.into_mut(),
            std::collections::hash_map::Entry::Vacant(place) => place.insert(reader.folds(partition, key.mark)?),
        };
        Ok(row.as_ref().and_then(|row| row.fold(key.number)))
    }
}

fn plain(event: Event) -> Row {
    Row { event, part_of: Vec::new(), fold: None, unread: None }
}

/// Folds that the same versions of the same pages have.
#[derive(Default)]
struct Groups(Vec<Group>);

struct Group {
    keys: Vec<FoldKey>,
    fold: OperationFold,
}

impl Groups {
    fn add(&mut self, key: FoldKey, fold: &OperationFold) {
        let same = |group: &&mut Group| (group.fold.versions, group.fold.pages) == (fold.versions, fold.pages);
        match self.0.iter_mut().find(same) {
            Some(group) => group.keys.push(key),
            None => self.0.push(Group { keys: vec![key], fold: fold.clone() }),
        }
    }

    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn ids(&self) -> Vec<String> {
        self.0.iter().map(Group::id).collect()
    }
}

impl Group {
    /// The least of its keys, which does not depend on the order of the visits.
    fn id(&self) -> String {
        let FoldKey { mark, number } = self.keys.iter().min().copied().unwrap_or_default();
        format!("f{mark:016x}-{number}")
    }
}

/// Leaves those operations and notes in a change that are flagged, and those kinds of which something is left.
fn leave(change: &mut Change, operations: &[bool], notes: &[bool]) {
    let mut had = (Vec::new(), Vec::new());
    let kinds = |change: &Change| -> Vec<Kind> {
        let content = (!change.paragraphs.is_empty()).then_some(Kind::Content);
        content.into_iter().chain(change.notes.iter().map(|note| note.kind)).collect()
    };
    had.0 = kinds(change);
    let (mut operations, mut notes) = (operations.iter(), notes.iter());
    change.paragraphs.retain(|_| operations.next().copied().unwrap_or(true));
    change.notes.retain(|_| notes.next().copied().unwrap_or(true));
    had.1 = kinds(change);
    for kind in had.0 {
        if !had.1.contains(&kind) {
            change.left.remove(kind);
        }
    }
    // A kind without an operation or a note went along with what is left.
    if had.1.is_empty() {
        change.left = vernal_model::Kinds::default();
    }
}
