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

    /// Each time within a text as a table shows it.
    pub fn within(self, text: &str) -> String {
        let words = text.split_inclusive([' ', ',', ';']).map(|word| {
            let bare = word.trim_end_matches([' ', ',', ';']);
            let is_time = bare.ends_with('Z') && bare.contains('T') && bare.starts_with(|c: char| c.is_ascii_digit());
            if is_time { format!("{}{}", self.of_text(bare), &word[bare.len()..]) } else { word.to_owned() }
        });
        words.collect()
    }

    pub fn of(self, moment: Moment) -> String {
        let Ok(stamp) = jiff::Timestamp::from_microsecond(moment.micros()) else { return "never".into() };
        if self.utc {
            return stamp.strftime("%Y-%m-%d %H:%M:%SZ").to_string();
        }
        stamp.to_zoned(jiff::tz::TimeZone::system()).strftime("%Y-%m-%d %H:%M:%S").to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_within_a_text_look_like_times_in_a_table() {
        let style = TimeStyle { utc: true };
        assert_eq!(style.within("2026-01-02T03:04:05Z, 3h ago"), "2026-01-02 03:04:05Z, 3h ago");
        assert_eq!(style.within("no time, 7 times"), "no time, 7 times");
    }
}
