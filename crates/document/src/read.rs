//! The door of the room: one body in, its document and signature out.

use std::borrow::Cow;

use vernal_model::{Digest, Directives, Document, Signature, Url};

use crate::parse::beside::{Beside, whole_tags};
use crate::parse::format::{Reading, charset_of, format_of};
use crate::parse::html::{Passed, read_markup};
use crate::parse::listing::{read_ftp_listing, read_gopher_menu};
use crate::parse::parts::{Parts, parts};
use crate::parse::plain::read_plain;
use crate::parse::scan::Markup;
use crate::parse::words::words_of_markup;
use crate::parse::{encoding, hints, listings};
use crate::signature::{Marks, opaque, seal};

/// Links beyond these are counted and not kept: a page with more is a list for machines, or a trap.
pub const LINKS_MAX: usize = 10_000;

/// Text beyond so many paragraphs is kept as one last paragraph, so that marks and comparisons stay bounded.
pub const PARAGRAPHS_MAX: usize = 5_000;

/// Larger bodies are compared by their bytes only: places in the text are numbers of 32 bits.
const TEXT_BYTES_MAX: usize = 256 << 20;

/// What a worker knows of a body when it has arrived.
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
    /// Empty unless it was read closely.
    pub parts: Parts,
}

/// What the pass saw and only the test for walls wants to know.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Evidence {
    pub forms: u32,
    pub password_fields: u32,
    /// A widget or script of a known captcha or challenge service.
    pub challenge: Option<&'static str>,
}

/// Reads one body. Never panics, and is bounded in time and memory by the length of the body.
pub fn read(input: &Input<'_>) -> Parsed {
    let (mut parsed, _) = read_marked(input);
    parsed.document.listing = listings::listing(input, parsed.document.media);
    parsed
}

/// Reads one body and collects its parts too: for the slow path, where a person wants to know what else differs.
pub fn read_closely(input: &Input<'_>) -> Parsed {
    Parsed { parts: parts(input), ..read(input) }
}

/// Reads a kept body once more for its words, when its signature is known: text and paragraphs as `read` gives them, and
/// `closely` its links of every kind and its parts too. Nothing else of the document is filled in.
pub fn read_words(input: &Input<'_>, closely: bool) -> (Document, Parts) {
    let Some(markup) = markup_of(input) else { return (read(input).document, Parts::default()) };
    words_of_markup(&letters_of(input), markup, input.url, closely)
}

/// Reads a kept body once more for its words, beside the newer version of its page: the same text and paragraphs, but
/// what its marks say is in the newer one too is taken from there.
pub fn read_words_beside(input: &Input<'_>, beside: &Beside<'_>) -> Document {
    let words = markup_of(input).and_then(|markup| beside.words(&letters_of(input), markup));
    words.unwrap_or_else(|| read_words(input, false).0)
}

/// The same, where only the start of the body was unpacked; `None` if that does not hold what has to be read.
pub fn read_words_of_start(input: &Input<'_>, beside: &Beside<'_>) -> Option<Document> {
    let start = Input { bytes: whole_tags(input.bytes), ..input.clone() };
    beside.words(&letters_of(&start), markup_of(&start)?)
}

/// Which markup a body is read as, if it is.
fn markup_of(input: &Input<'_>) -> Option<Markup> {
    match format_of(input.content_type, input.bytes).reading {
        Reading::Html if input.bytes.len() <= TEXT_BYTES_MAX => Some(Markup::Html),
        Reading::Xml if input.bytes.len() <= TEXT_BYTES_MAX => Some(Markup::Xml),
        _ => None,
    }
}

/// The document and the marks from which its signature was made.
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

/// The source of a body as letters, in the character set that reading it settles on.
pub fn source_text(input: &Input<'_>) -> String {
    letters_of(input).into_owned()
}

fn letters_of<'a>(input: &Input<'a>) -> Cow<'a, str> {
    let tld = input.url.host().rsplit('.').next().unwrap_or_default();
    encoding::decode(input.bytes, input.content_type.and_then(charset_of), tld).0
}

fn robots_tags(values: &[&str]) -> Directives {
    values.iter().fold(Directives::default(), |all, value| all.with(hints::from_header(value)))
}
