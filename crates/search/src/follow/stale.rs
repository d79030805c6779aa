//! The pages whose words of links are to be looked at again.

use std::collections::BTreeSet;

use super::link_words::target_of;

/// With more addresses, all pages are looked at instead.
const TARGETS_MAX: usize = 1 << 20;

/// What is known to be out of date, by address.
#[derive(Default)]
pub struct StaleAnchors {
    /// Every page of the index, and nobody has begun with them.
    is_all: bool,
    /// The rest of those: eight bytes for each page.
    rest: Vec<u64>,
    targets: BTreeSet<u64>,
}

impl StaleAnchors {
    /// Of an index that was opened just now; `is_settled` if it was left with nothing to be looked at.
    pub fn of(is_settled: bool) -> StaleAnchors {
        StaleAnchors { is_all: !is_settled, ..StaleAnchors::default() }
    }

    pub fn is_empty(&self) -> bool {
        !self.is_all && self.rest.is_empty() && self.targets.is_empty()
    }

    /// Whether all pages are looked at anyway, so that nothing needs to be noted.
    pub fn is_all(&self) -> bool {
        self.is_all
    }

    pub fn mark_all(&mut self) {
        *self = StaleAnchors::of(false);
    }

    /// The links that these terms stand for came or went.
    pub fn mark<'t>(&mut self, terms: impl Iterator<Item = &'t Vec<u8>>) {
        if self.is_all {
            return;
        }
        self.targets.extend(terms.filter_map(|term| target_of(term)));
        if self.targets.len() > TARGETS_MAX {
            self.mark_all();
        }
    }

    /// The next to look at. `all` is asked for the addresses of all pages.
    pub fn next<E>(&mut self, most: usize, all: impl FnOnce() -> Result<Vec<u64>, E>) -> Result<Vec<u64>, E> {
        if self.is_all {
            *self = StaleAnchors { rest: all()?, ..StaleAnchors::default() };
        }
        let mut next = Vec::with_capacity(most.min(self.targets.len() + self.rest.len()));
        while next.len() < most {
            let Some(address) = self.targets.pop_first().or_else(|| self.rest.pop()) else { break };
            next.push(address);
        }
        Ok(next)
    }
}
