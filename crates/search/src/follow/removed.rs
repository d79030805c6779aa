//! The paragraphs that a change took away. A paragraph whose words stand elsewhere on the page is not gone, and neither is
//! what was set aside as noise.

use foldhash::{HashSet, HashSetExt};
use serde::{Deserialize, Serialize};
use tantivy::TantivyDocument;
use vernal_model::{Event, Operation, ParagraphChange, Role};
use vernal_repository::Cursor;

use super::kept::ReadVersion;
use super::page_unit::{Source, is_frame};
use crate::index::schema::Fields;

/// Further words of a removed paragraph, and of what stands in its place, are not kept.
const TOLD_BYTES_MAX: usize = 16 << 10;

/// What the index tells of a removed paragraph.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RemovedParagraph {
    #[serde(rename = "n")]
    pub number: u32,
    #[serde(rename = "o")]
    pub operation: RemovedBy,
    #[serde(rename = "r")]
    pub role: Role,
    #[serde(rename = "h")]
    pub headings: Vec<Box<str>>,
    #[serde(rename = "t")]
    pub text: Box<str>,
    /// The version that had it last.
    #[serde(rename = "p")]
    pub previous: u32,
    /// The first that no longer has it; `None` where the page itself is gone.
    #[serde(rename = "v")]
    pub version: Option<u32>,
    /// The last visit that found it, and the first that did not.
    #[serde(rename = "s")]
    pub seen_same: Option<i64>,
    #[serde(rename = "d")]
    pub seen_different: i64,
    /// The event that told of it.
    #[serde(rename = "c")]
    pub cursor: Cursor,
}

/// What took it away.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RemovedBy {
    Removed,
    Edited,
    /// The page is gone, or redirects.
    Gone,
}

/// A removed paragraph, and what stands there now.
pub struct Removal {
    pub told: RemovedParagraph,
    pub after: String,
}

/// What a change between two versions took away. Where a body is not kept any more, the words of the event are used.
pub fn by_change(event: &Event, cursor: Cursor, old: Option<&ReadVersion>, new: Option<&ReadVersion>) -> Vec<Removal> {
    let Some(previous) = event.previous else { return Vec::new() };
    let old_texts = old.map(ReadVersion::texts).unwrap_or_default();
    let new_texts = new.map(ReadVersion::texts).unwrap_or_default();
    let still_there: HashSet<u64> =
        new.iter().flat_map(|read| &read.document.paragraphs).map(|one| one.digest).collect();
    let (mut removals, mut taken) = (Vec::new(), HashSet::new());
    for change in &event.change.paragraphs {
        let after = after(change, &new_texts);
        for (rank, place) in old_places(change).into_iter().enumerate() {
            let known = old.and_then(|read| read.document.paragraphs.get(place as usize));
            if known.is_some_and(|one| still_there.contains(&one.digest)) || !taken.insert(place) {
                continue;
            }
            let told = change.before.as_deref().filter(|_| rank == 0);
            let Some(text) = old_texts.get(place as usize).copied().or(told) else { continue };
            if known.is_none() && new_texts.contains(&text) {
                continue;
            }
            let told = RemovedParagraph {
                number: change.id,
                operation: if after.is_empty() { RemovedBy::Removed } else { RemovedBy::Edited },
                role: known.map_or(change.role, |one| one.role),
                headings: change.headings.clone(),
                text: cut(text).into(),
                previous,
                version: event.version,
                seen_same: event.seen_same.map(|moment| moment.micros()),
                seen_different: event.seen_different.micros(),
                cursor,
            };
            removals.push(Removal { told, after: after.clone() });
        }
    }
    removals
}

/// Whether the event itself has all the words that it took away.
pub fn tells_all(event: &Event) -> bool {
    event.change.paragraphs.iter().all(|change| match old_places(change)[..] {
        [] => true,
        [_] => change.before.is_some(),
        _ => false,
    })
}

/// Everything that a page had which is gone itself.
pub fn by_end(event: &Event, cursor: Cursor, old: &ReadVersion, numbers: &[u32]) -> Vec<Removal> {
    let mut taken = HashSet::new();
    let paragraphs = old.document.paragraphs.iter().zip(old.texts()).enumerate();
    let first = paragraphs.filter(|(_, (one, _))| taken.insert(one.digest));
    let removal = |(place, (one, text)): (usize, (&vernal_model::Paragraph, &str))| Removal {
        told: RemovedParagraph {
            number: numbers.get(place).copied().unwrap_or(0),
            operation: RemovedBy::Gone,
            role: one.role,
            headings: Vec::new(),
            text: cut(text).into(),
            previous: old.version.number,
            version: None,
            seen_same: event.seen_same.map(|moment| moment.micros()),
            seen_different: event.seen_different.micros(),
            cursor,
        },
        after: String::new(),
    };
    first.map(removal).collect()
}

/// The places in the old version whose words this change may have taken.
fn old_places(change: &ParagraphChange) -> Vec<u32> {
    match change.operation {
        Operation::Added => Vec::new(),
        Operation::Removed => vec![change.position],
        Operation::Merged => change.from.into_iter().chain(change.others.iter().copied()).collect(),
        Operation::Edited | Operation::Moved | Operation::Split => change.from.into_iter().collect(),
    }
}

/// The words that stand there now; of an event without a body those that it told itself.
fn after(change: &ParagraphChange, new_texts: &[&str]) -> String {
    if matches!(change.operation, Operation::Removed | Operation::Added) {
        return String::new();
    }
    let others: &[u32] = if change.operation == Operation::Split { &change.others } else { &[] };
    let mut places: Vec<u32> = std::iter::once(change.position).chain(others.iter().copied()).collect();
    places.sort_unstable();
    let texts: Vec<&str> = places.iter().filter_map(|place| new_texts.get(*place as usize).copied()).collect();
    match texts.is_empty() {
        true => cut(change.after.as_deref().unwrap_or_default()).to_owned(),
        false => cut(&texts.join(" ")).to_owned(),
    }
}

fn cut(text: &str) -> &str {
    let mut end = text.len().min(TOLD_BYTES_MAX);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// The unit of a removed paragraph.
pub fn unit(fields: &Fields, source: &Source<'_>, language: &str, removal: &Removal) -> TantivyDocument {
    let mut unit = source.unit(fields, language);
    let words = if is_frame(removal.told.role) { fields.gone_frame } else { fields.gone };
    unit.add_text(words, &removal.told.text);
    if removal.told.role == Role::Title {
        unit.add_text(fields.title, &removal.told.text);
    }
    unit.add_text(fields.url, source.url.as_str());
    unit.add_text(fields.after, &removal.after);
    unit.add_bytes(fields.told, &serde_json::to_vec(&removal.told).unwrap_or_default());
    unit
}
