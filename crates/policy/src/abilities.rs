//! What a policy can do beyond choosing and learning. Each ability has an accessor: `policy.valued()` is `None` where
//! the policy lacks the ability.

use vernal_model::{Moment, PageKey, Span, TopicId, TopicOf};

use crate::measure::expected_age;
use crate::schedule::RefreshTerms;
use crate::schedule::allocation::Wanted;
use crate::{Held, Unkept, View};

/// A policy whose visits have values, so that partitions can be served in the order of value. Policies whose order
/// cannot be compared with that of other partitions are served by their share of the held pages.
pub trait Valued {
    /// The value of the visit that `choose` would give first.
    fn best(&mut self, view: &dyn View, now: Moment) -> Option<f64>;
    /// The value of that visit, or an upper bound where the exact value costs more: among many candidates, only those
    /// that come first by this need be asked for `best`.
    fn best_at_most(&mut self, view: &dyn View, now: Moment) -> Option<Best> {
        self.best(view, now).map(Best::Exactly)
    }
}

/// The value of a policy's best visit.
#[derive(Copy, Clone, Debug, PartialEq)]
pub enum Best {
    Exactly(f64),
    AtMost(f64),
}

impl Best {
    pub fn most(self) -> f64 {
        match self {
            Best::Exactly(value) | Best::AtMost(value) => value,
        }
    }
}

/// A policy that counts important pages more, and can be told that the importance of a page changed.
pub trait Weighable {
    /// Sets the importance of a page.
    fn weigh(&mut self, page: PageKey, importance: f32);
}

/// A policy that uses hints of change.
pub trait Hinted {
    /// Learns a hint that the page changed since its last visit; `worth` is the waiting time that it counts for.
    fn hint(&mut self, page: PageKey, worth: Span);
}

/// A policy that keeps state of a site beyond that of its pages.
pub trait SiteMemory {
    /// The state of a site, if it changed since the last call; stored as a row of the site and restored by
    /// `recall_site` before the site's pages are recalled.
    fn site_state(&mut self, site: u32) -> Option<Vec<u8>>;
    fn recall_site(&mut self, site: u32, state: &[u8]);
}

/// A policy that knows topics, and pools the observations of its pages over all partitions.
pub trait Topical {
    /// Sets the topics of a page that the policy knows, the one with the best reputation first.
    fn topics(&mut self, page: PageKey, topics: &[TopicOf]);
    /// The results of its samples in this cycle by topic, so that all partitions can judge topics together.
    fn topic_samples(&self) -> Vec<TopicSample> {
        Vec::new()
    }
    /// Learns the samples of all partitions, its own included.
    fn hear_topic_samples(&mut self, samples: &[TopicSample]) {
        let _ = samples;
    }
    /// The change rates of its pages by topic, so that all partitions can expect the same of new sites.
    fn topic_rates(&self) -> Vec<TopicRates> {
        Vec::new()
    }
    /// Learns the change rates by topic of all partitions, its own included.
    fn hear_topic_rates(&mut self, rates: &[TopicRates]) {
        let _ = rates;
    }
}

/// A policy whose parameters may differ from page to page.
pub trait OwnTerms {
    /// Sets what holds for a page in place of the policy's own parameters, before the page is recalled; `None` takes it away.
    fn set_terms(&mut self, page: PageKey, terms: Option<RefreshTerms>);
}

/// The results of one cycle's samples in a topic.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TopicSample {
    pub cycle: u64,
    pub topic: TopicId,
    pub sampled: u32,
    pub changed: u32,
}

/// The change rates of a topic's pages: Σ of their mean rates, and how many were compared.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct TopicRates {
    pub topic: TopicId,
    pub sums: RateSums,
}

/// A policy that samples in cycles (seeds 000 and 001).
pub trait Sampled {
    /// How far the cycle is that goes on; `None` before the first.
    fn cycle(&self) -> Option<SamplingCycle>;
}

/// One round of sampling and downloading, in one partition or in all.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct SamplingCycle {
    pub begins: Moment,
    pub ends: Moment,
    /// The share of all pages that the budget pays for.
    pub share: f64,
    /// Sites, paths, topics or groups of pages, each judged by its own sample. A page of several topics counts in each.
    pub groups: u64,
    pub pages: u64,
    /// Pages to sample, and those that were, answered or under way.
    pub quota: u64,
    pub sampled: u64,
    /// Pages that were downloaded beside the sample.
    pub downloaded: u64,
    /// Sampled pages that could be compared, and those that had changed.
    pub compared: u64,
    pub changed: u64,
}

impl SamplingCycle {
    /// The share of the compared samples that had changed.
    pub fn change_ratio(&self) -> Option<f64> {
        (self.compared > 0).then(|| self.changed as f64 / self.compared as f64)
    }

    /// The same round over the pages of both. All partitions have the same cycles, because all see the same budget.
    #[must_use]
    pub fn plus(self, other: SamplingCycle) -> SamplingCycle {
        SamplingCycle {
            begins: self.begins.max(other.begins),
            ends: self.ends.max(other.ends),
            share: self.share.max(other.share),
            groups: self.groups + other.groups,
            pages: self.pages + other.pages,
            quota: self.quota + other.quota,
            sampled: self.sampled + other.sampled,
            downloaded: self.downloaded + other.downloaded,
            compared: self.compared + other.compared,
            changed: self.changed + other.changed,
        }
    }
}

/// A policy with a model of change rates.
pub trait Believing {
    /// Its sums of change rates; the mean over all partitions comes back through `View::mean_rate`.
    fn rates(&self) -> RateSums;
    /// Tells how likely each of its pages is up to date, one after the other. Whatever is said of freshness comes from here.
    fn each_belief(&self, now: Moment, hear: &mut dyn FnMut(PageBelief)) {
        let _ = (now, hear);
    }
    /// How likely one page is up to date; `None` if it is not known.
    fn belief_of(&self, page: PageKey, now: Moment) -> Option<f64> {
        let _ = (page, now);
        None
    }
    /// Tells how often each of its pages is thought to change, and what that matters: what bounds of freshness are reckoned by.
    fn each_wanted(&self, hear: &mut dyn FnMut(Wanted)) {
        let _ = hear;
    }
    /// The least value that was worth a visit, 0 where there were visits enough; `None` where it reckons no values.
    fn price(&self) -> Option<f64> {
        None
    }
    /// The sum of all beliefs.
    fn belief(&self, now: Moment) -> Belief {
        let mut belief = Belief::default();
        self.each_belief(now, &mut |page| belief.add(page));
        belief
    }
}

/// What one partition's policy knows of change rates, for the mean over all of them: Σ v·mean and Σ v over its sites.
#[derive(Copy, Clone, Debug, Default, PartialEq)]
pub struct RateSums {
    pub weighted: f64,
    pub weight: f64,
}

/// The prior: a page's expected changes per day, and the number of sites that this prior counts as.
const RATE_FIRST: f64 = 0.02;
const RATE_FIRST_WEIGHT: f64 = 2.0;

impl RateSums {
    #[must_use]
    pub fn plus(self, other: RateSums) -> RateSums {
        RateSums { weighted: self.weighted + other.weighted, weight: self.weight + other.weight }
    }

    /// The mean change rate per day.
    pub fn mean(self) -> f64 {
        // Rounding while values are subtracted may push the sums below zero.
        let (weighted, weight) = (self.weighted.max(0.0), self.weight.max(0.0));
        (RATE_FIRST_WEIGHT * RATE_FIRST + weighted) / (RATE_FIRST_WEIGHT + weight)
    }
}

/// What a policy believes of one page.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct PageBelief {
    pub page: PageKey,
    pub importance: f32,
    /// The probability that it is up to date.
    pub fresh: f64,
    /// Days since its last visit.
    pub waited_days: f64,
}

/// What a policy believes of the pages it knows.
#[derive(Copy, Clone, Debug, Default, PartialEq)]
pub struct Belief {
    /// Σ P(up to date).
    pub likely: f64,
    /// Σ importance · P(up to date).
    pub fresh: f64,
    /// Σ importance.
    pub weight: f64,
    pub pages: u64,
    /// Σ expected age in days.
    pub age_days: f64,
}

impl Belief {
    #[must_use]
    pub fn plus(self, other: Belief) -> Belief {
        Belief {
            likely: self.likely + other.likely,
            fresh: self.fresh + other.fresh,
            weight: self.weight + other.weight,
            pages: self.pages + other.pages,
            age_days: self.age_days + other.age_days,
        }
    }

    pub fn add(&mut self, page: PageBelief) {
        let importance = f64::from(page.importance);
        let age_days = expected_age(page.fresh, page.waited_days);
        let fresh = importance * page.fresh;
        *self = self.plus(Belief { likely: page.fresh, fresh, weight: importance, pages: 1, age_days });
    }

    /// The share of the pages that is believed to be up to date; `None` without pages.
    pub fn share(&self) -> Option<f64> {
        (self.pages > 0).then(|| self.likely / self.pages as f64)
    }

    /// The mean age that is expected, in days; `None` without pages.
    pub fn mean_age_days(&self) -> Option<f64> {
        (self.pages > 0).then(|| self.age_days / self.pages as f64)
    }

    /// The same share with each page weighted by its importance.
    pub fn weighted_share(&self) -> Option<f64> {
        (self.weight > 0.0).then(|| self.fresh / self.weight)
    }
}

/// A policy that keeps promises to visit pages at least so often.
pub trait Promising {
    /// The promises of its pages, and which of them are not kept.
    fn unkept(&self, now: Moment) -> Unkept;
    /// Sets what is promised of a page that the policy has; `in_flight` tells whether a visit to it is under way. Nothing else
    /// that is known of the page changes.
    fn promise(&mut self, held: &Held<'_>, in_flight: bool);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{NAMES, by_name};

    #[test]
    fn a_policy_has_the_abilities_that_its_kind_needs() {
        for &name in NAMES {
            let mut policy = by_name(name).unwrap();
            let kind = name.split(':').next().unwrap();
            let by_value =
                ["vernal", "bayes", "index", "hindsight", "optimal", "random-optimal", "lambda"].contains(&kind);
            assert_eq!(policy.valued().is_some(), by_value, "{name}");
            assert_eq!(policy.weighable().is_some(), by_value, "{name}");
            assert_eq!(policy.hinted().is_some(), by_value, "{name}");
            assert_eq!(policy.site_memory().is_some(), by_value, "{name}");
            assert_eq!(policy.believing().is_some(), by_value, "{name}");
            assert!(policy.promising().is_some(), "every policy comes with its promises kept");
            assert_eq!(policy.own_terms().is_some(), kind == "refresh-time", "{name}");
            assert!(!crate::wants_topics(name) || policy.topical().is_some(), "{name}");
        }
    }

    #[test]
    fn rates_that_nobody_showed_are_the_first_rate() {
        assert_eq!(RateSums::default().mean(), RATE_FIRST);
        let sums = RateSums { weighted: 1e6, weight: 1e6 };
        assert!((sums.plus(RateSums { weighted: -1e-9, weight: -1e-9 }).mean() - 1.0).abs() < 1e-5);
    }
}
