//! The sites of one partition: their state, when each may be asked, its traps, and the site of each page.

use std::collections::BTreeMap;

use foldhash::{HashMap, HashMapExt};
use vernal_frontier::{Politeness, PolitenessSettings, TrapBook};
use vernal_model::{Failure, Moment, Outcome, Page, PageKey, Site, SiteProfile, SiteState, Span, Url};

use crate::Settings;
use crate::sites::slots::Pace;
use crate::sites::trap_pages::TrapPages;

/// Distinct first path segments that are kept; pages beyond this limit share one number.
const PATHS_MAX: usize = 100_000;

/// No site of this partition has this number.
pub(crate) const NO_SITE: u32 = u32::MAX;

pub(crate) struct SiteBook {
    pub politeness: Politeness,
    pub traps: TrapBook,
    pub trap_pages: TrapPages,
    sites: Vec<SiteLife>,
    by_name: HashMap<Site, u32>,
    /// The site of each visited page, by page number.
    site_of: Vec<u32>,
    /// The first path segments, by site: pages that share one are siblings.
    paths: HashMap<(u32, Box<str>), u32>,
}

/// A site as this process knows it.
pub(crate) struct SiteLife {
    pub site: Site,
    pub profile: SiteProfile,
    /// URLs of this site that wait on disk and are not in the window.
    pub undrawn: u64,
    /// The bands in which URLs of this site wait, each with the arrival up to which it has been drawn.
    pub drawn: BTreeMap<u8, Option<u64>>,
    /// Whether `drawn` includes the bands that were on disk at start.
    pub bands_read: bool,
    /// Pages held, and first visits under way.
    pub held: u64,
    pub first_visits: u64,
    /// The site has the pages it may have: its waiting URLs stay on disk.
    pub full: bool,
    /// Visits that the policy learned from since its memory of the site was last journalled.
    pub learned: u32,
    pub reach: Reach,
    pub pace: Pace,
}

/// Whether requests of this process have reached a site.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Reach {
    #[default]
    NotTried,
    Reached,
    /// No request has reached it so far, for this reason.
    Unreached(Box<str>),
}

impl SiteLife {
    fn new(site: Site) -> Self {
        SiteLife {
            site,
            profile: SiteProfile::default(),
            undrawn: 0,
            drawn: BTreeMap::new(),
            bands_read: false,
            held: 0,
            first_visits: 0,
            full: false,
            learned: 0,
            reach: Reach::default(),
            pace: Pace::default(),
        }
    }

    /// Whether new pages of the site may be visited.
    pub fn is_open(&self) -> bool {
        self.profile.standing == SiteState::Active && !self.full
    }

    /// Notes how a request to the site ended. A site that answered once in this process stays reached. One that was given
    /// less than the usual time is not unreached at once.
    pub fn note_reach(&mut self, outcome: &Outcome, patience: Option<Span>) {
        let was_hurried = patience.is_some() && self.pace.was_hurried();
        self.reach = match outcome {
            Outcome::Refused(_) | Outcome::Failed(Failure::Lost) => return,
            Outcome::Failed(Failure::Dns(_) | Failure::Timeout(_)) if was_hurried => return,
            Outcome::Failed(Failure::Dns(_) | Failure::Connect(_) | Failure::Tls(_) | Failure::Timeout(_)) => {
                match self.reach {
                    Reach::Reached => return,
                    _ => Reach::Unreached(outcome.detail().into()),
                }
            }
            _ => Reach::Reached,
        };
    }

    /// Whether all requests of this process failed to reach the site. A crawl that ends by itself does not wait for it.
    pub fn is_unreached(&self) -> bool {
        matches!(self.reach, Reach::Unreached(_))
    }
}

impl SiteBook {
    pub fn new(settings: &Settings, started: Moment) -> Self {
        let politeness =
            PolitenessSettings { delay: settings.delay, delay_max: settings.delay_max, per_site: settings.per_site };
        SiteBook {
            politeness: Politeness::new(politeness, started),
            traps: TrapBook::new(),
            trap_pages: TrapPages::default(),
            sites: Vec::new(),
            by_name: HashMap::new(),
            site_of: Vec::new(),
            paths: HashMap::new(),
        }
    }

    pub fn iter(&self) -> impl Iterator<Item = &SiteLife> {
        self.sites.iter()
    }

    pub fn len(&self) -> usize {
        self.sites.len()
    }

    /// The number of a site, if it has one in this partition.
    pub fn number_of(&self, site: &str) -> Option<u32> {
        self.by_name.get(site).copied()
    }

    /// The number of a site; a new site gets the next number.
    pub fn number(&mut self, site: &Site) -> u32 {
        if let Some(&number) = self.by_name.get(site) {
            return number;
        }
        let number = self.sites.len() as u32;
        self.by_name.insert(site.clone(), number);
        self.sites.push(SiteLife::new(site.clone()));
        number
    }

    pub fn numbered(&self, number: u32) -> Option<&SiteLife> {
        self.sites.get(number as usize)
    }

    /// The site with this number, which must have been assigned here.
    pub fn at(&self, number: u32) -> &SiteLife {
        &self.sites[number as usize]
    }

    pub fn at_mut(&mut self, number: u32) -> &mut SiteLife {
        &mut self.sites[number as usize]
    }

    pub fn site(&self, site: &Site) -> Option<&SiteLife> {
        self.by_name.get(site).map(|&number| self.at(number))
    }

    pub fn site_mut(&mut self, site: &Site) -> &mut SiteLife {
        let number = self.number(site);
        self.at_mut(number)
    }

    /// Notes the site of a page. A page never changes its site.
    pub fn note_page(&mut self, page: &Page) {
        if self.site_of(page.key).is_some() {
            return;
        }
        let site = self.number(&page.url.site());
        let index = page.key.number as usize;
        if self.site_of.len() <= index {
            self.site_of.resize(index + 1, NO_SITE);
        }
        self.site_of[index] = site;
        self.trap_pages.note(page.key, TrapBook::mark(&page.url));
        if self.traps.suspects(&page.url, page.last_visit).is_some() {
            self.trap_pages.put_into_trap(page.key);
        }
    }

    /// Whether a page lies in a recognised trap.
    pub fn lies_in_trap(&self, page: PageKey) -> bool {
        self.trap_pages.lies_in_trap(page, &self.traps)
    }

    pub fn site_of(&self, page: PageKey) -> Option<u32> {
        self.site_of.get(page.number as usize).copied().filter(|&site| site != NO_SITE)
    }

    pub fn life_of(&self, page: PageKey) -> Option<&SiteLife> {
        self.site_of(page).map(|site| self.at(site))
    }

    /// The site of a page's URL; a known site is not parsed again.
    pub fn site_of_url(&self, page: PageKey, url: &Url) -> Site {
        let known = self.life_of(page).map(|life| &life.site);
        known.filter(|site| site.as_str() == url.site_text()).cloned().unwrap_or_else(|| url.site())
    }

    /// The number of the first path segment within its site.
    pub fn path_number(&mut self, site: u32, url: &Url) -> u32 {
        let first = url.first_folder();
        let next = self.paths.len() as u32;
        if self.paths.len() >= PATHS_MAX {
            return self.paths.get(&(site, first.into())).copied().unwrap_or(next);
        }
        *self.paths.entry((site, first.into())).or_insert(next)
    }

    pub fn may_ask(&self, page: PageKey, now: Moment) -> bool {
        self.life_of(page).is_some_and(|life| self.politeness.may_ask(&life.site, now))
    }

    /// When a site may be asked for a page that is not held yet.
    pub fn earliest_new(&self, site: &Site) -> Moment {
        let is_open = self.site(site).is_none_or(SiteLife::is_open);
        if is_open { self.politeness.earliest(site) } else { Moment::NEVER }
    }

    /// Pages of a site that are held.
    pub fn held_of(&self, site: &Site) -> u64 {
        self.site(site).map_or(0, |life| life.held)
    }
}
