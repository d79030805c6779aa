//! The best step of each site's ladder, in the order of steps.

use std::collections::BTreeSet;

#[derive(Clone, Debug, Default)]
pub(super) struct Heads {
    /// Best first. A step tells its page, and the page its site.
    steps: BTreeSet<u64>,
}

impl Heads {
    /// The best step at or after one.
    pub fn first_from(&self, step: u64) -> Option<u64> {
        self.steps.range(step..).next().copied()
    }

    /// A site's best step is another one.
    pub fn turn(&mut self, [gone, come]: [Option<u64>; 2]) {
        gone.map(|step| self.steps.remove(&step));
        come.map(|step| self.steps.insert(step));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_step_is_told_from_any_place_on() {
        let mut heads = Heads::default();
        heads.turn([None, Some(7)]);
        heads.turn([None, Some(3)]);
        assert_eq!((heads.first_from(0), heads.first_from(4), heads.first_from(8)), (Some(3), Some(7), None));
        heads.turn([Some(3), Some(9)]);
        assert_eq!((heads.first_from(0), heads.first_from(8)), (Some(7), Some(9)));
    }
}
