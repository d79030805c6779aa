//! Session ids in links, and the traps of a site: content met before under another URL shows both.

use vernal_model::{DocumentRow, Page, Partition as PartitionId, Report, Site};

use crate::core::Core;
use crate::partition::Partitions;

/// Traps journalled per site.
const TRAPS_TOLD_MAX: usize = 100;

/// Removes learned session ids from the links, so that one page keeps one URL. Targets of redirects keep theirs: some
/// sites serve no page without one.
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

/// Notes what a body shows about its URL's pattern, and journals a trap that it reveals.
pub(crate) fn watch_for_traps(core: &mut Core, page: &Page, document: &DocumentRow) {
    let (id, site) = (page.key.partition, page.url.site());
    let sites = &mut core.partitions.of_mut(id).sites;
    let content = document.signature.content;
    let session = sites.traps.learn_session(&page.url, content);
    let words = sites.traps.learn(&page.url, content);
    tell_traps(core, id, &site, session.into_iter().chain(words));
}

/// Journals newly recognised traps of a site with its row, where people find them.
pub(crate) fn tell_traps(core: &mut Core, id: PartitionId, site: &Site, words: impl IntoIterator<Item = String>) {
    let told = &mut core.partitions.of_mut(id).sites.site_mut(site).profile.traps;
    let before = told.len();
    for words in words {
        if told.len() < TRAPS_TOLD_MAX && !told.contains(&words) {
            told.push(words);
        }
    }
    if told.len() > before {
        core.note_site(site, id);
    }
}
