//! Every policy by its name.

use crate::Refresh;
use crate::parameters::{PolicySpec, SpecError};
use crate::schedule::{
    By, ByValue, ChangeFrequency, HeritrixFixed, NutchAdaptive, Points, Promises, PurelyRandom, RandomOrder,
    RefreshTime, RoundRobin, Rule, Sampling, SamplingTerms, Size, StormcrawlerAdaptive, Strides,
};

/// All policies with their constructors. The part of a name after a colon is an option of the policy before it.
const POLICIES: &[(&str, Make)] = &[
    (RoundRobin::NAME, |_| Box::new(RoundRobin::new(Points::AsPaid))),
    ("round-robin:random", |_| Box::new(Strides::<RandomOrder>::new())),
    ("round-robin:purely-random", |_| Box::new(Strides::<PurelyRandom>::new())),
    ("round-robin:at-once", |_| Box::new(RoundRobin::new(Points::AtOnce))),
    ("round-robin:front-loaded", |_| Box::new(RoundRobin::new(Points::FrontLoaded))),
    ("round-robin:even", |_| Box::new(RoundRobin::new(Points::Even))),
    ("round-robin:quiet-hours", |_| Box::new(RoundRobin::new(Points::QuietHours))),
    ("proportional", |spec| Box::new(sampling("proportional", Rule::Proportional, By::Site, spec))),
    ("proportional:with-repeats", |spec| {
        Box::new(sampling("proportional", Rule::Proportional, By::Site, spec).with_repeats())
    }),
    ("greedy", |spec| Box::new(sampling("greedy", Rule::Greedy, By::Site, spec))),
    ("greedy:optimal-sample", |spec| Box::new(sampling("greedy", Rule::Greedy, By::Site, spec).sized(Size::Optimal))),
    ("adaptive", |spec| Box::new(sampling("adaptive", Rule::Adaptive, By::Site, spec))),
    ("adaptive-frequency", |spec| Box::new(sampling("adaptive-frequency", Rule::AdaptiveFrequency, By::Site, spec))),
    ("groups", |spec| Box::new(sampling("groups", Rule::Greedy, By::Site, spec).in_groups())),
    ("groups:greedy", |spec| Box::new(sampling("groups", Rule::Greedy, By::Site, spec).in_groups())),
    ("groups:proportional", |spec| Box::new(sampling("groups", Rule::Proportional, By::Site, spec).in_groups())),
    ("groups:adaptive", |spec| Box::new(sampling("groups", Rule::Adaptive, By::Site, spec).in_groups())),
    ("groups:hybrid", |spec| Box::new(sampling("groups", Rule::Hybrid, By::Site, spec).in_groups())),
    ("groups:correlated", |spec| Box::new(sampling("groups", Rule::Greedy, By::Topic, spec).in_groups())),
    ("change-frequency", |spec| Box::new(Strides::by(ChangeFrequency::of(spec)))),
    ("hybrid", |spec| Box::new(sampling("hybrid", Rule::Hybrid, By::Site, spec))),
    ("correlated", |spec| Box::new(sampling("correlated", Rule::Greedy, By::Topic, spec))),
    ("correlated:authority", |spec| Box::new(sampling("correlated", Rule::Greedy, By::Topic, spec).by_authority())),
    ("correlated:path", |spec| Box::new(sampling("correlated", Rule::Greedy, By::Path, spec))),
    ("feature-groups", |spec| Box::new(sampling("feature-groups", Rule::Greedy, By::Features, spec))),
    ("refresh-time", |spec| Box::new(Strides::by(RefreshTime::of(spec)))),
    ("nutch-adaptive", |_| Box::new(Strides::<NutchAdaptive>::new())),
    ("stormcrawler-adaptive", |_| Box::new(Strides::<StormcrawlerAdaptive>::new())),
    ("heritrix-fixed", |_| Box::new(Strides::<HeritrixFixed>::new())),
    ("vernal", |_| by_value("vernal")),
    ("vernal:age", |_| by_value("vernal:age")),
    ("vernal:harmonic", |_| by_value("vernal:harmonic")),
    ("vernal:change-ratio", |_| by_value("vernal:change-ratio")),
    ("bayes", |_| by_value("bayes")),
    ("bayes:age", |_| by_value("bayes:age")),
    ("bayes:harmonic", |_| by_value("bayes:harmonic")),
    ("bayes:change-ratio", |_| by_value("bayes:change-ratio")),
    ("index", |_| by_value("index")),
    ("index:age", |_| by_value("index:age")),
    ("index:harmonic", |_| by_value("index:harmonic")),
    ("index:change-ratio", |_| by_value("index:change-ratio")),
    ("hindsight", |_| by_value("hindsight")),
    ("optimal", |_| by_value("optimal")),
    ("random-optimal", |_| by_value("random-optimal")),
    ("lambda", |_| by_value("lambda")),
];

type Make = fn(&PolicySpec) -> Box<dyn Refresh>;

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

/// The policy of this name, with the values of its parameters, wrapped so that promises are kept.
pub fn by_name(text: &str) -> Option<Box<dyn Refresh>> {
    Some(PolicySpec::parse(text).ok()?.policy())
}

/// The same; what is no policy is refused with what would do.
pub fn named(text: &str) -> Result<Box<dyn Refresh>, SpecError> {
    Ok(PolicySpec::parse(text)?.policy())
}

impl PolicySpec {
    pub fn policy(&self) -> Box<dyn Refresh> {
        let known = POLICIES.iter().find(|&&(name, _)| name == self.name());
        let &(name, make) = known.expect("a spec has a name of the table above");
        Box::new(Promises::around(name, make(self)))
    }
}

/// Whether the policy of this name samples by topic.
pub fn wants_topics(text: &str) -> bool {
    PolicySpec::parse(text).is_ok_and(|spec| PolicySpec::parameters(spec.name()).any(|one| one.name == "topics"))
}

fn sampling(name: &'static str, rule: Rule, by: By, spec: &PolicySpec) -> Sampling {
    Sampling::new(name, rule, by, SamplingTerms::of(spec))
}

fn by_value(name: &str) -> Box<dyn Refresh> {
    Box::new(ByValue::named(name).expect("a name of the table above"))
}
