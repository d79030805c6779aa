//! Computes the marks of a signature: structure, presentation and behaviour during the scan, content, links and paragraphs at
//! the end.
//!
//! The sequence of element names is that of the tree which the HTML standard would build: `html`, `head` and `body` are
//! always present, rows have their `tbody`, and so on, whether they were written or not.

use vernal_model::{Digest, Document, LinkKind, ParagraphMark, QuietMarks, Signature};
use xxhash_rust::xxh3::xxh3_128;

use super::digest::digest;
use super::implied::Implied;
use super::similarity::{simhash, sketch};
use crate::PARAGRAPHS_MAX;
use crate::noise::builtin;
use crate::parse::name::Name;
use crate::parse::scan::OpenTag;
use crate::parse::tag::Tag;
use crate::parse::text::TextChecksums;

/// The marks that are updated with every tag. Tags, scripts and styles are ordered. Attributes are unordered, because the
/// structure already shows an element that moved.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Marks {
    pub structure: OrderedDigest,
    /// Every attribute of every element.
    pub attributes: UnorderedDigest,
    pub styles: OrderedDigest,
    pub scripts: OrderedDigest,
    /// The attributes that define behaviour.
    pub behaviour: UnorderedDigest,
    pub images: UnorderedDigest,
    /// Meta, link and base of the head.
    pub metadata: UnorderedDigest,
    pub comments: OrderedDigest,
    /// The attributes again, element by element, for comparing the attributes of each element.
    pub attributes_in_order: OrderedDigest,
    pub metadata_in_order: OrderedDigest,
    quiet: NoiselessDigests,
    tags: u32,
    implied: Implied,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct NoiselessDigests {
    structure: OrderedDigest,
    looks: UnorderedDigest,
    styles: OrderedDigest,
    scripts: OrderedDigest,
    images: UnorderedDigest,
    metadata: UnorderedDigest,
}

/// A digest of items without order: the sum of their marks.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct UnorderedDigest(u64);

impl UnorderedDigest {
    fn add(&mut self, mark: u64) {
        self.0 = self.0.wrapping_add(mark);
    }
}

/// A digest of a sequence of numbers: a folded multiplication for each.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct OrderedDigest(u64);

impl Default for OrderedDigest {
    fn default() -> Self {
        OrderedDigest(0x243f_6a88_85a3_08d3)
    }
}

impl OrderedDigest {
    pub fn add(&mut self, item: u64) {
        self.0 = folded_product(self.0 ^ 0xa076_1d64_78bd_642f, item ^ 0xe703_7ed1_a0b4_28db);
    }

    /// Never zero, because zero is the mark of a body without text.
    fn value(self) -> u64 {
        self.0.max(1)
    }

    fn with(mut self, bag: UnorderedDigest) -> u64 {
        self.add(bag.0);
        self.value()
    }
}

/// The kind of change that an attribute belongs to.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Aspect {
    Looks,
    Behaviour,
    /// Kept separately, as a set of targets.
    Link,
    Image,
    Metadata,
}

impl Marks {
    pub fn open(&mut self, tag: &OpenTag<'_, '_>) {
        self.tags = self.tags.saturating_add(1);
        let name = tag.name.mark();
        let is_advertising = !tag.attributes.is_empty() && builtin::is_advertising(tag);
        let Marks { structure, quiet, .. } = self;
        self.implied.open(tag, |name| {
            structure.add(name);
            if !is_advertising {
                quiet.structure.add(name);
            }
        });
        let before = (self.attributes.0, self.metadata.0);
        if !tag.attributes.is_empty() {
            self.add_attributes(tag, name, is_advertising);
        }
        self.attributes_in_order.add(self.attributes.0.wrapping_sub(before.0));
        if self.metadata.0 != before.1 {
            self.metadata_in_order.add(self.metadata.0.wrapping_sub(before.1));
        }
    }

    pub fn close(&mut self, tag: Tag) {
        let Marks { structure, quiet, .. } = self;
        self.implied.close(tag, |name| {
            structure.add(name);
            quiet.structure.add(name);
        });
    }

    /// Text outside of raw elements; only its being there counts.
    pub fn text(&mut self, text: &str) {
        if self.implied.in_head() && text.bytes().any(|byte| !byte.is_ascii_whitespace()) {
            let Marks { structure, quiet, .. } = self;
            self.implied.begin_body(|name| {
                structure.add(name);
                quiet.structure.add(name);
            });
        }
    }

    pub fn raw(&mut self, tag: Tag, text: &str) {
        if text.is_empty() {
            return;
        }
        let (loud, quiet) = match tag {
            Tag::Style => (&mut self.styles, &mut self.quiet.styles),
            Tag::Script => (&mut self.scripts, &mut self.quiet.scripts),
            _ => return,
        };
        let mark = digest(text.as_bytes());
        loud.add(mark);
        let quieted = builtin::code(text);
        quiet.add(if quieted.detector.is_none() { mark } else { digest(quieted.text.as_bytes()) });
    }

    pub fn comment(&mut self, text: &str) {
        self.comments.add(digest(text.as_bytes()));
    }

    fn add_attributes(&mut self, tag: &OpenTag<'_, '_>, element: u64, is_advertising: bool) {
        let holds_token = builtin::holds_token(tag);
        let in_head = self.implied.in_head();
        let is_metadata = in_head && matches!(tag.tag, Tag::Meta | Tag::Link | Tag::Base);
        for attribute in tag.attributes {
            let value = attribute.value();
            let name = element.rotate_left(7) ^ attribute.name.mark();
            let mark = value_mark(name, &value);
            let aspect = aspect_of(tag, attribute.name, in_head);
            self.attributes.add(mark);
            if is_metadata {
                self.metadata.add(mark);
            }
            if aspect == Aspect::Image {
                self.images.add(mark);
            }
            if is_advertising {
                continue;
            }
            let quieted = builtin::attribute(tag.tag, attribute, &value, holds_token);
            let mark = if quieted.detector.is_none() { mark } else { value_mark(name, &quieted.text) };
            match aspect {
                Aspect::Looks => self.quiet.looks.add(mark),
                // A nonce or a build number counts as an attribute. It does not change the behaviour of the page.
                Aspect::Behaviour => self.behaviour.add(mark),
                Aspect::Image => self.quiet.images.add(mark),
                Aspect::Metadata => self.quiet.metadata.add(mark),
                Aspect::Link => {}
            }
        }
    }
}

/// See `rms::page_rms`.
const RMS_TEN: f64 = 10.0;

/// Makes the signature of a document from the marks of its markup.
pub fn seal(marks: &Marks, letters: &TextChecksums, document: &Document, payload: Digest) -> Signature {
    let (content, quiet_content) = content(document, &letters.joints);
    let (links, quiet_links) = links(document);
    let digests = || document.paragraphs.iter().take(PARAGRAPHS_MAX).map(|paragraph| paragraph.digest);
    Signature {
        format: Signature::FORMAT,
        payload,
        content,
        structure: marks.structure.value(),
        presentation: marks.styles.with(marks.attributes),
        behaviour: marks.scripts.with(marks.behaviour),
        links,
        images: marks.images.0,
        metadata: marks.metadata.0,
        quiet: QuietMarks {
            content: quiet_content,
            structure: marks.quiet.structure.value(),
            presentation: marks.quiet.styles.with(marks.quiet.looks),
            behaviour: marks.quiet.scripts.with(marks.behaviour),
            links: quiet_links,
            images: marks.quiet.images.0,
            metadata: marks.quiet.metadata.0,
        },
        simhash: simhash(digests()),
        sketch: sketch(digests()),
        rms: (letters.rms / RMS_TEN) as f32,
        checksum: letters.checksum as f32,
        tags: marks.tags,
        paragraphs: document
            .paragraphs
            .iter()
            .take(PARAGRAPHS_MAX)
            .map(|paragraph| ParagraphMark {
                digest: paragraph.digest,
                id: 0,
                place: paragraph.place,
                role: paragraph.role,
            })
            .collect(),
    }
}

/// Makes the signature of a body of which only the bytes can be compared.
pub fn opaque(bytes: &[u8], payload: Digest) -> Signature {
    let content = xxh3_128(bytes);
    let quiet = QuietMarks { content: content as u64, ..QuietMarks::default() };
    Signature { format: Signature::FORMAT, payload, content, quiet, ..Signature::default() }
}

/// The marks of the words in order, with and without noise. Boundaries between paragraphs are structure, so they count as a
/// space. The high half is the digest of the words as read, the low half that of the words as tags separate them: a space that
/// appears or disappears next to a tag changes only one half, and is no change of the words (see `Signature::has_words_of`).
fn content(document: &Document, joints: &[u32]) -> (u128, u64) {
    let words = with_spaces(&document.text);
    let read = digest(words.as_bytes());
    let parted = if joints.is_empty() { read } else { digest(parted(&words, joints).as_bytes()) };
    let quieted = builtin::words(&words);
    let quiet = if quieted.detector.is_none() { read } else { digest(quieted.text.as_bytes()) };
    (u128::from(read) << 64 | u128::from(parted), quiet)
}

/// The text with a space for each line feed.
fn with_spaces(text: &str) -> String {
    let mut words = String::with_capacity(text.len());
    let mut from = 0;
    for end in memchr::memchr_iter(b'\n', text.as_bytes()) {
        words.push_str(&text[from..end]);
        words.push(' ');
        from = end + 1;
    }
    words.push_str(&text[from..]);
    words
}

fn parted(words: &str, joints: &[u32]) -> String {
    let mut parted = String::with_capacity(words.len() + joints.len());
    let mut from = 0;
    for &joint in joints {
        parted.push_str(&words[from..joint as usize]);
        parted.push(' ');
        from = joint as usize;
    }
    parted.push_str(&words[from..]);
    parted
}

/// The mark of the set of link targets for readers. Style sheets and scripts are presentation and behaviour, images have a mark
/// of their own, and links for machines are metadata.
fn links(document: &Document) -> (u64, u64) {
    let reached = document
        .links
        .iter()
        .filter(|link| matches!(link.kind, LinkKind::Anchor | LinkKind::Frame | LinkKind::Media | LinkKind::Redirect));
    let mut quiet: Vec<u64> = Vec::with_capacity(document.links.len());
    let mut loud: Vec<u64> = Vec::with_capacity(document.links.len());
    let mut is_noisy = false;
    for link in reached {
        let mark = link.target.fingerprint().0;
        loud.push(mark);
        let quieted = builtin::address(link.target.as_str(), link.kind != LinkKind::Anchor);
        is_noisy |= quieted.detector.is_some();
        quiet.push(if quieted.detector.is_none() { mark } else { digest(quieted.text.as_bytes()) });
    }
    let mark = set_mark(loud);
    (mark, if is_noisy { set_mark(quiet) } else { mark })
}

fn set_mark(mut items: Vec<u64>) -> u64 {
    items.sort_unstable();
    items.dedup();
    let mut mark = OrderedDigest::default();
    for item in items {
        mark.add(item);
    }
    mark.value()
}

/// The kind of change that an attribute belongs to.
pub fn aspect_of(tag: &OpenTag<'_, '_>, name: Name<'_>, in_head: bool) -> Aspect {
    let is = |known: &str| name.is(known);
    match tag.tag {
        Tag::Meta | Tag::Base if in_head => Aspect::Metadata,
        Tag::Link if in_head => match tag.value("rel").is_some_and(|rel| is_stylesheet(&rel)) {
            true => Aspect::Looks,
            false => Aspect::Metadata,
        },
        _ if says_behaviour(tag.tag, name) => Aspect::Behaviour,
        Tag::A | Tag::Area if is("href") => Aspect::Link,
        Tag::Iframe | Tag::Frame | Tag::Embed | Tag::Audio if is("src") => Aspect::Link,
        Tag::Img | Tag::Source | Tag::Image | Tag::Video | Tag::Input
            if is("src") || is("srcset") || is("alt") || is("poster") || is("data-src") || is("data-srcset") =>
        {
            Aspect::Image
        }
        _ => Aspect::Looks,
    }
}

fn says_behaviour(tag: Tag, name: Name<'_>) -> bool {
    let is = |known: &str| name.is(known);
    let is_handler = name.letters().len() > 2 && name.letters()[..2].eq_ignore_ascii_case(b"on");
    is_handler
        || match tag {
            Tag::Script => true,
            Tag::Form => is("action") || is("method") || is("enctype") || is("target"),
            Tag::Input | Tag::Button => is("name") || is("type") || is("formaction"),
            Tag::Select | Tag::Textarea => is("name"),
            _ => false,
        }
}

pub fn is_stylesheet(rel: &str) -> bool {
    rel.split_ascii_whitespace().any(|word| word.eq_ignore_ascii_case("stylesheet"))
}

fn value_mark(name: u64, value: &str) -> u64 {
    folded_product(name ^ 0x8ebc_6af0_9c88_c6e3, digest(value.as_bytes()) ^ 0x5899_65cc_7537_4cc3)
}

/// Both halves of the product, combined by exclusive or.
pub fn folded_product(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> 64) as u64
}
