//! Session ids in links, and the traps of a site: what content that was met before teaches of URLs.

use vernal_model::{DocumentRow, Page, Report};

use crate::core::Core;
use crate::partition::Partitions;

/// Traps told per site.
const TRAPS_TOLD_MAX: usize = 100;

/// Takes the sessions that were learned out of the links, so that one page stays one page. Targets of redirects keep
/// theirs: some sites give nobody a page without one.
pub(crate) fn drop_sessions(partitions: &Partitions, report: &mut Report) {
    let Some(document) = report.document.as_mut() else { return };
    if !partitions.iter().any(|partition| partition.sites.traps.has_sessions()) {
        return;
    }
    for link in &mut document.links {
        let traps = &partitions.of(partitions.home_of(&link.target)).sites.traps;
        if let Some(bare) = traps.without_sessions(&link.target) {
            link.target = bare;
        }
    }
}

/// Notes what a body says of the pattern that its URL is of, and journals a trap that it shows.
pub(crate) fn watch_for_traps(core: &mut Core, page: &Page, document: &DocumentRow) {
    let (id, site) = (page.key.partition, page.url.site());
    let sites = &mut core.partitions.of_mut(id).sites;
    let content = document.signature.content;
    let session = sites.traps.learn_session(&page.url, content);
    let words = sites.traps.learn(&page.url, content);
    let told = &mut sites.site_mut(&site).profile.traps;
    let before = told.len();
    for words in session.into_iter().chain(words) {
        if told.len() < TRAPS_TOLD_MAX && !told.contains(&words) {
            told.push(words);
        }
    }
    if told.len() > before {
        core.note_site(&site, id);
    }
}
