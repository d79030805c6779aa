//! Whether there is anything to do, when there will be, and how the crawler is.

use vernal_model::Moment;

use super::{Crawler, DISK_CHECK_EVERY};
use crate::Pulse;
use crate::coordinator::Lane;
use crate::refresh_view::Facts;

impl Crawler {
    /// Whether nothing waits, nothing is under way and nothing is due.
    pub fn is_idle(&self, now: Moment) -> bool {
        let may_discover = self.may_discover();
        let nothing_waits = self.in_flight.is_empty()
            && self.chosen.is_empty()
            && !self.group.has_found
            && self.scope_is_followed()
            && !self.topics_wait(now)
            && (self.wanted.is_empty() || !may_discover)
            && self.reader.totals().found_pending == 0;
        if !nothing_waits {
            return false;
        }
        let all = self.all_facts(1, self.sums());
        self.partitions.iter().all(|partition| {
            let facts = Facts { any_site: true, ..all.of(partition) };
            let due = partition.policy.next_due(&partition.view(facts, now), now);
            let nothing_due = due.is_none_or(|due| due > now);
            let nothing_new = partition.frontier.is_empty() && partition.undrawn() == 0;
            let nothing_new = nothing_new && !partition.has_quick_retries(Lane::New);
            (nothing_new || !may_discover) && !partition.has_quick_retries(Lane::Due) && nothing_due
        })
    }

    /// When a tick is worth calling again if no report comes first.
    pub fn next_wake(&self, now: Moment) -> Option<Moment> {
        self.next_wake_or_soon(now, now)
    }

    /// The same for somebody who will not look before `soon`: any wake until then is as good as the first.
    pub fn next_wake_or_soon(&self, now: Moment, soon: Moment) -> Option<Moment> {
        if self.paused {
            return None;
        }
        let mut wakes: Vec<Moment> = Vec::new();
        wakes.extend(self.coordinator.next_money(self.held(), now));
        wakes.extend(self.coordinator.next_release());
        wakes.extend(self.second_looks.next());
        wakes.extend(self.subscriptions.next());
        wakes.extend(self.companions.next());
        wakes.extend(self.next_sieve());
        if self.disk_full {
            wakes.push(self.disk_checked + DISK_CHECK_EVERY);
        } else {
            wakes.extend(self.next_widening(now));
            wakes.extend(self.next_topics(now));
            wakes.extend(self.next_weighing(now));
            wakes.extend(self.wanted.next().filter(|_| self.may_discover()));
        }
        wakes.retain(|&wake| wake > now);
        if let Some(first) = wakes.iter().copied().min().filter(|&first| first <= soon) {
            return Some(first);
        }
        let all = self.all_facts(1, self.sums());
        for partition in self.lively() {
            wakes.extend(partition.politeness.next_free(now));
            wakes.extend(partition.retries.first());
            wakes.extend(partition.policy.next_due(&partition.view(all.of(partition), now), now));
        }
        wakes.into_iter().filter(|&wake| wake > now).min()
    }

    pub fn pulse(&self) -> Pulse {
        let sites = self.partitions.iter().flat_map(|partition| &partition.sites);
        Pulse {
            in_flight: self.in_flight.len(),
            window: self.partitions.iter().map(|partition| partition.frontier.len()).sum(),
            orders_sent: self.next_order,
            reports_taken: self.reports_taken,
            commits: self.commits,
            paused: self.paused,
            disk_full: self.disk_full,
            sites: self.home.len(),
            sites_backing_off: sites.filter(|life| life.profile.failures > 0).count(),
            budget_in_hand: self.coordinator.account.in_hand,
            believed: self.belief.filter(|belief| belief.weight > 0.0).map(|belief| belief.fresh / belief.weight),
            measured: self.samples.measured(),
            pass_refused_urls: self.weighing.refused(),
            scope_pass_pages: self.widening.progress(),
            retries_waiting: self.partitions.iter().map(|partition| partition.retries.len()).sum(),
        }
    }
}
