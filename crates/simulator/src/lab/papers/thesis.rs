//! Paper 000: sampling policies and the frequency-greedy hybrid.

use vernal_model::Chance;
use vernal_policy::schedule::{
    allocation, allocation_as_printed, groups_needed, proportional_quotas, sample_size, storage_share,
};

use super::nine_sites::{DAYS, NineSites, SITES, sample};
use super::{Page, Vector};

/// Trials of each re-enactment, whose mean is shown.
const TRIALS: u64 = 40;
/// The samples of Table 4.2.
const SAMPLES: [u64; 5] = [10, 25, 50, 75, 100];
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

pub(super) fn vectors(chance: u64) -> Vec<Vector> {
    let mut vectors = examples();
    vectors.extend(allocations());
    vectors.extend(table_4_2());
    let chance = Chance::new(chance).stream("papers");
    vectors.extend(figure_2_2(&chance));
    vectors.push(figure_4_1(&chance));
    vectors.extend(figure_4_2(&chance));
    vectors
}

fn at(place: &'static str) -> Page {
    Page { paper: "000", place }
}

fn examples() -> Vec<Vector> {
    let quotas: Vec<f64> = proportional_quotas(&[0.7, 0.4], 80.0).into_iter().map(f64::round).collect();
    let proportional = quotas[0] * 0.7 + quotas[1] * 0.4;
    let groups = groups_needed(250_000.0 * 100.0, 1e6) as f64;
    let storage = |versions, pages| 100.0 * storage_share(versions, pages, 1_140.0);
    let storages = [10.0, 25.0, 50.0, 75.0, 100.0].map(|pages| storage(2.0, pages));
    let rounded_up = "each part is rounded up in print: 36 + 12";
    vec![
        at("2.5.4").numbers("proportional quotas of 80 downloads", &quotas, &[51.0, 29.0], 0, ""),
        at("2.5.4").number("changes that proportional finds", proportional, 48.0, 0, rounded_up),
        at("2.5.4").number("changes that greedy finds", 80.0 * 0.7, 56.0, 0, ""),
        at("2.6").number("sample of 50 pages at a fifth", sample_size(50.0, 0.2), 3.16, 2, ""),
        at("2.6").number("sample of 100 pages at a tenth", sample_size(100.0, 0.1), 3.16, 2, ""),
        at("2.8").number("groups of 250,000 sites for a million downloads", groups, 25.0, 0, ""),
        at("2.8").number("sites in a group", 250_000.0 / groups, 10_000.0, 0, ""),
        at("2.8").number("pages of each site in its turn", 1e6 * groups / 250_000.0, 100.0, 0, ""),
        at("3.3.1").number("first sample of nine sites, 100 pages", 100.0 / 9.0, 11.1, 1, ""),
        at("3.3.2").numbers("storage, per cent, 10 to 100 pages", &storages, &[1.75, 4.39, 8.77, 13.16, 17.54], 2, ""),
        at("3.3.2").number("storage of three versions, per cent", storage(3.0, 100.0), 26.32, 2, ""),
    ]
}

fn rates() -> [f64; 9] {
    SITES.map(|(_, percent, _)| percent)
}

fn allocations() -> Vec<Vector> {
    let whole = |numbers: Vec<u64>| numbers.into_iter().map(|number| number as f64).collect::<Vec<f64>>();
    let raw: Vec<f64> = proportional_quotas(&rates(), 100.0).into_iter().map(f64::floor).collect();
    let repaired = whole(allocation(&rates(), 100, &[]));
    let (printed, small) = (allocation_as_printed(&rates(), 100), allocation_as_printed(&rates(), 10));
    let page = at("Appendix A");
    let over = "by the printed rule: 124 of 100 pages, it overspends";
    let none = "by the printed rule: ⌊10/20⌋ is 0, and this, no statistics, is why accuracy falls at 10 pages";
    vec![
        page.enacted("next samples of 100 pages by rate", &raw, &[], "for the rates of Table 4.2"),
        page.enacted("with the floor for quiet sites", &whole(printed), &[], over),
        page.enacted("of 10 pages", &whole(small), &[], none),
        page.enacted("the same repaired, 100 pages in all", &repaired, &[], "the floor is taken from the busy sites"),
    ]
}

fn table_4_2() -> Vec<Vector> {
    let accuracy = |site: usize, column: usize| 100.0 - (rates()[site] - ESTIMATED[site][column]).abs();
    let plain = |column| (0..9).map(|site| accuracy(site, column)).sum::<f64>() / 9.0;
    let by_pages = |column| (0..9).map(|site| accuracy(site, column) * SITES[site].2 as f64).sum::<f64>() / 1_140.0;
    let averages: Vec<f64> = (0..10).map(plain).collect();
    let weighted: Vec<f64> = (0..10).map(by_pages).collect();
    let note =
        "the plain mean over sites; the text claims that the hybrid is better with few samples, and loses at 10 and 25";
    let mut vectors = vec![
        at("Table 4.2").numbers("average accuracy, greedy then hybrid", &averages, &AVERAGE, 2, note),
        at("Table 4.2").enacted("the same weighted by pages", &weighted, &[], "not in print"),
    ];
    let pages: f64 = SITES.iter().map(|site| site.2 as f64).sum();
    vectors.push(at("Table 4.1").number("pages in all", pages, 1_140.0, 0, ""));
    let slip = "9.09 per cent is a slip for 0.09 (an accuracy of 99.91 needs it); 2.22 and 1.54 are cut where Table 4.2 rounds";
    vectors.push(at("Table 4.1").numbers("change rates, per cent", &rates(), &TABLE_4_1, 2, slip));
    vectors
}

/// Expected change ratio against the size of the sample, for a fifth of the pages downloaded.
fn figure_2_2(chance: &Chance) -> Vec<Vector> {
    const SIZES: [usize; 7] = [1, 2, 4, 8, 16, 25, 40];
    let downloads = 228;
    let mut found = [[0.0; SIZES.len()]; 2];
    let mut round_robin = 0.0;
    for trial in 0..TRIALS {
        let mut chance = chance.stream("figure 2.2").numbered(trial);
        let web = NineSites::draw(&mut chance);
        let changed = |site: usize, page: usize| web.changed[site][page][0];
        let all: usize = (0..9).map(|site| (0..SITES[site].2).filter(|&page| changed(site, page)).count()).sum();
        round_robin += all as f64 / 1_140.0 / TRIALS as f64;
        for (place, &size) in SIZES.iter().enumerate() {
            let orders: Vec<Vec<usize>> = SITES.iter().map(|site| sample(site.2, site.2, &mut chance)).collect();
            for (policy, found) in found.iter_mut().enumerate() {
                let ratio = one_cycle(&orders, size, downloads, policy == 0, &changed);
                found[place] += ratio / TRIALS as f64;
            }
        }
    }
    let note = "a drawing in print; 1, 2, 4, 8, 16, 25 and 40 pages sampled of each site. As drawn, a sample of some pages is \
                best and both ends are worse. Here even the ends lie above round-robin: equal samples of unequal sites \
                favour the small busy ones";
    vec![
        at("Figure 2.2").enacted("change ratio of greedy by sample", &found[0], &[], note),
        at("Figure 2.2").enacted("change ratio of proportional by sample", &found[1], &[], note),
        at("Figure 2.2").enacted("change ratio of round-robin", &[round_robin], &[], note),
    ]
}

/// Samples the first pages of each order, spends the rest greedily or in proportion, and gives the change ratio.
fn one_cycle(
    orders: &[Vec<usize>],
    size: usize,
    downloads: usize,
    greedy: bool,
    changed: &impl Fn(usize, usize) -> bool,
) -> f64 {
    let size = size.min(downloads / orders.len());
    let (mut visits, mut hits) = (0, 0);
    let mut rates = Vec::new();
    for (site, order) in orders.iter().enumerate() {
        let taken = size.min(order.len());
        let found = order[..taken].iter().filter(|&&page| changed(site, page)).count();
        rates.push(found as f64 / taken.max(1) as f64);
        (visits, hits) = (visits + taken, hits + found);
    }
    let left = downloads - visits;
    let mut quotas: Vec<f64> = proportional_quotas(&rates, left as f64);
    let mut sites: Vec<usize> = (0..orders.len()).collect();
    sites.sort_by(|&one, &other| rates[other].total_cmp(&rates[one]).then(one.cmp(&other)));
    if greedy || quotas.iter().all(|&quota| quota == 0.0) {
        quotas = vec![left as f64; orders.len()];
    }
    let mut left = left;
    let mut taken: Vec<usize> = orders.iter().map(|order| size.min(order.len())).collect();
    // What a site has no pages for goes to the next.
    for round in 0..2 {
        for &site in &sites {
            let quota = if round == 0 { quotas[site].round() as usize } else { left };
            let (from, order) = (taken[site], &orders[site]);
            let more = quota.min(order.len() - from).min(left);
            hits += order[from..from + more].iter().filter(|&&page| changed(site, page)).count();
            taken[site] += more;
            visits += more;
            left -= more;
        }
    }
    hits as f64 / visits.max(1) as f64
}

/// How far each site's daily change rate goes from its mean, per cent.
fn figure_4_1(chance: &Chance) -> Vector {
    let web = NineSites::draw(&mut chance.stream("figure 4.1"));
    let spread = |site: usize| {
        let days: Vec<f64> = (0..DAYS).map(|day| 100.0 * web.rate(site, day)).collect();
        let mean = days.iter().sum::<f64>() / DAYS as f64;
        (days.iter().map(|rate| (rate - mean).powi(2)).sum::<f64>() / DAYS as f64).sqrt()
    };
    let spreads: Vec<f64> = (0..9).map(spread).collect();
    let note = "a drawing in print, which shows little variation; standard deviation of the daily rate, in points";
    at("Figure 4.1").enacted("variation of change rates over three weeks", &spreads, &[], note)
}

/// The experiment of Table 4.2 again: how near each policy's estimates come to the real rates.
fn figure_4_2(chance: &Chance) -> Vec<Vector> {
    let mut accuracy = [[0.0; SAMPLES.len()]; 3];
    for trial in 0..TRIALS {
        let mut chance = chance.stream("figure 4.2").numbered(trial);
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
                accuracy[policy][place] += (0..9).map(|site| 100.0 - off(site)).sum::<f64>() / 9.0 / TRIALS as f64;
            }
        }
    }
    let note = "samples of 10, 25, 50, 75, 100 pages on invented pages of the printed rates; 40 trials";
    let place = at("Figure 4.2");
    vec![
        place.enacted("average accuracy of greedy", &accuracy[0], &AVERAGE[..5], note),
        place.enacted("average accuracy of the hybrid, as printed", &accuracy[1], &AVERAGE[5..], note),
        place.enacted("average accuracy of the hybrid, repaired", &accuracy[2], &AVERAGE[5..], note),
    ]
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
