//! Choose a few, learn, choose again: all sampling policies are this one, with another rule, other strata or another
//! sample size.
//!
//! Everything that a cycle knows follows from the pages: when each was visited last, whether as a sample, and what was
//! found. So a restart goes on in the middle of a cycle, and a visit that was made for another reason does no harm.
//! While budget is left no page waits for the sake of a quota: after the planned downloads the next best follow, each
//! page once in a cycle, unless pages may come again.

use std::collections::{BTreeSet, HashMap};

use vernal_model::{Chance, Moment, PageKey, PolicyState, TopicOf};

use super::cycle::Cycle;
use super::entry::{By, Entry, Errand, Kept, Last, Place, count, from_state, is_waiting, state_of};
use super::stratum::{Adaptive, Class, Rank, Rule, Stratum, topic_key};
use super::terms::SamplingTerms;
use super::why::words;
use crate::estimate::{RecentVisits, z_of};
use crate::pages::Pages;
use crate::schedule::words::Words;
use crate::{Held, Refresh, Sampled, SamplingCycle, Seen, TopicSample, Topical, View};

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
    pub(super) size: Size,
    pub(super) terms: SamplingTerms,
    pub(super) in_groups: bool,
    pub(super) by_authority: bool,
    pub(super) come_again: bool,
    pub(super) pages: Pages<Entry>,
    /// The topics of the pages that have some, where they count.
    pub(super) topics: Pages<Box<[TopicOf]>>,
    /// The strata of pages with several topics, but for the first.
    pub(super) more: Pages<Box<[u32]>>,
    pub(super) cycle: Option<Cycle>,
    pub(super) strata: Vec<Stratum>,
    /// Looked up only, never walked through: its order is chance.
    pub(super) places: HashMap<u64, u32>,
    /// Strata with pages that wait, by their rank.
    pub(super) order: BTreeSet<(Rank, u32)>,
    pub(super) adaptive: Adaptive,
    /// Whether a sample was answered since the threshold was found.
    pub(super) is_new: bool,
    /// Pages that are not in flight.
    waiting: usize,
}

impl Sampling {
    pub fn new(name: &'static str, rule: Rule, by: By, terms: SamplingTerms) -> Self {
        Sampling {
            name,
            rule,
            by,
            size: Size::Root,
            terms,
            in_groups: false,
            by_authority: false,
            come_again: false,
            pages: Pages::default(),
            topics: Pages::default(),
            more: Pages::default(),
            cycle: None,
            strata: Vec::new(),
            places: HashMap::new(),
            order: BTreeSet::new(),
            adaptive: Adaptive { step: terms.step, z: z_of(terms.confidence), threshold: 0.0 },
            is_new: false,
            waiting: 0,
        }
    }

    pub fn sized(self, size: Size) -> Self {
        Sampling { size, ..self }
    }

    /// For low resources: the strata in groups, one group in each cycle.
    pub fn in_groups(self) -> Self {
        Sampling { in_groups: true, ..self }
    }

    /// Downloads are drawn from all pages of a stratum that were not sampled, those that were downloaded in this cycle included.
    pub fn with_repeats(self) -> Self {
        Sampling { come_again: true, ..self }
    }

    /// Pages with a better reputation on a topic are sampled more often, in proportion to it.
    pub fn by_authority(self) -> Self {
        Sampling { by_authority: true, ..self }
    }

    /// Changes what is known of a page, and all that follows from it.
    fn change(&mut self, page: PageKey, change: impl FnOnce(&mut Entry)) {
        let Some(entry) = self.pages.find_mut(page) else { return };
        let before = *entry;
        change(entry);
        let mut after = *entry;
        if let Some(cycle) = self.cycle.filter(|_| self.come_again) {
            after.lot = self.lot_in(page, &after, cycle);
            self.pages.insert(page, after);
        }
        self.waiting = self.waiting + usize::from(after.errand.is_none()) - usize::from(before.errand.is_none());
        if let Some(cycle) = self.cycle {
            let mut nth = 0;
            while let Some(at) = self.stratum_at(page, &after, nth) {
                let lots = [&before, &after].map(|entry| self.lot_at(page, entry, nth));
                let [was, is] = lots.map(|lot| Place { nth, lot });
                let stratum = &mut self.strata[at as usize];
                count(stratum, page, &before, was, cycle, -1);
                count(stratum, page, &after, is, cycle, 1);
                self.rank(at);
                nth += 1;
            }
        }
    }

    /// Whether a page that may come again was visited before in the cycle of this visit.
    fn is_again(&self, seen: &Seen) -> bool {
        let Some(cycle) = self.cycle.filter(|_| self.come_again) else { return false };
        self.pages.find(seen.page).is_some_and(|entry| entry.last_visit >= cycle.start)
    }

    fn insert(&mut self, page: PageKey, mut entry: Entry) {
        self.remove(page);
        self.waiting += 1;
        self.settle(page, &mut entry);
        self.pages.insert(page, entry);
    }

    fn remove(&mut self, page: PageKey) {
        let Some(entry) = self.pages.remove(page) else { return };
        self.waiting -= usize::from(entry.errand.is_none());
        self.unsettle(page, &entry);
    }

    /// The first page of a stratum that may be visited now. `closed` remembers sites without room.
    fn ready_of(&self, at: u32, view: &dyn View, now: Moment, closed: &mut BTreeSet<u32>) -> Option<PageKey> {
        let stratum = &self.strata[at as usize];
        let is_new_wanted = self.come_again && matches!(stratum.class(), Class::Sample | Class::Quiet);
        let mut visited = None;
        for &(_, page) in &stratum.waiting {
            let Some(entry) = self.pages.find(page) else { continue };
            if entry.last_visit + view.refresh_min() > now || closed.contains(&entry.site) {
                continue;
            }
            if view.has_room(page) {
                if !is_new_wanted || self.is_unvisited(entry) {
                    return Some(page);
                }
                visited = visited.or(Some(page));
                continue;
            }
            closed.insert(entry.site);
            if matches!(self.by, By::Site | By::Path) {
                return None;
            }
        }
        visited
    }

    fn is_unvisited(&self, entry: &Entry) -> bool {
        self.cycle.is_none_or(|cycle| entry.last_visit < cycle.start)
    }

    /// The same for all pages, in a cycle that has not begun yet.
    fn is_ready_in(&self, cycle: Cycle, view: &dyn View, now: Moment) -> bool {
        self.pages.iter().any(|(page, entry)| {
            let is_free = is_waiting(entry, cycle, self.come_again);
            is_free && entry.last_visit + view.refresh_min() <= now && view.has_room(page)
        })
    }
}

impl Refresh for Sampling {
    fn name(&self) -> &'static str {
        self.name
    }

    fn recall(&mut self, held: &Held<'_>) {
        let Kept { recent, last, again, drawn_for } = from_state(held.state).unwrap_or_default();
        let entry = Entry {
            site: held.site,
            path: held.path,
            admitted: held.admitted,
            last_visit: held.last_visit,
            recent: recent.newest(self.terms.kept),
            last,
            errand: None,
            drawn_for,
            again,
            stratum: 0,
            lot: 0,
        };
        self.insert(held.page, entry);
    }

    fn choose(&mut self, view: &dyn View, now: Moment, _: &mut Chance) -> Vec<PageKey> {
        self.turn(view, now);
        if self.is_new && self.rule.is_adaptive() {
            self.rank_all();
        }
        let mut chosen = Vec::new();
        let mut closed = BTreeSet::new();
        let mut next = self.order.first().copied();
        while let (Some(place @ (_, at)), true) = (next, chosen.len() < view.visits_left()) {
            match self.ready_of(at, view, now, &mut closed) {
                Some(page) => {
                    let is_unvisited = self.pages.find(page).is_some_and(|entry| self.is_unvisited(entry));
                    let is_sample = is_unvisited && self.strata[at as usize].class() == Class::Sample;
                    let errand = if is_sample { Errand::Sample } else { Errand::Download };
                    let drawn_for = self.pages.find(page).filter(|_| is_sample).and_then(|entry| {
                        let strata = (0..).map_while(|nth| self.stratum_at(page, entry, nth));
                        u8::try_from(strata.take_while(|&one| one != at).count()).ok()
                    });
                    self.change(page, |entry| (entry.errand, entry.drawn_for) = (Some(errand), drawn_for.unwrap_or(0)));
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
                errand: None,
                drawn_for: 0,
                again: 0,
                stratum: 0,
                lot: 0,
            };
            self.insert(seen.page, entry);
        }
        let (is_again, kept) = (self.is_again(seen), self.terms.kept);
        self.change(seen.page, |entry| {
            entry.last_visit = seen.moment;
            let last = match entry.errand.take() {
                Some(Errand::Sample) => Last::Sample(seen.changed),
                Some(Errand::Download) | None => Last::Download { compared: seen.changed.is_some() },
            };
            match is_again {
                true => entry.again = entry.again.saturating_add(1),
                false => (entry.last, entry.again) = (last, 0),
            }
            if let Some(changed) = seen.changed {
                entry.recent.push_among(changed, kept);
            }
        });
        self.is_new = true;
        self.pages.find(seen.page).map(state_of).unwrap_or_default()
    }

    fn put_back(&mut self, page: PageKey) {
        self.change(page, |entry| entry.errand = None);
    }

    fn forget(&mut self, page: PageKey) {
        self.remove(page);
        self.topics.remove(page);
    }

    fn next_due(&self, view: &dyn View, now: Moment) -> Option<Moment> {
        if self.waiting == 0 {
            return None;
        }
        let cycle = Cycle::of(view, now, self.terms.cycle);
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
        if self.come_again || now < cycle.start + view.refresh_min() {
            let unvisited = self.pages.iter().filter(|(_, entry)| is_waiting(entry, cycle, self.come_again));
            let rested = unvisited.map(|(_, entry)| entry.last_visit + view.refresh_min());
            next = rested.filter(|&rested| rested > now).min().unwrap_or(next).min(next);
        }
        Some(next)
    }

    fn why(&self, page: PageKey, now: Moment) -> Words {
        words(self, page, now)
    }

    fn topical(&mut self) -> Option<&mut dyn Topical> {
        Some(self)
    }

    fn sampled(&self) -> Option<&dyn Sampled> {
        Some(self)
    }
}

impl Sampled for Sampling {
    fn cycle(&self) -> Option<SamplingCycle> {
        let cycle = self.cycle?;
        let sum = |part: fn(&Stratum) -> u64| self.strata.iter().map(part).sum();
        Some(SamplingCycle {
            begins: cycle.start,
            ends: cycle.end(),
            share: cycle.share,
            groups: self.strata.len() as u64,
            pages: sum(|stratum| stratum.pages),
            quota: sum(|stratum| stratum.quota),
            sampled: sum(|stratum| stratum.sampled),
            downloaded: sum(|stratum| stratum.taken),
            compared: sum(|stratum| u64::from(stratum.tries)),
            changed: sum(|stratum| u64::from(stratum.hits)),
        })
    }
}

impl Topical for Sampling {
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
}
