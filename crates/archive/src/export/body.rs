//! The bytes of a version as its author wrote them, ready to be read.

use vernal_document::{Input, MarkdownOptions, UnpackLimits, unpack};
use vernal_model::{Digest, Document, Url, Version};
use vernal_repository::Reader;

use super::Result;

/// A body with what it takes to read it.
pub struct Body {
    url: Url,
    bytes: Vec<u8>,
    content_type: Option<String>,
    content_language: Option<String>,
    robots_tags: Vec<String>,
    payload: Digest,
}

impl Body {
    /// The body of a version; `None` where none is kept, or none that can be read.
    pub fn of(reader: &Reader, url: &Url, version: Version) -> Result<Option<Body>> {
        let record = match reader.record_of(url, version) {
            Ok(Some(record)) => record,
            Ok(None) => return Ok(None),
            // A damaged body is the affair of `verify`; the export goes on and counts it.
            Err(error) => {
                tracing::debug!("version {} of {url} is not in the export: {error}", version.number);
                return Ok(None);
            }
        };
        let Some(payload) = record.payload() else { return Ok(None) };
        let head = &record.block[..record.block.len() - payload.len()];
        let Ok(bytes) = unpack(head, payload, &UnpackLimits::default()) else { return Ok(None) };
        let http = record.http();
        let header = |name: &str| http.as_ref().and_then(|message| message.header(name)).map(str::to_owned);
        let headers = http.iter().flat_map(|message| message.headers.iter());
        let robots_tags = headers
            .filter(|(name, _)| name.eq_ignore_ascii_case("x-robots-tag"))
            .map(|(_, value)| value.to_owned())
            .collect();
        // A resource has no head of a response; its record says what it is.
        let of_record = || record.header("Content-Type").filter(|_| record.kind() == "resource").map(str::to_owned);
        let content_type = header("content-type").or_else(of_record);
        let content_language = header("content-language");
        Ok(Some(Body {
            url: url.clone(),
            bytes,
            content_type,
            content_language,
            robots_tags,
            payload: version.payload,
        }))
    }

    pub fn document(&self) -> Document {
        self.with_input(|input| vernal_document::read(input).document)
    }

    pub fn markdown(&self, options: &MarkdownOptions<'_>) -> String {
        self.with_input(|input| vernal_document::markdown(input, options))
    }

    fn with_input<T>(&self, read: impl FnOnce(&Input<'_>) -> T) -> T {
        let robots_tags: Vec<&str> = self.robots_tags.iter().map(String::as_str).collect();
        read(&Input {
            url: &self.url,
            bytes: &self.bytes,
            content_type: self.content_type.as_deref(),
            content_language: self.content_language.as_deref(),
            robots_tags: &robots_tags,
            payload: self.payload,
        })
    }
}
