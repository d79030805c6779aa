//! Logarithm and exponential for values that are looked at millions of times: a dozen digits are enough there, and they
//! are worked out in place. About twice as fast as the functions of the system, which have sixteen.

use std::f64::consts::{LN_2, LOG2_E, SQRT_2};

/// Added to a number and taken away again this leaves the nearest whole one, and shows it in the lowest bits between.
const ROUNDING: f64 = 6_755_399_441_055_744.0;
/// Beyond this nothing is worked out in place.
const EXPONENT_MAX: f64 = 700.0;
/// The natural logarithm of 2 in two parts, of which the first has zeros at its end: whole multiples of it are exact.
const LN_2_HIGH: f64 = 0.693_147_180_369_123_8;
const LN_2_LOW: f64 = 1.908_214_929_270_587_7e-10;
const FRACTION_BITS: u32 = 52;

/// e to the power of x.
pub(super) fn exp(x: f64) -> f64 {
    if x.is_nan() || x.abs() >= EXPONENT_MAX {
        return x.exp();
    }
    let rounded = x * LOG2_E + ROUNDING;
    let doublings = rounded - ROUNDING;
    let r = x - doublings * LN_2_HIGH - doublings * LN_2_LOW;
    // The first ten terms, paired so that the processor can work on several at once.
    let r2 = r * r;
    let r4 = r2 * r2;
    let low = (1.0 + r) + r2 * (1.0 / 2.0 + r / 6.0);
    let middle = (1.0 / 24.0 + r / 120.0) + r2 * (1.0 / 720.0 + r / 5_040.0);
    let high = 1.0 / 40_320.0 + r / 362_880.0;
    let power = low + r4 * (middle + r4 * high);
    let scale = (rounded.to_bits().wrapping_add(1023)) << FRACTION_BITS;
    power * f64::from_bits(scale)
}

/// The natural logarithm.
pub(super) fn ln(x: f64) -> f64 {
    if !(f64::MIN_POSITIVE..f64::INFINITY).contains(&x) {
        return x.ln();
    }
    // x = 2^e · m with m between √½ and √2.
    let from_half_root = x.to_bits().wrapping_sub((SQRT_2 / 2.0).to_bits()) as i64;
    let e = from_half_root >> FRACTION_BITS;
    let m = f64::from_bits(x.to_bits().wrapping_sub((e << FRACTION_BITS) as u64));
    let s = (m - 1.0) / (m + 1.0);
    let z = s * s;
    let z2 = z * z;
    let series = (1.0 + z / 3.0) + z2 * ((1.0 / 5.0 + z / 7.0) + z2 * ((1.0 / 9.0 + z / 11.0) + z2 * (1.0 / 13.0)));
    e as f64 * LN_2 + 2.0 * s * series
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn powers_are_those_of_the_system_to_eleven_digits(x in -690.0f64..690.0) {
            prop_assert!((exp(x) / x.exp() - 1.0).abs() < 2e-11);
        }

        #[test]
        fn logarithms_are_those_of_the_system_to_eleven_digits(power in -700.0f64..700.0, near in 0.5f64..2.0) {
            let far = power.exp();
            prop_assert!((ln(far) - far.ln()).abs() <= 2e-11 * far.ln().abs());
            prop_assert!((ln(near) - near.ln()).abs() <= 2e-11 * near.ln().abs());
        }
    }

    #[test]
    fn what_has_no_dozen_digits_is_left_to_the_system() {
        assert_eq!((exp(f64::INFINITY), exp(f64::NEG_INFINITY), exp(0.0)), (f64::INFINITY, 0.0, 1.0));
        assert_eq!((ln(0.0), ln(1.0), ln(f64::INFINITY)), (f64::NEG_INFINITY, 0.0, f64::INFINITY));
        assert!(exp(f64::NAN).is_nan() && ln(f64::NAN).is_nan() && ln(-1.0).is_nan());
    }
}
