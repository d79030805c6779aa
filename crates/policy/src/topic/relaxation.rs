//! Keeps reputations up to date while pages arrive, change and go: only what a change affects is computed again.
//!
//! For each page and word two numbers are kept: S, what the page has and has passed on (see `reputation`), and its
//! residual, which it has not passed on yet. The true value is S plus everything that would still arrive if all
//! residuals were passed on. A change of a page alters its residual and those of its old and new targets exactly. After
//! that, residuals above the tolerance are passed on, around the page and a limited number of times. So stopping early
//! loses nothing, and relaxing to the end gives the result of a full computation.
//!
//! Words are independent of each other, so the numbers are stored by word ([`KeptColumn`]) and one word is relaxed
//! until no residual exceeds the tolerance before the next word begins: its data fits in a few kilobytes.

use std::collections::VecDeque;

use vernal_model::TopicId;

use super::kept_column::KeptColumn;
use super::{Best, Reckoning};

/// The work of one relaxation.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Relaxed {
    pub pushes: usize,
    pub steps: u64,
    /// Pairs of page and word whose residual still exceeds the tolerance.
    pub waiting: usize,
}

#[derive(Clone, Debug, Default)]
pub struct Reputations {
    reckoning: Reckoning,
    pages: Vec<Node>,
    /// By word.
    columns: Vec<KeptColumn>,
    /// Words for which the residual of some page exceeds the tolerance.
    queue: VecDeque<u32>,
    waiting: usize,
}

#[derive(Clone, Debug, Default)]
struct Node {
    /// Sorted, as are the targets.
    words: Vec<u32>,
    targets: Vec<u32>,
    out: u32,
    /// The pages that link to it, in no order.
    sources: Vec<u32>,
    /// Words that it has passed on; the values of some may have become zero since.
    handed_on: Vec<u32>,
}

impl Reputations {
    pub fn new(reckoning: Reckoning) -> Self {
        Reputations { reckoning, ..Reputations::default() }
    }

    /// A page arrived or changed: its words, the pages it links to (each once), and O(q). Words and targets in any order.
    pub fn set(&mut self, page: u32, words: &[u32], targets: &[u32], out: u32) {
        let (mut words, mut targets) = (words.to_vec(), targets.to_vec());
        words.sort_unstable();
        words.dedup();
        targets.sort_unstable();
        targets.dedup();
        let out = out.max(targets.len() as u32);
        let highest = targets.last().copied().unwrap_or(0).max(page) as usize;
        if self.pages.len() <= highest {
            self.pages.resize_with(highest + 1, Node::default);
        }
        let words_end = words.last().map_or(0, |word| *word as usize + 1);
        if self.columns.len() < words_end {
            self.columns.resize_with(words_end, KeptColumn::default);
        }
        self.change_links(page, targets, out);
        self.change_words(page, words);
    }

    /// A page is gone: it contains nothing and links nowhere. Links to it still count in their pages' O(q).
    pub fn remove(&mut self, page: u32) {
        if (page as usize) < self.pages.len() {
            self.change_links(page, Vec::new(), 0);
            self.change_words(page, Vec::new());
        }
    }

    /// Takes back what was passed on along removed links, and passes it on along new ones; unchanged links cost
    /// nothing.
    fn change_links(&mut self, page: u32, targets: Vec<u32>, out: u32) {
        let node = &mut self.pages[page as usize];
        let stays = 1.0 - self.reckoning.jump;
        let [old_each, each] = [node.out, out].map(|out| stays / f64::from(out.max(1)));
        node.out = out;
        let old = std::mem::take(&mut node.targets);
        let shifts = shifts(&old, &targets, old_each, each);
        for &target in old.iter().filter(|target| lacks(&targets, target)) {
            let sources = &mut self.pages[target as usize].sources;
            if let Some(place) = sources.iter().position(|source| *source == page) {
                sources.swap_remove(place);
            }
        }
        for &target in targets.iter().filter(|target| lacks(&old, target)) {
            self.pages[target as usize].sources.push(page);
        }
        self.pages[page as usize].targets = targets;
        if shifts.is_empty() {
            return;
        }
        let mut handed_on = std::mem::take(&mut self.pages[page as usize].handed_on);
        handed_on.retain(|&word| {
            let sum = self.columns[word as usize].sum_if_listed(page);
            if let Some(sum) = sum {
                for &(target, shift) in &shifts {
                    self.give(target, word, shift * sum);
                }
            }
            sum.is_some()
        });
        self.pages[page as usize].handed_on = handed_on;
    }

    fn change_words(&mut self, page: u32, words: Vec<u32>) {
        let old = std::mem::replace(&mut self.pages[page as usize].words, words.clone());
        for &word in old.iter().filter(|word| lacks(&words, word)) {
            self.columns[word as usize].holders -= 1;
            self.give(page, word, -self.reckoning.jump);
        }
        for &word in words.iter().filter(|word| lacks(&old, word)) {
            self.columns[word as usize].holders += 1;
            self.give(page, word, self.reckoning.jump);
        }
    }

    fn give(&mut self, page: u32, word: u32, what: f64) {
        let enough = self.reckoning.tolerance * self.reckoning.jump;
        let column = &mut self.columns[word as usize];
        if column.give(page, what, enough) {
            self.waiting += 1;
            if column.queue.len() == 1 {
                self.queue.push_back(word);
            }
        }
    }

    /// Passes residuals on, at most this many times; what is left waits for the next call.
    pub fn relax(&mut self, pushes_max: usize) -> Relaxed {
        let mut relaxed = Relaxed::default();
        let stays = 1.0 - self.reckoning.jump;
        let enough = self.reckoning.tolerance * self.reckoning.jump;
        while relaxed.pushes < pushes_max {
            let Some(&word) = self.queue.front() else { break };
            let column = &mut self.columns[word as usize];
            let Some(page) = column.queue.pop_front() else {
                self.queue.pop_front();
                continue;
            };
            self.waiting -= 1;
            let (what, is_first) = column.hand_on(page);
            let node = &mut self.pages[page as usize];
            if is_first {
                node.handed_on.push(word);
            }
            let each = stays * what / f64::from(node.out.max(1));
            for &target in &node.targets {
                self.waiting += usize::from(column.give(target, each, enough));
            }
            relaxed.steps += node.targets.len() as u64;
            relaxed.pushes += 1;
        }
        relaxed.waiting = self.waiting;
        relaxed
    }

    /// R(p, t), as far as it is known.
    pub fn reputation(&self, page: u32, word: u32) -> f64 {
        self.columns.get(word as usize).map_or(0.0, |column| column.reputation(page))
    }

    /// The topics that a page is best known for: its own words, and those that the pages linking to it have passed on.
    pub fn best(&self, page: u32, most: usize) -> Best {
        let mut best = Best::default();
        let Some(node) = self.pages.get(page as usize) else { return best };
        let sources = node.sources.iter().map(|&source| &self.pages[source as usize].handed_on);
        let mut words: Vec<u32> = node.words.iter().chain(sources.flatten()).copied().collect();
        words.sort_unstable();
        words.dedup();
        for word in words {
            let reputation = self.reputation(page, word) as f32;
            if reputation > 0.0 {
                best.offer(TopicId(word), reputation, most);
            }
        }
        best
    }
}

fn lacks(sorted: &[u32], number: &u32) -> bool {
    sorted.binary_search(number).is_err()
}

/// The increase of each target's share of a page's sums; targets whose share does not change are left out.
fn shifts(old: &[u32], new: &[u32], old_each: f64, each: f64) -> Vec<(u32, f64)> {
    let gone = old.iter().filter(|target| lacks(new, target)).map(|&target| (target, -old_each));
    let here = new.iter().map(|target| {
        let before = if lacks(old, target) { 0.0 } else { old_each };
        (*target, each - before)
    });
    gone.chain(here).filter(|(_, shift)| *shift != 0.0).collect()
}
