//! `GET /api/v1/settings`, `/seeds`, `/check`, `/links` and `/forgotten`

use serde::Deserialize;
use serde_json::Value;

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Setting {
    pub name: String,
    pub value: Value,
    pub source: String,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Seed {
    pub url: String,
    pub added: Option<String>,
    pub tags: Vec<String>,
    pub weight: f64,
    pub scope: String,
    pub depth: Option<u64>,
    pub at_least_every: Option<String>,
    pub at_most_every: Option<String>,
    pub moved_to: Option<String>,
}

/// What stands between a URL and its next visit.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Check {
    pub url: String,
    pub in_scope: bool,
    pub seed: Option<String>,
    pub robots: String,
    pub robots_read: Option<String>,
    pub crawl_delay_secs: Option<f64>,
    pub guard: String,
    pub trap: Option<String>,
    pub state: String,
    pub site: String,
    pub site_standing: String,
    pub trouble: Option<String>,
    pub next_slot: Option<String>,
}

/// A link out of a page, or into it.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Link {
    pub target: Option<String>,
    pub source: Option<String>,
    pub kind: String,
    pub rel: Vec<String>,
    pub anchor: Option<String>,
    pub state: String,
    pub links: u64,
    pub counted: Option<bool>,
}

impl Setting {
    /// The value as it would be given; nothing is a dash.
    pub fn shown(&self) -> String {
        match &self.value {
            Value::Null => "–".into(),
            Value::String(text) => text.clone(),
            Value::Array(all) => {
                let words: Vec<String> =
                    all.iter().map(|one| one.as_str().map_or_else(|| one.to_string(), str::to_owned)).collect();
                words.join(", ")
            }
            other => other.to_string(),
        }
    }
}

/// An entry of the ledger of what was forgotten.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct ForgottenEntry {
    pub id: u64,
    /// `url`, `prefix` or `site`.
    pub rule: String,
    pub of: String,
    pub reason: String,
    pub since: Option<String>,
    pub lifted: Option<String>,
    pub pages: u64,
    pub versions: u64,
}
