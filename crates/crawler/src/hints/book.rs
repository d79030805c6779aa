//! The hints of sites that this process keeps in memory: trust and files of every site, the rows of pages that the
//! tables do not have yet, and a short form of most other rows.

use std::collections::{BTreeMap, BTreeSet};

use foldhash::HashMap;
use vernal_model::{HintFile, HintRows, HintSource, PageHints, PageKey, Site, SiteListKind, TrustRow};
use vernal_repository::{Reader, SiteHints};

use crate::Result;

/// Pages whose sources are kept in memory; for other pages the tables are read.
const SPOKEN_OF_PAGES_MAX: usize = 1 << 17;

#[derive(Default)]
pub(crate) struct HintBook {
    sites: HashMap<Site, SiteHints>,
    /// Rows that wait for the next commit. Each is written once, however many visits of the group changed it.
    pages: BTreeMap<PageKey, (Site, PageHints)>,
    /// Which sources list pages of which nothing else is known, as far as memory allows. At a site with a sitemap most
    /// rows say only that, and each visit reads it. Looked up only, never iterated.
    spoken_of: HashMap<PageKey, u8>,
    sources: BTreeSet<(Site, HintSource)>,
    has_tables: bool,
}

impl HintBook {
    pub(crate) fn recall(&mut self, reader: &Reader) -> Result<()> {
        self.sites = reader.all_site_hints()?.into_iter().collect();
        let mut files = self.sites.values().flat_map(|hints| &hints.files);
        self.has_tables = files.any(|(_, file)| file.kind == SiteListKind::VolatileTable);
        Ok(())
    }

    /// Whether any page may have a table of volatile information.
    pub(crate) fn has_tables(&self) -> bool {
        self.has_tables
    }

    pub(crate) fn site(&self, site: &Site) -> Option<&SiteHints> {
        self.sites.get(site)
    }

    /// All sites that give hints, in an order that must not matter.
    pub(crate) fn sites(&self) -> impl Iterator<Item = (&Site, &SiteHints)> {
        self.sites.iter()
    }

    pub(crate) fn trust(&self, site: &Site, source: HintSource) -> Option<&TrustRow> {
        self.sites.get(site)?.trust(source)
    }

    pub(crate) fn file(&self, site: &Site, page: PageKey) -> Option<&HintFile> {
        let files = &self.sites.get(site)?.files;
        files.iter().find(|(known, _)| *known == page).map(|(_, file)| file)
    }

    /// Files of this source that the site has.
    pub(crate) fn files_of(&self, site: &Site, source: HintSource) -> usize {
        self.sites.get(site).map_or(0, |hints| hints.files.iter().filter(|(_, file)| file.source == source).count())
    }

    /// The newest row of hints about one page.
    pub(crate) fn page(&self, key: PageKey, reader: &Reader) -> Result<PageHints> {
        if let Some(&spoken_of) = self.spoken_of.get(&key) {
            return Ok(PageHints { spoken_of, ..PageHints::default() });
        }
        match self.pages.get(&key) {
            Some((_, hints)) => Ok(hints.clone()),
            None => Ok(reader.page_hints(key)?),
        }
    }

    /// Lets go of a page, and of what it listed.
    pub(crate) fn forget(&mut self, site: &Site, page: PageKey) {
        self.pages.remove(&page);
        self.spoken_of.remove(&page);
        if let Some(hints) = self.sites.get_mut(site) {
            hints.files.retain(|(file, _)| *file != page);
        }
    }

    /// Replaces the hints about a page.
    pub(crate) fn note(&mut self, key: PageKey, hints: &PageHints) {
        let says_more = *hints != PageHints { spoken_of: hints.spoken_of, ..PageHints::default() };
        if says_more || (self.spoken_of.len() >= SPOKEN_OF_PAGES_MAX && !self.spoken_of.contains_key(&key)) {
            self.spoken_of.remove(&key);
        } else {
            self.spoken_of.insert(key, hints.spoken_of);
        }
    }

    /// Adds rows. Rows of pages and sources wait here for the commit; the others are returned for a deed of their own.
    pub(crate) fn take(&mut self, mut rows: HintRows) -> HintRows {
        let site = rows.site.clone();
        rows.pages.iter().for_each(|(key, hints)| self.note(*key, hints));
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
            self.has_tables |= file.kind == SiteListKind::VolatileTable;
            match hints.files.iter_mut().find(|(known, _)| known == page) {
                Some((_, known)) => known.clone_from(file),
                None => hints.files.push((*page, file.clone())),
            }
        }
        hints.files.sort_by_key(|(page, _)| *page);
        rows.sources.clear();
        rows
    }

    /// The waiting rows, site by site, for the deeds of a commit.
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use vernal_model::{Deed, Moment, Partition, PendingHint, Span};
    use vernal_repository::{Repository, Settings};

    use super::*;

    fn hints() -> impl Strategy<Value = PageHints> {
        (0u8..4, any::<bool>()).prop_map(|(spoken_of, waits)| {
            let said = PendingHint {
                source: HintSource::Sitemap,
                said: Moment::EPOCH,
                heard: Moment::EPOCH,
                worth: Span::ZERO,
            };
            PageHints { spoken_of, pending: waits.then_some(said).into_iter().collect(), ..PageHints::default() }
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]
        #[test]
        fn the_newest_word_of_a_page_is_told_whether_or_not_it_was_written(
            words in prop::collection::vec((0u32..8, hints(), any::<bool>()), 1..40),
        ) {
            let folder = tempfile::tempdir().unwrap();
            let settings = Settings { tables_in_memory: true, ..Settings::default() };
            let (mut repository, _) = Repository::open(folder.path(), settings, Moment::EPOCH).unwrap();
            let reader = repository.reader();
            let (site, mut book, mut newest) = (Site::new("a.org"), HintBook::default(), BTreeMap::new());
            for (number, said, commits) in words {
                let key = PageKey::new(Partition(0), number);
                book.take(HintRows { pages: vec![(key, said.clone())], ..HintRows::of(&site) });
                newest.insert(key, said);
                if commits {
                    let deeds: Vec<_> =
                        book.untold().into_iter().map(|rows| (Partition(0), Deed::Hinted(Box::new(rows)))).collect();
                    repository.commit(&deeds, Moment::EPOCH).unwrap();
                }
                for number in 0..8 {
                    let key = PageKey::new(Partition(0), number);
                    let told = book.page(key, &reader).unwrap();
                    prop_assert_eq!(told, newest.get(&key).cloned().unwrap_or_default());
                }
            }
        }
    }
}
