//! Noise in attributes: nonces, tokens, random ids and classes, obfuscated mail, advertising slots.

use std::borrow::Cow;

use memchr::{memchr_iter, memchr2};

use super::address::address;
use super::code::code;
use super::token::{drawn, is_numbered_name, is_random_name, is_uuid};
use super::{Cleaned, Cutter};
use crate::parse::attribute::Attribute;
use crate::parse::name::Name;
use crate::parse::perfect_hash::PerfectHash;
use crate::parse::scan::OpenTag;
use crate::parse::tag::{Tag, pack};

/// Names of form fields and meta elements with values that are generated for each answer.
const TOKEN_FIELDS: [&str; 22] = [
    "csrf",
    "xsrf",
    "token",
    "nonce",
    "viewstate",
    "eventvalidation",
    "form_build_id",
    "sesskey",
    "session",
    "captcha",
    "honeypot",
    "request-id",
    "requestid",
    "request_id",
    "trace",
    "correlation",
    "sentry",
    "timestamp",
    "_wpnonce",
    "ak_js",
    "build-id",
    "generated-at",
];

/// The use of an attribute, as far as noise is concerned.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Use {
    /// Its value is generated for each answer or build.
    Token,
    ObfuscatedMail,
    Class,
    /// The address of a page that a reader may visit.
    Address,
    Reference,
    /// One or more addresses of resources of the page.
    Addresses,
    /// An id of an element, or a reference to one.
    Name,
    /// Words for people or machines, such as the value of a field and the content of a meta element.
    Carried,
    Spoken,
    Other,
}

/// The attribute names that fit into one number, and below those that are too long.
static USES: PerfectHash<Use, 128> = {
    const fn known(name: &str, used: Use) -> (u64, Use) {
        (pack(name.as_bytes()), used)
    }
    PerfectHash::of(
        &[
            known("id", Use::Name),
            known("src", Use::Addresses),
            known("alt", Use::Spoken),
            known("for", Use::Name),
            known("href", Use::Reference),
            known("name", Use::Name),
            known("list", Use::Name),
            known("form", Use::Name),
            known("class", Use::Class),
            known("title", Use::Spoken),
            known("value", Use::Carried),
            known("nonce", Use::Token),
            known("srcset", Use::Addresses),
            known("poster", Use::Addresses),
            known("action", Use::Address),
            known("content", Use::Carried),
            known("data-id", Use::Name),
            known("headers", Use::Name),
            known("data-src", Use::Addresses),
        ],
        Use::Other,
    )
};

const LONG_USES: [(&str, Use); 17] = [
    ("integrity", Use::Token),
    ("data-csrf", Use::Token),
    ("data-href", Use::Addresses),
    ("aria-owns", Use::Name),
    ("data-nonce", Use::Token),
    ("data-token", Use::Token),
    ("formaction", Use::Address),
    ("aria-label", Use::Spoken),
    ("data-n-head", Use::Token),
    ("data-srcset", Use::Addresses),
    ("data-target", Use::Name),
    ("placeholder", Use::Spoken),
    ("data-cfemail", Use::ObfuscatedMail),
    ("aria-controls", Use::Name),
    ("aria-labelledby", Use::Name),
    ("data-turbo-nonce", Use::Token),
    ("aria-describedby", Use::Name),
];

fn use_of(name: Name<'_>) -> Use {
    match name.packed() {
        0 => long_use(name),
        packed => USES.find(packed),
    }
}

fn long_use(name: Name<'_>) -> Use {
    LONG_USES.iter().find(|(known, _)| name.is(known)).map_or(Use::Other, |&(_, used)| used)
}

/// The value of one attribute without its noise. `holds_token` means that the element is a field for tokens (see
/// [`holds_token`]).
pub fn attribute<'a>(tag: Tag, attribute: &Attribute<'_>, value: &'a str, holds_token: bool) -> Cleaned<'a> {
    let used = use_of(attribute.name);
    let signs = attribute.signs(value);
    match used {
        Use::Token => return Cleaned::nothing("nonce"),
        Use::ObfuscatedMail => return Cleaned::nothing("obfuscated mail"),
        Use::Carried if holds_token => return Cleaned::nothing("token field"),
        Use::Class if !signs.may_name_at_random() => return Cleaned::plain(value),
        Use::Class => return class(value),
        _ if !signs.may_be_drawn() => return Cleaned::plain(value),
        _ => {}
    }
    match used {
        Use::Reference if is_obfuscated_mail(value) => Cleaned::nothing("obfuscated mail"),
        Use::Reference if matches!(tag, Tag::A | Tag::Area) => address(value, false),
        Use::Address => address(value, false),
        Use::Reference | Use::Addresses => addresses(value),
        Use::Name => named(value),
        Use::Spoken | Use::Carried => spoken(value),
        _ => code(value),
    }
}

/// A hand-written search, because preparing a general one costs more: almost no address has the hyphen after `cdn`.
fn is_obfuscated_mail(value: &str) -> bool {
    let bytes = value.as_bytes();
    memchr_iter(b'-', bytes)
        .any(|hyphen| bytes[hyphen..].starts_with(b"-cgi/l/email-protection") && bytes[..hyphen].ends_with(b"/cdn"))
}

/// Whether an element is a field or meta element that carries a token.
pub fn holds_token(tag: &OpenTag<'_, '_>) -> bool {
    if !matches!(tag.tag, Tag::Input | Tag::Meta | Tag::Textarea) {
        return false;
    }
    let is_token = |name: Cow<'_, str>| {
        let name = name.to_ascii_lowercase();
        TOKEN_FIELDS.iter().any(|known| name.contains(known))
    };
    tag.value("name").is_some_and(is_token) || tag.value("id").is_some_and(is_token)
}

/// Whether an element is an advertising slot, which is filled for each reader.
pub fn is_advertising(tag: &OpenTag<'_, '_>) -> bool {
    const MARKS: [&str; 6] = ["adsbygoogle", "google_ads_", "div-gpt-ad", "dfp-ad", "taboola", "outbrain"];
    if !matches!(tag.tag, Tag::Div | Tag::Iframe | Tag::Other | Tag::Script) {
        return false;
    }
    let is_slot = |word: &str| {
        let may_be = matches!(word.as_bytes().get(..2), Some(b"ad" | b"go" | b"di" | b"df" | b"ta" | b"ou"));
        may_be && MARKS.iter().any(|mark| word.starts_with(mark))
    };
    tag.attributes.iter().any(|attribute| match attribute.name.letters().len() {
        2 if attribute.is("id") => is_slot(attribute.raw),
        5 if attribute.is("class") => attribute.raw.split_ascii_whitespace().any(is_slot),
        3 if tag.tag != Tag::Div && attribute.is("src") => attribute.raw.contains("googlesyndication.com"),
        _ => false,
    })
}

/// The classes without generated ones. Their order means nothing, but is kept.
fn class(value: &str) -> Cleaned<'_> {
    if !value.split_ascii_whitespace().any(is_random_name) {
        return Cleaned::plain(value);
    }
    let kept: Vec<&str> = value.split_ascii_whitespace().filter(|word| !is_random_name(word)).collect();
    Cleaned { text: Cow::Owned(kept.join(" ")), detector: Some("random class") }
}

/// A name or a list of names, without random ones.
fn named(value: &str) -> Cleaned<'_> {
    let is_random = |word: &str| is_random_name(word) || is_numbered_name(word) || drawn(word.as_bytes()).is_some();
    if !value.split_ascii_whitespace().any(is_random) {
        return Cleaned::plain(value);
    }
    let kept: Vec<&str> = value.split_ascii_whitespace().filter(|word| !is_random(word)).collect();
    Cleaned { text: Cow::Owned(kept.join(" ")), detector: Some("random id") }
}

/// The addresses of a `srcset`.
fn addresses(value: &str) -> Cleaned<'_> {
    if memchr2(b' ', b',', value.as_bytes()).is_none() {
        return address(value, true);
    }
    let mut detector = None;
    let mut kept = String::new();
    let mut place = 0;
    for piece in value.split_inclusive([' ', ',']) {
        let quiet = address(piece, true);
        if detector.is_none() && quiet.detector.is_some() {
            detector = quiet.detector;
            kept.push_str(&value[..place]);
        }
        if detector.is_some() {
            kept.push_str(&quiet.text);
        }
        place += piece.len();
    }
    match detector {
        None => Cleaned::plain(value),
        Some(_) => Cleaned { text: Cow::Owned(kept), detector },
    }
}

/// Words for people or machines, without words that are tokens.
fn spoken(value: &str) -> Cleaned<'_> {
    let mut cutter = Cutter::new(value);
    let mut place = 0;
    for word in value.split([' ', ',', ';', '"', '\'', '=', '/', '?', '&']) {
        let bytes = word.as_bytes();
        let is_token =
            is_uuid(bytes) || (bytes.len() >= 16 && drawn(bytes).is_some_and(|name| name != "number of a clock"));
        if is_token {
            cutter.cut(place, place + word.len(), "token");
        }
        place += word.len() + 1;
    }
    cutter.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn same(tag: Tag, name: &str, before: &str, after: &str) -> bool {
        let quiet = |value| attribute(tag, &Attribute::of(name, value), value, false).text;
        quiet(before) == quiet(after)
    }

    #[test]
    fn drawn_values_are_quiet() {
        for (tag, name, before, after) in [
            (Tag::Script, "nonce", "abc", "def"),
            (Tag::Script, "integrity", "sha384-aa", "sha384-bb"),
            (Tag::Script, "src", "/app.3f2a9c1b.js", "/app.0b1c2d3e.js"),
            (Tag::Div, "class", "card css-1x2y3z", "card css-9q8w7e"),
            (Tag::Div, "id", "ember1432", "ember1500"),
            (Tag::A, "data-cfemail", "543931", "a1b2c3"),
            (Tag::A, "href", "/cdn-cgi/l/email-protection#5439", "/cdn-cgi/l/email-protection#a1b2"),
            (Tag::Div, "data-rendered-at", "1700000000123", "1700000999123"),
            (Tag::Img, "srcset", "/a.png?v=1 1x, /b.png?v=1 2x", "/a.png?v=2 1x, /b.png?v=2 2x"),
            (Tag::Input, "id", "edit-3f2a9c1b7d", "edit-99aa88bb77"),
        ] {
            assert!(same(tag, name, before, after), "{name}: {before} {after}");
        }
        assert_eq!(attribute(Tag::Input, &Attribute::of("value", "x1"), "x1", true).detector, Some("token field"));
    }

    #[test]
    fn what_a_person_wrote_is_loud() {
        for (tag, name, before, after) in [
            (Tag::A, "href", "/terms-1.html", "/terms-2.html"),
            (Tag::Img, "alt", "3 dogs", "4 dogs"),
            (Tag::Img, "src", "/dog-1.png", "/dog-2.png"),
            (Tag::Div, "class", "col-md-6", "col-md-4"),
            (Tag::Meta, "content", "From 9.99", "From 12.99"),
            (Tag::Other, "datetime", "2024-05-01", "2024-06-01"),
            (Tag::Input, "value", "10", "20"),
            (Tag::Div, "style", "width: 120px", "width: 240px"),
        ] {
            assert!(!same(tag, name, before, after), "{name}: {before} {after}");
        }
    }
}
