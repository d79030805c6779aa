//! Re-enactments over chance numbers: each is enacted once for every number, on several threads, and told from all of them.

use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use vernal_model::Chance;

use super::exhibit::Exhibit;
use crate::lab::statistics::{Interval, mean_interval};

/// CPU seconds of the calling thread so far; this room has no clock.
pub type CpuSeconds<'a> = &'a (dyn Fn() -> f64 + Sync);

/// One re-enactment of a paper.
#[derive(Copy, Clone)]
pub(super) struct Experiment {
    pub paper: &'static str,
    /// The numbers that one chance number gives; nothing where nothing is drawn.
    pub enact: Option<fn(&Chance, CpuSeconds<'_>) -> Vec<f64>>,
    pub tell: fn(&Trials) -> Vec<Exhibit>,
}

impl Experiment {
    /// Worked examples, which need no chance.
    pub const fn worked(paper: &'static str, tell: fn(&Trials) -> Vec<Exhibit>) -> Self {
        Experiment { paper, enact: None, tell }
    }
}

/// What every chance number gave.
#[derive(Clone, Debug, Default)]
pub(super) struct Trials {
    rows: Vec<Vec<f64>>,
}

impl Trials {
    #[cfg(test)]
    pub fn of_rows(rows: Vec<Vec<f64>>) -> Self {
        Trials { rows }
    }

    /// A number that follows from those of one chance number. What cannot be computed (not a number) is left out.
    pub fn by(&self, of: impl Fn(&[f64]) -> f64) -> Interval {
        let values: Vec<f64> = self.rows.iter().map(|row| of(row)).filter(|value| value.is_finite()).collect();
        mean_interval(&values)
    }

    pub fn at(&self, place: usize) -> Interval {
        self.by(|row| row.get(place).copied().unwrap_or(f64::NAN))
    }

    pub fn range(&self, places: Range<usize>) -> Vec<Interval> {
        places.map(|place| self.at(place)).collect()
    }

    /// How much more one number is than another, pair by pair.
    pub fn difference(&self, more: usize, less: usize) -> Interval {
        self.by(|row| row[more] - row[less])
    }
}

/// What is to be re-enacted.
pub struct Reenactment<'a> {
    /// One paper, or all.
    pub paper: Option<&'a str>,
    pub chances: &'a [u64],
    /// Threads.
    pub jobs: usize,
    pub cpu_seconds: CpuSeconds<'a>,
    /// Called after each trial: how many are done, and of how many.
    pub progress: &'a (dyn Fn(usize, usize) + Sync),
}

impl Reenactment<'_> {
    pub(super) fn of(&self, experiments: &[Experiment]) -> Vec<Exhibit> {
        let wanted = |one: &&Experiment| self.paper.is_none_or(|paper| paper == one.paper);
        let experiments: Vec<&Experiment> = experiments.iter().filter(wanted).collect();
        let mut units: Vec<(usize, usize)> = Vec::new();
        // Chance number by chance number, so that long re-enactments are not all left to the end.
        for chance in 0..self.chances.len() {
            let drawn = experiments.iter().enumerate().filter(|(_, one)| one.enact.is_some());
            units.extend(drawn.map(|(number, _)| (number, chance)));
        }
        let rows = self.enacted(&experiments, &units);
        let mut trials = vec![Trials::default(); experiments.len()];
        for (&(number, _), row) in units.iter().zip(rows) {
            trials[number].rows.push(row);
        }
        together(experiments.iter().zip(&trials).flat_map(|(one, trials)| (one.tell)(trials)).collect())
    }

    fn enacted(&self, experiments: &[&Experiment], units: &[(usize, usize)]) -> Vec<Vec<f64>> {
        let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let rows: Vec<OnceLock<Vec<f64>>> = units.iter().map(|_| OnceLock::new()).collect();
        let work = || {
            while let Some((&(number, chance), place)) = {
                let place = next.fetch_add(1, Ordering::Relaxed);
                units.get(place).zip(rows.get(place))
            } {
                let chance = Chance::new(self.chances[chance]).stream("papers");
                let row = experiments[number].enact.map(|enact| enact(&chance, self.cpu_seconds));
                let _ = place.set(row.unwrap_or_default());
                (self.progress)(done.fetch_add(1, Ordering::Relaxed) + 1, units.len());
            }
        };
        std::thread::scope(|scope| {
            let others: Vec<_> = (1..self.jobs.clamp(1, units.len().max(1))).map(|_| scope.spawn(work)).collect();
            work();
            drop(others);
        });
        rows.into_iter().map(|row| row.into_inner().unwrap_or_default()).collect()
    }
}

/// What belongs to one table or figure stands together, where the first of it stands.
fn together(mut exhibits: Vec<Exhibit>) -> Vec<Exhibit> {
    let places: Vec<_> = exhibits.iter().map(|exhibit| (exhibit.paper, exhibit.place)).collect();
    exhibits.sort_by_key(|exhibit| places.iter().position(|&place| place == (exhibit.paper, exhibit.place)));
    exhibits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_computed_is_left_out_of_the_mean() {
        let trials = Trials::of_rows(vec![vec![1.0, 0.0], vec![3.0, 0.0], vec![f64::NAN, 1.0]]);
        assert_eq!((trials.at(0).mean, trials.at(0).count), (2.0, 2));
        assert_eq!(trials.difference(0, 1).mean, 2.0);
        assert_eq!(trials.at(7).count, 0);
    }
}
