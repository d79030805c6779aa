//! The root mean square of the letters (paper 003, 4.2.2), as a hint of how much changed: blind to order, so it stands
//! beside a real digest and never alone.

/// The letters in lower case, white space left out: the squares of all of them, over the number of different ones.
pub fn rms(text: &str) -> f64 {
    let mut seen = [0u8; 256];
    let mut squares = 0u64;
    for &byte in text.as_bytes() {
        if !byte.is_ascii_whitespace() {
            let letter = byte.to_ascii_lowercase();
            squares += u64::from(letter) * u64::from(letter);
            seen[usize::from(letter)] = 1;
        }
    }
    let distinct: u32 = seen.iter().map(|&byte| u32::from(byte)).sum();
    if distinct == 0 { 0.0 } else { (squares as f64 / f64::from(distinct)).sqrt() }
}

/// The page's value is that of its paragraphs, added up, over ten (read from the paper's Table 10).
pub fn page_rms(paragraphs: impl Iterator<Item = f64>) -> f64 {
    paragraphs.sum::<f64>() / 10.0
}
