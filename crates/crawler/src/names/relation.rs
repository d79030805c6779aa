//! What makes two pages one page, and what ends it.

use vernal_model::{NameReason, NameRelation, PageKey};

use super::candidate::Candidate;

/// Pages that are one page may show different content for so many visits in a row without a proof that they differ. The proof
/// is missing where a page changes between any two visits.
pub(super) const UNEQUAL_VISITS_MAX: u8 = 8;

/// Why two pages are one page.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) struct Bond {
    pub why: NameReason,
    /// Whether what is known of their contents is equal. The page may have changed since the visit to one of them.
    pub is_equal: bool,
}

/// Why these are one page; `None` if they are two.
pub(super) fn bond(one: &Candidate, other: &Candidate) -> Option<Bond> {
    if !are_of_one_site(one, other) {
        return None;
    }
    let is_equal = one.content.is_some() && one.content == other.content;
    if let Some(word) = one.row.word_on(other.key()) {
        return (word.says != NameRelation::Apart).then_some(Bond { why: NameReason::Person, is_equal });
    }
    let why = relation(one, other)?;
    let is_one = is_equal || are_named_together(one, other) && may_still_be_equal(one, other);
    is_one.then_some(Bond { why, is_equal })
}

/// The host with any scheme, with or without `www.`, in one partition.
pub(super) fn are_of_one_site(one: &Candidate, other: &Candidate) -> bool {
    one.key().partition == other.key().partition && one.page.url.site_without_www() == other.page.url.site_without_www()
}

/// What speaks for one page if the contents are equal. A canonical link is the word of the site. Spellings are our guess, so there
/// must be enough text for equality to mean something.
fn relation(one: &Candidate, other: &Candidate) -> Option<NameReason> {
    if one.names(other) || other.names(one) {
        return Some(NameReason::Canonical);
    }
    let is_spelling = one.has_enough_text
        && other.has_enough_text
        && one.page.url.plain_spelling() == other.page.url.plain_spelling();
    is_spelling.then_some(NameReason::Spelling)
}

fn are_named_together(one: &Candidate, other: &Candidate) -> bool {
    first(one) == first(other)
}

/// The page under whose name a page stands.
fn first(one: &Candidate) -> PageKey {
    one.row.same_as.map_or(one.key(), |same| same.first)
}

/// Whether different contents may come from visits at different times: a page that changes shows it first under the name that is
/// visited first. There is a proof that the pages differ if both contents were there at one time.
fn may_still_be_equal(one: &Candidate, other: &Candidate) -> bool {
    let unequal = [one, other].into_iter().filter_map(|page| page.row.same_as).map(|same| same.unequal).max();
    let were_at_one_time = one.known_from().max(other.known_from()) <= one.known_until().min(other.known_until());
    !were_at_one_time && unequal.unwrap_or(0) < UNEQUAL_VISITS_MAX
}
