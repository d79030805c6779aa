//! WACZ 1.1.1: records, index, pages and digests in one zip, for ReplayWeb.page, pywb and their like.
//!
//! ```text
//! archive/data-001.warc.gz     records copied byte for byte
//! indexes/index.cdx           sorted by SURT
//! pages/pages.jsonl            {"id","url","title","ts"} of each page, "text" where it is asked for
//! vernal/changes.jsonl         the events of the pages, with the fields of the table of events
//! vernal/paragraphs.jsonl      ids and lives of the paragraphs, where the text is asked for
//! datapackage.json             the SHA-256 of each file, the software, and the cursor
//! datapackage-digest.json      the SHA-256 of that
//! ```
//!
//! It is written as a stream, so that a crawl of any size goes through little memory.

use std::io::Write;

use serde::Serialize;
use serde_json::json;
use sha2::{Digest, Sha256};
use vernal_model::EventKind;
use vernal_repository::Reader;
use vernal_repository::archive::{self, CaptureIndex};

use super::Result;
use super::asked::Asked;
use super::events;
use super::json_lines::{self, Unit, line};
use super::manifest::Manifest;
use super::pages::{Progress, walk};
use super::records::RecordFilter;
use super::zip_file::{Digested, ZipFile};

const WARC_FILE: &str = "data-001.warc.gz";

#[derive(Serialize)]
struct PageLine<'a> {
    id: String,
    url: &'a str,
    title: &'a str,
    ts: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
}

/// Writes the whole file. `text`: also the words of the pages.
pub fn write(
    reader: &Reader,
    asked: &Asked,
    text: bool,
    told: &mut dyn FnMut(Progress),
    out: &mut dyn Write,
) -> Result<Manifest> {
    asked.check(reader)?;
    let filter = RecordFilter::of(reader, asked)?;
    let mut zip = ZipFile::new(out);
    let mut index = CaptureIndex::new(WARC_FILE);
    let mut progress = Progress::default();
    let report = zip.entry(&format!("archive/{WARC_FILE}"), |out| {
        let copied = &mut |scanned: &vernal_repository::bodies::Scanned, offset| {
            progress.pages += 1;
            told(progress);
            index.note(scanned, offset)
        };
        Ok(archive::stream_warc(reader.dir(), &|record| filter.has(record), out, copied)?)
    })?;
    zip.entry("indexes/index.cdx", |out| Ok(index.finish(out)?))?;
    let mut manifest = zip.entry("pages/pages.jsonl", |out| pages(reader, asked, text, told, out))?;
    manifest.events = zip.entry("vernal/changes.jsonl", |out| events::lines(reader, asked, told, out))?;
    if text {
        zip.entry("vernal/paragraphs.jsonl", |out| {
            let told = json_lines::write(reader, asked, Unit::Paragraph, told, out)?;
            manifest.paragraphs = told.paragraphs;
            Ok(())
        })?;
    }
    (manifest.records, manifest.damaged) = (report.records, report.damaged);
    let package = json!({
        "profile": "data-package",
        "wacz_version": "1.1.1",
        "software": format!("vernal {}", env!("CARGO_PKG_VERSION")),
        "created": asked.made.rfc3339(),
        "resources": zip.entries(),
        "vernal": manifest,
    });
    let package = serde_json::to_string_pretty(&package)? + "\n";
    let digest: String = Sha256::digest(package.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect();
    zip.entry("datapackage.json", |out| Ok(out.write_all(package.as_bytes())?))?;
    let digest = json!({ "path": "datapackage.json", "hash": format!("sha256:{digest}") });
    zip.entry("datapackage-digest.json", |out| line(out, &digest))?;
    zip.finish()?;
    Ok(manifest)
}

/// The held pages, the newest version of each.
fn pages(
    reader: &Reader,
    asked: &Asked,
    text: bool,
    told: &mut dyn FnMut(Progress),
    out: &mut Digested<'_>,
) -> Result<Manifest> {
    let mut manifest = Manifest::of(asked, "wacz");
    line(out, &json!({ "format": "json-pages-1.0", "id": "pages", "title": "All Pages", "hasText": text }))?;
    walk(reader, asked, &mut manifest, told, &mut |mut step, manifest| {
        let Some(held) = step.new.clone() else { return Ok(()) };
        let read = if text { step.read(reader, asked, manifest)? } else { None };
        let named = held.events.iter().rev().find(|event| event.kind != EventKind::Blocked);
        manifest.pages += 1;
        line(
            out,
            &PageLine {
                id: format!("{}-{}", held.page.to_string().replace('/', "-"), held.version.number),
                url: held.url.as_str(),
                title: named.map_or("", |event| &event.title),
                ts: held.version.moment.warc_date(),
                text: read.map(|read| read.document.text),
            },
        )
    })?;
    Ok(manifest)
}
