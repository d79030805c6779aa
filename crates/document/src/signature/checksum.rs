//! The weighted checksum (paper 003, 4.2.3): the sum of the character codes, each times its font size. It ignores order.

use super::letters::LetterSums;

/// The constant K of the paper. Its text says 0.0001, but its numbers need this value.
pub(super) const K: f64 = 0.001;

/// The size of plain text, in points; the paper's examples have it.
pub const PLAIN_POINTS: f64 = 12.0;

/// Σ I · letter · K over the letters, white space left out; `points` is the importance I.
pub fn checksum(text: &str, points: f64) -> f64 {
    LetterSums::of(text).checksum(points)
}

/// The checksum without the first letters, as the program of the paper computed it (it left out two).
pub fn checksum_from(text: &str, points: f64, skip: usize) -> f64 {
    let mut letters = text.bytes().filter(|byte| !byte.is_ascii_whitespace());
    for _ in 0..skip {
        letters.next();
    }
    let sum: u64 = letters.map(u64::from).sum();
    points * K * sum as f64
}

/// The importance of a heading: the sizes that browsers give, for text of twelve points.
pub fn heading_points(level: u8) -> f64 {
    match level {
        1 => 24.0,
        2 => 18.0,
        3 => 14.04,
        4 => PLAIN_POINTS,
        5 => 9.96,
        6 => 8.04,
        _ => PLAIN_POINTS,
    }
}

/// The font size of a style attribute, in points. Relative sizes refer to plain text.
pub fn styled_points(style: &str) -> Option<f64> {
    let place = memchr::memmem::find(style.as_bytes(), b"font-size")?;
    let value = style[place + 9..].trim_start().strip_prefix(':')?.split(';').next()?.trim();
    let unit_at = value.find(|letter: char| !letter.is_ascii_digit() && letter != '.').unwrap_or(value.len());
    let number: f64 = match value[..unit_at].parse() {
        Ok(number) => number,
        Err(_) => return named_points(value),
    };
    let points = match value[unit_at..].trim() {
        "pt" => number,
        "px" => number * 0.75,
        "em" | "rem" => number * PLAIN_POINTS,
        "%" => number / 100.0 * PLAIN_POINTS,
        _ => return None,
    };
    (points.is_finite() && points > 0.0).then_some(points.min(POINTS_MAX))
}

/// Larger font sizes count as this.
const POINTS_MAX: f64 = 96.0;

fn named_points(name: &str) -> Option<f64> {
    Some(match name {
        "xx-small" => 6.75,
        "x-small" => 7.5,
        "small" | "smaller" => 9.75,
        "medium" => PLAIN_POINTS,
        "large" | "larger" => 13.5,
        "x-large" => 18.0,
        "xx-large" => 24.0,
        _ => return None,
    })
}

/// The size of `<font size=…>`, 1 to 7.
pub fn font_points(size: &str) -> Option<f64> {
    let size = size.trim();
    let number: i8 = size.strip_prefix('+').unwrap_or(size).parse().ok()?;
    let absolute = if size.starts_with(['+', '-']) { 3 + number } else { number };
    Some([7.5, 9.75, PLAIN_POINTS, 13.5, 18.0, 24.0, 36.0][(absolute.clamp(1, 7) - 1) as usize])
}
