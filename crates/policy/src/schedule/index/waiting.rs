//! Where pages wait: in buckets of their site, each with the operational time at which it must be looked at again.
//!
//! A clock is read when a visit moved it, and only visits move it, so that what is chosen does not depend on when it was
//! read. Until the next one it goes on by itself, so that a site that is woken is not
//! read again: its buckets say what is due.

use vernal_model::{Moment, Span};

use super::dial::{Bucket, Dial, drain_unless, insert, set_buckets};
use super::page::{Page, Place, days, rested_at};
use super::policy::Index;
use super::resting::Rest;
use super::site::{Entry, Site};
use crate::View;

/// Recalled pages are taken up in so many parts, so that the lists of a part are short beside the pages; and at least so
/// many at once.
const TAKEN_UP_IN: usize = 8;
const TAKEN_UP_MIN: usize = 1 << 16;
/// Fewer sites than this are sorted, and so are those for which there would be more words of marks than sites.
const MARKED_MIN: usize = 64;
const MARKS_PER_WORD: usize = u64::BITS as usize;
/// About a second: what the rounding of keys may hide.
const WAKE_DAYS_MIN: f64 = 1e-5;

/// Numbers below `all` in their order, each once. Many of them are marked in a row of all, and read from there.
fn in_order(mut numbers: Vec<u32>, all: usize) -> Vec<u32> {
    if numbers.len() < MARKED_MIN.max(all / MARKS_PER_WORD) {
        numbers.sort_unstable();
        numbers.dedup();
        return numbers;
    }
    let mut marks = vec![0u64; all.div_ceil(MARKS_PER_WORD)];
    for number in numbers.drain(..) {
        marks[number as usize / MARKS_PER_WORD] |= 1 << (number as usize % MARKS_PER_WORD);
    }
    for (word, mut bits) in marks.into_iter().enumerate() {
        while bits > 0 {
            numbers.push((word * MARKS_PER_WORD) as u32 + bits.trailing_zeros());
            bits &= bits - 1;
        }
    }
    numbers
}

impl Index {
    /// Brings everything up to this moment: pages that have rested, sites that were shaken or come due.
    pub(super) fn prepare(&mut self, view: &dyn View, now: Moment) {
        let today = days(now);
        self.move_to_sections();
        self.take_up(view, now);
        let rested = self.have_rested(view.refresh_min(), now);
        let sites = self.sites_to_attend(&rested, today);
        self.attend_all(&sites, &rested, today);
        for site in std::mem::take(&mut self.behind) {
            self.catch_up(site, view, today);
        }
    }

    /// Pages that have rested by now, some of which may have left.
    fn have_rested(&mut self, refresh_min: Span, now: Moment) -> Vec<Rest> {
        let mut rested = self.resting.take_while(|last| rested_at(last, refresh_min) <= now);
        // Many were drawn and heard of in the order of their sites: rows that are in order need only be joined.
        rested.sort_by_key(Rest::turn);
        rested.dedup();
        rested
    }

    /// Sites with pages that come home, sites that were shaken, and sites that are to be woken: each once, in the order in
    /// which they lie in memory.
    fn sites_to_attend(&mut self, rested: &[Rest], now: f64) -> Vec<u32> {
        let mut sites = Vec::with_capacity(rested.len() + self.shaken.len());
        sites.extend(rested.iter().map(|rest| rest.site));
        sites.append(&mut self.shaken);
        while let Some(due) = self.wakes.take_until(now) {
            sites.extend(due.iter().map(|wake| wake.site));
        }
        let sites = in_order(sites, self.sites.len());
        let mut home = rested.iter().map(|rest| rest.site).peekable();
        let mut attended = Vec::with_capacity(sites.len());
        for site in sites {
            let life = &self.sites[site as usize];
            let comes_home = home.next_if_eq(&site).is_some();
            while home.next_if_eq(&site).is_some() {}
            // Entries that were overtaken stay in the list of wakes until their time, and mean nothing.
            if comes_home || life.shaken || life.queued <= now {
                attended.push(site);
            }
        }
        attended
    }

    /// Attends to sites, each with those of these pages that come home to it.
    fn attend_all(&mut self, sites: &[u32], mut home: &[Rest], now: f64) {
        for &site in sites {
            let ours = home.iter().take_while(|rest| rest.site == site).count();
            let (coming, others) = home.split_at(ours);
            self.attend(site, coming, now);
            home = others;
        }
    }

    /// Brings home the pages that were recalled and have rested; the others go on resting.
    fn take_up(&mut self, view: &dyn View, now: Moment) {
        let recalled = std::mem::take(&mut self.recalled);
        for some in recalled.chunks((recalled.len() / TAKEN_UP_IN).max(TAKEN_UP_MIN)) {
            let mut rested = Vec::new();
            for &number in some {
                // It may have been visited or forgotten since, or recalled twice.
                if self.pages.at(number).place() != Place::Recalled {
                    continue;
                }
                let Page { last, site, .. } = *self.pages.at(number);
                match rested_at(last, view.refresh_min()) > now {
                    true => self.rest(number),
                    false => rested.push(Rest { site, last, number }),
                }
            }
            rested.sort_unstable_by_key(Rest::turn);
            rested.dedup();
            let mut sites: Vec<u32> = rested.iter().map(|rest| rest.site).collect();
            sites.dedup();
            self.attend_all(&sites, &rested, days(now));
        }
    }

    /// Whether an entry of the resting still speaks of a page that rests.
    fn rests_since(&self, rest: &Rest) -> bool {
        let page = self.pages.at(rest.number);
        page.place() == Place::Resting && page.last == rest.last
    }

    /// The same when the page comes home to a site; pages that were recalled come there without a rest.
    fn comes_home(&self, rest: &Rest) -> bool {
        let page = self.pages.at(rest.number);
        matches!(page.place(), Place::Resting | Place::Recalled) && (page.last, page.site) == (rest.last, rest.site)
    }

    /// Pages that rest, by their last visit.
    pub(super) fn rests(&self) -> impl Iterator<Item = (u32, u32)> {
        self.resting.iter().filter(|rest| self.rests_since(rest)).map(|rest| (rest.last, rest.number))
    }

    /// Pages that were recalled and not yet taken up, each with its last visit, in no order.
    pub(super) fn to_take_up(&self) -> impl Iterator<Item = (u32, u32)> {
        let recalled = self.recalled.iter().filter(|&&number| self.pages.at(number).place() == Place::Recalled);
        recalled.map(|&number| (self.pages.at(number).last, number))
    }

    /// A site's clock moved.
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

    /// Moves the pages of a site to the rungs that they have reached, and takes in those that come home.
    pub(super) fn attend(&mut self, site: u32, home: &[Rest], now: f64) {
        let mut moving = std::mem::take(&mut self.moving);
        let life = &mut self.sites[site as usize];
        life.stale |= life.floor > self.floor;
        life.floor = self.floor;
        let moved = std::mem::take(&mut life.shaken) || life.stale || life.moved || !home.is_empty();
        let is_due = |entry: &Entry| f64::from(entry.key) <= life.dial.hour(now) - self.origin;
        if moved || life.older.peek().is_some_and(is_due) {
            self.read(site, now, &mut moving);
        }
        self.take_due(site, now, &mut moving);
        moving.retain(|entry| self.stands(entry, site));
        // Neighbours here are neighbours in a bucket.
        let mut bucket = 0;
        for entry in moving.drain(..) {
            self.set_out(entry.page, now, &mut bucket);
        }
        self.moving = moving;
        bucket = self.sites[site as usize].buckets.len().saturating_sub(1);
        self.lead_on(site, now, &mut bucket);
        for rest in home {
            if self.comes_home(rest) {
                self.come_home(rest.number, now, &mut bucket);
            }
        }
        if !home.is_empty() {
            self.settle_trains(site);
        }
        self.sites[site as usize].older.shrink();
        self.show_head(site);
        self.queue(site, now);
    }

    /// Reads a site's clock and sets its buckets by it.
    fn read(&mut self, site: u32, now: f64, moving: &mut Vec<Entry>) {
        let life = &mut self.sites[site as usize];
        let Some(clock) = &life.clock else { return };
        clock.read(now, &mut self.reading);
        self.read_for = Some((site, now));
        life.dial = Dial::read(&self.reading);
        set_buckets(&mut life.buckets, &self.reading, &mut self.pages, moving);
    }

    /// Gives out the pages that must be looked at: those of a site that is stale, those whose prior moved, and those whose
    /// time has come.
    fn take_due(&mut self, site: u32, now: f64, due: &mut Vec<Entry>) {
        let life = &mut self.sites[site as usize];
        if life.stale || life.moved {
            let (stale, pages) = (life.stale, &self.pages);
            let (mut buckets, mut older) = (std::mem::take(&mut life.buckets), std::mem::take(&mut life.older));
            let stays = |entry: &Entry| !stale && !life.has_moved(pages.at(entry.page).group);
            buckets.iter_mut().for_each(|bucket| bucket.drain_unless(stays, due));
            drain_unless(&mut older, stays, due);
            (life.buckets, life.older) = (buckets, older);
            life.settle();
        }
        let passed = life.dial.passed(now);
        for bucket in &mut life.buckets {
            if !bucket.expiring && bucket.start() + self.longest_wait <= now {
                bucket.expiring = true;
                bucket.drain(due);
            }
            let time = bucket.time(passed) as f32;
            while bucket.head <= time {
                due.extend(bucket.pop());
            }
        }
        let hour = (life.dial.hour(now) - self.origin) as f32;
        while let Some(entry) = life.older.peek().filter(|entry| entry.key <= hour) {
            due.push(*entry);
            life.older.pop();
        }
    }

    /// Makes sure that the site is woken when its next page must be looked at; never at this very instant, for keys are
    /// rounded and it would be woken without end.
    pub(super) fn queue(&mut self, site: u32, now: f64) {
        let mut more = self.next_in_buckets(site);
        let life = &self.sites[site as usize];
        if let Some(head) = life.older.peek() {
            more = more.min(life.dial.passed_at(f64::from(head.key) + self.origin));
        }
        let due = if more.is_finite() { life.dial.when(more) } else { f64::INFINITY };
        let first = life.buckets.iter().find(|bucket| !bucket.expiring && !bucket.pages.is_empty());
        let expires = first.map_or(f64::INFINITY, |bucket| bucket.start() + self.longest_wait);
        let wake = due.min(expires).max(now + WAKE_DAYS_MIN);
        let life = &mut self.sites[site as usize];
        if wake != life.queued {
            life.queued = wake;
            if wake.is_finite() {
                self.wakes.push(wake, site);
            }
        }
    }

    /// The same when a page was set out in one bucket, or nowhere among them, and all others are as they were. For the page that
    /// was drawn before it the site may be woken in vain; whoever hears of that visit attends to the site before.
    pub(super) fn queue_sooner(&mut self, site: u32, bucket: Option<usize>, now: f64) {
        let life = &mut self.sites[site as usize];
        let bucket = bucket.map(|index| &life.buckets[index]);
        let more = match bucket {
            Some(bucket) => f64::from(bucket.head) - bucket.time(0.0),
            None => {
                life.older.peek().map_or(f64::INFINITY, |head| life.dial.passed_at(f64::from(head.key) + self.origin))
            }
        };
        let due = if more.is_finite() { life.dial.when(more) } else { f64::INFINITY };
        let expires = bucket.filter(|bucket| !bucket.expiring).map(|bucket| bucket.start() + self.longest_wait);
        let wake = due.min(expires.unwrap_or(f64::INFINITY)).max(now + WAKE_DAYS_MIN);
        if wake < life.queued {
            life.queued = wake;
            self.wakes.push(wake, site);
        }
    }

    /// How much operational time has to pass since the dial was read until the first page of a bucket is due. What was
    /// visited since it was put there is dropped on the way, so that nobody is woken for it.
    fn next_in_buckets(&mut self, site: u32) -> f64 {
        loop {
            let (mut more, mut first) = (f64::INFINITY, None);
            for (index, bucket) in self.sites[site as usize].buckets.iter().enumerate() {
                let left = f64::from(bucket.head) - bucket.time(0.0);
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

    /// Whether an entry of a bucket still speaks of a page that waits there.
    pub(super) fn stands(&self, entry: &Entry, site: u32) -> bool {
        let page = self.pages.at(entry.page);
        page.place() == Place::Home && page.waits_with(entry.key) && page.site == site
    }

    /// Operational time of a page at home, by the dial of its site.
    pub(super) fn operational(&self, number: u32, page: &Page, now: f64) -> f64 {
        self.operational_in(self.bucket_of(page, 0), number, page, now)
    }

    /// The operational time of any page: by the dial where its site was read since it last moved.
    pub(super) fn operational_as_read(&self, number: u32, now: f64) -> f64 {
        let page = self.pages.at(number);
        let is_read = self.is_home(number) && !self.sites[page.site as usize].shaken;
        if is_read { self.operational(number, page, now) } else { self.operational_alone(number, page, now) }
    }

    /// The place of a page's bucket among those of its site, perhaps `near`; `None` if there is none for its last visit.
    pub(super) fn bucket_of(&self, page: &Page, near: usize) -> Option<usize> {
        self.sites[page.site as usize].bucket_of(page.last_day(), near)
    }

    pub(super) fn operational_in(&self, bucket: Option<usize>, number: u32, page: &Page, now: f64) -> f64 {
        let life = &self.sites[page.site as usize];
        let last = page.last_day();
        let elapsed = match bucket {
            Some(index) => life.buckets[index].operational(last, life.dial.passed(now)),
            None if last < life.dial.edge => life.dial.hour(now) - last,
            None => return self.operational_alone(number, page, now),
        };
        elapsed.max(0.0) + self.hinted(number)
    }

    /// Lets a page wait in its bucket, which is made if need be, until so much more operational time has passed.
    pub(super) fn wait(&mut self, mut bucket: Option<usize>, number: u32, page: &Page, more: f64, now: f64) {
        let (site, last) = (page.site, page.last_day());
        let life = &mut self.sites[site as usize];
        let is_read = || life.clock.is_some() && self.read_for.is_some_and(|(read, _)| read == site);
        let bin = if bucket.is_none() && is_read() { self.reading.bin_of(last) } else { None };
        if let Some(bin) = bin {
            bucket = Some(insert(&mut life.buckets, Bucket::of(&bin)));
        }
        let key = match bucket {
            Some(index) => {
                let bucket = &mut life.buckets[index];
                let key = (bucket.time(life.dial.passed(now)) + more) as f32;
                bucket.push(Entry { key, page: number }, last);
                key
            }
            None => {
                let key = (life.dial.hour(now) - self.origin + more) as f32;
                life.older.push(Entry { key, page: number });
                key
            }
        };
        self.pages.at_mut(number).wait_with(key);
    }

    /// What is at home in a site and not on its ladder.
    pub(super) fn below_floor(&self, site: u32) -> impl Iterator<Item = u32> + '_ {
        let life = &self.sites[site as usize];
        let entries = life.buckets.iter().flat_map(|bucket| bucket.pages.iter()).chain(life.older.iter());
        let below = entries.filter(move |entry| self.stands(entry, site) && self.pages.at(entry.page).level() == 0);
        below.map(|entry| entry.page)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn numbers_come_in_their_order_each_once_be_they_few_or_many(
            numbers in prop::collection::vec(0u32..1_000, 0..300),
            more in 0usize..100_000,
        ) {
            let mut plain = numbers.clone();
            plain.sort_unstable();
            plain.dedup();
            prop_assert_eq!(in_order(numbers, 1_000 + more), plain);
        }
    }
}
