//! Who links to a page, exactly: those that the index names and those whose links changed since are asked for their rows
//! as they are now. Without an index, or for a URL that it does not know, every row is.

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
    /// The link that counts, or the first if none does.
    pub link: LinkRow,
    /// Its place among the links of the page's newest version.
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

    /// The pages that may link to a URL: those of the index, and those whose links changed since; `None` when nobody
    /// knows.
    fn parents(&self, url: &Url) -> Result<Option<BTreeSet<PageKey>>> {
        let Some(index) = self.link_index()? else { return Ok(None) };
        let Some(key) = self.key_of(url)?.and_then(|known| known.key) else { return Ok(None) };
        let Some(node) = index.numbering().node_of(key) else { return Ok(None) };
        let mut parents = self.relinked_since(index.position())?;
        parents.extend(index.sources(node)?.into_iter().map(|source| index.numbering().key_of(source)));
        Ok(Some(parents))
    }

    /// Pages that linked to this one when the last pass went over all links, at most so many: cheap, and as old as the pass.
    pub fn linked_from(&self, page: PageKey, most: usize) -> Result<Vec<PageKey>> {
        let Some(index) = self.link_index()? else { return Ok(Vec::new()) };
        let Some(node) = index.numbering().node_of(page) else { return Ok(Vec::new()) };
        let sources = index.sources(node)?;
        Ok(sources.into_iter().take(most).map(|source| index.numbering().key_of(source)).collect())
    }

    /// The links by target as the last pass sorted them; `None` before the first, and when what is there is not of this
    /// repository as it is now.
    pub fn link_index(&self) -> Result<Option<Arc<LinkIndex>>> {
        let Some(index) = self.shared.link_index() else { return Ok(None) };
        let known_since = self.graph_mark()?.map_or(0, |mark| mark.position);
        let applied = self.shared.live().state.position;
        Ok((known_since..=applied).contains(&index.position()).then_some(index))
    }

    /// The pages whose links may have changed behind this position of the journal.
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

    /// Every page whose row names the target, found by looking at all.
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

/// What passes over all links left behind.
impl Reader {
    /// The last pass over all links that came to its end.
    pub fn graph_mark(&self) -> Result<Option<vernal_model::GraphMark>> {
        let row = self.shared.tables.meta.get(keys::GRAPH).map_err(Error::tables("read the mark of the links"))?;
        row.map(|bytes| decode("meta", &bytes)).transpose()
    }

    /// What links alone say of a URL, scaled so that the mean over the held pages is 1; `None` before a pass met it.
    pub fn score(&self, key: PageKey) -> Result<Option<f32>> {
        let (chunk, place) = vernal_model::WeightRow::place(key.number);
        Ok(self.scores(key.partition, chunk)?.get(place).copied())
    }

    /// The scores of one run of numbers (see `WeightRow`); empty before a pass met them.
    pub fn scores(&self, partition: vernal_model::Partition, chunk: u32) -> Result<Vec<f32>> {
        let key = PageKey::new(partition, chunk).bytes();
        let row = self.shared.tables.weights.get(key).map_err(Error::tables("read the weights"))?;
        Ok(row.map(|bytes| decode("weights", &bytes)).transpose()?.unwrap_or_default())
    }

    /// Why and when a page last left the collection, if it ever did.
    pub fn left(&self, key: PageKey) -> Result<Option<vernal_model::LeftRow>> {
        let row = self.shared.tables.left.get(key.bytes()).map_err(Error::tables("read who left"))?;
        row.map(|bytes| decode("left", &bytes)).transpose()
    }
}
