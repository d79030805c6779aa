//! `GET /api/v1/noise`

use serde::Deserialize;

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Rule {
    pub site: String,
    pub id: u32,
    pub standing: String,
    pub rule: String,
    pub what: String,
    pub on: String,
    pub page: Option<String>,
    pub since: Option<String>,
    pub differed: u64,
    pub compared: u64,
    pub pages: u64,
    pub before: String,
    pub after: String,
    pub reason: String,
}
