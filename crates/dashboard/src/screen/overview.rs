//! The overview: how fresh the copy is, where the budget went, and what needs a look.

use askama::Template;
use axum::extract::Query;
use axum::response::Response;
use serde::Deserialize;

use super::page::drawn;
use crate::answers::{Series, Site, Status};
use crate::chart::{Bar, Layer, Line, Lines, Stacked, Svg, spans, spark};
use crate::frame::{Frame, Place};
use crate::numbers::{bytes, count, counted, figure, percent, share, wilson};
use crate::problem::Told;
use crate::question::{Question, segment};
use crate::reader::Reader;
use crate::times;

const SITES_SHOWN: usize = 8;
/// Of a site, changes of so many days are drawn.
const SPARK_DAYS: usize = 36;
/// A young crawl has so many all the same, so that its bars are no walls.
const SPARK_DAYS_MIN: usize = 12;
const BARS_MAX: usize = 48;
const LOOKS_MAX: usize = 6;
const RANGES: [(&str, &str, &str); 4] =
    [("1d", "24 h", "1d"), ("7d", "7 d", "7d"), ("30d", "30 d", "30d"), ("all", "All", "1970-01-01")];
const RANGE_USUAL: &str = "7d";

#[derive(Deserialize)]
pub struct Asked {
    range: Option<String>,
}

#[derive(Template)]
#[template(path = "overview.html")]
struct Overview {
    frame: Frame,
    held: u64,
    empty_title: &'static str,
    empty_words: String,
    big: String,
    pages: String,
    measured: String,
    won: Option<Won>,
    ranges: Vec<Range>,
    freshness: Option<Svg>,
    spent: Option<Svg>,
    site_count: String,
    sites: Vec<SiteLine>,
    room: Room,
    look: Vec<Look>,
}

/// What is kept, and what room there is: the drawing with its words where the disk is known.
struct Room {
    note: String,
    disk: Option<(Svg, String)>,
}

/// What the visits of the last day won, around the figure that matters.
struct Won {
    before: String,
    changes: String,
    after: String,
}

struct Range {
    name: &'static str,
    words: &'static str,
    is_shown: bool,
}

struct SiteLine {
    name: String,
    link: String,
    tags: Vec<String>,
    pages: String,
    fresh: String,
    spark: Option<Svg>,
    cost: String,
    hint: String,
    /// The class of a chip, or nothing where all is well, and the words.
    state: (&'static str, String),
}

/// Something that a person should know.
struct Look {
    class: &'static str,
    chip: &'static str,
    subject: String,
    words: String,
    link: String,
}

pub async fn show(reader: Reader, Query(asked): Query<Asked>) -> Told<Response> {
    let range = asked.range.as_deref().unwrap_or(RANGE_USUAL);
    let range = RANGES.into_iter().find(|(name, ..)| *name == range).unwrap_or(RANGES[1]);
    let lines = Question::of("series").with("names", "freshness_believed,freshness_measured,measured_samples");
    let visits = Question::of("series").with("names", VISITS.join(","));
    let sites = Question::of("sites").with("sort", "-held").with("limit", 200);
    let (status, lines, visits, day, sites) = tokio::join!(
        reader.one::<Status>(Question::of("status")),
        reader.one::<Series>(lines.with("from", range.2)),
        reader.one::<Series>(visits.clone().with("from", range.2)),
        reader.one::<Series>(visits.with("from", "1d")),
        reader.list::<Site>(sites)
    );
    let (status, sites) = (status?, sites?.rows);
    let mut shown = Vec::new();
    for site in sites.iter().take(SITES_SHOWN) {
        shown.push(site_line(&reader, site).await?);
    }
    let believed = status.believed();
    let (empty_title, empty_words) = nothing_held(&status);
    drawn(&Overview {
        frame: Frame::of(&reader, "Overview", Place::Overview, &status),
        held: status.totals.held,
        empty_title,
        empty_words,
        big: believed.map_or_else(|| "–".into(), percent),
        pages: counted(status.totals.held, "page"),
        measured: measured(&status),
        won: won(&day?),
        ranges: RANGES.map(|(name, words, _)| Range { name, words, is_shown: name == range.0 }).into_iter().collect(),
        freshness: freshness(&lines?, &status),
        spent: spent(&visits?),
        site_count: counted(status.totals.sites, "site"),
        sites: shown,
        room: Room { note: room(&status), disk: disk(&status) },
        look: looks(&status, &sites),
    })
}

fn nothing_held(status: &Status) -> (&'static str, String) {
    let totals = &status.totals;
    let words = match (totals.seeds, totals.visits) {
        (0, _) => "There is no seed: nobody said where to begin. Seeds can be added while Vernal runs.".to_owned(),
        (_, 0) => format!("{} given, and the first visit is on its way.", counted(totals.seeds, "seed")),
        (_, visits) => format!(
            "{} made so far; {} for a first visit. Trouble of sites is told under Sites.",
            counted(visits, "visit"),
            match totals.waiting {
                1 => "1 URL waits".to_owned(),
                waiting => format!("{} URLs wait", count(waiting)),
            }
        ),
    };
    ("No page is held yet", words)
}

fn measured(status: &Status) -> String {
    let Some((found, samples)) = status.measured() else {
        return match &status.crawl {
            Some(_) => "No sample drawn by chance has been visited yet, so nothing is measured.".into(),
            None => "Nothing is measured while nobody crawls.".into(),
        };
    };
    let range = wilson(found, samples)
        .map_or_else(String::new, |(low, high)| format!(" ({} to {})", percent(low), percent(high)));
    format!("{} drawn by chance found {} %{range}.", counted(samples, "sample"), percent(found))
}

/// What visits can find, as the series name it: a change, only noise, the same, trouble.
const VISITS: [&str; 9] =
    ["new", "changed", "noise_only", "same", "not_modified", "failed", "refused", "blocked", "gone"];

fn found(series: &Series, names: &[&str]) -> Vec<(f64, f64)> {
    let mut sums: Vec<(f64, f64)> = Vec::new();
    for name in names {
        for (place, (at, value)) in series.column(name).into_iter().enumerate() {
            match sums.get_mut(place) {
                Some(sum) => sum.1 += value.unwrap_or(0.0),
                None => sums.push((at, value.unwrap_or(0.0))),
            }
        }
    }
    sums
}

const LAYERS: [(&[&str], &str, &str, &str); 4] = [
    (&["new", "changed"], "won", "b-changed", "changed"),
    (&["noise_only"], "only noise", "b-noise", "ink"),
    (&["same", "not_modified"], "the same", "b-same", "ink"),
    (&["failed", "refused", "blocked", "gone"], "trouble", "b-trouble", "trouble"),
];

fn won(day: &Series) -> Option<Won> {
    let sum = |names: &[&str]| names.iter().map(|name| day.sum(name)).sum::<f64>();
    let (visits, changes) = (sum(&VISITS), day.sum("changed"));
    (visits > 0.0 && changes > 0.0).then(|| Won {
        before: format!("In the last day {} won", counted(visits as u64, "visit")),
        changes: counted(changes as u64, "change"),
        after: format!(": one for every {} visits.", figure(visits / changes)),
    })
}

fn freshness(series: &Series, status: &Status) -> Option<Svg> {
    let believed = series.column("freshness_believed");
    let measured = series.column("freshness_measured");
    let samples = series.column("measured_samples");
    let known: Vec<f64> =
        believed.iter().chain(&measured).filter(|(_, value)| value.is_some()).map(|(at, _)| *at).collect();
    let from = known.iter().copied().fold(f64::INFINITY, f64::min);
    let until = times::second_of(&series.until)?;
    let band = measured.iter().zip(&samples).filter_map(|((at, share), (_, samples))| {
        let (low, high) = wilson((*share)?, (*samples)? as u64)?;
        Some((*at, low, high))
    });
    let band = band.collect();
    let says = format!(
        "Freshness over time. Believed {} at the end, measured {}.",
        share(status.believed()),
        share(status.measured().map(|(share, _)| share))
    );
    let mut lines = vec![Line::new("believed", "believed", believed)];
    if measured.iter().any(|(_, value)| value.is_some()) {
        lines.insert(0, Line { band, ..Line::new("measured", "measured", measured) });
    }
    let lines = Lines { name: "Freshness over time", says, height: 232.0, from, until, lines };
    (lines.is_drawn() && until > from).then(|| lines.svg())
}

fn spent(series: &Series) -> Option<Svg> {
    let columns: Vec<Vec<(f64, f64)>> = LAYERS.iter().map(|(names, ..)| found(series, names)).collect();
    let rows = columns.first()?.len();
    let amounts = |row: usize| columns.iter().map(|column| column.get(row).map_or(0.0, |(_, sum)| *sum)).collect();
    let bars: Vec<Bar> = (0..rows).map(|row| Bar { begins: columns[0][row].0, amounts: amounts(row) }).collect();
    let first = bars.iter().position(|bar| bar.amounts.iter().sum::<f64>() > 0.0)?;
    let bars = gathered(&bars[first..]);
    let (from, until) = (bars.first()?.begins, times::second_of(&series.until)?);
    let total = |place: usize| bars.iter().map(|bar| bar.amounts[place]).sum::<f64>();
    let parts: Vec<String> = LAYERS
        .iter()
        .enumerate()
        .map(|(place, (_, name, ..))| format!("{} {name}", count(total(place) as u64)))
        .collect();
    let says = format!("Visits by what they found: {}.", parts.join(", "));
    let layers = LAYERS.map(|(_, name, class, ink)| Layer { name, class, ink }).into_iter().collect();
    let name = "Visits by what they found";
    (until > from).then(|| Stacked { name, says, height: 150.0, from, until, layers, bars }.svg())
}

/// Neighbours together, so that there are few enough to see.
pub fn gathered(bars: &[Bar]) -> Vec<Bar> {
    let size = bars.len().div_ceil(BARS_MAX).max(1);
    let sum = |group: &[Bar], place: usize| group.iter().filter_map(|bar| bar.amounts.get(place)).sum();
    let together = |group: &[Bar]| Bar {
        begins: group[0].begins,
        amounts: (0..group[0].amounts.len()).map(|place| sum(group, place)).collect(),
    };
    bars.chunks(size).map(together).collect()
}

async fn site_line(reader: &Reader, site: &Site) -> Told<SiteLine> {
    let asked = Question::of("series").with("site", &site.site).with("names", "changed").with("step", "1d");
    let days: Series = reader.one(asked.with("from", format!("{SPARK_DAYS}d"))).await?;
    let amounts: Vec<f64> = days.column("changed").iter().map(|(_, value)| value.unwrap_or(0.0)).collect();
    let total: f64 = amounts.iter().sum();
    let first = amounts.iter().position(|amount| *amount > 0.0).unwrap_or_default();
    let amounts = &amounts[first.min(amounts.len().saturating_sub(SPARK_DAYS_MIN))..];
    let label = format!("changes a day, {} in all", count(total as u64));
    let cost = site.counts.visits as f64 / site.counts.changes as f64;
    Ok(SiteLine {
        link: format!("/sites/{}", segment(&site.site)),
        name: site.site.clone(),
        tags: site.tags.clone(),
        pages: count(site.counts.held),
        fresh: share(site.measures.freshness_believed),
        spark: (total > 0.0).then(|| spark(amounts, &label)),
        cost: if site.counts.changes > 0 { figure(cost) } else { "–".into() },
        hint: best_hint(site),
        state: state(site),
    })
}

/// The source that is most often right, of those that are listened to.
pub fn best_hint(site: &Site) -> String {
    let heard = site.hints.iter().filter(|hint| hint.muted.is_none() && hint.judged >= 1.0);
    let best = heard.filter_map(|hint| Some((hint.precision?, hint))).max_by(|a, b| a.0.total_cmp(&b.0));
    best.map_or_else(|| "–".into(), |(precision, hint)| format!("{}, {:.0} %", hint.source, precision * 100.0))
}

/// How a site stands: the class of a chip, or nothing where all is well, and words.
pub fn state(site: &Site) -> (&'static str, String) {
    if let Some(trouble) = &site.trouble {
        return ("bad", trouble.clone());
    }
    if site.standing != "active" && !site.standing.is_empty() {
        return ("warn", site.standing.clone());
    }
    match site.hints.iter().find(|hint| hint.muted.is_some()) {
        Some(hint) => ("warn", format!("{} muted", hint.source)),
        None => ("", "well".into()),
    }
}

fn room(status: &Status) -> String {
    let free = status.disk_free_bytes.map_or_else(String::new, |free| format!("{} free. ", bytes(free)));
    let totals = &status.totals;
    format!("{free}{} on the wire since the start, {} kept.", bytes(totals.wire_bytes), bytes(totals.body_bytes))
}

/// The disk: what is held here, what else takes room, what is free.
fn disk(status: &Status) -> Option<(Svg, String)> {
    let (total, free) = (status.disk_total_bytes?, status.disk_free_bytes?);
    let own = status.totals.body_bytes;
    let other = total.saturating_sub(free).saturating_sub(own);
    let words = format!(
        "{} kept as WARC in {}; {} of the disk hold other things.",
        bytes(own),
        counted(status.totals.versions, "version"),
        bytes(other)
    );
    Some((spans(&[own as f64, other as f64, free as f64], &words), words))
}

fn looks(status: &Status, sites: &[Site]) -> Vec<Look> {
    let mut looks = Vec::new();
    let link = |site: &Site| format!("/sites/{}", segment(&site.site));
    for site in sites {
        if let Some(trouble) = &site.trouble {
            let (subject, words) = (site.site.clone(), format!("is in trouble: {trouble}"));
            looks.push(Look { class: "bad", chip: "site", subject, words, link: link(site) });
        }
    }
    let muted: Vec<&Site> = sites.iter().filter(|site| site.hints.iter().any(|hint| hint.muted.is_some())).collect();
    if let Some(first) = muted.first() {
        let words = "say things of their own changes that were not right, and are not listened to.".into();
        let subject = counted(muted.len() as u64, "site");
        looks.push(Look { class: "warn", chip: "hints", subject, words, link: link(first) });
    }
    for site in sites.iter().filter(|site| !site.traps.is_empty()) {
        let traps = counted(site.traps.len() as u64, "trap");
        let words = format!("makes pages without end: {traps} recognised, {} held.", counted(site.counts.held, "page"));
        looks.push(Look { class: "warn", chip: "trap", subject: site.site.clone(), words, link: link(site) });
    }
    if let Some(crawl) = status.crawl.as_ref().filter(|crawl| crawl.retries_waiting > 0) {
        let (subject, words) = (counted(crawl.retries_waiting, "page"), "will be tried again.".into());
        looks.push(Look { class: "", chip: "retry", subject, words, link: "/operations".into() });
    }
    if let Some(outbox) = status.outbox.as_ref().filter(|outbox| !outbox.failing_routes.is_empty()) {
        let words = "cannot be reached; what is to be told waits.".into();
        let subject = outbox.failing_routes.join(", ");
        looks.push(Look { class: "bad", chip: "route", subject, words, link: "/watches".into() });
    }
    looks.truncate(LOOKS_MAX);
    looks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_are_gathered_and_nothing_is_lost() {
        let bars: Vec<Bar> = (0..1_000).map(|at| Bar { begins: f64::from(at), amounts: vec![1.0, 2.0] }).collect();
        let few = gathered(&bars);
        assert!(few.len() <= BARS_MAX);
        assert_eq!(few.iter().map(|bar| bar.amounts[1]).sum::<f64>(), 2_000.0);
    }
}
