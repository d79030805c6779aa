//! Explains in words why there are no topics.

use vernal_document::terms::{TopicLimits, Vocabulary};
use vernal_repository::Reader;

use super::PAGES_MIN;
use crate::Result;

/// Pages whose words are examined.
const LOOKED_AT_MAX: usize = 20_000;

/// Why a repository has no topics; `None` where it has some.
pub fn why_none(reader: &Reader) -> Result<Option<String>> {
    let (mark, held) = (reader.topic_mark()?, reader.totals().held);
    if mark.topics > 0 {
        return Ok(None);
    }
    if held < PAGES_MIN {
        return Ok(Some(format!("{held} pages are held, and topics are told apart from {PAGES_MIN} on")));
    }
    let Some(ended) = mark.ended else {
        return Ok(Some(
            "no pass for topics has ended here: one is made where `--topics` says how often, or the policy samples by \
             topic, once everything that was found is read"
                .into(),
        ));
    };
    let mut vocabulary = Vocabulary::default();
    for page in reader.held_pages().take(LOOKED_AT_MAX) {
        if let Some(terms) = reader.terms(page?.key)? {
            vocabulary.count(&terms.words);
        }
    }
    let fit = TopicLimits::for_pages(vocabulary.pages());
    let TopicLimits { pages_min, pages_max, .. } = fit;
    let (few, many) = vocabulary.unfit(fit);
    Ok(Some(format!(
        "the last pass, at {}, found no word that sets pages apart: it would have to stand on {pages_min} to {pages_max} of \
         {} pages, and of {} words {few} stand on fewer and {many} on more",
        ended.rfc3339(),
        vocabulary.pages(),
        vocabulary.len()
    )))
}
