//! Memory is asked for ahead of need. What is kept of many pages lies far apart, and who goes from one page to the next
//! waits for memory at each step of the way. So the words that some pages or sites are about to need are read all
//! together first: none of these reads waits for another, and memory answers them at once. Nothing is changed by it.
//!
//! What lies at the end of a way is found only when memory has answered for the step before. So there is a wave for each step: while
//! some pages are asked for, so are the sites of those that were asked for before them, and the lists of those before these.

use std::hint::black_box;
use std::ops::Range;

use super::dial::Bucket;
use super::page::Page;
use super::policy::Index;
use super::rungs::number_of;
use super::site::{Entry, Site};
use super::trains::{Train, train_of};

/// So many sites or pages are asked for at once: with all waves more than memory answers at a time, and less than the nearer
/// caches hold.
pub(super) const AHEAD: usize = 8;
/// With fewer pages than this all that is kept of them lies near, and to ask for it costs more than to wait.
const PAGES_MIN: usize = 1 << 17;
/// Entries of a list in one line of memory.
const ENTRIES_PER_LINE: usize = 8;
/// Lines of a list that are worth asking for.
const LIST_LINES_MAX: usize = 4;
/// Groups of a site in a line.
const GROUPS_PER_LINE: usize = 2;
/// Waves until a site can be attended to, a page drawn, and a visit heard of.
const WAVES_OF_SITES: usize = 4;
const WAVES_OF_HEADS: usize = 6;
const WAVES_OF_HEARD: usize = 4;

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

    /// Hears of a page; which batch of pages begins with it, if one does.
    fn hear(&mut self, number: u32) -> Option<usize> {
        if self.pages.get(self.heard) != Some(&number) {
            return None;
        }
        let from = self.heard;
        self.heard += 1;
        from.is_multiple_of(AHEAD).then_some(from / AHEAD)
    }
}

/// Pages that are likely drawn next.
#[derive(Default)]
pub(super) struct Coming {
    pages: Vec<u32>,
    batches: usize,
}

/// What lies in the way of somebody who comes in batches: the waves that go out before a batch, each for itself and the ones
/// before it.
fn waves_before(batch: usize, waves: usize) -> Range<usize> {
    if batch == 0 { 0..waves } else { batch + waves - 1..batch + waves }
}

/// A batch of a list, as many before one.
fn batch<T>(list: &[T], batch: usize, before: usize) -> &[T] {
    let Some(from) = batch.checked_sub(before).map(|batch| batch * AHEAD) else { return &[] };
    &list[from.min(list.len())..(from + AHEAD).min(list.len())]
}

impl Index {
    fn lies_near(&self) -> bool {
        self.pages.numbered() < PAGES_MIN
    }

    /// Asks for what it takes to attend to a batch of these sites.
    pub(super) fn ask_for_sites(&self, sites: &[u32], at: usize, now: f64) {
        if self.lies_near() {
            return;
        }
        for wave in waves_before(at, WAVES_OF_SITES) {
            let lives = |before| batch(sites, wave, before).iter().map(|&site| &self.sites[site as usize]);
            ask(lives(0).map(words_of));
            // Who is only woken goes by what was read.
            ask(lives(1).map(|life| lists_of(life) ^ if life.shaken { clock_of(life) } else { 0 }));
            ask(lives(2).filter(|life| life.shaken).map(|life| bins_of(life) ^ newest_of(life)));
            let looked_at = |life| likely_due(life, now, self.origin).chain(next_due(life));
            ask(lives(2).flat_map(looked_at).map(|entry| word_of(self.pages.at(entry.page))));
            let group = |life| looked_at(life).map(|entry| group_of(life, self.pages.at(entry.page)));
            ask(lives(3).flat_map(group));
        }
    }

    pub(super) fn ask_for_pages(&self, numbers: impl Iterator<Item = u32>) {
        if !self.lies_near() {
            ask(numbers.map(|number| word_of(self.pages.at(number))));
        }
    }

    /// Asks for what it takes to draw the next pages, from a step on: to see that they are worth what they were, to let them go,
    /// and to let others lead on.
    pub(super) fn ask_for_heads(&mut self, after: u64, coming: &mut Coming) {
        if self.lies_near() {
            return;
        }
        // What the first rung holds is known when somebody has asked.
        self.heads.first_from(after);
        for wave in waves_before(coming.batches, WAVES_OF_HEADS) {
            let known = if coming.batches == 0 { wave } else { WAVES_OF_HEADS - 1 };
            let more = self.heads.likely_from(after).skip(known * AHEAD).take(AHEAD);
            coming.pages.extend(more.map(number_of));
            self.ask_for_wave_of_heads(&coming.pages, wave);
        }
        coming.batches += 1;
    }

    fn ask_for_wave_of_heads(&self, pages: &[u32], wave: usize) {
        let pages = |before| batch(pages, wave, before).iter().map(|&number| self.pages.at(number));
        ask(pages(0).map(word_of));
        let lives = |before| pages(before).map(|page| (page, &self.sites[page.site as usize]));
        ask(lives(1).map(|(_, life)| words_of(life)));
        let train = |page: &Page, life| train_of(life, page).map_or(0, words_of_train);
        let lists = |life: &Site| ladder_of(life) ^ older_of(life);
        ask(lives(2).map(|(page, life)| train(page, life) ^ group_of(life, page) ^ lists(life) ^ bucket_of(life, page)));
        let next = |before| lives(before).filter_map(|(page, life)| Some((train_of(life, page)?.next()?, life)));
        ask(next(3).map(|(number, _)| u64::from(number)));
        ask(next(4).map(|(number, _)| word_of(self.pages.at(number))));
        ask(next(5).map(|(number, life)| bucket_of(life, self.pages.at(number))));
    }

    /// Asks for what it takes to learn of the pages that are likely heard of next.
    pub(super) fn ask_for_heard(&mut self, number: u32) {
        if self.lies_near() {
            return;
        }
        let Some(at) = self.given.hear(number) else { return };
        for wave in waves_before(at, WAVES_OF_HEARD) {
            let pages = |before| batch(&self.given.pages, wave, before).iter().map(|&number| self.pages.at(number));
            ask(pages(0).map(word_of));
            let lives = |before| pages(before).map(|page| (page, &self.sites[page.site as usize]));
            ask(lives(1).map(|(_, life)| words_of(life)));
            ask(lives(2).map(|(page, life)| clock_of(life) ^ group_of(life, page)));
            ask(lives(3).map(|(_, life)| bins_of(life)));
        }
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
    let lists = life.older.len() ^ life.buckets.len() ^ life.groups.len() ^ life.ladder.standing() as usize;
    let times = life.dial.edge.to_bits() ^ life.queued.to_bits();
    lists as u64 ^ times ^ u64::from(life.all.compared) ^ u64::from(life.shaken) ^ u64::from(life.clock.is_some())
}

/// A word of each line of the lists that are walked through whenever somebody attends to it.
fn lists_of(life: &Site) -> u64 {
    let trains = if life.is_unled { trains_of(life) } else { 0 };
    let groups = if life.stale || life.moved { groups_of(life) } else { 0 };
    let buckets = all(life.buckets.iter().map(|bucket| u64::from(bucket.head.to_bits())));
    buckets ^ older_of(life) ^ ladder_of(life) ^ trains ^ groups
}

fn ladder_of(life: &Site) -> u64 {
    life.ladder.head().unwrap_or(0) ^ life.ladder.foot().unwrap_or(0)
}

/// Where pages of sites without a clock wait: who comes is put to the end, and finds its way from there.
fn older_of(life: &Site) -> u64 {
    let entries = life.older.as_slice();
    let lines = entries.iter().step_by(ENTRIES_PER_LINE).take(LIST_LINES_MAX).chain(entries.last());
    all(lines.map(|entry| u64::from(entry.page)))
}

fn trains_of(life: &Site) -> u64 {
    all(life.trains.iter().map(words_of_train))
}

/// Words from one end of a train to the other.
fn words_of_train(train: &Train) -> u64 {
    u64::from(train.group()) ^ train.followers().len() as u64
}

fn bucket_of(life: &Site, page: &Page) -> u64 {
    let bucket = life.bucket_of(page.last_day(), 0);
    bucket.map_or(0, |index| u64::from(life.buckets[index].head.to_bits()))
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
