//! Paper 001's experiments on a web whose topics are reckoned: what categorising costs, the policies side by side, and in
//! how many topics a page should be counted.

use vernal_model::Chance;

use super::topical_web::{GroupedBy, TopicalWeb};
use crate::lab::findings::{Axis, Chart, Plot, Series};
use crate::lab::papers::Vector;
use crate::lab::papers::exhibit::{Claim, Exhibit, Page, Verdict};
use crate::lab::papers::trials::{CpuSeconds, Experiment, Trials};

pub const EXPERIMENT: Experiment = Experiment { paper: "001", enact: Some(enact), tell };

const IN_LINKS: [usize; 5] = [10, 20, 50, 100, 300];
const IN_LINK_LABELS: [&str; 5] = ["10", "20", "50", "100", "300"];
const POLICIES: [&str; 4] = ["round-robin", "greedy", "correlated", "correlated:authority"];
const POLICY_LABELS: [&str; 4] = ["round-robin", "by site", "by topic", "by topic with authority"];
const TOPICS_OF_A_PAGE: usize = 10;
const TOPIC_LABELS: [&str; 10] = ["1", "2", "3", "4", "5", "6", "7", "8", "9", "10"];
const PRINTED_BEST: usize = 6;
/// Twenty categories of fifty pages each, a thousand pages in all (5): every page is in one.
const TABLE_3_TOPICS: usize = 1;

/// Where the rows of one chance number lie: costs, CPU times, policies on either web, then ratios by number of topics.
const CPU: usize = IN_LINKS.len();
const BY_SUBJECT: usize = 2 * IN_LINKS.len();
const BY_SITE: usize = BY_SUBJECT + POLICIES.len();
const BY_TOPICS: usize = BY_SITE + POLICIES.len();
const MIXED: usize = BY_TOPICS + TOPICS_OF_A_PAGE;

fn enact(chance: &Chance, cpu_seconds: CpuSeconds<'_>) -> Vec<f64> {
    let chance = chance.stream("topics");
    let web = TopicalWeb::draw(&mut chance.stream("web"));
    let mut row = vec![0.0; MIXED + TOPICS_OF_A_PAGE];
    for (place, most) in IN_LINKS.into_iter().enumerate() {
        let from = cpu_seconds();
        row[place] = web.categorised(most).0 as f64 / 1e3;
        row[CPU + place] = 1e3 * (cpu_seconds() - from);
    }
    let mut numbers = chance.stream("numbers");
    for (place, policy) in POLICIES.into_iter().enumerate() {
        row[BY_SUBJECT + place] = web.change_ratio(policy, GroupedBy::Subjects, TABLE_3_TOPICS, &mut numbers);
        row[BY_SITE + place] = web.change_ratio(policy, GroupedBy::Sites, TABLE_3_TOPICS, &mut numbers);
    }
    for per_page in 0..TOPICS_OF_A_PAGE {
        row[BY_TOPICS + per_page] = web.change_ratio("correlated", GroupedBy::Subjects, per_page + 1, &mut numbers);
        row[MIXED + per_page] = web.change_ratio("correlated", GroupedBy::AllTopics, per_page + 1, &mut numbers);
    }
    row
}

fn at(place: &'static str) -> Page {
    Page { paper: "001", place }
}

fn tell(trials: &Trials) -> Vec<Exhibit> {
    let web = "A thousand pages in twenty subjects that lie across twenty sites, with words and links; 18 of 100 pages have more than 50 \
               in-links, as the paper saw. Topics are twenty terms, reckoned by Algorithm 1 (`policy/topic/reputation.rs`)";
    vec![table_2(trials), table_3(trials, web), figure_2(trials)]
}

fn table_2(trials: &Trials) -> Exhibit {
    let grows = trials.by(|row| row[4] / row[0]);
    let vectors = vec![
        at("Table 2").measured(
            "cost of categorising by 10, 20, 50, 100 and 300 in-links",
            &IN_LINK_LABELS,
            &trials.range(0..CPU),
            "topics of in-links and words looked at for a thousand pages, in thousands; printed are seconds: 450, 455, 463, 472, 479",
        ),
        at("Table 2").measured("CPU time of the same, ms", &IN_LINK_LABELS, &trials.range(CPU..BY_SUBJECT), "on the machine that made this report"),
        at("Table 2").claim(Claim {
            quote: "there is little difference between the number of in-links considered",
            what: "cost with 300 in-links over cost with 10",
            measured: grows,
            verdict: if grows.high < 1.1 { Verdict::Reproduced } else if grows.low > 1.1 { Verdict::Contradicted } else { Verdict::NotReproduced },
            note: "479 / 450 = 1.06 in print, where most of the time went into asking a search engine for the links; with the links at hand the \
                   cost follows their number, and levels off where few pages have as many",
        }),
    ];
    at("Table 2").exhibit(
        "What categorising costs, by the in-links considered",
        "`known_for` of the product (`policy/topic/categorise.rs`) for each of a thousand pages, from the topics of its in-links.",
        vectors,
    )
}

fn table_3(trials: &Trials, web: &'static str) -> Exhibit {
    let (together, across) = (trials.range(BY_SUBJECT..BY_SITE), trials.range(BY_SITE..BY_TOPICS));
    let lead = |from: usize, policy: usize, than: usize| trials.difference(from + policy, from + than);
    let claim = |quote, what, measured, note| -> Vector {
        at("Table 3").claim(Claim { quote, what, measured, verdict: Verdict::above_zero(&measured), note })
    };
    let another = "0.75 without correlation is from another experiment, by an empty citation, and cannot be compared";
    let vectors = vec![
        Vector {
            printed: Some(super::super::VectorValue::Numbers(vec![0.45, 0.75, 0.6])),
            ..at("Table 3").measured("change ratio where subjects change together", &POLICY_LABELS, &together, another)
        },
        at("Table 3").measured("change ratio where sites change together", &POLICY_LABELS, &across, ""),
        claim(
            "our approach performs better than round-robin",
            "by topic less round-robin, where subjects change together",
            lead(BY_SUBJECT, 2, 0),
            "",
        ),
        claim(
            "a sampling-based policy that takes correlation into consideration performs better",
            "by topic less by site, where subjects change together",
            lead(BY_SUBJECT, 2, 1),
            "",
        ),
        claim(
            "a sampling-based policy that takes correlation into consideration performs better",
            "by topic less by site, where sites change together",
            lead(BY_SITE, 2, 1),
            "the same web with changes by site: there sampling by topic has nothing to find",
        ),
    ];
    at("Table 3").exhibit("Round-robin, sampling by site, and sampling by topic", web, vectors)
}

fn figure_2(trials: &Trials) -> Exhibit {
    let page = at("Figure 2");
    let one = trials.range(BY_TOPICS..MIXED);
    let mixed = trials.range(MIXED..MIXED + TOPICS_OF_A_PAGE);
    let best = |from: usize| {
        let others = (0..TOPICS_OF_A_PAGE).filter(|place| place + 1 != PRINTED_BEST);
        others.max_by(|&one, &other| trials.at(from + one).mean.total_cmp(&trials.at(from + other).mean)).unwrap_or(0)
    };
    let lead = |from: usize| trials.difference(from + PRINTED_BEST - 1, from + best(from));
    let above: Vec<_> = (0..TOPICS_OF_A_PAGE).map(|place| trials.difference(BY_TOPICS + place, BY_SUBJECT)).collect();
    let vectors = vec![
        page.measured(
            "change ratio with pages in 1 to 10 reckoned topics",
            &TOPIC_LABELS,
            &one,
            "a drawing in print, best at 6; the text calls it Table 2. Here a page changes as its own subject does",
        ),
        page.measured(
            "the same where a page changes as all its topics do",
            &TOPIC_LABELS,
            &mixed,
            "each by its reputation",
        ),
        page.measured(
            "the first of these less round-robin",
            &TOPIC_LABELS,
            &above,
            "with many topics a page the samples alone take all two hundred visits; they come in equal turns, so that what is left is \
             round-robin and not less",
        ),
        page.claim(Claim {
            quote: "the optimal number of categories a page should be assigned to is 6",
            what: "change ratio at 6 less the best of the other numbers, where a page changes as its subject does",
            measured: lead(BY_TOPICS),
            verdict: Verdict::above_zero(&lead(BY_TOPICS)),
            note: "where the best lies depends on what topics say of changes",
        }),
        page.claim(Claim {
            quote: "the optimal number of categories a page should be assigned to is 6",
            what: "the same where a page changes as all its topics do",
            measured: lead(MIXED),
            verdict: Verdict::above_zero(&lead(MIXED)),
            note: "",
        }),
    ];
    let numbers: Vec<f64> = (1..=TOPICS_OF_A_PAGE).map(|number| number as f64).collect();
    let series = vec![
        Series::of("as its subject", 0, &numbers, &one),
        Series::of("as all its topics", 1, &numbers, &mixed),
        Series::line("round-robin", 9, &numbers, &vec![trials.at(BY_SUBJECT); TOPICS_OF_A_PAGE]),
    ];
    let across = Axis { label: "topics that a page is counted in".into(), ..Axis::default() };
    let up = Axis { label: "change ratio".into(), ..Axis::default() };
    let chart = Chart { title: "001, Figure 2: change ratio by topics of a page".into(), across, up, series };
    let plots = vec![Plot { file: "001-figure-2.svg".into(), chart }];
    let method = "The policy `correlated` itself on the web of Table 3, told the first topics of each page. Its samples come in equal turns, \
                  so that no topic is left out where the sample is large.";
    page.exhibit("In how many topics a page should be counted", method, vectors).with_plots(plots)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trials(count: u64) -> Trials {
        Trials::of_rows((1..=count).map(|number| enact(&Chance::new(number).stream("papers"), &|| 0.0)).collect())
    }

    /// The thesis of the paper, and its limit; and no number of topics falls below round-robin, which sampling alone cannot do.
    #[test]
    fn sampling_by_topic_beats_sampling_by_site_where_topics_change_together_and_only_there() {
        let trials = trials(6);
        let lead = |from: usize, than: usize| trials.difference(from + 2, from + than);
        assert!(lead(BY_SUBJECT, 1).mean > 0.06 && lead(BY_SUBJECT, 0).mean > 0.06, "{:?}", lead(BY_SUBJECT, 1));
        let by_authority = trials.difference(BY_SUBJECT + 3, BY_SUBJECT + 1);
        assert!(by_authority.mean > 0.06, "{by_authority:?}");
        assert!(lead(BY_SITE, 1).mean < -0.06 && lead(BY_SITE, 0).mean.abs() < 0.05, "{:?}", lead(BY_SITE, 1));
        for per_page in 0..TOPICS_OF_A_PAGE {
            let above = trials.difference(BY_TOPICS + per_page, BY_SUBJECT);
            assert!(above.mean > -0.01, "{} topics: {above:?}", per_page + 1);
        }
    }

    /// More in-links cost more as long as there are more, and then no more.
    #[test]
    fn categorising_costs_grow_with_the_in_links_that_there_are() {
        let trials = trials(1);
        let costs: Vec<f64> = trials.range(0..CPU).iter().map(|cost| cost.mean).collect();
        assert!(costs.is_sorted(), "{costs:?}");
        assert!(costs[4] / costs[3] < costs[1] / costs[0], "{costs:?}");
    }
}
