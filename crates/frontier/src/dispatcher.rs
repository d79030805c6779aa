//! Admits a discovered URL or refuses it by scope, include and exclude patterns, and depth (the URL dispatcher of the paper).
//! The sieve makes sure that each URL is met once, and the [`TrapBook`](crate::TrapBook) recognises traps.
//!
//! Each seed has one entry under the key of what its scope covers, so that a question costs a few look-ups however many
//! seeds there are. A property test compares the index with `Seed::covers`.

use std::collections::{HashMap, HashSet};

use regex::{Regex, RegexBuilder};
use vernal_model::{Fingerprint, Refusal, Scope, Seed, Url};

/// The size limit of a compiled pattern. A larger one is refused when it is parsed.
const PATTERN_BYTES_MAX: usize = 1 << 20;

const GOPHER_PORT: u16 = 70;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("read the pattern `{pattern}`: {why}")]
    Pattern { pattern: String, why: String },
}

#[derive(Clone, Debug)]
pub struct DispatcherSettings {
    pub seeds: Vec<Seed>,
    /// If there are any, a URL must match one of them. Seeds need no match.
    pub include: Vec<Regex>,
    /// A URL that matches one of them is refused, seed or not.
    pub exclude: Vec<Regex>,
    /// Links followed from the nearest seed at most.
    pub depth_max: Option<u16>,
}

/// Compiles an include or exclude pattern. Its engine takes linear time, and its size is bounded.
pub fn pattern(text: &str) -> Result<Regex, Error> {
    RegexBuilder::new(text)
        .size_limit(PATTERN_BYTES_MAX)
        .dfa_size_limit(PATTERN_BYTES_MAX)
        .build()
        .map_err(|why| Error::Pattern { pattern: text.to_owned(), why: why.to_string() })
}

#[derive(Clone, Debug)]
pub struct Dispatcher {
    settings: DispatcherSettings,
    index: Index,
}

/// The greatest depth that a seed allows under each key. The maps are never iterated.
#[derive(Clone, Debug, Default)]
struct Index {
    given: HashSet<Fingerprint>,
    /// The index of each seed, by its URL and by the URL that it has moved to.
    places: HashMap<Fingerprint, usize>,
    pages: HashMap<Url, Reach>,
    /// By site without `www.` and folder.
    folders: HashMap<(Box<str>, Box<str>), Reach>,
    /// Sites with an entry in the map of folders.
    sites_with_folders: HashSet<Box<str>>,
    sites: HashMap<Box<str>, Reach>,
    domains: HashMap<Box<str>, Reach>,
    anywhere: Option<Reach>,
    /// The sites of gopher seeds, ports included.
    gopher_sites: HashSet<Box<str>>,
}

/// How many links may be followed. `None` in the seed is `u32::MAX` here.
type Reach = u32;

impl Dispatcher {
    pub fn new(settings: DispatcherSettings) -> Self {
        let index = Index::of(&settings.seeds);
        Dispatcher { settings, index }
    }

    pub fn seeds(&self) -> &[Seed] {
        &self.settings.seeds
    }

    pub fn set_seeds(&mut self, seeds: Vec<Seed>) {
        self.index = Index::of(&seeds);
        self.settings.seeds = seeds;
    }

    /// The seed with this URL, or the one that has moved to it.
    pub fn seed_at(&self, url: &Url) -> Option<&Seed> {
        let seed = self.settings.seeds.get(*self.index.places.get(&url.fingerprint())?)?;
        (seed.url == *url || seed.moved_to.as_ref() == Some(url)).then_some(seed)
    }

    /// Replaces the seed with the same URL and returns it, or adds the seed at the end.
    pub fn put_seed(&mut self, seed: Seed) -> Option<Seed> {
        let place = self.index.places.get(&seed.url.fingerprint()).copied();
        let known = place.and_then(|place| self.settings.seeds.get_mut(place)).filter(|known| known.url == seed.url);
        let (place, before) = match known {
            Some(known) => (place.unwrap_or_default(), Some(std::mem::replace(known, seed.clone()))),
            None => {
                self.settings.seeds.push(seed.clone());
                (self.settings.seeds.len() - 1, None)
            }
        };
        let only_more = before
            .as_ref()
            .is_none_or(|before| (before.scope, before.depth) == (seed.scope, seed.depth) && before.moved_to.is_none());
        if only_more {
            self.index.add_seed(place, &seed);
        } else {
            self.index = Index::of(&self.settings.seeds);
        }
        before
    }

    /// Whether a URL found at this depth is wanted at all. It is asked of every link before the sieve, so it is cheap.
    pub fn in_scope(&self, url: &Url, depth: u16) -> bool {
        if self.settings.depth_max.is_some_and(|limit| depth > limit) || !self.index.covers(url, depth) {
            return false;
        }
        if !self.index.speaks_gopher(url) {
            return false;
        }
        if is_matched(&self.settings.exclude, url) {
            return false;
        }
        self.settings.include.is_empty()
            || is_matched(&self.settings.include, url)
            || self.index.given.contains(&url.fingerprint())
    }

    /// Admits a URL that the sieve found to be new. The crawler limits how many pages are held: a URL beyond its limits is
    /// admitted too, and waits.
    pub fn admit(&self, url: &Url, depth: u16) -> Result<(), Refusal> {
        if self.in_scope(url, depth) { Ok(()) } else { Err(Refusal::Scope) }
    }

    /// Admits an image, a script or a style sheet of a page within the scope. Only what people exclude is refused.
    pub fn admit_requisite(&self, url: &Url) -> Result<(), Refusal> {
        if is_matched(&self.settings.exclude, url) { Err(Refusal::Scope) } else { Ok(()) }
    }
}

fn is_matched(patterns: &[Regex], url: &Url) -> bool {
    patterns.iter().any(|pattern| pattern.is_match(url.as_str()))
}

impl Index {
    fn of(seeds: &[Seed]) -> Self {
        let mut index = Index::default();
        for (place, seed) in seeds.iter().enumerate() {
            index.add_seed(place, seed);
        }
        index
    }

    fn add_seed(&mut self, place: usize, seed: &Seed) {
        let reach = seed.depth.map_or(Reach::MAX, Reach::from);
        self.add(seed.scope, &seed.url, reach);
        self.places.insert(seed.url.fingerprint(), place);
        if seed.url.scheme() == "gopher" {
            self.gopher_sites.insert(seed.url.site_text().into());
        }
        if let Some(moved) = &seed.moved_to {
            self.add(seed.scope, moved, reach);
            // A seed is always in its own scope.
            self.places.entry(moved.fingerprint()).or_insert(place);
        }
    }

    fn add(&mut self, scope: Scope, url: &Url, reach: Reach) {
        self.given.insert(url.fingerprint());
        let place = match scope {
            Scope::Page => self.pages.entry(url.clone()).or_default(),
            Scope::Prefix => {
                let site: Box<str> = bare_site(url).into();
                self.sites_with_folders.insert(site.clone());
                self.folders.entry((site, folder(url.path()).into())).or_default()
            }
            Scope::Site => self.sites.entry(bare_site(url).into()).or_default(),
            Scope::Domain => self.domains.entry(url.registrable_domain().into()).or_default(),
            Scope::Any => self.anywhere.get_or_insert_default(),
        };
        *place = reach.max(*place);
    }

    fn covers(&self, url: &Url, depth: u16) -> bool {
        let reaches = |reach: Option<&Reach>| reach.is_some_and(|&reach| reach >= Reach::from(depth));
        let site = bare_site(url);
        reaches(self.anywhere.as_ref())
            || (!self.sites.is_empty() && reaches(self.sites.get(site)))
            || (!self.domains.is_empty() && reaches(self.domains.get(url.registrable_domain())))
            || (!self.pages.is_empty() && reaches(self.pages.get(url)))
            || (self.sites_with_folders.contains(site) && self.covers_folder(site, url.path(), depth))
    }

    /// A gopher selector can spell the commands of another service, so only a seed may name a port other than gopher's.
    fn speaks_gopher(&self, url: &Url) -> bool {
        url.scheme() != "gopher" || url.port() == GOPHER_PORT || self.gopher_sites.contains(url.site_text())
    }

    fn covers_folder(&self, site: &str, path: &str, depth: u16) -> bool {
        let site: Box<str> = site.into();
        let slashes = path.match_indices('/').map(|(slash, _)| &path[..=slash]);
        slashes.into_iter().any(|folder| {
            let reach = self.folders.get(&(site.clone(), Box::from(folder)));
            reach.is_some_and(|&reach| reach >= Reach::from(depth))
        })
    }
}

fn bare_site(url: &Url) -> &str {
    let site = url.site_text();
    site.strip_prefix("www.").unwrap_or(site)
}

fn folder(path: &str) -> &str {
    &path[..=path.rfind('/').unwrap_or(0)]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use vernal_model::Moment;

    use super::*;

    fn url(text: &str) -> Url {
        Url::parse(text).unwrap()
    }

    fn settings(seeds: Vec<Seed>) -> DispatcherSettings {
        DispatcherSettings { seeds, include: Vec::new(), exclude: Vec::new(), depth_max: None }
    }

    fn seed(text: &str, scope: Scope) -> Seed {
        Seed { scope, ..Seed::new(url(text), Moment::EPOCH) }
    }

    #[test]
    fn include_and_exclude_bind_links_and_include_spares_the_seeds() {
        let dispatcher = Dispatcher::new(DispatcherSettings {
            include: vec![pattern("/docs/").unwrap()],
            exclude: vec![pattern(r"\.zip$").unwrap()],
            ..settings(vec![seed("http://a.org/", Scope::Site), seed("http://a.org/all.zip", Scope::Page)])
        });
        assert!(dispatcher.in_scope(&url("http://a.org/"), 0));
        assert!(dispatcher.in_scope(&url("http://a.org/docs/x"), 1));
        assert!(!dispatcher.in_scope(&url("http://a.org/blog/x"), 1));
        assert!(!dispatcher.in_scope(&url("http://a.org/docs/x.zip"), 1));
        assert!(!dispatcher.in_scope(&url("http://a.org/all.zip"), 0));
        // A requisite belongs to its page wherever on the site it lies.
        assert_eq!(dispatcher.admit_requisite(&url("http://a.org/blog/x.png")), Ok(()));
        assert_eq!(dispatcher.admit_requisite(&url("http://a.org/blog/x.zip")), Err(Refusal::Scope));
    }

    #[test]
    fn gopher_is_spoken_to_its_own_port_or_to_one_that_a_seed_names() {
        let seeds = vec![seed("http://a.org/", Scope::Any), seed("gopher://b.org:7070/", Scope::Any)];
        let dispatcher = Dispatcher::new(settings(seeds));
        for text in ["gopher://c.org/1", "gopher://c.org:70/1", "gopher://b.org:7070/0/x", "http://c.org:6379/"] {
            assert!(dispatcher.in_scope(&url(text), 1), "{text}");
        }
        for text in
            ["gopher://10.0.0.1:6379/1SET", "gopher://b.org:7071/", "gopher://a.org:80/", "gopher://c.org:7070/"]
        {
            assert!(!dispatcher.in_scope(&url(text), 1), "{text}");
        }
    }

    #[test]
    fn limits_are_refusals_that_name_themselves() {
        let mut dispatcher = Dispatcher::new(DispatcherSettings {
            depth_max: Some(2),
            ..settings(vec![seed("http://a.org/", Scope::Site)])
        });
        let page = url("http://a.org/x");
        assert_eq!(dispatcher.admit(&page, 2), Ok(()));
        assert_eq!(dispatcher.admit(&page, 3), Err(Refusal::Scope));
        assert_eq!(dispatcher.admit(&url("http://b.org/"), 0), Err(Refusal::Scope));
        dispatcher.set_seeds(vec![seed("http://b.org/", Scope::Site)]);
        assert!(dispatcher.in_scope(&url("http://b.org/"), 0) && !dispatcher.in_scope(&page, 0));
    }

    #[test]
    fn a_pattern_that_would_cost_too_much_is_refused_by_name() {
        let error = pattern(r"(\w{500}){500}").unwrap_err();
        assert!(error.to_string().starts_with(r"read the pattern `(\w{500}){500}`: "), "{error}");
        assert!(pattern("(").is_err());
    }

    fn any_url() -> impl Strategy<Value = Url> {
        let host =
            prop::sample::select(vec!["a.org", "www.a.org", "sub.a.org", "b.co.uk", "www.b.co.uk", "127.0.0.1:81"]);
        let path = "(/[xy]{1,2}){0,3}/?";
        ("https?", host, path).prop_map(|(scheme, host, path)| url(&format!("{scheme}://{host}{path}")))
    }

    fn any_seed() -> impl Strategy<Value = Seed> {
        let scope = prop::sample::select(vec![Scope::Page, Scope::Prefix, Scope::Site, Scope::Domain, Scope::Any]);
        // Seeds of scope `any` are rare here, because one of them covers everything.
        let scope = prop_oneof![9 => scope.prop_filter("not any", |scope| *scope != Scope::Any), 1 => Just(Scope::Any)];
        (any_url(), scope, prop::option::of(0u16..3), prop::option::of(any_url()))
            .prop_map(|(url, scope, depth, moved_to)| Seed { scope, depth, moved_to, ..Seed::new(url, Moment::EPOCH) })
    }

    proptest! {
        #[test]
        fn the_index_answers_as_asking_every_seed_would(
            seeds in prop::collection::vec(any_seed(), 0..4), asked in any_url(), depth in 0u16..4
        ) {
            let expected = seeds.iter().any(|seed| seed.covers(&asked, depth));
            prop_assert_eq!(Dispatcher::new(settings(seeds)).in_scope(&asked, depth), expected);
        }

        #[test]
        fn seeds_put_one_by_one_are_as_seeds_given_at_once(
            seeds in prop::collection::vec(any_seed(), 0..6), asked in any_url(), depth in 0u16..4
        ) {
            let mut dispatcher = Dispatcher::new(settings(Vec::new()));
            let mut plain: Vec<Seed> = Vec::new();
            for seed in seeds {
                let place = plain.iter().position(|known| known.url == seed.url);
                prop_assert_eq!(dispatcher.put_seed(seed.clone()), place.map(|place| plain[place].clone()));
                match place {
                    Some(place) => plain[place] = seed,
                    None => plain.push(seed),
                }
            }
            prop_assert_eq!(dispatcher.seeds(), &plain[..]);
            prop_assert_eq!(dispatcher.in_scope(&asked, depth), plain.iter().any(|seed| seed.covers(&asked, depth)));
            let own = plain.iter().find(|seed| seed.url == asked);
            let moved_here = |seed: &&Seed| seed.moved_to.as_ref() == Some(&asked);
            match dispatcher.seed_at(&asked) {
                Some(seed) => prop_assert!(own.map_or(moved_here(&seed), |own| own == seed)),
                None => prop_assert!(own.is_none() && !plain.iter().any(|seed| moved_here(&seed))),
            }
        }
    }
}
