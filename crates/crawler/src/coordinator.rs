//! Above the partitions: the budget, and its split between new and held pages.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use vernal_model::{Budget, BudgetAccount, BudgetUnit, Moment, Share};

use crate::Settings;

/// Which kind of page a visit is for.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Lane {
    /// URLs never visited.
    New,
    /// Pages to come back to.
    Due,
}

/// Each lane gets at least this share of a shared budget while it has pages to visit.
pub(crate) const LANE_SHARE_MIN: f64 = 0.1;
/// The actual split is averaged over about this many visits.
const SPLIT_MEMORY: f64 = 1_000.0;

pub(crate) struct Coordinator {
    pub budget: Budget,
    pub account: BudgetAccount,
    /// Whether the budget account changed since it was journalled.
    pub account_moved: bool,
    /// The true number of pages online, which only a trial can know.
    pub pages_online: Option<u64>,
    sent_new: f64,
    sent_due: f64,
    /// Visits that wait for a robots.txt that is under way, and those whose robots.txt was answered and that wait for the
    /// site's delay, by when that is over.
    behind_robots: usize,
    behind_delay: BinaryHeap<Reverse<Moment>>,
}

impl Coordinator {
    pub(crate) fn new(settings: &Settings, account: BudgetAccount) -> Self {
        Coordinator {
            budget: settings.budget,
            account,
            account_moved: false,
            pages_online: None,
            sent_new: 0.0,
            sent_due: 0.0,
            behind_robots: 0,
            behind_delay: BinaryHeap::new(),
        }
    }

    /// The share of visits for discovery: waiting / (waiting + held), within 10 and 90 per cent.
    pub(crate) fn discovery_share(waiting: u64, held: u64) -> Share {
        if waiting == 0 {
            return Share::clamped(LANE_SHARE_MIN);
        }
        let share = waiting as f64 / (waiting + held) as f64;
        Share::clamped(share.clamp(LANE_SHARE_MIN, 1.0 - LANE_SHARE_MIN))
    }

    /// The lane that is behind its share. The other lane may use what this one leaves.
    pub(crate) fn lane(&self, share: Share) -> Lane {
        let sent = self.sent_new + self.sent_due;
        if sent == 0.0 || self.sent_new <= share.value() * sent { Lane::New } else { Lane::Due }
    }

    /// A budget given as a percentage of the held pages is for refreshing alone: then only politeness bounds discovery.
    fn is_charged(&self, lane: Lane) -> bool {
        lane == Lane::Due || self.budget.unit != BudgetUnit::PercentOfHeld
    }

    /// The pages that a percentage of the held ones is of. Where the truth is known, pages that are gone and not known to be
    /// so pay for nothing.
    pub(crate) fn pages_paid_for(&self, held: u64) -> u64 {
        self.pages_online.map_or(held, |online| held.min(online))
    }

    pub(crate) fn can_spend(&self, lane: Lane) -> bool {
        self.visits_left(lane) > 0
    }

    /// Whole visits that the lane may make now, beside those that wait for their robots.txt; bytes are not known before, so
    /// then one at a time.
    pub(crate) fn visits_left(&self, lane: Lane) -> usize {
        if !self.is_charged(lane) {
            return usize::MAX;
        }
        match self.budget.unit {
            BudgetUnit::WireBytes => usize::from(self.account.can_spend()),
            BudgetUnit::Visits | BudgetUnit::PercentOfHeld => {
                (self.account.in_hand.max(0.0) as usize).saturating_sub(self.behind_robots + self.behind_delay.len())
            }
        }
    }

    /// Charges a request that leaves.
    pub(crate) fn sent(&mut self, lane: Lane) {
        if self.sent_new + self.sent_due > SPLIT_MEMORY {
            self.sent_new /= 2.0;
            self.sent_due /= 2.0;
        }
        match lane {
            Lane::New => self.sent_new += 1.0,
            Lane::Due => self.sent_due += 1.0,
        }
        if self.is_charged(lane) && self.budget.unit != BudgetUnit::WireBytes {
            self.spend(1.0);
        }
    }

    /// Charges a request for a robots.txt. It belongs to no lane. A budget given as a percentage of the held pages says
    /// how many of them are visited, so it does not pay for this request: else a small site would spend its visits on
    /// its robots.txt.
    ///
    /// Returns whether a visit is reserved for the page whose robots.txt is asked for. Without the reservation, when
    /// the robots.txt of many sites expire at once, all of them are asked for as long as one visit is left, from the
    /// site with the most valuable page down to the least valuable, and the visit goes to the first site that happens
    /// to be free.
    #[must_use]
    pub(crate) fn sent_for_robots(&mut self, lane: Lane) -> bool {
        if self.budget.unit == BudgetUnit::Visits {
            self.spend(1.0);
        }
        let stands_for_visit = self.is_charged(lane) && self.budget.unit != BudgetUnit::WireBytes;
        self.behind_robots += usize::from(stands_for_visit);
        stands_for_visit
    }

    /// A robots.txt with a reserved visit was answered: the visit can leave at this Moment.
    pub(crate) fn robots_answered(&mut self, free: Moment) {
        self.behind_robots = self.behind_robots.saturating_sub(1);
        self.behind_delay.push(Reverse(free));
    }

    /// Releases the reservations of visits whose site is free by now: the policy chooses them next, or prefers others.
    pub(crate) fn release(&mut self, now: Moment) {
        while self.behind_delay.peek().is_some_and(|&Reverse(free)| free <= now) {
            self.behind_delay.pop();
        }
    }

    /// The Moment of the first release.
    pub(crate) fn next_release(&self) -> Option<Moment> {
        self.behind_delay.peek().map(|&Reverse(free)| free)
    }

    /// Adds the bytes that a request cost on the wire.
    pub(crate) fn weighed(&mut self, wire_bytes: u64) {
        if self.budget.unit == BudgetUnit::WireBytes {
            self.spend(wire_bytes as f64);
        }
    }

    fn spend(&mut self, amount: f64) {
        self.account.spend(amount);
        self.account_moved = true;
    }

    /// Visits a day that go to held pages: all that discovery does not need.
    pub(crate) fn refresh_per_day(&self, waiting: u64, held: u64, mean_bytes: f64) -> f64 {
        let per_day = self.budget.per_second(self.pages_paid_for(held)) * 86_400.0;
        let share = if waiting == 0 { Share::default() } else { Self::discovery_share(waiting, held) };
        match self.budget.unit {
            BudgetUnit::PercentOfHeld => per_day,
            BudgetUnit::Visits => per_day * (1.0 - share.value()),
            BudgetUnit::WireBytes => per_day / mean_bytes.max(1.0) * (1.0 - share.value()),
        }
    }

    pub(crate) fn next_money(&self, held: u64, now: Moment) -> Option<Moment> {
        let next = self.account.next(&self.budget, self.pages_paid_for(held));
        (next > now && next != Moment::NEVER).then_some(next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_of_discovery_stays_between_a_tenth_and_nine_tenths() {
        assert_eq!(Coordinator::discovery_share(0, 100).value(), 0.1);
        assert_eq!(Coordinator::discovery_share(100, 0).value(), 0.9);
        assert_eq!(Coordinator::discovery_share(50, 50).value(), 0.5);
    }

    #[test]
    fn lanes_get_their_share_while_both_have_work() {
        let settings = Settings { budget: "1000/s".parse().unwrap(), ..Settings::default() };
        let mut coordinator = Coordinator::new(&settings, BudgetAccount::default());
        let share = Share::clamped(0.3);
        let mut new = 0;
        for _ in 0..10_000 {
            let lane = coordinator.lane(share);
            new += u32::from(lane == Lane::New);
            coordinator.sent(lane);
        }
        assert!((2_950..=3_050).contains(&new), "{new}");
    }

    #[test]
    fn a_percentage_of_the_held_pages_charges_refreshing_only() {
        let mut coordinator = Coordinator::new(&Settings::default(), BudgetAccount::default());
        coordinator.sent(Lane::New);
        assert_eq!(coordinator.account.spent, 0.0);
        coordinator.sent(Lane::Due);
        assert_eq!(coordinator.account.spent, 1.0);
        assert!(coordinator.can_spend(Lane::New) && !coordinator.can_spend(Lane::Due));
    }

    #[test]
    fn a_robots_txt_is_paid_from_a_number_of_visits_and_not_from_a_percentage() {
        for (budget, spent) in [("20%/day", 0.0), ("500/day", 1.0), ("2GB/day", 700.0)] {
            let settings = Settings { budget: budget.parse().unwrap(), ..Settings::default() };
            let mut coordinator = Coordinator::new(&settings, BudgetAccount::default());
            let _ = coordinator.sent_for_robots(Lane::Due);
            coordinator.weighed(700);
            assert_eq!(coordinator.account.spent, spent, "{budget}");
        }
    }

    #[test]
    fn a_robots_txt_stands_for_the_visit_that_follows_it_until_its_site_is_free() {
        let settings = Settings { budget: "20%/day".parse().unwrap(), ..Settings::default() };
        let account = BudgetAccount { in_hand: 2.5, ..BudgetAccount::default() };
        let mut coordinator = Coordinator::new(&settings, account);
        assert!(coordinator.sent_for_robots(Lane::Due));
        assert_eq!(coordinator.visits_left(Lane::Due), 1);
        assert!(coordinator.sent_for_robots(Lane::Due));
        assert!(!coordinator.can_spend(Lane::Due), "both visits wait for a robots.txt");
        assert!(!coordinator.sent_for_robots(Lane::New), "nobody pays for discovery");
        assert!(coordinator.can_spend(Lane::New));
        let free = Moment::from_secs(9);
        coordinator.robots_answered(free);
        coordinator.release(Moment::from_secs(8));
        assert_eq!((coordinator.visits_left(Lane::Due), coordinator.next_release()), (0, Some(free)));
        coordinator.release(free);
        assert_eq!((coordinator.visits_left(Lane::Due), coordinator.next_release()), (1, None));
    }

    #[test]
    fn bytes_are_kept_for_no_visit() {
        let settings = Settings { budget: "2GB/day".parse().unwrap(), ..Settings::default() };
        let account = BudgetAccount { in_hand: 1e6, ..BudgetAccount::default() };
        let mut coordinator = Coordinator::new(&settings, account);
        assert!(!coordinator.sent_for_robots(Lane::Due));
        assert!(coordinator.can_spend(Lane::Due));
    }
}
