//! The parameters of a sampling policy.

use vernal_model::Span;

use crate::estimate::RecentVisits;
use crate::parameters::PolicySpec;

#[derive(Copy, Clone, Debug, PartialEq)]
pub struct SamplingTerms {
    /// α and κ of the adaptive policies.
    pub confidence: f64,
    pub step: u64,
    /// V: the newest visits of a page that its D/V counts.
    pub visits_back: u8,
    /// The visits of a page whose outcome is kept.
    pub kept: u8,
    /// P: the share of all pages that is sampled in a cycle.
    pub share: f64,
    /// k: pages to sample of each stratum; by √(N·r) without it.
    pub size: Option<f64>,
    /// The length of a cycle; it follows from the budget without it.
    pub cycle: Option<Span>,
}

impl SamplingTerms {
    pub fn of(spec: &PolicySpec) -> Self {
        let default = Self::default();
        let value = |name: &str, otherwise: f64| spec.value(name).unwrap_or(otherwise);
        let visits_back = value("v", f64::from(default.visits_back)) as u8;
        // One more than V: so many are known before the visit of this cycle as well.
        let kept = spec.value("dates").map_or(default.kept, |dates| dates as u8).max(visits_back.saturating_add(1));
        SamplingTerms {
            confidence: value("alpha", default.confidence),
            step: value("kappa", default.step as f64) as u64,
            visits_back,
            kept: kept.min(RecentVisits::MAX),
            share: value("p", default.share),
            size: spec.value("k"),
            cycle: spec.value("cycle").map(Span::from_secs_f64),
        }
    }
}

/// Those of the catalogue.
impl Default for SamplingTerms {
    fn default() -> Self {
        SamplingTerms {
            confidence: 0.8,
            step: 3,
            visits_back: 5,
            kept: RecentVisits::KEPT,
            share: 1.0,
            size: None,
            cycle: None,
        }
    }
}
