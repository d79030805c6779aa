//! One site, path or group of pages: its sample, what the sample found, and the rank that follows from it.

use std::collections::BTreeSet;

use vernal_model::{PageKey, TopicId};

use crate::estimate::wilson_of_mean;

/// How downloads follow the sample.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Rule {
    /// Downloads in proportion to the share of the sample that changed.
    Proportional,
    /// The whole of the stratum with the largest share first, then the next.
    Greedy,
    /// Sample κ at a time until it is sure which side of the threshold a stratum is on.
    Adaptive,
    /// Greedy by the mean degree of success D/V of the sampled pages; next samples in proportion to it.
    Hybrid,
    /// As `Adaptive`, with the mean degree of success D/V of the sampled pages in place of the share that changed: what
    /// seed 000 leaves as future work (5.2).
    AdaptiveFrequency,
}

impl Rule {
    /// Whether it samples until it is sure.
    pub(super) fn is_adaptive(self) -> bool {
        matches!(self, Rule::Adaptive | Rule::AdaptiveFrequency)
    }

    /// Whether the sampled pages' own histories count.
    pub(super) fn is_by_history(self) -> bool {
        matches!(self, Rule::Hybrid | Rule::AdaptiveFrequency)
    }
}

/// D/V is summed up in parts of this number, which are whole for every V up to 16 and rounded down beyond, so that sums do
/// not depend on their order.
pub(super) const PARTS: u64 = 720_720;

/// The keys of topics; those of paths have the number of a site in their upper half, and no partition has so many.
const TOPIC: u64 = 1 << 63;

pub(super) fn topic_key(topic: TopicId) -> u64 {
    TOPIC | u64::from(topic.0)
}

#[derive(Clone, Debug, Default)]
pub(super) struct Stratum {
    pub key: u64,
    /// Its own number in this cycle, for equal ranks.
    pub lot: u64,
    pub pages: u64,
    /// Not in flight and not visited in this cycle, in this cycle's random order; where downloads may come again, those too.
    pub waiting: BTreeSet<(u64, PageKey)>,
    /// Those of them that were not visited in this cycle: all, unless downloads may come again.
    pub unvisited: u64,
    /// How many pages to sample in this cycle.
    pub quota: u64,
    /// Sampled in this cycle for its own sake, answered or in flight.
    pub sampled: u64,
    /// Its pages that another topic has sampled in this cycle: they count in the estimate beside its own sample (seed 001,
    /// Algorithm 4).
    pub free: u64,
    /// Downloaded beside the sample in this cycle.
    pub taken: u64,
    /// Sampled pages that could be compared, those that changed, and the sum of their D/V.
    pub tries: u32,
    pub hits: u32,
    pub success: u64,
    /// What other partitions have found in the same topic: pages compared, and those that changed.
    pub elsewhere: (u32, u32),
    /// Whether pages may be downloaded more than once in a cycle.
    pub come_again: bool,
    /// V: the newest visits of a page that its D/V counts.
    pub visits_back: u8,
    /// Whether its group has its turn.
    pub is_in_turn: bool,
    pub rank: Rank,
    /// Whether it stands in the order of strata: only those do that have pages waiting.
    pub is_listed: bool,
}

/// The order of strata: smaller comes first.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Rank {
    class: Class,
    /// Smaller first within the class.
    value: u64,
    lot: u64,
}

#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Class {
    /// Surely above the threshold.
    Accepted,
    Sample,
    #[default]
    Download,
    /// No sign of change, no answer yet, or more than its share already.
    Quiet,
    /// Its group does not have its turn: only if nothing else is left.
    OutOfTurn,
}

impl Stratum {
    /// The share of the sample that changed (the hybrid: the mean D/V of the sample).
    pub fn rate(&self, rule: Rule) -> Option<f64> {
        let tries = f64::from(self.tries);
        let (tries_elsewhere, hits_elsewhere) = self.elsewhere;
        match rule {
            Rule::Hybrid | Rule::AdaptiveFrequency => {
                (self.tries > 0).then(|| self.success as f64 / PARTS as f64 / tries)
            }
            Rule::Proportional | Rule::Greedy | Rule::Adaptive => (self.tries + tries_elsewhere > 0)
                .then(|| f64::from(self.hits + hits_elsewhere) / (tries + f64::from(tries_elsewhere))),
        }
    }

    pub fn ranked(&self, rule: Rule, adaptive: Adaptive) -> Rank {
        let rank = |class: Class, value: f64| Rank { class, value: value.to_bits(), lot: self.lot };
        if !self.is_in_turn {
            return rank(Class::OutOfTurn, 0.0);
        }
        let rate = self.rate(rule);
        let class = match rule {
            Rule::Adaptive | Rule::AdaptiveFrequency => adaptive.class(self, rate),
            _ if self.sampled < self.quota && self.unvisited > 0 => Class::Sample,
            _ if self.is_exhausted() => Class::Quiet,
            _ => rate.map_or(Class::Quiet, |rate| if rate > 0.0 { Class::Download } else { Class::Quiet }),
        };
        // Rates lie in 0 to 1: the greedy order is the one of what is missing to 1.
        match (class, rule) {
            (Class::Sample, Rule::Adaptive | Rule::AdaptiveFrequency) => {
                rank(class, (self.sampled / adaptive.step) as f64)
            }
            // The one that least is known of; its quota is of its own pages.
            (Class::Sample, _) => rank(class, (self.sampled + self.free) as f64),
            // What is left over goes to pages that were not visited, in the order of rates, and only then to any.
            (Class::Quiet, _) if self.come_again && self.unvisited == 0 => rank(class, 2.0),
            (Class::Quiet, _) if self.come_again => rank(class, 1.0 - rate.unwrap_or(0.0)),
            (Class::Quiet | Class::OutOfTurn, _) => rank(class, 0.0),
            (_, Rule::Proportional) => rank(class, (self.taken as f64 + 0.5) / rate.unwrap_or(1.0)),
            _ => rank(class, 1.0 - rate.unwrap_or(0.0)),
        }
    }

    /// No quota is larger than the stratum, however often its pages come.
    fn is_exhausted(&self) -> bool {
        self.come_again && self.taken >= self.pages
    }

    /// The topic that it is, if it is one.
    pub fn topic(&self) -> Option<TopicId> {
        (self.key & !u64::from(u32::MAX) == TOPIC).then_some(TopicId(self.key as u32))
    }

    pub fn class(&self) -> Class {
        self.rank.class
    }
}

/// What the adaptive policy knows of all strata.
#[derive(Copy, Clone, Debug, PartialEq)]
pub(super) struct Adaptive {
    /// κ: pages to sample at a time.
    pub step: u64,
    /// The z of the confidence α.
    pub z: f64,
    /// p_t: the least share among the strata that the budget could download whole.
    pub threshold: f64,
}

impl Adaptive {
    /// `rate` is the share by which the stratum is judged.
    fn class(&self, stratum: &Stratum, rate: Option<f64>) -> Class {
        if u64::from(stratum.tries) < self.step.min(stratum.pages) {
            return if stratum.sampled < self.step { Class::Sample } else { Class::Quiet };
        }
        let sure = wilson_of_mean(rate.unwrap_or(0.0), stratum.tries, self.z);
        match sure {
            _ if sure.low > self.threshold => Class::Accepted,
            _ if sure.high < self.threshold => Class::Download,
            _ => Class::Sample,
        }
    }

    /// p_t from the shares seen so far: the least of the top share r of the strata.
    pub fn threshold_of(rates: &mut [f64], share: f64) -> f64 {
        rates.sort_by(|a, b| b.total_cmp(a));
        let top = (rates.len() as f64 * share.clamp(0.0, 1.0)).ceil() as usize;
        top.checked_sub(1).and_then(|at| rates.get(at)).copied().unwrap_or(0.0)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const ADAPTIVE: Adaptive = Adaptive { step: 3, z: 1.28, threshold: 0.4 };

    /// A stratum whose sample was answered.
    fn sampled(tries: u32, hits: u32, lot: u64) -> Stratum {
        let (pages, is_in_turn, sampled) = (1_000, true, u64::from(tries));
        Stratum { lot, pages, tries, hits, sampled, quota: sampled, is_in_turn, unvisited: 900, ..Stratum::default() }
    }

    fn answers() -> impl Strategy<Value = (u32, u32)> {
        (1u32..40).prop_flat_map(|tries| (Just(tries), 0..=tries))
    }

    proptest! {
        #[test]
        fn the_greedy_order_is_that_of_the_shares_that_changed(one in answers(), other in answers()) {
            let strata = [one, other].map(|(tries, hits)| sampled(tries, hits, 1));
            let [one_rank, other_rank] = [0, 1].map(|index: usize| strata[index].ranked(Rule::Greedy, ADAPTIVE));
            let [one_rate, other_rate] = [0, 1].map(|index: usize| strata[index].rate(Rule::Greedy).unwrap());
            if one_rate > other_rate {
                prop_assert!(one_rank < other_rank);
            }
            if one_rate == other_rate {
                prop_assert_eq!(one_rank, other_rank);
            }
        }

        /// Quotas are in proportion to shares: after any number of downloads nobody is a whole download behind.
        #[test]
        fn proportional_downloads_follow_the_shares_that_changed(
            answers in prop::collection::vec(answers(), 1..6),
            downloads in 1u64..200,
        ) {
            let strata = (0u64..).zip(&answers).map(|(lot, &(tries, hits))| sampled(tries, hits, lot));
            let mut strata: Vec<Stratum> = strata.collect();
            let all: f64 = strata.iter().filter_map(|stratum| stratum.rate(Rule::Proportional)).sum();
            for _ in 0..downloads {
                let next = strata.iter_mut().min_by_key(|stratum| stratum.ranked(Rule::Proportional, ADAPTIVE)).unwrap();
                next.taken += 1;
            }
            for stratum in strata.iter().filter(|_| all > 0.0) {
                let quota = stratum.rate(Rule::Proportional).unwrap() / all * downloads as f64;
                prop_assert!(stratum.taken as f64 - quota < answers.len() as f64, "{} of {}", stratum.taken, quota);
                prop_assert!(quota > 0.0 || stratum.taken == 0);
            }
        }

        #[test]
        fn a_sample_that_is_not_complete_comes_before_all_downloads(
            (tries, hits) in answers(),
            more in 1u64..9,
            lot in any::<u64>(),
        ) {
            let mut growing = sampled(tries, hits, lot);
            growing.quota += more;
            for rule in [Rule::Proportional, Rule::Greedy, Rule::Hybrid] {
                prop_assert!(growing.ranked(rule, ADAPTIVE) < sampled(40, 40, 0).ranked(rule, ADAPTIVE));
            }
        }

        #[test]
        fn who_is_not_in_turn_comes_last((tries, hits) in answers(), rule in 0usize..5) {
            let rules = [Rule::Proportional, Rule::Greedy, Rule::Adaptive, Rule::Hybrid, Rule::AdaptiveFrequency];
            let rule = rules[rule];
            let waits = Stratum { is_in_turn: false, ..sampled(tries, hits, 0) };
            prop_assert!(sampled(40, 0, u64::MAX).ranked(rule, ADAPTIVE) < waits.ranked(rule, ADAPTIVE));
        }

        #[test]
        fn the_threshold_leaves_the_wanted_share_at_or_above_it(
            rates in prop::collection::vec(0.0f64..1.0, 1..50),
            share in 0.01f64..1.0,
        ) {
            let threshold = Adaptive::threshold_of(&mut rates.clone(), share);
            let wanted = rates.len() as f64 * share;
            prop_assert!(rates.iter().filter(|&&rate| rate >= threshold).count() as f64 >= wanted);
            prop_assert!((rates.iter().filter(|&&rate| rate > threshold).count() as f64) < wanted);
        }

        #[test]
        fn a_topic_comes_back_from_its_key_and_no_path_is_taken_for_one(
            topic in any::<u32>(),
            site in 0u32..1 << 27,
            path in any::<u32>(),
        ) {
            let of = |key: u64| Stratum { key, ..Stratum::default() }.topic();
            prop_assert_eq!(of(topic_key(TopicId(topic))), Some(TopicId(topic)));
            prop_assert_eq!(of(u64::from(site) << 32 | u64::from(path)), None);
        }
    }

    #[test]
    fn the_adaptive_rule_samples_until_it_is_sure() {
        let class = |tries, hits| sampled(tries, hits, 0).ranked(Rule::Adaptive, ADAPTIVE).class;
        assert_eq!([class(30, 28), class(30, 1), class(30, 12)], [Class::Accepted, Class::Download, Class::Sample]);
        let silent = Stratum { tries: 1, ..sampled(3, 0, 0) };
        assert_eq!(silent.ranked(Rule::Adaptive, ADAPTIVE).class, Class::Quiet, "what was sent for is waited for");
        assert_eq!(class(2, 2), Class::Sample);
    }

    #[test]
    fn by_frequency_a_stratum_is_judged_by_the_histories_of_its_sample() {
        // No page of the sample changed this time; each had changed in nine of ten visits before.
        let stratum = Stratum { success: 30 * PARTS * 9 / 10, ..sampled(30, 0, 0) };
        let class = |rule| stratum.ranked(rule, ADAPTIVE).class;
        assert_eq!([class(Rule::Adaptive), class(Rule::AdaptiveFrequency)], [Class::Download, Class::Accepted]);
        assert_eq!(stratum.rate(Rule::AdaptiveFrequency), Some(0.9));
    }

    #[test]
    fn pages_that_another_topic_sampled_do_not_spend_the_quota() {
        let stratum = Stratum { free: 5, ..sampled(7, 7, 0) };
        let ranked = |stratum: &Stratum| stratum.ranked(Rule::Greedy, ADAPTIVE).class;
        assert_eq!(ranked(&Stratum { quota: 3, sampled: 2, ..stratum.clone() }), Class::Sample);
        assert_eq!(ranked(&Stratum { quota: 3, sampled: 3, ..stratum }), Class::Download);
    }

    #[test]
    fn what_other_partitions_found_counts_but_for_the_hybrid() {
        let stratum = Stratum { elsewhere: (30, 15), ..sampled(10, 0, 0) };
        assert_eq!(stratum.rate(Rule::Greedy), Some(15.0 / 40.0));
        assert_eq!(stratum.rate(Rule::Hybrid), Some(0.0));
        assert_eq!(Stratum::default().rate(Rule::Greedy), None);
    }
}
