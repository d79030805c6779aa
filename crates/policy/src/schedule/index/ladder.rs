//! How pages climb, and how the best are drawn.

use vernal_model::PageKey;

use super::page::{Page, Place};
use super::policy::Index;
use super::rungs::{TOPMOST, number_of};
use crate::View;

/// Even a site whose clock stands still moves on by so much in a day: the share of change that is a page's own.
const SLOWEST: f64 = 0.1;
/// No page is looked at again within a second, in days. Visits are known to the second: where there are visits for all, pages
/// that were visited just now would climb a hundred rungs in the first one, and nobody would be served better.
const MORE_MIN: f64 = 1.0 / 86_400.0;

impl Index {
    pub(super) fn come_home(&mut self, number: u32, now: f64, near: &mut usize) {
        let page = self.pages.at_mut(number);
        page.go(Place::Home);
        let site = page.site;
        let life = &mut self.sites[site as usize];
        life.at_home += 1;
        if life.at_home == 1 {
            self.homes.insert(site);
        }
        if !self.joins_train(number) {
            self.set_out(number, now, near);
        }
    }

    /// Takes a page off its ladder and out of its train; what a bucket still holds of it dies with its key. Whether it led others,
    /// one of which must lead on. The best step of its site must be shown after it.
    pub(super) fn leave_home(&mut self, number: u32) -> bool {
        let page = self.pages.at(number);
        let site = page.site;
        if page.place() == Place::Home {
            let life = &mut self.sites[site as usize];
            if life.bucket_of(page.last_day(), 0).is_none() {
                life.older.remove(number);
            }
            self.pages.at_mut(number).wait_nowhere();
            self.set_level(number, 0);
        }
        let led = self.leave_train(number);
        let life = &mut self.sites[site as usize];
        life.at_home -= 1;
        if life.at_home == 0 {
            self.homes.remove(&site);
        }
        led
    }

    /// A page that led follows another from now on.
    pub(super) fn stand_back(&mut self, number: u32) {
        self.set_level(number, 0);
        let page = self.pages.at_mut(number);
        page.wait_nowhere();
        page.go(Place::Following);
    }

    /// The rung that a page at home has reached.
    pub(super) fn level_now(&self, number: u32, page: &Page, now: f64) -> u16 {
        if self.has_waited_longest(page, now) {
            return TOPMOST;
        }
        self.rungs.level_of(self.value_of(number, page, self.operational(number, page, now)))
    }

    fn has_waited_longest(&self, page: &Page, now: f64) -> bool {
        now - page.last_day() >= self.longest_wait && !self.abandons(page)
    }

    /// Puts a page at home on its rung, and lets it wait until it reaches the next. Its site must
    /// be queued after it, and its best step shown.
    /// Its bucket is looked for `near` one first, and told there.
    pub(super) fn set_out(&mut self, number: u32, now: f64, near: &mut usize) {
        #[cfg(test)]
        {
            self.looks += 1;
        }
        let page = *self.pages.at(number);
        let bucket = self.bucket_of(&page, *near);
        *near = bucket.unwrap_or(*near);
        let o = self.operational_in(bucket, number, &page, now);
        let worth = self.worth_of(number, &page);
        let curve = worth.curve(o);
        let floor = self.sites[page.site as usize].floor;
        if self.has_waited_longest(&page, now) {
            self.set_level(number, TOPMOST);
            return self.wait(bucket, number, &page, f64::INFINITY, now);
        }
        let log = curve.value.ln();
        let level = self.rungs.level_at(log);
        self.set_level(number, if level >= floor { level } else { 0 });
        let target = if level >= floor { level + 1 } else { floor };
        let near = worth.near(curve, o, self.rungs.log_of(target) - log);
        let next = near.unwrap_or_else(|| worth.time_of(self.rungs.worth_of(target), o, curve));
        let more = (next - o).max(MORE_MIN).min(self.look_again_within(bucket, &page, now));
        self.wait(bucket, number, &page, more, now);
    }

    /// In how much operational time a page must be looked at, for it may have waited as long as any may by then. The
    /// time of a bucket is kept for all its pages at once.
    fn look_again_within(&self, bucket: Option<usize>, page: &Page, now: f64) -> f64 {
        let life = &self.sites[page.site as usize];
        if self.abandons(page) || bucket.is_some_and(|index| !life.buckets[index].expiring) {
            return f64::INFINITY;
        }
        let left = self.longest_wait - (now - page.last_day());
        left * if life.clock.is_some() { SLOWEST } else { 1.0 }
    }

    fn set_level(&mut self, number: u32, level: u16) {
        let page = self.pages.at_mut(number);
        let before = page.level();
        if before == level {
            return;
        }
        page.climb(level);
        let site = page.site;
        self.sites[site as usize].ladder.climb(number, before, level);
    }

    /// Lets the best step of a site stand among those of all sites.
    pub(super) fn show_head(&mut self, site: u32) {
        if let Some(turn) = self.sites[site as usize].ladder.show() {
            self.heads.turn(turn);
        }
    }

    /// The best page at or after a place in the order of steps, whose site has room and whose rung is still true.
    fn next_head(&mut self, view: &dyn View, now: f64, after: &mut u64) -> Option<u32> {
        loop {
            let head = self.heads.first_from(*after)?;
            let number = number_of(head);
            let page = *self.pages.at(number);
            if !view.has_room(page.key(number)) {
                *after = head + 1;
                continue;
            }
            if self.is_still_there(number, &page, now) {
                return Some(number);
            }
            self.show_head(page.site);
        }
    }

    /// Whether a page is still worth its rung; else it goes where it belongs. The best step of its site must be shown after it.
    pub(super) fn is_still_there(&mut self, number: u32, page: &Page, now: f64) -> bool {
        // A clock that slowed down may have let it fall.
        if self.level_now(number, page, now) >= page.level() {
            return true;
        }
        self.set_out(number, now, &mut 0);
        self.queue(page.site, now);
        false
    }

    /// Draws as many pages as the view leaves, the most valuable first.
    pub(super) fn draw(&mut self, view: &dyn View, now: f64) -> Vec<PageKey> {
        let wanted = view.visits_left();
        let mut drawn = Vec::with_capacity(wanted.min(self.pages.numbered()));
        let mut after = 0;
        while drawn.len() < wanted {
            let head = self.next_head(view, now, &mut after);
            let whole = head.is_some_and(|number| self.is_whole_at(number));
            if !whole && self.sink(view, wanted - drawn.len(), now) {
                after = 0;
                continue;
            }
            let Some(number) = head else { break };
            let (key, site) = (self.pages.key(number), self.pages.at(number).site);
            drawn.push(key);
            self.let_go(number, now);
            // Who leads on may stand before those that were passed over.
            after = self.sites[site as usize].ladder.head().map_or(after, |head| after.min(head));
        }
        if wanted > 0 {
            let last = drawn.last().filter(|_| drawn.len() == wanted);
            self.price = last.map_or(0.0, |&PageKey { number, .. }| {
                let page = self.pages.at(number);
                self.value_of(number, page, self.operational_alone(number, page, now))
            });
        }
        self.sinking.count(drawn.len());
        self.floor = self.rounds.count(drawn.len() as u64, view.held(), self.floor);
        drawn
    }

    /// A page was drawn: it leaves, and the next of its train leads on.
    pub(super) fn let_go(&mut self, number: u32, now: f64) {
        let page = self.pages.at(number);
        let site = page.site;
        self.rounds.note(page.level());
        let led = self.leave_home(number);
        self.pages.at_mut(number).go(Place::Out);
        match led {
            true => self.lead_on_at_once(number, now),
            false => self.show_head(site),
        }
    }

    pub(super) fn best_value(&mut self, view: &dyn View, now: f64) -> Option<f64> {
        let mut after = 0;
        loop {
            let head = self.next_head(view, now, &mut after);
            let whole = head.is_some_and(|number| self.is_whole_at(number));
            if !whole && self.sink(view, 1, now) {
                after = 0;
                continue;
            }
            return Some(self.worth_as_head(head?, now));
        }
    }

    /// The best page, if it stands where the ladder is whole.
    pub(super) fn whole_head(&mut self, view: &dyn View, now: f64) -> Option<u32> {
        self.next_head(view, now, &mut 0).filter(|&number| self.is_whole_at(number))
    }

    /// Below the floor the ladder is not whole: who stands there came before the floor rose.
    fn is_whole_at(&self, number: u32) -> bool {
        self.pages.at(number).level() >= self.floor
    }

    /// Who has waited longest goes before every value.
    pub(super) fn worth_as_head(&self, number: u32, now: f64) -> f64 {
        let page = self.pages.at(number);
        match page.level() {
            TOPMOST => f64::MAX,
            _ => self.value_of(number, page, self.operational(number, page, now)),
        }
    }
}
