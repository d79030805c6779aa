//! Where TimeGate, TimeMap and mementos are, and the `Link` headers that lead from one to another.

use std::fmt::Write;

use vernal_model::{Moment, Url};

use super::mementos::{Memento, Mementos};

/// The addresses of one main origin.
#[derive(Clone, Debug)]
pub struct Uris {
    /// `http://127.0.0.1:8376`, without a slash at its end.
    base: String,
}

impl Uris {
    pub fn new(base: &str) -> Uris {
        Uris { base: base.trim_end_matches('/').to_owned() }
    }

    pub fn timegate(&self, url: &Url) -> String {
        format!("{}/timegate/{}", self.base, plain(url))
    }

    /// A page of the list; the first has no number.
    pub fn timemap(&self, form: &str, page: usize, url: &Url) -> String {
        match page {
            0 => format!("{}/timemap/{form}/{}", self.base, plain(url)),
            page => format!("{}/timemap/{form}/{}/{}", self.base, page + 1, plain(url)),
        }
    }

    pub fn memento(&self, moment: Moment, url: &Url) -> String {
        format!("{}/memento/{}/{}", self.base, moment.fourteen_digits(), plain(url))
    }

    /// The `Link` header that belongs to a memento, or to the TimeGate that leads to it: the page itself, TimeGate, TimeMap, and
    /// the first, the last, the previous and the next memento.
    pub fn link_header(&self, url: &Url, all: &Mementos, chosen: Option<usize>) -> String {
        let mut links = self.page_links(url);
        let _ = write!(links, ", <{}>; rel=\"timegate\"", self.timegate(url));
        let last = all.all().len().saturating_sub(1);
        for (place, memento) in all.all().iter().enumerate() {
            let is_neighbour = chosen.is_some_and(|chosen| place.abs_diff(chosen) <= 1);
            if place == 0 || place == last || is_neighbour {
                let _ = write!(links, ", {}", self.memento_link(url, memento, &rel(place, last, chosen)));
            }
        }
        links
    }

    /// The links that hold even where there is no memento.
    pub fn page_links(&self, url: &Url) -> String {
        let timemap = self.timemap("link", 0, url);
        format!("<{}>; rel=\"original\", <{timemap}>; rel=\"timemap\"; type=\"application/link-format\"", plain(url))
    }

    pub(super) fn memento_link(&self, url: &Url, memento: &Memento, rel: &str) -> String {
        let (uri, date) = (self.memento(memento.moment(), url), memento.moment().http_date());
        format!("<{uri}>; rel=\"{rel}\"; datetime=\"{date}\"")
    }
}

/// A URL as it stands between angle brackets. Ours have no such characters, but for hosts that were never looked at.
pub(super) fn plain(url: &Url) -> String {
    url.as_str().replace('<', "%3C").replace('>', "%3E").replace('"', "%22").replace(' ', "%20")
}

fn rel(place: usize, last: usize, chosen: Option<usize>) -> String {
    let mut words = Vec::new();
    if place == 0 {
        words.push("first");
    }
    if place == last {
        words.push("last");
    }
    match chosen {
        Some(chosen) if place + 1 == chosen => words.push("prev"),
        Some(chosen) if place == chosen + 1 => words.push("next"),
        _ => {}
    }
    words.push("memento");
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::super::mementos::tests::memento;
    use super::*;

    #[test]
    fn a_memento_links_to_its_neighbours_and_to_both_ends() {
        let all =
            Mementos::from((1..=5).map(|n| memento(n, i64::from(n) * 100, i64::from(n) * 100)).collect::<Vec<_>>());
        let uris = Uris::new("http://127.0.0.1:8376/");
        let url = Url::parse("http://a.example/x?y=z").unwrap();
        let links = uris.link_header(&url, &all, Some(2));
        for part in [
            "<http://a.example/x?y=z>; rel=\"original\"",
            "<http://127.0.0.1:8376/timegate/http://a.example/x?y=z>; rel=\"timegate\"",
            "<http://127.0.0.1:8376/timemap/link/http://a.example/x?y=z>; rel=\"timemap\"; type=\"application/link-format\"",
            "/memento/19700101000140/http://a.example/x?y=z>; rel=\"first memento\"; datetime=\"Thu, 01 Jan 1970 00:01:40 GMT\"",
            "/memento/19700101000320/http://a.example/x?y=z>; rel=\"prev memento\"",
            "/memento/19700101000500/http://a.example/x?y=z>; rel=\"memento\"",
            "/memento/19700101000640/http://a.example/x?y=z>; rel=\"next memento\"",
            "/memento/19700101000820/http://a.example/x?y=z>; rel=\"last memento\"",
        ] {
            assert!(links.contains(part), "{part} in {links}");
        }
        let single = Mementos::from(vec![memento(1, 100, 100)]);
        assert!(uris.link_header(&url, &single, Some(0)).contains("rel=\"first last memento\""));
    }
}
