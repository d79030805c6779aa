//! The history of the crawl, by hour and day.

use std::sync::Arc;

use axum::extract::State;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use vernal_model::{Moment, Span};
use vernal_repository::{Series, SeriesName, SeriesQuery};

use super::answer::{self, ApiError, ApiResult, One};
use super::nouns::Nouns;
use super::parameters::{Parameters, site};
use super::shared::Shared;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SeriesAsked {
    /// Names with commas between them, such as visits,changed,wasted,freshness_believed,wire_bytes
    names: Option<String>,
    /// A time (default: 7d)
    from: Option<String>,
    /// A time (default: now)
    until: Option<String>,
    /// Such as 1h or 1d, or auto (default)
    step: Option<String>,
    /// At most so many rows; beyond this those with the least and greatest values stay
    points: Option<usize>,
    /// A host, with its port where that is not the scheme's own
    site: Option<String>,
}

/// Rows where nobody says how many: as wide as a plot on a screen.
const POINTS: usize = 400;
/// How far back the answer goes where nobody says.
const BACK: Span = Span::from_days(7);
/// What is answered where nobody says: of the crawl, and of a site.
const NAMES: [SeriesName; 8] = [
    SeriesName::FreshnessBelieved,
    SeriesName::FreshnessMeasured,
    SeriesName::Visits,
    SeriesName::Changed,
    SeriesName::Wasted,
    SeriesName::NotModifiedShare,
    SeriesName::Failed,
    SeriesName::WireBytes,
];
const NAMES_OF_SITE: [SeriesName; 6] = [
    SeriesName::Visits,
    SeriesName::Changed,
    SeriesName::Wasted,
    SeriesName::NotModifiedShare,
    SeriesName::Failed,
    SeriesName::WireBytes,
];

#[derive(Serialize, JsonSchema)]
pub struct SeriesAnswer {
    from: String,
    until: String,
    step_s: u64,
    names: Vec<&'static str>,
    #[schemars(with = "Vec<Vec<serde_json::Value>>")]
    rows: Vec<(String, Vec<Option<f64>>)>,
}

pub fn routes(nouns: Nouns) -> Nouns {
    nouns.get(
        "/api/v1/series",
        "The history of the crawl, or of a site, by hour and day; what was not kept is null",
        show,
    )
}

pub async fn show(
    State(shared): State<Arc<Shared>>,
    Parameters(asked): Parameters<SeriesAsked>,
) -> ApiResult<One<SeriesAnswer>> {
    let query = read(&asked, shared.clock.now())?;
    let names = query.names.iter().map(|name| name.name()).collect();
    let answered = answer::on_blocking_thread(move || Ok(shared.reader.series(&query)?)).await?;
    let Series { from, until, step, rows } = answered.map_err(ApiError::bad_request)?;
    let rows = rows.into_iter().map(|(begins, values)| (begins.rfc3339(), values)).collect();
    let step_s = step.secs_f64() as u64;
    Ok(answer::value(&SeriesAnswer { from: from.rfc3339(), until: until.rfc3339(), step_s, names, rows }))
}

fn read(asked: &SeriesAsked, now: Moment) -> Result<SeriesQuery, ApiError> {
    let moment = |text: &str| Moment::parse(text, now).map_err(ApiError::bad_request);
    let until = asked.until.as_deref().map_or(Ok(now), moment)?;
    let site = asked.site.as_deref().map(site).transpose()?;
    let usual = if site.is_some() { NAMES_OF_SITE.to_vec() } else { NAMES.to_vec() };
    let step = match asked.step.as_deref() {
        None | Some("auto") => None,
        Some(step) => Some(Span::parse(step).map_err(ApiError::bad_request)?),
    };
    Ok(SeriesQuery {
        names: asked.names.as_deref().map_or(Ok(usual), names)?,
        from: asked.from.as_deref().map_or(Ok(until - BACK), moment)?,
        until,
        step,
        points: asked.points.unwrap_or(POINTS),
        site,
    })
}

fn names(text: &str) -> Result<Vec<SeriesName>, ApiError> {
    let named = |name: &str| {
        SeriesName::of_name(name.trim()).ok_or_else(|| {
            let all = SeriesName::ALL.map(SeriesName::name);
            let near = vernal_model::nearest(name, all);
            let meant = near.map_or_else(String::new, |near| format!(" (did you mean `{near}`?)"));
            ApiError::bad_request(format!("`{name}` is not kept{meant}; there are {}", all.join(", ")))
        })
    };
    text.split(',').map(named).collect()
}
