//! One group of deeds becomes one atomic batch, and what is held in memory follows it.

use std::borrow::Cow;
use std::ops::Range;
use std::path::PathBuf;

use fjall::Slice;
use foldhash::{HashMap, HashMapExt};
use serde::Serialize;
use vernal_model::{
    Control, Deed, GraphMark, HintRows, Leaving, Moment, Page, PageKey, Partition, Relocated, RobotsRow, Sequence,
    Site, SitePosture, SiteRow, Subscription, TopicOf, Visit, Visited,
};

use super::rows::{FoundRow, StampedSite, State, decode, encode, encoded};
use super::table::{Batch, RowKey, Table};
use super::waiting::WaitingRows;
use super::{Shared, keys};
use crate::journal::{VisitedPlaces, Written};
use crate::sieve::KnownSet;
use crate::{Error, EventId, Result};

/// Room for the rows of a group that belong to no visit: sites, the state, what was found.
const ROWS_BESIDE: usize = 16;

/// A commit group on its way into the tables.
pub(crate) struct Group<'a> {
    pub moment: Moment,
    /// The position of the first deed.
    pub first: u64,
    pub entries: Vec<(Partition, Sequence, &'a Deed)>,
    /// The frame of the journal that holds the group, if it was written just now: rows of visits need not be written twice.
    pub written: Option<Written<'a>>,
}

/// What a commit made useless, and what only the next checkpoint may remove.
#[derive(Debug, Default)]
pub(crate) struct Outlived {
    pub runs: Vec<PathBuf>,
    /// Ranges of found rows that have passed the sieve.
    pub found: Vec<(Partition, Sequence, Sequence)>,
    /// How many findings lie in them.
    pub findings: usize,
}

impl Outlived {
    pub fn append(&mut self, mut other: Outlived) {
        self.runs.append(&mut other.runs);
        self.found.append(&mut other.found);
        self.findings += other.findings;
    }
}

/// Applies one group: all of it or nothing.
pub(crate) fn apply(shared: &Shared, group: &Group<'_>) -> Result<Outlived> {
    let last = group.first + group.entries.len() as u64 - 1;
    let mut applying = Applying {
        shared,
        batch: shared.tables.batch(2 * group.entries.len() + ROWS_BESIDE),
        state: shared.live().state.clone(),
        known: None,
        sites: HashMap::new(),
        waiting: HashMap::new(),
        outlived: Outlived::default(),
        relinked: Vec::new(),
        last,
        scratch: Vec::new(),
        page_rows: Vec::with_capacity(group.entries.len()),
    };
    for (index, (partition, sequence, deed)) in group.entries.iter().enumerate() {
        let position = group.first + index as u64;
        match deed {
            Deed::Visited(visited) => {
                let rows = group.written.as_ref().and_then(|written| rows_of(written, index));
                applying.visited(*partition, *sequence, position, visited, rows)?;
            }
            deed => applying.deed(*partition, *sequence, deed)?,
        }
        let place = applying.state.partition_mut(*partition);
        place.sequence = place.sequence.max(*sequence);
    }
    applying.sieved(&group.entries)?;
    applying.learned(&group.entries)?;
    applying.state.moment = applying.state.moment.max(group.moment);
    applying.state.position = last;
    applying.finish()
}

/// The rows of one visit, as the journal holds them.
struct VisitedRows<'a> {
    page: &'a [u8],
    visit: &'a [u8],
    document: Option<&'a [u8]>,
    event: Option<&'a [u8]>,
}

fn rows_of<'a>(written: &Written<'a>, index: usize) -> Option<VisitedRows<'a>> {
    let VisitedPlaces { page, visit, document, event } = written.places.get(index)?.as_ref()?;
    let row = |place: &Range<usize>| written.bytes.get(place.clone());
    let (document, event) = (document.as_ref().and_then(row), event.as_ref().and_then(row));
    Some(VisitedRows { page: row(page)?, visit: row(visit)?, document, event })
}

pub(super) struct Applying<'a> {
    pub(super) shared: &'a Shared,
    pub(super) batch: Batch,
    pub(super) state: State,
    /// The next generation of the known set, if there is one.
    pub(super) known: Option<KnownSet>,
    /// Rows that this group touches; `None` when the tables are ahead of it already.
    sites: HashMap<Site, Option<SiteRow>>,
    pub(super) waiting: WaitingRows,
    pub(super) outlived: Outlived,
    /// Pages whose links may be others now.
    relinked: Vec<PageKey>,
    last: u64,
    pub(super) scratch: Vec<u8>,
    /// Rows of pages that this group writes.
    page_rows: Vec<(PageKey, Slice)>,
}

impl Applying<'_> {
    fn deed(&mut self, partition: Partition, sequence: Sequence, deed: &Deed) -> Result<()> {
        let tables = &self.shared.tables;
        match deed {
            Deed::Started { moment } => self.state.moment = self.state.moment.max(*moment),
            Deed::Seeded(seed) => self.put(&tables.meta, "meta", keys::seed(&seed.url), seed)?,
            Deed::Unseeded(url) => self.batch.remove(&tables.meta, keys::seed(url)),
            Deed::Found { urls, again } => {
                self.state.totals.found_pending += (urls.len() + again.len()) as u64;
                let row = FoundRow { urls: urls.into(), again: again.into(), gone: Cow::Borrowed(&[]) };
                self.put(&tables.found, "found", keys::found(partition, sequence), &row)?;
            }
            // All of a group's are met in one pass, after the rest; visits have their place in the journal to tell.
            Deed::Sieved { .. } | Deed::Visited(_) => {}
            Deed::SiteSeen(site, posture) => self.site_seen(partition, site, posture),
            Deed::RobotsRead { site, row, visit } => self.robots_read(partition, sequence, site, row, visit)?,
            Deed::Controlled(Control::PauseAll) => self.state.paused = true,
            Deed::Controlled(Control::ResumeAll) => self.state.paused = false,
            Deed::Spent { account } => self.state.account = *account,
            Deed::Relocated(visits) => visits.iter().try_for_each(|visit| self.relocated(visit))?,
            Deed::NoiseLearned(rows) => {
                // A person may speak of a site before its first visit; its row says which partition the book lies in.
                self.site(partition, rows.site.as_str());
            }
            Deed::Relinked { page, document } => {
                self.put(&tables.documents, "documents", page.bytes(), document)?;
            }
            Deed::ScopeFollowed(mark) => self.state.scope = *mark,
            Deed::Clocked(origin) => self.state.time_origin = Some(*origin),
            Deed::TermsRead(rows) => {
                rows.iter().try_for_each(|(page, terms)| self.put(&tables.terms, "terms", page.bytes(), terms))?;
            }
            Deed::Categorised(rows) => rows.iter().try_for_each(|(page, topics)| self.categorised(*page, topics))?,
            Deed::TopicsNamed(rows) => {
                rows.iter().try_for_each(|row| self.put(&tables.topics, "topics", row.id.0.to_be_bytes(), row))?
            }
            Deed::TopicsReckoned(mark) => self.put(&tables.meta, "meta", keys::TOPIC_MARK, mark)?,
            Deed::Weighed(row) => {
                let key = PageKey::new(partition, row.chunk);
                self.put(&tables.weights, "weights", key.bytes(), &row.scores)?;
            }
            Deed::GraphPassed(mark) => self.graph_passed(mark)?,
            Deed::Left(leaving) => self.left(partition, leaving)?,
            Deed::Hinted(rows) => self.hinted(partition, rows)?,
            Deed::Subscribed(subscription) => {
                let Subscription { site, file, row } = &**subscription;
                self.site(partition, site.as_str());
                self.put(&tables.hints, "hints", keys::hint_subscription(site, *file), row)?;
            }
            Deed::HubAsked { site, visit } => self.asked(partition, sequence, site, visit)?,
            Deed::Unlinked { gone } => {
                self.state.totals.found_pending += gone.len() as u64;
                let row = FoundRow { urls: Cow::Borrowed(&[]), again: Cow::Borrowed(&[]), gone: gone.into() };
                self.put(&tables.found, "found", keys::found(partition, sequence), &row)?;
            }
        }
        Ok(())
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
            self.put_written(&tables.pages, key.bytes(), page);
            self.put_written(&tables.visits, visit_key, visit);
            document.into_iter().for_each(|document| self.put_written(&tables.documents, key.bytes(), document));
        } else {
            self.put(&tables.pages, "pages", key.bytes(), &visited.page)?;
            self.put(&tables.visits, "visits", visit_key, &visited.visit)?;
            if let Some(document) = &visited.document {
                self.put(&tables.documents, "documents", key.bytes(), document)?;
            }
        }
        if let Some(place) = &visited.left {
            self.waits_no_more(partition, place)?;
        }
        if let Some(event) = &visited.event {
            let (id, key) = (EventId { partition, sequence }, position.to_be_bytes());
            match written_event {
                Some(event) => self.put_written_behind(&tables.events, "events", key, &id, event)?,
                None => self.put(&tables.events, "events", key, &(id, event))?,
            }
            self.put(&tables.page_events, "page_events", keys::page_event(event.page, position), &())?;
        }
        if visited.document.is_some() || visited.was.is_some_and(|was| was != visited.page.state) {
            self.relinked.push(key);
        }
        self.count_visited(partition, visited);
        Ok(())
    }

    /// What changed before a pass began is in what it found.
    fn graph_passed(&mut self, mark: &GraphMark) -> Result<()> {
        let tables = &self.shared.tables;
        self.put(&tables.meta, "meta", keys::GRAPH, mark)?;
        for guard in tables.relinked.range(..=mark.position.to_be_bytes()) {
            let key = guard.key().map_err(Error::tables("read whose links changed"))?;
            self.batch.remove(&tables.relinked, key);
        }
        Ok(())
    }

    fn left(&mut self, partition: Partition, leaving: &Leaving) -> Result<()> {
        let tables = &self.shared.tables;
        let key = leaving.page.key.bytes();
        self.put(&tables.pages, "pages", key, &leaving.page)?;
        self.put(&tables.left, "left", key, &leaving.row)?;
        self.count_left(partition, leaving);
        Ok(())
    }

    fn site_seen(&mut self, partition: Partition, site: &Site, posture: &SitePosture) {
        if let Some(row) = self.site(partition, site.as_str()) {
            row.posture = posture.clone();
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
        self.put(&tables.robots, "robots", keys::named(partition, row.origin.as_str()), row)?;
        self.asked(partition, sequence, site, visit)
    }

    /// A request that was for no page.
    fn asked(&mut self, partition: Partition, sequence: Sequence, site: &Site, visit: &Visit) -> Result<()> {
        let page = PageKey::new(partition, keys::ROBOTS_NUMBER);
        let key = keys::visit(page, visit.started, sequence);
        self.put(&self.shared.tables.visits, "visits", key, visit)?;
        self.count_visit(partition, site.as_str(), visit);
        Ok(())
    }

    /// Gives the rows of a visit, and of its page while that has no younger version, the new place of the record. It
    /// reads the tables, so that its group holds no visit.
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
        self.put(&tables.visits, "visits", key, &visit)?;
        let Some(number) = number else { return Ok(()) };
        let page = tables.pages.get(relocated.page.bytes()).map_err(Error::tables("read a page"))?;
        let Some(mut page) = page.map(|row| decode::<Page>("pages", &row)).transpose()? else { return Ok(()) };
        if let Some(version) = page.version.as_mut().filter(|version| version.number == number) {
            version.location = relocated.to;
            self.put(&tables.pages, "pages", relocated.page.bytes(), &page)?;
        }
        Ok(())
    }

    fn categorised(&mut self, page: PageKey, topics: &[TopicOf]) -> Result<()> {
        let table = &self.shared.tables.page_topics;
        if topics.is_empty() {
            self.batch.remove(table, page.bytes());
            return Ok(());
        }
        self.put(table, "page_topics", page.bytes(), &topics)
    }

    fn hinted(&mut self, partition: Partition, rows: &HintRows) -> Result<()> {
        let (tables, site) = (&self.shared.tables, &rows.site);
        // Somebody may push a hint before the site's first visit; its row says which partition the hints lie in.
        self.site(partition, site.as_str());
        for (source, trust) in &rows.sources {
            self.put(&tables.hints, "hints", keys::hint_source(partition, site, *source), &(source, trust))?;
        }
        for (page, file) in &rows.files {
            self.put(&tables.hints, "hints", keys::hint_file(site, *page), file)?;
        }
        for (page, hints) in &rows.pages {
            match hints.is_empty() {
                true => self.batch.remove(&tables.page_hints, page.bytes()),
                false => self.put(&tables.page_hints, "page_hints", page.bytes(), hints)?,
            }
        }
        let Some(listed) = &rows.listed else { return Ok(()) };
        for (fingerprint, stamp) in &listed.put {
            self.put(&tables.listed, "listed", keys::listed(listed.file, *fingerprint), stamp)?;
        }
        for fingerprint in &listed.gone {
            self.batch.remove(&tables.listed, keys::listed(listed.file, *fingerprint));
        }
        Ok(())
    }

    /// The row of a site to be changed, made when it is new; `None` when the table has seen this group already.
    pub(super) fn site(&mut self, partition: Partition, site: &str) -> Option<&mut SiteRow> {
        if !self.sites.contains_key(site) {
            let live = self.shared.live();
            let row = match live.sites.get(site) {
                Some(known) if known.stamp >= self.last => None,
                Some(known) => Some(known.row.clone()),
                None => Some(SiteRow {
                    site: Site::new(site),
                    partition,
                    posture: SitePosture::default(),
                    counts: Default::default(),
                }),
            };
            let name = row.as_ref().map_or_else(|| Site::new(site), |row| row.site.clone());
            self.sites.insert(name, row);
        }
        self.sites.get_mut(site)?.as_mut()
    }

    pub(super) fn put<T: Serialize>(
        &mut self,
        table: &Table,
        name: &'static str,
        key: impl RowKey,
        row: &T,
    ) -> Result<()> {
        let row = Slice::from(encode(name, row, &mut self.scratch)?);
        self.insert(table, key, row);
        Ok(())
    }

    /// A row whose bytes the journal has.
    fn put_written(&mut self, table: &Table, key: impl RowKey, row: &[u8]) {
        let row = Slice::from(encoded(row, &mut self.scratch));
        self.insert(table, key, row);
    }

    /// A row that begins with something else than what the journal has of it.
    fn put_written_behind<T: Serialize>(
        &mut self,
        table: &Table,
        name: &'static str,
        key: impl RowKey,
        first: &T,
        rest: &[u8],
    ) -> Result<()> {
        encode(name, first, &mut self.scratch)?;
        self.scratch.extend_from_slice(rest);
        let row = Slice::from(self.scratch.as_slice());
        self.insert(table, key, row);
        Ok(())
    }

    fn insert(&mut self, table: &Table, key: impl RowKey, row: Slice) {
        if self.shared.page_rows.is_some()
            && std::ptr::eq(table, &self.shared.tables.pages)
            && let Some(page) = PageKey::from_bytes(key.as_ref())
        {
            self.page_rows.push((page, row.clone()));
        }
        self.batch.insert(table, key, row);
    }

    fn finish(mut self) -> Result<Outlived> {
        self.write_waiting()?;
        let tables = &self.shared.tables;
        let mut sites: Vec<StampedSite> = std::mem::take(&mut self.sites)
            .into_values()
            .flatten()
            .map(|row| StampedSite { stamp: self.last, row })
            .collect();
        sites.sort_unstable_by(|one, other| one.row.site.cmp(&other.row.site));
        for site in &sites {
            self.put(&tables.sites, "sites", keys::named(site.row.partition, site.row.site.as_str()), site)?;
        }
        let relinked = std::mem::take(&mut self.relinked);
        if !relinked.is_empty() {
            self.put(&tables.relinked, "relinked", self.last.to_be_bytes(), &relinked)?;
        }
        let state = Slice::from(encode("meta", &self.state, &mut self.scratch)?);
        self.batch.insert(&tables.meta, keys::STATE, state);
        self.batch.commit().map_err(Error::tables("write the tables"))?;
        if let Some(page_rows) = &self.shared.page_rows {
            page_rows.put(self.page_rows);
        }
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
        Ok(self.outlived)
    }
}
