//! What exports cost.
//!
//! `bench-export make FOLDER PAGES HTML…` makes a repository of so many held pages, whose bodies are the HTML files one after the other.
//! `bench-export run FOLDER FORMAT` writes an export of it nowhere, and prints one JSON object: pages and bytes a second of processor
//! time, and the most memory that the process ever had. `bench-export pages HTML…` writes the Markdown of the files alone.

use std::error::Error;
use std::io::{self, Write};
use std::path::Path;

use vernal_archive::export::json_lines::{self, Unit};
use vernal_archive::export::markdown::{self, FileOptions};
use vernal_archive::export::tables::{self, Table};
use vernal_archive::export::{Asked, PageFilter, records, wacz};
use vernal_document::{Input, MarkdownOptions, read};
use vernal_model::{
    Change, Deed, Digest, DocumentRow, Event, EventKind, Exchange, Moment, Outcome, Page, PageKey, PageState,
    Partition, PolicyState, Span, Url, Validators, Version, Visit, Visited,
};
use vernal_repository::{Keep, KeepKind, Repository, Settings};

const START: Moment = Moment::from_secs(1_767_225_600);
const SITES: usize = 100;
const PAGES_PER_GROUP: usize = 500;

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words[..] {
        ["make", folder, pages, ref files @ ..] => make(Path::new(folder), pages.parse()?, files),
        ["run", folder, format] => run(Path::new(folder), format),
        ["pages", ref files @ ..] => of_files(files),
        _ => Err("usage: bench-export make FOLDER PAGES HTML… | run FOLDER FORMAT | pages HTML…".into()),
    }
}

fn make(folder: &Path, pages: usize, files: &[&str]) -> Result<(), Box<dyn Error>> {
    let (mut repository, _) = Repository::open(folder, Settings::default(), START)?;
    let mut numbers = [0; Partition::COUNT as usize];
    for group in (0..pages).collect::<Vec<_>>().chunks(PAGES_PER_GROUP) {
        let mut deeds = Vec::new();
        for &page in group {
            let file = files.get(page % files.len().max(1)).ok_or("no HTML was given")?;
            let url = Url::parse(&format!("http://s.example-{}.org/folder/page-{page}.html", page % SITES))?;
            let partition = url.partition();
            let number = numbers[usize::from(partition.0)];
            numbers[usize::from(partition.0)] += 1;
            let moment = START + Span::from_secs(page as u64);
            let visited = visited(&mut repository, PageKey::new(partition, number), url, std::fs::read(file)?, moment)?;
            deeds.push((partition, Deed::Visited(Box::new(visited))));
        }
        repository.commit(&deeds, START)?;
    }
    repository.close()?;
    Ok(())
}

fn visited(
    repository: &mut Repository,
    key: PageKey,
    url: Url,
    body: Vec<u8>,
    moment: Moment,
) -> Result<Visited, Box<dyn Error>> {
    let payload = Digest(std::array::from_fn(|at| key.bytes()[at % 5]));
    let content_type = Some("text/html");
    let input = Input { url: &url, bytes: &body, content_type, content_language: None, robots_tags: &[], payload };
    let mut parsed = read(&input);
    for (place, mark) in parsed.signature.paragraphs.iter_mut().enumerate() {
        mark.id = place as u32 + 1;
    }
    let body_bytes = body.len() as u32;
    let exchange = Exchange {
        request_head: b"GET / HTTP/1.1\r\n\r\n".to_vec(),
        response_head: b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n".to_vec(),
        body,
        ..Exchange::default()
    };
    let location =
        repository.keep(&Keep { url: &url, moment, exchange: &exchange, payload, what: KeepKind::Response })?;
    let version = Version { number: 1, moment, status: 200, payload, body_bytes, location: Some(location) };
    let outcome = Outcome::Read { status: 200 };
    let visit = Visit {
        started: moment,
        finished: moment,
        outcome: outcome.clone(),
        address: None,
        wire_bytes: u64::from(body_bytes),
        version: Some(version),
        record: Some(location),
        decided_by: None,
        changed: None,
        second_look: false,
        robots: None,
    };
    let document = DocumentRow {
        next_paragraph: parsed.signature.paragraphs.len() as u32 + 1,
        signature: parsed.signature,
        title: parsed.document.title.as_str().into(),
        language: parsed.document.language.as_str().into(),
        ..DocumentRow::default()
    };
    let event = Event {
        kind: EventKind::New,
        page: key,
        url: url.clone(),
        version: Some(1),
        previous: None,
        seen_same: None,
        seen_different: moment,
        title: document.title.clone(),
        language: document.language.clone(),
        content_type: "text/html".into(),
        change: Change::default(),
        detail: "".into(),
    };
    let page = page(key, url, version, outcome, moment);
    Ok(Visited { page, was: None, left: None, visit, document: Some(document), event: Some(event) })
}

fn page(key: PageKey, url: Url, version: Version, last_outcome: Outcome, moment: Moment) -> Page {
    Page {
        key,
        url,
        state: PageState::Held,
        depth: 1,
        found_on: None,
        admitted: START,
        first_visit: moment,
        last_visit: moment,
        last_confirmed: Some(moment),
        last_outcome,
        visits: 1,
        compared: 0,
        changes: 0,
        misses: 0,
        missing_since: None,
        failures: 0,
        not_before: moment,
        version: Some(version),
        validators: Validators::default(),
        importance: 1.0,
        noisy: false,
        policy: PolicyState::default(),
    }
}

/// Counts what would be written.
#[derive(Default)]
struct Counted(u64);

impl Write for Counted {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn run(folder: &Path, format: &str) -> Result<(), Box<dyn Error>> {
    let (repository, _) = Repository::open(folder, Settings::default(), START)?;
    let reader = repository.reader();
    let asked = Asked::now(&reader, PageFilter::default(), START);
    let began = cpu_secs()?;
    let (mut out, mut pages) = (Counted::default(), 0);
    let told = &mut |progress: vernal_archive::export::Progress| pages = progress.pages;
    match format {
        "jsonl" => drop(json_lines::write(&reader, &asked, Unit::Paragraph, told, &mut out)?),
        "pages" => drop(json_lines::write(&reader, &asked, Unit::Page, told, &mut out)?),
        "markdown" => drop(markdown::tar(&reader, &asked, FileOptions::default(), told, &mut out)?),
        "warc" => drop(records::warc(&reader, &asked, told, &mut out)?),
        "wacz" => drop(wacz::write(&reader, &asked, false, told, &mut out)?),
        "cdxj" => drop(records::cdxj(&reader, &asked, None, &mut out)?),
        table => {
            let table = Table::named(table).ok_or("no such format")?;
            tables::write(&reader, &asked, table, told, &mut out)?;
        }
    }
    let secs = cpu_secs()? - began;
    let rate = |amount: f64| amount / secs.max(1e-6);
    println!(
        "{{\"format\":\"{format}\",\"pages\":{pages},\"pages_per_cpu_s\":{:.0},\"mb_out\":{:.1},\"mb_out_per_cpu_s\":{:.1},\"peak_mb\":{}}}",
        rate(pages as f64),
        out.0 as f64 / 1e6,
        rate(out.0 as f64 / 1e6),
        peak_mb()?
    );
    Ok(())
}

fn of_files(files: &[&str]) -> Result<(), Box<dyn Error>> {
    let url = Url::parse("http://site.example/folder/page.html")?;
    let bodies: Vec<Vec<u8>> = files.iter().map(std::fs::read).collect::<Result<_, _>>()?;
    let began = cpu_secs()?;
    let mut written = 0;
    for body in &bodies {
        let content_type = Some("text/html");
        let payload = Digest::default();
        let input = Input { url: &url, bytes: body, content_type, content_language: None, robots_tags: &[], payload };
        written += vernal_document::markdown(&input, &MarkdownOptions::default()).len();
    }
    let secs = cpu_secs()? - began;
    let (pages, read) = (bodies.len() as f64, bodies.iter().map(Vec::len).sum::<usize>() as f64);
    println!(
        "{{\"format\":\"pages alone\",\"pages\":{pages},\"pages_per_cpu_s\":{:.0},\"mb_read_per_cpu_s\":{:.0},\"mb_out\":{:.1}}}",
        pages / secs.max(1e-6),
        read / 1e6 / secs.max(1e-6),
        written as f64 / 1e6
    );
    Ok(())
}

fn cpu_secs() -> Result<f64, Box<dyn Error>> {
    let clock = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Ok(clock.tv_sec as f64 + clock.tv_nsec as f64 / 1e9)
}

fn peak_mb() -> Result<u64, Box<dyn Error>> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).ok_or("no peak is told")?;
    let kib: u64 = line.trim().trim_end_matches(" kB").trim().parse()?;
    Ok(kib / 1024)
}
