//! Reads that include pending deeds, writes as deeds, and the one commit.

use std::collections::HashMap;

use vernal_model::{
    DateRange, Deed, DocumentRow, EventKind, EvictionRow, Fingerprint, FoldKey, FoldRow, Location, Moment, NameMark,
    NameRow, NoiseBook, Origin, Page, PageKey, PageNoise, Partition, RobotsRow, Site, TopicOf, Url, Version, WeightRow,
};
use vernal_repository::bodies::{Bodies, Keep, Record};
use vernal_repository::{DiskSpace, Known, Reader, Repository, Sieving, UrlRow};

use super::group::Group;
use crate::{GroupLimits, Result};

/// The partition whose log holds what belongs to the whole crawl: seeds, controls, the budget account.
pub(crate) const WHOLE: Partition = Partition(0);

/// What a crawler asks of the place where its state is kept: bodies, journal, tables and the known set, behind one narrow
/// interface.
///
/// All state of a partition is: its deeds in the journal; in every table the rows whose keys begin with its number
/// (`repository/src/tables/keys.rs`); its runs of the known set; and the records that its rows point to. Nothing else has to
/// move with it: seeds, topics, the budget account and the marks of passes belong to the whole crawl, and what is `derived`
/// is made anew. A partition moves from one machine to another through here.
pub(crate) trait Durable: Send {
    /// Appends a record to the archive. It is durable with the next commit.
    fn keep(&mut self, keep: &Keep<'_>) -> Result<Location>;
    /// Writes, syncs and applies one group of deeds, with the records that were kept before.
    fn commit(&mut self, deeds: &[(Partition, Deed)], now: Moment) -> Result<()>;
    /// Decides which of the found URLs are new.
    fn sieve(&mut self, urls_max: usize) -> Result<Sieving>;
    /// The folder of this machine, for files that passes derive from the state: they never move with it.
    fn derived(&self) -> &Repository;
    /// Does the next step of what is still to be rewritten of erased pages, or all of it; returns whether there is more.
    fn rewrite(&mut self, whole: bool, now: Moment) -> Result<bool>;
    /// Ends a repair.
    fn end_repair(&mut self) -> Result<()>;
    fn close(self: Box<Self>) -> Result<()>;
}

impl Durable for Repository {
    fn keep(&mut self, keep: &Keep<'_>) -> Result<Location> {
        Ok(Repository::keep(self, keep)?)
    }

    fn commit(&mut self, deeds: &[(Partition, Deed)], now: Moment) -> Result<()> {
        Repository::commit(self, deeds, now)?;
        Ok(())
    }

    fn sieve(&mut self, urls_max: usize) -> Result<Sieving> {
        Ok(Repository::sieve(self, urls_max)?)
    }

    fn derived(&self) -> &Repository {
        self
    }

    fn rewrite(&mut self, whole: bool, now: Moment) -> Result<bool> {
        if whole {
            Repository::rewrite_erased(self, now)?;
            return Ok(false);
        }
        Ok(Repository::rewrite_turn(self, now)?)
    }

    fn end_repair(&mut self) -> Result<()> {
        Ok(Repository::end_repair(self)?)
    }

    fn close(self: Box<Self>) -> Result<()> {
        Ok(Repository::close(*self)?)
    }
}

pub(crate) struct Work {
    durable: Box<dyn Durable>,
    /// Acknowledged state.
    reader: Reader,
    bodies: Bodies,
    group: Group,
    limits: GroupLimits,
    /// Acknowledged URLs that may be new and wait for the sieve.
    new_urls: u64,
    commits: u64,
}

impl Work {
    pub fn new(durable: Box<dyn Durable>, reader: Reader, limits: GroupLimits) -> Self {
        Work {
            bodies: Bodies::new(reader.dir()),
            new_urls: reader.totals().found_pending,
            durable,
            reader,
            group: Group::default(),
            limits,
            commits: 0,
        }
    }

    /// Acknowledged state only: for passes, which commit before they read, and for rows that only the sieve writes.
    pub fn acknowledged(&self) -> &Reader {
        &self.reader
    }

    /// The current row of a page.
    pub fn page(&self, key: PageKey) -> Result<Option<Page>> {
        match self.group.page(key) {
            Some(page) => Ok(Some(page.clone())),
            None => Ok(self.reader.page(key)?),
        }
    }

    pub fn page_by_url(&self, url: &Url) -> Result<Option<Page>> {
        let Some(key) = self.key_of(url)?.and_then(|known| known.key) else { return Ok(None) };
        // Two URLs may share a fingerprint; the row says which one it is.
        Ok(self.page(key)?.filter(|page| page.url == *url))
    }

    /// The page of this partition whose URL has this fingerprint.
    pub fn page_by_fingerprint(&self, partition: Partition, fingerprint: Fingerprint) -> Result<Option<Page>> {
        let known = self.reader.known_as(partition, fingerprint)?;
        known.and_then(|known| known.key).map_or(Ok(None), |key| self.page(key))
    }

    /// What is known of the names of a page.
    pub fn name_row(&self, key: PageKey) -> Result<NameRow> {
        match self.group.name_row(key) {
            Some(row) => Ok(row.clone()),
            None => Ok(self.reader.name_row(key)?),
        }
    }

    /// The first pages of a partition that have this mark, by number.
    pub fn marked_pages(&self, partition: Partition, mark: NameMark, limit: usize) -> Result<Vec<PageKey>> {
        let pending = self.group.marked_pages(partition, mark);
        let kept = self.reader.marked_pages(partition, mark);
        let kept = kept.filter(|page| !matches!(page, Ok(page) if pending.contains_key(page)));
        let mut pages: Vec<PageKey> = kept.take(limit).collect::<vernal_repository::Result<_>>()?;
        pages.extend(pending.iter().filter(|(_, is_marked)| **is_marked).map(|(page, _)| *page));
        pages.sort_unstable();
        pages.truncate(limit);
        Ok(pages)
    }

    pub fn is_marked(&self, page: PageKey, mark: NameMark) -> Result<bool> {
        match self.group.marked_pages(page.partition, mark).get(&page) {
            Some(is_marked) => Ok(*is_marked),
            None => Ok(self.reader.is_marked(page, mark)?),
        }
    }

    /// What is known of a URL. Only the sieve changes the known set.
    pub fn key_of(&self, url: &Url) -> Result<Option<Known>> {
        Ok(self.reader.key_of(url)?)
    }

    pub fn url(&self, key: PageKey) -> Result<Option<UrlRow>> {
        Ok(self.reader.url(key)?)
    }

    pub fn document(&self, key: PageKey) -> Result<Option<DocumentRow>> {
        match self.group.document(key) {
            Some(document) => Ok(Some(document.clone())),
            None => Ok(self.reader.document(key)?),
        }
    }

    /// All versions of a page, the oldest first.
    pub fn versions(&self, key: PageKey) -> Result<Vec<Version>> {
        let mut versions = self.reader.versions(key)?;
        versions.extend(self.group.versions(key));
        Ok(versions)
    }

    /// The last that the feed said of a page.
    pub fn last_event_kind(&self, key: PageKey) -> Result<Option<EventKind>> {
        match self.group.last_event(key) {
            Some(event) => Ok(Some(event.kind)),
            // What is told of the names of a page says nothing of its state.
            None => {
                let events = self.reader.page_events(key)?;
                let mut kinds = events.iter().rev().map(|(_, _, event)| event.kind);
                Ok(kinds.find(|kind| !kind.is_of_names() && *kind != EventKind::Imported))
            }
        }
    }

    /// Why and when a page last left the collection, if it ever did.
    pub fn left(&self, key: PageKey) -> Result<Option<EvictionRow>> {
        match self.group.left(key) {
            Some(row) => Ok(Some(*row)),
            None => Ok(self.reader.left(key)?),
        }
    }

    pub fn noise_book(&self, site: &Site) -> Result<NoiseBook> {
        let mut book = self.reader.noise_book(site)?;
        self.group.noise_of(site).for_each(|rows| book.take(rows));
        Ok(book)
    }

    pub fn page_noise(&self, key: PageKey) -> Result<PageNoise> {
        match self.group.page_noise(key) {
            Some(noise) => Ok(noise.clone()),
            None => Ok(self.reader.page_noise(key)?),
        }
    }

    /// The folds of one mark of a site in this partition.
    pub fn folds(&self, partition: Partition, mark: u64) -> Result<Option<FoldRow>> {
        match self.group.folds(partition, mark) {
            Some(row) => Ok(Some(row.clone())),
            None => Ok(self.reader.folds(partition, mark)?),
        }
    }

    /// Whether the page has joined this fold before.
    pub fn is_page_of_fold(&self, page: PageKey, mark: u64, row: &FoldRow) -> Result<bool> {
        let fold = FoldKey { mark, number: row.number };
        let (count, sample) = (row.current.pages as usize, &row.current.sample);
        Ok(sample.iter().any(|(known, _)| *known == page)
            || count > sample.len()
                && (self.group.is_page_of_fold(page, fold) || self.reader.is_page_of_fold(page, fold)?))
    }

    pub fn topics_of(&self, key: PageKey) -> Result<Vec<TopicOf>> {
        match self.group.topics(key) {
            Some(topics) => Ok(topics.to_vec()),
            None => Ok(self.reader.topics_of(key)?),
        }
    }

    /// The scores of one range of page numbers (see `WeightRow`); empty before a pass computed them.
    pub fn scores(&self, partition: Partition, chunk: u32) -> Result<Vec<f32>> {
        match self.group.scores(partition, chunk) {
            Some(scores) => Ok(scores.to_vec()),
            None => Ok(self.reader.scores(partition, chunk)?),
        }
    }

    /// The link score of a URL, scaled so that the mean over the held pages is 1; `None` before a pass computed it.
    pub fn score(&self, key: PageKey) -> Result<Option<f32>> {
        let (chunk, place) = WeightRow::place(key.number);
        match self.group.scores(key.partition, chunk) {
            Some(scores) => Ok(scores.get(place).copied()),
            None => Ok(self.reader.score(key)?),
        }
    }

    pub fn robots(&self, origin: &Origin) -> Result<Option<RobotsRow>> {
        match self.group.robots(origin) {
            Some(row) => Ok(Some(row.clone())),
            None => Ok(self.reader.robots(origin)?),
        }
    }

    /// The entries of a list when it was last read.
    pub fn listed(&self, file: PageKey) -> Result<HashMap<Fingerprint, Option<DateRange>>> {
        let mut listed = self.reader.listed(file)?;
        for rows in self.group.listed(file) {
            listed.retain(|fingerprint, _| !rows.gone.contains(fingerprint));
            listed.extend(rows.put.iter().copied());
        }
        Ok(listed)
    }

    /// A record of the archive.
    pub fn record(&self, location: &Location) -> Result<Record> {
        Ok(self.bodies.read(location)?)
    }

    /// The number of requests so far, and their bytes on the wire.
    pub fn requests(&self) -> (u64, u64) {
        let (totals, open) = (self.reader.totals(), self.group.counts());
        (totals.visits + open.visits, totals.wire_bytes + open.wire_bytes)
    }

    /// Links that wait for the sieve.
    pub fn found(&self) -> u64 {
        self.reader.totals().found_pending + self.group.counts().found
    }

    /// URLs among the found links that are spelled out and may be new.
    pub fn new_urls(&self) -> u64 {
        self.new_urls + self.group.counts().new_urls
    }

    pub fn commits(&self) -> u64 {
        self.commits
    }

    pub fn disk_free(&self) -> Result<DiskSpace> {
        Ok(self.reader.disk_free()?)
    }

    /// Whether the group has a newer row of this page than the tables.
    pub fn is_open(&self, page: PageKey) -> bool {
        self.group.has_page(page)
    }

    pub fn is_empty(&self) -> bool {
        self.group.is_empty()
    }

    /// Whether the group is so large that it should be committed.
    pub fn is_full(&self) -> bool {
        self.group.is_full(self.limits)
    }

    pub fn push(&mut self, partition: Partition, deed: Deed) {
        self.group.push(partition, deed);
    }

    /// Keeps a record in the archive.
    pub fn keep(&mut self, keep: &Keep<'_>) -> Result<Location> {
        self.group.kept(keep.exchange.body.len());
        self.durable.keep(keep)
    }

    /// Writes, syncs and applies everything that was pushed. All readers see it afterwards.
    pub fn commit(&mut self, now: Moment) -> Result<()> {
        if self.group.is_empty() {
            return Ok(());
        }
        self.new_urls = self.new_urls();
        let deeds = self.group.take();
        self.durable.commit(&deeds, now)?;
        self.commits += 1;
        self.group.give_back(deeds);
        Ok(())
    }

    /// Decides which of the found URLs are new; everything must be committed before.
    pub fn sieve(&mut self, urls_max: usize) -> Result<Sieving> {
        self.durable.sieve(urls_max)
    }

    /// Handles the commit of the sieve's decisions; returns whether the sieve has no links left.
    pub fn sieved(&mut self) -> bool {
        let is_done = self.reader.totals().found_pending == 0;
        if is_done {
            self.new_urls = 0;
        }
        is_done
    }

    /// The folder where passes write their checkpoints.
    pub fn derived(&self) -> &Repository {
        self.durable.derived()
    }

    /// Where it is kept, for repairs and rewriting. Everything must be committed before.
    pub fn durable(&mut self) -> &mut dyn Durable {
        &mut *self.durable
    }

    pub fn close(self) -> Result<()> {
        self.durable.close()
    }
}
