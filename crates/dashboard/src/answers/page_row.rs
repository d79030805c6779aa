//! `GET /api/v1/pages`

use serde::Deserialize;

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct PageRow {
    pub url: String,
    pub state: String,
    pub version: Option<u32>,
    pub status: Option<u16>,
    pub last_visit: Option<String>,
    pub last_outcome: String,
    pub visits: u64,
    pub changes: u64,
    pub importance: Option<f64>,
}
