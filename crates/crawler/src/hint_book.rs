//! What sites say of their own changes, as far as this process needs it at hand: trust and files of every site, and the
//! rows of pages that the tables do not have yet.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use vernal_model::{HintFile, HintRows, HintSource, ListingKind, Moment, PageHints, PageKey, Site, TrustRow};
use vernal_repository::{Reader, SiteHints};

use crate::Result;

#[derive(Default)]
pub(crate) struct HintBook {
    sites: HashMap<Site, SiteHints>,
    /// Rows that wait for the next commit: each is written once, however many visits of the group changed it.
    pages: BTreeMap<PageKey, (Site, PageHints)>,
    sources: BTreeSet<(Site, HintSource)>,
    has_tables: bool,
}

impl HintBook {
    pub(crate) fn recall(&mut self, reader: &Reader) -> Result<()> {
        self.sites = reader.all_site_hints()?.into_iter().collect();
        let mut files = self.sites.values().flat_map(|hints| &hints.files);
        self.has_tables = files.any(|(_, file)| file.kind == ListingKind::VolatileTable);
        Ok(())
    }

    /// Whether any page may have a table of volatile information.
    pub(crate) fn has_tables(&self) -> bool {
        self.has_tables
    }

    pub(crate) fn site(&self, site: &Site) -> Option<&SiteHints> {
        self.sites.get(site)
    }

    /// All sites that speak, in no order that matters.
    pub(crate) fn sites(&self) -> impl Iterator<Item = (&Site, &SiteHints)> {
        self.sites.iter()
    }

    pub(crate) fn trust(&self, site: &Site, source: HintSource) -> Option<&TrustRow> {
        let sources = &self.sites.get(site)?.sources;
        sources.iter().find(|(known, _)| *known == source).map(|(_, row)| row)
    }

    pub(crate) fn file(&self, site: &Site, page: PageKey) -> Option<&HintFile> {
        let files = &self.sites.get(site)?.files;
        files.iter().find(|(known, _)| *known == page).map(|(_, file)| file)
    }

    /// Files of this source that the site has.
    pub(crate) fn files_of(&self, site: &Site, source: HintSource) -> usize {
        self.sites.get(site).map_or(0, |hints| hints.files.iter().filter(|(_, file)| file.source == source).count())
    }

    /// When a file of this source was last read.
    pub(crate) fn last_read(&self, site: &Site, source: HintSource) -> Option<Moment> {
        let files = self.sites.get(site)?.files.iter();
        files.filter(|(_, file)| file.source == source).map(|(_, file)| file.read).max()
    }

    /// What is said of one page, the newest word of it.
    pub(crate) fn page(&self, key: PageKey, reader: &Reader) -> Result<PageHints> {
        match self.pages.get(&key) {
            Some((_, hints)) => Ok(hints.clone()),
            None => Ok(reader.page_hints(key)?),
        }
    }

    /// Takes rows up; those of pages and sources wait here, the others come back for a deed of their own.
    pub(crate) fn take(&mut self, mut rows: HintRows) -> HintRows {
        let site = rows.site.clone();
        self.pages.extend(rows.pages.drain(..).map(|(key, hints)| (key, (site.clone(), hints))));
        if rows.sources.is_empty() && rows.files.is_empty() {
            return rows;
        }
        let hints = self.sites.entry(site.clone()).or_default();
        for (source, row) in &rows.sources {
            self.sources.insert((site.clone(), *source));
            match hints.sources.iter_mut().find(|(known, _)| known == source) {
                Some((_, known)) => known.clone_from(row),
                None => hints.sources.push((*source, row.clone())),
            }
        }
        hints.sources.sort_by_key(|(source, _)| *source);
        for (page, file) in &rows.files {
            self.has_tables |= file.kind == ListingKind::VolatileTable;
            match hints.files.iter_mut().find(|(known, _)| known == page) {
                Some((_, known)) => known.clone_from(file),
                None => hints.files.push((*page, file.clone())),
            }
        }
        hints.files.sort_by_key(|(page, _)| *page);
        rows.sources.clear();
        rows
    }

    /// The rows that wait, site by site, for the deeds of a commit.
    pub(crate) fn untold(&mut self) -> Vec<HintRows> {
        let mut rows: BTreeMap<Site, HintRows> = BTreeMap::new();
        for (key, (site, hints)) in std::mem::take(&mut self.pages) {
            rows.entry(site.clone()).or_insert_with(|| HintRows::of(&site)).pages.push((key, hints));
        }
        for (site, source) in std::mem::take(&mut self.sources) {
            if let Some(row) = self.trust(&site, source).cloned() {
                rows.entry(site.clone()).or_insert_with(|| HintRows::of(&site)).sources.push((source, row));
            }
        }
        rows.into_values().collect()
    }
}
