//! The versions of a page that a reader can choose between.

use crate::answers::{Version, Visit};
use crate::question::link;
use crate::times::Times;

/// Versions in one list of choices.
const CHOICES_MAX: usize = 120;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    pub number: u32,
    pub words: String,
}

/// The changes before and after the one that is shown.
pub struct Steps {
    pub earlier: Option<String>,
    pub later: Option<String>,
}

impl Choice {
    pub fn of(version: &Version, times: &Times) -> Choice {
        let when = times.moment(version.moment.as_deref()).words;
        Choice { number: version.number, words: format!("version {}, {when}", version.number) }
    }
}

/// Versions that differ for a reader, and the two that are shown, the newest first.
pub fn choices(visits: &[Visit], (from, to): (&Version, &Version), times: &Times) -> Vec<Choice> {
    let differing =
        visits.iter().filter(|visit| visit.changed != Some(false)).filter_map(|visit| visit.version.as_ref());
    let mut choices: Vec<Choice> = differing.take(CHOICES_MAX).map(|version| Choice::of(version, times)).collect();
    choices.extend([from, to].map(|version| Choice::of(version, times)));
    choices.sort_by_key(|choice| std::cmp::Reverse(choice.number));
    choices.dedup();
    choices
}

/// Neighbouring changes, as links to their diffs.
pub fn steps(url: &str, view: &str, visits: &[Visit], (from, to): (u32, u32)) -> Steps {
    let changed = visits.iter().filter(|visit| visit.changed == Some(true));
    let numbers: Vec<u32> = changed.filter_map(|visit| Some(visit.version.as_ref()?.number)).collect();
    let leads = |number: u32| link("/diff", &[("url", url), ("to", &number.to_string()), ("view", view)]);
    Steps {
        earlier: numbers.iter().copied().filter(|number| *number <= from.min(to) && *number > 1).max().map(leads),
        later: numbers.iter().copied().filter(|number| *number > from.max(to)).min().map(leads),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn visit(number: u32, changed: bool) -> Visit {
        let version = Some(Version { number, ..Version::default() });
        Visit { version, changed: Some(changed), ..Visit::default() }
    }

    #[test]
    fn steps_lead_to_the_changes_around() {
        let visits = [visit(9, true), visit(8, false), visit(7, true), visit(6, true), visit(5, true)];
        let Steps { earlier, later } = steps("u", "side", &visits, (6, 7));
        assert_eq!(earlier.as_deref(), Some("/diff?url=u&to=6&view=side"));
        assert_eq!(later.as_deref(), Some("/diff?url=u&to=9&view=side"));
        assert!(steps("u", "", &visits, (8, 9)).later.is_none());
    }

    #[test]
    fn what_is_shown_can_be_chosen() {
        let times = Times::new(None);
        let version = |number| Version { number, ..Version::default() };
        let visits = [visit(9, true), visit(8, false)];
        let numbers: Vec<u32> =
            choices(&visits, (&version(3), &version(9)), &times).iter().map(|one| one.number).collect();
        assert_eq!(numbers, [9, 3]);
    }
}
