//! Bounds the pages that are held; known URLs are not bounded. After a pass over all links, the least important held
//! pages make room for more important URLs that are known and not held.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashSet};

use vernal_frontier::VisitOrder;
use vernal_model::{Deed, Eviction, EvictionRow, GraphMark, Moment, Page, PageKey, PageState, Site};
use vernal_policy::collection::{HISTORY_KEPT, RETURN_AFTER, Swap, Weighted, is_better, swaps, swaps_max};
use vernal_repository::graph::NodeState;

use super::link_scores::{self, forget_sweeps};
use super::topics::forget_topics;
use super::{Pass, TURN_EVERY};
use crate::Result;
use crate::core::Core;
use crate::intake::page_life::{QUICK_RETRIES_MAX, VisitOwner, visit_owner};
use crate::plan::Planner;
use crate::plan::wanted::{WANTED_MAX, Wanted};
use crate::work::WHOLE;

/// While there is room and visits are ordered by importance, this many of the best URLs are drawn first.
const AHEAD_MAX: usize = 4_096;
/// For every URL that room is made for, this share more is wanted: some URLs turn out not to be pages.
const SPARE_SHARE: f64 = 0.25;
/// The importance of a page that can no longer be read is multiplied by this: its copy only gets older.
const TROUBLED_SHARE: f32 = 0.2;

/// The least important held pages and the most important other URLs, collected while scores are written.
#[derive(Default)]
pub(crate) struct Ranking {
    limit: usize,
    /// The most important of the least important is on top.
    held: BinaryHeap<Ranked>,
    /// The least important of the most important is on top.
    known: BinaryHeap<Reverse<Ranked>>,
    /// Held pages whose last visits failed. Looked up only.
    troubled: HashSet<PageKey>,
}

#[derive(Copy, Clone, PartialEq)]
struct Ranked {
    importance: f32,
    page: PageKey,
    left: bool,
}

impl Eq for Ranked {}

impl PartialOrd for Ranked {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

/// At equal importance, the URL that was known first ranks higher.
impl Ord for Ranked {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.importance.total_cmp(&other.importance).then_with(|| other.page.cmp(&self.page))
    }
}

impl Ranking {
    /// An empty ranking, bounded to the entries that eviction needs.
    pub fn of(core: &Core) -> Self {
        let full = (swaps_max(core.settings.pages_max) as f64 * (1.0 + SPARE_SHARE)) as usize * 2;
        let ahead = if core.settings.visit_order == VisitOrder::Importance { AHEAD_MAX } else { 0 };
        let limit = if core.is_collection_full() { full.max(ahead) } else { ahead };
        let mut ranking = Ranking { limit: limit.min(WANTED_MAX), ..Ranking::default() };
        if core.is_collection_full() {
            ranking.troubled.extend(core.partitions.iter().flat_map(|partition| partition.retries.held()));
        }
        ranking
    }

    pub fn is_wanted(&self) -> bool {
        self.limit > 0
    }

    pub fn add(&mut self, page: PageKey, importance: f32, state: NodeState) {
        let share = if self.troubled.contains(&page) { TROUBLED_SHARE } else { 1.0 };
        let place = Ranked { importance: importance * share, page, left: state == NodeState::Left };
        if state == NodeState::Held {
            self.held.push(place);
            if self.held.len() > self.limit {
                self.held.pop();
            }
        } else {
            self.known.push(Reverse(place));
            if self.known.len() > self.limit {
                self.known.pop();
            }
        }
    }
}

/// The pass that evicts pages for more important ones.
#[derive(Default)]
pub(crate) struct EvictionPass {
    ranked: Option<link_scores::Ranked>,
    mark: Option<GraphMark>,
    has_ended: bool,
}

impl EvictionPass {
    /// Starts with the ranking by new scores.
    pub fn begin(&mut self, ranked: link_scores::Ranked) {
        self.ranked = Some(ranked);
    }

    /// The mark of the pass over all links that ended with the last turn.
    pub fn take_mark(&mut self) -> Option<GraphMark> {
        self.mark.take()
    }
}

impl Pass for EvictionPass {
    fn is_due(&self, _: &Core, _: Moment) -> bool {
        self.ranked.is_some()
    }

    fn next(&self, _: &Core, now: Moment) -> Option<Moment> {
        self.ranked.is_some().then_some(now + TURN_EVERY)
    }

    fn reads_tables(&self) -> bool {
        false
    }

    fn turn(&mut self, core: &mut Core, plan: &mut Planner, now: Moment) -> Result<()> {
        let Some(link_scores::Ranked { ranking, mark }) = self.ranked.take() else { return Ok(()) };
        let mark = GraphMark { bar: make_room(core, plan, ranking, now)?, ..mark };
        core.work.push(WHOLE, Deed::GraphPassed(mark));
        (self.mark, self.has_ended) = (Some(mark), true);
        Ok(())
    }

    /// The mark ends the pass over all links: its files are no longer needed.
    fn checkpoint(&mut self, core: &Core) -> Result<()> {
        if std::mem::take(&mut self.has_ended) {
            forget_sweeps(core.work.derived())?;
        }
        Ok(())
    }

    fn has_ended(&self) -> bool {
        self.has_ended
    }
}

/// Makes room for more important URLs, and returns the importance that a URL needs to get in; 0 while there is room.
fn make_room(core: &mut Core, plan: &mut Planner, ranking: Ranking, now: Moment) -> Result<f32> {
    if !ranking.is_wanted() {
        return Ok(0.0);
    }
    let room = core.settings.pages_max.saturating_sub(core.partitions.held() + core.in_flight.first_visits()) as usize;
    let mut known = Vec::new();
    for Reverse(place) in ranking.known.into_sorted_vec() {
        if may_come(core, &place, now)? {
            known.push(Weighted { page: place.page, importance: place.importance });
        }
    }
    let is_full = core.is_collection_full();
    let wishes = swaps_max(core.settings.pages_max).min(WANTED_MAX);
    let mut held = Vec::new();
    for place in ranking.held.into_sorted_vec() {
        if held.len() == wishes || !is_full {
            break;
        }
        if may_leave(core, plan, place.page)?.is_some() {
            held.push(Weighted { page: place.page, importance: place.importance });
        }
    }
    // Where more pages are held than a lowered limit allows, the least important leave without a replacement.
    let surplus = core.partitions.held().saturating_sub(core.settings.pages_max) as usize;
    let rest = held.split_off(surplus.min(held.len()));
    let swaps = swaps(&rest, &known, room, wishes - held.len());
    let alone = held.iter().map(|&leaves| Swap { leaves, comes: leaves });
    for swap in alone.chain(swaps.iter().copied()) {
        leave(core, plan, &swap, now)?;
    }
    let least = rest.get(swaps.len()).or(rest.last()).map_or(0.0, |page| page.importance);
    want(core, &mut plan.wanted, &known, room + swaps.len(), (least, is_full))?;
    Ok(if is_full { least * vernal_policy::collection::MARGIN } else { 0.0 })
}

/// Names the URLs that are to be visited next, the best first: all that room was made for, and spare ones that are
/// better than the least important page that stays.
fn want(
    core: &Core,
    wanted: &mut Wanted,
    known: &[Weighted],
    room: usize,
    (least, is_full): (f32, bool),
) -> Result<()> {
    let spare = (room as f64 * (1.0 + SPARE_SHARE)).ceil() as usize;
    let count = if is_full { spare } else { AHEAD_MAX };
    let mut best: Vec<(PageKey, Site)> = Vec::new();
    for (place, weighted) in known.iter().take(count).enumerate() {
        if is_full && place >= room && !is_better(weighted.importance, least) {
            break;
        }
        let site = match core.work.url(weighted.page)? {
            Some(row) => row.place.site,
            None => continue,
        };
        best.push((weighted.page, site));
    }
    wanted.renew(best, is_full);
    Ok(())
}

/// Whether a URL may be held: it still waits, or it left long enough ago.
fn may_come(core: &Core, place: &Ranked, now: Moment) -> Result<bool> {
    if core.is_busy(place.page) {
        return Ok(false);
    }
    if !place.left {
        return Ok(core.work.page(place.page)?.is_none());
    }
    let left = core.work.left(place.page)?;
    Ok(left.is_none_or(|left| now.since(left.moment) >= RETURN_AFTER))
}

/// The page, if it may be evicted: it is held and readable or has failed for long, nothing is under way with it, and no
/// person asked for it.
fn may_leave(core: &Core, plan: &Planner, key: PageKey) -> Result<Option<Page>> {
    if core.is_busy(key) || plan.concerns(key) {
        return Ok(None);
    }
    let page = core.work.page(key)?.filter(|page| visit_owner(page) == VisitOwner::Policy || is_in_trouble(page));
    Ok(page.filter(|page| {
        let is_promised = core.scope.promise_of(&page.url, page.depth).at_least_every.is_some();
        !is_promised && core.scope.seed_at(&page.url).is_none()
    }))
}

fn leave(core: &mut Core, plan: &mut Planner, swap: &Swap, now: Moment) -> Result<()> {
    let key = swap.leaves.page;
    let Some(page) = may_leave(core, plan, key)? else { return Ok(()) };
    plan.drop_chosen(key);
    let site = page.url.site();
    let partition = core.partitions.of_mut(key.partition);
    partition.refresh.policy.forget(key);
    partition.refresh.invalidate();
    partition.count_held(&site, -1);
    tracing::debug!(url = page.url.as_str(), importance = swap.leaves.importance, "page evicted");
    let row = EvictionRow {
        moment: now,
        importance: swap.leaves.importance,
        better: swap.comes.importance,
        made_room_for: swap.comes.page,
    };
    let page = Page { state: PageState::Left, ..page };
    core.work.push(key.partition, Deed::Left(Box::new(Eviction { page, was: PageState::Held, row })));
    forget_topics(core, key);
    Ok(())
}

/// The page's row as its policy knew it, for a page that returns to the policy: from the retries, or after an eviction
/// so recent that the page's history is still useful.
pub(crate) fn remembered(core: &Core, before: &Page, now: Moment) -> Result<Option<Page>> {
    let is_remembered = match visit_owner(before) {
        VisitOwner::Policy => false,
        VisitOwner::Retry { .. } => before.last_confirmed.is_some(),
        VisitOwner::Nobody => core.work.left(before.key)?.is_some_and(|left| now.since(left.moment) < HISTORY_KEPT),
    };
    Ok(is_remembered.then(|| Page {
        state: PageState::Held,
        misses: 0,
        failures: 0,
        // Visits that failed since taught nothing about the page.
        last_visit: before.last_confirmed.unwrap_or(before.last_visit),
        ..before.clone()
    }))
}

/// Held, and failing after its quick retries.
fn is_in_trouble(page: &Page) -> bool {
    page.state == PageState::Held && page.failures > QUICK_RETRIES_MAX
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;
    use vernal_model::{Partition, Seed, Span};

    use super::*;
    use crate::Settings;
    use crate::in_flight::{Asked, Request};
    use crate::testing::{Bench, START, after, held, key_of, seed, unhindered};

    proptest! {
        #[test]
        fn a_ranking_keeps_the_least_important_held_and_the_most_important_others(
            limit in 0usize..8, pages in prop::collection::vec((0u8..20, 0u8..3), 0..40),
        ) {
            let mut ranking = Ranking { limit, ..Ranking::default() };
            let mut all = Vec::new();
            for (number, (importance, state)) in pages.into_iter().enumerate() {
                let page = PageKey::new(Partition(0), number as u32);
                let state = [NodeState::Held, NodeState::Waiting, NodeState::Left][usize::from(state)];
                ranking.add(page, f32::from(importance), state);
                let left = state == NodeState::Left;
                all.push((state == NodeState::Held, Ranked { importance: f32::from(importance), page, left }));
            }
            // By sorting.
            all.sort_by_key(|(_, of)| *of);
            let held: Vec<PageKey> = all.iter().filter(|(held, _)| *held).map(|(_, of)| of.page).take(limit).collect();
            let known = all.iter().rev().filter(|(held, _)| !held);
            let known: Vec<PageKey> = known.map(|(_, of)| of.page).take(limit).collect();
            prop_assert_eq!(ranking.held.into_sorted_vec().iter().map(|of| of.page).collect::<Vec<_>>(), held);
            let kept: Vec<PageKey> = ranking.known.into_sorted_vec().iter().map(|Reverse(of)| of.page).collect();
            prop_assert_eq!(kept, known);
        }
    }

    #[test]
    fn a_page_that_cannot_be_read_any_more_counts_a_part_of_what_it_would() {
        let page = PageKey::new(Partition(0), 1);
        let mut ranking = Ranking { limit: 2, troubled: [page].into(), ..Ranking::default() };
        ranking.add(page, 2.0, NodeState::Held);
        assert_eq!(ranking.held.pop().map(|of| of.importance), Some(2.0 * TROUBLED_SHARE));
    }

    /// A full collection of four pages, beside three known URLs.
    fn full(settings: Settings) -> Bench {
        let mut bench = Bench::seeded(Settings { pages_max: 4, ..settings }, &["http://a.example/s"]);
        bench.admit(&["http://a.example/w0", "http://a.example/w1", "http://a.example/w2"]);
        (10..14).for_each(|number| bench.hold(&page(number)));
        assert!(bench.crawler.core.is_collection_full());
        bench
    }

    fn page(number: u32) -> Page {
        held(&format!("http://a.example/h{number}"), number)
    }

    fn known(bench: &Bench, number: u32) -> PageKey {
        let url = crate::testing::url(&format!("http://a.example/w{number}"));
        bench.crawler.core.work.key_of(&url).unwrap().and_then(|known| known.key).unwrap()
    }

    /// A turn over pages of these importances, held from number ten and known from zero.
    fn evict(bench: &mut Bench, importances: &[f32], others: &[f32]) -> BTreeSet<u32> {
        let mut ranking = Ranking::of(&bench.crawler.core);
        for (place, &importance) in importances.iter().enumerate() {
            ranking.add(page(10 + place as u32).key, importance, NodeState::Held);
        }
        for (place, &importance) in others.iter().enumerate() {
            ranking.add(known(bench, place as u32), importance, NodeState::Waiting);
        }
        let crate::crawler::Crawler { core, plan, .. } = &mut bench.crawler;
        let mut eviction = EvictionPass::default();
        assert!(!eviction.is_due(core, START) && eviction.next(core, START).is_none());
        eviction.begin(link_scores::Ranked { ranking, mark: GraphMark::default() });
        assert!(eviction.is_due(core, START));
        eviction.turn(core, plan, START).unwrap();
        assert!(eviction.has_ended() && eviction.take_mark().is_some());
        core.work.commit(START).unwrap();
        let left =
            |number: &u32| core.work.page(page(*number).key).unwrap().is_none_or(|page| page.state == PageState::Left);
        (10..14).filter(left).collect()
    }

    #[test]
    fn pages_make_room_only_for_others_that_are_better_by_the_margin() {
        for (others, leave) in [
            (vec![1.2, 1.2, 1.2], vec![]),
            (vec![1.3, 1.0, 1.0], vec![10]),
            (vec![9.0, 2.6, 2.4], vec![10, 11]),
            (vec![9.0, 9.0, 9.0], vec![10, 11, 12]),
        ] {
            let mut bench = full(unhindered());
            let left = evict(&mut bench, &[1.0, 2.0, 3.0, 4.0], &others);
            assert_eq!(left, leave.iter().copied().collect(), "{others:?}");
            let core = &bench.crawler.core;
            let made_room = !leave.is_empty();
            assert_eq!(core.partitions.held(), 4 - leave.len() as u64);
            for number in leave {
                let row = core.work.left(page(number).key).unwrap().expect("it says why");
                assert!(is_better(row.better, row.importance) && row.made_room_for != page(number).key);
            }
            let first = bench.crawler.plan.wanted.take(START, |_, _| START).map(|(key, _)| key);
            assert_eq!(first, made_room.then(|| known(&bench, 0)), "the best comes where room was made");
        }
    }

    #[test]
    fn what_somebody_asked_for_and_what_is_busy_never_leaves() {
        let protections: [fn(&mut Bench); 5] = [
            |bench| bench.crawler.core.scope.put_seed(seed("http://a.example/h10")),
            |bench| {
                let least = Some(Span::from_days(1));
                let one =
                    Seed { at_least_every: least, scope: vernal_model::Scope::Prefix, ..seed("http://a.example/h") };
                bench.crawler.core.scope.set_seeds(vec![one]);
            },
            |bench| {
                let asked = Asked::Again(Box::new(page(10)));
                let (page, site) = (Some(page(10).key), page(10).url.site());
                let request = Request { page, site, address: None, asked, level: 0 };
                let id = bench.crawler.core.in_flight.next_id();
                bench.crawler.core.in_flight.sent(id, request);
            },
            |bench| {
                let visited = crate::testing::visit(Some(PageState::Held), &page(10), None);
                bench.crawler.core.work.push(page(10).key.partition, Deed::Visited(Box::new(visited)));
            },
            |bench| {
                let row = Page { failures: 1, ..page(10) };
                let visited = crate::testing::visit(Some(PageState::Held), &row, None);
                bench.crawler.core.work.push(row.key.partition, Deed::Visited(Box::new(visited)));
                bench.crawler.core.work.commit(START).unwrap();
            },
        ];
        for (place, protect) in protections.into_iter().enumerate() {
            let mut bench = full(unhindered());
            protect(&mut bench);
            let left = evict(&mut bench, &[0.1, 50.0, 50.0, 50.0], &[9.0, 9.0, 9.0]);
            assert!(left.is_empty(), "{place}: {left:?}");
        }
    }

    #[test]
    fn what_is_held_beyond_the_limit_leaves_for_nobody() {
        let mut bench = full(unhindered());
        bench.crawler.core.settings = std::sync::Arc::new(Settings { pages_max: 2, ..unhindered() });
        let left = evict(&mut bench, &[4.0, 3.0, 2.0, 1.0], &[]);
        assert_eq!(left, [12, 13].into());
        let row = bench.crawler.core.work.left(page(13).key).unwrap().unwrap();
        assert_eq!(row.made_room_for, page(13).key);
    }

    #[test]
    fn where_there_is_room_nobody_leaves() {
        let mut bench = full(unhindered());
        bench.crawler.core.settings = std::sync::Arc::new(Settings { pages_max: 100, ..unhindered() });
        assert!(evict(&mut bench, &[1.0, 1.0, 1.0, 1.0], &[9.0, 9.0, 9.0]).is_empty());
    }

    #[test]
    fn who_left_may_not_return_for_a_week_and_has_its_history_for_longer() {
        let mut bench = full(unhindered());
        evict(&mut bench, &[1.0, 2.0, 3.0, 4.0], &[9.0, 0.0, 0.0]);
        let core = &bench.crawler.core;
        let place = Ranked { importance: 9.0, page: page(10).key, left: true };
        assert!(!may_come(core, &place, START).unwrap());
        assert!(may_come(core, &place, START + RETURN_AFTER).unwrap());
        let row = core.work.page(page(10).key).unwrap().unwrap();
        let remembered = |now| remembered(core, &row, now).unwrap().map(|page| page.state);
        assert_eq!(remembered(after(60)), Some(PageState::Held));
        assert_eq!(remembered(START + HISTORY_KEPT), None);
        assert_eq!(super::remembered(core, &page(11), START).unwrap(), None, "it is with its policy already");
        assert_eq!(key_of("http://a.example/h10", 10), row.key);
    }
}
