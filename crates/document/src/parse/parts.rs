//! Collects everything on a page that is not text, in order: links, images, scripts, handlers, forms, endpoints, style sheets,
//! meta. Only the slow path needs it, to show what differs; the fast path compares digests.

use std::borrow::Cow;

use vernal_model::Kind;

use super::encoding;
use super::format::{Reading, charset_of, format_of};
use super::links::limited;
use super::name::Name;
use super::scan::{Markup, OpenTag, Sink, scan};
use super::tag::Tag;
use crate::Input;
use crate::noise::builtin::{self, Cleaned};
use crate::signature::{Aspect, aspect_of, is_stylesheet};

/// Further parts are dropped.
const PARTS_MAX: usize = 50_000;

/// A longer value is cut and compared by a digest of the whole.
const VALUE_BYTES_MAX: usize = 4 << 10;

/// The parts of one page.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Parts {
    pub items: Vec<Part>,
}

/// One part of a page that is not text.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Part {
    pub kind: Kind,
    /// What it is: "link", "image", "script source", "form target" and so on.
    pub what: Cow<'static, str>,
    pub value: Box<str>,
    /// The value without noise.
    pub quiet: Box<str>,
    /// The built-in detector that found noise in it.
    pub detector: Option<&'static str>,
}

/// The parts of a page. A body that is not markup has none.
pub fn parts(input: &Input<'_>) -> Parts {
    let format = format_of(input.content_type, input.bytes);
    let markup = match format.reading {
        Reading::Html => Markup::Html,
        Reading::Xml => Markup::Xml,
        _ => return Parts::default(),
    };
    let tld = input.url.host().rsplit('.').next().unwrap_or_default();
    let (source, _) = encoding::decode(input.bytes, input.content_type.and_then(charset_of), tld);
    let mut collector = Collector::default();
    scan(&source, markup, &mut collector);
    collector.parts
}

#[derive(Default)]
pub(super) struct Collector {
    pub parts: Parts,
    /// The kind of the next raw text, if it has one.
    script: Cow<'static, str>,
}

impl Sink for Collector {
    fn open(&mut self, tag: &OpenTag<'_, '_>) {
        let holds_token = builtin::holds_token(tag);
        let is_advertising = builtin::is_advertising(tag);
        for attribute in tag.attributes {
            let value = attribute.value();
            let quieted = match is_advertising {
                true => Cleaned { text: Cow::Borrowed(""), detector: Some("advertising") },
                false => builtin::attribute(tag.tag, attribute, &value, holds_token),
            };
            let (kind, what) = told(tag, attribute.name);
            self.keep(kind, what, &value, &quieted);
        }
        if tag.tag == Tag::Script {
            let kind = tag.value("type").unwrap_or_default().trim().to_ascii_lowercase();
            let is_data = kind.contains("json") || kind.contains("template");
            self.script = if is_data { Cow::Borrowed("data") } else { Cow::Borrowed("script") };
        }
    }

    fn close(&mut self, _tag: Tag) {}

    fn text(&mut self, _text: &str, _coded: bool) {}

    fn raw(&mut self, tag: Tag, text: &str) {
        let text = text.trim();
        if text.is_empty() {
            return;
        }
        match tag {
            Tag::Style => self.keep(Kind::Presentation, "style".into(), text, &builtin::code(text)),
            Tag::Script => {
                let what = std::mem::take(&mut self.script);
                self.keep(Kind::Behaviour, what, text, &builtin::code(text));
                for endpoint in endpoints(text) {
                    self.keep(Kind::Behaviour, "endpoint".into(), endpoint, &builtin::address(endpoint, true));
                }
            }
            _ => {}
        }
    }
}

impl Collector {
    fn keep(&mut self, kind: Kind, what: Cow<'static, str>, value: &str, quieted: &Cleaned<'_>) {
        if self.parts.items.len() >= PARTS_MAX {
            return;
        }
        let quiet = shown(&quieted.text);
        self.parts.items.push(Part { kind, what, value: shown(value), quiet, detector: quieted.detector });
    }
}

/// Shortens a long value to its beginning and a digest of the whole, so that values which differ later stay different.
fn shown(value: &str) -> Box<str> {
    if value.len() <= VALUE_BYTES_MAX {
        return value.into();
    }
    let mark = xxhash_rust::xxh3::xxh3_64(value.as_bytes());
    format!("{}… ({} bytes, mark {mark:016x})", limited(value, VALUE_BYTES_MAX), value.len()).into()
}

/// The name of the part that an attribute is.
fn told(tag: &OpenTag<'_, '_>, name: Name<'_>) -> (Kind, Cow<'static, str>) {
    let aspect = aspect_of(tag, name, true);
    let name = name.text().to_ascii_lowercase();
    let name = name.as_str();
    // The end of the head does not matter here: meta and link mean the same anywhere.
    match (aspect, tag.tag, name) {
        (Aspect::Link, Tag::A | Tag::Area, _) => (Kind::Presentation, "link".into()),
        (Aspect::Link, ..) => (Kind::Presentation, "frame".into()),
        (Aspect::Image, _, "alt") => (Kind::Presentation, "image text".into()),
        (Aspect::Image, ..) => (Kind::Presentation, "image".into()),
        (Aspect::Behaviour, Tag::Script, "src") => (Kind::Behaviour, "script source".into()),
        (Aspect::Behaviour, Tag::Form, "action") => (Kind::Behaviour, "form target".into()),
        (Aspect::Behaviour, Tag::Form, _) => (Kind::Behaviour, format!("form {name}").into()),
        (Aspect::Behaviour, Tag::Input | Tag::Button | Tag::Select | Tag::Textarea, "name" | "type") => {
            (Kind::Behaviour, format!("field {name}").into())
        }
        (Aspect::Behaviour, Tag::Script, _) => (Kind::Behaviour, format!("script {name}").into()),
        (Aspect::Behaviour, ..) => (Kind::Behaviour, format!("handler {name}").into()),
        (Aspect::Metadata, Tag::Meta, _) => {
            let named = tag.value("name").or_else(|| tag.value("property")).or_else(|| tag.value("http-equiv"));
            (
                Kind::Presentation,
                format!("meta {}", limited(&named.unwrap_or_default(), 64)).trim_end().to_owned().into(),
            )
        }
        (Aspect::Metadata, Tag::Link, _) => {
            let rel = tag.value("rel").unwrap_or_default().to_ascii_lowercase();
            (Kind::Presentation, format!("link {}", limited(&rel, 64)).trim_end().to_owned().into())
        }
        (_, Tag::Link, "href") if tag.value("rel").is_some_and(|rel| is_stylesheet(&rel)) => {
            (Kind::Presentation, "style sheet".into())
        }
        _ => (Kind::Presentation, format!("attribute {}", limited(name, 64)).into()),
    }
}

/// Addresses and paths in the string literals of a script.
fn endpoints(script: &str) -> Vec<&str> {
    const LITERAL_BYTES_MAX: usize = 300;
    const ENDPOINTS_MAX: usize = 500;
    let bytes = script.as_bytes();
    let mut found = Vec::new();
    let mut place = 0;
    while let Some(ahead) = memchr::memchr3(b'"', b'\'', b'`', &bytes[place..]) {
        let start = place + ahead + 1;
        let quote = bytes[start - 1];
        let window = &bytes[start..bytes.len().min(start + LITERAL_BYTES_MAX)];
        let Some(length) = window.iter().position(|&byte| byte == quote || byte == b'\n') else {
            place = start;
            continue;
        };
        // Text up to the end of a line is no literal.
        if window[length] == quote && is_endpoint(&script[start..start + length]) && found.len() < ENDPOINTS_MAX {
            found.push(&script[start..start + length]);
        }
        place = start + length + usize::from(window[length] == quote);
    }
    found
}

fn is_endpoint(literal: &str) -> bool {
    let begins = literal.starts_with("http://")
        || literal.starts_with("https://")
        || literal.starts_with("//")
        || literal.starts_with("wss://")
        || (literal.starts_with('/') && literal.len() > 2 && literal.as_bytes()[1].is_ascii_alphabetic());
    begins && literal.len() > 3 && !literal.contains([' ', '<', '>', '{', '}'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endpoints_are_addresses_in_string_literals() {
        let script = r#"fetch("/api/v1/items").then(x => '//cdn.example.org/a' + "not one" + `https://x.org/y`); a = "/"; "</b>""#;
        assert_eq!(endpoints(script), ["/api/v1/items", "//cdn.example.org/a", "https://x.org/y"]);
    }
}
