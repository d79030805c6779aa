//! Noise in visible text: relative times, labelled ids of an answer, and the time that an answer took.
//!
//! Numbers, dates, prices and percentages are content. So nothing is removed here unless the words around it show that it was
//! generated.

use memchr::{memchr, memmem, memrchr};

use super::token::{TOKEN_BYTES_MIN, drawn};
use super::{Cleaned, Cutter};
use crate::parse::swar::next_digit;

/// Words before the id of an answer.
const ID_NAMES: [&str; 14] = [
    "ray id",
    "request id",
    "trace id",
    "correlation id",
    "session id",
    "reference id",
    "incident id",
    "event id",
    "error id",
    "support id",
    "request-id",
    "x-request-id",
    "reference",
    "nonce",
];

/// Words that end a relative time, and those that begin one.
const AGO: [&str; 5] = ["ago", "ago.", "ago,", "ago)", "ago:"];
const BEFORE: [&str; 4] = ["vor", "il y a", "hace", "há"];

const UNITS: [&str; 44] = [
    "s", "sec", "secs", "second", "seconds", "m", "min", "mins", "minute", "minutes", "h", "hr", "hrs", "hour",
    "hours", "d", "day", "days", "w", "week", "weeks", "mo", "month", "months", "y", "yr", "year", "years", "sekunde",
    "sekunden", "minuten", "stunde", "stunden", "tag", "tagen", "seconde", "secondes", "heure", "heures", "jours",
    "segundos", "minutos", "horas", "dias",
];

const COUNTS: [&str; 9] = ["a", "an", "one", "few", "couple", "einer", "einem", "une", "un"];

/// Words before "in 0.012 s" that show a measured time.
const TIMED: [&str; 8] = ["generated", "rendered", "processed", "executed", "served", "loaded", "created", "built"];

/// Removes noise from text with folded white space.
pub fn words(text: &str) -> Cleaned<'_> {
    let bytes = text.as_bytes();
    let mut cuts: Vec<Cut> = Vec::new();
    for place in memmem::find_iter(bytes, b" ago") {
        cuts.extend(before_ago(text, place));
    }
    for place in memmem::find_iter(bytes, b"ust now") {
        let start = place.saturating_sub(1);
        if matches!(bytes[start], b'j' | b'J')
            && ends_word(bytes, place + 7)
            && (start == 0 || bytes[start - 1] == b' ')
        {
            cuts.push((start, place + 7, "relative time"));
        }
    }
    let mut from = 0;
    while let Some(digit) = next_digit(bytes, from) {
        let start = memrchr(b' ', &bytes[from..digit]).map_or(from, |space| from + space + 1);
        let end = memchr(b' ', &bytes[digit..]).map_or(bytes.len(), |space| digit + space);
        cuts.extend(beside_number(text, start, end));
        from = end;
    }
    cuts.sort_unstable();
    let mut cutter = Cutter::new(text);
    for (start, end, detector) in cuts {
        cutter.cut(start, end, detector);
    }
    cutter.finish()
}

fn first_word(text: &str) -> &str {
    &text[..memchr(b' ', text.as_bytes()).unwrap_or(text.len())]
}

fn ends_word(bytes: &[u8], place: usize) -> bool {
    bytes.get(place).is_none_or(|byte| !byte.is_ascii_alphanumeric())
}

/// The range of a cut, and the detector.
type Cut = (usize, usize, &'static str);

/// `3 minutes ago`, `an hour ago`, `5h ago`; `space` is the place of the space before `ago`.
fn before_ago(text: &str, space: usize) -> Option<Cut> {
    let after = first_word(&text[space + 1..]);
    if !AGO.contains(&after) {
        return None;
    }
    let mut words = text[..space].rsplit(' ');
    let unit = words.next()?;
    let end = space + 4;
    if let Some(count) = unit.find(|letter: char| !letter.is_ascii_digit()).filter(|&digits| digits > 0) {
        // `5h`
        return is_unit(&unit[count..]).then_some((space - unit.len(), end, "relative time"));
    }
    let count = words.next()?;
    let start = space - unit.len() - 1 - count.len();
    let opened = count.trim_start_matches(['(', '·', '-']);
    (is_unit(unit) && is_count(opened)).then_some((start + count.len() - opened.len(), end, "relative time"))
}

/// What the words around a word with a digit show about it.
fn beside_number(text: &str, start: usize, end: usize) -> Option<Cut> {
    let word = &text[start..end];
    let is_id = word.len() >= TOKEN_BYTES_MIN;
    if !is_id && !may_be_told(text.as_bytes(), start) {
        return None;
    }
    let (before, after) = (text[..start].trim_end(), text[end..].trim_start());
    if is_id && let Some(found) = named_id(before, word, start) {
        return Some(found);
    }
    if !word.as_bytes()[0].is_ascii_digit() {
        return None;
    }
    let next = first_word(after);
    if before.ends_with(" in") {
        return timing(before, word, next, start);
    }
    let begun = BEFORE.into_iter().find(|beginning| ends_with_word(before, beginning))?;
    let unit = next.trim_end_matches(['.', ',', ')', ':']);
    let unit_start = end + (text.len() - end - after.len());
    let is_relative = is_number(word) && unit.len() > 1 && is_unit(unit);
    is_relative.then(|| (before.len() - begun.len(), unit_start + unit.len(), "relative time"))
}

/// A quick test whether a number may belong to a time: it begins its word, and the word before it may be `in` or one of
/// [`BEFORE`], judged by the last letter. Almost no number passes it.
fn may_be_told(bytes: &[u8], start: usize) -> bool {
    let last = start.checked_sub(2).map_or(0, |last| bytes[last]);
    bytes[start].is_ascii_digit()
        && (matches!(last, b'n' | b'r' | b'a' | b'e') || last.is_ascii_whitespace() || !last.is_ascii())
}

fn ends_with_word(text: &str, word: &str) -> bool {
    text.strip_suffix(word).is_some_and(|rest| rest.is_empty() || rest.ends_with([' ', '(']))
}

/// `generated in 0.012 s`
fn timing(before: &str, word: &str, next: &str, start: usize) -> Option<Cut> {
    let doing = before.strip_suffix(" in")?.rsplit(' ').next()?.to_lowercase();
    let digits = word.find(|letter: char| !letter.is_ascii_digit() && letter != '.').unwrap_or(word.len());
    let unit = if digits == word.len() { next } else { &word[digits..] };
    let unit = unit.trim_end_matches(['.', ',', ')', ';', '|']).to_lowercase();
    let is_short = matches!(unit.as_str(), "s" | "sec" | "secs" | "second" | "seconds" | "ms" | "milliseconds" | "µs");
    (TIMED.contains(&doing.as_str()) && is_short).then_some((start, start + digits, "measured time"))
}

/// `Ray ID: 7d3f2a9c1b`
fn named_id(before: &str, word: &str, start: usize) -> Option<Cut> {
    let skipped = word.len() - word.trim_start_matches(['#', ':', '=', '(']).len();
    let id = word[skipped..].trim_end_matches(['.', ',', ')', '•', ';']);
    let is_drawn = drawn(id.as_bytes()).is_some() || (id.len() >= 8 && id.bytes().all(|byte| byte.is_ascii_hexdigit()));
    if !is_drawn {
        return None;
    }
    let named = before.trim_end_matches([' ', ':', '#', '=', '(']);
    let tail = named[named.floor_char_boundary(named.len().saturating_sub(24))..].to_lowercase();
    let is_named = ID_NAMES.iter().any(|name| ends_with_word(&tail, name));
    is_named.then(|| (start + skipped, start + skipped + id.len(), "request id"))
}

fn is_unit(word: &str) -> bool {
    UNITS.iter().any(|unit| word.eq_ignore_ascii_case(unit))
}

fn is_count(word: &str) -> bool {
    is_number(word) || COUNTS.iter().any(|count| word.eq_ignore_ascii_case(count))
}

fn is_number(word: &str) -> bool {
    word.bytes().next().is_some_and(|byte| byte.is_ascii_digit())
        && word.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn machine_noise_is_quiet() {
        for (before, after) in [
            ("posted 5 minutes ago by Ann", "posted 6 minutes ago by Ann"),
            ("posted an hour ago", "posted 2 hours ago"),
            ("5h ago", "6h ago"),
            ("Just now", "3 seconds ago"),
            ("vor 3 Minuten geändert", "vor 4 Minuten geändert"),
            ("il y a 3 heures", "il y a 4 heures"),
            ("Ray ID: 7d3f2a9c1b2e4f56", "Ray ID: 00aa2a9c1b2e4f99"),
            ("Page generated in 0.012 s", "Page generated in 0.044 s"),
            ("Rendered in 12ms.", "Rendered in 9ms."),
        ] {
            assert_eq!(words(before).text, words(after).text, "{before}");
        }
    }

    #[test]
    fn text_without_noise_is_borrowed() {
        assert_eq!(words("Effective 1 May, 5 minutes before noon").detector, None);
        assert_eq!(words("long ago").detector, None);
        assert_eq!(words("").detector, None);
    }
}
