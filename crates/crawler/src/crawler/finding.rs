//! What a report leads to: URLs on their way to the sieve, redirects, traps and sessions.

use vernal_frontier::Dispatcher;
use vernal_model::{Deed, DocumentRow, Page, PageKey, Report, Seed, Url};

use super::restoring::Restoring;
use super::{Crawler, WHOLE};
use crate::Result;
use crate::intake::discovery;

/// Traps told per site.
const TRAPS_TOLD_MAX: usize = 100;

impl Crawler {
    pub(super) fn discover(
        &mut self,
        report: &Report,
        row: &mut DocumentRow,
        old: Option<&DocumentRow>,
        depth: u16,
        restoring: Option<&Restoring<'_>>,
    ) {
        let (dispatcher, home) = (&self.dispatcher, &self.home);
        let found = discovery::links(
            report,
            &mut row.links,
            old,
            depth,
            &mut self.recent,
            &|url, depth| in_scope(dispatcher, restoring, url, depth),
            &|url| home.get(url.site_text()).copied().unwrap_or_else(|| url.partition()),
        );
        for (id, here) in found {
            if !here.urls.is_empty() || !here.again.is_empty() {
                self.group.push(id, Deed::Found { urls: here.urls, again: here.again });
            }
            if !here.gone.is_empty() {
                self.group.push(id, Deed::Unlinked { gone: here.gone });
            }
        }
    }

    /// The links of a page count while it is held: they stop to count when it goes, and count again when it comes back.
    pub(super) fn count_links_again(&mut self, key: PageKey, was_held: bool, is_held: bool) -> Result<()> {
        if was_held == is_held {
            return Ok(());
        }
        let Some(row) = self.reader.document(key)? else { return Ok(()) };
        for (id, links) in discovery::counted(&row) {
            let deed = match is_held {
                true => Deed::Found { urls: Vec::new(), again: links },
                false => Deed::Unlinked { gone: links },
            };
            self.group.push(id, deed);
        }
        Ok(())
    }

    /// A redirect target is admitted like a link; a seed that redirects moves its scope to the target.
    pub(super) fn follow_redirect(
        &mut self,
        report: &Report,
        hops: u8,
        page: &Page,
        restoring: Option<&Restoring<'_>>,
    ) {
        let Some(found) = discovery::redirect(report, hops, page.depth, page.key) else { return };
        let moved_seed = self.dispatcher.seed_at(&page.url);
        if let Some(seed) = moved_seed.filter(|seed| seed.moved_to.as_ref() != Some(&found.url)) {
            let seed = Seed { moved_to: Some(found.url.clone()), ..seed.clone() };
            self.widening.seed_changed(self.dispatcher.put_seed(seed.clone()).as_ref(), &seed);
            self.group.push(WHOLE, Deed::Seeded(seed));
        }
        if in_scope(&self.dispatcher, restoring, &found.url, found.depth) {
            let id = self.home_of(&found.url);
            self.group.push(id, Deed::Found { urls: vec![found], again: Vec::new() });
        }
    }

    pub(super) fn watch_for_traps(&mut self, page: &Page, document: &DocumentRow) {
        let (id, site) = (page.key.partition, page.url.site());
        let partition = self.partition(id);
        let content = document.signature.content;
        let session = partition.traps.learn_session(&page.url, content);
        let words = partition.traps.learn(&page.url, content);
        let told = &mut partition.site_mut(&site).profile.traps;
        let before = told.len();
        for words in session.into_iter().chain(words) {
            if told.len() < TRAPS_TOLD_MAX && !told.contains(&words) {
                told.push(words);
            }
        }
        if told.len() > before {
            self.note_site(&site, id);
        }
    }

    /// Takes the sessions that were learned out of the links, so that one page stays one page. Targets of redirects keep
    /// theirs: some sites give nobody a page without one.
    pub(super) fn drop_sessions(&self, report: &mut Report) {
        let Some(document) = report.document.as_mut() else { return };
        if !self.partitions.iter().any(|partition| partition.traps.has_sessions()) {
            return;
        }
        for link in &mut document.links {
            let traps = &self.partitions[usize::from(self.home_of(&link.target).0)].traps;
            if let Some(bare) = traps.without_sessions(&link.target) {
                link.target = bare;
            }
        }
    }
}

/// Where the seeds are lost, every site that was asked once is within the scope.
fn in_scope(dispatcher: &Dispatcher, restoring: Option<&Restoring<'_>>, url: &Url, depth: u16) -> bool {
    match restoring.and_then(|restoring| restoring.sites) {
        Some(sites) => sites.contains(url.site_text()),
        None => dispatcher.in_scope(url, depth),
    }
}
