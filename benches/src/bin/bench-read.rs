//! A repository for measuring what readers wait for.
//!
//! `bench-read FOLDER PAGES VERSIONS` writes so many pages with so many versions in all, through the writer that a crawl uses:
//! bodies, events with their paragraphs, and tables. No crawler runs and nothing is fetched. Prints one JSON object.

use std::error::Error;
use std::fmt::Write;
use std::path::Path;
use std::time::Instant;

use vernal_document::diff::carry_ids;
use vernal_document::{Input, Parsed, compare_pages, read_closely};
use vernal_model::{
    Admitted, Chance, Change, Deed, Digest, DocumentRow, Event, EventKind, Exchange, Moment, NumberRun, Outcome, Page,
    PageKey, PageState, Partition, PolicyState, Seed, Sequence, Span, Url, Validators, Version, VersionRow,
    VersionTold, Via, Visit, Visited, WaitingPlace,
};
use vernal_repository::{Keep, KeepKind, Repository};

const START: Moment = Moment::from_secs(1_767_225_600);
const SITES: u32 = 1_000;
const PARAGRAPHS: u32 = 6;
const WORDS_PER_PARAGRAPH: usize = 40;
const VOCABULARY: f64 = 30_000.0;
const VISITS_PER_GROUP: usize = 1_000;
/// Pages are visited one after the other, this far apart.
const BETWEEN_VISITS: Span = Span::from_millis(40);

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match &words[..] {
        [folder, pages, versions] => make(Path::new(folder), pages.parse()?, versions.parse()?),
        _ => Err("usage: bench-read FOLDER PAGES VERSIONS".into()),
    }
}

fn make(folder: &Path, pages: u32, versions: u32) -> Result<(), Box<dyn Error>> {
    let began = now();
    let (mut repository, _) = Repository::open(folder, vernal_repository::Settings::default(), START)?;
    let keys = admit(&mut repository, pages)?;
    let (mut moment, mut written, mut html_bytes) = (START, 0, 0);
    for edition in 0..versions.div_ceil(pages.max(1)) {
        for group in (0..pages.min(versions - written)).collect::<Vec<_>>().chunks(VISITS_PER_GROUP) {
            let mut deeds = Vec::with_capacity(2 * group.len());
            for &number in group {
                moment += BETWEEN_VISITS;
                let page = Writing { number, edition, key: keys[number as usize], moment };
                html_bytes += page.write(&mut repository, &mut deeds)?;
            }
            repository.commit(&deeds, moment)?;
            written += group.len() as u32;
        }
    }
    repository.close()?;
    let seconds = began.elapsed().as_secs_f64();
    println!("{{\"pages\":{pages},\"versions\":{written},\"html_bytes\":{html_bytes},\"seconds\":{seconds:.1}}}");
    Ok(())
}

/// Makes the pages known, as the sieve of a crawl does.
fn admit(repository: &mut Repository, pages: u32) -> Result<Vec<PageKey>, Box<dyn Error>> {
    let seed = Seed { tags: vec!["bench".into()], ..Seed::new(Url::parse("http://s0.example-0.org/")?, START) };
    repository.commit(&[(Partition(0), Deed::Seeded(seed))], START)?;
    let mut numbers = [0; Partition::COUNT as usize];
    let mut admitted: Vec<Vec<Admitted>> = vec![Vec::new(); usize::from(Partition::COUNT)];
    let mut keys = Vec::with_capacity(pages as usize);
    for page in 0..pages {
        let url = url_of(page)?;
        let partition = url.partition();
        let number = numbers[usize::from(partition.0)];
        numbers[usize::from(partition.0)] += 1;
        keys.push(PageKey::new(partition, number));
        let place = WaitingPlace { site: url.site(), band: 0, arrival: u64::from(number) };
        let row = Admitted { number, url, via: Via::Link, depth: 1, found_on: None, moment: START, rank: 0, place };
        admitted[usize::from(partition.0)].push(row);
    }
    for (id, admitted) in (0..Partition::COUNT).map(Partition).zip(admitted) {
        let deed = Deed::Sieved { through: Sequence(0), admitted, barred: Vec::new() };
        repository.commit(&[(id, deed)], START)?;
    }
    Ok(keys)
}

fn url_of(page: u32) -> Result<Url, Box<dyn Error>> {
    Ok(Url::parse(&format!("http://s{}.example-{}.org/folder/page-{page}", page % 7, page % SITES))?)
}

/// One visit that finds a new version.
struct Writing {
    number: u32,
    edition: u32,
    key: PageKey,
    moment: Moment,
}

impl Writing {
    fn write(&self, repository: &mut Repository, deeds: &mut Vec<(Partition, Deed)>) -> Result<u64, Box<dyn Error>> {
        let url = url_of(self.number)?;
        let html = html(self.number, self.edition);
        let payload = Digest(std::array::from_fn(|at| {
            (u64::from(self.number) << 32 | u64::from(self.edition)).to_le_bytes()[at % 8]
        }));
        let mut parsed = read(&url, &html, payload);
        let next = numbered(&mut parsed);
        let mut change = Change::default();
        if self.edition > 0 {
            let mut before = read(&url, &self::html(self.number, self.edition - 1), Digest::default());
            let mut next = numbered(&mut before);
            change = compare_pages(&before, &parsed);
            let marks = &mut parsed.signature.paragraphs;
            carry_ids(&before.signature.paragraphs, marks, &mut change.paragraphs, &mut next);
        }
        let exchange = Exchange {
            request_head: b"GET / HTTP/1.1\r\n\r\n".to_vec(),
            response_head: b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n".to_vec(),
            body: html.as_bytes().to_vec(),
            ..Exchange::default()
        };
        let what = KeepKind::Response;
        let location = repository.keep(&Keep { url: &url, moment: self.moment, exchange: &exchange, payload, what })?;
        let version = Version {
            number: self.edition + 1,
            moment: self.moment,
            status: 200,
            payload,
            body_bytes: html.len() as u32,
            location: Some(location),
        };
        if self.edition > 0 {
            let row = VersionRow { numbers: NumberRun::of(&parsed.signature.paragraphs), ..VersionRow::default() };
            let told = VersionTold { page: self.key, version: version.number, row };
            deeds.push((self.key.partition, Deed::VersionTold(Box::new(told))));
        }
        let visited = self.visited(url, version, change, &parsed, next);
        deeds.push((self.key.partition, Deed::Visited(Box::new(visited))));
        Ok(html.len() as u64)
    }

    fn visited(&self, url: Url, version: Version, change: Change, parsed: &Parsed, next_paragraph: u32) -> Visited {
        let is_first = self.edition == 0;
        let event = Event {
            kind: if is_first { EventKind::New } else { EventKind::Changed },
            page: self.key,
            url: url.clone(),
            version: Some(version.number),
            previous: (!is_first).then_some(version.number - 1),
            seen_same: (!is_first).then_some(self.moment - Span::from_hours(1)),
            seen_different: self.moment,
            title: parsed.document.title.as_str().into(),
            language: "en".into(),
            content_type: "text/html".into(),
            change,
            detail: "".into(),
        };
        let document = DocumentRow {
            signature: parsed.signature.clone(),
            title: event.title.clone(),
            language: "en".into(),
            content_type: "text/html".into(),
            next_paragraph,
            ..DocumentRow::default()
        };
        let left = WaitingPlace { site: url.site(), band: 0, arrival: u64::from(self.key.number) };
        Visited {
            was: (!is_first).then_some(PageState::Held),
            left: is_first.then_some(left),
            visit: visit(version),
            page: page(self.key, url, version),
            document: Some(document),
            event: Some(event),
        }
    }
}

fn read(url: &Url, html: &str, payload: Digest) -> Parsed {
    let content_type = Some("text/html; charset=utf-8");
    let bytes = html.as_bytes();
    read_closely(&Input { url, bytes, content_type, content_language: None, robots_tags: &[], payload })
}

/// Gives the paragraphs their numbers, as at the first visit; returns the next one.
fn numbered(parsed: &mut Parsed) -> u32 {
    let marks = &mut parsed.signature.paragraphs;
    marks.iter_mut().zip(1..).for_each(|(mark, id)| mark.id = id);
    marks.len() as u32 + 1
}

/// A page whose paragraphs are written anew in turns, one with each edition.
fn html(page: u32, edition: u32) -> String {
    let mut html =
        format!("<!doctype html><html lang=en><head><title>Page {page} of the collection</title></head><body><main>");
    for paragraph in 0..PARAGRAPHS {
        let written =
            (0..=edition).rev().find(|edition| edition % PARAGRAPHS == paragraph).map_or(0, |edition| edition + 1);
        let same = Chance::new(u64::from(page) << 16 | u64::from(paragraph));
        let (mut words, mut edits) = (same, Chance::new(u64::from(page) << 32 | u64::from(written) << 8));
        html.push_str("<p>");
        for place in 0..WORDS_PER_PARAGRAPH {
            let chance = if place % 4 == 3 { &mut edits } else { &mut words };
            // The least of two is drawn more often, as common words are.
            let word = chance.share().powi(3) * VOCABULARY;
            let _ = write!(html, "w{:04x} ", word as u32);
        }
        html.push_str("</p>\n");
    }
    html.push_str("</main></body></html>");
    html
}

fn visit(version: Version) -> Visit {
    Visit {
        started: version.moment,
        finished: version.moment,
        outcome: Outcome::Read { status: 200 },
        address: None,
        wire_bytes: u64::from(version.body_bytes),
        version: Some(version),
        record: version.location,
        decided_by: None,
        changed: None,
        second_look: false,
        robots: None,
    }
}

fn page(key: PageKey, url: Url, version: Version) -> Page {
    Page {
        key,
        url,
        state: PageState::Held,
        depth: 1,
        found_on: None,
        admitted: START,
        first_visit: START,
        last_visit: version.moment,
        last_confirmed: Some(version.moment),
        last_outcome: Outcome::Read { status: 200 },
        visits: version.number,
        compared: version.number - 1,
        changes: version.number - 1,
        misses: 0,
        missing_since: None,
        failures: 0,
        not_before: START,
        version: Some(version),
        validators: Validators::default(),
        importance: 1.0,
        noisy: false,
        policy: PolicyState::default(),
    }
}

#[expect(clippy::disallowed_methods, reason = "what is measured is real time")]
fn now() -> Instant {
    Instant::now()
}
