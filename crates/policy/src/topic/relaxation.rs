//! Reputations that are kept up while pages arrive, change and go: only what a change disturbs is reckoned again.
//!
//! For each page and word two numbers are kept: S, what the page has and has handed on (see `reputation`), and what it
//! holds back. What is true is S and all that would still come if everything held back were handed on. A change of a page
//! alters what it and its old and new targets hold back, exactly; handing on more than the tolerance, around the page and
//! a limited number of times, is all the rest. So nothing is lost by stopping early, and relaxing to the end gives what a
//! reckoning from nothing would give.

use std::collections::VecDeque;

use vernal_model::TopicId;

use super::{Best, Reckoning};

/// What one relaxation did.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Relaxed {
    pub pushes: usize,
    pub steps: u64,
    /// Pages and words that still hold back more than the tolerance.
    pub waiting: usize,
}

#[derive(Clone, Debug, Default)]
pub struct Reputations {
    reckoning: Reckoning,
    pages: Vec<Node>,
    /// N_t.
    holders: Vec<u32>,
    queue: VecDeque<(u32, u32)>,
}

#[derive(Clone, Debug, Default)]
struct Node {
    words: Vec<u32>,
    targets: Vec<u32>,
    out: u32,
    /// By word.
    row: Vec<Cell>,
}

#[derive(Copy, Clone, Debug, Default)]
struct Cell {
    word: u32,
    is_queued: bool,
    sum: f64,
    held_back: f64,
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

    fn change_links(&mut self, page: u32, targets: Vec<u32>, out: u32) {
        let node = &mut self.pages[page as usize];
        let old_out = std::mem::replace(&mut node.out, out);
        let old_targets = std::mem::replace(&mut node.targets, targets.clone());
        if old_targets == targets && old_out == out {
            return;
        }
        let handed_on: Vec<(u32, f64)> = node.row.iter().map(|cell| (cell.word, cell.sum)).collect();
        let stays = 1.0 - self.reckoning.jump;
        for (word, sum) in handed_on.into_iter().filter(|&(_, sum)| sum != 0.0) {
            for &target in &old_targets {
                self.give(target, word, -stays * sum / f64::from(old_out.max(1)));
            }
            for &target in &targets {
                self.give(target, word, stays * sum / f64::from(out.max(1)));
            }
        }
    }

    fn change_words(&mut self, page: u32, words: Vec<u32>) {
        let old = std::mem::replace(&mut self.pages[page as usize].words, words.clone());
        for &word in old.iter().filter(|word| words.binary_search(word).is_err()) {
            self.holders[word as usize] -= 1;
            self.give(page, word, -self.reckoning.jump);
        }
        for &word in words.iter().filter(|word| old.binary_search(word).is_err()) {
            if self.holders.len() <= word as usize {
                self.holders.resize(word as usize + 1, 0);
            }
            self.holders[word as usize] += 1;
            self.give(page, word, self.reckoning.jump);
        }
    }

    fn give(&mut self, page: u32, word: u32, what: f64) {
        let enough = self.reckoning.tolerance * self.reckoning.jump;
        let row = &mut self.pages[page as usize].row;
        let at = match row.binary_search_by_key(&word, |cell| cell.word) {
            Ok(at) => at,
            Err(at) => {
                row.insert(at, Cell { word, ..Cell::default() });
                at
            }
        };
        let cell = &mut row[at];
        cell.held_back += what;
        if cell.held_back.abs() > enough && !cell.is_queued {
            cell.is_queued = true;
            self.queue.push_back((page, word));
        }
    }

    /// Hands on what is held back, at most so often; what is left waits for the next time.
    pub fn relax(&mut self, pushes_max: usize) -> Relaxed {
        let mut relaxed = Relaxed::default();
        let stays = 1.0 - self.reckoning.jump;
        while relaxed.pushes < pushes_max {
            let Some((page, word)) = self.queue.pop_front() else { break };
            let node = &mut self.pages[page as usize];
            let Ok(at) = node.row.binary_search_by_key(&word, |cell| cell.word) else { continue };
            let cell = &mut node.row[at];
            cell.is_queued = false;
            let what = std::mem::take(&mut cell.held_back);
            cell.sum += what;
            if cell.sum.abs() < NOTHING {
                node.row.remove(at);
            }
            let each = stays * what / f64::from(node.out.max(1));
            let targets = std::mem::take(&mut node.targets);
            for &target in &targets {
                self.give(target, word, each);
            }
            relaxed.steps += targets.len() as u64;
            self.pages[page as usize].targets = targets;
            relaxed.pushes += 1;
        }
        relaxed.waiting = self.queue.len();
        relaxed
    }

    /// R(p, t), as far as it is known.
    pub fn reputation(&self, page: u32, word: u32) -> f64 {
        let Some(node) = self.pages.get(page as usize) else { return 0.0 };
        let at = node.row.binary_search_by_key(&word, |cell| cell.word);
        at.map_or(0.0, |at| self.of_cell(&node.row[at]))
    }

    /// What a page is best known for.
    pub fn best(&self, page: u32, most: usize) -> Best {
        let mut best = Best::default();
        for cell in self.pages.get(page as usize).map_or(&[][..], |node| &node.row) {
            let reputation = self.of_cell(cell) as f32;
            if reputation > 0.0 {
                best.offer(TopicId(cell.word), reputation, most);
            }
        }
        best
    }

    fn of_cell(&self, cell: &Cell) -> f64 {
        let holders = self.holders.get(cell.word as usize).copied().unwrap_or(0);
        (cell.sum + cell.held_back).max(0.0) / f64::from(holders.max(1))
    }
}

/// Sums of rounding errors, after a page has lost a word.
const NOTHING: f64 = 1e-13;
