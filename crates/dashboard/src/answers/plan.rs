//! `GET /api/v1/plan`

use serde::Deserialize;

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Plan {
    pub policy: String,
    pub from: Option<String>,
    pub until: Option<String>,
    pub forecasts: Vec<Forecast>,
    pub visits: Vec<PlannedVisit>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Forecast {
    pub budget: String,
    pub visits: u64,
    pub pages_visited: u64,
    pub freshness_now: Option<f64>,
    pub freshness_end: Option<f64>,
    pub freshness_mean: Option<f64>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct PlannedVisit {
    pub at: Option<String>,
    pub url: String,
    pub site: String,
    pub last_visit: Option<String>,
}
