//! Which charts there are: freshness against budget for each world; and for each world and budget how fast policies
//! learn, where their visits go, what is lost against known rates, and whether they are right about themselves.

use std::collections::BTreeMap;

use vernal_model::Budget;
use vernal_policy::measure::GAP_TO;

use super::summary::{Cell, summary};
use super::svg::{Axis, Chart, NAME_LETTERS_MAX, Series};
use crate::lab::compare::Compared;

/// Pairs of world and budget that have plots of their own; a report with more of them says so.
pub(super) const PAIRS_MAX: usize = 16;
/// Points of a curve over days.
const CURVE_POINTS_MAX: usize = 160;

/// A chart and the name of its file.
#[derive(Clone, Debug, PartialEq)]
pub struct Plot {
    pub file: String,
    pub chart: Chart,
}

pub fn plots(compared: &[Compared], is_recorded: impl Fn(&str) -> bool) -> Vec<Plot> {
    let cells = summary(compared, is_recorded);
    let policies = in_order(compared.iter().map(|one| one.row.policy.as_str()));
    let mut plots = Vec::new();
    for world in in_order(cells.iter().map(|cell| cell.world.as_str())) {
        let of_world: Vec<&Cell> = cells.iter().filter(|cell| cell.world == world).collect();
        plots.push(Plot { file: file("freshness", &[world]), chart: freshness(world, &of_world, &policies) });
    }
    let pairs = in_order(compared.iter().map(|one| (one.row.world.as_str(), one.row.budget.as_str())));
    for (world, budget) in pairs.into_iter().take(PAIRS_MAX) {
        let own = |one: &&Compared| one.row.world == world && one.row.budget == budget;
        let trials = Trials::new(compared.iter().filter(own), &policies);
        let place = format!("{world}, {budget}");
        let charts = [
            ("learning", trials.learning(&place)),
            ("allocation", trials.allocation(&place)),
            ("regret", trials.regret(&place)),
            ("calibration", trials.calibration(&place)),
        ];
        for (name, chart) in charts {
            if chart.series.iter().any(|series| !series.points.is_empty()) {
                plots.push(Plot { file: file(name, &[world, budget]), chart });
            }
        }
    }
    plots
}

fn in_order<T: PartialEq>(items: impl Iterator<Item = T>) -> Vec<T> {
    let mut seen = Vec::new();
    for item in items {
        if !seen.contains(&item) {
            seen.push(item);
        }
    }
    seen
}

fn file(kind: &str, parts: &[&str]) -> String {
    let plain = |letter: char| if letter.is_ascii_alphanumeric() || letter == '.' { letter } else { '-' };
    let parts: Vec<String> = parts.iter().map(|part| part.replace('%', "pc").chars().map(plain).collect()).collect();
    format!("{kind}-{}.svg", parts.join("-"))
}

fn freshness(world: &str, cells: &[&Cell], policies: &[&str]) -> Chart {
    let budgets = in_order(cells.iter().map(|cell| cell.budget.as_str()));
    let read: Vec<Option<Budget>> = budgets.iter().map(|budget| budget.parse().ok()).collect();
    let first = read.first().copied().flatten();
    let one_unit = read.iter().all(|budget| budget.map(|budget| budget.unit) == first.map(|first| first.unit));
    let place = |budget: &str| {
        let number = budgets.iter().position(|known| *known == budget).unwrap_or(0);
        match read[number].filter(|_| one_unit) {
            Some(budget) => budget.amount / budget.cycle.days_f64(),
            None => number as f64,
        }
    };
    let mut series: Vec<Series> = Vec::new();
    for (colour, policy) in policies.iter().enumerate() {
        let mut own: Vec<&&Cell> = cells.iter().filter(|cell| cell.policy == *policy).collect();
        own.sort_by(|one, other| place(&one.budget).total_cmp(&place(&other.budget)));
        let points = own.iter().map(|cell| (place(&cell.budget), cell.freshness.mean)).collect();
        let reach =
            own.iter().map(|cell| reach(cell.freshness.mean, cell.freshness.low, cell.freshness.high)).collect();
        series.push(Series { name: (*policy).to_owned(), colour, points, reach, ..Series::default() });
    }
    let mut bound: Vec<(f64, f64)> =
        cells.iter().filter_map(|cell| Some((place(&cell.budget), cell.bound_held?))).collect();
    bound.sort_by(|one, other| one.0.total_cmp(&other.0));
    bound.dedup();
    if !bound.is_empty() {
        series.push(Series { name: "bound".into(), colour: 9, dashed: true, points: bound, ..Series::default() });
    }
    let marks = budgets.iter().map(|budget| (place(budget), (*budget).to_owned())).collect();
    Chart {
        title: format!("Freshness against budget: {world}"),
        across: Axis { label: "budget".into(), tenfold: one_unit, marks },
        up: Axis { label: "freshness".into(), ..Axis::default() },
        series,
    }
}

/// Of a single trial nothing is known but itself.
fn reach(mean: f64, low: f64, high: f64) -> (f64, f64) {
    if low.is_finite() && high.is_finite() { (low, high) } else { (mean, mean) }
}

/// The trials of one world at one budget, by policy in their common order.
struct Trials<'a> {
    policies: Vec<(usize, &'a str, Vec<&'a Compared>)>,
}

impl<'a> Trials<'a> {
    fn new(trials: impl Iterator<Item = &'a Compared>, policies: &[&'a str]) -> Self {
        let mut by_name: BTreeMap<&str, Vec<&Compared>> = BTreeMap::new();
        trials.for_each(|one| by_name.entry(&one.row.policy).or_default().push(one));
        let policies = policies.iter().enumerate();
        Trials { policies: policies.filter_map(|(n, &name)| Some((n, name, by_name.remove(name)?))).collect() }
    }

    /// Freshness day by day, in the mean over trials.
    fn days(&self) -> Vec<Vec<f64>> {
        self.policies.iter().map(|(_, _, trials)| mean_days(trials)).collect()
    }

    fn series(&self, place: usize, points: Vec<(f64, f64)>) -> Series {
        let (colour, name, _) = &self.policies[place];
        Series { name: (*name).to_owned(), colour: *colour, points, ..Series::default() }
    }

    fn learning(&self, place: &str) -> Chart {
        let series = self.days().iter().enumerate().map(|(n, days)| self.series(n, thinned(days))).collect();
        chart(format!("Learning: {place}"), "day", "freshness of the day", series)
    }

    fn regret(&self, place: &str) -> Chart {
        let days = self.days();
        // The far end of regret is that of the gap if it took part, else the best policy.
        let known = self.policies.iter().position(|(_, name, _)| *name == GAP_TO);
        let sum = |days: &Vec<f64>| days.iter().sum::<f64>();
        let best = (0..days.len()).max_by(|&one, &other| sum(&days[one]).total_cmp(&sum(&days[other])));
        let Some(reference) = known.or(best) else { return Chart::default() };
        let lost = |own: &Vec<f64>| {
            let mut total = 0.0;
            let pairs = days[reference].iter().zip(own);
            pairs
                .map(|(known, own)| {
                    total += known - own;
                    total
                })
                .collect::<Vec<f64>>()
        };
        let series = days.iter().enumerate().filter(|(n, _)| *n != reference);
        let series = series.map(|(n, own)| self.series(n, thinned_last(&lost(own)))).collect();
        // A command line would not fit beside the axis.
        let name: String = self.policies[reference].1.chars().take(NAME_LETTERS_MAX).collect();
        let label = format!("days of freshness lost against {name}");
        chart(format!("Regret: {place}"), "day", &label, series)
    }

    fn allocation(&self, place: &str) -> Chart {
        let points = |trials: &[&Compared]| {
            let mut bands: BTreeMap<u64, (f64, f64, f64)> = BTreeMap::new();
            for band in trials.iter().flat_map(|one| &one.findings.allocation).filter(|band| band.pages > 0) {
                let sums = bands.entry(band.changes_per_day_from.to_bits()).or_default();
                let pages = band.pages as f64;
                *sums = (sums.0 + pages, sums.1 + pages * band.changes_per_day, sums.2 + pages * band.visits_per_day);
            }
            bands
                .into_values()
                .map(|(pages, changes, visits)| (changes / pages, visits / pages))
                .filter(|point| point.0 > 0.0)
                .collect()
        };
        let series =
            self.policies.iter().enumerate().map(|(n, (_, _, trials))| self.series(n, points(trials))).collect();
        let axis = |label: &str| Axis { label: label.to_owned(), tenfold: true, ..Axis::default() };
        let title = format!("Allocation against rate: {place}");
        Chart { title, across: axis("changes a day"), up: axis("visits a day"), series }
    }

    fn calibration(&self, place: &str) -> Chart {
        let points = |trials: &[&Compared]| {
            let mut points: Vec<(f64, f64)> = trials
                .iter()
                .flat_map(|one| &one.findings.calibration)
                .map(|calibration| (calibration.believed, calibration.real))
                .collect();
            points.sort_by(|one, other| one.0.total_cmp(&other.0));
            grouped(&points)
        };
        let mut series: Vec<Series> = Vec::new();
        for (n, (_, _, trials)) in self.policies.iter().enumerate() {
            let points: Vec<(f64, f64)> = points(trials);
            if !points.is_empty() {
                let reach = points.iter().map(|&(_, real)| (real, real)).collect();
                series.push(Series { reach, ..self.series(n, points) });
            }
        }
        let all = || series.iter().flat_map(|series| &series.points).flat_map(|&(one, other)| [one, other]);
        let (low, high) = (all().fold(f64::INFINITY, f64::min), all().fold(f64::NEG_INFINITY, f64::max));
        if low < high {
            let points = vec![(low, low), (high, high)];
            series.push(Series { name: "as believed".into(), colour: 9, dashed: true, points, ..Series::default() });
        }
        chart(format!("Calibration: {place}"), "freshness as believed", "freshness as it was", series)
    }
}

fn chart(title: String, across: &str, up: &str, series: Vec<Series>) -> Chart {
    let axis = |label: &str| Axis { label: label.to_owned(), ..Axis::default() };
    Chart { title, across: axis(across), up: axis(up), series }
}

fn mean_days(trials: &[&Compared]) -> Vec<f64> {
    let length = trials.iter().map(|one| one.findings.days.len()).min().unwrap_or(0);
    let mean = |day| trials.iter().map(|one| one.findings.days[day]).sum::<f64>() / trials.len() as f64;
    (0..length).map(mean).collect()
}

/// At most so many points of a curve, each the mean of some days.
fn thinned(days: &[f64]) -> Vec<(f64, f64)> {
    let step = days.len().div_ceil(CURVE_POINTS_MAX).max(1);
    let point = |(n, part): (usize, &[f64])| {
        ((n * step) as f64 + part.len() as f64 / 2.0, part.iter().sum::<f64>() / part.len() as f64)
    };
    days.chunks(step).enumerate().map(point).collect()
}

/// The same for sums, each point the last of some days.
fn thinned_last(days: &[f64]) -> Vec<(f64, f64)> {
    let step = days.len().div_ceil(CURVE_POINTS_MAX).max(1);
    let point = |(n, part): (usize, &[f64])| Some(((n * step + part.len()) as f64, *part.last()?));
    days.chunks(step).enumerate().filter_map(point).collect()
}

/// Some twelve means of equally many neighbours.
fn grouped(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let size = points.len().div_ceil(12).max(1);
    let mean = |part: &[(f64, f64)]| {
        let (x, y) = part.iter().fold((0.0, 0.0), |(x, y), point| (x + point.0, y + point.1));
        (x / part.len() as f64, y / part.len() as f64)
    };
    points.chunks(size).map(mean).collect()
}
