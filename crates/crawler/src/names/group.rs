//! The pages that are one page together, and which of them is the first name. Both depend on what is known of the pages, and not
//! on the order in which they were visited.

use std::collections::{BTreeSet, VecDeque};

use vernal_model::{NameMark, NameReason, NameRelation, PageKey};

use super::candidate::Candidate;
use super::relation::{Bond, bond};
use crate::Result;
use crate::work::Work;

/// So many names of one page are looked at together. The others are looked at when they are visited.
const NAMES_MAX: usize = 32;
/// So many pages are looked at that may be names of one page: those that share a mark with it.
const SHARING_MAX: usize = 64;

/// Pages that are one page, with why each of them joined the others.
pub(super) struct NameGroup {
    pub members: Vec<(Candidate, NameReason)>,
}

impl NameGroup {
    /// All pages that are one page with this one, by way of one another; `None` if this page is not held.
    pub fn of(work: &Work, start: PageKey) -> Result<Option<NameGroup>> {
        let Some(start) = Candidate::load(work, start)? else { return Ok(None) };
        let mut met = BTreeSet::from([start.key()]);
        let mut members = vec![(start, NameReason::Spelling)];
        let mut next = VecDeque::from([0]);
        while let Some(place) = next.pop_front() {
            for key in sharing(work, &members[place].0)? {
                if members.len() >= NAMES_MAX {
                    return Ok(Some(NameGroup { members }));
                }
                if met.contains(&key) {
                    continue;
                }
                let Some(other) = Candidate::load(work, key)? else { continue };
                if let Some(Bond { why, .. }) = bond(&members[place].0, &other) {
                    met.insert(key);
                    next.push_back(members.len());
                    members.push((other, why));
                }
            }
        }
        Ok(Some(NameGroup { members }))
    }

    /// The place of the first name: the one that people chose, else the one that a canonical link names, else the plainest address.
    pub fn first(&self) -> usize {
        let order = |place: &usize| {
            let page = &self.members[*place].0;
            (!self.is_chosen(page), !self.is_canonical(page), plainness(page))
        };
        (0..self.members.len()).min_by_key(order).unwrap_or(0)
    }

    /// Whether people called others second names of this page, and not this one of another page.
    fn is_chosen(&self, page: &Candidate) -> bool {
        let has = |says: NameRelation| {
            let said = page.row.words.iter().filter(|word| word.says == says);
            said.into_iter().any(|word| self.members.iter().any(|(other, _)| other.key() == word.other))
        };
        has(NameRelation::FirstOf) && !has(NameRelation::SecondOf)
    }

    /// Whether a member names this page as the canonical one, and this page names no other.
    fn is_canonical(&self, page: &Candidate) -> bool {
        let others = || self.members.iter().map(|(other, _)| other).filter(|other| other.key() != page.key());
        others().any(|other| other.names(page)) && !others().any(|other| page.names(other))
    }

    /// Why this member is a name of that one: what binds the two, or else what bound it to the group.
    pub fn reason(&self, member: usize, first: usize) -> NameReason {
        let (page, why) = &self.members[member];
        bond(page, &self.members[first].0).map_or(*why, |bond| bond.why)
    }
}

/// The safe scheme, then the shorter address, then the one without capitals, then the order of the alphabet.
fn plainness(page: &Candidate) -> (bool, usize, usize, String) {
    let url = &page.page.url;
    let text = url.as_str().split_once("://").map_or(url.as_str(), |(_, rest)| rest);
    let capitals = text.bytes().filter(u8::is_ascii_uppercase).count();
    (url.scheme() != "https", text.len(), capitals, text.to_owned())
}

/// The pages that may be one page with this one, the likeliest first.
fn sharing(work: &Work, page: &Candidate) -> Result<Vec<PageKey>> {
    let (key, partition) = (page.key(), page.key().partition);
    let mut keys: Vec<PageKey> = page.row.same_as.map(|same| same.first).into_iter().collect();
    keys.extend(page.row.words.iter().map(|word| word.other));
    if let Some(target) = page.row.canonical {
        keys.extend(work.page_by_fingerprint(partition, target)?.map(|page| page.key));
    }
    let url = &page.page.url;
    let marks = [
        NameMark::Spelling(url.spelling_mark()),
        NameMark::Canonical(url.fingerprint()),
        NameMark::SecondOf(key.number),
    ];
    for mark in marks {
        keys.extend(work.marked_pages(partition, mark, SHARING_MAX)?);
    }
    Ok(keys)
}
