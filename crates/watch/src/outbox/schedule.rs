//! When a digest is sent: each hour, each day or each week, by the clock of a time zone.

use std::fmt;
use std::str::FromStr;

use jiff::civil::{Time, Weekday};
use jiff::tz::TimeZone;
use jiff::{ToSpan, Zoned};
use serde::{Deserialize, Serialize};
use vernal_model::Moment;

#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Schedule {
    Hourly,
    Daily(Time),
    Weekly(Weekday, Time),
}

const SEVEN: Time = Time::constant(7, 0, 0, 0);
const WEEKDAYS: [(&str, Weekday); 7] = [
    ("mon", Weekday::Monday),
    ("tue", Weekday::Tuesday),
    ("wed", Weekday::Wednesday),
    ("thu", Weekday::Thursday),
    ("fri", Weekday::Friday),
    ("sat", Weekday::Saturday),
    ("sun", Weekday::Sunday),
];

impl Default for Schedule {
    fn default() -> Schedule {
        Schedule::Daily(SEVEN)
    }
}

impl Schedule {
    /// The first time after this moment. Where the clock is put forward over it, the time that follows.
    pub fn next_after(self, moment: Moment, zone: &TimeZone) -> Moment {
        let next = jiff::Timestamp::from_microsecond(moment.micros())
            .ok()
            .and_then(|stamp| self.next(&stamp.to_zoned(zone.clone())));
        // Beyond the calendar there is no digest.
        next.map_or(Moment::NEVER, |zoned| Moment::from_micros(zoned.timestamp().as_microsecond()))
    }

    fn next(self, now: &Zoned) -> Option<Zoned> {
        let time = match self {
            Schedule::Hourly => {
                let hour = now.with().minute(0).second(0).subsec_nanosecond(0).build().ok()?;
                return hour.checked_add(1.hour()).ok();
            }
            Schedule::Daily(time) | Schedule::Weekly(_, time) => time,
        };
        // Eight days have every weekday, and one more where today's time has passed.
        (0..=8).find_map(|days| {
            let date = now.date().checked_add(days.days()).ok()?;
            let fits = !matches!(self, Schedule::Weekly(weekday, _) if date.weekday() != weekday);
            let at = date.to_datetime(time).to_zoned(now.time_zone().clone()).ok()?;
            (fits && at > *now).then_some(at)
        })
    }
}

/// A time of the day, such as 07:00.
pub(super) fn clock_time(text: &str) -> Option<Time> {
    let (hour, minute) = text.split_once(':')?;
    Time::new(hour.parse().ok()?, minute.parse().ok()?, 0, 0).ok()
}

impl FromStr for Schedule {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is not when: give at-once, hourly, daily 07:00 or weekly mon 07:00");
        let words: Vec<&str> = text.split_whitespace().collect();
        let time = |text: &str| clock_time(text).ok_or_else(wrong);
        let weekday =
            |text: &str| WEEKDAYS.iter().find(|(name, _)| *name == text).map(|(_, day)| *day).ok_or_else(wrong);
        match &words[..] {
            ["hourly"] => Ok(Schedule::Hourly),
            ["daily"] => Ok(Schedule::Daily(SEVEN)),
            ["daily", at] => Ok(Schedule::Daily(time(at)?)),
            ["weekly"] => Ok(Schedule::Weekly(Weekday::Monday, SEVEN)),
            ["weekly", day] => Ok(Schedule::Weekly(weekday(day)?, SEVEN)),
            ["weekly", day, at] => Ok(Schedule::Weekly(weekday(day)?, time(at)?)),
            _ => Err(wrong()),
        }
    }
}

impl TryFrom<String> for Schedule {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<Schedule> for String {
    fn from(schedule: Schedule) -> String {
        schedule.to_string()
    }
}

impl fmt::Display for Schedule {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = |time: &Time| format!("{:02}:{:02}", time.hour(), time.minute());
        match self {
            Schedule::Hourly => out.write_str("hourly"),
            Schedule::Daily(time) => write!(out, "daily {}", at(time)),
            Schedule::Weekly(day, time) => {
                let name = WEEKDAYS.iter().find(|(_, known)| known == day).map_or("mon", |(name, _)| name);
                write!(out, "weekly {name} {}", at(time))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn next(schedule: &str, now: &str, zone: &str) -> String {
        let zone = TimeZone::get(zone).unwrap();
        let now = Moment::parse(now, Moment::EPOCH).unwrap();
        schedule.parse::<Schedule>().unwrap().next_after(now, &zone).rfc3339().replace(".000Z", "Z")
    }

    #[test]
    fn a_digest_comes_by_the_clock_of_its_zone() {
        assert_eq!(next("hourly", "2026-03-01T10:59:59Z", "UTC"), "2026-03-01T11:00:00Z");
        assert_eq!(next("hourly", "2026-03-01T11:00:00Z", "UTC"), "2026-03-01T12:00:00Z");
        assert_eq!(next("daily 07:00", "2026-01-01T05:59:00Z", "Europe/Berlin"), "2026-01-01T06:00:00Z");
        assert_eq!(next("daily 07:00", "2026-01-01T06:00:00Z", "Europe/Berlin"), "2026-01-02T06:00:00Z");
        assert_eq!(next("weekly mon 07:00", "2026-11-19T12:00:00Z", "UTC"), "2026-11-23T07:00:00Z");
        assert_eq!(next("weekly thu 11:00", "2026-11-19T12:00:00Z", "UTC"), "2026-11-26T11:00:00Z");
    }

    #[test]
    fn a_day_of_another_length_has_one_digest_all_the_same() {
        // On 29 March 2026 the clocks of Berlin go from two to three.
        assert_eq!(next("daily 02:30", "2026-03-28T12:00:00Z", "Europe/Berlin"), "2026-03-29T01:30:00Z");
        assert_eq!(next("daily 02:30", "2026-03-29T01:30:00Z", "Europe/Berlin"), "2026-03-30T00:30:00Z");
        // On 25 October the hour from two to three comes twice.
        let first = next("daily 02:30", "2026-10-24T12:00:00Z", "Europe/Berlin");
        assert_eq!(first, "2026-10-25T00:30:00Z");
        assert_eq!(next("daily 02:30", &first, "Europe/Berlin"), "2026-10-26T01:30:00Z");
    }

    #[test]
    fn a_schedule_is_written_as_it_is_read() {
        for text in ["hourly", "daily 07:00", "daily 23:59", "weekly sun 00:00"] {
            assert_eq!(text.parse::<Schedule>().unwrap().to_string(), text);
        }
        assert_eq!("daily".parse::<Schedule>().unwrap(), Schedule::default());
        for wrong in ["", "now", "daily 25:00", "daily 7", "weekly 07:00", "weekly xyz", "hourly 3"] {
            assert!(wrong.parse::<Schedule>().is_err(), "{wrong}");
        }
    }
}
