//! What people wished: which URLs are within the scope, what pages count for, and how often they are to be visited.

use std::sync::Arc;

use vernal_frontier::{Dispatcher, DispatcherSettings};
use vernal_model::{PageKey, Refusal, Seed, Url};
use vernal_policy::importance::importance;
use xxhash_rust::xxh3::xxh3_64;

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
        let mut scope = Scope { settings, dispatcher, seeds_weigh: false, promises: false, digest: 0 };
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
        self.dispatcher.set_seeds(seeds);
    }

    /// One seed wishes something else now, or is new.
    pub fn put_seed(&mut self, seed: Seed) {
        let after = digest_of_seed(&seed);
        self.seeds_weigh |= weighs(&seed);
        self.promises |= promises(&seed);
        let before = self.dispatcher.put_seed(seed);
        self.digest = self.digest.wrapping_sub(before.as_ref().map_or(0, digest_of_seed)).wrapping_add(after);
    }

    pub fn seed_at(&self, url: &Url) -> Option<&Seed> {
        self.dispatcher.seed_at(url)
    }

    pub fn contains(&self, url: &Url, depth: u16) -> bool {
        self.dispatcher.in_scope(url, depth)
    }

    pub fn admit(&self, url: &Url, depth: u16) -> std::result::Result<(), Refusal> {
        self.dispatcher.admit(url, depth)
    }

    /// Equal digests mean equal scopes.
    pub fn digest(&self) -> u64 {
        self.digest
    }

    /// Whether anybody promised anything.
    pub fn has_promises(&self) -> bool {
        self.promises
    }

    /// How often at least and at most a page is to be visited: the strictest wish of the seeds that cover it and of the
    /// settings. Almost nobody promises anything, and then nothing is asked.
    pub fn promise_of(&self, url: &Url, depth: u16) -> Promise {
        if !self.promises {
            return Promise::default();
        }
        promise_of(self.seeds(), &self.settings.promises, url, depth)
    }

    /// Whether people say of any URL that it counts more or less than others.
    pub fn has_weights(&self) -> bool {
        self.seeds_weigh || !self.settings.weights.is_empty()
    }

    /// The greatest weight of the seeds that cover a URL, times what the settings say of it. Almost nobody says anything.
    pub fn weight_of(&self, url: &Url, depth: u16) -> f32 {
        let by_settings = if self.settings.weights.is_empty() { 1.0 } else { self.settings.weights.weight_of(url) };
        if !self.seeds_weigh {
            return by_settings;
        }
        let covering = self.seeds().iter().filter(|seed| seed.covers(url, depth));
        covering.map(|seed| seed.weight).max_by(f32::total_cmp).unwrap_or(1.0) * by_settings
    }

    /// What a page counts in freshness: what people say of it, times what links say where they are asked.
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

/// The seeds are summed up, so that one of many may change cheaply.
fn digest(settings: &Settings, seeds: &[Seed]) -> u64 {
    let Settings { depth, include, exclude, .. } = settings;
    let rules = xxh3_64(format!("{depth:?} {include:?} {exclude:?}").as_bytes());
    seeds.iter().map(digest_of_seed).fold(rules, u64::wrapping_add)
}

fn digest_of_seed(seed: &Seed) -> u64 {
    let Seed { url, scope, depth, moved_to, .. } = seed;
    xxh3_64(format!("{url} {scope} {depth:?} {moved_to:?}").as_bytes())
}
