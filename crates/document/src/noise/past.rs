//! The rules of a site as they spoke at another time, for those who look at old versions.

use vernal_model::{Moment, NoiseBook, NoiseRule, RuleState};

/// The rules that speak today. What is only suspected is left out, so that looking at versions teaches nothing.
pub fn book_of_today(mut book: NoiseBook) -> NoiseBook {
    book.rules.retain(|rule| matches!(rule.standing, RuleState::Learned | RuleState::Added | RuleState::Allowed));
    book
}

/// The rules that spoke at this Moment.
pub fn book_of(mut book: NoiseBook, moment: Moment) -> NoiseBook {
    book.rules.retain_mut(|rule| match standing_at(rule, moment) {
        Some(standing) => {
            rule.standing = standing;
            true
        }
        None => false,
    });
    book
}

fn standing_at(rule: &NoiseRule, moment: Moment) -> Option<RuleState> {
    let held = rule.force.holds_at(moment);
    match rule.standing {
        RuleState::Suspected => None,
        RuleState::Learned | RuleState::Added => held.then_some(rule.standing),
        RuleState::Turned | RuleState::Content => held.then_some(RuleState::Learned),
        RuleState::Allowed => Some(if held { RuleState::Learned } else { RuleState::Allowed }),
    }
}

#[cfg(test)]
mod tests {
    use vernal_model::{NoisePattern, RuleForce, RuleReach, Site, Span};

    use super::*;
    use crate::noise::{add, allow};

    #[test]
    fn a_rule_speaks_from_when_it_was_made_until_it_was_withdrawn() {
        let at = |days: u64| Moment::EPOCH + Span::from_days(days);
        let (site, mut book) = (Site::new("a.example"), NoiseBook::default());
        let what = NoisePattern::Words { shape: "Read by # people".into(), place: 0 };
        book.take(&add(&site, &book, what, RuleReach::Site, "it counts", at(2)).unwrap());
        book.rules[0].standing = RuleState::Learned;
        let standings = |book: &NoiseBook| -> Vec<Option<RuleState>> {
            [1, 2, 3, 4, 5].map(|day| book_of(book.clone(), at(day)).rules.first().map(|rule| rule.standing)).to_vec()
        };
        let learned = Some(RuleState::Learned);
        assert_eq!(standings(&book), [None, learned, learned, learned, learned]);
        for standing in [RuleState::Turned, RuleState::Content] {
            let mut withdrawn = book.clone();
            withdrawn.rules[0].standing = standing;
            withdrawn.rules[0].force = RuleForce { from: Some(at(2)), until: Some(at(4)) };
            assert_eq!(standings(&withdrawn), [None, learned, learned, None, None]);
            assert!(book_of_today(withdrawn).rules.is_empty());
        }
        book.take(&allow(&site, &book, 1, "it matters", at(4)).unwrap());
        let allowed = Some(RuleState::Allowed);
        assert_eq!(standings(&book), [allowed, learned, learned, allowed, allowed]);
        assert_eq!(book_of_today(book).rules.len(), 1);
    }
}
