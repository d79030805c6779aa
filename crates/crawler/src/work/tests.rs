//! Compares the unit of work with one that commits after each deed: no read may show a difference.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use proptest::prelude::*;
use vernal_model::{
    CountedIn, DateRange, Deed, DocumentRow, Eviction, EvictionRow, Exchange, Fingerprint, Found, HintRows, LinkKind,
    LinkRow, ListEntryRows, Location, Masked, Moment, NoiseRows, Origin, Outcome, Page, PageKey, PageNoise, PageState,
    Partition, Refusal, Rel, RobotsAnswer, RobotsRow, Site, Span, TopicId, TopicOf, Url, Version, Via, WeightRow,
};
use vernal_repository::bodies::{Keep, KeepKind};
use vernal_repository::{Repository, Sieving};

use super::unit::{Durable, Work};
use crate::testing::{Recorder, START, Written, admission, after, held, key_of, repository, url, url_row, visit};
use crate::{Error, GroupLimits, Result};

const PAGES: u32 = 4;
const UNLIMITED: GroupLimits = GroupLimits { visits: usize::MAX, bytes: usize::MAX };

/// What may happen to the state of a crawl.
#[derive(Clone, Debug)]
enum Event {
    Visited { page: u32, outcome: u8, document: bool },
    Left { page: u32 },
    Relinked { page: u32, links: u8 },
    Learned { page: Option<u32>, last_id: u32 },
    Categorised(Vec<(u32, u8)>),
    ListEntry { file: u32, put: Vec<(u64, bool)>, gone: Vec<u64> },
    Robots { origin: u8, forbids: bool },
    Hub,
    Weighed { chunk: u32, scores: Vec<u8> },
    Found { urls: u8, again: u8 },
    Unlinked(u8),
    Committed,
}

fn event() -> impl Strategy<Value = Event> {
    let page = 0..PAGES;
    prop_oneof![
        4 => (page.clone(), 0u8..4, any::<bool>())
            .prop_map(|(page, outcome, document)| Event::Visited { page, outcome, document }),
        1 => page.clone().prop_map(|page| Event::Left { page }),
        1 => (page.clone(), 0u8..4).prop_map(|(page, links)| Event::Relinked { page, links }),
        1 => (prop::option::of(page.clone()), 1u32..9).prop_map(|(page, last_id)| Event::Learned { page, last_id }),
        1 => prop::collection::vec((page.clone(), 0u8..3), 1..3).prop_map(Event::Categorised),
        1 => (page, prop::collection::vec((0u64..6, any::<bool>()), 0..4), prop::collection::vec(0u64..6, 0..3))
            .prop_map(|(file, put, gone)| Event::ListEntry { file, put, gone }),
        1 => (0u8..2, any::<bool>()).prop_map(|(origin, forbids)| Event::Robots { origin, forbids }),
        1 => Just(Event::Hub),
        1 => (0u32..2, prop::collection::vec(any::<u8>(), 0..4)).prop_map(|(chunk, scores)| Event::Weighed { chunk, scores }),
        1 => (0u8..3, 0u8..3).prop_map(|(urls, again)| Event::Found { urls, again }),
        1 => (0u8..3).prop_map(Event::Unlinked),
        2 => Just(Event::Committed),
    ]
}

fn address(page: u32) -> String {
    format!("http://a.example/{page}")
}

fn key(page: u32) -> PageKey {
    key_of(&address(page), page)
}

fn origin(number: u8) -> Origin {
    Origin::new(if number == 0 { "http://a.example" } else { "https://a.example" })
}

fn document(links: u8) -> DocumentRow {
    let link = |target| LinkRow {
        target: Fingerprint(u64::from(target)),
        kind: LinkKind::Anchor,
        rel: Rel::default(),
        counted: CountedIn::NOWHERE,
    };
    DocumentRow { links: (0..links).map(link).collect(), ..DocumentRow::default() }
}

/// Makes deeds that could follow each other.
#[derive(Default)]
struct Deeds {
    states: BTreeMap<u32, PageState>,
    versions: u32,
    now: u64,
}

impl Deeds {
    fn of(&mut self, event: &Event) -> Option<(Partition, Deed)> {
        self.now += 1;
        let now = after(self.now);
        let home = key(0).partition;
        let deed = match event {
            Event::Visited { page, outcome, document } => return Some(self.visited(*page, *outcome, *document)),
            Event::Left { page } => {
                let was = self.states.get(page).copied().filter(|state| *state == PageState::Held)?;
                self.states.insert(*page, PageState::Left);
                let row = EvictionRow { moment: now, importance: 0.5, better: 1.5, made_room_for: key(0) };
                let page = Page { state: PageState::Left, last_visit: now, ..held(&address(*page), *page) };
                Deed::Left(Box::new(Eviction { page, was, row }))
            }
            Event::Relinked { page, links } => {
                Deed::Relinked { page: key(*page), document: Box::new(document(*links)) }
            }
            Event::Learned { page, last_id } => {
                // A row that says nothing is none.
                let known: Vec<Masked> = (0..last_id % 3).map(|rule| Masked { digest: 7, rule }).collect();
                let template = if known.is_empty() { 0 } else { *last_id };
                let noise = |page: u32| (key(page), PageNoise { template, suspects: Vec::new(), known: known.clone() });
                let site = Site::new("a.example");
                let rows = NoiseRows { page: page.map(noise), last_id: Some(*last_id), ..NoiseRows::new(site) };
                Deed::NoiseLearned(Box::new(rows))
            }
            Event::Categorised(rows) => {
                let topics =
                    |count: u8| (0..count).map(|topic| TopicOf { topic: TopicId(topic.into()), reputation: 0.5 });
                let pages: BTreeMap<u32, u8> = rows.iter().copied().collect();
                Deed::Categorised(pages.iter().map(|(&page, &count)| (key(page), topics(count).collect())).collect())
            }
            Event::ListEntry { file, put, gone } => {
                let stamp = |dated: bool| dated.then_some(DateRange { from: now, until: now });
                let put: BTreeMap<u64, bool> = put.iter().copied().collect();
                let gone = gone.iter().filter(|entry| !put.contains_key(*entry)).copied();
                let gone: BTreeSet<Fingerprint> = gone.map(Fingerprint).collect();
                let listed = ListEntryRows {
                    file: key(*file),
                    put: put.iter().map(|(&entry, &dated)| (Fingerprint(entry), stamp(dated))).collect(),
                    gone: gone.into_iter().collect(),
                };
                Deed::Hinted(Box::new(HintRows { listed: Some(listed), ..HintRows::of(&Site::new("a.example")) }))
            }
            Event::Robots { origin: number, forbids } => {
                let answer = if *forbids { RobotsAnswer::DisallowAll } else { RobotsAnswer::AllowAll };
                let (origin, last_read, copy) = (origin(*number), None, None);
                let row = RobotsRow { origin, fetched: now, expires: now, answer, last_read, copy };
                let (at, visit) = (url(row.origin.as_str()), visit(None, &held(&address(0), 0), None).visit);
                return Some((at.partition(), Deed::RobotsRead { site: at.site(), row, visit }));
            }
            Event::Hub => {
                let visit = visit(None, &held(&address(0), 0), None).visit;
                Deed::HubAsked { site: Site::new("hub.example"), visit }
            }
            Event::Weighed { chunk, scores } => {
                Deed::Weighed(WeightRow { chunk: *chunk, scores: scores.iter().map(|&score| score.into()).collect() })
            }
            Event::Found { urls, again } => {
                let found = |number| Found {
                    url: url(&format!("http://a.example/found/{}/{number}", self.now)),
                    via: Via::Link,
                    depth: 1,
                    found_on: None,
                    forward: 0,
                };
                let again = (0..*again).map(|number| Fingerprint(number.into())).collect();
                Deed::Found { urls: (0..*urls).map(found).collect(), again }
            }
            Event::Unlinked(links) => {
                Deed::Unlinked { gone: (0..*links).map(|link| Fingerprint(link.into())).collect() }
            }
            Event::Committed => return None,
        };
        Some((home, deed))
    }

    fn visited(&mut self, number: u32, outcome: u8, has_document: bool) -> (Partition, Deed) {
        let (state, outcome) = match outcome {
            0 => (PageState::Held, Outcome::Read { status: 200 }),
            1 => (PageState::Held, Outcome::NotModified),
            2 => (PageState::Gone, Outcome::Gone { status: 404 }),
            _ => (PageState::Refused, Outcome::Refused(Refusal::Robots)),
        };
        let was = self.states.insert(number, state);
        let place = url_row(&address(number), number).place;
        let moment = after(self.now);
        let page = Page { state, last_visit: moment, last_outcome: outcome, ..held(&address(number), number) };
        let mut visited = visit(was, &page, was.is_none().then_some(place));
        if has_document {
            self.versions += 1;
            let version = page.version.map(|version| Version { number: self.versions, moment, ..version });
            (visited.page.version, visited.visit.version) = (version, version);
            visited.document = Some(document(self.versions as u8));
        }
        (page.key.partition, Deed::Visited(Box::new(visited)))
    }
}

/// Everything that can be read, in words.
fn told(work: &Work) -> Vec<String> {
    let mut told = vec![format!("{:?} {} {}", work.requests(), work.found(), work.new_urls())];
    for page in 0..PAGES {
        let (key, listed) = (key(page), work.listed(key(page)).unwrap());
        told.push(format!("{:?}", work.page(key).unwrap()));
        told.push(format!("{:?}", work.page_by_url(&url(&address(page))).unwrap()));
        told.push(format!("{:?}", work.document(key).unwrap()));
        told.push(format!("{:?}", work.versions(key).unwrap()));
        told.push(format!("{:?}", work.left(key).unwrap()));
        told.push(format!("{:?} {:?}", work.page_noise(key).unwrap(), work.topics_of(key).unwrap()));
        told.push(format!("{:?} {:?}", work.score(key).unwrap(), listed.into_iter().collect::<BTreeMap<_, _>>()));
    }
    told.extend((0..2).map(|chunk| format!("{:?}", work.scores(key(0).partition, chunk).unwrap())));
    told.extend((0..2).map(|number| format!("{:?}", work.robots(&origin(number)).unwrap())));
    told.push(format!("{:?}", work.noise_book(&Site::new("a.example")).unwrap()));
    told
}

/// A unit of work over a repository that knows the pages, and has visited none.
fn work(folder: &tempfile::TempDir, limits: GroupLimits) -> Work {
    let repository = repository(folder, START);
    let reader = repository.reader();
    let mut work = Work::new(Box::new(repository), reader, limits);
    let rows: Vec<_> = (0..PAGES).map(|page| url_row(&address(page), page)).collect();
    work.push(key(0).partition, admission(&rows));
    work.commit(START).unwrap();
    work
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]
    #[test]
    fn reads_see_what_was_written_whether_or_not_it_is_committed(events in prop::collection::vec(event(), 1..40)) {
        let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
        let (mut open, mut committed) = (work(&folders[0], UNLIMITED), work(&folders[1], UNLIMITED));
        let mut deeds = Deeds::default();
        for event in events {
            match deeds.of(&event) {
                Some((partition, deed)) => {
                    open.push(partition, deed.clone());
                    committed.push(partition, deed);
                    committed.commit(START).unwrap();
                }
                None => open.commit(START).unwrap(),
            }
            prop_assert_eq!(told(&open), told(&committed), "after {:?}", event);
            for page in (0..PAGES).map(key) {
                let is_behind = open.acknowledged().page(page).unwrap() != open.page(page).unwrap();
                prop_assert!(open.is_open(page) || !is_behind, "a row that is behind is open");
                prop_assert!(!committed.is_open(page));
            }
        }
    }
}

fn recorded(tables: &Repository, limits: GroupLimits) -> (Work, Written) {
    let written = Written::default();
    let durable = Recorder { written: Arc::clone(&written), repository: None };
    (Work::new(Box::new(durable), tables.reader(), limits), written)
}

/// A place that loses everything.
struct Broken;

impl Durable for Broken {
    fn keep(&mut self, _: &Keep<'_>) -> Result<Location> {
        Err(Error::StrayReport(6))
    }

    fn commit(&mut self, _: &[(Partition, Deed)], _: Moment) -> Result<()> {
        Err(Error::StrayReport(7))
    }

    fn sieve(&mut self, _: usize) -> Result<Sieving> {
        Err(Error::StrayReport(8))
    }

    fn derived(&self) -> &Repository {
        panic!("no pass runs in this place")
    }

    fn rewrite(&mut self, _: bool, _: Moment) -> Result<bool> {
        Ok(false)
    }

    fn end_repair(&mut self) -> Result<()> {
        Err(Error::StrayReport(9))
    }

    fn close(self: Box<Self>) -> Result<()> {
        Err(Error::StrayReport(10))
    }
}

#[test]
fn every_deed_is_written_once_and_in_its_order_wherever_groups_end() {
    let folder = tempfile::tempdir().unwrap();
    let repository = repository(&folder, START);
    proptest!(ProptestConfig::with_cases(32), |(events in prop::collection::vec(event(), 1..60))| {
        let ((mut work, written), mut deeds) = (recorded(&repository, UNLIMITED), Deeds::default());
        let (mut pushed, mut groups) = (Vec::new(), 0);
        for event in &events {
            match deeds.of(event) {
                Some((partition, deed)) => {
                    work.push(partition, deed.clone());
                    pushed.push((partition, deed));
                }
                None => {
                    groups += u64::from(!work.is_empty());
                    work.commit(START).unwrap();
                    prop_assert!(work.is_empty());
                }
            }
        }
        groups += u64::from(!work.is_empty());
        work.commit(START).unwrap();
        prop_assert_eq!(&*written.lock().unwrap(), &pushed);
        prop_assert_eq!(work.commits(), groups, "an empty group is no commit");
    });
}

#[test]
fn whoever_cannot_keep_state_says_so_and_nothing_counts_as_written() {
    let folder = tempfile::tempdir().unwrap();
    let mut work = Work::new(Box::new(Broken), repository(&folder, START).reader(), UNLIMITED);
    work.commit(START).unwrap();
    work.push(Partition(0), Deed::Started { moment: START });
    assert!(matches!(work.commit(START), Err(Error::StrayReport(7))));
    assert_eq!(work.commits(), 0);
    assert!(matches!(work.sieve(1), Err(Error::StrayReport(8))));
    assert!(matches!(work.durable().end_repair(), Err(Error::StrayReport(9))));
    assert!(matches!(work.close(), Err(Error::StrayReport(10))));
}

#[test]
fn a_group_is_full_at_its_limit_of_visits_or_of_bytes_and_empty_behind_its_commit() {
    let folder = tempfile::tempdir().unwrap();
    let limits = GroupLimits { visits: 3, bytes: 100 };
    let (mut work, _) = recorded(&repository(&folder, START), limits);
    for deeds in 1..=3 {
        assert!(!work.is_full());
        work.push(Partition(0), Deeds::default().visited(deeds, 0, false).1);
    }
    assert!(work.is_full());
    work.commit(START).unwrap();
    assert!(!work.is_full());
    let exchange = Exchange { body: vec![0; 60], ..Exchange::default() };
    let (at, payload) = (url(&address(0)), Default::default());
    let keep = Keep { url: &at, moment: START, exchange: &exchange, payload, what: KeepKind::Response };
    work.keep(&keep).unwrap();
    assert!(!work.is_full());
    work.push(Partition(0), Deed::Weighed(WeightRow { chunk: 0, scores: vec![0.0; 10] }));
    assert!(work.is_full(), "sixty bytes of a body and forty of scores");
    work.commit(START).unwrap();
    assert!(!work.is_full());
}

#[test]
fn a_url_that_shares_the_fingerprint_of_another_has_no_row() {
    let folder = tempfile::tempdir().unwrap();
    let work = work(&folder, UNLIMITED);
    let other: Url = url("http://b.example/");
    assert_eq!(work.page_by_url(&other).unwrap(), None);
    assert_eq!(work.page_by_url(&url(&address(0))).unwrap(), None, "it waits and was never visited");
    assert!(work.key_of(&url(&address(0))).unwrap().is_some_and(|known| known.key == Some(key(0))));
    assert_eq!(work.url(key(1)).unwrap().map(|row| row.url), Some(url(&address(1))));
}

#[test]
fn urls_count_as_new_until_the_sieve_has_met_all_that_was_found() {
    let folder = tempfile::tempdir().unwrap();
    let mut work = work(&folder, UNLIMITED);
    let found =
        |number: u32| Found { url: url(&address(100 + number)), via: Via::Link, depth: 1, found_on: None, forward: 0 };
    let home = key(0).partition;
    work.push(home, Deed::Found { urls: vec![found(1), found(2)], again: vec![Fingerprint(9)] });
    assert_eq!((work.found(), work.new_urls()), (3, 2));
    work.commit(START).unwrap();
    assert_eq!((work.found(), work.new_urls()), (3, 2));
    let sieving = work.sieve(10).unwrap();
    for sieved in sieving.partitions {
        let (admitted, barred) = (Vec::new(), Vec::new());
        work.push(sieved.partition, Deed::Sieved { through: sieved.through, admitted, barred });
    }
    work.commit(after(1)).unwrap();
    assert!(work.sieved());
    assert_eq!((work.found(), work.new_urls()), (0, 0));
    work.push(home, Deed::Found { urls: vec![found(3)], again: Vec::new() });
    work.commit(START + Span::from_secs(2)).unwrap();
    assert!(!work.sieved(), "something waits");
    assert_eq!(work.new_urls(), 1);
}
