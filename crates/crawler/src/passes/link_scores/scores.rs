//! The stages of a pass over all links, and when one is due.

use vernal_frontier::VisitOrder;
use vernal_model::{Deed, GraphMark, Moment, PageKey, Partition as PartitionId, Span, Url, WeightRow};
use vernal_policy::importance::{Scores, TOLERANCE, importance};
use vernal_repository::graph::{GatheredLinks, LinkGathering, LinkStream, NodeState, PassStart};

use crate::Result;
use crate::core::Core;
use crate::passes::eviction::Ranking;
use crate::passes::{Pass, TURN_EVERY};
use crate::plan::Planner;
use crate::weights::ImportanceBy;
use crate::work::Work;

/// While somebody needs the scores, a pass begins after so many visits, or this share of the held pages …
const VISITS_MIN: u64 = 64;
const VISITS_SHARE: f64 = 0.2;
/// … and at most so often: a pass over a million pages takes half a minute.
const PASS_EVERY_MIN: Span = Span::from_secs(600);
/// While nobody does, a pass keeps the links by target at hand, and is made seldom. Fewer pages than this are read through
/// in no time when somebody asks who links to one of them: for them it is never made.
const IDLE_PAGES_MIN: u64 = 10_000;
const IDLE_PASS_EVERY: Span = Span::from_days(1);
/// Work of one turn, in pages whose links are read; it takes some milliseconds.
const PAGES_PER_TURN: usize = 256;
/// A node of a sweep costs this part of reading a page.
const NODES_PER_PAGE: usize = 64;
/// A row of scores is told again when one of them moved by more than this: less changes no choice.
const MOVED_MIN: f32 = 0.01;

/// Where the passes stand.
pub(crate) struct LinkScores {
    stage: Stage,
    /// The last pass that came to its end.
    mark: GraphMark,
    /// There are so many URLs, more than a pass may take.
    refused: Option<u64>,
    weighed: Weighed,
    /// A pass whose scores are told, and whose ranking waits for eviction.
    ranked: Option<Ranked>,
}

/// What this process has done for passes over all links.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Weighed {
    /// Pages whose links were read.
    pub pages: u64,
    /// Sweeps that came to their end.
    pub sweeps: u64,
    /// Rows of scores that were told.
    pub rows: u64,
}

/// A pass whose scores are told: only what a URL needs to be held is missing in its mark.
pub(crate) struct Ranked {
    pub ranking: Ranking,
    pub mark: GraphMark,
}

#[derive(Default)]
pub(super) enum Stage {
    #[default]
    Idle,
    Gathering(Box<LinkGathering>),
    /// The links out of each page are counted.
    Counting(Box<Counting>),
    Sweeping(Box<Sweeping>),
    Telling(Box<Telling>),
    /// The scores are told; the ranking is with eviction.
    Told,
}

pub(super) struct Counting {
    begun: PassStart,
    gathered: GatheredLinks,
    stream: LinkStream,
    links: Vec<u32>,
}

pub(super) struct Sweeping {
    pub begun: PassStart,
    pub gathered: GatheredLinks,
    pub stream: LinkStream,
    pub scores: Scores,
}

pub(super) struct Telling {
    begun: PassStart,
    gathered: GatheredLinks,
    scores: Scores,
    mean: f64,
    /// The next row to be told.
    partition: u8,
    chunk: u32,
    ranking: Ranking,
}

impl LinkScores {
    pub fn new(mark: GraphMark) -> Self {
        LinkScores { stage: Stage::Idle, mark, refused: None, weighed: Weighed::default(), ranked: None }
    }

    pub fn mark(&self) -> GraphMark {
        self.mark
    }

    /// How many URLs there were when a pass was refused because of it.
    pub fn refused(&self) -> Option<u64> {
        self.refused
    }

    /// What this process has done for passes over all links.
    pub fn weighed(&self) -> Weighed {
        self.weighed
    }

    /// The pass whose scores were told just now, for eviction.
    pub fn take_ranked(&mut self) -> Option<Ranked> {
        self.ranked.take()
    }

    /// Eviction has done its part: the pass is over, with this mark.
    pub fn end(&mut self, mark: GraphMark) {
        (self.mark, self.stage) = (mark, Stage::Idle);
    }

    fn is_under_way(&self) -> bool {
        !matches!(self.stage, Stage::Idle | Stage::Told)
    }

    /// Goes on for at most about so many pages; says how many it was.
    fn go_on(&mut self, core: &mut Core, pages: usize, now: Moment) -> Result<usize> {
        let (stage, done) = match std::mem::take(&mut self.stage) {
            Stage::Idle => (Stage::Idle, pages),
            Stage::Told => (Stage::Told, pages),
            Stage::Gathering(gathering) => self.gather(gathering, pages)?,
            Stage::Counting(counting) => count_links(core, counting, pages)?,
            Stage::Sweeping(sweeping) => self.sweep(core, sweeping, pages)?,
            Stage::Telling(telling) => self.tell(core, telling, now)?,
        };
        self.stage = stage;
        Ok(done.max(1))
    }

    fn gather(&mut self, mut gathering: Box<LinkGathering>, pages: usize) -> Result<(Stage, usize)> {
        let before = gathering.pages_read();
        let gathered = gathering.step(pages)?;
        self.weighed.pages += gathering.pages_read() - before;
        let Some(gathered) = gathered else { return Ok((Stage::Gathering(gathering), pages)) };
        let (stream, links) = (LinkStream::new(gathered.index.clone()), vec![0; gathered.states.len()]);
        let counting = Counting { begun: gathering.begun(), gathered, stream, links };
        Ok((Stage::Counting(Box::new(counting)), pages / 4))
    }

    /// One part of a sweep; behind the last node another begins, until the scores stand still.
    fn sweep(&mut self, core: &Core, mut sweeping: Box<Sweeping>, pages: usize) -> Result<(Stage, usize)> {
        let mut sources = Vec::new();
        for done in 0..pages * NODES_PER_PAGE {
            let Some(node) = sweeping.stream.next(&mut sources)? else {
                let is_still = sweeping.scores.end_sweep(TOLERANCE);
                self.weighed.sweeps += 1;
                sweeping.keep(core.work.derived(), is_still)?;
                sweeping.stream = LinkStream::new(sweeping.gathered.index.clone());
                let stage = if is_still { telling(core, *sweeping) } else { Stage::Sweeping(sweeping) };
                return Ok((stage, done / NODES_PER_PAGE));
            };
            sweeping.scores.sweep(node, &sources);
        }
        Ok((Stage::Sweeping(sweeping), pages))
    }

    /// Tells one row of scores, or ends the pass behind the last.
    fn tell(&mut self, core: &mut Core, mut telling: Box<Telling>, now: Moment) -> Result<(Stage, usize)> {
        let id = PartitionId(telling.partition);
        let (count, first) = (telling.gathered.index.numbering().count(id), telling.chunk * WeightRow::NUMBERS);
        if telling.partition == PartitionId::COUNT {
            self.rank(*telling, now);
            return Ok((Stage::Told, 1));
        }
        if first >= count {
            (telling.partition, telling.chunk) = (telling.partition + 1, 0);
            return Ok((Stage::Telling(telling), 1));
        }
        let before = core.work.scores(id, telling.chunk)?;
        let Telling { gathered, scores, mean, .. } = &*telling;
        let numbering = gathered.index.numbering();
        let node_of = |number: u32| numbering.node_of(PageKey::new(id, number)).unwrap_or_default() as usize;
        let numbers = first..count.min(first + WeightRow::NUMBERS);
        let told = numbers.clone().map(|number| (scores.score(node_of(number)) / mean) as f32).collect();
        let row = WeightRow { chunk: telling.chunk, scores: told };
        let moved = has_moved(&before, &row.scores);
        // A row that has not moved is what its policy knows already.
        let pages = if moved || telling.ranking.is_wanted() { row.scores.len() } else { 1 };
        if pages > 1 {
            let nodes: Vec<usize> = numbers.clone().map(node_of).collect();
            for ((number, node), &score) in numbers.zip(nodes).zip(&row.scores) {
                let state = telling.gathered.states[node];
                weigh(core, PageKey::new(id, number), score, state, &mut telling.ranking)?;
            }
        }
        if moved {
            core.work.push(id, Deed::Weighed(row));
            self.weighed.rows += 1;
        }
        telling.chunk += 1;
        Ok((Stage::Telling(telling), pages))
    }

    /// All rows are told: what they came to is ranked.
    fn rank(&mut self, telling: Telling, now: Moment) {
        let Telling { begun, gathered, scores, ranking, .. } = telling;
        let mark = GraphMark {
            passes: self.mark.passes + 1,
            moment: now,
            position: begun.position,
            visits: begun.visits,
            urls: u64::from(gathered.index.numbering().len()),
            links: gathered.index.links(),
            sweeps: scores.sweeps(),
            bar: 0.0,
        };
        self.ranked = Some(Ranked { ranking, mark });
    }

    fn begin(&mut self, core: &Core, now: Moment) -> Result<Stage> {
        let gathering = LinkGathering::begin(core.work.derived(), core.settings.pass_urls_max, now)?;
        let Some(gathering) = gathering else {
            self.refused = Some(core.work.acknowledged().totals().known);
            return Ok(Stage::Idle);
        };
        Ok(Stage::Gathering(Box::new(gathering.in_pieces_of(core.settings.pass_piece_pages))))
    }
}

impl Pass for LinkScores {
    fn is_due(&self, core: &Core, now: Moment) -> bool {
        if !matches!(self.stage, Stage::Idle) {
            return self.is_under_way();
        }
        let held = core.partitions.held();
        let visits = core.work.acknowledged().totals().visits.saturating_sub(self.mark.visits);
        let (pages_min, least, every) = match (needs_scores(core), core.settings.links_at_hand) {
            (true, _) => (1, VISITS_MIN.max((held as f64 * VISITS_SHARE) as u64), PASS_EVERY_MIN),
            (false, true) => (IDLE_PAGES_MIN, IDLE_PAGES_MIN.max(held / 2), IDLE_PASS_EVERY),
            (false, false) => return false,
        };
        let is_time = self.mark.moment == Moment::EPOCH || now.since(self.mark.moment) >= every;
        held >= pages_min && visits >= least && is_time && self.refused.is_none()
    }

    fn next(&self, _: &Core, now: Moment) -> Option<Moment> {
        self.is_under_way().then_some(now + TURN_EVERY)
    }

    /// Links of pages that are on their way are met by the next pass.
    fn reads_tables(&self) -> bool {
        false
    }

    fn turn(&mut self, core: &mut Core, _: &mut Planner, now: Moment) -> Result<()> {
        if !self.is_under_way() {
            self.stage = match self.resume(core, now)? {
                Some(stage) => stage,
                None => self.begin(core, now)?,
            };
            return Ok(());
        }
        let mut pages = PAGES_PER_TURN;
        while pages > 0 && self.is_under_way() {
            pages = pages.saturating_sub(self.go_on(core, pages, now)?);
        }
        Ok(())
    }

    /// Sweeps lay down their scores themselves: they read no row.
    fn checkpoint(&mut self, _: &Core) -> Result<()> {
        Ok(())
    }

    /// A pass over all links ends with the eviction that it leads to.
    fn has_ended(&self) -> bool {
        false
    }
}

/// Whether anything but the order of back links waits for scores.
fn needs_scores(core: &Core) -> bool {
    core.settings.importance == ImportanceBy::Links
        || core.settings.visit_order == VisitOrder::Importance
        || core.is_collection_full()
}

fn count_links(core: &Core, mut counting: Box<Counting>, pages: usize) -> Result<(Stage, usize)> {
    let mut sources = Vec::new();
    for node in 0..pages * NODES_PER_PAGE {
        if counting.stream.next(&mut sources)?.is_none() {
            let Counting { begun, gathered, links, .. } = *counting;
            let before = told(&core.work, &gathered)?;
            let scores = Scores::new(links, |node| before.get(node).copied().filter(|score| *score > 0.0));
            let stream = LinkStream::new(gathered.index.clone());
            let sweeping = Sweeping { begun, gathered, stream, scores };
            sweeping.keep(core.work.derived(), false)?;
            return Ok((Stage::Sweeping(Box::new(sweeping)), node / NODES_PER_PAGE));
        }
        for &source in &sources {
            counting.links[source as usize] += 1;
        }
    }
    Ok((Stage::Counting(counting), pages))
}

/// The scores stand still. Whoever takes up a pass here goes over all rows again, for the ranking; rows that were
/// told have not moved and are not told a second time.
pub(super) fn telling(core: &Core, sweeping: Sweeping) -> Stage {
    let Sweeping { begun, gathered, scores, .. } = sweeping;
    let mean = scores.mean(|node| gathered.states[node] == NodeState::Held);
    let ranking = Ranking::of(core);
    Stage::Telling(Box::new(Telling { begun, gathered, scores, mean, partition: 0, chunk: 0, ranking }))
}

/// What one URL counts from now on, for its policy and for the collection.
fn weigh(core: &mut Core, key: PageKey, score: f32, state: NodeState, ranking: &mut Ranking) -> Result<()> {
    if state == NodeState::Other || (state != NodeState::Held && !ranking.is_wanted()) {
        return Ok(());
    }
    let weight = weight_of(core, key, state)?;
    let importance = importance(score, weight);
    if state == NodeState::Held && core.settings.importance == ImportanceBy::Links {
        core.partitions.of_mut(key.partition).refresh.weigh(key, importance);
    }
    ranking.add(key, importance, state);
    Ok(())
}

/// What people say of a URL that is known; 1 where nobody says anything, and then nothing is read.
fn weight_of(core: &Core, key: PageKey, state: NodeState) -> Result<f32> {
    if !core.scope.has_weights() {
        return Ok(1.0);
    }
    let of = |found: Option<(Url, u16)>| found.map_or(1.0, |(url, depth)| core.scope.weight_of(&url, depth));
    Ok(match state {
        NodeState::Waiting => of(core.work.url(key)?.map(|row| (row.url, row.depth))),
        _ => of(core.work.page(key)?.map(|page| (page.url, page.depth))),
    })
}

/// The scores that were told last, by node; 0 where there is none.
fn told(work: &Work, gathered: &GatheredLinks) -> Result<Vec<f32>> {
    let numbering = gathered.index.numbering();
    let mut scores = Vec::with_capacity(numbering.len() as usize);
    for id in (0..PartitionId::COUNT).map(PartitionId) {
        let end = scores.len() + numbering.count(id) as usize;
        for chunk in 0..numbering.count(id).div_ceil(WeightRow::NUMBERS) {
            let from = end - numbering.count(id) as usize + (chunk * WeightRow::NUMBERS) as usize;
            scores.resize(from, 0.0);
            scores.extend(work.scores(id, chunk)?);
        }
        scores.resize(end, 0.0);
    }
    Ok(scores)
}

fn has_moved(before: &[f32], after: &[f32]) -> bool {
    let moved = |(before, after): (&f32, &f32)| (after - before).abs() > MOVED_MIN * before.abs();
    before.len() != after.len() || before.iter().zip(after).any(moved)
}
