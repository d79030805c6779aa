//! Compares two signatures, cheapest test first (the change detection module of paper 003, on digests).

use vernal_model::{
    Change, DecidedBy, Degree, Kind, Kinds, Operation, ParagraphChange, ParagraphMark, QuietMarks, Role, Signature,
};

use super::alignment::{Alignment, align};

/// The weight of a paragraph of navigation or footer, with 1 for the main text: a changed menu may be larger than a real edit.
const FRAME_WEIGHT: f64 = 0.25;

/// The shares of the page from which a change is moderate, large or total.
const MODERATE_MIN: f32 = 0.05;
const LARGE_MIN: f32 = 0.25;
const TOTAL_MIN: f32 = 0.75;

/// Compares two signatures: digest, structure, content, presentation, behaviour. `kinds` lists all kinds that differ, `left`
/// those that differ by more than built-in noise, and `decided_by` is the first test that decided.
///
/// In `kinds` every difference of an attribute is presentation, whatever else it is; in `left` an attribute counts once,
/// under what it says: a handler is behaviour only.
pub fn compare(old: &Signature, new: &Signature) -> Change {
    // Marks of different formats cannot be compared.
    if old.payload == new.payload || old.format != new.format {
        return Change::default();
    }
    if is_opaque(old) || is_opaque(new) {
        return compare_bytes(old, new);
    }
    let mut change = Change { decided_by: DecidedBy::Nothing, ..Change::default() };
    let (loud, quiet) = (differing(old, new), differing_quietly(&old.quiet, &new.quiet));
    for (kind, test) in [
        (Kind::Structure, DecidedBy::Structure),
        (Kind::Content, DecidedBy::Content),
        (Kind::Presentation, DecidedBy::Presentation),
        (Kind::Behaviour, DecidedBy::Behaviour),
    ] {
        if loud.contains(kind) && change.decided_by == DecidedBy::Nothing {
            change.decided_by = test;
        }
    }
    change.kinds = loud;
    for kind in quiet.iter().filter(|&kind| loud.contains(kind)) {
        change.left.insert(kind);
    }
    // Equal words in the same order may be split into paragraphs differently. That is structure, and no paragraph changed.
    if change.left.contains(Kind::Content) {
        let alignment = align(&digests(&old.paragraphs), &digests(&new.paragraphs));
        change.magnitude = magnitude(&old.paragraphs, &new.paragraphs, &alignment);
        change.paragraphs = operations(&old.paragraphs, &new.paragraphs, &alignment);
    }
    change.degree = degree(&change);
    change
}

/// How large a change is, in words.
pub fn degree(change: &Change) -> Degree {
    if change.kinds.is_empty() {
        return Degree::None;
    }
    if !change.left.contains(Kind::Content) {
        return Degree::Hidden;
    }
    match change.magnitude {
        share if share >= TOTAL_MIN => Degree::Total,
        share if share >= LARGE_MIN => Degree::Large,
        share if share >= MODERATE_MIN => Degree::Moderate,
        _ => Degree::Slight,
    }
}

fn differing(old: &Signature, new: &Signature) -> Kinds {
    kinds([
        (old.structure != new.structure, Kind::Structure),
        (!old.has_words_of(new), Kind::Content),
        (old.presentation != new.presentation, Kind::Presentation),
        (old.behaviour != new.behaviour, Kind::Behaviour),
    ])
}

fn differing_quietly(old: &QuietMarks, new: &QuietMarks) -> Kinds {
    let looks = |marks: &QuietMarks| [marks.presentation, marks.links, marks.images, marks.metadata];
    kinds([
        (old.structure != new.structure, Kind::Structure),
        (old.content != new.content, Kind::Content),
        (looks(old) != looks(new), Kind::Presentation),
        (old.behaviour != new.behaviour, Kind::Behaviour),
    ])
}

fn kinds(tests: [(bool, Kind); 4]) -> Kinds {
    let mut kinds = Kinds::default();
    for (_, kind) in tests.into_iter().filter(|(differs, _)| *differs) {
        kinds.insert(kind);
    }
    kinds
}

/// Whether the body has no text (see `signature`).
fn is_opaque(signature: &Signature) -> bool {
    signature.structure == 0
}

fn compare_bytes(old: &Signature, new: &Signature) -> Change {
    let mut change = Change::default();
    // The same bytes may have been compressed differently.
    if old.content != new.content {
        change.kinds.insert(Kind::Content);
        change.left.insert(Kind::Content);
        change.magnitude = 1.0;
        change.degree = Degree::Total;
    }
    change
}

fn digests(marks: &[ParagraphMark]) -> Vec<u64> {
    marks.iter().map(|mark| mark.digest).collect()
}

/// The share of the paragraphs of both versions, by weight, that were added, removed or moved.
fn magnitude(old: &[ParagraphMark], new: &[ParagraphMark], alignment: &Alignment) -> f32 {
    let total: f64 = old.iter().chain(new).map(|mark| weight(mark.role)).sum();
    if total == 0.0 {
        return 0.0;
    }
    let removed: f64 = alignment.removed.iter().map(|&place| weight(old[place].role)).sum();
    let added: f64 = alignment.added.iter().map(|&place| weight(new[place].role)).sum();
    let moved: f64 = alignment.moved.iter().map(|&(from, to)| weight(old[from].role) + weight(new[to].role)).sum();
    ((removed + added + moved) / total).clamp(0.0, 1.0) as f32
}

fn weight(role: Role) -> f64 {
    match role {
        Role::Navigation | Role::Footer => FRAME_WEIGHT,
        Role::Main | Role::Heading | Role::ListItem | Role::TableRow | Role::Title => 1.0,
    }
}

/// The removed paragraphs in old order, then the added and moved ones in new order.
fn operations(old: &[ParagraphMark], new: &[ParagraphMark], alignment: &Alignment) -> Vec<ParagraphChange> {
    let one = |operation, mark: ParagraphMark, place: usize| ParagraphChange {
        operation,
        id: mark.id,
        from: None,
        others: Vec::new(),
        headings: Vec::new(),
        digest: mark.digest,
        role: mark.role,
        position: place as u32,
        before: None,
        after: None,
    };
    let removed = alignment.removed.iter().map(|&place| one(Operation::Removed, old[place], place));
    let added = alignment.added.iter().map(|&place| one(Operation::Added, new[place], place));
    let moved = alignment.moved.iter().map(|&(_, place)| one(Operation::Moved, new[place], place));
    let mut arrived: Vec<ParagraphChange> = added.chain(moved).collect();
    arrived.sort_by_key(|change| change.position);
    removed.chain(arrived).collect()
}

#[cfg(test)]
mod tests {
    use vernal_model::Digest;

    use super::*;

    fn signature(payload: u8, paragraphs: &[(u64, Role)]) -> Signature {
        Signature {
            format: Signature::FORMAT,
            payload: Digest([payload; 20]),
            // Both halves of the mark of the words.
            content: paragraphs.iter().fold(1, |sum, mark| sum * 31 + u128::from(mark.0)) * (1 << 64 | 1),
            quiet: QuietMarks {
                content: paragraphs.iter().fold(1, |sum, mark| sum * 31 + mark.0),
                ..QuietMarks::default()
            },
            structure: 1,
            presentation: 1,
            behaviour: 1,
            links: 1,
            paragraphs: paragraphs
                .iter()
                .map(|&(digest, role)| ParagraphMark { digest, role, ..ParagraphMark::default() })
                .collect(),
            ..Signature::default()
        }
    }

    #[test]
    fn same_bytes_are_decided_by_the_digest_whatever_else_is_said() {
        let old = signature(1, &[(1, Role::Main)]);
        let new = Signature { structure: 9, ..old.clone() };
        assert_eq!(compare(&old, &new), Change::default());
    }

    #[test]
    fn all_kinds_are_told_and_the_cheapest_test_decides() {
        let old = signature(1, &[(1, Role::Main)]);
        let quiet = QuietMarks { behaviour: 2, ..old.quiet };
        let new = Signature { behaviour: 2, presentation: 2, quiet, payload: Digest([2; 20]), ..old.clone() };
        let change = compare(&old, &new);
        assert_eq!(change.left.iter().collect::<Vec<_>>(), [Kind::Behaviour], "the presentation was noise");
        assert_eq!(change.decided_by, DecidedBy::Presentation);
        assert_eq!(change.kinds.iter().collect::<Vec<_>>(), [Kind::Presentation, Kind::Behaviour]);
        assert_eq!(change.magnitude, 0.0);
        assert_eq!(change.degree, Degree::Hidden);
    }

    #[test]
    fn white_space_beside_a_tag_is_no_change_of_the_words() {
        let old = signature(1, &[(1, Role::Main)]);
        for differing in [1u128, 1 << 64] {
            let new = Signature { content: old.content ^ differing, payload: Digest([2; 20]), ..old.clone() };
            assert!(compare(&old, &new).kinds.is_empty());
        }
    }

    #[test]
    fn bytes_that_differ_without_meaning_change_nothing() {
        let old = signature(1, &[(1, Role::Main)]);
        let change = compare(&old, &Signature { payload: Digest([2; 20]), ..old.clone() });
        assert!(!change.is_change());
        assert_eq!(change.decided_by, DecidedBy::Nothing);
    }

    #[test]
    fn menus_weigh_a_quarter() {
        let old = signature(1, &[(1, Role::Main), (2, Role::Navigation)]);
        let new = signature(2, &[(1, Role::Main), (3, Role::Navigation)]);
        assert!((compare(&old, &new).magnitude - 0.2).abs() < 1e-6);
        let other = signature(2, &[(4, Role::Main), (2, Role::Navigation)]);
        assert!((compare(&old, &other).magnitude - 0.8).abs() < 1e-6);
    }

    #[test]
    fn bodies_without_text_are_compared_by_bytes() {
        let picture = |payload, content| Signature {
            format: Signature::FORMAT,
            payload: Digest([payload; 20]),
            content,
            ..Signature::default()
        };
        let change = compare(&picture(1, 1), &picture(2, 2));
        assert!(change.kinds.contains(Kind::Content));
        assert_eq!((change.decided_by, change.magnitude), (DecidedBy::Digest, 1.0));
        assert!(!compare(&picture(1, 1), &picture(2, 1)).is_change());
    }

    #[test]
    fn signatures_of_another_format_are_not_compared() {
        let old = Signature { format: Signature::FORMAT + 1, ..signature(1, &[(1, Role::Main)]) };
        assert!(!compare(&old, &signature(2, &[(2, Role::Main)])).is_change());
    }
}
