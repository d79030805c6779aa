//! A walk over the elements of a part. No entities but the five of XML and numbers, no external references, a limited depth.

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use crate::fault::Fault;

/// Deeper elements end the reading.
const DEPTH_MAX: usize = 512;

pub enum Step<'x> {
    /// An element begins.
    Open(Element<'x>),
    /// An element ends; its name without prefix.
    Close(&'x str),
    Text(&'x str),
}

pub struct Element<'x> {
    pub name: &'x str,
    start: &'x BytesStart<'x>,
}

impl Element<'_> {
    /// An attribute by its name without prefix.
    pub fn value(&self, name: &str) -> Option<String> {
        self.find(|key| key.rsplit(':').next() == Some(name))
    }

    /// An attribute by its whole name.
    pub fn exact(&self, name: &str) -> Option<String> {
        self.find(|key| key == name)
    }

    fn find(&self, wanted: impl Fn(&str) -> bool) -> Option<String> {
        let mut attributes = self.start.attributes();
        let found = attributes.with_checks(false).flatten().find(|attribute| wanted(attribute.key.as_ref()));
        found.map(|attribute| match quick_xml::escape::unescape(&attribute.value) {
            Ok(value) => value.into_owned(),
            Err(_) => attribute.value.into_owned(),
        })
    }
}

/// Walks over a part. What comes before a fault of its XML was shown and stands; only a part that is too deep is refused.
pub fn walk(xml: &str, mut show: impl FnMut(Step<'_>)) -> Result<(), Fault> {
    let mut reader = Reader::from_str(xml);
    let config = reader.config_mut();
    config.check_end_names = false;
    config.allow_unmatched_ends = true;
    config.allow_dangling_amp = true;
    let mut depth = 0usize;
    while let Ok(event) = reader.read_event() {
        match event {
            Event::Start(start) => {
                depth += 1;
                if depth > DEPTH_MAX {
                    return Err(Fault::TooLarge { what: "the depth of its elements", limit: DEPTH_MAX.to_string() });
                }
                show(Step::Open(Element { name: start.local_name().as_ref(), start: &start }));
            }
            Event::Empty(start) => {
                let name = start.local_name();
                show(Step::Open(Element { name: name.as_ref(), start: &start }));
                show(Step::Close(name.as_ref()));
            }
            Event::End(end) => {
                depth = depth.saturating_sub(1);
                show(Step::Close(end.local_name().as_ref()));
            }
            Event::Text(text) => show(Step::Text(&text.into_inner())),
            Event::CData(text) => show(Step::Text(&text.into_inner())),
            Event::GeneralRef(reference) => {
                let mut letter = [0; 4];
                if let Some(found) = letter_of(&reference.into_inner()) {
                    show(Step::Text(found.encode_utf8(&mut letter)));
                }
            }
            Event::Eof => break,
            Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::DocType(_) => {}
        }
    }
    Ok(())
}

/// The letter of a reference: by number, one of the five names of XML, or the space that books are full of.
fn letter_of(name: &str) -> Option<char> {
    if let Some(number) = name.strip_prefix('#') {
        let code = match number.strip_prefix(['x', 'X']) {
            Some(hexadecimal) => u32::from_str_radix(hexadecimal, 16).ok()?,
            None => number.parse().ok()?,
        };
        return char::from_u32(code).filter(|letter| *letter != '\0');
    }
    Some(match name {
        "amp" => '&',
        "lt" => '<',
        "gt" => '>',
        "quot" => '"',
        "apos" => '\'',
        "nbsp" => '\u{a0}',
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(xml: &str) -> Result<String, Fault> {
        let mut all = String::new();
        walk(xml, |step| match step {
            Step::Open(element) => all += &format!("<{}{}>", element.name, element.value("b").unwrap_or_default()),
            Step::Close(name) => all += &format!("</{name}>"),
            Step::Text(text) => all += text,
        })?;
        Ok(all)
    }

    #[test]
    fn elements_have_no_prefixes_and_references_are_letters() {
        assert_eq!(shown("<w:p x:b='1 &amp; 2'>a&amp;&#x41;<br/></w:p>").as_deref(), Ok("<p1 & 2>a&A<br></br></p>"));
    }

    #[test]
    fn entities_are_not_expanded_and_depth_ends_the_reading() {
        let bomb = "<!DOCTYPE a [<!ENTITY b 'x'><!ENTITY c '&b;&b;'>]><a>&c;</a>";
        assert_eq!(shown(bomb).as_deref(), Ok("<a></a>"));
        assert!(shown(&"<a>".repeat(DEPTH_MAX + 1)).is_err());
        assert!(shown("<a>text<b").is_ok_and(|text| text.starts_with("<a>text")));
    }
}
