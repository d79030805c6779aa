//! Memory is asked for ahead of need. What is kept of many pages lies far apart, and who goes from one page to the next
//! waits for memory at each step of the way. So the words that some pages or sites are about to need are read all
//! together first: none of these reads waits for another, and memory answers them at once. Nothing is changed by it.

use std::hint::black_box;

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
const LIST_LINES_MAX: usize = 16;
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
        ask(lives().map(lists_of));
        // Who is only woken goes by what was read.
        ask(lives().filter(|life| life.shaken).map(bins_of));
        ask(lives()
            .flat_map(|life| likely_due(life, now, self.origin))
            .map(|entry| word_of(self.pages.at(entry.page))));
    }

    pub(super) fn ask_for_pages(&self, numbers: impl Iterator<Item = u32>) {
        if !self.lies_near() {
            ask(numbers.map(|number| word_of(self.pages.at(number))));
        }
    }

    /// Asks for what it takes to draw the next pages, from a step on.
    pub(super) fn ask_for_heads(&self, after: u64) {
        if self.lies_near() {
            return;
        }
        let heads = || self.heads.likely_from(after).take(AHEAD);
        self.ask_for_pages(heads().map(number_of));
        let lives = || heads().map(|head| &self.sites[self.pages.at(number_of(head)).site as usize]);
        ask(lives().map(words_of));
        ask(lives().map(lists_of));
        let steps = lives().flat_map(|life| life.ladder.best());
        ask(steps.map(|step| word_of(self.pages.at(number_of(step)))));
        let next = heads()
            .zip(lives())
            .flat_map(|(head, life)| life.trains.iter().filter_map(move |train| train.next_after(number_of(head))));
        ask(next.map(|number| word_of(self.pages.at(number))));
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
        ask(lives().map(lists_of));
        ask(lives().map(bins_of));
    }
}

/// Reads words that nobody needs yet.
fn ask(words: impl Iterator<Item = u64>) {
    black_box(all(words));
}

fn all(words: impl Iterator<Item = u64>) -> u64 {
    words.fold(0, |all, word| all ^ word)
}

fn word_of(page: &Page) -> u64 {
    u64::from(page.last)
}

/// Words from one end of a site to the other.
fn words_of(life: &Site) -> u64 {
    let lists = life.older.len() ^ life.buckets.len() ^ life.groups.len() ^ life.ladder.len();
    let times = life.dial.edge.to_bits() ^ life.queued.to_bits();
    lists as u64 ^ times ^ u64::from(life.all.compared) ^ u64::from(life.shaken) ^ u64::from(life.clock.is_some())
}

/// A word of each line of its lists, and of its clock.
fn lists_of(life: &Site) -> u64 {
    let older = life.older.as_slice().iter().step_by(ENTRIES_PER_LINE).take(LIST_LINES_MAX);
    all(older.map(|entry| u64::from(entry.page)))
        ^ all(life.buckets.iter().map(|bucket| u64::from(bucket.head.to_bits())))
        ^ all(life.groups.iter().step_by(GROUPS_PER_LINE).map(|group| u64::from(group.path)))
        ^ all(life.ladder.best())
        ^ all(life.trains.iter().map(|train| u64::from(train.group())))
        ^ life.clock.as_ref().map_or(0, |clock| clock.weights()[0].to_bits())
}

fn bins_of(life: &Site) -> u64 {
    life.clock.as_ref().map_or(0, |clock| all(clock.word_per_line()))
}

/// The first pages of its lists whose time has come, by what the site's dial showed.
fn likely_due(life: &Site, now: f64, origin: f64) -> impl Iterator<Item = &Entry> {
    let hour = (life.dial.hour(now) - origin) as f32;
    let passed = life.dial.passed(now);
    let older = life.older.as_slice().iter().take(ENTRIES_PER_LINE).filter(move |entry| entry.key <= hour);
    let due = life.buckets.iter().filter(move |bucket| bucket.head <= bucket.time(passed) as f32);
    older.chain(due.filter_map(|bucket| bucket.pages.peek()))
}
