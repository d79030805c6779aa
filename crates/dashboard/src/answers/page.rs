//! `GET /api/v1/page` and `/api/v1/why`

use serde::Deserialize;

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Page {
    pub url: String,
    pub site: String,
    pub state: String,
    #[serde(flatten)]
    pub visited: Visited,
    #[serde(flatten)]
    pub found: Found,
    pub trouble: Option<String>,
    pub also_named: Vec<String>,
    pub same_as: Option<String>,
    pub topics: Vec<Topic>,
    pub newest: Option<Version>,
    pub document: Option<Document>,
    pub url_record: Option<UrlRecord>,
    pub hints: Option<Hints>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Visited {
    pub version: Option<u32>,
    pub status: Option<u16>,
    pub first_visit: Option<String>,
    pub last_visit: Option<String>,
    pub last_confirmed: Option<String>,
    pub last_outcome: String,
    pub detail: String,
    pub visits: u64,
    pub changes: u64,
    pub compared: u64,
    pub failures: u64,
    pub not_before: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Found {
    pub admitted: Option<String>,
    pub found_on: Option<String>,
    pub depth: Option<u16>,
    pub tags: Vec<String>,
    pub importance: Option<f64>,
    pub back_links: u64,
    pub score: Option<f64>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Version {
    pub number: u32,
    pub moment: Option<String>,
    pub status: u16,
    pub payload_digest: String,
    pub body_bytes: u64,
    pub archived: bool,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Document {
    pub title: String,
    pub language: String,
    pub content_type: String,
    pub paragraphs: u64,
    pub links: u64,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct UrlRecord {
    pub kept_by: String,
    pub current_mean_waits: f64,
    pub current_hours: Option<f64>,
    pub initial_hours: Option<f64>,
    pub degree_of_success: Option<f64>,
    pub visits: u64,
    pub changes: u64,
    pub lower_threshold: f64,
    pub upper_threshold: f64,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Hints {
    pub pending: Vec<PendingHint>,
    pub spoken_of_by: Vec<String>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct PendingHint {
    pub source: String,
    pub said: Option<String>,
    pub heard: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Topic {
    pub name: String,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Why {
    pub url: String,
    pub policy: String,
    pub reasons: Vec<Reason>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Reason {
    pub name: String,
    pub value: String,
}
