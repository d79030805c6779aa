//! `GET /api/v1/sites`

use serde::Deserialize;

use super::status::Figures;

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Site {
    pub site: String,
    pub standing: String,
    #[serde(flatten)]
    pub counts: SiteCounts,
    pub measures: Figures,
    pub failures_in_a_row: u64,
    pub not_before: Option<String>,
    pub crawl_delay_secs: Option<f64>,
    pub traps: Vec<String>,
    pub trouble: Option<String>,
    pub tags: Vec<String>,
    pub hints: Vec<HintSource>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct SiteCounts {
    pub known: u64,
    pub waiting: u64,
    pub held: u64,
    pub gone: u64,
    pub visits: u64,
    pub changes: u64,
    pub failures: u64,
    pub wire_bytes: u64,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct HintSource {
    pub source: String,
    pub recall: Option<f64>,
    pub precision: Option<f64>,
    pub judged: f64,
    pub heard: u64,
    pub last_heard: Option<String>,
    pub muted: Option<String>,
    pub says: String,
}
