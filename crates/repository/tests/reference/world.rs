//! Random groups of deeds, honest ones: what a crawler might do, in any order.

use std::collections::BTreeMap;

use vernal_model::{
    Admitted, AnchorTerms, BudgetAccount, Chance, Change, Control, CountedIn, Deed, Digest, DocumentRow, Event,
    EventKind, Eviction, EvictionRow, Exchange, Failure, Fingerprint, Found, GraphMark, Kind, LinkKind, LinkRow,
    Location, Look, Looks, Masked, Moment, NoisePattern, NoiseRows, NoiseRule, Outcome, Page, PageKey, PageNoise,
    PageState, PageTerms, Partition, PolicyState, Refusal, Rel, RobotsAnswer, RobotsRow, RuleForce, RuleReach,
    RuleState, ScopeMark, Seed, SiteProfile, SiteState, Span, TextClass, TimeOrigin, TopicId, TopicMark, TopicOf,
    TopicRow, Url, Validators, Version, Via, Visit, Visited, WaitingPlace, WeightRow,
};
use vernal_repository::graph::{GatheredLinks, LinkGathering, URLS_MAX};
use vernal_repository::{Keep, KeepKind, Repository};

use crate::plain::Plain;
use crate::{counting, following, hinting, naming};

pub struct World {
    pub plain: Plain,
    pub now: Moment,
    /// Groups that were not empty.
    pub groups: u64,
    chance: Chance,
    urls: Vec<Url>,
    spelled: Vec<Url>,
    next_arrival: u64,
    /// A pass over the links that has ended and is not told yet.
    passed: Option<GraphMark>,
}

impl World {
    pub fn new(number: u64) -> World {
        let url = |n: u64| Url::parse(&format!("http://s{}.example-{}.org/page/{n}", n % 7, n % 4)).unwrap();
        World {
            plain: Plain::default(),
            now: Moment::from_secs(1_000),
            groups: 0,
            chance: Chance::new(number),
            urls: (0..160).map(url).collect(),
            spelled: Vec::new(),
            next_arrival: 0,
            passed: None,
        }
    }

    /// Commits one random group to the repository and to the plain model.
    pub fn step(&mut self, repository: &mut Repository) {
        self.now += Span::from_millis(self.chance.below(3_000));
        let mut deeds = Vec::new();
        let mut gathering = self.begin_pass(repository);
        if self.chance.happens(0.5) {
            deeds.extend(self.passed.take().map(|mark| (Partition(0), Deed::GraphPassed(mark))));
        }
        if self.chance.happens(0.3) {
            deeds.extend(self.sieved(repository));
        }
        for _ in 0..1 + self.chance.below(6) {
            self.deed(repository, &mut deeds);
        }
        let cursor = repository.commit(&deeds, self.now).unwrap();
        self.plain.commit(&deeds, self.now);
        assert_eq!(cursor.0, self.plain.position);
        self.groups += u64::from(!deeds.is_empty());
        if let Some(gathering) = gathering.as_mut().filter(|_| self.chance.happens(0.8)) {
            self.end_pass(gathering);
        }
    }

    /// A pass over the links begins now and then, and comes a part of its way before what follows is committed.
    fn begin_pass(&mut self, repository: &Repository) -> Option<LinkGathering> {
        let begins = self.passed.is_none() && self.chance.happens(0.15);
        let begin = |now| LinkGathering::begin(repository, URLS_MAX, now).unwrap().unwrap();
        // One that was cut short, perhaps by a crash, goes on half of the time.
        let resumes = begins && self.chance.happens(0.5);
        let resumed = if resumes { LinkGathering::resume(repository).unwrap() } else { None };
        let gathering = resumed.or_else(|| begins.then(|| begin(self.now)))?;
        let mut gathering = gathering.in_pieces_of(1 + self.chance.below(8) as usize);
        let early = (0..self.chance.below(4)).find_map(|_| gathering.step(3).unwrap());
        let Some(gathered) = early else { return Some(gathering) };
        self.pass_ended(&gathered);
        None
    }

    fn end_pass(&mut self, gathering: &mut LinkGathering) {
        let gathered = (0..10_000).find_map(|_| gathering.step(3).unwrap()).unwrap();
        self.pass_ended(&gathered);
    }

    fn pass_ended(&mut self, gathered: &GatheredLinks) {
        let (position, links) = (gathered.index.position(), gathered.index.links());
        self.passed = Some(GraphMark { moment: self.now, position, links, ..Default::default() });
    }

    fn deed(&mut self, repository: &mut Repository, deeds: &mut Vec<(Partition, Deed)>) {
        let url = self.any_url();
        let partition = url.partition();
        match self.chance.below(22) {
            // One at a time: a group closes no hour twice.
            21 if !deeds.iter().any(|(_, deed)| matches!(deed, Deed::HourClosed(_))) => {
                let sites: Vec<_> = repository.reader().sites();
                let sites: Vec<_> = sites.into_iter().map(|row| (row.site, row.partition)).collect();
                deeds.extend(counting::deeds(&self.plain.history.hours, &sites, &mut self.chance));
            }
            20 => {
                let pages: Vec<Page> = self.plain.pages.values().cloned().collect();
                let keys: Vec<PageKey> = pages.iter().map(|page| page.key).collect();
                let told = self.chance.pick(&pages).cloned();
                let event = told.map(|page| self.event(page.key, &page.url, EventKind::Joined));
                deeds.extend(naming::deeds(&keys, event, self.now, &mut self.chance));
            }
            17 => deeds.extend(self.topics()),
            19 => {
                let Some(page) = self.chance.pick(&self.plain.pages.values().cloned().collect::<Vec<_>>()).cloned()
                else {
                    return;
                };
                let event = self.event(page.key, &page.url, EventKind::Changed);
                deeds.extend(following::deeds(page.key, event, self.now, &mut self.chance));
            }
            0 => deeds.push((partition, Deed::Seeded(Seed::new(url, self.now)))),
            1 => deeds.push((partition, Deed::Unseeded(url))),
            2..=5 if self.chance.happens(0.2) && !self.spelled.is_empty() => deeds.push(self.unlinked()),
            2..=5 => deeds.extend(self.found()),
            6 => deeds.push((partition, self.site_seen(&url))),
            7 => deeds.push((partition, self.robots_read(&url))),
            8 => {
                let control = if self.chance.happens(0.5) { Control::PauseAll } else { Control::ResumeAll };
                deeds.push((Partition(0), Deed::Controlled(control)));
            }
            9 => {
                let account =
                    BudgetAccount { in_hand: self.chance.share(), filled: self.now, spent: self.chance.share() };
                deeds.push((Partition(0), Deed::Spent { account }));
            }
            15 => deeds.push((partition, Deed::Weighed(self.weighed()))),
            16 => deeds.extend(self.left(deeds)),
            18 => {
                let pages: Vec<PageKey> =
                    self.plain.pages.keys().copied().filter(|key| key.partition == partition).collect();
                let rows = hinting::rows(&url, &pages, self.now, &mut self.chance);
                deeds.push((partition, Deed::Hinted(Box::new(rows))));
                let subscription = hinting::subscription(&url, &pages, self.now, &mut self.chance);
                if let Some(subscription) = subscription.filter(|_| self.chance.happens(0.5)) {
                    deeds.push((partition, Deed::Subscribed(Box::new(subscription))));
                    let visit = Visit { robots: Some(url.clone()), ..self.visit(Outcome::Read { status: 202 }, None) };
                    deeds.push((partition, Deed::HubAsked { site: url.site(), visit }));
                }
            }
            11 => deeds.push((partition, Deed::NoiseLearned(Box::new(self.noise_learned(&url))))),
            10 if self.chance.happens(0.5) => {
                let following = self.chance.happens(0.5).then(|| (self.chance.bits(), None));
                deeds.push((Partition(0), Deed::ScopeFollowed(ScopeMark { followed: self.chance.bits(), following })));
            }
            10 => {
                let origin = TimeOrigin { moment: self.now, wall: self.now, scale: self.chance.share() };
                deeds.push((Partition(0), Deed::Clocked(origin)));
            }
            _ => deeds.extend(self.visited(repository, deeds)),
        }
    }

    /// Pages get other words and topics, or lose theirs; topics come and change.
    fn topics(&mut self) -> Vec<(Partition, Deed)> {
        let keys: Vec<PageKey> = self.plain.admitted.keys().copied().collect();
        let Some(&key) = self.chance.pick(&keys) else { return Vec::new() };
        let word = |number: u64| Box::from(format!("word{number}"));
        let of = |number: u64| TopicOf { topic: TopicId(number as u32), reputation: 0.5 };
        let anchors = vec![AnchorTerms { target: Fingerprint(self.chance.bits()), words: vec![word(7)] }];
        let words = (0..self.chance.below(4)).map(word).collect();
        let terms = PageTerms { version: self.chance.below(9) as u32, words, anchors };
        let topics = (0..self.chance.below(3)).map(of).collect();
        let id = TopicId(self.chance.below(20) as u32);
        let pages = self.chance.below(9) as u32;
        let row = TopicRow { id, word: word(u64::from(id.0)), pages, ..TopicRow::default() };
        let mark = TopicMark { ended: Some(self.now), next: TopicId(20), pages, ..TopicMark::default() };
        vec![
            (key.partition, Deed::TermsRead(vec![(key, terms)])),
            (key.partition, Deed::Categorised(vec![(key, topics)])),
            (Partition(0), Deed::TopicsNamed(vec![row])),
            (Partition(0), Deed::TopicsReckoned(mark)),
        ]
    }

    /// Rules come, change and go; so does what a page has shown.
    fn noise_learned(&mut self, url: &Url) -> NoiseRows {
        let mut rows = NoiseRows::new(url.site());
        let book = self.plain.books.get(&url.site()).cloned().unwrap_or_default();
        let id = match self.chance.pick(&book.rules) {
            Some(known) if self.chance.happens(0.5) => known.id,
            _ => book.last_id + 1,
        };
        rows.last_id = (id > book.last_id).then_some(id);
        rows.rules.push(self.noise_rule(id));
        if self.chance.happens(0.3) {
            rows.forgotten.extend(self.chance.pick(&book.rules).map(|rule| rule.id).filter(|gone| *gone != id));
        }
        let pages: Vec<PageKey> = self.plain.pages.keys().copied().collect();
        rows.page = self.chance.pick(&pages).map(|page| (*page, PageNoise::default()));
        if let Some((_, noise)) = rows.page.as_mut().filter(|_| self.chance.happens(0.7)) {
            noise.known.push(Masked { digest: self.chance.bits(), rule: id });
        }
        rows
    }

    fn noise_rule(&mut self, id: u32) -> NoiseRule {
        NoiseRule {
            id,
            what: NoisePattern::Words { shape: "Views: #".into(), place: self.chance.below(9) as u16 },
            on: RuleReach::Site,
            class: TextClass::Main,
            standing: RuleState::Learned,
            since: self.now,
            last: self.now,
            force: RuleForce::since(self.now),
            differed: self.chance.below(9) as u32,
            compared: 9,
            looks: Looks { made: 3, differed: 2, latest: vec![Look { at: self.now, differed: true }] },
            quiet: 0,
            pages: 1,
            template: 7,
            before: "Views: 1".into(),
            after: "Views: 2".into(),
            reason: "".into(),
            seen: vec![1, 2],
        }
    }

    fn any_url(&mut self) -> Url {
        self.chance.pick(&self.urls).unwrap().clone()
    }

    fn found(&mut self) -> Vec<(Partition, Deed)> {
        let mut by_partition: BTreeMap<Partition, (Vec<Found>, Vec<Fingerprint>)> = BTreeMap::new();
        for _ in 0..self.chance.below(12) {
            let url = self.any_url();
            let via = match self.chance.below(8) {
                0 => Via::Seed,
                1 => Via::Redirect { hops: 1 },
                _ => Via::Link,
            };
            let depth = self.chance.below(5) as u16;
            let row = by_partition.entry(url.partition()).or_default();
            if self.spelled.contains(&url) && self.chance.happens(0.5) {
                row.1.push(url.fingerprint());
                continue;
            }
            self.spelled.push(url.clone());
            row.0.push(Found { url, via, depth, found_on: Some(PageKey::new(Partition(1), 2)), forward: 3 });
        }
        let deed = |(partition, (urls, again))| (partition, Deed::Found { urls, again });
        by_partition.into_iter().map(deed).collect()
    }

    /// Some links of one partition are gone; more than there were, now and then.
    fn unlinked(&mut self) -> (Partition, Deed) {
        let partition = self.chance.pick(&self.spelled).unwrap().partition();
        let here: Vec<Fingerprint> =
            self.spelled.iter().filter(|url| url.partition() == partition).map(Url::fingerprint).collect();
        let gone = (0..self.chance.below(5)).map(|_| *self.chance.pick(&here).unwrap()).collect();
        (partition, Deed::Unlinked { gone })
    }

    fn sieved(&mut self, repository: &mut Repository) -> Vec<(Partition, Deed)> {
        let limit = 1 + self.chance.below(60) as usize;
        let sieving = repository.sieve(limit).unwrap();
        self.plain.check_sieving(&sieving);
        let mut deeds = Vec::new();
        for offered in sieving.partitions {
            let mut number = repository.reader().next_number(offered.partition);
            let (mut admitted, mut barred) = (Vec::new(), Vec::new());
            for candidate in offered.fresh {
                match self.chance.below(20) {
                    0 => {}
                    1..=4 => barred.push((candidate.found.url, "a trap".into())),
                    _ => {
                        admitted.push(self.admitted(number, candidate.found));
                        number += 1;
                    }
                }
            }
            deeds.push((offered.partition, Deed::Sieved { through: offered.through, admitted, barred }));
        }
        deeds
    }

    fn admitted(&mut self, number: u32, found: Found) -> Admitted {
        self.next_arrival += 1;
        let band = self.chance.below(4) as u8;
        Admitted {
            number,
            via: found.via,
            depth: found.depth,
            found_on: found.found_on,
            moment: self.now,
            rank: self.chance.below(100) as i32 - 50,
            place: WaitingPlace { site: found.url.site(), band, arrival: self.next_arrival },
            url: found.url,
        }
    }

    fn site_seen(&mut self, url: &Url) -> Deed {
        let standing = *self.chance.pick(&[SiteState::Active, SiteState::Paused, SiteState::Blocked]).unwrap();
        let profile = SiteProfile { standing, not_before: self.now, ..SiteProfile::default() };
        Deed::SiteSeen(url.site(), profile)
    }

    fn robots_read(&mut self, url: &Url) -> Deed {
        let row = RobotsRow {
            origin: url.origin(),
            fetched: self.now,
            expires: self.now + Span::from_days(1),
            answer: RobotsAnswer::Text(format!("Crawl-delay: {}", self.chance.below(9)).into()),
            last_read: Some(self.now),
            copy: None,
        };
        let mut visit = self.visit(Outcome::Read { status: 200 }, None);
        visit.robots = Some(url.join("/robots.txt").unwrap());
        Deed::RobotsRead { site: url.site(), row, visit }
    }

    fn visit(&mut self, outcome: Outcome, version: Option<Version>) -> Visit {
        Visit {
            started: self.now,
            finished: self.now,
            outcome,
            address: None,
            wire_bytes: self.chance.below(9_000),
            version,
            record: version.and_then(|version| version.location),
            decided_by: None,
            changed: None,
            second_look: false,
            robots: None,
        }
    }

    fn weighed(&mut self) -> WeightRow {
        let scores = (0..self.chance.below(9)).map(|_| self.chance.share() as f32).collect();
        WeightRow { chunk: self.chance.below(2) as u32, scores }
    }

    /// A held page makes room for another.
    fn left(&mut self, deeds: &[(Partition, Deed)]) -> Option<(Partition, Deed)> {
        let held: Vec<Page> = self.plain.pages.values().filter(|page| page.state == PageState::Held).cloned().collect();
        let page = self.chance.pick(&held)?.clone();
        if is_touched(deeds, page.key) {
            return None;
        }
        let row = EvictionRow { moment: self.now, importance: 0.5, better: 2.0, made_room_for: PageKey::default() };
        let page = Page { state: PageState::Left, ..page };
        Some((page.key.partition, Deed::Left(Box::new(Eviction { page, was: PageState::Held, row }))))
    }

    /// Links to pages that may be known, some of them twice.
    fn links(&mut self) -> Vec<LinkRow> {
        let mut links = Vec::new();
        for _ in 0..self.chance.below(6) {
            let target = self.any_url();
            let counted = self.chance.happens(0.7).then(|| CountedIn::new(target.partition()));
            let counted = counted.unwrap_or(CountedIn::NOWHERE);
            links.push(LinkRow { target: target.fingerprint(), kind: LinkKind::Anchor, rel: Rel::default(), counted });
        }
        links
    }

    /// A page that waits or was visited before, and is not in this group already.
    fn visited(&mut self, repository: &mut Repository, deeds: &[(Partition, Deed)]) -> Option<(Partition, Deed)> {
        let keys: Vec<PageKey> = self.plain.admitted.keys().copied().collect();
        let key = *self.chance.pick(&keys)?;
        if is_touched(deeds, key) {
            return None;
        }
        let admitted = self.plain.admitted[&key].clone();
        let before = self.plain.pages.get(&key).cloned();
        let (outcome, state) = self.outcome();
        let reads = state == PageState::Held;
        let version = reads.then(|| self.keep(repository, &admitted.url, before.as_ref()));
        let visit = self.visit(outcome.clone(), version);
        let kind = if before.is_some() { EventKind::Changed } else { EventKind::New };
        let event = reads.then(|| self.event(key, &admitted.url, kind));
        let page = Page {
            key,
            url: admitted.url,
            state,
            depth: admitted.depth,
            found_on: admitted.found_on,
            admitted: admitted.moment,
            first_visit: before.as_ref().map_or(self.now, |page| page.first_visit),
            last_visit: self.now,
            last_confirmed: reads.then_some(self.now),
            last_outcome: outcome,
            visits: before.as_ref().map_or(1, |page| page.visits + 1),
            compared: 0,
            changes: 0,
            misses: 0,
            missing_since: None,
            failures: 0,
            not_before: self.now,
            version: version.or(before.as_ref().and_then(|page| page.version)),
            validators: Validators { etag: Some("\"e\"".into()), last_modified: None },
            importance: 1.0,
            noisy: false,
            policy: PolicyState::new(&[1, 2, 3]).unwrap(),
        };
        let document = reads.then(|| DocumentRow {
            title: format!("at {}", self.now.micros()).into(),
            links: self.links(),
            ..Default::default()
        });
        let left = before.is_none().then_some(admitted.place);
        let was = before.map(|page| page.state);
        Some((key.partition, Deed::Visited(Box::new(Visited { page, was, left, visit, document, event }))))
    }

    fn outcome(&mut self) -> (Outcome, PageState) {
        match self.chance.below(8) {
            0 => (Outcome::Gone { status: 404 }, PageState::Gone),
            1 => (Outcome::Moved { status: 301, to: None, permanent: true }, PageState::Moved),
            2 => (Outcome::Refused(Refusal::Robots), PageState::Refused),
            3 => (Outcome::Failed(Failure::TooLarge), PageState::Failed),
            _ => (Outcome::Read { status: 200 }, PageState::Held),
        }
    }

    fn keep(&mut self, repository: &mut Repository, url: &Url, before: Option<&Page>) -> Version {
        let body: Vec<u8> = (0..self.chance.below(400)).map(|_| self.chance.bits() as u8).collect();
        let exchange = Exchange {
            request_head: b"GET / HTTP/1.1\r\n\r\n".to_vec(),
            response_head: b"HTTP/1.1 200 OK\r\n\r\n".to_vec(),
            body,
            ..Exchange::default()
        };
        let keep =
            Keep { url, moment: self.now, exchange: &exchange, payload: Digest::default(), what: KeepKind::Response };
        let location: Location = repository.keep(&keep).unwrap();
        let number = before.and_then(|page| page.version).map_or(1, |version| version.number + 1);
        Version {
            number,
            moment: self.now,
            status: 200,
            payload: Digest::default(),
            body_bytes: exchange.body.len() as u32,
            location: Some(location),
        }
    }

    fn event(&self, page: PageKey, url: &Url, kind: EventKind) -> Event {
        let mut change = Change::default();
        if kind == EventKind::Changed {
            change.kinds.insert(Kind::Content);
            // Of every other page all that differs is noise.
            if page.number.is_multiple_of(2) {
                change.left.insert(Kind::Content);
            }
        }
        Event {
            kind,
            page,
            url: url.clone(),
            version: Some(1),
            previous: None,
            seen_same: None,
            seen_different: self.now,
            title: "a title".into(),
            language: "en".into(),
            content_type: "text/html".into(),
            change,
            detail: "".into(),
        }
    }
}

fn is_touched(deeds: &[(Partition, Deed)], key: PageKey) -> bool {
    deeds.iter().any(|(_, deed)| match deed {
        Deed::Visited(visited) => visited.page.key == key,
        Deed::Left(leaving) => leaving.page.key == key,
        _ => false,
    })
}
