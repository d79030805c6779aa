//! Announces files of hints, and the URLs that they list, to the sieve.

use std::collections::BTreeMap;

use vernal_document::robots::Robots;
use vernal_frontier::SITEMAPS_MAX;
use vernal_model::{
    Found, LinkKind, Origin, Page, PageKey, Partition, Report, RobotsAnswer, RobotsRow, SiteList, SiteListKind, Url,
    Via,
};

use super::moved_entries::Delta;
use crate::core::Core;
use crate::intake::sessions::tell_traps;

/// Sitemaps accepted from one robots.txt.
const SITEMAPS_NAMED_MAX: usize = 100;
/// Feeds and tables accepted from one page.
const NAMED_BY_PAGE_MAX: usize = 8;
/// Lists are read before pages: what is found on a page with more links goes first (Yadav 2012, 3.1.2).
const FORWARD_OF_FILES: u32 = 10_000;
/// Files of hints of one source that are read per site.
pub(super) const FILES_MAX: usize = SITEMAPS_MAX;

/// Announces the sitemaps that a robots.txt names, or the usual location if it names none. Each is announced like a
/// link, so that it is tried once.
pub(crate) fn find_sitemaps(core: &mut Core, origin: &Origin, row: &RobotsRow) {
    let named = match &row.answer {
        RobotsAnswer::Text(text) => Robots::parse(text.as_bytes()).sitemaps().to_vec(),
        RobotsAnswer::AllowAll => Vec::new(),
        RobotsAnswer::DisallowAll | RobotsAnswer::MovedTo { .. } => return,
    };
    let Ok(root) = Url::parse(&format!("{origin}/")) else { return };
    let named = if named.is_empty() { vec!["/sitemap.xml".to_owned()] } else { named };
    for reference in named.iter().take(SITEMAPS_NAMED_MAX) {
        if let Ok(url) = root.join(reference.trim()) {
            find_file(core, url, Via::Sitemap, 0, None);
        }
    }
}

/// Announces the feeds and the table that a page names.
pub(crate) fn find_named_files(core: &mut Core, page: &Page, report: &Report) {
    let Some(document) = report.document.as_ref().filter(|document| !document.directives.nofollow) else { return };
    let named = document.links.iter().filter_map(|link| match link.kind {
        LinkKind::Feed => Some((link.target.clone(), Via::Feed)),
        LinkKind::Companion => Some((link.target.clone(), Via::Companion)),
        _ => None,
    });
    let named: Vec<(Url, Via)> = named.take(NAMED_BY_PAGE_MAX).collect();
    for (url, via) in named {
        find_file(core, url, via, page.depth.saturating_add(1), Some(page.key));
    }
}

/// Announces a file of hints, so that it is tried once.
fn find_file(core: &mut Core, url: Url, via: Via, depth: u16, found_on: Option<PageKey>) {
    if !core.scope.contains(&url, depth) || core.recent.met(url.fingerprint()) {
        return;
    }
    let id = core.partitions.home_of(&url);
    let found = Found { url, via, depth, found_on, forward: FORWARD_OF_FILES };
    core.announce_all(id, vec![found], Vec::new());
}

/// Announces URLs that were not in the list before. Their link depth is unknown, so a depth limit leaves them to be
/// found through links.
pub(super) fn find_listed(core: &mut Core, page: &Page, listing: &SiteList, delta: &Delta) {
    let via = match listing.kind {
        SiteListKind::Sitemap => Via::Sitemap,
        SiteListKind::Feed => Via::Feed,
        SiteListKind::SitemapIndex | SiteListKind::VolatileTable => return,
    };
    let found = new_in_list(core, listing, delta, u16::MAX);
    announce_listed(core, page, found, via, 0);
}

/// Announces the files that an index newly names, as far as they can be expected to lead to pages.
pub(super) fn find_indexed(core: &mut Core, page: &Page, listing: &SiteList, delta: &Delta, files_read: usize) {
    let (id, site) = (page.key.partition, page.url.site());
    let mut found = new_in_list(core, listing, delta, page.depth.saturating_add(1));
    let traps = &mut core.partitions.of_mut(id).sites.traps;
    let reach = traps.follow_index(&site, page.depth, found.len(), files_read);
    found.truncate(reach.files);
    tell_traps(core, id, &site, reach.words);
    announce_listed(core, page, found, Via::Sitemap, FORWARD_OF_FILES);
}

/// Notes whether a file that is read for the first time names pages of ours.
pub(super) fn watch_for_traps(core: &mut Core, page: &Page, listing: &SiteList) {
    let (id, site) = (page.key.partition, page.url.site());
    let names_pages = match listing.kind {
        SiteListKind::Sitemap => listing.entries.iter().any(|entry| core.scope.contains(&entry.url, u16::MAX)),
        SiteListKind::SitemapIndex => false,
        SiteListKind::Feed | SiteListKind::VolatileTable => return,
    };
    let words = core.partitions.of_mut(id).sites.traps.learn_sitemap(&site, names_pages);
    tell_traps(core, id, &site, words);
}

/// The entries within the scope that were not in the list before and were not announced lately.
fn new_in_list(core: &mut Core, listing: &SiteList, delta: &Delta, reach: u16) -> Vec<Url> {
    let moved = delta.moved.iter().filter(|moved| !moved.was_listed);
    let urls = moved.map(|moved| &listing.entries[moved.place].url);
    let Core { scope, recent, .. } = core;
    urls.filter(|url| scope.contains(url, reach) && !recent.met(url.fingerprint())).cloned().collect()
}

fn announce_listed(core: &mut Core, page: &Page, urls: Vec<Url>, via: Via, forward: u32) {
    let depth = page.depth.saturating_add(1);
    let mut found: BTreeMap<Partition, Vec<Found>> = BTreeMap::new();
    for url in urls {
        let id = core.partitions.home_of(&url);
        found.entry(id).or_default().push(Found { url, via, depth, found_on: Some(page.key), forward });
    }
    for (id, urls) in found {
        core.announce_all(id, urls, Vec::new());
    }
}
