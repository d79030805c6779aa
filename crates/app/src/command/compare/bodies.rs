//! The two files of a comparison, and what is said of them.

use std::io::Read;
use std::path::Path;

use vernal_document::Input;
use vernal_model::{Digest, Url};

use crate::error::{Error, Result};

/// Larger files are no pages.
const FILE_BYTES_MAX: u64 = 256 << 20;

/// A file, and what is said of it.
pub struct Body {
    pub name: String,
    pub bytes: Vec<u8>,
    pub content_type: Option<String>,
}

impl Body {
    /// Reads a file, or standard input where its name is a hyphen.
    pub fn read(name: &str, content_type: Option<&str>) -> Result<Body> {
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
        let name = if name == "-" { "standard input".into() } else { name.to_owned() };
        Ok(Body { name, bytes, content_type })
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
    let (one, other) = (Digest([0; 20]), Digest([u8::from(old.bytes != new.bytes); 20]));
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
