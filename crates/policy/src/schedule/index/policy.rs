//! The two verbs of the index policies.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, HashMap};

use vernal_model::{Chance, Moment, PageKey, PolicyState, Span, TopicOf};

use super::ladder::ROUNDS;
use super::memory::Shared;
use super::page::{Pages, Place, days, rested_at, seconds};
use super::rule::{Rule, Timing};
use super::site::Site;
use super::topic_pool::TopicPool;
use crate::estimate::{Gamma, Reading, SiteClock};
use crate::{Belief, Held, RateSums, Refresh, Seen, TopicRates, View};

/// Clocks exist for sites with at least so many pages: one has nothing to share.
const CLOCK_PAGES_MIN: u32 = 2;
/// Sites with more pages than this get their clock with the first change seen, and learn enough soon after; smaller
/// ones from the first visit, because they cannot spare what an unchanged page says.
const CLOCK_AT_ONCE_PAGES_MAX: u32 = 64;
/// Evidence counts half after this many days: rates drift.
const EVIDENCE_HALF_LIFE_DAYS: f64 = 365.0;
/// Priors of small sites wait for so many visits within a day.
const UNFITTED_VISITS_MIN: u32 = 16;
/// No site has a number beyond this; pages of those that do stand together.
const SITES_MAX: u32 = 1 << 27;
const FORMAT: u8 = 1;

/// A policy that visits by value; see [`Index::named`] for the names.
#[derive(Clone, Debug)]
pub struct Index {
    pub(super) rule: Rule,
    pub(super) pages: Pages,
    /// By site number plus one; the first is for pages whose site is not known.
    pub(super) sites: Vec<Site>,
    /// The best page on the ladder of each site.
    pub(super) heads: BTreeSet<(u64, u32)>,
    /// Sites with a page at home.
    pub(super) homes: BTreeSet<u32>,
    /// Pages by their last visit, until it is long enough ago.
    pub(super) resting: BTreeSet<(u32, u32)>,
    /// When a page of a site next reaches another rung.
    pub(super) wakes: BinaryHeap<Reverse<(u64, u32)>>,
    /// Sites whose clock, prior or pages changed since they were last looked at.
    pub(super) shaken: Vec<u32>,
    /// Sites that had no room when the floor sank.
    pub(super) behind: Vec<u32>,
    pub(super) floor: u16,
    /// The highest floor that any page may still wait for.
    pub(super) highest: u16,
    /// The lowest rung drawn from in this round of visits and those before, and the visits of this round.
    pub(super) lowest: [u16; ROUNDS],
    pub(super) drawn: u64,
    /// The value of the last visit that was worth one when there were fewer visits than pages; 0 if there were enough.
    pub(super) price: f64,
    /// What all sites share: the mean rate, and the price of an allocation.
    pub(super) shared: Shared,
    /// Hints of change since the last visit, in days that they are worth. Looked up only, never walked through.
    pub(super) hints: HashMap<u32, f32>,
    pub(super) topics: TopicPool,
    /// The instant before which keys of buckets without bins are counted.
    pub(super) origin: f64,
    pub(super) reading: Reading,
    pub(super) read_for: Option<(u32, f64)>,
    pub(super) counts_bytes: bool,
    pub(super) may_abandon: bool,
    /// Σ bytes and pages whose bytes are known.
    pub(super) bytes: (f64, u64),
    pub(super) longest_wait: f64,
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
            rule,
            pages: Pages::default(),
            sites: Vec::new(),
            heads: BTreeSet::new(),
            homes: BTreeSet::new(),
            resting: BTreeSet::new(),
            wakes: BinaryHeap::new(),
            shaken: Vec::new(),
            behind: Vec::new(),
            floor: u16::MAX,
            highest: u16::MAX,
            lowest: [u16::MAX; ROUNDS],
            drawn: 0,
            price: 0.0,
            shared: Shared::default(),
            hints: HashMap::new(),
            topics: TopicPool::default(),
            origin: f64::NAN,
            reading: Reading::default(),
            read_for: None,
            counts_bytes: false,
            may_abandon: false,
            bytes: (0.0, 0),
            longest_wait: super::worth::LONGEST_WAIT_DAYS,
        }
    }

    pub(super) fn site_index(&mut self, site: u32) -> u32 {
        let index = if site < SITES_MAX { site + 1 } else { 0 };
        if self.sites.len() <= index as usize {
            let floor = self.floor;
            self.sites.resize_with(index as usize + 1, || Site::new(floor));
        }
        index
    }

    /// Takes a page out of all lists, so that it can be put anywhere.
    fn unplace(&mut self, number: u32) {
        let page = *self.pages.at(number);
        match page.place {
            Place::Home => self.leave_home(number),
            Place::Resting => {
                self.resting.remove(&(page.last, number));
            }
            Place::Unknown | Place::Out => {}
        }
        self.pages.at_mut(number).place = Place::Out;
    }

    fn rest(&mut self, number: u32) {
        let page = self.pages.at_mut(number);
        page.place = Place::Resting;
        let last = page.last;
        self.resting.insert((last, number));
    }

    fn count_bytes(&mut self, number: u32, bytes: u64) {
        let page = self.pages.at_mut(number);
        let before = page.bytes();
        if bytes > 0 {
            page.set_bytes(bytes);
        }
        let after = page.bytes();
        self.bytes.0 += after.unwrap_or(0.0) - before.unwrap_or(0.0);
        self.bytes.1 = self.bytes.1 + u64::from(after.is_some()) - u64::from(before.is_some());
    }

    /// Hears that a page was seen changed or unchanged, a time after the visit before. `dated` says when it last changed, where
    /// the site's word for it has proved good.
    fn hear(&mut self, number: u32, last: f64, now: f64, changed: bool, dated: Option<f64>) {
        let page = *self.pages.at(number);
        let kept = (-(now - last) / EVIDENCE_HALF_LIFE_DAYS).exp2();
        let (shape, scale) = (f64::from(page.shape) * kept, f64::from(page.scale) * kept);
        let base = 1.0 / self.prior_of(&page);
        let before = Gamma { a: 1.0 + shape, b: base + scale };
        let site = &mut self.sites[page.site as usize];
        let worth_it = site.pages >= CLOCK_PAGES_MIN && (changed || site.pages <= CLOCK_AT_ONCE_PAGES_MAX);
        if self.rule.site_clock && site.clock.is_none() && worth_it && page.site > 0 {
            site.clock = Some(Box::new(SiteClock::default()));
            site.stale = true;
        }
        let o = match &mut site.clock {
            None => now - last,
            Some(clock) => {
                clock.roll(last, now);
                clock.operational(last, now)
            }
        };
        let after = match dated.filter(|&at| changed && at > last && at <= now) {
            Some(at) => {
                before.seen_last_change(site.clock.as_ref().map_or(now - at, |clock| clock.operational(at, now)))
            }
            None if changed => before.seen_changed(o),
            None => before.seen_unchanged(o),
        };
        if let Some(clock) = &mut site.clock {
            clock.hear(before, after.mean(), last, now, changed);
        }
        let page = self.pages.at_mut(number);
        page.shape = (after.a - 1.0).max(0.0) as f32;
        page.scale = (after.b - base).max(0.0) as f32;
        self.set_rate(number, after.mean() as f32);
    }

    fn set_rate(&mut self, number: u32, rate: f32) {
        let page = self.pages.at_mut(number);
        let before = std::mem::replace(&mut page.rate, rate);
        if !self.topics.is_empty() {
            self.topics.set_rate(number, before, rate);
        }
        let (site, group) = (&mut self.sites[page.site as usize], page.group);
        let (share, weighted) = site.share();
        site.count(group, before, rate);
        let (share_now, weighted_now) = site.share();
        self.shared.sums.weight += share_now - share;
        self.shared.sums.weighted += weighted_now - weighted;
    }

    fn state_of(&self, number: u32) -> PolicyState {
        let page = self.pages.at(number);
        if page.rate == 0.0 {
            return PolicyState::default();
        }
        let mut bytes = [FORMAT; 13];
        bytes[1..5].copy_from_slice(&page.shape.to_le_bytes());
        bytes[5..9].copy_from_slice(&page.scale.to_le_bytes());
        bytes[9..].copy_from_slice(&page.rate.to_le_bytes());
        PolicyState::new(&bytes).expect("13 bytes are fewer than a policy may keep")
    }
}

/// Shape, scale and rate as a state holds them: format (1), then each as 4 bytes, little-endian.
fn from_state(state: &PolicyState) -> Option<[f32; 3]> {
    let bytes: &[u8; 13] = state.bytes().try_into().ok()?;
    let part = |from: usize| f32::from_le_bytes([bytes[from], bytes[from + 1], bytes[from + 2], bytes[from + 3]]);
    let parts = [part(1), part(5), part(9)];
    let sound = parts.iter().all(|part| part.is_finite() && (0.0..1e9).contains(part)) && parts[2] > 0.0;
    (bytes[0] == FORMAT && sound).then_some(parts)
}

impl Refresh for Index {
    fn name(&self) -> &'static str {
        self.rule.name
    }

    fn recall(&mut self, held: &Held<'_>) {
        let number = held.page.number;
        let site = self.site_index(held.site);
        let known = self.pages.known(held.page).map(|page| (page.site, page.rate));
        let topics = known.and_then(|(site, rate)| self.topics.take(number, site, rate));
        if known.is_some() {
            self.forget(held.page);
        }
        let group = self.sites[site as usize].group_of(held.path);
        let last = seconds(held.last_visit);
        if self.origin.is_nan() {
            self.origin = days(held.last_visit).floor();
        }
        let page = self.pages.make(held.page);
        *page = super::page::Page {
            last,
            site,
            group,
            importance: held.importance,
            partition: held.page.partition.0,
            place: Place::Out,
            ..Default::default()
        };
        let life = &mut self.sites[site as usize];
        life.pages += 1;
        life.sample = number;
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
            self.topics.put(number, site, self.pages.at(number).rate, topics);
        }
        self.count_bytes(number, held.wire_bytes);
        self.rest(number);
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
                page: seen.page,
                site: u32::MAX,
                path: 0,
                importance: 1.0,
                admitted: seen.moment,
                last_visit: seen.moment,
                wire_bytes: seen.wire_bytes,
                at_least_every: None,
                at_most_every: None,
                known_rate: None,
                state: &PolicyState::default(),
            });
            return PolicyState::default();
        }
        let number = seen.page.number;
        self.unplace(number);
        let now = days(seen.moment);
        let last = self.pages.at(number).last_day();
        let site = self.pages.at(number).site;
        if let Timing::Even(allocation) | Timing::Random(allocation) = self.rule.timing {
            self.settle(allocation);
        }
        if let Some(changed) = seen.changed.filter(|_| now > last && !self.knows(number)) {
            self.fit(site, seen.moment);
            self.hear(number, last, now, changed, seen.last_modified.map(days));
        }
        self.count_bytes(number, seen.wire_bytes);
        self.pages.at_mut(number).last = seconds(seen.moment);
        self.hints.remove(&number);
        self.shared.hear();
        self.sites[site as usize].untold = true;
        self.shake(site);
        self.rest(number);
        self.state_of(number)
    }

    fn put_back(&mut self, page: PageKey) {
        if self.pages.known(page).is_some_and(|page| page.place == Place::Out) {
            self.rest(page.number);
        }
    }

    fn forget(&mut self, page: PageKey) {
        if self.pages.known(page).is_none() {
            return;
        }
        self.unplace(page.number);
        let known = *self.pages.at(page.number);
        self.topics.take(page.number, known.site, known.rate);
        if known.rate > 0.0 {
            self.set_rate(page.number, 0.0);
        }
        if let Some(bytes) = self.pages.at(page.number).bytes() {
            self.bytes = (self.bytes.0 - bytes, self.bytes.1 - 1);
        }
        let site = self.pages.at(page.number).site;
        self.sites[site as usize].pages -= 1;
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
        for &(last, number) in &self.resting {
            let rested = rested_at(last, view.refresh_min());
            if rested > now {
                return Some(rested);
            }
            let site = self.pages.at(number).site;
            if !without_room.contains(&site) && has_room(site) {
                return Some(now);
            }
            without_room.insert(site);
        }
        None
    }

    fn best(&mut self, view: &dyn View, now: Moment) -> Option<f64> {
        self.look(view);
        self.prepare(view, now);
        self.best_value(view, days(now))
    }

    fn rates(&self) -> RateSums {
        self.shared.sums
    }

    fn belief(&self, now: Moment) -> Option<Belief> {
        let now = days(now);
        let mut belief = Belief::default();
        for number in self.pages.numbers() {
            let page = self.pages.at(number);
            let o = self.operational_alone(number, now);
            belief.fresh += f64::from(page.importance) * self.rate_of(page).survival(o);
            belief.weight += f64::from(page.importance);
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
        if self.pages.known(page).is_none_or(|known| known.importance == importance) {
            return;
        }
        let is_home = self.pages.at(page.number).place == Place::Home;
        if is_home {
            self.unplace(page.number);
        }
        self.pages.at_mut(page.number).importance = importance;
        if is_home {
            self.rest(page.number);
        }
    }

    fn hint(&mut self, page: PageKey, worth: Span) {
        if self.pages.known(page).is_none() {
            return;
        }
        *self.hints.entry(page.number).or_default() += worth.days_f64() as f32;
        if self.pages.at(page.number).place == Place::Home {
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
    pages.at_mut(number).scale = super::worth::KNOWN;
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
            self.shake_all();
        }
    }

    /// Fits the priors of a site and what all sites share: once a day, and as soon as the site has had as many visits as it
    /// has pages. A site that is asked often must not wait for the day to pass to be known as lively.
    fn fit(&mut self, site: u32, now: Moment) {
        let today = days(now) as u32;
        let life = &mut self.sites[site as usize];
        life.unfitted += 1;
        let is_due = life.fitted_day != today || life.all.mean == 0.0;
        if !is_due && life.unfitted < life.pages.max(UNFITTED_VISITS_MIN) {
            return;
        }
        life.fitted_day = today;
        life.unfitted = 0;
        if self.shared.fit() {
            let unfitted: Vec<u32> = self.sites_where(|site| site.all.mean == 0.0);
            unfitted.into_iter().for_each(|site| self.shake_stale(site));
        }
        self.fit_topics_of(site);
        let (mean, by_path) = (self.above_site(site), self.rule.path_priors);
        if self.sites[site as usize].fit(mean, by_path) {
            self.shake_stale(site);
        }
    }
}
