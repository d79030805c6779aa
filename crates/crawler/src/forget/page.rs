//! Everything that is kept of one page, as the deed that erases it, and what must let go of it in memory.

use std::collections::{BTreeSet, HashSet};

use vernal_model::{
    Change, Deed, ErasedCounts, ErasedPage, Event, EventKind, FoldKey, Moment, NameMark, NameRow, Named, Page, PageKey,
    PageState, ToldFolds, Url,
};
use vernal_repository::UrlRow;

use crate::Result;
use crate::core::Core;
use crate::hints::Hints;
use crate::intake::discovery;
use crate::plan::Planner;

/// How much of these pages is kept.
pub(super) fn counts(core: &Core, keys: &BTreeSet<PageKey>) -> Result<ErasedCounts> {
    let mut counts = ErasedCounts::default();
    for key in keys {
        counts.add(counts_of(core, *key)?);
    }
    Ok(counts)
}

fn counts_of(core: &Core, key: PageKey) -> Result<ErasedCounts> {
    if core.work.page(key)?.is_none() {
        return Ok(ErasedCounts { waiting: 1, ..ErasedCounts::default() });
    }
    let versions = core.work.versions(key)?;
    let body_bytes = versions.iter().map(|version| u64::from(version.body_bytes)).sum();
    Ok(ErasedCounts { pages: 1, waiting: 0, versions: versions.len() as u64, body_bytes })
}

/// Erases one page: its deeds are pushed, and nothing in memory leads to it any more. Everything must be committed before.
pub(super) fn erase(
    core: &mut Core,
    plan: &mut Planner,
    hints: &mut Hints,
    row: UrlRow,
    retold: Vec<(u64, Event)>,
    now: Moment,
) -> Result<ErasedCounts> {
    let key = row.page;
    let page = core.work.page(key)?;
    let counts = counts_of(core, key)?;
    unlink(core, page.as_ref())?;
    unname(core, key, &row.url)?;
    let reader = core.work.acknowledged();
    let was_told = !reader.page_events(key)?.is_empty();
    let erased = ErasedPage {
        page: key,
        site: row.place.site.clone(),
        fingerprint: row.url.fingerprint(),
        was: page.as_ref().map(|page| page.state),
        left: page.is_none().then(|| row.place.clone()),
        counts,
        records: reader.records_of_page(key)?,
        event: was_told.then(|| event(key, row.url.clone(), now)),
        retold,
    };
    core.work.push(key.partition, Deed::Erased(Box::new(erased)));
    let_go(core, plan, hints, page.as_ref(), row);
    Ok(counts)
}

/// Links of the page stop counting as back links.
fn unlink(core: &mut Core, page: Option<&Page>) -> Result<()> {
    let Some(page) = page.filter(|page| matches!(page.state, PageState::Held | PageState::Left)) else { return Ok(()) };
    let Some(document) = core.work.document(page.key)? else { return Ok(()) };
    for (id, gone) in discovery::counted(&document) {
        core.work.push(id, Deed::Unlinked { gone });
    }
    Ok(())
}

/// Removes the marks by which other pages find this one as a name of theirs.
fn unname(core: &mut Core, key: PageKey, url: &Url) -> Result<()> {
    let before = core.work.name_row(key)?;
    let mut marks = vec![NameMark::Spelling(url.spelling_mark())];
    marks.extend(before.canonical.map(NameMark::Canonical));
    marks.extend(before.same_as.map(|same| NameMark::SecondOf(same.first.number)));
    let mut named = Named::new(key);
    for mark in marks {
        if core.work.is_marked(key, mark)? {
            named.unmarked.push(mark);
        }
    }
    if !named.unmarked.is_empty() || !before.is_empty() {
        named.row = Some(NameRow::default());
        core.work.push(key.partition, Deed::Named(Box::new(named)));
    }
    Ok(())
}

/// What the feed tells of an erased page: its address and nothing else.
fn event(page: PageKey, url: Url, now: Moment) -> Event {
    Event {
        kind: EventKind::Erased,
        page,
        url,
        version: None,
        previous: None,
        seen_same: None,
        seen_different: now,
        title: "".into(),
        language: "".into(),
        content_type: "".into(),
        change: Change::default(),
        detail: "".into(),
    }
}

fn let_go(core: &mut Core, plan: &mut Planner, hints: &mut Hints, page: Option<&Page>, row: UrlRow) {
    let key = row.page;
    plan.drop_chosen(key);
    hints.forget_page(&row.place.site, key);
    let partition = core.partitions.of_mut(key.partition);
    let Some(page) = page else {
        // Where a candidate was given back it is taken already, and the planner drops it when its turn comes.
        if !core.in_flight.has(key) && partition.waiting.take(&mut partition.sites, row).is_some() {
            partition.waiting.visited(key);
        }
        return;
    };
    partition.refresh.policy.forget(key);
    partition.refresh.invalidate();
    partition.retries.forget(page);
    if page.state == PageState::Held {
        partition.count_held(&page.url.site(), -1);
    }
}

/// The events of sites that are told in the words of erased pages, told in those of another page that has the same change.
pub(super) fn retold(core: &Core, keys: &BTreeSet<PageKey>, now: Moment) -> Result<Vec<(PageKey, u64, Event)>> {
    let pages: HashSet<PageKey> = keys.iter().copied().collect();
    let mut retold = Vec::new();
    for (cursor, before, folds) in core.work.acknowledged().site_events_of(&pages)? {
        let event = match another(core, before.page, &folds, &pages)? {
            Some(other) => told_of(core, &before, &other)?,
            None => event(before.page, before.url.clone(), now),
        };
        retold.push((before.page, cursor.0, event));
    }
    Ok(retold)
}

/// A page that joined the same folds and stays.
fn another(core: &Core, told: PageKey, folds: &ToldFolds, erased: &HashSet<PageKey>) -> Result<Option<Page>> {
    for FoldKey { mark, number } in folds.operations.iter().chain(&folds.notes) {
        let row = core.work.folds(told.partition, *mark)?;
        let sample = row.as_ref().and_then(|row| row.fold(*number)).map(|fold| fold.sample.as_slice());
        for (key, _) in sample.unwrap_or_default() {
            if !erased.contains(key)
                && let Some(page) = core.work.page(*key)?
            {
                return Ok(Some(page));
            }
        }
    }
    Ok(None)
}

/// The same event under the address and the title of another page. Its operation is that of all of them.
fn told_of(core: &Core, event: &Event, page: &Page) -> Result<Event> {
    let title = core.work.document(page.key)?.map(|document| document.title).unwrap_or_default();
    Ok(Event { page: page.key, url: page.url.clone(), title, version: None, previous: None, ..event.clone() })
}
