//! The crawler: a deterministic state machine. Reports, ticks and acts come in, orders go out; time and chance are
//! arguments, and everything it must not forget is a deed.
//!
//! - `opening`: the work is taken up where the tables say it is.
//! - `waking`: whether there is anything to do, and when there will be.
//! - `sending`: which orders may leave now.
//! - `choosing`: which held page is worth the next visit.
//! - `second_looks`: visits soon after another, to learn what is noise.
//! - `sampling`: how fresh the copy really is.
//! - `signposts`: which held pages lead to new ones.
//! - `judging`: what differs, and whether it means something.
//! - `taking`: what a report changes.
//! - `finding`: what a report leads to.
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
mod finding;
mod hint_places;
mod hinting;
mod images;
mod judging;
mod opening;
mod promises;
mod restoring;
mod sampling;
mod second_looks;
mod sending;
mod signposts;
mod subscribing;
mod taking;
mod topics;
mod waking;
mod weighing;
mod widening;

pub use hint_places::trust_words;
pub use promises::{Cure, PromisesKept};
pub use restoring::Restored;
pub use sampling::Measured;
pub use weighing::Weighed;

use foldhash::{HashMap, HashSet};
use vernal_frontier::{Dispatcher, Waiting};
use vernal_model::{
    Chance, Deed, Moment, OrderId, Origin, Page, PageKey, PageState, Partition as PartitionId, Seed, Site, Span,
    Standing, Url,
};
use vernal_policy::Belief;
use vernal_repository::bodies::Bodies;
use vernal_repository::{Reader, Repository};

use self::companions::Companions;
use self::judging::Books;
use self::sampling::Samples;
use self::second_looks::SecondLooks;
use self::signposts::Signposts;
use self::topics::Topics;
use self::weighing::Weighing;
use self::widening::Widening;
use crate::coordinator::Coordinator;
use crate::group::Group;
use crate::hint_book::HintBook;
use crate::intake::discovery::Recent;
use crate::partition::Partition;
use crate::robots_book::RobotsBook;
use crate::settings::{Promise, promise_of};
use crate::subscription_book::SubscriptionBook;
use crate::wanted::Wanted;
use crate::{DiskFreeMin, Result, Settings};

/// The partition whose log holds what belongs to the whole crawl: seeds, controls, the purse.
const WHOLE: PartitionId = PartitionId(0);

pub struct Crawler {
    settings: Settings,
    repository: Repository,
    reader: Reader,
    /// Older versions, read again when something differs.
    bodies: Bodies,
    /// Room for one of them, unpacked.
    older_body: Vec<u8>,
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
    signposts: Signposts,
    hints: HintBook,
    subscriptions: SubscriptionBook,
    companions: Companions,
    /// When the files of hints were last given their places.
    files_placed: Moment,
    /// How often the crawler was asked for orders.
    ticks: u64,
    /// Where the round over the partitions goes on.
    turn: usize,
    /// The partitions in which anything can happen, a bit for each: most crawls live in a few of them, and walking
    /// through all for every order would cost more than the order.
    lively: u64,
    /// Retries of held pages that may be made before other visits.
    retries_saved: f64,
    /// The tick at which no retry was due any more, for each lane.
    retries_in_vain: [Option<u64>; 2],
    /// Visits to held pages that the partitions' credits do not know of yet.
    uncredited: f64,
    chance: Chance,
    started: bool,
    paused: bool,
    disk_full: bool,
    disk_checked: Moment,
    /// When the sieve last ran.
    sieved: Moment,
    /// URLs that may be new and wait for it in the tables.
    spelled: u64,
    next_order: u64,
    reports_taken: u64,
    commits: u64,
}

/// What is held and what waits, over all partitions: whoever asks several times for one order walks through them once.
#[derive(Copy, Clone, Default)]
struct Sums {
    held: u64,
    waiting: u64,
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
    Robots {
        origin: Origin,
        home: Site,
        /// It stands for a visit that follows it.
        for_visit: bool,
    },
    Subscription {
        file: PageKey,
    },
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

    /// For trials, which know the truth: so many pages are online now, and a percentage of the held pages is of no more.
    pub fn set_pages_online(&mut self, pages: u64) {
        self.coordinator.pages_online = Some(pages);
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
        self.spelled += self.group.spelled;
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
        self.group.give_back(deeds);
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
        self.may_discover_beside(self.held())
    }

    fn may_discover_beside(&self, held: u64) -> bool {
        held + self.new_in_flight < self.settings.pages_max
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
        self.lively().map(Partition::waiting).sum()
    }

    /// Both in one walk.
    fn sums(&self) -> Sums {
        self.lively().fold(Sums::default(), |sums, partition| Sums {
            held: sums.held + partition.held,
            waiting: sums.waiting + partition.waiting(),
        })
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
        let state = partition.policy.site_memory().and_then(|memory| memory.site_state(number));
        let Some(state) = state else { return };
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

/// The free disk is looked at so often (in the crawl's own time, at most at every tick).
const DISK_CHECK_EVERY: Span = Span::from_secs(1);
