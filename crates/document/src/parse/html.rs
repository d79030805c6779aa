//! Reads HTML in one pass: every tag and every piece of text goes once to text, links, hints and marks.

use vernal_model::{Document, Link, LinkKind, Url};

use super::hints::{Hints, first_language};
use super::links::{LinkCollector, limited};
use super::scan::{Markup, OpenTag, Sink, scan};
use super::tag::Tag;
use super::text::{TextBuilder, TextChecksums};
use crate::read::Evidence;
use crate::signature::Marks;

/// A longer title is cut.
const TITLE_BYTES_MAX: usize = 1_024;

/// Parts of script and frame addresses that identify challenge services.
const CHALLENGES: [&str; 10] = [
    "/cdn-cgi/challenge-platform/",
    "challenges.cloudflare.com",
    "geo.captcha-delivery.com",
    "captcha-delivery.com",
    "hcaptcha.com",
    "google.com/recaptcha",
    "recaptcha.net",
    "/_Incapsula_Resource",
    "awswaf.com",
    "px-captcha",
];

/// So many scripts and frames are examined for a challenge. Walls have few.
const CHALLENGE_LINKS_MAX: usize = 20;

/// Pages with longer texts are no walls, so no challenge is searched.
const CHALLENGE_TEXT_BYTES_MAX: usize = 8 << 10;

/// Reads markup into a document. The caller sets media type, character set and headers.
pub fn read_markup(source: &str, markup: Markup, page: &Url, document: &mut Document) -> Passed {
    let mut pass = HtmlPass {
        markup,
        text: TextBuilder::with_capacity(source.len()).with_begins_in(source),
        links: LinkCollector::new(page),
        hints: Hints::default(),
        marks: Marks::default(),
        evidence: Evidence::default(),
        title: Title::Unseen,
        language: None,
    };
    scan(source, markup, &mut pass);
    document.begins = pass.text.take_begins();
    document.begins.push(source.len() as u32);
    pass.finish(document)
}

/// The results of a pass besides the document.
#[derive(Default)]
pub struct Passed {
    pub marks: Marks,
    pub letters: TextChecksums,
    pub evidence: Evidence,
}

struct HtmlPass {
    markup: Markup,
    text: TextBuilder,
    links: LinkCollector,
    hints: Hints,
    marks: Marks,
    evidence: Evidence,
    title: Title,
    language: Option<String>,
}

enum Title {
    Unseen,
    /// The text of the title begins at this offset.
    Open(usize),
    Read(String),
}

impl Sink for HtmlPass {
    fn open(&mut self, tag: &OpenTag<'_, '_>) {
        self.marks.open(tag);
        if self.markup == Markup::Xml {
            // In XML of an unknown language each element may be a block.
            self.text.end_paragraph();
            self.open_title(tag.tag);
            return;
        }
        self.text.open(tag);
        if !self.text.is_inert() {
            self.links.open(tag, &self.text);
        }
        match tag.tag {
            Tag::Title if !tag.foreign => self.open_title(tag.tag),
            Tag::Meta => self.hints.read_meta(tag),
            Tag::Html if self.language.is_none() => {
                let language = tag.value("lang").or_else(|| tag.value("xml:lang"));
                self.language = language.map(|language| first_language(&language)).filter(|name| !name.is_empty());
            }
            _ => {}
        }
        self.see(tag);
    }

    fn close(&mut self, tag: Tag) {
        if self.markup == Markup::Xml {
            self.close_title(tag);
            self.text.end_paragraph();
            return;
        }
        self.marks.close(tag);
        self.links.close(tag, &self.text);
        self.close_title(tag);
        self.text.close(tag);
    }

    fn text(&mut self, text: &str, coded: bool) {
        match self.text.foreign_code() {
            Some(tag) => self.marks.raw(tag, text),
            None => {
                if !self.text.is_title() {
                    self.marks.text(text);
                }
                self.text.push(text, coded);
            }
        }
    }

    fn raw(&mut self, tag: Tag, text: &str) {
        match tag {
            Tag::Script | Tag::Style => self.marks.raw(tag, text),
            // Content for readers without frames, which we read.
            _ => self.text.push(text, false),
        }
    }

    fn comment(&mut self, text: &str) {
        self.text.comment();
        self.marks.comment(text);
    }
}

impl HtmlPass {
    fn finish(mut self, document: &mut Document) -> Passed {
        self.links.close_anchor(&self.text);
        self.close_title(Tag::Title);
        document.title = match self.title {
            Title::Read(title) => title,
            _ => String::new(),
        };
        let letters;
        (document.text, document.paragraphs, letters) = self.text.finish();
        self.links.finish(document);
        if document.text.len() <= CHALLENGE_TEXT_BYTES_MAX {
            self.evidence.challenge = challenge(&document.links);
        }
        document.directives = document.directives.with(self.hints.directives);
        document.meta_updates = self.hints.meta_updates;
        if let Some(language) = self.language.or(self.hints.language) {
            document.language = language;
        }
        Passed { marks: self.marks, letters, evidence: self.evidence }
    }

    fn open_title(&mut self, tag: Tag) {
        if tag == Tag::Title && matches!(self.title, Title::Unseen) {
            self.title = Title::Open(self.text.mark());
        }
    }

    fn close_title(&mut self, tag: Tag) {
        if let (Title::Open(mark), Tag::Title) = (&self.title, tag) {
            self.title = Title::Read(limited(self.text.since(*mark), TITLE_BYTES_MAX).to_owned());
        }
    }

    /// Collects evidence for the test for walls.
    fn see(&mut self, tag: &OpenTag<'_, '_>) {
        match tag.tag {
            Tag::Form => self.evidence.forms = self.evidence.forms.saturating_add(1),
            Tag::Input if tag.value("type").is_some_and(|kind| kind.eq_ignore_ascii_case("password")) => {
                self.evidence.password_fields = self.evidence.password_fields.saturating_add(1);
            }
            _ => {}
        }
    }
}

fn challenge(links: &[Link]) -> Option<&'static str> {
    let run = links.iter().filter(|link| matches!(link.kind, LinkKind::Script | LinkKind::Frame));
    run.take(CHALLENGE_LINKS_MAX)
        .find_map(|link| CHALLENGES.into_iter().find(|mark| link.target.as_str().contains(mark)))
}
