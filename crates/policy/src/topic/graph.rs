//! Pages and their links under dense numbers, packed: one array of targets, one of offsets into it.

use serde::{Deserialize, Serialize};

/// Links between pages that are numbered from 0 on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Graph {
    /// The offset of each page's first target; one more entry than there are pages.
    starts: Vec<u32>,
    targets: Vec<u32>,
    /// O(q): the number of all links out of each page, including those to pages outside of the graph.
    out: Vec<u32>,
}

impl Graph {
    pub fn new() -> Self {
        Graph { starts: vec![0], targets: Vec::new(), out: Vec::new() }
    }

    /// Adds the next page: the pages of the graph that it links to, each once, and O(q), the number of all its links.
    pub fn push(&mut self, targets: &[u32], out: u32) {
        if self.starts.is_empty() {
            self.starts.push(0);
        }
        self.targets.extend_from_slice(targets);
        self.starts.push(self.targets.len() as u32);
        self.out.push(out.max(targets.len() as u32));
    }

    pub fn len(&self) -> usize {
        self.out.len()
    }

    pub fn is_empty(&self) -> bool {
        self.out.is_empty()
    }

    pub fn links(&self) -> usize {
        self.targets.len()
    }

    /// Targets may name pages that were never pushed; callers skip those.
    pub fn targets(&self, page: u32) -> &[u32] {
        let at = page as usize;
        match (self.starts.get(at), self.starts.get(at + 1)) {
            (Some(&from), Some(&to)) => &self.targets[from as usize..to as usize],
            _ => &[],
        }
    }

    pub fn out(&self, page: u32) -> u32 {
        self.out.get(page as usize).copied().unwrap_or(0)
    }
}
