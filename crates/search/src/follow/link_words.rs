//! The words of links to a page.
//!
//! The unit of each page has one term for each of its links: where the link leads, whether it leaves its site, its words and
//! its site. So the index itself knows what other pages say of a page: these are the terms that begin with its address. They come
//! and go with the units of the pages that say so.

use std::collections::BTreeSet;

use foldhash::HashMap;
use tantivy::Searcher;
use tantivy::schema::IndexRecordOption;
use vernal_model::{LinkKind, Rel, Url};

use super::kept::ReadVersion;
use crate::analysis::words::words;
use crate::index::opened::count_held;
use crate::index::schema::Fields;
use crate::{Error, Result};

/// Different words of links from the page's own site that count for it, and as many from other sites. So no other site can
/// drive out what its own says.
pub const ANCHORS_MAX: usize = 8;
/// The rest of longer words of a link is not kept.
const ANCHOR_BYTES_MAX: usize = 100;
/// Links of one page that are kept.
const LINKS_MAX: usize = 2_000;
/// Different words of links to one page that are looked at in each part of the index, once for its own site and once for others.
const LOOKED_AT_MAX: usize = 4_096;
/// Pages that use the same words are counted up to this.
const PAGES_COUNTED_MAX: usize = 1_000;

/// The bytes of an address, and of the site that a link is on.
const ADDRESS_BYTES: usize = 8;
const SITE_BYTES: usize = 4;
const WITHIN: u8 = 0;
const FROM_OUTSIDE: u8 = 1;

/// The terms of the links of a version: none of a page that asks that its links be not followed.
pub fn terms(url: &Url, read: &ReadVersion) -> BTreeSet<Vec<u8>> {
    let document = &read.document;
    let directives = document.directives;
    if directives.nofollow || directives.noindex || document.listing.is_some() {
        return BTreeSet::new();
    }
    let speaks = |rel: Rel| ![Rel::NOFOLLOW, Rel::UGC, Rel::SPONSORED].into_iter().any(|word| rel.contains(word));
    let links = document.links.iter().filter(|link| link.kind == LinkKind::Anchor && speaks(link.rel));
    let said = links.map(|link| (&link.target, cut(document.anchor(link).trim())));
    let said = said.filter(|(target, text)| !text.is_empty() && *target != url);
    said.take(LINKS_MAX).map(|(target, text)| term(url, target, text)).collect()
}

fn term(url: &Url, target: &Url, text: &str) -> Vec<u8> {
    let is_within = url.site_text() == target.site_text();
    let mut term = Vec::with_capacity(ADDRESS_BYTES + 1 + text.len() + SITE_BYTES);
    term.extend(target.fingerprint().0.to_be_bytes());
    term.push(if is_within { WITHIN } else { FROM_OUTSIDE });
    term.extend(text.as_bytes());
    term.extend(crc32fast::hash(url.site_text().as_bytes()).to_be_bytes());
    term
}

/// The address that the link of a term leads to.
pub fn target_of(term: &[u8]) -> Option<u64> {
    Some(u64::from_be_bytes(term.get(..ADDRESS_BYTES)?.try_into().ok()?))
}

/// Who uses the same words.
#[derive(Default)]
struct Said {
    text: String,
    sites: BTreeSet<[u8; SITE_BYTES]>,
    pages: usize,
}

/// What the committed units say of the page with this address: the words of its own site first, then those that the most other
/// sites use. It depends on what these pages say alone, not on how the index lies on disk.
pub fn anchors(searcher: &Searcher, fields: &Fields, address: u64) -> Result<Vec<String>> {
    let mut chosen: Vec<String> = Vec::new();
    let mut known: BTreeSet<String> = BTreeSet::new();
    for from in [WITHIN, FROM_OUTSIDE] {
        let mut said: Vec<(String, Said)> = said(searcher, fields, address, from)?.into_iter().collect();
        said.sort_unstable_by(|(a, one), (b, other)| {
            let rank = |said: &Said| (said.sites.len(), said.pages.min(PAGES_COUNTED_MAX));
            rank(other).cmp(&rank(one)).then(a.cmp(b))
        });
        let new = said.into_iter().filter(|(folded, _)| known.insert(folded.clone()));
        chosen.extend(new.take(ANCHORS_MAX).map(|(_, said)| said.text));
    }
    Ok(chosen)
}

/// What is said, by its words as they are compared.
fn said(searcher: &Searcher, fields: &Fields, address: u64, from: u8) -> Result<HashMap<String, Said>> {
    const ACT: &str = "read the words of links";
    let beginning: Vec<u8> = address.to_be_bytes().into_iter().chain([from]).collect();
    let mut all: HashMap<String, Said> = HashMap::default();
    for segment in searcher.segment_readers() {
        let inverted = segment.inverted_index(fields.link).map_err(Error::index(ACT))?;
        let stream = inverted.terms().range().ge(&beginning).into_stream();
        let mut stream = stream.map_err(|error| Error::index(ACT)(error.into()))?;
        let mut looked_at = 0;
        while looked_at < LOOKED_AT_MAX && stream.advance() && stream.key().starts_with(&beginning) {
            let Some((text, site)) = stream.key()[beginning.len()..].split_last_chunk::<SITE_BYTES>() else { continue };
            let Ok(text) = std::str::from_utf8(text) else { continue };
            let postings = inverted.read_postings_from_terminfo(stream.value(), IndexRecordOption::Basic);
            let postings = postings.map_err(|error| Error::index(ACT)(error.into()))?;
            let pages = count_held(segment, postings, PAGES_COUNTED_MAX);
            // Words that nobody uses any more lie there until the parts of the index are merged.
            if pages == 0 {
                continue;
            }
            looked_at += 1;
            let folded: Vec<String> = words(text).into_iter().map(|(word, _)| word).collect();
            if folded.is_empty() {
                continue;
            }
            let said = all.entry(folded.join(" ")).or_default();
            if said.text.is_empty() || text < said.text.as_str() {
                said.text = text.to_owned();
            }
            said.sites.insert(*site);
            said.pages += pages;
        }
    }
    Ok(all)
}

/// One number for some words of links, or for the terms of some links, by which it is seen that they are others now. None have
/// zero.
pub fn digest<T: AsRef<[u8]>>(parts: impl IntoIterator<Item = T>) -> u64 {
    let mut bytes = 0;
    let mut hasher = crc32fast::Hasher::new();
    for part in parts {
        hasher.update(part.as_ref());
        hasher.update(&[0]);
        bytes += part.as_ref().len() as u64 + 1;
    }
    bytes << 32 | u64::from(hasher.finalize())
}

fn cut(text: &str) -> &str {
    &text[..text.floor_char_boundary(ANCHOR_BYTES_MAX)]
}
