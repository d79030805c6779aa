//! The rows of noise as folders of format 4 and before journalled them. They are only read, and become the rows of today.
//!
//! postcard writes fields in their order and without names, so nothing here may change.

use serde::Deserialize;

use crate::noise;
use crate::{Kinds, Looks, Masked, Moment, NoisePattern, PageKey, Role, RuleForce, RuleReach, Site, TextClass};

/// The changed rows of one site.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct NoiseRows {
    site: Site,
    page: Option<(PageKey, PageNoise)>,
    last_id: Option<u32>,
    rules: Vec<NoiseRule>,
    forgotten: Vec<u32>,
    folds: Vec<Fold>,
    unfolded: Vec<u64>,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
struct NoiseRule {
    id: u32,
    what: NoisePattern,
    on: RuleReach,
    standing: RuleState,
    since: Moment,
    last: Moment,
    differed: u32,
    compared: u32,
    quiet: u16,
    pages: u32,
    template: u32,
    before: Box<str>,
    after: Box<str>,
    reason: Box<str>,
    seen: Vec<u64>,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
enum RuleState {
    Suspected,
    Learned,
    Added,
    Allowed,
    Turned,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
struct PageNoise {
    template: u32,
    suspects: Vec<Suspect>,
    known: Vec<Masked>,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
struct Suspect {
    what: NoisePattern,
    role: Role,
    digest: u64,
    since: Moment,
    differed: u16,
    compared: u16,
    quiet: u16,
    grown: u8,
    second_look: bool,
    /// Paragraphs that returned after they were gone, and the digests of recent ones. Neither counts any more.
    #[allow(dead_code, reason = "its fields say how it is read")]
    returned: u16,
    #[allow(dead_code, reason = "its fields say how it is read")]
    lately: Vec<u64>,
}

/// What folds were before they had rows of their own. Nothing becomes of them: only new events can be folded as they are today.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[allow(dead_code, reason = "its fields say how it is read")]
struct Fold {
    id: u64,
    before: u64,
    after: u64,
    left: Kinds,
    notes: u64,
    first: Moment,
    last: Moment,
    pages: u32,
    sample: Vec<PageKey>,
    told: bool,
}

impl From<NoiseRows> for noise::NoiseRows {
    fn from(before: NoiseRows) -> Self {
        noise::NoiseRows {
            site: before.site,
            page: before.page.map(|(page, noise)| (page, noise.into())),
            last_id: before.last_id,
            rules: before.rules.into_iter().map(Into::into).collect(),
            forgotten: before.forgotten,
        }
    }
}

impl From<NoiseRule> for noise::NoiseRule {
    /// Nobody noted which looks taught the rule and what text it was learned in, so it is one of the frame.
    fn from(before: NoiseRule) -> Self {
        let until = (before.standing == RuleState::Turned).then_some(before.last);
        let from = (before.standing != RuleState::Suspected).then_some(before.since);
        noise::NoiseRule {
            id: before.id,
            what: before.what,
            on: before.on,
            class: TextClass::Frame,
            standing: before.standing.into(),
            since: before.since,
            last: before.last,
            force: RuleForce { from, until },
            differed: before.differed,
            compared: before.compared,
            looks: Looks::default(),
            quiet: before.quiet,
            pages: before.pages,
            template: before.template,
            before: before.before,
            after: before.after,
            reason: before.reason,
            seen: before.seen,
        }
    }
}

impl From<RuleState> for noise::RuleState {
    fn from(before: RuleState) -> Self {
        match before {
            RuleState::Suspected => noise::RuleState::Suspected,
            RuleState::Learned => noise::RuleState::Learned,
            RuleState::Added => noise::RuleState::Added,
            RuleState::Allowed => noise::RuleState::Allowed,
            RuleState::Turned => noise::RuleState::Turned,
        }
    }
}

impl From<PageNoise> for noise::PageNoise {
    fn from(before: PageNoise) -> Self {
        let suspects = before.suspects.into_iter().map(Into::into).collect();
        noise::PageNoise { template: before.template, suspects, known: before.known }
    }
}

impl From<Suspect> for noise::Suspect {
    fn from(before: Suspect) -> Self {
        let class = match before.role {
            Role::Navigation | Role::Footer => TextClass::Frame,
            _ => TextClass::Main,
        };
        let looked = u32::from(before.second_look);
        noise::Suspect {
            what: before.what,
            role: before.role,
            class,
            content_since: None,
            digest: before.digest,
            since: before.since,
            differed: before.differed,
            compared: before.compared,
            quiet: before.quiet,
            grown: before.grown,
            looks: Looks { made: looked, differed: looked, latest: Vec::new() },
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{Deed, Kind, NoisePattern, NoiseRows, Partition, RuleState, Span};

    use super::*;

    /// A deed that Vernal 0.2 wrote.
    const WRITTEN: &str = "0b09612e6578616d706c650103071101010506020551756f7465001280ade204131415160117011801190401040204000856\
        696577733a2023090003070480897a8092f40103040506070856696577733a20310856696577733a2032026e6f020809030203010d7363\
        7269707420736f75726365020180897a8092f4010304050607000003796573000101010b0c0d020e809bee0280a4e8030f010307010110";

    #[test]
    fn a_deed_of_format_4_becomes_rows_of_today() {
        let bytes: Vec<u8> =
            (0..WRITTEN.len() / 2).map(|at| u8::from_str_radix(&WRITTEN[2 * at..2 * at + 2], 16).unwrap()).collect();
        let deed: Deed = postcard::from_bytes(&bytes).unwrap();
        let Deed::NoiseLearnedBefore(before) = deed else { panic!("{deed:?}") };
        let rows = NoiseRows::from(*before.clone());
        assert_eq!((rows.site.as_str(), rows.last_id, &rows.forgotten), ("a.example", Some(4), &vec![1]));
        let (page, at) = (PageKey::new(Partition(3), 7), |seconds| Moment::EPOCH + Span::from_secs(seconds));
        let (words, kind) = (&rows.rules[0], &rows.rules[1]);
        assert_eq!((words.id, words.on, words.standing), (4, RuleReach::Page(page), RuleState::Turned));
        assert_eq!(words.force, RuleForce { from: Some(at(1)), until: Some(at(2)) });
        assert_eq!((words.differed, words.compared, words.quiet, words.pages, words.template), (3, 4, 5, 6, 7));
        assert_eq!((&*words.before, &*words.after, &*words.reason), ("Views: 1", "Views: 2", "no"));
        assert_eq!((words.class, &words.looks, &words.seen), (TextClass::Frame, &Looks::default(), &vec![8, 9]));
        let notes = vec!["script source".into()];
        assert_eq!(kind.what, NoisePattern::Kind { kind: Kind::Behaviour, notes });
        assert_eq!((kind.standing, kind.force), (RuleState::Learned, RuleForce::since(at(1))));
        let (of, noise) = rows.page.unwrap();
        assert_eq!((of, noise.template, noise.known.clone()), (page, 17, vec![Masked { digest: 25, rule: 4 }]));
        let suspect = &noise.suspects[0];
        assert_eq!(
            (suspect.class, &suspect.looks, suspect.digest),
            (TextClass::Main, &Looks { made: 1, differed: 1, latest: Vec::new() }, 18)
        );
        assert_eq!((suspect.differed, suspect.compared, suspect.quiet, suspect.grown), (19, 20, 21, 22));
        assert_eq!(suspect.content_since, None);
        let fold = &before.folds[0];
        assert_eq!((fold.id, fold.before, fold.after, fold.notes, fold.pages), (11, 12, 13, 14, 15));
        assert_eq!((fold.first, fold.last, &fold.sample, fold.told), (at(3), at(4), &vec![page], true));
        assert_eq!((before.unfolded.as_slice(), fold.left), (&[16][..], Kinds::of(&[Kind::Content])));
        assert!(postcard::to_allocvec(&Deed::NoiseLearnedBefore(before)).is_err(), "it is never written");
    }
}
