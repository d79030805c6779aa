//! Choose a few, learn, choose again: all sampling policies are this one, with another rule, other strata or another
//! sample size.
//!
//! Everything that a cycle knows follows from the pages: when each was visited last, whether as a sample, and what was
//! found. So a restart goes on in the middle of a cycle, and a visit that was made for another reason does no harm.
//! While budget is left no page waits for the sake of a quota: after the planned downloads the next best follow, each
//! page once in a cycle.

use std::collections::{BTreeSet, HashMap};

use vernal_model::{Chance, Moment, PageKey, PolicyState, TopicOf};

use super::cycle::Cycle;
use super::entry::{
    By, Entry, Errand, Last, VISITS_BACK, count, from_state, history_before, is_waiting, state_of, success_of,
};
use super::sizes::{allocation, groups_needed, optimal_sample_size, sample_size};
use super::stratum::{Adaptive, Class, Rank, Rule, SIXTIETHS, Stratum, topic_key};
use crate::estimate::{RecentVisits, z_of};
use crate::pages::Pages;
use crate::schedule::words::Words;
use crate::{Held, Refresh, Seen, TopicSample, View};

/// The share of all pages that the hybrid samples in a cycle (seed 000, 4.3), if that is not over half of the budget.
const HYBRID_SHARE: f64 = 0.1;
/// κ and α of the adaptive policy.
const ADAPTIVE_STEP: u64 = 3;
const ADAPTIVE_CONFIDENCE: f64 = 0.8;

/// How many pages to sample.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Size {
    /// √(N·r).
    Root,
    /// By the optimal formula from what earlier cycles found; √(N·r) before.
    Optimal,
}

#[derive(Clone, Debug)]
pub struct Sampling {
    pub(super) name: &'static str,
    pub(super) rule: Rule,
    pub(super) by: By,
    size: Size,
    in_groups: bool,
    pub(super) by_authority: bool,
    pub(super) pages: Pages<Entry>,
    /// The topics of the pages that have some, where they count.
    pub(super) topics: Pages<Box<[TopicOf]>>,
    /// The strata of pages with several topics, but for the first.
    pub(super) more: Pages<Box<[u32]>>,
    pub(super) cycle: Option<Cycle>,
    pub(super) strata: Vec<Stratum>,
    /// Looked up only, never walked through: its order is chance.
    pub(super) places: HashMap<u64, u32>,
    pub(super) order: BTreeSet<(Rank, u32)>,
    pub(super) adaptive: Adaptive,
    /// Whether a sample was answered since the threshold was found.
    is_new: bool,
    home: usize,
}

impl Sampling {
    pub fn new(name: &'static str, rule: Rule, by: By) -> Self {
        Sampling {
            name,
            rule,
            by,
            size: Size::Root,
            in_groups: false,
            by_authority: false,
            pages: Pages::default(),
            topics: Pages::default(),
            more: Pages::default(),
            cycle: None,
            strata: Vec::new(),
            places: HashMap::new(),
            order: BTreeSet::new(),
            adaptive: Adaptive { step: ADAPTIVE_STEP, z: z_of(ADAPTIVE_CONFIDENCE), threshold: 0.0 },
            is_new: false,
            home: 0,
        }
    }

    pub fn sized(self, size: Size) -> Self {
        Sampling { size, ..self }
    }

    /// For low resources: the strata in groups, one group in each cycle.
    pub fn in_groups(self) -> Self {
        Sampling { in_groups: true, ..self }
    }

    /// Pages with a better reputation on a topic are sampled more often, in proportion to it.
    pub fn by_authority(self) -> Self {
        Sampling { by_authority: true, ..self }
    }

    /// Begins a new cycle if it is time.
    fn turn(&mut self, view: &dyn View, now: Moment) {
        let cycle = Cycle::of(view, now);
        if self.cycle.is_some_and(|current| current.is(&cycle)) {
            return;
        }
        self.cycle = Some(cycle);
        self.strata.clear();
        self.places.clear();
        self.order.clear();
        let mut pages = std::mem::take(&mut self.pages);
        let mut waiting: Vec<(u32, u64, PageKey)> = Vec::with_capacity(pages.len());
        for (page, entry) in pages.iter_mut() {
            self.place(page, entry, cycle);
            let mut nth = 0;
            while let Some(at) = self.stratum_at(page, entry, nth) {
                let lot = self.lot_at(page, entry, nth);
                let stratum = &mut self.strata[at as usize];
                if is_waiting(entry, cycle) {
                    // Sorted in once, below: far cheaper than one by one.
                    stratum.pages += 1;
                    waiting.push((at, lot, page));
                } else {
                    count(stratum, page, entry, lot, cycle, 1);
                }
                nth += 1;
            }
        }
        waiting.sort_unstable();
        for stratum in waiting.chunk_by(|a, b| a.0 == b.0) {
            let pages = stratum.iter().map(|&(_, lot, page)| (lot, page));
            self.strata[stratum[0].0 as usize].waiting = pages.collect();
        }
        self.pages = pages;
        self.plan(cycle);
        self.rank_all();
    }

    /// Sets the sample sizes, and which group has its turn.
    fn plan(&mut self, cycle: Cycle) {
        let (mut share, strata) = (cycle.share, self.strata.len());
        // A page counts in each of its topics (seed 001, 7.1.2).
        let pages = self.strata.iter().map(|stratum| stratum.pages).sum::<u64>() as f64;
        if self.in_groups {
            let groups = groups_needed(1.0, share);
            let own = |stratum: &Stratum| Chance::new(0).numbered(stratum.key).bits();
            let mut order: Vec<usize> = (0..strata).collect();
            // Not by this cycle's lots: the groups stay, and take turns.
            order.sort_by_key(|&at| own(&self.strata[at]));
            for (rank, at) in order.into_iter().enumerate() {
                self.strata[at].is_in_turn = rank as u64 % groups == cycle.number % groups;
            }
            share = (share * groups as f64).min(1.0);
        }
        let mean = pages / strata.max(1) as f64;
        if self.rule == Rule::Hybrid {
            return self.plan_hybrid(cycle, share, pages);
        }
        let size = match self.size {
            Size::Root => None,
            Size::Optimal => optimal_sample_size(mean, share, &self.rates_before(cycle)),
        };
        let size = size.unwrap_or_else(|| sample_size(mean, share));
        for stratum in &mut self.strata {
            // Sites get the same sample, groups of unequal size one in proportion (seed 001, equation 8).
            let factor = if self.by == By::Site { 1.0 } else { stratum.pages as f64 / mean };
            stratum.quota = ((size * factor).round() as u64).clamp(1, stratum.pages.max(1));
        }
    }

    fn plan_hybrid(&mut self, cycle: Cycle, share: f64, pages: f64) {
        let rates = self.rates_before(cycle);
        let in_turn: Vec<usize> = (0..self.strata.len()).filter(|&at| self.strata[at].is_in_turn).collect();
        let sampled = (pages * HYBRID_SHARE.min(share / 2.0)).round().max(1.0) as u64;
        // The first sample is P/W: equal rates give everyone the same.
        let is_first = rates.iter().all(|&rate| rate == 0.0);
        let wanted: Vec<f64> = in_turn.iter().map(|&at| if is_first { 1.0 } else { rates[at] }).collect();
        let lots: Vec<u64> = in_turn.iter().map(|&at| self.strata[at].lot).collect();
        for stratum in &mut self.strata {
            stratum.quota = 0;
        }
        for (&at, quota) in in_turn.iter().zip(allocation(&wanted, sampled, &lots)) {
            self.strata[at].quota = quota;
        }
    }

    /// The mean D/V of each stratum's pages as it was before this cycle.
    fn rates_before(&self, cycle: Cycle) -> Vec<f64> {
        let mut sums = vec![(0u64, 0u64); self.strata.len()];
        for (page, entry) in self.pages.iter() {
            let before = history_before(entry, cycle).newest(VISITS_BACK);
            for at in (0..).map_while(|nth| self.stratum_at(page, entry, nth)).filter(|_| before.visits() > 0) {
                let (success, pages) = &mut sums[at as usize];
                *success += u64::from(success_of(before));
                *pages += 1;
            }
        }
        let mean = |(success, pages): (u64, u64)| success as f64 / f64::from(SIXTIETHS) / pages.max(1) as f64;
        sums.into_iter().map(mean).collect()
    }

    fn rank_all(&mut self) {
        if self.rule == Rule::Adaptive {
            let mut rates: Vec<f64> = self.strata.iter().filter_map(|stratum| stratum.rate(self.rule)).collect();
            let share = self.cycle.map_or(0.0, |cycle| cycle.share);
            self.adaptive.threshold = Adaptive::threshold_of(&mut rates, share);
        }
        self.is_new = false;
        for stratum in &mut self.strata {
            stratum.rank = stratum.ranked(self.rule, self.adaptive);
        }
        self.order = self.strata.iter().enumerate().map(|(at, stratum)| (stratum.rank, at as u32)).collect();
    }

    pub(super) fn rank(&mut self, at: u32) {
        let stratum = &mut self.strata[at as usize];
        let rank = stratum.ranked(self.rule, self.adaptive);
        if rank != stratum.rank {
            self.order.remove(&(stratum.rank, at));
            self.order.insert((rank, at));
            stratum.rank = rank;
        }
    }

    /// Changes what is known of a page, and all that follows from it.
    fn change(&mut self, page: PageKey, change: impl FnOnce(&mut Entry)) {
        let Some(entry) = self.pages.find_mut(page) else { return };
        let before = *entry;
        change(entry);
        let after = *entry;
        self.home = self.home + usize::from(after.out.is_none()) - usize::from(before.out.is_none());
        if let Some(cycle) = self.cycle {
            let mut nth = 0;
            while let Some(at) = self.stratum_at(page, &after, nth) {
                let lot = self.lot_at(page, &after, nth);
                let stratum = &mut self.strata[at as usize];
                count(stratum, page, &before, lot, cycle, -1);
                count(stratum, page, &after, lot, cycle, 1);
                self.rank(at);
                nth += 1;
            }
        }
    }

    fn insert(&mut self, page: PageKey, mut entry: Entry) {
        self.remove(page);
        self.home += 1;
        self.settle(page, &mut entry);
        self.pages.insert(page, entry);
    }

    fn remove(&mut self, page: PageKey) {
        let Some(entry) = self.pages.remove(page) else { return };
        self.home -= usize::from(entry.out.is_none());
        self.unsettle(page, &entry);
    }

    /// The first page of a stratum that may be visited now. `closed` remembers sites without room.
    fn ready_of(&self, at: u32, view: &dyn View, now: Moment, closed: &mut BTreeSet<u32>) -> Option<PageKey> {
        for &(_, page) in &self.strata[at as usize].waiting {
            let Some(entry) = self.pages.find(page) else { continue };
            if entry.last_visit + view.refresh_min() > now || closed.contains(&entry.site) {
                continue;
            }
            if view.has_room(page) {
                return Some(page);
            }
            closed.insert(entry.site);
            if matches!(self.by, By::Site | By::Path) {
                return None;
            }
        }
        None
    }

    /// The same for all pages, in a cycle that has not begun yet.
    fn is_ready_in(&self, cycle: Cycle, view: &dyn View, now: Moment) -> bool {
        self.pages.iter().any(|(page, entry)| {
            let is_free = entry.out.is_none() && entry.last_visit < cycle.start;
            is_free && entry.last_visit + view.refresh_min() <= now && view.has_room(page)
        })
    }
}

impl Refresh for Sampling {
    fn name(&self) -> &'static str {
        self.name
    }

    fn recall(&mut self, held: &Held<'_>) {
        let (recent, last) =
            from_state(held.state).unwrap_or((RecentVisits::default(), Last::Download { compared: false }));
        let entry = Entry {
            site: held.site,
            path: held.path,
            admitted: held.admitted,
            last_visit: held.last_visit,
            recent,
            last,
            out: None,
            stratum: 0,
            lot: 0,
        };
        self.insert(held.page, entry);
    }

    fn choose(&mut self, view: &dyn View, now: Moment, _: &mut Chance) -> Vec<PageKey> {
        self.turn(view, now);
        if self.is_new && self.rule == Rule::Adaptive {
            self.rank_all();
        }
        let mut chosen = Vec::new();
        let mut closed = BTreeSet::new();
        let mut next = self.order.first().copied();
        while let (Some(place @ (_, at)), true) = (next, chosen.len() < view.visits_left()) {
            match self.ready_of(at, view, now, &mut closed) {
                Some(page) => {
                    let is_sample = self.strata[at as usize].class() == Class::Sample;
                    let errand = if is_sample { Errand::Sample } else { Errand::Download };
                    self.change(page, |entry| entry.out = Some(errand));
                    chosen.push(page);
                    // Its rank has sunk or stayed; what stands before it has nothing to give now.
                    next = self.order.range(place..).next().copied();
                }
                None => {
                    let after = (std::ops::Bound::Excluded(place), std::ops::Bound::Unbounded);
                    next = self.order.range(after).next().copied();
                }
            }
        }
        chosen
    }

    fn learn(&mut self, seen: &Seen) -> PolicyState {
        if self.pages.find(seen.page).is_none() {
            let entry = Entry {
                site: u32::MAX,
                path: 0,
                admitted: seen.moment,
                last_visit: seen.moment,
                recent: RecentVisits::default(),
                last: Last::Download { compared: false },
                out: None,
                stratum: 0,
                lot: 0,
            };
            self.insert(seen.page, entry);
        }
        self.change(seen.page, |entry| {
            entry.last_visit = seen.moment;
            entry.last = match entry.out.take() {
                Some(Errand::Sample) => Last::Sample(seen.changed),
                Some(Errand::Download) | None => Last::Download { compared: seen.changed.is_some() },
            };
            if let Some(changed) = seen.changed {
                entry.recent.push(changed);
            }
        });
        self.is_new = true;
        self.pages.find(seen.page).map(state_of).unwrap_or_default()
    }

    fn put_back(&mut self, page: PageKey) {
        self.change(page, |entry| entry.out = None);
    }

    fn forget(&mut self, page: PageKey) {
        self.remove(page);
        self.topics.remove(page);
    }

    fn topics(&mut self, page: PageKey, topics: &[TopicOf]) {
        let known = self.topics.find(page).map_or(&[][..], |known| &known[..]);
        if self.by != By::Topic || *known == *topics {
            return;
        }
        let Some(mut entry) = self.pages.find(page).copied() else { return };
        self.unsettle(page, &entry);
        if topics.is_empty() {
            self.topics.remove(page);
        } else {
            self.topics.insert(page, topics.into());
        }
        self.settle(page, &mut entry);
        self.pages.insert(page, entry);
    }

    fn topic_samples(&self) -> Vec<TopicSample> {
        let Some(cycle) = self.cycle.filter(|_| self.by == By::Topic) else { return Vec::new() };
        let sampled = self.strata.iter().filter(|stratum| stratum.tries > 0);
        let sample = |stratum: &Stratum| {
            let (sampled, changed) = (stratum.tries, stratum.hits);
            Some(TopicSample { cycle: cycle.number, topic: stratum.topic()?, sampled, changed })
        };
        sampled.filter_map(sample).collect()
    }

    fn hear_topic_samples(&mut self, samples: &[TopicSample]) {
        let Some(cycle) = self.cycle.filter(|_| self.by == By::Topic) else { return };
        for sample in samples.iter().filter(|sample| sample.cycle == cycle.number) {
            let Some(&at) = self.places.get(&topic_key(sample.topic)) else { continue };
            let stratum = &mut self.strata[at as usize];
            let elsewhere = (sample.sampled.saturating_sub(stratum.tries), sample.changed.saturating_sub(stratum.hits));
            if std::mem::replace(&mut stratum.elsewhere, elsewhere) != elsewhere {
                self.rank(at);
            }
        }
    }

    fn next_due(&self, view: &dyn View, now: Moment) -> Option<Moment> {
        if self.home == 0 {
            return None;
        }
        let cycle = Cycle::of(view, now);
        let is_ready = match self.cycle {
            Some(current) if current.is(&cycle) => {
                let mut closed = BTreeSet::new();
                self.order.iter().any(|&(_, at)| self.ready_of(at, view, now, &mut closed).is_some())
            }
            _ => self.is_ready_in(cycle, view, now),
        };
        if is_ready {
            return Some(now);
        }
        let mut next = cycle.end();
        if now < cycle.start + view.refresh_min() {
            let unvisited =
                self.pages.iter().filter(|(_, entry)| entry.out.is_none() && entry.last_visit < cycle.start);
            let rested = unvisited.map(|(_, entry)| entry.last_visit + view.refresh_min());
            next = rested.filter(|&rested| rested > now).min().unwrap_or(next).min(next);
        }
        Some(next)
    }

    fn why(&self, page: PageKey, now: Moment) -> Words {
        self.words(page, now)
    }
}
