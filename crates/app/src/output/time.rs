//! How a Moment looks to a person.

use vernal_model::Moment;

/// Times in tables are local unless `--utc` was given; in JSON they are always UTC.
#[derive(Copy, Clone, Debug)]
pub struct TimeStyle {
    pub utc: bool,
}

impl TimeStyle {
    /// A time of a JSON answer as a table shows it.
    pub fn of_text(self, rfc3339: &str) -> String {
        match Moment::parse(rfc3339, Moment::EPOCH) {
            Ok(moment) => self.of(moment),
            Err(_) => rfc3339.to_owned(),
        }
    }

    pub fn of(self, moment: Moment) -> String {
        let Ok(stamp) = jiff::Timestamp::from_microsecond(moment.micros()) else { return "never".into() };
        if self.utc {
            return stamp.strftime("%Y-%m-%d %H:%M:%SZ").to_string();
        }
        stamp.to_zoned(jiff::tz::TimeZone::system()).strftime("%Y-%m-%d %H:%M:%S").to_string()
    }
}
