//! What a program does that keeps copies of pages and knows them by the feed alone: the exact steps from the paragraphs of
//! the version that was told before to those of this one.

use schemars::JsonSchema;
use serde::Serialize;
use vernal_document::diff::{self, NumberedParagraph, ReplicaOperation, replica_steps};
use vernal_model::{Document, Event, EventKind, NumberRun, Operation, PageKey, ParagraphChange};

use super::answer::ApiError;
use super::body;
use super::change::paragraph_id;
use super::shared::Shared;

/// The steps of one event.
#[derive(Serialize, JsonSchema)]
pub struct ReplicaJson {
    /// The operations are all paragraphs of the page: what was held of it before is dropped.
    whole: bool,
    /// Why there are no operations. What is held of the page stays until an event brings the whole.
    missing: Option<String>,
    operations: Vec<ReplicaStepJson>,
    /// The same, where something that is here could not be read.
    #[serde(skip)]
    pub unread: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct ReplicaStepJson {
    op: &'static str,
    id: Option<String>,
    /// The index in the new version, from 0; of a removed paragraph, in the version before.
    position: u32,
    role: &'static str,
    /// Null where the words are the same as before, or gone.
    text: Option<Box<str>>,
    /// The event does not tell this to other readers: noise, or another boundary between the same words.
    noise: bool,
}

impl ReplicaJson {
    fn of(whole: bool, operations: Vec<ReplicaStepJson>) -> ReplicaJson {
        ReplicaJson { whole, missing: None, operations, unread: None }
    }
}

/// The steps of an event; `None` of one that changes no paragraph.
pub fn of(shared: &Shared, event: &Event) -> Option<ReplicaJson> {
    match event.kind {
        EventKind::Gone => Some(ReplicaJson::of(true, Vec::new())),
        EventKind::New | EventKind::Back => Some(whole(shared, event, event.version.or(event.previous))),
        EventKind::Changed => Some(changed(shared, event)),
        EventKind::Unblocked if event.version.is_some() => Some(changed(shared, event)),
        EventKind::Unblocked | EventKind::Moved | EventKind::Blocked | EventKind::Erased | EventKind::Template => None,
        // A copy keeps each page under its own name.
        EventKind::Joined | EventKind::Parted | EventKind::Imported => None,
    }
}

fn changed(shared: &Shared, event: &Event) -> ReplicaJson {
    let (Ok(old), Ok(new)) = (paragraphs(shared, event, event.previous), paragraphs(shared, event, event.version))
    else {
        return whole(shared, event, event.version);
    };
    let Some(steps) = replica_steps(&old, &new) else { return whole(shared, event, event.version) };
    let told = told_numbers(&event.change.paragraphs, &old, &new);
    let operations = steps.into_iter().map(|step| ReplicaStepJson {
        op: step.operation.name(),
        id: paragraph_id(Some(event.page), step.number),
        position: step.position,
        role: step.role.name(),
        text: step.text,
        noise: !told.contains(&step.number),
    });
    ReplicaJson::of(false, operations.collect())
}

fn whole(shared: &Shared, event: &Event, version: Option<u32>) -> ReplicaJson {
    match paragraphs(shared, event, version) {
        Ok(all) => {
            let added = all.into_iter().enumerate().map(|(position, one)| ReplicaStepJson {
                op: ReplicaOperation::Added.name(),
                id: paragraph_id(Some(event.page), one.number),
                position: position as u32,
                role: one.role.name(),
                text: Some(one.text),
                noise: false,
            });
            ReplicaJson::of(true, added.collect())
        }
        Err(why) => {
            let unread = why.unread();
            ReplicaJson { missing: Some(why.line), unread, ..ReplicaJson::of(false, Vec::new()) }
        }
    }
}

/// The numbers of the paragraphs that the event tells other readers of.
fn told_numbers(told: &[ParagraphChange], old: &[NumberedParagraph], new: &[NumberedParagraph]) -> Vec<u32> {
    let number = |of: &[NumberedParagraph], place: u32| of.get(place as usize).map(|one| one.number);
    let mut numbers: Vec<u32> = Vec::new();
    for one in told {
        let own = if one.operation == Operation::Removed { old } else { new };
        let others = if one.operation == Operation::Merged { old } else { new };
        numbers.extend(number(own, one.position));
        numbers.extend(one.others.iter().filter_map(|place| number(others, *place)));
    }
    numbers
}

fn paragraphs(shared: &Shared, event: &Event, version: Option<u32>) -> Result<Vec<NumberedParagraph>, ApiError> {
    let document = document(shared, event, version)?;
    let count = document.paragraphs.len();
    let numbers = version.map(|version| numbers(shared, event.page, version, count)).transpose()?.flatten();
    let numbers = numbers.ok_or_else(|| {
        ApiError::not_found(format!(
            "the ids of the paragraphs of version {} of {} were not kept",
            version.unwrap_or_default(),
            event.url
        ))
    })?;
    let texts = diff::texts(&document);
    let all = document.paragraphs.iter().zip(texts).zip(numbers);
    Ok(all.map(|((one, text), number)| NumberedParagraph { number, role: one.role, text: text.into() }).collect())
}

/// The numbers of the paragraphs of a version that has so many of them; `None` where they were not kept.
pub fn numbers(shared: &Shared, page: PageKey, version: u32, count: usize) -> Result<Option<Vec<u32>>, ApiError> {
    let reader = &shared.reader;
    let found = match reader.version_row(page, version)? {
        Some(row) => Some(NumberRun::numbers(&row.numbers, count + 1)),
        None if version == 1 => Some((1..=count as u32).collect()),
        // The newest version from before numbers were kept of each.
        None if reader.page(page)?.and_then(|page| page.version).is_some_and(|newest| newest.number == version) => {
            let document = reader.document(page)?;
            document.map(|row| row.signature.paragraphs.iter().map(|mark| mark.id).collect())
        }
        None => None,
    };
    Ok(found.filter(|numbers| numbers.len() == count))
}

/// As many numbers of the paragraphs of a version as are known, for a version of unknown length.
pub fn known_numbers(shared: &Shared, page: PageKey, version: u32) -> Result<Vec<u32>, ApiError> {
    /// No document has more paragraphs.
    const COUNT_MAX: usize = vernal_document::PARAGRAPHS_MAX;
    Ok(match shared.reader.version_row(page, version)? {
        Some(row) => NumberRun::numbers(&row.numbers, COUNT_MAX),
        None if version == 1 => (1..=COUNT_MAX as u32).collect(),
        None => Vec::new(),
    })
}

/// The meaning of a version of the page of an event.
pub fn document(shared: &Shared, event: &Event, number: Option<u32>) -> Result<Document, ApiError> {
    let versions = shared.reader.versions(event.page)?;
    let version = versions.into_iter().find(|version| Some(version.number) == number);
    let version = version.ok_or_else(|| ApiError::not_found(format!("{} has no such version", event.url)))?;
    let body = body::kept(&shared.reader, &event.url, version)?.read(shared, &event.url)?;
    Ok(vernal_document::read(&body.input()).document)
}
