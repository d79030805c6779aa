//! ResourceSync (ANSI/NISO Z39.99): the changes of all pages as change lists, for programs that keep a copy of what the web has.
//!
//! The feed is cut by positions of the journal, so that a list keeps its address and, once it is full, its contents.

use std::fmt::Write;

use vernal_model::{Event, EventKind, Moment};
use vernal_repository::{Cursor, Reader, Result};

/// Positions of the journal that one list covers. A change list may have 50,000 entries.
pub const CHANGES_PER_LIST: u64 = 50_000;
/// Events that are read at a time.
const READ_AT_ONCE: usize = 1_000;
/// Entries of an index. Older lists keep their addresses, and the index no longer names them.
const LISTS_MAX: u64 = 50_000;

const OPEN: &str =
    "xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\" xmlns:rs=\"http://www.openarchives.org/rs/terms/\"";

/// What this source offers.
pub fn capability_list(base: &str) -> String {
    let base = escaped(base);
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<urlset {OPEN}>\n<rs:md capability=\"capabilitylist\"/>\n<url>\
         <loc>{base}/resourcesync/changelist.xml</loc><rs:md capability=\"changelist\"/></url>\n</urlset>\n"
    )
}

/// The index of all change lists.
pub fn change_list_index(base: &str, newest: Cursor, began: Moment) -> String {
    let base = escaped(base);
    let lists = newest.0 / CHANGES_PER_LIST + 1;
    let mut text = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<sitemapindex {OPEN}>\n\
         <rs:ln rel=\"up\" href=\"{base}/resourcesync/capabilitylist.xml\"/>\n\
         <rs:md capability=\"changelist\" from=\"{}\"/>\n",
        began.rfc3339()
    );
    for list in lists.saturating_sub(LISTS_MAX)..lists {
        let _ = writeln!(
            text,
            "<sitemap><loc>{base}/resourcesync/changelist/{list}.xml</loc><rs:md capability=\"changelist\"/></sitemap>"
        );
    }
    text.push_str("</sitemapindex>\n");
    text
}

/// One change list; `None` where the journal has not come to it.
pub fn change_list(reader: &Reader, base: &str, list: u64) -> Result<Option<String>> {
    let newest = reader.cursor();
    let Some(first) = list.checked_mul(CHANGES_PER_LIST).filter(|first| *first <= newest.0) else { return Ok(None) };
    let end = first + CHANGES_PER_LIST;
    let (mut entries, mut moments) = (String::new(), None::<(Moment, Moment)>);
    // Positions count from 1, and the first list begins with the first.
    let mut after = Cursor(first.saturating_sub(1));
    'read: loop {
        let events = reader.events(after, READ_AT_ONCE)?;
        if events.is_empty() {
            break;
        }
        for (cursor, _, event) in events {
            if cursor.0 >= end {
                break 'read;
            }
            after = cursor;
            let Some(change) = change_of(&event) else { continue };
            let at = event.seen_different;
            moments = Some(moments.map_or((at, at), |(from, until)| (from.min(at), until.max(at))));
            let _ = writeln!(
                entries,
                "<url><loc>{}</loc><lastmod>{1}</lastmod><rs:md change=\"{change}\" datetime=\"{1}\"/></url>",
                escaped(event.url.as_str()),
                at.rfc3339()
            );
        }
    }
    let base = escaped(base);
    let (from, until) = moments.unwrap_or((Moment::EPOCH, Moment::EPOCH));
    // An open list has no end: more changes may come.
    let until = if newest.0 >= end { format!(" until=\"{}\"", until.rfc3339()) } else { String::new() };
    Ok(Some(format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<urlset {OPEN}>\n\
         <rs:ln rel=\"up\" href=\"{base}/resourcesync/capabilitylist.xml\"/>\n\
         <rs:ln rel=\"index\" href=\"{base}/resourcesync/changelist.xml\"/>\n\
         <rs:md capability=\"changelist\" from=\"{}\"{until}/>\n{entries}</urlset>\n",
        from.rfc3339()
    )))
}

/// What an event means for a copy of the page; nothing where the bytes of the page are not concerned.
fn change_of(event: &Event) -> Option<&'static str> {
    match event.kind {
        EventKind::New | EventKind::Back => Some("created"),
        EventKind::Changed if !event.is_of_requisite() => Some("updated"),
        EventKind::Gone | EventKind::Erased | EventKind::Moved => Some("deleted"),
        _ => None,
    }
}

/// A text as it stands in XML. What XML cannot have is left out.
fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&apos;"),
            letter if letter.is_control() => {}
            letter => safe.push(letter),
        }
    }
    safe
}
