//! What people configured: which URLs are within the scope, the weights of pages, and how often pages must be visited.

use std::sync::Arc;

use vernal_frontier::{Dispatcher, DispatcherSettings};
use vernal_model::{PageKey, Refusal, Seed, Url};
use vernal_policy::importance::importance;
use xxhash_rust::xxh3::xxh3_64;

use crate::forget::Forgotten;
use crate::settings::{Promise, promise_of};
use crate::weights::ImportanceBy;
use crate::work::Work;
use crate::{Error, Result, Settings};

pub(crate) struct Scope {
    settings: Arc<Settings>,
    dispatcher: Dispatcher,
    /// Whether some seed has a weight other than 1.
    seeds_weigh: bool,
    /// Whether some seed or setting promises visits.
    promises: bool,
    /// A digest of everything that decides what is within the scope.
    digest: u64,
    /// A digest of everything that seeds say about promises.
    promise_digest: u64,
    /// What people had forgotten. It is within no scope.
    pub forgotten: Forgotten,
}

impl Scope {
    pub fn new(settings: &Arc<Settings>, seeds: Vec<Seed>) -> Result<Self> {
        let compiled = |patterns: &[String]| -> Result<Vec<_>> {
            let compile = |text: &String| vernal_frontier::pattern(text).map_err(Error::from);
            patterns.iter().map(compile).collect()
        };
        let dispatcher = Dispatcher::new(DispatcherSettings {
            seeds: Vec::new(),
            include: compiled(&settings.include)?,
            exclude: compiled(&settings.exclude)?,
            depth_max: settings.depth,
        });
        let settings = Arc::clone(settings);
        let forgotten = Forgotten::default();
        let mut scope = Scope {
            settings,
            dispatcher,
            seeds_weigh: false,
            promises: false,
            digest: 0,
            promise_digest: 0,
            forgotten,
        };
        scope.set_seeds(seeds);
        Ok(scope)
    }

    pub fn seeds(&self) -> &[Seed] {
        self.dispatcher.seeds()
    }

    pub fn set_seeds(&mut self, seeds: Vec<Seed>) {
        self.seeds_weigh = seeds.iter().any(weighs);
        self.promises = !self.settings.promises.is_empty() || seeds.iter().any(promises);
        self.digest = digest(&self.settings, &seeds);
        self.promise_digest = seeds.iter().map(promise_digest_of_seed).fold(0, u64::wrapping_add);
        self.dispatcher.set_seeds(seeds);
    }

    /// Adds a seed, or replaces its settings.
    pub fn put_seed(&mut self, seed: Seed) {
        let (after, promise_after) = (digest_of_seed(&seed), promise_digest_of_seed(&seed));
        self.seeds_weigh |= weighs(&seed);
        self.promises |= promises(&seed);
        let before = self.dispatcher.put_seed(seed);
        self.digest = self.digest.wrapping_sub(before.as_ref().map_or(0, digest_of_seed)).wrapping_add(after);
        let promise_before = before.as_ref().map_or(0, promise_digest_of_seed);
        self.promise_digest = self.promise_digest.wrapping_sub(promise_before).wrapping_add(promise_after);
    }

    pub fn seed_at(&self, url: &Url) -> Option<&Seed> {
        self.dispatcher.seed_at(url)
    }

    pub fn contains(&self, url: &Url, depth: u16) -> bool {
        self.dispatcher.in_scope(url, depth) && self.forgotten.entry_of(url).is_none()
    }

    pub fn admit(&self, url: &Url, depth: u16) -> std::result::Result<(), Refusal> {
        self.unless_forgotten(url)?;
        self.dispatcher.admit(url, depth)
    }

    /// A requisite belongs to the page that uses it, wherever on the site it lies, unless people exclude it.
    pub fn admit_requisite(&self, url: &Url) -> std::result::Result<(), Refusal> {
        self.unless_forgotten(url)?;
        self.dispatcher.admit_requisite(url)
    }

    fn unless_forgotten(&self, url: &Url) -> std::result::Result<(), Refusal> {
        self.forgotten.entry_of(url).map_or(Ok(()), |id| Err(Refusal::Forgotten(id)))
    }

    /// Equal digests mean equal scopes.
    pub fn digest(&self) -> u64 {
        self.digest.wrapping_add(self.forgotten.lifted_digest())
    }

    /// Equal digests mean that every page is promised the same. Without any promise it is 0.
    pub fn promise_digest(&self) -> u64 {
        if self.promises { self.promise_digest } else { 0 }
    }

    /// Whether any promise was made.
    pub fn has_promises(&self) -> bool {
        self.promises
    }

    /// How often at least and at most a page must be visited: the strictest promise of the seeds that cover it and of
    /// the settings. Without any promise, which is the usual case, nothing is computed.
    pub fn promise_of(&self, url: &Url, depth: u16) -> Promise {
        if !self.promises {
            return Promise::default();
        }
        promise_of(self.seeds(), &self.settings.promises, url, depth)
    }

    /// Whether any URL has a weight other than 1.
    pub fn has_weights(&self) -> bool {
        self.seeds_weigh || !self.settings.weights.is_empty()
    }

    /// The greatest weight of the seeds that cover a URL, times its weight in the settings. Usually there are none.
    pub fn weight_of(&self, url: &Url, depth: u16) -> f32 {
        let by_settings = if self.settings.weights.is_empty() { 1.0 } else { self.settings.weights.weight_of(url) };
        if !self.seeds_weigh {
            return by_settings;
        }
        let covering = self.seeds().iter().filter(|seed| seed.covers(url, depth));
        covering.map(|seed| seed.weight).max_by(f32::total_cmp).unwrap_or(1.0) * by_settings
    }

    /// The weight of a page in freshness: the weight that people gave it, times its link score if link scores are
    /// enabled.
    pub fn importance_of(&self, work: &Work, key: PageKey, url: &Url, depth: u16) -> Result<f32> {
        let weight = self.weight_of(url, depth);
        match self.settings.importance {
            ImportanceBy::None => Ok(weight),
            ImportanceBy::Links => Ok(importance(work.score(key)?.unwrap_or(1.0), weight)),
        }
    }
}

fn weighs(seed: &Seed) -> bool {
    seed.weight != 1.0
}

fn promises(seed: &Seed) -> bool {
    seed.at_least_every.is_some() || seed.at_most_every.is_some()
}

/// The digests of the seeds are added up, so that a change of one seed among many is cheap.
fn digest(settings: &Settings, seeds: &[Seed]) -> u64 {
    let Settings { depth, include, exclude, .. } = settings;
    let rules = xxh3_64(format!("{depth:?} {include:?} {exclude:?}").as_bytes());
    seeds.iter().map(digest_of_seed).fold(rules, u64::wrapping_add)
}

fn digest_of_seed(seed: &Seed) -> u64 {
    let Seed { url, scope, depth, moved_to, .. } = seed;
    xxh3_64(format!("{url} {scope} {depth:?} {moved_to:?}").as_bytes())
}

fn promise_digest_of_seed(seed: &Seed) -> u64 {
    let Seed { tags, at_least_every, at_most_every, .. } = seed;
    let says = format!("{tags:?} {at_least_every:?} {at_most_every:?}");
    xxh3_64(says.as_bytes()).wrapping_mul(digest_of_seed(seed) | 1)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use vernal_model::{Scope as RuleReach, Span};

    use super::*;
    use crate::settings::{Wish, WishOf};
    use crate::testing::{Bench, held, seed, unhindered, url};
    use crate::weights::Weights;

    fn scope(settings: Settings, seeds: Vec<Seed>) -> Scope {
        Scope::new(&Arc::new(settings), seeds).unwrap()
    }

    fn any_seed() -> impl Strategy<Value = Seed> {
        let reaches = [RuleReach::Page, RuleReach::Prefix, RuleReach::Site, RuleReach::Domain, RuleReach::Any];
        let wishes = (0u32..3, prop::option::of(0u16..3), prop::option::of(0u32..2), 0u8..3);
        (prop::sample::select(reaches.to_vec()), wishes).prop_map(|(scope, (number, depth, moved_to, weight))| Seed {
            scope,
            depth,
            moved_to: moved_to.map(|to| url(&format!("http://m{to}.example/"))),
            weight: f32::from(weight),
            ..seed(&format!("http://s{number}.example/"))
        })
    }

    proptest! {
        #[test]
        fn a_seed_at_a_time_makes_the_same_scope_as_all_at_once(
            seeds in prop::collection::vec(any_seed(), 0..8),
        ) {
            let mut one_by_one = scope(Settings::default(), Vec::new());
            let mut all: Vec<Seed> = Vec::new();
            for seed in seeds {
                one_by_one.put_seed(seed.clone());
                match all.iter_mut().find(|known| known.url == seed.url) {
                    Some(known) => *known = seed,
                    None => all.push(seed),
                }
                let at_once = scope(Settings::default(), all.clone());
                prop_assert_eq!(one_by_one.digest(), at_once.digest());
                prop_assert_eq!(one_by_one.promise_digest, at_once.promise_digest);
                prop_assert_eq!(one_by_one.seeds(), at_once.seeds());
                for number in 0..3 {
                    let at = url(&format!("http://s{number}.example/x"));
                    prop_assert_eq!(one_by_one.contains(&at, 1), at_once.contains(&at, 1));
                    prop_assert_eq!(one_by_one.weight_of(&at, 1), at_once.weight_of(&at, 1));
                }
            }
        }

        #[test]
        fn digests_are_equal_exactly_where_all_that_decides_is_equal(one in any_seed(), other in any_seed()) {
            let decides = |seed: &Seed| (seed.url.clone(), seed.scope, seed.depth, seed.moved_to.clone());
            let digest = |seed: &Seed| scope(Settings::default(), vec![seed.clone()]).digest();
            prop_assert_eq!(digest(&one) == digest(&other), decides(&one) == decides(&other));
            let both = |first: &Seed, second: &Seed| scope(Settings::default(), vec![first.clone(), second.clone()]);
            prop_assert_eq!(both(&one, &other).digest(), both(&other, &one).digest(), "their order decides nothing");
        }
    }

    #[test]
    fn the_rules_of_the_settings_are_part_of_the_digest() {
        let digest = |settings: Settings| scope(settings, vec![seed("http://a.example/")]).digest();
        let plain = digest(Settings::default());
        let include = vec!["a".to_owned()];
        assert_ne!(digest(Settings { include: include.clone(), ..Settings::default() }), plain);
        assert_ne!(digest(Settings { exclude: include, ..Settings::default() }), plain);
        assert_ne!(digest(Settings { depth: Some(3), ..Settings::default() }), plain);
        assert_eq!(digest(Settings { pages_max: 3, ..Settings::default() }), plain);
    }

    #[test]
    fn a_page_weighs_what_the_greatest_of_its_seeds_says_times_the_settings() {
        let weights =
            Weights { patterns: vec![(vernal_frontier::pattern("/news").unwrap(), 3.0)], ..Weights::default() };
        let seeds = [("http://a.example/", 2.0), ("http://a.example/news/", 5.0)];
        let seeds = seeds.map(|(at, weight)| Seed { weight, scope: RuleReach::Prefix, ..seed(at) });
        let scope = scope(Settings { weights, ..Settings::default() }, seeds.to_vec());
        assert!(scope.has_weights());
        assert_eq!(scope.weight_of(&url("http://a.example/x"), 1), 2.0);
        assert_eq!(scope.weight_of(&url("http://a.example/news/x"), 1), 15.0);
        assert_eq!(scope.weight_of(&url("http://b.example/news"), 1), 3.0, "no seed speaks of it");
        assert!(!self::scope(Settings::default(), vec![seed("http://a.example/")]).has_weights());
    }

    #[test]
    fn the_strictest_of_all_wishes_is_promised() {
        let (hour, day) = (Span::from_hours(1), Span::from_days(1));
        let least = |every| Promise { at_least_every: Some(every), at_most_every: None };
        let most = |every| Promise { at_least_every: None, at_most_every: Some(every) };
        let promises = vec![
            Wish { of: WishOf::Tag("news".into()), promise: least(hour) },
            Wish { of: WishOf::Pattern(vernal_frontier::pattern("/slow").unwrap()), promise: most(day) },
        ];
        let tagged = Seed { tags: vec!["news".into()], at_least_every: Some(day), ..seed("http://a.example/") };
        let scope = scope(Settings { promises, ..Settings::default() }, vec![tagged]);
        assert!(scope.has_promises());
        assert_eq!(scope.promise_of(&url("http://a.example/x"), 1), least(hour));
        let slow = Promise { at_least_every: Some(hour), at_most_every: Some(day) };
        assert_eq!(scope.promise_of(&url("http://a.example/slow"), 1), slow);
        assert_eq!(scope.promise_of(&url("http://b.example/x"), 1), Promise::default());
        assert!(!self::scope(Settings::default(), vec![seed("http://a.example/")]).has_promises());
    }

    #[test]
    fn importance_is_the_weight_and_where_links_are_asked_their_score_times_it() {
        for (by, expected) in [(ImportanceBy::None, 2.0), (ImportanceBy::Links, 8.0)] {
            let mut bench = Bench::new(Settings { importance: by, ..unhindered() });
            let core = &mut bench.crawler.core;
            core.scope.set_seeds(vec![Seed { weight: 2.0, ..seed("http://a.example/") }]);
            let page = held("http://a.example/", 0);
            let row = vernal_model::WeightRow { chunk: 0, scores: vec![4.0] };
            core.work.push(page.key.partition, vernal_model::Deed::Weighed(row));
            assert_eq!(core.scope.importance_of(&core.work, page.key, &page.url, 0).unwrap(), expected);
            let unknown = held("http://a.example/", 1);
            assert_eq!(core.scope.importance_of(&core.work, unknown.key, &unknown.url, 0).unwrap(), 2.0);
        }
    }

    #[test]
    fn a_pattern_that_nobody_can_read_is_refused() {
        let settings = Settings { include: vec!["(".into()], ..Settings::default() };
        assert!(Scope::new(&Arc::new(settings), Vec::new()).is_err());
    }
}
