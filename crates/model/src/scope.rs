//! Seeds, and how far from them a crawl may go.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Moment, Span, Url};

/// How far from a seed a crawl may go.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// Only the given URL.
    Page,
    /// The same host and every path that begins with the folder of the seed.
    Prefix,
    /// The same host with any scheme, with or without `www.`.
    #[default]
    Site,
    /// The registrable domain with its subdomains.
    Domain,
    Any,
}

/// A URL given by a person to begin with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Seed {
    pub url: Url,
    pub added: Moment,
    pub tags: Vec<String>,
    pub weight: f32,
    pub scope: Scope,
    /// Links followed from this seed at most; `None` is no limit.
    pub depth: Option<u16>,
    /// Its pages are visited at least so often, before other visits of the policy …
    pub at_least_every: Option<Span>,
    /// … and at most so often, whatever the policy chooses.
    pub at_most_every: Option<Span>,
    /// A seed that redirects moves its scope to the target.
    pub moved_to: Option<Url>,
}

impl Seed {
    pub fn new(url: Url, added: Moment) -> Self {
        Seed {
            url,
            added,
            tags: Vec::new(),
            weight: 1.0,
            scope: Scope::default(),
            depth: None,
            at_least_every: None,
            at_most_every: None,
            moved_to: None,
        }
    }

    /// Whether a URL found at `depth` links from this seed lies within its scope.
    pub fn covers(&self, url: &Url, depth: u16) -> bool {
        if self.depth.is_some_and(|limit| depth > limit) {
            return false;
        }
        self.scope.covers(&self.url, url) || self.moved_to.as_ref().is_some_and(|moved| self.scope.covers(moved, url))
    }
}

impl Scope {
    pub fn covers(self, seed: &Url, url: &Url) -> bool {
        match self {
            Scope::Page => seed == url,
            Scope::Prefix => {
                let folder = &seed.path()[..=seed.path().rfind('/').unwrap_or(0)];
                same_host(seed, url) && url.path().starts_with(folder)
            }
            Scope::Site => same_host(seed, url),
            Scope::Domain => seed.registrable_domain() == url.registrable_domain(),
            Scope::Any => true,
        }
    }
}

/// The same host and port; `www.` in front makes no difference, nor does the scheme where ports are its own.
fn same_host(seed: &Url, url: &Url) -> bool {
    seed.site_without_www() == url.site_without_www()
}

impl FromStr for Scope {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Ok(match text {
            "page" => Scope::Page,
            "prefix" => Scope::Prefix,
            "site" => Scope::Site,
            "domain" => Scope::Domain,
            "any" => Scope::Any,
            _ => return Err(format!("`{text}` is no scope: give page, prefix, site, domain or any")),
        })
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Scope::Page => "page",
            Scope::Prefix => "prefix",
            Scope::Site => "site",
            Scope::Domain => "domain",
            Scope::Any => "any",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_scope_covers_what_it_names_and_no_more() {
        let seed = Url::parse("https://www.example.co.uk/docs/guide.html").unwrap();
        let covered = |scope: Scope, url: &str| scope.covers(&seed, &Url::parse(url).unwrap());
        let twin = "http://example.co.uk/docs/other";
        let outside = "https://example.co.uk/blog/";
        let sub = "https://shop.example.co.uk/";
        let stranger = "https://another.co.uk/";
        for (scope, expected) in [
            (Scope::Page, [false, false, false, false]),
            (Scope::Prefix, [true, false, false, false]),
            (Scope::Site, [true, true, false, false]),
            (Scope::Domain, [true, true, true, false]),
            (Scope::Any, [true, true, true, true]),
        ] {
            let found = [twin, outside, sub, stranger].map(|url| covered(scope, url));
            assert_eq!(found, expected, "{scope}");
            assert!(covered(scope, seed.as_str()), "{scope} covers its own seed");
        }
    }

    #[test]
    fn another_port_is_another_site() {
        let seed = Url::parse("http://127.0.0.1:8001/").unwrap();
        assert!(!Scope::Site.covers(&seed, &Url::parse("http://127.0.0.1:8002/").unwrap()));
    }

    #[test]
    fn a_moved_seed_covers_both_places() {
        let mut seed = Seed::new(Url::parse("http://old.org/").unwrap(), Moment::EPOCH);
        let target = Url::parse("https://new.org/a").unwrap();
        assert!(!seed.covers(&target, 1));
        seed.moved_to = Some(Url::parse("https://new.org/").unwrap());
        assert!(seed.covers(&target, 1));
        seed.depth = Some(0);
        assert!(!seed.covers(&target, 1));
    }
}
