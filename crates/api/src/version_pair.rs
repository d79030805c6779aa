//! The two versions of a page that a person means: by number, by time, or by a word.

use vernal_model::{Moment, Url, Version};

use super::answer::ApiError;

/// The two versions that are meant. Without a word it is the last change; `--to` alone means the change that led there.
pub(super) fn both(
    url: &Url,
    versions: &[Version],
    (from, to): (Option<&str>, Option<&str>),
    now: Moment,
) -> Result<(Version, Version), ApiError> {
    let to = meant(url, versions, to.unwrap_or("latest"), now)?;
    let from = match from {
        Some(text) => meant(url, versions, text, now)?,
        None => before(versions, &to).ok_or_else(|| {
            ApiError::not_found(format!(
                "{url} has nothing before version {}: there is nothing to compare it with",
                to.number
            ))
        })?,
    };
    Ok((from, to))
}

fn before(versions: &[Version], of: &Version) -> Option<Version> {
    let place = versions.iter().position(|version| version.number == of.number)?;
    versions.get(place.checked_sub(1)?).copied()
}

/// The version that a word, a number or a time means.
pub(super) fn meant(url: &Url, versions: &[Version], text: &str, now: Moment) -> Result<Version, ApiError> {
    /// Longer runs of digits are times.
    const NUMBER_DIGITS_MAX: usize = 9;
    let (first, latest) = match (versions.first(), versions.last()) {
        (Some(first), Some(latest)) => (first, latest),
        _ => return Err(ApiError::not_found(format!("{url} has no version"))),
    };
    let is_number = !text.is_empty() && text.len() <= NUMBER_DIGITS_MAX && text.bytes().all(|b| b.is_ascii_digit());
    let found = match text {
        "latest" => Some(*latest),
        "previous" => before(versions, latest),
        number if is_number => versions.iter().find(|version| version.number.to_string() == number).copied(),
        at => {
            let until = Moment::parse(at, now).map_err(|_| {
                ApiError::bad_request(format!("`{at}` is no version: give a number, a time, `latest` or `previous`"))
            })?;
            versions.iter().rfind(|version| version.moment <= until).copied()
        }
    };
    found.ok_or_else(|| {
        let have = format!("it has {} to {}", first.number, latest.number);
        match text {
            "previous" => ApiError::not_found(format!("{url} has one version only")),
            number if is_number => ApiError::not_found(format!("{url} has no version {number}; {have}")),
            at => ApiError::not_found(format!("no version of {url} was held at {at}; {have}")),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use vernal_model::Digest;

    fn versions() -> Vec<Version> {
        let version = |number: u32| Version {
            number,
            moment: Moment::from_secs(i64::from(number) * 1_000),
            status: 200,
            payload: Digest::default(),
            body_bytes: 1,
            location: None,
        };
        vec![version(1), version(2), version(4)]
    }

    fn numbers(from: Option<&str>, to: Option<&str>) -> Result<(u32, u32), u16> {
        let url = Url::parse("http://a.example/").unwrap();
        let found = both(&url, &versions(), (from, to), Moment::from_secs(5_000));
        found.map(|(from, to)| (from.number, to.number)).map_err(|no| no.status.as_u16())
    }

    #[test]
    fn versions_are_named_by_number_time_and_word() {
        assert_eq!(numbers(None, None), Ok((2, 4)));
        assert_eq!(numbers(Some("1"), None), Ok((1, 4)));
        assert_eq!(numbers(None, Some("2")), Ok((1, 2)));
        assert_eq!(numbers(Some("latest"), Some("previous")), Ok((4, 2)));
        assert_eq!(numbers(Some("1970-01-01T00:20:00Z"), Some("1s")), Ok((1, 4)));
    }

    #[test]
    fn a_version_that_is_not_there_is_unknown_and_nonsense_is_wrong() {
        assert_eq!(numbers(Some("3"), None), Err(404));
        assert_eq!(numbers(None, Some("1")), Err(404));
        assert_eq!(numbers(Some("1970-01-01"), None), Err(404));
        assert_eq!(numbers(Some("yonder"), None), Err(400));
    }
}
