//! The earliest Moment each site may be asked again. An invariant, not an effort: the crawler asks here before every
//! order, and [`audit`](crate::audit()) proves it afterwards from the visit book.
//!
//! With one request at a time (`per_site` 1) the delay runs from the end of one answer to the start of the next
//! request. With more, it runs from start to start. A site that was asked by an earlier process
//! ([`Politeness::asked_before`]) counts as asked when this one started, because nobody knows what was under way.

use std::collections::{BTreeMap, VecDeque};

use foldhash::{HashMap, HashMapExt};
use vernal_model::{Moment, Site, Span};

/// So many loosenings are remembered for readers of [`Politeness::loosened`]; a reader further behind looks at all.
const LOOSENED_MAX: usize = 4_096;

#[derive(Copy, Clone, Debug)]
pub struct PolitenessSettings {
    pub delay: Span,
    /// A longer crawl-delay is cut down to this.
    pub delay_max: Span,
    /// Requests under way at a site at most.
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
    /// Looked up only, never walked through: its order is chance. A site without an entry is free.
    sites: HashMap<Site, Stand>,
    /// When each site with a known Moment gets free; the number tells sites of one Moment apart.
    calendar: BTreeMap<(Moment, u64), Site>,
    calendar_next: u64,
    /// Sites that may now be asked earlier than it looked before, oldest first.
    loosened: VecDeque<Site>,
    /// How many were ever pushed to `loosened`.
    loosened_total: u64,
}

/// How we stand to one site.
#[derive(Clone, Debug)]
struct Stand {
    /// The end of the last request (`per_site` 1) or the start of the last one; the delay runs from here.
    last: Option<Moment>,
    held_until: Moment,
    crawl_delay: Option<Span>,
    under_way: u16,
    closed: bool,
    /// Its entry in the calendar.
    entry: Option<(Moment, u64)>,
}

impl Default for Stand {
    fn default() -> Self {
        Stand { last: None, held_until: LONG_AGO, crawl_delay: None, under_way: 0, closed: false, entry: None }
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

    /// From when on the site may be asked. `Moment::NEVER` while it is closed or has all its requests under way: then
    /// only `reopen` or `answered` can tell.
    pub fn earliest(&self, site: &Site) -> Moment {
        self.sites.get(site).map_or(LONG_AGO, |stand| self.settings.earliest(stand))
    }

    /// The delay in force at this site.
    pub fn delay(&self, site: &Site) -> Span {
        self.settings.delay_of(self.sites.get(site).and_then(|stand| stand.crawl_delay))
    }

    /// What must lie between the starts of two requests to this site. Nothing where the delay runs from the end of an
    /// answer: then `earliest` alone keeps it.
    pub fn gap(&self, site: &Site) -> Span {
        if self.settings.per_site > 1 { self.delay(site) } else { Span::ZERO }
    }

    /// Requests under way at this site.
    pub fn under_way(&self, site: &Site) -> u16 {
        self.sites.get(site).map_or(0, |stand| stand.under_way)
    }

    /// How many requests may leave for this site at this very Moment.
    pub fn room(&self, site: &Site, now: Moment) -> u16 {
        if !self.may_ask(site, now) {
            return 0;
        }
        let per_site = self.settings.per_site.max(1);
        if self.delay(site) > Span::ZERO { 1 } else { per_site - self.under_way(site) }
    }

    /// The site was asked by an earlier process: it is free again at start + its delay.
    pub fn asked_before(&mut self, site: &Site) {
        let started = self.started;
        self.alter(site, |stand, _| stand.last = Some(stand.last.map_or(started, |last| last.max(started))));
    }

    /// A request leaves now.
    pub fn asked(&mut self, site: &Site, now: Moment) {
        self.forget_the_free(now);
        self.alter(site, |stand, settings| {
            stand.under_way = stand.under_way.saturating_add(1);
            if settings.per_site > 1 {
                stand.last = Some(now);
            }
        });
    }

    /// A request that left has ended, however.
    pub fn answered(&mut self, site: &Site, now: Moment) {
        self.alter(site, |stand, settings| {
            stand.under_way = stand.under_way.saturating_sub(1);
            if settings.per_site <= 1 {
                stand.last = Some(stand.last.map_or(now, |last| last.max(now)));
            }
        });
    }

    /// No request before `until` (Retry-After, back-off). A hold is never shortened by another.
    pub fn hold(&mut self, site: &Site, until: Moment) {
        self.alter(site, |stand, _| stand.held_until = stand.held_until.max(until));
    }

    /// What robots.txt asks for; it wins over the delay when longer, up to `delay_max`.
    pub fn set_crawl_delay(&mut self, site: &Site, delay: Option<Span>) {
        if delay.is_none() && !self.sites.contains_key(site) {
            return;
        }
        self.alter(site, |stand, _| stand.crawl_delay = delay);
    }

    /// The site is paused or blocked.
    pub fn close(&mut self, site: &Site) {
        self.alter(site, |stand, _| stand.closed = true);
    }

    pub fn reopen(&mut self, site: &Site) {
        if self.sites.contains_key(site) {
            self.alter(site, |stand, _| stand.closed = false);
        }
    }

    /// The earliest Moment after `now` at which some site gets free.
    pub fn next_free(&self, now: Moment) -> Option<Moment> {
        let after_now = (now + Span::from_micros(1), 0);
        self.calendar.range(after_now..).next().map(|(&(moment, _), _)| moment)
    }

    /// The sites that may be asked earlier than it looked when `loosened` was last read up to `seen`, and the number
    /// to read from next time. `None` if so many were loosened since that only looking at all of them will do.
    pub fn loosened(&self, seen: u64) -> (Option<impl Iterator<Item = &Site>>, u64) {
        let behind = usize::try_from(self.loosened_total - seen.min(self.loosened_total)).unwrap_or(usize::MAX);
        let sites = (behind <= self.loosened.len()).then(|| self.loosened.iter().skip(self.loosened.len() - behind));
        (sites, self.loosened_total)
    }

    /// Changes what is known of one site, and keeps calendar and readers in step.
    fn alter(&mut self, site: &Site, change: impl FnOnce(&mut Stand, &PolitenessSettings)) {
        if !self.sites.contains_key(site) {
            self.sites.insert(site.clone(), Stand::default());
        }
        let Some(stand) = self.sites.get_mut(site) else { return };
        let before = self.settings.earliest(stand);
        change(stand, &self.settings);
        let after = self.settings.earliest(stand);
        if before == after {
            return;
        }
        if let Some(entry) = stand.entry.take() {
            self.calendar.remove(&entry);
        }
        if after != Moment::NEVER {
            let entry = (after, self.calendar_next);
            self.calendar_next += 1;
            stand.entry = Some(entry);
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

    /// Sites that got free before `now` and of which nothing else is known need no memory: no entry means free.
    fn forget_the_free(&mut self, now: Moment) {
        while let Some(first) = self.calendar.first_entry() {
            if first.key().0 >= now {
                return;
            }
            let site = first.remove();
            let Some(stand) = self.sites.get_mut(&site) else { continue };
            stand.entry = None;
            if stand.under_way == 0 && stand.crawl_delay.is_none() {
                self.sites.remove(&site);
            }
        }
    }
}

impl PolitenessSettings {
    fn delay_of(&self, crawl_delay: Option<Span>) -> Span {
        crawl_delay.map_or(self.delay, |asked| asked.min(self.delay_max).max(self.delay))
    }

    fn earliest(&self, stand: &Stand) -> Moment {
        if stand.closed || stand.under_way >= self.per_site.max(1) {
            return Moment::NEVER;
        }
        let rested = stand.last.map_or(LONG_AGO, |last| last + self.delay_of(stand.crawl_delay));
        rested.max(stand.held_until)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::audit;

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
    fn sites_that_are_free_again_take_no_memory() {
        let mut politeness = politeness(1);
        for number in 0..1_000u64 {
            let site = Site::new(&format!("s{number}.org"));
            politeness.asked(&site, at(number * 100));
            politeness.answered(&site, at(number * 100));
        }
        assert!(politeness.sites.len() <= 12 && politeness.calendar.len() <= 12);
    }

    /// One step of a random life: time passes, a site is asked if that is allowed, or an answer ends.
    #[derive(Clone, Debug)]
    enum Step {
        Wait(u64),
        Ask(usize),
        Answer(usize),
        Hold(usize, u64),
        CrawlDelay(usize, Option<u64>),
        Close(usize),
        Reopen(usize),
        Restart,
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let site = 0usize..4;
        let step = prop_oneof![
            4 => (0u64..900).prop_map(Step::Wait),
            6 => site.clone().prop_map(Step::Ask),
            6 => any::<usize>().prop_map(Step::Answer),
            1 => (site.clone(), 0u64..5_000).prop_map(|(site, millis)| Step::Hold(site, millis)),
            1 => (site.clone(), any::<Option<u16>>()).prop_map(|(site, d)| Step::CrawlDelay(site, d.map(u64::from))),
            1 => site.clone().prop_map(Step::Close),
            1 => site.prop_map(Step::Reopen),
            1 => Just(Step::Restart),
        ];
        prop::collection::vec(step, 1..300)
    }

    proptest! {
        #[test]
        fn no_trace_breaks_the_delay_not_even_across_restarts(life in steps(), per_site in 1u16..4) {
            let sites: Vec<Site> = (0..4).map(|number| Site::new(&format!("s{number}.org"))).collect();
            let (mut politeness, mut now) = (politeness(per_site), at(0));
            let (mut under_way, mut book) = (Vec::<(usize, Moment)>::new(), Vec::new());
            for step in life {
                match step {
                    Step::Wait(millis) => now += Span::from_millis(millis),
                    Step::Ask(site) => if politeness.may_ask(&sites[site], now) {
                        politeness.asked(&sites[site], now);
                        under_way.push((site, now));
                    },
                    Step::Answer(which) => if !under_way.is_empty() {
                        let (site, started) = under_way.remove(which % under_way.len());
                        politeness.answered(&sites[site], now);
                        book.push((sites[site].clone(), started, now));
                    },
                    Step::Hold(site, millis) => {
                        politeness.hold(&sites[site], now + Span::from_millis(millis));
                        prop_assert!(millis == 0 || !politeness.may_ask(&sites[site], now));
                    }
                    Step::CrawlDelay(site, millis) => politeness.set_crawl_delay(&sites[site], millis.map(Span::from_millis)),
                    Step::Close(site) => politeness.close(&sites[site]),
                    Step::Reopen(site) => politeness.reopen(&sites[site]),
                    Step::Restart => {
                        // What was under way is lost, and ended at the latest with the process.
                        book.extend(under_way.drain(..).map(|(site, started)| (sites[site].clone(), started, now)));
                        politeness = Politeness::new(*politeness.settings(), now);
                        sites.iter().for_each(|site| politeness.asked_before(site));
                    }
                }
                let soonest = sites.iter().map(|site| politeness.earliest(site)).filter(|&m| m > now && m != Moment::NEVER).min();
                prop_assert_eq!(politeness.next_free(now), soonest);
            }
            prop_assert_eq!(audit(book.into_iter(), Span::from_secs(1), per_site), []);
        }
    }
}
