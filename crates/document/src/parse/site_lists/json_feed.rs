//! JSON Feed (jsonfeed.org, versions 1 and 1.1).

use serde::Deserialize;
use serde_json::Value;
use vernal_model::DateRange;

use super::dates;

/// The beginning of the version of a JSON feed.
const VERSION: &str = "https://jsonfeed.org/version/";
/// The version is expected within so many bytes. Other files are not read further.
const VERSION_BYTES_MAX: usize = 4 << 10;

#[derive(Default, Deserialize)]
struct JsonFeed {
    #[serde(default)]
    version: Value,
    #[serde(default)]
    feed_url: Value,
    #[serde(default)]
    hubs: Vec<Hub>,
    #[serde(default)]
    items: Vec<Item>,
}

#[derive(Deserialize)]
struct Hub {
    #[serde(default)]
    url: Value,
}

/// Any part may have a wrong type: one bad entry must not affect the others.
#[derive(Deserialize)]
struct Item {
    #[serde(default)]
    id: Value,
    #[serde(default)]
    url: Value,
    #[serde(default)]
    date_published: Value,
    #[serde(default)]
    date_modified: Value,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct About {
    pub hub: Option<String>,
    pub topic: Option<String>,
    pub fault: Option<&'static str>,
}

/// Whether the first bytes look like a feed.
pub fn is_likely(bytes: &[u8]) -> bool {
    let start = &bytes[..bytes.len().min(VERSION_BYTES_MAX)];
    memchr::memmem::find(start, b"jsonfeed.org/version/").is_some()
        // Slashes may be escaped.
        || memchr::memmem::find(start, b"jsonfeed.org\\/version\\/").is_some()
}

/// Gives each entry's page with the date of its last change; `None` if this is no feed.
pub fn each_entry(bytes: &[u8], take: &mut dyn FnMut(&str, Option<DateRange>)) -> Option<About> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let Ok(feed) = serde_json::from_slice::<JsonFeed>(bytes) else {
        return Some(About { fault: Some("it is no JSON"), ..About::default() });
    };
    feed.version.as_str().filter(|version| version.starts_with(VERSION))?;
    let mut fault = None;
    for item in &feed.items {
        let stamp = |value: &Value| value.as_str().and_then(dates::stamp);
        let stamp = stamp(&item.date_modified).or_else(|| stamp(&item.date_published));
        let permanent = item.id.as_str().filter(|id| id.starts_with("http"));
        match item.url.as_str().or(permanent).map(str::trim).filter(|link| !link.is_empty()) {
            Some(link) => take(link, stamp),
            None => fault = Some("some entries name no page"),
        }
    }
    let owned = |value: &Value| value.as_str().map(str::to_owned);
    Some(About { hub: feed.hubs.iter().find_map(|hub| owned(&hub.url)), topic: owned(&feed.feed_url), fault })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_are_read_and_bad_ones_cost_no_others() {
        let text = br#"{"version":"https://jsonfeed.org/version/1.1","feed_url":"http://a.org/feed.json","hubs":[{"type":"WebSub","url":"http://hub.org"}],
            "items":[{"id":"1","url":"http://a.org/1","date_published":"2026-01-01T00:00:00Z","date_modified":"2026-02-01T00:00:00Z"},
            {"id":7,"url":5},{"id":"http://a.org/3"}]}"#;
        let mut rows = Vec::new();
        let about = each_entry(text, &mut |link, stamp| rows.push((link.to_owned(), stamp.is_some()))).unwrap();
        assert_eq!(rows, [("http://a.org/1".to_owned(), true), ("http://a.org/3".to_owned(), false)]);
        assert_eq!((about.hub.as_deref(), about.fault.is_some()), (Some("http://hub.org"), true));
        assert!(is_likely(text));
        assert_eq!(each_entry(b"{\"items\":[]}", &mut |_, _| {}), None);
        assert!(
            each_entry(b"{\"version\":\"https://jsonfeed.org/version/1\",\"items\":[", &mut |_, _| {})
                .unwrap()
                .fault
                .is_some()
        );
    }
}
