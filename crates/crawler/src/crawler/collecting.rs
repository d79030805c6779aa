//! The collection: what is held is bounded, what is known is not. Behind a pass over all links the least important held
//! pages make room for more important URLs that are known and not held.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashSet};

use vernal_frontier::VisitOrder;
use vernal_model::{Deed, Eviction, EvictionRow, Moment, Page, PageKey, PageState, Site};
use vernal_policy::collection::{HISTORY_KEPT, RETURN_AFTER, Swap, Weighted, is_better, swaps, swaps_max};
use vernal_repository::graph::NodeState;

use super::Crawler;
use crate::Result;
use crate::intake::page_life::{Hands, QUICK_RETRIES_MAX, hands};
use crate::wanted::WANTED_MAX;

/// While there is room, so many of the best are drawn first where the order of visits is that of importance.
const AHEAD_MAX: usize = 4_096;
/// For every URL that room is made for, this share more is wanted: some turn out to be no pages.
const SPARE_SHARE: f64 = 0.25;
/// A page that cannot be read any more counts so much of what it would: what is held of it only gets older.
const TROUBLED_SHARE: f32 = 0.2;

/// The least important held pages and the most important others, gathered while scores are told.
#[derive(Default)]
pub(super) struct Ranking {
    limit: usize,
    /// The most important of the least important on top.
    held: BinaryHeap<Place>,
    /// The least important of the most important on top.
    known: BinaryHeap<Reverse<Place>>,
    /// Held pages that could not be read the last time. Looked up only.
    troubled: HashSet<PageKey>,
}

#[derive(Copy, Clone, PartialEq)]
struct Place {
    importance: f32,
    page: PageKey,
    left: bool,
}

impl Eq for Place {}

impl PartialOrd for Place {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

/// Of two that count the same the first one known is the more important.
impl Ord for Place {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.importance.total_cmp(&other.importance).then_with(|| other.page.cmp(&self.page))
    }
}

impl Ranking {
    pub fn new(limit: usize) -> Self {
        Ranking { limit, ..Ranking::default() }
    }

    pub fn is_wanted(&self) -> bool {
        self.limit > 0
    }

    pub fn add(&mut self, page: PageKey, importance: f32, state: NodeState) {
        let share = if self.troubled.contains(&page) { TROUBLED_SHARE } else { 1.0 };
        let place = Place { importance: importance * share, page, left: state == NodeState::Left };
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

impl Crawler {
    /// Whether all room is taken and something waits for some, or more is held than should be.
    pub(super) fn is_collection_full(&self) -> bool {
        let held = self.held();
        !self.may_discover() && (self.reader.totals().known > held || held > self.settings.pages_max)
    }

    /// As much of a ranking as somebody will look at.
    pub(super) fn ranking(&self) -> Ranking {
        let full = (swaps_max(self.settings.pages_max) as f64 * (1.0 + SPARE_SHARE)) as usize * 2;
        let ahead = if self.settings.visit_order == VisitOrder::Importance { AHEAD_MAX } else { 0 };
        let limit = if self.is_collection_full() { full.max(ahead) } else { ahead };
        let mut ranking = Ranking::new(limit.min(WANTED_MAX));
        if self.is_collection_full() {
            ranking.troubled.extend(self.partitions.iter().flat_map(|partition| partition.retries.held()));
        }
        ranking
    }

    /// Makes room for what is more important, and says what a URL needs to get in; 0 while there is room.
    pub(super) fn collect(&mut self, ranking: Ranking, now: Moment) -> Result<f32> {
        if !ranking.is_wanted() {
            return Ok(0.0);
        }
        let room = self.settings.pages_max.saturating_sub(self.held() + self.new_in_flight) as usize;
        let mut known = Vec::new();
        for Reverse(place) in ranking.known.into_sorted_vec() {
            if self.may_come(&place, now)? {
                known.push(Weighted { page: place.page, importance: place.importance });
            }
        }
        let is_full = self.is_collection_full();
        let wishes = swaps_max(self.settings.pages_max).min(WANTED_MAX);
        let mut held = Vec::new();
        for place in ranking.held.into_sorted_vec() {
            if held.len() == wishes || !is_full {
                break;
            }
            if self.may_leave(place.page)?.is_some() {
                held.push(Weighted { page: place.page, importance: place.importance });
            }
        }
        // Where more is held than should be, because the limit was lowered, the least important leave for nobody.
        let surplus = self.held().saturating_sub(self.settings.pages_max) as usize;
        let rest = held.split_off(surplus.min(held.len()));
        let swaps = swaps(&rest, &known, room, wishes - held.len());
        let alone = held.iter().map(|&leaves| Swap { leaves, comes: leaves });
        for swap in alone.chain(swaps.iter().copied()) {
            self.leave(&swap, now)?;
            if self.group.is_full(self.settings.group) {
                self.commit(now)?;
            }
        }
        let least = rest.get(swaps.len()).or(rest.last()).map_or(0.0, |page| page.importance);
        self.want(&known, room + swaps.len(), least, is_full)?;
        Ok(if is_full { least * vernal_policy::collection::MARGIN } else { 0.0 })
    }

    /// Names the URLs that are to be visited next, the best first.
    fn want(&mut self, known: &[Weighted], room: usize, least: f32, is_full: bool) -> Result<()> {
        let spare = (room as f64 * (1.0 + SPARE_SHARE)).ceil() as usize;
        let count = if is_full { spare } else { AHEAD_MAX };
        let mut best: Vec<(PageKey, Site)> = Vec::new();
        for weighted in known.iter().take(count) {
            if is_full && !is_better(weighted.importance, least) {
                break;
            }
            let site = match self.reader.url(weighted.page)? {
                Some(row) => row.place.site,
                None => continue,
            };
            best.push((weighted.page, site));
        }
        self.wanted.renew(best, is_full);
        Ok(())
    }

    /// Whether a URL may come in: it still waits, or left long enough ago.
    fn may_come(&self, place: &Place, now: Moment) -> Result<bool> {
        if self.out.contains(&place.page) {
            return Ok(false);
        }
        if !place.left {
            return Ok(self.reader.page(place.page)?.is_none());
        }
        let left = self.reader.left(place.page)?;
        Ok(left.is_none_or(|left| now.since(left.moment) >= RETURN_AFTER))
    }

    /// The page, if it may leave: it is held and well, or has failed for long, nothing is under way with it, and nobody
    /// asked for it.
    fn may_leave(&self, key: PageKey) -> Result<Option<Page>> {
        if self.out.contains(&key) || self.samples.concern(key) || self.second_looks.concern(key) {
            return Ok(None);
        }
        let page = self.reader.page(key)?.filter(|page| hands(page) == Hands::Policy || is_in_trouble(page));
        Ok(page.filter(|page| {
            let is_promised = self.promise_of(&page.url, page.depth).at_least_every.is_some();
            !is_promised && self.dispatcher.seed_at(&page.url).is_none()
        }))
    }

    fn leave(&mut self, swap: &Swap, now: Moment) -> Result<()> {
        let key = swap.leaves.page;
        let Some(page) = self.may_leave(key)? else { return Ok(()) };
        self.chosen.retain(|chosen| *chosen != key);
        let site = page.url.site();
        let partition = self.partition(key.partition);
        partition.policy.forget(key);
        partition.stir();
        partition.count_held(&site, -1);
        let row = EvictionRow {
            moment: now,
            importance: swap.leaves.importance,
            better: swap.comes.importance,
            made_room_for: swap.comes.page,
        };
        let page = Page { state: PageState::Left, ..page };
        self.group.push(key.partition, Deed::Left(Box::new(Eviction { page, was: PageState::Held, row })));
        self.forget_topics(key);
        Ok(())
    }

    /// The page's row as its policy knew it, for a page that comes back to it: from the retries, or from outside of the
    /// collection if it left so short a time ago that its history still tells something.
    pub(super) fn remembered(&self, before: &Page, now: Moment) -> Result<Option<Page>> {
        let is_remembered = match hands(before) {
            Hands::Policy => false,
            Hands::Retry { .. } => before.last_confirmed.is_some(),
            Hands::Nobody => self.reader.left(before.key)?.is_some_and(|left| now.since(left.moment) < HISTORY_KEPT),
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

    /// Where a URL stands with the collection, in words.
    pub(super) fn why_collected(&self, key: PageKey, state: Option<PageState>) -> Result<Vec<(String, String)>> {
        let mut reasons = Vec::new();
        let mut say = |name: &str, value: String| reasons.push((name.to_owned(), value));
        let mark = self.weighing.mark();
        if let Some(urls) = self.weighing.refused() {
            let most = self.settings.pass_urls_max;
            say("no pass over links", format!("{urls} known URLs are more than the {most} that one may take"));
        }
        let score = self.reader.score(key)?;
        if let Some(score) = score.filter(|_| mark.passes > 0) {
            say("score by links", format!("{score:.3} of a mean held page's, as of {}", mark.moment.rfc3339()));
        }
        if state == Some(PageState::Held) && self.is_collection_full() && mark.bar > 0.0 {
            say("held because", format!("a URL needs {:.3} to take a place (the collection is full)", mark.bar));
        }
        if let Some(left) = self.reader.left(key)? {
            let for_whom = match self.reader.url(left.made_room_for)?.filter(|_| left.made_room_for != key) {
                Some(row) => format!("to make room for {} with {:.3}", row.url, left.better),
                None => "because more was held than should be".to_owned(),
            };
            let words =
                format!("at {} with an importance of {:.3}, {for_whom}", left.moment.rfc3339(), left.importance);
            say(if state == Some(PageState::Left) { "left" } else { "had left" }, words);
            if state == Some(PageState::Left) {
                say("may return from", (left.moment + RETURN_AFTER).rfc3339());
                say("history kept until", (left.moment + HISTORY_KEPT).rfc3339());
            }
        }
        if matches!(state, None | Some(PageState::Left)) {
            match self.wanted.place_of(key) {
                Some(place) => say("wanted", format!("as number {} of those with room made for them", place + 1)),
                None if mark.bar > 0.0 && self.is_collection_full() => {
                    say("needs", format!("an importance of {:.3} to be held (the collection is full)", mark.bar));
                }
                None => {}
            }
        }
        Ok(reasons)
    }
}

/// Held, and failing beyond the quick retries.
fn is_in_trouble(page: &Page) -> bool {
    page.state == PageState::Held && page.failures > QUICK_RETRIES_MAX
}
