//! Memory is asked for ahead of need. What is kept of many pages lies far apart, and who goes from one page to the next
//! waits for memory at each step of the way. So the lines that some pages or sites are about to need are asked for all
//! together first: nobody waits for them, and memory answers them at once. Nothing is read or changed by it.
//!
//! What lies at the end of a way is found only when memory has answered for the step before. So there is a wave for each step: while
//! some pages are asked for, so are the sites of those that were asked for before them, and the lists of those before these.

use std::ops::Range;

use prefetch_index::prefetch_index;

use super::dial::Bucket;
use super::page::Page;
use super::policy::Index;
use super::rungs::number_of;
use super::site::{Entry, Site};
use super::trains::{Train, likely_train_of, train_of};

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
            lives(0).for_each(ask_for_site);
            lives(1).for_each(ask_for_lists);
            // Who is only woken goes by what was read.
            lives(1).filter(|life| life.shaken).for_each(ask_for_clock);
            lives(2).filter(|life| life.shaken).for_each(ask_for_bins);
            let looked_at = |life| likely_due(life, now, self.origin).chain(next_due(life));
            lives(2).flat_map(looked_at).for_each(|entry| ask_for_page(self.pages.at(entry.page)));
            for life in lives(3) {
                looked_at(life).for_each(|entry| ask_for_group(life, self.pages.at(entry.page)));
            }
        }
    }

    pub(super) fn ask_for_pages(&self, numbers: impl Iterator<Item = u32>) {
        if !self.lies_near() {
            numbers.for_each(|number| ask_for_page(self.pages.at(number)));
        }
    }

    /// Asks for what is known of pages like these, which were asked for before.
    pub(super) fn ask_for_groups(&self, numbers: impl Iterator<Item = u32>) {
        if !self.lies_near() {
            let pages = numbers.map(|number| self.pages.at(number));
            pages.for_each(|page| ask_for_group(&self.sites[page.site as usize], page));
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
        pages(0).for_each(ask_for_page);
        let lives = |before| pages(before).map(|page| (page, &self.sites[page.site as usize]));
        lives(1).for_each(|(_, life)| ask_for_site(life));
        for (page, life) in lives(2) {
            likely_train_of(life, page).into_iter().for_each(ask_for_train);
            ask_for_group(life, page);
            ask_for_ladder(life);
            ask_for_older(life);
            ask_for_bucket(life, page);
        }
        let trains = |before| lives(before).filter_map(|(page, life)| Some((train_of(life, page)?, life)));
        trains(3).filter_map(|(train, _)| train.next()).for_each(ask);
        let next = |before| trains(before).filter_map(|(train, life)| Some((self.pages.at(*train.next()?), life)));
        next(4).for_each(|(page, _)| ask_for_page(page));
        next(5).for_each(|(page, life)| ask_for_bucket(life, page));
    }

    /// Asks for what it takes to learn of the pages that are likely heard of next.
    pub(super) fn ask_for_heard(&mut self, number: u32) {
        if self.lies_near() {
            return;
        }
        let Some(at) = self.given.hear(number) else { return };
        for wave in waves_before(at, WAVES_OF_HEARD) {
            let pages = |before| batch(&self.given.pages, wave, before).iter().map(|&number| self.pages.at(number));
            pages(0).for_each(ask_for_page);
            let lives = |before| pages(before).map(|page| (page, &self.sites[page.site as usize]));
            lives(1).for_each(|(_, life)| ask_for_site(life));
            lives(2).for_each(|(page, life)| ask_for_group(life, page));
            lives(2).for_each(|(_, life)| ask_for_clock(life));
            lives(3).for_each(|(_, life)| ask_for_bins(life));
        }
    }
}

/// Asks for the line of memory that a thing begins in. Nobody waits for it.
fn ask<T>(thing: &T) {
    prefetch_index(std::slice::from_ref(thing), 0);
}

/// One page in three lies in two lines.
fn ask_for_page(page: &Page) {
    ask(&page.shape);
    ask(&page.partition);
}

fn ask_for_site(life: &Site) {
    ask(&life.clock);
    ask(&life.ladder);
    ask(&life.trains);
    ask(&life.all);
}

/// The lists that are walked through whenever somebody attends to a site.
fn ask_for_lists(life: &Site) {
    if life.is_unled {
        life.trains.iter().for_each(ask_for_train);
    }
    if life.stale || life.moved {
        life.groups.iter().step_by(GROUPS_PER_LINE).for_each(ask);
    }
    life.buckets.iter().for_each(|bucket| ask(&bucket.head));
    ask_for_older(life);
    ask_for_ladder(life);
}

fn ask_for_ladder(life: &Site) {
    life.ladder.lines().for_each(ask);
}

/// Where pages of sites without a clock wait: who comes is put to the end, and finds its way from there.
fn ask_for_older(life: &Site) {
    let entries = life.older.as_slice();
    entries.iter().step_by(ENTRIES_PER_LINE).take(LIST_LINES_MAX).chain(entries.last()).for_each(ask);
}

fn ask_for_train(train: &Train) {
    let (one, other) = train.ends();
    ask(one);
    ask(other);
}

fn ask_for_bucket(life: &Site, page: &Page) {
    let bucket = life.bucket_of(page.last_day(), 0);
    bucket.into_iter().for_each(|index| ask(&life.buckets[index].head));
}

/// A page's group, and not all others.
fn ask_for_group(life: &Site, page: &Page) {
    life.group(page.group).into_iter().for_each(ask);
}

fn ask_for_clock(life: &Site) {
    life.clock.iter().flat_map(|clock| clock.lines()).for_each(ask);
}

/// The bins of a site's clock, and where pages that were visited just now come to wait.
fn ask_for_bins(life: &Site) {
    life.clock.iter().flat_map(|clock| clock.lines_of_bins()).for_each(ask);
    life.buckets.last().and_then(|bucket| bucket.pages.as_slice().last()).into_iter().for_each(ask);
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
