//! What a person had erased: the rules of the ledger, and the deeds that carry them out.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{
    Event, Fingerprint, Location, Moment, Origin, PageKey, PageState, Sequence, Site, Url, UrlError, WaitingPlace,
};

/// Which pages are forgotten. Scheme and `www.` make no difference, because the same page often answers under both.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ForgetRule {
    /// One page.
    Page(Url),
    /// Every page of the site whose path and query begin like those of this URL.
    Prefix(Url),
    /// Every page of the site.
    Site(Site),
}

impl ForgetRule {
    /// A prefix as people give it: a URL, whose path may end anywhere.
    pub fn prefix(text: &str) -> Result<ForgetRule, UrlError> {
        Url::parse(text).map(ForgetRule::Prefix)
    }

    pub fn covers(&self, url: &Url) -> bool {
        match self {
            ForgetRule::Page(page) => is_same_host(page, url) && page.path_and_query() == url.path_and_query(),
            ForgetRule::Prefix(start) => {
                is_same_host(start, url) && url.path_and_query().starts_with(start.path_and_query())
            }
            ForgetRule::Site(site) => without_www(site.as_str()) == url.site_without_www(),
        }
    }

    /// Whether it says something of pages of this site.
    pub fn concerns(&self, site: &Site) -> bool {
        self.site_without_www() == without_www(site.as_str())
    }

    /// Host and port without `www.`.
    pub fn site_without_www(&self) -> &str {
        match self {
            ForgetRule::Page(url) | ForgetRule::Prefix(url) => url.site_without_www(),
            ForgetRule::Site(site) => without_www(site.as_str()),
        }
    }

    /// One word for tables and JSON.
    pub fn kind(&self) -> &'static str {
        match self {
            ForgetRule::Page(_) => "page",
            ForgetRule::Prefix(_) => "prefix",
            ForgetRule::Site(_) => "site",
        }
    }

    /// What the word is about.
    pub fn of(&self) -> &str {
        match self {
            ForgetRule::Page(url) | ForgetRule::Prefix(url) => url.as_str(),
            ForgetRule::Site(site) => site.as_str(),
        }
    }
}

impl fmt::Display for ForgetRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.kind(), self.of())
    }
}

fn is_same_host(one: &Url, other: &Url) -> bool {
    one.site_without_www() == other.site_without_www()
}

fn without_www(site: &str) -> &str {
    site.strip_prefix("www.").unwrap_or(site)
}

/// An entry of the ledger: a rule, and what was erased by it. It has no words of any page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForgottenRow {
    /// Counts from 1.
    pub id: u32,
    pub rule: ForgetRule,
    pub moment: Moment,
    /// Why, in the words of the person who asked for it.
    pub reason: Box<str>,
    pub erased: ErasedCounts,
    /// Whether all of its pages are erased.
    pub is_erased: bool,
    /// Since when the rule bars nothing any more.
    pub lifted: Option<Moment>,
}

impl ForgottenRow {
    /// Whether pages of the rule are kept out.
    pub fn bars(&self) -> bool {
        self.lifted.is_none()
    }
}

/// How much was erased, or would be.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErasedCounts {
    /// Pages that were visited.
    pub pages: u64,
    /// URLs that waited for their first visit.
    pub waiting: u64,
    pub versions: u64,
    /// Bytes of the bodies of these versions.
    pub body_bytes: u64,
}

impl ErasedCounts {
    pub fn add(&mut self, other: ErasedCounts) {
        self.pages += other.pages;
        self.waiting += other.waiting;
        self.versions += other.versions;
        self.body_bytes += other.body_bytes;
    }
}

/// A page of which nothing is left but its events, without their words.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ErasedPage {
    pub page: PageKey,
    pub site: Site,
    /// What the sieve knows it by. From now on it knows nothing of it.
    pub fingerprint: Fingerprint,
    /// Its state before; `None` of a URL that was never visited.
    pub was: Option<PageState>,
    /// The place in which it waited until now.
    pub left: Option<WaitingPlace>,
    pub counts: ErasedCounts,
    /// Its records in the archive, with those that belong to them. They are overwritten once this deed is durable.
    pub records: Vec<Location>,
    /// What the feed tells, and what takes the place of each of its earlier events; `None` of a page that it never told of.
    pub event: Option<Event>,
    /// New rows of events of the site that quoted the page, with their positions.
    pub retold: Vec<(u64, Event)>,
}

/// A request for the robots.txt of a forgotten site.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErasedVisit {
    pub page: PageKey,
    pub started: Moment,
    pub sequence: Sequence,
}

/// What is kept of a forgotten site beside its pages.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ErasedSite {
    pub site: Site,
    pub origins: Vec<Origin>,
    /// Requests for its robots.txt, and their records.
    pub visits: Vec<ErasedVisit>,
    pub records: Vec<Location>,
}

/// URLs that one deed found and that were forgotten before the sieve met them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Unfound {
    pub sequence: Sequence,
    pub urls: Vec<Fingerprint>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> Url {
        Url::parse(text).unwrap()
    }

    #[test]
    fn a_rule_covers_its_pages_with_any_scheme_and_with_or_without_www() {
        let page = ForgetRule::Page(url("https://a.example/p/one?x=1"));
        let prefix = ForgetRule::prefix("http://www.a.example/p/").unwrap();
        let site = ForgetRule::Site(Site::new("a.example"));
        for (text, covered) in [
            ("https://a.example/p/one?x=1", [true, true, true]),
            ("http://www.a.example/p/one?x=1", [true, true, true]),
            ("https://a.example/p/one", [false, true, true]),
            ("https://a.example/p/one?x=12", [false, true, true]),
            ("https://a.example/other", [false, false, true]),
            ("https://b.example/p/one?x=1", [false, false, false]),
            ("https://sub.a.example/p/one?x=1", [false, false, false]),
            ("https://a.example:8443/p/one?x=1", [false, false, false]),
        ] {
            assert_eq!([&page, &prefix, &site].map(|rule| rule.covers(&url(text))), covered, "{text}");
        }
    }

    #[test]
    fn a_prefix_may_end_within_a_name_and_within_the_query() {
        let rule = ForgetRule::prefix("http://a.example/people/jan?q=d").unwrap();
        assert!(rule.covers(&url("http://a.example/people/jan?q=doe")));
        assert!(!rule.covers(&url("http://a.example/people/jane")));
        assert_eq!(rule.to_string(), "prefix http://a.example/people/jan?q=d");
    }
}
