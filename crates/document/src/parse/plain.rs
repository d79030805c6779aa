//! Reads plain text. Blank lines separate paragraphs.

use vernal_model::Document;

use super::text::{TextBuilder, TextChecksums};

pub fn read_plain(source: &str, document: &mut Document) -> TextChecksums {
    let mut text = TextBuilder::with_capacity(source.len());
    for line in source.lines() {
        if line.trim().is_empty() {
            text.end_paragraph();
        } else {
            text.push(line, false);
            text.push("\n", false);
        }
    }
    let letters;
    (document.text, document.paragraphs, letters) = text.finish();
    letters
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blank_lines_part_paragraphs() {
        let mut document = Document::default();
        read_plain("one\r\n  two &amp;\r\n\r\n \r\nthree", &mut document);
        assert_eq!(document.text, "one two &amp;\nthree");
        assert_eq!(document.paragraphs.len(), 2);
    }
}
