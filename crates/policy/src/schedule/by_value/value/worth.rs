//! How the value of one page grows with the operational time since its last visit.

use crate::schedule::value::{Curve, Objective, Rate};

#[derive(Copy, Clone, Debug)]
pub enum Worth {
    Grown { rate: Rate, weight: f64, objective: Objective, harmonic_share: f64 },
    PerDay(f64),
}

impl Worth {
    pub fn curve(&self, o: f64) -> Curve {
        match *self {
            Worth::PerDay(visits) => Curve { value: o * visits, growth: visits, bend: 0.0 },
            Worth::Grown { rate, weight, objective, harmonic_share } => {
                objective.curve(rate, o, harmonic_share).times(weight)
            }
        }
    }

    /// When it reaches a value that lies `away` above that of `now`, in logarithm, where a single step tells it.
    pub fn near(&self, now: Curve, o: f64, away: f64) -> Option<f64> {
        match self {
            Worth::PerDay(_) => None,
            Worth::Grown { .. } => now.near(o, away),
        }
    }

    /// When it reaches a value, or a little before; not before `o`, whose curve this is.
    pub fn time_of(&self, value: f64, o: f64, now: Curve) -> f64 {
        match *self {
            _ if now.value >= value => o,
            Worth::PerDay(visits) if visits > 0.0 => value / visits,
            Worth::Grown { rate, weight, objective, harmonic_share } if weight > 0.0 => {
                objective.time_after(rate, value / weight, o, now.times(1.0 / weight), harmonic_share)
            }
            _ => f64::INFINITY,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::Gamma;
    use proptest::prelude::*;

    fn worths() -> impl Strategy<Value = Worth> {
        let objective = prop::sample::select(Objective::ALL.to_vec());
        let grown = (0.05f64..8.0, 0.01f64..100.0, 0.1f64..10.0, objective, prop::bool::ANY);
        let grown = grown.prop_map(|(a, b, weight, objective, is_known)| {
            let belief = Gamma { a, b };
            let rate = if is_known { Rate::Known(belief.mean()) } else { Rate::Believed(belief) };
            Worth::Grown { rate, weight, objective, harmonic_share: 0.05 }
        });
        prop_oneof![4 => grown, 1 => (0.001f64..10.0).prop_map(Worth::PerDay)]
    }

    proptest! {
        #[test]
        fn a_value_is_reached_at_its_time_and_hardly_before(worth in worths(), from in 0.0f64..30.0, later in 0.01f64..60.0) {
            let value = worth.curve(from + later).value;
            let now = worth.curve(from);
            prop_assume!(value > now.value * 1.001);
            // What grows towards a limit has no time for a value that differs from the limit by rounding alone.
            prop_assume!(value < worth.curve(1e6).value * (1.0 - 1e-9));
            let reached = worth.time_of(value, from, now);
            prop_assert!(reached >= from && reached <= from + later * (1.0 + 1e-6) + 1e-9, "{reached}");
            prop_assert!(worth.curve(reached).value >= value * 0.99, "{} of {value}", worth.curve(reached).value);
        }
    }

    #[test]
    fn what_weighs_nothing_never_reaches_a_price() {
        let worth =
            Worth::Grown { rate: Rate::Known(1.0), weight: 0.0, objective: Objective::Freshness, harmonic_share: 0.0 };
        assert_eq!(worth.time_of(0.1, 1.0, worth.curve(1.0)), f64::INFINITY);
    }
}
