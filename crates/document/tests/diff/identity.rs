//! Numbers of paragraphs, and blame.

use proptest::prelude::*;
use vernal_document::diff::{Blame, BlamedParagraph, blame, carry_ids, carry_ids_by_marks, explain};
use vernal_document::noise::Shape;
use vernal_model::{Change, Document, Kind, Kinds, Moment, ParagraphChange, ParagraphMark};

use crate::{name, page, paragraphs};

fn marks(document: &Document) -> Vec<ParagraphMark> {
    let one = |paragraph: &vernal_model::Paragraph| ParagraphMark {
        digest: paragraph.digest,
        id: 0,
        place: paragraph.place,
        role: paragraph.role,
    };
    document.paragraphs.iter().map(one).collect()
}

fn operations(old: &Document, new: &Document) -> Vec<ParagraphChange> {
    let mut kinds = Kinds::default();
    kinds.insert(Kind::Content);
    let mut change = Change { kinds, left: kinds, ..Change::default() };
    explain(old, new, &mut change);
    change.paragraphs
}

/// A page's numbers over its versions.
fn numbers(versions: &[Document]) -> Vec<Vec<u32>> {
    let mut next = 1;
    let mut last: Option<(&Document, Vec<ParagraphMark>)> = None;
    let mut all = Vec::new();
    for version in versions {
        let mut new = marks(version);
        match &last {
            Some((old, old_marks)) => {
                let mut operations = operations(old, version);
                carry_ids(old_marks, &mut new, &mut operations, &mut next);
                assert!(operations.iter().all(|change| change.id != 0), "{operations:?}");
            }
            None => carry_ids_by_marks(&[], &mut new, &mut next),
        }
        all.push(new.iter().map(|mark| mark.id).collect());
        last = Some((version, new));
    }
    all
}

#[test]
fn a_number_survives_edits_and_moves() {
    let versions = [
        paragraphs(&["The cat sat on the mat.", "A second thing to say.", "Third and last words."]),
        paragraphs(&["The cat lay on the mat.", "A second thing to say.", "Third and last words."]),
        paragraphs(&["A second thing to say.", "Third and last words.", "The cat lay on the mat."]),
        paragraphs(&["A second thing to say.", "Third and last words.", "The cat lay on the red mat today."]),
    ];
    assert_eq!(numbers(&versions), [[1, 2, 3], [1, 2, 3], [2, 3, 1], [2, 3, 1]]);
}

#[test]
fn in_a_split_the_largest_part_keeps_the_number_and_in_a_merge_the_largest_source() {
    let whole = "Short words here. A longer second sentence that says a good deal more.";
    let versions = [
        paragraphs(&["Begin here.", whole]),
        paragraphs(&["Begin here.", "Short words here.", "A longer second sentence that says a good deal more!"]),
        paragraphs(&["Begin here.", &format!("{whole} Indeed.")]),
    ];
    assert_eq!(numbers(&versions), [vec![1, 2], vec![1, 3, 2], vec![1, 2]]);
}

#[test]
fn a_number_that_went_is_not_given_again() {
    let versions = [
        paragraphs(&["One here.", "Two there."]),
        paragraphs(&["One here."]),
        paragraphs(&["One here.", "Something else."]),
    ];
    assert_eq!(numbers(&versions), [vec![1, 2], vec![1], vec![1, 3]]);
}

#[test]
fn items_of_a_reordered_menu_keep_their_numbers() {
    let menu = |items: &str| page(&format!("<nav><ul><li>{}</ul></nav>", items.replace(' ', "<li>")));
    let found = numbers(&[menu("a b c d e"), menu("e d c b a")]);
    assert_eq!(found[1], [5, 4, 3, 2, 1]);
}

#[test]
fn by_marks_alone_a_number_survives_moves_and_plain_edits() {
    let old = paragraphs(&["One.", "Two two.", "Three.", "Four."]);
    let new = paragraphs(&["One.", "Other words.", "Three.", "Brand new.", "Also new."]);
    let mut next = 1;
    let mut before = marks(&old);
    carry_ids_by_marks(&[], &mut before, &mut next);
    let mut after = marks(&new);
    carry_ids_by_marks(&before, &mut after, &mut next);
    assert_eq!(after.iter().map(|mark| mark.id).collect::<Vec<_>>(), [1, 2, 3, 5, 6]);
}

#[test]
fn missing_and_wrong_operations_do_no_harm() {
    let (old, new) = (paragraphs(&["One here.", "Two there."]), paragraphs(&["One here now.", "Two there."]));
    let mut operations = operations(&old, &new);
    operations[0].position = 77;
    operations[0].from = Some(99);
    let mut before = marks(&old);
    let mut next = 1;
    carry_ids_by_marks(&[], &mut before, &mut next);
    let mut after = marks(&new);
    carry_ids(&before, &mut after, &mut operations, &mut next);
    assert_eq!(after.iter().map(|mark| mark.id).collect::<Vec<_>>(), [1, 2]);
}

proptest! {
    #[test]
    fn numbers_are_unique_in_a_version_and_never_come_back(
        versions in prop::collection::vec(prop::collection::vec("(a|b|cat|dog|12)( (a|b|cat|dog|12)){0,5}", 0..8), 1..8)
    ) {
        let documents: Vec<Document> = versions.iter().map(|texts| paragraphs(texts)).collect();
        let found = numbers(&documents);
        let mut gone: std::collections::HashSet<u32> = Default::default();
        let mut last: std::collections::HashSet<u32> = Default::default();
        for ids in &found {
            let now: std::collections::HashSet<u32> = ids.iter().copied().collect();
            prop_assert_eq!(now.len(), ids.len());
            prop_assert!(!now.contains(&0) && now.is_disjoint(&gone));
            gone.extend(last.difference(&now));
            last = now;
        }
        let all: Vec<_> = documents.iter().enumerate().map(|(number, document)| (number as u32, Moment::from_secs(number as i64), document)).collect();
        let blamed = blame(all);
        let texts = vernal_document::diff::texts;
        let last = documents.last().map(texts).unwrap_or_default();
        prop_assert_eq!(blamed.iter().map(|one| one.text()).collect::<Vec<_>>(), last);
        prop_assert!(blamed.iter().all(|one| one.born.version <= one.edited.version));
    }
}

#[test]
fn blame_names_the_version_of_each_paragraph_and_word() {
    let mut walk = Blame::new();
    let versions = [
        paragraphs(&["The cat sat on the mat.", "Stays as it is."]),
        paragraphs(&["New at the top.", "The cat lay on the mat.", "Stays as it is."]),
        paragraphs(&["New at the top.", "Stays as it is.", "The cat lay on the red mat."]),
    ];
    for (number, document) in versions.iter().enumerate() {
        walk.version(number as u32 + 1, Moment::from_secs(number as i64), document);
    }
    let blamed = walk.finish();
    let told: Vec<(u32, u32, u32)> =
        blamed.iter().map(|one| (one.born.version, one.edited.version, one.edits)).collect();
    assert_eq!(told, [(2, 2, 0), (1, 1, 0), (1, 3, 2)]);
    let words: Vec<(u32, &str)> = blamed[2].words.iter().map(|words| (words.seen.version, &*words.text)).collect();
    assert_eq!(words, [(1, "The cat"), (2, " lay"), (1, " on the"), (3, " red"), (1, " mat.")]);
    assert_eq!(blamed[2].text(), "The cat lay on the red mat.");
}

#[test]
fn noise_is_no_edit_and_a_real_edit_beside_it_is_one() {
    let versions = [
        paragraphs(&["Posted 5 minutes ago by Ann.", "Views: 12 today here", "Effective 1 May."]),
        paragraphs(&["Posted 9 minutes ago by Ann.", "Views: 13 today here", "Effective 1 June."]),
        paragraphs(&["Posted 3 hours ago by Ben.", "Views: 14 today here", "Effective 1 June."]),
    ];
    let blamed = |shapes: &[&str]| {
        let mut walk = Blame::with_shapes(shapes.iter().map(|shape| Shape::parse(shape)).collect());
        for (number, document) in versions.iter().enumerate() {
            walk.version(number as u32 + 1, Moment::from_secs(number as i64), document);
        }
        walk.finish()
    };
    let edits = |blamed: &[BlamedParagraph]| -> Vec<(u32, u32)> {
        blamed.iter().map(|one| (one.edited.version, one.edits)).collect()
    };
    let (builtin, learned) = (blamed(&[]), blamed(&["Views: # today here"]));
    assert_eq!(edits(&builtin), [(3, 1), (3, 2), (2, 1)], "a date in the text is content");
    assert_eq!(edits(&learned), [(3, 1), (1, 0), (2, 1)]);
    assert_eq!(learned.iter().map(|one| one.text()).collect::<Vec<_>>(), vernal_document::diff::texts(&versions[2]));
    let words: Vec<(u32, &str)> = learned[1].words.iter().map(|words| (words.seen.version, &*words.text)).collect();
    assert_eq!(words, [(1, "Views: 14 today here")]);
}

#[test]
fn words_keep_their_version_through_splits_and_merges() {
    let versions = [
        paragraphs(&["We sell apples and pears here. You may pay by card."]),
        paragraphs(&["We sell apples and plums here.", "You may pay by card."]),
        paragraphs(&["We sell apples and plums here. You may pay by card. Thanks."]),
    ];
    let all = versions.iter().enumerate().map(|(number, one)| (number as u32 + 1, Moment::default(), one));
    let blamed = blame(all);
    let words: Vec<(u32, &str)> = blamed[0].words.iter().map(|words| (words.seen.version, &*words.text)).collect();
    let expected = [(1, "We sell apples and"), (2, " plums"), (1, " here. You may pay by card."), (3, " Thanks.")];
    assert_eq!(words, expected);
    assert_eq!((blamed[0].born.version, name(operations(&versions[1], &versions[2])[0].operation)), (1, "merged"));
}
