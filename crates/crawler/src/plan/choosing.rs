//! Which held page is worth the next visit. Policies whose values can be compared are served in the order of value over
//! all partitions; the others by each partition's share of the held pages.

use std::collections::BTreeMap;

use vernal_frontier::Waiting;
use vernal_model::{Moment, PageKey, Partition as PartitionId, Span, TopicId};
use vernal_policy::{Best, RateSums, TopicRates, TopicSample};

use crate::coordinator::Lane;
use crate::core::Core;
use crate::partition::{Partition, Partitions, Sums, bits};

/// What a partition's best page is worth is asked again after this, if nothing happened there before: time goes on and
/// sites get free.
const BEST_EVERY: Span = Span::from_secs(1);

/// What the order of the partitions goes by.
#[derive(Copy, Clone, PartialEq, Eq)]
enum By {
    /// What their best visits are worth.
    Value,
    /// What they are owed.
    Share,
}

/// How exactly a partition says what its best visit is worth.
#[derive(Copy, Clone, PartialEq, Eq)]
enum Asking {
    AtMost,
    Exactly,
}

/// The round over the partitions: which one is asked next.
#[derive(Default)]
pub(crate) struct PartitionTurns {
    /// Where the round for new pages goes on.
    next: usize,
    /// Visits to held pages that the partitions' credits do not know of yet.
    uncredited: f64,
}

impl PartitionTurns {
    /// The next new URL, from the partition whose turn it is to the last, then from the first.
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

    /// Asks the policies, and gives what one of them chose, the first one last. It is out until its visit is learned or it
    /// is put back.
    pub fn choose(&mut self, core: &mut Core, tick: u64, sums: Sums, now: Moment) -> Vec<PageKey> {
        let left = core.coordinator.visits_left(Lane::Due).min(core.settings.concurrency - core.in_flight.len());
        if left == 0 || sums.held == 0 {
            return Vec::new();
        }
        if core.partitions.sum_up_rates(core.settings.rates_every, now) && core.settings.topics_every.is_some() {
            pool_topics(&mut core.partitions);
        }
        let (mut order, by) = self.asked_from(core, tick, sums, now);
        // A value holds for one page: the next best may lie in another partition, unless there is no other.
        let left = match by {
            By::Value if order.count_ones() == 1 => {
                core.partitions.at(order.trailing_zeros() as usize).room_of_last(now).clamp(1, left)
            }
            By::Value => 1,
            By::Share => left,
        };
        let all = core.all_facts(left, sums);
        while let Some(index) = take_first(&core.partitions, &mut order, by) {
            // Who comes first by what it is worth at most says what it really is, unless nobody is left to be compared with.
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

    /// The partitions that are asked, a bit for each, and what their order goes by. One that had nothing to choose a moment
    /// ago is not asked again within the tick: where much waits and little is due, that would be most of the work.
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
        // A lone one whose policy knows values has nothing to be compared with.
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

    /// A visit to a held page of one partition: the others are owed one by their share of the held pages.
    pub fn charge(&mut self, partitions: &mut Partitions, id: PartitionId) {
        self.uncredited += 1.0;
        partitions.of_mut(id).refresh.credit -= 1.0;
    }

    /// Gives the partitions what they are owed for the visits since last time.
    fn credit(&mut self, partitions: &mut Partitions, held: u64) {
        let each = std::mem::take(&mut self.uncredited) / held.max(1) as f64;
        for partition in partitions.iter_mut() {
            partition.refresh.credit += partition.held as f64 * each;
        }
    }
}

/// Lets the policy of a partition see what it would see if it chose now.
pub(crate) fn show_view(core: &mut Core, partition: PartitionId, now: Moment) {
    let sums = core.partitions.sums();
    ask_values(core, 1 << partition.0, Asking::AtMost, sums, now);
}

/// Asks the partitions what their best visit is worth, and says which of them know.
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

/// Takes out the partition that comes first: the one whose best visit is worth the most, or that is owed the most.
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
        // Of equals the lowest number comes first.
        if claim.total_cmp(&most).is_gt() {
            (first, most) = (index, claim);
        }
    }
    *order &= !(1 << first);
    Some(first)
}

/// Lets every partition hear what all have found in their samples of topics, and of the topics' change rates.
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
