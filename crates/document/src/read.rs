//! Reads a body: its document and its signature.

use std::borrow::Cow;

use vernal_model::{Digest, Directives, Document, Signature, Url};

use crate::parse::directory::{read_ftp_listing, read_gopher_menu};
use crate::parse::format::{Reading, charset_of, format_of};
use crate::parse::html::{Passed, read_markup};
use crate::parse::incremental::{IncrementalReader, whole_tags};
use crate::parse::parts::{Parts, parts};
use crate::parse::plain::read_plain;
use crate::parse::scan::Markup;
use crate::parse::words::words_of_markup;
use crate::parse::{encoding, hints, site_lists};
use crate::signature::{Marks, opaque, seal};

/// Further links are counted and not kept: a page with more is a list for machines, or a trap.
pub const LINKS_MAX: usize = 10_000;

/// Text after so many paragraphs becomes one last paragraph, so that marks and comparisons are bounded.
pub const PARAGRAPHS_MAX: usize = 5_000;

/// Larger bodies are compared by their bytes only, because offsets in the text have 32 bits.
const TEXT_BYTES_MAX: usize = 256 << 20;

/// A body and what a worker knows of it.
#[derive(Clone, Debug)]
pub struct Input<'a> {
    pub url: &'a Url,
    /// The body without content encoding.
    pub bytes: &'a [u8],
    pub content_type: Option<&'a str>,
    pub content_language: Option<&'a str>,
    /// The values of X-Robots-Tag, one per header line.
    pub robots_tags: &'a [&'a str],
    /// SHA-1 of the body as received.
    pub payload: Digest,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Parsed {
    pub document: Document,
    pub signature: Signature,
    pub evidence: Evidence,
    /// The parts; empty unless the body was read closely.
    pub parts: Parts,
}

/// Observations for the test for walls.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Evidence {
    pub forms: u32,
    pub password_fields: u32,
    /// Whether there is a widget or script of a known captcha or challenge service.
    pub challenge: Option<&'static str>,
}

/// Reads one body. It never panics, and its time and memory are bounded by the length of the body.
pub fn read(input: &Input<'_>) -> Parsed {
    let (mut parsed, _) = read_marked(input);
    parsed.document.listing = site_lists::listing(input, parsed.document.media);
    parsed
}

/// Reads one body and also collects its parts, for the slow path.
pub fn read_closely(input: &Input<'_>) -> Parsed {
    Parsed { parts: parts(input), ..read(input) }
}

/// Reads a kept body with a known signature again for its words: text and paragraphs as `read` gives them, and `closely` also its
/// links and parts. Nothing else of the document is filled in.
pub fn read_words(input: &Input<'_>, closely: bool) -> (Document, Parts) {
    let Some(markup) = markup_of(input) else { return (read(input).document, Parts::default()) };
    words_of_markup(&letters_of(input), markup, input.url, closely)
}

/// Reads a kept body again for its words, with the help of a newer version: the result is the same, but paragraphs that are in
/// both are copied from the newer one.
pub fn read_words_incrementally(input: &Input<'_>, beside: &IncrementalReader<'_>) -> Document {
    let words = markup_of(input).and_then(|markup| beside.words(&letters_of(input), markup));
    words.unwrap_or_else(|| read_words(input, false).0)
}

/// Reads a kept body of which only the start was unpacked, like [`read_words_incrementally`]. `None` if the start does not contain all
/// paragraphs to read.
pub fn read_words_of_prefix(input: &Input<'_>, beside: &IncrementalReader<'_>) -> Option<Document> {
    let start = Input { bytes: whole_tags(input.bytes), ..input.clone() };
    beside.words(&letters_of(&start), markup_of(&start)?)
}

/// The markup language of a body, if it is markup.
pub(crate) fn markup_of(input: &Input<'_>) -> Option<Markup> {
    match format_of(input.content_type, input.bytes).reading {
        Reading::Html if input.bytes.len() <= TEXT_BYTES_MAX => Some(Markup::Html),
        Reading::Xml if input.bytes.len() <= TEXT_BYTES_MAX => Some(Markup::Xml),
        _ => None,
    }
}

/// Reads a document and makes its signature.
pub(crate) fn read_marked(input: &Input<'_>) -> (Parsed, Marks) {
    let format = format_of(input.content_type, input.bytes);
    let mut document = Document {
        media: format.media,
        content_type: format.content_type,
        language: input.content_language.map(hints::first_language).unwrap_or_default(),
        directives: robots_tags(input.robots_tags),
        ..Document::default()
    };
    if format.reading == Reading::Opaque || input.bytes.len() > TEXT_BYTES_MAX {
        let signature = opaque(input.bytes, input.payload);
        return (Parsed { document, signature, ..Parsed::default() }, Marks::default());
    }
    let tld = input.url.host().rsplit('.').next().unwrap_or_default();
    let (text, charset) = encoding::decode(input.bytes, input.content_type.and_then(charset_of), tld);
    document.charset = charset;
    let mut passed = Passed::default();
    match format.reading {
        Reading::Html => passed = read_markup(&text, Markup::Html, input.url, &mut document),
        Reading::Xml => passed = read_markup(&text, Markup::Xml, input.url, &mut document),
        Reading::GopherMenu => passed.letters = read_gopher_menu(&text, input.url, &mut document),
        Reading::FtpListing => passed.letters = read_ftp_listing(&text, input.url, &mut document),
        Reading::Plain | Reading::Opaque => passed.letters = read_plain(&text, &mut document),
    }
    let signature = seal(&passed.marks, &passed.letters, &document, input.payload);
    (Parsed { document, signature, evidence: passed.evidence, parts: Parts::default() }, passed.marks)
}

/// The source of a body as text, decoded from the character set that reading would use.
pub fn source_text(input: &Input<'_>) -> String {
    letters_of(input).into_owned()
}

pub(crate) fn letters_of<'a>(input: &Input<'a>) -> Cow<'a, str> {
    let tld = input.url.host().rsplit('.').next().unwrap_or_default();
    encoding::decode(input.bytes, input.content_type.and_then(charset_of), tld).0
}

fn robots_tags(values: &[&str]) -> Directives {
    values.iter().fold(Directives::default(), |all, value| all.with(hints::from_header(value)))
}
