//! Applies one group of deeds to the tables as one atomic batch, and then updates the state in memory.

use std::ops::Range;

use fjall::Slice;
use foldhash::{HashMap, HashMapExt};
use vernal_model::{
    Control, Deed, Eviction, Fingerprint, FoldKey, Folded, Found, GraphMark, Moment, Page, PageKey, Partition,
    Relocated, RobotsRow, Sequence, Site, SiteProfile, SiteRow, Subscription, Telling, TopicOf, Visit, VisitCounts,
    Visited,
};

use super::obsolete::Obsolete;
use super::row_batch::RowBatch;
use super::rows::{FoundRow, StampedSite, State, decode};
use super::series::OpenSite;
use super::waiting::WaitingRows;
use super::{Shared, keys};
use crate::forget::{ErasureMark, mark_of};
use crate::journal::{VisitedRanges, WrittenFrame};
use crate::sieve::KnownSet;
use crate::{Error, EventId, Result};

/// A commit group on its way into the tables.
pub(crate) struct Group<'a> {
    pub moment: Moment,
    /// The position of the first deed.
    pub first: u64,
    pub entries: Vec<(Partition, Sequence, &'a Deed)>,
    /// The journal frame of the group, if it was just written. Then the rows of visits are copied from it.
    pub written: Option<WrittenFrame<'a>>,
}

/// Applies one group: all of it or nothing.
pub(crate) fn apply(shared: &Shared, group: &Group<'_>) -> Result<Obsolete> {
    let last = group.first + group.entries.len() as u64 - 1;
    let mut applying = Applying {
        shared,
        rows: RowBatch::new(shared, group.entries.len()),
        state: shared.live().state.clone(),
        known: None,
        sites: HashMap::new(),
        waiting: HashMap::new(),
        obsolete: Obsolete::default(),
        relinked: Vec::new(),
        erases: false,
        last,
    };
    for (index, (partition, sequence, deed)) in group.entries.iter().enumerate() {
        let position = group.first + index as u64;
        match deed {
            Deed::Visited(visited) => {
                let rows = group.written.as_ref().and_then(|written| rows_of(written, index));
                applying.visited(*partition, *sequence, position, visited, rows)?;
            }
            Deed::Folded(folded) => {
                applying.folded(EventId { partition: *partition, sequence: *sequence }, position, folded)?
            }
            Deed::Erased(erased) => {
                applying.erased(EventId { partition: *partition, sequence: *sequence }, position, erased)?
            }
            deed => applying.deed(*partition, *sequence, deed)?,
        }
        let place = applying.state.partition_mut(*partition);
        place.sequence = place.sequence.max(*sequence);
    }
    applying.sieved(&group.entries)?;
    applying.learned(&group.entries)?;
    applying.named(group.first, &group.entries)?;
    applying.state.moment = applying.state.moment.max(group.moment);
    applying.state.position = last;
    applying.finish()
}

/// The rows of one visit, as bytes of the journal.
struct VisitedRows<'a> {
    page: &'a [u8],
    visit: &'a [u8],
    document: Option<&'a [u8]>,
    event: Option<&'a [u8]>,
}

fn rows_of<'a>(written: &WrittenFrame<'a>, index: usize) -> Option<VisitedRows<'a>> {
    let VisitedRanges { page, visit, document, event } = written.places.get(index)?.as_ref()?;
    let row = |place: &Range<usize>| written.bytes.get(place.clone());
    let (document, event) = (document.as_ref().and_then(row), event.as_ref().and_then(row));
    Some(VisitedRows { page: row(page)?, visit: row(visit)?, document, event })
}

pub(super) struct Applying<'a> {
    pub(super) shared: &'a Shared,
    pub(super) rows: RowBatch<'a>,
    pub(super) state: State,
    /// The next generation of the known set, if there is one.
    pub(super) known: Option<KnownSet>,
    /// The site rows that this group changes; `None` when the table has applied this group already.
    sites: HashMap<Site, Option<OpenSite>>,
    pub(super) waiting: WaitingRows,
    pub(super) obsolete: Obsolete,
    /// Pages whose links may have changed.
    pub(super) relinked: Vec<PageKey>,
    /// Whether something was erased.
    pub(super) erases: bool,
    last: u64,
}

impl Applying<'_> {
    fn deed(&mut self, partition: Partition, sequence: Sequence, deed: &Deed) -> Result<()> {
        let tables = &self.shared.tables;
        match deed {
            Deed::Started { moment } => self.state.moment = self.state.moment.max(*moment),
            Deed::Seeded(seed) => self.rows.put(&tables.meta, "meta", keys::seed(&seed.url), seed)?,
            Deed::Unseeded(url) => self.rows.remove(&tables.meta, keys::seed(url)),
            Deed::Found { urls, again } => self.found(partition, sequence, (urls, again, &[]))?,
            // `Sieved` and `Named` are applied together after the rest. Visits, folds and erasures need their position.
            // A deed of an older format was converted when the journal was read, and `Restated` is applied elsewhere.
            Deed::Sieved { .. }
            | Deed::Named(_)
            | Deed::Visited(_)
            | Deed::Folded(_)
            | Deed::Erased(_)
            | Deed::NoiseLearnedBefore(_)
            | Deed::Restated(_) => {}
            Deed::VersionTold(told) => {
                let key = keys::version_row(told.page, told.version);
                self.rows.put(&tables.version_rows, "version_rows", key, &told.row)?;
            }
            Deed::SiteSeen(site, profile) => self.site_seen(partition, site, profile),
            Deed::RobotsRead { site, row, visit } => self.robots_read(partition, sequence, site, row, visit)?,
            Deed::Controlled(Control::PauseAll) => self.state.paused = true,
            Deed::Controlled(Control::ResumeAll) => self.state.paused = false,
            Deed::Spent { account } => self.state.account = *account,
            Deed::Relocated(visits) => visits.iter().try_for_each(|visit| self.relocated(visit))?,
            Deed::NoiseLearned(rows) => {
                // A person may give a rule before the first visit to the site. The row of the site holds the partition of its rules.
                self.site(partition, rows.site.as_str());
            }
            Deed::Relinked { page, document } => {
                self.rows.put(&tables.documents, "documents", page.bytes(), document)?;
            }
            Deed::ScopeFollowed(mark) => self.state.scope = *mark,
            Deed::Clocked(origin) => self.state.time_origin = Some(*origin),
            Deed::TermsRead(rows) => {
                rows.iter().try_for_each(|(page, terms)| self.rows.put(&tables.terms, "terms", page.bytes(), terms))?;
            }
            Deed::Categorised(rows) => rows.iter().try_for_each(|(page, topics)| self.categorised(*page, topics))?,
            Deed::TopicsNamed(rows) => {
                rows.iter().try_for_each(|row| self.rows.put(&tables.topics, "topics", row.id.0.to_be_bytes(), row))?
            }
            Deed::TopicsReckoned(mark) => self.rows.put(&tables.meta, "meta", keys::TOPIC_MARK, mark)?,
            Deed::Weighed(row) => {
                let key = PageKey::new(partition, row.chunk);
                self.rows.put(&tables.weights, "weights", key.bytes(), &row.scores)?;
            }
            Deed::GraphPassed(mark) => self.graph_passed(mark)?,
            Deed::Left(leaving) => self.left(partition, leaving)?,
            Deed::Hinted(rows) => self.hinted(partition, rows)?,
            Deed::Subscribed(subscription) => {
                let Subscription { site, file, row } = &**subscription;
                self.site(partition, site.as_str());
                self.rows.put(&tables.hints, "hints", keys::hint_subscription(site, *file), row)?;
            }
            Deed::HubAsked { site, visit } => self.asked(partition, sequence, site, visit)?,
            Deed::HourClosed(closed) => self.hour_closed(closed)?,
            Deed::SiteDaysClosed(closed) => self.site_days_closed(partition, closed)?,
            Deed::HourMeasured(measured) => self.hour_measured(measured)?,
            Deed::Forgot(row) => self.rows.put(&tables.meta, "meta", keys::forgot(row.id), &**row)?,
            Deed::SiteErased(erased) => self.site_erased(partition, erased)?,
            Deed::Unfound(unfound) => self.unfound(partition, unfound)?,
            Deed::Overwritten(records) => self.overwritten(records),
            Deed::Unlinked { gone } => self.found(partition, sequence, (&[], &[], gone))?,
        }
        Ok(())
    }

    /// Leaves what was found for the sieve: new URLs, links to URLs found before, and removed links.
    fn found(
        &mut self,
        partition: Partition,
        sequence: Sequence,
        (urls, again, gone): (&[Found], &[Fingerprint], &[Fingerprint]),
    ) -> Result<()> {
        self.state.totals.found_pending += (urls.len() + again.len() + gone.len()) as u64;
        let row = FoundRow { urls: urls.into(), again: again.into(), gone: gone.into() };
        self.rows.put(&self.shared.tables.found, "found", keys::found(partition, sequence), &row)
    }

    fn visited(
        &mut self,
        partition: Partition,
        sequence: Sequence,
        position: u64,
        visited: &Visited,
        rows: Option<VisitedRows<'_>>,
    ) -> Result<()> {
        let tables = &self.shared.tables;
        let key = visited.page.key;
        let visit_key = keys::visit(key, visited.visit.started, sequence);
        let mut written_event = None;
        if let Some(VisitedRows { page, visit, document, event }) = rows {
            written_event = event;
            self.rows.put_written(&tables.pages, key.bytes(), page);
            self.rows.put_written(&tables.visits, visit_key, visit);
            document.into_iter().for_each(|document| self.rows.put_written(&tables.documents, key.bytes(), document));
        } else {
            self.rows.put(&tables.pages, "pages", key.bytes(), &visited.page)?;
            self.rows.put(&tables.visits, "visits", visit_key, &visited.visit)?;
            if let Some(document) = &visited.document {
                self.rows.put(&tables.documents, "documents", key.bytes(), document)?;
            }
        }
        if let Some(place) = &visited.left {
            self.waits_no_more(partition, place)?;
        }
        if let Some(event) = &visited.event {
            let (id, key) = (EventId { partition, sequence }, position.to_be_bytes());
            match written_event {
                Some(event) => self.rows.put_written_behind(&tables.events, "events", key, &id, event)?,
                None => self.rows.put(&tables.events, "events", key, &(id, event))?,
            }
            self.rows.put(&tables.page_events, "page_events", keys::page_event(event.page, position), &())?;
        }
        if visited.document.is_some() || visited.was.is_some_and(|was| was != visited.page.state) {
            self.relinked.push(key);
        }
        self.count_visited(partition, visited);
        Ok(())
    }

    fn folded(&mut self, id: EventId, position: u64, folded: &Folded) -> Result<()> {
        let tables = &self.shared.tables;
        for (mark, row) in &folded.folds {
            self.rows.put(&tables.folds, "folds", keys::fold(id.partition, *mark), row)?;
            // The first pages are in the row itself.
            if row.current.pages as usize > row.current.sample.len() {
                let fold = FoldKey { mark: *mark, number: row.number };
                self.rows.put(&tables.folds, "folds", keys::fold_page(folded.page, fold), &())?;
            }
        }
        let Some(Telling { event, folds }) = &folded.telling else { return Ok(()) };
        let key = position.to_be_bytes();
        self.rows.put(&tables.events, "events", key, &(id, event))?;
        self.rows.put(&tables.tellings, "tellings", key, folds)?;
        self.state.totals.events += 1;
        Ok(())
    }

    /// Removes the lists of changed links from before the pass: its result contains those changes.
    fn graph_passed(&mut self, mark: &GraphMark) -> Result<()> {
        let tables = &self.shared.tables;
        self.rows.put(&tables.meta, "meta", keys::GRAPH, mark)?;
        for guard in tables.relinked.range(..=mark.position.to_be_bytes()) {
            let key = guard.key().map_err(Error::tables("read whose links changed"))?;
            self.rows.remove(&tables.relinked, key);
        }
        Ok(())
    }

    fn left(&mut self, partition: Partition, leaving: &Eviction) -> Result<()> {
        let tables = &self.shared.tables;
        let key = leaving.page.key.bytes();
        self.rows.put(&tables.pages, "pages", key, &leaving.page)?;
        self.rows.put(&tables.left, "left", key, &leaving.row)?;
        self.count_left(partition, leaving);
        Ok(())
    }

    fn site_seen(&mut self, partition: Partition, site: &Site, profile: &SiteProfile) {
        if let Some(row) = self.site(partition, site.as_str()) {
            row.profile = profile.clone();
        }
    }

    fn robots_read(
        &mut self,
        partition: Partition,
        sequence: Sequence,
        site: &Site,
        row: &RobotsRow,
        visit: &Visit,
    ) -> Result<()> {
        let tables = &self.shared.tables;
        self.rows.put(&tables.robots, "robots", keys::named(partition, row.origin.as_str()), row)?;
        self.asked(partition, sequence, site, visit)
    }

    /// Records a request that was not for a page.
    fn asked(&mut self, partition: Partition, sequence: Sequence, site: &Site, visit: &Visit) -> Result<()> {
        let page = PageKey::new(partition, keys::ROBOTS_NUMBER);
        let key = keys::visit(page, visit.started, sequence);
        self.rows.put(&self.shared.tables.visits, "visits", key, visit)?;
        self.count_visit(partition, site.as_str(), visit);
        Ok(())
    }

    /// Writes the new location of a record into the row of its visit, and into that of the page if this is its newest version. It
    /// reads the tables, so its group must not contain visits.
    fn relocated(&mut self, relocated: &Relocated) -> Result<()> {
        let tables = &self.shared.tables;
        let key = keys::visit(relocated.page, relocated.started, relocated.sequence);
        let Some(row) = tables.visits.get(key).map_err(Error::tables("read a visit"))? else { return Ok(()) };
        let mut visit: Visit = decode("visits", &row)?;
        visit.record = relocated.to;
        let version = visit.version.as_mut().filter(|version| version.location.is_some());
        let number = version.map(|version| {
            version.location = relocated.to;
            version.number
        });
        self.rows.put(&tables.visits, "visits", key, &visit)?;
        let Some(number) = number else { return Ok(()) };
        let page = tables.pages.get(relocated.page.bytes()).map_err(Error::tables("read a page"))?;
        let Some(mut page) = page.map(|row| decode::<Page>("pages", &row)).transpose()? else { return Ok(()) };
        if let Some(version) = page.version.as_mut().filter(|version| version.number == number) {
            version.location = relocated.to;
            self.rows.put(&tables.pages, "pages", relocated.page.bytes(), &page)?;
        }
        Ok(())
    }

    fn categorised(&mut self, page: PageKey, topics: &[TopicOf]) -> Result<()> {
        let table = &self.shared.tables.page_topics;
        if topics.is_empty() {
            self.rows.remove(table, page.bytes());
            return Ok(());
        }
        self.rows.put(table, "page_topics", page.bytes(), &topics)
    }

    /// The row of a site, for changing it. A new site gets one. `None` when the table has applied this group already.
    pub(super) fn site(&mut self, partition: Partition, site: &str) -> Option<&mut SiteRow> {
        Some(&mut self.open_site(partition, site)?.row)
    }

    /// The same with what is counted of the day.
    pub(super) fn open_site(&mut self, partition: Partition, site: &str) -> Option<&mut OpenSite> {
        if !self.sites.contains_key(site) {
            let live = self.shared.live();
            let row = match live.sites.get(site) {
                Some(known) if known.stamp >= self.last => None,
                Some(known) => Some(OpenSite { row: known.row.clone(), day: known.day }),
                None => Some(OpenSite {
                    row: SiteRow {
                        site: Site::new(site),
                        partition,
                        profile: SiteProfile::default(),
                        counts: Default::default(),
                    },
                    day: VisitCounts::default(),
                }),
            };
            let name = row.as_ref().map_or_else(|| Site::new(site), |open| open.row.site.clone());
            self.sites.insert(name, row);
        }
        self.sites.get_mut(site)?.as_mut()
    }

    fn finish(mut self) -> Result<Obsolete> {
        self.write_waiting()?;
        let tables = &self.shared.tables;
        let mut sites: Vec<StampedSite> = std::mem::take(&mut self.sites)
            .into_values()
            .flatten()
            .map(|OpenSite { row, day }| StampedSite { stamp: self.last, row, day })
            .collect();
        sites.sort_unstable_by(|one, other| one.row.site.cmp(&other.row.site));
        for site in &sites {
            let row = Slice::from(site.encode(self.rows.scratch())?);
            self.rows.insert(&tables.sites, keys::named(site.row.partition, site.row.site.as_str()), row);
        }
        let relinked = std::mem::take(&mut self.relinked);
        if !relinked.is_empty() {
            self.rows.put(&tables.relinked, "relinked", self.last.to_be_bytes(), &relinked)?;
        }
        if self.erases {
            let mark = ErasureMark { erased: self.last, ..mark_of(self.shared)? };
            self.rows.put(&tables.meta, "meta", keys::ERASURE, &mark)?;
        }
        let state = Slice::from(self.state.encode(self.rows.scratch())?);
        self.rows.insert(&tables.meta, keys::STATE, state);
        self.rows.commit()?;
        let mut live = self.shared.live_mut();
        for site in sites {
            match live.sites.get_mut(&site.row.site) {
                Some(known) => *known = site,
                None => _ = live.sites.insert(site.row.site.clone(), site),
            }
        }
        live.state = self.state;
        if let Some(known) = self.known {
            live.known = known;
        }
        Ok(self.obsolete)
    }
}
