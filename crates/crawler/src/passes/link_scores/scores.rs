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

/// When scores are needed, a pass begins after this many visits, or visits to this share of the held pages …
const VISITS_MIN: u64 = 64;
const VISITS_SHARE: f64 = 0.2;
/// … and at most this often: a pass over a million pages takes half a minute.
const PASS_EVERY_MIN: Span = Span::from_secs(600);
/// When scores are not needed, a pass only keeps links indexed by target, and runs seldom. With fewer pages than this a
/// direct search for the links to a page is fast enough, so no pass runs.
const IDLE_PAGES_MIN: u64 = 10_000;
const IDLE_PASS_EVERY: Span = Span::from_days(1);
/// The work of one turn, in pages whose links are read; it takes some milliseconds.
const PAGES_PER_TURN: usize = 256;
/// Nodes of a sweep that cost as much as reading one page.
const NODES_PER_PAGE: usize = 64;
/// A row of scores is written again when one of them moved by more than this; smaller moves change no choice.
const MOVED_MIN: f32 = 0.01;

/// The state of the passes.
pub(crate) struct LinkScores {
    stage: Stage,
    /// The mark of the last completed pass.
    mark: GraphMark,
    /// The number of URLs, if it exceeds the limit of a pass.
    refused: Option<u64>,
    weighed: Weighed,
    /// A pass whose scores are written, and whose ranking waits for eviction.
    ranked: Option<Ranked>,
}

/// The work that this process has done in passes over all links.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Weighed {
    /// Pages whose links were read.
    pub pages: u64,
    /// Completed sweeps.
    pub sweeps: u64,
    /// Rows of scores that were written.
    pub rows: u64,
}

/// A pass whose scores are written: its mark still lacks the importance that a URL needs to be held.
pub(crate) struct Ranked {
    pub ranking: Ranking,
    pub mark: GraphMark,
}

#[derive(Default)]
pub(super) enum Stage {
    #[default]
    Idle,
    Gathering(Box<LinkGathering>),
    /// Counting the links out of each page.
    Counting(Box<Counting>),
    Sweeping(Box<Sweeping>),
    Telling(Box<Telling>),
    /// The scores are written; eviction has the ranking.
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
    /// The next row to be written.
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

    /// The number of URLs when a pass was refused because of it.
    pub fn refused(&self) -> Option<u64> {
        self.refused
    }

    /// The work that this process has done in passes over all links.
    pub fn weighed(&self) -> Weighed {
        self.weighed
    }

    /// The pass whose scores were just written, for eviction.
    pub fn take_ranked(&mut self) -> Option<Ranked> {
        self.ranked.take()
    }

    /// Ends the pass with this mark, after eviction.
    pub fn end(&mut self, mark: GraphMark) {
        (self.mark, self.stage) = (mark, Stage::Idle);
    }

    fn is_under_way(&self) -> bool {
        !matches!(self.stage, Stage::Idle | Stage::Told)
    }

    /// Continues for about this many pages at most; returns how many were done.
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

    /// Does one part of a sweep. After the last node another sweep begins, until the scores converge.
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

    /// Writes one row of scores, or ends the pass after the last row.
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
        // The policy already knows a row that has not moved.
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

    /// All rows are written: passes the ranking on.
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

    /// Links of uncommitted visits are left to the next pass.
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

    /// Each sweep writes its own checkpoint.
    fn checkpoint(&mut self, _: &Core) -> Result<()> {
        Ok(())
    }

    /// A pass over all links ends with the eviction that follows it.
    fn has_ended(&self) -> bool {
        false
    }
}

/// Whether anything but the order by back links needs scores.
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

/// The scores have converged. A process that resumes here goes over all rows again, for the ranking; rows that were
/// written already have not moved and are not written again.
pub(super) fn telling(core: &Core, sweeping: Sweeping) -> Stage {
    let Sweeping { begun, gathered, scores, .. } = sweeping;
    let mean = scores.mean(|node| gathered.states[node] == NodeState::Held);
    let ranking = Ranking::of(core);
    Stage::Telling(Box::new(Telling { begun, gathered, scores, mean, partition: 0, chunk: 0, ranking }))
}

/// Passes the importance of one URL to its policy and to the ranking.
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

/// The weight that people gave a known URL; 1 if there are no weights, and then nothing is read.
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

/// The scores that were written last, by node; 0 where there is none.
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
