//! Which pages would be visited when, and the freshness that this would give.

use std::sync::Arc;

use axum::extract::State;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use vernal_crawler::{Forecast, Plan, PlannedVisit};
use vernal_model::{Budget, Moment, Span};

use super::answer::{self, ApiError, ApiResult, One};
use super::nouns::Nouns;
use super::parameters::Parameters;
use super::shared::{Shared, time};

/// How far ahead, where nobody says.
const AHEAD: Span = Span::from_days(1);
/// Farther than this a forecast says nothing any more.
const AHEAD_MAX: Span = Span::from_days(366);
const VISITS_SHOWN: usize = 100;
const BUDGETS_MAX: usize = 20;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Question {
    #[serde(rename = "for")]
    /// How far ahead, such as 1d
    ahead: Option<String>,
    /// Budgets, separated by commas or given several times; the one in force if none is given
    budget: Option<String>,
    /// At most so many visits
    limit: Option<usize>,
}

#[derive(Serialize, JsonSchema)]
pub struct PlanAnswer {
    policy: String,
    from: Option<String>,
    until: Option<String>,
    forecasts: Vec<ForecastJson>,
    /// The first visits under the first budget.
    visits: Vec<VisitJson>,
}

#[derive(Serialize, JsonSchema)]
pub struct ForecastJson {
    budget: String,
    visits: u64,
    pages_visited: u64,
    /// Freshness as the policy believes it: now, at the end, and in the mean; null without a model.
    freshness_now: Option<f64>,
    freshness_end: Option<f64>,
    freshness_mean: Option<f64>,
    promises: u64,
    promises_broken: u64,
    longest_overdue_s: f64,
    /// Visits are planned in steps of this length: no page is visited twice in one, and a promise may be late by one.
    slot_s: f64,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "PlannedVisit")]
pub struct VisitJson {
    at: Option<String>,
    url: String,
    site: String,
    last_visit: Option<String>,
}

pub fn routes(nouns: Nouns) -> Nouns {
    nouns.get(
        "/api/v1/plan",
        "Which pages would be visited when, and the freshness that this would give, without a request",
        show,
    )
}

pub async fn show(
    State(shared): State<Arc<Shared>>,
    Parameters(asked): Parameters<Question>,
) -> ApiResult<One<PlanAnswer>> {
    let ahead = asked.ahead.as_deref().map(Span::parse).transpose().map_err(ApiError::bad_request)?.unwrap_or(AHEAD);
    if ahead == Span::ZERO || ahead > AHEAD_MAX {
        return Err(ApiError::bad_request(format!("a plan reaches up to {AHEAD_MAX} ahead, not {ahead}")));
    }
    let texts = asked.budget.iter().flat_map(|list| list.split(',')).map(str::trim).filter(|text| !text.is_empty());
    let mut budgets: Vec<Budget> = texts.map(str::parse).collect::<Result<_, _>>().map_err(ApiError::bad_request)?;
    if budgets.is_empty() {
        budgets.push(shared.settings.crawler.budget);
    }
    if budgets.len() > BUDGETS_MAX {
        return Err(ApiError::bad_request(format!("a plan compares at most {BUDGETS_MAX} budgets")));
    }
    let settings = shared.settings.crawler.clone();
    let (reader, now) = (shared.reader.clone(), shared.clock.now());
    let limit = asked.limit.unwrap_or(VISITS_SHOWN);
    let policy = shared.settings.crawler.policy.clone();
    let believed = shared.backend.believed(now).await?.all.share();
    // A plan takes up every held page: not on the event loop.
    let planned = tokio::task::spawn_blocking(move || {
        vernal_crawler::plan(&reader, &settings, &budgets, ahead, limit, (now, believed))
    });
    let plan = planned.await.map_err(ApiError::failed)?.map_err(ApiError::failed)?;
    Ok(answer::value(&shown(policy, plan, now, ahead)))
}

fn shown(policy: String, plan: Plan, now: Moment, ahead: Span) -> PlanAnswer {
    PlanAnswer {
        policy,
        from: time(now),
        until: time(now + ahead),
        forecasts: plan.forecasts.iter().map(forecast).collect(),
        visits: plan.visits.iter().map(visit).collect(),
    }
}

fn forecast(forecast: &Forecast) -> ForecastJson {
    ForecastJson {
        budget: forecast.budget.to_string(),
        visits: forecast.visits,
        pages_visited: forecast.pages_visited,
        freshness_now: forecast.now,
        freshness_end: forecast.end,
        freshness_mean: forecast.mean,
        promises: forecast.promises,
        promises_broken: forecast.promises_broken,
        longest_overdue_s: forecast.longest_overdue.secs_f64(),
        slot_s: forecast.slot.secs_f64(),
    }
}

fn visit(visit: &PlannedVisit) -> VisitJson {
    VisitJson {
        at: time(visit.at),
        url: visit.url.to_string(),
        site: visit.site.to_string(),
        last_visit: time(visit.last_visit),
    }
}
