//! What stands above every screen of a page: its site, its title, and the other screens of it.

use super::told::page_link;
use crate::answers::Page;
use crate::question::{link, segment};
use crate::words;

pub struct PageHead {
    pub title: String,
    pub language: Option<String>,
    pub site: String,
    pub site_link: String,
    pub path: String,
    pub tabs: Vec<Tab>,
    pub watch: String,
}

pub struct Tab {
    pub name: &'static str,
    pub link: String,
    pub is_shown: bool,
    /// The key that leads there.
    pub key: &'static str,
}

const TABS: [(&str, &str, &str); 6] = [
    ("History", "/page", "h"),
    ("Changes", "/diff", ""),
    ("Blame", "/blame", "b"),
    ("Links", "/links", ""),
    ("Evidence", "/evidence", ""),
    ("As it was", "/as-it-was", ""),
];

impl PageHead {
    pub fn of(page: &Page, shown: &str) -> PageHead {
        let title = page.document.as_ref().map_or("", |document| document.title.as_str());
        let language = page.document.as_ref().and_then(|document| words::language(&document.language));
        PageHead { language, ..PageHead::named(title, &page.url, &page.site, shown) }
    }

    /// The head of a page of which only the URL is known.
    pub fn of_url(url: &str, shown: &str) -> PageHead {
        let behind = url.split_once("://").map_or("", |(_, rest)| rest);
        let site = behind.split('/').next().unwrap_or_default();
        PageHead::named("", url, site, shown)
    }

    fn named(title: &str, url: &str, site: &str, shown: &str) -> PageHead {
        let tab = |(name, path, key): (&'static str, &str, &'static str)| Tab {
            name,
            link: page_link(path, url),
            is_shown: path == shown,
            key,
        };
        PageHead {
            title: words::title(title, url),
            language: None,
            site: site.to_owned(),
            site_link: format!("/sites/{}", segment(site)),
            path: words::path(url),
            tabs: TABS.into_iter().map(tab).collect(),
            watch: link("/watches/new", &[("url", url)]),
        }
    }
}
