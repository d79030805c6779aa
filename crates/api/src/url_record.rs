//! The record of one URL as paper 004 keeps it (Figure 4): its refresh time, degree of success and thresholds.

use schemars::JsonSchema;
use serde::Serialize;
use vernal_model::{BudgetUnit, Page, Span, Visit};
use vernal_policy::parameters::PolicySpec;
use vernal_policy::schedule::{RefreshTime, UrlRecord};

use super::answer::ApiError;
use super::shared::{Shared, time};

/// The last visits that are shown.
const VISITS_SHOWN: usize = 10;
const POLICY: &str = "refresh-time";

#[derive(Serialize, JsonSchema)]
pub struct UrlRecordJson {
    url: String,
    state: &'static str,
    /// `policy` where refresh-time is the policy and kept this; `history` where it is what refresh-time would hold after the
    /// page's visits.
    kept_by: &'static str,
    /// Refresh times in mean waits that the budget pays for, and in hours; the hours are null where the budget pays for no
    /// visit or is counted in bytes.
    initial_mean_waits: f64,
    current_mean_waits: f64,
    initial_hours: Option<f64>,
    current_hours: Option<f64>,
    /// p_c over the latest visits that could be compared, how many those are, and how many of them found a change; null before
    /// the first.
    degree_of_success: Option<f64>,
    visits: u32,
    changes: u32,
    lower_threshold: f64,
    upper_threshold: f64,
    last_visits: Vec<VisitJson>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "RecordedVisit")]
struct VisitJson {
    moment: Option<String>,
    outcome: &'static str,
    /// Null where nothing could be compared.
    changed: Option<bool>,
}

pub fn of(shared: &Shared, page: &Page) -> Result<UrlRecordJson, ApiError> {
    let settings = &shared.settings.crawler;
    let visits = shared.reader.visits(page.key)?;
    let own = settings.url_terms_book().of(&page.url);
    let spec = PolicySpec::parse(&settings.policy).ok().filter(|spec| spec.name() == POLICY);
    let policy = spec.as_ref().map_or_else(RefreshTime::default, RefreshTime::of);
    let kept = spec.and_then(|_| policy.recorded(&page.policy, own));
    let kept_by = if kept.is_some() { "policy" } else { "history" };
    let found = || visits.iter().filter(|visit| !visit.second_look).filter_map(|visit| visit.changed);
    let UrlRecord { terms, refresh_time, visits: compared, changes, degree_of_success } =
        kept.unwrap_or_else(|| policy.replayed(found(), own));
    let mean_wait = mean_wait(shared);
    // Waits are whole microseconds, so that six decimals of an hour are all that they can say.
    let rounded = |hours: f64| (hours * 1e6).round() / 1e6;
    let hours = |mean_waits: f64| mean_wait.map(|wait| rounded(wait.scaled(mean_waits).secs_f64() / 3_600.0));
    Ok(UrlRecordJson {
        url: page.url.to_string(),
        state: page.state.name(),
        kept_by,
        initial_mean_waits: terms.initial,
        current_mean_waits: refresh_time,
        initial_hours: hours(terms.initial),
        current_hours: hours(refresh_time),
        degree_of_success,
        visits: compared,
        changes,
        lower_threshold: terms.lower,
        upper_threshold: terms.upper,
        last_visits: visits.iter().rev().take(VISITS_SHOWN).map(shown).collect(),
    })
}

/// How long a held page waits in the mean for what the budget pays for. What bytes pay for is not known beforehand.
fn mean_wait(shared: &Shared) -> Option<Span> {
    if shared.settings.crawler.budget.unit == BudgetUnit::WireBytes {
        return None;
    }
    let held = shared.reader.totals().held;
    let per_second = shared.settings.crawler.budget.per_second(held);
    let secs = held as f64 / per_second;
    (per_second > 0.0 && secs.is_finite() && held > 0).then(|| Span::from_secs_f64(secs))
}

fn shown(visit: &Visit) -> VisitJson {
    VisitJson { moment: time(visit.started), outcome: visit.outcome.name(), changed: visit.changed }
}
