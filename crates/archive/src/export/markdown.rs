//! Markdown: one file, one page. A page keeps the name of its file for ever.

use std::io::Write;

use serde::Serialize;
use vernal_document::MarkdownOptions;
use vernal_model::{PageKey, Url};
use vernal_repository::Reader;

use super::Result;
use super::asked::Asked;
use super::file_name::file_name;
use super::front_matter::front_matter;
use super::manifest::{MANIFEST_FILE, Manifest};
use super::pages::{Progress, walk};
use super::rows::ReadPage;

/// What the files hold.
#[derive(Copy, Clone, Debug, Default)]
pub struct FileOptions {
    /// Everything on the page, and not the main content alone.
    pub all: bool,
    /// The ids of paragraphs behind them.
    pub ids: bool,
}

/// A file to write, or to remove.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "op", rename_all = "lowercase")]
pub enum FileLine<'a> {
    Write { path: String, page: String, url: &'a str, text: String },
    Delete { path: String, page: String, url: &'a str, why: &'a str },
}

/// Gives every file of the export to `take`.
pub fn files(
    reader: &Reader,
    asked: &Asked,
    options: FileOptions,
    told: &mut dyn FnMut(Progress),
    take: &mut dyn FnMut(FileLine<'_>) -> Result<()>,
) -> Result<Manifest> {
    let mut manifest = Manifest::of(asked, "markdown");
    walk(reader, asked, &mut manifest, told, &mut |mut step, manifest| {
        let was_held = step.old.is_some();
        let read = step.read(reader, asked, manifest)?;
        let path = file_name(&step.url, is_second(reader, step.key, &step.url)?);
        let (page, url) = (step.key.to_string(), step.url.as_str());
        match read {
            Some(read) => {
                manifest.pages += 1;
                manifest.paragraphs += read.rows.len() as u64;
                take(FileLine::Write { path, page, url, text: text(&read, options) })
            }
            None if was_held => {
                manifest.removed += 1;
                take(FileLine::Delete { path, page, url, why: step.ended })
            }
            None => Ok(()),
        }
    })?;
    Ok(manifest)
}

/// The files as JSON lines, for whoever writes them.
pub fn lines(
    reader: &Reader,
    asked: &Asked,
    options: FileOptions,
    told: &mut dyn FnMut(Progress),
    out: &mut dyn Write,
) -> Result<Manifest> {
    files(reader, asked, options, told, &mut |file| super::json_lines::line(out, &file))
}

/// The files in a tar, the manifest last. What is to be removed is listed in `vernal-removed.txt` before it.
pub fn tar(
    reader: &Reader,
    asked: &Asked,
    options: FileOptions,
    told: &mut dyn FnMut(Progress),
    out: &mut dyn Write,
) -> Result<Manifest> {
    let mut tar = tar::Builder::new(out);
    let mut removed = String::new();
    let seconds = asked.made.secs().max(0) as u64;
    let manifest = files(reader, asked, options, told, &mut |file| {
        match file {
            FileLine::Write { path, text, .. } => append(&mut tar, &path, &text, seconds)?,
            FileLine::Delete { path, .. } => {
                removed.push_str(&path);
                removed.push('\n');
            }
        }
        Ok(())
    })?;
    if !removed.is_empty() {
        append(&mut tar, "vernal-removed.txt", &removed, seconds)?;
    }
    append(&mut tar, MANIFEST_FILE, &(serde_json::to_string_pretty(&manifest)? + "\n"), seconds)?;
    tar.finish()?;
    Ok(manifest)
}

fn append(tar: &mut tar::Builder<&mut dyn Write>, path: &str, text: &str, seconds: u64) -> Result<()> {
    let mut header = tar::Header::new_gnu();
    header.set_size(text.len() as u64);
    header.set_mode(0o644);
    header.set_mtime(seconds);
    tar.append_data(&mut header, path, text.as_bytes())?;
    Ok(())
}

/// One page as it stands in its file.
fn text(read: &ReadPage, options: FileOptions) -> String {
    let name = |place: usize| read.rows.get(place).map(|row| row.id.clone());
    let names: Option<vernal_document::ParagraphName<'_>> = if options.ids { Some(&name) } else { None };
    let body = read.body.markdown(&MarkdownOptions { all: options.all, names });
    front_matter(read) + &body
}

/// Whether the page with the same URL under the other scheme was there before: the first of the two has the plain name for ever.
fn is_second(reader: &Reader, key: PageKey, url: &Url) -> Result<bool> {
    let other = match url.as_str().split_once(':') {
        Some(("http", rest)) => format!("https:{rest}"),
        Some(("https", rest)) => format!("http:{rest}"),
        _ => return Ok(false),
    };
    let Ok(other) = Url::parse(&other) else { return Ok(false) };
    if other.site_text() != url.site_text() {
        return Ok(false);
    }
    let known = reader.key_of(&other)?.and_then(|known| known.key);
    Ok(known.is_some_and(|known| known.partition == key.partition && known.number < key.number))
}
