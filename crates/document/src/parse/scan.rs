//! One pass over the markup: tags, text and raw text in the order of the source, without a tree and without a copy.
//!
//! It follows the tokenizer of the HTML standard and keeps the two facts that the tree builder of the standard tells its
//! tokenizer: which elements hold raw text (`raw`), and where foreign content (svg, math) begins and ends (`foreign`). `noscript` is
//! read as markup, because we run no scripts. A tag that is cut off by the end of input is no tag.

use std::borrow::Cow;

use memchr::{memchr, memchr_iter, memchr2, memmem};

use super::attribute::{Attribute, CharacterClasses};
use super::foreign::ForeignContent;
use super::name::{Name, PACKED_BYTES_MAX};
use super::raw::{raw_end, script_end};
use super::swar::{find_near, leading_letters};
use super::tag::Tag;

/// Further attributes of a tag are ignored, which bounds the search for repeats.
const ATTRIBUTES_MAX: usize = 256;

/// Receives the parts of the markup in the order of the source.
pub trait Sink {
    fn open(&mut self, tag: &OpenTag<'_, '_>);
    fn close(&mut self, tag: Tag);
    /// Text as in the source. `coded` means that it may contain character references to decode.
    fn text(&mut self, text: &str, coded: bool);
    /// The whole content of a script, style, iframe or similar element.
    fn raw(&mut self, tag: Tag, text: &str);
    /// A comment, a document type, or anything else between `<!` or `<?` and `>`.
    fn comment(&mut self, _text: &str) {}
    /// Whether the scan may stop.
    fn is_done(&self) -> bool {
        false
    }
}

#[derive(Debug)]
pub struct OpenTag<'t, 'a> {
    pub tag: Tag,
    pub name: Name<'a>,
    pub attributes: &'t [Attribute<'a>],
    pub self_closing: bool,
    /// Whether it is in svg or math.
    pub foreign: bool,
}

impl<'t, 'a> OpenTag<'t, 'a> {
    /// The value of an attribute, character references decoded.
    #[inline]
    pub fn value(&self, name: &str) -> Option<Cow<'a, str>> {
        self.attributes.iter().find(|attribute| attribute.is(name)).map(Attribute::value)
    }

    #[inline]
    pub fn has(&self, name: &str) -> bool {
        self.attributes.iter().any(|attribute| attribute.is(name))
    }
}

/// The markup language.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Markup {
    Html,
    /// No raw text, and CDATA everywhere.
    Xml,
}

pub fn scan(source: &str, markup: Markup, sink: &mut impl Sink) {
    let mut scan = Scan {
        source,
        bytes: source.as_bytes(),
        place: 0,
        markup,
        foreign: ForeignContent::default(),
        attributes: Vec::with_capacity(16),
    };
    while scan.step(sink) && !sink.is_done() {}
}

struct Scan<'a> {
    source: &'a str,
    bytes: &'a [u8],
    place: usize,
    markup: Markup,
    foreign: ForeignContent,
    attributes: Vec<Attribute<'a>>,
}

impl<'a> Scan<'a> {
    /// Processes text and the tag after it. False at the end of input.
    fn step(&mut self, sink: &mut impl Sink) -> bool {
        let Some(start) = self.text_to_tag(sink) else { return false };
        match self.bytes.get(start + 1) {
            Some(letter) if letter.is_ascii_alphabetic() => self.open_tag(start + 1, sink),
            Some(b'/') => self.end_tag(start, sink),
            Some(b'!') => self.declaration(start, sink),
            Some(b'?') => self.skip_past(b">", start + 2, sink),
            _ => {
                self.text(start, start + 1, false, sink);
                self.place = start + 1;
                true
            }
        }
    }

    /// Processes the text before the next `<` and returns the position of that.
    #[inline]
    fn text_to_tag(&self, sink: &mut impl Sink) -> Option<usize> {
        let rest = &self.bytes[self.place..];
        let first = match rest.first()? {
            b'<' => return Some(self.place),
            _ => memchr2(b'<', b'&', rest),
        };
        let coded = first.is_some_and(|first| rest[first] == b'&');
        let ahead = match first {
            Some(first) if coded => memchr(b'<', &rest[first..]).map(|ahead| first + ahead),
            first => first,
        };
        let end = ahead.map_or(self.bytes.len(), |ahead| self.place + ahead);
        self.text(self.place, end, coded, sink);
        ahead.map(|_| end)
    }

    fn text(&self, start: usize, end: usize, coded: bool, sink: &mut impl Sink) {
        if start < end {
            sink.text(&self.source[start..end], coded);
        }
    }

    fn skip_past(&mut self, mark: &[u8], from: usize, sink: &mut impl Sink) -> bool {
        match memmem::find(self.bytes.get(from..).unwrap_or_default(), mark) {
            Some(ahead) => {
                self.place = from + ahead + mark.len();
                sink.comment(&self.source[from..from + ahead]);
                true
            }
            None => {
                sink.comment(self.source.get(from..).unwrap_or_default());
                false
            }
        }
    }

    fn declaration(&mut self, start: usize, sink: &mut impl Sink) -> bool {
        let inner = start + 2;
        let rest = &self.bytes[inner..];
        if rest.starts_with(b"--") {
            return self.comment(inner + 2, sink);
        }
        if rest.starts_with(b"[CDATA[") && (self.markup == Markup::Xml || self.foreign.is_here()) {
            let text_start = inner + 7;
            let text_end = memmem::find(&self.bytes[text_start..], b"]]>").map(|ahead| text_start + ahead);
            self.text(text_start, text_end.unwrap_or(self.bytes.len()), false, sink);
            self.place = text_end.map_or(self.bytes.len(), |end| end + 3);
            return text_end.is_some();
        }
        self.skip_past(b">", inner, sink)
    }

    /// A comment ends at `-->` or `--!>`, or at once if it begins with `>` or `->`.
    fn comment(&mut self, start: usize, sink: &mut impl Sink) -> bool {
        let rest = &self.bytes[start..];
        for ahead in memchr_iter(b'>', rest) {
            let before = &rest[..ahead];
            if before.is_empty() || before == b"-" || before.ends_with(b"--") || before.ends_with(b"--!") {
                self.place = start + ahead + 1;
                let text = &self.source[start..start + ahead];
                sink.comment(text.strip_suffix("--!").or(text.strip_suffix("--")).unwrap_or_default());
                return true;
            }
        }
        sink.comment(&self.source[start..]);
        false
    }

    fn open_tag(&mut self, name_start: usize, sink: &mut impl Sink) -> bool {
        let Some((name, self_closing)) = self.tag(name_start) else { return false };
        let tag = Tag::of(name);
        let foreign = self.markup == Markup::Xml || self.foreign.enter(tag, &self.attributes, self_closing);
        sink.open(&OpenTag { tag, name, attributes: &self.attributes, self_closing, foreign });
        if !foreign {
            self.raw_text(tag, name, sink);
        }
        true
    }

    fn end_tag(&mut self, start: usize, sink: &mut impl Sink) -> bool {
        match self.bytes.get(start + 2) {
            Some(letter) if letter.is_ascii_alphabetic() => {
                let Some((name, _)) = self.tag(start + 2) else { return false };
                let tag = Tag::of(name);
                self.foreign.leave(tag);
                sink.close(tag);
                true
            }
            Some(_) => self.skip_past(b">", start + 2, sink),
            None => {
                self.text(start, start + 2, false, sink);
                false
            }
        }
    }

    /// Name and attributes up to the closing `>`; `None` if the input ends first.
    fn tag(&mut self, name_start: usize) -> Option<(Name<'a>, bool)> {
        self.attributes.clear();
        let (name, mut place) = self.name(name_start, ENDS_NAME)?;
        let mut slash = false;
        loop {
            let byte = *self.bytes.get(place)?;
            if byte == b'>' {
                self.place = place + 1;
                return Some((name, slash));
            }
            slash = byte == b'/';
            place = if slash || is_space(byte) { place + 1 } else { self.attribute(place)? };
        }
    }

    /// Reads one attribute and returns the position after it.
    fn attribute(&mut self, start: usize) -> Option<usize> {
        let (name, name_end) = self.name(start, ENDS_NAME | ENDS_ATTRIBUTE_NAME)?;
        // The most frequent form.
        if self.bytes[name_end..].starts_with(b"=\"") {
            let (raw, signs, next) = self.quoted(name_end + 2, b'"')?;
            self.keep(name, raw, signs);
            return Some(next);
        }
        let after_name = self.find_from(name_end, |byte| !is_space(byte))?;
        if self.bytes[after_name] != b'=' {
            self.keep(name, "", CharacterClasses::default());
            return Some(after_name);
        }
        let value_start = self.find_from(after_name + 1, |byte| !is_space(byte))?;
        let (raw, signs, next) = match self.bytes[value_start] {
            b'"' => self.quoted(value_start + 1, b'"')?,
            b'\'' => self.quoted(value_start + 1, b'\'')?,
            b'>' => ("", CharacterClasses::default(), value_start),
            _ => {
                let end = self.find_from(value_start, |byte| is_space(byte) || byte == b'>')?;
                let raw = &self.source[value_start..end];
                (raw, CharacterClasses::of(raw), end)
            }
        };
        self.keep(name, raw, signs);
        Some(next)
    }

    /// A value up to its quote, and the position after that.
    #[inline]
    fn quoted(&self, start: usize, quote: u8) -> Option<(&'a str, CharacterClasses, usize)> {
        let ahead = find_near(self.bytes.get(start..)?, quote)?;
        let raw = &self.source[start..start + ahead];
        Some((raw, CharacterClasses::of(raw), start + ahead + 1))
    }

    /// A name of at least one character (of any kind), and the position of its end.
    #[inline]
    fn name(&self, start: usize, ends: u8) -> Option<(Name<'a>, usize)> {
        let first = *self.bytes.get(start)?;
        let (letters, mut packed) = leading_letters(&self.bytes[start..]);
        if letters == 0 {
            packed = u64::from(first.to_ascii_lowercase());
        }
        let mut end = start + letters.max(1);
        loop {
            let byte = *self.bytes.get(end)?;
            if NAME_ENDS[usize::from(byte)] & ends != 0 {
                break;
            }
            packed = packed << 8 | u64::from(byte.to_ascii_lowercase());
            end += 1;
        }
        let fits = end - start <= PACKED_BYTES_MAX && first != 0;
        Some((Name::packed_already(&self.bytes[start..end], if fits { packed } else { 0 }), end))
    }

    /// Of attributes with the same name the first one counts.
    fn keep(&mut self, name: Name<'a>, raw: &'a str, signs: CharacterClasses) {
        if self.attributes.len() < ATTRIBUTES_MAX && !self.attributes.iter().any(|known| known.name.same(&name)) {
            self.attributes.push(Attribute { name, raw, signs });
        }
    }

    fn find_from(&self, start: usize, wanted: impl Fn(u8) -> bool) -> Option<usize> {
        let rest = self.bytes.get(start..)?;
        rest.iter().position(|&byte| wanted(byte)).map(|ahead| start + ahead)
    }

    /// Processes the content of an element that holds raw text.
    fn raw_text(&mut self, tag: Tag, name: Name<'_>, sink: &mut impl Sink) {
        let end = match tag {
            Tag::Script => script_end(self.bytes, self.place),
            Tag::Style | Tag::Xmp | Tag::Iframe | Tag::Noembed | Tag::Noframes | Tag::Textarea | Tag::Title => {
                raw_end(self.bytes, self.place, name.letters())
            }
            Tag::Plaintext => self.bytes.len(),
            _ => return,
        };
        match tag {
            Tag::Textarea | Tag::Title => {
                let coded = memchr(b'&', &self.bytes[self.place..end]).is_some();
                self.text(self.place, end, coded, sink);
            }
            Tag::Xmp | Tag::Plaintext => self.text(self.place, end, false, sink),
            _ => sink.raw(tag, &self.source[self.place..end]),
        }
        self.place = end;
    }
}

/// Whether a byte ends the name of a tag, and whether it ends the name of an attribute.
const ENDS_NAME: u8 = 1;
const ENDS_ATTRIBUTE_NAME: u8 = 2;

const NAME_ENDS: [u8; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let letter = byte as u8;
        if is_space(letter) || letter == b'/' || letter == b'>' {
            table[byte] = ENDS_NAME;
        } else if letter == b'=' {
            table[byte] = ENDS_ATTRIBUTE_NAME;
        }
        byte += 1;
    }
    table
};

pub(super) const fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\n' | b'\t' | b'\r' | b'\x0c')
}
