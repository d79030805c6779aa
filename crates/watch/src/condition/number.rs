//! The first number of a paragraph: above, below, or moved by so much.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// All that is given must hold. A number that was above already and still is tells nothing again.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "WatchedNumber")]
pub struct Number {
    /// Only this paragraph; else any paragraph of the page that changed.
    pub paragraph: Option<String>,
    pub above: Option<f64>,
    pub below: Option<f64>,
    pub moves_by: Option<MovesBy>,
}

/// How far a number must move, by itself or in hundredths of what it was.
#[derive(Copy, Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum MovesBy {
    Amount(f64),
    Percent(f64),
}

impl Number {
    pub fn check(&self) -> Result<(), String> {
        if self.above.is_none() && self.below.is_none() && self.moves_by.is_none() {
            return Err("a condition on a number says above, below or moves_by".into());
        }
        match [self.above, self.below].into_iter().flatten().all(f64::is_finite) {
            true => Ok(()),
            false => Err("a condition on a number needs a number".into()),
        }
    }

    /// Whether the condition holds between the two texts of a paragraph.
    pub fn holds(&self, before: Option<&str>, after: Option<&str>) -> bool {
        let (old, new) = (before.and_then(first_number), after.and_then(first_number));
        let Some(new) = new else { return false };
        let above = self.above.is_none_or(|limit| new > limit && old.is_none_or(|old| old <= limit));
        let below = self.below.is_none_or(|limit| new < limit && old.is_none_or(|old| old >= limit));
        let moved = self.moves_by.is_none_or(|by| old.is_some_and(|old| by.is_reached(old, new)));
        above && below && moved
    }
}

impl MovesBy {
    fn is_reached(self, old: f64, new: f64) -> bool {
        let moved = (new - old).abs();
        match self {
            MovesBy::Amount(amount) => moved >= amount,
            MovesBy::Percent(percent) => moved > 0.0 && moved * 100.0 >= percent * old.abs(),
        }
    }
}

impl FromStr for MovesBy {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is no distance: give a number, or a percentage such as 5%");
        let (number, is_percent) = match text.trim().strip_suffix('%') {
            Some(number) => (number, true),
            None => (text.trim(), false),
        };
        let number: f64 = number.trim().parse().map_err(|_| wrong())?;
        match number.is_finite() && number > 0.0 {
            true if is_percent => Ok(MovesBy::Percent(number)),
            true => Ok(MovesBy::Amount(number)),
            false => Err(wrong()),
        }
    }
}

impl TryFrom<String> for MovesBy {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<MovesBy> for String {
    fn from(by: MovesBy) -> String {
        by.to_string()
    }
}

impl fmt::Display for MovesBy {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MovesBy::Amount(amount) => write!(out, "{amount}"),
            MovesBy::Percent(percent) => write!(out, "{percent}%"),
        }
    }
}

/// The first number of a text. Points, commas, blanks and apostrophes group digits by three or begin the decimals: of two
/// different signs the last begins them, and one sign alone does unless exactly three digits follow each time.
pub fn first_number(text: &str) -> Option<f64> {
    let begin = text.find(|letter: char| letter.is_ascii_digit())?;
    let before = text[..begin].trim_end_matches(['€', '$', '£', '¥', ' ', '\u{a0}']);
    let sign = if before.ends_with(['-', '−']) && !ends_like_word(before) { -1.0 } else { 1.0 };
    let (mut digits, mut signs): (String, Vec<(char, usize)>) = Default::default();
    let mut letters = text[begin..].chars().peekable();
    while let Some(letter) = letters.next() {
        if letter.is_ascii_digit() {
            digits.push(letter);
        } else if matches!(letter, '.' | ',' | '\'' | '’' | '\u{a0}' | '\u{202f}')
            && letters.peek().is_some_and(char::is_ascii_digit)
        {
            signs.push((letter, digits.len()));
        } else {
            break;
        }
    }
    let decimals = decimals_begin(&signs, &digits);
    let (whole, part) = digits.split_at(decimals.unwrap_or(digits.len()));
    let number: f64 = format!("{whole}.{part}0").parse().ok()?;
    Some(sign * number)
}

/// A hyphen behind a word, such as that of `COVID-19`, is no minus.
fn ends_like_word(before: &str) -> bool {
    before.trim_end_matches(['-', '−']).ends_with(char::is_alphanumeric)
}

/// The place among the digits where the decimals begin.
fn decimals_begin(signs: &[(char, usize)], digits: &str) -> Option<usize> {
    let &(last, place) = signs.last()?;
    if !matches!(last, '.' | ',') {
        return None;
    }
    let differs = signs.iter().any(|(sign, _)| *sign != last);
    // 1.234 and 1,234 are thousands; 0.125 is not.
    let is_group = digits.len() - place == 3 && place <= 3 && !digits.starts_with('0');
    match differs {
        true => Some(place),
        false => (signs.len() == 1 && !is_group).then_some(place),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_people_write_them() {
        for (text, number) in [
            ("€ 9.99 a month", 9.99),
            ("1,234.56", 1234.56),
            ("1.234,56 €", 1234.56),
            ("1 of 7", 1.0),
            ("12'500.5", 12500.5),
            ("1\u{a0}234\u{a0}567", 1_234_567.0),
            ("1.234.567", 1_234_567.0),
            ("1,234", 1234.0),
            ("3,5 %", 3.5),
            ("0.125", 0.125),
            ("minus -4 degrees", -4.0),
            ("COVID-19", 19.0),
            ("ends 5.", 5.0),
        ] {
            assert_eq!(first_number(text), Some(number), "{text}");
        }
        assert_eq!(first_number("none"), None);
    }

    #[test]
    fn a_number_tells_when_it_crosses_and_not_while_it_stays() {
        let above = Number { above: Some(100.0), ..Number::default() };
        assert!(above.holds(Some("€ 99"), Some("€ 101")) && above.holds(None, Some("€ 101")));
        assert!(!above.holds(Some("€ 101"), Some("€ 102")) && !above.holds(Some("€ 99"), Some("€ 100")));
        let below = Number { below: Some(3.0), ..Number::default() };
        assert!(below.holds(Some("3"), Some("2.5")) && !below.holds(Some("2.9"), Some("2.5")));
        let moves = |by: &str| Number { moves_by: Some(by.parse().unwrap()), ..Number::default() };
        assert!(moves("5%").holds(Some("100"), Some("105")) && !moves("5%").holds(Some("100"), Some("104")));
        assert!(moves("2").holds(Some("10"), Some("8")) && !moves("2").holds(None, Some("8")));
        assert!(!moves("5%").holds(Some("10"), Some("none")) && !moves("5%").holds(Some("10"), Some("10")));
        for wrong in ["", "x", "-5%", "0", "inf"] {
            assert!(wrong.parse::<MovesBy>().is_err(), "{wrong}");
        }
        assert!(Number::default().check().is_err());
    }
}
