//! Entries of a file of hints that are new or have a new date.

use std::collections::HashMap;

use vernal_model::{
    Cadence, DateRange, Document, Exchange, Fingerprint, HintSource, ListEntry, ListEntryRows, Moment, PageKey, Report,
    SiteList, SiteListKind, Span, Url,
};
use vernal_policy::estimate::trust::Look;

use crate::intake::verdict::Verdict;

/// A date this close to the time at which a list was read counts as "just now".
const JUST_NOW: Span = Span::from_hours(1);
/// Clocks differ, and some dates name no time zone: a date further in the future than this is ignored.
const AHEAD_MAX: Span = Span::from_days(1);

/// An entry that is new or whose date has moved.
#[derive(Copy, Clone, Debug, PartialEq)]
pub(crate) struct Moved {
    /// The index of the entry in the list.
    pub place: usize,
    /// The entry was in the list before, with another date or none.
    pub was_listed: bool,
}

#[derive(Debug, PartialEq)]
pub(crate) struct Delta {
    pub moved: Vec<Moved>,
    pub rows: ListEntryRows,
}

impl Delta {
    pub(crate) fn is_empty(&self) -> bool {
        self.rows.put.is_empty() && self.rows.gone.is_empty()
    }
}

pub(crate) fn delta(file: PageKey, listing: &SiteList, mut before: HashMap<Fingerprint, Option<DateRange>>) -> Delta {
    let mut delta = Delta { moved: Vec::new(), rows: ListEntryRows { file, put: Vec::new(), gone: Vec::new() } };
    for (place, entry) in listing.entries.iter().enumerate() {
        let fingerprint = entry.url.fingerprint();
        let old = before.remove(&fingerprint);
        if old == Some(entry.stamp) {
            continue;
        }
        delta.moved.push(Moved { place, was_listed: old.is_some() });
        delta.rows.put.push((fingerprint, entry.stamp));
    }
    delta.rows.gone.extend(before.into_keys());
    delta.rows.gone.sort_unstable();
    delta
}

/// Gives a table that names no page the page that named it. It has no dates: whenever it differs, its page has moved then.
pub(crate) fn name_page(
    listing: &mut SiteList,
    page: Option<Url>,
    before: &HashMap<Fingerprint, Option<DateRange>>,
    verdict: &Verdict,
    now: Moment,
) {
    let Some(url) = page else { return };
    let stamp = match verdict {
        Verdict::First => None,
        Verdict::Differs(_) => Some(DateRange { from: now, until: now }),
        _ => before.get(&url.fingerprint()).copied().flatten(),
    };
    listing.entries.push(ListEntry { url, stamp });
}

pub(crate) fn source_of(kind: SiteListKind) -> HintSource {
    match kind {
        SiteListKind::Sitemap | SiteListKind::SitemapIndex => HintSource::Sitemap,
        SiteListKind::Feed => HintSource::Feed,
        SiteListKind::VolatileTable => HintSource::Companion,
    }
}

/// Statistics of the dates in a list.
pub(crate) fn look(listing: &SiteList, now: Moment) -> Look {
    let stamps = || listing.entries.iter().filter_map(|entry| entry.stamp);
    let mut counts: HashMap<Moment, usize> = HashMap::new();
    for stamp in stamps() {
        *counts.entry(stamp.from).or_default() += 1;
    }
    let is_now = |stamp: &DateRange| stamp.until + JUST_NOW >= now && stamp.from <= now + AHEAD_MAX;
    Look {
        dated: stamps().count(),
        same: counts.into_values().max().unwrap_or(0),
        now: stamps().filter(is_now).count(),
    }
}

/// When the page changed according to this entry, if that is after its last visit; `None` if the entry says nothing
/// new.
pub(crate) fn said(
    listing: SiteListKind,
    (stamp, was_listed): (Option<DateRange>, bool),
    is_first: bool,
    seen: Moment,
    now: Moment,
) -> Option<Moment> {
    let Some(stamp) = stamp else {
        // A feed that lists a page for the first time reports news; a table without dates moved as a whole.
        let is_news = match listing {
            SiteListKind::Feed => !was_listed,
            SiteListKind::VolatileTable => true,
            SiteListKind::Sitemap | SiteListKind::SitemapIndex => false,
        };
        return (is_news && !is_first).then_some(now);
    };
    // A new date of a known entry is read as late as it may mean; the first date of an entry must be certainly later.
    let latest = if was_listed { stamp.until } else { stamp.from };
    (latest > seen && stamp.from <= now + AHEAD_MAX).then(|| stamp.from.max(seen).min(now))
}

/// What a page says of its own changes, in its meta tag and its headers.
pub(crate) fn cadences(document: &Document, report: &Report) -> Vec<Cadence> {
    let tag = document.meta_updates.as_deref().and_then(vernal_document::cadence::meta_updates);
    let headers = report.exchange.as_ref().and_then(|exchange| {
        let field = |name: &str| header(exchange, name);
        let (control, expires, date) = (field("cache-control"), field("expires"), field("date"));
        vernal_document::cadence::cache_headers(control, expires, date, report.started)
    });
    tag.into_iter().chain(headers).collect()
}

/// A feed with the hub that the head of its answer names, which goes before the one in the file (WebSub, section 4).
pub(crate) fn with_hub(mut listing: Box<SiteList>, report: &Report) -> Box<SiteList> {
    let Some(exchange) = report.exchange.as_ref().filter(|_| listing.kind == SiteListKind::Feed) else {
        return listing;
    };
    let (hub, own) = vernal_document::site_lists::hub::of_links(&report.order.url, fields(exchange, "link"));
    listing.hub = hub.or(listing.hub);
    listing.topic = own.or(listing.topic);
    listing
}

/// The first header field of an answer by its lower-case name.
fn header<'a>(exchange: &'a Exchange, name: &str) -> Option<&'a str> {
    fields(exchange, name).next()
}

fn fields<'a>(exchange: &'a Exchange, name: &str) -> impl Iterator<Item = &'a str> {
    let lines = exchange.response_head.split(|&byte| byte == b'\n').skip(1);
    lines.map(<[u8]>::trim_ascii).filter_map(move |line| {
        let colon = line.iter().position(|&byte| byte == b':')?;
        line[..colon].eq_ignore_ascii_case(name.as_bytes()).then_some(())?;
        std::str::from_utf8(line[colon + 1..].trim_ascii()).ok()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: Span = Span::from_days(1);

    fn at(day: u64) -> Moment {
        Moment::from_secs(1_777_593_600) + DAY.scaled(day as f64)
    }

    fn entry(name: &str, stamp: Option<(Moment, Moment)>) -> ListEntry {
        let stamp = stamp.map(|(from, until)| DateRange { from, until });
        ListEntry { url: Url::parse(&format!("http://a.org/{name}")).unwrap(), stamp }
    }

    fn listing(entries: Vec<ListEntry>) -> SiteList {
        SiteList { kind: SiteListKind::Sitemap, entries, dropped: 0, note: None, hub: None, topic: None }
    }

    #[test]
    fn only_what_moved_is_told_and_what_went_is_gone() {
        let old = listing(vec![entry("a", Some((at(1), at(1)))), entry("b", None), entry("c", None)]);
        let new = listing(vec![entry("a", Some((at(2), at(2)))), entry("b", None), entry("d", None)]);
        let first = delta(PageKey::default(), &old, HashMap::new());
        assert!(first.moved.iter().all(|moved| !moved.was_listed) && first.moved.len() == 3);
        let second = delta(PageKey::default(), &new, first.rows.put.iter().copied().collect());
        let told: Vec<(&str, bool)> =
            second.moved.iter().map(|moved| (new.entries[moved.place].url.path(), moved.was_listed)).collect();
        assert_eq!(told, [("/a", true), ("/d", false)]);
        assert_eq!(second.rows.gone, [old.entries[2].url.fingerprint()]);
    }

    #[test]
    fn a_day_that_moved_may_mean_its_last_hour_and_a_new_one_must_be_sure() {
        let today = entry("a", Some((at(5), at(6))));
        let noon = at(5) + Span::from_hours(12);
        let said = |was_listed, seen| super::said(SiteListKind::Sitemap, (today.stamp, was_listed), false, seen, at(6));
        assert_eq!(said(true, noon), Some(noon));
        assert_eq!(said(false, noon), None);
        assert_eq!(said(false, at(4)), Some(at(5)));
        assert_eq!(said(true, at(7)), None);
    }

    #[test]
    fn dates_far_ahead_and_missing_dates_of_sitemaps_say_nothing() {
        let ahead = entry("a", Some((at(9), at(9))));
        let moved = (ahead.stamp, true);
        assert_eq!(said(SiteListKind::Sitemap, moved, false, at(1), at(2)), None);
        let moved = (None, false);
        assert_eq!(said(SiteListKind::Sitemap, moved, false, at(1), at(2)), None);
        assert_eq!(said(SiteListKind::Feed, moved, false, at(1), at(2)), Some(at(2)));
        assert_eq!(said(SiteListKind::Feed, moved, true, at(1), at(2)), None, "everything is new at the first reading");
    }

    #[test]
    fn the_look_counts_the_most_frequent_date_and_those_of_today() {
        let today: Vec<ListEntry> = (0..30).map(|name| entry(&name.to_string(), Some((at(5), at(6))))).collect();
        let noon = at(5) + Span::from_hours(12);
        assert_eq!(look(&listing(today.clone()), noon), Look { dated: 30, same: 30, now: 30 });
        assert_eq!(look(&listing(today), at(8)), Look { dated: 30, same: 30, now: 0 });
    }
}
