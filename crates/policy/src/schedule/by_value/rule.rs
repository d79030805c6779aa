//! What tells the policies by value apart: what they know of rates, which time they count, and what they count as value.

use crate::schedule::allocation::Allocation;
use crate::schedule::value::{HARMONIC_SHARE, Objective};

#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Rule {
    pub name: &'static str,
    pub objective: Objective,
    pub harmonic_share: f64,
    pub timing: Timing,
    /// The ratio between the value of a level and the one below: finer levels are more exact and cost more.
    pub level_ratio: f64,
    /// Takes the rates that are known; without them the mean of its own belief.
    pub known_rates: bool,
    pub site_clock: bool,
    /// Leaves pages for ever that are not worth the price: a measure for other policies, not for use.
    pub abandons: bool,
    /// Whether path groups stand between page and site in the priors.
    pub path_priors: bool,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Timing {
    /// When the value of a visit reaches the price.
    Value,
    /// At even intervals, as an allocation of the budget says.
    Even(Allocation),
    /// At random intervals with the mean that an allocation says.
    Random(Allocation),
}

impl Rule {
    pub const VERNAL: &'static str = "vernal";
    pub const BAYES: &'static str = "bayes";
    pub const INDEX: &'static str = "index";
    pub const HINDSIGHT: &'static str = "hindsight";
    pub const OPTIMAL: &'static str = "optimal";
    pub const RANDOM_OPTIMAL: &'static str = "random-optimal";
    pub const LAMBDA: &'static str = "lambda";

    /// `name` or `name:objective`.
    pub fn named(text: &str) -> Option<Rule> {
        let (name, objective) = match text.split_once(':') {
            Some((name, objective)) => (name, objective.parse().ok()?),
            None => (text, Objective::Freshness),
        };
        let learning = Rule {
            name: Self::BAYES,
            objective,
            harmonic_share: HARMONIC_SHARE,
            timing: Timing::Value,
            level_ratio: 1.1,
            known_rates: false,
            site_clock: false,
            abandons: false,
            path_priors: true,
        };
        let knowing = Rule { name: Self::INDEX, harmonic_share: 0.0, level_ratio: 1.05, known_rates: true, ..learning };
        let rule = match name {
            Self::VERNAL => Rule { name: Self::VERNAL, site_clock: true, ..learning },
            Self::BAYES => learning,
            Self::INDEX => knowing,
            Self::HINDSIGHT => Rule { name: Self::HINDSIGHT, abandons: true, ..knowing },
            Self::OPTIMAL => Rule { name: Self::OPTIMAL, timing: Timing::Even(Allocation::Optimal), ..knowing },
            Self::RANDOM_OPTIMAL => {
                Rule { name: Self::RANDOM_OPTIMAL, timing: Timing::Random(Allocation::RandomOptimal), ..knowing }
            }
            Self::LAMBDA => Rule { name: Self::LAMBDA, timing: Timing::Random(Allocation::Lambda), ..knowing },
            _ => return None,
        };
        let fixed = rule.timing != Timing::Value && text.contains(':');
        (!fixed).then_some(rule)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_objective_may_follow_the_name_where_there_is_a_choice() {
        assert_eq!(Rule::named("bayes:age").unwrap().objective, Objective::Age);
        assert_eq!(Rule::named("vernal").unwrap().objective, Objective::Freshness);
        for wrong in ["bayes:", "bayes:luck", "optimal:age", "luck", ""] {
            assert_eq!(Rule::named(wrong), None, "{wrong}");
        }
    }
}
