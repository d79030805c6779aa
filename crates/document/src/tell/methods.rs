//! What a method of change detection found, for people: a line, and below it the numbers of the paper.

use super::verdict::{plain, quoted};
use crate::methods::{FingerprintFound, Found, LettersFound, MethodVerdict, TreeFound};

/// Letters of a fingerprint, and paragraphs, that are printed; the JSON has more.
const LETTERS_PRINTED_MAX: usize = 100;
const PARAGRAPHS_PRINTED_MAX: usize = 20;

pub fn method_lines(verdict: &MethodVerdict) -> Vec<String> {
    let mut lines = vec![format!("{}: {}", verdict.method.name(), plain(&verdict.words))];
    match &verdict.found {
        Found::Tree(found) => lines.extend(levels(found)),
        Found::Fingerprint(found) => lines.extend(fingerprints(found)),
        Found::Letters(found) => lines.extend(paragraphs(found)),
        Found::Vernal(_) => {}
    }
    lines
}

/// The paper's Table 4.
fn levels(found: &TreeFound) -> Vec<String> {
    let mut lines = vec![format!("{:>9}{:>8}{:>8}{:>8}{:>9}", "level", "old", "new", "added", "removed")];
    lines.extend(
        found
            .levels
            .iter()
            .map(|row| format!("{:>9}{:>8}{:>8}{:>8}{:>9}", row.level, row.old, row.new, row.added, row.removed)),
    );
    if found.levels_left_out > 0 {
        lines.push(format!("{:>9} further levels", found.levels_left_out));
    }
    lines
}

/// The paper's Table 7.
fn fingerprints(found: &FingerprintFound) -> Vec<String> {
    let one = |name: &str, letters: &str| format!("    {name:<10} {}", quoted(letters, LETTERS_PRINTED_MAX));
    let mut lines = vec![
        one("first, old", &found.first.old),
        one("first, new", &found.first.new),
        one("last, old", &found.last.old),
        one("last, new", &found.last.new),
    ];
    if let Some(parting) = &found.parts_at {
        lines.push(format!("    they part: {} → {}", plain(&parting.around.old), plain(&parting.around.new)));
    }
    lines
}

/// The paper's Tables 9 and 11, without the paragraphs that are the same.
fn paragraphs(found: &LettersFound) -> Vec<String> {
    let number = |number: Option<f64>| number.map_or_else(|| "-".to_owned(), |number| format!("{number:.4}"));
    let mut lines: Vec<String> = found
        .differing_paragraphs
        .iter()
        .take(PARAGRAPHS_PRINTED_MAX)
        .map(|one| {
            let position = one.position.new.or(one.position.old).unwrap_or_default();
            format!(
                "{:>13}{:>14}{:>14}{:>+14.4}  {}",
                position,
                number(one.numbers.old),
                number(one.numbers.new),
                one.numbers.difference,
                plain(&one.text)
            )
        })
        .collect();
    if !lines.is_empty() {
        lines.insert(0, format!("{:>13}{:>14}{:>14}{:>14}  begins with", "paragraph", "old", "new", "difference"));
    }
    let left_out = found.differing.saturating_sub(PARAGRAPHS_PRINTED_MAX);
    if left_out > 0 {
        lines.push(format!("{left_out:>13} further paragraphs"));
    }
    lines
}
