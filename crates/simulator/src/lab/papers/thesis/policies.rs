//! All the papers' policies on two changing webs, and the orders and points of synchronisation (1.3.2, Figure 1.5).

use vernal_model::{Budget, BudgetUnit, Chance, Span};
use vernal_policy::by_name;

use crate::lab::findings::{Axis, Chart, Plot, Series};
use crate::lab::generate::WorldSettings;
use crate::lab::generate::settings::{Process, Publications, Rates};
use crate::lab::measure::Findings;
use crate::lab::papers::exhibit::{Claim, Exhibit, Page, Verdict};
use crate::lab::papers::trials::{CpuSeconds, Experiment, Trials};
use crate::lab::statistics::Interval;
use crate::lab::trial::{LabTrial, Options};
use crate::lab::world::World;

pub const EXPERIMENT: Experiment = Experiment { paper: "000", enact: Some(enact), tell };
pub const ORDERS: Experiment = Experiment { paper: "000", enact: Some(enact_orders), tell: tell_orders };

const POLICIES: [&str; 11] = [
    "round-robin",
    "proportional",
    "greedy",
    "adaptive",
    "groups",
    "hybrid",
    "change-frequency",
    "correlated",
    "feature-groups",
    "refresh-time",
    "vernal",
];
const ROUND_ROBIN: usize = 0;
const PROPORTIONAL: usize = 1;
const GREEDY: usize = 2;
const ADAPTIVE: usize = 3;
const HYBRID: usize = 5;
const CHANGE_FREQUENCY: usize = 6;
/// Those that sample, in the list above.
const SAMPLING: [usize; 7] = [1, 2, 3, 4, 5, 7, 8];
/// Per cent of the pages a day, and what the thesis calls low resources.
const BUDGET: f64 = 5.0;
const LOW_BUDGET: f64 = 1.0;
/// The policies that are played with low resources.
const LOW: [&str; 3] = ["round-robin", "greedy", "groups"];

fn settings(publications: Option<Publications>) -> WorldSettings {
    WorldSettings { pages: 400, sites: 40, days: 120.0, warm_up_days: 40.0, publications, ..WorldSettings::default() }
}

/// Where sites publish many of their pages at once.
const PUBLISHED: Publications = Publications { per_day_median: 0.05, spread: 1.0, pages: 0.5, own: 0.2 };

fn played(world: &World, policy: &str, percent: f64, chance: &mut Chance) -> Findings {
    let budget = Budget { amount: percent, unit: BudgetUnit::PercentOfHeld, cycle: Span::from_days(1) };
    let options = Options { budget, chance: chance.bits(), calibrate_every: Span::ZERO, ..Options::default() };
    let findings = by_name(policy).map(|mut policy| LabTrial::run(world, policy.as_mut(), &options));
    findings.and_then(Result::ok).unwrap_or_default()
}

/// For both webs the change ratio of every policy, then the freshness of every policy.
fn enact(chance: &Chance, _: CpuSeconds<'_>) -> Vec<f64> {
    let mut chance = chance.stream("policies");
    let mut row = Vec::new();
    for (name, publications) in [("apart", None), ("together", Some(PUBLISHED))] {
        let world = settings(publications).draw(name, chance.bits());
        let of_all: Vec<_> = POLICIES.iter().map(|policy| played(&world, policy, BUDGET, &mut chance)).collect();
        row.extend(of_all.iter().map(|found| found.after.change_ratio));
        row.extend(of_all.iter().map(|found| found.after.freshness));
    }
    let world = settings(None).draw("low resources", chance.bits());
    let low: Vec<Findings> = LOW.iter().map(|policy| played(&world, policy, LOW_BUDGET, &mut chance)).collect();
    row.extend(low.iter().map(|found| found.never_visited as f64));
    row.extend(low.iter().map(|found| found.after.change_ratio));
    row.extend(low.iter().map(|found| found.after.age_days_p95));
    row
}

const COUNT: usize = POLICIES.len();
const LOW_FROM: usize = 4 * COUNT;

fn tell(trials: &Trials) -> Vec<Exhibit> {
    let page = Page { paper: "000", place: "5.1" };
    let ratios = |web: usize| trials.range(2 * COUNT * web..2 * COUNT * web + COUNT);
    let fresh = |web: usize| trials.range(2 * COUNT * web + COUNT..2 * COUNT * (web + 1));
    let combined = trials.difference(HYBRID, GREEDY);
    let sampled = trials.difference(GREEDY, CHANGE_FREQUENCY);
    // The freshest of those that sample, which is kind to them.
    let best = trials.by(|row| {
        SAMPLING.iter().map(|&policy| row[COUNT + policy]).fold(f64::MIN, f64::max) - row[COUNT + ROUND_ROBIN]
    });
    let related = trials.by(|row| rank_correlation(&row[..COUNT], &row[COUNT..2 * COUNT]));
    let by_path = "`correlated` has no topics here, so it samples by path";
    let vectors = vec![
        page.measured("change ratio where pages change apart", &POLICIES, &ratios(0), by_path),
        page.measured("freshness where pages change apart", &POLICIES, &fresh(0), ""),
        page.measured("change ratio where sites publish together", &POLICIES, &ratios(1), ""),
        page.measured("freshness where sites publish together", &POLICIES, &fresh(1), ""),
        page.claim(Claim {
            quote: "this combination showed better results",
            what: "change ratio of the hybrid less that of greedy, apart",
            measured: combined,
            verdict: Verdict::above_zero(&combined),
            note: "",
        }),
        page.claim(Claim {
            quote: "the sampling policies perform better than any other change detection policy",
            what: "change ratio of greedy less that of change-frequency, apart",
            measured: sampled,
            verdict: Verdict::above_zero(&sampled),
            note: "said of Cho and Ntoulas 2002 in 1.3.3",
        }),
        page.claim(Claim {
            quote: "ChangeRatio [...] is also related to the next metric [freshness]",
            what: "rank correlation of change ratio and freshness over the eleven policies, apart",
            measured: related,
            verdict: Verdict::above_zero(&related),
            note: "1 if the order of policies is the same by both, -1 if it is reversed: who chases changes loses freshness",
        }),
        page.claim(Claim {
            quote: "any new policy should be based on the greedy policy to achieve the best freshness problem solving",
            what: "freshness of the freshest policy that samples less that of round-robin, apart",
            measured: best,
            verdict: Verdict::above_zero(&best),
            note: "the freshest of seven in each web, which is kind to them",
        }),
    ];
    let method = "The policies of the product through four months of two invented webs (400 pages, 40 sites, 5 % of the pages a day, measured \
                  after 40 days): in one every page changes by itself, in the other sites publish half of their pages at once.";
    let plots = ["change apart", "are published together"].into_iter().enumerate();
    let plots = plots.map(|(web, which)| plot(web, which, &ratios(web), &fresh(web))).collect();
    let all = page.exhibit("The papers' policies on one web: change ratio and freshness", method, vectors);
    vec![adaptive(trials), low_resources(trials), all.with_plots(plots)]
}

fn adaptive(trials: &Trials) -> Exhibit {
    let page = Page { paper: "000", place: "Figure 2.3" };
    let lead = trials.difference(ADAPTIVE, GREEDY);
    let together = trials.difference(2 * COUNT + ADAPTIVE, 2 * COUNT + GREEDY);
    let claim = |what, measured| {
        page.claim(Claim {
            quote: "This way will save a lot of download resources and let using them in crawling other pages",
            what,
            measured,
            verdict: Verdict::above_zero(&measured),
            note: "what is saved in samples should be won in changes",
        })
    };
    let vectors = vec![
        claim("change ratio of adaptive less that of greedy, where pages change apart", lead),
        claim("the same where sites publish together", together),
    ];
    page.exhibit("Adaptive sampling", "The policies `adaptive` and `greedy` on the webs of 5.1, below.", vectors)
}

fn low_resources(trials: &Trials) -> Exhibit {
    let page = Page { paper: "000", place: "Figure 2.4" };
    let of = |number: usize| trials.range(LOW_FROM + number * LOW.len()..LOW_FROM + (number + 1) * LOW.len());
    let left_out = trials.difference(LOW_FROM + 1, LOW_FROM + 2);
    let late = trials.difference(LOW_FROM + 2 * LOW.len() + 2, LOW_FROM + 2 * LOW.len());
    let claim = |quote, what, measured| {
        page.claim(Claim { quote, what, measured, verdict: Verdict::above_zero(&measured), note: "" })
    };
    let vectors = vec![
        page.measured("pages that are never visited", &LOW, &of(0), ""),
        page.measured("change ratio", &LOW, &of(1), ""),
        page.measured("age that one page-day in twenty exceeds, days", &LOW, &of(2), ""),
        claim(
            "this might give better download chances for all web sites",
            "pages that greedy never visits less those that groups never visits",
            left_out,
        ),
        claim(
            "will lead to miss changes sometimes for long times",
            "that age under groups less that under round-robin, days",
            late,
        ),
    ];
    let method = "The policies of the product through four months of 400 pages on 40 sites, with visits for one per cent of the pages a day.";
    page.exhibit("Low resources: groups of sites take turns", method, vectors)
}

fn plot(web: usize, which: &str, ratios: &[Interval], fresh: &[Interval]) -> Plot {
    // There are ten colours; proportional lies beside adaptive.
    let drawn = POLICIES.iter().enumerate().filter(|(number, _)| *number != PROPORTIONAL);
    let series = drawn.enumerate().map(|(colour, (number, policy))| Series {
        name: (*policy).to_owned(),
        colour,
        points: vec![(ratios[number].mean, fresh[number].mean)],
        reach: vec![(fresh[number].low, fresh[number].high)],
        ..Series::default()
    });
    let across = Axis { label: "change ratio".into(), ..Axis::default() };
    let up = Axis { label: "freshness".into(), ..Axis::default() };
    let title = format!("Change ratio is not freshness: pages {which}");
    Plot { file: format!("000-policies-{web}.svg"), chart: Chart { title, across, up, series: series.collect() } }
}

/// Spearman's: 1 if both have the same order.
pub(in crate::lab::papers) fn rank_correlation(one: &[f64], other: &[f64]) -> f64 {
    let ranks = |values: &[f64]| -> Vec<f64> {
        let below = |value: f64| values.iter().filter(|&&other| other < value).count() as f64;
        let equal = |value: f64| values.iter().filter(|&&other| other == value).count() as f64;
        values.iter().map(|&value| below(value) + (equal(value) - 1.0) / 2.0).collect()
    };
    let (one, other) = (ranks(one), ranks(other));
    let mean = (one.len() as f64 - 1.0) / 2.0;
    let product = |one: &[f64], other: &[f64]| -> f64 {
        one.iter().zip(other).map(|(one, other)| (one - mean) * (other - mean)).sum()
    };
    product(&one, &other) / (product(&one, &one) * product(&other, &other)).sqrt()
}

const SYNCHRONISATIONS: [&str; 7] = [
    "round-robin",
    "round-robin:random",
    "round-robin:purely-random",
    "round-robin:at-once",
    "round-robin:front-loaded",
    "round-robin:even",
    "round-robin:quiet-hours",
];
const SYNCHRONISATION_NAMES: [&str; 7] =
    ["fixed order", "random order", "purely random", "at once", "most at first", "evenly", "quiet hours"];

/// Freshness and age of each order and each way to spread visits over the day, on a web that changes by day.
fn enact_orders(chance: &Chance, _: CpuSeconds<'_>) -> Vec<f64> {
    let mut chance = chance.stream("figure 1.5");
    let rates = Rates { changes_per_day_median: 0.5, spread_site: 0.3, spread_page: 0.3 };
    let process = Process::Periodic { regular: 0.0, diurnal: 1.0, jitter: 0.1, busy_hours: 8.0 };
    let world = WorldSettings {
        pages: 200,
        sites: 20,
        days: 50.0,
        warm_up_days: 10.0,
        rates,
        process,
        ..WorldSettings::default()
    };
    let world = world.draw("by day", chance.bits());
    let of_all: Vec<_> = SYNCHRONISATIONS.iter().map(|policy| played(&world, policy, 50.0, &mut chance)).collect();
    of_all.iter().map(|found| found.after.freshness).chain(of_all.iter().map(|found| found.after.age_days)).collect()
}

fn tell_orders(trials: &Trials) -> Vec<Exhibit> {
    let page = Page { paper: "000", place: "Figure 1.5" };
    let count = SYNCHRONISATIONS.len();
    let vectors = vec![
        page.measured("freshness", &SYNCHRONISATION_NAMES, &trials.range(0..count), ""),
        page.measured("age, days", &SYNCHRONISATION_NAMES, &trials.range(count..2 * count), ""),
    ];
    let method = "The three orders and the ways to spread the visits of a day that the thesis lists, as `round-robin` and its options, on \
                  200 pages that change in the busy eight hours of their sites' days; half of the pages a day. The thesis lists them \
                  without a measurement, so there is nothing to hold them against.";
    vec![page.exhibit("Orders and points of synchronisation", method, vectors)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_that_agree_correlate_fully_and_reversed_ones_do_the_opposite() {
        assert!((rank_correlation(&[1.0, 5.0, 9.0], &[0.1, 0.2, 0.3]) - 1.0).abs() < 1e-12);
        assert!((rank_correlation(&[1.0, 5.0, 9.0], &[0.3, 0.2, 0.1]) + 1.0).abs() < 1e-12);
        assert!(rank_correlation(&[1.0, 1.0, 2.0, 2.0], &[0.0, 1.0, 0.0, 1.0]).abs() < 1e-12);
    }

    /// What docs/papers.md says plainly.
    #[test]
    fn change_frequency_has_the_highest_change_ratio_and_less_freshness_than_round_robin() {
        let row = enact(&Chance::new(1).stream("papers"), &|| 0.0);
        assert!(row.iter().all(|number| number.is_finite()), "{row:?}");
        let ratio = row[CHANGE_FREQUENCY];
        let others = (0..COUNT).filter(|&policy| policy != CHANGE_FREQUENCY);
        assert!(others.into_iter().all(|policy| row[policy] < ratio), "{row:?}");
        assert_eq!(row.len(), LOW_FROM + 3 * LOW.len());
        assert!(row[COUNT + CHANGE_FREQUENCY] < row[COUNT + ROUND_ROBIN]);
    }
}
