//! What a page says of its own changes: the meta-updates tag of paper 000, and cache headers.

use vernal_model::{Cadence, HintSource, Moment, Span};

/// Paper 000, 1.3.1: a static page is assumed not to change for so long.
pub const STATIC: Span = Span::from_days(90);
/// Longer periods are not believed.
const PERIOD_MAX: Span = Span::from_days(366);
/// Shorter cache lifetimes have other reasons and say nothing about changes of the page.
const CACHED_MIN: Span = Span::from_hours(12);

/// `STATIC`, `PERIODIC=k` (in days) or `VARIABLE`, the last of which promises nothing.
pub fn meta_updates(content: &str) -> Option<Cadence> {
    let text = content.trim().to_ascii_uppercase();
    let text = text.rsplit(':').next().unwrap_or_default().trim();
    let period = if text == "STATIC" {
        STATIC
    } else {
        let days: f64 = text.strip_prefix("PERIODIC")?.trim_start().strip_prefix('=')?.trim().parse().ok()?;
        (days > 0.0 && days.is_finite()).then(|| Span::from_secs_f64(days * 86_400.0))?
    };
    Some(Cadence { source: HintSource::MetaUpdates, period: period.min(PERIOD_MAX) })
}

/// How long caches may keep the answer: Cache-Control before Expires (RFC 9111, 5.3), counted from the answer's own Date.
pub fn cache_headers(
    cache_control: Option<&str>,
    expires: Option<&str>,
    date: Option<&str>,
    now: Moment,
) -> Option<Cadence> {
    let age = cache_control.and_then(max_age);
    let refused = cache_control.is_some_and(|value| has(value, "no-store") || has(value, "no-cache"));
    let period = match age {
        _ if refused => return None,
        Some(age) => age,
        None => {
            let sent = date.and_then(Moment::parse_http_date).unwrap_or(now);
            Moment::parse_http_date(expires?)?.since(sent)
        }
    };
    let period = period.min(PERIOD_MAX);
    (period >= CACHED_MIN).then_some(Cadence { source: HintSource::CacheHeaders, period })
}

fn has(value: &str, wanted: &str) -> bool {
    value.split(',').any(|word| word.trim().eq_ignore_ascii_case(wanted))
}

fn max_age(value: &str) -> Option<Span> {
    value.split(',').find_map(|word| {
        let (name, seconds) = word.split_once('=')?;
        name.trim().eq_ignore_ascii_case("max-age").then_some(())?;
        Some(Span::from_secs(seconds.trim().trim_matches('"').parse().ok()?))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_three_values_of_the_paper() {
        let period = |text| meta_updates(text).map(|cadence| cadence.period);
        assert_eq!(period("STATIC"), Some(Span::from_days(90)));
        assert_eq!(period("periodic = 7"), Some(Span::from_days(7)));
        assert_eq!(period("Change Frequency-Based: PERIODIC=0.5"), Some(Span::from_hours(12)));
        for text in ["VARIABLE", "", "PERIODIC", "PERIODIC=0", "PERIODIC=-1", "PERIODIC=x", "weekly"] {
            assert_eq!(period(text), None, "{text}");
        }
    }

    #[test]
    fn caches_say_something_from_half_a_day_on() {
        let now = Moment::from_secs(1_777_600_000);
        let said =
            |control, expires: Option<&str>| cache_headers(control, expires, None, now).map(|cadence| cadence.period);
        assert_eq!(said(Some("public, max-age=86400"), None), Some(Span::from_days(1)));
        assert_eq!(said(Some("max-age=60"), None), None);
        assert_eq!(said(Some("no-cache, max-age=86400"), None), None);
        let later = (now + Span::from_days(3)).http_date();
        assert_eq!(said(None, Some(&later)), Some(Span::from_days(3)));
        assert_eq!(said(Some("max-age=0"), Some(&later)), None, "Cache-Control goes before Expires");
        assert_eq!(said(None, Some("0")), None);
        assert_eq!(cache_headers(None, Some(&later), Some(&later), now), None, "it had expired when it was sent");
    }
}
