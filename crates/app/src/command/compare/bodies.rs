//! The two files of a comparison, and what is said of them.

use std::io::Read;
use std::path::Path;

use sha1::Digest as _;
use vernal_document::{Input, Parsed, note_places, read_closely};
use vernal_model::{Digest, Url};

use crate::error::{Error, Result};
use crate::output::escaped;
use crate::runtime::files::Files;

/// What the HTML of a file is.
const MADE_TYPE: &str = "text/html; charset=utf-8";

/// Larger files are no pages.
const FILE_BYTES_MAX: u64 = 256 << 20;

/// A file, and what is said of it.
pub struct Body {
    pub name: String,
    pub bytes: Vec<u8>,
    pub content_type: Option<String>,
    /// The digest of the file as it is, where `bytes` is the HTML that was made of it.
    file: Option<Digest>,
}

impl Body {
    /// Reads a file, or standard input where its name is a hyphen.
    ///
    /// A PDF or office file becomes the HTML of its text. Where it cannot, that is said and its bytes are compared.
    pub fn read(name: &str, content_type: Option<&str>, files: &Files) -> Result<Body> {
        let failed = |error: std::io::Error| Error::Failed(format!("read {name}: {error}"));
        let mut bytes = Vec::new();
        let limit = FILE_BYTES_MAX + 1;
        match name {
            "-" => std::io::stdin().lock().take(limit).read_to_end(&mut bytes),
            path => std::fs::File::open(path).map_err(failed)?.take(limit).read_to_end(&mut bytes),
        }
        .map_err(failed)?;
        if bytes.len() as u64 > FILE_BYTES_MAX {
            return Err(Error::Failed(format!("read {name}: it is larger than {FILE_BYTES_MAX} bytes")));
        }
        let content_type = content_type.or_else(|| by_name(name)).map(str::to_owned);
        let shown = if name == "-" { "standard input".into() } else { name.to_owned() };
        let made = match files.html_of(&bytes, content_type.as_deref(), name) {
            Some(Ok(html)) => Some(html),
            Some(Err(why)) => {
                eprintln!("vernal: {}: {why}; its bytes are compared", escaped(&shown));
                None
            }
            None => None,
        };
        let Some(html) = made else { return Ok(Body::new(shown, bytes, content_type)) };
        let file = Some(Digest(sha1::Sha1::digest(&bytes).into()));
        Ok(Body { name: shown, bytes: html.into_bytes(), content_type: Some(MADE_TYPE.into()), file })
    }

    pub fn new(name: String, bytes: Vec<u8>, content_type: Option<String>) -> Body {
        Body { name, bytes, content_type, file: None }
    }

    /// Whether two files are not the same byte for byte.
    pub fn differs(&self, other: &Body) -> bool {
        self.file != other.file || self.file.is_none() && self.bytes != other.bytes
    }

    /// Reads the body closely, and where it was a file, notes its pages.
    pub fn read_closely(&self, input: &Input<'_>) -> Parsed {
        let mut parsed = read_closely(input);
        if let (Some(_), Ok(html)) = (self.file, std::str::from_utf8(&self.bytes)) {
            note_places(&mut parsed.document, html);
        }
        parsed
    }

    fn input<'a>(&'a self, url: &'a Url, payload: Digest) -> Input<'a> {
        Input {
            url,
            bytes: &self.bytes,
            content_type: self.content_type.as_deref(),
            content_language: None,
            robots_tags: &[],
            payload,
        }
    }
}

/// Both bodies, ready to be read.
pub fn inputs<'a>(url: &'a Url, old: &'a Body, new: &'a Body) -> (Input<'a>, Input<'a>) {
    // Digests of payloads are only ever asked whether they are the same.
    let (one, other) = (Digest([0; 20]), Digest([u8::from(old.differs(new)); 20]));
    (old.input(url, one), new.input(url, other))
}

/// What a file's name says of it; where it says nothing, its bytes are asked.
fn by_name(name: &str) -> Option<&'static str> {
    let extension = Path::new(name).extension()?.to_str()?.to_ascii_lowercase();
    Some(match extension.as_str() {
        "html" | "htm" | "shtml" => "text/html",
        "xhtml" => "application/xhtml+xml",
        "xml" | "rss" | "atom" => "application/xml",
        "txt" | "md" => "text/plain",
        "json" => "application/json",
        "css" => "text/css",
        "js" | "mjs" => "text/javascript",
        _ => return None,
    })
}
