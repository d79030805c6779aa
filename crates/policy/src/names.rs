//! Every policy by its name.

use crate::Refresh;
use crate::schedule::{
    By, ByValue, ChangeFrequency, HeritrixFixed, NutchAdaptive, Points, Promises, PurelyRandom, RandomOrder,
    RefreshTime, RoundRobin, Rule, Sampling, Size, StormcrawlerAdaptive, Strides,
};

/// All policies with their constructors. The part of a name after a colon is an option of the policy before it.
const POLICIES: &[(&str, Make)] = &[
    (RoundRobin::NAME, || Box::new(RoundRobin::new(Points::AsPaid))),
    ("round-robin:random", || Box::new(Strides::<RandomOrder>::new())),
    ("round-robin:purely-random", || Box::new(Strides::<PurelyRandom>::new())),
    ("round-robin:at-once", || Box::new(RoundRobin::new(Points::AtOnce))),
    ("round-robin:front-loaded", || Box::new(RoundRobin::new(Points::FrontLoaded))),
    ("round-robin:even", || Box::new(RoundRobin::new(Points::Even))),
    ("round-robin:quiet-hours", || Box::new(RoundRobin::new(Points::QuietHours))),
    ("proportional", || Box::new(Sampling::new("proportional", Rule::Proportional, By::Site))),
    ("proportional:with-repeats", || {
        Box::new(Sampling::new("proportional", Rule::Proportional, By::Site).with_repeats())
    }),
    ("greedy", || Box::new(Sampling::new("greedy", Rule::Greedy, By::Site))),
    ("greedy:optimal-sample", || Box::new(Sampling::new("greedy", Rule::Greedy, By::Site).sized(Size::Optimal))),
    ("adaptive", || Box::new(Sampling::new("adaptive", Rule::Adaptive, By::Site))),
    ("groups", || Box::new(Sampling::new("groups", Rule::Greedy, By::Site).in_groups())),
    ("groups:greedy", || Box::new(Sampling::new("groups", Rule::Greedy, By::Site).in_groups())),
    ("groups:proportional", || Box::new(Sampling::new("groups", Rule::Proportional, By::Site).in_groups())),
    ("groups:adaptive", || Box::new(Sampling::new("groups", Rule::Adaptive, By::Site).in_groups())),
    ("groups:hybrid", || Box::new(Sampling::new("groups", Rule::Hybrid, By::Site).in_groups())),
    ("groups:correlated", || Box::new(Sampling::new("groups", Rule::Greedy, By::Topic).in_groups())),
    ("change-frequency", || Box::new(Strides::<ChangeFrequency>::new())),
    ("hybrid", || Box::new(Sampling::new("hybrid", Rule::Hybrid, By::Site))),
    ("correlated", || Box::new(Sampling::new("correlated", Rule::Greedy, By::Topic))),
    ("correlated:authority", || Box::new(Sampling::new("correlated", Rule::Greedy, By::Topic).by_authority())),
    ("correlated:path", || Box::new(Sampling::new("correlated", Rule::Greedy, By::Path))),
    ("feature-groups", || Box::new(Sampling::new("feature-groups", Rule::Greedy, By::Features))),
    ("refresh-time", || Box::new(Strides::<RefreshTime>::new())),
    ("nutch-adaptive", || Box::new(Strides::<NutchAdaptive>::new())),
    ("stormcrawler-adaptive", || Box::new(Strides::<StormcrawlerAdaptive>::new())),
    ("heritrix-fixed", || Box::new(Strides::<HeritrixFixed>::new())),
    ("vernal", || by_value("vernal")),
    ("vernal:age", || by_value("vernal:age")),
    ("vernal:harmonic", || by_value("vernal:harmonic")),
    ("vernal:change-ratio", || by_value("vernal:change-ratio")),
    ("bayes", || by_value("bayes")),
    ("bayes:age", || by_value("bayes:age")),
    ("bayes:harmonic", || by_value("bayes:harmonic")),
    ("bayes:change-ratio", || by_value("bayes:change-ratio")),
    ("index", || by_value("index")),
    ("index:age", || by_value("index:age")),
    ("index:harmonic", || by_value("index:harmonic")),
    ("index:change-ratio", || by_value("index:change-ratio")),
    ("hindsight", || by_value("hindsight")),
    ("optimal", || by_value("optimal")),
    ("random-optimal", || by_value("random-optimal")),
    ("lambda", || by_value("lambda")),
];

type Make = fn() -> Box<dyn Refresh>;

/// The names that the configuration may give, options included.
pub const NAMES: &[&str] = &{
    let mut names = [""; POLICIES.len()];
    let mut at = 0;
    while at < POLICIES.len() {
        names[at] = POLICIES[at].0;
        at += 1;
    }
    names
};

/// The policy of this name, wrapped so that promises are kept.
pub fn by_name(name: &str) -> Option<Box<dyn Refresh>> {
    let &(name, make) = POLICIES.iter().find(|&&(known, _)| known == name)?;
    Some(Box::new(Promises::around(name, make())))
}

/// Whether the policy of this name samples by topic.
pub fn wants_topics(name: &str) -> bool {
    matches!(name, "correlated" | "correlated:authority" | "groups:correlated")
}

fn by_value(name: &str) -> Box<dyn Refresh> {
    Box::new(ByValue::named(name).expect("a name of the table above"))
}
