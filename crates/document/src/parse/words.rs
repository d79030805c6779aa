//! A smaller pass for a body with a known signature: its words, and on request its parts and links.

use vernal_model::{Document, Paragraph, Url};

use super::links::LinkCollector;
use super::parts::{Collector, Parts};
use super::scan::{Markup, OpenTag, Sink, scan};
use super::tag::Tag;
use super::text::{ParagraphLetters, TextBuilder};

/// Text and paragraphs as the full pass gives them, and `closely` also links and parts.
pub fn words_of_markup(source: &str, markup: Markup, page: &Url, closely: bool) -> (Document, Parts) {
    let mut pass = Words {
        markup,
        text: TextBuilder::with_capacity(source.len()).without_letters(),
        close: closely.then(|| Close { links: LinkCollector::new(page), collector: Collector::default() }),
        enough: usize::MAX,
    };
    scan(source, markup, &mut pass);
    let mut document = Document::default();
    let mut parts = Parts::default();
    if let Some(mut close) = pass.close {
        close.links.close_anchor(&pass.text);
        close.links.finish(&mut document);
        parts = close.collector.parts;
    }
    (document.text, document.paragraphs, _) = pass.text.finish();
    (document, parts)
}

/// Text and paragraphs as the full pass gives them, with the letters of each paragraph and nothing else.
pub fn letters_of_markup(source: &str, markup: Markup) -> (Document, Vec<ParagraphLetters>) {
    let text = TextBuilder::with_capacity(source.len()).with_letters_of_paragraphs();
    let mut pass = Words::until(usize::MAX, text, markup);
    scan(source, markup, &mut pass);
    let mut document = Document::default();
    let letters;
    (document.text, document.paragraphs, letters) = pass.text.finish();
    (document, letters.paragraphs)
}

pub struct Words {
    markup: Markup,
    text: TextBuilder,
    close: Option<Close>,
    /// The pass stops after so many paragraphs.
    enough: usize,
}

impl Words {
    pub fn until(enough: usize, text: TextBuilder, markup: Markup) -> Self {
        Words { markup, text, close: None, enough }
    }

    pub fn finish(self) -> (String, Vec<Paragraph>) {
        let (text, paragraphs, _) = self.text.finish();
        (text, paragraphs)
    }
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

    fn is_done(&self) -> bool {
        self.text.ended() >= self.enough
    }
}
