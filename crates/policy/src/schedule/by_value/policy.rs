//! The policies by value: what they choose, and what they learn.

use vernal_model::{Chance, Moment, PageKey, PolicyState, Span, TopicOf};

use super::explanation::reasons;
use super::memory::MemoryOfSite;
use super::model::{ComparedVisit, Model};
use super::page::State;
use super::page_state::state_of;
use super::queue::Queue;
use super::rule::Rule;
use super::time::{days, seconds};
use crate::schedule::allocation::Wanted;
use crate::{
    Believing, Best, Held, Hinted, PageBelief, RateSums, Refresh, Seen, SiteMemory, TopicRates, Topical, Valued, View,
    Weighable,
};

/// A policy that visits by value; see [`ByValue::named`] for the names.
#[derive(Clone, Debug)]
pub struct ByValue {
    pub(super) model: Model,
    pub(super) queue: Queue,
    /// The value of the last visit that was worth one when there were fewer visits than pages; 0 if there were enough.
    price: f64,
}

impl ByValue {
    pub const VERNAL: &'static str = Rule::VERNAL;
    pub const BAYES: &'static str = Rule::BAYES;
    pub const INDEX: &'static str = Rule::INDEX;
    pub const HINDSIGHT: &'static str = Rule::HINDSIGHT;
    pub const OPTIMAL: &'static str = Rule::OPTIMAL;
    pub const RANDOM_OPTIMAL: &'static str = Rule::RANDOM_OPTIMAL;
    pub const LAMBDA: &'static str = Rule::LAMBDA;

    /// The policy of this name, or of `name:objective`; `None` if there is none.
    pub fn named(text: &str) -> Option<Self> {
        Rule::named(text).map(ByValue::new)
    }

    fn new(rule: Rule) -> Self {
        ByValue { queue: Queue::new(rule.level_ratio), model: Model::new(rule), price: 0.0 }
    }

    /// Brings everything up to this moment and to what the view says.
    fn prepare(&mut self, view: &dyn View, now: Moment) {
        if self.model.look(view) && self.model.valuer.counts_bytes {
            self.queue.part_groups(&mut self.model);
        }
        self.queue.prepare(&mut self.model, view, now);
    }

    fn is_known(&self, page: PageKey) -> bool {
        self.model.pages.known(page).is_some()
    }

    /// How likely a page is up to date. All that is said of freshness is this, of one page or of many.
    fn fresh(&self, number: u32, now: Moment) -> f64 {
        let operational = self.queue.operational(&self.model, number, days(now));
        self.model.fresh(self.model.pages.at(number), operational)
    }

    /// Lets an eligible page be placed anew.
    fn place_anew(&mut self, number: u32) {
        self.queue.withdraw(&mut self.model, number);
        self.queue.cool_down(&mut self.model, number);
    }
}

impl Refresh for ByValue {
    fn name(&self) -> &'static str {
        self.model.rule().name
    }

    fn recall(&mut self, held: &Held<'_>) {
        let number = held.page.number;
        let mut topics = None;
        if self.is_known(held.page) {
            self.queue.withdraw(&mut self.model, number);
            topics = self.model.forget(number);
        }
        self.model.admit(held, topics);
        self.queue.recall(&mut self.model, number, held.last_visit);
    }

    fn choose(&mut self, view: &dyn View, now: Moment, _: &mut Chance) -> Vec<PageKey> {
        self.prepare(view, now);
        let today = days(now);
        let chosen = self.queue.draw(&mut self.model, view, today);
        if view.visits_left() > 0 {
            let last = chosen.last().filter(|_| chosen.len() == view.visits_left());
            self.price = last.map_or(0.0, |&PageKey { number, .. }| {
                let page = self.model.pages.at(number);
                self.model.value(number, page, self.model.operational(number, page, today))
            });
        }
        chosen
    }

    fn learn(&mut self, seen: &Seen) -> PolicyState {
        if !self.is_known(seen.page) {
            let state = PolicyState::default();
            self.recall(&Held { wire_bytes: seen.wire_bytes, ..Held::new(seen.page, u32::MAX, seen.moment, &state) });
            return state;
        }
        let number = seen.page.number;
        self.queue.withdraw(&mut self.model, number);
        let model = &mut self.model;
        model.move_to_section(number);
        let (now, page) = (days(seen.moment), *model.pages.at(number));
        let (last, site) = (page.last_day(), page.site);
        model.settle_allocation();
        if let Some(changed) = seen.changed.filter(|_| now > last && !page.is_known()) {
            model.fit(site, seen.moment);
            let dated = seen.last_modified.map(days);
            model.hear_compared(number, ComparedVisit { last, now, changed, dated });
        }
        model.hear_bytes(number, seen.wire_bytes);
        model.pages.at_mut(number).last = seconds(seen.moment);
        model.valuer.drop_hints(number);
        model.hear_visit();
        let whole = model.sites.whole(site);
        model.sites.at_mut(whole).has_news = true;
        model.dirty.mark(site);
        self.queue.cool_down(&mut self.model, number);
        state_of(self.model.pages.at(number))
    }

    fn put_back(&mut self, page: PageKey) {
        if self.model.pages.known(page).is_some_and(|page| page.state() == State::InFlight) {
            self.model.move_to_section(page.number);
            self.queue.cool_down(&mut self.model, page.number);
        }
    }

    fn forget(&mut self, page: PageKey) {
        if self.is_known(page) {
            self.queue.withdraw(&mut self.model, page.number);
            self.model.forget(page.number);
        }
    }

    fn next_due(&self, view: &dyn View, now: Moment) -> Option<Moment> {
        self.queue.next_due(&self.model, view, now)
    }

    fn why(&self, page: PageKey, now: Moment) -> Vec<(String, String)> {
        match self.belief_of(page, now) {
            Some(fresh) => reasons(&self.model, self.price, page.number, fresh, now),
            None => Vec::new(),
        }
    }

    fn valued(&mut self) -> Option<&mut dyn Valued> {
        Some(self)
    }

    fn weighable(&mut self) -> Option<&mut dyn Weighable> {
        Some(self)
    }

    fn hinted(&mut self) -> Option<&mut dyn Hinted> {
        Some(self)
    }

    fn topical(&mut self) -> Option<&mut dyn Topical> {
        Some(self)
    }

    fn site_memory(&mut self) -> Option<&mut dyn SiteMemory> {
        Some(self)
    }

    fn believing(&self) -> Option<&dyn Believing> {
        Some(self)
    }
}

impl Valued for ByValue {
    fn best(&mut self, view: &dyn View, now: Moment) -> Option<f64> {
        self.prepare(view, now);
        self.queue.best(&mut self.model, view, days(now))
    }

    fn best_at_most(&mut self, view: &dyn View, now: Moment) -> Option<Best> {
        self.prepare(view, now);
        Some(self.queue.best_at_most(&mut self.model, view, days(now)))
    }
}

impl Believing for ByValue {
    fn rates(&self) -> RateSums {
        self.model.beliefs.global.sums
    }

    fn each_belief(&self, now: Moment, hear: &mut dyn FnMut(PageBelief)) {
        for number in self.model.pages.numbers() {
            let page = self.model.pages.at(number);
            hear(PageBelief {
                page: page.key(number),
                importance: page.importance(),
                fresh: self.fresh(number, now),
                waited_days: (days(now) - page.last_day()).max(0.0),
            });
        }
    }

    fn each_wanted(&self, hear: &mut dyn FnMut(Wanted)) {
        self.model.each_wanted(hear);
    }

    fn price(&self) -> Option<f64> {
        Some(self.price)
    }

    fn belief_of(&self, page: PageKey, now: Moment) -> Option<f64> {
        self.is_known(page).then(|| self.fresh(page.number, now))
    }
}

impl SiteMemory for ByValue {
    fn site_state(&mut self, site: u32) -> Option<Vec<u8>> {
        let site = self.model.sites.place_of(site);
        let has_news = std::mem::take(&mut self.model.sites.at_mut(site).has_news);
        has_news.then(|| MemoryOfSite::of(&self.model, site).to_bytes())
    }

    fn recall_site(&mut self, site: u32, state: &[u8]) {
        let site = self.model.sites.place_of(site);
        if let Some(memory) = MemoryOfSite::from_bytes(state) {
            memory.restore(&mut self.model, site);
        }
    }
}

impl Weighable for ByValue {
    fn weigh(&mut self, page: PageKey, importance: f32) {
        let Some(known) = self.model.pages.known(page).filter(|page| page.is_another_importance(importance)) else {
            return;
        };
        let is_eligible = known.is_eligible();
        if is_eligible {
            self.queue.withdraw(&mut self.model, page.number);
        }
        self.model.set_importance(page.number, importance);
        if is_eligible {
            self.queue.cool_down(&mut self.model, page.number);
        }
    }
}

impl Hinted for ByValue {
    fn hint(&mut self, page: PageKey, worth: Span) {
        let Some(known) = self.model.pages.known(page) else { return };
        let is_eligible = known.is_eligible();
        self.model.valuer.hint(page.number, worth);
        if is_eligible {
            self.place_anew(page.number);
        }
    }
}

impl Topical for ByValue {
    fn topics(&mut self, page: PageKey, topics: &[TopicOf]) {
        if self.is_known(page) {
            self.model.set_topics(page, topics);
        }
    }

    fn topic_rates(&self) -> Vec<TopicRates> {
        self.model.beliefs.topics.own_rates()
    }

    fn hear_topic_rates(&mut self, rates: &[TopicRates]) {
        self.model.hear_topic_rates(rates);
    }
}
