//! What differences between policies mean: paired intervals over chance numbers, and a bootstrap over sites.

use serde::Serialize;
use vernal_model::Chance;

use super::measure::SiteFigures;

/// Draws of the bootstrap, as in the trial whose intervals are to be compared with.
pub const BOOTSTRAP_DRAWS: usize = 400;

/// A mean with its 95 % interval.
#[derive(Copy, Clone, Debug, Default, PartialEq, Serialize)]
pub struct Interval {
    pub mean: f64,
    pub low: f64,
    pub high: f64,
    pub count: u64,
}

impl Interval {
    /// How far it reaches to either side of its middle; `None` where only the mean is known.
    pub fn half(&self) -> Option<f64> {
        Some((self.high - self.low) / 2.0).filter(|half| half.is_finite())
    }
}

/// The mean of values with its t-interval; of a single value nothing is known but itself.
pub fn mean_interval(values: &[f64]) -> Interval {
    let count = values.len();
    if count == 0 {
        return Interval::default();
    }
    let mean = values.iter().sum::<f64>() / count as f64;
    if count == 1 {
        return Interval { mean, low: f64::NEG_INFINITY, high: f64::INFINITY, count: 1 };
    }
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (count - 1) as f64;
    let reach = t_quantile_975(count - 1) * (variance / count as f64).sqrt();
    Interval { mean, low: mean - reach, high: mean + reach, count: count as u64 }
}

/// The mean difference of pairs that met the same world, with its t-interval.
pub fn paired_difference(subject: &[f64], baseline: &[f64]) -> Interval {
    let differences: Vec<f64> = subject.iter().zip(baseline).map(|(subject, baseline)| subject - baseline).collect();
    mean_interval(&differences)
}

/// The quantile 0.975 of Student's t.
pub fn t_quantile_975(degrees: usize) -> f64 {
    const TABLE: [f64; 30] = [
        12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131,
        2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
    ];
    match degrees {
        0 => f64::INFINITY,
        1..=30 => TABLE[degrees - 1],
        // The first terms of the expansion about the normal quantile; right to three places from here on.
        _ => {
            let (z, n) = (1.959_964_f64, degrees as f64);
            z + (z.powi(3) + z) / (4.0 * n) + (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / (96.0 * n * n)
        }
    }
}

/// The freshness of a world from that of its sites.
pub fn freshness_of(sites: &[SiteFigures]) -> f64 {
    let (fresh, online) =
        sites.iter().fold((0.0, 0.0), |(fresh, online), site| (fresh + site.fresh, online + site.online));
    if online > 0.0 { fresh / online } else { 1.0 }
}

/// The mean of several trials on one world, site by site.
pub fn mean_of_sites(trials: &[&[SiteFigures]]) -> Vec<SiteFigures> {
    let Some(first) = trials.first() else { return Vec::new() };
    let share = 1.0 / trials.len() as f64;
    let mean = |site: usize| {
        trials.iter().fold(SiteFigures::default(), |sum, trial| SiteFigures {
            fresh: sum.fresh + trial[site].fresh * share,
            online: sum.online + trial[site].online * share,
            visits: sum.visits + trial[site].visits,
        })
    };
    (0..first.len()).map(mean).collect()
}

/// What the sites of a recording say of a statistic: its value, and the interval of 95 % when whole sites are drawn with
/// replacement. Pages of a site go together, so that sites and not pages carry the uncertainty; of a single site nothing is
/// known but itself.
pub fn site_bootstrap<const N: usize>(
    policies: [&[SiteFigures]; N],
    chance: u64,
    draws: usize,
    statistic: impl Fn([f64; N]) -> Option<f64>,
) -> Option<Interval> {
    let sites = policies.first()?.len();
    let value = statistic(policies.map(freshness_of))?;
    if policies.first()?.iter().filter(|site| site.online > 0.0).count() < 2 {
        return Some(Interval { mean: value, low: f64::NEG_INFINITY, high: f64::INFINITY, count: sites as u64 });
    }
    let mut chance = Chance::new(chance).stream("bootstrap");
    let mut drawn: Vec<f64> = Vec::with_capacity(draws);
    for _ in 0..draws {
        let mut fresh = [0.0; N];
        let mut online = [0.0; N];
        for _ in 0..sites {
            let site = chance.below(sites as u64) as usize;
            for (number, policy) in policies.iter().enumerate() {
                fresh[number] += policy[site].fresh;
                online[number] += policy[site].online;
            }
        }
        let freshness =
            std::array::from_fn(|number| if online[number] > 0.0 { fresh[number] / online[number] } else { 1.0 });
        drawn.extend(statistic(freshness));
    }
    drawn.sort_by(f64::total_cmp);
    let at = |share: f64| drawn.get(((drawn.len().max(1) - 1) as f64 * share).round() as usize).copied();
    Some(Interval { mean: value, low: at(0.025)?, high: at(0.975)?, count: sites as u64 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_of_a_textbook_sample_is_the_printed_one() {
        // Student 1908, the first ten differences of sleep: mean 1.58, 95 % interval 0.70 to 2.46.
        let sleep = [1.2, 2.4, 1.3, 1.3, 0.0, 1.0, 1.8, 0.8, 4.6, 1.4];
        let interval = mean_interval(&sleep);
        assert!((interval.mean - 1.58).abs() < 1e-9);
        assert!((interval.low - 0.70).abs() < 0.005 && (interval.high - 2.46).abs() < 0.005, "{interval:?}");
        assert!(interval.low > 0.0);
        let single = mean_interval(&[1.0]);
        assert_eq!((single.low, single.high), (f64::NEG_INFINITY, f64::INFINITY));
    }

    #[test]
    fn quantiles_beyond_the_table_go_on_where_it_ends() {
        assert!((t_quantile_975(31) - 2.040).abs() < 0.001);
        assert!((t_quantile_975(60) - 2.000).abs() < 0.001);
        assert!((t_quantile_975(1_000_000) - 1.960).abs() < 0.001);
    }

    #[test]
    fn a_single_site_has_no_interval_and_its_ends_are_null_for_machines() {
        let one = SiteFigures { fresh: 8.0, online: 10.0, visits: 1 };
        // A site that was never online after the warm-up says nothing either.
        for sites in [vec![one], vec![one, SiteFigures::default()]] {
            let interval = site_bootstrap([&sites], 1, BOOTSTRAP_DRAWS, |[freshness]| Some(freshness)).unwrap();
            assert!((interval.mean - 0.8).abs() < 1e-9 && interval.half().is_none(), "{interval:?}");
            let told = serde_json::to_value(interval).unwrap();
            assert!(told["low"].is_null() && told["high"].is_null(), "{told}");
        }
    }

    #[test]
    fn equal_sites_leave_no_doubt_and_unequal_ones_do() {
        let even = vec![SiteFigures { fresh: 8.0, online: 10.0, visits: 1 }; 9];
        let interval = site_bootstrap([&even], 1, BOOTSTRAP_DRAWS, |[freshness]| Some(freshness)).unwrap();
        assert!((interval.low - 0.8).abs() < 1e-9 && (interval.high - 0.8).abs() < 1e-9);
        let uneven: Vec<SiteFigures> =
            (0..9).map(|site| SiteFigures { fresh: f64::from(site), online: 10.0, visits: 1 }).collect();
        let interval = site_bootstrap([&uneven], 1, BOOTSTRAP_DRAWS, |[freshness]| Some(freshness)).unwrap();
        assert!(interval.low < 0.4 && interval.high > 0.4 && (interval.mean - 0.4).abs() < 1e-9, "{interval:?}");
    }
}
