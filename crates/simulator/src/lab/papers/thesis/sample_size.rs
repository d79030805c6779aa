//! Figure 2.2: change ratio against the size of the sample, for a fifth of the pages visited.

use vernal_model::Chance;
use vernal_policy::schedule::proportional_quotas;

use super::nine_sites::{DAYS, NineSites, SITES, sample};
use crate::lab::findings::{Axis, Chart, Plot, Series};
use crate::lab::papers::exhibit::{Claim, Exhibit, Page, Verdict};
use crate::lab::papers::one_cycle::CycleWeb;
use crate::lab::papers::trials::{CpuSeconds, Experiment, Trials};

pub const EXPERIMENT: Experiment = Experiment { paper: "000", enact: Some(enact), tell };

/// Pages sampled of each site. 25 of nine sites are as many as the budget pays for: no sample can be larger.
const SIZES: [usize; 8] = [1, 2, 4, 8, 12, 16, 20, 25];
const LABELS: [&str; 8] = ["1", "2", "4", "8", "12", "16", "20", "25"];
/// A fifth of 1,140 pages.
const VISITS: usize = 228;
/// Where the rows of one chance number lie: greedy by size, proportional by size, then these.
const PROPORTIONAL: usize = SIZES.len();
const ROUND_ROBIN: usize = 2 * SIZES.len();
const POLICIES: usize = ROUND_ROBIN + 1;

fn enact(chance: &Chance, _: CpuSeconds<'_>) -> Vec<f64> {
    let mut chance = chance.stream("figure 2.2");
    let web = NineSites::draw(&mut chance);
    let sites: Vec<u32> = (0..9).flat_map(|site| vec![site; SITES[site as usize].2]).collect();
    let mut row = vec![0.0; POLICIES + 2];
    for day in 0..DAYS {
        let share = 1.0 / DAYS as f64;
        let changed = |site: usize, page: usize| web.changed[site][page][day];
        let all: Vec<bool> = (0..9)
            .flat_map(|site| (0..SITES[site].2).map(move |page| (site, page)))
            .map(|(site, page)| changed(site, page))
            .collect();
        row[ROUND_ROBIN] += share * all.iter().filter(|&&changed| changed).count() as f64 / all.len() as f64;
        let orders: Vec<Vec<usize>> = SITES.iter().map(|site| sample(site.2, site.2, &mut chance)).collect();
        for (place, &size) in SIZES.iter().enumerate() {
            row[place] += share * one_cycle(&orders, size, true, &changed);
            row[PROPORTIONAL + place] += share * one_cycle(&orders, size, false, &changed);
        }
        let cycle = CycleWeb { sites: &sites, changed: &all, visits: VISITS, ..CycleWeb::default() };
        let number = chance.bits();
        for (place, policy) in ["greedy", "proportional"].into_iter().enumerate() {
            row[POLICIES + place] += share * cycle.change_ratio(&cycle.visited(policy, number));
        }
    }
    row
}

/// Samples the first pages of each order, spends the rest greedily or in proportion, and gives the change ratio.
fn one_cycle(orders: &[Vec<usize>], size: usize, greedy: bool, changed: &impl Fn(usize, usize) -> bool) -> f64 {
    let (mut visits, mut found) = (0, 0);
    let mut rates = Vec::new();
    for (site, order) in orders.iter().enumerate() {
        let taken = size.min(order.len());
        let changes = order[..taken].iter().filter(|&&page| changed(site, page)).count();
        rates.push(changes as f64 / taken.max(1) as f64);
        (visits, found) = (visits + taken, found + changes);
    }
    let left = VISITS - visits;
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
            found += order[from..from + more].iter().filter(|&&page| changed(site, page)).count();
            (taken[site], visits, left) = (from + more, visits + more, left - more);
        }
    }
    found as f64 / visits.max(1) as f64
}

fn tell(trials: &Trials) -> Vec<Exhibit> {
    let page = Page { paper: "000", place: "Figure 2.2" };
    let greedy = trials.range(0..SIZES.len());
    let proportional = trials.range(PROPORTIONAL..ROUND_ROBIN);
    let lead: Vec<_> = (0..SIZES.len()).map(|size| trials.difference(size, PROPORTIONAL + size)).collect();
    let (first, last) = (0, SIZES.len() - 1);
    let best_within = |row: &[f64]| row[1..last].iter().copied().fold(f64::MIN, f64::max);
    let rises = trials.by(|row| best_within(row) - row[first].max(row[last]));
    let ends = trials.by(|row| (row[first] - row[ROUND_ROBIN]).max(row[last] - row[ROUND_ROBIN]));
    let flat = "equal samples of unequal sites favour the small busy ones, and greedy uses even a sample of one: both ends lie well \
                above round-robin";
    let vectors = vec![
        page.measured("change ratio of greedy by sample", &LABELS, &greedy, "a drawing in print"),
        page.measured("change ratio of proportional by sample", &LABELS, &proportional, "a drawing in print"),
        page.measured("change ratio of round-robin", &[], &[trials.at(ROUND_ROBIN)], ""),
        page.measured(
            "the policies themselves, with their own sample of 5 pages a site",
            &["greedy", "proportional"],
            &trials.range(POLICIES..POLICIES + 2),
            "√(1,140 / 9 · 0.2) = 5",
        ),
        page.measured(
            "greedy less proportional by sample",
            &LABELS,
            &lead,
            "where this is below zero proportional is better: a small sample misleads greedy, which then spends all on one site",
        ),
        page.claim(Claim {
            quote: "high change ratio is seen for the two sampling policies when number sampling pages is low but not near to zero",
            what: "greedy's best within less the better of its two ends",
            measured: rises,
            verdict: Verdict::above_zero(&rises),
            note: "",
        }),
        page.claim(Claim {
            quote: "same performance for Greedy, proportional and Round-robin policies when sample size is small and when it is large",
            what: "greedy less round-robin at the end where they are farther apart",
            measured: ends,
            verdict: Verdict::near(&ends, 0.0, 0.02),
            note: flat,
        }),
        page.claim(Claim {
            quote: "the greedy policy appear to be the best sampling policy",
            what: "greedy less proportional at the smallest sample",
            measured: lead[first],
            verdict: Verdict::above_zero(&lead[first]),
            note: "the row above has the other samples",
        }),
    ];
    let method = "The nine sites of the thesis with its rates, where some pages of a site change nine days of ten and the others never; \
                  a fifth of the pages is visited, and no sample is larger than that. Quotas by the formula of the policy, in a cycle of \
                  the laboratory because the policies choose their own sample; those are shown as well.";
    let exhibit = page.exhibit("Change ratio against the size of the sample", method, vectors);
    vec![exhibit.with_plots(vec![plot(&greedy, &proportional, trials)])]
}

fn plot(
    greedy: &[crate::lab::statistics::Interval],
    proportional: &[crate::lab::statistics::Interval],
    trials: &Trials,
) -> Plot {
    let sizes: Vec<f64> = SIZES.iter().map(|&size| size as f64).collect();
    let round_robin = vec![trials.at(ROUND_ROBIN); SIZES.len()];
    let own = trials.range(POLICIES..POLICIES + 2);
    let series = vec![
        Series::of("greedy", 0, &sizes, greedy),
        Series::of("proportional", 1, &sizes, proportional),
        Series::line("round-robin", 9, &sizes, &round_robin),
        Series::of("policy greedy", 2, &[5.0], &own[..1]),
        Series::of("policy proportional", 3, &[5.0], &own[1..]),
    ];
    let across = Axis { label: "pages sampled of each site".into(), ..Axis::default() };
    let up = Axis { label: "change ratio".into(), ..Axis::default() };
    let title = "000, Figure 2.2: change ratio by sample".to_owned();
    Plot { file: "000-figure-2.2.svg".into(), chart: Chart { title, across, up, series } }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A point that is entitled by a sample has this sample.
    #[test]
    fn no_point_samples_more_than_the_budget_pays_for() {
        for &size in &SIZES {
            let sampled: usize = SITES.iter().map(|site| size.min(site.2)).sum();
            assert!(sampled <= VISITS, "{size} pages of each site are {sampled}");
        }
        assert_eq!(SIZES.map(|size| size.to_string()), LABELS);
    }

    /// What the thesis leaves unsaid: a small sample misleads greedy.
    #[test]
    fn proportional_is_better_than_greedy_where_the_sample_is_small() {
        let rows = (1..=4).map(|number| enact(&Chance::new(number).stream("papers"), &|| 0.0)).collect();
        let trials = Trials::of_rows(rows);
        let exhibits = tell(&trials);
        let claim = exhibits[0].vectors.iter().find(|vector| vector.what.contains("smallest sample"));
        assert_eq!(claim.and_then(|claim| claim.verdict), Some(Verdict::Contradicted));
        assert!(trials.difference(6, PROPORTIONAL + 6).mean > 0.0, "with twenty pages of each site greedy is better");
    }
}
