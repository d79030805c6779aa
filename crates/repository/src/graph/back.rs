//! Finds the pages that link to a page. The candidates are the pages that the index names and those whose links changed since;
//! their present rows decide. Without an index, or for a URL that it does not know, every row is read.

use std::collections::BTreeSet;
use std::sync::Arc;

use vernal_model::{Fingerprint, LinkRow, Page, PageKey, Url};

use super::LinkIndex;
use super::gather::is_linking;
use crate::reader::Reader;
use crate::tables::keys;
use crate::tables::rows::{LinksOfDocument, decode, decode_head};
use crate::{Error, Result};

/// A page that links to another.
#[derive(Clone, Debug, PartialEq)]
pub struct BackLink {
    pub page: Page,
    /// The link that counts as a back link, or the first if none does.
    pub link: LinkRow,
    /// Its index among the links of the newest version of the page.
    pub place: usize,
    /// How many links of the page lead there.
    pub links: usize,
}

impl Reader {
    /// The pages that link to a URL, in the order of their keys.
    pub fn back_links(&self, url: &Url) -> Result<impl Iterator<Item = Result<BackLink>> + use<>> {
        let target = url.fingerprint();
        let parents = self.parents(url)?;
        let reader = self.clone();
        let all = parents.is_none().then(|| self.all_parents(target)).into_iter().flatten();
        let some = parents.into_iter().flatten().map(Ok);
        Ok(some.chain(all).filter_map(move |key| key.and_then(|key| reader.back_link(key, target)).transpose()))
    }

    /// The pages that may link to a URL: those of the index, and those whose links changed since. `None` when the index does
    /// not know the URL.
    fn parents(&self, url: &Url) -> Result<Option<BTreeSet<PageKey>>> {
        let Some(index) = self.link_index()? else { return Ok(None) };
        let Some(key) = self.key_of(url)?.and_then(|known| known.key) else { return Ok(None) };
        let Some(node) = index.numbering().node_of(key) else { return Ok(None) };
        let mut parents = self.relinked_since(index.position())?;
        parents.extend(index.sources(node)?.into_iter().map(|source| index.numbering().key_of(source)));
        Ok(Some(parents))
    }

    /// At most so many pages that linked to this one at the last pass over all links. It is cheap, and as old as that pass.
    pub fn linked_from(&self, page: PageKey, most: usize) -> Result<Vec<PageKey>> {
        let Some(index) = self.link_index()? else { return Ok(Vec::new()) };
        let Some(node) = index.numbering().node_of(page) else { return Ok(Vec::new()) };
        let sources = index.sources(node)?;
        Ok(sources.into_iter().take(most).map(|source| index.numbering().key_of(source)).collect())
    }

    /// The links by target as the last pass sorted them. `None` before the first pass, and when the file does not belong to
    /// the present state of the repository.
    pub fn link_index(&self) -> Result<Option<Arc<LinkIndex>>> {
        let Some(index) = self.shared.link_index() else { return Ok(None) };
        let known_since = self.graph_mark()?.map_or(0, |mark| mark.position);
        let applied = self.shared.live().state.position;
        Ok((known_since..=applied).contains(&index.position()).then_some(index))
    }

    /// The pages whose links may have changed after this position of the journal.
    pub(crate) fn relinked_since(&self, position: u64) -> Result<BTreeSet<PageKey>> {
        let mut pages = BTreeSet::new();
        let Some(start) = position.checked_add(1) else { return Ok(pages) };
        for guard in self.shared.tables.relinked.range(start.to_be_bytes()..) {
            let row = guard.value().map_err(Error::tables("read whose links changed"))?;
            pages.extend(decode::<Vec<PageKey>>("relinked", &row)?);
        }
        Ok(pages)
    }

    fn back_link(&self, key: PageKey, target: Fingerprint) -> Result<Option<BackLink>> {
        let Some(row) = self.document_row(key)? else { return Ok(None) };
        let links = decode_head::<LinksOfDocument<'_>>("documents", &row)?.links;
        let here = || links.iter().enumerate().filter(|(_, link)| link.target == target);
        let counted = here().find(|(_, link)| link.counted.partition().is_some());
        let Some((place, link)) = counted.or_else(|| here().next()) else { return Ok(None) };
        let page = self.page(key)?.filter(|page| is_linking(page.state));
        Ok(page.map(|page| BackLink { page, link: *link, place, links: here().count() }))
    }

    /// Every page whose row names the target, found by reading all rows.
    fn all_parents(&self, target: Fingerprint) -> impl Iterator<Item = Result<PageKey>> + use<> {
        self.shared.tables.documents.iter().filter_map(move |guard| {
            let find = || -> Result<Option<PageKey>> {
                let (key, row) = guard.into_inner().map_err(Error::tables("read the links"))?;
                let links = decode_head::<LinksOfDocument<'_>>("documents", &row)?.links;
                Ok(links.iter().any(|link| link.target == target).then(|| PageKey::from_bytes(&key)).flatten())
            };
            find().transpose()
        })
    }

    fn document_row(&self, key: PageKey) -> Result<Option<fjall::UserValue>> {
        self.shared.tables.documents.get(key.bytes()).map_err(Error::tables("read a document"))
    }
}

/// Results of passes over all links.
impl Reader {
    /// The last pass over all links that was completed.
    pub fn graph_mark(&self) -> Result<Option<vernal_model::GraphMark>> {
        let row = self.shared.tables.meta.get(keys::GRAPH).map_err(Error::tables("read the mark of the links"))?;
        row.map(|bytes| decode("meta", &bytes)).transpose()
    }

    /// The link score of a URL, scaled so that the mean over the held pages is 1. `None` before a pass has scored it.
    pub fn score(&self, key: PageKey) -> Result<Option<f32>> {
        let (chunk, place) = vernal_model::WeightRow::place(key.number);
        Ok(self.scores(key.partition, chunk)?.get(place).copied())
    }

    /// The scores of one chunk of page numbers (see `WeightRow`); empty before a pass has scored them.
    pub fn scores(&self, partition: vernal_model::Partition, chunk: u32) -> Result<Vec<f32>> {
        let key = PageKey::new(partition, chunk).bytes();
        let row = self.shared.tables.weights.get(key).map_err(Error::tables("read the weights"))?;
        Ok(row.map(|bytes| decode("weights", &bytes)).transpose()?.unwrap_or_default())
    }

    /// Why and when a page was last evicted, if it ever was.
    pub fn left(&self, key: PageKey) -> Result<Option<vernal_model::EvictionRow>> {
        let row = self.shared.tables.left.get(key.bytes()).map_err(Error::tables("read who left"))?;
        row.map(|bytes| decode("left", &bytes)).transpose()
    }
}
