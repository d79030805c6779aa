//! What is known becomes rows, in the order of the columns of each table.

use vernal_model::{Event, Kinds, Page, PageKey, ParagraphChange, ParagraphKey, Url, Version, Visit};
use vernal_repository::{Cursor, EventId};

use super::columns::{ChangeValue, Value};
use crate::export::asked::PageFilter;
use crate::export::difference::Delete;
use crate::export::rows::ParagraphRow;

pub fn page(page: &Page, filter: &PageFilter, named: Option<&Event>) -> Vec<Value> {
    vec![
        page.url.as_str().into(),
        page.key.to_string().into(),
        page.url.site_text().into(),
        filter.tags_of(&page.url).into(),
        page.state.name().into(),
        named.map(|event| event.title.to_string()).into(),
        named.map(|event| event.language.to_string()).into(),
        named.map(|event| event.content_type.to_string()).into(),
        page.importance.into(),
        u32::from(page.depth).into(),
        page.version.map(|version| version.number).into(),
        page.visits.into(),
        page.changes.into(),
        page.first_visit.into(),
        page.last_visit.into(),
        page.last_confirmed.into(),
    ]
}

/// `event`: the one that told of it.
pub fn version(page: PageKey, url: &Url, version: &Version, event: Option<&Event>) -> Vec<Value> {
    let location = version.body();
    let change = event.map(|event| &event.change);
    vec![
        url.as_str().into(),
        page.to_string().into(),
        url.site_text().into(),
        version.number.into(),
        version.moment.into(),
        u32::from(version.status).into(),
        Value::Bytes(version.payload.0.to_vec()),
        version.body_bytes.into(),
        location.map(|location| location.segment).into(),
        location.map(|location| location.offset).into(),
        location.map(|location| location.length).into(),
        event.map(|event| event.kind.name()).into(),
        change.map(|change| kinds(change.kinds)).into(),
        change.map(|change| kinds(change.left)).into(),
        change.map(|change| change.magnitude).into(),
        change.map(|change| change.degree.name()).into(),
        event.and_then(|event| event.seen_same).into(),
        event.map(|event| event.seen_different).into(),
    ]
}

pub fn paragraph(operation: &str, row: &ParagraphRow) -> Vec<Value> {
    let fields = &row.fields;
    let digest = u64::from_str_radix(&row.digest, 16).unwrap_or_default();
    vec![
        operation.into(),
        row.id.clone().into(),
        Value::Bytes(digest.to_be_bytes().to_vec()),
        fields.url.clone().into(),
        fields.page.clone().into(),
        fields.site.clone().into(),
        row.version.into(),
        row.position.into(),
        row.role.into(),
        row.headings.iter().map(|heading| heading.to_string()).collect::<Vec<String>>().into(),
        row.text.clone().into(),
        fields.language.clone().into(),
        fields.title.clone().into(),
        fields.tags.clone().into(),
        row.born_at.into(),
        row.edited_at.into(),
        row.template.into(),
        fields.rights.noindex.into(),
        fields.rights.nofollow.into(),
        fields.rights.noarchive.into(),
        row.split_from.clone().into(),
        Value::None,
        Value::None,
    ]
}

pub fn removed(page: PageKey, url: &Url, delete: &Delete) -> Vec<Value> {
    let mut row = vec![Value::None; super::schema::Table::Paragraphs.columns().len()];
    let known: [(usize, Value); 7] = [
        (0, "delete".into()),
        (1, delete.id.clone().into()),
        (3, delete.url.clone().into()),
        (4, page.to_string().into()),
        (5, url.site_text().into()),
        (21, delete.merged_into.clone().into()),
        (22, delete.why.into()),
    ];
    for (place, value) in known {
        row[place] = value;
    }
    row
}

pub fn event(cursor: Cursor, id: EventId, event: &Event, filter: &PageFilter) -> Vec<Value> {
    let change = &event.change;
    vec![
        format!("e{id}").into(),
        cursor.to_string().into(),
        event.kind.name().into(),
        event.url.as_str().into(),
        event.page.to_string().into(),
        event.url.site_text().into(),
        filter.tags_of(&event.url).into(),
        event.title.to_string().into(),
        event.language.to_string().into(),
        event.content_type.to_string().into(),
        event.version.into(),
        event.previous.into(),
        event.seen_same.into(),
        event.seen_different.into(),
        kinds(change.kinds).into(),
        kinds(change.left).into(),
        change.magnitude.into(),
        change.degree.name().into(),
        change.flapping.into(),
        event.detail.to_string().into(),
        Value::Changes(change.paragraphs.iter().map(|one| change_value(event.page, one)).collect()),
    ]
}

pub fn visit(page: PageKey, url: &Url, visit: &Visit) -> Vec<Value> {
    vec![
        url.as_str().into(),
        page.to_string().into(),
        url.site_text().into(),
        visit.started.into(),
        visit.finished.into(),
        visit.outcome.name().into(),
        visit.wire_bytes.into(),
        visit.version.map(|version| version.number).into(),
        visit.changed.into(),
        visit.second_look.into(),
    ]
}

fn change_value(page: PageKey, one: &ParagraphChange) -> ChangeValue {
    ChangeValue {
        operation: operation(one),
        id: if one.id == 0 { None } else { Some(ParagraphKey { page, number: one.id }.to_string()) },
        digest: one.digest.to_be_bytes(),
        role: one.role.name(),
        position: one.position,
        headings: one.headings.iter().map(|heading| heading.to_string()).collect(),
        before: one.before.as_deref().map(str::to_owned),
        after: one.after.as_deref().map(str::to_owned),
    }
}

fn operation(one: &ParagraphChange) -> &'static str {
    use vernal_model::Operation;
    match one.operation {
        Operation::Added => "added",
        Operation::Removed => "removed",
        Operation::Edited => "edited",
        Operation::Moved => "moved",
        Operation::Split => "split",
        Operation::Merged => "merged",
    }
}

fn kinds(kinds: Kinds) -> Vec<String> {
    kinds.iter().map(|kind| kind.name().to_owned()).collect()
}
