//! A smaller pass, for a body whose signature is known: its words again, and the parts and links if they are asked for.
//! Words that a newer version still has need not be read at all.

use vernal_model::{Document, ParagraphMark, Url};

use super::links::LinkCollector;
use super::parts::{Collector, Parts};
use super::scan::{Markup, OpenTag, Sink, scan};
use super::tag::Tag;
use super::text::TextBuilder;
use crate::detect::digest_map::DigestMap;

/// Text and paragraphs as the whole pass gives them; `closely`, with links and parts.
pub fn words_of_markup(source: &str, markup: Markup, page: &Url, closely: bool) -> (Document, Parts) {
    let mut pass = Words {
        markup,
        text: TextBuilder::with_capacity(source.len() / 4 * 3).without_letters(),
        close: closely.then(|| Close { links: LinkCollector::new(page), collector: Collector::default() }),
    };
    scan(source, markup, &mut pass);
    let mut document = Document::default();
    let mut parts = Parts::default();
    if let Some(mut close) = pass.close {
        close.links.close_anchor(&pass.text);
        document.links = close.links.links;
        parts = close.collector.parts;
    }
    (document.text, document.paragraphs, _) = pass.text.finish();
    (document, parts)
}

/// The same beside a newer version, by the marks of this one: paragraphs whose digest the newer one has too are lent by
/// it, and only the others are read. `None` where the marks are not those of this source.
pub fn words_beside(source: &str, markup: Markup, marks: &[ParagraphMark], newer: &Document) -> Option<Document> {
    let places: DigestMap<usize> =
        newer.paragraphs.iter().enumerate().map(|(place, paragraph)| (paragraph.digest, place)).collect();
    let lent: Vec<Option<usize>> = marks.iter().map(|mark| places.get(&mark.digest).copied()).collect();
    let text = TextBuilder::default().without_letters().without_words_of(lent.iter().map(Option::is_some).collect());
    let mut pass = Words { markup, text, close: None };
    scan(source, markup, &mut pass);
    let (read, paragraphs, _) = pass.text.finish();
    if paragraphs.len() != marks.len() {
        return None;
    }
    let mut document = Document { text: String::with_capacity(newer.text.len() + read.len()), ..Document::default() };
    document.paragraphs.reserve_exact(paragraphs.len());
    for ((mut paragraph, mark), lent) in paragraphs.into_iter().zip(marks).zip(lent) {
        let words = match lent.map(|place| &newer.paragraphs[place]) {
            Some(same) => &newer.text[same.start as usize..same.end as usize],
            None if paragraph.digest == mark.digest => &read[paragraph.start as usize..paragraph.end as usize],
            None => return None,
        };
        if !document.paragraphs.is_empty() {
            document.text.push('\n');
        }
        paragraph.start = document.text.len() as u32;
        document.text.push_str(words);
        paragraph.end = document.text.len() as u32;
        paragraph.digest = mark.digest;
        document.paragraphs.push(paragraph);
    }
    Some(document)
}

struct Words {
    markup: Markup,
    text: TextBuilder,
    close: Option<Close>,
}

struct Close {
    links: LinkCollector,
    collector: Collector,
}

impl Sink for Words {
    fn open(&mut self, tag: &OpenTag<'_, '_>) {
        if let Some(close) = &mut self.close {
            close.collector.open(tag);
        }
        if self.markup == Markup::Xml {
            return self.text.end_paragraph();
        }
        self.text.open(tag);
        if let Some(close) = self.close.as_mut().filter(|_| !self.text.is_inert()) {
            close.links.open(tag, &self.text);
        }
    }

    fn close(&mut self, tag: Tag) {
        if self.markup == Markup::Xml {
            return self.text.end_paragraph();
        }
        if let Some(close) = &mut self.close {
            close.links.close(tag, &self.text);
        }
        self.text.close(tag);
    }

    fn text(&mut self, text: &str, coded: bool) {
        self.text.push(text, coded);
    }

    fn raw(&mut self, tag: Tag, text: &str) {
        match tag {
            Tag::Script | Tag::Style => {}
            _ => self.text.push(text, false),
        }
        if let Some(close) = &mut self.close {
            close.collector.raw(tag, text);
        }
    }

    fn comment(&mut self, _text: &str) {
        self.text.comment();
    }
}
