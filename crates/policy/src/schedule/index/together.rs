//! Many pages that are drawn together. Where thousands of sites have a page on one rung and there are visits for most of them,
//! nobody is served worse if they are drawn in the order in which their sites lie in memory: on a rung all are worth the same.
//! What is kept of neighbours lies near, and who hears of the visits in the same order finds it so again.

use vernal_model::PageKey;

use super::ahead::{AHEAD, Head};
use super::policy::Index;
use super::rungs::{level_of, number_of};
use crate::View;

/// Fewer visits than this are drawn one by one, and so are those of a rung with fewer sites: they lie apart in any order.
pub(super) const TOGETHER_MIN: usize = 4_096;
/// One visit in so many is left to those who come to stand among the others while these are drawn.
const SPARE: usize = 8;
/// So many sites are asked for before the first of them is drawn from: what is kept of them fits the nearer caches.
const PART: usize = 64;

impl Index {
    /// Draws pages of the best rung at or after a place in the order of steps until that lies behind all of them; false if they
    /// are not many enough.
    pub(super) fn draw_together(
        &mut self,
        view: &dyn View,
        wanted: usize,
        now: f64,
        after: &mut u64,
        drawn: &mut Vec<PageKey>,
    ) -> bool {
        let left = wanted - drawn.len();
        if left < self.together_min {
            return false;
        }
        let first = self.heads.first_from(*after).filter(|&first| level_of(first) >= self.floor);
        let Some(first) = first.filter(|&first| self.heads.standing_with(first) >= self.together_min) else {
            return false;
        };
        let Some((last, mut sites)) = self.heads.take_from(first, left - left / SPARE) else { return false };
        sites.sort_unstable();
        for part in sites.chunks(PART) {
            self.ask_for_ladders(part);
            let mut heads: Vec<Head> = Vec::with_capacity(2 * PART);
            for &site in part {
                let ladder = &mut self.sites[site as usize].ladder;
                ladder.hide();
                heads.extend(ladder.some_until(last).map(|step| Head::of_site(step, site)));
            }
            self.draw_part(&mut heads, last, view, wanted, now, drawn);
            for &site in part {
                self.sites[site as usize].ladder.reveal();
                self.show_head(site);
            }
        }
        *after = last + 1;
        true
    }

    /// Draws these pages and those that come to stand before the last step meanwhile, of sites whose best steps were taken from
    /// those of all sites.
    fn draw_part(
        &mut self,
        heads: &mut [Head],
        last: u64,
        view: &dyn View,
        wanted: usize,
        now: f64,
        drawn: &mut Vec<PageKey>,
    ) {
        for index in 0..heads.len() {
            if index.is_multiple_of(AHEAD) {
                self.ask_for_part(heads, index / AHEAD);
            }
            let head = &heads[index];
            let is_last = heads.get(index + 1).is_none_or(|next| next.site != head.site);
            let until = if is_last { last } else { head.step };
            self.draw_until(head.site, until, view, wanted, now, drawn);
        }
    }

    /// Draws the pages of a site whose steps are no worse than one.
    fn draw_until(
        &mut self,
        site: u32,
        until: u64,
        view: &dyn View,
        wanted: usize,
        now: f64,
        drawn: &mut Vec<PageKey>,
    ) {
        while drawn.len() < wanted {
            let Some(head) = self.sites[site as usize].ladder.head().filter(|&head| head <= until) else { break };
            let number = number_of(head);
            let page = *self.pages.at(number);
            if !view.has_room(page.key(number)) {
                break;
            }
            if self.is_still_there(number, &page, now) {
                drawn.push(page.key(number));
                self.let_go(number, now);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;
    use vernal_model::{Chance, Moment, Partition, PolicyState, Span};

    use super::*;
    use crate::{Held, Refresh, Seen};

    /// Pages on rungs that are next to each other differ by no more than this.
    const TWO_RUNGS: f64 = 1.1 * 1.1 * 1.001;

    struct Day {
        visits_left: usize,
        pages: u32,
        sites: u32,
        /// One site in so many has no room.
        closed: u32,
    }

    impl View for Day {
        fn visits_left(&self) -> usize {
            self.visits_left
        }
        fn has_room(&self, page: PageKey) -> bool {
            self.closed == 0 || !(page.number % self.sites).is_multiple_of(self.closed)
        }
        fn refresh_min(&self) -> Span {
            Span::ZERO
        }
        fn held(&self) -> u64 {
            self.pages.into()
        }
        fn per_day(&self) -> f64 {
            self.visits_left as f64 * 8.0
        }
    }

    fn recalled(name: &str, pages: u32, sites: u32, start: Moment) -> Index {
        let (mut policy, mut chance) = (Index::named(name).unwrap(), Chance::new(7));
        for number in 0..pages {
            let last = start - Span::from_hours(chance.below(24 * 9));
            let key = PageKey::new(Partition(0), number);
            policy.recall(&Held { path: number % 3, ..Held::new(key, number % sites, last, &PolicyState::default()) });
        }
        policy
    }

    /// Every site shows the best step of its ladder, and nobody else shows one.
    fn check_heads(policy: &mut Index) {
        let mut shown = BTreeSet::new();
        while let Some(head) = policy.heads.first_from(shown.last().map_or(0, |last| last + 1)) {
            shown.insert(head);
        }
        let best: BTreeSet<u64> = policy.sites.iter().filter_map(|site| site.ladder.head()).collect();
        assert_eq!(shown, best);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        #[test]
        fn many_drawn_together_are_those_that_are_drawn_one_by_one_but_for_equals(
            sites in 5u32..60,
            pages_a_site in prop_oneof![3 => 1u32..20, 1 => Just(120)],
            share in 1usize..12,
            closed in 0u32..5,
            chance in any::<u64>(),
        ) {
            let (pages, start) = (sites * pages_a_site, Moment::from_secs(1_700_000_000));
            let view = Day { visits_left: (pages as usize / share).max(2), pages, sites, closed };
            for name in ["vernal", "bayes", "index"] {
                let mut together = recalled(name, pages, sites, start);
                together.together_min = 2;
                let mut chance = Chance::new(chance);
                for hour in (3..100).step_by(3) {
                    let now = start + Span::from_hours(hour);
                    let mut one_by_one = Index { together_min: usize::MAX, ..together.clone() };
                    let mut one_by_one = one_by_one.choose(&view, now, &mut Chance::new(1));
                    together.prepare(&view, now);
                    let value: Vec<(f64, u32)> = together.rescan(now);
                    let value = |page: &PageKey| value.iter().find(|(_, number)| *number == page.number).unwrap().0;
                    let chosen = together.choose(&view, now, &mut Chance::new(1));
                    check_heads(&mut together);
                    prop_assert_eq!(chosen.len(), one_by_one.len());
                    prop_assert!(chosen.iter().all(|&page| view.has_room(page)));
                    let all: BTreeSet<PageKey> = chosen.iter().copied().collect();
                    prop_assert_eq!(all.len(), chosen.len(), "a page was drawn twice");
                    one_by_one.retain(|page| !all.contains(page));
                    let least = chosen.iter().map(value).fold(f64::INFINITY, f64::min);
                    for page in one_by_one {
                        prop_assert!(value(&page) <= least * TWO_RUNGS, "{} was left and {} taken", value(&page), least);
                    }
                    for page in chosen {
                        let changed = Some(chance.happens(if page.number % sites < 3 { 0.5 } else { 0.05 }));
                        let (moment, previous, last_modified) = (now, None, None);
                        together.learn(&Seen { page, moment, previous, changed, degree: 0.0, last_modified, wire_bytes: 0 });
                    }
                }
            }
        }
    }
}
