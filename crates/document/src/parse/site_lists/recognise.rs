//! Recognises lists for machines (sitemaps, feeds, tables) and reads them.

use std::collections::HashMap;

use vernal_model::{DateRange, Failure, Fingerprint, ListEntry, Media, SiteList, SiteListKind, Url};

use super::xml::{Xml, XmlPiece};
use super::{feed, json_feed, sitemap, table};
use crate::Input;
use crate::parse::encoding;
use crate::parse::format::charset_of;
use crate::unpack::{UnpackLimits, unpack_gzip_file};

/// The entry limit of one file, as sitemaps.org has it. Further entries are counted only.
pub const LISTED_MAX: usize = 50_000;
/// The first line of a table is looked for within so many bytes.
const LINE_BYTES: usize = 256;
/// The outermost element must be among so many pieces; otherwise this is no list.
const PIECES_TO_ROOT_MAX: usize = 16;

/// Reads a body as a list; `None` if it is none. Files compressed with gzip are unpacked within the usual limits.
pub fn listing(input: &Input<'_>, media: Media) -> Option<Box<SiteList>> {
    // Whatever media type a server gives to such a file, and whatever its tags look like.
    if table::is_beside(input.url.path(), &String::from_utf8_lossy(&input.bytes[..input.bytes.len().min(LINE_BYTES)])) {
        return Some(Collector::new(input.url, SiteListKind::VolatileTable).done(None));
    }
    let packed = input.bytes.starts_with(b"\x1f\x8b");
    match media {
        Media::Xml | Media::Json | Media::Text => read_list(input, media, input.bytes),
        Media::Html => None,
        _ if packed && input.url.path().ends_with(".gz") => {
            let mut bytes = Vec::new();
            match unpack_gzip_file(input.bytes, &UnpackLimits::default(), &mut bytes) {
                Ok(()) => read_list(input, inner_media(&bytes), &bytes),
                // Everything before the fault is read, and the fault is reported.
                Err(failure) => {
                    let mut listing = read_list(input, inner_media(&bytes), &bytes)?;
                    listing.note = Some(fault_words(&failure).into());
                    Some(listing)
                }
            }
        }
        _ => None,
    }
}

fn fault_words(failure: &Failure) -> &'static str {
    match failure {
        Failure::Bomb => "it unpacks to more than we take",
        _ => "it does not unpack to its end",
    }
}

fn inner_media(bytes: &[u8]) -> Media {
    if bytes.trim_ascii_start().starts_with(b"<") || bytes.starts_with(b"\xef\xbb\xbf<") {
        Media::Xml
    } else {
        Media::Text
    }
}

fn read_list(input: &Input<'_>, media: Media, bytes: &[u8]) -> Option<Box<SiteList>> {
    if media == Media::Json {
        return if json_feed::is_likely(bytes) { json_listing(input.url, bytes) } else { None };
    }
    let tld = input.url.host().rsplit('.').next().unwrap_or_default();
    let charset = input.content_type.and_then(charset_of);
    if media == Media::Text {
        let is_sitemap_name = names_sitemap(input.url.path());
        let start = String::from_utf8_lossy(&bytes[..bytes.len().min(4 << 10)]);
        let is_sitemap = is_sitemap_name && sitemap::looks_like_lines(&start);
        if !is_sitemap && !table::is_table(&start) {
            return None;
        }
        let (text, _) = encoding::decode(bytes, charset, tld);
        return text_listing(input.url, &text);
    }
    let (text, _) = encoding::decode(bytes, charset, tld);
    let root = root_of(&text)?;
    match sitemap::kind_of(root) {
        Some(kind) => {
            let mut collector = Collector::new(input.url, kind);
            let fault = sitemap::each_location(&text, &mut |location, stamp| collector.take(location, stamp));
            Some(collector.done(fault))
        }
        None if feed::is_feed(root) => {
            let mut collector = Collector::new(input.url, SiteListKind::Feed);
            let about = feed::each_entry(&text, &mut |about, link, stamp| {
                collector.rebase(about.base.as_deref());
                collector.take(link, stamp);
            });
            (collector.hub, collector.topic) = (collector.joined(about.hub), collector.joined(about.topic));
            Some(collector.done(about.fault))
        }
        None => None,
    }
}

fn json_listing(url: &Url, bytes: &[u8]) -> Option<Box<SiteList>> {
    let mut collector = Collector::new(url, SiteListKind::Feed);
    let about = json_feed::each_entry(bytes, &mut |link, stamp| collector.take(link, stamp))?;
    (collector.hub, collector.topic) = (collector.joined(about.hub), collector.joined(about.topic));
    Some(collector.done(about.fault))
}

fn text_listing(url: &Url, text: &str) -> Option<Box<SiteList>> {
    if table::is_table(text) {
        let mut collector = Collector::new(url, SiteListKind::VolatileTable);
        let fault = table::each_page(text, &mut |page, stamp| collector.take(page, stamp));
        return Some(collector.done(fault));
    }
    let mut collector = Collector::new(url, SiteListKind::Sitemap);
    sitemap::each_line(text, &mut |line, stamp| collector.take(line, stamp));
    Some(collector.done(None))
}

/// Whether the last path segment is that of a text sitemap.
fn names_sitemap(path: &str) -> bool {
    let file = path.rsplit('/').next().unwrap_or_default().to_ascii_lowercase();
    file.contains("sitemap") || file.contains("urllist")
}

/// The name of the outermost element, without its prefix.
fn root_of(text: &str) -> Option<&str> {
    Xml::new(text).take(PIECES_TO_ROOT_MAX).find_map(|piece| match piece {
        XmlPiece::Open(element) => Some(element.name),
        _ => None,
    })
}

/// Collects entries: each URL once, with its latest date.
struct Collector {
    base: Url,
    rebased: bool,
    kind: SiteListKind,
    entries: Vec<ListEntry>,
    /// The index of each URL among the entries. The map is never iterated.
    met: HashMap<Fingerprint, usize>,
    dropped: u32,
    hub: Option<Url>,
    topic: Option<Url>,
}

impl Collector {
    fn new(url: &Url, kind: SiteListKind) -> Self {
        Collector {
            base: url.clone(),
            rebased: false,
            kind,
            entries: Vec::new(),
            met: HashMap::new(),
            dropped: 0,
            hub: None,
            topic: None,
        }
    }

    fn rebase(&mut self, base: Option<&str>) {
        if !std::mem::replace(&mut self.rebased, true)
            && let Some(base) = base.and_then(|base| self.base.join(base).ok())
        {
            self.base = base;
        }
    }

    fn joined(&self, reference: Option<String>) -> Option<Url> {
        self.base.join(reference?.trim()).ok()
    }

    fn take(&mut self, reference: &str, stamp: Option<DateRange>) {
        if self.entries.len() >= LISTED_MAX {
            self.dropped = self.dropped.saturating_add(1);
            return;
        }
        let Ok(url) = self.base.join(reference) else {
            self.dropped = self.dropped.saturating_add(1);
            return;
        };
        let next = self.entries.len();
        let place = *self.met.entry(url.fingerprint()).or_insert(next);
        if place == next {
            self.entries.push(ListEntry { url, stamp });
        } else if let Some(stamp) = stamp {
            // Feeds may name a page several times. Its latest date counts.
            let entry = &mut self.entries[place];
            if entry.stamp.is_none_or(|older| older.from < stamp.from) {
                entry.stamp = Some(stamp);
            }
        }
    }

    fn done(self, fault: Option<&'static str>) -> Box<SiteList> {
        Box::new(SiteList {
            kind: self.kind,
            entries: self.entries,
            dropped: self.dropped,
            note: fault.map(Into::into),
            hub: self.hub,
            topic: self.topic,
        })
    }
}
