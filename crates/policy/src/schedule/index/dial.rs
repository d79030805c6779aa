//! What was last read off a site's clock, and how it goes on by itself until new evidence comes.

use super::entries::Entries;
use super::page::Place;
use super::pieces::Pages;
use super::site::Entry;
use crate::estimate::{ReadBin, Reading};

/// There is room for one in so many more buckets than a site has, and for no more than half as many: most memory that sites
/// need beyond their pages is in buckets.
const BUCKETS_SPARE: usize = 4;

/// A site without a clock has a dial too: it was read at the beginning of time, and shows the time as it is.
#[derive(Copy, Clone, Debug)]
pub(super) struct Dial {
    /// When the clock was read, in days.
    at: f64,
    /// The end of the bin that was the newest then, and its speed; time after it has no evidence yet.
    ends: f64,
    speed: f64,
    /// Where the bins begin.
    pub edge: f64,
    /// The hour that it was by this clock for those who last looked before all bins.
    hour: f64,
}

impl Default for Dial {
    fn default() -> Self {
        Dial { at: 0.0, ends: 0.0, speed: 1.0, edge: f64::INFINITY, hour: 0.0 }
    }
}

impl Dial {
    pub fn read(reading: &Reading) -> Self {
        let newest = reading.bins().last();
        Dial {
            at: reading.now(),
            ends: newest.map_or(reading.now(), |bin| (bin.start + bin.width).max(reading.now())),
            speed: newest.map_or(1.0, |bin| bin.speed),
            edge: reading.bins().first().map_or(f64::INFINITY, |bin| bin.start),
            hour: reading.since_origin(),
        }
    }

    /// Operational time that has passed since it was read.
    pub fn passed(&self, now: f64) -> f64 {
        if now <= self.ends {
            (now - self.at) * self.speed
        } else {
            (self.ends - self.at) * self.speed + (now - self.ends)
        }
    }

    /// When so much will have passed since it was read.
    pub fn when(&self, passed: f64) -> f64 {
        let until_end = (self.ends - self.at) * self.speed;
        if passed <= until_end { self.at + passed / self.speed } else { self.ends + (passed - until_end) }
    }

    /// The hour for those who last looked before all bins.
    pub fn hour(&self, now: f64) -> f64 {
        self.hour + self.passed(now)
    }

    /// What will have passed since it was read when it is that hour.
    pub fn passed_at(&self, hour: f64) -> f64 {
        hour - self.hour
    }
}

/// Pages last visited within a time that runs at one speed.
#[derive(Clone, Debug)]
pub(super) struct Bucket {
    /// Operational time from its start until the dial was read.
    pub until: f64,
    /// In days, which bins begin at quarters of: this is exact.
    start: f32,
    pub width: f32,
    pub speed: f32,
    /// The first and the last of its pages' last visits, in days after its start.
    first: f32,
    last: f32,
    /// How much earlier than their keys say pages of this bucket may be due, or if it is less than nothing are due later,
    /// because its speed changed.
    pub slack: f32,
    /// The least key that it holds, beside the rest so that most buckets are passed by with one look; endless if none.
    pub head: f32,
    /// Some of its pages may have waited as long as any may, and were looked at for it.
    pub expiring: bool,
    pub pages: Entries,
}

impl Bucket {
    pub fn of(bin: &ReadBin) -> Self {
        Bucket {
            until: bin.until_now,
            start: bin.start as f32,
            width: bin.width as f32,
            speed: bin.speed as f32,
            first: f32::INFINITY,
            last: 0.0,
            slack: 0.0,
            head: f32::INFINITY,
            expiring: false,
            pages: Entries::default(),
        }
    }

    pub fn start(&self) -> f64 {
        f64::from(self.start)
    }

    /// Whether a visit at this instant belongs here.
    pub fn covers(&self, last: f64) -> bool {
        last >= self.start() && last < self.start() + f64::from(self.width)
    }

    /// Takes in a page that was last visited at this instant.
    pub fn push(&mut self, entry: Entry, last: f64) {
        let after = (last - self.start()) as f32;
        (self.first, self.last) = (self.first.min(after), self.last.max(after));
        self.head = self.head.min(entry.key);
        self.pages.push(entry);
    }

    pub fn pop(&mut self) -> Option<Entry> {
        let entry = self.pages.pop();
        self.head = self.pages.peek().map_or(f32::INFINITY, |entry| entry.key);
        entry
    }

    pub fn drain(&mut self, into: &mut Vec<Entry>) {
        self.drain_unless(|_| false, into);
    }

    pub fn drain_unless(&mut self, stays: impl Fn(&Entry) -> bool, into: &mut Vec<Entry>) {
        drain_unless(&mut self.pages, stays, into);
        self.head = self.pages.peek().map_or(f32::INFINITY, |entry| entry.key);
        if self.pages.is_empty() {
            (self.slack, self.first, self.last) = (0.0, f32::INFINITY, 0.0);
        }
    }

    /// What keys are measured against, so much operational time after the dial was read.
    pub fn time(&self, passed: f64) -> f64 {
        self.until + passed + f64::from(self.slack)
    }

    pub fn operational(&self, last: f64, passed: f64) -> f64 {
        self.until + passed - f64::from(self.speed) * (last - self.start())
    }

    fn set(&mut self, bin: &ReadBin) {
        let speed = bin.speed as f32;
        let slower = self.speed - speed;
        // What the change of speed means to the page to which it means most. The width of the bucket would do as well, but
        // pages that were all visited just now would be looked at after each visit that slows the clock by a little.
        self.slack += slower * if slower > 0.0 { self.last } else { self.first };
        self.speed = speed;
        self.until = bin.until_now - bin.speed * (self.start() - bin.start);
    }

    /// Takes over the pages of the bucket after it, whose time runs at the same speed by now. Keys are moved by what lies
    /// between the two starts; no value is looked at.
    fn join(&mut self, mut next: Bucket, pages: &mut Pages) {
        let moved = (self.until - next.until) as f32 + self.slack - next.slack;
        let between = next.start - self.start;
        self.width = between + next.width;
        (self.first, self.last) = (self.first.min(next.first + between), self.last.max(next.last + between));
        self.expiring = false;
        let mut entries = next.pages.take();
        entries.retain_mut(|entry| {
            let page = pages.at_mut(entry.page);
            let stands = page.place() == Place::Home && page.waits_with(entry.key);
            entry.key += moved;
            if stands {
                page.wait_with(entry.key);
            }
            stands
        });
        self.pages.append(entries);
        self.head = self.pages.peek().map_or(f32::INFINITY, |entry| entry.key);
    }
}

pub(super) fn drain_unless(pages: &mut Entries, stays: impl Fn(&Entry) -> bool, into: &mut Vec<Entry>) {
    pages.drain_unless(stays, into);
}

/// Takes a new bucket in among those of a site, in the order of their starts; its place.
pub(super) fn insert(buckets: &mut Vec<Bucket>, bucket: Bucket) -> usize {
    if buckets.len() == buckets.capacity() {
        buckets.reserve_exact(1 + buckets.len() / BUCKETS_SPARE);
    }
    let index = buckets.partition_point(|other| other.start() < bucket.start());
    buckets.insert(index, bucket);
    index
}

/// Sets buckets by a new reading: empty ones go, those that lie in one bin now are joined, and what lies before all bins
/// is given out to be placed anew.
pub(super) fn set_buckets(buckets: &mut Vec<Bucket>, reading: &Reading, pages: &mut Pages, out: &mut Vec<Entry>) {
    let mut bins = reading.bins().iter().peekable();
    let mut joined: Option<f64> = None;
    let mut kept = 0;
    for index in 0..buckets.len() {
        if buckets[index].pages.is_empty() {
            continue;
        }
        let start = buckets[index].start();
        while bins.next_if(|bin| bin.start + bin.width <= start).is_some() {}
        let bin = bins.peek().filter(|bin| bin.start <= start).map(|bin| **bin).or_else(|| reading.bin_of(start));
        let Some(bin) = bin else {
            buckets[index].drain(out);
            continue;
        };
        buckets[index].set(&bin);
        if joined == Some(bin.start) {
            let empty = Bucket { pages: Entries::default(), ..buckets[index] };
            let next = std::mem::replace(&mut buckets[index], empty);
            buckets[kept - 1].join(next, pages);
            continue;
        }
        joined = Some(bin.start);
        buckets.swap(kept, index);
        kept += 1;
    }
    buckets.truncate(kept);
    buckets.iter_mut().for_each(|bucket| bucket.pages.shrink());
    if buckets.capacity() > kept + kept / 2 + BUCKETS_SPARE {
        buckets.shrink_to(kept + kept / BUCKETS_SPARE);
    }
}
