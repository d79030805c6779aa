//! The digits of a moment in the address of a memento.

use vernal_model::Moment;

const DIGITS: usize = 14;
/// What missing digits stand for: the beginning of what is named.
const EARLIEST: &str = "00000101000000";
const YEAR_DIGITS: usize = 4;

/// The moment of `YYYYMMDDhhmmss`. Fewer digits name the beginning of a year, a month, a day, an hour or a minute.
pub fn of_digits(text: &str) -> Option<Moment> {
    let is_whole = (YEAR_DIGITS..=DIGITS).contains(&text.len()) && text.len().is_multiple_of(2);
    if !is_whole || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    Moment::parse(&format!("{text}{}", &EARLIEST[text.len()..]), Moment::EPOCH).ok()
}

/// The moment in whole seconds, as headers and addresses have it.
pub fn rounded(moment: Moment) -> Moment {
    Moment::from_secs(moment.secs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fewer_digits_name_the_beginning() {
        let digits = |text: &str| of_digits(text).map(Moment::fourteen_digits);
        assert_eq!(digits("20260501120305").as_deref(), Some("20260501120305"));
        assert_eq!(digits("202605011203").as_deref(), Some("20260501120300"));
        assert_eq!(digits("20260501").as_deref(), Some("20260501000000"));
        assert_eq!(digits("2026").as_deref(), Some("20260101000000"));
        for text in ["", "202", "20261301000000", "2026050112030", "202605011203055", "2026050a", "20260230"] {
            assert_eq!(of_digits(text), None, "{text}");
        }
    }
}
