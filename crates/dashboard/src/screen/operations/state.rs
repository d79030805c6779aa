//! How the crawl stands: what it spends, what its visits find, what takes room, and the acts that stop and start it.

use askama::Template;
use axum::http::Method;
use axum::response::Response;
use serde_json::{Value, json};

use super::Tabs;
use crate::answers::{Series, Setting, Site, Status};
use crate::chart::{Bar, Layer, Stacked, Svg, meter};
use crate::fields::Fields;
use crate::frame::{Frame, Place};
use crate::numbers::{bytes, count, counted, figure, percent};
use crate::problem::Told;
use crate::question::{Question, segment};
use crate::reader::Reader;
use crate::screen::page::unknown_act;
use crate::screen::page::{drawn, leads_to};
use crate::times::{Time, Times, second_of};

const SITES_READ: usize = 500;
const SITES_SHOWN: usize = 12;
const SETTINGS_SHOWN: [&str; 12] = [
    "budget",
    "policy",
    "counts",
    "scope",
    "max_pages",
    "refresh_min",
    "delay",
    "concurrency",
    "hints",
    "keep_versions",
    "disk_free_min",
    "contact",
];
/// What visits find: the name in the series, in words, and what it means.
const OUTCOMES: [(&str, &str, &str); 9] = [
    ("not_modified", "not modified", "304: the site said so, almost free"),
    ("changed", "changed", "a new version that a reader would see"),
    ("same", "read, the same", "read in full, nothing differs"),
    ("noise_only", "only noise", "bytes differ, nothing of it counts"),
    ("new", "new", "read for the first time"),
    ("refused", "refused", "robots.txt or scope; not asked for"),
    ("failed", "failed", "no answer or a broken one; tried again later"),
    ("gone", "gone", "404 or 410"),
    ("blocked", "blocked", "a wall in front of the page; never taken for a change"),
];
const MEGABYTE: f64 = 1e6;

#[derive(Template)]
#[template(path = "operations.html")]
struct State {
    frame: Frame,
    tabs: Tabs,
    says: String,
    started: Time,
    runs: bool,
    paused: bool,
    facts: Vec<(&'static str, String, &'static str, String)>,
    wire: Option<Svg>,
    outcomes: Vec<Outcome>,
    total: String,
    settings: Vec<(String, String, String)>,
    sites: Vec<SiteLine>,
    promises: Option<String>,
    index: String,
}

struct Outcome {
    words: &'static str,
    means: &'static str,
    bar: Svg,
    share: String,
    count: String,
}

struct SiteLine {
    name: String,
    link: String,
    words: String,
    class: &'static str,
    standing: String,
}

pub async fn show(reader: Reader) -> Told<Response> {
    let names = OUTCOMES.map(|(name, ..)| name).join(",");
    let found = Question::of("series").with("names", names).with("from", "1970-01-01");
    let wire = Question::of("series").with("names", "wire_bytes").with("from", "30d");
    let (status, found, wire, sites, settings) = tokio::join!(
        reader.one::<Status>(Question::of("status")),
        reader.one::<Series>(found),
        reader.one::<Series>(wire),
        reader.list::<Site>(Question::of("sites").with("sort", "-held").with("limit", SITES_READ)),
        reader.list::<Setting>(Question::of("settings")),
    );
    let (status, found) = (status?, found?);
    let times = Times::new(status.now());
    let settings = settings?.rows;
    let shown = SETTINGS_SHOWN.iter().filter_map(|name| settings.iter().find(|setting| setting.name == *name));
    drawn(&State {
        frame: Frame::of(&reader, "Operations", Place::Operations, &status),
        tabs: Tabs("state"),
        says: says(&status),
        started: times.moment(status.crawl.as_ref().and_then(|crawl| crawl.started.as_deref())),
        runs: status.crawl.is_some(),
        paused: status.paused,
        facts: facts(&status),
        wire: traffic(&wire?),
        outcomes: outcomes(&found),
        total: count(status.totals.visits),
        settings: shown.map(row).collect(),
        sites: sites?.rows.iter().filter_map(site_line).take(SITES_SHOWN).collect(),
        promises: promises(&status),
        index: index(&status),
    })
}

pub fn row(setting: &Setting) -> (String, String, String) {
    (setting.name.replace('_', " "), setting.shown(), setting.source.clone())
}

fn says(status: &Status) -> String {
    match &status.crawl {
        None => format!(
            "{} held, {} made in all.",
            counted(status.totals.held, "page"),
            counted(status.totals.visits, "visit")
        ),
        Some(crawl) => {
            format!("Process {}, {} of deeds written and synced.", crawl.process, counted(crawl.commits, "group"),)
        }
    }
}

fn facts(status: &Status) -> Vec<(&'static str, String, &'static str, String)> {
    let crawl = status.crawl.clone().unwrap_or_default();
    let totals = &status.totals;
    let free = status.disk_free_bytes.map_or_else(|| "–".into(), bytes);
    vec![
        (
            "Budget",
            status.budget.clone(),
            "",
            format!("{} spent, {} in hand", count(status.kept.spent as u64), figure(crawl.budget_in_hand)),
        ),
        (
            "Waiting for a first visit",
            count(totals.waiting),
            "URLs",
            format!("{} under way", counted(crawl.in_flight, "request")),
        ),
        (
            "To be tried again",
            count(crawl.retries_waiting),
            "pages",
            format!("{} held back", counted(crawl.sites_backing_off, "site")),
        ),
        ("Free on disk", free, "", format!("{} kept", bytes(totals.body_bytes))),
        ("Feed stands at", status.cursor.clone(), "", counted(totals.events, "event")),
    ]
}

fn outcomes(series: &Series) -> Vec<Outcome> {
    let sums: Vec<f64> = OUTCOMES.iter().map(|(name, ..)| series.sum(name)).collect();
    let all: f64 = sums.iter().sum();
    let mut rows: Vec<(f64, Outcome)> = OUTCOMES
        .iter()
        .zip(sums)
        .map(|((name, words, means), sum)| {
            let share = if all > 0.0 { sum / all } else { 0.0 };
            let is_trouble = ["refused", "failed", "gone", "blocked"].contains(name);
            let label = format!("{} %", percent(share));
            let bar = meter(share, &label, is_trouble);
            (sum, Outcome { words, means, bar, share: label, count: count(sum as u64) })
        })
        .collect();
    rows.sort_by(|a, b| b.0.total_cmp(&a.0));
    rows.into_iter().map(|(_, outcome)| outcome).collect()
}

/// Megabytes on the wire.
fn traffic(series: &Series) -> Option<Svg> {
    let column = series.column("wire_bytes");
    let bars: Vec<Bar> = column
        .iter()
        .map(|(begins, value)| Bar { begins: *begins, amounts: vec![value.unwrap_or(0.0) / MEGABYTE] })
        .collect();
    let first = bars.iter().position(|bar| bar.amounts[0] > 0.0)?;
    let bars = crate::screen::overview::gathered(&bars[first..]);
    let (from, until) = (bars.first()?.begins, second_of(&series.until)?);
    let total: f64 = bars.iter().map(|bar| bar.amounts[0]).sum();
    let layers = vec![Layer { name: "on the wire", class: "b-changed", ink: "changed" }];
    let says = format!("{total:.0} megabytes on the wire in the last 30 days.");
    let drawn = Stacked { name: "Traffic", says, height: 140.0, from, until, layers, bars };
    (until > from).then(|| drawn.svg())
}

/// A site that is not simply visited.
fn site_line(site: &Site) -> Option<SiteLine> {
    let (class, words) = crate::screen::overview::state(site);
    (!class.is_empty()).then(|| SiteLine {
        link: format!("/sites/{}", segment(&site.site)),
        name: site.site.clone(),
        class,
        words,
        standing: site.standing.clone(),
    })
}

fn promises(status: &Status) -> Option<String> {
    let promises = status.promises.as_ref()?;
    let overdue = match promises.overdue {
        0 => "none is overdue".into(),
        overdue => format!("{} overdue", count(overdue)),
    };
    Some(format!(
        "{} promised to be visited in time: {overdue}. {}",
        counted(promises.pages, "page"),
        promises.cures.join(" ")
    ))
}

fn index(status: &Status) -> String {
    match &status.kept.search {
        None => "There is no text index yet.".into(),
        Some(index) => {
            let behind = match index.behind_events {
                0 => "nothing behind the feed".into(),
                behind => format!("{} behind the feed", counted(behind, "event")),
            };
            format!("{} in {}, {behind}.", counted(index.units, "text"), bytes(index.bytes))
        }
    }
}

/// Pauses and resumes the crawl or a site, blocks a site, frees room, makes the index anew.
pub async fn act(reader: Reader, fields: Fields) -> Told<Response> {
    let site = fields.some("site");
    let named = site.map_or_else(|| json!({}), |site| json!({ "site": site }));
    match fields.one("act") {
        act @ ("pause" | "resume") => {
            reader.send(Method::POST, Question::of(act), Some(&named)).await?;
        }
        "block" if site.is_some() => {
            reader.send(Method::POST, Question::of("block"), Some(&named)).await?;
        }
        "compact" => {
            reader.send(Method::POST, Question::of("compact"), None).await?;
        }
        "rebuild" => {
            reader.send(Method::POST, Question::of("search/rebuild"), None).await?;
        }
        other => return Err(unknown_act(other)),
    }
    Ok(leads_to(fields.some("back").unwrap_or("/operations/state")))
}

#[derive(Template)]
#[template(path = "operations-verify.html")]
struct Verified {
    frame: Frame,
    tabs: Tabs,
    sound: bool,
    rows: Vec<(String, String)>,
}

/// Reads everything on disk again: it takes its time, so it is a screen of its own.
pub async fn verify(reader: Reader) -> Told<Response> {
    let status: Status = reader.one(Question::of("status")).await?;
    let lines = reader.list::<Value>(Question::of("verify")).await?.rows;
    let last = lines.last().cloned().unwrap_or_default();
    let rows = last.as_object().into_iter().flatten().filter(|(_, value)| !value.is_object() && !value.is_null());
    let words = |value: &Value| match value {
        Value::Number(number) => number.as_u64().map_or_else(|| number.to_string(), count),
        Value::Array(all) => counted(all.len() as u64, "line"),
        other => other.to_string(),
    };
    drawn(&Verified {
        frame: Frame::of(&reader, "Everything on disk", Place::Operations, &status),
        tabs: Tabs("state"),
        sound: last["sound"].as_bool().unwrap_or(false),
        rows: rows.map(|(name, value)| (name.replace('_', " "), words(value))).collect(),
    })
}
