//! What a pass reads. It is a trait so that links can come from elsewhere than the document rows one day, and so that a
//! pass can be measured on a web that lies on no disk.

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
    /// Changes that its visits found, and the days over which they were made.
    pub changes: u32,
    pub watched_days: f64,
}

pub trait Source {
    /// Held pages in the order of their keys, beginning behind `after`, and the last key that was looked at; no key when
    /// there are no more.
    fn pages(&self, after: Option<PageKey>, limit: usize) -> Result<(Vec<HeldPage>, Option<PageKey>)>;
    /// The words of a page as they were last read, of whatever version.
    fn terms(&self, page: PageKey) -> Result<Option<PageTerms>>;
    /// The words of a page read anew from its newest version.
    fn read(&self, page: &HeldPage) -> Result<PageTerms>;
    /// The pages that a page links to, each once: O(q) is how many they are.
    fn links(&self, page: PageKey) -> Result<Vec<Fingerprint>>;
    /// Whether a page is still held.
    fn is_held(&self, page: PageKey) -> Result<bool>;
    /// The topics that a page has now.
    fn topics_of(&self, page: PageKey) -> Result<Vec<TopicOf>>;
}

/// What the repository keeps.
pub(crate) struct Kept<'a> {
    pub reader: &'a Reader,
    /// Takes out of links what was learned to be a session, as when pages are read for the first time.
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

    /// A record that cannot be read has no words; `verify` tells of it. So has a page that asks not to be kept.
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
        location: page.version.and_then(|version| version.location),
        changes: page.changes,
        watched_days: page.last_visit.since(page.first_visit).days_f64(),
    }
}

/// The targets of the links that are followed, each once.
pub(crate) fn followed(row: &DocumentRow) -> Vec<Fingerprint> {
    let mut met = HashSet::with_capacity(row.links.len());
    let links = row.links.iter().filter(|link| discovery::is_followed(link.kind, link.rel));
    links.map(|link| link.target).filter(|&target| met.insert(target)).collect()
}
