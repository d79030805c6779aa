//! Events as entries of an Atom feed (RFC 4287).

use vernal_model::{EventKind, Operation};
use vernal_watch::{Delivery, Paragraph, Reason, Told};

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

/// One entry of a feed.
pub struct Entry {
    pub id: String,
    pub title: String,
    pub updated: String,
    pub address: String,
    pub labels: Vec<String>,
    pub language: String,
    /// HTML in which nothing can run.
    pub html: String,
}

/// The whole feed.
pub fn feed(head: &FeedHead, entries: &[Entry]) -> String {
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
    entries.iter().for_each(|entry| entry.write(&mut text));
    text.push_str("</feed>\n");
    text
}

impl Entry {
    /// The entry of an event. Its id is that of the event, and of the change where the event of a site tells several; its date
    /// is when that was observed. Neither ever changes.
    pub fn of_event(tag: &str, told: &Told, unread: Option<&str>) -> Entry {
        let part = told.group.fold.as_ref().map_or_else(String::new, |fold| format!("/{fold}"));
        let kinds = told.change.left.iter().map(|kind| kind.name().to_owned());
        let labels = std::iter::once(told.event.name().to_owned()).chain(kinds).chain(told.tags.iter().cloned());
        Entry {
            id: format!("{tag}{}{part}", told.id),
            title: title(told),
            updated: told.versions.seen_different.clone().unwrap_or_else(|| "1970-01-01T00:00:00.000Z".into()),
            address: if told.group.fold.is_some() { origin(&told.url) } else { told.url.clone() },
            labels: labels.collect(),
            language: told.language.clone(),
            html: content(told, unread),
        }
    }

    /// The entries of what a watch told: one for each event, or one for something else that is to be known.
    pub fn of_delivery(tag: &str, delivery: &Delivery) -> Vec<Entry> {
        let alert = &delivery.alert;
        if matches!(alert.reason, Reason::Changed | Reason::Digest) {
            return alert.events.iter().map(|told| Entry::of_event(tag, told, None)).collect();
        }
        let about = alert.events.first();
        let html = about.map(|told| content(told, None)).unwrap_or_default();
        vec![Entry {
            id: format!("{tag}{}", delivery.id),
            title: format!("{}: {}", delivery.watch_name, cut(&alert.line(), LETTERS_MAX)),
            updated: delivery.made.rfc3339(),
            address: about.map(|told| told.url.clone()).unwrap_or_default(),
            labels: vec!["alert".into()],
            language: String::new(),
            html: format!("<p>{}</p>{html}", escaped(&alert.line())),
        }]
    }

    fn write(&self, text: &mut String) {
        text.push_str("<entry>\n");
        element(text, "id", &self.id);
        element(text, "title", &self.title);
        element(text, "updated", &self.updated);
        element(text, "published", &self.updated);
        if !self.address.is_empty() {
            text.push_str(&format!("<link rel=\"alternate\" href=\"{}\"/>\n", escaped(&self.address)));
        }
        for label in &self.labels {
            text.push_str(&format!("<category term=\"{}\"/>\n", escaped(label)));
        }
        let language = Some(&self.language).filter(|language| is_language(language));
        let language = language.map_or_else(String::new, |language| format!(" xml:lang=\"{language}\""));
        text.push_str(&format!("<content type=\"html\"{language}>{}</content>\n", escaped(&self.html)));
        text.push_str("</entry>\n");
    }
}

/// What happened, to which page, and the first words of it.
fn title(told: &Told) -> String {
    let page = if told.title.trim().is_empty() { &told.url } else { &told.title };
    let page = if told.group.fold.is_some() { &told.site } else { page };
    let first = told.paragraphs.iter().find_map(|one| one.after.as_deref().or(one.before.as_deref()));
    let first =
        first.filter(|_| told.event != EventKind::New).map(|words| format!(" – {}", cut(words, TITLE_LETTERS_MAX)));
    let pages = told.group.pages.map_or_else(String::new, |pages| format!(" ({pages} pages)"));
    format!("{}: {}{pages}{}", told.event.name(), cut(page, TITLE_LETTERS_MAX), first.unwrap_or_default())
}

/// The words as HTML in which nothing can run: every text of the page is escaped.
fn content(told: &Told, unread: Option<&str>) -> String {
    let mut html = String::new();
    let address = escaped(&told.url);
    html.push_str(&format!("<p><a href=\"{address}\">{address}</a></p>"));
    if !told.detail.is_empty() {
        html.push_str(&format!("<p>{}</p>", escaped(&told.detail)));
    }
    for one in told.paragraphs.iter().take(PARAGRAPHS_MAX) {
        html.push_str(&paragraph(one));
    }
    if let Some(more) = told.paragraphs.len().checked_sub(PARAGRAPHS_MAX).filter(|more| *more > 0) {
        html.push_str(&format!("<p>and {more} more paragraphs</p>"));
    }
    for note in told.change.notes.iter().take(PARAGRAPHS_MAX) {
        let side = |text: &Option<String>| {
            text.as_deref().map_or_else(|| "–".to_owned(), |text| escaped(&cut(text, LETTERS_MAX)))
        };
        html.push_str(&format!("<p>{}: {} → {}</p>", escaped(&note.what), side(&note.before), side(&note.after)));
    }
    if let Some(unread) = unread {
        html.push_str(&format!("<p>{}</p>", escaped(unread)));
    }
    html
}

fn paragraph(one: &Paragraph) -> String {
    let words = |text: &Option<String>| text.as_deref().map(|text| escaped(&cut(text, LETTERS_MAX)));
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
