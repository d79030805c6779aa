//! Reads the repository. A reader sees acknowledged state only, writes nothing, is cheap to clone, and may be used from any
//! thread while the writer works.

use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use serde::de::DeserializeOwned;
use vernal_model::{
    BudgetAccount, DocumentRow, Fingerprint, FoldKey, FoldRow, Location, Moment, NoiseBook, Origin, Page, PageKey,
    PageNoise, PageState, PageTerms, Partition, RobotsRow, ScopeMark, Seed, Site, SiteRow, TimeOrigin, ToldFolds,
    TopicId, TopicMark, TopicOf, TopicRow, Url, Version, VersionRow, Visit, WaitingPlace,
};

use crate::bodies::Record;
use crate::sieve::{BARRED, FORGOTTEN};
use crate::tables::rows::{Known, KnownState, Totals, UrlRow, decode, decode_url};
use crate::tables::{Row, Shared, Table, WaitingRow, dump, keys};
use crate::{Cursor, Error, Result, folder};

#[derive(Clone)]
pub struct Reader {
    pub(crate) shared: Arc<Shared>,
}

/// The space of the disk with the repository.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct DiskSpace {
    /// The free space for users other than root.
    pub free_bytes: u64,
    pub total_bytes: u64,
}

/// Pages.
impl Reader {
    pub fn page(&self, key: PageKey) -> Result<Option<Page>> {
        let Shared { tables, page_rows, .. } = &*self.shared;
        if let Some(row) = page_rows.as_ref().and_then(|rows| rows.get(key)) {
            // A page that was erased has an empty row there.
            return if row.is_empty() { Ok(None) } else { decode("pages", &row).map(Some) };
        }
        let Some(row) = tables.pages.get(key.bytes()).map_err(Error::tables("read a page"))? else { return Ok(None) };
        page_rows.iter().for_each(|rows| rows.note(key, &row));
        decode("pages", &row).map(Some)
    }

    pub fn page_by_url(&self, url: &Url) -> Result<Option<Page>> {
        let Some(Known { key: Some(key), state: KnownState::Visited, .. }) = self.key_of(url)? else {
            return Ok(None);
        };
        // Two URLs may have the same fingerprint, so the URL of the row is compared.
        Ok(self.page(key)?.filter(|page| page.url == *url))
    }

    /// What the sieve knows of this URL; `None` if it is not known.
    pub fn key_of(&self, url: &Url) -> Result<Option<Known>> {
        self.known_as(self.partition_of(url), url.fingerprint())
    }

    /// The same of the URL with this fingerprint.
    pub fn known_as(&self, partition: Partition, fingerprint: Fingerprint) -> Result<Option<Known>> {
        let known = self.shared.live().known.clone();
        let Some(record) = known.look_up(partition, fingerprint)? else { return Ok(None) };
        if record.number == FORGOTTEN {
            return Ok(None);
        }
        if record.number == BARRED {
            return Ok(Some(Known { key: None, back_links: record.links(), state: KnownState::Barred }));
        }
        let key = PageKey::new(partition, record.number);
        let pages = &self.shared.tables.pages;
        let visited = pages.contains_key(key.bytes()).map_err(Error::tables("look for a page"))?;
        let state = if visited { KnownState::Visited } else { KnownState::Waiting };
        Ok(Some(Known { key: Some(key), back_links: record.links(), state }))
    }

    /// The partition of a URL: that of the row of its site, otherwise the one that the public-suffix list gives.
    pub fn partition_of(&self, url: &Url) -> Partition {
        self.shared.live().partition_of(url.site_text()).unwrap_or_else(|| url.partition())
    }

    /// What was known of a page when it was admitted.
    pub fn url(&self, key: PageKey) -> Result<Option<UrlRow>> {
        let row = self.shared.tables.urls.get(key.bytes()).map_err(Error::tables("read a URL"))?;
        row.map(|bytes| decode_url(key, &bytes)).transpose()
    }

    /// Visited pages in the order of their keys, after the page `after`.
    pub fn pages(&self, after: Option<PageKey>, limit: usize) -> Result<Vec<Page>> {
        self.pages_after(after).take(limit).collect()
    }

    /// All visited pages after the page `after`, as they were when this was called.
    pub fn pages_after(&self, after: Option<PageKey>) -> impl Iterator<Item = Result<Page>> + use<> {
        let shared = Arc::clone(&self.shared);
        let rows = shared.tables.pages.range(after.map_or_else(Vec::new, |key| key.bytes().to_vec())..);
        rows.filter_map(move |guard| {
            let (key, row) = match guard.into_inner() {
                Ok((key, row)) => (PageKey::from_bytes(&key)?, row),
                Err(source) => return Some(Err(Error::tables("read a page")(source))),
            };
            if Some(key) == after {
                return None;
            }
            shared.page_rows.iter().for_each(|rows| rows.note(key, &row));
            Some(decode("pages", &row))
        })
    }

    /// The held pages, which a policy recalls at start.
    pub fn held_pages(&self) -> impl Iterator<Item = Result<Page>> + use<> {
        self.pages_after(None).filter(|page| !matches!(page, Ok(page) if page.state != PageState::Held))
    }

    pub fn document(&self, key: PageKey) -> Result<Option<DocumentRow>> {
        self.row(&self.shared.tables.documents, "documents", &key.bytes())
    }

    pub fn body(&self, location: &Location) -> Result<Record> {
        self.shared.bodies.read(location)
    }
}

/// Visits.
impl Reader {
    /// The visits to one page, oldest first.
    pub fn visits(&self, key: PageKey) -> Result<Vec<Visit>> {
        let rows = self.shared.tables.visits.prefix(key.bytes());
        rows.map(|guard| guard_value(guard, "visits")).collect()
    }

    /// The versions of one page, oldest first.
    pub fn versions(&self, key: PageKey) -> Result<Vec<Version>> {
        Ok(self.visits(key)?.into_iter().filter_map(|visit| visit.version).collect())
    }

    /// Every visit, page by page. Visits to robots.txt belong to no page and name their URL.
    pub fn visit_book(&self) -> impl Iterator<Item = Result<(Option<PageKey>, Visit)>> + use<> {
        self.shared.tables.visits.iter().map(|guard| {
            let (key, value) = guard.into_inner().map_err(Error::tables("read the visit book"))?;
            let page = PageKey::from_bytes(&key).ok_or_else(|| Error::row("visits", "its key is too short"))?;
            Ok(((page.number != keys::ROBOTS_NUMBER).then_some(page), decode("visits", &value)?))
        })
    }
}

/// Sites and their waiting URLs.
impl Reader {
    pub fn site(&self, site: &Site) -> Option<SiteRow> {
        self.shared.live().sites.get(site).map(|site| site.row.clone())
    }

    /// All sites, by name.
    pub fn sites(&self) -> Vec<SiteRow> {
        self.shared.live().sites.values().map(|site| site.row.clone()).collect()
    }

    pub fn robots(&self, origin: &Origin) -> Result<Option<RobotsRow>> {
        let text = origin.as_str();
        let site = text.split_once("://").map_or(text, |(_, site)| site);
        let Some(partition) = self.shared.live().partition_of(site) else { return Ok(None) };
        self.row(&self.shared.tables.robots, "robots", &keys::named(partition, text))
    }

    /// The waiting URLs of one site in their order on disk, after the place `after`.
    pub fn waiting(
        &self,
        partition: Partition,
        site: &Site,
        after: Option<&WaitingPlace>,
        limit: usize,
    ) -> Result<Vec<UrlRow>> {
        let prefix = keys::waiting_site(partition, site);
        let start = after.map_or_else(|| prefix.clone(), |place| keys::waiting(partition, place));
        let mut waiting = Vec::new();
        for guard in self.shared.tables.waiting.range(start.clone()..) {
            if waiting.len() == limit {
                break;
            }
            let (key, value) = guard.into_inner().map_err(Error::tables("read what waits"))?;
            if !key.starts_with(&prefix) {
                break;
            }
            // All URLs of the row that `after` lies in have the band of `after`.
            let behind = after.filter(|_| *key == *start).map(|place| place.arrival);
            let row = WaitingRow::decode(&key, &value)?;
            let entries = row.entries(&key)?.filter(|(arrival, _)| behind.is_none_or(|behind| *arrival > behind));
            for (_, number) in entries.take(limit - waiting.len()) {
                let page = PageKey::new(partition, number);
                let row = self.url(page)?;
                waiting.push(row.ok_or_else(|| Error::row("waiting", format!("page {page} has no URL")))?);
            }
        }
        Ok(waiting)
    }

    /// The number that the next page admitted to this partition gets.
    pub fn next_number(&self, partition: Partition) -> u32 {
        self.shared.live().state.partition(partition).next_number
    }
}

/// Noise.
impl Reader {
    /// The noise rules of one site; empty where nothing was learned.
    pub fn noise_book(&self, site: &Site) -> Result<NoiseBook> {
        let mut book = NoiseBook::default();
        let Some(partition) = self.shared.live().partition_of(site.as_str()) else { return Ok(book) };
        for guard in self.shared.tables.noise.prefix(keys::noise_site(partition, site)) {
            let (key, value) = guard.into_inner().map_err(Error::tables("read the noise book"))?;
            let (_, kind) = keys::noise_parts(&key).ok_or_else(|| Error::row("noise", "its key is too short"))?;
            match kind {
                keys::NOISE_LAST_ID => book.last_id = decode("noise", &value)?,
                _ => book.rules.push(decode("noise", &value)?),
            }
        }
        Ok(book)
    }

    /// Every site with noise rules, by partition and name.
    pub fn noise_books(&self) -> Result<Vec<(Site, NoiseBook)>> {
        let mut sites: Vec<Site> = Vec::new();
        for guard in self.shared.tables.noise.iter() {
            let key = guard.key().map_err(Error::tables("read the noise books"))?;
            let (site, _) = keys::noise_parts(&key).ok_or_else(|| Error::row("noise", "its key is too short"))?;
            if sites.last() != Some(&site) {
                sites.push(site);
            }
        }
        sites.into_iter().map(|site| Ok((site.clone(), self.noise_book(&site)?))).collect()
    }

    /// The noise evidence of one page; empty where there is none.
    pub fn page_noise(&self, key: PageKey) -> Result<PageNoise> {
        Ok(self.row(&self.shared.tables.page_noise, "page_noise", &key.bytes())?.unwrap_or_default())
    }
}

/// What is kept for those who follow the feed.
impl Reader {
    /// What is kept of a version; `None` of a first one, and of those from before it was kept.
    pub fn version_row(&self, page: PageKey, version: u32) -> Result<Option<VersionRow>> {
        self.row(&self.shared.tables.version_rows, "version_rows", &keys::version_row(page, version))
    }

    /// The folds of one mark of a site in this partition.
    pub fn folds(&self, partition: Partition, mark: u64) -> Result<Option<FoldRow>> {
        self.row(&self.shared.tables.folds, "folds", &keys::fold(partition, mark))
    }

    /// Whether the page is one of those that joined the fold after its sample was full.
    pub fn is_page_of_fold(&self, page: PageKey, fold: FoldKey) -> Result<bool> {
        let key = keys::fold_page(page, fold);
        self.shared.tables.folds.contains_key(key).map_err(Error::tables("look for a page of a fold"))
    }

    /// The folds that the event of a site is about; `None` of every other event, and of those from before folds were kept.
    pub fn told_folds(&self, event: Cursor) -> Result<Option<ToldFolds>> {
        self.row(&self.shared.tables.tellings, "tellings", &event.0.to_be_bytes())
    }
}

/// Topics.
impl Reader {
    /// The words of a page that may be topics; `None` before they were extracted.
    pub fn terms(&self, key: PageKey) -> Result<Option<PageTerms>> {
        self.row(&self.shared.tables.terms, "terms", &key.bytes())
    }

    /// The topics of a page, best reputation first.
    pub fn topics_of(&self, key: PageKey) -> Result<Vec<TopicOf>> {
        Ok(self.row(&self.shared.tables.page_topics, "page_topics", &key.bytes())?.unwrap_or_default())
    }

    /// Every page that has topics, in the order of the keys.
    pub fn categorised(&self) -> impl Iterator<Item = Result<(PageKey, Vec<TopicOf>)>> + use<> {
        self.shared.tables.page_topics.iter().map(|guard| {
            let (key, value) = guard.into_inner().map_err(Error::tables("read the topics of pages"))?;
            let page = PageKey::from_bytes(&key).ok_or_else(|| Error::row("page_topics", "its key is too short"))?;
            Ok((page, decode("page_topics", &value)?))
        })
    }

    /// Every topic that ever existed, by number.
    pub fn topics(&self) -> impl Iterator<Item = Result<TopicRow>> + use<> {
        self.shared.tables.topics.iter().map(|guard| guard_value(guard, "topics"))
    }

    pub fn topic(&self, id: TopicId) -> Result<Option<TopicRow>> {
        self.row(&self.shared.tables.topics, "topics", &id.0.to_be_bytes())
    }

    pub fn topic_mark(&self) -> Result<TopicMark> {
        Ok(self.row(&self.shared.tables.meta, "meta", keys::TOPIC_MARK.as_bytes())?.unwrap_or_default())
    }
}

/// The repository as a whole.
impl Reader {
    /// The random number that the repository was given when it was made.
    pub fn repository_id(&self) -> Result<u128> {
        folder::id(&self.shared.dir)
    }

    pub fn dir(&self) -> &Path {
        &self.shared.dir
    }

    /// All seeds, by URL.
    pub fn seeds(&self) -> Result<Vec<Seed>> {
        let rows = self.shared.tables.meta.prefix(keys::SEED_PREFIX);
        rows.map(|guard| guard_value(guard, "meta")).collect()
    }

    pub fn account(&self) -> BudgetAccount {
        self.shared.live().state.account
    }

    pub fn totals(&self) -> Totals {
        self.shared.live().state.totals
    }

    /// The time origin of this repository; `None` before its first run.
    pub fn time_origin(&self) -> Option<TimeOrigin> {
        self.shared.live().state.time_origin
    }

    pub fn scope_mark(&self) -> ScopeMark {
        self.shared.live().state.scope
    }

    pub fn paused_all(&self) -> bool {
        self.shared.live().state.paused
    }

    /// The last Moment in the journal. Time never goes back before it.
    pub fn last_moment(&self) -> Moment {
        self.shared.live().state.moment
    }

    /// The cursor after everything that is acknowledged.
    pub fn cursor(&self) -> Cursor {
        Cursor(self.shared.live().state.position)
    }

    pub fn disk_free(&self) -> Result<DiskSpace> {
        let path = &self.shared.dir;
        let found = rustix::fs::statvfs(path).map_err(|errno| Error::io("ask for free room at", path)(errno.into()))?;
        Ok(DiskSpace {
            free_bytes: found.f_bavail.saturating_mul(found.f_frsize),
            total_bytes: found.f_blocks.saturating_mul(found.f_frsize),
        })
    }

    /// Every table in key order as lines of text: two repositories are equal when their dumps are.
    pub fn dump(&self, out: &mut dyn Write) -> Result<()> {
        dump(&self.shared, out)
    }

    pub(crate) fn row<T: DeserializeOwned>(&self, table: &Table, name: &'static str, key: &[u8]) -> Result<Option<T>> {
        let row = table.get(key).map_err(Error::tables("read a row"))?;
        row.map(|bytes| decode(name, &bytes)).transpose()
    }
}

fn guard_value<T: DeserializeOwned>(guard: Row, table: &'static str) -> Result<T> {
    decode(table, &guard.value().map_err(Error::tables("read a row"))?)
}
