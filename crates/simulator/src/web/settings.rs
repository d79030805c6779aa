//! What an invented web is made of. Everything has a name and a printed default; presets cover the common needs.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use vernal_model::Moment;

use super::sitemap::SitemapManner;
use crate::drift::DriftSettings;
use crate::{Error, Result};

/// More pages than this in one web are refused: the plan is held in memory, at about 250 bytes a page.
pub const PAGES_MAX: usize = 20_000_000;

/// More sites than this cannot be spread over the loopback addresses 127.0.1.1 to 127.0.250.250.
pub const SITES_MAX: usize = 62_500;

/// 2026-01-01T00:00:00Z.
const ORIGIN_DEFAULT: Moment = Moment::from_secs(1_767_225_600);

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct WebSettings {
    /// The one number that everything else is drawn from.
    pub chance: u64,
    pub sites: usize,
    /// Least and most pages of a site; traps come on top.
    pub pages_per_site: (usize, usize),
    /// The Moment at which every page has its first version. Before it nothing changes.
    #[serde(serialize_with = "write_moment", deserialize_with = "read_moment")]
    pub origin: Moment,
    /// Least and most paragraphs of prose on a page.
    pub paragraphs: (usize, usize),
    /// Least and most distinct links of a page, navigation included; a page's own children come in any case.
    pub links: (usize, usize),
    /// How many pages hang under one page of the tree that makes everything reachable.
    pub branching: usize,
    /// How the pages are written, and what a change does to them.
    pub writing: Writing,
    /// Whether per-request tokens, clocks, counters and rotating advertisements blur the pages.
    pub noise: bool,
    /// Whether some sites have odd robots.txt answers (missing, failing, redirecting) and crawl delays.
    pub odd_robots: bool,
    /// A 503 page is busy for this long, then free for as long.
    pub busy_secs: u64,
    /// The style sheet and the script of each site have other bytes after so many hours; 0: they never change.
    pub assets_hours: u64,
    /// How sitemaps tell of changes.
    pub sitemaps: SitemapManner,
    pub share: Shares,
    pub drift: DriftSettings,
}

/// How pages are written, and what a change does to them.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Writing {
    /// Words in no order, in five languages. A change replaces whole paragraphs. Quick to make, for measurements.
    #[default]
    Words,
    /// Plain English sentences about something, on sites with names to match. A change is an edit as people make it.
    Sentences,
}

/// Shares of the pages of a site (of its links, of the sites) that have some feature, each in 0..=1.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Shares {
    /// Pages in folders that robots.txt forbids.
    pub disallowed: f64,
    /// Pages that only a forbidden or a nofollow page links to.
    pub hidden: f64,
    /// Pages that answer 404, 410, 500, and 503 for a while; and soft 404s.
    pub missing: f64,
    pub gone: f64,
    pub server_error: f64,
    pub busy: f64,
    pub soft_missing: f64,
    /// Pages behind a login form.
    pub login: f64,
    /// Redirects to a page, perhaps over other redirects; into a loop; to another site.
    pub redirect: f64,
    pub redirect_loop: f64,
    pub redirect_away: f64,
    /// Files that are no HTML.
    pub pdf: f64,
    pub image: f64,
    pub feed: f64,
    pub json: f64,
    /// Pages with meta robots, and duplicates that name their canonical page.
    pub noindex: f64,
    pub nofollow: f64,
    pub noarchive: f64,
    pub duplicate: f64,
    /// Pages that come late, and pages of many megabytes.
    pub slow: f64,
    pub huge: f64,
    /// Pages that attack: dripping, endless, cut off, lying about their length, silent, exploding.
    pub hostile: f64,
    /// Sites that have the traps.
    pub trap_sites: f64,
    /// Sites whose pages are not written in UTF-8.
    pub old_charset_sites: f64,
    /// Links with tracking parameters, and links to other sites.
    pub tracking_links: f64,
    pub links_away: f64,
    /// Pages with no validator, with only a Last-Modified, with a weak ETag, and with an ETag new at each request.
    /// The rest have an ETag, half of them a Last-Modified too.
    pub validator_none: f64,
    pub validator_modified_only: f64,
    pub validator_weak: f64,
    pub validator_lying: f64,
    /// Pages that are sent in chunks, and sites that never compress.
    pub chunked: f64,
    pub uncompressed_sites: f64,
}

impl WebSettings {
    /// Ordinary pages only: nothing fails, nothing is forbidden, nothing blurs. Pages drift.
    pub fn plain(sites: usize, pages: usize) -> Self {
        WebSettings {
            chance: 1,
            sites,
            pages_per_site: (pages, pages),
            origin: ORIGIN_DEFAULT,
            paragraphs: (4, 12),
            links: (8, 24),
            branching: 6,
            writing: Writing::Words,
            noise: false,
            odd_robots: false,
            busy_secs: 60,
            assets_hours: 0,
            sitemaps: SitemapManner::Mixed,
            share: Shares::none(),
            drift: DriftSettings::default(),
        }
    }

    /// Everything a decent crawler meets in a week, attacks aside.
    pub fn realistic(sites: usize, pages: usize) -> Self {
        WebSettings {
            pages_per_site: (pages / 2, pages + pages / 2),
            noise: true,
            odd_robots: true,
            share: Shares::realistic(),
            ..Self::plain(sites, pages)
        }
    }

    /// The realistic web, and servers that attack.
    pub fn hostile(sites: usize, pages: usize) -> Self {
        let share = Shares { hostile: 0.05, ..Shares::realistic() };
        WebSettings { share, ..Self::realistic(sites, pages) }
    }

    /// One site of 4,711 pages of 17 to 18 KB with 42 distinct links, about 7 KB when compressed: the page that the
    /// cost figures are given for.
    pub fn bench() -> Self {
        WebSettings { paragraphs: (32, 32), links: (42, 42), branching: 12, ..Self::plain(1, 4_711) }
    }

    /// The same web with pages that never change.
    pub fn still(self) -> Self {
        WebSettings { drift: DriftSettings::still(), ..self }
    }

    pub(crate) fn check(&self) -> Result<()> {
        let refuse = |why: &str| Err(Error::Settings(why.to_owned()));
        let (pages_min, pages_max) = self.pages_per_site;
        if self.sites == 0 || self.sites > SITES_MAX {
            return refuse(&format!("sites must be 1 to {SITES_MAX}"));
        }
        if pages_min == 0 || pages_min > pages_max || pages_max.saturating_mul(self.sites) > PAGES_MAX {
            return refuse(&format!("pages_per_site must be two rising numbers, at most {PAGES_MAX} pages in all"));
        }
        if self.paragraphs.0 == 0 || self.paragraphs.0 > self.paragraphs.1 || self.paragraphs.1 > 10_000 {
            return refuse("paragraphs must be two rising numbers of 1 to 10000");
        }
        if self.links.0 > self.links.1 || self.links.1 > 10_000 {
            return refuse("links must be two rising numbers up to 10000");
        }
        if self.branching == 0 || self.busy_secs == 0 {
            return refuse("branching and busy_secs must be at least 1");
        }
        if self.share.all().iter().any(|share| !(0.0..=1.0).contains(share)) || self.share.of_pages() > 0.95 {
            return refuse("each share must lie in 0..=1, and those of pages may sum to 0.95");
        }
        self.drift.check()
    }
}

impl Default for WebSettings {
    fn default() -> Self {
        Self::plain(4, 50)
    }
}

impl Shares {
    pub fn none() -> Self {
        Shares {
            disallowed: 0.0,
            hidden: 0.0,
            missing: 0.0,
            gone: 0.0,
            server_error: 0.0,
            busy: 0.0,
            soft_missing: 0.0,
            login: 0.0,
            redirect: 0.0,
            redirect_loop: 0.0,
            redirect_away: 0.0,
            pdf: 0.0,
            image: 0.0,
            feed: 0.0,
            json: 0.0,
            noindex: 0.0,
            nofollow: 0.0,
            noarchive: 0.0,
            duplicate: 0.0,
            slow: 0.0,
            huge: 0.0,
            hostile: 0.0,
            trap_sites: 0.0,
            old_charset_sites: 0.0,
            tracking_links: 0.0,
            links_away: 0.0,
            validator_none: 0.0,
            validator_modified_only: 0.0,
            validator_weak: 0.0,
            validator_lying: 0.0,
            chunked: 0.0,
            uncompressed_sites: 0.0,
        }
    }

    pub fn realistic() -> Self {
        Shares {
            disallowed: 0.06,
            hidden: 0.02,
            missing: 0.03,
            gone: 0.01,
            server_error: 0.01,
            busy: 0.01,
            soft_missing: 0.01,
            login: 0.01,
            redirect: 0.05,
            redirect_loop: 0.01,
            redirect_away: 0.01,
            pdf: 0.03,
            image: 0.03,
            feed: 0.01,
            json: 0.01,
            noindex: 0.02,
            nofollow: 0.01,
            noarchive: 0.02,
            duplicate: 0.03,
            slow: 0.01,
            huge: 0.002,
            hostile: 0.0,
            trap_sites: 0.5,
            old_charset_sites: 0.3,
            tracking_links: 0.05,
            links_away: 0.05,
            validator_none: 0.15,
            validator_modified_only: 0.15,
            validator_weak: 0.15,
            validator_lying: 0.05,
            chunked: 0.2,
            uncompressed_sites: 0.15,
        }
    }

    fn of_pages(&self) -> f64 {
        self.all()[..22].iter().sum()
    }

    fn all(&self) -> [f64; 32] {
        [
            self.disallowed,
            self.hidden,
            self.missing,
            self.gone,
            self.server_error,
            self.busy,
            self.soft_missing,
            self.login,
            self.redirect,
            self.redirect_loop,
            self.redirect_away,
            self.pdf,
            self.image,
            self.feed,
            self.json,
            self.noindex,
            self.nofollow,
            self.noarchive,
            self.duplicate,
            self.slow,
            self.huge,
            self.hostile,
            self.trap_sites,
            self.old_charset_sites,
            self.tracking_links,
            self.links_away,
            self.validator_none,
            self.validator_modified_only,
            self.validator_weak,
            self.validator_lying,
            self.chunked,
            self.uncompressed_sites,
        ]
    }
}

impl Default for Shares {
    fn default() -> Self {
        Self::none()
    }
}

fn write_moment<S: Serializer>(moment: &Moment, serializer: S) -> std::result::Result<S::Ok, S::Error> {
    serializer.serialize_str(&moment.rfc3339())
}

fn read_moment<'de, D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Moment, D::Error> {
    let text = String::deserialize(deserializer)?;
    // An age such as `7d` would need a clock, so it is read before 1970 and refused.
    let moment = Moment::parse(&text, Moment::EPOCH).map_err(serde::de::Error::custom)?;
    if moment < Moment::EPOCH {
        return Err(serde::de::Error::custom("origin must be a date after 1970"));
    }
    Ok(moment)
}
