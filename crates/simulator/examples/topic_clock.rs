//! Whether topics are a clock across sites, on recorded histories: `topic_clock WEBS CHANCES TRACE [SHARE]`, such as
//! `topic_clock pub,ota,stalker 5 web.csv.gz`. A recording has no text, so that topics are words of the pages' paths and of
//! their sites' names, met on at least two sites.
//!
//! Printed for each web: how much likelier a page changes on a day on which another page of its site, or of one of its
//! topics on another site, changes; then the freshness of `vernal` with a clock for each site, with a clock for each topic in
//! the place of the site's, and with the clock of the site and beside it the topics as a source of hints, each
//! topic believed as far as its hints proved true. The gap is that of docs/refresh.md.

#[path = "clocks/compared.rs"]
mod compared;

use std::collections::{BTreeMap, BTreeSet};
use std::process::ExitCode;

use compared::{Failure, compare, options, run};

use vernal_model::{Chance, Moment, PageKey, PolicyState, TrustRow};
use vernal_policy::estimate::trust;
use vernal_policy::{Believing, Held, RateSums, Refresh, Seen, Valued, View, by_name};
use vernal_simulator::lab::trace::{self, Selection};
use vernal_simulator::lab::world::WorldSite;
use vernal_simulator::lab::{LabTrial, World};

/// A topic has at least so many pages, on so many sites, and at most this share of all pages, if nobody says another.
const PAGES_MIN: usize = 5;
const SITES_MIN: usize = 2;
const SHARE_MAX: f64 = 0.2;
/// The topics of a page at most: those with the fewest pages, which is where one step of a reputation puts the most.
const TOPICS_MAX: usize = 6;
/// Parts of paths that say nothing of a page.
const STOP_WORDS: [&str; 24] = [
    "html", "htm", "index", "www", "com", "org", "net", "content", "output", "static", "docs", "doc", "site", "pages",
    "page", "the", "and", "for", "with", "json", "txt", "xml", "contrib", "text",
];

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match told(&words) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("topic_clock: {error}");
            ExitCode::FAILURE
        }
    }
}

fn told(words: &[String]) -> Result<(), Failure> {
    let [webs, chances, path, share @ ..] = words else { return Err("topic_clock WEBS CHANCES TRACE [SHARE]".into()) };
    let share_max = share.first().map_or(Ok(SHARE_MAX), |share| share.parse())?;
    let chances: u64 = chances.parse()?;
    for web in webs.split(',') {
        let (world, _) = trace::load(path.as_ref(), &Selection::by_name(web)?)?;
        let topics = Topics::of(&world, share_max);
        let with = topics.of_pages.iter().filter(|topics| !topics.is_empty()).count();
        println!(
            "{web}: {} pages on {} sites, {} topics, {with} pages with some",
            world.pages.len(),
            world.sites.len(),
            topics.pages.len()
        );
        let (by_site, by_topic) = together(&world, &topics);
        println!(
            "  a change of the same day is {by_site:.2} times as likely with the site's, {by_topic:.2} with a topic's"
        );
        let in_place = in_the_place_of_sites(&world, &topics);
        let numbered = numbered(&world);
        compare(
            &world,
            chances,
            vec![
                ("clock of the site", Box::new(|chance| run(&world, "vernal", chance))),
                ("of the topic in its place", Box::new(|chance| run(&in_place, "vernal", chance))),
                ("of the site, topics as hints", Box::new(|chance| run_with(&numbered, &topics, chance))),
            ],
        )?;
    }
    Ok(())
}

fn run_with(world: &World, topics: &Topics, chance: u64) -> Result<f64, Failure> {
    let inner = by_name("vernal").ok_or("a policy by its name")?;
    let mut policy = TopicHints::around(inner, world, topics);
    Ok(LabTrial::run(world, &mut policy, &options("vernal", chance))?.after.freshness)
}

/// Which pages have which topics.
struct Topics {
    /// By topic; sorted.
    pages: Vec<Vec<u32>>,
    of_pages: Vec<Vec<u32>>,
}

impl Topics {
    fn of(world: &World, share_max: f64) -> Topics {
        let mut by_word: BTreeMap<String, Vec<u32>> = BTreeMap::new();
        for (number, page) in world.pages.iter().enumerate() {
            let site = &world.sites[page.site as usize].name;
            for word in words(site).chain(words(&page.name)).collect::<BTreeSet<_>>() {
                by_word.entry(word).or_default().push(number as u32);
            }
        }
        let sites = |pages: &[u32]| pages.iter().map(|page| world.pages[*page as usize].site).collect::<BTreeSet<_>>();
        let most = (share_max * world.pages.len() as f64) as usize;
        let fits = |pages: &Vec<u32>| (PAGES_MIN..=most).contains(&pages.len()) && sites(pages).len() >= SITES_MIN;
        let mut pages: Vec<Vec<u32>> = by_word.into_values().filter(fits).collect();
        pages.sort_by_key(Vec::len);
        let mut of_pages = vec![Vec::new(); world.pages.len()];
        for (topic, members) in pages.iter_mut().enumerate() {
            members.retain(|page| of_pages[*page as usize].len() < TOPICS_MAX);
            members.iter().for_each(|page| of_pages[*page as usize].push(topic as u32));
        }
        Topics { pages, of_pages }
    }
}

fn words(text: &str) -> impl Iterator<Item = String> + '_ {
    let parts = text.split(|letter: char| !letter.is_alphanumeric()).map(str::to_lowercase);
    parts
        .filter(|word| word.chars().count() >= 3 && !word.starts_with(|first: char| first.is_ascii_digit()))
        .filter(|word| !STOP_WORDS.contains(&word.as_str()))
}

/// How many times as often pages change on days on which another page of their site, or of a topic on another site, does,
/// as if the two had nothing to do with each other.
fn together(world: &World, topics: &Topics) -> (f64, f64) {
    let day = |moment: Moment| (moment.since(world.origin).days_f64()) as u32;
    let days_of = |page: usize| -> BTreeSet<u32> {
        world
            .changes(page)
            .iter()
            .filter(|change| change.moment > world.origin)
            .map(|change| day(change.moment))
            .collect()
    };
    let days: Vec<BTreeSet<u32>> = (0..world.pages.len()).map(days_of).collect();
    // How many pages of a group change on each day.
    let count = |pages: &mut dyn Iterator<Item = usize>| {
        let mut counts: BTreeMap<u32, u32> = BTreeMap::new();
        pages.for_each(|page| days[page].iter().for_each(|day| *counts.entry(*day).or_default() += 1));
        counts
    };
    let site_of = |page: usize| world.pages[page].site;
    let mut of_sites: Vec<Vec<usize>> = vec![Vec::new(); world.sites.len()];
    (0..world.pages.len()).for_each(|page| of_sites[site_of(page) as usize].push(page));
    let by_site: Vec<BTreeMap<u32, u32>> = of_sites.iter().map(|pages| count(&mut pages.iter().copied())).collect();
    let by_topic: Vec<BTreeMap<u32, u32>> =
        topics.pages.iter().map(|pages| count(&mut pages.iter().map(|page| *page as usize))).collect();
    let mut by_both: BTreeMap<(u32, u32), BTreeMap<u32, u32>> = BTreeMap::new();
    for (topic, pages) in topics.pages.iter().enumerate() {
        for &page in pages {
            let counts = by_both.entry((topic as u32, site_of(page as usize))).or_default();
            days[page as usize].iter().for_each(|day| *counts.entry(*day).or_default() += 1);
        }
    }
    let (mut met, mut expected) = ([0.0; 2], [0.0; 2]);
    for page in 0..world.pages.len() {
        let (from, until) = world.life(page);
        let online =
            from.since(world.origin).days_f64() as u32..until.min(world.end).since(world.origin).days_f64() as u32;
        let site: BTreeSet<u32> = by_site[site_of(page) as usize]
            .iter()
            .filter(|(day, count)| **count > u32::from(days[page].contains(day)))
            .map(|(day, _)| *day)
            .collect();
        let mut topic = BTreeSet::new();
        for &of in &topics.of_pages[page] {
            let own = &by_both[&(of, site_of(page))];
            let elsewhere = |(day, count): &(&u32, &u32)| **count > own.get(day).copied().unwrap_or(0);
            topic.extend(by_topic[of as usize].iter().filter(elsewhere).map(|(day, _)| *day));
        }
        for (at, others) in [site, topic].iter().enumerate() {
            let own = days[page].range(online.clone());
            met[at] += own.clone().filter(|day| others.contains(day)).count() as f64;
            let length = f64::from(online.end.saturating_sub(online.start).max(1));
            expected[at] += own.count() as f64 * others.range(online.clone()).count() as f64 / length;
        }
    }
    (met[0] / expected[0], met[1] / expected[1])
}

/// The same pages with the first of their topics for a site, where they have one.
fn in_the_place_of_sites(world: &World, topics: &Topics) -> World {
    let mut world = world.clone();
    let sites = world.sites.len() as u32;
    world.sites.extend(
        (0..topics.pages.len()).map(|topic| WorldSite { name: format!("topic {topic}"), ..WorldSite::default() }),
    );
    for (page, topics) in world.pages.iter_mut().zip(&topics.of_pages) {
        if let Some(topic) = topics.first() {
            (page.site, page.path) = (sites + topic, 0);
        }
    }
    world
}

/// The same pages, each with its number for a size, by which a policy can tell who is who.
fn numbered(world: &World) -> World {
    let mut world = world.clone();
    for (number, page) in world.pages.iter_mut().enumerate() {
        page.bytes = number as u32;
    }
    world
}

/// A policy to which changes of a topic's pages are hints for its pages on other sites, worth what the topic's earlier hints
/// proved to be.
struct TopicHints<'a> {
    inner: Box<dyn Refresh>,
    topics: &'a Topics,
    trust: Vec<TrustRow>,
    /// Pages of each topic that were not hinted since their last visit.
    unhinted: Vec<Vec<u32>>,
    pages: Vec<Known>,
    numbers: BTreeMap<PageKey, u32>,
}

#[derive(Clone, Default)]
struct Known {
    key: Option<PageKey>,
    site: u32,
    last_visit: Moment,
    changes: u32,
    days: f64,
    /// When each of its topics first hinted since the last visit.
    hinted: [Option<Moment>; TOPICS_MAX],
}

impl<'a> TopicHints<'a> {
    fn around(inner: Box<dyn Refresh>, world: &World, topics: &'a Topics) -> Self {
        let pages = world.pages.iter().map(|page| Known { site: page.site, ..Known::default() }).collect();
        let trust = vec![TrustRow::default(); topics.pages.len()];
        let unhinted = topics.pages.clone();
        TopicHints { inner, topics, trust, unhinted, pages, numbers: BTreeMap::new() }
    }

    /// What a visit says of the topics of its page, and what its find means for their other pages.
    fn judge(&mut self, number: u32, seen: &Seen, changed: bool) {
        let mean_rate = self.rates().mean();
        let page = &mut self.pages[number as usize];
        let elapsed_days = seen.moment.since(page.last_visit).days_f64();
        page.changes += u32::from(changed);
        page.days += elapsed_days;
        for (slot, &topic) in self.topics.of_pages[number as usize].iter().enumerate() {
            let page = &mut self.pages[number as usize];
            let hinted = page.hinted[slot].take();
            let hinted_after_days = hinted.map(|moment| moment.since(page.last_visit).days_f64());
            if hinted.is_some() {
                self.unhinted[topic as usize].push(number);
            }
            let row = &mut self.trust[topic as usize];
            trust::hear(row, trust::Outcome { elapsed_days, hinted_after_days, changed }, mean_rate, seen.moment);
            trust::judge_by_outcomes(row, seen.moment);
        }
        self.pages[number as usize].last_visit = seen.moment;
        if changed {
            for &topic in &self.topics.of_pages[number as usize] {
                self.hint(topic, number, seen.moment, mean_rate);
            }
        }
    }

    fn hint(&mut self, topic: u32, from: u32, now: Moment, mean_rate: f64) {
        let site = self.pages[from as usize].site;
        for number in std::mem::take(&mut self.unhinted[topic as usize]) {
            let page = &mut self.pages[number as usize];
            let slot = self.topics.of_pages[number as usize].iter().position(|of| *of == topic);
            let (Some(key), Some(slot)) = (page.key.filter(|_| page.site != site), slot) else {
                self.unhinted[topic as usize].push(number);
                continue;
            };
            page.hinted[slot] = Some(now);
            let row = &self.trust[topic as usize];
            if row.muted.is_none() {
                let rate = trust::page_rate(row, mean_rate, page.changes, page.days);
                if let Some(hinted) = self.inner.hinted() {
                    hinted.hint(key, trust::worth(row, rate, mean_rate));
                }
            }
        }
    }
}

impl Refresh for TopicHints<'_> {
    fn name(&self) -> &'static str {
        "vernal"
    }

    fn recall(&mut self, held: &Held<'_>) {
        let number = held.wire_bytes as u32;
        self.numbers.insert(held.page, number);
        let page = &mut self.pages[number as usize];
        (page.key, page.last_visit) = (Some(held.page), held.last_visit);
        self.inner.recall(held);
    }

    fn choose(&mut self, view: &dyn View, now: Moment, chance: &mut Chance) -> Vec<PageKey> {
        self.inner.choose(view, now, chance)
    }

    fn learn(&mut self, seen: &Seen) -> PolicyState {
        let state = self.inner.learn(seen);
        if let Some((&number, changed)) = self.numbers.get(&seen.page).zip(seen.changed) {
            self.judge(number, seen, changed);
        }
        state
    }

    fn put_back(&mut self, page: PageKey) {
        self.inner.put_back(page);
    }

    fn forget(&mut self, page: PageKey) {
        if let Some(number) = self.numbers.remove(&page) {
            self.pages[number as usize].key = None;
        }
        self.inner.forget(page);
    }

    fn next_due(&self, view: &dyn View, now: Moment) -> Option<Moment> {
        self.inner.next_due(view, now)
    }

    fn why(&self, page: PageKey, now: Moment) -> Vec<(String, String)> {
        self.inner.why(page, now)
    }

    fn valued(&mut self) -> Option<&mut dyn Valued> {
        self.inner.valued()
    }

    fn believing(&self) -> Option<&dyn Believing> {
        Some(self)
    }
}

impl Believing for TopicHints<'_> {
    fn rates(&self) -> RateSums {
        self.inner.believing().map_or_else(RateSums::default, |believing| believing.rates())
    }
}
