//! What a cycle is to do: which strata there are, how many pages of each are sampled, and in which order they are asked.

use vernal_model::{Chance, Moment, PageKey};

use super::cycle::Cycle;
use super::entry::{By, Place, count, history_before, is_waiting, success_of};
use super::policy::{Sampling, Size};
use super::sizes::{allocation, groups_needed, optimal_sample_size, sample_size};
use super::stratum::{Adaptive, PARTS, Rule, Stratum};
use super::terms::SamplingTerms;
use crate::View;

impl Sampling {
    /// Begins a new cycle if it is time.
    pub(super) fn turn(&mut self, view: &dyn View, now: Moment) {
        let cycle = Cycle::of(view, now, self.terms.cycle);
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
                if is_waiting(entry, cycle, false) {
                    // Sorted in once, below: far cheaper than one by one.
                    stratum.pages += 1;
                    stratum.unvisited += 1;
                    waiting.push((at, lot, page));
                } else {
                    count(stratum, page, entry, Place { nth, lot }, cycle, 1);
                }
                nth += 1;
            }
        }
        waiting.sort_unstable();
        for stratum in waiting.chunk_by(|a, b| a.0 == b.0) {
            let pages = stratum.iter().map(|&(_, lot, page)| (lot, page));
            let waiting = &mut self.strata[stratum[0].0 as usize].waiting;
            // Those that come again are there already.
            let again = std::mem::replace(waiting, pages.collect());
            waiting.extend(again);
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
        let mut size = self.terms.size.or(size).unwrap_or_else(|| sample_size(mean, share));
        // All samples together are no more than P.
        let all = size * strata as f64;
        if all > pages * self.terms.share {
            size *= pages * self.terms.share / all;
        }
        for stratum in &mut self.strata {
            // Sites get the same sample, groups of unequal size one in proportion (seed 001, equation 8).
            let factor = if self.by == By::Site { 1.0 } else { stratum.pages as f64 / mean };
            stratum.quota = ((size * factor).round() as u64).clamp(1, stratum.pages.max(1));
        }
    }

    fn plan_hybrid(&mut self, cycle: Cycle, share: f64, pages: f64) {
        let rates = self.rates_before(cycle);
        let in_turn: Vec<usize> = (0..self.strata.len()).filter(|&at| self.strata[at].is_in_turn).collect();
        // P pages are sampled, if that is not over half of the budget (seed 000, 4.3).
        let sampled = (pages * self.terms.share.min(share / 2.0)).round().max(1.0) as u64;
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
        let SamplingTerms { visits_back, kept, .. } = self.terms;
        for (page, entry) in self.pages.iter() {
            let before = history_before(entry, cycle, kept).newest(visits_back);
            for at in (0..).map_while(|nth| self.stratum_at(page, entry, nth)).filter(|_| before.visits() > 0) {
                let (success, pages) = &mut sums[at as usize];
                *success += success_of(before);
                *pages += 1;
            }
        }
        let mean = |(success, pages): (u64, u64)| success as f64 / PARTS as f64 / pages.max(1) as f64;
        sums.into_iter().map(mean).collect()
    }

    pub(super) fn rank_all(&mut self) {
        if self.rule.is_adaptive() {
            let mut rates: Vec<f64> = self.strata.iter().filter_map(|stratum| stratum.rate(self.rule)).collect();
            let share = self.cycle.map_or(0.0, |cycle| cycle.share);
            self.adaptive.threshold = Adaptive::threshold_of(&mut rates, share);
        }
        self.is_new = false;
        for stratum in &mut self.strata {
            stratum.rank = stratum.ranked(self.rule, self.adaptive);
            stratum.is_listed = !stratum.waiting.is_empty();
        }
        let listed = self.strata.iter().enumerate().filter(|(_, stratum)| stratum.is_listed);
        self.order = listed.map(|(at, stratum)| (stratum.rank, at as u32)).collect();
    }

    /// Ranks a stratum by what is known of it now; one that has no page left for this cycle is not asked again.
    pub(super) fn rank(&mut self, at: u32) {
        let stratum = &mut self.strata[at as usize];
        let rank = stratum.ranked(self.rule, self.adaptive);
        let is_listed = !stratum.waiting.is_empty();
        if (rank, is_listed) == (stratum.rank, stratum.is_listed) {
            return;
        }
        if stratum.is_listed {
            self.order.remove(&(stratum.rank, at));
        }
        if is_listed {
            self.order.insert((rank, at));
        }
        (stratum.rank, stratum.is_listed) = (rank, is_listed);
    }
}
