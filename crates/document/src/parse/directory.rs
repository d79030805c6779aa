//! Gopher menus and FTP directories: lists of links without markup.
//!
//! A gopher menu is lines of `Twords TAB selector TAB host TAB port`, ended by a dot. An FTP directory is one name per
//! line, and names of directories end with a slash.

use vernal_model::{Document, LinkKind, Rel, Role, Url};

use super::links::LinkCollector;
use super::text::{TextBuilder, TextChecksums};

pub fn read_gopher_menu(source: &str, page: &Url, document: &mut Document) -> TextChecksums {
    let mut text = TextBuilder::with_capacity(source.len());
    let mut links = LinkCollector::new(page);
    for line in source.lines() {
        if line == "." {
            break;
        }
        let mut fields = line.split('\t');
        let Some(words) = fields.next() else { continue };
        let Some(kind) = words.chars().next().filter(char::is_ascii) else { continue };
        let words = words[1..].trim();
        let target = match (fields.next(), fields.next(), fields.next()) {
            (Some(selector), Some(host), port) => gopher_target(kind, selector, host, port.unwrap_or("70")),
            _ => None,
        };
        text.push_line(words, if target.is_some() { Role::ListItem } else { Role::Main });
        if let Some(target) = target {
            let kind = if matches!(kind, 'g' | 'I' | 'p') { LinkKind::Image } else { LinkKind::Anchor };
            links.keep(target, kind, Rel::default(), words);
        }
    }
    take(text, links, document)
}

pub fn read_ftp_listing(source: &str, page: &Url, document: &mut Document) -> TextChecksums {
    let mut text = TextBuilder::with_capacity(source.len());
    let mut links = LinkCollector::new(page);
    let mut folder = page.as_str().to_owned();
    if !folder.ends_with('/') {
        folder.push('/');
    }
    for name in source.lines().map(|line| line.trim_end_matches('\r')) {
        let bare = name.strip_suffix('/').unwrap_or(name);
        if bare.is_empty() || bare == "." || bare == ".." || bare.contains('/') {
            continue;
        }
        text.push_line(name, Role::ListItem);
        if let Ok(target) = Url::parse(&format!("{folder}{}", percent_encoded(name))) {
            links.keep(target, LinkKind::Anchor, Rel::default(), name);
        }
    }
    take(text, links, document)
}

fn take(text: TextBuilder, links: LinkCollector, document: &mut Document) -> TextChecksums {
    let letters;
    (document.text, document.paragraphs, letters) = text.finish();
    links.finish(document);
    letters
}

/// The URL of a menu line. `None` for text without a target and for items that are no page (errors, searches, telnet).
fn gopher_target(kind: char, selector: &str, host: &str, port: &str) -> Option<Url> {
    if matches!(kind, 'i' | '3' | '7' | '2' | '8' | 'T' | '+') {
        return None;
    }
    if kind == 'h'
        && let Some(url) = selector.strip_prefix("URL:").or_else(|| selector.strip_prefix("/URL:"))
    {
        return Url::parse(url).ok();
    }
    let port: u16 = port.trim().parse().ok()?;
    Url::parse(&format!("gopher://{}:{port}/{kind}{}", host.trim(), percent_encoded(selector))).ok()
}

/// Encodes every byte that could end or change a path, except the slash.
fn percent_encoded(name: &str) -> String {
    let mut encoded = String::with_capacity(name.len());
    for &byte in name.as_bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'-' | b'_' | b'.' | b'~' | b'+' | b',' | b':' | b'@')
        {
            encoded.push(char::from(byte));
        } else {
            encoded.push_str(&format!("%{byte:02X}"));
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_menu_gives_links_and_words() {
        let page = Url::parse("gopher://g.org/1/").unwrap();
        let mut document = Document::default();
        let menu = "iWelcome\tfake\t(NULL)\t0\r\n0About us\t/about.txt\tg.org\t70\r\n1More\t/more\tother.org\t7070\r\n\
                    hWeb\tURL:http://example.org/\tg.org\t70\r\nIPicture\t/p 1.png\tg.org\t70\r\n3Error\tx\ty\t1\r\n.\r\n0Late\t/x\tg.org\t70";
        read_gopher_menu(menu, &page, &mut document);
        let targets: Vec<_> = document.links.iter().map(|link| link.target.as_str()).collect();
        assert_eq!(
            targets,
            [
                "gopher://g.org/0/about.txt",
                "gopher://other.org:7070/1/more",
                "http://example.org/",
                "gopher://g.org/I/p%201.png"
            ]
        );
        assert_eq!(document.links[3].kind, LinkKind::Image);
        assert_eq!(document.anchor(&document.links[0]), "About us");
        assert_eq!(document.text, "Welcome\nAbout us\nMore\nWeb\nPicture\nError");
    }

    #[test]
    fn a_folder_gives_its_entries() {
        let page = Url::parse("ftp://f.org/pub").unwrap();
        let mut document = Document::default();
        read_ftp_listing("a b.txt\r\nsub/\n..\nx#y?z\n", &page, &mut document);
        let targets: Vec<_> = document.links.iter().map(|link| link.target.as_str()).collect();
        assert_eq!(targets, ["ftp://f.org/pub/a%20b.txt", "ftp://f.org/pub/sub/", "ftp://f.org/pub/x%23y%3Fz"]);
    }
}
