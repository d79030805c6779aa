//! Round figures on an axis, and days on a line of time.

use crate::times;

/// Marks of an axis.
const TICKS: f64 = 4.0;
/// Marks on a line of time, at most.
const TIME_TICKS_MAX: f64 = 6.0;
const HOUR_S: f64 = 3_600.0;
const DAY_S: f64 = 24.0 * HOUR_S;

/// From the least to the greatest figure that is drawn.
#[derive(Clone, Copy, Debug)]
pub struct Scale {
    pub low: f64,
    pub high: f64,
}

impl Scale {
    /// Holds all values between round figures; `within` is never left.
    pub fn round(values: impl Iterator<Item = f64>, within: (f64, f64)) -> Scale {
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for value in values {
            (low, high) = (low.min(value), high.max(value));
        }
        if low > high {
            return Scale { low: within.0.max(0.0), high: within.1.min(1.0) };
        }
        let step = step((high - low).max(high.abs() * 0.02).max(1e-9));
        let low = ((low / step).floor() * step).max(within.0);
        let high = ((high / step).ceil() * step).min(within.1);
        Scale { low, high: if high > low { high } else { low + step } }
    }

    /// How far a value is from the least, as a share.
    pub fn share(&self, value: f64) -> f64 {
        ((value - self.low) / (self.high - self.low)).clamp(0.0, 1.0)
    }

    pub fn ticks(&self) -> Vec<f64> {
        let step = step(self.high - self.low);
        let first = (self.low / step - 1e-6).ceil() as i64;
        let last = (self.high / step + 1e-6).floor() as i64;
        (first..=last).map(|number| number as f64 * step).collect()
    }
}

/// A round step that gives about as many marks as are wanted.
fn step(range: f64) -> f64 {
    let rough = range / TICKS;
    let size = 10f64.powf(rough.log10().floor());
    let factor = match rough / size {
        few if few <= 1.0 => 1.0,
        few if few <= 2.0 => 2.0,
        few if few <= 5.0 => 5.0,
        _ => 10.0,
    };
    factor * size
}

/// Round moments between two, in seconds, with their words.
pub fn time_ticks(from: f64, until: f64) -> Vec<(f64, String)> {
    const STEPS: [f64; 14] = [
        60.0,
        300.0,
        900.0,
        HOUR_S,
        3.0 * HOUR_S,
        6.0 * HOUR_S,
        12.0 * HOUR_S,
        DAY_S,
        2.0 * DAY_S,
        7.0 * DAY_S,
        14.0 * DAY_S,
        30.0 * DAY_S,
        91.0 * DAY_S,
        365.0 * DAY_S,
    ];
    if until <= from {
        return Vec::new();
    }
    let step = STEPS.into_iter().find(|step| (until - from) / step <= TIME_TICKS_MAX).unwrap_or((until - from) / 4.0);
    let form = if step < DAY_S { "%H:%M" } else { "%-d %b" };
    let first = (from / step).ceil() as i64;
    let last = (until / step).floor() as i64;
    (first..=last).map(|number| number as f64 * step).map(|at| (at, times::written(at, form))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_on_an_axis_are_round_and_hold_all_values() {
        let scale = Scale::round([0.872, 0.991].into_iter(), (0.0, 1.0));
        assert!(scale.low <= 0.872 && scale.high >= 0.991 && scale.high <= 1.0, "{scale:?}");
        let ticks: Vec<String> = scale.ticks().iter().map(|tick| format!("{tick:.2}")).collect();
        assert!(ticks.len() >= 3 && ticks.iter().all(|tick| tick.ends_with('5') || tick.ends_with('0')), "{ticks:?}");
        let flat = Scale::round([5.0, 5.0].into_iter(), (0.0, f64::INFINITY));
        assert!(flat.high > flat.low && flat.share(5.0).is_finite());
        let none = Scale::round(std::iter::empty(), (0.0, f64::INFINITY));
        assert_eq!((none.low, none.high), (0.0, 1.0));
    }

    #[test]
    fn a_line_of_time_has_round_moments() {
        let days: Vec<String> = time_ticks(0.0, 5.0 * DAY_S).into_iter().map(|(_, words)| words).collect();
        assert_eq!(days, ["1 Jan", "2 Jan", "3 Jan", "4 Jan", "5 Jan", "6 Jan"]);
        let hours: Vec<String> = time_ticks(0.0, 5.0 * HOUR_S).into_iter().map(|(_, words)| words).collect();
        assert_eq!(hours[..2], ["00:00", "01:00"]);
        assert!(time_ticks(5.0, 5.0).is_empty());
    }
}
