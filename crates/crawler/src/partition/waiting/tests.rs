//! Waiting URLs beside a plain set of them.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use vernal_frontier::{VisitOrder, Waiting, band};
use vernal_model::{Deed, Moment, Page, PageKey, Partition as PartitionId, Site, SiteState, Span, WaitingPlace};
use vernal_repository::{Repository, UrlRow};

use crate::Settings;
use crate::partition::Partition;
use crate::testing::{START, admission, held, repository, url, url_row, visit};

const SITES: u32 = 3;

#[derive(Clone, Debug)]
enum Event {
    /// So many URLs of a site are admitted, each with another rank.
    Admitted {
        site: u32,
        count: u32,
        rank: i32,
    },
    Drawn,
    /// The next URL is ordered.
    Ordered,
    /// The next URL could not be asked for.
    PutBack,
    /// A URL that was ordered had its visit.
    Visited,
    /// A URL is taken past all others.
    Taken(usize),
    Closed(u32),
    Opened(u32),
    /// The site may not be asked for so many seconds.
    Held(u32, u64),
    Later(u64),
}

fn event() -> impl Strategy<Value = Event> {
    let site = 0..SITES;
    prop_oneof![
        2 => (site.clone(), 1u32..4, -9i32..9).prop_map(|(site, count, rank)| Event::Admitted { site, count, rank }),
        1 => (site.clone(), 60u32..180, -9i32..9).prop_map(|(site, count, rank)| Event::Admitted { site, count, rank }),
        3 => Just(Event::Drawn),
        4 => Just(Event::Ordered),
        1 => Just(Event::PutBack),
        2 => Just(Event::Visited),
        1 => any::<usize>().prop_map(Event::Taken),
        1 => site.clone().prop_map(Event::Closed),
        2 => site.clone().prop_map(Event::Opened),
        1 => (site, 0u64..40).prop_map(|(site, secs)| Event::Held(site, secs)),
        1 => (1u64..40).prop_map(Event::Later),
    ]
}

/// One partition and its tables, beside what should be in them.
struct IncrementalReader {
    partition: Partition,
    repository: Repository,
    now: Moment,
    rows: BTreeMap<PageKey, UrlRow>,
    /// Neither ordered nor visited.
    waiting: BTreeSet<PageKey>,
    /// Out, in the order in which they went.
    ordered: Vec<PageKey>,
    closed: BTreeSet<Site>,
}

impl IncrementalReader {
    fn new(folder: &tempfile::TempDir) -> Self {
        IncrementalReader::in_order(folder, VisitOrder::default())
    }

    fn in_order(folder: &tempfile::TempDir, visit_order: VisitOrder) -> Self {
        let id = url("http://s0.example.org/").partition();
        let settings = Settings { visit_order, ..Settings::default() };
        IncrementalReader {
            partition: Partition::new(id, &settings, START).unwrap(),
            repository: repository(folder, START),
            now: START,
            rows: BTreeMap::new(),
            waiting: BTreeSet::new(),
            ordered: Vec::new(),
            closed: BTreeSet::new(),
        }
    }

    fn site(number: u32) -> Site {
        Site::new(&format!("s{number}.example.org"))
    }

    fn commit(&mut self, deed: Deed) {
        self.repository.commit(&[(self.partition.id, deed)], self.now).unwrap();
    }

    fn meet(&mut self, event: &Event) {
        match *event {
            Event::Admitted { site, count, rank } => self.admit(site, count, rank),
            Event::Drawn => self.draw(),
            Event::Ordered => {
                if let Some(waiting) = self.next() {
                    self.waiting.remove(&waiting.page);
                    self.ordered.push(waiting.page);
                }
            }
            Event::PutBack => {
                if let Some(waiting) = self.next() {
                    self.partition.waiting.window.put_back(waiting);
                }
            }
            Event::Visited => self.visit(),
            Event::Taken(place) => self.take(place),
            Event::Closed(site) => {
                self.partition.set_standing(&Self::site(site), SiteState::Paused);
                self.closed.insert(Self::site(site));
            }
            Event::Opened(site) => {
                self.partition.set_standing(&Self::site(site), SiteState::Active);
                self.closed.remove(&Self::site(site));
            }
            Event::Held(site, secs) => {
                self.partition.sites.politeness.hold(&Self::site(site), self.now + Span::from_secs(secs));
            }
            Event::Later(secs) => self.now += Span::from_secs(secs),
        }
    }

    fn admit(&mut self, site: u32, count: u32, rank: i32) {
        let rows: Vec<UrlRow> = (0..count).map(|_| self.row(site, rank)).collect();
        self.commit(admission(&rows));
        for row in rows {
            let Partition { waiting, sites, .. } = &mut self.partition;
            waiting.admitted(sites, &row.place.site, row.place.band);
            self.waiting.insert(row.page);
            self.rows.insert(row.page, row);
        }
    }

    fn row(&mut self, site: u32, rank: i32) -> UrlRow {
        let number = self.partition.number_page();
        let row = url_row(&format!("http://s{site}.example.org/{number}"), number);
        let rank = rank * 100_000 + number as i32;
        let place = WaitingPlace { band: band(rank), ..row.place.clone() };
        UrlRow { rank, place, ..row }
    }

    fn draw(&mut self) {
        let Partition { id, waiting, sites, .. } = &mut self.partition;
        let is_busy = |page| self.ordered.contains(&page);
        waiting.draw(*id, sites, &self.repository.reader(), &is_busy, self.now).unwrap();
    }

    fn next(&mut self) -> Option<Waiting> {
        let Partition { waiting, sites, .. } = &mut self.partition;
        let next = waiting.next(sites, self.now)?;
        assert!(self.waiting.contains(&next.page), "{} does not wait", next.page);
        assert!(!self.closed.contains(&next.place.site), "{} is closed", next.place.site);
        assert!(sites.politeness.may_ask(&next.place.site, self.now));
        Some(next)
    }

    fn visit(&mut self) {
        let Some(key) = self.ordered.pop() else { return };
        let row = &self.rows[&key];
        let page = Page { key, ..held(row.url.as_str(), key.number) };
        let visited = visit(None, &page, Some(row.place.clone()));
        self.commit(Deed::Visited(Box::new(visited)));
        self.partition.place(&page);
    }

    fn take(&mut self, place: usize) {
        let Some(&key) = self.waiting.iter().nth(place % self.waiting.len().max(1)) else { return };
        let row = self.rows[&key].clone();
        let Partition { waiting, sites, .. } = &mut self.partition;
        let taken = waiting.take(sites, row.clone()).expect("it waits");
        assert_eq!((taken.page, taken.url, taken.rank), (key, row.url.clone(), row.rank));
        assert!(waiting.is_taken(key));
        assert!(waiting.take(sites, row).is_none(), "nobody takes it twice");
        self.waiting.remove(&key);
        self.ordered.push(key);
    }

    /// URLs of open sites that wait.
    fn open(&self) -> u64 {
        let is_open = |key: &&PageKey| !self.closed.contains(&self.rows[*key].place.site);
        self.waiting.iter().filter(is_open).count() as u64
    }

    fn check(&self, event: &Event) {
        let Partition { waiting, sites, .. } = &self.partition;
        assert_eq!(waiting.len(), self.open(), "after {event:?}");
        assert_eq!(waiting.is_empty(), self.open() == 0);
        for life in sites.iter() {
            let here = self.waiting.iter().filter(|key| self.rows[*key].place.site == life.site).count();
            let in_window = waiting.window.len_of(&life.site);
            assert_eq!(life.undrawn as usize + in_window, here, "{} after {event:?}", life.site);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]
    #[test]
    fn every_waiting_url_comes_once_and_none_of_a_closed_site(
        events in prop::collection::vec(event(), 1..60),
        is_strict in any::<bool>(),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let order = if is_strict { VisitOrder::BreadthFirst } else { VisitOrder::Paper };
        let mut beside = IncrementalReader::in_order(&folder, order);
        for event in &events {
            beside.meet(event);
            beside.check(event);
        }
        (0..SITES).for_each(|site| beside.meet(&Event::Opened(site)));
        while !beside.waiting.is_empty() {
            let before = beside.waiting.len();
            beside.meet(&Event::Later(100));
            beside.draw();
            while let Some(next) = beside.next() {
                beside.waiting.remove(&next.page);
                beside.ordered.push(next.page);
            }
            prop_assert!(beside.waiting.len() < before, "{} wait for ever", before);
        }
        prop_assert!(beside.partition.waiting.is_empty());
    }
}

#[test]
fn a_site_that_cannot_be_asked_for_long_leaves_a_full_window_to_the_others() {
    let folder = tempfile::tempdir().unwrap();
    let mut beside = IncrementalReader::new(&folder);
    for site in 0..10 {
        beside.admit(site, 300, 0);
        beside.draw();
    }
    assert!(beside.partition.waiting.window.is_full());
    let away = IncrementalReader::site(0);
    assert_eq!(beside.partition.waiting.window.len_of(&IncrementalReader::site(8)), 0, "it found no room");
    beside.partition.sites.politeness.hold(&away, START + Span::from_secs(600));
    beside.meet(&Event::Later(5));
    beside.draw();
    assert_eq!(beside.partition.waiting.window.len_of(&away), 0);
    assert!(beside.partition.waiting.window.len_of(&IncrementalReader::site(8)) > 0);
    assert_eq!(beside.partition.waiting.len(), 3_000, "and nothing is lost");
}

#[test]
fn a_parked_site_leaves_a_full_window_too_and_is_drawn_again_when_it_is_called() {
    let folder = tempfile::tempdir().unwrap();
    let mut beside = IncrementalReader::new(&folder);
    for site in 0..10 {
        beside.admit(site, 300, 0);
        beside.draw();
    }
    let of = |beside: &IncrementalReader, site| beside.partition.waiting.window.len_of(&IncrementalReader::site(site));
    let parked = IncrementalReader::site(0);
    beside.partition.sites.politeness.park(&parked);
    beside.meet(&Event::Later(5));
    beside.draw();
    assert!(of(&beside, 0) == 0 && of(&beside, 8) > 0);
    // Another site makes room again, and the one that was parked has its turn before the time it was put away for.
    beside.partition.sites.politeness.park(&IncrementalReader::site(1));
    beside.meet(&Event::Later(2));
    beside.partition.sites.politeness.unpark(&parked);
    beside.partition.waiting.called(&beside.partition.sites, &parked);
    beside.draw();
    assert!(of(&beside, 0) > 0 && of(&beside, 1) == 0);
    assert_eq!(beside.partition.waiting.len(), 3_000, "and nothing is lost");
}

#[test]
fn the_best_rank_of_a_site_comes_first_also_from_disk() {
    let folder = tempfile::tempdir().unwrap();
    let mut beside = IncrementalReader::new(&folder);
    for rank in [3, -5, 8, 0] {
        beside.admit(0, 200, rank);
    }
    let mut bands = Vec::new();
    while !beside.waiting.is_empty() {
        beside.draw();
        let next = beside.next().unwrap();
        beside.waiting.remove(&next.page);
        beside.ordered.push(next.page);
        bands.push(next.place.band);
    }
    let (first, last) = (bands[..200].iter().max(), bands[600..].iter().min());
    assert!(bands.len() == 800 && first <= last, "{first:?} {last:?}");
}

/// What is admitted late, while later bands fill the window, still goes before them: on its own site, and before those of
/// other sites in the window.
#[test]
fn breadth_first_a_url_that_comes_late_goes_before_the_deeper_ones_that_were_drawn() {
    let folder = tempfile::tempdir().unwrap();
    let mut beside = IncrementalReader::in_order(&folder, VisitOrder::BreadthFirst);
    for site in [0, 1] {
        beside.admit(site, 300, -8);
    }
    beside.draw();
    let order = |beside: &mut IncrementalReader| {
        let next = beside.next().unwrap();
        beside.waiting.remove(&next.page);
        beside.ordered.push(next.page);
        next.place.band
    };
    let later = order(&mut beside);
    for _ in 0..20 {
        assert_eq!(order(&mut beside), later);
    }
    beside.admit(0, 10, -1);
    beside.draw();
    let bands: Vec<u8> = (0..30).map(|_| order(&mut beside)).collect();
    assert!(bands[..10].iter().all(|&band| band < later) && bands[10..].iter().all(|&band| band == later), "{bands:?}");
    assert_eq!(beside.partition.waiting.len(), 610 - 51, "and nothing is lost");
}

#[test]
fn urls_that_waited_before_the_process_began_are_drawn() {
    let folder = tempfile::tempdir().unwrap();
    let mut beside = IncrementalReader::new(&folder);
    beside.admit(1, 5, 2);
    beside.admit(1, 5, -2);
    let id = beside.partition.id;
    beside.partition = Partition::new(id, &Settings::default(), START).unwrap();
    let row = beside.repository.reader().site(&IncrementalReader::site(1)).unwrap();
    assert_eq!((row.partition, row.counts.waiting), (id, 10));
    beside.partition.recall_site(&row);
    assert_eq!(beside.partition.waiting.len(), 10);
    beside.meet(&Event::Later(10));
    beside.draw();
    let drawn: Vec<Waiting> = std::iter::from_fn(|| beside.next()).collect();
    assert_eq!(drawn.len(), 10);
    assert_eq!(PartitionId(id.0), drawn[0].page.partition);
}
