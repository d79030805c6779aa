//! What topics are worth to new sites: `topics [DAYS] [CHANCES]`. Pages of forty topics, spread over sites; a topic has a
//! change rate of its own and pages lie about it. Some sites are there from the beginning, the others come one by one. The
//! default policy keeps them fresh, with and without being told the topics of pages, or the dates of their changes. Printed: the freshness of all pages, and
//! of those of new sites in their first thirty days. Then a web whose topics publish across sites: half of a topic's pages
//! change at each of its hours. Pages are kept fresh with no clock, with a clock for each site, and with one for each topic.

use vernal_model::{Chance, Moment, PageKey, Partition, PolicyState, Span, TopicId, TopicOf};
use vernal_policy::{Held, Refresh, Seen, View, by_name};

const TOPICS: u64 = 40;
const PAGES_PER_SITE: u32 = 10;
const FIRST_SITES: u32 = 100;
const SITES: u32 = 300;
const VISITS_PER_PAGE_AND_DAY: f64 = 0.05;
/// Spread of rates between topics, and of pages within one, in logarithm.
const BETWEEN: f64 = 1.5;
const WITHIN: f64 = 0.5;
const MEAN_RATE: f64 = 0.05;
const NEW_FOR_DAYS: f64 = 30.0;

fn main() {
    let mut arguments = std::env::args().skip(1).filter_map(|text| text.parse::<u64>().ok());
    let (days, chances) = (arguments.next().unwrap_or(180), arguments.next().unwrap_or(5));
    println!("topics a site  told              all pages  new sites");
    for per_site in [1, 3] {
        for (name, told) in [("nothing", NOTHING_TOLD), ("topics", TOPICS_TOLD), ("dates", DATES_TOLD)] {
            let runs: Vec<[f64; 2]> =
                (1..=chances).map(|chance| World::new(chance, per_site, days).run(told)).collect();
            let mean = |at: usize| runs.iter().map(|run| run[at]).sum::<f64>() / runs.len() as f64;
            println!("{per_site:13}  {name:16}  {:9.4}  {:9.4}", mean(0), mean(1));
        }
    }
    println!("\nclock of    all pages");
    for (name, policy, by_topic) in [("nobody", "bayes", false), ("sites", "vernal", false), ("topics", "vernal", true)]
    {
        let told = Told { policy, by_topic, ..NOTHING_TOLD };
        let runs = (1..=chances).map(|chance| World::publishing(chance, days).run(told)[0]);
        println!("{name:10}  {:9.4}", runs.sum::<f64>() / chances as f64);
    }
}

/// What the policy is told beyond what its visits find: the topics of pages, and when each last changed.
#[derive(Copy, Clone)]
struct Told {
    policy: &'static str,
    topics: bool,
    dates: bool,
    /// Topics are told as if they were sites, so that each has a clock.
    by_topic: bool,
}

const NOTHING_TOLD: Told = Told { policy: "vernal", topics: false, dates: false, by_topic: false };
const TOPICS_TOLD: Told = Told { topics: true, ..NOTHING_TOLD };
const DATES_TOLD: Told = Told { dates: true, ..NOTHING_TOLD };

struct World {
    days: f64,
    pages: Vec<Page>,
}

struct Page {
    born: f64,
    topic: TopicId,
    /// Every change, in days.
    changes: Vec<f64>,
    last_visit: f64,
}

impl World {
    fn new(chance: u64, topics_per_site: u64, days: u64) -> World {
        let chance = Chance::new(chance).stream("topics");
        let days = days as f64;
        let gap = days / f64::from(SITES - FIRST_SITES);
        let mut pages = Vec::new();
        for site in 0..SITES {
            let mut chance = chance.stream("site").numbered(u64::from(site));
            let topics: Vec<u64> = (0..topics_per_site).map(|_| chance.below(TOPICS)).collect();
            let born = f64::from(site.saturating_sub(FIRST_SITES)) * gap;
            for _ in 0..PAGES_PER_SITE {
                let topic = topics[chance.below(topics_per_site) as usize];
                let of_topic = normal(&mut Chance::new(77).numbered(topic)) * BETWEEN;
                let rate = MEAN_RATE * (of_topic + normal(&mut chance) * WITHIN - 0.5 * (BETWEEN * BETWEEN)).exp();
                let mut at = born;
                let mut changes = Vec::new();
                while at < days {
                    at += chance.wait(rate);
                    changes.push(at);
                }
                pages.push(Page { born, topic: TopicId(topic as u32), changes, last_visit: born });
            }
        }
        World { days, pages }
    }

    /// A web whose topics publish: at the hours of a topic each of its pages changes with an even chance. All sites are there
    /// from the beginning.
    fn publishing(chance: u64, days: u64) -> World {
        let mut world = World::new(chance, 3, days);
        for (number, page) in world.pages.iter_mut().enumerate() {
            let mut hours = Chance::new(chance).stream("hours").numbered(u64::from(page.topic.0));
            let mut own = Chance::new(chance).stream("joins").numbered(number as u64);
            let (mut at, mut changes) = (0.0, Vec::new());
            while at < world.days {
                at += hours.wait(2.0 * MEAN_RATE);
                if at >= world.days || own.happens(0.5) {
                    changes.push(at);
                }
            }
            (page.changes, page.born, page.last_visit) = (changes, 0.0, 0.0);
        }
        world
    }

    /// The share of page-days that were up to date: of all pages, and of those of new sites while they were new.
    fn run(mut self, told: Told) -> [f64; 2] {
        let mut policy = by_name(told.policy).expect("a policy by its name");
        let mut chance = Chance::new(1).stream("choices");
        let (mut fresh, mut watched) = ([0.0; 2], [0.0; 2]);
        let (mut known, mut in_hand, mut now) = (0, 0.0, 0.0);
        let step = 1.0 / 24.0;
        while now < self.days {
            while let Some(page) = self.pages.get(known).filter(|page| page.born <= now) {
                take_up(&mut *policy, known as u32, page, told);
                known += 1;
            }
            in_hand += VISITS_PER_PAGE_AND_DAY * known as f64 * step;
            let hour = Hour { left: in_hand as usize, held: known as u64 };
            for key in policy.choose(&hour, moment(now), &mut chance) {
                in_hand -= 1.0;
                let page = &mut self.pages[key.number as usize];
                let from = page.changes.partition_point(|&at| at <= page.last_visit);
                let changed = page.changes[from] <= now;
                policy.learn(&Seen {
                    page: key,
                    moment: moment(now),
                    previous: Some(moment(page.last_visit)),
                    changed: Some(changed),
                    degree: 0.0,
                    last_modified: page.last_change(now).map(moment).filter(|_| told.dates),
                    wire_bytes: 0,
                });
                page.last_visit = now;
            }
            for page in &self.pages[..known] {
                let next = page.changes[page.changes.partition_point(|&at| at <= page.last_visit)];
                let is_new = page.born > 0.0 && now - page.born < NEW_FOR_DAYS;
                for (at, counts) in [(0, true), (1, is_new)] {
                    if counts {
                        fresh[at] += f64::from(u8::from(next > now));
                        watched[at] += 1.0;
                    }
                }
            }
            now += step;
        }
        [fresh[0] / watched[0], fresh[1] / watched[1]]
    }
}

impl Page {
    fn last_change(&self, now: f64) -> Option<f64> {
        self.changes[..self.changes.partition_point(|&at| at <= now)].last().copied()
    }
}

fn take_up(policy: &mut dyn Refresh, number: u32, page: &Page, told: Told) {
    let key = PageKey::new(Partition(0), number);
    policy.recall(&Held::new(
        key,
        if told.by_topic { page.topic.0 } else { number / PAGES_PER_SITE },
        moment(page.born),
        &PolicyState::default(),
    ));
    if told.topics
        && let Some(topical) = policy.topical()
    {
        topical.topics(key, &[TopicOf { topic: page.topic, reputation: 1.0 }]);
    }
}

struct Hour {
    left: usize,
    held: u64,
}

impl View for Hour {
    fn visits_left(&self) -> usize {
        self.left
    }

    fn has_room(&self, _: PageKey) -> bool {
        true
    }

    fn refresh_min(&self) -> Span {
        Span::from_hours(1)
    }

    fn held(&self) -> u64 {
        self.held
    }

    fn per_day(&self) -> f64 {
        VISITS_PER_PAGE_AND_DAY * self.held as f64
    }
}

fn moment(days: f64) -> Moment {
    Moment::from_secs(1_777_593_600) + Span::from_days(1).scaled(days)
}

/// A draw from the normal distribution (Box and Muller 1958).
fn normal(chance: &mut Chance) -> f64 {
    (-2.0 * (1.0 - chance.share()).ln()).sqrt() * (std::f64::consts::TAU * chance.share()).cos()
}
