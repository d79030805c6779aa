//! Follows the events of the journal, batch by batch, and commits with the place that was reached.

use std::collections::VecDeque;
use std::sync::Arc;

use foldhash::{HashMap, HashSet, HashSetExt};
use tantivy::index::{SegmentId, SegmentMeta};
use tantivy::indexer::{IndexWriterOptions, LogMergePolicy, NoMergePolicy};
use tantivy::{IndexWriter, TantivyDocument, Term};
use vernal_model::{Event, EventKind, PageKey};
use vernal_repository::{Cursor, Reader};

use super::kept::{self, ReadVersion, read_version};
use super::page_unit::{Source, language, page_unit};
use super::removed::{self, Removal};
use crate::index::opened::SearchIndex;
use crate::index::place::Place;
use crate::index::schema::number_of;
use crate::{Error, Result};

/// Events that are read at once.
pub const BATCH_EVENTS: usize = 256;
/// Units in memory before they are written as a segment; the least that the library takes is 15 MB.
const WRITER_BYTES: usize = 24 << 20;
/// A segment of which more is replaced or removed is written anew.
const REPLACED_SHARE_MAX: f32 = 0.4;
/// Versions that were read last. The next change of a page begins with one of them.
const KEPT_VERSIONS: usize = 64;
/// Text of all of them together.
const KEPT_TEXT_BYTES: usize = 16 << 20;

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
    recent: VecDeque<(PageKey, Arc<ReadVersion>)>,
    /// Pages whose events the last commit does not have.
    uncommitted: HashSet<PageKey>,
    /// Pages were erased, and files may still have their words.
    purges: bool,
}

impl Follower {
    /// There is at most one at a time.
    pub fn of(index: &SearchIndex, reader: Reader) -> Result<Follower> {
        let options = IndexWriterOptions::builder()
            .memory_budget_per_thread(WRITER_BYTES)
            .num_worker_threads(1)
            .num_merge_threads(1)
            .build();
        let writer = index.library().writer_with_options(options).map_err(Error::index("write the search index"))?;
        writer.set_merge_policy(merge_policy());
        let place = index.place();
        let progress = Progress { cursor: place.cursor, ..Progress::default() };
        Ok(Follower {
            index: index.clone(),
            reader,
            writer,
            place,
            progress,
            is_changed: false,
            recent: VecDeque::with_capacity(KEPT_VERSIONS),
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
            self.place = Place { cursor: *cursor, last: Some((*cursor, *id)) };
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
        if !self.is_changed && !self.purges {
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
        if self.purges { self.purge() } else { Ok(()) }
    }

    /// Writes the files that have removed units anew without them, and removes the old ones.
    fn purge(&mut self) -> Result<()> {
        let act = "write the search index without erased pages";
        let metas = self.index.library().searchable_segment_metas().map_err(Error::index(act))?;
        // A list of segments keeps their files, so that it must not live until they are removed.
        let ids: Vec<SegmentId> = metas.into_iter().filter(SegmentMeta::has_deletes).map(|meta| meta.id()).collect();
        for id in ids {
            // A merge of one segment leaves out what was removed from it.
            // Where another merge has the segment at this moment, the next commit tries again.
            if self.writer.merge(&[id]).wait().is_err() {
                return Ok(());
            }
        }
        self.index.show(self.place)?;
        self.writer.garbage_collect_files().wait().map_err(Error::index(act))?;
        self.writer.set_merge_policy(merge_policy());
        self.purges = false;
        self.index.set_to_purge(false)
    }

    /// Takes all events that there are. `told` hears of each batch and says whether to go on; what was taken is committed.
    pub fn catch_up(&mut self, mut told: impl FnMut(Progress) -> bool) -> Result<()> {
        /// A commit costs some ten milliseconds, and what came after the last one is done again after a crash.
        const COMMIT_EVENTS: u64 = 20_000;
        let mut committed = self.progress.events;
        loop {
            let is_more = self.take(BATCH_EVENTS)?;
            let goes_on = told(self.progress);
            if !is_more || !goes_on || self.progress.events - committed >= COMMIT_EVENTS {
                self.commit()?;
                committed = self.progress.events;
            }
            if !is_more || !goes_on {
                return Ok(());
            }
        }
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
                self.recent.retain(|(page, _)| *page != event.page);
                self.purges = true;
                // Merges of its own would have segments that are to be written anew.
                self.writer.set_merge_policy(Box::new(NoMergePolicy));
                self.index.set_to_purge(true)?;
                self.remove_all(event.page);
                Ok(())
            }
            EventKind::Joined => {
                self.remove_page(event.page);
                Ok(())
            }
            _ if is_second_name => {
                self.remove_page(event.page);
                Ok(())
            }
            EventKind::Gone | EventKind::Moved => self.ended(cursor, event),
            EventKind::Imported => self.put_in(cursor, event),
            _ => self.went_on(cursor, event, is_last),
        }
    }

    /// The page is gone or redirects: it has no current text, and all that it had is removed text.
    fn ended(&mut self, cursor: Cursor, event: &Event) -> Result<()> {
        self.remove_page(event.page);
        let Some(number) = event.previous else { return Ok(()) };
        let Some(old) = self.read(event, number)? else { return Ok(()) };
        if old.document.directives.noindex {
            self.remove_all(event.page);
            return Ok(());
        }
        let numbers = kept::numbers(&self.reader, event.page, number, old.document.paragraphs.len())?;
        let removals = removed::by_end(event, cursor, &old, &numbers);
        self.add_removals(event, &language(&old), &removals)
    }

    /// A version from before the newest came with an archive: what it no longer has is removed text, and the text of now stays.
    fn put_in(&mut self, cursor: Cursor, event: &Event) -> Result<()> {
        let Some(number) = event.version else { return Ok(()) };
        let new = self.read(event, number)?;
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
        let new = self.read(event, number)?;
        let has_no_text = match &new {
            // Sitemaps, feeds and tables are read for the pages that they name.
            Some(read) => read.document.directives.noindex || read.document.listing.is_some(),
            // Without a body the row of the newest version tells.
            None => self.reader.document(event.page)?.is_some_and(|row| row.directives.noindex),
        };
        if has_no_text {
            self.remove_all(event.page);
            return Ok(());
        }
        self.removed(cursor, event, new.as_deref())?;
        if is_last {
            self.remove_page(event.page);
            if let Some(read) = &new {
                let unit = page_unit(self.index.fields(), &Source::of(event), read);
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
        let old = if needs_old { self.read(event, previous)? } else { None };
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

    fn read(&mut self, event: &Event, number: u32) -> Result<Option<Arc<ReadVersion>>> {
        let is_it = |(page, read): &&(PageKey, Arc<ReadVersion>)| (*page, read.version.number) == (event.page, number);
        if let Some((_, read)) = self.recent.iter().find(is_it) {
            return Ok(Some(Arc::clone(read)));
        }
        let Some(read) = read_version(&self.reader, event.page, &event.url, number)?.map(Arc::new) else {
            return Ok(None);
        };
        self.recent.push_back((event.page, Arc::clone(&read)));
        let mut bytes: usize = self.recent.iter().map(|(_, read)| read.document.text.len()).sum();
        while self.recent.len() > KEPT_VERSIONS || bytes > KEPT_TEXT_BYTES {
            let Some((_, oldest)) = self.recent.pop_front() else { break };
            bytes -= oldest.document.text.len();
        }
        Ok(Some(read))
    }
}

fn merge_policy() -> Box<LogMergePolicy> {
    let mut merges = LogMergePolicy::default();
    merges.set_del_docs_ratio_before_merge(REPLACED_SHARE_MAX);
    Box::new(merges)
}

/// Whether an event changes what text a page has.
fn concerns_text(event: &Event) -> bool {
    !matches!(event.kind, EventKind::Template | EventKind::Blocked)
}
