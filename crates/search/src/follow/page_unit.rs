//! The unit of a page: the text of its newest version, by its parts.

use tantivy::TantivyDocument;
use vernal_model::{Event, EventKind, Moment, PageKey, Role, Url};

use super::kept::ReadVersion;
use super::link_words;
use crate::analysis::language::language_of;
use crate::index::schema::{Fields, number_of};

/// What is the same for all units that one event makes.
pub struct Source<'e> {
    pub page: PageKey,
    pub url: &'e Url,
    pub kinds: Vec<String>,
    pub time: Moment,
}

impl<'e> Source<'e> {
    pub fn of(event: &'e Event) -> Source<'e> {
        let kinds = match event.kind {
            EventKind::New => vec!["new".to_owned()],
            _ => event.change.left.iter().map(|kind| kind.name().to_owned()).collect(),
        };
        Source { page: event.page, url: &event.url, kinds, time: event.seen_different }
    }

    /// A unit with what all units have.
    pub fn unit(&self, fields: &Fields, language: &str) -> TantivyDocument {
        let mut unit = TantivyDocument::new();
        unit.add_u64(fields.of, number_of(self.page));
        unit.add_text(fields.site, self.url.site_text());
        unit.add_text(fields.language, language);
        self.kinds.iter().for_each(|kind| unit.add_text(fields.kind, kind));
        unit.add_i64(fields.time, self.time.secs());
        unit
    }
}

/// The language of a version: as the page names it, else as its main text shows.
pub fn language(read: &ReadVersion) -> String {
    let mut sample = String::new();
    if read.document.language.is_empty() {
        let mains = read.document.paragraphs.iter().filter(|one| one.role == Role::Main);
        for one in mains.take(20) {
            sample.push_str(&read.document.text[one.start as usize..one.end as usize]);
            sample.push(' ');
        }
    }
    language_of(&read.document.language, &sample)
}

/// `anchors`: the words of links to it.
pub fn page_unit(fields: &Fields, source: &Source<'_>, read: &ReadVersion, anchors: &[String]) -> TantivyDocument {
    let document = &read.document;
    let mut unit = source.unit(fields, &language(read));
    unit.add_u64(fields.current, number_of(source.page));
    unit.add_u64(fields.version, u64::from(read.version.number));
    unit.add_u64(fields.address, source.url.fingerprint().0);
    unit.add_u64(fields.anchors_digest, link_words::digest(anchors));
    anchors.iter().for_each(|text| unit.add_text(fields.anchors, text));
    let links = link_words::terms(source.url, read);
    unit.add_u64(fields.links_digest, link_words::digest(&links));
    links.iter().for_each(|term| unit.add_bytes(fields.link, term));
    unit.add_text(fields.url, source.url.as_str());
    unit.add_text(fields.title, &document.title);
    for (one, text) in document.paragraphs.iter().zip(read.texts()) {
        match one.role {
            Role::Title => {}
            Role::Heading => unit.add_text(fields.headings, text),
            Role::Navigation | Role::Footer => unit.add_text(fields.frame, text),
            Role::Main | Role::ListItem | Role::TableRow => unit.add_text(fields.body, text),
        }
    }
    unit
}

/// Whether a paragraph stands around the content.
pub fn is_frame(role: Role) -> bool {
    matches!(role, Role::Navigation | Role::Footer)
}
