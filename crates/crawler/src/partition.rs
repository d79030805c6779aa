//! One partition's life: its frontier, its policy, its sites. A cheap struct, not a thread or a store.

mod drawing;

use std::collections::{BTreeMap, BTreeSet};

use foldhash::{HashMap, HashMapExt, HashSet, HashSetExt};
use vernal_frontier::{Frontier, FrontierLimits, Politeness, PolitenessSettings, TrapBook};
use vernal_model::{
    Moment, Page, PageKey, PageState, Partition as PartitionId, Site, SitePosture, SiteRow, Standing, Url,
};
use vernal_policy::{Best, Held, Refresh};

use crate::coordinator::Lane;
use crate::intake::page_life::{Hands, hands};
use crate::refresh_view::{Facts, RefreshView};
use crate::retries::Retries;
use crate::settings::Promise;
use crate::{Error, Result, Settings};

pub(crate) use self::drawing::window_row;

pub(crate) struct Partition {
    pub id: PartitionId,
    pub frontier: Frontier,
    pub politeness: Politeness,
    pub traps: TrapBook,
    pub policy: Box<dyn Refresh>,
    pub sites: Vec<SiteLife>,
    by_name: HashMap<Site, u32>,
    per_site_pages_max: u64,
    /// The site of each visited page, by page number.
    site_of: Vec<u32>,
    pub retries: Retries,
    /// Sites whose part of the window runs low while more of their URLs wait on disk.
    hungry: BTreeSet<u32>,
    /// Sites that cannot be asked for a while and have left the window to others, by the Moment at which they come back.
    resting: BTreeSet<(Moment, u32)>,
    rested: Moment,
    /// URLs of active sites that wait on disk.
    undrawn_active: u64,
    pub held: u64,
    pub next_number: u32,
    /// What the partition is owed in visits to held pages, when several partitions want one.
    pub credit: f64,
    /// What its best visit is worth, where the policy can say so, and when that was asked; `None` when it must be asked
    /// again.
    pub best: Option<Best>,
    pub best_known: Option<Moment>,
    /// The tick at which the policy was asked and had nothing to choose, if nothing happened here since.
    pub in_vain: Option<u64>,
    /// Waiting URLs that were taken past the window, because they are wanted before all others.
    taken: HashSet<PageKey>,
    /// The site of the page that the policy chose last.
    pub last_chosen: Option<u32>,
    /// The first parts of paths, by site: pages that share one are siblings.
    paths: HashMap<(u32, Box<str>), u32>,
}

/// A site as this process knows it.
pub(crate) struct SiteLife {
    pub site: Site,
    pub posture: SitePosture,
    /// URLs that wait on disk and are not in the window.
    pub undrawn: u64,
    /// The bands in which URLs of this site wait, each with the arrival up to which it has been drawn.
    drawn: BTreeMap<u8, Option<u64>>,
    /// Whether `drawn` knows the bands that lie on disk from before.
    bands_read: bool,
    /// Pages held, and first visits under way.
    held: u64,
    first_visits: u64,
    /// The site has the pages it may have: what waits goes on waiting, on disk.
    full: bool,
    /// Visits that the policy learned from since what it remembers of the site was last written down.
    pub learned: u32,
}

/// The window of one partition: there are sixty-four of them, so that this bounds the URLs in memory to 128 Ki.
const WINDOW: FrontierLimits = FrontierLimits { window_max: 2_048, per_site_max: 256 };

/// First parts of paths that are told apart; pages beyond share one.
const PATHS_MAX: usize = 100_000;

/// No site of this partition has this number.
const NO_SITE: u32 = u32::MAX;

impl SiteLife {
    /// Whether new pages of it may be visited.
    fn is_open(&self) -> bool {
        self.posture.standing == Standing::Active && !self.full
    }
}

impl Partition {
    pub(crate) fn new(id: PartitionId, settings: &Settings, started: Moment) -> Result<Self> {
        let policy = vernal_policy::by_name(&settings.policy)
            .ok_or_else(|| Error::Policy(settings.policy.clone(), vernal_policy::NAMES.join(", ")))?;
        let politeness =
            PolitenessSettings { delay: settings.delay, delay_max: settings.delay_max, per_site: settings.per_site };
        Ok(Partition {
            id,
            frontier: Frontier::new(WINDOW),
            politeness: Politeness::new(politeness, started),
            traps: TrapBook::new(),
            policy,
            sites: Vec::new(),
            by_name: HashMap::new(),
            per_site_pages_max: settings.per_site_pages_max.unwrap_or(u64::MAX),
            site_of: Vec::new(),
            retries: Retries::default(),
            hungry: BTreeSet::new(),
            resting: BTreeSet::new(),
            rested: Moment::EPOCH,
            undrawn_active: 0,
            held: 0,
            next_number: 0,
            credit: 0.0,
            best: None,
            best_known: None,
            in_vain: None,
            taken: HashSet::new(),
            last_chosen: None,
            paths: HashMap::new(),
        })
    }

    /// Takes up a site that the tables know.
    pub(crate) fn recall_site(&mut self, row: &SiteRow) {
        let number = self.site_number(&row.site);
        let life = &mut self.sites[number as usize];
        life.posture = row.posture.clone();
        life.undrawn = row.counts.waiting;
        // Whoever had this folder before may have asked the site a moment ago and died before saying so.
        self.politeness.asked_before(&row.site);
        self.traps.recall(&row.site, &row.posture.traps);
        self.politeness.hold(&row.site, row.posture.not_before);
        self.politeness.set_crawl_delay(&row.site, row.posture.crawl_delay);
        if !row.posture.policy.is_empty()
            && let Some(memory) = self.policy.site_memory()
        {
            memory.recall_site(number, &row.posture.policy);
        }
        if row.posture.standing == Standing::Active {
            self.undrawn_active += row.counts.waiting;
            self.hungry.insert(number);
        } else {
            self.politeness.close(&row.site);
        }
    }

    /// Takes up a page that the tables know. What an earlier process refused may be allowed now, so that it is looked at
    /// once more; if it is not, no request leaves.
    pub(crate) fn recall_page(&mut self, page: &Page, promise: Promise, now: Moment) {
        self.place(page);
        if page.state == PageState::Refused {
            self.retries.place_now(page, now);
        }
        if hands(page) == Hands::Policy {
            let site = self.site_of(page.key).unwrap_or(NO_SITE);
            let path = self.path_number(site, &page.url);
            self.stir();
            self.policy.recall(&Held {
                page: page.key,
                site,
                path,
                importance: page.importance,
                admitted: page.admitted,
                last_visit: page.last_visit,
                wire_bytes: page.version.map_or(0, |version| u64::from(version.body_bytes)),
                at_least_every: promise.at_least_every,
                at_most_every: promise.at_most_every,
                known_rate: None,
                state: &page.policy,
            });
        }
    }

    /// The number of the first part of a path within its site.
    fn path_number(&mut self, site: u32, url: &Url) -> u32 {
        let first = url.first_folder();
        let next = self.paths.len() as u32;
        if self.paths.len() >= PATHS_MAX {
            return self.paths.get(&(site, first.into())).copied().unwrap_or(next);
        }
        *self.paths.entry((site, first.into())).or_insert(next)
    }

    /// Notes the site of a page, and puts it among the retries if that is where it belongs.
    pub(crate) fn place(&mut self, page: &Page) {
        // A page never changes its site.
        if self.site_of(page.key).is_none() {
            let site = self.site_number(&page.url.site());
            let index = page.key.number as usize;
            if self.site_of.len() <= index {
                self.site_of.resize(index + 1, NO_SITE);
            }
            self.site_of[index] = site;
        }
        self.taken.remove(&page.key);
        self.retries.place(page);
    }

    /// The site of a page's URL; one that is known already is not spelled out again.
    pub(crate) fn site_of_url(&self, page: PageKey, url: &Url) -> Site {
        let known = self.site_of(page).map(|site| &self.sites[site as usize].site);
        known.filter(|site| site.as_str() == url.site_text()).cloned().unwrap_or_else(|| url.site())
    }

    /// The number of a URL's site, if it has one here.
    pub(crate) fn number_of(&self, url: &Url) -> Option<u32> {
        self.by_name.get(url.site_text()).copied()
    }

    /// The number of a site, new ones being given the next.
    pub(crate) fn site_number(&mut self, site: &Site) -> u32 {
        if let Some(&number) = self.by_name.get(site) {
            return number;
        }
        let number = self.sites.len() as u32;
        self.by_name.insert(site.clone(), number);
        self.sites.push(SiteLife {
            site: site.clone(),
            posture: SitePosture::default(),
            undrawn: 0,
            drawn: BTreeMap::new(),
            bands_read: false,
            held: 0,
            first_visits: 0,
            full: false,
            learned: 0,
        });
        number
    }

    pub(crate) fn site_mut(&mut self, site: &Site) -> &mut SiteLife {
        let number = self.site_number(site);
        &mut self.sites[number as usize]
    }

    pub(crate) fn site(&self, site: &Site) -> Option<&SiteLife> {
        self.by_name.get(site).map(|&number| &self.sites[number as usize])
    }

    pub(crate) fn site_of(&self, page: PageKey) -> Option<u32> {
        self.site_of.get(page.number as usize).copied().filter(|&site| site != NO_SITE)
    }

    /// The next page of this lane whose retry has come and whose site may be asked.
    pub(crate) fn next_retry(&mut self, lane: Lane, now: Moment) -> Option<PageKey> {
        let Partition { retries, politeness, sites, site_of, .. } = self;
        retries.take(lane, now, |page| {
            let site = site_of.get(page.number as usize).and_then(|&site| sites.get(site as usize));
            let life = site.filter(|life| lane == Lane::Due || life.is_open());
            life.map_or(Moment::NEVER, |life| politeness.earliest(&life.site))
        })
    }

    /// Whether quick retries of this lane wait on sites that may be asked at all.
    pub(crate) fn has_quick_retries(&self, lane: Lane) -> bool {
        self.retries.quick(lane).any(|page| {
            let life = self.site_of(page).map(|site| &self.sites[site as usize]);
            life.is_some_and(|life| match lane {
                Lane::New => life.is_open(),
                Lane::Due => life.posture.standing == Standing::Active,
            })
        })
    }

    pub(crate) fn may_ask(&self, page: PageKey, now: Moment) -> bool {
        self.site_of(page).is_some_and(|site| self.politeness.may_ask(&self.sites[site as usize].site, now))
    }

    /// Something happened here: what the best visit is worth must be asked again.
    pub(crate) fn stir(&mut self) {
        self.best_known = None;
        self.in_vain = None;
    }

    /// A page that the policy chose is not visited after all.
    pub(crate) fn put_back(&mut self, page: PageKey) {
        self.policy.put_back(page);
        self.in_vain = None;
    }

    /// How many requests may leave now for the site that the policy chose last: it may well be chosen again.
    pub(crate) fn room_of_last(&self, now: Moment) -> usize {
        let life = self.last_chosen.and_then(|site| self.sites.get(site as usize));
        life.map_or(0, |life| usize::from(self.politeness.room(&life.site, now)))
    }

    pub(crate) fn view(&self, facts: Facts, now: Moment) -> RefreshView<'_> {
        RefreshView { facts, politeness: &self.politeness, sites: &self.sites, site_of: &self.site_of, now }
    }

    pub(crate) fn policy_and_view(&mut self, facts: Facts, now: Moment) -> (&mut dyn Refresh, RefreshView<'_>) {
        let Partition { policy, politeness, sites, site_of, .. } = self;
        (policy.as_mut(), RefreshView { facts, politeness, sites, site_of, now })
    }

    /// Whether nothing at all happens here, so that no look is needed.
    pub(crate) fn is_quiet(&self) -> bool {
        self.sites.is_empty()
    }

    /// URLs of active sites that wait on disk.
    pub(crate) fn undrawn(&self) -> u64 {
        self.undrawn_active
    }

    /// URLs that wait, on disk or in the window.
    pub(crate) fn waiting(&self) -> u64 {
        self.undrawn_active + self.frontier.len() as u64
    }

    pub(crate) fn set_standing(&mut self, site: &Site, standing: Standing) {
        self.change_openness(site, |life| life.posture.standing = standing);
        if standing == Standing::Active {
            self.politeness.reopen(site);
        } else {
            self.politeness.close(site);
        }
    }

    /// Pages of a site that are held.
    pub(crate) fn held_of(&self, site: &Site) -> u64 {
        self.site(site).map_or(0, |life| life.held)
    }

    pub(crate) fn first_visit_began(&mut self, site: &Site) {
        let number = self.site_number(site);
        self.sites[number as usize].first_visits += 1;
        self.check_full(number);
    }

    pub(crate) fn first_visit_ended(&mut self, site: &Site) {
        let number = self.site_number(site);
        let life = &mut self.sites[number as usize];
        life.first_visits = life.first_visits.saturating_sub(1);
        self.check_full(number);
    }

    /// A page came to be held, or is held no more.
    pub(crate) fn count_held(&mut self, site: &Site, change: i64) {
        self.held = self.held.saturating_add_signed(change);
        let number = self.site_number(site);
        let life = &mut self.sites[number as usize];
        life.held = life.held.saturating_add_signed(change);
        self.check_full(number);
    }

    /// A site that has its pages is not drawn from until it has fewer.
    fn check_full(&mut self, number: u32) {
        let life = &self.sites[number as usize];
        let full = life.held + life.first_visits >= self.per_site_pages_max;
        if full != life.full {
            let site = life.site.clone();
            self.change_openness(&site, |life| life.full = full);
        }
    }

    /// Changes what decides whether the site is open to discovery, and keeps window and counts true to it.
    fn change_openness(&mut self, site: &Site, change: impl FnOnce(&mut SiteLife)) {
        let number = self.site_number(site);
        let was_open = self.sites[number as usize].is_open();
        change(&mut self.sites[number as usize]);
        let life = &self.sites[number as usize];
        match (was_open, life.is_open()) {
            (true, false) => {
                self.undrawn_active -= life.undrawn;
                self.undraw(site);
            }
            (false, true) => {
                self.undrawn_active += life.undrawn;
                self.hungry.insert(number);
            }
            _ => {}
        }
    }
}
