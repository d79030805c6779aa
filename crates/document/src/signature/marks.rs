//! Structure, presentation and behaviour as running digests; content, links and paragraphs at the end.

use vernal_model::{Digest, Document, LinkKind, ParagraphMark, Signature};
use xxhash_rust::xxh3::{xxh3_64, xxh3_128};

use crate::PARAGRAPHS_MAX;
use crate::parse::scan::{Attribute, OpenTag};
use crate::parse::tag::Tag;

/// No byte of UTF-8, so items cannot run into each other.
const END: u8 = 0xff;

/// The streams that grow with every tag. They are kept as bytes and digested once: many small steps cost more.
#[derive(Default)]
pub struct Marks {
    structure: Vec<u8>,
    presentation: Vec<u8>,
    behaviour: Vec<u8>,
}

impl Marks {
    pub fn open(&mut self, tag: &OpenTag<'_, '_>) {
        add_lower(&mut self.structure, tag.name);
        for attribute in tag.attributes {
            self.attribute(tag.tag, attribute);
        }
        if tag.tag == Tag::Link && tag.value("rel").is_some_and(|rel| is_stylesheet(&rel)) {
            add(&mut self.presentation, &tag.value("href").unwrap_or_default());
        }
    }

    pub fn raw(&mut self, tag: Tag, text: &str) {
        match tag {
            Tag::Style => add_digest(&mut self.presentation, text.trim()),
            Tag::Script => add_digest(&mut self.behaviour, text.trim()),
            _ => {}
        }
    }

    fn attribute(&mut self, tag: Tag, attribute: &Attribute<'_>) {
        if says_looks(attribute.name) {
            add_lower(&mut self.presentation, attribute.name);
            add(&mut self.presentation, attribute.raw);
        } else if says_behaviour(tag, attribute.name) {
            add_lower(&mut self.behaviour, attribute.name);
            add(&mut self.behaviour, &attribute.value());
        }
    }
}

/// The signature of a document whose markup was scanned into these marks.
pub fn seal(marks: &Marks, document: &Document, payload: Digest) -> Signature {
    Signature {
        format: Signature::FORMAT,
        payload,
        content: content(document),
        structure: xxh3_64(&marks.structure),
        presentation: xxh3_64(&marks.presentation),
        behaviour: xxh3_64(&marks.behaviour),
        links: links(document),
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
        ..Signature::default()
    }
}

/// The signature of a body of which only the bytes can be compared.
pub fn opaque(bytes: &[u8], payload: Digest) -> Signature {
    Signature { format: Signature::FORMAT, payload, content: xxh3_128(bytes), ..Signature::default() }
}

/// The words in order. Where one paragraph ends and the next begins is structure, so a space stands for it.
fn content(document: &Document) -> u128 {
    let mut words = document.text.as_bytes().to_vec();
    for byte in &mut words {
        *byte = if *byte == b'\n' { b' ' } else { *byte };
    }
    xxh3_128(&words)
}

/// The set of targets that a reader can reach or see. Style sheets and scripts are marked as presentation and
/// behaviour; what only machines read (canonical, alternates, feeds) is no change of content.
fn links(document: &Document) -> u64 {
    let seen = document.links.iter().filter(|link| {
        matches!(link.kind, LinkKind::Anchor | LinkKind::Image | LinkKind::Frame | LinkKind::Media | LinkKind::Redirect)
    });
    let mut targets: Vec<u64> = seen.map(|link| link.target.fingerprint().0).collect();
    targets.sort_unstable();
    targets.dedup();
    let bytes: Vec<u8> = targets.iter().flat_map(|target| target.to_le_bytes()).collect();
    xxh3_64(&bytes)
}

/// Classes and styles, and the older attributes that say how a thing looks.
fn says_looks(name: &str) -> bool {
    let is = |known: &str| name.eq_ignore_ascii_case(known);
    match name.len() {
        4 => is("face") || is("size"),
        5 => is("class") || is("style") || is("align") || is("color") || is("media") || is("width"),
        6 => is("border") || is("height") || is("hidden") || is("valign"),
        7 => is("bgcolor"),
        10 => is("background"),
        _ => false,
    }
}

fn says_behaviour(tag: Tag, name: &str) -> bool {
    let is = |known: &str| name.eq_ignore_ascii_case(known);
    let is_handler = name.len() > 2 && name.as_bytes()[..2].eq_ignore_ascii_case(b"on");
    is_handler
        || match tag {
            Tag::Script => is("src"),
            Tag::Form => is("action") || is("method"),
            Tag::Input | Tag::Button => is("name") || is("type") || is("formaction"),
            Tag::Select | Tag::Textarea => is("name"),
            _ => false,
        }
}

fn is_stylesheet(rel: &str) -> bool {
    rel.split_ascii_whitespace().any(|word| word.eq_ignore_ascii_case("stylesheet"))
}

fn add(stream: &mut Vec<u8>, item: &str) {
    stream.extend_from_slice(item.as_bytes());
    stream.push(END);
}

/// Adds a long text by its digest.
fn add_digest(stream: &mut Vec<u8>, text: &str) {
    stream.extend_from_slice(&xxh3_64(text.as_bytes()).to_le_bytes());
    stream.push(END);
}

/// Adds a name, whose case means nothing.
fn add_lower(stream: &mut Vec<u8>, name: &str) {
    if name.bytes().any(|byte| byte.is_ascii_uppercase()) {
        add(stream, &name.to_ascii_lowercase());
    } else {
        add(stream, name);
    }
}
