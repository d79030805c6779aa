//! Importance, cost, hints and limits, which turn what is believed of a page into its worth.

use std::collections::HashMap;

use vernal_model::{Chance, Span};

use super::Worth;
use crate::View;
use crate::schedule::allocation::{Allocation, Wanted};
use crate::schedule::by_value::page::Page;
use crate::schedule::by_value::rule::{Rule, Timing};
use crate::schedule::value::Rate;

/// However little a page is worth, it is looked at again after this many days, or after so many turns of all pages if
/// the budget is small.
const LONGEST_WAIT_DAYS: f64 = 90.0;
const LONGEST_WAIT_TURNS: f64 = 8.0;
/// An allocation is settled anew after as many visits as there are pages, over this, and at least so many.
const SETTLED_PAGES_OVER: u64 = 4;
const SETTLED_VISITS_MIN: u64 = 16;

#[derive(Clone, Debug)]
pub struct Valuer {
    pub rule: Rule,
    /// What the view said last: whether a visit costs what the page weighs, and whether pages may be left for ever.
    pub counts_bytes: bool,
    may_abandon: bool,
    pub per_day: f64,
    /// In days; whoever has waited so long goes before every value.
    pub longest_wait: f64,
    /// Hints of change since the last visit, in days that they are worth. Looked up only, never walked through.
    hints: HashMap<u32, f32>,
    /// Σ bytes, and pages whose bytes are known.
    bytes: (f64, u64),
    /// The price of an allocation; 0 before it is settled.
    pub allocation_price: f32,
    visits_since_settled: u64,
}

impl Valuer {
    pub fn new(rule: Rule) -> Self {
        Valuer {
            rule,
            counts_bytes: false,
            may_abandon: false,
            per_day: 0.0,
            longest_wait: LONGEST_WAIT_DAYS,
            hints: HashMap::new(),
            bytes: (0.0, 0),
            allocation_price: 0.0,
            visits_since_settled: 0,
        }
    }

    /// Takes note of what a view says beyond this moment; whether all values are others now.
    pub fn look(&mut self, view: &dyn View) -> bool {
        self.per_day = view.per_day();
        let held = view.held().max(1) as f64;
        let turn = if view.per_day() > 0.0 { held / view.per_day() } else { 0.0 };
        self.longest_wait = LONGEST_WAIT_DAYS.max(LONGEST_WAIT_TURNS * turn);
        let before = (self.counts_bytes, self.may_abandon);
        (self.counts_bytes, self.may_abandon) = (view.counts_bytes(), view.may_abandon());
        before != (self.counts_bytes, self.may_abandon)
    }

    /// Whether the page may be left for ever: because the view allows it, or because it is known to be hopeless.
    pub fn abandons(&self, page: &Page) -> bool {
        self.may_abandon || (self.rule.abandons && page.is_known())
    }

    /// Who has waited longest goes before every value.
    pub fn has_waited_longest(&self, page: &Page, now: f64) -> bool {
        now - page.last_day() >= self.longest_wait && !self.abandons(page)
    }

    /// Importance over cost.
    pub fn weight(&self, page: &Page) -> f64 {
        let importance = f64::from(page.importance());
        if !self.counts_bytes || self.bytes.1 == 0 {
            return importance;
        }
        let mean = self.bytes.0 / self.bytes.1 as f64;
        importance * mean / page.bytes().unwrap_or(mean).max(1.0)
    }

    /// What decides the value of a page at any time, put together once.
    pub fn worth(&self, number: u32, page: &Page, rate: Rate) -> Worth {
        match self.rule.timing {
            Timing::Value => Worth::Grown {
                rate,
                weight: self.weight(page),
                objective: self.rule.objective,
                harmonic_share: self.rule.harmonic_share,
            },
            Timing::Even(allocation) => Worth::PerDay(self.visits(page, rate, allocation)),
            Timing::Random(allocation) => Worth::PerDay(self.visits(page, rate, allocation) / luck(number, page.last)),
        }
    }

    pub fn wanted(&self, page: &Page, rate: Rate) -> Wanted {
        Wanted { rate: rate.mean(), importance: self.weight(page) }
    }

    /// A page is known to cost so many bytes, or other bytes than before.
    pub fn count_bytes(&mut self, before: Option<f64>, after: Option<f64>) {
        self.bytes.0 += after.unwrap_or(0.0) - before.unwrap_or(0.0);
        self.bytes.1 = self.bytes.1 + u64::from(after.is_some()) - u64::from(before.is_some());
    }

    pub fn hint(&mut self, number: u32, worth: Span) {
        *self.hints.entry(number).or_default() += worth.days_f64() as f32;
    }

    pub fn drop_hints(&mut self, number: u32) {
        if !self.hints.is_empty() {
            self.hints.remove(&number);
        }
    }

    /// Hints of a page's change, in days that they are worth.
    pub fn hinted(&self, number: u32) -> Option<f64> {
        self.hints.get(&number).map(|&days| f64::from(days))
    }

    pub fn hear_visit(&mut self) {
        self.visits_since_settled += 1;
    }

    /// The allocation that must be settled anew, if there is one; its time begins anew as well.
    pub fn allocation_due(&mut self, pages: impl FnOnce() -> u64) -> Option<Allocation> {
        let (Timing::Even(allocation) | Timing::Random(allocation)) = self.rule.timing else { return None };
        let enough = (pages() / SETTLED_PAGES_OVER).max(SETTLED_VISITS_MIN);
        if self.per_day <= 0.0 || (self.allocation_price > 0.0 && self.visits_since_settled < enough) {
            return None;
        }
        self.visits_since_settled = 0;
        Some(allocation)
    }

    /// Visits per day that an allocation grants; one in turn before there is a price.
    fn visits(&self, page: &Page, rate: Rate, allocation: Allocation) -> f64 {
        if self.allocation_price == 0.0 {
            return 1.0;
        }
        allocation.visits(self.wanted(page, rate), f64::from(self.allocation_price))
    }
}

/// A draw from the exponential distribution with mean 1 that belongs to one visit, so that a restart draws the same.
fn luck(number: u32, last: u32) -> f64 {
    let share = Chance::new(u64::from(number) << 32 | u64::from(last)).stream("random timing").share();
    (-(1.0 - share).ln()).max(1e-6)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TestView;

    fn valuer(name: &str) -> Valuer {
        Valuer::new(Rule::named(name).unwrap())
    }

    fn page(bytes: u64) -> Page {
        let mut page = Page::default();
        page.set_importance(2.0);
        page.set_bytes(bytes);
        page
    }

    #[test]
    fn where_bytes_count_a_page_of_twice_the_bytes_weighs_half() {
        let mut valuer = valuer("vernal");
        let (small, large, unknown) = (page(1_000), page(2_000), page(0));
        [&small, &large, &unknown].iter().for_each(|page| valuer.count_bytes(None, page.bytes()));
        assert_eq!(valuer.weight(&small), 2.0, "bytes do not count yet");
        valuer.counts_bytes = true;
        assert!((valuer.weight(&small) / valuer.weight(&large) - 2.0).abs() < 0.01);
        assert!((valuer.weight(&unknown) - 2.0).abs() < 1e-9, "it is expected to cost the mean");
    }

    #[test]
    fn nobody_waits_longer_than_a_season_or_a_few_turns_of_a_small_budget() {
        let mut valuer = valuer("vernal");
        valuer.look(&TestView::of(1_000, 100));
        assert_eq!(valuer.longest_wait, LONGEST_WAIT_DAYS);
        valuer.look(&TestView::of(24_000, 1));
        assert_eq!(valuer.longest_wait, LONGEST_WAIT_TURNS * 1_000.0);
        assert!(valuer.has_waited_longest(&page(0), 8_000.0));
    }

    #[test]
    fn an_allocation_is_settled_after_as_many_visits_as_change_it() {
        let mut valuer = valuer("optimal");
        valuer.per_day = 10.0;
        assert!(valuer.allocation_due(|| 400).is_some(), "it was never settled");
        valuer.allocation_price = 1.0;
        let due = (0..250).filter(|_| {
            valuer.hear_visit();
            valuer.allocation_due(|| 400).is_some()
        });
        assert_eq!(due.count(), 2);
        assert!(super::tests::valuer("vernal").allocation_due(|| 400).is_none());
    }

    #[test]
    fn hints_add_up_until_the_visit() {
        let mut valuer = valuer("vernal");
        valuer.hint(3, Span::from_days(2));
        valuer.hint(3, Span::from_days(1));
        assert_eq!((valuer.hinted(3), valuer.hinted(4)), (Some(3.0), None));
        valuer.drop_hints(3);
        assert_eq!(valuer.hinted(3), None);
    }

    #[test]
    fn luck_is_a_visit_s_own_and_has_the_mean_one() {
        assert_eq!(luck(3, 7), luck(3, 7));
        let mean = (0..20_000).map(|number| luck(number, 5)).sum::<f64>() / 20_000.0;
        assert!((mean - 1.0).abs() < 0.03, "{mean}");
    }
}
