//! One period of a trial: sums that become its figures.

use vernal_model::Moment;

use super::days_of;
use super::findings::Figures;

#[derive(Clone, Debug, Default)]
pub(super) struct Period {
    pub from: Moment,
    pub until: Moment,
    pub fresh: f64,
    pub fresh_weighted: f64,
    pub age: f64,
    pub harmonic: f64,
    pub divergence: f64,
    pub visits: u64,
    pub changed: u64,
    pub failed: u64,
    pub bytes: u64,
    pub site_peak: u64,
}

impl Period {
    pub fn holds(&self, moment: Moment) -> bool {
        (self.from..self.until).contains(&moment)
    }

    pub fn overlap(&self, from: Moment, until: Moment) -> f64 {
        days_of(from.max(self.from), until.min(self.until))
    }

    /// The integral of a page's age over this period, stale from one Moment to another.
    pub fn age_of(&self, stale_from: Moment, now: Moment) -> f64 {
        let begin = days_of(stale_from, self.from.min(now));
        let end = days_of(stale_from, self.until.min(now));
        (end * end - begin * begin) / 2.0
    }

    pub fn figures(&self, (online, online_weighted): (f64, f64)) -> Figures {
        let per = |sum: f64, whole: f64, nothing: f64| if whole > 0.0 { sum / whole } else { nothing };
        let compared = self.visits - self.failed;
        Figures {
            freshness: per(self.fresh_weighted, online_weighted, 1.0),
            freshness_unweighted: per(self.fresh, online, 1.0),
            age_days: per(self.age, online, 0.0),
            age_days_p95: 0.0,
            harmonic: per(self.harmonic, online, 0.0),
            divergence: per(self.divergence, online, 0.0),
            change_ratio: per(self.changed as f64, compared as f64, 0.0),
            visits: self.visits,
            changed: self.changed,
            wasted: compared - self.changed,
            failed: self.failed,
            bytes: self.bytes,
            site_peak: self.site_peak,
        }
    }
}
