//! Work is counted, not timed: the same two documents always give the same diff.

/// The steps of one diff. A step is one comparison of two marks or words. The limit is about fifteen milliseconds.
pub const STEPS_MAX: u64 = 4_000_000;

/// The remaining steps.
#[derive(Clone, Debug)]
pub struct Steps {
    left: u64,
    spent: u64,
    ended: bool,
}

impl Steps {
    pub fn new(limit: u64) -> Self {
        Steps { left: limit, spent: 0, ended: false }
    }

    /// Takes `count` steps if there are so many. After a refusal every further request is refused, so that the result does not
    /// depend on which small pieces would still have fitted.
    pub fn spend(&mut self, count: usize) -> bool {
        self.ended |= count as u64 > self.left;
        if self.ended {
            return false;
        }
        self.left -= count as u64;
        self.spent += count as u64;
        true
    }

    pub fn spent(&self) -> u64 {
        self.spent
    }

    /// Whether a request was refused.
    pub fn have_ended(&self) -> bool {
        self.ended
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_ends_the_spending_and_costs_nothing() {
        let mut steps = Steps::new(10);
        assert!(steps.spend(6));
        assert!(!steps.spend(5));
        assert!(!steps.spend(1));
        assert_eq!(steps.spent(), 6);
    }
}
