//! One weekly cycle of the policies themselves, visit by visit, on pages of which it is known whether they have changed.

use vernal_model::{Chance, Moment, PageKey, Partition, PolicyState, Span, TopicOf};
use vernal_policy::{Held, OneCycle, Seen, by_name};

/// Pages with what a policy may know of them, and whether each has changed since it was last visited.
#[derive(Copy, Clone, Default)]
pub struct CycleWeb<'a> {
    pub sites: &'a [u32],
    /// A group of pages within a site; none where the list is empty.
    pub paths: &'a [u32],
    /// Each page's topics, the best first; none where the list is empty.
    pub topics: &'a [Vec<TopicOf>],
    pub changed: &'a [bool],
    /// How many pages the cycle may visit, samples included.
    pub visits: usize,
}

impl CycleWeb<'_> {
    /// The pages that a policy visits, in its order. The number decides what policies draw.
    pub fn visited(&self, policy: &str, number: u64) -> Vec<usize> {
        let Some(mut policy) = by_name(policy) else { return Vec::new() };
        let start = Moment::from_secs(0) + Span::from_days(7 * (100 + number % 1_000_000));
        let order = Chance::new(number);
        for page in 0..self.sites.len() {
            // An order of chance, the same for all policies, for the one that goes round.
            let last_visit = Moment::EPOCH + Span::from_secs(order.numbered(page as u64).below(86_400));
            let path = self.paths.get(page).copied().unwrap_or(0);
            let state = PolicyState::default();
            policy.recall(&Held { path, last_visit, ..Held::new(key(page), self.sites[page], Moment::EPOCH, &state) });
            if let (Some(topical), Some(topics)) = (policy.topical(), self.topics.get(page)) {
                topical.topics(key(page), topics);
            }
        }
        let view = OneCycle { pages: self.sites.len(), downloads: self.visits };
        let mut visited = Vec::with_capacity(self.visits);
        for visit in 0..self.visits {
            let now = start + Span::from_secs(1 + visit as u64);
            let Some(&page) = policy.choose(&view, now, &mut Chance::new(number)).first() else { break };
            let number = page.number as usize;
            visited.push(number);
            policy.learn(&Seen {
                previous: Some(Moment::EPOCH),
                changed: Some(self.changed[number]),
                degree: 0.5,
                wire_bytes: 1,
                ..Seen::new(page, now)
            });
        }
        visited
    }

    /// Changed visits over all visits.
    pub fn change_ratio(&self, visited: &[usize]) -> f64 {
        let changed = visited.iter().filter(|&&page| self.changed[page]).count();
        changed as f64 / visited.len().max(1) as f64
    }
}

fn key(page: usize) -> PageKey {
    PageKey::new(Partition(0), page as u32)
}
