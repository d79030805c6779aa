//! Root mean square and weighted checksum (paper 003, 4.1.2.1 and 4.1.2.2), of the page and of its paragraphs. Both ignore the
//! order of letters, and the sum over a page ignores that of its paragraphs.

use schemars::JsonSchema;
use serde::Serialize;
use vernal_model::Document;

use super::method::{Cost, Found};
use super::tree::Sides;
use crate::Input;
use crate::detect::alignment::in_order;
use crate::diff::{STEPS_MAX, Steps, text_of};
use crate::parse::links::limited;
use crate::parse::text::ParagraphLetters;
use crate::parse::words::letters_of_markup;
use crate::read::{letters_of, markup_of, read_marked};
use crate::signature::checksum::PLAIN_POINTS;
use crate::signature::letters::LetterSums;
use crate::signature::rms::page_rms;

/// Paragraphs with other numbers that are shown; the rest is only counted.
pub const PARAGRAPHS_SHOWN_MAX: usize = 100;

/// The beginning of a paragraph, by which a person knows it.
const TEXT_BYTES_MAX: usize = 80;

/// Sums in another order differ in their last bits. A letter more or less differs by far more.
const RELATIVE_ERROR_MAX: f64 = 1e-9;

#[derive(Copy, Clone)]
pub(super) enum Weigh {
    Rms,
    Checksum,
}

#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct LettersFound {
    pub page: Numbers,
    /// How many paragraphs each version has.
    pub paragraphs: Sides<usize>,
    /// How many of them have no equal in the other version, and the first of these.
    pub differing: usize,
    pub differing_paragraphs: Vec<ParagraphNumbers>,
}

/// The numbers of two versions; null where there is no paragraph.
#[derive(Copy, Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Numbers {
    pub old: Option<f64>,
    pub new: Option<f64>,
    /// How much greater the new one is.
    pub difference: f64,
}

#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ParagraphNumbers {
    /// Its place in each version, from 0.
    pub position: Sides<Option<usize>>,
    #[serde(flatten)]
    pub numbers: Numbers,
    /// Different letters, which the paper prints beside its numbers.
    pub distinct: Sides<Option<u32>>,
    /// How it begins, in the newer version if it is there.
    pub text: String,
}

impl Numbers {
    fn of(old: Option<f64>, new: Option<f64>) -> Self {
        Numbers { old, new, difference: new.unwrap_or(0.0) - old.unwrap_or(0.0) }
    }
}

pub(super) fn compared(old: &Input<'_>, new: &Input<'_>, weigh: Weigh) -> (bool, Found, Cost) {
    let (old_read, new_read) = (Weighed::of(old, weigh), Weighed::of(new, weigh));
    let page = Numbers::of(Some(old_read.page), Some(new_read.page));
    let changed = page.difference.abs() > RELATIVE_ERROR_MAX * old_read.page.abs().max(new_read.page.abs());
    let paragraphs = Sides { old: old_read.numbers.len(), new: new_read.numbers.len() };
    let differing = differing(&old_read.numbers, &new_read.numbers);
    let cost = Cost {
        bytes_read: old.bytes.len() + new.bytes.len(),
        items: paragraphs.old + paragraphs.new,
        // One number for the page, and one for each paragraph.
        kept_bytes: size_of::<f64>() * (1 + paragraphs.new),
    };
    let shown = differing.iter().take(PARAGRAPHS_SHOWN_MAX).map(|&(before, after)| {
        let text = match after {
            Some(place) => text_of(&new_read.document, place),
            None => text_of(&old_read.document, before.unwrap_or_default()),
        };
        let distinct = |of: &Weighed, place: Option<usize>| Some(of.letters.get(place?)?.sums.distinct());
        ParagraphNumbers {
            position: Sides { old: before, new: after },
            numbers: Numbers::of(before.map(|at| old_read.numbers[at]), after.map(|at| new_read.numbers[at])),
            distinct: Sides { old: distinct(&old_read, before), new: distinct(&new_read, after) },
            text: limited(text, TEXT_BYTES_MAX).to_owned(),
        }
    });
    let differing_paragraphs = shown.collect();
    let found = LettersFound { page, paragraphs, differing: differing.len(), differing_paragraphs };
    (changed, Found::Letters(found), cost)
}

/// One version with its numbers.
struct Weighed {
    document: Document,
    letters: Vec<ParagraphLetters>,
    numbers: Vec<f64>,
    page: f64,
}

impl Weighed {
    fn of(input: &Input<'_>, weigh: Weigh) -> Self {
        let (document, letters) = match markup_of(input) {
            Some(markup) => letters_of_markup(&letters_of(input), markup),
            None => without_markup(input),
        };
        let number = |one: &ParagraphLetters| match weigh {
            Weigh::Rms => one.sums.rms(),
            Weigh::Checksum => one.sums.checksum(one.points),
        };
        let numbers: Vec<f64> = letters.iter().map(number).collect();
        let page = match weigh {
            Weigh::Rms => page_rms(numbers.iter().copied()),
            Weigh::Checksum => numbers.iter().sum(),
        };
        Weighed { document, letters, numbers, page }
    }
}

/// Text without markup has one size.
fn without_markup(input: &Input<'_>) -> (Document, Vec<ParagraphLetters>) {
    let document = read_marked(input).0.document;
    let letters = |place| ParagraphLetters { sums: LetterSums::of(text_of(&document, place)), points: PLAIN_POINTS };
    let letters = (0..document.paragraphs.len()).map(letters).collect();
    (document, letters)
}

/// The paragraphs whose numbers have no equal in the other version, in order. Those of one gap are taken for one another, as the
/// paper does with its first paragraphs.
fn differing(old: &[f64], new: &[f64]) -> Vec<(Option<usize>, Option<usize>)> {
    let bits = |numbers: &[f64]| numbers.iter().map(|number| number.to_bits()).collect::<Vec<u64>>();
    let stayed = in_order(&bits(old), &bits(new), &mut Steps::new(STEPS_MAX));
    let mut pairs = Vec::new();
    let (mut from_old, mut from_new) = (0, 0);
    let ends = stayed.iter().enumerate().filter_map(|(before, after)| after.map(|after| (before, after)));
    for (before, after) in ends.chain([(old.len(), new.len())]) {
        let gap = (before - from_old).max(after - from_new);
        let one = |from: usize, end: usize, step: usize| Some(from + step).filter(|&place| place < end);
        pairs.extend((0..gap).map(|step| (one(from_old, before, step), one(from_new, after, step))));
        (from_old, from_new) = (before + 1, after + 1);
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paragraphs_between_equal_ones_are_taken_for_one_another() {
        let found = differing(&[1.0, 2.0, 3.0], &[9.0, 2.0, 3.0, 4.0]);
        assert_eq!(found, [(Some(0), Some(0)), (None, Some(3))]);
        assert_eq!(differing(&[1.0, 2.0], &[2.0]), [(Some(0), None)]);
        assert!(differing(&[], &[]).is_empty());
    }
}
