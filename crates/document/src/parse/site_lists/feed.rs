//! Feeds in XML: RSS 0.9x, 1.0 (RDF) and 2.0, and Atom (RFC 4287). The page of each entry and the date of its last change are
//! kept, and the hub of the feed (WebSub).

use std::borrow::Cow;

use vernal_model::DateRange;

use super::dates;
use super::xml::{Element, Xml, XmlPiece};

/// Longer texts are no links, names or dates.
const VALUE_BYTES_MAX: usize = 8 << 10;

/// The metadata of a feed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct About {
    pub hub: Option<String>,
    pub topic: Option<String>,
    /// The `xml:base` of its outermost element.
    pub base: Option<String>,
    pub fault: Option<&'static str>,
}

/// Whether the outermost element begins a feed.
pub fn is_feed(root: &str) -> bool {
    matches!(root, "rss" | "feed" | "RDF")
}

/// Gives each entry's page with the date of its last change, in the order of the file. References may be relative to the
/// feed's base, which is known by then.
pub fn each_entry(text: &str, take: &mut dyn FnMut(&About, &str, Option<DateRange>)) -> About {
    let mut xml = Xml::new(text);
    let mut reading = FileReader::default();
    while let Some(piece) = xml.next() {
        match piece {
            XmlPiece::Open(element) => reading.open(&element, xml.depth()),
            XmlPiece::Close(_) => reading.close(xml.depth(), take),
            XmlPiece::Text(text) => reading.text(&text),
        }
    }
    // An entry that is cut off by the end of the file counts too.
    if reading.entry_depth.is_some() {
        reading.end(take);
    }
    reading.about.fault = reading.about.fault.or(xml.fault);
    reading.about
}

#[derive(Default)]
struct FileReader {
    about: About,
    is_atom: Option<bool>,
    /// The nesting depth of an entry, including its own element.
    entry_depth: Option<usize>,
    field: Field,
    entry: Entry,
}

#[derive(Default)]
struct Entry {
    link: String,
    /// `guid`, `id` or `rdf:about`, where it is the page's address.
    permanent: String,
    changed: String,
    published: String,
}

#[derive(Copy, Clone, Default, PartialEq, Eq)]
enum Field {
    #[default]
    None,
    Link,
    Permanent,
    Changed,
    Published,
}

impl FileReader {
    fn open(&mut self, element: &Element<'_>, depth: usize) {
        self.field = Field::None;
        if self.is_atom.is_none() {
            self.is_atom = Some(element.name == "feed");
            self.about.base = element.value("xml:base").map(Cow::into_owned);
        }
        let is_atom = self.is_atom == Some(true);
        let Some(entry) = self.entry_depth else {
            match element.name {
                "entry" if is_atom && !element.empty => self.begin(depth, None),
                "item" if !is_atom && !element.empty => self.begin(depth, element.value("rdf:about")),
                "link" => self.keep_relation(element),
                _ => {}
            }
            return;
        };
        // Only direct children of the entry are used, because its content may hold whole documents.
        let own_depth = depth + usize::from(element.empty);
        if own_depth != entry + 1 {
            return;
        }
        self.field = match (element.prefix, element.name) {
            ("", "link") if is_atom => {
                self.keep_atom_link(element);
                Field::None
            }
            ("" | "rss", "link") => Field::Link,
            ("", "guid") if element.value("isPermaLink").as_deref() != Some("false") => Field::Permanent,
            ("" | "atom" | "a10", "updated") | ("", "modified") | ("dcterms", "modified") => Field::Changed,
            ("", "published" | "issued" | "pubDate") | ("dc", "date") | ("", "date") => Field::Published,
            ("", "id") if is_atom => Field::Permanent,
            (_, "origLink") => Field::Permanent,
            _ => Field::None,
        };
        if element.empty {
            self.field = Field::None;
        }
    }

    fn begin(&mut self, depth: usize, about: Option<Cow<'_, str>>) {
        self.entry_depth = Some(depth);
        self.entry = Entry::default();
        self.entry.permanent.extend(about);
    }

    /// A link of the feed itself. Only its hub and its own address are used.
    fn keep_relation(&mut self, element: &Element<'_>) {
        let (Some(rel), Some(target)) = (element.value("rel"), element.value("href")) else { return };
        match rel.as_ref() {
            "hub" => drop(self.about.hub.get_or_insert_with(|| target.into_owned())),
            "self" => drop(self.about.topic.get_or_insert_with(|| target.into_owned())),
            _ => {}
        }
    }

    fn keep_atom_link(&mut self, element: &Element<'_>) {
        let is_page = element.value("rel").is_none_or(|rel| rel == "alternate");
        if is_page && self.entry.link.is_empty() {
            self.entry.link.extend(element.value("href"));
        }
    }

    fn text(&mut self, text: &str) {
        let value = match self.field {
            Field::None => return,
            Field::Link => &mut self.entry.link,
            Field::Permanent => &mut self.entry.permanent,
            Field::Changed => &mut self.entry.changed,
            Field::Published => &mut self.entry.published,
        };
        if value.len() + text.len() <= VALUE_BYTES_MAX {
            value.push_str(text);
        }
    }

    fn close(&mut self, depth: usize, take: &mut dyn FnMut(&About, &str, Option<DateRange>)) {
        self.field = Field::None;
        if self.entry_depth.is_some_and(|entry| depth < entry) {
            self.end(take);
        }
    }

    fn end(&mut self, take: &mut dyn FnMut(&About, &str, Option<DateRange>)) {
        self.entry_depth = None;
        let entry = std::mem::take(&mut self.entry);
        let stamp = dates::stamp(&entry.changed).or_else(|| dates::stamp(&entry.published));
        let permanent = Some(entry.permanent.trim()).filter(|name| name.starts_with("http"));
        let link = Some(entry.link.trim()).filter(|link| !link.is_empty()).or(permanent);
        match link {
            Some(link) => take(&self.about, link, stamp),
            None => drop(self.about.fault.get_or_insert("some entries name no page")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(text: &str) -> (Vec<(String, Option<String>)>, About) {
        let mut out = Vec::new();
        let about = each_entry(text, &mut |_, link, stamp| {
            out.push((link.to_owned(), stamp.map(|stamp| stamp.from.warc_date())));
        });
        (out, about)
    }

    fn row(link: &str, date: &str) -> (String, Option<String>) {
        (link.into(), (!date.is_empty()).then(|| date.into()))
    }

    #[test]
    fn rss_two_gives_links_dates_and_its_hub() {
        let text = r#"<?xml version="1.0"?><rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom"><channel>
            <title>News</title><link>http://a.org/</link>
            <atom:link rel="hub" href="http://hub.org/"/><atom:link rel="self" href="http://a.org/feed"/>
            <item><title>One</title><link>http://a.org/1</link><pubDate>Mon, 02 Nov 2026 10:00:00 GMT</pubDate></item>
            <item><guid isPermaLink="false">17</guid><link><![CDATA[http://a.org/2?a&b]]></link><description>&lt;link&gt;</description></item>
            <item><guid>http://a.org/3</guid><atom:updated>2026-11-03T00:00:00Z</atom:updated></item>
            <item><title>Nowhere</title></item></channel></rss>"#;
        let (rows, about) = listed(text);
        let expected = [
            row("http://a.org/1", "2026-11-02T10:00:00Z"),
            row("http://a.org/2?a&b", ""),
            row("http://a.org/3", "2026-11-03T00:00:00Z"),
        ];
        assert_eq!(rows, expected);
        assert_eq!(
            (about.hub.as_deref(), about.topic.as_deref()),
            (Some("http://hub.org/"), Some("http://a.org/feed"))
        );
        assert!(about.fault.is_some());
    }

    #[test]
    fn rss_of_the_first_days_and_rdf_are_read_too() {
        let old =
            "<rss version=\"0.91\"><channel><item><title>a</title><link>http://a.org/1</link></item></channel></rss>";
        assert_eq!(listed(old).0, [row("http://a.org/1", "")]);
        let rdf = "<rdf:RDF xmlns=\"http://purl.org/rss/1.0/\"><channel rdf:about=\"http://a.org/\"><items><rdf:Seq>\
            <rdf:li resource=\"http://a.org/1\"/></rdf:Seq></items></channel><item rdf:about=\"http://a.org/1\"><title>a</title>\
            <link>http://a.org/1</link><dc:date>2026-11-02</dc:date></item></rdf:RDF>";
        assert_eq!(listed(rdf).0, [row("http://a.org/1", "2026-11-02T00:00:00Z")]);
    }

    #[test]
    fn atom_takes_the_alternate_link_and_the_last_change() {
        let text = "<feed xmlns='http://www.w3.org/2005/Atom' xml:base='http://a.org/blog/'><link rel='hub' href='http://hub.org'/>\
            <link href='/'/><entry><id>tag:a.org,2026:1</id><link rel='enclosure' href='/x.mp3'/><link href='one'/>\
            <published>2026-01-01T00:00:00Z</published><updated>2026-02-01T00:00:00Z</updated>\
            <content type='xhtml'><div><link>http://no.org/</link><updated>1999</updated></div></content></entry>\
            <entry><id>http://a.org/two</id><published>2026-03-01T00:00:00Z</published></entry></feed>";
        let (rows, about) = listed(text);
        assert_eq!(rows, [row("one", "2026-02-01T00:00:00Z"), row("http://a.org/two", "2026-03-01T00:00:00Z")]);
        assert_eq!(about.base.as_deref(), Some("http://a.org/blog/"));
        assert_eq!(about.fault, None);
    }

    #[test]
    fn a_feed_that_is_cut_short_gives_what_it_has() {
        let (rows, about) =
            listed("<rss><channel><item><link>http://a.org/1</link></item><item><link>http://a.org/2</link><pub");
        assert_eq!(rows.len(), 2);
        assert!(about.fault.is_some());
    }
}
