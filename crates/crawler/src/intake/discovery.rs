//! The URLs that a report names, ready for the sieve.

use std::collections::BTreeMap;

use foldhash::{HashMap, HashMapExt, HashSet, HashSetExt};
use vernal_model::{
    CountedIn, Document, DocumentRow, Fingerprint, Found, LinkKind, LinkRow, Outcome, PageKey, Partition, Rel, Report,
    Url, Via,
};

/// Redirects followed from the URL that was first requested.
pub(crate) const HOPS_MAX: u8 = 10;

/// The URLs of one partition that a report names.
#[derive(Default, Debug)]
pub(crate) struct FoundHere {
    pub urls: Vec<Found>,
    pub again: Vec<Fingerprint>,
    /// Links that the page had before and no longer has.
    pub gone: Vec<Fingerprint>,
}

/// URLs found recently: a fixed table of fingerprints, so that links repeated on every page are spelled out only once.
pub(crate) struct Recent {
    slots: Box<[u64]>,
}

/// 128 Ki slots, one MiB.
const RECENT_SLOTS: usize = 1 << 17;

impl Recent {
    pub(crate) fn new() -> Self {
        Recent { slots: vec![0; RECENT_SLOTS].into() }
    }

    /// Adds the URL and returns whether it was in the table already.
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

/// Whether a link leads to a page; images, styles and scripts are recorded and not crawled.
pub(crate) fn is_followed(kind: LinkKind, rel: Rel) -> bool {
    let leads_to_a_page = matches!(
        kind,
        LinkKind::Anchor | LinkKind::Frame | LinkKind::Redirect | LinkKind::Canonical | LinkKind::Alternate
    );
    leads_to_a_page && !rel.contains(Rel::NOFOLLOW)
}

/// Groups the followed links of a page by partition, and marks in its rows where each link is counted. `old` is the
/// previous version: its links are counted already, and those missing from the new version are reported as gone.
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
    // Looked up only, never iterated: its order is random.
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
    // Most pages still have all their links.
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

/// The target of a redirect, with the number of hops up to it.
pub(crate) fn redirect(report: &Report, hops: u8, depth: u16, page: PageKey) -> Option<Found> {
    let Outcome::Moved { to: Some(to), .. } = &report.outcome else { return None };
    if hops >= HOPS_MAX || *to == report.order.url || leaves_the_web(&report.order.url, to) {
        return None;
    }
    Some(Found { url: to.clone(), via: Via::Redirect { hops: hops + 1 }, depth, found_on: Some(page), forward: 0 })
}

/// Whether a redirect leads from HTTP to another protocol. Such a redirect could make the crawler speak to a service that
/// no link names, so it is kept in the visit and not followed.
fn leaves_the_web(from: &Url, to: &Url) -> bool {
    let is_web = |url: &Url| matches!(url.scheme(), "http" | "https");
    is_web(from) && !is_web(to)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;
    use vernal_model::{AnchorPlace, Link, Moment};

    use super::*;
    use crate::testing::{order, url};

    const KINDS: [LinkKind; 4] = [LinkKind::Anchor, LinkKind::Canonical, LinkKind::Image, LinkKind::Feed];

    fn target(number: u8) -> Url {
        url(&format!("http://s{}.example/{number}", number % 3))
    }

    /// Links to every third site are out of scope.
    fn is_in_scope(url: &Url) -> bool {
        url.site_text() != "s2.example"
    }

    fn report(links: &[(u8, usize, bool)]) -> Report {
        let link = |&(number, kind, nofollow): &(u8, usize, bool)| Link {
            target: target(number),
            kind: KINDS[kind],
            rel: if nofollow { Rel::NOFOLLOW } else { Rel::default() },
            anchor: AnchorPlace::default(),
        };
        let document = Document { links: links.iter().map(link).collect(), ..Document::default() };
        let order = order("http://a.example/", PageKey::default());
        let unanswered = Report::unanswered(order, Moment::EPOCH, Moment::EPOCH, Outcome::Read { status: 200 });
        Report { document: Some(document), ..unanswered }
    }

    fn links_of() -> impl Strategy<Value = Vec<(u8, usize, bool)>> {
        prop::collection::vec((0u8..12, 0..KINDS.len(), prop::bool::weighted(0.2)), 0..20)
    }

    /// The links of one version, and the row that is kept of it.
    fn met(
        report: &Report,
        old: Option<&DocumentRow>,
        recent: &mut Recent,
    ) -> (BTreeMap<Partition, FoundHere>, DocumentRow) {
        let mut row = DocumentRow { links: packed(report.document.as_ref().unwrap()), ..DocumentRow::default() };
        let in_scope = |url: &Url, _| is_in_scope(url);
        let found = links(report, &mut row.links, old, 3, recent, &in_scope, &Url::partition);
        (found, row)
    }

    /// The targets that a version leads to.
    fn followed(links: &[(u8, usize, bool)]) -> BTreeSet<Url> {
        let followed = links.iter().filter(|(_, kind, nofollow)| *kind < 2 && !nofollow);
        followed.map(|(number, ..)| target(*number)).filter(is_in_scope).collect()
    }

    proptest! {
        #[test]
        fn between_two_versions_links_are_found_and_gone_as_sets_say(
            first in links_of(), second in links_of(), remembers in any::<bool>(),
        ) {
            let mut recent = Recent::new();
            let (found, old) = met(&report(&first), None, &mut recent);
            let urls = |found: &BTreeMap<Partition, FoundHere>| -> BTreeSet<Url> {
                found.values().flat_map(|here| here.urls.iter().map(|found| found.url.clone())).collect()
            };
            prop_assert_eq!(urls(&found), followed(&first));
            prop_assert!(found.values().all(|here| here.gone.is_empty() && here.again.is_empty()));
            let all = found.values().flat_map(|here| &here.urls);
            prop_assert!(all.clone().all(|found| found.depth == 4 && found.via == Via::Link));
            prop_assert_eq!(all.count(), followed(&first).len(), "each once");
            for (id, targets) in counted(&old) {
                let here: BTreeSet<Fingerprint> = found[&id].urls.iter().map(|found| found.url.fingerprint()).collect();
                prop_assert_eq!(targets.into_iter().collect::<BTreeSet<_>>(), here, "each is counted where it lies");
            }

            let mut recent = if remembers { recent } else { Recent::new() };
            let (found, _) = met(&report(&second), Some(&old), &mut recent);
            let (before, after) = (followed(&first), followed(&second));
            let marks = |urls: BTreeSet<&Url>| urls.into_iter().map(Url::fingerprint).collect::<BTreeSet<_>>();
            let gone = found.values().flat_map(|here| here.gone.iter().copied()).collect::<BTreeSet<_>>();
            prop_assert_eq!(gone, marks(before.difference(&after).collect()));
            let again = found.values().flat_map(|here| here.again.iter().copied());
            let new = found.values().flat_map(|here| here.urls.iter().map(|found| found.url.fingerprint()));
            prop_assert_eq!(again.chain(new).collect::<BTreeSet<_>>(), marks(after.difference(&before).collect()));
        }
    }

    #[test]
    fn a_url_that_was_met_lately_is_not_spelled_out_again() {
        let mut recent = Recent::new();
        let links = [(1, 0, false), (3, 0, false)];
        met(&report(&links[..1]), None, &mut recent);
        let (found, _) = met(&report(&links), None, &mut recent);
        let again: Vec<Fingerprint> = found.values().flat_map(|here| here.again.clone()).collect();
        assert_eq!(again, [target(1).fingerprint()]);
        assert_eq!(found.values().map(|here| here.urls.len()).sum::<usize>(), 1);
        assert!(!recent.met(Fingerprint(0)) && !recent.met(Fingerprint(0)), "an empty slot is no URL");
    }
}
