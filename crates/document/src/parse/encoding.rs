//! Finds the character set of a body and decodes its text to UTF-8. The sources are byte order mark, header, declaration in the
//! markup, and finally a guess by the bytes. Text that is UTF-8 already is borrowed.

use std::borrow::Cow;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};
use memchr::{memchr, memmem};

/// Where markup may declare its character set. The standard says 1,024; pages in the wild come later.
const DECLARED_BYTES_MAX: usize = 4_096;

/// The guess uses so many bytes.
const GUESSED_BYTES_MAX: usize = 64 << 10;

/// The guess gets only so many bytes at both ends of an ASCII run: bytes further from any other byte carry no information, and
/// each byte is tested against some thirty character sets.
const ASCII_TOLD_BYTES: usize = 32;

/// `tld` is the last label of the host, which helps the guess with the language.
pub fn decode<'a>(bytes: &'a [u8], charset: Option<&str>, tld: &str) -> (Cow<'a, str>, &'static str) {
    if let Some((encoding, length)) = Encoding::for_bom(bytes) {
        return decoded(&bytes[length..], encoding);
    }
    let said = charset.and_then(|label| Encoding::for_label(label.as_bytes())).or_else(|| declared(bytes));
    if let Some(encoding) = said {
        return decoded(bytes, encoding);
    }
    match std::str::from_utf8(bytes) {
        Ok(text) => (Cow::Borrowed(text), UTF_8.name()),
        Err(_) => decoded(bytes, guessed(bytes, tld)),
    }
}

fn decoded<'a>(bytes: &'a [u8], encoding: &'static Encoding) -> (Cow<'a, str>, &'static str) {
    let (text, _) = encoding.decode_without_bom_handling(bytes);
    (text, encoding.name())
}

/// `<meta charset>`, `<meta http-equiv content="…charset=…">`, or the encoding of an XML declaration.
fn declared(bytes: &[u8]) -> Option<&'static Encoding> {
    let start = &bytes[..bytes.len().min(DECLARED_BYTES_MAX)];
    let encoding = declared_by_xml(start).or_else(|| declared_by_meta(start))?;
    // The text was readable as ASCII up to here, so it is not UTF-16, whatever it declares.
    if encoding == UTF_16BE || encoding == UTF_16LE {
        return Some(UTF_8);
    }
    // x-user-defined means windows-1252 in a meta element, says the standard.
    Some(if encoding.name() == "x-user-defined" { WINDOWS_1252 } else { encoding })
}

fn declared_by_xml(start: &[u8]) -> Option<&'static Encoding> {
    if !start.starts_with(b"<?xml") {
        return None;
    }
    let declaration = &start[..memmem::find(start, b"?>")?];
    label_after(declaration, b"encoding")
}

fn declared_by_meta(start: &[u8]) -> Option<&'static Encoding> {
    let mut place = 0;
    while let Some(ahead) = memchr(b'<', &start[place..]) {
        let rest = &start[place + ahead..];
        if rest.starts_with(b"<!--") {
            place += ahead + 4 + memmem::find(&rest[4..], b"-->")?;
            continue;
        }
        if rest.get(1..5).is_some_and(|name| name.eq_ignore_ascii_case(b"meta")) {
            let tag = &rest[..memchr(b'>', rest).unwrap_or(rest.len())];
            if let Some(encoding) = label_after(tag, b"charset") {
                return Some(encoding);
            }
        }
        place += ahead + 1;
    }
    None
}

/// The label in `name = "label"`.
fn label_after(text: &[u8], name: &[u8]) -> Option<&'static Encoding> {
    let lower = text.to_ascii_lowercase();
    memmem::find_iter(&lower, name).find_map(|place| {
        let value = lower[place + name.len()..].trim_ascii_start().strip_prefix(b"=")?.trim_ascii_start();
        let value = value.strip_prefix(b"\"").or_else(|| value.strip_prefix(b"'")).unwrap_or(value).trim_ascii_start();
        let end = value.iter().position(|byte| b"\"'; \t\r\n/>".contains(byte)).unwrap_or(value.len());
        Encoding::for_label(&value[..end])
    })
}

fn guessed(bytes: &[u8], tld: &str) -> &'static Encoding {
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    let fed = &bytes[..bytes.len().min(GUESSED_BYTES_MAX)];
    for piece in beside_others(fed) {
        detector.feed(piece, false);
    }
    detector.feed(b"", true);
    // The guess accepts only labels of lower-case letters, so not the end of an address.
    let tld = Some(tld.as_bytes()).filter(|tld| {
        !tld.is_empty() && tld.iter().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || *byte == b'-')
    });
    detector.guess(tld, Utf8Detection::Allow)
}

/// The bytes without the inner parts of long stretches of ASCII.
fn beside_others(bytes: &[u8]) -> Vec<&[u8]> {
    let mut pieces = Vec::new();
    let (mut from, mut place) = (0, 0);
    while place < bytes.len() {
        let ascii = place + bytes[place..].iter().position(|byte| !byte.is_ascii()).unwrap_or(bytes.len() - place);
        if ascii - place > 2 * ASCII_TOLD_BYTES {
            pieces.push(&bytes[from..place + ASCII_TOLD_BYTES]);
            from = ascii - ASCII_TOLD_BYTES;
        }
        place = ascii + bytes[ascii..].iter().take_while(|byte| !byte.is_ascii()).count();
    }
    pieces.push(&bytes[from..]);
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8], charset: Option<&str>) -> (String, &'static str) {
        let (text, name) = decode(bytes, charset, "org");
        (text.into_owned(), name)
    }

    #[test]
    fn mark_then_header_then_markup_then_guess() {
        assert_eq!(read(b"\xef\xbb\xbfa", Some("windows-1252")), ("a".into(), "UTF-8"));
        assert_eq!(read(b"\xff\xfea\0", None), ("a".into(), "UTF-16LE"));
        assert_eq!(read(b"<meta charset=utf-8>\xe9", Some("latin1")).0, "<meta charset=utf-8>é");
        assert_eq!(
            read(b"<META http-equiv=x content='text/html; charset=KOI8-R'>\xc1", None).0.chars().last(),
            Some('а')
        );
        assert_eq!(read(b"<?xml version='1.0' encoding='iso-8859-1'?>\xe9", None).1, "windows-1252");
        assert_eq!(read(b"<!-- <meta charset=koi8-r> -->\xc3\xa9", None).1, "UTF-8");
        assert_eq!(read(b"<meta charset=utf-16>\xc3\xa9", None).1, "UTF-8");
        assert_eq!(read("caf\u{e9}".as_bytes(), None), ("café".into(), "UTF-8"));
        assert_eq!(read(b"un caf\xe9 tr\xe8s fran\xe7ais, d\xe9j\xe0", None).1, "windows-1252");
        assert_eq!(read(b"plain", Some("no such set")).1, "UTF-8");
    }

    #[test]
    fn utf8_is_borrowed() {
        let bytes = "größer".as_bytes();
        assert!(matches!(decode(bytes, Some("utf-8"), "de").0, Cow::Borrowed(_)));
        assert!(matches!(decode(bytes, None, "de").0, Cow::Borrowed(_)));
    }

    #[test]
    fn bytes_that_are_no_text_still_become_text() {
        let (text, name) = read(b"a\xffb", Some("utf-8"));
        assert_eq!((text.as_str(), name), ("a\u{fffd}b", "UTF-8"));
        assert!(!read(&[0x80, 0x81, 0xff, 0xfe], None).0.is_empty());
    }
}
