//! Why a sampling policy visits a page when it does, in words and numbers.

use vernal_model::{Moment, PageKey};

use super::cycle::Cycle;
use super::entry::{By, Entry};
use super::policy::Sampling;
use super::stratum::{Class, Rule, Stratum};
use crate::schedule::words::{Words, last_visit, word};

pub(super) fn words(policy: &Sampling, page: PageKey, now: Moment) -> Words {
    let Some(entry) = policy.pages.find(page) else { return Vec::new() };
    let rule = match policy.rule {
        Rule::Proportional => "downloads in proportion to the changes in the sample",
        Rule::Greedy => "downloads where the sample found the largest share of changes",
        Rule::Adaptive => "samples until it is sure on which side of the threshold a site is",
        Rule::AdaptiveFrequency => {
            "samples until it is sure on which side of the threshold the histories of a site's pages are"
        }
        Rule::Hybrid => "downloads where the sampled pages' own histories show the most changes",
    };
    let mut words = vec![word("policy", format!("{}: {rule}", policy.name)), last_visit(entry.last_visit, now)];
    let visits = entry.recent.visits();
    words.push(word("history", format!("{} of the last {visits} visits found a change", entry.recent.changes())));
    // Of several topics the one whose turn is first decides.
    let strata = (0..).map_while(|nth| policy.stratum_at(page, entry, nth));
    let first = strata.filter_map(|at| policy.strata.get(at as usize)).min_by_key(|stratum| stratum.rank);
    if let (Some(cycle), Some(stratum)) = (policy.cycle, first) {
        why_in(policy, cycle, stratum, entry, &mut words);
    }
    words
}

fn why_in(policy: &Sampling, cycle: Cycle, stratum: &Stratum, entry: &Entry, words: &mut Words) {
    let cycle_words = format!("{} long, ends {}", cycle.length, cycle.end());
    words.push(word("cycle", cycle_words));
    let group = match (policy.by, stratum.topic()) {
        (By::Site, _) => "its site".to_owned(),
        (By::Topic, Some(topic)) => format!("topic {}", topic.0),
        (By::Path | By::Topic, _) => "its path within the site".to_owned(),
        (By::Features, _) => "pages with such histories".to_owned(),
    };
    words.push(word("judged with", format!("{group}: {} pages", stratum.pages)));
    let sample = match stratum.rate(policy.rule) {
        None => format!("{} of {} pages sent for, none answered yet", stratum.sampled, stratum.quota),
        Some(rate) if policy.rule.is_by_history() => {
            format!("{} pages, in the mean {rate:.2} of the visits to one of them found a change", stratum.tries)
        }
        Some(rate) => format!("{} of {} pages changed, rate {rate:.2}", stratum.hits, stratum.tries),
    };
    words.push(word("sample", sample));
    if stratum.free > 0 {
        words.push(word("beside the sample", format!("{} pages that another topic sampled", stratum.free)));
    }
    if policy.rule.is_adaptive() {
        words.push(word("threshold", format!("{:.2}", policy.adaptive.threshold)));
    }
    let turn = match stratum.class() {
        _ if entry.last_visit >= cycle.start => "visited in this cycle: again in the next",
        Class::Accepted => "surely above the threshold: all of it is visited",
        Class::Sample => "more of it is to be sampled",
        Class::Download => "after those with higher rates",
        Class::Quiet => "no sign of change: if budget is left over",
        Class::OutOfTurn => "its group has its turn in another cycle",
    };
    words.push(word("turn", turn));
}
