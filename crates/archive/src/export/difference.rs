//! What leads from the rows of a page in one state to those in another, each paragraph once.

use std::sync::Arc;

use foldhash::{HashMap, HashMapExt, HashSet};
use serde::Serialize;
use serde_json::{Map, Value};
use vernal_model::{Event, EventKind, Operation, PageKey, ParagraphKey};
use vernal_repository::Reader;

use super::Result;
use super::rows::{PageFields, ParagraphRow, known_numbers};

/// One line of an export by paragraphs.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "op", rename_all = "lowercase")]
pub enum Line<'a> {
    Upsert(&'a ParagraphRow),
    /// Fields that changed while the words stayed what they mean.
    Patch {
        id: &'a str,
        url: &'a str,
        #[serde(flatten)]
        changed: Map<String, Value>,
    },
    Delete(Delete),
}

/// A paragraph that went.
#[derive(Clone, Debug, Serialize)]
pub struct Delete {
    pub id: String,
    pub url: String,
    pub why: &'static str,
    /// The paragraph that has its words now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub merged_into: Option<String>,
    /// It went between these two visits.
    pub seen_same: Option<String>,
    pub seen_different: Option<String>,
}

/// What happened to a page between two states.
pub struct Between<'a> {
    pub reader: &'a Reader,
    pub page: PageKey,
    pub url: &'a str,
    pub events: Vec<&'a Event>,
    /// Why the page has no rows now, where it has none.
    pub ended: &'static str,
}

/// The lines that make the new rows of the old ones. `old` are numbers alone where the old version can no longer be read.
pub fn difference<'a>(old: &OldRows, new: &'a [ParagraphRow], between: &Between<'_>) -> Result<Vec<Line<'a>>> {
    let mut lines = Vec::new();
    for row in new {
        match old.rows.get(&row.number) {
            None => lines.push(Line::Upsert(row)),
            Some(known) if known.digest != row.digest => lines.push(Line::Upsert(row)),
            Some(known) if known == row => {}
            Some(known) => {
                let changed = changed(known, row)?;
                lines.push(Line::Patch { id: &row.id, url: &row.fields.url, changed });
            }
        }
    }
    let kept: HashSet<u32> = new.iter().map(|row| row.number).collect();
    let mut removed: Vec<u32> = old.numbers.iter().copied().filter(|number| !kept.contains(number)).collect();
    removed.sort_unstable();
    if !removed.is_empty() {
        let ends = ends(between, new.is_empty())?;
        lines.extend(removed.into_iter().map(|number| Line::Delete(delete(number, &ends, between))));
    }
    Ok(lines)
}

/// What an export had of a page before.
#[derive(Default)]
pub struct OldRows {
    pub rows: HashMap<u32, ParagraphRow>,
    pub numbers: Vec<u32>,
}

impl OldRows {
    pub fn of(rows: Vec<ParagraphRow>) -> OldRows {
        let numbers = rows.iter().map(|row| row.number).collect();
        OldRows { numbers, rows: rows.into_iter().map(|row| (row.number, row)).collect() }
    }

    /// Of a version whose body can no longer be read.
    pub fn of_numbers(numbers: Vec<u32>) -> OldRows {
        OldRows { rows: HashMap::new(), numbers }
    }
}

/// The fields that differ, by name. A field that is not there any more is null.
fn changed(old: &ParagraphRow, new: &ParagraphRow) -> Result<Map<String, Value>> {
    let (Value::Object(mut old), Value::Object(new)) = (serde_json::to_value(old)?, serde_json::to_value(new)?) else {
        return Ok(Map::new());
    };
    let mut changed = Map::new();
    for (name, value) in new {
        if old.remove(&name).as_ref() != Some(&value) {
            changed.insert(name, value);
        }
    }
    changed.extend(old.into_iter().map(|(name, _)| (name, Value::Null)));
    Ok(changed)
}

/// The end of a paragraph as an event told it.
struct End {
    why: &'static str,
    merged_into: Option<u32>,
    seen_same: Option<String>,
    seen_different: Option<String>,
}

/// How paragraphs ended, by their numbers; under 0 the end of the page, or its last change.
fn ends(between: &Between<'_>, page_ended: bool) -> Result<HashMap<u32, End>> {
    let mut ends = HashMap::new();
    for event in &between.events {
        let end = |why: &'static str, merged_into: Option<u32>| End {
            why,
            merged_into,
            seen_same: event.seen_same.map(|moment| moment.rfc3339()),
            seen_different: Some(event.seen_different.rfc3339()),
        };
        ends.insert(0, end(if page_ended { between.ended } else { "removed" }, None));
        if event.kind != EventKind::Changed {
            continue;
        }
        for one in &event.change.paragraphs {
            match one.operation {
                Operation::Removed => {
                    ends.insert(one.id, end("removed", None));
                }
                Operation::Merged => {
                    let numbers = event.previous.map(|previous| known_numbers(between.reader, between.page, previous));
                    let numbers = numbers.transpose()?.unwrap_or_default();
                    for place in &one.others {
                        // The paragraphs of a first version are numbered by their places.
                        let number = match event.previous {
                            Some(1) => Some(place + 1),
                            _ => numbers.get(*place as usize).copied(),
                        };
                        if let Some(number) = number {
                            ends.insert(number, end("merged", Some(one.id)));
                        }
                    }
                }
                _ => {}
            }
        }
    }
    Ok(ends)
}

fn delete(number: u32, ends: &HashMap<u32, End>, between: &Between<'_>) -> Delete {
    let name = |number: u32| ParagraphKey { page: between.page, number }.to_string();
    let end = ends.get(&number).or_else(|| ends.get(&0));
    Delete {
        id: name(number),
        url: between.url.to_owned(),
        why: end.map_or(between.ended, |end| end.why),
        merged_into: end.and_then(|end| end.merged_into).map(name),
        seen_same: end.and_then(|end| end.seen_same.clone()),
        seen_different: end.and_then(|end| end.seen_different.clone()),
    }
}

/// What of a page is told where it is told whole.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PageLine {
    #[serde(flatten)]
    pub fields: Arc<PageFields>,
    pub version: u32,
    /// Of the digests of its paragraphs: noise does not change it.
    pub digest: String,
    pub text: String,
    pub markdown: String,
    pub paragraphs: Vec<String>,
    pub links: Vec<String>,
}
