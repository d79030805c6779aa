//! What holds for any two documents.

use proptest::prelude::*;
use vernal_document::diff::{STEPS_MAX, diff};
use vernal_model::{Chance, Operation};

use crate::{differ, page, paragraphs};

fn sentences() -> impl Strategy<Value = Vec<String>> {
    let word = prop::sample::select(vec!["a", "the", "cat", "dog", "9.99", "12", "sat", "東京", "ran,", "(x)", "é"]);
    let sentence = prop::collection::vec(word, 1..9).prop_map(|words| words.join(" "));
    prop::collection::vec(sentence, 0..14)
}

/// Paragraphs that have no word in common.
fn apart(count: usize) -> Vec<String> {
    (0..count).map(|one| (0..8).map(|word| format!("w{one}x{word}")).collect::<Vec<_>>().join(" ")).collect()
}

proptest! {
    #[test]
    fn applying_the_operations_gives_the_new_paragraphs(old in sentences(), new in sentences(), tag in "p|li|td") {
        let made = |texts: &[String]| page(&texts.iter().map(|text| format!("<{tag}>{text}</{tag}>")).collect::<String>());
        differ(&made(&old), &made(&new));
        differ(&paragraphs(&old), &made(&new));
    }

    #[test]
    fn a_moved_paragraph_is_never_one_that_went_and_one_that_came(count in 2usize..20, from in 0usize..20, to in 0usize..20, edit in any::<bool>()) {
        let old = apart(count);
        let (from, to) = (from % count, to % count);
        let mut new = old.clone();
        let mut moved = new.remove(from);
        if edit {
            moved = moved.replacen("x3", "changed", 1);
        }
        new.insert(to, moved);
        let found = differ(&paragraphs(&old), &paragraphs(&new));
        let told = |wanted: Operation| found.paragraphs.iter().filter(|paragraph| paragraph.op == wanted).count();
        prop_assert_eq!(told(Operation::Added) + told(Operation::Removed), 0);
        // An edited one may have stayed while its neighbours went around it.
        prop_assert_eq!(found.paragraphs.is_empty(), from == to && !edit);
        if from != to {
            prop_assert!(told(Operation::Moved) >= 1);
        }
    }

    #[test]
    fn a_split_and_its_reverse_are_told_as_such(count in 1usize..10, at in 0usize..10, cut in 2usize..7) {
        let old = apart(count);
        let at = at % count;
        let words: Vec<&str> = old[at].split(' ').collect();
        let mut new = old.clone();
        new.splice(at..=at, [words[..cut].join(" "), words[cut..].join(" ")]);
        let (old, new) = (paragraphs(&old), paragraphs(&new));
        let operations = |found: &vernal_document::diff::Diff| found.paragraphs.iter().map(|one| one.op).collect::<Vec<_>>();
        prop_assert_eq!(operations(&differ(&old, &new)), [Operation::Split]);
        prop_assert_eq!(operations(&differ(&new, &old)), [Operation::Merged]);
    }
}

/// Documents made to be hard: few words, many repeats, many and long paragraphs.
#[test]
fn a_diff_of_any_two_documents_ends_within_its_limit() {
    let mut chance = Chance::new(20_261_115).stream("diff");
    for (count, length, words) in [(3_000, 3, 4), (3_000, 12, 3_000), (1, 60_000, 2), (40, 3_000, 50), (4_900, 1, 2)] {
        let mut made = || {
            let mut text = || (0..length).map(|_| format!("w{}", chance.below(words))).collect::<Vec<_>>().join(" ");
            paragraphs(&(0..count).map(|_| text()).collect::<Vec<_>>())
        };
        let (old, new) = (made(), made());
        let found = diff(&old, &new);
        println!("{count} paragraphs of {length} words out of {words}: {} steps, {:?}", found.steps, found.fallback);
        assert!(found.steps <= STEPS_MAX);
        let texts = vernal_document::diff::texts;
        assert_eq!(found.apply(&texts(&old)).expect("it applies"), texts(&new));
    }
}

#[test]
fn a_diff_does_not_apply_to_other_paragraphs() {
    let found = diff(&paragraphs(&["one two three"]), &paragraphs(&["one two four"]));
    assert_eq!(found.apply(&["one two four"]), None);
    assert_eq!(found.apply(&[]), None);
}
