//! Finds the media type of a body: by its Content-Type if that is meaningful, otherwise by its first bytes.

use vernal_model::Media;

/// How a body is read.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Reading {
    Html,
    Xml,
    Plain,
    GopherMenu,
    FtpListing,
    /// Opaque: only its bytes can be compared.
    Opaque,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Format {
    pub media: Media,
    pub reading: Reading,
    /// Lower case, without parameters.
    pub content_type: String,
}

/// So many bytes are examined when the Content-Type is not meaningful.
const SNIFFED_BYTES_MAX: usize = 1_024;

/// Types are short. A longer header is cut.
const CONTENT_TYPE_BYTES_MAX: usize = 128;

pub fn format_of(content_type: Option<&str>, bytes: &[u8]) -> Format {
    let said = content_type.map(essence).unwrap_or_default();
    // Many servers send `text/plain` for unknown types, so binary bytes override it.
    let says_nothing = matches!(said.as_str(), "" | "application/octet-stream" | "unknown/unknown" | "*/*")
        || !said.contains('/')
        || (said == "text/plain" && looks_binary(bytes));
    let content_type = if says_nothing { sniffed(bytes).to_owned() } else { said };
    let (media, reading) = media_of(&content_type);
    // Many feeds come as text/html and many pages as text/xml. Only clear errors are corrected.
    if reading == Reading::Html && starts_with_text(bytes, b"%pdf-") {
        return Format { media: Media::Pdf, reading: Reading::Opaque, content_type: "application/pdf".into() };
    }
    Format { media, reading, content_type }
}

/// The charset parameter of a Content-Type.
pub fn charset_of(content_type: &str) -> Option<&str> {
    content_type.split(';').skip(1).find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        name.trim().eq_ignore_ascii_case("charset").then(|| value.trim().trim_matches(['"', '\'']))
    })
}

fn essence(content_type: &str) -> String {
    let essence = content_type.split([';', ',']).next().unwrap_or_default().trim();
    super::links::limited(essence, CONTENT_TYPE_BYTES_MAX).to_ascii_lowercase()
}

fn media_of(content_type: &str) -> (Media, Reading) {
    match content_type {
        "text/html" | "application/xhtml+xml" | "application/vnd.wap.xhtml+xml" => (Media::Html, Reading::Html),
        "application/gopher-menu" => (Media::Text, Reading::GopherMenu),
        "text/x-ftp-listing" => (Media::Text, Reading::FtpListing),
        "text/css" => (Media::Style, Reading::Opaque),
        "application/json" | "text/json" => (Media::Json, Reading::Opaque),
        "application/pdf" | "application/x-pdf" => (Media::Pdf, Reading::Opaque),
        "text/xml" | "application/xml" => (Media::Xml, Reading::Xml),
        _ if content_type.ends_with("javascript") || content_type.ends_with("ecmascript") => {
            (Media::Script, Reading::Opaque)
        }
        // An SVG is a picture, whatever it is written in.
        _ if content_type.starts_with("image/") => (Media::Image, Reading::Opaque),
        _ if content_type.ends_with("+xml") => (Media::Xml, Reading::Xml),
        _ if content_type.ends_with("+json") => (Media::Json, Reading::Opaque),
        _ if content_type.starts_with("text/") => (Media::Text, Reading::Plain),
        _ => (Media::Other, Reading::Opaque),
    }
}

/// The type that the first bytes show.
fn sniffed(bytes: &[u8]) -> &'static str {
    const MARKUP: [&[u8]; 18] = [
        b"<!doctype html",
        b"<html",
        b"<head",
        b"<script",
        b"<iframe",
        b"<h1",
        b"<div",
        b"<font",
        b"<table",
        b"<a",
        b"<style",
        b"<title",
        b"<b",
        b"<body",
        b"<br",
        b"<p",
        b"<!--",
        b"<meta",
    ];
    const BINARY: [(&[u8], &str); 10] = [
        (b"%PDF-", "application/pdf"),
        (b"\x89PNG\r\n\x1a\n", "image/png"),
        (b"GIF87a", "image/gif"),
        (b"GIF89a", "image/gif"),
        (b"\xff\xd8\xff", "image/jpeg"),
        (b"BM", "image/bmp"),
        (b"\x00\x00\x01\x00", "image/x-icon"),
        (b"PK\x03\x04", "application/zip"),
        (b"\x1f\x8b", "application/gzip"),
        (b"\x7fELF", "application/octet-stream"),
    ];
    if let Some((_, name)) = BINARY.iter().find(|(mark, _)| bytes.starts_with(mark)) {
        return name;
    }
    if bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WEBP") {
        return "image/webp";
    }
    if starts_with_text(bytes, b"<?xml") {
        return "text/xml";
    }
    if MARKUP.iter().any(|mark| starts_with_text(bytes, mark)) {
        return "text/html";
    }
    if starts_with_text(bytes, b"{") || starts_with_text(bytes, b"[") {
        return "application/json";
    }
    if looks_binary(bytes) { "application/octet-stream" } else { "text/plain" }
}

fn starts_with_text(bytes: &[u8], mark: &[u8]) -> bool {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes).trim_ascii_start();
    bytes.get(..mark.len()).is_some_and(|start| start.eq_ignore_ascii_case(mark))
}

/// Control bytes that no text has. UTF-16 is recognised by its mark at the beginning.
fn looks_binary(bytes: &[u8]) -> bool {
    let start = &bytes[..bytes.len().min(SNIFFED_BYTES_MAX)];
    let marked = start.starts_with(b"\xff\xfe") || start.starts_with(b"\xfe\xff");
    !marked && start.iter().any(|&byte| matches!(byte, 0..=8 | 0x0b | 0x0e..=0x1a | 0x1c..=0x1f))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_header_counts_where_it_says_something() {
        for (header, bytes, media, content_type) in [
            (Some("Text/HTML; charset=utf-8"), &b"x"[..], Media::Html, "text/html"),
            (Some("application/atom+xml"), b"<feed/>", Media::Xml, "application/atom+xml"),
            (Some("text/plain"), b"<html>", Media::Text, "text/plain"),
            (Some("text/plain"), b"\x89PNG\r\n\x1a\n", Media::Image, "image/png"),
            (Some("image/svg+xml"), b"<svg/>", Media::Image, "image/svg+xml"),
            (Some("application/ld+json"), b"{}", Media::Json, "application/ld+json"),
            (Some("text/javascript"), b"", Media::Script, "text/javascript"),
            (Some("text/css"), b"", Media::Style, "text/css"),
            (Some("video/mp4"), b"", Media::Other, "video/mp4"),
            (Some("nonsense"), b"<!DOCTYPE html>", Media::Html, "text/html"),
            (Some("text/html"), b"%PDF-1.7", Media::Pdf, "application/pdf"),
            (None, b" \n<!DOCTYPE HTML PUBLIC>", Media::Html, "text/html"),
            (None, b"\xef\xbb\xbf<?xml version='1.0'?>", Media::Xml, "text/xml"),
            (None, b"{\"a\":1}", Media::Json, "application/json"),
            (None, b"just words", Media::Text, "text/plain"),
            (None, b"\x00\x01\x02", Media::Other, "application/octet-stream"),
            (None, b"", Media::Text, "text/plain"),
        ] {
            let format = format_of(header, bytes);
            assert_eq!((format.media, format.content_type.as_str()), (media, content_type), "{header:?}");
        }
    }

    #[test]
    fn charset_is_found_among_parameters() {
        assert_eq!(charset_of("text/html; a=b; Charset=\"ISO-8859-1\""), Some("ISO-8859-1"));
        assert_eq!(charset_of("text/html"), None);
    }
}
