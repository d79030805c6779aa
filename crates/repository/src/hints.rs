//! Reads the hints: what sites say of their own changes.

use std::collections::HashMap;

use vernal_model::{
    DateRange, Fingerprint, HintFile, HintSource, Moment, PageHints, PageKey, Partition, Site, SubscriptionRow,
    TrustRow,
};

use crate::tables::keys;
use crate::tables::rows::decode;
use crate::{Error, Reader, Result};

/// The hint sources and files of one site.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SiteHints {
    pub sources: Vec<(HintSource, TrustRow)>,
    pub files: Vec<(PageKey, HintFile)>,
    /// The subscriptions to its feeds.
    pub subscriptions: Vec<(PageKey, SubscriptionRow)>,
}

impl SiteHints {
    /// The trust in a source.
    pub fn trust(&self, source: HintSource) -> Option<&TrustRow> {
        self.sources.iter().find(|(known, _)| *known == source).map(|(_, row)| row)
    }

    /// When a file of this source was last read.
    pub fn last_read(&self, source: HintSource) -> Option<Moment> {
        self.files.iter().filter(|(_, file)| file.source == source).map(|(_, file)| file.read).max()
    }

    fn take(&mut self, partition: Partition, key: &[u8], value: &[u8]) -> Result<()> {
        let (_, kind) = keys::noise_parts(key).ok_or_else(|| Error::row("hints", "its key is too short"))?;
        if kind == keys::HINT_SOURCE {
            self.sources.push(decode("hints", value)?);
            return Ok(());
        }
        let number = keys::hint_tail(key).and_then(|tail| tail.first_chunk::<4>()).copied().map(u32::from_be_bytes);
        let number = number.ok_or_else(|| Error::row("hints", "its key is too short"))?;
        let page = PageKey::new(partition, number);
        match kind {
            keys::HINT_SUBSCRIPTION => self.subscriptions.push((page, decode("hints", value)?)),
            _ => self.files.push((page, decode("hints", value)?)),
        }
        Ok(())
    }
}

impl Reader {
    /// The sources and files of one site.
    pub fn site_hints(&self, site: &Site) -> Result<SiteHints> {
        let mut hints = SiteHints::default();
        let Some(partition) = self.shared.live().partition_of(site.as_str()) else {
            return Ok(hints);
        };
        for guard in self.shared.tables.hints.prefix(keys::waiting_site(partition, site)) {
            let (key, value) = guard.into_inner().map_err(Error::tables("read the hints of a site"))?;
            hints.take(partition, &key, &value)?;
        }
        Ok(hints)
    }

    /// Every site that has hints, by partition and name.
    pub fn all_site_hints(&self) -> Result<Vec<(Site, SiteHints)>> {
        let mut all: Vec<(Site, SiteHints)> = Vec::new();
        for guard in self.shared.tables.hints.iter() {
            let (key, value) = guard.into_inner().map_err(Error::tables("read the hints"))?;
            let (site, _) = keys::noise_parts(&key).ok_or_else(|| Error::row("hints", "its key is too short"))?;
            if all.last().is_none_or(|(last, _)| *last != site) {
                all.push((site, SiteHints::default()));
            }
            let partition = key.first().copied().map(Partition).unwrap_or_default();
            if let Some((_, hints)) = all.last_mut() {
                hints.take(partition, &key, &value)?;
            }
        }
        Ok(all)
    }

    /// The hints for one page; empty where there are none.
    pub fn page_hints(&self, key: PageKey) -> Result<PageHints> {
        Ok(self.row(&self.shared.tables.page_hints, "page_hints", &key.bytes())?.unwrap_or_default())
    }

    /// All pages with hints, in the order of their keys.
    pub fn all_page_hints(&self) -> impl Iterator<Item = Result<(PageKey, PageHints)>> + use<> {
        self.shared.tables.page_hints.iter().map(|guard| {
            let (key, value) = guard.into_inner().map_err(Error::tables("read the hints of pages"))?;
            let page = PageKey::from_bytes(&key).ok_or_else(|| Error::row("page_hints", "its key is too short"))?;
            Ok((page, decode("page_hints", &value)?))
        })
    }

    /// What a file of hints listed when it was last read.
    pub fn listed(&self, file: PageKey) -> Result<HashMap<Fingerprint, Option<DateRange>>> {
        let mut listed = HashMap::new();
        for guard in self.shared.tables.listed.prefix(file.bytes()) {
            let (key, value) = guard.into_inner().map_err(Error::tables("read what a file lists"))?;
            let fingerprint = keys::listed_fingerprint(&key);
            let fingerprint = fingerprint.ok_or_else(|| Error::row("listed", "its key is too short"))?;
            listed.insert(fingerprint, decode("listed", &value)?);
        }
        Ok(listed)
    }
}
