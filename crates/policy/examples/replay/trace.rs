//! Recorded page histories, cut to a window and a set of sites.

use std::collections::BTreeMap;
use std::fs::File;

use flate2::read::GzDecoder;

pub const DAY: f64 = 86_400.0;

/// One page of a replayed web; times in seconds since 1970.
#[derive(Clone, Debug)]
pub struct Page {
    pub site: u32,
    pub path: u32,
    pub online: (f64, f64),
    /// Within the time online, in order.
    pub changes: Vec<f64>,
}

#[derive(Clone, Debug, Default)]
pub struct Trace {
    pub pages: Vec<Page>,
    pub from: f64,
    pub until: f64,
    pub sites: u32,
}

/// Which part of a file is replayed.
pub struct Cut {
    pub wanted: fn(&str) -> bool,
    pub from: f64,
    pub days: f64,
    pub site_cap: usize,
}

/// The webs of the trial that the site clock was found with, by the names it gave them.
pub fn named(name: &str) -> Option<Cut> {
    let published =
        |site: &str| !["stalker/", "ota-", "simonw/pge", "simonw/scrape"].iter().any(|start| site.starts_with(start));
    let (wanted, from, site_cap): (fn(&str) -> bool, f64, usize) = match name {
        "pub" => (published, 1_643_673_600.0, 500),
        "pubs" => (published, 1_643_673_600.0, 120),
        "pubold" => (published, 1_559_347_200.0, 500),
        "ota" => (|site| site.starts_with("ota-text-contrib/"), 1_685_577_600.0, 500),
        "otaold" => (|site| site.starts_with("ota-text-contrib/"), 1_622_505_600.0, 500),
        "stalker" => (|site| site.starts_with("stalker/"), 1_685_577_600.0, 500),
        _ => return None,
    };
    Some(Cut { wanted, from, days: 730.0, site_cap })
}

/// Of each site, of each page: when it changed, and how.
type Rows = BTreeMap<String, Vec<(String, Vec<(f64, String)>)>>;

/// Reads the rows `site,page,change_time_unix,bytes,kind` of a packed file.
pub fn read(file: File, cut: &Cut) -> Result<Trace, csv::Error> {
    let mut reader = csv::Reader::from_reader(GzDecoder::new(file));
    let mut sites = Rows::new();
    let mut row = csv::StringRecord::new();
    while reader.read_record(&mut row)? {
        let (site, page) = (row.get(0).unwrap_or(""), row.get(1).unwrap_or(""));
        if !(cut.wanted)(site) {
            continue;
        }
        let time: f64 = row.get(2).and_then(|time| time.parse().ok()).unwrap_or(0.0);
        let kind = row.get(4).unwrap_or("").to_owned();
        if !sites.contains_key(site) {
            sites.insert(site.to_owned(), Vec::new());
        }
        let Some(pages) = sites.get_mut(site) else { continue };
        if pages.last().is_none_or(|(last, _)| last != page) {
            pages.push((page.to_owned(), Vec::new()));
        }
        if let Some((_, rows)) = pages.last_mut() {
            rows.push((time, kind));
        }
    }
    Ok(cut_to(sites, cut))
}

fn cut_to(sites: Rows, cut: &Cut) -> Trace {
    let mut trace = Trace { from: cut.from, until: cut.from + cut.days * DAY, ..Trace::default() };
    // A page that was never deleted is online as long as its source tells: a crawl of many sites, or one site.
    let mut ends: BTreeMap<String, f64> = BTreeMap::new();
    for (site, pages) in &sites {
        let last = pages.iter().flat_map(|(_, rows)| rows.iter().map(|&(time, _)| time)).fold(0.0, f64::max);
        let end = ends.entry(source(site).to_owned()).or_default();
        *end = end.max(last);
    }
    for (site, pages) in sites {
        let ends = ends[source(&site)];
        let mut paths: BTreeMap<String, u32> = BTreeMap::new();
        let mut kept = Vec::new();
        for (page, rows) in pages {
            let next = paths.len() as u32;
            let path = *paths.entry(page.split('/').next().unwrap_or("").to_owned()).or_insert(next);
            let Some(life) = life_of(&rows, ends, &trace) else { continue };
            kept.push((scattered(&page), Page { site: trace.sites, path, ..life }));
        }
        // Which pages of a large site are kept is decided by their names alone, so that it is the same everywhere.
        kept.sort_by_key(|&(order, _)| order);
        kept.truncate(cut.site_cap);
        if !kept.is_empty() {
            trace.sites += 1;
        }
        trace.pages.extend(kept.into_iter().map(|(_, page)| page));
    }
    trace
}

fn source(site: &str) -> &str {
    let crawls = ["ota-contrib", "ota-text-contrib", "stalker"];
    crawls.into_iter().find(|crawl| site.starts_with(crawl)).unwrap_or(site)
}

/// The time online and the changes of one page within the window; `None` if it was not online then.
fn life_of(rows: &[(f64, String)], site_ends: f64, trace: &Trace) -> Option<Page> {
    let created = rows.first()?.0;
    let deleted = rows.last().filter(|(_, kind)| kind == "delete").map_or(site_ends, |&(time, _)| time);
    let online = (created.max(trace.from), deleted.min(trace.until));
    let counts = |kind: &str| !matches!(kind, "none" | "presentation");
    let within = |time: f64| time > online.0 && time < online.1;
    let mut changes: Vec<f64> =
        rows.iter().filter(|(time, kind)| counts(kind) && within(*time)).map(|&(time, _)| time).collect();
    changes.dedup();
    (online.1 > online.0 + 3_600.0).then_some(Page { site: 0, path: 0, online, changes })
}

fn scattered(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
}
