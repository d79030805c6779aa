//! Hits on paragraphs that changes took away. Their words are in the index, so that they are found after `compact` too.

use tantivy::schema::Value;
use tantivy::{Searcher, TantivyDocument};
use vernal_model::{Moment, Page};

use super::answer::{Hit, RemovedText, RoleAsked};
use super::compiled::Words;
use super::current::{born, paragraph_id, time};
use super::excerpt::excerpt;
use super::gather::Found;
use super::matcher::{Part, Region, marks};
use crate::follow::removed::{RemovedBy, RemovedParagraph};
use crate::index::schema::Fields;
use crate::{Error, Result};
use vernal_repository::Reader;

/// What the index tells of a removed paragraph; `None` for the unit of a page.
pub fn told(searcher: &Searcher, fields: &Fields, found: &Found) -> Result<Option<RemovedParagraph>> {
    let unit: TantivyDocument = searcher.doc(found.address).map_err(Error::index("read a unit of the index"))?;
    let bytes = unit.get_first(fields.told).and_then(|value| value.as_bytes());
    Ok(bytes.and_then(|bytes| serde_json::from_slice(bytes).ok()))
}

pub fn hit(
    reader: &Reader,
    (asked, role): (&[&Words], Option<RoleAsked>),
    page: &Page,
    told: RemovedParagraph,
    score: f32,
) -> Result<Hit> {
    let (places, _) = marks(&Part::of(Region::of(told.role), &told.text), asked, role);
    let shown = excerpt(&told.text, &places);
    let document = reader.document(page.key)?;
    let seen_different = Moment::from_micros(told.seen_different);
    Ok(Hit {
        url: page.url.to_string(),
        site: page.url.site_text().to_owned(),
        title: document.as_ref().map(|row| row.title.to_string()).unwrap_or_default(),
        language: document.map(|row| row.language.to_string()).unwrap_or_default(),
        score,
        version: told.previous,
        time: time(seen_different),
        paragraph: paragraph_id(page.key, told.number),
        role: Some(told.role.name()),
        born: born(reader, page.key, told.number, told.previous)?,
        gone: Some(removed_text(page, &told)),
        headings: told.headings,
        anchors: Vec::new(),
        text: shown.text,
        marks: shown.marks,
    })
}

fn removed_text(page: &Page, told: &RemovedParagraph) -> RemovedText {
    let url = page.url.as_str();
    let command = match told.version {
        Some(version) => format!("vernal diff '{}' --from {} --to {version}", quoted(url), told.previous),
        None => format!("vernal history '{}'", quoted(url)),
    };
    let diff =
        told.version.map(|version| format!("/api/v1/diff?url={}&from={}&to={version}", encoded(url), told.previous));
    RemovedText {
        op: match told.operation {
            RemovedBy::Removed => "removed",
            RemovedBy::Edited => "edited",
            RemovedBy::Gone => "gone",
        },
        version: told.version,
        previous: told.previous,
        seen_same: told.seen_same.and_then(|micros| time(Moment::from_micros(micros))),
        seen_different: time(Moment::from_micros(told.seen_different)),
        cursor: told.cursor.to_string(),
        command,
        diff,
    }
}

/// For a shell, within single quotes.
fn quoted(text: &str) -> String {
    text.replace('\'', "'\\''")
}

/// For the query of a URL.
fn encoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => out.push(char::from(byte)),
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}
