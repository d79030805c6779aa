//! Moments in words. All are in UTC and are told from the time of the crawl, which may run faster than ours.

use std::fmt::Display;

use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};

/// The time of the crawl when a screen was drawn.
#[derive(Clone, Debug)]
pub struct Times {
    now: Zoned,
}

/// A moment as a machine and as people read it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Time {
    /// RFC 3339; empty where there is none.
    pub iso: String,
    pub words: String,
}

const DAY_S: f64 = 86_400.0;

fn read(text: &str) -> Option<Zoned> {
    Some(text.parse::<Timestamp>().ok()?.to_zoned(TimeZone::UTC))
}

impl Times {
    pub fn new(now: Option<&str>) -> Times {
        Times { now: now.and_then(read).unwrap_or_else(|| Timestamp::UNIX_EPOCH.to_zoned(TimeZone::UTC)) }
    }

    /// `13:20`, `18 Nov 13:20`, `18 Nov 2025 13:20`: as much as is needed to know which day is meant.
    pub fn moment(&self, text: Option<&str>) -> Time {
        let Some((text, at)) = text.and_then(|text| Some((text, read(text)?))) else {
            return Time { iso: String::new(), words: "–".into() };
        };
        let form = match () {
            () if at.date() == self.now.date() => "%H:%M",
            () if at.year() == self.now.year() => "%-d %b %H:%M",
            () => "%-d %b %Y %H:%M",
        };
        Time { iso: text.to_owned(), words: at.strftime(form).to_string() }
    }

    /// `18 Nov`, the day alone.
    pub fn day(&self, text: &str) -> String {
        let Some(at) = read(text) else { return text.to_owned() };
        let form = if at.year() == self.now.year() { "%-d %b" } else { "%-d %b %Y" };
        at.strftime(form).to_string()
    }

    /// The day of a list: `Today, 18 Nov`.
    pub fn day_of_list(&self, text: &str) -> String {
        let is = |days: i64| {
            let day = self.now.date().checked_sub(jiff::Span::new().days(days)).ok();
            read(text).is_some_and(|at| Some(at.date()) == day)
        };
        match () {
            () if is(0) => format!("Today, {}", self.day(text)),
            () if is(1) => format!("Yesterday, {}", self.day(text)),
            () => self.day(text),
        }
    }

    /// Between the last visit that found the old and the first that found the new.
    pub fn bracket(&self, same: Option<&str>, different: Option<&str>) -> Bracket {
        let (from, until) = (self.moment(same), self.moment(different));
        let same_day = same.and_then(read).zip(different.and_then(read)).filter(|(a, b)| a.date() == b.date());
        let short = match same_day {
            Some((_, until)) => until.strftime("%H:%M").to_string(),
            None => until.words.clone(),
        };
        Bracket { from, until, short }
    }

    /// Seconds from a moment to now; negative for what is to come.
    pub fn age_s(&self, text: &str) -> Option<f64> {
        Some(self.now.timestamp().as_second() as f64 - read(text)?.timestamp().as_second() as f64)
    }

    /// `2.6 h ago`, `in 3 d`
    pub fn ago(&self, text: Option<&str>) -> String {
        match text.and_then(|text| self.age_s(text)) {
            None => "never".into(),
            Some(age) if age < -60.0 => format!("in {}", span(-age)),
            Some(age) if age < 60.0 => "now".into(),
            Some(age) => format!("{} ago", span(age)),
        }
    }

    pub fn now(&self) -> String {
        self.now.timestamp().to_string()
    }
}

/// A change lies between two visits.
#[derive(Clone, Debug, Default)]
pub struct Bracket {
    /// Words are `–` where nothing was there before.
    pub from: Time,
    pub until: Time,
    /// The end without a day that the beginning names.
    short: String,
}

impl Display for Bracket {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (self.from.iso.is_empty(), self.until.iso.is_empty()) {
            (true, _) => out.write_str(&self.until.words),
            (false, true) => write!(out, "since {}", self.from.words),
            (false, false) => write!(out, "{} – {}", self.from.words, self.short),
        }
    }
}

/// `85 min`, `2.6 h`, `14 d`
pub fn span(seconds: f64) -> String {
    match seconds {
        s if s < 90.0 => format!("{s:.0} s"),
        s if s < 5_400.0 => format!("{:.0} min", s / 60.0),
        s if s < 2.0 * DAY_S => format!("{:.1} h", s / 3_600.0),
        s if s < 100.0 * DAY_S => format!("{:.1} d", s / DAY_S),
        s if s < 730.0 * DAY_S => format!("{:.0} d", s / DAY_S),
        s => format!("{:.1} years", s / DAY_S / 365.25),
    }
}

/// Seconds since 1970.
pub fn second_of(text: &str) -> Option<f64> {
    Some(text.parse::<Timestamp>().ok()?.as_second() as f64)
}

/// A moment given by its seconds since 1970, written by a form such as `%-d %b`.
pub fn written(second: f64, form: &str) -> String {
    let at = Timestamp::from_second(second as i64).unwrap_or(Timestamp::UNIX_EPOCH);
    at.to_zoned(TimeZone::UTC).strftime(form).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_names_the_day_only_where_it_must() {
        let times = Times::new(Some("2026-12-25T12:20:00Z"));
        let words = |text| times.moment(Some(text)).words;
        assert_eq!(words("2026-12-25T08:42:31.5Z"), "08:42");
        assert_eq!(words("2026-12-24T08:42:31Z"), "24 Dec 08:42");
        assert_eq!(words("2025-12-24T08:42:31Z"), "24 Dec 2025 08:42");
        assert_eq!(times.moment(None).words, "–");
        assert_eq!(times.moment(Some("<script>")).iso, "");
        assert_eq!(times.day_of_list("2026-12-24T08:42:31Z"), "Yesterday, 24 Dec");
    }

    #[test]
    fn a_bracket_names_both_visits() {
        let times = Times::new(Some("2026-12-25T12:20:00Z"));
        let bracket = |same, different| times.bracket(same, Some(different)).to_string();
        assert_eq!(bracket(Some("2026-12-25T07:28:00Z"), "2026-12-25T08:58:00Z"), "07:28 – 08:58");
        assert_eq!(bracket(Some("2026-12-24T07:28:00Z"), "2026-12-24T08:58:00Z"), "24 Dec 07:28 – 08:58");
        assert_eq!(bracket(Some("2026-12-23T07:28:00Z"), "2026-12-24T08:58:00Z"), "23 Dec 07:28 – 24 Dec 08:58");
        assert_eq!(bracket(None, "2026-12-25T08:58:00Z"), "08:58");
    }

    #[test]
    fn spans_have_the_unit_that_fits() {
        assert_eq!([span(5.0), span(5_100.0), span(9_360.0), span(432_000.0)], ["5 s", "85 min", "2.6 h", "5.0 d"]);
        let times = Times::new(Some("2026-12-25T12:20:00Z"));
        assert_eq!(times.ago(Some("2026-12-25T09:44:00Z")), "2.6 h ago");
        assert_eq!(times.ago(Some("2026-12-26T09:44:00Z")), "in 21.4 h");
    }
}
