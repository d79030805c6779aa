//! Noise in attributes: nonces, tokens, random ids and classes, obfuscated mail, advertising slots.

use std::borrow::Cow;

use super::address::address;
use super::code::code;
use super::token::{drawn, is_numbered_name, is_random_name, is_uuid};
use super::{Cutter, Quieted};
use crate::parse::scan::OpenTag;
use crate::parse::tag::Tag;

/// Names of form fields and meta elements that carry something drawn for this one answer.
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

/// Attributes whose value is drawn for each answer or each build.
const TOKEN_ATTRIBUTES: [&str; 8] =
    ["nonce", "integrity", "data-cfemail", "data-nonce", "data-token", "data-csrf", "data-turbo-nonce", "data-n-head"];

/// Attributes that name an element or point to one.
const NAMES: [&str; 12] = [
    "id",
    "for",
    "name",
    "aria-controls",
    "aria-labelledby",
    "aria-describedby",
    "aria-owns",
    "data-id",
    "data-target",
    "list",
    "form",
    "headers",
];

/// One attribute's value without its noise. `holds_token` says that the element is a field made for tokens (see
/// [`holds_token`]).
pub fn attribute<'a>(tag: Tag, name: &str, value: &'a str, holds_token: bool) -> Quieted<'a> {
    let is = |known: &str| name.eq_ignore_ascii_case(known);
    let may_name_token = matches!(name.as_bytes().first(), Some(b'n' | b'N' | b'i' | b'I' | b'd' | b'D'));
    if may_name_token && TOKEN_ATTRIBUTES.iter().any(|known| is(known)) {
        return Quieted::nothing(if is("data-cfemail") { "obfuscated mail" } else { "nonce" });
    }
    if holds_token && (is("value") || is("content")) {
        return Quieted::nothing("token field");
    }
    if is("class") {
        return class(value);
    }
    if !value.bytes().any(|byte| byte.is_ascii_digit() || matches!(byte, b'?' | b'_')) {
        return Quieted::plain(value);
    }
    if is("href") && value.contains("/cdn-cgi/l/email-protection") {
        return Quieted::nothing("obfuscated mail");
    }
    if is("href") && matches!(tag, Tag::A | Tag::Area) || is("action") || is("formaction") {
        return address(value, false);
    }
    if is("src") || is("href") || is("srcset") || is("data-src") || is("data-srcset") || is("poster") || is("data-href")
    {
        return addresses(value);
    }
    if NAMES.iter().any(|known| is(known)) {
        return named(value);
    }
    if is("content") || is("alt") || is("title") || is("placeholder") || is("aria-label") || is("value") {
        return spoken(value);
    }
    code(value)
}

/// Whether an element is a field or a note that carries a token.
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

/// An advertising slot, which is filled anew for each reader.
pub fn is_advertising(tag: &OpenTag<'_, '_>) -> bool {
    const MARKS: [&str; 6] = ["adsbygoogle", "google_ads_", "div-gpt-ad", "dfp-ad", "taboola", "outbrain"];
    if !matches!(tag.tag, Tag::Div | Tag::Iframe | Tag::Other | Tag::Script) {
        return false;
    }
    let is_slot = |word: &str| MARKS.iter().any(|mark| word.starts_with(mark));
    tag.attributes.iter().any(|attribute| match attribute.name.len() {
        2 if attribute.is("id") => is_slot(attribute.raw),
        5 if attribute.is("class") => attribute.raw.split_ascii_whitespace().any(is_slot),
        3 if tag.tag != Tag::Div && attribute.is("src") => attribute.raw.contains("googlesyndication.com"),
        _ => false,
    })
}

/// The classes without those that a build made; their order says nothing to anyone, but is kept.
fn class(value: &str) -> Quieted<'_> {
    let suspicious = value.bytes().any(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase() || byte == b'_');
    if !suspicious || !value.split_ascii_whitespace().any(is_random_name) {
        return Quieted::plain(value);
    }
    let kept: Vec<&str> = value.split_ascii_whitespace().filter(|word| !is_random_name(word)).collect();
    Quieted { text: Cow::Owned(kept.join(" ")), detector: Some("random class") }
}

/// A name or a list of names; a random one is taken out.
fn named(value: &str) -> Quieted<'_> {
    let is_random = |word: &str| is_random_name(word) || is_numbered_name(word) || drawn(word.as_bytes()).is_some();
    if !value.split_ascii_whitespace().any(is_random) {
        return Quieted::plain(value);
    }
    let kept: Vec<&str> = value.split_ascii_whitespace().filter(|word| !is_random(word)).collect();
    Quieted { text: Cow::Owned(kept.join(" ")), detector: Some("random id") }
}

/// The addresses of a `srcset`.
fn addresses(value: &str) -> Quieted<'_> {
    let mut detector = None;
    let mut kept = String::with_capacity(value.len());
    for piece in value.split_inclusive([' ', ',']) {
        let quiet = address(piece, true);
        detector = detector.or(quiet.detector);
        kept.push_str(&quiet.text);
    }
    match detector {
        None => Quieted::plain(value),
        Some(_) => Quieted { text: Cow::Owned(kept), detector },
    }
}

/// Words for people or machines: only what is a token as a whole word goes.
fn spoken(value: &str) -> Quieted<'_> {
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
        attribute(tag, name, before, false).text == attribute(tag, name, after, false).text
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
        assert_eq!(attribute(Tag::Input, "value", "x1", true).detector, Some("token field"));
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
