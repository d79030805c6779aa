//! The root mean square of the letters (paper 003, 4.2.2), as a hint of how much changed: blind to order, so it stands
//! beside a real digest and never alone.

use super::letters::LetterSums;

/// The letters in lower case, white space left out: the squares of all of them, over the number of different ones.
pub fn rms(text: &str) -> f64 {
    LetterSums::of(text).rms()
}

/// The page's value is that of its paragraphs, added up, over ten (read from the paper's Table 10).
pub fn page_rms(paragraphs: impl Iterator<Item = f64>) -> f64 {
    paragraphs.sum::<f64>() / 10.0
}
