//! The two verbs of the index policies.

use std::collections::{BTreeSet, HashMap};

use vernal_model::{Chance, Moment, PageKey, PolicyState, Span, TopicOf};

use super::firmness::Firmness;
use super::floor::{Rounds, Sinking};
use super::heads::Heads;
use super::learning::from_state;
use super::memory::Shared;
use super::octaves::Octaves;
use super::page::{KNOWN, Page, Place, days, rested_at, seconds};
use super::pieces::Pages;
use super::resting::{Rest, Resting};
use super::rule::{Rule, Timing};
use super::rungs::Rungs;
use super::site::{Entry, Site};
use super::topic_pool::TopicPool;
use super::wakes::Wakes;
use crate::estimate::Reading;
use crate::{Belief, Best, Held, RateSums, Refresh, Seen, TopicRates, View};

/// No site has a number beyond this; pages of those that do stand together.
const SITES_MAX: u32 = 1 << 27;

/// A policy that visits by value; see [`Index::named`] for the names.
#[derive(Clone, Debug)]
pub struct Index {
    pub(super) rule: Rule,
    pub(super) pages: Pages,
    /// Sites and sections; the first is for pages whose site is not known.
    pub(super) sites: Vec<Site>,
    /// Where each site is among these, by its number; 0 if it was not met.
    pub(super) site_places: Vec<u32>,
    /// Sites of which sections began, and whose pages have yet to move.
    pub(super) splitting: Vec<u32>,
    pub(super) heads: Heads,
    /// Sites with a page at home.
    pub(super) homes: BTreeSet<u32>,
    pub(super) resting: Resting,
    /// Pages that were taken up and not yet looked at.
    pub(super) recalled: Vec<u32>,
    /// When a page of a site next reaches another rung.
    pub(super) wakes: Wakes,
    /// Sites whose clock, prior or pages changed since they were last looked at.
    pub(super) shaken: Vec<u32>,
    /// Sites that had no room when the floor sank.
    pub(super) behind: Vec<u32>,
    pub(super) floor: u16,
    pub(super) rounds: Rounds,
    pub(super) sinking: Sinking,
    /// The value of the last visit that was worth one when there were fewer visits than pages; 0 if there were enough.
    pub(super) price: f64,
    /// What all sites share: the mean rate, and the price of an allocation.
    pub(super) shared: Shared,
    /// Hints of change since the last visit, in days that they are worth. Looked up only, never walked through.
    pub(super) hints: HashMap<u32, f32>,
    pub(super) topics: TopicPool,
    pub(super) octaves: Octaves,
    pub(super) firmness: Firmness,
    /// The instant before which keys of buckets without bins are counted.
    pub(super) origin: f64,
    pub(super) rungs: Rungs,
    /// The last clock that was read: of which site, and when.
    pub(super) reading: Reading,
    pub(super) read_for: Option<(u32, f64)>,
    /// Room for the pages that a site gives out, kept between sites.
    pub(super) moving: Vec<Entry>,
    pub(super) counts_bytes: bool,
    pub(super) may_abandon: bool,
    /// Σ bytes and pages whose bytes are known.
    pub(super) bytes: (f64, u64),
    pub(super) longest_wait: f64,
    /// Looks at pages, for whoever holds them against visits.
    #[cfg(test)]
    pub(super) looks: u64,
}

impl Index {
    pub const VERNAL: &'static str = Rule::VERNAL;
    pub const BAYES: &'static str = Rule::BAYES;
    pub const INDEX: &'static str = Rule::INDEX;
    pub const HINDSIGHT: &'static str = Rule::HINDSIGHT;
    pub const OPTIMAL: &'static str = Rule::OPTIMAL;
    pub const RANDOM_OPTIMAL: &'static str = Rule::RANDOM_OPTIMAL;
    pub const LAMBDA: &'static str = Rule::LAMBDA;

    /// The policy of this name, or of `name:objective`; `None` if there is none.
    pub fn named(text: &str) -> Option<Self> {
        Rule::named(text).map(Index::new)
    }

    pub(super) fn new(rule: Rule) -> Self {
        Index {
            rungs: Rungs::apart(rule.rung),
            rule,
            pages: Pages::default(),
            sites: vec![Site::new(u16::MAX)],
            site_places: Vec::new(),
            splitting: Vec::new(),
            heads: Heads::default(),
            homes: BTreeSet::new(),
            resting: Resting::default(),
            recalled: Vec::new(),
            wakes: Wakes::default(),
            shaken: Vec::new(),
            behind: Vec::new(),
            floor: u16::MAX,
            rounds: Rounds::default(),
            sinking: Sinking::default(),
            price: 0.0,
            shared: Shared::default(),
            hints: HashMap::new(),
            topics: TopicPool::default(),
            octaves: Octaves::default(),
            firmness: Firmness::default(),
            origin: f64::NAN,
            reading: Reading::default(),
            read_for: None,
            moving: Vec::new(),
            counts_bytes: false,
            may_abandon: false,
            bytes: (0.0, 0),
            longest_wait: super::worth::LONGEST_WAIT_DAYS,
            #[cfg(test)]
            looks: 0,
        }
    }

    pub(super) fn site_index(&mut self, site: u32) -> u32 {
        if site >= SITES_MAX {
            return 0;
        }
        let place = site as usize;
        if self.site_places.len() <= place {
            self.site_places.resize(place + 1, 0);
        }
        if self.site_places[place] == 0 {
            self.site_places[place] = self.new_site();
        }
        self.site_places[place]
    }

    /// Takes a page out of all lists, so that it can be put anywhere.
    pub(super) fn unplace(&mut self, number: u32) {
        let page = *self.pages.at(number);
        match page.place() {
            Place::Home | Place::Following => {
                if self.leave_home(number) {
                    self.shake(page.site);
                }
                self.show_head(page.site);
            }
            Place::Resting | Place::Recalled | Place::Unknown | Place::Out => {}
        }
        self.pages.at_mut(number).go(Place::Out);
    }

    pub(super) fn is_home(&self, number: u32) -> bool {
        matches!(self.pages.at(number).place(), Place::Home | Place::Following)
    }

    pub(super) fn rest(&mut self, number: u32) {
        let page = self.pages.at_mut(number);
        page.go(Place::Resting);
        self.resting.insert(Rest { site: page.site, last: page.last, number });
    }
}

impl Refresh for Index {
    fn name(&self) -> &'static str {
        self.rule.name
    }

    fn recall(&mut self, held: &Held<'_>) {
        let number = held.page.number;
        let site = self.site_index(held.site);
        let mut topics = None;
        if self.pages.known(held.page).is_some() {
            topics = self.take_topics(number);
            self.forget(held.page);
        }
        let last = seconds(held.last_visit);
        let (site, group) = self.admit(site, held.path);
        if self.origin.is_nan() {
            self.origin = days(held.last_visit).floor();
        }
        let page = self.pages.make(held.page);
        *page = Page::default();
        (page.last, page.site, page.group) = (last, site, group);
        page.partition = held.page.partition.0;
        page.set_importance(held.importance);
        self.octaves.count(page.octave());
        page.go(Place::Out);
        let life = &mut self.sites[site as usize];
        life.pages += 1;
        life.sample = number;
        self.share_clock(site);
        let known = held.known_rate.filter(|rate| self.rule.known_rates && rate.is_finite() && *rate >= 0.0);
        match (known, from_state(held.state)) {
            (Some(rate), _) => {
                page_known(&mut self.pages, number);
                self.set_rate(number, rate.max(f64::from(f32::MIN_POSITIVE)) as f32);
            }
            (None, Some([shape, scale, rate])) => {
                let page = self.pages.at_mut(number);
                (page.shape, page.scale) = (shape, scale);
                self.set_rate(number, rate);
            }
            (None, None) => {}
        }
        if let Some(topics) = topics {
            self.put_topics(number, topics);
        }
        self.count_bytes(number, held.wire_bytes);
        self.pages.at_mut(number).go(Place::Recalled);
        self.recalled.push(number);
    }

    fn choose(&mut self, view: &dyn View, now: Moment, _: &mut Chance) -> Vec<PageKey> {
        self.look(view);
        let now_days = days(now);
        self.prepare(view, now);
        self.draw(view, now_days)
    }

    fn learn(&mut self, seen: &Seen) -> PolicyState {
        if self.pages.known(seen.page).is_none() {
            self.recall(&Held {
                wire_bytes: seen.wire_bytes,
                ..Held::new(seen.page, u32::MAX, seen.moment, &PolicyState::default())
            });
            return PolicyState::default();
        }
        let number = seen.page.number;
        self.unplace(number);
        self.move_to_section(number);
        let (now, page) = (days(seen.moment), *self.pages.at(number));
        let (last, site) = (page.last_day(), page.site);
        if let Timing::Even(allocation) | Timing::Random(allocation) = self.rule.timing {
            self.settle(allocation);
        }
        if let Some(changed) = seen.changed.filter(|_| now > last && !page.is_known()) {
            self.fit(site, seen.moment);
            self.hear(number, last, now, changed, seen.last_modified.map(days));
        }
        self.count_bytes(number, seen.wire_bytes);
        self.pages.at_mut(number).last = seconds(seen.moment);
        if !self.hints.is_empty() {
            self.hints.remove(&number);
        }
        self.shared.hear();
        let whole = self.whole(site);
        self.sites[whole as usize].untold = true;
        self.shake(site);
        self.rest(number);
        self.state_of(number)
    }

    fn put_back(&mut self, page: PageKey) {
        if self.pages.known(page).is_some_and(|page| page.place() == Place::Out) {
            self.move_to_section(page.number);
            self.rest(page.number);
        }
    }

    fn forget(&mut self, page: PageKey) {
        if self.pages.known(page).is_none() {
            return;
        }
        self.unplace(page.number);
        self.take_topics(page.number);
        if self.pages.at(page.number).rate() > 0.0 {
            self.set_rate(page.number, 0.0);
        }
        if let Some(bytes) = self.pages.at(page.number).bytes() {
            self.bytes = (self.bytes.0 - bytes, self.bytes.1 - 1);
        }
        let Page { site, group, .. } = *self.pages.at(page.number);
        self.octaves.discount(self.pages.at(page.number).octave());
        self.dismiss(site, group);
        self.hints.remove(&page.number);
        *self.pages.at_mut(page.number) = Default::default();
    }

    fn next_due(&self, view: &dyn View, now: Moment) -> Option<Moment> {
        let has_room = |site: u32| {
            let sample = self.sites[site as usize].sample;
            self.pages.get(sample).is_some_and(|_| view.has_room(self.pages.key(sample)))
        };
        if self.homes.iter().any(|&site| has_room(site)) {
            return Some(now);
        }
        let mut without_room = BTreeSet::new();
        let mut is_open = |number: u32| {
            let site = self.pages.at(number).site;
            let is_open = !without_room.contains(&site) && has_room(site);
            if !is_open {
                without_room.insert(site);
            }
            is_open
        };
        let mut first = None;
        for (last, number) in self.rests() {
            let rested = rested_at(last, view.refresh_min());
            if rested > now {
                first = Some(rested);
                break;
            }
            if is_open(number) {
                return Some(now);
            }
        }
        // Where a crawl begins these are all pages: they are not put in order for whoever asks when the first is due.
        for (last, number) in self.to_take_up() {
            let rested = rested_at(last, view.refresh_min());
            if rested <= now && is_open(number) {
                return Some(now);
            }
            if rested > now && first.is_none_or(|first| rested < first) {
                first = Some(rested);
            }
        }
        first
    }

    fn best(&mut self, view: &dyn View, now: Moment) -> Option<f64> {
        self.look(view);
        self.prepare(view, now);
        self.best_value(view, days(now))
    }

    /// A floor that sinks for somebody who only compares makes all pages climb the rungs that it sank.
    fn best_at_most(&mut self, view: &dyn View, now: Moment) -> Option<Best> {
        self.look(view);
        self.prepare(view, now);
        Some(match self.whole_head(view, days(now)) {
            Some(number) => Best::Exactly(self.worth_as_head(number, days(now))),
            None => Best::AtMost(self.rungs.worth_of(self.floor)),
        })
    }

    fn rates(&self) -> RateSums {
        self.shared.sums
    }

    fn belief(&self, now: Moment) -> Option<Belief> {
        let now = days(now);
        let mut belief = Belief::default();
        for number in self.pages.numbers() {
            let page = self.pages.at(number);
            let o = self.operational_as_read(number, now);
            belief.fresh += f64::from(page.importance()) * self.fresh_now(page, o);
            belief.weight += f64::from(page.importance());
            belief.pages += 1;
        }
        Some(belief)
    }

    fn site_state(&mut self, site: u32) -> Option<Vec<u8>> {
        let index = self.site_index(site);
        std::mem::take(&mut self.sites[index as usize].untold).then(|| self.site_bytes(index))
    }

    fn recall_site(&mut self, site: u32, state: &[u8]) {
        let index = self.site_index(site);
        self.take_site_bytes(index, state);
    }

    fn weigh(&mut self, page: PageKey, importance: f32) {
        if !self.pages.known(page).is_some_and(|page| page.is_another_importance(importance)) {
            return;
        }
        let is_home = self.is_home(page.number);
        if is_home {
            self.unplace(page.number);
        }
        self.take_importance(page.number, importance);
        if is_home {
            self.rest(page.number);
        }
    }

    fn hint(&mut self, page: PageKey, worth: Span) {
        if self.pages.known(page).is_none() {
            return;
        }
        *self.hints.entry(page.number).or_default() += worth.days_f64() as f32;
        if self.is_home(page.number) {
            self.unplace(page.number);
            self.rest(page.number);
        }
    }

    fn topics(&mut self, page: PageKey, topics: &[TopicOf]) {
        self.set_topics(page, topics);
    }

    fn topic_rates(&self) -> Vec<TopicRates> {
        self.own_topic_rates()
    }

    fn hear_topic_rates(&mut self, rates: &[TopicRates]) {
        self.hear_all_topic_rates(rates);
    }

    fn why(&self, page: PageKey, now: Moment) -> Vec<(String, String)> {
        if self.pages.known(page).is_none() { Vec::new() } else { self.reasons(page.number, now) }
    }
}

fn page_known(pages: &mut Pages, number: u32) {
    pages.at_mut(number).scale = KNOWN;
}

impl Index {
    /// Takes note of what a view says beyond this moment.
    fn look(&mut self, view: &dyn View) {
        if let Some(mean) = view.mean_rate() {
            self.shared.told = Some(mean);
        }
        self.shared.per_day = view.per_day();
        let held = view.held().max(1) as f64;
        let turn = if view.per_day() > 0.0 { held / view.per_day() } else { 0.0 };
        self.longest_wait = super::worth::LONGEST_WAIT_DAYS.max(super::worth::LONGEST_WAIT_TURNS * turn);
        if (view.counts_bytes(), view.may_abandon()) != (self.counts_bytes, self.may_abandon) {
            (self.counts_bytes, self.may_abandon) = (view.counts_bytes(), view.may_abandon());
            if self.counts_bytes {
                self.part_trains();
            }
            self.shake_all();
        }
    }
}
