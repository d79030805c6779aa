//! The confidence of a share that was estimated from a sample (Wilson 1927). The normal interval has no width at 0 and
//! 1, which small samples often show.

/// An interval in which the true share lies with some confidence.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Interval {
    pub low: f64,
    pub high: f64,
}

/// The Wilson interval of `hits` in `tries`, `z` standard deviations wide to either side; all of 0 to 1 without tries.
pub fn wilson(hits: u32, tries: u32, z: f64) -> Interval {
    wilson_of_mean(f64::from(hits) / f64::from(tries.max(1)), tries, z)
}

/// The same for the mean of `tries` numbers between 0 and 1. They scatter no more than as many of 0 and 1 with the same
/// mean, so that the interval is never too narrow.
pub fn wilson_of_mean(share: f64, tries: u32, z: f64) -> Interval {
    if tries == 0 {
        return Interval { low: 0.0, high: 1.0 };
    }
    let n = f64::from(tries);
    let scale = 1.0 + z * z / n;
    let centre = (share + z * z / (2.0 * n)) / scale;
    let half = z / scale * (share * (1.0 - share) / n + z * z / (4.0 * n * n)).sqrt();
    Interval { low: (centre - half).max(0.0), high: (centre + half).min(1.0) }
}

/// The z of a two-sided confidence such as 0.9 (Acklam's rational approximation, good to 1e-9).
pub fn z_of(confidence: f64) -> f64 {
    quantile(0.5 + confidence.clamp(0.0, 0.999_999) / 2.0)
}

/// The quantile of the normal distribution for `p` of at least one half.
fn quantile(p: f64) -> f64 {
    const A: [f64; 6] = [
        -3.969_683_028_665_376e1,
        2.209_460_984_245_205e2,
        -2.759_285_104_469_687e2,
        1.383_577_518_672_69e2,
        -3.066_479_806_614_716e1,
        2.506_628_277_459_239,
    ];
    const B: [f64; 5] = [
        -5.447_609_879_822_406e1,
        1.615_858_368_580_409e2,
        -1.556_989_798_598_866e2,
        6.680_131_188_771_972e1,
        -1.328_068_155_288_572e1,
    ];
    const C: [f64; 6] = [
        -7.784_894_002_430_293e-3,
        -3.223_964_580_411_365e-1,
        -2.400_758_277_161_838,
        -2.549_732_539_343_734,
        4.374_664_141_464_968,
        2.938_163_982_698_783,
    ];
    const D: [f64; 4] =
        [7.784_695_709_041_462e-3, 3.224_671_290_700_398e-1, 2.445_134_137_142_996, 3.754_408_661_907_416];
    let polynomial = |terms: &[f64], x: f64| terms.iter().fold(0.0, |sum, term| sum * x + term);
    if p > 0.975_75 {
        let q = (-2.0 * (1.0 - p).ln()).sqrt();
        return -polynomial(&C, q) / (polynomial(&D, q) * q + 1.0);
    }
    let (q, r) = (p - 0.5, (p - 0.5) * (p - 0.5));
    polynomial(&A, r) * q / (polynomial(&B, r) * r + 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_quantiles_are_those_of_the_tables() {
        for (confidence, z) in [(0.0, 0.0), (0.8, 1.281_552), (0.9, 1.644_854), (0.95, 1.959_964), (0.99, 2.575_829)] {
            assert!((z_of(confidence) - z).abs() < 1e-5, "{confidence}: {}", z_of(confidence));
        }
    }

    #[test]
    fn an_interval_has_width_at_both_ends_and_shrinks_with_the_sample() {
        let z = 1.959_964;
        // Newcombe 1998, table I: 15 of 148 and 0 of 20 and 29 of 29.
        let near = |interval: Interval, low: f64, high: f64| {
            assert!((interval.low - low).abs() < 5e-5 && (interval.high - high).abs() < 5e-5, "{interval:?}");
        };
        near(wilson(15, 148, z), 0.0624, 0.1605);
        near(wilson(0, 20, z), 0.0, 0.1611);
        near(wilson(29, 29, z), 0.8830, 1.0);
        assert_eq!(wilson(0, 0, z), Interval { low: 0.0, high: 1.0 });
    }
}
