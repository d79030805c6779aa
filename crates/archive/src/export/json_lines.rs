//! JSON lines: one line a paragraph or one line a page, and at the end a line that names the cursor.

use std::io::Write;
use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;
use vernal_document::MarkdownOptions;
use vernal_model::LinkKind;
use vernal_repository::Reader;
use xxhash_rust::xxh3::xxh3_64;

use super::Result;
use super::asked::Asked;
use super::difference::{Between, Line, OldRows, PageLine, difference};
use super::manifest::Manifest;
use super::pages::{Progress, Step, walk};
use super::rows::{ParagraphRow, ReadPage, Unread, known_numbers};

/// What one line is about.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum Unit {
    #[default]
    Paragraph,
    Page,
}

/// Writes a row as a line.
pub fn line(out: &mut dyn Write, row: &impl Serialize) -> Result<()> {
    serde_json::to_writer(&mut *out, row)?;
    out.write_all(b"\n")?;
    Ok(())
}

/// Writes the lines of the export and gives its manifest, which is not written.
pub fn write(
    reader: &Reader,
    asked: &Asked,
    unit: Unit,
    told: &mut dyn FnMut(Progress),
    out: &mut dyn Write,
) -> Result<Manifest> {
    let mut manifest = Manifest::of(asked, "jsonl");
    walk(reader, asked, &mut manifest, told, &mut |step, manifest| match unit {
        Unit::Paragraph => paragraphs(reader, asked, step, manifest, out),
        Unit::Page => page(reader, asked, step, manifest, out),
    })?;
    Ok(manifest)
}

fn paragraphs(
    reader: &Reader,
    asked: &Asked,
    mut step: Step<'_>,
    manifest: &mut Manifest,
    out: &mut dyn Write,
) -> Result<()> {
    each_line((reader, asked), &mut step, manifest, &mut |line, _| self::line(out, line))
}

/// What of a page differs from what a reader of the exports has, counted in the manifest. `hear` is given each line and the
/// rows of the page as it is now.
pub(super) fn each_line(
    (reader, asked): (&Reader, &Asked),
    step: &mut Step<'_>,
    manifest: &mut Manifest,
    hear: &mut dyn FnMut(&Line<'_>, &[ParagraphRow]) -> Result<()>,
) -> Result<()> {
    let read = step.read(reader, asked, manifest)?;
    let old = old_rows(reader, asked, step)?;
    let between = Between {
        reader,
        page: step.key,
        url: step.url.as_str(),
        events: step.history.between(asked.from.as_ref(), &asked.to).collect(),
        ended: step.ended,
    };
    let new = read.as_ref().map_or(&[][..], |read| &read.rows[..]);
    let lines = difference(&old, new, &between)?;
    manifest.pages += u64::from(!lines.is_empty());
    for line in &lines {
        match line {
            Line::Upsert(_) => manifest.paragraphs += 1,
            Line::Patch { .. } => manifest.patched += 1,
            Line::Delete(_) => manifest.removed += 1,
        }
        hear(line, new)?;
    }
    Ok(())
}

/// The rows that a reader of the exports has of the page.
fn old_rows(reader: &Reader, asked: &Asked, step: &mut Step<'_>) -> Result<OldRows> {
    let number = step.old.as_ref().map(|held| held.version.number);
    Ok(match (step.read_old(reader, asked)?, number) {
        (Some(Ok(read)), _) => OldRows::of(read.rows),
        (Some(Err(Unread::NoBody)), Some(number)) => OldRows::of_numbers(known_numbers(reader, step.key, number)?),
        _ => OldRows::default(),
    })
}

#[derive(Serialize)]
struct PageUpsert<'a> {
    op: &'static str,
    #[serde(flatten)]
    line: &'a PageLine,
}

#[derive(Serialize)]
struct PageDelete<'a> {
    op: &'static str,
    page: String,
    url: &'a str,
    why: &'a str,
}

fn page(
    reader: &Reader,
    asked: &Asked,
    mut step: Step<'_>,
    manifest: &mut Manifest,
    out: &mut dyn Write,
) -> Result<()> {
    let new = step.read(reader, asked, manifest)?.as_ref().map(page_line);
    let old = step.read_old(reader, asked)?.and_then(std::result::Result::ok).map(|read| page_line(&read));
    match (old, new) {
        (None, None) => return Ok(()),
        (Some(_), None) => {
            manifest.removed += 1;
            line(
                out,
                &PageDelete { op: "delete", page: step.key.to_string(), url: step.url.as_str(), why: step.ended },
            )?;
        }
        (old, Some(new)) if old.as_ref().is_none_or(|old| old.digest != new.digest) => {
            manifest.pages += 1;
            manifest.paragraphs += new.paragraphs.len() as u64;
            line(out, &PageUpsert { op: "upsert", line: &new })?;
        }
        (Some(old), Some(new)) if old != new => {
            manifest.patched += 1;
            let mut patch = serde_json::Map::from_iter([
                ("op".to_owned(), Value::from("patch")),
                ("page".to_owned(), Value::from(step.key.to_string())),
                ("url".to_owned(), Value::from(step.url.as_str())),
            ]);
            if let (Value::Object(old), Value::Object(new)) = (serde_json::to_value(old)?, serde_json::to_value(new)?) {
                patch.extend(new.into_iter().filter(|(name, value)| old.get(name) != Some(value)));
            }
            line(out, &patch)?;
        }
        _ => {}
    }
    Ok(())
}

fn page_line(read: &ReadPage) -> PageLine {
    let mut digests: Vec<u8> = Vec::with_capacity(read.rows.len() * 16);
    read.rows.iter().for_each(|row| digests.extend_from_slice(row.digest.as_bytes()));
    let anchors = read.document.links.iter().filter(|link| link.kind == LinkKind::Anchor);
    let mut links: Vec<String> = anchors.map(|link| link.target.to_string()).collect();
    let mut seen = foldhash::HashSet::default();
    links.retain(|link| seen.insert(link.clone()));
    PageLine {
        fields: Arc::clone(&read.fields),
        version: read.held.version.number,
        digest: format!("{:016x}", xxh3_64(&digests)),
        text: read.document.text.clone(),
        markdown: read.body.markdown(&MarkdownOptions::default()),
        paragraphs: read.rows.iter().map(|row| row.id.clone()).collect(),
        links,
    }
}
