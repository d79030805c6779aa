//! What a pass over all links costs.
//!
//! `bench-graph make FOLDER PAGES LINKS` makes a repository of so many held pages, each with so many links; the targets are
//! drawn so that few pages have most of the back links. `bench-graph pass FOLDER` opens it with the crawler of every day,
//! lets it weigh all pages turn by turn, and asks who links to the best known page. Prints one JSON object.

use std::error::Error;
use std::path::Path;
use std::time::Instant;

use vernal_crawler::{Crawler, ImportanceBy, Settings};
use vernal_model::{
    Admitted, Chance, CountedIn, Deed, Digest, DocumentRow, LinkKind, LinkRow, Media, Moment, Outcome, Page, PageKey,
    PageState, ParagraphMark, Partition, PolicyState, Rel, Sequence, Signature, Span, Url, Validators, Version, Via,
    Visit, Visited, WaitingPlace,
};
use vernal_repository::Repository;

const START: Moment = Moment::from_secs(1_767_225_600);
const SITES: u32 = 1_000;
const PARAGRAPHS: usize = 16;
const PAGES_PER_GROUP: usize = 2_000;
/// Turns of a pass at most; it ends long before.
const TURNS_MAX: usize = 10_000_000;

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words[..] {
        ["make", folder, pages, links] => make(Path::new(folder), pages.parse()?, links.parse()?),
        ["pass", folder] => pass(Path::new(folder)),
        _ => Err("usage: bench-graph make FOLDER PAGES LINKS | pass FOLDER".into()),
    }
}

fn make(folder: &Path, pages: u32, links: usize) -> Result<(), Box<dyn Error>> {
    let (mut repository, _) = Repository::open(folder, vernal_repository::Settings::default(), START)?;
    let mut targets = Vec::with_capacity(pages as usize);
    let mut numbers = [0; Partition::COUNT as usize];
    let mut admitted: Vec<(Partition, Admitted)> = Vec::new();
    for page in 0..pages {
        let url = Url::parse(&format!("http://s{}.example-{}.org/folder/page-{page}", page % 7, page % SITES))?;
        let partition = url.partition();
        let number = numbers[usize::from(partition.0)];
        numbers[usize::from(partition.0)] += 1;
        targets.push((url.fingerprint(), PageKey::new(partition, number)));
        let place = WaitingPlace { site: url.site(), band: 0, arrival: u64::from(number) };
        let row = Admitted { number, url, via: Via::Link, depth: 1, found_on: None, moment: START, rank: 0, place };
        admitted.push((partition, row));
        if admitted.len() == 100_000 || page + 1 == pages {
            commit_admitted(&mut repository, std::mem::take(&mut admitted))?;
        }
    }
    let mut chance = Chance::new(1);
    for group in (0..pages as usize).collect::<Vec<_>>().chunks(PAGES_PER_GROUP) {
        let mut deeds = Vec::with_capacity(group.len());
        for &page in group {
            let key = targets[page].1;
            let row = repository.reader().url(key)?.ok_or("a page without a URL")?;
            let links = (0..links).map(|_| {
                let (target, to) = targets[(chance.share().powi(3) * f64::from(pages)) as usize];
                let counted = CountedIn::new(to.partition);
                LinkRow { target, kind: LinkKind::Anchor, rel: Rel::default(), counted }
            });
            let links: Vec<LinkRow> = links.collect();
            deeds.push((key.partition, Deed::Visited(Box::new(visited(key, row.url, row.place, links, &mut chance)))));
        }
        repository.commit(&deeds, START)?;
    }
    repository.close()?;
    Ok(())
}

fn commit_admitted(repository: &mut Repository, rows: Vec<(Partition, Admitted)>) -> Result<(), Box<dyn Error>> {
    let mut deeds = Vec::new();
    for id in (0..Partition::COUNT).map(Partition) {
        let admitted = rows.iter().filter(|(partition, _)| *partition == id).map(|(_, row)| row.clone()).collect();
        deeds.push((id, Deed::Sieved { through: Sequence(0), admitted, barred: Vec::new() }));
    }
    repository.commit(&deeds, START)?;
    Ok(())
}

fn visited(key: PageKey, url: Url, place: WaitingPlace, links: Vec<LinkRow>, chance: &mut Chance) -> Visited {
    let payload = Digest(std::array::from_fn(|_| chance.bits() as u8));
    let version = Version { number: 1, moment: START, status: 200, payload, body_bytes: 20_000, location: None };
    let outcome = Outcome::Read { status: 200 };
    let mark = |chance: &mut Chance| ParagraphMark { digest: chance.bits(), id: 1, ..ParagraphMark::default() };
    let signature = Signature {
        format: Signature::FORMAT,
        payload,
        paragraphs: (0..PARAGRAPHS).map(|_| mark(chance)).collect(),
        ..Signature::default()
    };
    let document = DocumentRow {
        signature,
        media: Media::Html,
        content_type: "text/html".into(),
        title: "A page of a large collection".into(),
        language: "en".into(),
        links,
        next_paragraph: PARAGRAPHS as u32 + 1,
        ..DocumentRow::default()
    };
    let page = Page {
        key,
        url,
        state: PageState::Held,
        depth: 1,
        found_on: None,
        admitted: START,
        first_visit: START,
        last_visit: START,
        last_confirmed: Some(START),
        last_outcome: outcome.clone(),
        visits: 1,
        compared: 0,
        changes: 0,
        misses: 0,
        missing_since: None,
        failures: 0,
        not_before: START,
        version: Some(version),
        validators: Validators::default(),
        importance: 1.0,
        noisy: false,
        policy: PolicyState::default(),
    };
    let visit = Visit {
        started: START,
        finished: START,
        outcome,
        address: None,
        wire_bytes: 5_000,
        version: Some(version),
        record: None,
        decided_by: None,
        changed: None,
        second_look: false,
        robots: None,
    };
    Visited { page, was: None, left: Some(place), visit, document: Some(document), event: None }
}

fn pass(folder: &Path) -> Result<(), Box<dyn Error>> {
    let (repository, _) = Repository::open(folder, vernal_repository::Settings::default(), START)?;
    // No order ever leaves: what is measured is the pass.
    let settings = Settings {
        importance: ImportanceBy::Links,
        policy: "vernal".into(),
        pages_max: 10_000_000,
        visits_max: Some(0),
        ..Settings::default()
    };
    let moment = START + Span::from_days(1);
    let mut crawler = Crawler::open(repository, settings, moment)?;
    let reader = crawler.reader();
    let (opened_mb, begun, begun_cpu) = (memory_mb("VmRSS")?, now(), cpu_seconds()?);
    let (mut turns, mut longest) = (0, 0.0f64);
    while reader.graph_mark()?.is_none() && turns < TURNS_MAX {
        let turn = now();
        crawler.step(moment)?;
        longest = longest.max(turn.elapsed().as_secs_f64());
        turns += 1;
    }
    let (wall, cpu) = (begun.elapsed().as_secs_f64(), cpu_seconds()? - begun_cpu);
    let mark = reader.graph_mark()?.ok_or("the pass did not end")?;
    let index = folder.join("graph/links.index").metadata()?.len();
    let asked = now();
    let hub = reader.url(PageKey::new(Url::parse("http://s0.example-0.org/folder/page-0")?.partition(), 0))?;
    let back = hub.map(|row| reader.back_links(&row.url)).transpose()?.map_or(0, |links| links.take(1_000).count());
    let back_ms = asked.elapsed().as_secs_f64() * 1e3;
    crawler.close(moment)?;
    println!(
        "{{\"urls\":{},\"links\":{},\"sweeps\":{},\"cpu_seconds\":{cpu:.1},\"wall_seconds\":{wall:.1},\"turns\":{turns},\
         \"longest_turn_ms\":{:.1},\"opened_mb\":{opened_mb:.0},\"peak_mb\":{:.0},\"index_bytes_per_link\":{:.2},\
         \"back_links_first\":{back},\"back_links_first_ms\":{back_ms:.1}}}",
        mark.urls,
        mark.links,
        mark.sweeps,
        longest * 1e3,
        memory_mb("VmHWM")?,
        index as f64 / mark.links as f64,
    );
    Ok(())
}

/// User and system time of this process, the store's own thread included.
fn cpu_seconds() -> Result<f64, Box<dyn Error>> {
    let stat = std::fs::read_to_string("/proc/self/stat")?;
    let fields: Vec<&str> = stat.rsplit_once(')').ok_or("no stat")?.1.split_whitespace().collect();
    let ticks: f64 = fields[11].parse::<f64>()? + fields[12].parse::<f64>()?;
    Ok(ticks / 100.0)
}

fn memory_mb(name: &str) -> Result<f64, Box<dyn Error>> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find(|line| line.starts_with(name)).ok_or("no such line")?;
    Ok(line.split_whitespace().nth(1).ok_or("no number")?.parse::<f64>()? / 1024.0)
}

#[expect(clippy::disallowed_methods, reason = "a benchmark is about the real clock")]
fn now() -> Instant {
    Instant::now()
}
