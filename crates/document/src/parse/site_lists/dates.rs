//! Dates as sites write them: every form of the W3C's note on date and time, and those of mail and news (RFC 822 and its
//! heirs). A date without an hour means a whole day, and is kept as the Moments between which it lies.

use vernal_model::{DateRange, Moment, Span};

/// Years outside this range are no valid dates of a page.
const YEARS: std::ops::RangeInclusive<i64> = 1970..=2200;

/// The earliest and the latest Moment that the text may mean; `None` if it is no date.
pub fn stamp(text: &str) -> Option<DateRange> {
    let text = text.trim();
    w3c(text).or_else(|| mail(text))
}

fn w3c(text: &str) -> Option<DateRange> {
    let bytes = text.as_bytes();
    let year = digits(bytes, 0, 4)?;
    if bytes.len() == 4 {
        return between(day_number(year, 1, 1)?, day_number(year + 1, 1, 1)?);
    }
    (bytes[4] == b'-').then_some(())?;
    let month = digits(bytes, 5, 2)?;
    if bytes.len() == 7 {
        let (next_year, next_month) = if month == 12 { (year + 1, 1) } else { (year, month + 1) };
        return between(day_number(year, month, 1)?, day_number(next_year, next_month, 1)?);
    }
    (bytes[7] == b'-').then_some(())?;
    let day = day_number(year, month, digits(bytes, 8, 2)?)?;
    if bytes.len() == 10 {
        return between(day, day + 1);
    }
    matches!(bytes[10], b'T' | b't' | b' ').then_some(())?;
    let (seconds, width, rest) = clock(&text[11..])?;
    from_parts(day, seconds, width, zone(rest.trim())?)
}

/// `Mon, 02 Nov 2026 10:00:00 GMT`, its weekday and seconds optional, and `Mon Nov  2 10:00:00 2026`.
fn mail(text: &str) -> Option<DateRange> {
    let mut words = text.split([' ', ',', '\t', '\n']).filter(|word| !word.is_empty()).peekable();
    if words.peek().is_some_and(|word| {
        word.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b'.') && month(word).is_none()
    }) {
        words.next();
    }
    let (first, second) = (words.next()?, words.next()?);
    let (month, day, month_first) = match (month(first), month(second)) {
        (None, Some(month)) => (month, first.parse::<i64>().ok()?, false),
        (Some(month), _) => (month, second.parse::<i64>().ok()?, true),
        _ => return None,
    };
    let mut third = words.next()?;
    let mut time = words.next();
    if month_first && third.contains(':') {
        // In the form without commas the year comes last.
        let year = time?;
        (time, third) = (Some(third), year);
    }
    let year: i64 = third.parse().ok()?;
    let year = match year {
        0..=69 => year + 2_000,
        70..=99 => year + 1_900,
        year => year,
    };
    let day = day_number(year, month, day)?;
    let Some(time) = time else { return between(day, day + 1) };
    let (seconds, width, rest) = clock(time)?;
    rest.is_empty().then_some(())?;
    from_parts(day, seconds, width, words.next().map_or(Some(0), zone)?)
}

/// Seconds of the day, how many of them the text leaves open, and what follows.
fn clock(text: &str) -> Option<(i64, i64, &str)> {
    let bytes = text.as_bytes();
    let hour_digits = if bytes.get(1) == Some(&b':') { 1 } else { 2 };
    let hour = digits(bytes, 0, hour_digits)?;
    (bytes.get(hour_digits) == Some(&b':')).then_some(())?;
    let minute = digits(bytes, hour_digits + 1, 2)?;
    (hour <= 24 && minute < 60).then_some(())?;
    let mut end = hour_digits + 3;
    let minutes = hour * 3_600 + minute * 60;
    if bytes.get(end) != Some(&b':') {
        return Some((minutes, 60, &text[end..]));
    }
    let second = digits(bytes, end + 1, 2)?;
    // A leap second counts as the second before it.
    (second <= 60).then_some(())?;
    end += 3;
    if matches!(bytes.get(end), Some(b'.' | b',')) {
        let fraction = bytes[end + 1..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        end += 1 + fraction;
    }
    Some((minutes + second.min(59), 1, &text[end..]))
}

/// Seconds east of Greenwich. A date without a zone is taken for UTC.
fn zone(text: &str) -> Option<i64> {
    const HOUR: i64 = 3_600;
    let sign = match text.as_bytes().first() {
        None => return Some(0),
        Some(b'+') => 1,
        Some(b'-') => -1,
        Some(_) => {
            let hours = match text.to_ascii_uppercase().as_str() {
                "Z" | "GMT" | "UT" | "UTC" => 0,
                "EST" | "CDT" => -5,
                "EDT" => -4,
                "CST" | "MDT" => -6,
                "MST" | "PDT" => -7,
                "PST" => -8,
                "CET" | "MET" => 1,
                "CEST" | "EET" => 2,
                "JST" => 9,
                // Other letters are unreliable (RFC 2822, 4.3).
                other if other.bytes().all(|byte| byte.is_ascii_alphabetic()) && other.len() <= 5 => 0,
                _ => return None,
            };
            return Some(hours * HOUR);
        }
    };
    let bytes = &text.as_bytes()[1..];
    let hours = digits(bytes, 0, 2)?;
    let rest = if bytes.get(2) == Some(&b':') { 3 } else { 2 };
    let minutes = if bytes.len() > rest { digits(bytes, rest, 2)? } else { 0 };
    (hours <= 15 && minutes < 60).then_some(sign * (hours * HOUR + minutes * 60))
}

fn from_parts(day: i64, seconds: i64, width: i64, east: i64) -> Option<DateRange> {
    let from = day * 86_400 + seconds - east;
    Some(DateRange { from: Moment::from_secs(from), until: Moment::from_secs(from + width) - Span::from_micros(1) })
}

/// From the beginning of one day to just before another.
fn between(from: i64, until: i64) -> Option<DateRange> {
    from_parts(from, 0, (until - from) * 86_400, 0)
}

fn digits(bytes: &[u8], from: usize, count: usize) -> Option<i64> {
    let part = bytes.get(from..from + count)?;
    part.iter().try_fold(0, |number, byte| byte.is_ascii_digit().then(|| number * 10 + i64::from(byte - b'0')))
}

fn month(word: &str) -> Option<i64> {
    const NAMES: [&str; 12] = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
    let start = word.get(..3)?;
    NAMES.iter().position(|name| name.eq_ignore_ascii_case(start)).map(|place| place as i64 + 1)
}

/// Days since 1970 (Hinnant's algorithm); `None` for a day that no calendar has.
fn day_number(year: i64, month: i64, day: i64) -> Option<i64> {
    const LENGTHS: [i64; 12] = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let length = LENGTHS.get(usize::try_from(month - 1).ok()?)? + i64::from(month == 2 && is_leap);
    if !YEARS.contains(&year) || day < 1 || day > length {
        return None;
    }
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let of_era = year - era * 400;
    let of_year = (153 * (if month > 2 { month - 3 } else { month + 9 }) + 2) / 5 + day - 1;
    Some(era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lies(text: &str) -> Option<(String, String)> {
        stamp(text).map(|stamp| (stamp.from.warc_date(), stamp.until.warc_date()))
    }

    #[test]
    fn every_form_of_the_note_is_read_with_its_width() {
        for (text, from, until) in [
            ("2026", "2026-01-01T00:00:00Z", "2026-12-31T23:59:59Z"),
            ("2024-02", "2024-02-01T00:00:00Z", "2024-02-29T23:59:59Z"),
            ("2026-12", "2026-12-01T00:00:00Z", "2026-12-31T23:59:59Z"),
            (" 2026-11-02 ", "2026-11-02T00:00:00Z", "2026-11-02T23:59:59Z"),
            ("2026-11-02T10:20+01:00", "2026-11-02T09:20:00Z", "2026-11-02T09:20:59Z"),
            ("2026-11-02T10:20:30Z", "2026-11-02T10:20:30Z", "2026-11-02T10:20:30Z"),
            ("2026-11-02T10:20:30.45-05:30", "2026-11-02T15:50:30Z", "2026-11-02T15:50:30Z"),
            ("2026-11-02 10:20:30", "2026-11-02T10:20:30Z", "2026-11-02T10:20:30Z"),
            ("2026-11-02T10:20:30+0200", "2026-11-02T08:20:30Z", "2026-11-02T08:20:30Z"),
        ] {
            assert_eq!(lies(text), Some((from.into(), until.into())), "{text}");
        }
    }

    #[test]
    fn mail_dates_are_read_in_the_forms_that_feeds_have() {
        for (text, from) in [
            ("Mon, 02 Nov 2026 10:00:00 GMT", "2026-11-02T10:00:00Z"),
            ("2 Nov 26 10:00 EST", "2026-11-02T15:00:00Z"),
            ("Thu, 01 Jan 2004 19:48:21 +0100", "2004-01-01T18:48:21Z"),
            ("Mon Nov  2 10:00:00 2026", "2026-11-02T10:00:00Z"),
            ("Thursday, 5 November 2026 09:01:02 Z", "2026-11-05T09:01:02Z"),
            ("Mon, 2 Nov 2026", "2026-11-02T00:00:00Z"),
        ] {
            assert_eq!(lies(text).map(|(from, _)| from).as_deref(), Some(from), "{text}");
        }
    }

    #[test]
    fn what_is_no_date_is_none() {
        for text in [
            "",
            "yesterday",
            "2026-13-01",
            "2026-02-30",
            "0000-00-00",
            "2026-11-02T25:00Z",
            "20261102",
            "-1",
            "9999",
            "1",
        ] {
            assert_eq!(stamp(text), None, "{text}");
        }
    }

    #[test]
    fn the_calendar_is_the_one_that_moments_are_written_in() {
        let mut day = 0;
        while day < 80_000 {
            let text = Moment::from_secs(day * 86_400).warc_date();
            assert_eq!(stamp(&text[..10]).unwrap().from, Moment::from_secs(day * 86_400), "{text}");
            day += 17;
        }
    }
}
