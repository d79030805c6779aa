//! Sitemaps (sitemaps.org): lists of pages and lists of such lists, in XML or one URL per line.
//!
//! Only `loc` and `lastmod` of each entry are used. `changefreq` and `priority` are wishes, not facts, and are ignored. So are the
//! extensions for news, images and videos, whose `loc` is not that of the page.

use vernal_model::{DateRange, SiteListKind};

use super::dates;
use super::xml::{Element, Xml, XmlPiece};

/// A longer `loc` is no URL that we request.
const VALUE_BYTES_MAX: usize = 8 << 10;

/// Passes on each location of a sitemap with its date, in the order of the file. Returns a description of faults in the file.
pub fn each_location(text: &str, take: &mut dyn FnMut(&str, Option<DateRange>)) -> Option<&'static str> {
    let mut xml = Xml::new(text);
    let mut reading = FileReader::default();
    for piece in xml.by_ref() {
        match piece {
            XmlPiece::Open(element) => reading.open(&element, take),
            XmlPiece::Close(name) => reading.close(name, take),
            XmlPiece::Text(text) => reading.text(&text),
        }
    }
    reading.end(take);
    xml.fault.or(reading.fault)
}

#[derive(Default)]
struct FileReader<'a> {
    /// The prefix of the outermost element: elements with another one are extensions.
    prefix: Option<&'a str>,
    field: Field,
    in_entry: bool,
    location: String,
    date: String,
    fault: Option<&'static str>,
}

#[derive(Copy, Clone, Default, PartialEq, Eq)]
enum Field {
    #[default]
    None,
    Location,
    Date,
}

impl<'a> FileReader<'a> {
    fn open(&mut self, element: &Element<'a>, take: &mut dyn FnMut(&str, Option<DateRange>)) {
        let prefix = *self.prefix.get_or_insert(element.prefix);
        self.field = Field::None;
        if element.prefix != prefix || element.empty {
            return;
        }
        match element.name {
            "url" | "sitemap" => {
                // An unclosed entry ends where the next one begins.
                self.end(take);
                self.in_entry = true;
            }
            "loc" if self.in_entry && self.location.is_empty() => self.field = Field::Location,
            "lastmod" if self.in_entry && self.date.is_empty() => self.field = Field::Date,
            _ => {}
        }
    }

    fn text(&mut self, text: &str) {
        let value = match self.field {
            Field::None => return,
            Field::Location => &mut self.location,
            Field::Date => &mut self.date,
        };
        if value.len() + text.len() <= VALUE_BYTES_MAX {
            value.push_str(text);
        }
    }

    fn close(&mut self, name: &str, take: &mut dyn FnMut(&str, Option<DateRange>)) {
        self.field = Field::None;
        if matches!(name, "url" | "sitemap") {
            self.end(take);
        }
    }

    fn end(&mut self, take: &mut dyn FnMut(&str, Option<DateRange>)) {
        if !self.in_entry {
            return;
        }
        match self.location.trim() {
            "" => drop(self.fault.get_or_insert("some entries name no page")),
            location => take(location, dates::stamp(&self.date)),
        }
        self.in_entry = false;
        self.location.clear();
        self.date.clear();
    }
}

/// Which kind of sitemap the outermost element begins; `None` if it begins none.
pub fn kind_of(root: &str) -> Option<SiteListKind> {
    match root {
        "urlset" => Some(SiteListKind::Sitemap),
        "sitemapindex" => Some(SiteListKind::SitemapIndex),
        _ => None,
    }
}

/// The lines of a text sitemap.
pub fn each_line(text: &str, take: &mut dyn FnMut(&str, Option<DateRange>)) {
    let lines = text.lines().map(|line| line.trim().trim_start_matches('\u{feff}'));
    lines.filter(|line| is_web_url(line)).for_each(|line| take(line, None));
}

/// Whether a text is a sitemap of lines: most of them, and the first, are URLs.
pub fn looks_like_lines(text: &str) -> bool {
    let lines = || {
        text.lines().map(|line| line.trim().trim_start_matches('\u{feff}')).filter(|line| !line.is_empty()).take(100)
    };
    let urls = lines().filter(|line| is_web_url(line)).count();
    lines().next().is_some_and(is_web_url) && urls * 2 > lines().count()
}

fn is_web_url(line: &str) -> bool {
    let is = |scheme: &str| line.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme));
    (is("http://") || is("https://")) && !line.contains(|letter: char| letter.is_ascii_whitespace())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(text: &str) -> (Vec<(String, Option<String>)>, Option<&'static str>) {
        let mut out = Vec::new();
        let fault = each_location(text, &mut |location, stamp| {
            out.push((location.to_owned(), stamp.map(|stamp| stamp.from.warc_date()[..10].to_owned())));
        });
        (out, fault)
    }

    fn row(location: &str, date: Option<&str>) -> (String, Option<String>) {
        (location.into(), date.map(str::to_owned))
    }

    #[test]
    fn entries_are_read_whatever_the_order_and_the_prefix() {
        let text = r#"<?xml version="1.0" encoding="UTF-8"?>
            <sm:urlset xmlns:sm="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:image="http://www.google.com/schemas/sitemap-image/1.1">
            <sm:url><sm:loc> http://a.org/?x=1&amp;y=2 </sm:loc><sm:lastmod>2026-11-02</sm:lastmod><sm:changefreq>always</sm:changefreq>
              <image:image><image:loc>http://a.org/picture.png</image:loc></image:image></sm:url>
            <sm:url><sm:priority>1.0</sm:priority><sm:lastmod>never</sm:lastmod><sm:loc><![CDATA[http://a.org/b]]></sm:loc></sm:url>
            </sm:urlset>"#;
        let expected = vec![row("http://a.org/?x=1&y=2", Some("2026-11-02")), row("http://a.org/b", None)];
        assert_eq!(listed(text), (expected, None));
    }

    #[test]
    fn news_dates_and_video_places_are_not_the_page_s() {
        let text = "<urlset><url><loc>http://a.org/n</loc><news:news><news:publication_date>2020-01-01</news:publication_date>\
            </news:news><video:video><video:loc>http://v.org/</video:loc></video:video><lastmod>2026-01-05</lastmod></url></urlset>";
        assert_eq!(listed(text).0, vec![row("http://a.org/n", Some("2026-01-05"))]);
    }

    #[test]
    fn a_file_that_is_cut_short_gives_what_was_whole_and_what_was_begun() {
        let text = "<urlset><url><loc>http://a.org/1</loc></url><url><loc>http://a.org/2</loc><lastmod>2026-0";
        let (rows, fault) = listed(text);
        assert_eq!(rows, vec![row("http://a.org/1", None), row("http://a.org/2", None)]);
        assert!(fault.is_some());
    }

    #[test]
    fn entries_that_never_end_and_entries_without_a_place_lose_no_others() {
        let (rows, fault) = listed(
            "<urlset><url><loc>http://a.org/1</loc><url><loc></loc></url><url><loc>http://a.org/3</loc></url></urlset>",
        );
        assert_eq!(rows, vec![row("http://a.org/1", None), row("http://a.org/3", None)]);
        assert!(fault.is_some());
    }

    #[test]
    fn a_text_sitemap_is_one_url_per_line() {
        let text = "\u{feff}http://a.org/1\r\nHTTPS://a.org/2\n\nnonsense\nhttp://a.org/3\n";
        assert!(looks_like_lines(text));
        assert!(!looks_like_lines("Read http://a.org/1\nand http://a.org/2"));
        let mut lines = Vec::new();
        each_line(text, &mut |line, _| lines.push(line.to_owned()));
        assert_eq!(lines, ["http://a.org/1", "HTTPS://a.org/2", "http://a.org/3"]);
    }
}
