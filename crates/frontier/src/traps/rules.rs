//! Traps by the form of a URL.

use vernal_model::{Moment, Url};

const PATH_SEGMENTS_MAX: usize = 20;
/// A run of path segments that repeats itself so often is a loop of relative links.
const REPEATS_MAX: usize = 3;
const PARAMETERS_MAX: usize = 5;
const SAME_PARAMETER_MAX: usize = 3;
/// Beyond this length, a URL with several parameters is taken for a trap.
const LONG_URL_BYTES: usize = 1_000;
const LONG_URL_PARAMETERS: usize = 3;
/// Dates further than so many years from now are taken for an endless calendar.
const YEAR_MIN: i64 = 1970;
const YEARS_AHEAD_MAX: i64 = 2;
/// Virtual time may begin at the epoch, the web's calendars do not.
const YEAR_NOW_MIN: i64 = 2026;

/// The reason why this URL looks like a trap, in words.
pub(super) fn by_rule(url: &Url, now: Moment) -> Option<String> {
    path_trap(url).or_else(|| query_trap(url)).or_else(|| calendar_trap(url, now))
}

fn path_trap(url: &Url) -> Option<String> {
    let segments: Vec<&str> = url.path().split('/').filter(|segment| !segment.is_empty()).collect();
    if segments.len() > PATH_SEGMENTS_MAX {
        return Some(format!("the path has {} segments, more than {PATH_SEGMENTS_MAX}", segments.len()));
    }
    if let Some(run) = repeated(&segments) {
        return Some(format!("the path repeats `{run}`"));
    }
    let session = segments.iter().find(|segment| carries_session(segment))?;
    Some(format!("the path carries a session: `{}`", session.chars().take(40).collect::<String>()))
}

/// A run of segments that follows itself directly, `REPEATS_MAX` times. Single numbers may repeat: they are places or dates.
fn repeated(segments: &[&str]) -> Option<String> {
    for length in 1..=segments.len() / REPEATS_MAX {
        for start in 0..=segments.len() - length * REPEATS_MAX {
            let run = &segments[start..start + length];
            let repeats = (1..REPEATS_MAX).all(|turn| &segments[start + turn * length..][..length] == run);
            let is_number = length == 1 && run[0].bytes().all(|byte| byte.is_ascii_digit());
            if repeats && !is_number {
                return Some(run.join("/"));
            }
        }
    }
    None
}

/// Marks of a session in a path. A plain hexadecimal name is no such mark, because commits and files have such names.
fn carries_session(segment: &str) -> bool {
    const MARKS: [&str; 7] = ["jsessionid=", "phpsessid=", "sessionid=", "session_id=", "sessid=", "session=", "sid="];
    // Almost no segment has the character that every mark has.
    if !segment.starts_with('(') && !segment.as_bytes().contains(&b'=') {
        return false;
    }
    let lower = segment.to_ascii_lowercase();
    let names = lower.split([';', ',', '&']);
    // Cookieless sessions of ASP.NET: /(S(lit3py55t21z5v55vlm25s55))/page.
    lower.starts_with("(s(") || names.into_iter().any(|name| MARKS.iter().any(|mark| name.starts_with(mark)))
}

fn query_trap(url: &Url) -> Option<String> {
    url.query()?;
    let mut names: Vec<&str> = parameters(url).map(|(name, _)| name).collect();
    let count = names.len();
    if count > PARAMETERS_MAX {
        return Some(format!(
            "{count} parameters, more than {PARAMETERS_MAX}: a search that can be narrowed without end"
        ));
    }
    if url.as_str().len() > LONG_URL_BYTES && count >= LONG_URL_PARAMETERS {
        return Some(format!("{} bytes with {count} parameters", url.as_str().len()));
    }
    names.sort_unstable();
    let same = names.chunk_by(|one, other| one == other).find(|same| same.len() > SAME_PARAMETER_MAX)?;
    Some(format!("the parameter `{}` stands {} times", same[0], same.len()))
}

/// A date so far away that only an endless calendar has it.
fn calendar_trap(url: &Url, now: Moment) -> Option<String> {
    let year = far_year_candidates(url).find(|&year| year < YEAR_MIN || year > last_year(now))?;
    Some(format!("a calendar that has come to the year {year}"))
}

fn last_year(now: Moment) -> i64 {
    const SECS_PER_YEAR: i64 = 31_556_952;
    (1970 + now.secs().div_euclid(SECS_PER_YEAR)).max(YEAR_NOW_MIN) + YEARS_AHEAD_MAX
}

/// The years of parts that look like dates: a year segment before a month segment, `YYYY-MM`, and year parameters.
fn far_year_candidates(url: &Url) -> impl Iterator<Item = i64> {
    let segments = url.path().split('/');
    let pairs = segments.clone().zip(segments.clone().skip(1));
    let folders = pairs.filter(|(_, month)| is_month(month)).filter_map(|(year, _)| year_of(year));
    let dashed = segments.filter_map(dashed_year);
    let given = parameters(url).filter_map(|(name, value)| {
        let name = name.to_ascii_lowercase();
        let names_a_year = ["year", "yr", "jahr", "annee", "ano"].iter().any(|word| name.ends_with(word));
        if names_a_year { year_of(value) } else { dashed_year(value) }
    });
    folders.chain(dashed).chain(given)
}

/// Whether the path ends in a year and a month, or the query gives a year: a page of a calendar or of an archive's index.
pub(super) fn ends_in_date(url: &Url) -> bool {
    let path = url.path().trim_end_matches('/');
    let end = &path[path.rfind('/').map_or(0, |slash| slash + 1)..];
    // Most names are longer than a day or a month.
    if end.len() > 2 {
        return dashed_year(end).is_some();
    }
    let mut back = url.path().rsplit('/').filter(|segment| !segment.is_empty());
    let last = [back.next(), back.next(), back.next()];
    let is_year = |text: Option<&str>| text.and_then(year_of).is_some_and(|year| (1_000..=9_999).contains(&year));
    match last {
        [Some(month), year, _] if is_month(month) && is_year(year) => true,
        [Some(day), Some(month), year] if day.len() <= 2 && day.parse::<u8>().is_ok() && is_month(month) => {
            is_year(year)
        }
        _ => false,
    }
}

fn year_of(text: &str) -> Option<i64> {
    (text.len() == 4 && text.bytes().all(|byte| byte.is_ascii_digit())).then(|| text.parse().ok())?
}

fn is_month(text: &str) -> bool {
    text.len() <= 2 && matches!(text.parse(), Ok(1..=12))
}

/// `2031-07` and `2031-07-15`.
fn dashed_year(text: &str) -> Option<i64> {
    if !matches!(text.len(), 7 | 10) {
        return None;
    }
    let mut parts = text.splitn(4, '-');
    let year = year_of(parts.next()?)?;
    let month = parts.next().filter(|month| month.len() == 2)?;
    let is_day = |day: &str| day.len() == 2 && matches!(day.parse(), Ok(1..=31));
    (is_month(month) && parts.next().is_none_or(is_day) && parts.next().is_none()).then_some(year)
}

pub(super) fn parameters(url: &Url) -> impl Iterator<Item = (&str, &str)> {
    let parameters = url.query().into_iter().flat_map(|query| query.split('&'));
    parameters.filter(|parameter| !parameter.is_empty()).map(|text| text.split_once('=').unwrap_or((text, "")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(tail: &str) -> Url {
        Url::parse(&format!("http://a.org{tail}")).unwrap()
    }

    fn now() -> Moment {
        Moment::parse("2026-11-15", Moment::EPOCH).unwrap()
    }

    fn suspected(tail: &str) -> bool {
        by_rule(&url(tail), now()).is_some()
    }

    #[test]
    fn what_looks_like_a_trap_is_told_in_words() {
        let long = format!("/p?a={}&b=1&c=2", "x".repeat(1_000));
        for tail in [
            "/a/b/a/b/a/b/",
            "/images/images/images/x.png",
            &"/d".repeat(21),
            &(0..21).map(|n| format!("/{n}")).collect::<String>(),
            "/calendar/2031/07/",
            "/calendar?month=3&year=1931",
            "/events?date=2099-01-31",
            "/agenda/1899-12",
            "/shop?a=1&b=2&c=3&d=4&e=5&f=6",
            "/shop?colour=1&colour=2&colour=3&colour=4",
            "/(S(lit3py55t21z5v55vlm25s55))/default.aspx",
            "/shop/sid=123;x/",
            &long,
        ] {
            assert!(suspected(tail), "{tail}");
        }
    }

    #[test]
    fn ordinary_urls_are_not_suspected() {
        let long = format!("/p?a={}", "x".repeat(1_000));
        for tail in [
            "/",
            "/a/b/a/b/c",
            "/tiles/12/12/12",
            "/2026/11/15/a-title",
            "/history/1945/",
            "/docs/1945-the-end",
            "/commit/9fceb02d0ae598e95dc970b74767f19372d61af8",
            "/search?q=crawler&page=2&sort=up",
            "/p?tag=a&tag=b&tag=c",
            "/flight?number=9000&id=1200",
            "/sidebar/sessions/",
            &long,
        ] {
            assert!(!suspected(tail), "{tail}");
        }
    }

    #[test]
    fn a_calendar_ends_two_years_ahead_even_in_virtual_time() {
        let by_rule = |tail, now| by_rule(&url(tail), now);
        assert!(by_rule("/2028/12/", now()).is_none());
        assert!(by_rule("/2029/01/", now()).is_some());
        assert!(by_rule("/2028/12/", Moment::EPOCH).is_none());
        assert!(by_rule("/2041/01/", now() + vernal_model::Span::from_days(14 * 366)).is_none());
    }
}
