//! The word of a person on the names of two pages. It counts more than any rule, until it is taken back.

use vernal_model::{Deed, Moment, NameRelation, NameRow, NameWord, Named, Page, Url};

use super::rename::{Sighting, rename};
use crate::work::Work;
use crate::{Acted, NamesWord, Result};

/// Carries out what a person said of two pages.
pub(crate) fn rule(
    work: &mut Work,
    (first, second): (&Url, &Url),
    word: NamesWord,
    reason: &str,
    now: Moment,
) -> Result<Acted> {
    let Some(one) = work.page_by_url(first)? else { return Ok(Acted::UnknownPage(first.clone())) };
    let Some(other) = work.page_by_url(second)? else { return Ok(Acted::UnknownPage(second.clone())) };
    let are_of_one_site = one.key.partition == other.key.partition
        && one.url.site_without_www() == other.url.site_without_www()
        && one.key != other.key;
    if !are_of_one_site {
        return Ok(Acted::OfTwoSites);
    }
    if word == NamesWord::Forget && work.name_row(one.key)?.word_on(other.key).is_none() {
        return Ok(Acted::NothingSaid);
    }
    let says = match word {
        NamesWord::Join => Some((NameRelation::FirstOf, NameRelation::SecondOf)),
        NamesWord::Part => Some((NameRelation::Apart, NameRelation::Apart)),
        NamesWord::Forget => None,
    };
    let mut deeds = Vec::new();
    for (page, about, says) in [(&one, &other, says.map(|says| says.0)), (&other, &one, says.map(|says| says.1))] {
        let word = says.map(|says| NameWord { other: about.key, says, since: now, reason: reason.into() });
        let row = with_word(work.name_row(page.key)?, about, word);
        if row.words.len() > NameRow::WORDS_MAX {
            return Ok(Acted::NamesFull(page.url.clone()));
        }
        deeds.push(Named { row: Some(row), ..Named::new(page.key) });
    }
    deeds.into_iter().for_each(|named| work.push(named.page.partition, Deed::Named(Box::new(named))));
    rename(work, &[one.key, other.key], &Sighting { now, changed: None, fresh: None })?;
    Ok(Acted::NamesRuled)
}

/// The row with this word on a page in place of what was said before.
fn with_word(mut row: NameRow, about: &Page, word: Option<NameWord>) -> NameRow {
    row.words.retain(|known| known.other != about.key);
    row.words.extend(word);
    row
}
