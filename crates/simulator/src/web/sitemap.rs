//! The sitemaps of the invented web: honest, partly honest, and lying in each of the ways that sites do.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};
use vernal_model::{Moment, Span};

use super::class::Expected;
use super::plan::{PageNumber, Web};

/// A sitemap may list so many pages (sitemaps.org).
const PAGES_MAX: usize = 50_000;
/// A partly honest sitemap announces this share of the changes …
const PARTLY_RECALL: f64 = 0.7;
/// … and moves a date for nothing on this share of days.
const PARTLY_FALSE_PER_DAY: f64 = 0.01;
/// A sitemap whose dates move without changes moves each on this share of days.
const RESTLESS_PER_DAY: f64 = 0.5;
/// How far back moves for nothing are looked for.
const DAYS_BACK_MAX: i64 = 100;
/// Changes that were not announced are passed over up to so many.
const CHANGES_BACK_MAX: usize = 100;

/// How a web's sitemaps tell of changes.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SitemapManner {
    /// Half of the sites say when a page changed, one in four says "today" of every page, one in four says nothing.
    #[default]
    Mixed,
    Honest,
    /// Announces seven changes in ten, and now and then one that never was.
    Partly,
    /// "Today" of every page, one same date for all, or dates that move without changes: each site has its way.
    Lying,
}

impl Web {
    /// The pages worth a visit, with the dates that this site gives them.
    pub(super) fn sitemap(&self, site: usize, now: Moment) -> String {
        let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
        out.push_str("<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n");
        for number in self.pages_of(site).take(PAGES_MAX) {
            let page = &self.plan.pages[number.index()];
            if page.hidden || page.forbidden || page.class.expected() != Expected::Held {
                continue;
            }
            let url = self.url(number).replace('&', "&amp;");
            let _ = match self.lastmod(site, number, now).as_str() {
                "" => writeln!(out, "<url><loc>{url}</loc></url>"),
                lastmod => writeln!(out, "<url><loc>{url}</loc><lastmod>{lastmod}</lastmod></url>"),
            };
        }
        out.push_str("</urlset>\n");
        out
    }

    fn lastmod(&self, site: usize, number: PageNumber, now: Moment) -> String {
        let mut lot = self.plan.sites[site].chance.stream("sitemap");
        let today = || now.warc_date()[..10].to_owned();
        match self.plan.settings.sitemaps {
            SitemapManner::Mixed => match lot.below(4) {
                0 | 1 => self.modified(number, now).warc_date(),
                2 => today(),
                _ => String::new(),
            },
            SitemapManner::Honest => self.modified(number, now).warc_date(),
            SitemapManner::Partly => {
                let moved = self.moved_for_nothing(number, PARTLY_FALSE_PER_DAY, now);
                self.announced(number, now).max(moved.unwrap_or(Moment::EPOCH)).warc_date()
            }
            SitemapManner::Lying => match lot.below(3) {
                0 => today(),
                1 => Moment::from_secs(now.secs() / 21_600 * 21_600).warc_date(),
                _ => {
                    let moved = self.moved_for_nothing(number, RESTLESS_PER_DAY, now);
                    moved.unwrap_or(self.plan.settings.origin).warc_date()
                }
            },
        }
    }

    /// The last change that a partly honest site announced.
    fn announced(&self, number: PageNumber, now: Moment) -> Moment {
        let chance = &self.plan.pages[number.index()].chance;
        let mut at = now;
        for _ in 0..CHANGES_BACK_MAX {
            let changed = self.modified(number, at);
            let is_announced = chance.stream("announced").numbered(changed.secs() as u64).happens(PARTLY_RECALL);
            if changed <= self.plan.settings.origin || is_announced {
                return changed;
            }
            at = changed - Span::from_secs(1);
        }
        self.plan.settings.origin
    }

    /// The last time that a date moved although nothing had changed.
    fn moved_for_nothing(&self, number: PageNumber, per_day: f64, now: Moment) -> Option<Moment> {
        let chance = self.plan.pages[number.index()].chance.stream("moved for nothing");
        let today = now.secs().div_euclid(86_400);
        (0..DAYS_BACK_MAX).find_map(|back| {
            let mut lot = chance.numbered((today - back) as u64);
            let moves = lot.happens(per_day);
            let at = Moment::from_secs((today - back) * 86_400 + lot.below(86_400) as i64);
            (moves && at <= now).then_some(at)
        })
    }
}
