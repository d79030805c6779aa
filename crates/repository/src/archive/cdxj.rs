//! A CDXJ index of an export (SURT key, fourteen digits, JSON), sorted as replay tools expect it.

use std::io::{self, Write};
use std::path::Path;

use vernal_model::Moment;

use super::copy::{Fate, choose, walk_records};
use super::sort::LineSorter;
use super::surt::surt;
use crate::bodies::{Record, Scanned, sealed_path, segments};
use crate::{Error, Result};

/// Which files an index is about.
#[derive(Copy, Clone, Debug)]
pub enum IndexOf<'a> {
    /// The files that an export into a folder writes: one per segment, named as the segment.
    Folder,
    /// The one file of this name that holds everything.
    File(&'a str),
}

/// Writes the index of what [`export_warc`](super::export_warc) writes for the same filter, line for line what `cdxj-indexer -s`
/// prints for those files. Without a filter they are the segments of the repository in `dir`, under the names that they keep
/// once they are sealed. Damaged records are skipped.
pub fn cdxj(dir: &Path, of: IndexOf<'_>, filter: &dyn Fn(&Record) -> bool, out: &mut dyn Write) -> Result<()> {
    let failed = |source: io::Error| Error::Io { act: "write the index of", path: dir.to_owned(), source };
    let choice = choose(segments(dir)?, &|_, record| filter(record))?;
    let mut sorter = LineSorter::new();
    let mut offset = 0;
    for (segment, fates) in &choice.segments {
        let sealed = sealed_path(&segment.path);
        let name = match of {
            IndexOf::File(name) => name,
            IndexOf::Folder => {
                offset = 0;
                sealed.file_name().and_then(|name| name.to_str()).unwrap_or_default()
            }
        };
        if !fates.iter().any(|fate| matches!(fate, Fate::Taken | Fate::TakenForRevisit)) {
            continue;
        }
        walk_records(segment, fates, &mut |scanned, fate, _| {
            if fate == Fate::Left {
                return Ok(());
            }
            let line = line(scanned, offset, name);
            offset += scanned.length;
            line.map_or(Ok(()), |line| sorter.push(line).map_err(failed))
        })?;
    }
    sorter.finish(out).map_err(failed)
}

/// The index of one file, gathered while its records are written. Memory is bounded: runs of sorted lines go to temporary files.
pub struct CaptureIndex {
    sorter: LineSorter,
    file_name: String,
}

impl CaptureIndex {
    pub fn new(file_name: &str) -> CaptureIndex {
        CaptureIndex { sorter: LineSorter::new(), file_name: file_name.to_owned() }
    }

    /// A record that begins at `offset` of the file.
    pub fn note(&mut self, scanned: &Scanned, offset: u64) -> Result<()> {
        let failed =
            |source: io::Error| Error::Io { act: "sort the index of", path: self.file_name.clone().into(), source };
        line(scanned, offset, &self.file_name).map_or(Ok(()), |line| self.sorter.push(line).map_err(failed))
    }

    /// Writes the lines, sorted.
    pub fn finish(self, out: &mut dyn Write) -> Result<()> {
        let failed = |source: io::Error| Error::Io { act: "write the index of", path: self.file_name.into(), source };
        self.sorter.finish(out).map_err(failed)
    }
}

fn line(scanned: &Scanned, offset: u64, file_name: &str) -> Option<String> {
    let record = &scanned.record;
    if !is_indexed(record) {
        return None;
    }
    let url = record.target()?;
    let http = record.http();
    let mime = match record.kind() {
        "revisit" => Some("warc/revisit".to_owned()),
        "response" => http.as_ref().and_then(|http| http.header("Content-Type")).map(media_type),
        _ => record.header("Content-Type").map(media_type),
    };
    let fields = [
        ("url", Some(url.to_owned())),
        ("mime", mime),
        ("status", http.as_ref().map(|http| http.status.to_string())),
        ("digest", record.header("WARC-Payload-Digest").map(str::to_owned)),
        ("length", Some(scanned.length.to_string())),
        ("offset", Some(offset.to_string())),
        ("filename", Some(file_name.to_owned())),
    ];
    let json: Vec<String> = fields
        .into_iter()
        .filter_map(|(name, value)| value.map(|value| format!("\"{name}\": {}", ascii_json(&value))))
        .collect();
    let moment: Moment = record.date()?;
    Some(format!("{} {} {{{}}}", surt(url), moment.fourteen_digits(), json.join(", ")))
}

fn is_indexed(record: &Record) -> bool {
    match record.kind() {
        "response" | "revisit" => true,
        "resource" | "metadata" => record.header("Content-Type") != Some("application/warc-fields"),
        _ => false,
    }
}

/// The media type without its parameters.
fn media_type(content_type: &str) -> String {
    let end = content_type.find(|letter: char| letter == ';' || letter.is_whitespace());
    content_type[..end.unwrap_or(content_type.len())].to_owned()
}

/// A JSON string with everything beyond ASCII escaped, as Python writes it.
fn ascii_json(value: &str) -> String {
    let plain = serde_json::Value::from(value).to_string();
    let mut text = String::with_capacity(plain.len());
    for letter in plain.chars() {
        if letter.is_ascii() && letter != '\x7f' {
            text.push(letter);
            continue;
        }
        for unit in letter.encode_utf16(&mut [0; 2]) {
            text.push_str(&format!("\\u{unit:04x}"));
        }
    }
    text
}
