//! The Last-Modified dates of pages, and how far they are trusted: learned for each site from what visits found
//! (`policy/estimate/dates.rs`).

use vernal_model::{HintRows, HintSource, Moment, Outcome, Page, Report, Span};
use vernal_policy::estimate::dates;

use super::Hints;
use crate::core::Core;

/// Clocks differ: a date up to this far in the future counts as now.
const AHEAD_MAX: Span = Span::from_secs(300);

impl Hints {
    /// When a page last changed, if the dates of its site have proved right: evidence for the policy.
    pub fn believed_date(&self, core: &Core, page: &Page, report: &Report) -> Option<Moment> {
        let date = core.settings.hints.then(|| date_of(report)).flatten()?;
        let row = self.book.trust(&page.url.site(), HintSource::LastModified)?;
        dates::dates_are_believed(row).then_some(date)
    }

    /// Judges the date of a page that was compared by what the visit found.
    pub fn judge_date(&self, rows: &mut HintRows, report: &Report, changed: bool, seen: Moment) {
        let Some(date) = date_of(report) else { return };
        let mut row = self.book.trust(&rows.site, HintSource::LastModified).cloned().unwrap_or_default();
        let before = (row.heard, row.missed);
        dates::hear_date(&mut row, date, seen, changed, report.started);
        if (row.heard, row.missed) != before {
            rows.sources.push((HintSource::LastModified, row));
        }
    }
}

/// The date of an answer; `None` for answers that are no page and for dates in the future.
pub fn date_of(report: &Report) -> Option<Moment> {
    if !matches!(report.outcome, Outcome::Read { .. }) {
        return None;
    }
    let date = report.validators.last_modified.as_deref().and_then(Moment::parse_http_date)?;
    (date <= report.started + AHEAD_MAX).then(|| date.min(report.started))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{START, after, answered, order};

    fn report(date: Option<Moment>) -> Report {
        let mut report = answered(order("http://a.example/", Default::default()), START, "text/html", "Words.");
        report.validators.last_modified = date.map(|date| date.http_date().into());
        report
    }

    #[test]
    fn a_date_is_believed_to_the_hour_of_the_visit_and_not_beyond() {
        assert_eq!(date_of(&report(None)), None);
        let before = START - Span::from_days(3);
        assert_eq!(date_of(&report(Some(before))), Some(before));
        assert_eq!(date_of(&report(Some(after(200)))), Some(START), "clocks differ");
        assert_eq!(date_of(&report(Some(after(301)))), None, "an hour that is still to come");
        let mut unread = report(Some(before));
        unread.outcome = Outcome::NotModified;
        assert_eq!(date_of(&unread), None);
        let mut garbled = report(None);
        garbled.validators.last_modified = Some("yesterday".into());
        assert_eq!(date_of(&garbled), None);
    }
}
