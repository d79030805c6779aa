//! The deeds by which the names of pages become others.

use std::collections::{BTreeMap, BTreeSet};

use vernal_model::{
    Change, Deed, Event, EventKind, Moment, NameMark, NameRow, Named, Page, PageKey, ParagraphChange, Retold, SameAs,
};

use super::group::NameGroup;
use crate::Result;
use crate::work::Work;

/// So many names of one page are looked at when it may have stopped being one page.
const NAMES_MAX: usize = 32;

/// What was seen just now.
pub(super) struct Sighting {
    pub now: Moment,
    /// The page that has another version than before.
    pub changed: Option<PageKey>,
    /// The page that was told to nobody before.
    pub fresh: Option<PageKey>,
}

/// Works out the names of these pages, and of all that were one page with them until now.
pub(super) fn rename(work: &mut Work, pages: &[PageKey], sighting: &Sighting) -> Result<()> {
    let mut starts = pages.to_vec();
    for &page in pages {
        let row = work.name_row(page)?;
        let first = row.same_as.map_or(page, |same| same.first);
        if row.is_first || row.same_as.is_some() {
            starts.push(first);
            starts.extend(work.marked_pages(page.partition, NameMark::SecondOf(first.number), NAMES_MAX)?);
        }
    }
    let mut rows: BTreeMap<PageKey, NameRow> = BTreeMap::new();
    let mut met: BTreeSet<PageKey> = BTreeSet::new();
    for start in starts {
        if !met.insert(start) {
            continue;
        }
        match NameGroup::of(work, start)? {
            Some(group) => {
                met.extend(group.members.iter().map(|(page, _)| page.key()));
                rows.extend(named(&group, sighting));
            }
            None => {
                let row = work.name_row(start)?;
                rows.insert(start, NameRow { same_as: None, is_first: false, ..row });
            }
        }
    }
    for (page, row) in rows {
        if let Some(deed) = deed(work, page, row, sighting)? {
            work.push(page.partition, deed);
        }
    }
    Ok(())
}

/// The new rows of the members of a group.
fn named(group: &NameGroup, sighting: &Sighting) -> Vec<(PageKey, NameRow)> {
    let place = group.first();
    let first = &group.members[place].0;
    let row = |(member, (page, _)): (usize, &(super::candidate::Candidate, _))| {
        let same_as = (member != place).then(|| {
            let before = page.row.same_as.filter(|same| same.first == first.key());
            let is_equal = page.content == first.content;
            let is_seen = [page.key(), first.key()].into_iter().any(|key| sighting.changed == Some(key));
            let unequal = before.map_or(0, |same| same.unequal);
            SameAs {
                first: first.key(),
                why: group.reason(member, place),
                since: before.map_or(sighting.now, |same| same.since),
                unequal: if is_equal { 0 } else { unequal.saturating_add(u8::from(is_seen)) },
            }
        });
        let is_first = member == place && group.members.len() > 1;
        (page.key(), NameRow { same_as, is_first, ..page.row.clone() })
    };
    group.members.iter().enumerate().map(row).collect()
}

/// The deed that gives a page this row; `None` if it has it.
fn deed(work: &Work, key: PageKey, row: NameRow, sighting: &Sighting) -> Result<Option<Deed>> {
    let before = work.name_row(key)?;
    if before == row {
        return Ok(None);
    }
    let mut named = Named::new(key);
    let [old, new] = [&before, &row].map(|row| row.same_as.map(|same| same.first));
    if old != new {
        named.unmarked.extend(old.map(|first| NameMark::SecondOf(first.number)));
        named.marked.extend(new.map(|first| NameMark::SecondOf(first.number)));
        named.retold = Some(Retold { first: new, from_start: sighting.fresh == Some(key) });
    }
    named.event = match (old, new) {
        (None, Some(first)) if sighting.fresh != Some(key) => joined(work, key, first, sighting.now)?,
        (Some(_), None) => parted(work, key, sighting.now)?,
        _ => None,
    };
    named.row = Some(row);
    Ok(Some(Deed::Named(Box::new(named))))
}

/// The event of a page that becomes a second name after it was told: consumers drop its paragraphs by their numbers.
fn joined(work: &Work, key: PageKey, first: PageKey, now: Moment) -> Result<Option<Event>> {
    let (page, first) = (work.page(key)?, work.page(first)?);
    let Some((page, first)) = page.zip(first) else { return Ok(None) };
    let mut event = event(work, &page, EventKind::Joined, now)?;
    (event.version, event.detail) = (None, first.url.as_str().into());
    let marks = work.document(key)?.map(|document| document.signature.paragraphs).unwrap_or_default();
    event.change.paragraphs =
        marks.iter().enumerate().map(|(place, mark)| ParagraphChange::removed(place, mark)).collect();
    Ok(Some(event))
}

/// The event of a page that stands on its own again, which brings all its paragraphs. A page that is gone or moved has an event
/// that says so.
fn parted(work: &Work, key: PageKey, now: Moment) -> Result<Option<Event>> {
    let page = work.page(key)?.filter(|page| page.state == vernal_model::PageState::Held);
    page.map(|page| event(work, &page, EventKind::Parted, now)).transpose()
}

fn event(work: &Work, page: &Page, kind: EventKind, now: Moment) -> Result<Event> {
    let document = work.document(page.key)?.unwrap_or_default();
    let version = page.version.map(|version| version.number);
    Ok(Event {
        kind,
        page: page.key,
        url: page.url.clone(),
        version,
        previous: version,
        seen_same: page.last_confirmed,
        seen_different: now,
        title: document.title,
        language: document.language,
        content_type: document.content_type,
        change: Change::default(),
        detail: "".into(),
    })
}
