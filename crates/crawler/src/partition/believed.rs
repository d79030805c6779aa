//! What is believed of the freshness of all held pages. Status, plan and the mean of all reasons come from this one sum.

use vernal_model::Moment;
use vernal_policy::Belief;

use super::Partition;

/// A sum over n pages is made at most once in n / `PAGES_PER_S` seconds; until then the last one is given.
const PAGES_PER_S: f64 = 100_000.0;

/// The belief about the held pages that the policies know, as of one Moment.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Believed {
    pub moment: Moment,
    pub all: Belief,
    /// The same without the pages of recognised traps.
    pub outside_traps: Belief,
}

impl Believed {
    pub(crate) fn sum<'a>(partitions: impl Iterator<Item = &'a Partition>, now: Moment) -> Self {
        let mut believed = Believed { moment: now, all: Belief::default(), outside_traps: Belief::default() };
        for partition in partitions {
            let Some(policy) = partition.refresh.policy.believing() else { continue };
            policy.each_belief(now, &mut |page| {
                believed.all.add(page);
                if !partition.sites.lies_in_trap(page.page) {
                    believed.outside_traps.add(page);
                }
            });
        }
        believed
    }

    /// Whether this still stands for the belief of now.
    pub(crate) fn is_of(&self, now: Moment) -> bool {
        let stands_s = self.all.pages as f64 / PAGES_PER_S;
        now == self.moment || now > self.moment && now.since(self.moment).secs_f64() < stands_s.min(60.0)
    }
}
