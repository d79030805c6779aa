//! The earliest Moment at which each site may be asked again. The crawler asks here before every order, and
//! [`audit`](crate::audit()) proves afterwards from the visit book that no request came too early.
//!
//! With one request at a time (`per_site` 1) the delay runs from the end of one answer to the start of the next
//! request. With more, it runs from start to start. A site that was asked by an earlier process
//! ([`Politeness::asked_before`]) counts as asked when this one started, because its requests in flight are unknown.

use std::collections::{BTreeMap, VecDeque};

use foldhash::{HashMap, HashMapExt};
use vernal_model::{Moment, Site, Span};

/// So many loosened sites are remembered for [`Politeness::loosened`]. A caller that is further behind looks at all sites.
const LOOSENED_MAX: usize = 4_096;

#[derive(Copy, Clone, Debug)]
pub struct PolitenessSettings {
    pub delay: Span,
    /// A longer crawl-delay counts as this.
    pub delay_max: Span,
    /// Requests in flight at one site at most.
    pub per_site: u16,
}

impl Default for PolitenessSettings {
    fn default() -> Self {
        PolitenessSettings { delay: Span::from_secs(1), delay_max: Span::from_secs(60), per_site: 1 }
    }
}

#[derive(Clone, Debug)]
pub struct Politeness {
    settings: PolitenessSettings,
    started: Moment,
    /// A site without an entry is free. The map is never iterated, because its order is random.
    sites: HashMap<Site, SiteState>,
    /// When each site becomes free, where that is known. The number distinguishes sites with the same Moment.
    calendar: BTreeMap<(Moment, u64), Site>,
    calendar_next: u64,
    /// Sites that may be asked earlier than was known before, oldest first.
    loosened: VecDeque<Site>,
    /// How many sites were ever pushed to `loosened`.
    loosened_total: u64,
}

/// What is known of one site.
#[derive(Clone, Debug)]
struct SiteState {
    /// The end of the last request where `per_site` is 1, otherwise its start. The delay runs from here.
    last: Option<Moment>,
    held_until: Moment,
    crawl_delay: Option<Span>,
    in_flight: u16,
    closed: bool,
    parked: bool,
    /// Its entry in the calendar.
    entry: Option<(Moment, u64)>,
}

impl Default for SiteState {
    fn default() -> Self {
        SiteState {
            last: None,
            held_until: LONG_AGO,
            crawl_delay: None,
            in_flight: 0,
            closed: false,
            parked: false,
            entry: None,
        }
    }
}

const LONG_AGO: Moment = Moment::from_micros(i64::MIN);

impl Politeness {
    pub fn new(settings: PolitenessSettings, started: Moment) -> Self {
        Politeness {
            settings,
            started,
            sites: HashMap::new(),
            calendar: BTreeMap::new(),
            calendar_next: 0,
            loosened: VecDeque::new(),
            loosened_total: 0,
        }
    }

    pub fn settings(&self) -> &PolitenessSettings {
        &self.settings
    }

    pub fn may_ask(&self, site: &Site, now: Moment) -> bool {
        self.earliest(site) <= now
    }

    /// From when on the site may be asked. `Moment::NEVER` while it is closed, parked, or has all its requests in flight: then
    /// only `reopen`, `unpark` or `answered` changes that.
    pub fn earliest(&self, site: &Site) -> Moment {
        self.sites.get(site).map_or(LONG_AGO, |state| self.settings.earliest(state))
    }

    /// The delay in force at this site.
    pub fn delay(&self, site: &Site) -> Span {
        self.settings.delay_of(self.sites.get(site).and_then(|state| state.crawl_delay))
    }

    /// The least span between the starts of two requests to this site. It is zero where the delay runs from the end of an
    /// answer, because then `earliest` alone enforces the delay.
    pub fn gap(&self, site: &Site) -> Span {
        if self.settings.per_site > 1 { self.delay(site) } else { Span::ZERO }
    }

    /// Requests in flight at this site.
    pub fn in_flight(&self, site: &Site) -> u16 {
        self.sites.get(site).map_or(0, |state| state.in_flight)
    }

    /// How many requests may leave for this site now.
    pub fn room(&self, site: &Site, now: Moment) -> u16 {
        if !self.may_ask(site, now) {
            return 0;
        }
        let per_site = self.settings.per_site.max(1);
        if self.delay(site) > Span::ZERO { 1 } else { per_site - self.in_flight(site) }
    }

    /// An earlier process asked the site. It is free again one delay after the start of this process.
    pub fn asked_before(&mut self, site: &Site) {
        let started = self.started;
        self.change_state(site, |state, _| state.last = Some(state.last.map_or(started, |last| last.max(started))));
    }

    /// A request leaves now.
    pub fn asked(&mut self, site: &Site, now: Moment) {
        self.forget_free_sites(now);
        self.change_state(site, |state, settings| {
            state.in_flight = state.in_flight.saturating_add(1);
            if settings.per_site > 1 {
                state.last = Some(now);
            }
        });
    }

    /// A request has ended, whatever its outcome.
    pub fn answered(&mut self, site: &Site, now: Moment) {
        self.change_state(site, |state, settings| {
            state.in_flight = state.in_flight.saturating_sub(1);
            if settings.per_site <= 1 {
                state.last = Some(state.last.map_or(now, |last| last.max(now)));
            }
        });
    }

    /// No request before `until` (Retry-After, back-off). A hold is never shortened by another.
    pub fn hold(&mut self, site: &Site, until: Moment) {
        self.change_state(site, |state, _| state.held_until = state.held_until.max(until));
    }

    /// The crawl-delay of robots.txt. It applies where it is longer than the delay, up to `delay_max`.
    pub fn set_crawl_delay(&mut self, site: &Site, delay: Option<Span>) {
        if delay.is_none() && !self.sites.contains_key(site) {
            return;
        }
        self.change_state(site, |state, _| state.crawl_delay = delay);
    }

    /// A person paused or blocked the site.
    pub fn close(&mut self, site: &Site) {
        self.change_state(site, |state, _| state.closed = true);
    }

    pub fn reopen(&mut self, site: &Site) {
        if self.sites.contains_key(site) {
            self.change_state(site, |state, _| state.closed = false);
        }
    }

    /// The site waits until there is a slot for it.
    pub fn park(&mut self, site: &Site) {
        self.change_state(site, |state, _| state.parked = true);
    }

    pub fn unpark(&mut self, site: &Site) {
        if self.is_parked(site) {
            self.change_state(site, |state, _| state.parked = false);
        }
    }

    pub fn is_parked(&self, site: &Site) -> bool {
        self.sites.get(site).is_some_and(|state| state.parked)
    }

    /// The earliest Moment after `now` at which a site becomes free.
    pub fn next_free(&self, now: Moment) -> Option<Moment> {
        let after_now = (now + Span::from_micros(1), 0);
        self.calendar.range(after_now..).next().map(|(&(moment, _), _)| moment)
    }

    /// The sites that were loosened (may be asked earlier than was known) since the call that returned `seen`, and the number
    /// to pass next time. `None` if they were too many to remember: then the caller looks at all sites.
    pub fn loosened(&self, seen: u64) -> (Option<impl Iterator<Item = &Site>>, u64) {
        let behind = usize::try_from(self.loosened_total - seen.min(self.loosened_total)).unwrap_or(usize::MAX);
        let sites = (behind <= self.loosened.len()).then(|| self.loosened.iter().skip(self.loosened.len() - behind));
        (sites, self.loosened_total)
    }

    /// Changes the state of one site and updates the calendar and the loosened sites.
    fn change_state(&mut self, site: &Site, change: impl FnOnce(&mut SiteState, &PolitenessSettings)) {
        if !self.sites.contains_key(site) {
            self.sites.insert(site.clone(), SiteState::default());
        }
        let Some(state) = self.sites.get_mut(site) else { return };
        let before = self.settings.earliest(state);
        change(state, &self.settings);
        let after = self.settings.earliest(state);
        if before == after {
            return;
        }
        if let Some(entry) = state.entry.take() {
            self.calendar.remove(&entry);
        }
        if after != Moment::NEVER {
            let entry = (after, self.calendar_next);
            self.calendar_next += 1;
            state.entry = Some(entry);
            self.calendar.insert(entry, site.clone());
        }
        if after < before {
            if self.loosened.len() == LOOSENED_MAX {
                self.loosened.pop_front();
            }
            self.loosened.push_back(site.clone());
            self.loosened_total += 1;
        }
    }

    /// Removes sites that became free before `now` and of which nothing else is known: a site without an entry is free.
    fn forget_free_sites(&mut self, now: Moment) {
        while let Some(first) = self.calendar.first_entry() {
            if first.key().0 >= now {
                return;
            }
            let site = first.remove();
            let Some(state) = self.sites.get_mut(&site) else { continue };
            state.entry = None;
            if state.in_flight == 0 && state.crawl_delay.is_none() {
                self.sites.remove(&site);
            }
        }
    }
}

impl PolitenessSettings {
    fn delay_of(&self, crawl_delay: Option<Span>) -> Span {
        crawl_delay.map_or(self.delay, |asked| asked.min(self.delay_max).max(self.delay))
    }

    fn earliest(&self, state: &SiteState) -> Moment {
        if state.closed || state.parked || state.in_flight >= self.per_site.max(1) {
            return Moment::NEVER;
        }
        let rested = state.last.map_or(LONG_AGO, |last| last + self.delay_of(state.crawl_delay));
        rested.max(state.held_until)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn politeness(per_site: u16) -> Politeness {
        let settings = PolitenessSettings { delay: Span::from_secs(1), delay_max: Span::from_secs(30), per_site };
        Politeness::new(settings, Moment::from_secs(1_000))
    }

    fn at(millis: u64) -> Moment {
        Moment::from_secs(1_000) + Span::from_millis(millis)
    }

    #[test]
    fn one_at_a_time_the_delay_runs_from_the_end_of_the_answer() {
        let (mut politeness, site) = (politeness(1), Site::new("a.org"));
        assert!(politeness.may_ask(&site, at(0)));
        politeness.asked(&site, at(0));
        assert!(!politeness.may_ask(&site, at(60_000)));
        assert_eq!(politeness.next_free(at(0)), None);
        politeness.answered(&site, at(5_000));
        assert!(!politeness.may_ask(&site, at(5_999)));
        assert_eq!(politeness.next_free(at(5_000)), Some(at(6_000)));
        assert!(politeness.may_ask(&site, at(6_000)));
        assert_eq!(politeness.next_free(at(6_000)), None);
    }

    #[test]
    fn several_at_a_time_the_delay_runs_from_start_to_start() {
        let (mut politeness, site) = (politeness(2), Site::new("a.org"));
        politeness.asked(&site, at(0));
        assert_eq!(politeness.earliest(&site), at(1_000));
        politeness.asked(&site, at(1_000));
        assert_eq!(politeness.earliest(&site), Moment::NEVER);
        politeness.answered(&site, at(1_200));
        assert_eq!(politeness.earliest(&site), at(2_000));
    }

    #[test]
    fn the_room_of_a_site_is_one_request_unless_there_is_no_delay() {
        let site = Site::new("a.org");
        let (mut delayed, settings) = (politeness(3), *politeness(3).settings());
        assert_eq!(delayed.room(&site, at(0)), 1);
        delayed.asked(&site, at(0));
        assert_eq!((delayed.room(&site, at(0)), delayed.room(&site, at(1_000))), (0, 1));
        let mut free = Politeness::new(PolitenessSettings { delay: Span::ZERO, ..settings }, at(0));
        assert_eq!(free.room(&site, at(0)), 3);
        free.asked(&site, at(0));
        assert_eq!(free.room(&site, at(0)), 2);
    }

    #[test]
    fn a_site_asked_by_an_earlier_process_waits_for_its_delay_after_the_start() {
        let (mut politeness, site) = (politeness(1), Site::new("a.org"));
        politeness.asked_before(&site);
        assert_eq!(politeness.earliest(&site), at(1_000));
        politeness.set_crawl_delay(&site, Some(Span::from_secs(10)));
        assert_eq!(politeness.earliest(&site), at(10_000));
    }

    #[test]
    fn the_longer_of_delay_and_crawl_delay_wins_up_to_a_cap() {
        let (mut politeness, site) = (politeness(1), Site::new("a.org"));
        for (asked, in_force) in [(None, 1_000), (Some(200), 1_000), (Some(7_000), 7_000), (Some(900_000), 30_000)] {
            politeness.set_crawl_delay(&site, asked.map(Span::from_millis));
            assert_eq!(politeness.delay(&site), Span::from_millis(in_force));
        }
    }

    #[test]
    fn a_hold_is_never_shortened_and_a_closed_site_waits_for_a_person() {
        let (mut politeness, site) = (politeness(1), Site::new("a.org"));
        politeness.hold(&site, at(9_000));
        politeness.hold(&site, at(3_000));
        assert_eq!(politeness.earliest(&site), at(9_000));
        politeness.close(&site);
        assert!(!politeness.may_ask(&site, at(1_000_000)));
        politeness.reopen(&site);
        assert_eq!(politeness.earliest(&site), at(9_000));
        assert_eq!(politeness.next_free(at(0)), Some(at(9_000)));
    }

    #[test]
    fn a_parked_site_is_asked_when_it_is_called_and_no_sooner_than_politeness_allows() {
        let (mut politeness, site) = (politeness(1), Site::new("a.org"));
        politeness.park(&site);
        politeness.hold(&site, at(2_000));
        assert!(politeness.is_parked(&site) && !politeness.may_ask(&site, at(60_000)));
        let (_, seen) = politeness.loosened(0);
        politeness.unpark(&site);
        assert_eq!(politeness.earliest(&site), at(2_000));
        assert_eq!(politeness.loosened(seen).0.map(Iterator::count), Some(1), "whoever waits for it hears of it");
        politeness.unpark(&Site::new("b.org"));
        assert_eq!(politeness.sites.len(), 1);
    }

    #[test]
    fn sites_that_are_free_again_take_no_memory() {
        let mut politeness = politeness(1);
        for number in 0..1_000u64 {
            let site = Site::new(&format!("s{number}.org"));
            politeness.asked(&site, at(number * 100));
            politeness.answered(&site, at(number * 100));
        }
        assert!(politeness.sites.len() <= 12 && politeness.calendar.len() <= 12);
    }
}
