//! What a pass holds in memory during its stages: about a kilobyte for each page.

use serde::{Deserialize, Serialize};
use vernal_model::{Fingerprint, Moment, PageKey, PageTerms, TopicId, TopicMark, TopicOf, TopicRow};
use vernal_policy::topic::{Best, Graph};

use super::pass::{Columns, Numbers, next_topic};
use super::{HeldPage, TopicBook};

/// Anchor words held at a time, 12 bytes each. Beyond the limit, the links of later pages add no words.
const ANCHOR_WORDS_MAX: usize = 16 << 20;
/// Anchor words kept for one page: those that the most links use.
const ANCHOR_WORDS_OF_A_PAGE_MAX: usize = 8;

/// The held pages under dense numbers.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct Counted {
    pub pages: Vec<Watched>,
    #[serde(skip)]
    numbers: Numbers,
}

#[derive(Serialize, Deserialize)]
pub(super) struct Watched {
    key: PageKey,
    fingerprint: Fingerprint,
    changes: u32,
    watched_days: f32,
}

impl Counted {
    pub fn push(&mut self, page: HeldPage) {
        self.numbers.insert(page.fingerprint, self.pages.len() as u32);
        let (changes, watched_days) = (page.changes, page.watched_days as f32);
        self.pages.push(Watched { key: page.key, fingerprint: page.fingerprint, changes, watched_days });
    }

    /// Rebuilds the numbers of the pages from a checkpoint.
    pub fn number(&mut self) {
        let numbered = self.pages.iter().enumerate();
        self.numbers = numbered.map(|(number, page)| (page.fingerprint, number as u32)).collect();
    }
}

/// Which pages have which words, and the links between pages.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct Gathering {
    counted: Counted,
    /// The topics that are computed, in the alphabetical order of their words; a column for each.
    topics: Vec<(TopicId, Box<str>)>,
    #[serde(skip)]
    columns: Columns,
    next: TopicId,
    graph: Graph,
    /// (column, page), sorted at the end.
    holders: Vec<(u32, u32)>,
    /// (page, column, number of links that use the word).
    said: Vec<(u32, u32, u32)>,
    /// Where each column begins in `pages_of`.
    starts: Vec<u32>,
    pages_of: Vec<u32>,
}

impl Gathering {
    pub fn new(counted: Counted, words: Vec<(Box<str>, u32)>, book: &TopicBook) -> Self {
        let mut next = next_topic(book);
        let mut topics = Vec::with_capacity(words.len());
        for (word, _) in words {
            let id = book.id(&word).unwrap_or_else(|| {
                next.0 += 1;
                TopicId(next.0 - 1)
            });
            topics.push((id, word));
        }
        let mut gathering = Gathering { counted, topics, next, graph: Graph::new(), ..Gathering::default() };
        gathering.number();
        gathering
    }

    /// Rebuilds the numbers of pages and columns.
    pub fn number(&mut self) {
        self.counted.number();
        let numbered = self.topics.iter().enumerate();
        self.columns = numbered.map(|(column, (_, word))| (word.clone(), column as u32)).collect();
    }

    pub fn pages(&self) -> usize {
        self.counted.pages.len()
    }

    pub fn topics(&self) -> usize {
        self.topics.len()
    }

    pub fn key(&self, number: usize) -> PageKey {
        self.counted.pages[number].key
    }

    pub fn take(&mut self, page: u32, terms: &PageTerms, links: &[Fingerprint]) {
        let known = terms.words.iter().filter_map(|word| self.columns.get(word));
        self.holders.extend(known.map(|&column| (column, page)));
        if self.said.len() >= ANCHOR_WORDS_MAX {
            self.sum_up_said();
        }
        let anchors = if self.said.len() < ANCHOR_WORDS_MAX { &terms.anchors[..] } else { &[] };
        for anchor in anchors {
            let Some(&target) = self.counted.numbers.get(&anchor.target) else { continue };
            let known = anchor.words.iter().filter_map(|word| self.columns.get(word));
            self.said.extend(known.map(|&column| (target, column, 1)));
        }
        let targets: Vec<u32> = links.iter().filter_map(|target| self.counted.numbers.get(target).copied()).collect();
        self.graph.push(&targets, links.len() as u32);
    }

    /// Merges entries about the same page and column.
    fn sum_up_said(&mut self) {
        self.said.sort_unstable();
        self.said.dedup_by(|later, earlier| {
            let is_same = (later.0, later.1) == (earlier.0, earlier.1);
            if is_same {
                earlier.2 += later.2;
            }
            is_same
        });
    }

    /// Sorts the gathered data into columns, and hands over the links.
    pub fn finish(&mut self) -> Graph {
        self.sum_up_said();
        let mut said = std::mem::take(&mut self.said);
        for of_page in said.chunk_by_mut(|one, other| one.0 == other.0) {
            of_page.sort_unstable_by(|one, other| other.2.cmp(&one.2).then(one.1.cmp(&other.1)));
            let most = of_page.iter().take(ANCHOR_WORDS_OF_A_PAGE_MAX);
            self.holders.extend(most.map(|&(page, column, _)| (column, page)));
        }
        drop(said);
        let mut holders = std::mem::take(&mut self.holders);
        holders.sort_unstable();
        holders.dedup();
        self.starts = vec![0; self.topics.len() + 1];
        for &(column, _) in &holders {
            self.starts[column as usize + 1] += 1;
        }
        for column in 0..self.topics.len() {
            self.starts[column + 1] += self.starts[column];
        }
        self.pages_of = holders.into_iter().map(|(_, page)| page).collect();
        (self.columns, self.counted.numbers) = (Columns::new(), Numbers::new());
        std::mem::take(&mut self.graph)
    }

    /// A topic and the pages that contain its word or whose in-links use it.
    pub fn column(&self, column: usize) -> (TopicId, &[u32]) {
        let (from, to) = (self.starts[column] as usize, self.starts[column + 1] as usize);
        (self.topics[column].0, &self.pages_of[from..to])
    }
}

/// The results of a pass.
pub(super) struct Reckoned {
    gathered: Gathering,
    best: Vec<Best>,
    /// By column: pages in the topic, their changes, and the days over which they were observed.
    sums: Vec<(u32, u64, f64)>,
    columns: std::collections::BTreeMap<TopicId, usize>,
    with_topics: u32,
}

impl Reckoned {
    pub fn new(gathered: Gathering, best: Vec<Best>) -> Self {
        let columns = gathered.topics.iter().enumerate().map(|(column, &(id, _))| (id, column)).collect();
        let sums = vec![(0, 0, 0.0); gathered.topics()];
        Reckoned { gathered, best, sums, columns, with_topics: 0 }
    }

    pub fn pages(&self) -> usize {
        self.gathered.pages()
    }

    /// The topics of a page, which are counted on the way.
    pub fn take(&mut self, number: usize) -> (PageKey, Vec<TopicOf>) {
        let topics = std::mem::take(&mut self.best[number]).into_topics();
        let page = &self.gathered.counted.pages[number];
        self.with_topics += u32::from(!topics.is_empty());
        for column in topics.iter().filter_map(|of| self.columns.get(&of.topic)) {
            let (pages, changes, days) = &mut self.sums[*column];
            *pages += 1;
            *changes += u64::from(page.changes);
            *days += f64::from(page.watched_days);
        }
        (page.key, topics)
    }

    /// The rows of topics that changed, in the order of their numbers, and the mark of the pass.
    pub fn rows(&self, book: &TopicBook, now: Moment) -> (Vec<TopicRow>, TopicMark) {
        let mut rows: Vec<TopicRow> = Vec::new();
        for (column, (id, word)) in self.gathered.topics.iter().enumerate() {
            let (pages, changes, watched_days) = self.sums[column];
            let holders = self.gathered.column(column).1.len() as u32;
            rows.push(TopicRow { id: *id, word: word.clone(), holders, pages, changes, watched_days });
        }
        let topics = rows.iter().filter(|row| row.pages > 0).count() as u32;
        // A word that is no longer a topic keeps only its number.
        let fallen = book.rows().filter(|row| row.holders > 0 && !self.columns.contains_key(&row.id));
        rows.extend(fallen.map(|row| TopicRow { id: row.id, word: row.word.clone(), ..TopicRow::default() }));
        // Rows that are written already, perhaps by an interrupted process, are not written again.
        rows.retain(|row| book.row(row.id) != Some(row));
        rows.sort_unstable_by_key(|row| row.id);
        let mark = TopicMark {
            passes: book.mark().passes + 1,
            ended: Some(now),
            next: self.gathered.next,
            pages: self.with_topics,
            topics,
        };
        (rows, mark)
    }
}
