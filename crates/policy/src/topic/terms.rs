//! The parameters by which pages get their topics.

use serde::{Deserialize, Serialize};

use super::{Reckoning, TOPICS_OF_A_PAGE};
use crate::parameters::PolicySpec;

#[derive(Copy, Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TopicTerms {
    pub reckoning: Reckoning,
    /// Topics that a page is in at most.
    pub most: usize,
}

impl Default for TopicTerms {
    fn default() -> Self {
        TopicTerms { reckoning: Reckoning::default(), most: TOPICS_OF_A_PAGE }
    }
}

impl TopicTerms {
    /// Those that a policy asks for; the defaults where it says nothing of topics.
    pub fn of(policy: &str) -> Self {
        let default = TopicTerms::default();
        let Ok(spec) = PolicySpec::parse(policy) else { return default };
        TopicTerms {
            reckoning: Reckoning { jump: spec.value("d").unwrap_or(default.reckoning.jump), ..default.reckoning },
            most: spec.value("topics").map_or(default.most, |topics| topics as usize),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_policy_by_topic_says_how_topics_are_found_and_the_others_leave_it() {
        let told = TopicTerms::of("correlated:d=0.3,topics=2");
        assert_eq!((told.reckoning.jump, told.most), (0.3, 2));
        for policy in ["vernal", "correlated", "groups:correlated", "nothing"] {
            assert_eq!(TopicTerms::of(policy), TopicTerms::default(), "{policy}");
        }
    }
}
