//! The thesis's experiment: how near the estimates of greedy sampling and of the hybrid come to the real change rates.

use vernal_model::Chance;
use vernal_policy::schedule::{allocation, allocation_as_printed};

use super::nine_sites::{DAYS, NineSites, SITES, sample};
use crate::lab::findings::{Axis, Chart, Plot, Series};
use crate::lab::papers::Vector;
use crate::lab::papers::exhibit::{Claim, Exhibit, Page, Verdict, exactly};
use crate::lab::papers::trials::{CpuSeconds, Experiment, Trials};

pub const EXPERIMENT: Experiment = Experiment { paper: "000", enact: Some(enact), tell };

/// Webs of one chance number, whose mean counts.
const WEBS: u64 = 8;
/// The samples of Table 4.2.
const SAMPLES: [u64; 5] = [10, 25, 50, 75, 100];
const LABELS: [&str; 5] = ["10", "25", "50", "75", "100"];
/// Versions of a page that the hybrid looks at.
const VERSIONS: usize = 5;

/// Table 4.2: estimated change rates, greedy first, then the hybrid, with samples of 10, 25, 50, 75 and 100 pages.
const ESTIMATED: [[f64; 10]; 9] = [
    [0.00, 0.57, 0.00, 1.57, 5.19, 0.00, 0.00, 1.20, 5.75, 4.40],
    [7.52, 35.19, 29.24, 16.10, 23.19, 2.50, 36.50, 25.70, 25.25, 23.85],
    [0.00, 0.00, 2.38, 0.00, 0.00, 0.00, 0.00, 0.60, 2.65, 2.50],
    [11.67, 76.43, 74.76, 75.52, 76.24, 4.40, 78.20, 74.60, 75.25, 75.25],
    [6.33, 0.00, 0.00, 0.00, 0.00, 0.00, 0.00, 0.00, 0.00, 0.00],
    [6.33, 0.00, 0.00, 0.00, 0.00, 0.00, 0.00, 0.00, 0.00, 0.00],
    [1.19, 1.19, 0.57, 1.57, 1.52, 0.00, 6.25, 3.50, 0.85, 2.70],
    [2.38, 37.90, 39.29, 40.19, 45.52, 2.50, 38.70, 42.55, 42.65, 43.35],
    [0.00, 0.00, 0.00, 0.00, 0.00, 0.00, 0.00, 0.00, 0.00, 0.00],
];

const AVERAGE: [f64; 10] = [83.52, 97.11, 97.84, 97.38, 98.39, 83.44, 96.70, 98.42, 98.68, 98.72];
const TABLE_4_1: [f64; 9] = [3.27, 25.77, 2.22, 81.95, 0.0, 0.0, 1.54, 43.59, 9.09];

/// Where the rows of one chance number lie: accuracies of greedy, the hybrid as printed and repaired, then the spreads.
const HYBRID: usize = SAMPLES.len();
const REPAIRED: usize = 2 * SAMPLES.len();
const SPREADS: usize = 3 * SAMPLES.len();

fn rates() -> [f64; 9] {
    SITES.map(|(_, percent, _)| percent)
}

fn at(place: &'static str) -> Page {
    Page { paper: "000", place }
}

fn enact(chance: &Chance, _: CpuSeconds<'_>) -> Vec<f64> {
    let mut row = vec![0.0; SPREADS + 9];
    for web in 0..WEBS {
        let mut chance = chance.stream("figure 4.2").numbered(web);
        let web = NineSites::draw(&mut chance);
        for (place, &pages) in SAMPLES.iter().enumerate() {
            let ways: [(NextSample<'_>, bool); 3] = [
                (&|rates| allocation_as_printed(rates, pages), false),
                (&|rates| allocation_as_printed(rates, pages), true),
                (&|rates| allocation(rates, pages, &[]), true),
            ];
            for (policy, (next, history)) in ways.into_iter().enumerate() {
                let estimates = estimated(&web, pages, next, history, &mut chance);
                let off = |site: usize| (SITES[site].1 - 100.0 * estimates[site]).abs();
                row[policy * SAMPLES.len() + place] +=
                    (0..9).map(|site| 100.0 - off(site)).sum::<f64>() / 9.0 / WEBS as f64;
            }
        }
        for site in 0..9 {
            row[SPREADS + site] += spread(&web, site) / WEBS as f64;
        }
    }
    row
}

/// How far a site's daily change rate goes from its mean, in points.
fn spread(web: &NineSites, site: usize) -> f64 {
    let days: Vec<f64> = (0..DAYS).map(|day| 100.0 * web.rate(site, day)).collect();
    let mean = days.iter().sum::<f64>() / DAYS as f64;
    (days.iter().map(|rate| (rate - mean).powi(2)).sum::<f64>() / DAYS as f64).sqrt()
}

/// The sizes of the next samples, from the rates that were seen.
type NextSample<'a> = &'a dyn Fn(&[f64]) -> Vec<u64>;

/// The mean of a policy's daily estimates. With `history` a page's rate is that of its last versions (D over V), else it
/// is whether the page changed that day.
fn estimated(web: &NineSites, pages: u64, next: NextSample<'_>, history: bool, chance: &mut Chance) -> Vec<f64> {
    let mut sizes = vec![(pages / 9).max(1); 9];
    let mut sums = vec![0.0; 9];
    for day in 0..DAYS {
        let mut rates = vec![0.0; 9];
        for site in 0..9 {
            let chosen = sample(SITES[site].2, sizes[site] as usize, chance);
            let rate = |&page: &usize| {
                let days = &web.changed[site][page];
                let from = if history { (day + 1).saturating_sub(VERSIONS) } else { day };
                let seen = &days[from..=day];
                seen.iter().filter(|&&changed| changed).count() as f64 / seen.len() as f64
            };
            rates[site] = chosen.iter().map(rate).sum::<f64>() / chosen.len().max(1) as f64;
            sums[site] += rates[site] / DAYS as f64;
        }
        sizes = next(&rates);
    }
    sums
}

fn tell(trials: &Trials) -> Vec<Exhibit> {
    let site_names = SITES.map(|(name, ..)| name);
    let pages: f64 = SITES.iter().map(|site| site.2 as f64).sum();
    let slip = "9.09 per cent is a slip for 0.09 (an accuracy of 99.91 needs it); 2.22 and 1.54 are cut where Table 4.2 rounds";
    let table_4_1 = vec![
        at("Table 4.1").number("pages in all", pages, 1_140.0, 0, ""),
        at("Table 4.1").numbers("change rates, per cent", &rates(), &TABLE_4_1, 2, slip).labelled(&site_names),
    ];
    let low_variety = "our pages keep their rates, so that this variation is that of chance alone: the claim is supposed here, not tested";
    let figure_4_1 = vec![at("Figure 4.1").measured(
        "variation of change rates over three weeks",
        &site_names,
        &trials.range(SPREADS..SPREADS + 9),
        low_variety,
    )];
    vec![
        at("Table 4.1").exhibit("The nine sites", "The printed rates and page counts, added up.", table_4_1),
        at("Figure 4.1").exhibit(
            "How much the change rates of sites vary",
            "The nine sites with pages invented for their rates; standard deviation of the daily rate, in points. The thesis sees \
             little variation and builds on it (low change rate variety).",
            figure_4_1,
        ),
        at("Table 4.2").exhibit(
            "Accuracy of the estimated change rates, as printed",
            "From the estimates that the thesis prints, all ninety cells and their averages.",
            table_4_2(),
        ),
        figure_4_2(trials),
    ]
}

fn table_4_2() -> Vec<Vector> {
    let accuracy = |site: usize, column: usize| 100.0 - (rates()[site] - ESTIMATED[site][column]).abs();
    let plain = |column| (0..9).map(|site| accuracy(site, column)).sum::<f64>() / 9.0;
    let by_pages = |column| (0..9).map(|site| accuracy(site, column) * SITES[site].2 as f64).sum::<f64>() / 1_140.0;
    let averages: Vec<f64> = (0..10).map(plain).collect();
    let weighted: Vec<f64> = (0..10).map(by_pages).collect();
    let labels = ["g 10", "g 25", "g 50", "g 75", "g 100", "h 10", "h 25", "h 50", "h 75", "h 100"];
    let few = exactly(averages[5] - averages[0]);
    vec![
        at("Table 4.2")
            .numbers("average accuracy, greedy then hybrid", &averages, &AVERAGE, 2, "the plain mean over sites")
            .labelled(&labels),
        at("Table 4.2").shown("the same weighted by pages", &weighted, "not in print").labelled(&labels),
        at("Table 4.2").claim(Claim {
            quote: "better advantage of keeping this accuracy higher than the Greedy policy under fewer pages for sampling",
            what: "the printed average of the hybrid less that of greedy, at 10 pages",
            measured: few,
            verdict: Verdict::above_zero(&few),
            note: "its own table says otherwise at 10 pages (83.44 and 83.52) and at 25 (96.70 and 97.11)",
        }),
    ]
}

fn figure_4_2(trials: &Trials) -> Exhibit {
    let place = at("Figure 4.2");
    let lead: Vec<_> = (0..SAMPLES.len()).map(|sample| trials.difference(HYBRID + sample, sample)).collect();
    let mean_lead = trials.by(|row| {
        (0..SAMPLES.len()).map(|sample| row[HYBRID + sample] - row[sample]).sum::<f64>() / SAMPLES.len() as f64
    });
    let beside = |vector: Vector, printed: &[f64]| {
        // The pages of the thesis are not known, so that its averages are shown and not held against ours.
        Vector { printed: Some(crate::lab::papers::VectorValue::Numbers(printed.to_vec())), ..vector }
    };
    let accuracies = [trials.range(0..HYBRID), trials.range(HYBRID..REPAIRED), trials.range(REPAIRED..SPREADS)];
    let vectors = vec![
        beside(place.measured("average accuracy of greedy", &LABELS, &accuracies[0], ""), &AVERAGE[..5]),
        beside(place.measured("average accuracy of the hybrid, as printed", &LABELS, &accuracies[1], ""), &AVERAGE[5..]),
        beside(place.measured("average accuracy of the hybrid, repaired", &LABELS, &accuracies[2], ""), &AVERAGE[5..]),
        place.measured(
            "hybrid as printed less greedy",
            &LABELS,
            &lead,
            "points of accuracy; where the interval holds zero, the winner is a matter of the chance number",
        ),
        place.claim(Claim {
            quote: "This policy reflected near results to the Greedy policy with higher accuracy",
            what: "hybrid as printed less greedy, mean of the five samples",
            measured: mean_lead,
            verdict: Verdict::above_zero(&mean_lead),
            note: "",
        }),
        place.claim(Claim {
            quote: "better advantage of keeping this accuracy higher than the Greedy policy under fewer pages for sampling",
            what: "hybrid as printed less greedy, at 10 pages",
            measured: lead[0],
            verdict: Verdict::above_zero(&lead[0]),
            note: "at 10 pages the printed rule samples next to nothing from the second day on, whichever policy uses it",
        }),
    ];
    let method = "The experiment again on pages invented for the printed rates: samples by the printed rule of Appendix A, estimates from \
                  one comparison (greedy) or from D/V over five versions (hybrid), the mean of eight webs for each chance number. The \
                  formulas are the policy's; the cycle is the laboratory's, because the policies do not tell their estimates.";
    let numbers: Vec<f64> = SAMPLES.iter().map(|&sample| sample as f64).collect();
    let printed = |column: usize| AVERAGE[column..column + 5].iter().map(|&value| exactly(value)).collect::<Vec<_>>();
    let series = vec![
        Series::of("greedy", 0, &numbers, &accuracies[0]),
        Series::of("hybrid, as printed", 1, &numbers, &accuracies[1]),
        Series::of("hybrid, repaired", 2, &numbers, &accuracies[2]),
        Series::line("greedy in print", 9, &numbers, &printed(0)),
        Series::line("hybrid in print", 8, &numbers, &printed(5)),
    ];
    let across = Axis { label: "pages for sampling".into(), ..Axis::default() };
    let up = Axis { label: "average accuracy, per cent".into(), ..Axis::default() };
    let chart = Chart { title: "000, Figure 4.2: accuracy of the change rates".into(), across, up, series };
    let plots = vec![Plot { file: "000-figure-4.2.svg".into(), chart }];
    place.exhibit("Accuracy of greedy and of the hybrid, enacted again", method, vectors).with_plots(plots)
}
#[cfg(test)]
mod tests {
    use super::*;

    /// Table 4.2: the accuracy that is printed for each estimate.
    const ACCURACY: [[f64; 10]; 9] = [
        [96.73, 97.30, 96.73, 98.30, 98.08, 96.73, 96.73, 97.93, 97.52, 98.87],
        [81.75, 90.58, 96.53, 90.32, 97.42, 76.73, 89.27, 99.93, 99.48, 98.08],
        [97.77, 97.77, 99.85, 97.77, 97.77, 97.77, 97.77, 98.37, 99.58, 99.73],
        [29.71, 94.47, 92.81, 93.57, 94.28, 22.45, 96.25, 92.65, 93.30, 93.30],
        [93.67, 100.00, 100.00, 100.00, 100.00, 100.00, 100.00, 100.00, 100.00, 100.00],
        [93.67, 100.00, 100.00, 100.00, 100.00, 100.00, 100.00, 100.00, 100.00, 100.00],
        [99.65, 99.65, 99.03, 99.97, 99.98, 98.45, 95.30, 98.05, 99.30, 98.85],
        [58.79, 94.31, 95.69, 96.60, 98.07, 58.91, 95.11, 98.96, 99.06, 99.76],
        [99.91, 99.91, 99.91, 99.91, 99.91, 99.91, 99.91, 99.91, 99.91, 99.91],
    ];

    /// Accuracy is 100 less the points that an estimate is off, and the average counts every site alike. The text claims
    /// that the hybrid is better with few samples; its own table says otherwise at 10 and 25 pages.
    #[test]
    fn all_ninety_cells_of_table_4_2_follow_from_the_estimates() {
        let mut averages = Vec::new();
        for column in 0..10 {
            let mut sum = 0.0;
            for site in 0..9 {
                let accuracy = 100.0 - (rates()[site] - ESTIMATED[site][column]).abs();
                assert!((accuracy - ACCURACY[site][column]).abs() < 0.0151, "site {site}, column {column}: {accuracy}");
                sum += ACCURACY[site][column];
            }
            assert!((sum / 9.0 - AVERAGE[column]).abs() < 0.0051, "column {column}: {}", sum / 9.0);
            averages.push(sum / 9.0);
        }
        assert!(averages[5] < averages[0] && averages[6] < averages[1]);
    }
}
