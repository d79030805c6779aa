//! The parts of one partition, and how pages move between them.

use vernal_model::{Moment, Outcome, Page, PageKey, Partition as PartitionId, Site, SiteRow, SiteState, Span};

use super::retries::Retries;
use super::{Facts, RefreshQueue, RefreshView, SiteBook, SiteLife, WaitingUrls};
use crate::coordinator::Lane;
use crate::intake::page_life::{VisitOwner, is_beyond_limits, visit_owner};
use crate::settings::Promise;
use crate::sites::slots::Pace;
use crate::{Result, Settings};

/// The least wait before a page is looked at again whose site has all its requests in flight.
const BUSY_AGAIN: Span = Span::from_millis(100);

pub(crate) struct Partition {
    pub id: PartitionId,
    pub sites: SiteBook,
    pub waiting: WaitingUrls,
    pub refresh: RefreshQueue,
    pub retries: Retries,
    pub held: u64,
    next_number: u32,
    per_site_pages_max: u64,
    larger_bodies: bool,
}

impl Partition {
    pub fn new(id: PartitionId, settings: &Settings, started: Moment) -> Result<Self> {
        Ok(Partition {
            id,
            sites: SiteBook::new(settings, started),
            waiting: WaitingUrls::in_order(settings.visit_order),
            refresh: RefreshQueue::new(&settings.policy)?.with_terms(settings.url_terms_book()),
            retries: Retries::default(),
            held: 0,
            next_number: 0,
            per_site_pages_max: settings.per_site_pages_max.unwrap_or(u64::MAX),
            larger_bodies: settings.larger_bodies,
        })
    }

    /// Whether no URL of this site waits, neither on disk nor in the window. A site that is not known has none.
    pub fn has_run_dry(&self, site: &str) -> bool {
        let Some(number) = self.sites.number_of(site) else { return true };
        let life = self.sites.at(number);
        life.undrawn == 0 && self.waiting.window.len_of(&life.site) == 0
    }

    /// Restores a site from the tables.
    pub fn recall_site(&mut self, row: &SiteRow) {
        let number = self.sites.number(&row.site);
        let life = self.sites.at_mut(number);
        life.profile = row.profile.clone();
        life.undrawn = row.counts.waiting;
        if row.counts.held > 0 && row.profile.failures == 0 {
            life.pace = Pace::known();
        }
        // An earlier process may have asked the site just before it died, without recording it.
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

    /// Restores a page from the tables. A page that an earlier process refused, held or not, may be allowed by the settings
    /// of this one, so it is checked once more; if it is still refused, no request leaves. So may a page that was too large, if
    /// larger bodies are allowed now.
    pub fn recall_page(&mut self, page: &Page, promise: Promise, now: Moment) {
        self.place(page);
        if self.larger_bodies
            && let Outcome::Failed(failure) = &page.last_outcome
            && is_beyond_limits(failure)
        {
            self.retries.place_again(page, now);
        }
        if matches!(page.last_outcome, Outcome::Refused(_)) {
            self.retries.place_now(page, now);
        }
        if visit_owner(page) == VisitOwner::Policy {
            self.refresh.recall(&mut self.sites, page, promise);
        }
    }

    /// Marks page numbers up to this as used.
    pub fn recall_numbers(&mut self, next_number: u32) {
        self.next_number = next_number;
    }

    /// Assigns the number of a page that is admitted now.
    pub fn number_page(&mut self) -> u32 {
        self.next_number += 1;
        self.next_number - 1
    }

    /// The number of page numbers in use.
    pub fn numbers(&self) -> u32 {
        self.next_number
    }

    /// Notes the site of a page, and adds the page to the retries if it belongs there.
    pub fn place(&mut self, page: &Page) {
        self.sites.note_page(page);
        self.waiting.visited(page.key);
        self.retries.place(page);
    }

    /// The next page of this lane that is due for a retry and whose site may be asked.
    pub fn next_retry(&mut self, lane: Lane, now: Moment) -> Option<PageKey> {
        let Partition { retries, sites, .. } = self;
        retries.take(lane, now, |page| {
            let life = sites.life_of(page).filter(|life| lane == Lane::Due || life.is_open());
            let Some(life) = life else { return Moment::NEVER };
            match sites.politeness.earliest(&life.site) {
                // Its requests in flight will be answered soon.
                Moment::NEVER if life.profile.standing == SiteState::Active => {
                    now + sites.politeness.delay(&life.site).max(BUSY_AGAIN)
                }
                at => at,
            }
        })
    }

    /// Whether URLs wait for a first visit at sites that can be reached, as far as this process knows.
    pub fn has_reachable_urls(&self) -> bool {
        let unreached = self.sites.iter().filter(|life| life.is_unreached());
        !self.waiting.is_empty() && self.waiting.len() > unreached.map(|life| self.waiting.len_of(life)).sum()
    }

    /// Whether quick retries of this lane wait on sites that may be asked at all and can be reached, as far as this process
    /// knows.
    pub fn has_quick_retries(&self, lane: Lane) -> bool {
        self.retries.quick(lane).any(|page| {
            self.sites.life_of(page).filter(|life| !life.is_unreached()).is_some_and(|life| match lane {
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

    /// Whether the partition has nothing to do, so that it can be skipped.
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

    /// Counts a page that becomes held, or is no longer held.
    pub fn count_held(&mut self, site: &Site, change: i64) {
        self.held = self.held.saturating_add_signed(change);
        let life = self.sites.site_mut(site);
        life.held = life.held.saturating_add_signed(change);
        self.check_full(site);
    }

    /// Stops drawing from a site that has all the pages it may have, until it has fewer.
    fn check_full(&mut self, site: &Site) {
        let most = self.per_site_pages_max;
        let life = self.sites.site_mut(site);
        let full = life.held + life.first_visits >= most;
        if full != life.full {
            self.change_openness(site, |life| life.full = full);
        }
    }

    /// Changes a condition for the site's discovery, and keeps window and counts consistent with it.
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use vernal_model::{PageState, Refusal, Url};

    use super::*;
    use crate::testing::{START, failed, held, key_of, url};

    const MOST: u64 = 3;

    fn partition() -> Partition {
        let settings = Settings { per_site_pages_max: Some(MOST), ..Settings::default() };
        Partition::new(url("http://a.example/").partition(), &settings, START).unwrap()
    }

    #[derive(Copy, Clone, Debug)]
    enum Event {
        Began,
        Ended,
        Came,
        Went,
        SiteState(SiteState),
    }

    fn event() -> impl Strategy<Value = Event> {
        let standings = [SiteState::Active, SiteState::Active, SiteState::Paused, SiteState::Blocked];
        let standing = prop::sample::select(standings.to_vec()).prop_map(Event::SiteState);
        prop_oneof![Just(Event::Began), Just(Event::Ended), Just(Event::Came), Just(Event::Went), standing]
    }

    proptest! {
        #[test]
        fn a_site_is_open_while_it_is_active_and_has_fewer_pages_than_it_may(
            events in prop::collection::vec((0usize..2, event()), 1..60),
        ) {
            let sites = [Site::new("a.example"), Site::new("b.example")];
            let mut partition = partition();
            let mut model = [(0u64, 0u64, SiteState::Active); 2];
            for (place, event) in events {
                let (site, (pages, visits, standing)) = (&sites[place], &mut model[place]);
                match event {
                    Event::Began => {
                        partition.first_visit_began(site);
                        *visits += 1;
                    }
                    Event::Ended => {
                        partition.first_visit_ended(site);
                        *visits = visits.saturating_sub(1);
                    }
                    Event::Came => {
                        partition.count_held(site, 1);
                        *pages += 1;
                    }
                    Event::Went if *pages > 0 => {
                        partition.count_held(site, -1);
                        *pages -= 1;
                    }
                    Event::Went => {}
                    Event::SiteState(new) => {
                        partition.set_standing(site, new);
                        *standing = new;
                    }
                }
                prop_assert_eq!(partition.held, model.iter().map(|(pages, ..)| pages).sum::<u64>());
                for (site, &(pages, visits, standing)) in sites.iter().zip(&model) {
                    let is_open = standing == SiteState::Active && pages + visits < MOST;
                    prop_assert_eq!(partition.sites.site(site).is_none_or(SiteLife::is_open), is_open);
                    prop_assert_eq!(partition.sites.held_of(site), pages);
                    let may_ask = partition.sites.earliest_new(site) <= START;
                    prop_assert_eq!(may_ask, is_open, "full or closed sites are not asked for new pages");
                }
            }
        }
    }

    #[test]
    fn numbers_of_pages_go_on_behind_those_that_are_given() {
        let mut partition = partition();
        partition.recall_numbers(7);
        assert_eq!((partition.number_page(), partition.number_page(), partition.numbers()), (7, 8, 9));
    }

    #[test]
    fn a_row_that_is_taken_up_gives_the_site_its_delay_its_hold_and_its_traps() {
        let (mut partition, site) = (partition(), Site::new("a.example"));
        let until = START + Span::from_secs(50);
        let profile = vernal_model::SiteProfile {
            not_before: until,
            crawl_delay: Some(Span::from_secs(9)),
            ..Default::default()
        };
        let counts = vernal_model::SiteCounts { waiting: 4, ..Default::default() };
        partition.recall_site(&SiteRow { site: site.clone(), partition: partition.id, profile, counts });
        assert_eq!(partition.sites.politeness.earliest(&site), until);
        assert_eq!(partition.sites.politeness.delay(&site), Span::from_secs(9));
        assert_eq!((partition.waiting.len(), partition.is_quiet()), (4, false));
    }

    #[test]
    fn a_site_that_was_paused_is_taken_up_closed_and_its_urls_wait_behind_it() {
        let (mut partition, site) = (partition(), Site::new("a.example"));
        let profile = vernal_model::SiteProfile { standing: SiteState::Paused, ..Default::default() };
        let counts = vernal_model::SiteCounts { waiting: 4, ..Default::default() };
        partition.recall_site(&SiteRow { site: site.clone(), partition: partition.id, profile, counts });
        assert!(partition.waiting.is_empty());
        assert_eq!(partition.sites.politeness.earliest(&site), Moment::NEVER);
        partition.set_standing(&site, SiteState::Active);
        assert_eq!(partition.waiting.len(), 4);
        assert!(partition.sites.politeness.earliest(&site) < Moment::NEVER);
    }

    fn due(partition: &Partition, now: Moment) -> bool {
        let facts = Facts {
            visits_left: 1,
            refresh_min: Span::ZERO,
            held: 1,
            per_day: 1e6,
            mean_rate: 1.0,
            counts_bytes: false,
            may_abandon: false,
            any_site: true,
        };
        partition.next_due(facts, now).is_some()
    }

    #[test]
    fn a_page_is_with_the_policy_or_with_the_retries_and_never_with_both() {
        let far = START + Span::from_days(9);
        for (page, with_policy) in [
            (held("http://a.example/1", 1), true),
            (failed("http://a.example/1", 1, START), false),
            (Page { misses: 1, ..held("http://a.example/1", 1) }, false),
            (Page { state: PageState::Left, ..held("http://a.example/1", 1) }, false),
        ] {
            let mut partition = partition();
            partition.recall_page(&page, Promise::default(), START);
            assert_eq!(due(&partition, far), with_policy, "{:?}", page.state);
            let is_retried = visit_owner(&page) != VisitOwner::Policy && page.state != PageState::Left;
            assert_eq!(partition.retries.len(), usize::from(is_retried));
        }
    }

    #[test]
    fn what_an_earlier_process_refused_is_looked_at_once_more_at_once() {
        let mut partition = partition();
        let refused = Page {
            state: PageState::Refused,
            last_outcome: Outcome::Refused(Refusal::Robots),
            failures: 3,
            ..failed("http://a.example/1", 1, START + Span::from_days(1))
        };
        partition.recall_page(&refused, Promise::default(), START);
        assert!(partition.has_quick_retries(Lane::New));
        assert_eq!(partition.next_retry(Lane::New, START), Some(refused.key));
        assert_eq!(partition.next_retry(Lane::New, START), None);
    }

    #[test]
    fn a_held_page_that_an_earlier_process_refused_is_looked_at_once_more_too() {
        let mut partition = partition();
        let refused = Page {
            last_outcome: Outcome::Refused(Refusal::Guard("127.0.0.1 is loopback".into())),
            failures: 3,
            not_before: START + Span::from_days(1),
            ..held("http://a.example/1", 1)
        };
        partition.recall_page(&refused, Promise::default(), START);
        assert!(partition.has_quick_retries(Lane::Due), "no crawl ends before");
        assert_eq!(partition.next_retry(Lane::Due, START), Some(refused.key));
    }

    #[test]
    fn a_page_that_was_too_large_is_asked_for_again_at_once_only_if_larger_bodies_are_allowed() {
        let far = START + Span::from_days(90);
        let outcome = Outcome::Failed(vernal_model::Failure::TooLarge);
        let large = Page { failures: 3, last_outcome: outcome, ..failed("http://a.example/1", 1, far) };
        for larger_bodies in [false, true] {
            let settings = Settings { larger_bodies, ..Settings::default() };
            let mut partition = Partition::new(large.key.partition, &settings, START).unwrap();
            partition.recall_page(&large, Promise::default(), START);
            assert_eq!(partition.next_retry(Lane::New, START), larger_bodies.then_some(large.key));
        }
    }

    #[test]
    fn a_site_with_a_request_in_flight_keeps_its_other_retries_waiting_for_a_moment_only() {
        let (mut partition, site) = (partition(), Site::new("a.example"));
        for number in 0..5 {
            let page = failed(&format!("http://a.example/{number}"), number, START);
            partition.recall_page(&page, Promise::default(), START);
        }
        let mut now = START;
        for _ in 0..5 {
            assert!(partition.next_retry(Lane::New, now).is_some(), "{now}");
            partition.sites.politeness.asked(&site, now);
            assert_eq!(partition.next_retry(Lane::New, now), None);
            partition.sites.politeness.answered(&site, now + Span::from_millis(50));
            now += Span::from_millis(1_050);
        }
    }

    #[test]
    fn retries_of_new_pages_wait_while_their_site_is_full_and_those_of_held_ones_do_not() {
        let (mut partition, site) = (partition(), Site::new("a.example"));
        partition.recall_page(&failed("http://a.example/1", 1, START), Promise::default(), START);
        partition.recall_page(&Page { misses: 1, ..held("http://a.example/2", 2) }, Promise::default(), START);
        partition.count_held(&site, MOST as i64);
        assert_eq!(partition.next_retry(Lane::New, START), None);
        assert!(!partition.has_quick_retries(Lane::New), "a full site keeps no crawl from its end");
        assert_eq!(partition.next_retry(Lane::Due, START), Some(key_of("http://a.example/2", 2)));
        partition.count_held(&site, -1);
        let later = START + Span::from_secs(61);
        assert_eq!(partition.next_retry(Lane::New, later), Some(key_of("http://a.example/1", 1)));
    }

    #[test]
    fn pages_keep_their_site_and_share_the_number_of_their_first_folder() {
        let mut partition = partition();
        let page = held("http://a.example/news/1", 1);
        partition.place(&page);
        partition.place(&Page { url: url("http://b.example/news/1"), ..page.clone() });
        let sites = &mut partition.sites;
        assert_eq!(sites.life_of(page.key).map(|life| life.site.as_str()), Some("a.example"));
        assert_eq!(sites.site_of_url(page.key, &page.url), Site::new("a.example"));
        assert_eq!(sites.site_of_url(page.key, &url("http://b.example/")), Site::new("b.example"));
        assert_eq!(sites.site_of(key_of("http://a.example/", 99)), None);
        let number = |sites: &mut SiteBook, site: u32, text: &str| sites.path_number(site, &Url::parse(text).unwrap());
        let news = number(sites, 0, "http://a.example/news/1");
        assert_eq!(number(sites, 0, "http://a.example/news/2"), news);
        assert_ne!(number(sites, 0, "http://a.example/old/2"), news);
        assert_ne!(number(sites, 1, "http://a.example/news/2"), news, "of another site");
    }
}
