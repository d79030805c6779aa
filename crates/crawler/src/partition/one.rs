//! The parts of one partition, and what moves between them.

use vernal_model::{Moment, Page, PageKey, PageState, Partition as PartitionId, Site, SiteRow, SiteState};

use super::retries::Retries;
use super::{Facts, RefreshQueue, RefreshView, SiteBook, SiteLife, WaitingUrls};
use crate::coordinator::Lane;
use crate::intake::page_life::{VisitOwner, visit_owner};
use crate::settings::Promise;
use crate::{Result, Settings};

pub(crate) struct Partition {
    pub id: PartitionId,
    pub sites: SiteBook,
    pub waiting: WaitingUrls,
    pub refresh: RefreshQueue,
    pub retries: Retries,
    pub held: u64,
    next_number: u32,
    per_site_pages_max: u64,
}

impl Partition {
    pub fn new(id: PartitionId, settings: &Settings, started: Moment) -> Result<Self> {
        Ok(Partition {
            id,
            sites: SiteBook::new(settings, started),
            waiting: WaitingUrls::default(),
            refresh: RefreshQueue::new(&settings.policy)?,
            retries: Retries::default(),
            held: 0,
            next_number: 0,
            per_site_pages_max: settings.per_site_pages_max.unwrap_or(u64::MAX),
        })
    }

    /// Takes up a site that the tables know.
    pub fn recall_site(&mut self, row: &SiteRow) {
        let number = self.sites.number(&row.site);
        let life = self.sites.at_mut(number);
        life.profile = row.profile.clone();
        life.undrawn = row.counts.waiting;
        // Whoever had this folder before may have asked the site a moment ago and died before saying so.
        self.sites.politeness.asked_before(&row.site);
        self.sites.traps.recall(&row.site, &row.profile.traps);
        self.sites.politeness.hold(&row.site, row.profile.not_before);
        self.sites.politeness.set_crawl_delay(&row.site, row.profile.crawl_delay);
        if !row.profile.policy.is_empty() {
            self.refresh.recall_site(number, &row.profile.policy);
        }
        if row.profile.standing == SiteState::Active {
            self.waiting.recall(number, row.counts.waiting);
        } else {
            self.sites.politeness.close(&row.site);
        }
    }

    /// Takes up a page that the tables know. What an earlier process refused may be allowed now, so that it is looked at
    /// once more; if it is not, no request leaves.
    pub fn recall_page(&mut self, page: &Page, promise: Promise, now: Moment) {
        self.place(page);
        if page.state == PageState::Refused {
            self.retries.place_now(page, now);
        }
        if visit_owner(page) == VisitOwner::Policy {
            self.refresh.recall(&mut self.sites, page, promise);
        }
    }

    /// Numbers of pages up to this are given.
    pub fn recall_numbers(&mut self, next_number: u32) {
        self.next_number = next_number;
    }

    /// The number of a page that is admitted now.
    pub fn number_page(&mut self) -> u32 {
        self.next_number += 1;
        self.next_number - 1
    }

    /// How many numbers of pages are given.
    pub fn numbers(&self) -> u32 {
        self.next_number
    }

    /// Notes the site of a page, and puts it among the retries if that is where it belongs.
    pub fn place(&mut self, page: &Page) {
        self.sites.note_page(page);
        self.waiting.visited(page.key);
        self.retries.place(page);
    }

    /// The next page of this lane whose retry has come and whose site may be asked.
    pub fn next_retry(&mut self, lane: Lane, now: Moment) -> Option<PageKey> {
        let Partition { retries, sites, .. } = self;
        retries.take(lane, now, |page| {
            let life = sites.life_of(page).filter(|life| lane == Lane::Due || life.is_open());
            life.map_or(Moment::NEVER, |life| sites.politeness.earliest(&life.site))
        })
    }

    /// Whether quick retries of this lane wait on sites that may be asked at all.
    pub fn has_quick_retries(&self, lane: Lane) -> bool {
        self.retries.quick(lane).any(|page| {
            self.sites.life_of(page).is_some_and(|life| match lane {
                Lane::New => life.is_open(),
                Lane::Due => life.profile.standing == SiteState::Active,
            })
        })
    }

    /// How many requests may leave now for the site that the policy chose last: it may well be chosen again.
    pub fn room_of_last(&self, now: Moment) -> usize {
        let life = self.refresh.last_chosen().and_then(|site| self.sites.numbered(site));
        life.map_or(0, |life| usize::from(self.sites.politeness.room(&life.site, now)))
    }

    /// When the policy may next have something to visit.
    pub fn next_due(&self, facts: Facts, now: Moment) -> Option<Moment> {
        self.refresh.policy.next_due(&RefreshView { facts, sites: &self.sites, now }, now)
    }

    /// Whether nothing at all happens here, so that no look is needed.
    pub fn is_quiet(&self) -> bool {
        self.sites.len() == 0
    }

    pub fn set_standing(&mut self, site: &Site, standing: SiteState) {
        self.change_openness(site, |life| life.profile.standing = standing);
        if standing == SiteState::Active {
            self.sites.politeness.reopen(site);
        } else {
            self.sites.politeness.close(site);
        }
    }

    pub fn first_visit_began(&mut self, site: &Site) {
        self.sites.site_mut(site).first_visits += 1;
        self.check_full(site);
    }

    pub fn first_visit_ended(&mut self, site: &Site) {
        let life = self.sites.site_mut(site);
        life.first_visits = life.first_visits.saturating_sub(1);
        self.check_full(site);
    }

    /// A page came to be held, or is held no more.
    pub fn count_held(&mut self, site: &Site, change: i64) {
        self.held = self.held.saturating_add_signed(change);
        let life = self.sites.site_mut(site);
        life.held = life.held.saturating_add_signed(change);
        self.check_full(site);
    }

    /// A site that has its pages is not drawn from until it has fewer.
    fn check_full(&mut self, site: &Site) {
        let most = self.per_site_pages_max;
        let life = self.sites.site_mut(site);
        let full = life.held + life.first_visits >= most;
        if full != life.full {
            self.change_openness(site, |life| life.full = full);
        }
    }

    /// Changes what decides whether the site is open to discovery, and keeps window and counts true to it.
    fn change_openness(&mut self, site: &Site, change: impl FnOnce(&mut SiteLife)) {
        let number = self.sites.number(site);
        let was_open = self.sites.at(number).is_open();
        change(self.sites.at_mut(number));
        match (was_open, self.sites.at(number).is_open()) {
            (true, false) => self.waiting.close_site(&mut self.sites, number),
            (false, true) => self.waiting.open_site(&self.sites, number),
            _ => {}
        }
    }
}
