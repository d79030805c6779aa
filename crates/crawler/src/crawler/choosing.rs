//! Which held page is worth the next visit. Policies whose values can be compared are served in the order of value over
//! all partitions; the others by each partition's share of the held pages.

use vernal_model::{Account, BudgetUnit, Moment, Partition as PartitionId, Span};
use vernal_policy::{Belief, Best, RateSums};

use super::{Crawler, Sums, places};
use crate::coordinator::Lane;
use crate::partition::Partition;
use crate::refresh_view::Facts;

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

/// What the policies of all partitions together may see.
#[derive(Copy, Clone)]
pub(super) struct AllFacts(Facts);

impl AllFacts {
    /// The part of one partition: its share of the visits goes with its share of the held pages.
    pub(super) fn of(self, partition: &Partition) -> Facts {
        let AllFacts(all) = self;
        let per_day = if all.held == 0 { 0.0 } else { all.per_day * partition.held as f64 / all.held as f64 };
        Facts { held: partition.held, per_day, ..all }
    }
}

/// For how long the policy, which is the same in all partitions, saves up what it is paid.
pub(super) fn saves_up(partitions: &[Partition]) -> Span {
    partitions.first().map_or(Account::IN_HAND_MAX, |partition| partition.policy.saves_up())
}

impl Crawler {
    /// Asks the policies. What they choose is out until its visit is learned or it is put back.
    pub(super) fn choose(&mut self, sums: Sums, now: Moment) {
        let left = self.coordinator.visits_left(Lane::Due).min(self.settings.concurrency - self.in_flight.len());
        if left == 0 || sums.held == 0 {
            return;
        }
        self.sum_up_rates(now);
        let (mut order, by) = self.asked_from(sums, now);
        // A value holds for one page: the next best may lie in another partition, unless there is no other.
        let left = match by {
            By::Value if order.count_ones() == 1 => {
                self.partitions[order.trailing_zeros() as usize].room_of_last(now).clamp(1, left)
            }
            By::Value => 1,
            By::Share => left,
        };
        let all = self.all_facts(left, sums);
        while let Some(index) = self.take_first(&mut order, by) {
            // Who comes first by what it is worth at most says what it really is, unless nobody is left to be compared with.
            if by == By::Value && order != 0 && matches!(self.partitions[index].best, Some(Best::AtMost(_))) {
                order |= self.ask_values(1 << index, Asking::Exactly, sums, now);
                continue;
            }
            let facts = all.of(&self.partitions[index]);
            let mut chance = self.chance.numbered(self.next_order).numbered(index as u64);
            let partition = &mut self.partitions[index];
            partition.best_known = None;
            let (policy, view) = partition.policy_and_view(facts, now);
            let mut chosen = policy.choose(&view, now, &mut chance);
            let Some(&last) = chosen.last() else {
                (partition.best, partition.in_vain) = (None, Some(self.ticks));
                continue;
            };
            partition.last_chosen = partition.site_of(last);
            chosen.reverse();
            self.chosen = chosen;
            return;
        }
    }

    /// Lets the policy of a partition see what it would see if it chose now.
    pub(super) fn show_view(&mut self, partition: PartitionId, now: Moment) {
        self.ask_values(1 << partition.0, Asking::AtMost, self.sums(), now);
    }

    /// The partitions that are asked, a bit for each, and what their order goes by. One that had nothing to choose a moment
    /// ago is not asked again within the tick: where much waits and little is due, that would be most of the work.
    fn asked_from(&mut self, sums: Sums, now: Moment) -> (u64, By) {
        let (mut holding, mut asked, mut known, mut with_value) = (0, 0, 0, 0);
        for index in places(self.lively) {
            let (partition, bit) = (&self.partitions[index], 1 << index);
            if partition.held == 0 {
                continue;
            }
            holding |= bit;
            if partition.in_vain != Some(self.ticks) {
                asked |= bit;
                known |= if partition.best_known.is_some_and(|at| now.since(at) < BEST_EVERY) { bit } else { 0 };
                with_value |= if partition.best.is_some() { bit } else { 0 };
            }
        }
        // A lone one whose policy knows values has nothing to be compared with.
        let is_alone = u64::count_ones(holding) == 1;
        if !is_alone || with_value == 0 {
            let unknown = asked & !known;
            with_value = (with_value & known) | self.ask_values(unknown, Asking::AtMost, sums, now);
        }
        if with_value != 0 {
            return (with_value, By::Value);
        }
        self.credit(sums.held);
        (asked, By::Share)
    }

    /// Asks the partitions what their best visit is worth, and says which of them know.
    fn ask_values(&mut self, asked: u64, asking: Asking, sums: Sums, now: Moment) -> u64 {
        if asked == 0 {
            return 0;
        }
        let all = self.all_facts(1, sums);
        let mut with_value = 0;
        for index in places(asked) {
            let partition = &mut self.partitions[index];
            let facts = all.of(partition);
            let (policy, view) = partition.policy_and_view(facts, now);
            let best = policy.valued().and_then(|valued| match asking {
                Asking::AtMost => valued.best_at_most(&view, now),
                Asking::Exactly => valued.best(&view, now).map(Best::Exactly),
            });
            (partition.best, partition.best_known) = (best, Some(now));
            with_value |= if best.is_some() { 1 << index } else { 0 };
        }
        with_value
    }

    /// Takes out the partition that comes first: the one whose best visit is worth the most, or that is owed the most.
    fn take_first(&self, order: &mut u64, by: By) -> Option<usize> {
        let claim = |index: usize| match by {
            By::Value => self.partitions[index].best.map_or(f64::NEG_INFINITY, Best::most),
            By::Share => self.partitions[index].credit,
        };
        let mut left = places(*order);
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

    /// A visit to a held page of one partition: the others are owed one by their share of the held pages.
    pub(super) fn charge(&mut self, id: PartitionId) {
        self.uncredited += 1.0;
        self.partition(id).credit -= 1.0;
    }

    /// Gives the partitions what they are owed for the visits since last time.
    fn credit(&mut self, held: u64) {
        let each = std::mem::take(&mut self.uncredited) / held.max(1) as f64;
        for partition in &mut self.partitions {
            partition.credit += partition.held as f64 * each;
        }
    }

    fn sum_up_rates(&mut self, now: Moment) {
        if self.rates_summed.is_some_and(|at| now.since(at) < self.settings.rates_every) {
            return;
        }
        self.rates_summed = Some(now);
        let believing = || self.partitions.iter().filter_map(|partition| partition.policy.believing());
        let sums = believing().map(|believing| believing.rates());
        self.mean_rate = sums.fold(RateSums::default(), RateSums::plus).mean();
        let beliefs = believing().filter_map(|believing| believing.belief(now));
        self.belief = beliefs.reduce(Belief::plus);
        self.pool_topic_samples();
    }

    /// The numbers that are the same for every partition: summed up once by whoever asks all of them.
    pub(super) fn all_facts(&self, left: usize, Sums { held, waiting }: Sums) -> AllFacts {
        let counts_bytes = self.settings.budget.unit == BudgetUnit::WireBytes;
        let mean_bytes = if counts_bytes { self.mean_visit_bytes() } else { 0.0 };
        let per_day = self.coordinator.refresh_per_day(waiting, held, mean_bytes);
        // A process that ends when nothing is due takes a page up only when its turn has come: when the budget would have
        // come round to it. One that goes on for ever spends its budget as it flows, on the pages whose turn is next.
        let turn = Span::from_secs_f64(held as f64 / per_day.max(f64::MIN_POSITIVE) * 86_400.0);
        let refresh_min = self.settings.refresh_min;
        AllFacts(Facts {
            visits_left: left,
            refresh_min: if self.settings.once { refresh_min.max(turn) } else { refresh_min },
            held,
            any_site: false,
            per_day,
            mean_rate: self.mean_rate,
            counts_bytes,
            may_abandon: self.settings.abandon,
        })
    }

    pub(super) fn mean_visit_bytes(&self) -> f64 {
        let totals = self.reader.totals();
        totals.wire_bytes as f64 / totals.visits.max(1) as f64
    }
}
