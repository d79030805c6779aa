//! Announces files of hints, and the URLs that they list, to the sieve.

use std::collections::BTreeMap;

use vernal_document::robots::Robots;
use vernal_model::{
    Found, LinkKind, Origin, Page, PageKey, Partition, Report, RobotsAnswer, RobotsRow, SiteList, SiteListKind, Url,
    Via,
};

use super::moved_entries::Delta;
use crate::core::Core;

/// Sitemaps accepted from one robots.txt.
const SITEMAPS_NAMED_MAX: usize = 100;
/// Nesting depth of sitemap indexes: the standard allows none, but sites use one.
const INDEX_DEPTH_MAX: u16 = 2;
/// Feeds and tables accepted from one page.
const NAMED_BY_PAGE_MAX: usize = 8;
/// Lists are read before pages: what is found on a page with more links goes first (Yadav 2012, 3.1.2).
const FORWARD_OF_FILES: u32 = 10_000;
/// Files of hints per site; further files that an index names are ignored.
pub(super) const FILES_MAX: usize = 1_000;

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
    let kind = listing.kind;
    let via = match kind {
        SiteListKind::Sitemap => Via::Sitemap,
        SiteListKind::SitemapIndex if page.depth < INDEX_DEPTH_MAX => Via::Sitemap,
        SiteListKind::Feed => Via::Feed,
        SiteListKind::SitemapIndex | SiteListKind::VolatileTable => return,
    };
    let is_index = kind == SiteListKind::SitemapIndex;
    let depth = page.depth.saturating_add(1);
    let forward = if is_index { FORWARD_OF_FILES } else { 0 };
    let limit = if is_index { FILES_MAX } else { usize::MAX };
    let mut found: BTreeMap<Partition, Vec<Found>> = BTreeMap::new();
    for moved in delta.moved.iter().filter(|moved| !moved.was_listed).take(limit) {
        let url = &listing.entries[moved.place].url;
        let reach = if is_index { depth } else { u16::MAX };
        if core.scope.contains(url, reach) && !core.recent.met(url.fingerprint()) {
            let row = Found { url: url.clone(), via, depth, found_on: Some(page.key), forward };
            found.entry(core.partitions.home_of(url)).or_default().push(row);
        }
    }
    for (id, urls) in found {
        core.announce_all(id, urls, Vec::new());
    }
}
