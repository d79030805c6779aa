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
use super::trains::{NOBODY, Train, likely_train_of};

/// So many sites or pages are asked for at once: with all waves about as many lines as memory answers at a time. With four times
/// as many the processor waits until it may ask on, and the nearest cache no longer holds what was asked for first.
pub(super) const AHEAD: usize = 2;
/// With fewer pages than this all that is kept of them lies near, and to ask for it costs more than to wait.
const PAGES_MIN: usize = 1 << 17;
/// Entries of a list in one line of memory.
const ENTRIES_PER_LINE: usize = 8;
/// Lines of a list that are worth asking for.
const LIST_LINES_MAX: usize = 4;
/// Groups of a site in a line.
const GROUPS_PER_LINE: usize = 2;
/// After so many pages in a row that were not foreseen it is foreseen anew.
const OTHERS_MAX: usize = 64;
/// So many batches of pages that were drawn are forgotten at once: what was foreseen of an hour must not push out what it needs.
const BATCHES_FORGOTTEN: usize = 32;
/// No train has this place.
const NO_TRAIN: usize = usize::MAX;
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

/// Pages that are likely drawn next, best first.
#[derive(Default)]
pub(super) struct Coming {
    heads: Vec<Head>,
    /// How many of them were drawn or passed over.
    drawn: usize,
    /// How many were drawn in a row that are none of them.
    others: usize,
    waves: usize,
}

/// A page, and what was found on the way to all that it needs.
#[derive(Copy, Clone)]
pub(super) struct Head {
    pub step: u64,
    number: u32,
    pub site: u32,
    /// The place of its train among those of its site, most likely.
    train: usize,
    /// Who leads that train next.
    next: u32,
}

impl Head {
    fn of(step: u64) -> Self {
        Head::of_site(step, 0)
    }

    pub fn of_site(step: u64, site: u32) -> Self {
        Head { step, number: number_of(step), site, train: NO_TRAIN, next: NOBODY }
    }
}

impl Coming {
    /// A page was drawn. Mostly it is the next of them, or one that came to stand before it since.
    pub fn draw(&mut self, number: u32) {
        let near = self.heads.iter().skip(self.drawn).take(AHEAD);
        match near.map(|head| head.number).position(|other| other == number) {
            Some(passed) => (self.drawn, self.others) = (self.drawn + passed + 1, 0),
            None => self.others += 1,
        }
        // Who stood there has gone: it begins anew.
        if self.others > OTHERS_MAX {
            *self = Coming::default();
        }
        if self.drawn >= BATCHES_FORGOTTEN * AHEAD {
            self.heads.drain(..BATCHES_FORGOTTEN * AHEAD);
            self.drawn -= BATCHES_FORGOTTEN * AHEAD;
            self.waves -= BATCHES_FORGOTTEN;
        }
    }
}

/// What lies in the way of somebody who comes in batches: the waves that go out before a batch, each for itself and the ones
/// before it.
fn waves_before(batch: usize, waves: usize) -> Range<usize> {
    if batch == 0 { 0..waves } else { batch + waves - 1..batch + waves }
}

/// A batch of a list, as many before one.
fn batch<T>(list: &[T], batch: usize, before: usize) -> &[T] {
    &list[range_of(list.len(), batch, before)]
}

fn batch_mut<T>(list: &mut [T], batch: usize, before: usize) -> &mut [T] {
    let range = range_of(list.len(), batch, before);
    &mut list[range]
}

fn range_of(len: usize, batch: usize, before: usize) -> Range<usize> {
    let Some(from) = batch.checked_sub(before).map(|batch| batch * AHEAD) else { return 0..0 };
    from.min(len)..(from + AHEAD).min(len)
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

    /// Asks for what says whether a site is woken in vain.
    pub(super) fn ask_for_wake(&self, site: Option<&u32>) {
        site.into_iter().for_each(|&site| ask(&self.sites[site as usize].queued));
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
        if self.lies_near() || coming.waves > coming.drawn / AHEAD + WAVES_OF_HEADS {
            return;
        }
        while coming.waves <= coming.drawn / AHEAD + WAVES_OF_HEADS {
            let from = coming.heads.last().map_or(after, |head| after.max(head.step + 1));
            // What stands there is known when somebody has asked.
            self.heads.first_from(from);
            let more = self.heads.likely_from(from).take(AHEAD);
            coming.heads.extend(more.map(Head::of));
            self.ask_for_wave_of_heads(&mut coming.heads, coming.waves);
            coming.waves += 1;
        }
    }

    /// Asks for sites and their ladders, all at once.
    pub(super) fn ask_for_ladders(&self, sites: &[u32]) {
        if self.lies_near() {
            return;
        }
        let lives = || sites.iter().map(|&site| &self.sites[site as usize]);
        lives().for_each(ask_for_site);
        lives().for_each(ask_for_ladder);
    }

    /// Asks for what it takes to draw a batch of pages, whose sites and ladders were asked for.
    pub(super) fn ask_for_part(&self, heads: &mut [Head], at: usize) {
        if self.lies_near() {
            return;
        }
        for wave in waves_before(at, WAVES_OF_HEADS) {
            self.ask_for_wave_of_heads(heads, wave);
        }
    }

    fn ask_for_wave_of_heads(&self, heads: &mut [Head], wave: usize) {
        for head in batch_mut(heads, wave, 0) {
            ask_for_page(self.pages.at(head.number));
        }
        for head in batch_mut(heads, wave, 1) {
            head.site = self.pages.at(head.number).site;
            ask_for_site(&self.sites[head.site as usize]);
        }
        for head in batch_mut(heads, wave, 2) {
            let (page, life) = (self.pages.at(head.number), &self.sites[head.site as usize]);
            head.train = likely_train_of(page).unwrap_or(NO_TRAIN);
            life.trains.get(head.train).into_iter().for_each(ask_for_train);
            ask_for_group(life, page);
            ask_for_ladder(life);
            ask_for_older(life);
            ask_for_bucket(life, page);
            // Who leads on in a bucket of its own is placed by a reading.
            ask_for_clock(life);
        }
        let train = |head: &Head| self.sites[head.site as usize].trains.get(head.train);
        for head in batch_mut(heads, wave, 3) {
            train(head).and_then(Train::next).into_iter().for_each(ask);
            ask_for_bins(&self.sites[head.site as usize]);
        }
        for head in batch_mut(heads, wave, 4) {
            head.next = train(head).and_then(Train::next).copied().unwrap_or(NOBODY);
            if head.next != NOBODY {
                ask_for_page(self.pages.at(head.next));
            }
        }
        for head in batch_mut(heads, wave, 5).iter().filter(|head| head.next != NOBODY) {
            ask_for_bucket(&self.sites[head.site as usize], self.pages.at(head.next));
        }
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
