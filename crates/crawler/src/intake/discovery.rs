//! The URLs that a report names, ready for the sieve.

use std::collections::BTreeMap;

use foldhash::{HashMap, HashMapExt, HashSet, HashSetExt};
use vernal_model::{
    CountedIn, Document, DocumentRow, Fingerprint, Found, LinkKind, LinkRow, Outcome, PageKey, Partition, Rel, Report,
    Url, Via,
};

/// Redirects followed from the URL first asked for.
pub(crate) const HOPS_MAX: u8 = 10;

/// What lies in one partition of what a report named.
#[derive(Default, Debug)]
pub(crate) struct FoundHere {
    pub urls: Vec<Found>,
    pub again: Vec<Fingerprint>,
    /// Links that the page had before and has no more.
    pub gone: Vec<Fingerprint>,
}

/// The recently found: a fixed table of fingerprints, so that the links every page repeats are spelled out once.
pub(crate) struct Recent {
    slots: Box<[u64]>,
}

/// 128 Ki slots, one MiB.
const RECENT_SLOTS: usize = 1 << 17;

impl Recent {
    pub(crate) fn new() -> Self {
        Recent { slots: vec![0; RECENT_SLOTS].into() }
    }

    /// Whether this URL was met lately; from now on it was.
    pub(crate) fn met(&mut self, fingerprint: Fingerprint) -> bool {
        let slot = &mut self.slots[fingerprint.0 as usize % RECENT_SLOTS];
        let known = *slot == fingerprint.0 && fingerprint.0 != 0;
        *slot = fingerprint.0;
        known
    }
}

/// The page's links in packed form. The set of targets a page had before is not announced again.
pub(crate) fn packed(document: &Document) -> Vec<LinkRow> {
    let links = document.links.iter();
    links
        .map(|link| LinkRow {
            target: link.target.fingerprint(),
            kind: link.kind,
            rel: link.rel,
            counted: CountedIn::NOWHERE,
        })
        .collect()
}

/// Kinds of links that lead to pages; images, styles and scripts are recorded and not crawled.
pub(crate) fn is_followed(kind: LinkKind, rel: Rel) -> bool {
    let leads_to_a_page = matches!(
        kind,
        LinkKind::Anchor | LinkKind::Frame | LinkKind::Redirect | LinkKind::Canonical | LinkKind::Alternate
    );
    leads_to_a_page && !rel.contains(Rel::NOFOLLOW)
}

/// Groups the followed links of a page by partition, and marks in its rows where each is counted. `old` is the document
/// we kept before: its links are counted already, and those that are not there any more are gone.
pub(crate) fn links(
    report: &Report,
    rows: &mut [LinkRow],
    old: Option<&DocumentRow>,
    depth: u16,
    recent: &mut Recent,
    in_scope: &dyn Fn(&Url, u16) -> bool,
    partition_of: &dyn Fn(&Url) -> Partition,
) -> BTreeMap<Partition, FoundHere> {
    let mut found: BTreeMap<Partition, FoundHere> = BTreeMap::new();
    let kept = old.map_or(&[][..], |old| &old.links);
    let announced = kept.iter().filter(|link| link.counted != CountedIn::NOWHERE);
    // Looked up only, never walked through: its order is chance.
    let mut before: HashMap<Fingerprint, CountedIn> = HashMap::with_capacity(kept.len());
    before.extend(announced.map(|link| (link.target, link.counted)));
    let mut met: HashSet<Fingerprint> = HashSet::with_capacity(rows.len());
    let next_depth = depth.saturating_add(1);
    let document = report.document.as_ref().filter(|document| !document.directives.nofollow);
    let links = document.map_or(&[][..], |document| &document.links);
    for (link, row) in links.iter().zip(rows) {
        if !is_followed(link.kind, link.rel) || !met.insert(row.target) {
            continue;
        }
        if let Some(counted) = before.remove(&row.target) {
            row.counted = counted;
            continue;
        }
        if !in_scope(&link.target, next_depth) {
            continue;
        }
        let partition = partition_of(&link.target);
        row.counted = CountedIn::new(partition);
        let here = found.entry(partition).or_default();
        if recent.met(row.target) {
            here.again.push(row.target);
        } else {
            here.urls.push(Found {
                url: link.target.clone(),
                via: Via::Link,
                depth: next_depth,
                found_on: Some(report.order.page),
                forward: links.len() as u32,
            });
        }
    }
    // Most pages have all of them still.
    let gone = if before.is_empty() { &[] } else { kept };
    for link in gone {
        if let Some(partition) = before.remove(&link.target).and_then(CountedIn::partition) {
            found.entry(partition).or_default().gone.push(link.target);
        }
    }
    found
}

/// Where the links of a document are counted.
pub(crate) fn counted(row: &DocumentRow) -> BTreeMap<Partition, Vec<Fingerprint>> {
    let mut counted: BTreeMap<Partition, Vec<Fingerprint>> = BTreeMap::new();
    for link in &row.links {
        if let Some(partition) = link.counted.partition() {
            counted.entry(partition).or_default().push(link.target);
        }
    }
    counted
}

/// The target of a redirect, so many hops further than the page itself.
pub(crate) fn redirect(report: &Report, hops: u8, depth: u16, page: PageKey) -> Option<Found> {
    let Outcome::Moved { to: Some(to), .. } = &report.outcome else { return None };
    if hops >= HOPS_MAX || *to == report.order.url {
        return None;
    }
    Some(Found { url: to.clone(), via: Via::Redirect { hops: hops + 1 }, depth, found_on: Some(page), forward: 0 })
}
