//! Freshness as samples drawn by pure chance found it, and how right the belief about those pages was.
//!
//! The belief is a model's, and the visits that teach it are chosen by it. The samples are neither. The belief about the
//! whole copy, moved by the mean of what the samples found less what was believed of them, is right on average whatever
//! the model is (the difference estimator of survey sampling), and varies less than the samples alone.

use vernal_model::PageKey;

/// With fewer samples nothing is said of how right a belief is.
pub const SAMPLES_MIN: u32 = 30;

/// Beliefs are compared with what was found in these bins: each begins here and ends where the next one begins.
const BINS: [f64; 5] = [0.0, 0.5, 0.8, 0.9, 0.97];

/// One sample.
#[derive(Copy, Clone, Debug, PartialEq)]
pub(crate) struct Sample {
    pub fresh: bool,
    pub importance: f32,
    pub page: PageKey,
    /// The probability that it was fresh, before the visit; `None` where the policy has no model.
    pub believed: Option<f64>,
    pub in_trap: bool,
}

/// What the last samples show.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Measured {
    pub fresh: u32,
    pub samples: u32,
    /// The share that was fresh, each page weighted by its importance.
    pub weighted: f64,
    /// The same counts without pages of recognised traps.
    pub fresh_outside_traps: u32,
    pub samples_outside_traps: u32,
    /// How right the belief was; `None` without a model, and with fewer than `SAMPLES_MIN` samples.
    pub calibration: Option<Calibration>,
    /// The same without pages of recognised traps.
    pub calibration_outside_traps: Option<Calibration>,
}

/// What was believed of the samples, held against what they were.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Calibration {
    /// The mean of found less believed, and its standard error.
    pub bias: f64,
    pub error: f64,
    /// Only bins with samples.
    pub bins: Vec<CalibrationBin>,
}

/// Samples of which about the same was believed.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct CalibrationBin {
    pub from: f64,
    pub to: f64,
    pub samples: u32,
    /// The mean probability that was believed, and the share that was fresh.
    pub believed: f64,
    pub found: f64,
}

impl Measured {
    pub(crate) fn of<'a>(samples: impl Iterator<Item = &'a Sample> + Clone) -> Option<Self> {
        let count = |fits: fn(&Sample) -> bool| samples.clone().filter(|sample| fits(sample)).count() as u32;
        let weight = |fits: fn(&Sample) -> bool| -> f64 {
            samples.clone().filter(|sample| fits(sample)).map(|sample| f64::from(sample.importance)).sum()
        };
        let measured = Measured {
            fresh: count(|sample| sample.fresh),
            samples: count(|_| true),
            weighted: weight(|sample| sample.fresh) / weight(|_| true).max(f64::MIN_POSITIVE),
            fresh_outside_traps: count(|sample| sample.fresh && !sample.in_trap),
            samples_outside_traps: count(|sample| !sample.in_trap),
            calibration: Calibration::of(samples.clone()),
            calibration_outside_traps: Calibration::of(samples.clone().filter(|sample| !sample.in_trap)),
        };
        (measured.samples > 0).then_some(measured)
    }

    /// The share that was fresh.
    pub fn share(&self) -> f64 {
        f64::from(self.fresh) / f64::from(self.samples.max(1))
    }

    pub fn share_outside_traps(&self) -> Option<f64> {
        let samples = self.samples_outside_traps;
        (samples > 0).then(|| f64::from(self.fresh_outside_traps) / f64::from(samples))
    }
}

impl Calibration {
    fn of<'a>(samples: impl Iterator<Item = &'a Sample>) -> Option<Self> {
        let told: Vec<(f64, bool)> =
            samples.filter_map(|sample| sample.believed.map(|believed| (believed, sample.fresh))).collect();
        if told.len() < SAMPLES_MIN as usize {
            return None;
        }
        let count = told.len() as f64;
        let differences = || told.iter().map(|&(believed, fresh)| f64::from(u8::from(fresh)) - believed);
        let bias = differences().sum::<f64>() / count;
        let variance = differences().map(|one| (one - bias).powi(2)).sum::<f64>() / (count - 1.0);
        Some(Calibration { bias, error: (variance / count).sqrt(), bins: bins(&told) })
    }

    /// A belief about the whole copy, moved by what the samples showed.
    pub fn calibrated(&self, believed: f64) -> f64 {
        (believed + self.bias).clamp(0.0, 1.0)
    }
}

fn bins(told: &[(f64, bool)]) -> Vec<CalibrationBin> {
    let ends = BINS.iter().copied().skip(1).chain([f64::INFINITY]);
    let bins = BINS.into_iter().zip(ends).map(|(from, to)| {
        let within: Vec<&(f64, bool)> =
            told.iter().filter(|(believed, _)| (from..to).contains(&believed.max(0.0))).collect();
        let count = within.len().max(1) as f64;
        CalibrationBin {
            from,
            to: to.min(1.0),
            samples: within.len() as u32,
            believed: within.iter().map(|(believed, _)| believed).sum::<f64>() / count,
            found: within.iter().filter(|(_, fresh)| *fresh).count() as f64 / count,
        }
    });
    bins.filter(|bin| bin.samples > 0).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(believed: f64, fresh: bool) -> Sample {
        Sample { fresh, importance: 1.0, page: PageKey::default(), believed: Some(believed), in_trap: false }
    }

    #[test]
    fn a_belief_that_is_too_low_is_moved_up_to_what_the_samples_found() {
        // Nine in ten are fresh, and seven in ten were believed to be.
        let samples: Vec<Sample> = (0..200).map(|number| sample(0.7, number % 10 != 0)).collect();
        let measured = Measured::of(samples.iter()).unwrap();
        let calibration = measured.calibration.unwrap();
        assert!((calibration.bias - 0.2).abs() < 1e-9 && (calibration.error - 0.0213).abs() < 1e-3, "{calibration:?}");
        assert!((calibration.calibrated(0.72) - 0.92).abs() < 1e-9);
        assert_eq!(calibration.calibrated(0.95), 1.0, "no share is more than all");
        let [bin] = calibration.bins.as_slice() else { panic!("{calibration:?}") };
        assert_eq!((bin.from, bin.to, bin.samples, bin.found), (0.5, 0.8, 200, 0.9));
    }

    #[test]
    fn too_few_samples_say_nothing_of_the_belief() {
        let samples = vec![sample(0.5, true); SAMPLES_MIN as usize - 1];
        let measured = Measured::of(samples.iter()).unwrap();
        assert_eq!((measured.share(), measured.calibration), (1.0, None));
        assert_eq!(Measured::of([].iter()), None);
        let without_model = vec![Sample { believed: None, ..sample(0.5, true) }; 100];
        assert_eq!(Measured::of(without_model.iter()).unwrap().calibration, None);
    }

    #[test]
    fn pages_of_traps_count_in_one_of_the_two_figures() {
        let in_trap = Sample { in_trap: true, ..sample(0.9, true) };
        let samples = [vec![in_trap; 30], vec![sample(0.9, true); 10], vec![sample(0.9, false); 10]].concat();
        let measured = Measured::of(samples.iter()).unwrap();
        assert_eq!((measured.share(), measured.share_outside_traps()), (0.8, Some(0.5)));
        assert!(measured.calibration.is_some() && measured.calibration_outside_traps.is_none(), "20 are too few");
        let only_traps = Measured::of([in_trap].iter()).unwrap();
        assert_eq!(only_traps.share_outside_traps(), None);
    }

    #[test]
    fn every_belief_lies_in_one_bin() {
        let samples: Vec<Sample> = (0..=100).map(|percent| sample(f64::from(percent) / 100.0, true)).collect();
        let bins = Measured::of(samples.iter()).unwrap().calibration.unwrap().bins;
        assert_eq!(bins.iter().map(|bin| bin.samples).sum::<u32>(), 101);
        assert_eq!(bins.len(), BINS.len());
    }
}
