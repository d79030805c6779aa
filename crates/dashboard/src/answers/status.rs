//! `GET /api/v1/status`

use serde::Deserialize;

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Status {
    pub version: String,
    pub data: String,
    pub paused: bool,
    pub budget: String,
    pub policy: String,
    pub last_moment: Option<String>,
    pub cursor: String,
    pub disk_free_bytes: Option<u64>,
    pub disk_total_bytes: Option<u64>,
    #[serde(flatten)]
    pub totals: Totals,
    pub measures: Figures,
    pub promises: Option<Promises>,
    pub outbox: Option<Outbox>,
    pub crawl: Option<Crawl>,
    #[serde(flatten)]
    pub kept: Kept,
}

/// What operations are told beside the totals.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Kept {
    pub spent: f64,
    pub blocked: u64,
    pub search: Option<TextIndex>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Totals {
    pub seeds: u64,
    pub sites: u64,
    pub known: u64,
    pub waiting: u64,
    pub held: u64,
    pub gone: u64,
    pub failed: u64,
    pub refused: u64,
    pub visits: u64,
    pub versions: u64,
    pub changes: u64,
    pub noise: u64,
    pub events: u64,
    pub wire_bytes: u64,
    pub body_bytes: u64,
}

/// Of the whole copy, or of one site.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Figures {
    pub as_of: Option<String>,
    pub change_ratio: Option<f64>,
    pub change_ratio_visits: u64,
    pub degree_of_success: Option<f64>,
    pub change_rate_per_day: Option<f64>,
    pub freshness_believed: Option<f64>,
    pub freshness_measured: Option<f64>,
    pub freshness_samples: u64,
    pub mean_age_days: Option<f64>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Promises {
    pub pages: u64,
    pub overdue: u64,
    pub cures: Vec<String>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Outbox {
    pub watches: u64,
    pub waiting: u64,
    pub failing_routes: Vec<String>,
}

/// How far the text index is.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct TextIndex {
    pub units: u64,
    pub bytes: u64,
    pub behind_events: u64,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Crawl {
    pub process: u32,
    pub started: Option<String>,
    pub now: Option<String>,
    pub time_scale: f64,
    pub in_flight: u64,
    pub lists: Vec<PriorityList>,
    pub cycle: Option<SamplingCycle>,
    pub commits: u64,
    pub budget_in_hand: f64,
    pub disk_full: bool,
    pub sites_backing_off: u64,
    pub waits_for_budget_until: Option<String>,
    pub retries_waiting: u64,
    #[serde(flatten)]
    pub freshness: Freshness,
}

/// One of the lists among which the allocator draws.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct PriorityList {
    pub turns: u64,
    pub waiting: u64,
    pub drawn: u64,
}

/// A round of sampling and downloading.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct SamplingCycle {
    pub begins: Option<String>,
    pub ends: Option<String>,
    pub share: f64,
    pub groups: u64,
    pub pages: u64,
    pub sample_size: u64,
    pub sampled: u64,
    pub downloaded: u64,
    pub compared: u64,
    pub changed: u64,
    pub change_ratio: Option<f64>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Freshness {
    pub freshness_expected: Option<f64>,
    pub freshness_measured: Option<f64>,
    pub freshness_samples: u64,
    pub trap_pages: u64,
    pub freshness_samples_needed: u64,
    pub calibration: Vec<CalibrationBin>,
}

/// What was believed of samples, and what they were.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct CalibrationBin {
    pub samples: u64,
    pub believed: f64,
    pub found: f64,
}

impl Status {
    /// The time of the crawl; of a stopped one, when it last did something.
    pub fn now(&self) -> Option<&str> {
        self.crawl.as_ref().and_then(|crawl| crawl.now.as_deref()).or(self.last_moment.as_deref())
    }

    /// The share of the held pages that is believed to be up to date.
    pub fn believed(&self) -> Option<f64> {
        let by_policy = self.crawl.as_ref().and_then(|crawl| crawl.freshness.freshness_expected);
        by_policy.or(self.measures.freshness_believed)
    }

    /// The share of samples that was up to date, and how many samples.
    pub fn measured(&self) -> Option<(f64, u64)> {
        let crawl = self.crawl.as_ref()?;
        Some((crawl.freshness.freshness_measured?, crawl.freshness.freshness_samples))
    }
}
