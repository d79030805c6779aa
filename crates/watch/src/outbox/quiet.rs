//! Quiet hours: when nothing is sent, by the clock of a time zone.

use std::fmt;
use std::str::FromStr;

use jiff::civil::{DateTime, Time};
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};
use serde::{Deserialize, Serialize};
use vernal_model::Moment;

use super::schedule::clock_time;

/// From one time of the day to another, over midnight where the first is the later one. Such as `22:00-07:00`.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Quiet {
    from: Time,
    to: Time,
}

impl Quiet {
    /// When the quiet that covers this moment ends; the moment itself where none does.
    pub fn end(self, moment: Moment, zone: &TimeZone) -> Moment {
        let end = Timestamp::from_microsecond(moment.micros()).ok().and_then(|stamp| self.end_after(stamp, zone));
        end.map_or(moment, |end| Moment::from_micros(end.as_microsecond()))
    }

    pub fn covers(self, moment: Moment, zone: &TimeZone) -> bool {
        self.end(moment, zone) > moment
    }

    fn has(self, time: Time) -> bool {
        match self.from < self.to {
            true => self.from <= time && time < self.to,
            false => time >= self.from || time < self.to,
        }
    }

    /// `None` where it is not quiet.
    fn end_after(self, now: Timestamp, zone: &TimeZone) -> Option<Timestamp> {
        let local = now.to_zoned(zone.clone());
        if !self.has(local.time()) {
            return None;
        }
        let days = [local.date(), local.date().checked_add(1.day()).ok()?];
        days.into_iter().flat_map(|day| times_of(day.to_datetime(self.to), zone)).find(|end| *end > now)
    }
}

/// When a clock shows this: twice where it is put back over it, and where it is put forward over it, when that is done.
fn times_of(at: DateTime, zone: &TimeZone) -> Vec<Timestamp> {
    let ambiguous = zone.to_ambiguous_timestamp(at);
    let (Ok(earlier), Ok(later)) = (ambiguous.earlier(), ambiguous.later()) else { return Vec::new() };
    if !ambiguous.is_ambiguous() {
        return vec![earlier];
    }
    match earlier.to_zoned(zone.clone()).datetime() == at {
        true => vec![earlier, later],
        // The clock never shows it: both lie beside the gap, and the change of the clock between them.
        false => vec![zone.following(earlier).next().map_or(later, |change| change.timestamp().min(later))],
    }
}

impl FromStr for Quiet {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` are no quiet hours: give two times of the day, such as 22:00-07:00");
        let (from, to) = text.split_once('-').ok_or_else(wrong)?;
        let from = clock_time(from.trim()).ok_or_else(wrong)?;
        let to = clock_time(to.trim()).ok_or_else(wrong)?;
        match from == to {
            true => Err(format!("`{text}` would be quiet all day; pause the watch instead")),
            false => Ok(Quiet { from, to }),
        }
    }
}

impl TryFrom<String> for Quiet {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<Quiet> for String {
    fn from(quiet: Quiet) -> String {
        quiet.to_string()
    }
}

impl fmt::Display for Quiet {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Quiet { from, to } = self;
        write!(out, "{:02}:{:02}-{:02}:{:02}", from.hour(), from.minute(), to.hour(), to.minute())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn end(quiet: &str, now: &str) -> String {
        let zone = TimeZone::get("Europe/Berlin").unwrap();
        let now = Moment::parse(now, Moment::EPOCH).unwrap();
        let quiet: Quiet = quiet.parse().unwrap();
        match quiet.covers(now, &zone) {
            true => quiet.end(now, &zone).rfc3339().replace(".000Z", "Z"),
            false => "loud".to_owned(),
        }
    }

    #[test]
    fn quiet_hours_go_over_midnight_by_the_clock_of_their_zone() {
        assert_eq!(end("22:00-07:00", "2026-01-01T20:59:59Z"), "loud");
        assert_eq!(end("22:00-07:00", "2026-01-01T21:00:00Z"), "2026-01-02T06:00:00Z");
        assert_eq!(end("22:00-07:00", "2026-01-02T05:59:59Z"), "2026-01-02T06:00:00Z");
        assert_eq!(end("22:00-07:00", "2026-01-02T06:00:00Z"), "loud");
        assert_eq!(end("12:00-13:30", "2026-07-01T10:30:00Z"), "2026-07-01T11:30:00Z");
        assert_eq!(end("12:00-13:30", "2026-07-01T09:59:00Z"), "loud");
    }

    #[test]
    fn a_night_in_which_the_clock_is_changed_ends_when_the_clock_says_so() {
        // On 29 March 2026 the clocks of Berlin go from two to three, at one o'clock UTC.
        assert_eq!(end("22:00-07:00", "2026-03-28T22:00:00Z"), "2026-03-29T05:00:00Z");
        assert_eq!(end("22:00-02:30", "2026-03-29T00:59:00Z"), "2026-03-29T01:00:00Z", "half past two never comes");
        assert_eq!(end("22:00-02:30", "2026-03-29T01:00:00Z"), "loud");
        assert_eq!(end("02:15-05:00", "2026-03-29T01:00:00Z"), "2026-03-29T03:00:00Z");
        // On 25 October the hour from two to three comes twice, from midnight UTC on.
        assert_eq!(end("22:00-07:00", "2026-10-24T22:00:00Z"), "2026-10-25T06:00:00Z");
        assert_eq!(end("22:00-02:30", "2026-10-25T00:10:00Z"), "2026-10-25T00:30:00Z");
        assert_eq!(end("22:00-02:30", "2026-10-25T00:40:00Z"), "loud");
        assert_eq!(end("22:00-02:30", "2026-10-25T01:10:00Z"), "2026-10-25T01:30:00Z", "two o'clock came again");
    }

    #[test]
    fn quiet_hours_are_written_as_they_are_read() {
        for text in ["22:00-07:00", "00:00-06:30"] {
            assert_eq!(text.parse::<Quiet>().unwrap().to_string(), text);
        }
        for wrong in ["", "22:00", "22-7", "22:00-22:00", "25:00-07:00", "22:00-07:00-08:00"] {
            assert!(wrong.parse::<Quiet>().is_err(), "{wrong}");
        }
    }
}
