//! All that is known of pages and sites: what is believed of each, what a visit to it is worth, and what visits teach.

use std::collections::BTreeMap;

use vernal_model::{Moment, PageKey, TopicId, TopicOf};

use super::belief::{Beliefs, Compared};
use super::page::{Page, State};
use super::page_state::evidence_from;
use super::pages::Pages;
use super::queue::DirtySites;
use super::rule::{Rule, Timing};
use super::sites::Sites;
use super::time::{days, seconds};
use super::value::{Valuer, Worth};
use crate::estimate::Gamma;
use crate::schedule::allocation::Wanted;
use crate::{Held, TopicRates, View};

/// Evidence counts half after this many days: rates drift.
const EVIDENCE_HALF_LIFE_DAYS: f64 = 365.0;

#[derive(Clone, Debug)]
pub struct Model {
    pub pages: Pages,
    pub sites: Sites,
    pub beliefs: Beliefs,
    pub valuer: Valuer,
    /// Sites of which something changed that the queue has to follow.
    pub dirty: DirtySites,
    /// Visits heard of, ever: of two memories the one with more is newer.
    pub visits: u64,
}

/// A visit that could be compared with the one before.
#[derive(Copy, Clone, Debug)]
pub struct ComparedVisit {
    /// In days.
    pub last: f64,
    pub now: f64,
    pub changed: bool,
    /// When the page last changed, where the site's word for it has proved good.
    pub dated: Option<f64>,
}

impl Model {
    pub fn new(rule: Rule) -> Self {
        Model {
            pages: Pages::default(),
            sites: Sites::new(rule.site_clock),
            beliefs: Beliefs::new(&rule),
            valuer: Valuer::new(rule),
            dirty: DirtySites::default(),
            visits: 0,
        }
    }

    pub fn rule(&self) -> &Rule {
        &self.valuer.rule
    }

    /// What decides the value of a page at any time, put together once.
    pub fn worth(&self, number: u32, page: &Page) -> Worth {
        self.valuer.worth(number, page, self.beliefs.rate(page, self.sites.at(page.site)))
    }

    pub fn value(&self, number: u32, page: &Page, operational: f64) -> f64 {
        self.worth(number, page).curve(operational).value
    }

    /// The operational time since the last visit of a page, by the clock itself.
    pub fn operational(&self, number: u32, page: &Page, now: f64) -> f64 {
        let last = page.last_day();
        let elapsed = match &self.sites.at(page.site).clock {
            Some(clock) if now > last => clock.operational(last, now),
            _ => (now - last).max(0.0),
        };
        elapsed + self.valuer.hinted(number).unwrap_or(0.0)
    }

    /// How likely a page is up to date after this operational time.
    pub fn fresh(&self, page: &Page, operational: f64) -> f64 {
        self.beliefs.fresh(page, self.sites.at(page.site), operational)
    }

    /// Whether a page differs from others of its path group and importance by its last visit alone. Pages of sites that are not
    /// known have nothing in common, and where bytes count no two weigh the same.
    pub fn differs_by_visit_alone(&self, number: u32) -> bool {
        let (page, rule) = (self.pages.at(number), self.rule());
        let by_belief = rule.timing == Timing::Value && !rule.known_rates && !self.valuer.counts_bytes;
        by_belief && page.site > 0 && page.is_unobserved() && self.valuer.hinted(number).is_none()
    }

    /// Takes note of what a view says beyond this moment; whether all values are others now.
    pub fn look(&mut self, view: &dyn View) -> bool {
        if let Some(mean) = view.mean_rate() {
            self.beliefs.global.told = Some(mean);
        }
        let has_changed = self.valuer.look(view);
        if has_changed {
            self.invalidate_all();
        }
        has_changed
    }

    /// A page is known from now on, and belongs to no list yet.
    pub fn admit(&mut self, held: &Held<'_>, topics: Option<Box<[TopicId]>>) {
        let number = held.page.number;
        let site = self.sites.place_of(held.site);
        let (site, group) = self.sites.admit(site, held.path);
        let page = self.pages.make(held.page);
        *page = Page::default();
        (page.last, page.site, page.group) = (seconds(held.last_visit), site, group);
        page.partition = held.page.partition.0;
        page.set_importance(held.importance);
        page.enter(State::InFlight);
        self.beliefs.importance.count(page.importance_bucket());
        let of_site = self.sites.at_mut(site);
        of_site.pages += 1;
        of_site.sample = number;
        self.share_clock(site);
        let is_taken = |rate: &f64| self.rule().known_rates && rate.is_finite() && *rate >= 0.0;
        match (held.known_rate.filter(is_taken), evidence_from(held.state)) {
            (Some(rate), _) => {
                self.pages.at_mut(number).mark_known();
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
        self.hear_bytes(number, held.wire_bytes);
    }

    /// A page is not known any more; it is in no list. Its topics, if it had any.
    pub fn forget(&mut self, number: u32) -> Option<Box<[TopicId]>> {
        let topics = self.take_topics(number);
        if self.pages.at(number).rate() > 0.0 {
            self.set_rate(number, 0.0);
        }
        let page = *self.pages.at(number);
        if page.bytes().is_some() {
            self.valuer.count_bytes(page.bytes(), None);
        }
        self.beliefs.importance.discount(page.importance_bucket());
        self.sites.dismiss(page.site, page.group);
        self.share_clock(page.site);
        self.valuer.drop_hints(number);
        *self.pages.at_mut(number) = Page::default();
        topics
    }

    /// A page that is in no list goes where its path belongs now.
    pub fn move_to_section(&mut self, number: u32) {
        let page = *self.pages.at(number);
        let Some(section) = self.sites.section_of(page.site, page.group) else { return };
        let topics = self.take_topics(number);
        if page.rate() > 0.0 {
            self.set_rate(number, 0.0);
        }
        self.pages.at_mut(number).site = section;
        self.sites.move_page(number, page.site, section);
        self.share_clock(page.site);
        self.share_clock(section);
        if page.rate() > 0.0 {
            self.set_rate(number, page.rate());
        }
        if let Some(topics) = topics {
            self.put_topics(number, topics);
        }
    }

    /// Hears of a visit, compared or not; before anything else that the visit teaches.
    pub fn hear_visit(&mut self) {
        self.visits += 1;
        self.valuer.hear_visit();
    }

    /// Hears that a page was seen changed or unchanged, a time after the visit before.
    pub fn hear_compared(&mut self, number: u32, visit: ComparedVisit) {
        let ComparedVisit { last, now, changed, dated } = visit;
        let page = *self.pages.at(number);
        let site = self.sites.at(page.site);
        let kept = (-(now - last) / EVIDENCE_HALF_LIFE_DAYS).exp2();
        let (shape, scale) = (f64::from(page.shape) * kept, f64::from(page.scale) * kept);
        let (prior, strength) = (self.beliefs.prior(&page, site), self.beliefs.strength.shape());
        let base = strength / prior;
        let before = Gamma { a: strength + shape, b: base + scale };
        let has_clock = self.rule().site_clock && page.site > 0;
        let site = self.sites.at_mut(page.site);
        if has_clock && site.begin_clock(changed) {
            self.dirty.invalidate_later(page.site);
        }
        let mut times = [0.0; 3];
        let operational = match &mut site.clock {
            None => now - last,
            Some(clock) => {
                clock.roll(last, now);
                times = clock.times(last, now);
                clock.mixed(times, now - last)
            }
        };
        let after = match dated.filter(|&at| changed && at > last && at <= now) {
            Some(at) => {
                before.seen_last_change(site.clock.as_ref().map_or(now - at, |clock| clock.operational(at, now)))
            }
            None if changed => before.seen_changed(operational),
            None => before.seen_unchanged(operational),
        };
        if let Some(clock) = &mut site.clock {
            clock.hear_times(times, before, after.mean(), (last, now), changed);
        }
        self.beliefs.calibration.hear(1.0 - before.survival(operational), changed);
        if self.beliefs.importance.are_fitted() {
            let survival =
                |strength: f64| Gamma { a: strength + shape, b: strength / prior + scale }.survival(operational);
            self.beliefs.strength.hear(changed, survival);
        }
        let page = self.pages.at_mut(number);
        page.shape = (after.a - strength).max(0.0) as f32;
        page.scale = (after.b - base).max(0.0) as f32;
        self.set_rate(number, after.mean() as f32);
    }

    /// Hears what a page costs on the wire; 0 if it is not known.
    pub fn hear_bytes(&mut self, number: u32, bytes: u64) {
        if bytes > 0 {
            let page = self.pages.at_mut(number);
            let before = page.bytes();
            page.set_bytes(bytes);
            self.valuer.count_bytes(before, page.bytes());
        }
    }

    /// A page takes another importance, and its rate is counted as one of that.
    pub fn set_importance(&mut self, number: u32, importance: f32) {
        let rate = self.pages.at(number).rate();
        self.count_rate(number, rate, 0.0);
        let page = self.pages.at_mut(number);
        self.beliefs.importance.discount(page.importance_bucket());
        page.set_importance(importance);
        self.beliefs.importance.count(page.importance_bucket());
        self.count_rate(number, 0.0, rate);
    }

    pub fn set_topics(&mut self, page: PageKey, topics: &[TopicOf]) {
        self.take_topics(page.number);
        self.put_topics(page.number, topics.iter().map(|of| of.topic).collect());
    }

    /// Hears what the topics of all partitions showed.
    pub fn hear_topic_rates(&mut self, rates: &[TopicRates]) {
        let changed = self.beliefs.topics.hear_all(rates, self.beliefs.global.mean);
        self.invalidate_unobserved(changed);
    }

    /// Fits the priors of a site and what all sites share, if it is time after one more visit to it.
    pub fn fit(&mut self, site: u32, now: Moment) {
        let today = days(now) as u32;
        if !self.sites.at_mut(site).is_fitting_due(today) {
            return;
        }
        self.fit_importance(today);
        if self.beliefs.global.fit() {
            let changed = self.beliefs.topics.settle(self.beliefs.global.mean);
            self.invalidate_unobserved(changed);
            self.invalidate_unobserved(self.sites.those(|_| true));
        }
        let (above, by_path) = (self.beliefs.above_site(site), self.rule().path_priors);
        if self.sites.at_mut(site).fit(above, by_path) {
            self.dirty.mark(site);
        }
    }

    /// Settles the price of an allocation on what is known of all rates now, if it is time.
    pub fn settle_allocation(&mut self) {
        let pages = || self.sites.iter().map(|site| u64::from(site.pages)).sum();
        let Some(allocation) = self.valuer.allocation_due(pages) else { return };
        let mut wanted: Vec<Wanted> = Vec::new();
        self.each_wanted(&mut |page| wanted.push(page));
        self.valuer.allocation_price = allocation.price(&wanted, self.valuer.per_day) as f32;
        self.invalidate_all();
    }

    /// Tells what is known of each page now, as an allocation sees it.
    pub fn each_wanted(&self, hear: &mut dyn FnMut(Wanted)) {
        for number in self.pages.numbers() {
            let page = self.pages.at(number);
            hear(self.valuer.wanted(page, self.beliefs.rate(page, self.sites.at(page.site))));
        }
    }

    /// Takes what was expected of importance buckets, and counts the rates of all pages by it.
    pub fn set_importance_times(&mut self, times: BTreeMap<u8, f32>) {
        let compared: Vec<u32> = self.pages.numbers().filter(|&number| self.pages.at(number).is_compared()).collect();
        for &number in &compared {
            self.count_rate(number, self.pages.at(number).rate(), 0.0);
        }
        self.beliefs.importance.set_times(times);
        for &number in &compared {
            self.count_rate(number, 0.0, self.pages.at(number).rate());
        }
    }

    /// A clock hears how many pages share it whenever one comes or goes, so that it is the same after a restart.
    pub fn share_clock(&mut self, site: u32) {
        let of_site = self.sites.at_mut(site);
        let pages = of_site.pages;
        if of_site.clock.as_mut().is_some_and(|clock| clock.shared_by(pages)) {
            self.dirty.mark(site);
        }
    }

    fn fit_importance(&mut self, today: u32) {
        if self.rule().known_rates || !self.beliefs.importance.is_fitting_due(today) {
            return;
        }
        // They read what is believed of all pages, and are a part of it.
        let mut buckets = std::mem::take(&mut self.beliefs.importance);
        let compared = self.pages.numbers().map(|number| (number, self.pages.at(number)));
        let compared = compared.filter(|(_, page)| page.is_compared()).map(|(number, page)| {
            let siblings = self.beliefs.siblings(page, self.sites.at(page.site));
            (number, Compared { bucket: page.importance_bucket(), rate: page.rate(), siblings })
        });
        let belief = |number, prior| self.beliefs.belief_from(self.pages.at(number), prior).mean();
        let times = buckets.fit(today, compared, belief);
        self.beliefs.importance = buckets;
        let has_moved = times.is_some();
        times.into_iter().for_each(|times| self.set_importance_times(times));
        if self.beliefs.strength.settle() || has_moved {
            self.invalidate_all();
        }
    }

    fn set_rate(&mut self, number: u32, rate: f32) {
        let page = self.pages.at_mut(number);
        let before = page.rate();
        page.set_rate(rate);
        let after = page.rate();
        self.count_rate(number, before, after);
        let changed = self.beliefs.topics.count(number, before, after, self.beliefs.global.mean);
        self.invalidate_unobserved(changed);
    }

    /// Counts another mean rate of a page in its site and in all, 0 being none: what it would be if importance said nothing.
    fn count_rate(&mut self, number: u32, before: f32, after: f32) {
        let page = self.pages.at(number);
        let times = self.beliefs.times_of(page);
        let alike = |rate: f32| if times == 1.0 { rate } else { (f64::from(rate) / times) as f32 };
        let site = self.sites.at_mut(page.site);
        let share = site.share();
        site.count_rate(page.group, alike(before), alike(after));
        self.beliefs.global.count(share, site.share());
    }

    /// A page has no topics any more; those that it had.
    fn take_topics(&mut self, number: u32) -> Option<Box<[TopicId]>> {
        let page = *self.pages.at(number);
        let (topics, changed) = self.beliefs.topics.take(number, page.site, page.rate(), self.beliefs.global.mean);
        self.invalidate_unobserved(changed);
        topics
    }

    fn put_topics(&mut self, number: u32, topics: Box<[TopicId]>) {
        let page = *self.pages.at(number);
        let changed = self.beliefs.topics.put(number, page.site, topics, page.rate(), self.beliefs.global.mean);
        self.invalidate_unobserved(changed);
    }

    /// Sites expect another rate from their topics or from all: pages of those of which nothing was seen go by it.
    fn invalidate_unobserved(&mut self, sites: Vec<u32>) {
        let unobserved = sites.into_iter().filter(|&site| self.sites.at(site).all.mean == 0.0);
        unobserved.for_each(|site| self.dirty.invalidate(site));
    }

    fn invalidate_all(&mut self) {
        let with_pages = self.sites.those(|site| site.pages > 0);
        with_pages.into_iter().for_each(|site| self.dirty.invalidate(site));
    }
}
