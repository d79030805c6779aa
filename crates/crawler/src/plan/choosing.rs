//! Chooses the held page for the next visit. Policies with comparable values are asked in the order of value over all
//! partitions; the others by each partition's share of the held pages.

use std::collections::BTreeMap;

use vernal_frontier::Waiting;
use vernal_model::{Moment, PageKey, Partition as PartitionId, Span, TopicId};
use vernal_policy::{Best, RateSums, TopicRates, TopicSample};

use crate::coordinator::Lane;
use crate::core::Core;
use crate::partition::{Partition, Partitions, Sums, bits};

/// The value of a partition's best page is asked again after this, even if nothing changed there: time passes and sites
/// get free.
const BEST_EVERY: Span = Span::from_secs(1);

/// What the partitions are ordered by.
#[derive(Copy, Clone, PartialEq, Eq)]
enum By {
    /// The value of their best visits.
    Value,
    /// The visits that they are owed.
    Share,
}

/// How exactly a partition must state the value of its best visit.
#[derive(Copy, Clone, PartialEq, Eq)]
enum Asking {
    AtMost,
    Exactly,
}

/// The rotation over the partitions: which one is asked next.
#[derive(Default)]
pub(crate) struct PartitionTurns {
    /// The partition at which the rotation for new pages continues.
    next: usize,
    /// Visits to held pages that are not yet added to the partitions' credits.
    uncredited: f64,
}

impl PartitionTurns {
    /// The next new URL; partitions are asked in rotation, starting after the last one that gave a URL.
    pub fn next_new(&mut self, partitions: &mut Partitions, now: Moment) -> Option<Waiting> {
        let turn = self.next % usize::from(PartitionId::COUNT);
        for step in bits(partitions.active_bits().rotate_right(turn as u32)) {
            let index = (turn + step) % usize::from(PartitionId::COUNT);
            let Partition { sites, waiting, .. } = partitions.at_mut(index);
            if let Some(waiting) = waiting.next(sites, now) {
                self.next = index + 1;
                return Some(waiting);
            }
        }
        None
    }

    /// Asks the policies, and returns the pages that one of them chose, the first one last. A chosen page stays out of
    /// its policy until the policy learns from the visit or the page is put back.
    pub fn choose(&mut self, core: &mut Core, tick: u64, sums: Sums, now: Moment) -> Vec<PageKey> {
        let left = core.coordinator.visits_left(Lane::Due).min(core.settings.concurrency - core.in_flight.len());
        if left == 0 || sums.held == 0 {
            return Vec::new();
        }
        if core.partitions.sum_up_rates(core.settings.rates_every, now) && core.settings.topics_every.is_some() {
            pool_topics(&mut core.partitions);
        }
        let (mut order, by) = self.asked_from(core, tick, sums, now);
        // A value holds for one page: the next best may be in another partition, unless there is only one.
        let left = match by {
            By::Value if order.count_ones() == 1 => {
                core.partitions.at(order.trailing_zeros() as usize).room_of_last(now).clamp(1, left)
            }
            By::Value => 1,
            By::Share => left,
        };
        let all = core.all_facts(left, sums);
        while let Some(index) = take_first(&core.partitions, &mut order, by) {
            // If the first partition stated only an upper bound, it must state the exact value, unless no other is left
            // to compare.
            let is_bound = matches!(core.partitions.at(index).refresh.best(), Some(Best::AtMost(_)));
            if by == By::Value && order != 0 && is_bound {
                order |= ask_values(core, 1 << index, Asking::Exactly, sums, now);
                continue;
            }
            let facts = all.of(core.partitions.at(index));
            let mut chance = core.chance.numbered(core.in_flight.orders()).numbered(index as u64);
            let Partition { refresh, sites, .. } = core.partitions.at_mut(index);
            let (policy, view) = refresh.with_view(sites, facts, now);
            let mut chosen = policy.choose(&view, now, &mut chance);
            let Some(&last) = chosen.last() else {
                refresh.told_nothing(tick);
                continue;
            };
            refresh.chose(sites.site_of(last));
            chosen.reverse();
            return chosen;
        }
        Vec::new()
    }

    /// The partitions to ask, a bit for each, and what they are ordered by. A partition that had nothing to choose is
    /// not asked again within the tick: where much waits and little is due, that would be most of the work.
    fn asked_from(&mut self, core: &mut Core, tick: u64, sums: Sums, now: Moment) -> (u64, By) {
        let (mut holding, mut asked, mut known, mut with_value) = (0, 0, 0, 0);
        for index in bits(core.partitions.active_bits()) {
            let (partition, bit) = (core.partitions.at(index), 1 << index);
            if partition.held == 0 {
                continue;
            }
            holding |= bit;
            if !partition.refresh.has_nothing(tick) {
                asked |= bit;
                known |= if partition.refresh.asked().is_some_and(|at| now.since(at) < BEST_EVERY) { bit } else { 0 };
                with_value |= if partition.refresh.best().is_some() { bit } else { 0 };
            }
        }
        // A single partition whose policy knows values needs no comparison.
        let is_alone = u64::count_ones(holding) == 1;
        if !is_alone || with_value == 0 {
            let unknown = asked & !known;
            with_value = (with_value & known) | ask_values(core, unknown, Asking::AtMost, sums, now);
        }
        if with_value != 0 {
            return (with_value, By::Value);
        }
        self.credit(&mut core.partitions, sums.held);
        (asked, By::Share)
    }

    /// Charges a visit to a held page to one partition: the others are owed one by their share of the held pages.
    pub fn charge(&mut self, partitions: &mut Partitions, id: PartitionId) {
        self.uncredited += 1.0;
        partitions.of_mut(id).refresh.credit -= 1.0;
    }

    /// Adds to the partitions' credits for the visits since the last call.
    fn credit(&mut self, partitions: &mut Partitions, held: u64) {
        let each = std::mem::take(&mut self.uncredited) / held.max(1) as f64;
        for partition in partitions.iter_mut() {
            partition.refresh.credit += partition.held as f64 * each;
        }
    }
}

/// Shows the policy of a partition the view that it would get if it chose now.
pub(crate) fn show_view(core: &mut Core, partition: PartitionId, now: Moment) {
    let sums = core.partitions.sums();
    ask_values(core, 1 << partition.0, Asking::AtMost, sums, now);
}

/// Asks the partitions for the value of their best visit, and returns those that know it.
fn ask_values(core: &mut Core, asked: u64, asking: Asking, sums: Sums, now: Moment) -> u64 {
    if asked == 0 {
        return 0;
    }
    let all = core.all_facts(1, sums);
    let mut with_value = 0;
    for index in bits(asked) {
        let facts = all.of(core.partitions.at(index));
        let Partition { refresh, sites, .. } = core.partitions.at_mut(index);
        let (policy, view) = refresh.with_view(sites, facts, now);
        let best = match asking {
            Asking::AtMost => policy.valued().and_then(|policy| policy.best_at_most(&view, now)),
            Asking::Exactly => policy.valued().and_then(|policy| policy.best(&view, now)).map(Best::Exactly),
        };
        refresh.told_best(best, now);
        with_value |= if best.is_some() { 1 << index } else { 0 };
    }
    with_value
}

/// Removes and returns the first partition: the one whose best visit has the highest value, or that is owed the most.
fn take_first(partitions: &Partitions, order: &mut u64, by: By) -> Option<usize> {
    let claim = |index: usize| match by {
        By::Value => partitions.at(index).refresh.best().map_or(f64::NEG_INFINITY, Best::most),
        By::Share => partitions.at(index).refresh.credit,
    };
    let mut left = bits(*order);
    let mut first = left.next()?;
    let mut most = claim(first);
    for index in left {
        let claim = claim(index);
        // Among equals the lowest number comes first.
        if claim.total_cmp(&most).is_gt() {
            (first, most) = (index, claim);
        }
    }
    *order &= !(1 << first);
    Some(first)
}

/// Passes the samples of topics, and the topics' change rates, of all partitions to each partition.
fn pool_topics(partitions: &mut Partitions) {
    let mut samples: BTreeMap<(u64, TopicId), (u32, u32)> = BTreeMap::new();
    let mut rates: BTreeMap<TopicId, RateSums> = BTreeMap::new();
    for policy in partitions.iter_mut().filter_map(|partition| partition.refresh.policy.topical()) {
        for sample in policy.topic_samples() {
            let (sampled, changed) = samples.entry((sample.cycle, sample.topic)).or_default();
            (*sampled, *changed) = (*sampled + sample.sampled, *changed + sample.changed);
        }
        for of in policy.topic_rates() {
            let sums = rates.entry(of.topic).or_default();
            *sums = sums.plus(of.sums);
        }
    }
    let rates: Vec<TopicRates> = rates.into_iter().map(|(topic, sums)| TopicRates { topic, sums }).collect();
    let sum = |((cycle, topic), (sampled, changed))| TopicSample { cycle, topic, sampled, changed };
    let samples: Vec<TopicSample> = samples.into_iter().map(sum).collect();
    let holding = partitions.iter_mut().filter(|partition| partition.held > 0);
    for policy in holding.filter_map(|partition| partition.refresh.policy.topical()) {
        policy.hear_topic_samples(&samples);
        policy.hear_topic_rates(&rates);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;
    use vernal_model::Site;

    use super::*;
    use crate::Settings;
    use crate::testing::{Bench, START, after, held, site_of_partition, unhindered, waiting};

    /// Partitions with this many waiting URLs each.
    fn with_waiting(waits: &BTreeMap<u8, u32>) -> Partitions {
        let mut partitions = Partitions::new(&Settings::default(), START).unwrap();
        for (&id, &count) in waits {
            let site = site_of_partition(id);
            let partition = partitions.of_mut(PartitionId(id));
            partition.sites.number(&site);
            for number in 0..count {
                assert!(partition.waiting.window.accept(waiting(&format!("http://{site}/{number}"), number)));
            }
        }
        partitions.note_active();
        partitions
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]
        #[test]
        fn the_round_for_new_urls_gives_every_partition_its_turn(
            waits in prop::collection::btree_map(0u8..64, 1u32..6, 1..6),
        ) {
            let (mut partitions, mut turns) = (with_waiting(&waits), PartitionTurns::default());
            let (mut left, mut round) = (waits.clone(), Vec::new());
            while let Some(next) = turns.next_new(&mut partitions, START) {
                let id = next.page.partition.0;
                // Nobody has a second turn before each of the others that have something left had one.
                if round.contains(&id) {
                    prop_assert!(left.iter().all(|(other, &count)| count == 0 || round.contains(other)));
                    round.clear();
                }
                round.push(id);
                *left.get_mut(&id).expect("it waits there") -= 1;
            }
            prop_assert!(left.values().all(|&count| count == 0), "{:?}", left);
        }

        #[test]
        fn what_partitions_are_owed_sums_up_to_nothing(
            held in prop::collection::vec(1i64..40, 1..6),
            visits in prop::collection::vec(0usize..6, 0..30),
        ) {
            let mut partitions = Partitions::new(&Settings::default(), START).unwrap();
            let mut turns = PartitionTurns::default();
            for (id, &pages) in held.iter().enumerate() {
                partitions.at_mut(id).count_held(&Site::new("a.example"), pages);
            }
            partitions.note_active();
            for visit in visits {
                turns.charge(&mut partitions, PartitionId((visit % held.len()) as u8));
            }
            let all = partitions.held();
            turns.credit(&mut partitions, all);
            let credits: f64 = partitions.iter().map(|partition| partition.refresh.credit).sum();
            prop_assert!(credits.abs() < 1e-9, "{credits}");
        }
    }

    #[test]
    fn a_partition_is_chosen_by_its_share_of_the_held_pages() {
        let mut partitions = Partitions::new(&Settings::default(), START).unwrap();
        let mut turns = PartitionTurns::default();
        for (id, pages) in [(3, 70), (9, 20), (40, 10)] {
            partitions.at_mut(id).count_held(&Site::new("a.example"), pages);
        }
        let (mut visits, all) = (BTreeMap::new(), 0b1 << 3 | 0b1 << 9 | 0b1 << 40);
        for _ in 0..1_000 {
            turns.credit(&mut partitions, 100);
            let first = take_first(&partitions, &mut { all }, By::Share).unwrap();
            turns.charge(&mut partitions, PartitionId(first as u8));
            *visits.entry(first).or_insert(0i32) += 1;
        }
        for (id, share) in [(3, 700), (9, 200), (40, 100)] {
            assert!((visits[&id] - share).abs() <= 2, "{visits:?}");
        }
    }

    #[test]
    fn who_claims_the_most_comes_first_and_of_equals_the_lowest_number() {
        let mut partitions = Partitions::new(&Settings::default(), START).unwrap();
        for (id, value) in [(2, 1.0), (5, 3.0), (7, 3.0), (60, 2.0)] {
            partitions.at_mut(id).refresh.told_best(Some(Best::Exactly(value)), START);
        }
        let mut order = 1 << 2 | 1 << 5 | 1 << 7 | 1 << 60 | 1 << 1;
        let taken: Vec<usize> = std::iter::from_fn(|| take_first(&partitions, &mut order, By::Value)).collect();
        assert_eq!(taken, [5, 7, 60, 2, 1], "who says nothing comes last");
        assert_eq!(order, 0);
    }

    /// Two partitions with pages, and the pages.
    fn two_partitions(policy: &str) -> (Bench, Vec<PageKey>) {
        let mut bench = Bench::new(Settings { policy: policy.into(), per_site: 4, ..unhindered() });
        let mut keys = Vec::new();
        for id in [1, 2] {
            for number in 0..4 {
                let page = held(&format!("http://{}/{number}", site_of_partition(id)), number);
                bench.hold(&page);
                keys.push(page.key);
            }
        }
        (bench, keys)
    }

    #[test]
    fn every_due_page_is_chosen_once_until_it_is_put_back() {
        for policy in ["round-robin", "change-frequency", "refresh-time", "nutch-adaptive", "vernal"] {
            let (mut bench, keys) = two_partitions(policy);
            let (mut turns, core) = (PartitionTurns::default(), &mut bench.crawler.core);
            let now = after(400 * 86_400);
            core.coordinator.account.in_hand = 1e6;
            let mut chosen = Vec::new();
            for tick in 0..64 {
                let sums = core.partitions.sums();
                chosen.extend(turns.choose(core, tick, sums, now));
            }
            let before = chosen.len();
            chosen.sort_unstable();
            chosen.dedup();
            assert_eq!(chosen.len(), before, "{policy} chose a page twice");
            assert!(chosen.iter().all(|key| keys.contains(key)) && !chosen.is_empty(), "{policy}: {chosen:?}");
        }
    }

    #[test]
    fn nothing_is_chosen_where_nothing_can_be_spent() {
        let (mut bench, _) = two_partitions("vernal");
        let (mut turns, core) = (PartitionTurns::default(), &mut bench.crawler.core);
        core.coordinator.account.in_hand = 0.0;
        let sums = core.partitions.sums();
        assert_eq!(turns.choose(core, 1, sums, after(86_400)), []);
        core.coordinator.account.in_hand = 1.0;
        assert_eq!(turns.choose(core, 1, Sums::default(), after(86_400)), [], "nor where nothing is held");
    }

    #[test]
    fn a_policy_whose_values_compare_gives_one_page_at_a_time() {
        let (mut bench, _) = two_partitions("vernal");
        let (mut turns, core) = (PartitionTurns::default(), &mut bench.crawler.core);
        core.coordinator.account.in_hand = 100.0;
        let sums = core.partitions.sums();
        assert_eq!(turns.choose(core, 1, sums, after(30 * 86_400)).len(), 1, "the next may lie in the other partition");
    }
}
