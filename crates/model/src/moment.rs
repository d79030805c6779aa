//! Points and lengths of time. Pure code reads no clock: a `Moment` is always an argument.

use std::fmt;
use std::ops::{Add, AddAssign, Sub};

use serde::{Deserialize, Serialize};

/// A point in time: microseconds since 1970 in UTC, in the repository's own time (see `app/runtime` for its scale).
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Moment(i64);

/// A length of time in microseconds, never negative.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Span(u64);

#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum MomentError {
    #[error("`{0}` is not a time: give RFC 3339 (2026-05-01T12:00:00Z), a date, an age such as 7d, or 14 digits")]
    NotATime(String),
    #[error("`{0}` is not a length of time: give a number with ms, s, m, h, d or w")]
    NotASpan(String),
}

/// How Moments are computed from wall-clock time: `moment + scale · (wall − self.wall)`. It is stored in the repository, so that
/// time continues while no process runs.
#[derive(Copy, Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TimeOrigin {
    pub moment: Moment,
    /// The wall-clock time at that Moment.
    pub wall: Moment,
    pub scale: f64,
}

impl TimeOrigin {
    pub fn at(&self, wall: Moment) -> Moment {
        self.moment + wall.since(self.wall).scaled(self.scale)
    }
}

impl Moment {
    pub const EPOCH: Moment = Moment(0);
    pub const NEVER: Moment = Moment(i64::MAX);

    pub const fn from_micros(micros: i64) -> Self {
        Moment(micros)
    }

    pub const fn from_secs(secs: i64) -> Self {
        Moment(secs.saturating_mul(1_000_000))
    }

    pub const fn micros(self) -> i64 {
        self.0
    }

    pub const fn secs(self) -> i64 {
        self.0.div_euclid(1_000_000)
    }

    /// The span since `earlier`; zero if this is not later.
    pub fn since(self, earlier: Moment) -> Span {
        Span(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0))
    }

    /// RFC 3339 in UTC with milliseconds, as every JSON answer prints it.
    pub fn rfc3339(self) -> String {
        self.format("%Y-%m-%dT%H:%M:%S%.3fZ")
    }

    /// RFC 3339 in UTC with whole seconds, the form of WARC dates that most tools read.
    pub fn warc_date(self) -> String {
        // Formatted by hand: every record has one or two dates, and format strings cost more than the rest of a small record.
        let stamp = jiff::Timestamp::from_microsecond(self.0).unwrap_or(jiff::Timestamp::MAX);
        let civil = jiff::tz::Offset::UTC.to_datetime(stamp);
        let year = civil.year().unsigned_abs();
        let parts = [
            ((year / 100) as u8, None),
            ((year % 100) as u8, Some('-')),
            (civil.month().unsigned_abs(), Some('-')),
            (civil.day().unsigned_abs(), Some('T')),
            (civil.hour().unsigned_abs(), Some(':')),
            (civil.minute().unsigned_abs(), Some(':')),
            (civil.second().unsigned_abs(), Some('Z')),
        ];
        let mut text = String::with_capacity(24);
        if civil.year() < 0 {
            text.push('-');
        }
        for (number, end) in parts {
            text.push(char::from(b'0' + number / 10));
            text.push(char::from(b'0' + number % 10));
            text.extend(end);
        }
        text
    }

    /// `YYYYMMDDhhmmss`, the time stamp of CDXJ, Memento and file names.
    pub fn fourteen_digits(self) -> String {
        self.format("%Y%m%d%H%M%S")
    }

    /// The date of an HTTP header.
    pub fn http_date(self) -> String {
        self.format("%a, %d %b %Y %H:%M:%S GMT")
    }

    /// Reads RFC 3339, a plain date, 14 digits, or an age such as `7d` before `now`.
    pub fn parse(text: &str, now: Moment) -> Result<Self, MomentError> {
        let not_a_time = || MomentError::NotATime(text.to_owned());
        if let Ok(age) = Span::parse(text) {
            return Ok(now - age);
        }
        if text.len() == 14 && text.bytes().all(|byte| byte.is_ascii_digit()) {
            let civil = jiff::civil::DateTime::strptime("%Y%m%d%H%M%S", text).map_err(|_| not_a_time())?;
            return Self::from_civil(civil).ok_or_else(not_a_time);
        }
        if let Ok(stamp) = text.parse::<jiff::Timestamp>() {
            return Ok(Moment(stamp.as_microsecond()));
        }
        let date = text.parse::<jiff::civil::Date>().map_err(|_| not_a_time())?;
        Self::from_civil(date.at(0, 0, 0, 0)).ok_or_else(not_a_time)
    }

    /// Reads an HTTP date (RFC 9110 5.6.7, the preferred form); `None` for anything else.
    pub fn parse_http_date(text: &str) -> Option<Self> {
        let civil = jiff::civil::DateTime::strptime("%a, %d %b %Y %H:%M:%S GMT", text.trim()).ok()?;
        Self::from_civil(civil)
    }

    fn from_civil(civil: jiff::civil::DateTime) -> Option<Self> {
        let stamp = jiff::tz::Offset::UTC.to_timestamp(civil).ok()?;
        Some(Moment(stamp.as_microsecond()))
    }

    fn format(self, pattern: &str) -> String {
        let stamp = jiff::Timestamp::from_microsecond(self.0).unwrap_or(jiff::Timestamp::MAX);
        stamp.strftime(pattern).to_string()
    }
}

impl Span {
    pub const ZERO: Span = Span(0);

    pub const fn from_micros(micros: u64) -> Self {
        Span(micros)
    }

    pub const fn from_millis(millis: u64) -> Self {
        Span(millis.saturating_mul(1_000))
    }

    pub const fn from_secs(secs: u64) -> Self {
        Span(secs.saturating_mul(1_000_000))
    }

    pub const fn from_hours(hours: u64) -> Self {
        Span::from_secs(hours.saturating_mul(3_600))
    }

    pub const fn from_days(days: u64) -> Self {
        Span::from_hours(days.saturating_mul(24))
    }

    /// A span of so many seconds. Negative numbers and NaN become zero.
    pub fn from_secs_f64(secs: f64) -> Self {
        if secs.is_nan() || secs <= 0.0 { Span::ZERO } else { Span((secs * 1e6).min(u64::MAX as f64) as u64) }
    }

    pub const fn micros(self) -> u64 {
        self.0
    }

    pub fn secs_f64(self) -> f64 {
        self.0 as f64 / 1e6
    }

    pub fn days_f64(self) -> f64 {
        self.secs_f64() / 86_400.0
    }

    pub fn scaled(self, factor: f64) -> Span {
        Span::from_secs_f64(self.secs_f64() * factor)
    }

    /// Reads `250ms`, `1s`, `10m`, `1h`, `7d`, `2w`, optionally with a fraction. A number without a unit is refused.
    pub fn parse(text: &str) -> Result<Self, MomentError> {
        let not_a_span = || MomentError::NotASpan(text.to_owned());
        let split = text.find(|letter: char| letter.is_ascii_alphabetic()).ok_or_else(not_a_span)?;
        let (number, unit) = text.split_at(split);
        let number: f64 = number.trim().parse().map_err(|_| not_a_span())?;
        let unit_secs = match unit {
            "ms" => 0.001,
            "s" => 1.0,
            "m" | "min" => 60.0,
            "h" => 3_600.0,
            "d" => 86_400.0,
            "w" => 604_800.0,
            _ => return Err(not_a_span()),
        };
        if !number.is_finite() || number < 0.0 {
            return Err(not_a_span());
        }
        Ok(Span::from_secs_f64(number * unit_secs))
    }
}

impl Add<Span> for Moment {
    type Output = Moment;
    fn add(self, span: Span) -> Moment {
        Moment(self.0.saturating_add_unsigned(span.0))
    }
}

impl AddAssign<Span> for Moment {
    fn add_assign(&mut self, span: Span) {
        *self = *self + span;
    }
}

impl Sub<Span> for Moment {
    type Output = Moment;
    fn sub(self, span: Span) -> Moment {
        Moment(self.0.saturating_sub_unsigned(span.0))
    }
}

impl Add for Span {
    type Output = Span;
    fn add(self, other: Span) -> Span {
        Span(self.0.saturating_add(other.0))
    }
}

impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.rfc3339())
    }
}

/// Uses the largest unit that keeps the number short: `90s` is `1.5m`.
impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let secs = self.secs_f64();
        let (number, unit) = match secs {
            s if s < 1.0 => (s * 1e3, "ms"),
            s if s < 60.0 => (s, "s"),
            s if s < 3_600.0 => (s / 60.0, "m"),
            s if s < 86_400.0 => (s / 3_600.0, "h"),
            s => (s / 86_400.0, "d"),
        };
        let rounded = (number * 10.0).round() / 10.0;
        write!(f, "{rounded}{unit}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_date_of_a_record_is_what_the_pattern_says() {
        for secs in [0, 1, 951_782_400, 1_000_000_000, 1_777_600_000, 4_102_444_799, -1, -86_400 * 365] {
            let moment = Moment::from_secs(secs) + Span::from_millis(999);
            assert_eq!(moment.warc_date(), moment.format("%Y-%m-%dT%H:%M:%SZ"));
        }
        assert_eq!(Moment::from_secs(1_777_600_000).warc_date(), "2026-05-01T01:46:40Z");
    }

    #[test]
    fn every_written_form_names_the_same_moment() {
        let now = Moment::from_secs(1_800_000_000);
        let noon = Moment::parse("2026-05-01T12:00:00Z", now).unwrap();
        assert_eq!(Moment::parse("20260501120000", now).unwrap(), noon);
        assert_eq!(Moment::parse("2026-05-01", now).unwrap() + Span::from_hours(12), noon);
        assert_eq!(Moment::parse_http_date("Fri, 01 May 2026 12:00:00 GMT"), Some(noon));
        assert_eq!(noon.http_date(), "Fri, 01 May 2026 12:00:00 GMT");
        assert_eq!(noon.rfc3339(), "2026-05-01T12:00:00.000Z");
        assert_eq!(noon.fourteen_digits(), "20260501120000");
        assert_eq!(Moment::parse("7d", now).unwrap(), now - Span::from_days(7));
    }

    #[test]
    fn nonsense_is_refused() {
        for text in ["", "7", "yesterday", "-3d", "nand", "2026-13-01", "1y", "99999999999999"] {
            assert!(Moment::parse(text, Moment::EPOCH).is_err(), "{text}");
        }
    }

    #[test]
    fn a_span_is_never_negative() {
        assert_eq!(Moment::from_secs(1).since(Moment::from_secs(5)), Span::ZERO);
        assert_eq!(Span::from_secs_f64(f64::NAN), Span::ZERO);
        assert_eq!(Span::from_secs(90).to_string(), "1.5m");
    }
}
