//! Figures 5 and 6: traffic and quality while the web grows, with a fixed refresh time and with self-adjusting ones.

use vernal_model::{Budget, BudgetUnit, Chance, Span};
use vernal_policy::by_name;
use vernal_policy::estimate::RecentVisits;
use vernal_policy::schedule::adjusted;

use crate::lab::findings::{Axis, Chart, Plot, Series};
use crate::lab::generate::WorldSettings;
use crate::lab::measure::{Figures, Gauge};
use crate::lab::papers::Vector;
use crate::lab::papers::exhibit::{Claim, Exhibit, Page, Verdict};
use crate::lab::papers::trials::{CpuSeconds, Experiment, Trials};
use crate::lab::statistics::Interval;
use crate::lab::trial::{LabTrial, Options};
use crate::lab::world::World;

pub const EXPERIMENT: Experiment = Experiment { paper: "004", enact: Some(enact), tell };

const SIZES: [usize; 4] = [100, 200, 400, 800];
const LABELS: [&str; 4] = ["100", "200", "400", "800"];
const LAST: usize = SIZES.len() - 1;
/// Visits a day, whatever the size of the web, where the capacity is fixed.
const CAPACITY: f64 = 20.0;
/// Where nothing limits the visits: the fixed refresh time, which is also the first of the self-adjusting ones.
const FIXED_DAYS: f64 = 5.0;
/// As printed the formula has no ends: an hour and ninety days are ours.
const ADJUSTED_DAYS: (f64, f64) = (1.0 / 24.0, 90.0);

/// Numbers for each size: change ratio and freshness of fixed and of self-adjusting refresh at one capacity; then traffic, change
/// ratio and freshness of each where nothing limits the visits.
const NUMBERS: usize = 10;
const RATIO: [usize; 2] = [0, 2];
const FRESH: [usize; 2] = [1, 3];
const TRAFFIC: [usize; 2] = [4, 7];
const FREE_RATIO: [usize; 2] = [5, 8];
const FREE_FRESH: [usize; 2] = [6, 9];

fn enact(chance: &Chance, _: CpuSeconds<'_>) -> Vec<f64> {
    let mut chance = chance.stream("figures 5 and 6");
    let mut row = Vec::with_capacity(NUMBERS * SIZES.len());
    for pages in SIZES {
        let settings =
            WorldSettings { pages, sites: pages / 10, days: 80.0, warm_up_days: 30.0, ..WorldSettings::default() };
        let world = settings.draw("growing", chance.bits());
        for policy in ["round-robin", "refresh-time"] {
            let figures = with_capacity(&world, policy, chance.bits());
            row.extend([figures.change_ratio, figures.freshness]);
        }
        for adjusts in [false, true] {
            let figures = without_limit(&world, adjusts, &mut chance);
            let days = world.length().days_f64() - world.warm_up.days_f64();
            row.extend([figures.visits as f64 / days, figures.change_ratio, figures.freshness]);
        }
    }
    row
}

fn with_capacity(world: &World, policy: &str, chance: u64) -> Figures {
    let budget = Budget { amount: CAPACITY, unit: BudgetUnit::Visits, cycle: Span::from_days(1) };
    let options = Options { budget, chance, calibrate_every: Span::ZERO, ..Options::default() };
    let findings = by_name(policy).map(|mut policy| LabTrial::run(world, policy.as_mut(), &options));
    findings.and_then(Result::ok).map(|findings| findings.after).unwrap_or_default()
}

/// Every page is visited when its refresh time has passed, however many that are.
fn without_limit(world: &World, adjusts: bool, chance: &mut Chance) -> Figures {
    let days = |days: f64| Span::from_secs_f64(days * 86_400.0);
    let mut gauge = Gauge::new(world, Span::ZERO);
    for page in 0..world.pages.len() {
        let (mut refresh_time, mut recent) = (FIXED_DAYS, RecentVisits::default());
        let mut now = world.origin + days(FIXED_DAYS * chance.share().max(1e-6));
        while now < world.end {
            recent.push(gauge.visit(page, now).changed);
            if let Some(degree) = recent.degree_of_success().filter(|_| adjusts) {
                refresh_time = adjusted(refresh_time, degree).clamp(ADJUSTED_DAYS.0, ADJUSTED_DAYS.1);
            }
            now += days(refresh_time);
        }
    }
    gauge.finish(Vec::new()).after
}

fn at(place: &'static str) -> Page {
    Page { paper: "004", place }
}

fn tell(trials: &Trials) -> Vec<Exhibit> {
    vec![figure_5(trials), figure_6(trials)]
}

fn of_sizes(trials: &Trials, number: usize) -> Vec<Interval> {
    (0..SIZES.len()).map(|size| trials.at(size * NUMBERS + number)).collect()
}

/// How much a number falls from the smallest web to the largest.
fn falls(trials: &Trials, number: usize) -> Interval {
    trials.difference(number, LAST * NUMBERS + number)
}

fn claim(place: Page, quote: &'static str, what: &'static str, measured: Interval, note: &'static str) -> Vector {
    place.claim(Claim { quote, what, measured, verdict: Verdict::above_zero(&measured), note })
}

fn figure_5(trials: &Trials) -> Exhibit {
    let page = at("Figure 5");
    let grows = trials.difference(LAST * NUMBERS + TRAFFIC[0], TRAFFIC[0]);
    let vectors = vec![
        page.measured(
            "visits a day with a fixed refresh time of 5 days",
            &LABELS,
            &of_sizes(trials, TRAFFIC[0]),
            "by pages of the web",
        ),
        page.measured(
            "freshness of fixed refresh at 20 visits a day",
            &LABELS,
            &of_sizes(trials, FRESH[0]),
            "`round-robin`",
        ),
        page.measured(
            "change ratio of fixed refresh at 20 visits a day",
            &LABELS,
            &of_sizes(trials, RATIO[0]),
            "the share of retrieved pages that were updated",
        ),
        claim(
            page,
            "with this increase in web size the incremental crawler traffic will definitely be more",
            "visits a day for 800 pages less those for 100",
            grows,
            "",
        ),
        claim(
            page,
            "This results decrease in the quality",
            "freshness with 100 pages less that with 800, at one capacity",
            falls(trials, FRESH[0]),
            "if quality is freshness",
        ),
        claim(
            page,
            "This results decrease in the quality",
            "change ratio with 100 pages less that with 800, at one capacity",
            falls(trials, RATIO[0]),
            "if quality is the share of retrieved pages that were updated, as with Figure 6: pages wait longer, so that more of them have changed",
        ),
    ];
    let method = "Webs of 100 to 800 pages; fixed refresh is `round-robin` at twenty visits a day, or every page each five days where nothing limits \
                  the visits. Means of 50 days after 30.";
    page.exhibit("Fixed refresh while the web grows", method, vectors).with_plots(vec![plot(
        trials,
        "004, Figure 5: fixed refresh",
        "004-figure-5.svg",
        &[0],
    )])
}

fn figure_6(trials: &Trials) -> Exhibit {
    let page = at("Figure 6");
    let mut vectors = vec![
        page.measured(
            "freshness of self-adjusting refresh at 20 visits a day",
            &LABELS,
            &of_sizes(trials, FRESH[1]),
            "`refresh-time`",
        ),
        page.measured(
            "change ratio of self-adjusting refresh at 20 visits a day",
            &LABELS,
            &of_sizes(trials, RATIO[1]),
            "",
        ),
        page.measured(
            "visits a day of self-adjusting refresh times, beginning with 5 days",
            &LABELS,
            &of_sizes(trials, TRAFFIC[1]),
            "nothing limits the visits",
        ),
        page.measured("change ratio of the same", &LABELS, &of_sizes(trials, FREE_RATIO[1]), ""),
        page.measured(
            "change ratio of the fixed refresh time of 5 days",
            &LABELS,
            &of_sizes(trials, FREE_RATIO[0]),
            "",
        ),
        page.measured(
            "freshness of the same two, adjusting and fixed, 400 pages",
            &["self-adjusting", "fixed"],
            &[trials.at(2 * NUMBERS + FREE_FRESH[1]), trials.at(2 * NUMBERS + FREE_FRESH[0])],
            "",
        ),
    ];
    vectors.extend(claims_of_figure_6(trials));
    let method = "The same webs; self-adjusting refresh is the policy `refresh-time` at twenty visits a day, or `adjusted` for every page where nothing \
                  limits the visits, kept between an hour and ninety days. The degree of success is that of the latest ten visits.";
    let plots =
        vec![plot(trials, "004, Figure 6: freshness at one capacity", "004-figure-6.svg", &[0, 1]), ratio_plot(trials)];
    page.exhibit("Self-adjusting refresh while the web grows", method, vectors).with_plots(plots)
}

fn claims_of_figure_6(trials: &Trials) -> Vec<Vector> {
    let page = at("Figure 6");
    let middle = |more: usize, less: usize| trials.difference(2 * NUMBERS + more, 2 * NUMBERS + less);
    let lost = falls(trials, FRESH[1]);
    let times = trials.by(|row| row[LAST * NUMBERS + TRAFFIC[1]] / row[TRAFFIC[1]].max(1e-9));
    vec![
        page.claim(Claim {
            quote: "the proposed download mechanism is independent of the size of the Internet",
            what: "freshness with 100 pages less that with 800, at one capacity",
            measured: lost,
            verdict: Verdict::near(&lost, 0.0, 0.02),
            note: "independent would be 0",
        }),
        page.claim(Claim {
            quote: "the proposed download mechanism is independent of the size of the Internet",
            what: "visits a day for 800 pages over those for 100, where nothing limits them",
            measured: times,
            verdict: Verdict::near(&times, 1.0, 0.1),
            note: "independent would be 1; the web is eight times as large",
        }),
        claim(
            page,
            "the traffic on network is reduced",
            "visits a day of the fixed refresh time less those of self-adjusting ones, 400 pages",
            middle(TRAFFIC[0], TRAFFIC[1]),
            "both begin with 5 days; most pages change less often than that",
        ),
        claim(
            page,
            "hence only quality pages are retrieved",
            "change ratio of self-adjusting less that of fixed refresh, 400 pages, one capacity",
            middle(RATIO[1], RATIO[0]),
            "",
        ),
        claim(
            page,
            "improving the \"freshness\" of the collection significantly",
            "freshness of self-adjusting less that of fixed refresh, 400 pages, one capacity",
            middle(FRESH[1], FRESH[0]),
            "refresh times follow changes, and what changes fastest is out of date again at once: change ratio is won and freshness lost",
        ),
    ]
}

const NAMES: [&str; 2] = ["fixed", "self-adjusting"];

fn axis(label: &str) -> Axis {
    Axis { label: label.to_owned(), ..Axis::default() }
}

fn plot(trials: &Trials, title: &str, file: &str, which: &[usize]) -> Plot {
    let sizes = SIZES.map(|pages| pages as f64);
    let mut series: Vec<Series> = which
        .iter()
        .map(|&kind| {
            Series::of(&format!("{}: freshness", NAMES[kind]), 1 - kind, &sizes, &of_sizes(trials, FRESH[kind]))
        })
        .collect();
    if let [kind] = which {
        series.push(Series::of("fixed: change ratio", 2, &sizes, &of_sizes(trials, RATIO[*kind])));
    }
    let across = Axis { tenfold: true, ..axis("pages of the web") };
    Plot {
        file: file.to_owned(),
        chart: Chart { title: title.to_owned(), across, up: axis("at 20 visits a day"), series },
    }
}

fn ratio_plot(trials: &Trials) -> Plot {
    let sizes = SIZES.map(|pages| pages as f64);
    let series = [0, 1].map(|kind| Series::of(NAMES[kind], 1 - kind, &sizes, &of_sizes(trials, RATIO[kind])));
    let across = Axis { tenfold: true, ..axis("pages of the web") };
    let chart = Chart {
        title: "004, Figure 6: change ratio at one capacity".into(),
        across,
        up: axis("change ratio"),
        series: series.into(),
    };
    Plot { file: "004-figure-6-change-ratio.svg".into(), chart }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Figure 5 holds, and what Figure 6 says of any size of the web does not.
    #[test]
    fn a_larger_web_costs_traffic_and_freshness_whoever_refreshes() {
        let trials =
            Trials::of_rows((1..=3).map(|number| enact(&Chance::new(number).stream("papers"), &|| 0.0)).collect());
        assert!(trials.difference(LAST * NUMBERS + TRAFFIC[0], TRAFFIC[0]).low > 0.0);
        for kind in [0, 1] {
            assert!(falls(&trials, FRESH[kind]).mean > 0.1, "{}", NAMES[kind]);
        }
        // Refresh times win change ratio and lose freshness at one capacity.
        let middle = |more: usize, less: usize| trials.difference(2 * NUMBERS + more, 2 * NUMBERS + less).mean;
        assert!(middle(RATIO[1], RATIO[0]) > 0.0 && middle(FRESH[1], FRESH[0]) < 0.0);
    }
}
