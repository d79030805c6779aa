//! The root mean square of the letters (paper 003, 4.2.2), a hint of how much changed. It ignores order, so it only supplements a
//! real digest.

use super::letters::LetterSums;

/// The root mean square of the letters in lower case, without white space: the sum of their squares over the number of different
/// letters.
pub fn rms(text: &str) -> f64 {
    LetterSums::of(text).rms()
}

/// The value of a page: the sum over its paragraphs, divided by ten (derived from Table 10 of the paper).
pub fn page_rms(paragraphs: impl Iterator<Item = f64>) -> f64 {
    paragraphs.sum::<f64>() / 10.0
}
