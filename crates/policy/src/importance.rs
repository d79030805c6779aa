//! How important pages are by the links between them: PageRank (Brin and Page 1998), swept in place.
//!
//! The rules:
//! - Every URL that is known is a node, whether it was read or not; a URL that was not read has no links of its own.
//! - A link counts once for each pair of pages, however often it occurs; a link from a page to itself, a nofollow link,
//!   and a link that leads out of the scope do not count.
//! - A reader follows one of the page's links with probability 0.85, each equally likely, and else restarts at a random
//!   page.
//! - A reader of a page without links restarts at a random page.
//!
//! With the last two rules the scores are, up to a factor, the one solution of x_t = (1 − d) + d · Σ x_s / links of s
//! over the pages s that link to t: the weight of pages without links spreads evenly over all pages and only changes
//! the factor. So it is left out of the sum, and the sweep is a plain Gauss-Seidel step: each node uses the newest
//! values of its sources, one array is enough, and the last scores are a good start when a few links changed. Scores
//! are scaled to a mean of 1 over the nodes that are counted.
//!
//! A sweep that moves all scores together by a share m of their sum leaves them within m · d / (1 − d) of the solution.

use serde::{Deserialize, Serialize};

/// The probability of going on along a link.
pub const DAMPING: f64 = 0.85;
/// Sweeps end when the scores together moved by less than this share of their sum: then they are right to five digits.
pub const TOLERANCE: f64 = 1e-6;
/// Sweeps at most; with this damping a sweep removes at least 15 % of the error, and a hundred leave one part in ten
/// million.
pub const SWEEPS_MAX: u32 = 100;
/// Bounds of a page's importance. The distribution of links has a long tail: a page without links must still be
/// visited, and a hub must not take all visits.
pub const IMPORTANCE_MIN: f32 = 0.01;
pub const IMPORTANCE_MAX: f32 = 100.0;

/// The importance of a page: its link score times the weight that people gave it.
pub fn importance(score: f32, weight: f32) -> f32 {
    let product = score * weight;
    if product.is_finite() { product.clamp(IMPORTANCE_MIN, IMPORTANCE_MAX) } else { 1.0 }
}

/// Scores during the sweeps: twelve bytes for each node.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Scores {
    /// The share of a node's score that each of its links gets; the whole score where the node has no links.
    shares: Vec<f64>,
    links: Vec<u32>,
    moved: f64,
    sum: f64,
    sweeps: u32,
}

impl Scores {
    /// `links` is the number of links out of each node; `before` returns the last score of a node, if there is one.
    pub fn new(links: Vec<u32>, before: impl Fn(usize) -> Option<f32>) -> Self {
        let sound = |score: &f32| score.is_finite() && *score > 0.0;
        let scores = (0..links.len()).map(|node| f64::from(before(node).filter(sound).unwrap_or(1.0)));
        let mut shares: Vec<f64> = scores.collect();
        let all: f64 = shares.iter().sum();
        let given: f64 = shares.iter().zip(&links).filter(|(_, links)| **links > 0).map(|(score, _)| *score).sum();
        // The factor at which these scores, right or wrong, give away and take in the same.
        let factor = (1.0 - DAMPING) * links.len() as f64 / (all - DAMPING * given).max(f64::MIN_POSITIVE);
        for (share, links) in shares.iter_mut().zip(&links) {
            *share *= factor / f64::from((*links).max(1));
        }
        Scores { shares, links, moved: 0.0, sum: 0.0, sweeps: 0 }
    }

    /// Updates one node from the nodes that link to it. Each sweep visits every node once, always in the same order.
    pub fn sweep(&mut self, node: u32, sources: &[u32]) {
        let taken: f64 = sources.iter().map(|&source| self.shares[source as usize]).sum();
        let score = 1.0 - DAMPING + DAMPING * taken;
        let node = node as usize;
        let links = f64::from(self.links[node].max(1));
        self.moved += (score - self.shares[node] * links).abs();
        self.sum += score;
        self.shares[node] = score / links;
    }

    /// Ends a sweep, and returns whether it was the last: the scores moved by less than `tolerance` of their sum, or
    /// the limit of sweeps is reached.
    pub fn end_sweep(&mut self, tolerance: f64) -> bool {
        let still = self.moved <= tolerance * self.sum;
        (self.moved, self.sum) = (0.0, 0.0);
        self.sweeps += 1;
        still || self.sweeps >= SWEEPS_MAX
    }

    pub fn nodes(&self) -> usize {
        self.shares.len().min(self.links.len())
    }

    pub fn sweeps(&self) -> u32 {
        self.sweeps
    }

    /// The score of a node before it is scaled.
    pub fn score(&self, node: usize) -> f64 {
        self.shares[node] * f64::from(self.links[node].max(1))
    }

    /// The mean score over some nodes, by which scores are divided; 1 if there are none.
    pub fn mean(&self, counts: impl Fn(usize) -> bool) -> f64 {
        let counted = (0..self.links.len()).filter(|&node| counts(node)).map(|node| self.score(node));
        let (count, sum) = counted.fold((0u64, 0.0), |(count, sum), score| (count + 1, sum + score));
        if count == 0 { 1.0 } else { sum / count as f64 }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// PageRank by its definition: the whole matrix with its dangling rows, until the scores converge.
    fn dense(nodes: usize, links: &[(usize, usize)]) -> Vec<f64> {
        let mut matrix = vec![vec![0.0; nodes]; nodes];
        for (source, row) in matrix.iter_mut().enumerate() {
            let targets: Vec<usize> = links.iter().filter(|link| link.0 == source).map(|link| link.1).collect();
            for (target, chance) in row.iter_mut().enumerate() {
                let follows = targets.iter().filter(|&&linked| linked == target).count() as f64;
                let goes = if targets.is_empty() { 1.0 / nodes as f64 } else { follows / targets.len() as f64 };
                *chance = DAMPING * goes + (1.0 - DAMPING) / nodes as f64;
            }
        }
        let mut scores = vec![1.0 / nodes as f64; nodes];
        for _ in 0..400 {
            let next = |target: usize| (0..nodes).map(|source| scores[source] * matrix[source][target]).sum();
            scores = (0..nodes).map(next).collect();
        }
        scores.iter().map(|score| score * nodes as f64).collect()
    }

    fn beginning(nodes: usize, links: &[(usize, usize)], before: Option<&[f32]>) -> Scores {
        let mut counts = vec![0; nodes];
        links.iter().for_each(|link| counts[link.0] += 1);
        Scores::new(counts, |node| before.map(|before| before[node]))
    }

    fn sweep_all(scores: &mut Scores, links: &[(usize, usize)]) {
        for node in 0..scores.nodes() {
            let sources: Vec<u32> = links.iter().filter(|link| link.1 == node).map(|link| link.0 as u32).collect();
            scores.sweep(node as u32, &sources);
        }
    }

    fn told(scores: &Scores) -> Vec<f64> {
        let mean = scores.mean(|_| true);
        (0..scores.nodes()).map(|node| scores.score(node) / mean).collect()
    }

    /// Sweeps until nothing moves, beyond the sweeps that a crawl grants: a ring that is named against the order of the
    /// sweeps loses no more than 15 % of its error in each, and what `SWEEPS_MAX` leave is more than these laws allow.
    fn swept(nodes: usize, links: &[(usize, usize)], before: Option<&[f32]>) -> (Vec<f64>, u32) {
        let mut scores = beginning(nodes, links, before);
        loop {
            sweep_all(&mut scores, links);
            let still = scores.moved <= 1e-13 * scores.sum;
            scores.end_sweep(0.0);
            if still {
                return (told(&scores), scores.sweeps());
            }
            assert!(scores.sweeps() < 4 * SWEEPS_MAX, "the scores still move after {} sweeps", scores.sweeps());
        }
    }

    fn graph() -> impl Strategy<Value = (usize, Vec<(usize, usize)>)> {
        (1usize..24).prop_flat_map(|nodes| {
            let link = (0..nodes, 0..nodes);
            (Just(nodes), prop::collection::btree_set(link, 0..nodes * 3)).prop_map(|(nodes, links)| {
                (nodes, links.into_iter().filter(|(source, target)| source != target).collect())
            })
        })
    }

    proptest! {
        #[test]
        fn scores_are_those_of_the_whole_matrix((nodes, links) in graph()) {
            let (scores, _) = swept(nodes, &links, None);
            for (score, reference) in scores.iter().zip(dense(nodes, &links)) {
                prop_assert!((score - reference).abs() < 1e-9, "{score} is not {reference}");
            }
            prop_assert!((scores.iter().sum::<f64>() - nodes as f64).abs() < 1e-9);
        }

        #[test]
        fn where_sweeps_begin_does_not_matter((nodes, links) in graph(), before in prop::collection::vec(0.001f32..50.0, 24)) {
            let (cold, _) = swept(nodes, &links, None);
            let (warm, _) = swept(nodes, &links, Some(&before));
            for (cold, warm) in cold.iter().zip(warm) {
                prop_assert!((cold - warm).abs() < 1e-9);
            }
        }

        #[test]
        fn the_names_of_nodes_do_not_matter((nodes, links) in graph(), turn in 0usize..24) {
            // A prime beyond every number of nodes shares no factor with it, so no two nodes get one name.
            let renamed = |node: usize| (node * 29 + turn) % nodes;
            let other: Vec<(usize, usize)> = links.iter().map(|link| (renamed(link.0), renamed(link.1))).collect();
            let (scores, others) = (swept(nodes, &links, None).0, swept(nodes, &other, None).0);
            for node in 0..nodes {
                prop_assert!((scores[node] - others[renamed(node)]).abs() < 1e-9);
            }
        }
    }

    #[test]
    fn a_ring_against_the_order_of_the_sweeps_is_right_when_sweeps_run_out() {
        let nodes = 22;
        let mut links: Vec<(usize, usize)> = (1..nodes).map(|node| (node, node - 1)).collect();
        links.extend([(0, nodes - 1), (10, 3)]);
        let mut scores = beginning(nodes, &links, None);
        loop {
            sweep_all(&mut scores, &links);
            if scores.end_sweep(1e-13) {
                break;
            }
        }
        assert_eq!(scores.sweeps(), SWEEPS_MAX, "this ring is easier than it was meant to be");
        for (score, reference) in told(&scores).iter().zip(dense(nodes, &links)) {
            assert!((score - reference).abs() < 1e-7 * nodes as f64, "{score} is not {reference}");
        }
    }

    #[test]
    fn the_last_scores_are_a_good_beginning() {
        let nodes = 200;
        let mut links: Vec<(usize, usize)> = (0..nodes).map(|node| (node, (node * 7 + 1) % nodes)).collect();
        links.extend((0..nodes).map(|node| (node, node / 3)));
        links.retain(|(source, target)| source != target);
        links.sort_unstable();
        links.dedup();
        let (scores, cold) = swept(nodes, &links, None);
        let before: Vec<f32> = scores.iter().map(|score| *score as f32).collect();
        let (_, warm) = swept(nodes, &links, Some(&before));
        assert!(warm < cold / 2, "{warm} sweeps instead of {cold}");
    }

    #[test]
    fn what_people_say_multiplies_what_links_say_within_limits() {
        assert_eq!(importance(2.0, 3.0), 6.0);
        assert_eq!(importance(500.0, 1.0), IMPORTANCE_MAX);
        assert_eq!(importance(1.0, 0.0), IMPORTANCE_MIN);
        assert_eq!(importance(f32::NAN, 1.0), 1.0);
    }
}
