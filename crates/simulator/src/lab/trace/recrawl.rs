//! The format of Microsoft's Optimal-Freshness-Crawl-Scheduling release: a folder of tab-separated files about some 18
//! million URLs that were visited daily for 14 weeks.
//!
//! ```text
//! url_urlid_hostid.txt            URL, its number, its host's number
//! host_hostid_isconstrained.txt   host, its number, 1 if it limits the crawler
//! urlid_imp.txt                   the URL's number, its importance
//! urlid_offset_history.txt        the URL's number, days to its first visit, [[days since the visit before, 1 if changed],
//! …] urlid_chrate_compl_obs_hist.txt the URL's number, changes a day where they are known from sitemaps (may be absent)
//! ```
//!
//! A change is known only to lie between two visits. It is placed at a point of that interval that follows from the
//! URL's number, so that changes do not all happen at the hour of a visit; the world says that it is censored.

use std::collections::{BTreeMap, BinaryHeap, HashMap};
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use vernal_model::{Chance, Moment, Span};
use xxhash_rust::xxh3::xxh3_64;

use super::selection::Selection;
use crate::lab::world::{ChangeKind, World, WorldChange, WorldPage, WorldSite};
use crate::{Error, Result};

/// A row is at most so long: some hundred thousand visits to one URL.
const ROW_BYTES_MAX: usize = 4 << 20;
/// Where nothing else is asked for, at most this many URLs are taken, a fair sample.
const PAGES_MAX: usize = 1_000_000;
/// The recording began in 2017; the release does not say when, and nothing depends on it.
const ORIGIN_SECS: i64 = 1_483_228_800;
/// The release does not say how much of a page changed.
const DEGREE: f32 = 0.3;

/// What is said of a replay of it.
pub const CENSORED_NOTE: &str = "recorded by a crawl: each change is placed at a point between the visit that found it and \
                                 the one before, which follows from the number of its URL, and several changes between \
                                 two visits are one";

/// A URL of the sample.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Sampled {
    /// URLs with the least marks are the sample.
    mark: u64,
    number: u64,
    host: u64,
    url: Box<str>,
}

/// Reads the release from its folder. Hosts that limit the crawler get `constrained_visits_per_page_day` for each of
/// their pages; the release does not say what their limits were.
pub fn load(folder: &Path, selection: &Selection, constrained_visits_per_page_day: Option<f64>) -> Result<World> {
    let pages = sample(folder, selection)?;
    let mut hosts: BTreeMap<u64, Host> = BTreeMap::new();
    for page in &pages {
        hosts.entry(page.host).or_default().pages += 1;
    }
    read_hosts(folder, &mut hosts)?;
    let by_number: HashMap<u64, usize> = pages.iter().enumerate().map(|(place, page)| (page.number, place)).collect();
    let importance = read_numbers(folder, "urlid_imp.txt", "Importance_score", &by_number, pages.len())?;
    let histories = read_histories(folder, &by_number, pages.len())?;
    let known = folder.join("urlid_chrate_compl_obs_hist.txt").exists();
    let rates = match known {
        true => {
            read_numbers(folder, "urlid_chrate_compl_obs_hist.txt", "Poisson_change_rate", &by_number, pages.len())?
        }
        false => vec![None; pages.len()],
    };
    let origin = Moment::from_secs(ORIGIN_SECS);
    let seen_days = histories.iter().flatten().map(History::days).fold(0.0, f64::max);
    let days = selection.days.unwrap_or(seen_days).min(seen_days);
    if days <= 0.0 {
        return Err(Error::Lab("the recording holds no visit of the selection".into()));
    }
    let mut world = World::new(&selection.name, origin, span_of(days), selection.warm_up);
    world.censored = true;
    let mut site_of: BTreeMap<u64, u32> = BTreeMap::new();
    for (number, (&id, host)) in hosts.iter().enumerate() {
        site_of.insert(id, number as u32);
        let cap = constrained_visits_per_page_day.filter(|_| host.constrained);
        world.sites.push(WorldSite {
            name: host.name.clone(),
            visits_per_day_max: cap.map(|visits| visits * host.pages as f64),
        });
    }
    for (place, page) in pages.iter().enumerate() {
        let Some(history) = &histories[place] else { continue };
        let changes = history.changes(origin, page.number);
        let facts = WorldPage {
            name: page.url.clone(),
            site: site_of[&page.host],
            born: origin + span_of(history.first),
            gone: Moment::NEVER,
            weight: importance[place].unwrap_or(1.0) as f32,
            bytes: 0,
            ..WorldPage::default()
        };
        world.push(facts, &changes, &[]);
    }
    weigh(&mut world);
    world.rate_in_hindsight();
    let known =
        pages.iter().enumerate().filter(|&(place, _)| histories[place].is_some()).map(|(place, _)| rates[place]);
    for (page, rate) in world.pages.iter_mut().zip(known) {
        page.rate = rate.unwrap_or(page.rate);
    }
    Ok(world)
}

#[derive(Clone, Debug, Default)]
struct Host {
    name: String,
    constrained: bool,
    pages: u64,
}

/// The URLs of the sample, by host and number.
fn sample(folder: &Path, selection: &Selection) -> Result<Vec<Sampled>> {
    let most = selection.pages_max.unwrap_or(PAGES_MAX);
    let mut heap: BinaryHeap<Sampled> = BinaryHeap::new();
    let mut rows = Table::open(folder, "url_urlid_hostid.txt")?;
    while rows.next()? {
        let (number, host) = (rows.whole(1, "URL_ID")?, rows.whole(2, "Host_ID")?);
        let mark = xxh3_64(&number.to_le_bytes());
        if heap.len() >= most && heap.peek().is_none_or(|greatest| greatest.mark <= mark) {
            continue;
        }
        heap.push(Sampled { mark, number, host, url: rows.field(0).into() });
        if heap.len() > most {
            heap.pop();
        }
    }
    // In the order of marks, so that a cap keeps the same pages of a site whatever the others are.
    let mut per_host: HashMap<u64, usize> = HashMap::new();
    let mut pages = heap.into_sorted_vec();
    pages.retain(|page| {
        let count = per_host.entry(page.host).or_default();
        *count += 1;
        selection.site_cap.is_none_or(|cap| *count <= cap)
    });
    pages.sort_by_key(|page| (page.host, page.number));
    Ok(pages)
}

fn read_hosts(folder: &Path, hosts: &mut BTreeMap<u64, Host>) -> Result<()> {
    let mut rows = Table::open(folder, "host_hostid_isconstrained.txt")?;
    while rows.next()? {
        let number = rows.whole(1, "Host_ID")?;
        let constrained = rows.whole(2, "Is_constrained")? == 1;
        if let Some(host) = hosts.get_mut(&number) {
            host.name = rows.field(0).to_owned();
            host.constrained = constrained;
        }
    }
    Ok(())
}

/// One number for each page of the sample that the file speaks of.
fn read_numbers(
    folder: &Path,
    file: &str,
    column: &str,
    by_number: &HashMap<u64, usize>,
    count: usize,
) -> Result<Vec<Option<f64>>> {
    let mut numbers = vec![None; count];
    let mut rows = Table::open(folder, file)?;
    while rows.next()? {
        let number = rows.whole(0, "URL_ID")?;
        let value = rows.field(1).trim().parse::<f64>().ok().filter(|value| value.is_finite() && *value >= 0.0);
        let Some(value) = value else { return Err(rows.wrong(1, column, "a number is expected")) };
        if let Some(&place) = by_number.get(&number) {
            numbers[place] = Some(value);
        }
    }
    Ok(numbers)
}

#[derive(Clone, Debug, PartialEq)]
struct History {
    first: f64,
    visits: Vec<(f64, u8)>,
}

impl History {
    fn days(&self) -> f64 {
        self.first + self.visits.iter().map(|(wait, _)| wait).sum::<f64>()
    }

    fn changes(&self, origin: Moment, number: u64) -> Vec<WorldChange> {
        let mut chance = Chance::new(number).stream("censored");
        let mut day = self.first;
        let mut changes = Vec::new();
        for &(wait, changed) in &self.visits {
            if changed != 0 && wait > 0.0 {
                let moment = origin + span_of(day + wait * chance.share());
                changes.push(WorldChange { moment, degree: DEGREE, kind: ChangeKind::Content });
            }
            day += wait;
        }
        changes.dedup_by_key(|change| change.moment);
        changes
    }
}

fn read_histories(folder: &Path, by_number: &HashMap<u64, usize>, count: usize) -> Result<Vec<Option<History>>> {
    let mut histories = vec![None; count];
    let mut rows = Table::open(folder, "urlid_offset_history.txt")?;
    while rows.next()? {
        let Some(&place) = by_number.get(&rows.whole(0, "URL_ID")?) else { continue };
        let first = rows.field(1).trim().parse::<f64>().ok().filter(|days| days.is_finite() && *days >= 0.0);
        let Some(first) = first else { return Err(rows.wrong(1, "First_crawl_time_offset", "days are expected")) };
        let visits: Vec<(f64, u8)> = serde_json::from_str(rows.field(2))
            .map_err(|error| rows.wrong(2, "Crawl_and_change_history", &error.to_string()))?;
        if visits.iter().any(|&(wait, _)| !wait.is_finite() || wait < 0.0) {
            return Err(rows.wrong(2, "Crawl_and_change_history", "a wait is never negative"));
        }
        histories[place] = Some(History { first, visits });
    }
    Ok(histories)
}

/// Importance with mean 1.
fn weigh(world: &mut World) {
    let sum: f64 = world.pages.iter().map(|page| f64::from(page.weight)).sum();
    let mean = sum / world.pages.len().max(1) as f64;
    if mean > 0.0 {
        world.pages.iter_mut().for_each(|page| page.weight = (f64::from(page.weight) / mean) as f32);
    }
}

/// The rows of one tab-separated file.
struct Table {
    name: String,
    input: BufReader<File>,
    text: String,
    line: u64,
}

impl Table {
    fn open(folder: &Path, file: &str) -> Result<Self> {
        let path = folder.join(file);
        let opened = File::open(&path);
        let input = opened.map_err(|source| Error::TraceUnreadable { path: path.clone(), source })?;
        Ok(Table { name: path.display().to_string(), input: BufReader::new(input), text: String::new(), line: 0 })
    }

    /// The next row; blank lines are none, and end nothing.
    fn next(&mut self) -> Result<bool> {
        loop {
            self.text.clear();
            self.line += 1;
            let read = self.input.by_ref().take(ROW_BYTES_MAX as u64 + 1).read_line(&mut self.text);
            let read = read.map_err(|source| Error::TraceUnreadable { path: self.name.clone().into(), source })?;
            if read > ROW_BYTES_MAX {
                return Err(self.wrong(0, "row", &format!("it is longer than {ROW_BYTES_MAX} bytes")));
            }
            if read == 0 || !self.text.trim_end().is_empty() {
                return Ok(read > 0);
            }
        }
    }

    fn field(&self, column: usize) -> &str {
        self.text.trim_end_matches(['\r', '\n']).split('\t').nth(column).unwrap_or("")
    }

    fn whole(&self, column: usize, name: &str) -> Result<u64> {
        self.field(column).trim().parse().map_err(|_| self.wrong(column, name, "a whole number is expected"))
    }

    fn wrong(&self, column: usize, name: &str, why: &str) -> Error {
        let field: String = self.field(column).chars().take(80).collect();
        let (line, column) = (self.line, name.to_owned());
        Error::TraceMalformed { name: self.name.clone(), line, column, why: format!("`{field}`: {why}") }
    }
}

fn span_of(days: f64) -> Span {
    Span::from_secs_f64(days * 86_400.0)
}
