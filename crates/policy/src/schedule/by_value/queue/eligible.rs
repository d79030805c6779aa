//! The eligible pages of all sites: each at its level, and waiting until it reaches the next.

use std::collections::BTreeSet;

use super::cooling_down::Visited;
use super::front_runners::FrontRunners;
use super::levels::{Levels, Rank, TOPMOST};
use super::site_queue::SiteQueue;
use super::timers::Timers;
use super::unobserved::Role;
use super::waiting_list::Entry;
use crate::View;
use crate::estimate::Reading;
use crate::schedule::by_value::model::Model;
use crate::schedule::by_value::page::{Page, State};

/// Even a site whose clock stands still moves on by so much in a day: the share of change that is a page's own.
const SLOWEST: f64 = 0.1;
/// No page is looked at again within a second, in days. Visits are known to the second: where there are visits for all, pages
/// that were visited just now would climb a hundred levels in the first one, and no choice would be better.
const MORE_MIN: f64 = 1.0 / 86_400.0;

#[derive(Clone, Debug)]
pub struct EligiblePages {
    sites: Vec<SiteQueue>,
    /// Sites with an eligible page.
    occupied: BTreeSet<u32>,
    front: FrontRunners,
    timers: Timers,
    levels: Levels,
    /// The last clock that was read: of which site, and when.
    reading: Reading,
    read_for: Option<(u32, f64)>,
    /// Room for the pages that a site gives out, kept between sites.
    given_out: Vec<Entry>,
    /// The instant since which keys of pages before all bins are counted, in days; the day of the first visit.
    origin: Option<f64>,
    /// Looks at pages, for tests that compare them with visits.
    #[cfg(test)]
    pub looks: u64,
}

impl EligiblePages {
    pub fn new(level_ratio: f64) -> Self {
        EligiblePages {
            sites: Vec::new(),
            occupied: BTreeSet::new(),
            front: FrontRunners::default(),
            timers: Timers::default(),
            levels: Levels::apart(level_ratio),
            reading: Reading::default(),
            read_for: None,
            given_out: Vec::new(),
            origin: None,
            #[cfg(test)]
            looks: 0,
        }
    }

    /// A page with this last visit is known; the first one sets the origin.
    pub fn begin(&mut self, last: f64) {
        self.origin.get_or_insert(last.floor());
    }

    /// Makes room for so many sites, which have no page above this threshold yet.
    pub fn grow(&mut self, sites: usize, threshold: u16) {
        let Some(origin) = self.origin else { return };
        if self.sites.len() < sites {
            self.sites.resize_with(sites, || SiteQueue::new(threshold, origin));
        }
    }

    pub fn at(&self, site: u32) -> &SiteQueue {
        &self.sites[site as usize]
    }

    pub fn at_mut(&mut self, site: u32) -> &mut SiteQueue {
        &mut self.sites[site as usize]
    }

    pub fn occupied(&self) -> impl Iterator<Item = u32> {
        self.occupied.iter().copied()
    }

    pub fn levels(&self) -> &Levels {
        &self.levels
    }

    /// Sites whose timers have come.
    pub fn take_due(&mut self, now: f64) -> Vec<u32> {
        self.timers.take_until(now)
    }

    /// Moves the pages of a site to the levels that they have reached, and takes in those that have cooled down.
    pub fn look_at(&mut self, model: &mut Model, site: u32, cooled: &[Visited], threshold: u16, now: f64) {
        let mut given_out = std::mem::take(&mut self.given_out);
        let mark = model.dirty.take(site);
        let queue = &mut self.sites[site as usize];
        let is_stale = mark.is_stale || queue.threshold > threshold;
        queue.threshold = threshold;
        let prior_moved = model.sites.at(site).prior_moved;
        if mark.is_dirty || is_stale || prior_moved || !cooled.is_empty() || queue.is_older_due(now) {
            self.read(model, site, now, &mut given_out);
        }
        let queue = &mut self.sites[site as usize];
        if is_stale || prior_moved {
            queue.take_stale(is_stale, model.sites.at(site), &model.pages, &mut given_out);
            model.sites.at_mut(site).settle_priors();
        }
        queue.take_due(now, model.valuer.longest_wait, &mut given_out);
        given_out.retain(|entry| model.pages.waits(entry, site));
        for entry in given_out.drain(..) {
            self.place(model, entry.page, now);
        }
        self.given_out = given_out;
        for leader in self.sites[site as usize].unobserved.new_leaders() {
            self.lead(model, leader, now);
        }
        for visited in cooled {
            if visited.stands(&model.pages) {
                self.enter(model, visited.number, now);
            }
        }
        let queue = &mut self.sites[site as usize];
        queue.unobserved.sort(&model.pages);
        queue.shrink();
        self.update_front(site);
        self.set_timer(model, site, now);
    }

    /// A page leaves, wherever it is among the eligible; whether it led others, one of which must lead next. The front
    /// runner of its site must be updated after it.
    pub fn leave(&mut self, model: &mut Model, number: u32) -> bool {
        let page = *model.pages.at(number);
        let queue = &mut self.sites[page.site as usize];
        if page.state() == State::Eligible {
            queue.drop_entry(number, &page);
            model.pages.at_mut(number).wait_nowhere();
            self.set_level(model, number, 0);
        }
        let queue = &mut self.sites[page.site as usize];
        // A page that was compared left its group before.
        let led = page.is_unobserved() && queue.unobserved.leave(number, &model.pages);
        queue.eligible -= 1;
        if queue.eligible == 0 {
            self.occupied.remove(&page.site);
        }
        led
    }

    /// A page was chosen: it leaves, and the next of its group leads.
    pub fn send(&mut self, model: &mut Model, number: u32, threshold: u16, now: f64) {
        let site = model.pages.at(number).site;
        let led = self.leave(model, number);
        model.pages.at_mut(number).enter(State::InFlight);
        match led {
            true => self.lead_after(model, number, threshold, now),
            false => self.update_front(site),
        }
    }

    /// The best page at or after a rank, whose site has room and whose level is still true.
    pub fn next_front(&mut self, model: &mut Model, view: &dyn View, now: f64, after: &mut Rank) -> Option<u32> {
        loop {
            let rank = self.front.first_from(*after)?;
            let number = rank.number();
            let page = *model.pages.at(number);
            if !view.has_room(page.key(number)) {
                *after = rank.next();
                continue;
            }
            // A clock that slowed down may have let it fall.
            if self.level_now(model, number, &page, now) >= page.level() {
                return Some(number);
            }
            self.place(model, number, now);
            self.set_timer(model, page.site, now);
            self.update_front(page.site);
        }
    }

    /// Lets the best page of a site stand among those of all sites.
    pub fn update_front(&mut self, site: u32) {
        if let Some((gone, comes)) = self.sites[site as usize].ranked.new_front_runner() {
            self.front.replace(gone, comes);
        }
    }

    /// The level that an eligible page has reached.
    pub fn level_now(&self, model: &Model, number: u32, page: &Page, now: f64) -> u16 {
        if model.valuer.has_waited_longest(page, now) {
            return TOPMOST;
        }
        self.levels.of(model.value(number, page, self.operational(model, number, page, now)))
    }

    /// What a front runner is worth; whoever has waited longest goes before every value.
    pub fn value_of_front(&self, model: &Model, number: u32, now: f64) -> f64 {
        let page = model.pages.at(number);
        match page.level() {
            TOPMOST => f64::MAX,
            _ => model.value(number, page, self.operational(model, number, page, now)),
        }
    }

    /// The operational time since the last visit of any page: by the snapshot where that is up to date.
    pub fn operational_as_read(&self, model: &Model, number: u32, now: f64) -> f64 {
        let page = model.pages.at(number);
        match page.is_eligible() && !model.dirty.is_dirty(page.site) {
            true => self.operational(model, number, page, now),
            false => model.operational(number, page, now),
        }
    }

    /// The operational time of an eligible page, by the snapshot of its site.
    fn operational(&self, model: &Model, number: u32, page: &Page, now: f64) -> f64 {
        let queue = &self.sites[page.site as usize];
        let elapsed = queue.operational(queue.cohort_of(page.last_day()), page.last_day(), now);
        let hinted = || model.valuer.hinted(number).unwrap_or(0.0);
        elapsed.map_or_else(|| model.operational(number, page, now), |elapsed| elapsed + hinted())
    }

    /// Reads a site's clock and sets its cohorts by it.
    fn read(&mut self, model: &mut Model, site: u32, now: f64, given_out: &mut Vec<Entry>) {
        let Some(clock) = &model.sites.at(site).clock else { return };
        clock.read(now, &mut self.reading);
        self.read_for = Some((site, now));
        self.sites[site as usize].read(&self.reading, &mut model.pages, given_out);
    }

    /// A page has cooled down.
    fn enter(&mut self, model: &mut Model, number: u32, now: f64) {
        let page = model.pages.at_mut(number);
        page.enter(State::Eligible);
        let queue = &mut self.sites[page.site as usize];
        queue.eligible += 1;
        if queue.eligible == 1 {
            self.occupied.insert(page.site);
        }
        let role = match model.differs_by_visit_alone(number) {
            true => queue.unobserved.join(number, &model.pages),
            false => Role::Alone,
        };
        match role {
            Role::Follows => model.pages.at_mut(number).enter(State::Following),
            Role::Overtakes(before) => {
                self.set_level(model, before, 0);
                let page = model.pages.at_mut(before);
                page.wait_nowhere();
                page.enter(State::Following);
                self.place(model, number, now);
            }
            Role::Alone | Role::Leads => self.place(model, number, now),
        }
    }

    fn lead(&mut self, model: &mut Model, leader: u32, now: f64) {
        model.pages.at_mut(leader).enter(State::Eligible);
        self.place(model, leader, now);
    }

    /// Lets the next page lead at once when this leader was chosen, for it may be the next best.
    fn lead_after(&mut self, model: &mut Model, leader: u32, threshold: u16, now: f64) {
        let page = *model.pages.at(leader);
        let site = page.site;
        let queue = &mut self.sites[site as usize];
        let Some(next) = queue.unobserved.next_after(&page) else { return self.update_front(site) };
        let cohort = queue.cohort_of(model.pages.at(next).last_day());
        // Where no page waited in its cohort, that is made by a reading; and a site of which all pages were ranked when the
        // threshold sank has yet to follow it.
        if (model.sites.at(site).clock.is_some() && cohort.is_none()) || queue.threshold > threshold {
            model.dirty.mark(site);
            return self.look_at(model, site, &[], threshold, now);
        }
        for leader in queue.unobserved.new_leaders() {
            self.lead(model, leader, now);
        }
        self.update_front(site);
        // All other pages are as they were. For the page that was chosen its site may be looked at in vain.
        let due = self.sites[site as usize].next_due_in(cohort, model.valuer.longest_wait, now);
        self.timers.set_no_later(site, due);
    }

    /// Puts an eligible page at its level, and lets it wait until it reaches the next. The timer of its site must be set after
    /// it, and its front runner updated.
    fn place(&mut self, model: &mut Model, number: u32, now: f64) {
        #[cfg(test)]
        {
            self.looks += 1;
        }
        let page = *model.pages.at(number);
        let queue = &self.sites[page.site as usize];
        let (cohort, threshold) = (queue.cohort_of(page.last_day()), queue.threshold);
        if model.valuer.has_waited_longest(&page, now) {
            self.set_level(model, number, TOPMOST);
            return self.wait(model, cohort, number, f64::INFINITY, now);
        }
        let o = self.operational(model, number, &page, now);
        let worth = model.worth(number, &page);
        let curve = worth.curve(o);
        let log = curve.value.ln();
        let level = self.levels.of_log(log);
        self.set_level(model, number, if level >= threshold { level } else { 0 });
        let target = if level >= threshold { level + 1 } else { threshold };
        let near = worth.near(curve, o, self.levels.log_of(target) - log);
        let next = near.unwrap_or_else(|| worth.time_of(self.levels.value_of(target), o, curve));
        let more = (next - o).max(MORE_MIN).min(self.expires_within(model, cohort, &page, now));
        self.wait(model, cohort, number, more, now);
    }

    /// In how much operational time a page may have waited longest. Cohorts keep that time for all their pages at once.
    fn expires_within(&self, model: &Model, cohort: Option<usize>, page: &Page, now: f64) -> f64 {
        if model.valuer.abandons(page) || !self.sites[page.site as usize].is_expiring(cohort) {
            return f64::INFINITY;
        }
        let left = model.valuer.longest_wait - (now - page.last_day());
        left * if model.sites.at(page.site).clock.is_some() { SLOWEST } else { 1.0 }
    }

    fn wait(&mut self, model: &mut Model, cohort: Option<usize>, number: u32, more: f64, now: f64) {
        let page = *model.pages.at(number);
        let site = page.site;
        let is_read = self.read_for.is_some_and(|(read, _)| read == site) && !model.dirty.is_dirty(site);
        let reading = (is_read && model.sites.at(site).clock.is_some()).then_some(&self.reading);
        let key = self.sites[site as usize].wait(cohort, number, &page, more, now, reading);
        model.pages.at_mut(number).wait_with(key);
    }

    fn set_level(&mut self, model: &mut Model, number: u32, level: u16) {
        let page = model.pages.at_mut(number);
        let before = page.level();
        if before != level {
            page.set_level(level);
            self.sites[page.site as usize].ranked.move_page(number, before, level);
        }
    }

    fn set_timer(&mut self, model: &Model, site: u32, now: f64) {
        let due = self.sites[site as usize].next_due(site, &model.pages, model.valuer.longest_wait, now);
        self.timers.set(site, due);
    }

    /// Each site has its best page among the front runners, groups are in order, and every page is counted once.
    #[cfg(test)]
    pub fn check(&self, model: &Model) {
        let best: BTreeSet<Rank> = self.sites.iter().filter_map(|queue| queue.ranked.first()).collect();
        assert_eq!(*self.front.all(), best);
        for (site, queue) in (0u32..).zip(&self.sites) {
            queue.unobserved.check(&model.pages, site);
            let of_site = |&number: &u32| model.pages.at(number).is_eligible() && model.pages.at(number).site == site;
            assert_eq!(queue.eligible as usize, model.pages.numbers().filter(of_site).count());
            assert_eq!(self.occupied.contains(&site), queue.eligible > 0);
            let following = |&number: &u32| model.pages.at(number).state() == State::Following && of_site(&number);
            assert_eq!(queue.unobserved.followers() as usize, model.pages.numbers().filter(following).count());
        }
    }
}
