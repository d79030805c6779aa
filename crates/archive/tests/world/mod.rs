//! A repository with pages that a test writes: real bodies, real changes, no crawler.
#![allow(dead_code, reason = "each test file uses its own part")]
#![allow(clippy::unwrap_used, reason = "the helpers of tests fail as tests do")]

use std::collections::BTreeMap;
use std::path::Path;

use tempfile::TempDir;
use vernal_document::diff::carry_ids;
use vernal_document::{Input, Parsed, compare_pages, read_closely};
use vernal_model::{
    Change, Deed, Digest, DocumentRow, Event, EventKind, Exchange, Moment, NumberRun, Outcome, Page, PageKey,
    PageState, Partition, PolicyState, Span, TopicId, TopicMark, TopicOf, TopicRow, Url, Validators, Version,
    VersionRow, VersionTold, Visit, Visited,
};
use vernal_repository::{Keep, KeepKind, Reader, Repository, Settings};

/// The first moment of the world.
pub const START: Moment = Moment::from_secs(1_780_000_000);

pub struct World {
    pub folder: TempDir,
    repository: Repository,
    pages: BTreeMap<String, Written>,
    pub now: Moment,
    next: u32,
}

struct Written {
    page: Page,
    parsed: Parsed,
    next_paragraph: u32,
}

/// A body with lines of its head.
pub struct Given<'g> {
    pub html: &'g [u8],
    pub head: &'g str,
}

/// A page with this title and these paragraphs.
pub fn html(title: &str, paragraphs: &[&str]) -> String {
    let body: String = paragraphs.iter().map(|text| format!("<p>{text}</p>\n")).collect();
    format!("<!doctype html><html lang=en><head><title>{title}</title></head><body><main>{body}</main></body></html>")
}

impl World {
    pub fn new() -> World {
        let folder = tempfile::tempdir().unwrap();
        let settings = Settings { tables_in_memory: true, ..Settings::default() };
        let (repository, _) = Repository::open(folder.path(), settings, START).unwrap();
        World { folder, repository, pages: BTreeMap::new(), now: START, next: 1 }
    }

    pub fn reader(&self) -> Reader {
        self.repository.reader()
    }

    pub fn data(&self) -> &Path {
        self.folder.path()
    }

    pub fn key(&self, url: &str) -> PageKey {
        self.pages[url].page.key
    }

    /// A visit that reads this body, an hour later.
    pub fn visit(&mut self, url: &str, html: &str) {
        self.visit_given(url, &Given { html: html.as_bytes(), head: "" });
    }

    pub fn visit_given(&mut self, url: &str, given: &Given<'_>) {
        self.now += Span::from_hours(1);
        let parsed_url = Url::parse(url).unwrap();
        let known = self.pages.get(url);
        let number = known.and_then(|known| known.page.version).map_or(1, |version| version.number + 1);
        let key = match known {
            Some(known) => known.page.key,
            None => {
                self.next += 1;
                PageKey::new(parsed_url.partition(), self.next)
            }
        };
        let payload =
            Digest(std::array::from_fn(|at| (u64::from(number) ^ u64::from(key.number) << 8).to_le_bytes()[at % 8]));
        let robots: Vec<&str> = given.head.lines().filter_map(|line| line.strip_prefix("X-Robots-Tag: ")).collect();
        let input = Input {
            url: &parsed_url,
            bytes: given.html,
            content_type: Some("text/html; charset=utf-8"),
            content_language: None,
            robots_tags: &robots,
            payload,
        };
        let mut parsed = read_closely(&input);
        let location = self.keep(&parsed_url, given, payload);
        let body_bytes = given.html.len() as u32;
        let version = Version { number, moment: self.now, status: 200, payload, body_bytes, location: Some(location) };
        let (change, next_paragraph) = numbered(self.pages.get(url), &mut parsed);
        let before = self.pages.get(url).map(|known| known.page.clone());
        let page = row(key, &parsed_url, before.as_ref(), Some(version), PageState::Held, self.now);
        let kind = match before.as_ref().map(|page| page.state) {
            None => EventKind::New,
            Some(PageState::Held) => EventKind::Changed,
            Some(_) => EventKind::Back,
        };
        let event = self.event(kind, &page, before.as_ref(), change, &parsed);
        let told = before.is_some().then(|| {
            let row = VersionRow { numbers: NumberRun::of(&parsed.signature.paragraphs), ..VersionRow::default() };
            Deed::VersionTold(Box::new(VersionTold { page: key, version: number, row }))
        });
        let document = DocumentRow {
            signature: parsed.signature.clone(),
            title: parsed.document.title.as_str().into(),
            language: parsed.document.language.as_str().into(),
            directives: parsed.document.directives,
            next_paragraph,
            ..DocumentRow::default()
        };
        self.commit(page.clone(), before, Some(version), Some(document), event, told);
        self.pages.insert(url.to_owned(), Written { page, parsed, next_paragraph });
    }

    /// The page is gone, or redirects.
    pub fn end(&mut self, url: &str, kind: EventKind) {
        self.now += Span::from_hours(1);
        let known = &self.pages[url];
        let before = known.page.clone();
        let state = if kind == EventKind::Gone { PageState::Gone } else { PageState::Moved };
        let page = Page { state, last_visit: self.now, ..before.clone() };
        let event = Event { version: None, ..self.event(kind, &page, Some(&before), Change::default(), &known.parsed) };
        self.commit(page.clone(), Some(before), None, None, event, None);
        self.pages.get_mut(url).unwrap().page = page;
    }

    /// The event of a page that was erased.
    pub fn erase(&mut self, url: &str) {
        self.now += Span::from_hours(1);
        let known = &self.pages[url];
        let before = known.page.clone();
        let page = Page { state: PageState::Refused, ..before.clone() };
        let event = Event {
            version: None,
            ..self.event(EventKind::Erased, &page, Some(&before), Change::default(), &known.parsed)
        };
        self.commit(page, Some(before), None, None, event, None);
    }

    /// What a pass over the repository found the pages to be about: pages by the words of topics.
    pub fn topics(&mut self, topics: &[(&str, &[&str])]) {
        let mut rows = Vec::new();
        let mut of_pages: BTreeMap<PageKey, Vec<TopicOf>> = BTreeMap::new();
        for (number, (word, urls)) in topics.iter().enumerate() {
            let (id, pages) = (TopicId(number as u32), urls.len() as u32);
            rows.push(TopicRow { id, word: (*word).into(), holders: pages, pages, ..TopicRow::default() });
            for url in *urls {
                of_pages.entry(self.key(url)).or_default().push(TopicOf { topic: id, reputation: 0.5 });
            }
        }
        let mark = TopicMark { passes: 1, ended: Some(self.now), topics: rows.len() as u32, ..TopicMark::default() };
        let mut deeds: Vec<(Partition, Deed)> =
            of_pages.into_iter().map(|(key, topics)| (key.partition, Deed::Categorised(vec![(key, topics)]))).collect();
        deeds.push((Partition(0), Deed::TopicsNamed(rows)));
        deeds.push((Partition(0), Deed::TopicsReckoned(mark)));
        self.repository.commit(&deeds, self.now).unwrap();
    }

    fn keep(&mut self, url: &Url, given: &Given<'_>, payload: Digest) -> vernal_model::Location {
        let content_type =
            if given.head.contains("Content-Type") { "" } else { "Content-Type: text/html; charset=utf-8\r\n" };
        let head = format!("HTTP/1.1 200 OK\r\n{content_type}{}\r\n", given.head);
        let exchange = Exchange {
            request_head: b"GET / HTTP/1.1\r\n\r\n".to_vec(),
            response_head: head.into_bytes(),
            body: given.html.to_vec(),
            ..Exchange::default()
        };
        let keep = Keep { url, moment: self.now, exchange: &exchange, payload, what: KeepKind::Response };
        self.repository.keep(&keep).unwrap()
    }

    fn event(&self, kind: EventKind, page: &Page, before: Option<&Page>, change: Change, parsed: &Parsed) -> Event {
        Event {
            kind,
            page: page.key,
            url: page.url.clone(),
            version: page.version.map(|version| version.number),
            previous: before.and_then(|page| page.version).map(|version| version.number),
            seen_same: before.map(|page| page.last_visit),
            seen_different: self.now,
            title: parsed.document.title.as_str().into(),
            language: parsed.document.language.as_str().into(),
            content_type: "text/html".into(),
            change,
            detail: "".into(),
        }
    }

    fn commit(
        &mut self,
        page: Page,
        before: Option<Page>,
        version: Option<Version>,
        document: Option<DocumentRow>,
        event: Event,
        told: Option<Deed>,
    ) {
        let partition: Partition = page.key.partition;
        let visit = Visit {
            started: self.now,
            finished: self.now,
            outcome: Outcome::Read { status: 200 },
            address: None,
            wire_bytes: 1,
            version,
            record: version.and_then(|version| version.location),
            decided_by: None,
            changed: None,
            second_look: false,
            robots: None,
        };
        let was = before.map(|page| page.state);
        let visited = Visited { page, was, left: None, visit, document, event: Some(event) };
        let deeds: Vec<(Partition, Deed)> =
            std::iter::once(Deed::Visited(Box::new(visited))).chain(told).map(|deed| (partition, deed)).collect();
        self.repository.commit(&deeds, self.now).unwrap();
    }
}

/// The change from the version before, with the numbers of paragraphs passed on.
fn numbered(before: Option<&Written>, parsed: &mut Parsed) -> (Change, u32) {
    match before {
        None => {
            let mut next = 1;
            for mark in &mut parsed.signature.paragraphs {
                (mark.id, next) = (next, next + 1);
            }
            (Change::default(), next)
        }
        Some(before) => {
            let mut change = compare_pages(&before.parsed, parsed);
            let mut next = before.next_paragraph;
            let old = &before.parsed.signature.paragraphs;
            carry_ids(old, &mut parsed.signature.paragraphs, &mut change.paragraphs, &mut next);
            (with_first_words(change), next)
        }
    }
}

/// An event keeps the first of its words only.
fn with_first_words(mut change: Change) -> Change {
    let mut kept = 0;
    for one in &mut change.paragraphs {
        kept += one.before.as_ref().map_or(0, |text| text.len()) + one.after.as_ref().map_or(0, |text| text.len());
        if kept > 2_048 {
            (one.before, one.after) = (None, None);
        }
    }
    change
}

fn row(
    key: PageKey,
    url: &Url,
    before: Option<&Page>,
    version: Option<Version>,
    state: PageState,
    now: Moment,
) -> Page {
    Page {
        key,
        url: url.clone(),
        state,
        depth: 0,
        found_on: None,
        admitted: START,
        first_visit: before.map_or(now, |page| page.first_visit),
        last_visit: now,
        last_confirmed: Some(now),
        last_outcome: Outcome::Read { status: 200 },
        visits: before.map_or(1, |page| page.visits + 1),
        compared: 0,
        changes: 0,
        misses: 0,
        missing_since: None,
        failures: 0,
        not_before: now,
        version,
        validators: Validators::default(),
        importance: 1.0,
        noisy: false,
        policy: PolicyState::default(),
    }
}
