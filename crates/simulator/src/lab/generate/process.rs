//! How one page changes: the days after the origin at which it does, in order.

use vernal_model::Chance;

use super::settings::Process;

/// One page's own law of change.
#[derive(Copy, Clone, Debug, PartialEq)]
pub(super) enum PageProcess {
    Poisson,
    Bursty {
        changes_per_burst: f64,
        burst_days: f64,
    },
    Regular {
        jitter: f64,
    },
    /// Only within so many hours after an hour of the day, on five days of the week.
    Diurnal {
        busy_from_hour: f64,
        busy_hours: f64,
    },
}

impl PageProcess {
    /// `busy_from_hour` is the site's, so that its pages share their busy hours.
    pub fn draw(process: Process, busy_from_hour: f64, chance: &mut Chance) -> Self {
        match process {
            Process::Poisson => PageProcess::Poisson,
            Process::Bursty { changes_per_burst, burst_days } => PageProcess::Bursty { changes_per_burst, burst_days },
            Process::Periodic { regular, diurnal, jitter, busy_hours } => match chance.share() {
                share if share < regular => PageProcess::Regular { jitter },
                share if share < regular + diurnal => PageProcess::Diurnal { busy_from_hour, busy_hours },
                _ => PageProcess::Poisson,
            },
        }
    }

    /// Changes between two days, at a rate per day.
    pub fn days(self, rate: f64, from: f64, until: f64, chance: &mut Chance) -> Vec<f64> {
        if rate <= 0.0 || until <= from {
            return Vec::new();
        }
        match self {
            PageProcess::Poisson => poisson(rate, from, until, chance),
            PageProcess::Bursty { changes_per_burst, burst_days } => {
                let mut days = Vec::new();
                // A burst that began before may still go on.
                for burst in poisson(rate / changes_per_burst, from - burst_days, until, chance) {
                    for _ in 0..geometric(changes_per_burst, chance) {
                        days.push(burst + burst_days * chance.share());
                    }
                }
                days.retain(|&day| day >= from && day < until);
                days.sort_by(f64::total_cmp);
                days
            }
            PageProcess::Regular { jitter } => {
                let wait = 1.0 / rate;
                let mut days = Vec::new();
                let mut turn = from + wait * (chance.share() - 1.0);
                while turn < until {
                    days.push(turn + wait * jitter * (chance.share() - 0.5));
                    turn += wait;
                }
                days.retain(|&day| day >= from && day < until);
                days.sort_by(f64::total_cmp);
                days
            }
            PageProcess::Diurnal { busy_from_hour, busy_hours } => {
                let open = (busy_hours / 24.0) * 5.0 / 7.0;
                let busy = |day: f64| {
                    let hour = (day.rem_euclid(1.0) * 24.0 - busy_from_hour).rem_euclid(24.0);
                    // Day 0 is a Thursday: days 2 and 3 of each week are its weekend.
                    let of_week = day.floor().rem_euclid(7.0) as u64;
                    hour < busy_hours && of_week != 2 && of_week != 3
                };
                let mut days = poisson(rate / open, from, until, chance);
                days.retain(|&day| busy(day));
                days
            }
        }
    }
}

pub(super) fn poisson(rate: f64, from: f64, until: f64, chance: &mut Chance) -> Vec<f64> {
    let mut days = Vec::new();
    if rate <= 0.0 {
        return days;
    }
    let mut day = from + chance.wait(rate);
    while day < until {
        days.push(day);
        day += chance.wait(rate);
    }
    days
}

/// A number from 1 on with this mean.
fn geometric(mean: f64, chance: &mut Chance) -> u64 {
    if mean <= 1.0 {
        return 1;
    }
    1 + ((1.0 - chance.share()).ln() / (1.0 - 1.0 / mean).ln()).floor().min(1e6) as u64
}

/// A normal number (Box and Muller 1958).
pub(super) fn normal(chance: &mut Chance) -> f64 {
    let radius = (-2.0 * (1.0 - chance.share()).ln()).sqrt();
    radius * (std::f64::consts::TAU * chance.share()).cos()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_law_keeps_its_rate() {
        let laws = [
            PageProcess::Poisson,
            PageProcess::Bursty { changes_per_burst: 4.0, burst_days: 1.0 },
            PageProcess::Regular { jitter: 0.3 },
            PageProcess::Diurnal { busy_from_hour: 20.0, busy_hours: 8.0 },
        ];
        for (number, law) in laws.into_iter().enumerate() {
            let mut chance = Chance::new(number as u64);
            let days = law.days(0.5, 100.0, 20_100.0, &mut chance);
            assert!(days.is_sorted() && days.iter().all(|day| (100.0..20_100.0).contains(day)), "{law:?}");
            // Bursts of mean four and geometric law have seven times the variance of single events.
            assert!((days.len() as f64 - 10_000.0).abs() < 4.0 * (7.0 * 10_000f64).sqrt(), "{law:?} {}", days.len());
        }
    }

    #[test]
    fn normal_numbers_have_mean_nought_and_variance_one() {
        let mut chance = Chance::new(3);
        let drawn: Vec<f64> = (0..40_000).map(|_| normal(&mut chance)).collect();
        let mean = drawn.iter().sum::<f64>() / 40_000.0;
        let variance = drawn.iter().map(|x| x * x).sum::<f64>() / 40_000.0;
        assert!(mean.abs() < 0.02 && (variance - 1.0).abs() < 0.03, "{mean} {variance}");
    }
}
