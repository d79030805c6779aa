//! The reputation of pages on a word (Algorithm 1 of seed 001; Rafiei and Mendelzon 2000).
//!
//! R(p, t) is the chance to meet page p on topic t for a surfer who jumps, with probability d, to a page that contains t,
//! and else follows a link:
//!
//! ```text
//! R(p, t) = (1 − d) · Σ over links q → p of R(q, t) / O(q)  +  d / N_t if p contains t
//! ```
//!
//! Words are independent of each other, so the matrix is computed one column at a time. A column is linear in the
//! initial values of its pages, so S = N_t · R does not need N_t: everything here works on S and divides at the end.
//!
//! [`by_sweeps`] iterates over all links repeatedly, as the algorithm is printed. [`by_pushes`] computes the same
//! numbers by passing on the residual of each page, and stops when the residuals are negligible: a word on forty of a
//! million pages touches some hundreds of pages, not a million.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::Graph;

/// The parameters by which reputations are computed.
#[derive(Copy, Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reckoning {
    /// d: how often the surfer jumps.
    pub jump: f64,
    /// The residual that a page may keep, as a share of what a word on the page itself contributes.
    pub tolerance: f64,
}

impl Default for Reckoning {
    /// d as in PageRank. The tolerance is a hundredth: such residuals cannot change a topic that a page contains
    /// itself.
    fn default() -> Self {
        Reckoning { jump: 0.15, tolerance: 0.01 }
    }
}

/// From this many pages on, the full tolerance applies; for a smaller web it is reduced in proportion: precision costs
/// little there, and in a densely linked web much of a reputation consists of many small contributions.
const PAGES_OF_FULL_TOLERANCE: f64 = 100_000.0;

impl Reckoning {
    /// These parameters for a web of this many pages.
    #[must_use]
    pub fn for_pages(self, pages: usize) -> Reckoning {
        let share = (pages as f64 / PAGES_OF_FULL_TOLERANCE).min(1.0);
        Reckoning { tolerance: self.tolerance * share, ..self }
    }
}

/// The reputations of all pages on one word; pages without any are left out.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Column {
    /// (page, R), by page.
    pub reputations: Vec<(u32, f64)>,
    /// An upper bound on what all reputations together lack; none of them exceeds its true value.
    pub missing: f64,
    /// Links that were followed: the cost, counted and not timed.
    pub steps: u64,
}

impl Column {
    pub fn of(&self, page: u32) -> f64 {
        let at = self.reputations.binary_search_by_key(&page, |&(page, _)| page);
        at.map_or(0.0, |at| self.reputations[at].1)
    }
}

/// The workspace for one column, reused for the next.
#[derive(Clone, Debug, Default)]
pub struct Workspace {
    cells: Vec<Cell>,
    touched: Vec<u32>,
    queue: VecDeque<u32>,
}

/// What a page has and has passed on, and its residual; stored together, because pages are accessed in random order.
#[derive(Copy, Clone, Debug, Default)]
struct Cell {
    sum: f64,
    held_back: f64,
    is_queued: bool,
}

impl Workspace {
    pub fn new(pages: usize) -> Self {
        Workspace { cells: vec![Cell::default(); pages], touched: Vec::new(), queue: VecDeque::new() }
    }

    fn give(&mut self, page: u32, what: f64, enough: f64) {
        let Some(cell) = self.cells.get_mut(page as usize) else { return };
        if cell.sum == 0.0 && cell.held_back == 0.0 {
            self.touched.push(page);
        }
        cell.held_back += what;
        if cell.held_back > enough && !cell.is_queued {
            cell.is_queued = true;
            self.queue.push_back(page);
        }
    }
}

/// The column of the word that occurs on the pages `holders`, by pushes.
pub fn by_pushes(graph: &Graph, holders: &[u32], reckoning: Reckoning, room: &mut Workspace) -> Column {
    let mut reputations = Vec::new();
    let mut column = each_by_pushes(graph, holders, reckoning, room, |page, reputation| {
        reputations.push((page, reputation));
    });
    reputations.sort_unstable_by_key(|&(page, _)| page);
    column.reputations = reputations;
    column
}

/// Computes the column without storing it: `each` is called once for every page with a reputation, in no meaningful
/// order. For passes, which read each number once.
pub fn each_by_pushes(
    graph: &Graph,
    holders: &[u32],
    reckoning: Reckoning,
    room: &mut Workspace,
    mut each: impl FnMut(u32, f64),
) -> Column {
    let jump = reckoning.jump.clamp(1e-6, 1.0);
    let enough = reckoning.tolerance.max(0.0) * jump;
    let count = holders.len().max(1) as f64;
    let mut column = Column::default();
    for &page in holders {
        room.give(page, jump, enough);
    }
    while let Some(page) = room.queue.pop_front() {
        let cell = &mut room.cells[page as usize];
        cell.is_queued = false;
        let what = std::mem::take(&mut cell.held_back);
        cell.sum += what;
        let share = (1.0 - jump) * what / f64::from(graph.out(page).max(1));
        let targets = graph.targets(page);
        column.steps += targets.len() as u64;
        for &target in targets {
            room.give(target, share, enough);
        }
    }
    for page in room.touched.drain(..) {
        // The residual belongs to the page all the same; only the pages it links to lack it.
        let Cell { sum, held_back, .. } = std::mem::take(&mut room.cells[page as usize]);
        column.missing += held_back * (1.0 - jump) / jump / count;
        if sum + held_back > 0.0 {
            each(page, (sum + held_back) / count);
        }
    }
    column
}

/// The column as Algorithm 1 is printed: every link in every sweep, until no reputation moves by more than the
/// tolerance (as a share of 1/N_t). For small graphs, and to check the pushes.
pub fn by_sweeps(graph: &Graph, holders: &[u32], reckoning: Reckoning) -> Column {
    let jump = reckoning.jump.clamp(1e-6, 1.0);
    let first = 1.0 / holders.len().max(1) as f64;
    let mut contains = vec![false; graph.len()];
    for &page in holders.iter().filter(|&&page| (page as usize) < graph.len()) {
        contains[page as usize] = true;
    }
    let mut reputations: Vec<f64> = contains.iter().map(|&contains| if contains { first } else { 0.0 }).collect();
    let mut column = Column::default();
    for _ in 0..SWEEPS_MAX {
        let mut next = vec![0.0; graph.len()];
        for page in 0..graph.len() as u32 {
            let each = reputations[page as usize] / f64::from(graph.out(page).max(1));
            for &target in graph.targets(page) {
                column.steps += 1;
                if let Some(sum) = next.get_mut(target as usize) {
                    *sum += each;
                }
            }
        }
        let mut moved = 0.0f64;
        for (at, sum) in next.iter_mut().enumerate() {
            *sum = (1.0 - jump) * *sum + if contains[at] { jump * first } else { 0.0 };
            moved = moved.max((*sum - reputations[at]).abs());
        }
        reputations = next;
        if moved <= reckoning.tolerance * first {
            break;
        }
    }
    let found = reputations.into_iter().enumerate().filter(|&(_, reputation)| reputation > 0.0);
    column.reputations = found.map(|(page, reputation)| (page as u32, reputation)).collect();
    column
}

/// Each sweep leaves 1 − d of the error: with the smallest d in use, this is far below any tolerance.
const SWEEPS_MAX: usize = 10_000;
