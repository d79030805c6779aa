//! The pass over all links that says how important pages are: the links are gathered and sorted by target, the scores are
//! swept until they stand still, and what came out is told to the partitions as deeds. It goes on a little at a time
//! between orders and reports; a pass that the end of a process cuts short goes on in the next (`standing`).

mod standing;

use vernal_frontier::VisitOrder;
use vernal_model::{Deed, GraphMark, Moment, PageKey, Partition as PartitionId, Span, Url, WeightRow};
use vernal_policy::importance::{Scores, TOLERANCE, importance};
use vernal_repository::Reader;
use vernal_repository::graph::{Begun, Gathered, LinkGathering, LinkStream, NodeState};

use super::collecting::Ranking;
use super::{Crawler, WHOLE};
use crate::Result;
use crate::weights::ImportanceBy;

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
/// A pass that is under way goes on after this.
const TURN_EVERY: Span = Span::from_millis(1);
/// A row of scores is told again when one of them moved by more than this: less changes no choice.
const MOVED_MIN: f32 = 0.01;

/// Where the passes stand.
#[derive(Default)]
pub(super) struct Weighing {
    stage: Stage,
    /// The last pass that came to its end.
    mark: GraphMark,
    /// There are so many URLs, more than a pass may take.
    refused: Option<u64>,
    weighed: Weighed,
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

#[derive(Default)]
enum Stage {
    #[default]
    Idle,
    Gathering(Box<LinkGathering>),
    /// The links out of each page are counted.
    Counting(Box<Counting>),
    Sweeping(Box<Sweeping>),
    Telling(Box<Telling>),
}

struct Counting {
    begun: Begun,
    gathered: Gathered,
    stream: LinkStream,
    links: Vec<u32>,
}

struct Sweeping {
    begun: Begun,
    gathered: Gathered,
    stream: LinkStream,
    scores: Scores,
}

struct Telling {
    begun: Begun,
    gathered: Gathered,
    scores: Scores,
    mean: f64,
    /// The next row to be told.
    partition: u8,
    chunk: u32,
    ranking: Ranking,
}

impl Weighing {
    pub fn new(mark: Option<GraphMark>) -> Self {
        Weighing { mark: mark.unwrap_or_default(), ..Weighing::default() }
    }

    pub fn mark(&self) -> GraphMark {
        self.mark
    }

    /// How many URLs there were when a pass was refused because of it.
    pub fn refused(&self) -> Option<u64> {
        self.refused
    }

    pub fn is_under_way(&self) -> bool {
        !matches!(self.stage, Stage::Idle)
    }
}

impl Crawler {
    /// Whether anything but the order of back links waits for scores.
    pub(super) fn needs_scores(&self) -> bool {
        self.settings.importance == ImportanceBy::Links
            || self.settings.visit_order == VisitOrder::Importance
            || self.is_collection_full()
    }

    fn pass_is_due(&self, now: Moment) -> bool {
        let (mark, held) = (self.weighing.mark, self.held());
        let visits = self.reader.totals().visits.saturating_sub(mark.visits);
        let (pages_min, least, every) = match (self.needs_scores(), self.settings.links_at_hand) {
            (true, _) => (1, VISITS_MIN.max((held as f64 * VISITS_SHARE) as u64), PASS_EVERY_MIN),
            (false, true) => (IDLE_PAGES_MIN, IDLE_PAGES_MIN.max(held / 2), IDLE_PASS_EVERY),
            (false, false) => return false,
        };
        let is_time = mark.moment == Moment::EPOCH || now.since(mark.moment) >= every;
        held >= pages_min && visits >= least && is_time && self.weighing.refused.is_none()
    }

    pub(super) fn next_weighing(&self, now: Moment) -> Option<Moment> {
        self.weighing.is_under_way().then_some(now + TURN_EVERY)
    }

    /// One turn of a pass over all links, if one is due or under way.
    pub fn weigh_links(&mut self, now: Moment) -> Result<()> {
        if !self.started || self.paused || self.disk_full {
            return Ok(());
        }
        if !self.weighing.is_under_way() {
            if !self.pass_is_due(now) {
                return Ok(());
            }
            self.weighing.stage = match self.resume_pass(now)? {
                Some(stage) => stage,
                None => self.begin_pass(now)?,
            };
            return Ok(());
        }
        let mut pages = PAGES_PER_TURN;
        while pages > 0 && self.weighing.is_under_way() {
            pages = pages.saturating_sub(self.weigh_on(pages, now)?);
        }
        Ok(())
    }

    fn begin_pass(&mut self, now: Moment) -> Result<Stage> {
        let gathering = LinkGathering::begin(&self.reader, self.settings.pass_urls_max, now)?;
        let Some(gathering) = gathering else {
            self.weighing.refused = Some(self.reader.totals().known);
            return Ok(Stage::Idle);
        };
        Ok(Stage::Gathering(Box::new(gathering.in_pieces_of(self.settings.pass_piece_pages))))
    }

    /// What this process has done for passes over all links.
    pub fn weighed(&self) -> Weighed {
        self.weighing.weighed
    }

    /// Goes on for at most about so many pages; says how many it was.
    fn weigh_on(&mut self, pages: usize, now: Moment) -> Result<usize> {
        let (stage, done) = match std::mem::take(&mut self.weighing.stage) {
            Stage::Idle => (Stage::Idle, pages),
            Stage::Gathering(gathering) => self.gather(gathering, pages)?,
            Stage::Counting(counting) => self.count_links(counting, pages)?,
            Stage::Sweeping(sweeping) => self.sweep(sweeping, pages)?,
            Stage::Telling(telling) => self.tell(telling, now)?,
        };
        self.weighing.stage = stage;
        Ok(done.max(1))
    }

    fn gather(&mut self, mut gathering: Box<LinkGathering>, pages: usize) -> Result<(Stage, usize)> {
        let before = gathering.pages_read();
        let gathered = gathering.step(pages)?;
        self.weighing.weighed.pages += gathering.pages_read() - before;
        let Some(gathered) = gathered else { return Ok((Stage::Gathering(gathering), pages)) };
        let (stream, links) = (LinkStream::new(gathered.index.clone()), vec![0; gathered.states.len()]);
        let counting = Counting { begun: gathering.begun(), gathered, stream, links };
        Ok((Stage::Counting(Box::new(counting)), pages / 4))
    }

    fn count_links(&self, mut counting: Box<Counting>, pages: usize) -> Result<(Stage, usize)> {
        let mut sources = Vec::new();
        for node in 0..pages * NODES_PER_PAGE {
            if counting.stream.next(&mut sources)?.is_none() {
                let Counting { begun, gathered, links, .. } = *counting;
                let before = told(&self.reader, &gathered)?;
                let scores = Scores::new(links, |node| before.get(node).copied().filter(|score| *score > 0.0));
                let stream = LinkStream::new(gathered.index.clone());
                let sweeping = Sweeping { begun, gathered, stream, scores };
                self.keep_sweeps(&sweeping, false)?;
                return Ok((Stage::Sweeping(Box::new(sweeping)), node / NODES_PER_PAGE));
            }
            for &source in &sources {
                counting.links[source as usize] += 1;
            }
        }
        Ok((Stage::Counting(counting), pages))
    }

    /// One part of a sweep; behind the last node another begins, until the scores stand still.
    fn sweep(&mut self, mut sweeping: Box<Sweeping>, pages: usize) -> Result<(Stage, usize)> {
        let mut sources = Vec::new();
        for done in 0..pages * NODES_PER_PAGE {
            let Some(node) = sweeping.stream.next(&mut sources)? else {
                let is_still = sweeping.scores.end_sweep(TOLERANCE);
                self.weighing.weighed.sweeps += 1;
                self.keep_sweeps(&sweeping, is_still)?;
                sweeping.stream = LinkStream::new(sweeping.gathered.index.clone());
                let stage = if is_still { self.telling(*sweeping) } else { Stage::Sweeping(sweeping) };
                return Ok((stage, done / NODES_PER_PAGE));
            };
            sweeping.scores.sweep(node, &sources);
        }
        Ok((Stage::Sweeping(sweeping), pages))
    }

    /// The scores stand still. Whoever takes up a pass here goes over all rows again, for the ranking; rows that were
    /// told have not moved and are not told a second time.
    fn telling(&self, sweeping: Sweeping) -> Stage {
        let Sweeping { begun, gathered, scores, .. } = sweeping;
        let mean = scores.mean(|node| gathered.states[node] == NodeState::Held);
        let ranking = self.ranking();
        Stage::Telling(Box::new(Telling { begun, gathered, scores, mean, partition: 0, chunk: 0, ranking }))
    }

    /// Tells one row of scores, or ends the pass behind the last.
    fn tell(&mut self, mut telling: Box<Telling>, now: Moment) -> Result<(Stage, usize)> {
        let id = PartitionId(telling.partition);
        let (count, first) = (telling.gathered.index.numbering().count(id), telling.chunk * WeightRow::NUMBERS);
        if telling.partition == PartitionId::COUNT {
            self.end_pass(*telling, now)?;
            return Ok((Stage::Idle, 1));
        }
        if first >= count {
            (telling.partition, telling.chunk) = (telling.partition + 1, 0);
            return Ok((Stage::Telling(telling), 1));
        }
        let before = self.reader.scores(id, telling.chunk)?;
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
                self.weigh(PageKey::new(id, number), score, state, &mut telling.ranking)?;
            }
        }
        if moved {
            self.group.push(id, Deed::Weighed(row));
            self.weighing.weighed.rows += 1;
            if self.group.is_full(self.settings.group) {
                self.commit(now)?;
            }
        }
        telling.chunk += 1;
        Ok((Stage::Telling(telling), pages))
    }

    /// What one URL counts from now on, for its policy and for the collection.
    fn weigh(&mut self, key: PageKey, score: f32, state: NodeState, ranking: &mut Ranking) -> Result<()> {
        if state == NodeState::Other || (state != NodeState::Held && !ranking.is_wanted()) {
            return Ok(());
        }
        let weight = self.weight_of(key, state)?;
        let importance = importance(score, weight);
        if state == NodeState::Held && self.settings.importance == ImportanceBy::Links {
            let partition = self.partition(key.partition);
            if let Some(weighable) = partition.policy.weighable() {
                weighable.weigh(key, importance);
            }
            partition.stir();
        }
        ranking.add(key, importance, state);
        Ok(())
    }

    /// What people say of a URL that is known; 1 where nobody says anything, and then nothing is read.
    fn weight_of(&self, key: PageKey, state: NodeState) -> Result<f32> {
        if !self.seeds_weigh && self.settings.weights.is_empty() {
            return Ok(1.0);
        }
        let of = |found: Option<(Url, u16)>| found.map_or(1.0, |(url, depth)| self.weight_of_url(&url, depth));
        Ok(match state {
            NodeState::Waiting => of(self.reader.url(key)?.map(|row| (row.url, row.depth))),
            _ => of(self.reader.page(key)?.map(|page| (page.url, page.depth))),
        })
    }

    /// The greatest weight of the seeds that cover a URL, times what the settings say of it. Almost nobody says anything.
    pub(super) fn weight_of_url(&self, url: &Url, depth: u16) -> f32 {
        let by_settings = if self.settings.weights.is_empty() { 1.0 } else { self.settings.weights.weight_of(url) };
        if !self.seeds_weigh {
            return by_settings;
        }
        let covering = self.dispatcher.seeds().iter().filter(|seed| seed.covers(url, depth));
        covering.map(|seed| seed.weight).max_by(f32::total_cmp).unwrap_or(1.0) * by_settings
    }

    /// What a page counts in freshness: what people say of it, times what links say where they are asked.
    pub(super) fn importance_of(&self, key: PageKey, url: &Url, depth: u16) -> Result<f32> {
        let weight = self.weight_of_url(url, depth);
        match self.settings.importance {
            ImportanceBy::None => Ok(weight),
            ImportanceBy::Links => Ok(importance(self.reader.score(key)?.unwrap_or(1.0), weight)),
        }
    }

    fn end_pass(&mut self, telling: Telling, now: Moment) -> Result<()> {
        let Telling { begun, gathered, scores, ranking, .. } = telling;
        let bar = self.collect(ranking, now)?;
        let mark = GraphMark {
            passes: self.weighing.mark.passes + 1,
            moment: now,
            position: begun.position,
            visits: begun.visits,
            urls: u64::from(gathered.index.numbering().len()),
            links: gathered.index.links(),
            sweeps: scores.sweeps(),
            bar,
        };
        self.weighing.mark = mark;
        self.group.push(WHOLE, Deed::GraphPassed(mark));
        self.commit(now)?;
        self.forget_sweeps()
    }
}

/// The scores that were told last, by node; 0 where there is none.
fn told(reader: &Reader, gathered: &Gathered) -> Result<Vec<f32>> {
    let numbering = gathered.index.numbering();
    let mut scores = Vec::with_capacity(numbering.len() as usize);
    for id in (0..PartitionId::COUNT).map(PartitionId) {
        let end = scores.len() + numbering.count(id) as usize;
        for chunk in 0..numbering.count(id).div_ceil(WeightRow::NUMBERS) {
            let from = end - numbering.count(id) as usize + (chunk * WeightRow::NUMBERS) as usize;
            scores.resize(from, 0.0);
            scores.extend(reader.scores(id, chunk)?);
        }
        scores.resize(end, 0.0);
    }
    Ok(scores)
}

fn has_moved(before: &[f32], after: &[f32]) -> bool {
    let moved = |(before, after): (&f32, &f32)| (after - before).abs() > MOVED_MIN * before.abs();
    before.len() != after.len() || before.iter().zip(after).any(moved)
}
