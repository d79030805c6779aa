//! The worked example of paper 001, by the policies themselves, and its formulas.

use vernal_model::{Chance, TopicId, TopicOf};
use vernal_policy::estimate::{wilson, z_of};
use vernal_policy::schedule::sample_size;
use vernal_policy::topic::{SampleSizes, sizes};

use super::{PAGES, TOPICS, VISITS};
use crate::lab::papers::exhibit::{Claim, Exhibit, Page, Verdict};
use crate::lab::papers::one_cycle::CycleWeb;
use crate::lab::papers::trials::{CpuSeconds, Experiment, Trials};

pub const EXPERIMENT: Experiment = Experiment { paper: "001", enact: Some(enact), tell };
pub const FORMULAS: Experiment = Experiment { paper: "001", enact: Some(misled), tell: formulas };

/// Table 1: changed pages of each site in each of five topics, twenty pages each.
const CHANGES: [[usize; 5]; 2] = [[20, 20, 20, 10, 0], [20, 10, 0, 0, 0]];
/// Cycles of each chance number, whose mean counts.
const CYCLES: u64 = 10;
/// The margin in which a mean counts as the printed one.
const MARGIN: f64 = 0.03;

fn at(place: &'static str) -> Page {
    Page { paper: "001", place }
}

/// The change ratio by site and by topic, of the policies themselves.
fn enact(chance: &Chance, _: CpuSeconds<'_>) -> Vec<f64> {
    let mut chance = chance.stream("table 1");
    let (mut site_of, mut topics, mut changed) = (Vec::new(), Vec::new(), Vec::new());
    for (site, row) in CHANGES.iter().enumerate() {
        for (topic, &changes) in row.iter().enumerate() {
            for page in 0..20 {
                site_of.push(site as u32);
                topics.push(vec![TopicOf { topic: TopicId(topic as u32), reputation: 1.0 }]);
                changed.push(page < changes);
            }
        }
    }
    let web = CycleWeb { sites: &site_of, paths: &[], topics: &topics, changed: &changed, visits: 100 };
    let mut row = vec![0.0; 2];
    for _ in 0..CYCLES {
        let number = chance.bits();
        for (ratio, policy) in row.iter_mut().zip(["greedy", "correlated"]) {
            *ratio += web.change_ratio(&web.visited(policy, number)) / CYCLES as f64;
        }
    }
    row
}

fn tell(trials: &Trials) -> Vec<Exhibit> {
    let site = |site: usize| CHANGES[site].iter().sum::<usize>() as f64 / 100.0;
    let by_site = (90.0 * site(0) + 10.0 * site(1)) / 100.0;
    let topic = |topic: usize| (CHANGES[0][topic] + CHANGES[1][topic]) as f64 / 40.0;
    let sampled: f64 = (0..5).map(|number| 4.0 * topic(number)).sum();
    let by_topic = (sampled + 36.0 * topic(0) + 36.0 * topic(1) + 8.0 * topic(2)) / 100.0;
    let (real_site, real_topic) = (trials.at(0), trials.at(1));
    let lead = trials.difference(1, 0);
    let smaller = "the policy samples √(N·r) pages of its own, 7 of each site and 4 or 5 of each topic, and not every sample is as even as \
                   that of the example";
    let vectors = vec![
        at("2.3.1").number("change ratio by site", by_site, 0.66, 2, "as the paper counts"),
        at("2.3.1")
            .measured("change ratio of the policy greedy", &[], &[real_site], smaller)
            .beside(&[0.66], Verdict::near(&real_site, 0.66, MARGIN)),
        at("2.3.2").number("change ratio by topic", by_topic, 0.77, 2, "as the paper counts"),
        at("2.3.2")
            .measured("change ratio of the policy correlated", &[], &[real_topic], smaller)
            .beside(&[0.77], Verdict::near(&real_topic, 0.77, MARGIN)),
        at("2.3.2").claim(Claim {
            quote: "0.77, which is significantly higher than the method above",
            what: "change ratio by topic less that by site",
            measured: lead,
            verdict: Verdict::above_zero(&lead),
            note: "",
        }),
    ];
    let method = "The policies `greedy` and `correlated` of the product in one cycle of a hundred visits, ten cycles for each chance number; \
                  the topics are given. A printed value is reproduced where the whole interval lies within 0.03 of it.";
    vec![at("Table 1").exhibit("Two sites, five topics: sampling by site and by topic", method, vectors)]
}

/// A topic of a hundred pages, five of which change daily: how often a sample of two says 0.5 and more, and how often the
/// 95 % interval of that sample holds the truth.
fn misled(chance: &Chance, _: CpuSeconds<'_>) -> Vec<f64> {
    const DRAWS: u64 = 400;
    let mut chance = chance.stream("7.1.1");
    let (mut misled, mut held) = (0, 0);
    for _ in 0..DRAWS {
        let first = chance.below(100);
        let second = (first + 1 + chance.below(99)) % 100;
        let found = u32::from(first < 5) + u32::from(second < 5);
        let interval = wilson(found, 2, z_of(0.95));
        misled += u32::from(found > 0);
        held += u32::from(interval.low <= 0.05 && interval.high >= 0.05);
    }
    vec![f64::from(misled) / DRAWS as f64, f64::from(held) / DRAWS as f64]
}

fn formulas(trials: &Trials) -> Vec<Exhibit> {
    let size = sample_size((PAGES / TOPICS) as f64, VISITS as f64 / PAGES as f64);
    let total = TOPICS as f64 * size;
    let optimal = vec![
        at("4.1").number("√(N·r) for a topic of fifty pages", size, 3.162, 3, "").derived(),
        at("4.1").number("√(N·r) for twenty topics in all", total, 63.25, 2, "Figure 1 says 70 to 90").derived(),
    ];
    let members = |ends: [(u32, u32); 2]| ends.map(|(from, to)| (from..to).collect::<Vec<u32>>());
    let sized = |members: &[Vec<u32>], share, how| -> Vec<f64> {
        sizes(members, 100, share, how).into_iter().map(|size| size as f64).collect()
    };
    let (uneven, double) = (members([(0, 10), (10, 100)]), members([(0, 100), (0, 100)]));
    let by_size = vec![
        at("Equation 8")
            .numbers(
                "topics of 10 and 90 pages, half downloaded",
                &sized(&uneven, 0.5, SampleSizes::BySize),
                &[1., 9.],
                0,
                "",
            )
            .derived(),
        at("Equation 8")
            .numbers(
                "the same hundred pages in both topics, a quarter downloaded",
                &sized(&double, 0.25, SampleSizes::BySize),
                &[10., 10.],
                0,
                "twice as many memberships as pages",
            )
            .derived(),
        at("Equation 8")
            .numbers(
                "the same over all memberships",
                &sized(&double, 0.25, SampleSizes::ByMemberships),
                &[5., 5.],
                0,
                "the improvement of 7.1.2",
            )
            .derived(),
    ];
    let interval = wilson(1, 2, z_of(0.95));
    let wrong = trials.at(0);
    let small = vec![
        at("7.1.1").shown("95 % interval of one change in a sample of two", &[interval.low, interval.high], "nearly everything"),
        at("7.1.1").measured("share of samples of two that hit one of five daily changers among a hundred pages", &[], &[wrong], "these say 0.5 or more where 0.05 is true"),
        at("Equation 9").measured("share of samples of two whose 95 % interval holds the truth", &[], &[trials.at(1)], "the interval knows how little two pages say"),
        at("7.1.1").claim(Claim {
            quote: "A significant error might be introduced in uniform sampling if the change ratio is skewed among the pages in the same group, and the sample size is small",
            what: "share of samples of two that mislead",
            measured: wrong,
            verdict: Verdict::above_zero(&wrong),
            note: "",
        }),
    ];
    vec![
        at("4.1").exhibit("The size of a sample", "The formula of the sampling policies.", optimal),
        at("Equation 8").exhibit(
            "Samples for topics of unequal size",
            "`policy/topic/cycle.rs`; the policy `correlated` shares its sample over memberships, as the last of these.",
            by_size,
        ),
        at("7.1.1").exhibit(
            "A sample of two says little",
            "Samples of two drawn by chance, with Wilson's interval as the policy `adaptive` uses it.",
            small,
        ),
    ]
}
