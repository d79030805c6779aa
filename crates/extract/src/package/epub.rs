//! Reads EPUB: the parts of the book in the order of its spine, each by the reader of HTML.

use vernal_document::Input;
use vernal_model::{Digest, Document, LinkKind, Role, Url};

use super::parts::Parts;
use super::properties::facts_of;
use super::relations::resolved;
use super::xml::{Step, walk};
use crate::draft::{Block, Draft, Line};
use crate::fault::Fault;

/// Further parts of a book are left out.
const PARTS_MAX: usize = 5_000;

/// Where the parts of a book lie, so that their links to each other are told from others.
const INSIDE: &str = "https://book.invalid/";

pub fn read_epub(bytes: &[u8]) -> Result<Draft, Fault> {
    let mut parts = Parts::open(bytes)?;
    let package = package_part(&mut parts)?;
    let mut draft = Draft::new(facts_of(&mut parts, &package)?);
    let spine = spine_of(&mut parts, &package)?;
    draft.facts.pages = Some(spine.len());
    for (number, part) in spine.iter().enumerate() {
        let Some(bytes) = parts.bytes(part)? else { continue };
        draft.place(&format!("part {}", number + 1));
        write(&bytes, &mut draft);
        if draft.is_full() {
            break;
        }
    }
    Ok(draft)
}

fn package_part(parts: &mut Parts<'_>) -> Result<String, Fault> {
    let mut found = None;
    walk(&parts.text("META-INF/container.xml")?.unwrap_or_default(), |step| {
        if let Step::Open(element) = step
            && element.name == "rootfile"
            && found.is_none()
        {
            found = element.value("full-path");
        }
    })?;
    found.ok_or_else(|| Fault::broken("the book has no list of its parts"))
}

fn spine_of(parts: &mut Parts<'_>, package: &str) -> Result<Vec<String>, Fault> {
    let folder = package.rsplit_once('/').map_or("", |(folder, _)| folder).to_owned();
    let mut items = std::collections::HashMap::new();
    let mut spine = Vec::new();
    walk(&parts.text(package)?.unwrap_or_default(), |step| {
        let Step::Open(element) = step else { return };
        match element.name {
            "item" if items.len() < PARTS_MAX => {
                if let (Some(id), Some(target)) = (element.exact("id"), element.exact("href")) {
                    items.insert(id, target);
                }
            }
            "itemref" if spine.len() < PARTS_MAX => spine.extend(element.exact("idref")),
            _ => {}
        }
    })?;
    Ok(spine.iter().filter_map(|id| items.get(id)).map(|target| resolved(&folder, &unquoted(target))).collect())
}

/// A name without the percent signs of addresses.
fn unquoted(target: &str) -> String {
    let mut bytes = Vec::with_capacity(target.len());
    let mut rest = target.as_bytes();
    while let [first, after @ ..] = rest {
        let code = after
            .get(..2)
            .and_then(|code| std::str::from_utf8(code).ok())
            .and_then(|code| u8::from_str_radix(code, 16).ok());
        match code {
            Some(code) if *first == b'%' => {
                bytes.push(code);
                rest = &after[2..];
            }
            _ => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn write(bytes: &[u8], draft: &mut Draft) {
    let Ok(url) = Url::parse(INSIDE) else { return };
    let content_type = Some("application/xhtml+xml");
    let payload = Digest([0; 20]);
    let input = Input { url: &url, bytes, content_type, content_language: None, robots_tags: &[], payload };
    let document = vernal_document::read(&input).document;
    let mut links = Links::of(&document);
    for paragraph in &document.paragraphs {
        let Some(text) = document.text.get(paragraph.start as usize..paragraph.end as usize) else { continue };
        let line = links.linked(text);
        match paragraph.role {
            Role::Title => {}
            Role::Heading => draft.block(Block::Heading(paragraph.heading.max(1)), &line),
            Role::ListItem => draft.block(Block::Item, &line),
            Role::TableRow => draft.row(&[line]),
            Role::Main | Role::Navigation | Role::Footer => draft.block(Block::Paragraph, &line),
        }
    }
}

/// The links that lead out of the book, in order.
struct Links {
    left: std::collections::VecDeque<(String, String)>,
}

impl Links {
    fn of(document: &Document) -> Links {
        let leads_out =
            |link: &&vernal_model::Link| link.kind == LinkKind::Anchor && !link.target.as_str().starts_with(INSIDE);
        let pair = |link: &vernal_model::Link| (document.anchor(link).to_owned(), link.target.as_str().to_owned());
        Links {
            left: document.links.iter().filter(leads_out).map(pair).filter(|(words, _)| !words.is_empty()).collect(),
        }
    }

    /// The text with those of the next links whose words are in it.
    fn linked(&mut self, text: &str) -> Line {
        let mut line = Line::default();
        let mut from = 0;
        while let Some((words, _)) = self.left.front()
            && let Some(place) = text[from..].find(words.as_str())
        {
            let (words, target) = self.left.pop_front().unwrap_or_default();
            line.push(&text[from..from + place], None);
            line.push(&words, Some(&target));
            from += place + words.len();
        }
        line.push(&text[from..], None);
        line
    }
}
