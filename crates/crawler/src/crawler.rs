//! The crawler: a deterministic state machine. Reports, ticks and acts come in, orders go out; time and chance are
//! arguments, and everything it must not forget is a deed.
//!
//! - `sending`: which orders may leave now.
//! - `choosing`: which held page is worth the next visit.
//! - `second_looks`: visits soon after another, to learn what is noise.
//! - `sampling`: how fresh the copy really is.
//! - `judging`: what differs, and whether it means something.
//! - `taking`: what a report changes.
//! - `admitting`: how found URLs become waiting ones.
//! - `acting`: what a person asks for.
//! - `topics`: which pages are thought to change together.
//! - `widening`: held pages meet a scope that has grown.
//! - `weighing`: how important pages are by the links between them.
//! - `collecting`: which pages are worth holding.
//! - `hinting`, `hint_places`: what sites say of their own changes, and what that does to the schedule.
//! - `restoring`: everything anew from the archive alone.

mod acting;
mod admitting;
mod choosing;
mod collecting;
mod companions;
mod dating;
mod hint_places;
mod hinting;
mod images;
mod judging;
mod promises;
mod restoring;
mod sampling;
mod second_looks;
mod sending;
mod subscribing;
mod taking;
mod topics;
mod weighing;
mod widening;

pub use hint_places::trust_words;
pub use promises::{Cure, PromisesKept};
pub use restoring::Restored;
pub use sampling::Measured;
pub use weighing::Weighed;

use foldhash::{HashMap, HashMapExt, HashSet, HashSetExt};
use vernal_frontier::{Dispatcher, DispatcherSettings, Waiting};
use vernal_model::{
    Account, Chance, Deed, Moment, OrderId, Origin, Page, PageKey, PageState, Partition as PartitionId, Seed, Site,
    Span, Standing, Url,
};
use vernal_policy::{Belief, RateSums};
use vernal_repository::bodies::Bodies;
use vernal_repository::{Reader, Repository};

use self::companions::Companions;
use self::judging::Books;
use self::sampling::Samples;
use self::second_looks::SecondLooks;
use self::topics::Topics;
use self::weighing::Weighing;
use self::widening::Widening;
use crate::coordinator::{Coordinator, Lane};
use crate::group::Group;
use crate::hint_book::HintBook;
use crate::intake::discovery::Recent;
use crate::partition::Partition;
use crate::refresh_view::Facts;
use crate::robots_book::RobotsBook;
use crate::settings::{Promise, promise_of};
use crate::subscription_book::SubscriptionBook;
use crate::wanted::Wanted;
use crate::{DiskFreeMin, Error, Pulse, Result, Settings};

/// The partition whose log holds what belongs to the whole crawl: seeds, controls, the purse.
const WHOLE: PartitionId = PartitionId(0);

pub struct Crawler {
    settings: Settings,
    repository: Repository,
    reader: Reader,
    /// Older versions, read again when something differs.
    bodies: Bodies,
    partitions: Vec<Partition>,
    /// The partition of each known site, by its row: the public-suffix list may have changed since.
    home: HashMap<Site, PartitionId>,
    coordinator: Coordinator,
    dispatcher: Dispatcher,
    /// Whether some seed has a weight other than 1.
    seeds_weigh: bool,
    /// Whether some seed or setting promises visits.
    promises: bool,
    robots: RobotsBook,
    recent: Recent,
    widening: Widening,
    topics: Topics,
    weighing: Weighing,
    wanted: Wanted,
    group: Group,
    in_flight: HashMap<OrderId, InFlight>,
    /// Those of them that are first visits.
    new_in_flight: u64,
    /// Pages that are ordered and not yet committed: they are not ordered again.
    out: HashSet<PageKey>,
    /// Due pages that the policies chose and that have not left yet.
    chosen: Vec<PageKey>,
    /// The mean change rate per day over all partitions, and when it was summed up.
    mean_rate: f64,
    rates_summed: Option<Moment>,
    /// What the policies believed of their pages when the rates were summed up.
    belief: Option<Belief>,
    samples: Samples,
    books: Books,
    second_looks: SecondLooks,
    hints: HintBook,
    subscriptions: SubscriptionBook,
    companions: Companions,
    /// When the files of hints were last given their places.
    files_placed: Moment,
    /// Where the round over the partitions goes on.
    turn: usize,
    /// The partitions in which anything can happen, a bit for each: most crawls live in a few of them, and walking
    /// through all for every order would cost more than the order.
    lively: u64,
    /// Visits to held pages that the partitions' credits do not know of yet.
    uncredited: f64,
    chance: Chance,
    started: bool,
    paused: bool,
    disk_full: bool,
    disk_checked: Moment,
    /// When the sieve last ran.
    sieved: Moment,
    next_order: u64,
    reports_taken: u64,
    commits: u64,
}

/// What an order that left was for.
struct InFlight {
    /// The site that was really asked.
    site: Site,
    address: Option<std::net::IpAddr>,
    what: Asked,
}

enum Asked {
    First(Box<Waiting>),
    Again(Box<Page>),
    Robots { origin: Origin, home: Site },
    Subscription { file: PageKey },
}

impl Asked {
    /// Whether the visit may bring a page that is not held yet, so that it counts against the limits.
    fn may_become_held(&self) -> bool {
        match self {
            Asked::First(_) => true,
            Asked::Again(page) => page.state != PageState::Held,
            Asked::Robots { .. } | Asked::Subscription { .. } => false,
        }
    }
}

impl Crawler {
    /// Takes up the work where the tables say it is. Nothing is written before the first tick or act.
    pub fn open(repository: Repository, settings: Settings, now: Moment) -> Result<Crawler> {
        let reader = repository.reader();
        let partitions = (0..PartitionId::COUNT).map(|id| Partition::new(PartitionId(id), &settings, now));
        let mut account = reader.account();
        let begun = Account::begun(&settings.budget, reader.totals().held, now);
        if account.filled == Moment::EPOCH {
            account = begun;
        }
        // The budget may have another unit now: neither an old debt nor an old plenty outlives an hour's share.
        account.in_hand = account.in_hand.clamp(-begun.in_hand, begun.in_hand);
        let mut crawler = Crawler {
            partitions: partitions.collect::<Result<_>>()?,
            home: HashMap::new(),
            coordinator: Coordinator::new(&settings, account),
            dispatcher: dispatcher(&settings, &reader)?,
            seeds_weigh: false,
            promises: false,
            robots: RobotsBook::new(&settings.robots_agent),
            recent: Recent::new(),
            widening: Widening::new(&settings, &reader.seeds()?, reader.scope_mark()),
            topics: Topics::default(),
            weighing: Weighing::new(reader.graph_mark()?),
            wanted: Wanted::default(),
            group: Group::default(),
            in_flight: HashMap::new(),
            new_in_flight: 0,
            out: HashSet::new(),
            chosen: Vec::new(),
            mean_rate: RateSums::default().mean(),
            rates_summed: None,
            belief: None,
            samples: Samples::default(),
            books: Books::default(),
            second_looks: SecondLooks::default(),
            hints: HintBook::default(),
            subscriptions: SubscriptionBook::default(),
            companions: Companions::default(),
            files_placed: Moment::EPOCH,
            turn: 0,
            lively: 0,
            uncredited: 0.0,
            chance: Chance::new(settings.chance).stream("crawler"),
            started: false,
            paused: reader.paused_all(),
            disk_full: false,
            disk_checked: Moment::EPOCH,
            sieved: Moment::EPOCH,
            next_order: 0,
            reports_taken: 0,
            commits: 0,
            settings,
            repository,
            bodies: Bodies::new(reader.dir()),
            reader,
        };
        crawler.set_seeds(crawler.dispatcher.seeds().to_vec());
        crawler.recall(now)?;
        crawler.recall_hints(now)?;
        crawler.recall_subscriptions(now);
        Ok(crawler)
    }

    fn recall(&mut self, now: Moment) -> Result<()> {
        for row in self.reader.sites() {
            self.home.insert(row.site.clone(), row.partition);
            self.partition(row.partition).recall_site(&row);
        }
        let mut after = None;
        loop {
            let mut pages = self.reader.pages(after, RECALL_BATCH)?;
            let Some(last) = pages.last() else { break };
            after = Some(last.key);
            for page in &mut pages {
                page.importance = self.importance_of(page.key, &page.url, page.depth)?;
                let promise = self.promise_of(&page.url, page.depth);
                let partition = self.partition(page.key.partition);
                partition.recall_page(page, promise, now);
                if page.state == PageState::Held {
                    let site = partition.site_of_url(page.key, &page.url);
                    partition.count_held(&site, 1);
                }
            }
        }
        for id in 0..PartitionId::COUNT {
            let next_number = self.reader.next_number(PartitionId(id));
            self.partition(PartitionId(id)).next_number = next_number;
        }
        self.note_lively();
        self.recall_topics(now)
    }

    /// Looks anew which partitions have sites at all.
    fn note_lively(&mut self) {
        let bits = self.partitions.iter().enumerate().filter(|(_, partition)| !partition.is_quiet());
        self.lively = bits.fold(0, |bits, (index, _)| bits | 1 << index);
    }

    fn lively(&self) -> impl Iterator<Item = &Partition> {
        places(self.lively).map(|index| &self.partitions[index])
    }

    pub fn reader(&self) -> Reader {
        self.reader.clone()
    }

    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Changes the room on the disk below which fetching stops.
    pub fn set_disk_free_min(&mut self, least: DiskFreeMin) {
        self.settings.disk_free_min = least;
    }

    pub fn has_uncommitted(&self) -> bool {
        !self.group.is_empty()
    }

    /// Writes, syncs and applies the open group.
    pub fn commit(&mut self, now: Moment) -> Result<()> {
        if self.coordinator.account_moved {
            self.group.push(WHOLE, Deed::Spent { account: self.coordinator.account });
            self.coordinator.account_moved = false;
        }
        self.tell_hints();
        let deeds = self.group.take();
        if deeds.is_empty() {
            return Ok(());
        }
        self.repository.commit(&deeds, now)?;
        self.commits += 1;
        self.note_lively();
        for (_, deed) in &deeds {
            if let Deed::Visited(visited) = deed {
                self.out.remove(&visited.page.key);
            }
        }
        Ok(())
    }

    pub fn close(mut self, now: Moment) -> Result<()> {
        self.remember_sites();
        self.commit(now)?;
        self.repository.close()?;
        Ok(())
    }

    /// Whether another page may be read for the first time.
    fn may_discover(&self) -> bool {
        self.held() + self.new_in_flight < self.settings.pages_max
    }

    /// Whether nothing waits, nothing is under way and nothing is due.
    pub fn is_idle(&self, now: Moment) -> bool {
        let may_discover = self.may_discover();
        let nothing_waits = self.in_flight.is_empty()
            && self.chosen.is_empty()
            && !self.group.has_found
            && self.scope_is_followed()
            && !self.topics_wait(now)
            && (self.wanted.is_empty() || !may_discover)
            && self.reader.totals().found_pending == 0;
        nothing_waits
            && self.partitions.iter().all(|partition| {
                let facts = Facts { any_site: true, ..self.facts(partition, 1) };
                let due = partition.policy.next_due(&partition.view(facts, now), now);
                let nothing_due = due.is_none_or(|due| due > now);
                let nothing_new = partition.frontier.is_empty() && partition.undrawn() == 0;
                let nothing_new = nothing_new && !partition.has_quick_retries(Lane::New);
                (nothing_new || !may_discover) && !partition.has_quick_retries(Lane::Due) && nothing_due
            })
    }

    /// When a tick is worth calling again if no report comes first.
    pub fn next_wake(&self, now: Moment) -> Option<Moment> {
        if self.paused {
            return None;
        }
        let mut wakes: Vec<Moment> = Vec::new();
        wakes.extend(self.coordinator.next_money(self.held(), now));
        wakes.extend(self.second_looks.next());
        wakes.extend(self.subscriptions.next());
        wakes.extend(self.companions.next());
        if self.group.has_found || self.reader.totals().found_pending > 0 {
            wakes.push(self.sieved + admitting::SIEVE_EVERY);
        }
        if self.disk_full {
            wakes.push(self.disk_checked + DISK_CHECK_EVERY);
        } else {
            wakes.extend(self.next_widening(now));
            wakes.extend(self.next_topics(now));
            wakes.extend(self.next_weighing(now));
            wakes.extend(self.wanted.next().filter(|_| self.may_discover()));
        }
        for partition in &self.partitions {
            if partition.is_quiet() {
                continue;
            }
            wakes.extend(partition.politeness.next_free(now));
            wakes.extend(partition.retries.first());
            wakes.extend(self.next_due(partition, now));
        }
        wakes.into_iter().filter(|&wake| wake > now).min()
    }

    fn next_due(&self, partition: &Partition, now: Moment) -> Option<Moment> {
        partition.policy.next_due(&partition.view(self.facts(partition, 1), now), now)
    }

    pub fn pulse(&self) -> Pulse {
        let sites = self.partitions.iter().flat_map(|partition| &partition.sites);
        Pulse {
            in_flight: self.in_flight.len(),
            window: self.partitions.iter().map(|partition| partition.frontier.len()).sum(),
            orders_sent: self.next_order,
            reports_taken: self.reports_taken,
            commits: self.commits,
            paused: self.paused,
            disk_full: self.disk_full,
            sites: self.home.len(),
            sites_backing_off: sites.filter(|life| life.posture.failures > 0).count(),
            budget_in_hand: self.coordinator.account.in_hand,
            believed: self.belief.filter(|belief| belief.weight > 0.0).map(|belief| belief.fresh / belief.weight),
            measured: self.samples.measured(),
            pass_refused_urls: self.weighing.refused(),
            scope_pass_pages: self.widening.progress(),
            retries_waiting: self.partitions.iter().map(|partition| partition.retries.len()).sum(),
        }
    }

    fn set_seeds(&mut self, seeds: Vec<Seed>) {
        self.seeds_weigh = seeds.iter().any(|seed| seed.weight != 1.0);
        let promising = |seed: &Seed| seed.at_least_every.is_some() || seed.at_most_every.is_some();
        self.promises = !self.settings.promises.is_empty() || seeds.iter().any(promising);
        self.dispatcher.set_seeds(seeds);
        self.scope_may_have_changed();
    }

    /// How often at least and at most a page is to be visited: the strictest wish of the seeds that cover it and of the
    /// settings. Almost nobody promises anything, and then nothing is asked.
    fn promise_of(&self, url: &Url, depth: u16) -> Promise {
        if !self.promises {
            return Promise::default();
        }
        promise_of(self.dispatcher.seeds(), &self.settings.promises, url, depth)
    }

    fn partition(&mut self, id: PartitionId) -> &mut Partition {
        &mut self.partitions[usize::from(id.0 % PartitionId::COUNT)]
    }

    fn home_of(&self, url: &Url) -> PartitionId {
        self.home.get(url.site_text()).copied().unwrap_or_else(|| url.partition())
    }

    fn held(&self) -> u64 {
        self.lively().map(|partition| partition.held).sum()
    }

    fn waiting(&self) -> u64 {
        self.lively().map(|partition| partition.undrawn() + partition.frontier.len() as u64).sum()
    }

    /// Journals how we stand towards a site now.
    fn note_site(&mut self, site: &Site, id: PartitionId) {
        let posture = self.partition(id).site_mut(site).posture.clone();
        self.group.push(id, Deed::SiteSeen(site.clone(), posture));
    }

    /// Writes down what the policies remember of sites.
    fn remember_sites(&mut self) {
        for index in 0..self.partitions.len() {
            for number in 0..self.partitions[index].sites.len() {
                if self.partitions[index].sites[number].learned > 0 {
                    self.remember_site(PartitionId(index as u8), number as u32);
                }
            }
        }
    }

    fn remember_site(&mut self, id: PartitionId, number: u32) {
        let partition = self.partition(id);
        partition.sites[number as usize].learned = 0;
        let Some(state) = partition.policy.site_state(number) else { return };
        let life = &mut partition.sites[number as usize];
        life.posture.policy = state.into();
        let site = life.site.clone();
        self.note_site(&site, id);
    }

    /// Sets the standing of a site, here and in the journal.
    fn set_standing(&mut self, site: &Site, standing: Standing) {
        let Some(&id) = self.home.get(site) else { return };
        self.partition(id).set_standing(site, standing);
        self.note_site(site, id);
    }
}

/// The places of the bits that are set, lowest first.
fn places(bits: u64) -> impl Iterator<Item = usize> {
    let mut left = bits;
    std::iter::from_fn(move || {
        let place = (left != 0).then(|| left.trailing_zeros() as usize)?;
        left &= left - 1;
        Some(place)
    })
}

const _: () = assert!(PartitionId::COUNT as u32 == u64::BITS, "one bit for each partition");

/// Pages read at a time when the work is taken up.
const RECALL_BATCH: usize = 10_000;
/// The free disk is looked at so often (in the crawl's own time, at most at every tick).
const DISK_CHECK_EVERY: Span = Span::from_secs(1);

fn dispatcher(settings: &Settings, reader: &Reader) -> Result<Dispatcher> {
    let compiled = |patterns: &[String]| -> Result<Vec<_>> {
        let compile = |text: &String| vernal_frontier::pattern(text).map_err(Error::from);
        patterns.iter().map(compile).collect()
    };
    Ok(Dispatcher::new(DispatcherSettings {
        seeds: reader.seeds()?,
        include: compiled(&settings.include)?,
        exclude: compiled(&settings.exclude)?,
        depth_max: settings.depth,
    }))
}
