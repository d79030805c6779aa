//! The TimeMap of a page: all its mementos, oldest first, in pages.

use std::fmt::Write;
use std::ops::Range;

use serde::Serialize;
use vernal_model::{Moment, Url};

use super::mementos::{Memento, Mementos};
use super::uris::{Uris, plain};

/// Mementos of one page of the list.
pub const MEMENTOS_PER_PAGE: usize = 1_000;

/// A TimeMap that was asked for.
pub struct TimeMap<'a> {
    pub url: &'a Url,
    pub all: &'a Mementos,
    pub uris: &'a Uris,
    /// Counted from 0.
    pub page: usize,
}

#[derive(Serialize)]
struct TimeMapJson<'a> {
    original: String,
    timegate: String,
    timemap: String,
    /// The next page of this list; null on the last.
    next: Option<String>,
    previous: Option<String>,
    total: usize,
    mementos: Vec<MementoJson<'a>>,
}

#[derive(Serialize)]
struct MementoJson<'a> {
    /// Its address, which redirects to the archived bytes.
    memento: String,
    datetime: String,
    version: u32,
    digest: String,
    /// The last visit that found it unchanged.
    seen_until: String,
    /// The change that led to it happened between these two visits.
    seen_same: Option<String>,
    seen_different: Option<String>,
    kinds: Vec<&'a str>,
    /// How large that change was: a word, and the share of the text that differs.
    degree: &'a str,
    magnitude: f32,
    /// All that differed was noise.
    noise: bool,
    archived: bool,
    /// Where its difference from the version before is, below the API.
    diff: Option<String>,
}

impl TimeMap<'_> {
    /// The mementos of this page; `None` beyond the last page.
    fn mementos(&self) -> Option<(Range<usize>, &[Memento])> {
        let start = self.page.checked_mul(MEMENTOS_PER_PAGE)?;
        let all = self.all.all();
        let end = all.len().min(start.saturating_add(MEMENTOS_PER_PAGE));
        Some((start..end, all.get(start..end).filter(|some| !some.is_empty())?))
    }

    fn has_next(&self, range: &Range<usize>) -> bool {
        range.end < self.all.all().len()
    }

    /// The first and the last moment of a page of the list.
    fn span_of(&self, page: usize) -> Option<(Moment, Moment)> {
        let of_page = TimeMap { page, ..*self };
        let (_, some) = of_page.mementos()?;
        Some((some.first()?.moment(), some.last()?.moment()))
    }

    fn neighbour(&self, page: usize, rel: &str) -> Option<String> {
        let (from, until) = self.span_of(page)?;
        Some(format!("{}; rel=\"{rel}\"{}", bracketed(&self.uris.timemap("link", page, self.url)), span(from, until)))
    }
}

/// One page in the form `application/link-format`; `None` beyond the last page.
pub fn link_page(map: &TimeMap<'_>) -> Option<String> {
    let (range, some) = map.mementos()?;
    let mut text = format!("<{}>; rel=\"original\",\n", plain(map.url));
    let _ = writeln!(text, "<{}>; rel=\"timegate\",", map.uris.timegate(map.url));
    let (from, until) = map.span_of(map.page)?;
    let own = bracketed(&map.uris.timemap("link", map.page, map.url));
    let _ = write!(text, "{own}; rel=\"self\"{}", span(from, until));
    let before = map.page.checked_sub(1).and_then(|before| map.neighbour(before, "timemap"));
    let after = map.has_next(&range).then(|| map.neighbour(map.page + 1, "timemap")).flatten();
    for neighbour in before.into_iter().chain(after) {
        let _ = write!(text, ",\n{neighbour}");
    }
    let last = map.all.all().len() - 1;
    for (place, memento) in range.zip(some) {
        let rel = match (place == 0, place == last) {
            (true, true) => "first last memento",
            (true, false) => "first memento",
            (false, true) => "last memento",
            (false, false) => "memento",
        };
        let _ = write!(text, ",\n{}", map.uris.memento_link(map.url, memento, rel));
    }
    text.push('\n');
    Some(text)
}

/// One page as JSON; `None` beyond the last page.
pub fn json_page(map: &TimeMap<'_>) -> Option<impl Serialize> {
    let (range, some) = map.mementos()?;
    let page = |page| map.uris.timemap("json", page, map.url);
    Some(TimeMapJson {
        original: map.url.to_string(),
        timegate: map.uris.timegate(map.url),
        timemap: page(map.page),
        next: map.has_next(&range).then(|| page(map.page + 1)),
        previous: map.page.checked_sub(1).map(page),
        total: map.all.all().len(),
        mementos: some.iter().map(|memento| memento_json(map, memento)).collect(),
    })
}

fn memento_json<'a>(map: &TimeMap<'_>, memento: &'a Memento) -> MementoJson<'a> {
    let event = memento.event.as_ref();
    let diff = event.and_then(|event| event.previous).map(|previous| {
        format!("/api/v1/diff?url={}&from={previous}&to={}", query_value(map.url.as_str()), memento.version.number)
    });
    MementoJson {
        memento: map.uris.memento(memento.moment(), map.url),
        datetime: memento.moment().rfc3339(),
        version: memento.version.number,
        digest: memento.version.payload.to_string(),
        seen_until: memento.seen_until.rfc3339(),
        seen_same: event.and_then(|event| event.seen_same).map(Moment::rfc3339),
        seen_different: event.map(|event| event.seen_different.rfc3339()),
        kinds: event.map(|event| event.change.kinds.iter().map(|kind| kind.name()).collect()).unwrap_or_default(),
        degree: event.map_or("none", |event| event.change.degree.name()),
        magnitude: event.map_or(0.0, |event| event.change.magnitude),
        noise: memento.is_noise(),
        archived: memento.version.body().is_some(),
        diff,
    }
}

/// A text as the value of a parameter.
fn query_value(text: &str) -> String {
    let mut value = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'&' | b'#' | b'+' | b'%' | b' ' | b'"' => drop(write!(value, "%{byte:02X}")),
            byte if byte.is_ascii_graphic() => value.push(char::from(byte)),
            byte => drop(write!(value, "%{byte:02X}")),
        }
    }
    value
}

fn bracketed(uri: &str) -> String {
    format!("<{uri}>")
}

fn span(from: Moment, until: Moment) -> String {
    format!("; type=\"application/link-format\"; from=\"{}\"; until=\"{}\"", from.http_date(), until.http_date())
}

#[cfg(test)]
mod tests {
    use super::super::mementos::tests::memento;
    use super::*;

    fn mementos(count: u32) -> Mementos {
        Mementos::from((1..=count).map(|n| memento(n, i64::from(n) * 60, i64::from(n) * 60)).collect::<Vec<_>>())
    }

    #[test]
    fn the_pages_of_a_time_map_hold_every_memento_once_and_lead_to_one_another() {
        let (all, uris) = (mementos(2_345), Uris::new("http://h:1"));
        let url = Url::parse("http://a.example/?q=1").unwrap();
        let page = |page| TimeMap { url: &url, all: &all, uris: &uris, page };
        let mut seen = 0;
        for number in 0..3 {
            let text = link_page(&page(number)).unwrap();
            seen += text.matches("memento\"; datetime=").count();
            assert_eq!(text.contains("/timemap/link/2/http://a.example/?q=1>; rel=\"timemap\""), number != 1);
            assert_eq!(text.contains("rel=\"first memento\""), number == 0);
            assert_eq!(text.contains("rel=\"last memento\""), number == 2);
            assert!(text.contains("rel=\"self\"; type=\"application/link-format\"; from=\""));
            assert!(
                !text.contains(",,") && text.trim_end().ends_with('"'),
                "every link but the last ends with a comma"
            );
        }
        assert_eq!(seen, 2_345);
        assert!(link_page(&page(3)).is_none() && json_page(&page(usize::MAX)).is_none());
        let json = serde_json::to_value(json_page(&page(1)).unwrap()).unwrap();
        assert_eq!(json["mementos"].as_array().map(Vec::len), Some(MEMENTOS_PER_PAGE));
        assert_eq!(json["next"], "http://h:1/timemap/json/3/http://a.example/?q=1");
    }

    #[test]
    fn a_page_with_one_version_has_a_first_that_is_the_last() {
        let (all, uris, url) = (mementos(1), Uris::new("http://h"), Url::parse("http://a.example/").unwrap());
        let text = link_page(&TimeMap { url: &url, all: &all, uris: &uris, page: 0 }).unwrap();
        assert!(text.contains("rel=\"first last memento\""), "{text}");
        let none = Mementos::default();
        assert!(link_page(&TimeMap { url: &url, all: &none, uris: &uris, page: 0 }).is_none());
    }
}
