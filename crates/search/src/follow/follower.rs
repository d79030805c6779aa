//! Follows the events of the journal, batch by batch, and commits with the place that was reached.

use std::collections::BTreeSet;
use std::sync::Arc;

use foldhash::{HashMap, HashSet, HashSetExt};
use tantivy::{IndexWriter, TantivyDocument, Term};
use vernal_model::{Event, EventKind, PageKey, Url};
use vernal_repository::{Cursor, Reader};

use super::kept::{self, ReadVersion, read_version};
use super::link_words;
use super::page_unit::{Source, language, page_unit};
use super::recent::RecentVersions;
use super::removed::{self, Removal};
use super::stale::StaleAnchors;
use super::writer::{begin_purge, purge, writer_of};
use crate::index::held_unit::{addresses, held_unit};
use crate::index::opened::SearchIndex;
use crate::index::place::Place;
use crate::index::schema::number_of;
use crate::{Error, Result};

/// Events that are read at once.
pub const BATCH_EVENTS: usize = 256;
/// Pages whose words of links are looked at again at once.
const STALE_AT_ONCE: usize = 256;

/// How far a follower has come.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    pub cursor: Cursor,
    /// The end of the journal, as it was when the batch began.
    pub end: Cursor,
    pub events: u64,
    /// Units that were added.
    pub units: u64,
}

/// The one writer of an index.
pub struct Follower {
    index: SearchIndex,
    reader: Reader,
    writer: IndexWriter,
    place: Place,
    progress: Progress,
    /// Units or removals that the last commit does not have.
    is_changed: bool,
    /// Pages whose words of links may be others now.
    stale: StaleAnchors,
    recent: RecentVersions,
    /// Pages whose events the last commit does not have.
    uncommitted: HashSet<PageKey>,
    /// Pages were erased, and files may still have their words.
    purges: bool,
}

impl Follower {
    /// There is at most one at a time.
    pub fn of(index: &SearchIndex, reader: Reader) -> Result<Follower> {
        let writer = writer_of(index)?;
        let place = index.place();
        let progress = Progress { cursor: place.cursor, ..Progress::default() };
        Ok(Follower {
            index: index.clone(),
            reader,
            writer,
            place,
            progress,
            is_changed: false,
            stale: StaleAnchors::of(place.has_anchors),
            recent: RecentVersions::default(),
            uncommitted: HashSet::new(),
            purges: index.is_to_purge(),
        })
    }

    pub fn progress(&self) -> Progress {
        self.progress
    }

    /// Takes the next events, at most `limit`. Returns whether there may be more.
    pub fn take(&mut self, limit: usize) -> Result<bool> {
        // Asked before the events are read, so that none can lie between them and the end.
        let end = self.reader.cursor();
        let events = self.reader.events(self.place.cursor, limit)?;
        let is_full = events.len() == limit;
        let of_text = events.iter().filter(|(_, _, event)| concerns_text(event) && event.kind != EventKind::Imported);
        let last_of: HashMap<PageKey, Cursor> = of_text.map(|(cursor, _, event)| (event.page, *cursor)).collect();
        for (cursor, id, event) in &events {
            self.event(*cursor, event, last_of.get(&event.page) == Some(cursor))?;
            self.uncommitted.insert(event.page);
            self.place = Place { cursor: *cursor, last: Some((*cursor, *id)), ..self.place };
        }
        if !is_full {
            self.place.cursor = self.place.cursor.max(end);
        }
        self.progress.events += events.len() as u64;
        (self.progress.cursor, self.progress.end) = (self.place.cursor, end);
        Ok(is_full)
    }

    /// Makes everything that was taken durable, together with its place, and shows it to those who ask.
    pub fn commit(&mut self) -> Result<()> {
        let had_anchors = self.place.has_anchors;
        self.place.has_anchors = self.stale.is_empty();
        if !self.is_changed && !self.must_purge() && had_anchors == self.place.has_anchors {
            self.index.note_place(self.place);
            return Ok(());
        }
        let act = "commit the search index";
        let mut prepared = self.writer.prepare_commit().map_err(Error::index(act))?;
        prepared.set_payload(&self.place.to_payload());
        prepared.commit().map_err(Error::index(act))?;
        self.is_changed = false;
        self.uncommitted.clear();
        self.index.show(self.place)?;
        if self.must_purge() {
            self.purges = !purge(&mut self.writer, &self.index)?
        }
        Ok(())
    }

    /// Whether files are to be written anew: not before what the links of an erased page said is gone from other units.
    fn must_purge(&self) -> bool {
        self.purges && self.stale.is_empty()
    }

    /// Takes all events that there are, and gives all pages the words of the links to them. `told` hears of each batch and says
    /// whether to go on; what was taken is committed.
    pub fn catch_up(&mut self, mut told: impl FnMut(Progress) -> bool) -> Result<()> {
        if !self.take_all(&mut told)? {
            return self.commit();
        }
        while self.refresh_anchors()? && told(self.progress) {}
        self.commit()
    }

    /// Takes all events that there are. Much of it is committed on the way, and the rest is not. `told` hears of each batch and
    /// says whether to go on; returns whether it did to the end.
    pub fn take_all(&mut self, told: &mut dyn FnMut(Progress) -> bool) -> Result<bool> {
        /// A commit costs some ten milliseconds, and what came after the last one is done again after a crash.
        const COMMIT_EVENTS: u64 = 20_000;
        let mut committed = self.progress.events;
        loop {
            let is_more = self.take(BATCH_EVENTS)?;
            if !told(self.progress) {
                return Ok(false);
            }
            if !is_more {
                return Ok(true);
            }
            if self.progress.events - committed >= COMMIT_EVENTS {
                self.commit()?;
                committed = self.progress.events;
            }
        }
    }

    /// Whether the last commit lacks something of what was taken.
    pub fn has_uncommitted(&self) -> bool {
        self.is_changed
    }

    /// Whether files may have words of erased pages.
    pub fn is_to_purge(&self) -> bool {
        self.purges
    }

    /// Whether pages may lack words of links to them, or have some that are no longer there.
    pub fn has_stale_anchors(&self) -> bool {
        !self.stale.is_empty()
    }

    /// Looks again at what links say of some of the pages for which it may have changed. Returns whether there are more. What was
    /// taken is committed before, because only the links of committed units can be asked.
    pub fn refresh_anchors(&mut self) -> Result<bool> {
        if self.stale.is_empty() {
            return Ok(false);
        }
        if !self.uncommitted.is_empty() {
            self.commit()?;
        }
        let (searcher, _) = self.index.searcher();
        for address in self.stale.next(STALE_AT_ONCE, || addresses(&searcher))? {
            let Some(unit) = held_unit(&searcher, self.index.fields(), address)? else { continue };
            let anchors = link_words::anchors(&searcher, self.index.fields(), address)?;
            if link_words::digest(&anchors) == unit.anchors_digest {
                continue;
            }
            let Some(page) = self.reader.page(unit.page)? else { continue };
            let Some(read) = self.read(unit.page, &page.url, unit.version)? else { continue };
            if read.document.directives.noindex {
                continue;
            }
            let source = Source { page: unit.page, url: &page.url, kinds: unit.kinds, time: unit.time };
            let unit = page_unit(self.index.fields(), &source, &read, &anchors);
            self.remove_page(source.page);
            self.add(unit)?;
        }
        Ok(!self.stale.is_empty())
    }

    /// Waits for merges that are under way and ends.
    pub fn close(mut self) -> Result<()> {
        self.commit()?;
        self.writer.wait_merging_threads().map_err(Error::index("end the merges of the search index"))
    }

    /// `is_last`: no later event of the batch is about this page, so that its unit is made now.
    fn event(&mut self, cursor: Cursor, event: &Event, is_last: bool) -> Result<()> {
        if !concerns_text(event) {
            return Ok(());
        }
        // A page that is told under another name has no units of its own.
        let is_second_name = self.reader.first_name_at(event.page, cursor)?.is_some();
        match event.kind {
            EventKind::Erased => {
                self.recent.forget(event.page);
                self.purges = true;
                begin_purge(&mut self.writer, &self.index)?;
                // What its links said went with its body.
                self.stale.mark_all();
                self.remove_all(event.page);
                Ok(())
            }
            EventKind::Joined => self.left(event),
            _ if is_second_name => self.left(event),
            EventKind::Gone | EventKind::Moved => self.ended(cursor, event),
            EventKind::Imported => self.put_in(cursor, event),
            _ => self.went_on(cursor, event, is_last),
        }
    }

    /// The page is gone or redirects: it has no current text, and all that it had is removed text.
    fn ended(&mut self, cursor: Cursor, event: &Event) -> Result<()> {
        self.left(event)?;
        let Some(number) = event.previous else { return Ok(()) };
        let Some(old) = self.read(event.page, &event.url, number)? else { return Ok(()) };
        if old.document.directives.noindex {
            self.remove_all(event.page);
            return Ok(());
        }
        let numbers = kept::numbers(&self.reader, event.page, number, old.document.paragraphs.len())?;
        let removals = removed::by_end(event, cursor, &old, &numbers);
        self.add_removals(event, &language(&old), &removals)
    }

    /// The page has no unit any more, and nothing is known of the links that it had.
    fn left(&mut self, event: &Event) -> Result<()> {
        self.remove_page(event.page);
        self.mark_links(event, event.previous.or(event.version), None)
    }

    /// The pages that these links lead to are looked at again, those of them that both versions have left out.
    fn mark_links(&mut self, event: &Event, old: Option<u32>, new: Option<&ReadVersion>) -> Result<()> {
        if self.stale.is_all() {
            return Ok(());
        }
        let terms = |read: &ReadVersion| link_words::terms(&event.url, read);
        let new_terms = new.map(terms).unwrap_or_default();
        // Most changes leave the links alone: then the older body is not read again.
        if !self.uncommitted.contains(&event.page) {
            let (searcher, _) = self.index.searcher();
            let unit = held_unit(&searcher, self.index.fields(), event.url.fingerprint().0)?;
            let digest = link_words::digest(&new_terms);
            if unit.is_some_and(|unit| Some(unit.version) == old && unit.links_digest == digest) {
                return Ok(());
            }
        }
        let old_terms = match old {
            None => BTreeSet::new(),
            Some(number) => match self.read(event.page, &event.url, number)? {
                Some(old) => terms(&old),
                // Its body is not kept any more.
                None => {
                    self.stale.mark_all();
                    return Ok(());
                }
            },
        };
        self.stale.mark(old_terms.symmetric_difference(&new_terms));
        Ok(())
    }

    /// A version from before the newest came with an archive: what it no longer has is removed text, and the text of now stays.
    fn put_in(&mut self, cursor: Cursor, event: &Event) -> Result<()> {
        let Some(number) = event.version else { return Ok(()) };
        let new = self.read(event.page, &event.url, number)?;
        if new.as_ref().is_some_and(|new| new.document.directives.noindex) {
            return Ok(());
        }
        self.removed(cursor, event, new.as_deref())
    }

    fn went_on(&mut self, cursor: Cursor, event: &Event, is_last: bool) -> Result<()> {
        let number = match event.version.or(event.previous) {
            Some(number) => number,
            None => match self.reader.page(event.page)?.and_then(|page| page.version) {
                Some(version) => version.number,
                None => return Ok(()),
            },
        };
        let new = self.read(event.page, &event.url, number)?;
        let has_no_text = match &new {
            // Sitemaps, feeds and tables are read for the pages that they name.
            Some(read) => read.document.directives.noindex || read.document.listing.is_some(),
            // Without a body the row of the newest version tells.
            None => self.reader.document(event.page)?.is_some_and(|row| row.directives.noindex),
        };
        // A page that came back had no unit before.
        let old = event.previous.filter(|previous| *previous != number && event.kind != EventKind::Back);
        if new.is_some() || old.is_some() {
            self.mark_links(event, old, new.as_deref())?;
        }
        if has_no_text {
            self.remove_all(event.page);
            return Ok(());
        }
        self.removed(cursor, event, new.as_deref())?;
        if is_last {
            self.remove_page(event.page);
            if let Some(read) = &new {
                let (searcher, _) = self.index.searcher();
                let anchors = link_words::anchors(&searcher, self.index.fields(), event.url.fingerprint().0)?;
                let unit = page_unit(self.index.fields(), &Source::of(event), read, &anchors);
                self.add(unit)?;
            }
        }
        Ok(())
    }

    fn removed(&mut self, cursor: Cursor, event: &Event, new: Option<&ReadVersion>) -> Result<()> {
        let (Some(previous), false) = (event.previous, event.change.paragraphs.is_empty()) else { return Ok(()) };
        if event.version.is_none() || event.version == event.previous {
            return Ok(());
        }
        // An event that has all the words that went is enough, if the version before was no secret; a page that is in the index
        // was none. So the older body of most changes is not read again.
        let tells_all = removed::tells_all(event);
        let needs_old = !tells_all || self.uncommitted.contains(&event.page) || !self.index.has_page(event.page)?;
        let old = if needs_old { self.read(event.page, &event.url, previous)? } else { None };
        if old.as_ref().is_some_and(|old| old.document.directives.noindex) {
            return Ok(());
        }
        // What is found must not depend on when the index was committed.
        let old = old.filter(|_| !tells_all);
        let removals = removed::by_change(event, cursor, old.as_deref(), new);
        let language = old.as_deref().or(new).map(language).unwrap_or_default();
        self.add_removals(event, &language, &removals)
    }

    fn add_removals(&mut self, event: &Event, language: &str, removals: &[Removal]) -> Result<()> {
        let source = Source::of(event);
        for removal in removals.iter().filter(|removal| !removal.told.text.trim().is_empty()) {
            let unit = removed::unit(self.index.fields(), &source, language, removal);
            self.add(unit)?;
        }
        Ok(())
    }

    fn add(&mut self, unit: TantivyDocument) -> Result<()> {
        self.is_changed = true;
        self.progress.units += 1;
        self.writer.add_document(unit).map(drop).map_err(Error::index("add to the search index"))
    }

    fn remove_page(&mut self, page: PageKey) {
        self.is_changed = true;
        self.writer.delete_term(Term::from_field_u64(self.index.fields().current, number_of(page)));
    }

    fn remove_all(&mut self, page: PageKey) {
        self.is_changed = true;
        self.writer.delete_term(Term::from_field_u64(self.index.fields().of, number_of(page)));
    }

    fn read(&mut self, page: PageKey, url: &Url, number: u32) -> Result<Option<Arc<ReadVersion>>> {
        if let Some(read) = self.recent.find(page, number) {
            return Ok(Some(read));
        }
        let read = read_version(&self.reader, page, url, number)?.map(Arc::new);
        if let Some(read) = &read {
            self.recent.keep(page, Arc::clone(read));
        }
        Ok(read)
    }
}

/// Whether an event changes what text a page has.
fn concerns_text(event: &Event) -> bool {
    !matches!(event.kind, EventKind::Template | EventKind::Blocked)
}
