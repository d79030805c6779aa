//! Memory is asked for ahead of need. What is kept of many pages lies far apart, and who goes from one page to the next
//! waits for memory at each step of the way. So the words that some pages or sites are about to need are read all
//! together first: none of these reads waits for another, and memory answers them at once. Nothing is changed by it.

use std::hint::black_box;

use super::dial::Bucket;
use super::page::Page;
use super::policy::Index;
use super::rungs::number_of;
use super::site::{Entry, Site};

/// So many sites or pages are asked for at once: more than memory answers at a time, and less than the nearest caches hold.
pub(super) const AHEAD: usize = 16;
/// With fewer pages than this all that is kept of them lies near, and to ask for it costs more than to wait.
const PAGES_MIN: usize = 1 << 17;
/// Entries of a list in one line of memory.
const ENTRIES_PER_LINE: usize = 8;
/// Lines of a list, from its best on, that are worth asking for.
const LIST_LINES_MAX: usize = 4;
/// Groups of a site in a line.
const GROUPS_PER_LINE: usize = 2;

/// Pages that were given out, and how many of them were heard of since. Mostly they are heard of in that order.
#[derive(Clone, Debug, Default)]
pub(super) struct Given {
    pages: Vec<u32>,
    heard: usize,
}

impl Given {
    pub fn begin(&mut self, pages: impl Iterator<Item = u32>) {
        self.pages.clear();
        self.pages.extend(pages);
        self.heard = 0;
    }

    /// Hears of a page; those that are likely next, if it is time to ask for them.
    fn hear(&mut self, number: u32) -> &[u32] {
        if self.pages.get(self.heard) != Some(&number) {
            return &[];
        }
        let from = self.heard;
        self.heard += 1;
        match from.is_multiple_of(AHEAD) {
            true => &self.pages[from..self.pages.len().min(from + AHEAD)],
            false => &[],
        }
    }
}

impl Index {
    fn lies_near(&self) -> bool {
        self.pages.numbered() < PAGES_MIN
    }

    /// Asks for what it takes to attend to these sites.
    pub(super) fn ask_for_sites(&self, sites: &[u32], now: f64) {
        if self.lies_near() {
            return;
        }
        let lives = || sites.iter().map(|&site| &self.sites[site as usize]);
        ask(lives().map(words_of));
        // Who is only woken goes by what was read.
        ask(lives().map(|life| lists_of(life) ^ if life.shaken { clock_of(life) } else { 0 }));
        ask(lives().filter(|life| life.shaken).map(|life| bins_of(life) ^ newest_of(life)));
        let looked_at = || lives().flat_map(|life| likely_due(life, now, self.origin).chain(next_due(life)));
        ask(looked_at().map(|entry| word_of(self.pages.at(entry.page))));
        ask(looked_at().map(|entry| {
            let page = self.pages.at(entry.page);
            group_of(&self.sites[page.site as usize], page)
        }));
    }

    pub(super) fn ask_for_pages(&self, numbers: impl Iterator<Item = u32>) {
        if !self.lies_near() {
            ask(numbers.map(|number| word_of(self.pages.at(number))));
        }
    }

    /// Asks for what it takes to draw the next pages, from a step on: to see that they are worth what they were, to let them go,
    /// and to let others lead on.
    pub(super) fn ask_for_heads(&self, after: u64) {
        if self.lies_near() {
            return;
        }
        let heads = || self.heads.likely_from(after).take(AHEAD).map(number_of);
        self.ask_for_pages(heads());
        let lives = || heads().map(|number| (number, &self.sites[self.pages.at(number).site as usize]));
        ask(lives().map(|(_, life)| words_of(life)));
        ask(lives().map(|(number, life)| {
            let page = self.pages.at(number);
            let trains = if page.is_unheard() { trains_of(life) } else { 0 };
            ladder_of(life) ^ trains ^ group_of(life, page) ^ self.word_of_bucket(number)
        }));
        let next_best = || lives().filter_map(|(_, life)| life.ladder.next_best()).map(number_of);
        let next =
            || lives().filter_map(|(number, life)| life.trains.iter().find_map(|train| train.next_after(number)));
        ask(next_best().chain(next()).map(|number| word_of(self.pages.at(number))));
        ask(next().map(|number| self.word_of_bucket(number)));
    }

    /// Asks for what it takes to learn of the pages that are likely heard of next.
    pub(super) fn ask_for_heard(&mut self, number: u32) {
        if self.lies_near() {
            return;
        }
        let next = self.given.hear(number);
        ask(next.iter().map(|&number| word_of(self.pages.at(number))));
        let lives = || next.iter().map(|&number| &self.sites[self.pages.at(number).site as usize]);
        ask(lives().map(words_of));
        ask(lives().map(clock_of));
        ask(next.iter().zip(lives()).map(|(&number, life)| group_of(life, self.pages.at(number))));
        ask(lives().map(bins_of));
    }

    fn word_of_bucket(&self, number: u32) -> u64 {
        let life = &self.sites[self.pages.at(number).site as usize];
        self.bucket_of(number, 0).map_or(0, |index| u64::from(life.buckets[index].head.to_bits()))
    }
}

/// Reads words that nobody needs yet.
fn ask(words: impl Iterator<Item = u64>) {
    black_box(all(words));
}

fn all(words: impl Iterator<Item = u64>) -> u64 {
    words.fold(0, |all, word| all ^ word)
}

/// Words from one end of a page to the other: one page in three lies in two lines.
fn word_of(page: &Page) -> u64 {
    u64::from(page.shape.to_bits()) ^ u64::from(page.partition)
}

/// Words from one end of a site to the other.
fn words_of(life: &Site) -> u64 {
    let lists = life.older.len() ^ life.buckets.len() ^ life.groups.len() ^ life.ladder.len();
    let times = life.dial.edge.to_bits() ^ life.queued.to_bits();
    lists as u64 ^ times ^ u64::from(life.all.compared) ^ u64::from(life.shaken) ^ u64::from(life.clock.is_some())
}

/// A word of each line of the lists that are walked through whenever somebody attends to it.
fn lists_of(life: &Site) -> u64 {
    let trains = if life.is_unled { trains_of(life) } else { 0 };
    let groups = if life.stale || life.moved { groups_of(life) } else { 0 };
    let older = life.older.peek().map_or(0, |entry| u64::from(entry.page));
    all(life.buckets.iter().map(|bucket| u64::from(bucket.head.to_bits()))) ^ older ^ ladder_of(life) ^ trains ^ groups
}

fn ladder_of(life: &Site) -> u64 {
    all(life.ladder.word_per_line().take(LIST_LINES_MAX))
}

fn trains_of(life: &Site) -> u64 {
    all(life.trains.iter().map(|train| u64::from(train.group())))
}

/// A word of a page's group, and not of all others.
fn group_of(life: &Site, page: &Page) -> u64 {
    life.group(page.group).map_or(0, |group| u64::from(group.compared))
}

fn groups_of(life: &Site) -> u64 {
    all(life.groups.iter().step_by(GROUPS_PER_LINE).map(|group| u64::from(group.path)))
}

fn clock_of(life: &Site) -> u64 {
    life.clock.as_ref().map_or(0, |clock| all(clock.words()))
}

fn bins_of(life: &Site) -> u64 {
    life.clock.as_ref().map_or(0, |clock| all(clock.word_per_line()))
}

/// Where pages that were visited just now come to wait.
fn newest_of(life: &Site) -> u64 {
    let newest = life.buckets.last().and_then(|bucket| bucket.pages.as_slice().last());
    newest.map_or(0, |entry| u64::from(entry.page))
}

/// The first pages of its lists whose time has come, by what the site's dial showed.
fn likely_due(life: &Site, now: f64, origin: f64) -> impl Iterator<Item = &Entry> {
    let hour = (life.dial.hour(now) - origin) as f32;
    let passed = life.dial.passed(now);
    let older = life.older.as_slice().iter().take(ENTRIES_PER_LINE).filter(move |entry| entry.key <= hour);
    let due = life.buckets.iter().filter(move |bucket| bucket.head <= bucket.time(passed) as f32);
    older.chain(due.filter_map(|bucket| bucket.pages.peek()))
}

/// The page for which the site is woken next, as its buckets say.
fn next_due(life: &Site) -> Option<&Entry> {
    let left = |bucket: &Bucket| f64::from(bucket.head) - bucket.time(0.0);
    life.buckets.iter().min_by(|one, other| left(one).total_cmp(&left(other)))?.pages.peek()
}
