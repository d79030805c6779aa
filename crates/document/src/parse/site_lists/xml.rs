//! A scanner for the XML of sitemaps and feeds. It returns pieces in the order of the text, each a slice of it. It expands only
//! the five entities of XML and numeric references, follows no external reference, and continues after errors.

use std::borrow::Cow;

use memchr::{memchr, memmem};

/// The nesting limit. Real files have fewer than ten levels.
pub const DEPTH_MAX: usize = 64;

#[derive(Clone, Debug, PartialEq)]
pub enum XmlPiece<'a> {
    Open(Element<'a>),
    /// The end of an element, by its name without prefix.
    Close(&'a str),
    Text(Cow<'a, str>),
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Element<'a> {
    /// The prefix of its name; empty where there is none.
    pub prefix: &'a str,
    pub name: &'a str,
    attributes: &'a str,
    /// The element is empty; no `Close` follows.
    pub empty: bool,
}

impl<'a> Element<'a> {
    /// The value of an attribute, by its name with prefix.
    pub fn value(&self, wanted: &str) -> Option<Cow<'a, str>> {
        let mut rest = self.attributes;
        while let Some(equals) = memchr(b'=', rest.as_bytes()) {
            let name = rest[..equals].trim();
            let after = rest[equals + 1..].trim_start();
            let quote = after.bytes().next().filter(|byte| matches!(byte, b'"' | b'\''))?;
            let end = memchr(quote, &after.as_bytes()[1..])? + 1;
            if name == wanted {
                return Some(unescaped(&after[1..end]));
            }
            rest = &after[end + 1..];
        }
        None
    }
}

pub struct Xml<'a> {
    rest: &'a str,
    depth: usize,
    /// The fault, in words.
    pub fault: Option<&'static str>,
}

impl<'a> Xml<'a> {
    pub fn new(text: &'a str) -> Self {
        Xml { rest: text, depth: 0, fault: None }
    }

    /// The number of open elements after the last piece.
    pub fn depth(&self) -> usize {
        self.depth
    }

    fn markup(&mut self) -> Option<XmlPiece<'a>> {
        let rest = self.rest;
        if let Some(inside) = rest.strip_prefix("<![CDATA[") {
            let end = memmem::find(inside.as_bytes(), b"]]>");
            self.rest = end.map_or("", |end| &inside[end + 3..]);
            self.broken_unless(end.is_some(), "it ends within a CDATA section");
            return Some(XmlPiece::Text(Cow::Borrowed(&inside[..end.unwrap_or(inside.len())])));
        }
        if let Some(inside) = rest.strip_prefix("<!--") {
            return self.pass_over(inside, b"-->", "it ends within a comment");
        }
        if let Some(inside) = rest.strip_prefix("<?") {
            return self.pass_over(inside, b"?>", "it ends within an instruction");
        }
        if rest.starts_with("<!") {
            self.pass_over_declaration();
            return None;
        }
        let Some(end) = end_of_tag(rest) else {
            self.rest = "";
            self.broken_unless(false, "it ends within a tag");
            return None;
        };
        let inside = &rest[1..end];
        self.rest = &rest[end + 1..];
        if let Some(name) = inside.strip_prefix('/') {
            self.depth = self.depth.saturating_sub(1);
            return Some(XmlPiece::Close(local(name.trim()).1));
        }
        let empty = inside.ends_with('/');
        let inside = inside.strip_suffix('/').unwrap_or(inside);
        let name_end = inside.find(|letter: char| letter.is_ascii_whitespace()).unwrap_or(inside.len());
        let (prefix, name) = local(&inside[..name_end]);
        if !name.bytes().next().is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_' || byte >= 0x80) {
            // A lone `<` that begins no tag is text.
            self.rest = &rest[1..];
            return Some(XmlPiece::Text(Cow::Borrowed("<")));
        }
        self.depth += usize::from(!empty);
        if self.depth > DEPTH_MAX {
            self.rest = "";
            self.fault = Some("its elements lie too deep within one another");
            return None;
        }
        Some(XmlPiece::Open(Element { prefix, name, attributes: &inside[name_end..], empty }))
    }

    fn pass_over(&mut self, inside: &'a str, end: &[u8], fault: &'static str) -> Option<XmlPiece<'a>> {
        let found = memmem::find(inside.as_bytes(), end);
        self.rest = found.map_or("", |found| &inside[found + end.len()..]);
        self.broken_unless(found.is_some(), fault);
        None
    }

    /// Skips a document type with its declarations. Declared entities are never expanded.
    fn pass_over_declaration(&mut self) {
        let mut brackets = 0usize;
        for (place, byte) in self.rest.bytes().enumerate() {
            match byte {
                b'[' => brackets += 1,
                b']' => brackets = brackets.saturating_sub(1),
                b'>' if brackets == 0 => {
                    self.rest = &self.rest[place + 1..];
                    return;
                }
                _ => {}
            }
        }
        self.rest = "";
        self.broken_unless(false, "it ends within a declaration");
    }

    fn broken_unless(&mut self, sound: bool, fault: &'static str) {
        if !sound {
            self.fault.get_or_insert(fault);
        }
    }
}

impl<'a> Iterator for Xml<'a> {
    type Item = XmlPiece<'a>;

    fn next(&mut self) -> Option<XmlPiece<'a>> {
        loop {
            if self.rest.is_empty() {
                if self.depth > 0 {
                    self.broken_unless(false, "it ends before its elements do");
                }
                return None;
            }
            if !self.rest.starts_with('<') {
                let end = memchr(b'<', self.rest.as_bytes()).unwrap_or(self.rest.len());
                let (text, rest) = self.rest.split_at(end);
                self.rest = rest;
                return Some(XmlPiece::Text(unescaped(text)));
            }
            if let Some(piece) = self.markup() {
                return Some(piece);
            }
        }
    }
}

/// The end of the tag at the beginning: a `>` outside quotes. A `<` before it means that the tag is unclosed.
fn end_of_tag(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut place = 1;
    while place < bytes.len() {
        match bytes[place] {
            b'>' => return Some(place),
            quote @ (b'"' | b'\'') => place += 1 + memchr(quote, &bytes[place + 1..])?,
            _ => {}
        }
        place += 1;
    }
    None
}

fn local(name: &str) -> (&str, &str) {
    name.split_once(':').unwrap_or(("", name))
}

/// The five entities of XML and numbers; every other reference stays as it is written.
pub fn unescaped(text: &str) -> Cow<'_, str> {
    let Some(first) = memchr(b'&', text.as_bytes()) else { return Cow::Borrowed(text) };
    let mut out = String::with_capacity(text.len());
    out.push_str(&text[..first]);
    let mut rest = &text[first..];
    while let Some(start) = memchr(b'&', rest.as_bytes()) {
        out.push_str(&rest[..start]);
        rest = &rest[start..];
        // The longest valid reference is `&#x10FFFF;`.
        let end = rest.bytes().take(12).position(|byte| byte == b';');
        match end.and_then(|end| Some((meaning(&rest[1..end])?, end))) {
            Some((letter, end)) => {
                out.push(letter);
                rest = &rest[end + 1..];
            }
            None => {
                out.push('&');
                rest = &rest[1..];
            }
        }
    }
    out.push_str(rest);
    Cow::Owned(out)
}

fn meaning(name: &str) -> Option<char> {
    let number = |digits: &str, base| u32::from_str_radix(digits, base).ok().and_then(char::from_u32);
    match name {
        "amp" => Some('&'),
        "lt" => Some('<'),
        "gt" => Some('>'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        _ => match name.strip_prefix('#')?.strip_prefix(['x', 'X']) {
            Some(digits) => number(digits, 16),
            None => number(&name[1..], 10),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> (String, Option<&'static str>) {
        let mut xml = Xml::new(text);
        let mut out = String::new();
        for piece in xml.by_ref() {
            match piece {
                XmlPiece::Open(element) => {
                    out.push_str(&format!("<{}{}>", element.name, if element.empty { "/" } else { "" }))
                }
                XmlPiece::Close(name) => out.push_str(&format!("</{name}>")),
                XmlPiece::Text(text) => out.push_str(&text),
            }
        }
        (out, xml.fault)
    }

    #[test]
    fn only_the_five_entities_and_numbers_are_expanded() {
        let bomb =
            "<!DOCTYPE a [<!ENTITY lol \"lol\"><!ENTITY lol2 \"&lol;&lol;\">]><a>&lol2;&amp;&#65;&#x42;&nbsp;&</a>";
        assert_eq!(shown(bomb), ("<a>&lol2;&AB&nbsp;&</a>".into(), None));
        assert_eq!(shown("<!DOCTYPE a SYSTEM \"file:///etc/passwd\"><a/>"), ("<a/>".into(), None));
    }

    #[test]
    fn attributes_are_found_in_either_quotes() {
        let Some(XmlPiece::Open(element)) = Xml::new("<x:link rel='hub' href=\"http://a/?b&amp;c=&gt;\" />").next()
        else {
            panic!("an element")
        };
        assert_eq!((element.prefix, element.name, element.empty), ("x", "link", true));
        assert_eq!(element.value("href").as_deref(), Some("http://a/?b&c=>"));
        assert_eq!(element.value("rel").as_deref(), Some("hub"));
        assert_eq!(element.value("hre"), None);
    }

    #[test]
    fn what_is_broken_says_so_and_keeps_what_came_before() {
        assert_eq!(shown("<a>b<![CDATA[c&amp;").0, "<a>bc&amp;");
        assert!(shown("<a>b<![CDATA[c").1.is_some());
        assert_eq!(shown("<a><b>c</b>"), ("<a><b>c</b>".into(), Some("it ends before its elements do")));
        assert_eq!(shown("<a>b<c d=\"").1, Some("it ends within a tag"));
        assert!(shown(&"<a>".repeat(DEPTH_MAX + 1)).1.is_some());
        assert_eq!(shown("<a>1 < 2</a>").0, "<a>1 < 2</a>");
    }
}
