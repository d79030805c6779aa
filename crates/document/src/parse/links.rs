//! Every link of a page with its kind, its rel words and its anchor text.

use vernal_model::{AlternateLink, AnchorPlace, Document, Link, LinkKind, Rel, Url};

use super::scan::OpenTag;
use super::site_lists::table;
use super::tag::Tag;
use super::text::TextBuilder;
use crate::LINKS_MAX;

/// The byte limit of an anchor text, cut at a character boundary. Lengths fit into a byte.
pub const ANCHOR_BYTES_MAX: usize = 200;

/// Language versions and feeds that a page may name.
const ALTERNATES_MAX: usize = 500;

pub struct LinkCollector {
    links: Vec<Link>,
    anchors: String,
    dropped: u32,
    canonical: Option<Url>,
    alternates: Vec<AlternateLink>,
    base: Url,
    base_given: bool,
    /// The table that a page with `Vol#` tags has, until the first of them names it.
    table_beside: Option<Url>,
    /// The open anchor: its index in `links`, and the start of its text.
    anchor: Option<(usize, usize)>,
}

impl LinkCollector {
    pub fn new(page: &Url) -> Self {
        LinkCollector {
            links: Vec::with_capacity(64),
            anchors: String::with_capacity(1 << 10),
            dropped: 0,
            canonical: None,
            alternates: Vec::new(),
            base: page.clone(),
            base_given: false,
            table_beside: table::beside(page),
            anchor: None,
        }
    }

    pub fn open(&mut self, tag: &OpenTag<'_, '_>, text: &TextBuilder) {
        match tag.tag {
            Tag::A => self.open_anchor(tag, text),
            Tag::Area => self.keep_value(tag, "href", LinkKind::Anchor, "alt"),
            Tag::Img => self.keep_image(tag),
            Tag::Image if tag.foreign => self.keep_svg_image(tag),
            Tag::Link => self.keep_link(tag),
            Tag::Script => self.keep_value(tag, "src", LinkKind::Script, ""),
            Tag::Iframe | Tag::Frame => self.keep_value(tag, "src", LinkKind::Frame, "title"),
            Tag::Video => {
                self.keep_value(tag, "src", LinkKind::Media, "");
                self.keep_value(tag, "poster", LinkKind::Image, "");
            }
            Tag::Audio | Tag::Embed => self.keep_value(tag, "src", LinkKind::Media, ""),
            Tag::Source => {
                self.keep_value(tag, "src", LinkKind::Media, "");
                self.keep_set(tag, "srcset");
            }
            Tag::Object => self.keep_value(tag, "data", LinkKind::Media, ""),
            Tag::Input if tag.value("type").is_some_and(|kind| kind.eq_ignore_ascii_case("image")) => {
                self.keep_value(tag, "src", LinkKind::Image, "alt");
            }
            Tag::Base => self.rebase(tag),
            Tag::Meta => self.keep_refresh(tag),
            Tag::Other if table::is_volatile_tag(tag.name.letters()) => self.keep_table_beside(),
            _ => {}
        }
    }

    pub fn close(&mut self, tag: Tag, text: &TextBuilder) {
        if tag == Tag::A {
            self.close_anchor(text);
        }
    }

    /// Ends the open anchor with the text since its start.
    pub fn close_anchor(&mut self, text: &TextBuilder) {
        let Some((place, mark)) = self.anchor.take() else { return };
        let anchor = written(&mut self.anchors, text.since(mark));
        if let Some(link) = self.links.get_mut(place) {
            link.anchor = anchor;
        }
    }

    /// Moves the links and their words into the document.
    pub fn finish(self, document: &mut Document) {
        let LinkCollector { links, anchors, dropped, canonical, alternates, .. } = self;
        document.links = links;
        document.anchors = anchors;
        document.links_dropped = dropped;
        document.canonical = canonical;
        document.alternates = alternates;
    }

    /// Adds a link that is no element, such as a line of a menu.
    pub fn keep(&mut self, target: Url, kind: LinkKind, rel: Rel, anchor: &str) {
        if self.links.len() >= LINKS_MAX {
            self.dropped = self.dropped.saturating_add(1);
            return;
        }
        let anchor = written(&mut self.anchors, anchor);
        self.links.push(Link { target, kind, rel, anchor });
    }

    fn open_anchor(&mut self, tag: &OpenTag<'_, '_>, text: &TextBuilder) {
        // An anchor ends the one before it.
        self.close_anchor(text);
        let reference = match tag.value("href") {
            None if tag.foreign => tag.value("xlink:href"),
            reference => reference,
        };
        let Some(reference) = reference else { return };
        let rel = tag.value("rel").map_or(Rel::default(), |words| rel_of(&words));
        let kept = self.links.len();
        self.keep_reference(&reference, LinkKind::Anchor, rel, "");
        if self.links.len() > kept {
            self.anchor = Some((kept, text.mark()));
        }
    }

    fn keep_value(&mut self, tag: &OpenTag<'_, '_>, name: &str, kind: LinkKind, anchor: &str) {
        let Some(reference) = tag.value(name) else { return };
        let rel = tag.value("rel").map_or(Rel::default(), |words| rel_of(&words));
        let words = if anchor.is_empty() { None } else { tag.value(anchor) };
        self.keep_reference(&reference, kind, rel, &words.map_or(String::new(), |words| folded(&words)));
    }

    fn keep_reference(&mut self, reference: &str, kind: LinkKind, rel: Rel, anchor: &str) {
        if let Some(target) = self.target(reference) {
            self.keep(target, kind, rel, anchor);
        }
    }

    /// The URL of a reference. `None` for a place on the same page and for schemes that we cannot request.
    fn target(&self, reference: &str) -> Option<Url> {
        let reference = reference.trim_matches(|letter: char| letter.is_ascii_whitespace() || letter == '\0');
        if reference.is_empty() || reference.starts_with('#') || names_foreign_scheme(reference) {
            return None;
        }
        self.base.join(reference).ok()
    }

    fn keep_image(&mut self, tag: &OpenTag<'_, '_>) {
        self.keep_value(tag, "src", LinkKind::Image, "alt");
        self.keep_set(tag, "srcset");
    }

    fn keep_svg_image(&mut self, tag: &OpenTag<'_, '_>) {
        let name = if tag.has("href") { "href" } else { "xlink:href" };
        self.keep_value(tag, name, LinkKind::Image, "");
    }

    /// The candidates of a `srcset`: a URL up to white space, then a descriptor up to a comma outside parentheses.
    fn keep_set(&mut self, tag: &OpenTag<'_, '_>, name: &str) {
        let Some(set) = tag.value(name) else { return };
        let mut rest = set.as_ref();
        loop {
            rest = rest.trim_start_matches(|letter: char| letter.is_ascii_whitespace() || letter == ',');
            if rest.is_empty() {
                return;
            }
            let end = rest.find(|letter: char| letter.is_ascii_whitespace()).unwrap_or(rest.len());
            let (candidate, after) = rest.split_at(end);
            let reference = candidate.trim_end_matches(',');
            self.keep_reference(reference, LinkKind::Image, Rel::default(), "");
            rest = if reference.len() < candidate.len() { after } else { after_descriptor(after) };
        }
    }

    fn keep_link(&mut self, tag: &OpenTag<'_, '_>) {
        let (Some(words), Some(reference)) = (tag.value("rel"), tag.value("href")) else { return };
        let Some(target) = self.target(&reference) else { return };
        let has = |wanted: &str| words.split_ascii_whitespace().any(|word| word.eq_ignore_ascii_case(wanted));
        let rel = rel_of(&words);
        if has("stylesheet") {
            self.keep(target, LinkKind::Style, rel, "");
        } else if has("canonical") {
            self.canonical.get_or_insert_with(|| target.clone());
            self.keep(target, LinkKind::Canonical, rel, "");
        } else if has("alternate") {
            self.keep_alternate(tag, target, rel);
        } else if has("volatile-information") {
            self.keep(target, LinkKind::Companion, rel, "");
        } else if has("icon") || has("apple-touch-icon") {
            self.keep(target, LinkKind::Image, rel, "");
        } else if has("next") || has("prev") {
            self.keep(target, LinkKind::Anchor, rel, "");
        }
    }

    fn keep_alternate(&mut self, tag: &OpenTag<'_, '_>, target: Url, rel: Rel) {
        let content_type = tag.value("type").unwrap_or_default().trim().to_ascii_lowercase();
        let is_feed = matches!(
            content_type.as_str(),
            "application/rss+xml" | "application/atom+xml" | "application/feed+json" | "application/rdf+xml"
        );
        let kind = if is_feed { LinkKind::Feed } else { LinkKind::Alternate };
        if self.alternates.len() < ALTERNATES_MAX {
            let language = tag.value("hreflang").unwrap_or_default().trim().to_owned();
            self.alternates.push(AlternateLink { target: target.clone(), language, content_type });
        }
        let title = tag.value("title").map_or(String::new(), |words| folded(&words));
        self.keep(target, kind, rel, &title);
    }

    /// A page with `Vol#` tags has its table beside it (paper 004, II B), once for all of them.
    fn keep_table_beside(&mut self) {
        if let Some(table) = self.table_beside.take() {
            self.keep(table, LinkKind::Companion, Rel::default(), "");
        }
    }

    /// The first base that is a URL counts for everything after it.
    fn rebase(&mut self, tag: &OpenTag<'_, '_>) {
        if self.base_given {
            return;
        }
        if let Some(base) = tag.value("href").and_then(|reference| self.base.join(reference.trim()).ok()) {
            self.base = base;
            self.base_given = true;
        }
    }

    /// `<meta http-equiv=refresh content="5; url=…">`
    fn keep_refresh(&mut self, tag: &OpenTag<'_, '_>) {
        if !tag.value("http-equiv").is_some_and(|name| name.eq_ignore_ascii_case("refresh")) {
            return;
        }
        let Some(content) = tag.value("content") else { return };
        if let Some(reference) = refresh_target(&content) {
            self.keep_reference(reference, LinkKind::Redirect, Rel::default(), "");
        }
    }
}

/// Whether a reference has a scheme that we cannot request, such as `javascript:` or `mailto:`. It avoids the full parser.
fn names_foreign_scheme(reference: &str) -> bool {
    let Some(colon) = reference.bytes().position(|byte| !byte.is_ascii_alphanumeric() && byte != b'-' && byte != b'+')
    else {
        return false;
    };
    let scheme = &reference[..colon];
    reference.as_bytes()[colon] == b':'
        && scheme.bytes().next().is_some_and(|byte| byte.is_ascii_alphabetic())
        && !["http", "https", "ftp", "gopher"].iter().any(|ours| scheme.eq_ignore_ascii_case(ours))
}

fn after_descriptor(rest: &str) -> &str {
    let mut parentheses = 0u32;
    for (place, byte) in rest.bytes().enumerate() {
        match byte {
            b'(' => parentheses += 1,
            b')' => parentheses = parentheses.saturating_sub(1),
            b',' if parentheses == 0 => return &rest[place + 1..],
            _ => {}
        }
    }
    ""
}

fn refresh_target(content: &str) -> Option<&str> {
    let rest = content.trim_start().trim_start_matches(|letter: char| letter.is_ascii_digit() || letter == '.');
    let rest = rest.trim_start().strip_prefix([';', ','])?.trim_start();
    let named = rest.get(..3).is_some_and(|name| name.eq_ignore_ascii_case("url"));
    let value = match named {
        true => rest[3..].trim_start().strip_prefix('=').unwrap_or(rest).trim_start(),
        false => rest,
    };
    let quote = value.chars().next().filter(|letter| matches!(letter, '"' | '\''));
    match quote {
        Some(quote) => value[1..].split(quote).next(),
        None => Some(value.trim_end()),
    }
}

fn rel_of(words: &str) -> Rel {
    let mut rel = Rel::default();
    for word in words.split(|letter: char| letter.is_ascii_whitespace() || letter == ',') {
        for (name, bit) in
            [("nofollow", Rel::NOFOLLOW), ("ugc", Rel::UGC), ("sponsored", Rel::SPONSORED), ("next", Rel::NEXT)]
        {
            if word.eq_ignore_ascii_case(name) {
                rel = rel.with(bit);
            }
        }
    }
    rel
}

/// Folds white space and stops soon after the limit of an anchor.
fn folded(words: &str) -> String {
    let mut folded = String::new();
    for word in words.split_whitespace() {
        if folded.len() > ANCHOR_BYTES_MAX {
            break;
        }
        if !folded.is_empty() {
            folded.push(' ');
        }
        folded.push_str(word);
    }
    folded
}

/// Appends the words of a link, with spaces for line feeds.
fn written(anchors: &mut String, words: &str) -> AnchorPlace {
    let start = anchors.len();
    let mut lines = limited(words, ANCHOR_BYTES_MAX).split('\n');
    anchors.push_str(lines.next().unwrap_or_default());
    for line in lines {
        anchors.push(' ');
        anchors.push_str(line);
    }
    AnchorPlace { start: start as u32, bytes: (anchors.len() - start) as u8 }
}

/// The beginning of a text, cut at a character boundary.
pub fn limited(text: &str, bytes_max: usize) -> &str {
    &text[..text.floor_char_boundary(bytes_max)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refresh_is_read_in_every_spelling() {
        for (content, expected) in [
            ("5; url=/next", Some("/next")),
            ("0;URL='http://a.b/c'", Some("http://a.b/c")),
            ("0, \"/x\"", Some("/x")),
            ("3;/plain", Some("/plain")),
            ("30", None),
            ("", None),
        ] {
            assert_eq!(refresh_target(content), expected, "{content}");
        }
    }

    #[test]
    fn rel_words_become_bits() {
        let rel = rel_of("NoFollow, ugc noopener");
        assert!(rel.contains(Rel::NOFOLLOW) && rel.contains(Rel::UGC) && !rel.contains(Rel::SPONSORED));
    }

    #[test]
    fn a_cut_never_splits_a_letter() {
        assert_eq!(limited("añb", 2), "a");
        assert_eq!(limited("añb", 9), "añb");
    }

    #[test]
    fn only_schemes_we_speak_are_resolved() {
        for foreign in ["mailto:a@b.c", "JavaScript:void(0)", "data:image/png;base64,AA", "tel:+1"] {
            assert!(names_foreign_scheme(foreign), "{foreign}");
        }
        for ours in ["/a:b", "a/b:c", "HTTP://x.y/", "page", "?a:b", "//host/x"] {
            assert!(!names_foreign_scheme(ours), "{ours}");
        }
    }
}
