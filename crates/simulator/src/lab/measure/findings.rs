//! What a trial showed: plain data.

use serde::Serialize;

/// What one trial showed.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Findings {
    /// After the warm-up.
    pub after: Figures,
    pub warm_up: Figures,
    /// The first days, from the very start.
    pub first: Figures,
    /// Pages that no visit was ever spent on.
    pub never_visited: u64,
    pub pages: u64,
    /// Freshness of each day, the warm-up included.
    pub days: Vec<f64>,
    pub sites: Vec<SiteFigures>,
    pub allocation: Vec<Band>,
    pub calibration: Vec<Calibration>,
}

/// The measures of one period.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Figures {
    /// Share of page-time up to date, weighted by importance, and not.
    pub freshness: f64,
    pub freshness_unweighted: f64,
    /// Mean time since the first unseen change, and the age that one in twenty exceeds (after the warm-up only).
    pub age_days: f64,
    pub age_days_p95: f64,
    /// Mean harmonic number of unseen changes (Kolobov's cost); lower is better.
    pub harmonic: f64,
    /// Mean degree of change missed, 0 to 1.
    pub divergence: f64,
    pub change_ratio: f64,
    pub visits: u64,
    pub changed: u64,
    pub wasted: u64,
    pub failed: u64,
    pub bytes: u64,
    /// The most visits that one site got in one slot.
    pub site_peak: u64,
}

/// Time up to date and time online of one site's pages after the warm-up, in weighted page-days.
#[derive(Copy, Clone, Debug, Default, PartialEq, Serialize)]
pub struct SiteFigures {
    pub fresh: f64,
    pub online: f64,
    pub visits: u64,
}

/// The pages of one band of change rates, after the warm-up.
#[derive(Copy, Clone, Debug, Default, PartialEq, Serialize)]
pub struct Band {
    pub changes_per_day_from: f64,
    pub pages: u64,
    pub changes_per_day: f64,
    pub visits_per_day: f64,
    pub freshness: f64,
}

/// What a policy believed, and what was so.
#[derive(Copy, Clone, Debug, Default, PartialEq, Serialize)]
pub struct Calibration {
    pub day: f64,
    pub believed: f64,
    pub real: f64,
}
