//! One pass over the repository, in turns that are short enough to fit between two reports.
//!
//! The words read from bodies are kept as rows, so that the next pass reads only new bodies. Everything else is
//! computed in memory, with a checkpoint now and then (`checkpoint`), so that the next process can resume an interrupted
//! pass. The same rows give the same deeds, however often the pass was interrupted.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use vernal_document::terms::{TopicLimits, Vocabulary};
use vernal_model::{Deed, Fingerprint, Moment, PageKey, PageTerms, Partition, TopicId, TopicMark, TopicOf, TopicRow};
use vernal_policy::topic::{Best, Graph, TopicTerms, Workspace, each_by_pushes};

use super::stages::{Counted, Gathering, Reckoned};
use super::{Source, TopicBook};
use crate::Result;

/// Pages whose rows are read in one turn; the limit for bodies follows. A turn takes some milliseconds.
pub(super) const ROWS_PER_TURN: usize = 256;
const BODIES_PER_TURN: usize = 32;
/// Links followed in one turn.
const STEPS_PER_TURN: u64 = 500_000;
/// Rows written in one turn.
const PAGES_WRITTEN_PER_TURN: usize = 1_024;
const TOPICS_WRITTEN_PER_TURN: usize = 4_096;

/// The result of one turn.
#[derive(Debug, Default)]
pub struct Turn {
    pub deeds: Vec<(Partition, Deed)>,
    /// Pages whose topics changed, for the policies.
    pub told: Vec<(PageKey, Vec<TopicOf>)>,
    /// Whether this was the last turn of the pass.
    pub has_ended: bool,
    pub work: TopicWork,
}

/// The work done in passes.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct TopicWork {
    /// Bodies that were read for their words.
    pub bodies: u64,
    /// Pages whose words were counted, and pages whose words and links were gathered.
    pub counted: u64,
    pub gathered: u64,
    /// Words whose reputations were computed.
    pub columns: u64,
    /// Pages whose topics changed.
    pub categorised: u64,
}

impl std::ops::AddAssign for TopicWork {
    fn add_assign(&mut self, other: TopicWork) {
        self.bodies += other.bodies;
        self.counted += other.counted;
        self.gathered += other.gathered;
        self.columns += other.columns;
        self.categorised += other.categorised;
    }
}

#[derive(Serialize, Deserialize)]
pub struct Pass {
    pub(super) stage: Stage,
    pub(super) terms: TopicTerms,
    /// When it began, and how many passes had ended by then.
    pub(super) begun: (Moment, u32),
    /// Turns since the last checkpoint.
    #[serde(skip)]
    pub(super) turns_unkept: usize,
}

#[derive(Serialize, Deserialize)]
pub(super) enum Stage {
    Counting {
        after: Option<PageKey>,
        vocabulary: Vocabulary,
        counted: Counted,
    },
    Gathering {
        at: usize,
        gathering: Box<Gathering>,
    },
    Reckoning {
        column: usize,
        #[serde(skip)]
        gathered: Box<Gathering>,
        #[serde(skip)]
        graph: Graph,
        #[serde(skip)]
        room: Workspace,
        best: Vec<Best>,
        #[serde(skip)]
        least: Vec<f32>,
    },
    #[serde(skip)]
    Writing {
        at: usize,
        reckoned: Box<Reckoned>,
    },
    #[serde(skip)]
    Naming {
        at: usize,
        rows: Vec<TopicRow>,
        mark: TopicMark,
    },
    #[serde(skip)]
    Ended,
}

impl Pass {
    /// A pass that begins now, after so many completed passes.
    pub fn new(terms: TopicTerms, passes: u32, now: Moment) -> Self {
        let (vocabulary, counted) = (Vocabulary::default(), Counted::default());
        let stage = Stage::Counting { after: None, vocabulary, counted };
        Pass { stage, terms, begun: (now, passes), turns_unkept: 0 }
    }

    /// Does the next piece of work; `now` is the end of the pass if this turn ends it.
    pub fn turn(&mut self, source: &dyn Source, book: &TopicBook, now: Moment) -> Result<Turn> {
        let mut turn = Turn::default();
        self.stage = match std::mem::replace(&mut self.stage, Stage::Ended) {
            Stage::Counting { after, vocabulary, counted } => {
                count(source, book, after, vocabulary, counted, &mut turn)?
            }
            Stage::Gathering { at, gathering } => gather(source, at, gathering, self.terms.most, &mut turn)?,
            Stage::Reckoning { column, gathered, best, .. } if column == gathered.topics() => {
                Stage::Writing { at: 0, reckoned: Box::new(Reckoned::new(*gathered, best)) }
            }
            Stage::Reckoning { column: before, gathered, graph, mut room, mut best, mut least } => {
                let reckoning = self.terms.reckoning.for_pages(gathered.pages());
                let terms = TopicTerms { reckoning, ..self.terms };
                let column = reckon(terms, before, &gathered, &graph, &mut room, &mut best, &mut least);
                turn.work.columns = (column - before) as u64;
                Stage::Reckoning { column, gathered, graph, room, best, least }
            }
            Stage::Writing { at, reckoned } => write(source, book, at, reckoned, now, &mut turn)?,
            Stage::Naming { at, rows, mark } => name(at, rows, mark, &mut turn),
            Stage::Ended => {
                turn.has_ended = true;
                Stage::Ended
            }
        };
        Ok(turn)
    }

    /// The current stage and its progress, for people.
    pub fn progress(&self) -> (&'static str, usize, usize) {
        match &self.stage {
            Stage::Counting { counted, .. } => ("reading words", counted.pages.len(), 0),
            Stage::Gathering { at, gathering } => ("gathering links", *at, gathering.pages()),
            Stage::Reckoning { column, gathered, .. } => ("reckoning", *column, gathered.topics()),
            Stage::Writing { at, reckoned } => ("writing", *at, reckoned.pages()),
            Stage::Naming { at, rows, .. } => ("naming", *at, rows.len()),
            Stage::Ended => ("ended", 0, 0),
        }
    }
}

/// Reads words that are missing or outdated, and counts all words.
fn count(
    source: &dyn Source,
    book: &TopicBook,
    mut after: Option<PageKey>,
    mut vocabulary: Vocabulary,
    mut counted: Counted,
    turn: &mut Turn,
) -> Result<Stage> {
    let (pages, last) = source.pages(after, ROWS_PER_TURN)?;
    let Some(last) = last else {
        let words = vocabulary.fit(TopicLimits::for_pages(vocabulary.pages()));
        let gathering = Box::new(Gathering::new(counted, words, book));
        return Ok(Stage::Gathering { at: 0, gathering });
    };
    let mut read: Vec<(PageKey, PageTerms)> = Vec::new();
    for page in pages {
        let kept = source.terms(page.key)?.filter(|terms| terms.version == page.version);
        let terms = match kept {
            Some(terms) => terms,
            None if read.len() == BODIES_PER_TURN => {
                // The remaining pages are left to the next turn.
                turn.deeds.extend(by_partition(read, Deed::TermsRead));
                return Ok(Stage::Counting { after, vocabulary, counted });
            }
            None => {
                let terms = source.read(&page)?;
                turn.work.bodies += 1;
                read.push((page.key, terms.clone()));
                terms
            }
        };
        vocabulary.count(&terms.words);
        turn.work.counted += 1;
        after = Some(page.key);
        counted.push(page);
    }
    turn.deeds.extend(by_partition(read, Deed::TermsRead));
    Ok(Stage::Counting { after: Some(last), vocabulary, counted })
}

/// Gathers which pages have which words, and the links between pages.
fn gather(
    source: &dyn Source,
    at: usize,
    mut gathering: Box<Gathering>,
    most: usize,
    turn: &mut Turn,
) -> Result<Stage> {
    let end = (at + ROWS_PER_TURN).min(gathering.pages());
    turn.work.gathered = (end - at) as u64;
    for number in at..end {
        let key = gathering.key(number);
        let terms = source.terms(key)?.unwrap_or_default();
        gathering.take(number as u32, &terms, &source.links(key)?);
    }
    if end < gathering.pages() {
        return Ok(Stage::Gathering { at: end, gathering });
    }
    let graph = gathering.finish();
    let best = vec![Best::default(); gathering.pages()];
    let (room, least) = room_for(&best, most);
    Ok(Stage::Reckoning { column: 0, gathered: gathering, graph, room, best, least })
}

/// Computes some columns of reputations per turn, until all are done.
fn reckon(
    terms: TopicTerms,
    mut column: usize,
    gathered: &Gathering,
    graph: &Graph,
    room: &mut Workspace,
    best: &mut [Best],
    least: &mut [f32],
) -> usize {
    let mut steps = 0;
    while column < gathered.topics() && steps < STEPS_PER_TURN {
        let (topic, holders) = gathered.column(column);
        let walked = each_by_pushes(graph, holders, terms.reckoning, room, |page, reputation| {
            let (at, reputation) = (page as usize, reputation as f32);
            if reputation >= least[at] {
                best[at].offer(topic, reputation, terms.most);
                least[at] = best[at].least(terms.most);
            }
        });
        steps += walked.steps + holders.len() as u64;
        column += 1;
    }
    column
}

/// Workspace to continue with these; and for each page the reputation that a topic must exceed: most do not, and one
/// comparison shows it.
pub(super) fn room_for(best: &[Best], most: usize) -> (Workspace, Vec<f32>) {
    (Workspace::new(best.len()), best.iter().map(|best| best.least(most)).collect())
}

/// Writes the topics of pages where they changed.
fn write(
    source: &dyn Source,
    book: &TopicBook,
    at: usize,
    mut reckoned: Box<Reckoned>,
    now: Moment,
    turn: &mut Turn,
) -> Result<Stage> {
    let end = (at + PAGES_WRITTEN_PER_TURN).min(reckoned.pages());
    for number in at..end {
        let (key, topics) = reckoned.take(number);
        // A page that is no longer held has no topics.
        if source.topics_of(key)? != topics && (topics.is_empty() || source.is_held(key)?) {
            turn.told.push((key, topics));
        }
    }
    turn.work.categorised = turn.told.len() as u64;
    turn.deeds.extend(by_partition(turn.told.clone(), Deed::Categorised));
    if end < reckoned.pages() {
        return Ok(Stage::Writing { at: end, reckoned });
    }
    let (rows, mark) = reckoned.rows(book, now);
    Ok(Stage::Naming { at: 0, rows, mark })
}

/// Writes the topics themselves, and that the pass has ended.
fn name(at: usize, rows: Vec<TopicRow>, mark: TopicMark, turn: &mut Turn) -> Stage {
    let end = (at + TOPICS_WRITTEN_PER_TURN).min(rows.len());
    if at < end {
        turn.deeds.push((WHOLE, Deed::TopicsNamed(rows[at..end].to_vec())));
    }
    if end < rows.len() {
        return Stage::Naming { at: end, rows, mark };
    }
    turn.deeds.push((WHOLE, Deed::TopicsReckoned(mark)));
    turn.has_ended = true;
    Stage::Ended
}

/// What belongs to no partition is in the log of the first.
const WHOLE: Partition = Partition(0);

/// One deed for the pages of each partition; pages come in the order of their keys.
fn by_partition<T: Clone>(rows: Vec<(PageKey, T)>, deed: impl Fn(Vec<(PageKey, T)>) -> Deed) -> Vec<(Partition, Deed)> {
    let parts = rows.chunk_by(|one, other| one.0.partition == other.0.partition);
    parts.map(|part| (part[0].0.partition, deed(part.to_vec()))).collect()
}

/// Numbers of pages by their fingerprints.
pub(super) type Numbers = HashMap<Fingerprint, u32>;
/// Numbers of columns by their words.
pub(super) type Columns = HashMap<Box<str>, u32>;

/// The first number that a new topic may have.
pub(super) fn next_topic(book: &TopicBook) -> TopicId {
    let beyond = book.rows().map(|row| row.id.0 + 1).max().unwrap_or(0);
    TopicId(book.mark().next.0.max(beyond))
}
