//! Where pages wait, climb and are drawn.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use vernal_model::{Moment, PageKey};

use super::page::{Place, days, gathered, rested_at, spread};
use super::policy::Index;
use super::site::{Bucket, Entry, Site};
use crate::View;

/// The rung of value 1; rungs are counted from 1, and the topmost is for pages that waited as long as any may.
const RUNG_OF_ONE: f64 = 16_384.0;
const TOPMOST: u16 = 32_767;
/// The floor lies this many rungs below the lowest that pages were lately drawn from.
const FLOOR_BELOW: u16 = 1;
/// When it sinks, it sinks by so many more: each time every page is looked at.
const SINK_BELOW: u16 = 1;
/// Pages wait first for the rung this far below the floor, and from there on for the floor itself: when the floor sinks no
/// further than that, only those that are past it must be placed anew.
const PORCH: u16 = 4;
/// A round of visits after which the floor may rise: as many as there are pages, over this, and at least so many.
const ROUND_PAGES_OVER: u64 = 8;
const ROUND_VISITS_MIN: u64 = 64;
/// Rounds that are remembered.
pub(super) const ROUNDS: usize = 4;
/// The floor sinks far enough to bring this many times the visits wanted onto the ladder, and at least so many.
const SINK_TIMES: usize = 4;
const SINK_PAGES_MIN: usize = 64;
/// About a second: what the rounding of keys may hide.
const WAKE_DAYS_MIN: f64 = 1e-5;
/// Even a site whose clock stands still moves on by so much in a day: the share of change that is a page's own.
const SLOWEST: f64 = 0.1;

/// The highest rung that a value has reached.
fn level_of(value: f64, rung: f64) -> u16 {
    if value <= 0.0 {
        return 1;
    }
    (value.ln() / rung.ln() + RUNG_OF_ONE).clamp(1.0, f64::from(TOPMOST - 1)) as u16
}

/// The value of a rung.
fn worth_of(level: u16, rung: f64) -> f64 {
    ((f64::from(level) - RUNG_OF_ONE) * rung.ln()).exp()
}

fn porch_of(floor: u16) -> u16 {
    floor.saturating_sub(PORCH).max(1)
}

/// The place of a page on a ladder: best rung first, then the order of spread numbers.
fn step(level: u16, number: u32) -> u64 {
    u64::from(u16::MAX - level) << 32 | u64::from(spread(number))
}

impl Index {
    /// Brings everything up to this moment: pages that have rested, sites that were shaken or come due.
    pub(super) fn prepare(&mut self, view: &dyn View, now: Moment) {
        let days = days(now);
        let mut rested = Vec::new();
        while let Some(&(last, number)) = self.resting.first() {
            if rested_at(last, view.refresh_min()) > now {
                break;
            }
            self.resting.pop_first();
            rested.push((self.pages.at(number).site, number));
        }
        // Site by site, so that each clock is read once.
        rested.sort_unstable();
        for (site, number) in rested {
            self.sites[site as usize].shaken = false;
            self.attend(site, days);
            self.come_home(number, days);
        }
        for site in std::mem::take(&mut self.shaken) {
            if std::mem::take(&mut self.sites[site as usize].shaken) {
                self.attend_again(site, days);
            }
        }
        while let Some(&Reverse((wake, site))) = self.wakes.peek() {
            let wake = f64::from_bits(wake);
            if wake > days {
                break;
            }
            self.wakes.pop();
            // Entries that were overtaken stay in the list until their time, and mean nothing.
            if self.sites[site as usize].queued == wake {
                self.sites[site as usize].queued = f64::INFINITY;
                self.attend_again(site, days);
            }
        }
        for site in std::mem::take(&mut self.behind) {
            self.catch_up(site, view, days);
        }
    }

    pub(super) fn shake(&mut self, site: u32) {
        self.read_for = self.read_for.filter(|&(read, _)| read != site);
        if !std::mem::replace(&mut self.sites[site as usize].shaken, true) {
            self.shaken.push(site);
        }
    }

    pub(super) fn shake_stale(&mut self, site: u32) {
        self.sites[site as usize].stale = true;
        self.shake(site);
    }

    pub(super) fn shake_all(&mut self) {
        let all: Vec<u32> = self.sites_where(|site| site.pages > 0);
        all.into_iter().for_each(|site| self.shake_stale(site));
    }

    pub(super) fn sites_where(&self, filter: impl Fn(&Site) -> bool) -> Vec<u32> {
        (0..self.sites.len() as u32).filter(|&site| filter(&self.sites[site as usize])).collect()
    }

    /// Reads a site's clock and moves its pages to the rungs that they have reached, unless that is done for this
    /// instant.
    fn attend(&mut self, site: u32, now: f64) {
        if self.read_for != Some((site, now)) || self.sites[site as usize].stale {
            self.attend_again(site, now);
        }
    }

    fn attend_again(&mut self, site: u32, now: f64) {
        let mut moving = Vec::new();
        let life = &mut self.sites[site as usize];
        life.stale |= life.floor > self.floor;
        life.floor = self.floor;
        match &mut life.clock {
            None => self.reading.plain(now),
            Some(clock) => {
                clock.roll(now, now);
                clock.read(now, &mut self.reading);
            }
        }
        self.read_for = Some((site, now));
        let stale = std::mem::take(&mut life.stale);
        let mut bins = self.reading.bins().iter().peekable();
        life.buckets.retain_mut(|bucket| {
            while bins.next_if(|bin| bin.start < bucket.start).is_some() {}
            let bin = bins.peek().filter(|bin| bin.start == bucket.start && bin.width as f32 == bucket.width);
            let Some(bin) = bin.filter(|_| !stale) else {
                moving.extend(bucket.pages.drain());
                return false;
            };
            bucket.slack += (bucket.speed - bin.speed as f32).max(0.0) * bucket.width;
            bucket.speed = bin.speed as f32;
            let time = bin.until_now as f32 + bucket.slack;
            while bucket.head <= time {
                moving.extend(bucket.pop());
            }
            !bucket.pages.is_empty()
        });
        match stale {
            true => moving.extend(life.older.drain()),
            false => take_due(&mut life.older, (self.reading.since_origin() - self.origin) as f32, &mut moving),
        }
        for entry in moving {
            let page = self.pages.at(entry.page);
            if page.place == Place::Home && page.key == entry.key && page.site == site {
                self.set_out(entry.page, now);
            }
        }
        self.queue(site);
    }

    /// Makes sure that the site is woken when its next page reaches another rung, or its bins must be joined.
    fn queue(&mut self, site: u32) {
        let mut more = self.next_in_buckets(site);
        let life = &self.sites[site as usize];
        if let Some(head) = life.older.peek() {
            more = more.min(f64::from(head.key) - (self.reading.since_origin() - self.origin));
        }
        let due = if more.is_finite() { self.reading.when_passed(more.max(0.0)) } else { f64::INFINITY };
        let joining = life.clock.as_ref().filter(|_| life.at_home > 0).and_then(|clock| clock.next_joining());
        let wake = due.min(joining.unwrap_or(f64::INFINITY)).max(self.reading.now() + WAKE_DAYS_MIN);
        let life = &mut self.sites[site as usize];
        if wake != life.queued {
            life.queued = wake;
            if wake.is_finite() {
                self.wakes.push(Reverse((wake.to_bits(), site)));
            }
        }
    }

    /// How much operational time has to pass until the first page of a bucket is due. What was visited since it was put
    /// there is dropped on the way, so that nobody is woken for it.
    fn next_in_buckets(&mut self, site: u32) -> f64 {
        loop {
            let (mut more, mut first) = (f64::INFINITY, None);
            let mut bins = self.reading.bins().iter().peekable();
            for (index, bucket) in self.sites[site as usize].buckets.iter().enumerate() {
                while bins.next_if(|bin| bin.start < bucket.start).is_some() {}
                let Some(bin) = bins.peek() else { break };
                let left = f64::from(bucket.head - bucket.slack) - bin.until_now;
                if left < more {
                    (more, first) = (left, Some(index));
                }
            }
            let Some(first) = first else { return more };
            let head = self.sites[site as usize].buckets[first].pages.peek().copied();
            if head.is_none_or(|entry| self.stands(&entry, site)) {
                return more;
            }
            self.sites[site as usize].buckets[first].pop();
        }
    }

    /// Wakes a site earlier than it would be. Never at this very instant: keys are rounded, and it would be woken without
    /// end.
    fn wake_at(&mut self, site: u32, wake: f64) {
        let wake = wake.max(self.reading.now() + WAKE_DAYS_MIN);
        let life = &mut self.sites[site as usize];
        if wake < life.queued {
            life.queued = wake;
            self.wakes.push(Reverse((wake.to_bits(), site)));
        }
    }

    fn come_home(&mut self, number: u32, now: f64) {
        let page = self.pages.at_mut(number);
        page.place = Place::Home;
        page.level = 0;
        let site = page.site;
        let life = &mut self.sites[site as usize];
        life.at_home += 1;
        if life.at_home == 1 {
            self.homes.insert(site);
        }
        self.set_out(number, now);
    }

    /// Takes a page off its ladder; what its bucket holds of it dies with its key.
    pub(super) fn leave_home(&mut self, number: u32) {
        self.set_level(number, 0);
        let page = self.pages.at_mut(number);
        page.key = f32::NAN;
        let site = page.site;
        let life = &mut self.sites[site as usize];
        life.at_home -= 1;
        if life.at_home == 0 {
            self.homes.remove(&site);
        }
    }

    /// Operational time of a page whose site was read.
    fn operational(&self, number: u32) -> f64 {
        let hinted = self.hints.get(&number).map_or(0.0, |&days| f64::from(days));
        self.reading.operational(self.pages.at(number).last_day()).max(0.0) + hinted
    }

    fn level_now(&self, number: u32, o: f64, now: f64) -> u16 {
        let waited = now - self.pages.at(number).last_day();
        if waited >= self.longest_wait && !self.abandons(number) {
            TOPMOST
        } else {
            level_of(self.value_of(number, o), self.rule.rung)
        }
    }

    /// Puts a page at home on its rung, and into its bucket until it reaches the next. Its site must have been read.
    fn set_out(&mut self, number: u32, now: f64) {
        let page = *self.pages.at(number);
        let life = &self.sites[page.site as usize];
        let (floor, has_clock) = (life.floor, life.clock.is_some());
        let o = self.operational(number);
        let level = self.level_now(number, o, now);
        let target = match level {
            level if level >= floor => level + 1,
            level if level >= porch_of(floor) => floor,
            _ => porch_of(floor),
        };
        self.set_level(number, if level >= floor { level } else { 0 });
        let mut next = match target > TOPMOST {
            true => f64::INFINITY,
            false => self.time_of(number, worth_of(target, self.rule.rung), o).max(o + 1e-7),
        };
        if level < TOPMOST && !self.abandons(number) {
            let left = self.longest_wait - (now - page.last_day());
            next = next.min(o + left * if has_clock { SLOWEST } else { 1.0 });
        }
        let hinted = self.hints.get(&number).map_or(0.0, |&days| f64::from(days));
        self.put_into_bucket(number, next - hinted);
    }

    /// Lets a page wait until its operational time is `next`.
    fn put_into_bucket(&mut self, number: u32, next: f64) {
        let page = *self.pages.at(number);
        let last = page.last_day();
        let life = &mut self.sites[page.site as usize];
        let now_by_clock;
        let key = match self.reading.bin_of(last) {
            None => {
                now_by_clock = self.reading.since_origin() - self.origin;
                let key = (next + last - self.origin) as f32;
                life.older.push(Entry { key, page: number });
                key
            }
            Some(bin) => {
                let index = life.buckets.partition_point(|bucket| bucket.start < bin.start);
                if life.buckets.get(index).is_none_or(|bucket| bucket.start != bin.start) {
                    life.buckets.insert(index, Bucket::new(bin));
                }
                let bucket = &mut life.buckets[index];
                now_by_clock = bin.until_now + f64::from(bucket.slack);
                let key = (next + bin.speed * (last - bin.start)) as f32 + bucket.slack;
                bucket.push(Entry { key, page: number });
                key
            }
        };
        self.pages.at_mut(number).key = key;
        if f64::from(key).is_finite() {
            let wake = self.reading.when_passed((f64::from(key) - now_by_clock).max(0.0));
            self.wake_at(page.site, wake);
        }
    }

    fn set_level(&mut self, number: u32, level: u16) {
        let page = self.pages.at_mut(number);
        let before = std::mem::replace(&mut page.level, level);
        if before == level {
            return;
        }
        let site = page.site;
        let ladder = &mut self.sites[site as usize].ladder;
        let head = ladder.first().copied();
        if before > 0 {
            ladder.remove(&step(before, number));
        }
        if level > 0 {
            ladder.insert(step(level, number));
        }
        let head_now = ladder.first().copied();
        if head != head_now {
            head.map(|head| self.heads.remove(&(head, site)));
            head_now.map(|head| self.heads.insert((head, site)));
        }
    }

    /// The best page at or after a place in the order of heads, whose site has room and whose rung is still true.
    fn next_head(&mut self, view: &dyn View, now: f64, after: &mut (u64, u32)) -> Option<u32> {
        loop {
            let &(head, site) = self.heads.range(*after..).next()?;
            let number = gathered(head as u32);
            if !view.has_room(self.pages.key(number)) {
                *after = (head, site.saturating_add(1));
                continue;
            }
            // A clock that slowed down may have let it fall.
            if self.level_now(number, self.operational_alone(number, now), now) >= self.pages.at(number).level {
                return Some(number);
            }
            self.attend(site, now);
            self.set_out(number, now);
        }
    }

    /// Draws as many pages as the view leaves, the most valuable first.
    pub(super) fn draw(&mut self, view: &dyn View, now: f64) -> Vec<PageKey> {
        let wanted = view.visits_left();
        let mut drawn = Vec::new();
        let mut after = (0, 0);
        while drawn.len() < wanted {
            let head = self.next_head(view, now, &mut after);
            // Below the floor the ladder is not whole: who stands there came before the floor rose.
            let whole = head.is_some_and(|number| self.pages.at(number).level >= self.floor);
            if !whole && self.sink(view, wanted - drawn.len(), now) {
                after = (0, 0);
                continue;
            }
            let Some(number) = head else { break };
            let level = self.pages.at(number).level;
            self.lowest[0] = self.lowest[0].min(level);
            self.leave_home(number);
            self.pages.at_mut(number).place = Place::Out;
            drawn.push(self.pages.key(number));
        }
        if wanted > 0 {
            let last = drawn.last().filter(|_| drawn.len() == wanted);
            self.price =
                last.map_or(0.0, |page: &PageKey| self.value_of(page.number, self.operational_alone(page.number, now)));
        }
        self.close_round(drawn.len() as u64, view.held());
        drawn
    }

    pub(super) fn best_value(&mut self, view: &dyn View, now: f64) -> Option<f64> {
        let mut after = (0, 0);
        loop {
            let head = self.next_head(view, now, &mut after);
            let whole = head.is_some_and(|number| self.pages.at(number).level >= self.floor);
            if !whole && self.sink(view, 1, now) {
                after = (0, 0);
                continue;
            }
            let number = head?;
            let value = self.value_of(number, self.operational_alone(number, now));
            return Some(if self.pages.at(number).level == TOPMOST { f64::MAX } else { value });
        }
    }

    /// Lets the floor sink, until enough pages of sites with room stand on ladders; whether there were any.
    fn sink(&mut self, view: &dyn View, wanted: usize, now: f64) -> bool {
        let homes: Vec<u32> = self.homes.iter().copied().collect();
        let (mut open, mut levels) = (Vec::new(), Vec::new());
        for site in homes {
            let below = self.below_floor(site);
            if below.is_empty() {
                continue;
            }
            if !view.has_room(self.pages.key(below[0].page)) {
                self.behind.push(site);
                continue;
            }
            self.attend_again(site, now);
            let first = levels.len();
            for entry in self.below_floor(site) {
                levels.push((self.level_now(entry.page, self.operational(entry.page), now), entry.page));
            }
            open.push((site, first..levels.len()));
        }
        if levels.is_empty() {
            return false;
        }
        let count = (wanted * SINK_TIMES).max(SINK_PAGES_MIN).min(levels.len()) - 1;
        let mut sorted: Vec<u16> = levels.iter().map(|&(level, _)| level).collect();
        let (_, &mut level, _) = sorted.select_nth_unstable_by_key(count, |&level| Reverse(level));
        self.floor = level.saturating_sub(FLOOR_BELOW + SINK_BELOW).max(1).min(self.floor);
        self.lowest = [self.floor + FLOOR_BELOW; ROUNDS];
        self.drawn = 0;
        let far = self.floor < porch_of(self.highest);
        if far {
            self.highest = self.floor;
        }
        for (site, range) in open {
            match far {
                true => self.lower_floor(site, now),
                false => self.climb_porch(site, &levels[range], now),
            }
        }
        true
    }

    /// Places anew those pages of a site that may wait for a floor above this one.
    fn climb_porch(&mut self, site: u32, levels: &[(u16, u32)], now: f64) {
        self.sites[site as usize].floor = self.floor;
        let porch = porch_of(self.floor);
        let mut past = levels.iter().filter(|&&(level, _)| level >= porch).peekable();
        if past.peek().is_some() {
            self.attend(site, now);
            past.for_each(|&(_, number)| self.set_out(number, now));
        }
    }

    /// What is at home in a site and not on its ladder.
    fn below_floor(&self, site: u32) -> Vec<Entry> {
        let life = &self.sites[site as usize];
        let entries = life.buckets.iter().flat_map(|bucket| bucket.pages.iter()).chain(life.older.iter());
        entries.copied().filter(|entry| self.stands(entry, site) && self.pages.at(entry.page).level == 0).collect()
    }

    fn stands(&self, entry: &Entry, site: u32) -> bool {
        let page = self.pages.at(entry.page);
        page.place == Place::Home && page.key == entry.key && page.site == site
    }

    fn lower_floor(&mut self, site: u32, now: f64) {
        let life = &mut self.sites[site as usize];
        life.floor = self.floor;
        life.stale = true;
        self.attend_again(site, now);
    }

    /// A site that had no room when the floor sank follows when it has.
    fn catch_up(&mut self, site: u32, view: &dyn View, now: f64) {
        if self.sites[site as usize].floor <= self.floor || self.sites[site as usize].at_home == 0 {
            return;
        }
        match view.has_room(self.pages.key(self.sites[site as usize].sample)) {
            true => self.lower_floor(site, now),
            false => self.behind.push(site),
        }
    }

    /// Lets the floor rise after a round of visits that all came from well above it.
    fn close_round(&mut self, drawn: u64, held: u64) {
        self.drawn += drawn;
        if self.drawn < (held / ROUND_PAGES_OVER).max(ROUND_VISITS_MIN) {
            return;
        }
        let lowest = self.lowest.iter().copied().min().unwrap_or(u16::MAX);
        self.floor = self.floor.max(lowest.min(TOPMOST - 1).saturating_sub(FLOOR_BELOW));
        self.highest = self.highest.max(self.floor);
        self.lowest.rotate_right(1);
        self.lowest[0] = u16::MAX;
        self.drawn = 0;
    }
}

/// Moves out what a bucket holds up to this time.
fn take_due(pages: &mut BinaryHeap<Entry>, time: f32, due: &mut Vec<Entry>) {
    while let Some(entry) = pages.peek().filter(|entry| entry.key <= time) {
        due.push(*entry);
        pages.pop();
    }
}

impl Bucket {
    fn new(bin: &crate::estimate::ReadBin) -> Self {
        Bucket {
            start: bin.start,
            width: bin.width as f32,
            speed: bin.speed as f32,
            slack: 0.0,
            head: f32::INFINITY,
            pages: BinaryHeap::new(),
        }
    }
}
