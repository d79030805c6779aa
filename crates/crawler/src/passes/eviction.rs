//! The collection: what is held is bounded, what is known is not. Behind a pass over all links the least important held
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

/// While there is room, so many of the best are drawn first where the order of visits is that of importance.
const AHEAD_MAX: usize = 4_096;
/// For every URL that room is made for, this share more is wanted: some turn out to be no pages.
const SPARE_SHARE: f64 = 0.25;
/// A page that cannot be read any more counts so much of what it would: what is held of it only gets older.
const TROUBLED_SHARE: f32 = 0.2;

/// The least important held pages and the most important others, gathered while scores are told.
#[derive(Default)]
pub(crate) struct Ranking {
    limit: usize,
    /// The most important of the least important on top.
    held: BinaryHeap<Ranked>,
    /// The least important of the most important on top.
    known: BinaryHeap<Reverse<Ranked>>,
    /// Held pages that could not be read the last time. Looked up only.
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

/// Of two that count the same the first one known is the more important.
impl Ord for Ranked {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.importance.total_cmp(&other.importance).then_with(|| other.page.cmp(&self.page))
    }
}

impl Ranking {
    /// As much of a ranking as somebody will look at.
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

/// The pass that makes room for what is more important.
#[derive(Default)]
pub(crate) struct EvictionPass {
    ranked: Option<link_scores::Ranked>,
    mark: Option<GraphMark>,
    has_ended: bool,
}

impl EvictionPass {
    /// New scores were told: held pages and others are met with each other.
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

    /// With the mark the pass over all links is over: nothing of it is needed any more.
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

/// Makes room for what is more important, and says what a URL needs to get in; 0 while there is room.
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
    // Where more is held than should be, because the limit was lowered, the least important leave for nobody.
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

/// Names the URLs that are to be visited next, the best first.
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
    for weighted in known.iter().take(count) {
        if is_full && !is_better(weighted.importance, least) {
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

/// Whether a URL may come in: it still waits, or left long enough ago.
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

/// The page, if it may leave: it is held and well, or has failed for long, nothing is under way with it, and nobody
/// asked for it.
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

/// The page's row as its policy knew it, for a page that comes back to it: from the retries, or from outside of the
/// collection if it left so short a time ago that its history still tells something.
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
        // What failed since told nothing of the page.
        last_visit: before.last_confirmed.unwrap_or(before.last_visit),
        ..before.clone()
    }))
}

/// Held, and failing beyond the quick retries.
fn is_in_trouble(page: &Page) -> bool {
    page.state == PageState::Held && page.failures > QUICK_RETRIES_MAX
}
