//! The input of a pass. It is a trait so that links may come from elsewhere than the document rows later, and so that a
//! pass can be measured on a web that is not on disk.

use std::collections::HashSet;

use vernal_document::terms::page_terms;
use vernal_model::{DocumentRow, Fingerprint, Location, Page, PageKey, PageState, PageTerms, Report, TopicOf};
use vernal_repository::Reader;

use crate::Result;
use crate::intake::{archived_report, discovery};

/// A held page, as a pass sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct HeldPage {
    pub key: PageKey,
    pub fingerprint: Fingerprint,
    /// The number of its newest version.
    pub version: u32,
    pub location: Option<Location>,
    /// Changes that its visits found, and the number of days in which they happened.
    pub changes: u32,
    pub watched_days: f64,
}

pub trait Source {
    /// Held pages in the order of their keys, starting after `after`, and the last key that was examined; no key when
    /// there are no more.
    fn pages(&self, after: Option<PageKey>, limit: usize) -> Result<(Vec<HeldPage>, Option<PageKey>)>;
    /// The words of a page as they were last read, from whatever version.
    fn terms(&self, page: PageKey) -> Result<Option<PageTerms>>;
    /// The words of a page read anew from its newest version.
    fn read(&self, page: &HeldPage) -> Result<PageTerms>;
    /// The targets of a page's links, each once: their number is O(q).
    fn links(&self, page: PageKey) -> Result<Vec<Fingerprint>>;
    /// Whether a page is still held.
    fn is_held(&self, page: PageKey) -> Result<bool>;
    /// The topics that a page has now.
    fn topics_of(&self, page: PageKey) -> Result<Vec<TopicOf>>;
}

/// The source that reads the repository.
pub(crate) struct Kept<'a> {
    pub reader: &'a Reader,
    /// Removes learned session ids from links, as when pages are read for the first time.
    pub drop_sessions: &'a dyn Fn(&mut Report),
}

impl Source for Kept<'_> {
    fn pages(&self, after: Option<PageKey>, limit: usize) -> Result<(Vec<HeldPage>, Option<PageKey>)> {
        let pages = self.reader.pages(after, limit)?;
        let last = pages.last().map(|page| page.key);
        Ok((pages.iter().filter(|page| page.state == PageState::Held).map(held).collect(), last))
    }

    fn terms(&self, page: PageKey) -> Result<Option<PageTerms>> {
        Ok(self.reader.terms(page)?)
    }

    /// A record that cannot be read has no words; `verify` reports it. Nor has a page that asks not to be kept.
    fn read(&self, page: &HeldPage) -> Result<PageTerms> {
        let nothing = PageTerms { version: page.version, ..PageTerms::default() };
        let Some(location) = &page.location else { return Ok(nothing) };
        let Ok(kept) = self.reader.body(location) else { return Ok(nothing) };
        let Ok(mut report) = archived_report::report(&kept) else { return Ok(nothing) };
        (self.drop_sessions)(&mut report);
        let document = report.document.filter(|document| !document.directives.noarchive);
        Ok(document.map_or(nothing, |document| page_terms(&document, page.fingerprint, page.version)))
    }

    fn links(&self, page: PageKey) -> Result<Vec<Fingerprint>> {
        Ok(self.reader.document(page)?.map(|row| followed(&row)).unwrap_or_default())
    }

    fn is_held(&self, page: PageKey) -> Result<bool> {
        Ok(self.reader.page(page)?.is_some_and(|page| page.state == PageState::Held))
    }

    fn topics_of(&self, page: PageKey) -> Result<Vec<TopicOf>> {
        Ok(self.reader.topics_of(page)?)
    }
}

fn held(page: &Page) -> HeldPage {
    HeldPage {
        key: page.key,
        fingerprint: page.url.fingerprint(),
        version: page.version.map_or(0, |version| version.number),
        location: page.version.and_then(|version| version.body()),
        changes: page.changes,
        watched_days: page.last_visit.since(page.first_visit).days_f64(),
    }
}

/// The targets of the followed links, each once.
pub(crate) fn followed(row: &DocumentRow) -> Vec<Fingerprint> {
    let mut met = HashSet::with_capacity(row.links.len());
    let links = row.links.iter().filter(|link| discovery::is_followed(link.kind, link.rel));
    links.map(|link| link.target).filter(|&target| met.insert(target)).collect()
}
