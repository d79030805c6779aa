//! Events as entries of an Atom feed (RFC 4287).

use vernal_model::{EventKind, Operation};

use super::change::Paragraph;
use super::event_json::EventAnswer;

/// Paragraphs that one entry shows; more are counted.
const PARAGRAPHS_MAX: usize = 40;
/// Letters of one side of a paragraph.
const LETTERS_MAX: usize = 2_000;
/// Letters of the first words in a title.
const TITLE_LETTERS_MAX: usize = 80;

/// What a feed says of itself.
pub struct FeedHead {
    pub id: String,
    pub title: String,
    pub updated: String,
    /// The address of each relation: `self`, `next` and so on.
    pub links: Vec<(&'static str, String)>,
}

/// The whole feed.
pub fn feed(head: &FeedHead, tag: &str, events: &[EventAnswer]) -> String {
    let mut text =
        String::from("<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<feed xmlns=\"http://www.w3.org/2005/Atom\">\n");
    element(&mut text, "id", &head.id);
    element(&mut text, "title", &head.title);
    element(&mut text, "updated", &head.updated);
    text.push_str("<author><name>Vernal</name></author>\n");
    text.push_str(concat!("<generator version=\"", env!("CARGO_PKG_VERSION"), "\">Vernal</generator>\n"));
    for (relation, address) in &head.links {
        let kind = "application/atom+xml";
        text.push_str(&format!("<link rel=\"{relation}\" type=\"{kind}\" href=\"{}\"/>\n", escaped(address)));
    }
    events.iter().for_each(|event| entry(&mut text, tag, event));
    text.push_str("</feed>\n");
    text
}

/// The id of an entry: that of the event, and of the change where the event of a site tells several.
pub fn entry_id(tag: &str, event: &EventAnswer) -> String {
    let part = event.fold.as_ref().map_or_else(String::new, |fold| format!("/{fold}"));
    format!("{tag}{}{part}", event.id)
}

/// When the event was observed, which never changes.
pub fn observed(event: &EventAnswer) -> &str {
    event.seen_different.as_deref().unwrap_or("1970-01-01T00:00:00.000Z")
}

fn entry(text: &mut String, tag: &str, event: &EventAnswer) {
    text.push_str("<entry>\n");
    element(text, "id", &entry_id(tag, event));
    element(text, "title", &title(event));
    element(text, "updated", observed(event));
    element(text, "published", observed(event));
    let address = if event.fold.is_some() { origin(&event.url) } else { event.url.clone() };
    text.push_str(&format!("<link rel=\"alternate\" href=\"{}\"/>\n", escaped(&address)));
    let labels = event.change.left.iter().map(|kind| kind.name()).chain(event.tags.iter().map(String::as_str));
    for label in std::iter::once(event.event.name()).chain(labels) {
        text.push_str(&format!("<category term=\"{}\"/>\n", escaped(label)));
    }
    let language = Some(&event.language).filter(|language| is_language(language));
    let language = language.map_or_else(String::new, |language| format!(" xml:lang=\"{language}\""));
    text.push_str(&format!("<content type=\"html\"{language}>{}</content>\n", escaped(&content(event))));
    text.push_str("</entry>\n");
}

/// What happened, to which page, and the first words of it.
fn title(event: &EventAnswer) -> String {
    let page = if event.title.trim().is_empty() { &event.url } else { &event.title };
    let page = if event.fold.is_some() { &event.site } else { page };
    let first = event.paragraphs.iter().find_map(|one| one.after.as_deref().or(one.before.as_deref()));
    let first =
        first.filter(|_| event.event != EventKind::New).map(|words| format!(" – {}", cut(words, TITLE_LETTERS_MAX)));
    let pages = event.pages.map_or_else(String::new, |pages| format!(" ({pages} pages)"));
    format!("{}: {}{pages}{}", event.event.name(), cut(page, TITLE_LETTERS_MAX), first.unwrap_or_default())
}

/// The words as HTML in which nothing can run: every text of the page is escaped.
fn content(event: &EventAnswer) -> String {
    let mut html = String::new();
    let address = escaped(&event.url);
    html.push_str(&format!("<p><a href=\"{address}\">{address}</a></p>"));
    if !event.detail.is_empty() {
        html.push_str(&format!("<p>{}</p>", escaped(&event.detail)));
    }
    for one in event.paragraphs.iter().take(PARAGRAPHS_MAX) {
        html.push_str(&paragraph(one));
    }
    if let Some(more) = event.paragraphs.len().checked_sub(PARAGRAPHS_MAX).filter(|more| *more > 0) {
        html.push_str(&format!("<p>and {more} more paragraphs</p>"));
    }
    for note in event.change.notes.iter().take(PARAGRAPHS_MAX) {
        let side = |text: &Option<Box<str>>| {
            text.as_deref().map_or_else(|| "–".to_owned(), |text| escaped(&cut(text, LETTERS_MAX)))
        };
        html.push_str(&format!("<p>{}: {} → {}</p>", escaped(&note.what), side(&note.before), side(&note.after)));
    }
    if let Some(unread) = &event.unread {
        html.push_str(&format!("<p>{}</p>", escaped(unread)));
    }
    html
}

fn paragraph(one: &Paragraph) -> String {
    let words = |text: &Option<Box<str>>| text.as_deref().map(|text| escaped(&cut(text, LETTERS_MAX)));
    let (before, after) = (words(&one.before), words(&one.after));
    match (one.op, before, after) {
        (Operation::Moved, _, Some(after)) => format!("<p>moved: {after}</p>"),
        (_, Some(before), Some(after)) => format!("<p><del>{before}</del> <ins>{after}</ins></p>"),
        (_, Some(before), None) => format!("<p><del>{before}</del></p>"),
        (_, None, Some(after)) => format!("<p><ins>{after}</ins></p>"),
        (_, None, None) => String::new(),
    }
}

fn element(text: &mut String, name: &str, content: &str) {
    text.push_str(&format!("<{name}>{}</{name}>\n", escaped(content)));
}

fn cut(text: &str, letters_max: usize) -> String {
    match text.char_indices().nth(letters_max) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// The site of a URL as an address.
fn origin(url: &str) -> String {
    let end = url.find("://").and_then(|at| url[at + 3..].find('/').map(|slash| at + 3 + slash + 1));
    end.map_or_else(|| url.to_owned(), |end| url[..end].to_owned())
}

/// Whether a text has the form of a language tag.
fn is_language(text: &str) -> bool {
    let is_part = |part: &str| (1..=8).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let first = text.split('-').next().unwrap_or_default();
    text.split('-').all(is_part) && first.bytes().all(|byte| byte.is_ascii_alphabetic())
}

/// Escapes a text for XML, and leaves out what XML 1.0 cannot have.
pub fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + text.len() / 8);
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\t' | '\n' => out.push(letter),
            '\u{0}'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{fffe}' | '\u{ffff}' => out.push(' '),
            _ => out.push(letter),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_pages_write_is_neither_markup_nor_an_illegal_letter() {
        assert_eq!(escaped("<b a=\"x\">&\u{0}\u{b}\u{ffff}\u{85}ä\n"), "&lt;b a=&quot;x&quot;&gt;&amp;    ä\n");
        assert!(is_language("pt-BR") && is_language("x-vernal") && !is_language("") && !is_language("a\" b"));
        assert_eq!(cut("äöü", 2), "äö…");
        assert_eq!(origin("http://a.example/x/y"), "http://a.example/");
        assert_eq!(origin("http://a.example"), "http://a.example");
    }
}
