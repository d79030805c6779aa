//! The queue of all pages between two visits: those that cool down, and those that are eligible, in the order of value.
//!
//! Pages of a site wait in cohorts by the bin of their last visit, each with the time at which it reaches the next level of
//! value. A visit that moves the site's clock moves the time of at most a hundred cohorts and looks at no page but those that
//! come due. From the threshold on, which follows the price, pages are ranked by their level, and the best of all sites is taken
//! first. When no ranked page is left the threshold sinks. So the choice is always the same as if every page had been looked at,
//! up to the width of a level, and equals are taken in the order of their spread numbers.

use vernal_model::{Moment, PageKey};

use super::cooling_down::{CoolingDown, Visited};
use super::eligible::EligiblePages;
use super::levels::{Rank, TOPMOST};
use super::threshold::Threshold;
use crate::schedule::by_value::model::Model;
use crate::schedule::by_value::page::{State, spread};
use crate::schedule::by_value::time::{cooled_down_at, days};
use crate::{Best, View};

/// How deep the threshold must sink is estimated from about so many pages.
const LOOKED_AT: u64 = 1 << 13;

#[derive(Clone, Debug)]
pub struct Queue {
    eligible: EligiblePages,
    cooling: CoolingDown,
    threshold: Threshold,
    /// Sites that had no room when the threshold sank.
    lagging: Vec<u32>,
}

impl Queue {
    pub fn new(level_ratio: f64) -> Self {
        Queue {
            eligible: EligiblePages::new(level_ratio),
            cooling: CoolingDown::default(),
            threshold: Threshold::default(),
            lagging: Vec::new(),
        }
    }

    /// A page is known from now on.
    pub fn recall(&mut self, model: &mut Model, number: u32, last_visit: Moment) {
        self.eligible.begin(days(last_visit));
        self.cooling.recall(&mut model.pages, number);
    }

    /// A page was visited, or must wait for another reason.
    pub fn cool_down(&mut self, model: &mut Model, number: u32) {
        self.cooling.insert(&mut model.pages, number);
    }

    /// Takes a page out of all lists, so that it can be put anywhere.
    pub fn withdraw(&mut self, model: &mut Model, number: u32) {
        let page = *model.pages.at(number);
        if page.is_eligible() {
            if self.eligible.leave(model, number) {
                model.dirty.mark(page.site);
            }
            self.eligible.update_front(page.site);
        }
        model.pages.at_mut(number).enter(State::InFlight);
    }

    /// Brings everything up to this moment: pages that have cooled down, sites that changed or come due.
    pub fn prepare(&mut self, model: &mut Model, view: &dyn View, now: Moment) {
        let today = days(now);
        self.eligible.grow(model.sites.len(), self.threshold.level());
        self.move_to_sections(model);
        let recalled = self.cooling.take_recalled(&mut model.pages, view.refresh_min(), now);
        let mut sites: Vec<u32> = recalled.iter().map(|visited| visited.site).collect();
        sites.dedup();
        self.look_at_all(model, &sites, &recalled, today);
        let cooled = self.cooling.take_cooled(view.refresh_min(), now);
        let sites = self.sites_to_look_at(model, &cooled, today);
        self.look_at_all(model, &sites, &cooled, today);
        for site in std::mem::take(&mut self.lagging) {
            self.catch_up(model, site, view, today);
        }
    }

    /// Draws as many pages as the view leaves, the most valuable first.
    pub fn draw(&mut self, model: &mut Model, view: &dyn View, now: f64) -> Vec<PageKey> {
        let wanted = view.visits_left();
        let mut drawn = Vec::with_capacity(wanted.min(model.pages.numbered()));
        let mut after = Rank::BEST;
        while drawn.len() < wanted {
            let front = self.eligible.next_front(model, view, now, &mut after);
            if !self.is_complete_at(model, front) && self.sink(model, view, wanted - drawn.len(), now) {
                after = Rank::BEST;
                continue;
            }
            let Some(number) = front else { break };
            let page = *model.pages.at(number);
            drawn.push(page.key(number));
            self.threshold.note(page.level());
            self.eligible.send(model, number, self.threshold.level(), now);
            // The page that leads next may stand before those that were passed over.
            after = self.eligible.at(page.site).ranked.first().map_or(after, |first| after.min(first));
        }
        self.threshold.count(drawn.len(), view.held());
        drawn
    }

    /// What the best page is worth.
    pub fn best(&mut self, model: &mut Model, view: &dyn View, now: f64) -> Option<f64> {
        let mut after = Rank::BEST;
        loop {
            let front = self.eligible.next_front(model, view, now, &mut after);
            if !self.is_complete_at(model, front) && self.sink(model, view, 1, now) {
                after = Rank::BEST;
                continue;
            }
            return Some(self.eligible.value_of_front(model, front?, now));
        }
    }

    /// The same without letting the threshold sink: for somebody who only compares that would make all pages climb the levels
    /// that it sank.
    pub fn best_at_most(&mut self, model: &mut Model, view: &dyn View, now: f64) -> Best {
        let front = self.eligible.next_front(model, view, now, &mut { Rank::BEST });
        match front.filter(|_| self.is_complete_at(model, front)) {
            Some(number) => Best::Exactly(self.eligible.value_of_front(model, number, now)),
            None => Best::AtMost(self.eligible.levels().value_of(self.threshold.level())),
        }
    }

    /// When a page may next be drawn.
    pub fn next_due(&self, model: &Model, view: &dyn View, now: Moment) -> Option<Moment> {
        let has_room = |site: u32| {
            let sample = model.sites.at(site).sample;
            model.pages.get(sample).is_some_and(|_| view.has_room(model.pages.key(sample)))
        };
        if self.eligible.occupied().any(has_room) {
            return Some(now);
        }
        let mut first = None;
        for visited in self.cooling.cooling(&model.pages) {
            let cooled = cooled_down_at(visited.last, view.refresh_min());
            if cooled > now {
                first = Some(cooled);
                break;
            }
            if has_room(visited.site) {
                return Some(now);
            }
        }
        // Where a crawl begins these are all pages: they are not sorted to tell when the first is due.
        for visited in self.cooling.recalled(&model.pages) {
            let cooled = cooled_down_at(visited.last, view.refresh_min());
            if cooled <= now && has_room(visited.site) {
                return Some(now);
            }
            if cooled > now && first.is_none_or(|first| cooled < first) {
                first = Some(cooled);
            }
        }
        first
    }

    /// The operational time since the last visit of a page, as it is known without reading a clock where that is possible.
    pub fn operational(&self, model: &Model, number: u32, now: f64) -> f64 {
        self.eligible.operational_as_read(model, number, now)
    }

    /// Where bytes count, every page waits by itself: no two weigh the same.
    pub fn part_groups(&mut self, model: &mut Model) {
        let is_following = |&number: &u32| model.pages.at(number).state() == State::Following;
        let following: Vec<u32> = model.pages.numbers().filter(is_following).collect();
        for number in following {
            self.withdraw(model, number);
            self.cool_down(model, number);
        }
    }

    /// Sites with pages that have cooled down, sites that changed, and sites whose timers have come: each once.
    fn sites_to_look_at(&mut self, model: &mut Model, cooled: &[Visited], now: f64) -> Vec<u32> {
        let mut sites: Vec<u32> = cooled.iter().map(|visited| visited.site).collect();
        sites.extend(model.dirty.take_marked().into_iter().filter(|&site| model.dirty.is_dirty(site)));
        sites.extend(self.eligible.take_due(now));
        sites.sort_unstable();
        sites.dedup();
        sites
    }

    /// Looks at sites, each with those of these pages that are its own.
    fn look_at_all(&mut self, model: &mut Model, sites: &[u32], mut cooled: &[Visited], now: f64) {
        for &site in sites {
            let own = cooled.iter().take_while(|visited| visited.site == site).count();
            let (coming, others) = cooled.split_at(own);
            self.eligible.look_at(model, site, coming, self.threshold.level(), now);
            cooled = others;
        }
    }

    /// Lets pages move to sections that began since this was last called. Those in flight move when they are heard of.
    fn move_to_sections(&mut self, model: &mut Model) {
        let splitting = model.sites.take_splitting();
        if splitting.is_empty() {
            return;
        }
        for site in splitting {
            for number in self.eligible_in_sections(model, site) {
                self.withdraw(model, number);
                model.move_to_section(number);
                self.cool_down(model, number);
            }
        }
        let waiting = self.cooling.cooling(&model.pages).chain(self.cooling.recalled(&model.pages));
        let mut waiting: Vec<(u32, u32)> = waiting.map(|visited| (visited.last, visited.number)).collect();
        waiting.sort_unstable();
        waiting.into_iter().for_each(|(_, number)| model.move_to_section(number));
        self.cooling.update_sites(&model.pages);
    }

    /// The eligible pages of a site that belong to its sections; their entries are void after it.
    fn eligible_in_sections(&mut self, model: &Model, site: u32) -> Vec<u32> {
        let is_section = |group: u8| model.sites.section_of(site, group).is_some();
        let queue = self.eligible.at_mut(site);
        let mut entries = Vec::new();
        queue.take_unless(|group| !is_section(group), &model.pages, &mut entries);
        let waiting = entries.into_iter().filter(|entry| model.pages.waits(entry, site)).map(|entry| entry.page);
        let mut pages: Vec<u32> = waiting.chain(queue.unobserved.followers_in(is_section)).collect();
        // A page that was put back may wait under the key that it had before, and then both entries stand for it.
        pages.sort_unstable();
        pages.dedup();
        pages
    }

    /// Below the threshold not all pages are ranked: those that are were ranked before it rose.
    fn is_complete_at(&self, model: &Model, front: Option<u32>) -> bool {
        front.is_some_and(|number| model.pages.at(number).level() >= self.threshold.level())
    }

    /// Lets the threshold sink, until enough pages of sites with room are ranked; whether there were any.
    fn sink(&mut self, model: &mut Model, view: &dyn View, wanted: usize, now: f64) -> bool {
        let occupied: Vec<u32> = self.eligible.occupied().collect();
        let (mut open, mut risen) = (Vec::new(), false);
        for site in occupied {
            let queue = self.eligible.at(site);
            let ranked = queue.ranked.len();
            if queue.waiting() == ranked {
                continue;
            }
            let Some(first) = queue.below_threshold(site, &model.pages).next() else { continue };
            if !view.has_room(model.pages.key(first)) {
                self.lagging.push(site);
                continue;
            }
            self.eligible.look_at(model, site, &[], self.threshold.level(), now);
            risen |= self.eligible.at(site).ranked.len() > ranked;
            open.push(site);
        }
        if open.is_empty() {
            return false;
        }
        let some = (view.held() / LOOKED_AT) as u32;
        let reached = self.reached_below(model, &open, some, now).or_else(|| self.reached_below(model, &open, 1, now));
        // No site is looked at twice within a second: pages that have reached the threshold since then are ranked now.
        let Some(reached) = reached else { return risen };
        self.threshold.sink(&reached, wanted, view.held());
        for site in open {
            self.lower_threshold(model, site, now);
        }
        true
    }

    /// How many pages of these sites below the threshold have reached each level, estimated from one in `some` of them; `None`
    /// if there was none among these.
    fn reached_below(&self, model: &Model, sites: &[u32], some: u32, now: f64) -> Option<Vec<u32>> {
        let some = some.max(1);
        let mut reached = vec![0u32; usize::from(TOPMOST) + 1];
        let mut any = false;
        for &site in sites {
            let below = self.eligible.at(site).below_threshold(site, &model.pages);
            for number in below.filter(|&number| spread(number).is_multiple_of(some)) {
                let level = self.eligible.level_now(model, number, model.pages.at(number), now);
                reached[usize::from(level)] += some;
                any = true;
            }
        }
        any.then_some(reached)
    }

    fn lower_threshold(&mut self, model: &mut Model, site: u32, now: f64) {
        model.dirty.invalidate_later(site);
        self.eligible.look_at(model, site, &[], self.threshold.level(), now);
    }

    /// A site that had no room when the threshold sank follows when it has.
    fn catch_up(&mut self, model: &mut Model, site: u32, view: &dyn View, now: f64) {
        let queue = self.eligible.at(site);
        if queue.threshold <= self.threshold.level() || queue.eligible == 0 {
            return;
        }
        match view.has_room(model.pages.key(model.sites.at(site).sample)) {
            true => self.lower_threshold(model, site, now),
            false => self.lagging.push(site),
        }
    }

    #[cfg(test)]
    pub fn check(&self, model: &Model) {
        self.eligible.check(model);
    }

    #[cfg(test)]
    pub fn looks(&self) -> u64 {
        self.eligible.looks
    }

    /// How many eligible pages of all sites wait by themselves.
    #[cfg(test)]
    pub fn waiting(&self, model: &Model) -> u32 {
        (0..model.sites.len() as u32).map(|site| self.eligible.at(site).waiting()).sum()
    }
}
