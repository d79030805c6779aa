//! The repository as a plain program would keep it: maps in memory, every count made anew from what it counts.

use std::collections::BTreeMap;

use crate::counting::PlainHistory;
use crate::following::PlainFollowing;
use crate::hinting::PlainHints;
use crate::naming::PlainNames;
use vernal_model::{
    Admitted, BudgetAccount, Control, Deed, DocumentRow, Event, EventKind, EvictionRow, Fingerprint, Found, GraphMark,
    Moment, NoiseBook, Outcome, Page, PageKey, PageNoise, PageState, PageTerms, Partition, RobotsRow, ScopeMark, Seed,
    Sequence, Site, SiteCounts, SiteProfile, TimeOrigin, TopicId, TopicMark, TopicOf, TopicRow, Url, Via, Visit,
};
use vernal_repository::{Candidate, Cursor, EventId, KnownState, Reader, Sieving, Totals};

/// Partition, sequence, URLs spelled out, links to others, links that are gone.
type FoundRow = (Partition, Sequence, Vec<Found>, Vec<Fingerprint>, Vec<Fingerprint>);

#[derive(Clone, Default)]
pub struct Plain {
    pub position: u64,
    sequences: BTreeMap<Partition, u64>,
    moment: Moment,
    paused: bool,
    scope: ScopeMark,
    time_origin: Option<TimeOrigin>,
    account: BudgetAccount,
    seeds: BTreeMap<Url, Seed>,
    found: Vec<FoundRow>,
    pub known: BTreeMap<(Partition, Fingerprint), PlainKnown>,
    pub admitted: BTreeMap<PageKey, Admitted>,
    /// (partition, site, band, arrival) to number.
    pub waiting: BTreeMap<(Partition, Site, u8, u64), u32>,
    pub pages: BTreeMap<PageKey, Page>,
    documents: BTreeMap<PageKey, DocumentRow>,
    pub visits: BTreeMap<(Option<PageKey>, Moment, u64), Visit>,
    postures: BTreeMap<Site, (Partition, SiteProfile)>,
    robots: BTreeMap<String, (RobotsRow, Site)>,
    events: Vec<(Cursor, EventId, Event)>,
    pub books: BTreeMap<Site, NoiseBook>,
    noise: BTreeMap<PageKey, PageNoise>,
    terms: BTreeMap<PageKey, PageTerms>,
    page_topics: BTreeMap<PageKey, Vec<TopicOf>>,
    topics: BTreeMap<TopicId, TopicRow>,
    topic_mark: TopicMark,
    graph: Option<GraphMark>,
    scores: BTreeMap<(Partition, u32), Vec<f32>>,
    left: BTreeMap<PageKey, EvictionRow>,
    pub hints: PlainHints,
    following: PlainFollowing,
    names: PlainNames,
    pub history: PlainHistory,
}

#[derive(Clone)]
pub struct PlainKnown {
    pub url: Url,
    pub site: Site,
    /// `None` is barred.
    pub number: Option<u32>,
    pub back_links: i64,
}

impl Plain {
    pub fn commit(&mut self, deeds: &[(Partition, Deed)], now: Moment) {
        // A group without deeds is no commit.
        if deeds.is_empty() {
            return;
        }
        self.moment = self.moment.max(now);
        for (partition, deed) in deeds {
            self.position += 1;
            let sequence = self.sequences.entry(*partition).or_default();
            *sequence += 1;
            let sequence = Sequence(*sequence);
            self.deed(*partition, sequence, deed);
        }
    }

    fn deed(&mut self, partition: Partition, sequence: Sequence, deed: &Deed) {
        match deed.clone() {
            Deed::Started { moment } => self.moment = self.moment.max(moment),
            Deed::Seeded(seed) => drop(self.seeds.insert(seed.url.clone(), seed)),
            Deed::Unseeded(url) => drop(self.seeds.remove(&url)),
            Deed::Found { urls, again } => self.found.push((partition, sequence, urls, again, Vec::new())),
            Deed::Sieved { through, admitted, barred } => self.sieved(partition, through, admitted, barred),
            Deed::Visited(visited) => {
                let key = visited.page.key;
                self.history.page(&visited);
                let site = visited.page.url.site();
                self.postures.entry(site).or_insert((partition, SiteProfile::default()));
                if let Some(place) = visited.left {
                    self.waiting.remove(&(partition, place.site, place.band, place.arrival));
                }
                if let Some(event) = visited.event {
                    self.events.push((Cursor(self.position), EventId { partition, sequence }, event));
                }
                if let Some(document) = visited.document {
                    self.documents.insert(key, document);
                }
                self.visits.insert((Some(key), visited.visit.started, self.position), visited.visit);
                self.pages.insert(key, visited.page);
            }
            Deed::SiteSeen(site, profile) => drop(self.postures.insert(site, (partition, profile))),
            Deed::RobotsRead { site, row, visit } => {
                self.postures.entry(site.clone()).or_insert((partition, SiteProfile::default()));
                self.history.other(&site, &visit);
                self.robots.insert(row.origin.as_str().to_owned(), (row, site));
                self.visits.insert((None, visit.started, self.position), visit);
            }
            Deed::Controlled(control) => self.paused = control == Control::PauseAll,
            Deed::Spent { account } => self.account = account,
            // Only a compaction makes these, and this world has none; `tests/compact.rs` holds its laws.
            // A deed of an older format is never written.
            Deed::Relocated(_) | Deed::NoiseLearnedBefore(_) => {}
            Deed::NoiseLearned(rows) => {
                self.postures.entry(rows.site.clone()).or_insert((partition, SiteProfile::default()));
                self.books.entry(rows.site.clone()).or_default().take(&rows);
                if let Some((page, noise)) = rows.page {
                    self.noise.insert(page, noise);
                }
            }
            Deed::Hinted(rows) => {
                self.postures.entry(rows.site.clone()).or_insert((partition, SiteProfile::default()));
                self.hints.take(*rows);
            }
            Deed::Subscribed(subscription) => {
                self.postures.entry(subscription.site.clone()).or_insert((partition, SiteProfile::default()));
                self.hints.subscribe(*subscription);
            }
            Deed::HubAsked { site, visit } => {
                self.history.other(&site, &visit);
                self.postures.entry(site).or_insert((partition, SiteProfile::default()));
                self.visits.insert((None, visit.started, self.position), visit);
            }
            Deed::Relinked { page, document } => {
                self.documents.insert(page, *document);
            }
            Deed::ScopeFollowed(mark) => self.scope = mark,
            Deed::Clocked(origin) => self.time_origin = Some(origin),
            Deed::TermsRead(rows) => self.terms.extend(rows),
            Deed::Categorised(rows) => {
                self.page_topics.extend(rows);
                self.page_topics.retain(|_, topics| !topics.is_empty());
            }
            Deed::TopicsNamed(rows) => self.topics.extend(rows.into_iter().map(|row| (row.id, row))),
            Deed::TopicsReckoned(mark) => self.topic_mark = mark,
            Deed::Weighed(row) => drop(self.scores.insert((partition, row.chunk), row.scores)),
            Deed::VersionTold(told) => self.following.told(*told),
            Deed::Folded(folded) => {
                let cursor = Cursor(self.position);
                let event = self.following.folded(partition, cursor, *folded);
                self.events.extend(event.map(|event| (cursor, EventId { partition, sequence }, event)));
            }
            Deed::Named(named) => {
                let (cursor, event) = (Cursor(self.position), self.names.named(self.position, *named));
                self.events.extend(event.map(|event| (cursor, EventId { partition, sequence }, event)));
            }
            Deed::GraphPassed(mark) => self.graph = Some(mark),
            Deed::Left(leaving) => {
                self.left.insert(leaving.page.key, leaving.row);
                self.pages.insert(leaving.page.key, leaving.page);
            }
            Deed::Unlinked { gone } => self.found.push((partition, sequence, Vec::new(), Vec::new(), gone)),
            Deed::HourClosed(closed) => self.history.hour_closed(*closed),
            Deed::SiteDaysClosed(closed) => self.history.site_days_closed(*closed),
            Deed::HourMeasured(measured) => self.history.hour_measured(*measured),
            Deed::Restated(_) => unreachable!("only a mended journal has it"),
            // What is forgotten has its laws in `compact.rs` and in the crawler.
            Deed::Forgot(_) | Deed::Erased(_) | Deed::SiteErased(_) | Deed::Unfound(_) | Deed::Overwritten(_) => {
                unreachable!("no random deed forgets")
            }
        }
    }

    fn sieved(
        &mut self,
        partition: Partition,
        through: Sequence,
        admitted: Vec<Admitted>,
        barred: Vec<(Url, Box<str>)>,
    ) {
        for admitted in admitted {
            let page = PageKey::new(partition, admitted.number);
            let place = admitted.place.clone();
            self.postures.entry(place.site.clone()).or_insert((partition, SiteProfile::default()));
            self.waiting.insert((partition, place.site.clone(), place.band, place.arrival), admitted.number);
            let fresh = PlainKnown { url: admitted.url.clone(), site: place.site, number: None, back_links: 0 };
            let row = self.known.entry((partition, admitted.url.fingerprint())).or_insert(fresh);
            row.number = Some(admitted.number);
            self.admitted.insert(page, admitted);
        }
        for (url, _) in barred {
            let site = url.site();
            self.postures.entry(site.clone()).or_insert((partition, SiteProfile::default()));
            let row = PlainKnown { url: url.clone(), site, number: None, back_links: 0 };
            self.known.entry((partition, url.fingerprint())).or_insert(row);
        }
        for (_, _, urls, again, gone) in self.taken(partition, through) {
            let links = urls.iter().filter(|found| found.via == Via::Link).map(|found| found.url.fingerprint());
            for fingerprint in links.chain(again) {
                if let Some(row) = self.known.get_mut(&(partition, fingerprint)) {
                    row.back_links += 1;
                }
            }
            for fingerprint in gone {
                if let Some(row) = self.known.get_mut(&(partition, fingerprint)) {
                    row.back_links -= 1;
                }
            }
        }
    }

    fn taken(&mut self, partition: Partition, through: Sequence) -> Vec<FoundRow> {
        let (taken, left) =
            std::mem::take(&mut self.found).into_iter().partition(|row| row.0 == partition && row.1 <= through);
        self.found = left;
        taken
    }

    /// A pass of the sieve must offer exactly what is found and not known.
    pub fn check_sieving(&self, sieving: &Sieving) {
        let mut met = 0;
        for offered in &sieving.partitions {
            let rows = || self.found.iter().filter(|row| row.0 == offered.partition && row.1 <= offered.through);
            met += rows().map(|row| row.2.len() + row.3.len() + row.4.len()).sum::<usize>();
            let mut expected: Vec<Candidate> = Vec::new();
            for found in rows().flat_map(|row| &row.2) {
                let same = |candidate: &&mut Candidate| candidate.found.url == found.url;
                match expected.iter_mut().find(same) {
                    Some(candidate) if found.via == Via::Seed && candidate.found.via != Via::Seed => {
                        candidate.found = found.clone();
                    }
                    Some(_) => {}
                    None => expected.push(Candidate { found: found.clone(), back_links: 0 }),
                }
            }
            expected.retain(|candidate| {
                let known = self.known.get(&(offered.partition, candidate.found.url.fingerprint()));
                known.is_none_or(|known| known.number.is_none() && candidate.found.via == Via::Seed)
            });
            for candidate in &mut expected {
                let fingerprint = candidate.found.url.fingerprint();
                let links = rows().flat_map(|row| &row.2).filter(|found| found.via == Via::Link);
                let links = links.filter(|found| found.url == candidate.found.url).count();
                let again = rows().flat_map(|row| &row.3).filter(|again| **again == fingerprint).count();
                let before = self.known.get(&(offered.partition, fingerprint)).map_or(0, |known| known.back_links);
                let gone = rows().flat_map(|row| &row.4).filter(|gone| **gone == fingerprint).count();
                candidate.back_links = u32::try_from(before + (links + again) as i64 - gone as i64).unwrap_or(0);
            }
            let by_url = |candidate: &Candidate| candidate.found.url.clone();
            expected.sort_by_key(by_url);
            let mut fresh = offered.fresh.clone();
            fresh.sort_by_key(by_url);
            assert_eq!(fresh, expected);
        }
        assert_eq!(sieving.found, met);
        let left: usize = self.found.iter().map(|row| row.2.len() + row.3.len() + row.4.len()).sum::<usize>() - met;
        assert!(sieving.more || left == 0, "{left} findings were passed over");
    }

    /// Every answer of the reader is the one that the maps give.
    pub fn check(&self, reader: &Reader) {
        assert_eq!(reader.cursor(), Cursor(self.position));
        assert_eq!(reader.last_moment(), self.moment);
        assert_eq!(reader.paused_all(), self.paused);
        assert_eq!((reader.scope_mark(), reader.time_origin()), (self.scope, self.time_origin));
        assert_eq!(reader.account(), self.account);
        assert_eq!(reader.seeds().unwrap(), self.seeds.values().cloned().collect::<Vec<_>>());
        assert_eq!(reader.totals(), self.totals());
        assert_eq!(reader.pages(None, usize::MAX).unwrap(), self.pages.values().cloned().collect::<Vec<_>>());
        assert_eq!(reader.events(Cursor::START, usize::MAX).unwrap(), self.events);
        for (cursor, id, event) in &self.events {
            assert_eq!(reader.event(*id).unwrap(), Some((*cursor, *id, event.clone())));
            let never = EventId { sequence: Sequence(id.sequence.0 + 1_000_000), ..*id };
            assert_eq!(reader.event(never).unwrap(), None);
        }
        let cursors: Vec<Cursor> = self.events.iter().map(|(cursor, ..)| *cursor).collect();
        self.following.check(reader, &cursors);
        self.names.check(reader);
        self.history.check(reader);
        self.check_known(reader);
        self.check_topics(reader);
        self.check_pages(reader);
        self.check_sites(reader);
        self.check_links(reader);
    }

    /// Who links to a page is what all rows together say.
    fn check_links(&self, reader: &Reader) {
        assert_eq!(reader.graph_mark().unwrap(), self.graph);
        for ((partition, chunk), scores) in &self.scores {
            assert_eq!(&reader.scores(*partition, *chunk).unwrap(), scores);
        }
        for key in self.pages.keys() {
            assert_eq!(reader.left(*key).unwrap().as_ref(), self.left.get(key));
        }
        let linking = |page: &&Page| matches!(page.state, PageState::Held | PageState::Left);
        for url in self.known.values().map(|known| &known.url) {
            let to_it = |page: &Page| {
                let links = self.documents.get(&page.key).into_iter().flat_map(|document| &document.links);
                links.filter(|link| link.target == url.fingerprint()).count()
            };
            let expected = self.pages.values().filter(linking).map(|page| (page.key, to_it(page)));
            let expected: Vec<(PageKey, usize)> = expected.filter(|(_, links)| *links > 0).collect();
            let told = reader.back_links(url).unwrap().map(|link| link.unwrap());
            assert_eq!(told.map(|link| (link.page.key, link.links)).collect::<Vec<_>>(), expected, "{url}");
        }
    }

    fn check_known(&self, reader: &Reader) {
        for ((partition, _), plain) in &self.known {
            let known = reader.key_of(&plain.url).unwrap().expect("a known URL");
            let key = plain.number.map(|number| PageKey::new(*partition, number));
            let state = match key {
                None => KnownState::Barred,
                Some(key) if self.pages.contains_key(&key) => KnownState::Visited,
                Some(_) => KnownState::Waiting,
            };
            let back_links = u32::try_from(plain.back_links).unwrap_or(0);
            assert_eq!((known.key, known.back_links, known.state), (key, back_links, state), "{}", plain.url);
        }
        for (key, admitted) in &self.admitted {
            let row = reader.url(*key).unwrap().expect("an admitted URL");
            assert_eq!((&row.url, row.rank, &row.place), (&admitted.url, admitted.rank, &admitted.place));
            assert_eq!((row.via, row.depth, row.found_on), (admitted.via, admitted.depth, admitted.found_on));
            assert_eq!((row.page, row.admitted), (*key, admitted.moment));
            assert!(key.number < reader.next_number(key.partition));
        }
    }

    fn check_topics(&self, reader: &Reader) {
        let categorised: BTreeMap<PageKey, Vec<TopicOf>> = reader.categorised().map(Result::unwrap).collect();
        assert_eq!(categorised, self.page_topics);
        let topics: Vec<TopicRow> = reader.topics().map(Result::unwrap).collect();
        assert_eq!(topics, self.topics.values().cloned().collect::<Vec<_>>());
        assert_eq!(reader.topic_mark().unwrap(), self.topic_mark);
        for key in self.admitted.keys() {
            assert_eq!(reader.terms(*key).unwrap().as_ref(), self.terms.get(key));
            assert_eq!(reader.topics_of(*key).unwrap(), self.page_topics.get(key).cloned().unwrap_or_default());
        }
        for row in &topics {
            assert_eq!(reader.topic(row.id).unwrap().as_ref(), Some(row));
        }
    }

    fn check_pages(&self, reader: &Reader) {
        for (key, page) in &self.pages {
            assert_eq!(reader.page_by_url(&page.url).unwrap().as_ref(), Some(page));
            assert_eq!(reader.document(*key).unwrap().as_ref(), self.documents.get(key));
            assert_eq!(reader.page_noise(*key).unwrap(), self.noise.get(key).cloned().unwrap_or_default());
            let visits: Vec<Visit> = self.visits_of(Some(*key)).cloned().collect();
            let versions: Vec<_> = visits.iter().filter_map(|visit| visit.version).collect();
            assert_eq!(reader.visits(*key).unwrap(), visits);
            assert_eq!(reader.versions(*key).unwrap(), versions);
            let events: Vec<_> = self.events_of_pages().filter(|(_, _, event)| event.page == *key).cloned().collect();
            assert_eq!(reader.page_events(*key).unwrap(), events);
        }
        let mut robots: Vec<Visit> = Vec::new();
        let mut pages = 0;
        for entry in reader.visit_book() {
            match entry.unwrap() {
                (None, visit) => robots.push(visit),
                (Some(_), _) => pages += 1,
            }
        }
        robots.sort_by_key(|visit| visit.started);
        let expected: Vec<Visit> = self.visits_of(None).cloned().collect();
        assert_eq!(robots.len(), expected.len());
        assert!(robots.iter().all(|visit| expected.contains(visit)));
        assert_eq!(pages + robots.len(), self.visits.len());
        let held = reader.held_pages().map(|page| page.unwrap().key).collect::<Vec<_>>();
        let is_held = |page: &&Page| page.state == PageState::Held;
        assert_eq!(held, self.pages.values().filter(is_held).map(|page| page.key).collect::<Vec<_>>());
    }

    fn visits_of(&self, page: Option<PageKey>) -> impl Iterator<Item = &Visit> {
        self.visits.iter().filter(move |(key, _)| key.0 == page).map(|(_, visit)| visit)
    }

    fn check_sites(&self, reader: &Reader) {
        let with_book = |book: &&NoiseBook| **book != NoiseBook::default();
        self.hints.check(reader);
        let books = reader.noise_books().unwrap();
        assert_eq!(books.len(), self.books.values().filter(with_book).count());
        assert!(books.iter().all(|(site, book)| self.books.get(site) == Some(book)));
        let sites = reader.sites();
        assert_eq!(sites.iter().map(|row| &row.site).collect::<Vec<_>>(), self.postures.keys().collect::<Vec<_>>());
        for row in &sites {
            let (partition, profile) = &self.postures[&row.site];
            assert_eq!((row.partition, &row.profile), (*partition, profile));
            assert_eq!(row.counts, self.site_counts(&row.site), "{}", row.site);
            assert_eq!(reader.noise_book(&row.site).unwrap(), self.books.get(&row.site).cloned().unwrap_or_default());
            let waiting = reader.waiting(*partition, &row.site, None, usize::MAX).unwrap();
            let expected: Vec<u32> =
                self.waiting.iter().filter(|(place, _)| place.1 == row.site).map(|(_, number)| *number).collect();
            assert_eq!(waiting.iter().map(|row| row.page.number).collect::<Vec<_>>(), expected);
            for (place, one) in waiting.iter().enumerate() {
                let rest = reader.waiting(*partition, &row.site, Some(&one.place), 2).unwrap();
                assert_eq!(rest[..], waiting[place + 1..waiting.len().min(place + 3)]);
            }
        }
        for (row, _) in self.robots.values() {
            assert_eq!(reader.robots(&row.origin).unwrap().as_ref(), Some(row));
        }
    }

    fn site_counts(&self, site: &Site) -> SiteCounts {
        let pages = || self.pages.values().filter(|page| page.url.site() == *site);
        let of_site = |(key, _): &(&(Option<PageKey>, Moment, u64), &Visit)| match key.0 {
            Some(page) => self.pages[&page].url.site() == *site,
            None => false,
        };
        let to_robots =
            self.visits.values().filter(|visit| visit.robots.as_ref().is_some_and(|url| url.site() == *site));
        let visits: Vec<&Visit> = self.visits.iter().filter(of_site).map(|(_, visit)| visit).chain(to_robots).collect();
        let changes = self.events_of_pages().filter(|(_, _, event)| event.url.site() == *site);
        SiteCounts {
            known: self.known.values().filter(|known| known.site == *site).count() as u64,
            waiting: self.waiting.keys().filter(|place| place.1 == *site).count() as u64,
            held: pages().filter(|page| page.state == PageState::Held).count() as u64,
            gone: pages().filter(|page| page.state == PageState::Gone).count() as u64,
            visits: visits.iter().filter(|visit| visit.outcome.asked()).count() as u64,
            changes: changes.filter(|(_, _, event)| is_change(event)).count() as u64,
            failures: visits.iter().filter(|visit| matches!(visit.outcome, Outcome::Failed(_))).count() as u64,
            wire_bytes: visits.iter().map(|visit| visit.wire_bytes).sum(),
        }
    }

    fn events_of_pages(&self) -> impl Iterator<Item = &(Cursor, EventId, Event)> {
        self.events.iter().filter(|(cursor, ..)| !self.following.is_of_site(*cursor))
    }

    fn totals(&self) -> Totals {
        let state = |state: PageState| self.pages.values().filter(|page| page.state == state).count() as u64;
        let visits = || self.visits.values();
        let versions = || visits().filter_map(|visit| visit.version);
        Totals {
            known: self.known.len() as u64,
            barred: self.known.values().filter(|known| known.number.is_none()).count() as u64,
            waiting: self.waiting.len() as u64,
            held: state(PageState::Held),
            gone: state(PageState::Gone),
            moved: state(PageState::Moved),
            blocked: state(PageState::Blocked),
            refused: state(PageState::Refused),
            failed: state(PageState::Failed),
            visits: visits().filter(|visit| visit.outcome.asked()).count() as u64,
            changes: self.events_of_pages().filter(|(_, _, event)| is_change(event)).count() as u64,
            versions: versions().count() as u64,
            wire_bytes: visits().map(|visit| visit.wire_bytes).sum(),
            body_bytes: versions().map(|version| u64::from(version.body_bytes)).sum(),
            found_pending: self.found.iter().map(|row| (row.2.len() + row.3.len() + row.4.len()) as u64).sum(),
            events: self.events.len() as u64,
            noise: self.events_of_pages().filter(|(_, _, event)| is_noise(event)).count() as u64,
        }
    }
}

fn is_change(event: &Event) -> bool {
    matches!(event.kind, EventKind::Changed | EventKind::Template) && event.change.is_change()
}

fn is_noise(event: &Event) -> bool {
    event.kind == EventKind::Changed && event.change.is_noise()
}
