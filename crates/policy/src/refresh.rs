//! The trait of all policies: choose pages, learn from visits.

use vernal_model::{Account, Chance, Moment, PageKey, PolicyState, Span, TopicId, TopicOf};

use crate::Unkept;
use crate::schedule::{
    By, ByValue, ChangeFrequency, HeritrixFixed, NutchAdaptive, Points, Promises, PurelyRandom, RandomOrder,
    RefreshTime, RoundRobin, Rule, Sampling, Size, StormcrawlerAdaptive, Strides,
};

/// A page that the repository holds, as a policy may see it.
#[derive(Copy, Clone, Debug)]
pub struct Held<'a> {
    pub page: PageKey,
    /// A number of the page's site, the same for all its pages while this process lives.
    pub site: u32,
    /// A number of the first part of its path within the site, the same for all pages that share it.
    pub path: u32,
    pub importance: f32,
    pub admitted: Moment,
    pub last_visit: Moment,
    /// What a visit is expected to cost on the wire; 0 if nobody knows.
    pub wire_bytes: u64,
    /// Promises: visit it at least, and at most, so often.
    pub at_least_every: Option<Span>,
    pub at_most_every: Option<Span>,
    /// The change rate per day, where somebody knows it (laboratory, hindsight).
    pub known_rate: Option<f64>,
    pub state: &'a PolicyState,
}

impl<'a> Held<'a> {
    /// A page that was first read at this Moment and is like any other: of weight one, without promises, and nothing is known
    /// of its path, its size and its rate.
    pub fn new(page: PageKey, site: u32, read: Moment, state: &'a PolicyState) -> Self {
        Held {
            page,
            site,
            path: 0,
            importance: 1.0,
            admitted: read,
            last_visit: read,
            wire_bytes: 0,
            at_least_every: None,
            at_most_every: None,
            known_rate: None,
            state,
        }
    }
}

/// What one visit found.
#[derive(Copy, Clone, Debug)]
pub struct Seen {
    pub page: PageKey,
    pub moment: Moment,
    /// The visit before, if there was one.
    pub previous: Option<Moment>,
    /// Whether the page differs from the version before; `None` if there was no comparable answer.
    pub changed: Option<bool>,
    /// How much it differs, 0 to 1.
    pub degree: f32,
    /// When the site says that the page last changed, if it says so.
    pub last_modified: Option<Moment>,
    pub wire_bytes: u64,
}

impl Seen {
    /// A visit of which nothing is known but that it took place.
    pub fn new(page: PageKey, moment: Moment) -> Self {
        Seen { page, moment, previous: None, changed: None, degree: 0.0, last_modified: None, wire_bytes: 0 }
    }
}

/// All that a policy can see of the world when it chooses.
pub trait View {
    /// How many visits may be given out now.
    fn visits_left(&self) -> usize;
    /// Whether the page's site can be asked before the next tick.
    fn has_room(&self, page: PageKey) -> bool;
    /// No page is refreshed within this Span of its last visit.
    fn refresh_min(&self) -> Span;
    /// Pages held.
    fn held(&self) -> u64;
    /// Visits a day that the refresh budget pays for.
    fn per_day(&self) -> f64;
    /// The mean change rate per day over all partitions, as the coordinator last summed it up; `None` if nobody did.
    fn mean_rate(&self) -> Option<f64> {
        None
    }
    /// Whether the budget is counted in bytes, so that a visit costs what the page weighs on the wire.
    fn counts_bytes(&self) -> bool {
        false
    }
    /// Whether a page that is never worth a visit may be left for ever.
    fn may_abandon(&self) -> bool {
        false
    }
}

/// What one partition's policy knows of change rates, for the mean over all of them: Σ v·mean and Σ v over its sites.
#[derive(Copy, Clone, Debug, Default, PartialEq)]
pub struct RateSums {
    pub weighted: f64,
    pub weight: f64,
}

/// Before anything is known a page is expected to change so often a day, and that counts as much as so many sites.
const RATE_FIRST: f64 = 0.02;
const RATE_FIRST_WEIGHT: f64 = 2.0;

impl RateSums {
    #[must_use]
    pub fn plus(self, other: RateSums) -> RateSums {
        RateSums { weighted: self.weighted + other.weighted, weight: self.weight + other.weight }
    }

    /// The mean change rate per day.
    pub fn mean(self) -> f64 {
        // Sums may fall below zero by the rounding of what was taken away from them.
        let (weighted, weight) = (self.weighted.max(0.0), self.weight.max(0.0));
        (RATE_FIRST_WEIGHT * RATE_FIRST + weighted) / (RATE_FIRST_WEIGHT + weight)
    }
}

/// What a policy believes of the pages it knows, weighted by importance.
#[derive(Copy, Clone, Debug, Default, PartialEq)]
pub struct Belief {
    /// Σ importance · P(up to date).
    pub fresh: f64,
    /// Σ importance.
    pub weight: f64,
    pub pages: u64,
}

impl Belief {
    #[must_use]
    pub fn plus(self, other: Belief) -> Belief {
        Belief { fresh: self.fresh + other.fresh, weight: self.weight + other.weight, pages: self.pages + other.pages }
    }
}

/// What the best visit of a policy is worth.
#[derive(Copy, Clone, Debug, PartialEq)]
pub enum Best {
    Exactly(f64),
    AtMost(f64),
}

impl Best {
    pub fn most(self) -> f64 {
        match self {
            Best::Exactly(value) | Best::AtMost(value) => value,
        }
    }
}

/// What one cycle's samples found in a topic.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TopicSample {
    pub cycle: u64,
    pub topic: TopicId,
    pub sampled: u32,
    pub changed: u32,
}

/// What the pages of a topic showed of their change rates: Σ of their mean rates, and how many were compared.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct TopicRates {
    pub topic: TopicId,
    pub sums: RateSums,
}

/// A rule that chooses which held pages to visit again.
///
/// A page is known from `recall` or `learn` until `forget`. A page that was chosen is out: it is not chosen again until
/// `learn` or `put_back` names it. Same inputs, same choice.
pub trait Refresh: Send {
    fn name(&self) -> &'static str;
    /// Takes up a page that is held: at the start, and when a page was read for the first time, after its `learn`.
    fn recall(&mut self, held: &Held<'_>);
    /// The next pages to visit, the most urgent first; at most `view.visits_left()`.
    fn choose(&mut self, view: &dyn View, now: Moment, chance: &mut Chance) -> Vec<PageKey>;
    /// Hears what a visit found, and gives back what is to be remembered of the page.
    fn learn(&mut self, seen: &Seen) -> PolicyState;
    /// A chosen page could not be visited now.
    fn put_back(&mut self, page: PageKey);
    /// The page is no longer held.
    fn forget(&mut self, page: PageKey);
    /// When `choose` may next have an answer; `None` if nothing is known that will ever be due. Pages that are due and
    /// only wait for their site do not count: the crawler knows when their site gets free.
    fn next_due(&self, view: &dyn View, now: Moment) -> Option<Moment>;
    /// The value of the visit that `choose` would give first, so that partitions can be served in the order of value;
    /// `None` from policies whose order means nothing beyond their own pages: they are served by their share.
    fn best(&mut self, view: &dyn View, now: Moment) -> Option<f64> {
        let _ = (view, now);
        None
    }
    /// The same, or what that visit is worth at most where to tell it exactly costs more: of many who are compared, only
    /// those that come first by this need be asked for `best`.
    fn best_at_most(&mut self, view: &dyn View, now: Moment) -> Option<Best> {
        self.best(view, now).map(Best::Exactly)
    }
    /// For how long visits that are paid for may be saved up: a policy that visits in some hours of the day alone needs more
    /// than the purse holds otherwise.
    fn saves_up(&self) -> Span {
        Account::IN_HAND_MAX
    }
    /// What it knows of change rates; the mean over all partitions comes back through `View::mean_rate`.
    fn rates(&self) -> RateSums {
        RateSums::default()
    }
    /// How much of what it knows it believes to be up to date; `None` from policies without a model.
    fn belief(&self, now: Moment) -> Option<Belief> {
        let _ = now;
        None
    }
    /// What it remembers of a site beyond its pages, if that is new since it was last asked for; kept as a row of the
    /// site and given back by `recall_site` before the site's pages are recalled.
    fn site_state(&mut self, site: u32) -> Option<Vec<u8>> {
        let _ = site;
        None
    }
    fn recall_site(&mut self, site: u32, state: &[u8]) {
        let _ = (site, state);
    }
    /// The promises of its pages to be visited at least so often, and which of them are not kept.
    fn unkept(&self, now: Moment) -> Unkept {
        let _ = now;
        Unkept::default()
    }
    /// The page counts so much from now on.
    fn weigh(&mut self, page: PageKey, importance: f32) {
        let _ = (page, importance);
    }
    /// Hears a hint that the page changed since its last visit, worth so much waiting.
    fn hint(&mut self, page: PageKey, worth: Span) {
        let _ = (page, worth);
    }
    /// Hears the topics of a page that it knows, as they become, the one with the best reputation first.
    fn topics(&mut self, page: PageKey, topics: &[TopicOf]) {
        let _ = (page, topics);
    }
    /// What the samples of its cycle have found in each topic, so that all partitions can judge topics together.
    fn topic_samples(&self) -> Vec<TopicSample> {
        Vec::new()
    }
    /// Hears what all partitions have found, its own included.
    fn hear_topic_samples(&mut self, samples: &[TopicSample]) {
        let _ = samples;
    }
    /// What its pages showed of each topic's change rate, so that all partitions can expect the same of new sites.
    fn topic_rates(&self) -> Vec<TopicRates> {
        Vec::new()
    }
    /// Hears what the pages of all partitions showed, its own included.
    fn hear_topic_rates(&mut self, rates: &[TopicRates]) {
        let _ = rates;
    }
    /// Why the page is visited when it is, as names and values in words and numbers; empty if the page is not known.
    fn why(&self, page: PageKey, now: Moment) -> Vec<(String, String)>;
}

/// Every policy there is, with what makes it. A name after a colon is an option of the policy before it.
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

/// The policy of a name, with promises kept around it.
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
