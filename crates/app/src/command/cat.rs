//! `vernal cat URL`

use std::io::Read;

use clap::Args;
use serde_json::json;
use vernal_document::{Input, read, source_text};
use vernal_extract::{fact, plain_text};
use vernal_model::{Digest, Document, Media, Url};

use super::Context;
use super::printed_list::{Question, copy};
use crate::error::{Error, OrFail, Result};
use crate::output::{Sink, escaped};
use crate::runtime::files::Files;
use crate::runtime::folder::Folder;

#[derive(Args)]
pub struct Arguments {
    /// A page; with --text also a file
    url: String,
    /// The version that was current then: RFC 3339, a date, an age such as 7d, or 14 digits
    #[arg(long, value_name = "TIME", conflicts_with = "version")]
    at: Option<String>,
    /// The version with this number
    #[arg(long, value_name = "N")]
    version: Option<u32>,
    /// The body as received, still content-encoded
    #[arg(long)]
    raw: bool,
    /// The text of a page or of a file: HTML, PDF, DOC, DOCX, ODT, PPTX, XLSX, ODS, EPUB, RTF, plain text
    #[arg(long, conflicts_with = "raw")]
    text: bool,
    /// A file to write to; - is standard output
    #[arg(long, value_name = "PATH", default_value = "-")]
    out: String,
}

/// Larger files are not read.
const FILE_BYTES_MAX: u64 = 256 << 20;

/// The page that a file is taken for.
const NOWHERE: &str = "https://file.invalid/";

pub async fn cat(context: &Context, arguments: &Arguments) -> Result<()> {
    let is_page = ["http://", "https://", "ftp://", "gopher://"].iter().any(|scheme| arguments.url.starts_with(scheme));
    if arguments.text && !is_page {
        return show_text(context, arguments, &file(&arguments.url)?, None);
    }
    let question = Question::at("/api/v1/body")
        .with("url", Some(&arguments.url))
        .with("at", arguments.at.as_ref())
        .with("version", arguments.version)
        .when("raw", arguments.raw);
    let folder = Folder::open(context, false).await?;
    let answer = folder.get(question.text()).await?;
    if arguments.text {
        let kept_type = answer.headers.get("vernal-content-type").and_then(|value| value.to_str().ok());
        let content_type = kept_type.filter(|kept| !kept.is_empty()).map(str::to_owned);
        let bytes = answer.bytes().await?;
        folder.close()?;
        return show_text(context, arguments, &bytes, content_type.as_deref());
    }
    copy(answer, &mut Sink::named(&arguments.out)?).await?;
    folder.close()
}

fn file(name: &str) -> Result<Vec<u8>> {
    let failed = |error: std::io::Error| Error::Failed(format!("read {name}: {error}"));
    let mut bytes = Vec::new();
    let file = std::fs::File::open(name).map_err(failed)?;
    file.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > FILE_BYTES_MAX {
        return Err(Error::Failed(format!("read {name}: it is larger than {FILE_BYTES_MAX} bytes")));
    }
    Ok(bytes)
}

fn show_text(context: &Context, arguments: &Arguments, bytes: &[u8], content_type: Option<&str>) -> Result<()> {
    let (name, files) = (&arguments.url, Files::new());
    let made = match files.html_of(bytes, content_type, name) {
        Some(made) => Some(made.map_err(|why| Error::Failed(format!("{name}: {why}")))?),
        None => None,
    };
    if let Some(missing) = files.missing_confinement() {
        eprintln!("vernal: files are read less confined than they could be: {missing}");
    }
    let (source, source_type) = match &made {
        Some(html) => (html.as_bytes(), Some("text/html; charset=utf-8")),
        None => (bytes, content_type),
    };
    let url = Url::parse(name).or_else(|_| Url::parse(NOWHERE)).or_fail()?;
    let input = Input {
        url: &url,
        bytes: source,
        content_type: source_type,
        content_language: None,
        robots_tags: &[],
        payload: Digest([0; 20]),
    };
    let document = read(&input).document;
    let said = |wanted: &str| made.as_deref().and_then(|html| fact(html, wanted)).map(|value| value.into_owned());
    let text = match &made {
        Some(html) => plain_text(html),
        None => text_of(&input, &document).map_err(|why| Error::Failed(format!("{name}: {why}")))?,
    };
    let mut sink = Sink::named(&arguments.out)?;
    if context.json {
        let shown = json!({
            "name": name,
            "content_type": said("format").unwrap_or(document.content_type),
            "title": document.title,
            "language": document.language,
            "pages": said("pages").and_then(|pages| pages.parse::<u64>().ok()),
            "created": said("created"),
            "modified": said("modified"),
            "note": said("note"),
            "links": document.links.iter().map(|link| link.target.as_str()).collect::<Vec<_>>(),
            "text": text,
        });
        sink.line(&shown.to_string())?;
        return sink.flush();
    }
    if let Some(note) = said("note") {
        eprintln!("vernal: {}: {note}", escaped(name));
    }
    sink.bytes(text.as_bytes())?;
    sink.flush()
}

/// The text of what is no file of the kinds above. What is written for machines is its own text.
fn text_of(input: &Input<'_>, document: &Document) -> std::result::Result<String, String> {
    match document.media {
        Media::Html | Media::Xml | Media::Text if !document.text.is_empty() => Ok(format!("{}\n", document.text)),
        Media::Html | Media::Xml | Media::Text => Ok(String::new()),
        Media::Json | Media::Style | Media::Script => Ok(source_text(input)),
        Media::Pdf | Media::Image | Media::Other => {
            Err(format!("{} has no text that can be taken", document.content_type))
        }
    }
}
