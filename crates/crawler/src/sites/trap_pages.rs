//! Which visited pages lie in recognised traps. They are visited like others, and seldom change: figures about the copy are
//! also given without them.

use vernal_frontier::{PatternMark, TrapBook};
use vernal_model::PageKey;

/// No pattern is known of this page.
const UNKNOWN: u32 = 0;
/// The page lies in a trap whatever its pattern.
const IN_TRAP: u32 = u32::MAX;

/// The pattern of each visited page by its number, so that a trap that is recognised later takes its pages along.
#[derive(Default)]
pub(crate) struct TrapPages {
    marks: Vec<u32>,
}

impl TrapPages {
    /// Notes the pattern of a page; a page that was put into a trap stays there.
    pub fn note(&mut self, page: PageKey, mark: PatternMark) {
        let known = self.mark_of(page);
        if *known == UNKNOWN {
            *known = mark.0.clamp(UNKNOWN + 1, IN_TRAP - 1);
        }
    }

    /// The page lies in a trap, by its form or as one copy too many.
    pub fn put_into_trap(&mut self, page: PageKey) {
        *self.mark_of(page) = IN_TRAP;
    }

    pub fn lies_in_trap(&self, page: PageKey, traps: &TrapBook) -> bool {
        match self.marks.get(page.number as usize) {
            None | Some(&UNKNOWN) => false,
            Some(&IN_TRAP) => true,
            Some(&mark) => traps.has_closed(PatternMark(mark)),
        }
    }

    fn mark_of(&mut self, page: PageKey) -> &mut u32 {
        let index = page.number as usize;
        if self.marks.len() <= index {
            self.marks.resize(index + 1, UNKNOWN);
        }
        &mut self.marks[index]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{key_of, url};

    #[test]
    fn a_trap_takes_the_pages_along_that_were_visited_before_it_was_recognised() {
        let (mut pages, mut traps) = (TrapPages::default(), TrapBook::new());
        let address = |number: u32| url(&format!("http://a.example/endless/{number}"));
        let key = |number: u32| key_of("http://a.example/", number);
        for number in 0..30 {
            pages.note(key(number), TrapBook::mark(&address(number)));
            assert_eq!(pages.lies_in_trap(key(0), &traps), number >= 20, "{number}");
            traps.learn(&address(number), 7);
        }
        pages.note(key(30), TrapBook::mark(&url("http://a.example/about")));
        assert!(!pages.lies_in_trap(key(30), &traps) && !pages.lies_in_trap(key(31), &traps));
        pages.put_into_trap(key(30));
        pages.note(key(30), TrapBook::mark(&url("http://a.example/about")));
        assert!(pages.lies_in_trap(key(30), &traps));
    }
}
