//! The pages, sheets and slides of a file that became HTML, which remarks in the HTML name.

use vernal_model::Document;

/// The beginnings of remarks that name a place.
const KINDS: [&str; 5] = ["page ", "sheet ", "slide ", "table ", "part "];

/// Further places are not told apart.
const PLACES_MAX: usize = 20_000;

/// Longer names are cut.
const NAME_LETTERS_MAX: usize = 100;

/// Notes in a document that was just read from this HTML which paragraphs begin which place.
pub fn note_places(document: &mut Document, html: &str) {
    let mut rest = 0;
    let mut paragraph = 0;
    while let Some(found) = html[rest..].find("<!--")
        && document.places.len() < PLACES_MAX
    {
        let start = rest + found + 4;
        let Some(length) = html[start..].find("-->") else { return };
        let (remark, end) = (&html[start..start + length], start + length + 3);
        rest = end;
        if !KINDS.iter().any(|kind| remark.starts_with(kind)) {
            continue;
        }
        let starts = document.begins.get(paragraph..document.paragraphs.len()).unwrap_or_default();
        paragraph += starts.partition_point(|begin| (*begin as usize) < end);
        let name = htmlize::unescape(remark).chars().take(NAME_LETTERS_MAX).collect::<String>();
        document.places.push((paragraph as u32, name.into()));
    }
}

#[cfg(test)]
mod tests {
    use vernal_model::{Digest, Url};

    use super::*;
    use crate::{Input, read};

    #[test]
    fn a_paragraph_knows_the_page_on_which_it_begins() {
        let html = "<html><body><p>before</p><!--page 1--><h1>one</h1><p>two</p><!--page 2--><!--page 3--><p>three</p></body></html>";
        let url = Url::parse("https://a.example/").unwrap();
        let mut document = read(&Input {
            url: &url,
            bytes: html.as_bytes(),
            content_type: Some("text/html; charset=utf-8"),
            content_language: None,
            robots_tags: &[],
            payload: Digest([0; 20]),
        })
        .document;
        note_places(&mut document, html);
        let places: Vec<Option<&str>> = (0..4).map(|paragraph| document.place_of(paragraph)).collect();
        assert_eq!(places, [None, Some("page 1"), Some("page 1"), Some("page 3")]);
    }
}
