//! One site: when it changes, what it says of itself, and how it is treated.

use askama::Template;
use axum::extract::Path;
use axum::http::StatusCode;
use axum::response::Response;

use super::history_page::Fact;
use super::page::drawn;
use super::told::{self, Row, page_link};
use crate::answers::{Event, PageRow, Rule, Site, Status};
use crate::chart::{Svg, heat};
use crate::frame::{Frame, Place};
use crate::numbers::{bytes, count, counted, figure, share};
use crate::problem::{Problem, Told};
use crate::question::{Question, link};
use crate::reader::Reader;
use crate::times::{Times, second_of, span};
use crate::words;

const PAGES_SHOWN: usize = 10;
const EVENTS_SHOWN: usize = 8;
const RULES_SHOWN: usize = 12;
/// Changes whose hours are laid over each other, the latest.
const HEAT_EVENTS: usize = 400;
const HOUR_S: f64 = 3_600.0;
const WEEK_HOURS: i64 = 168;
/// The first hour of 1970 was one of a Thursday.
const FIRST_HOUR: i64 = 3 * 24;

#[derive(Template)]
#[template(path = "site.html")]
struct SiteScreen {
    frame: Frame,
    name: String,
    tags: Vec<String>,
    trouble: Option<String>,
    facts: Vec<Fact>,
    heat: Option<Svg>,
    busiest: String,
    pages: Vec<PageLine>,
    events: Vec<Row>,
    hints: Vec<HintLine>,
    courtesy: Vec<(&'static str, String)>,
    rules: Vec<RuleLine>,
    traps: Vec<String>,
    links: Links,
}

struct Links {
    changes: String,
    watch: String,
}

struct PageLine {
    link: String,
    path: String,
    changes: String,
    visits: String,
    seen: String,
}

struct HintLine {
    source: String,
    says: String,
    is_muted: bool,
}

struct RuleLine {
    standing: String,
    what: String,
    on: String,
}

pub async fn show(reader: Reader, Path(name): Path<String>) -> Told<Response> {
    let found = Question::of("changes").with("site", &name).with("order", "newest").with("brief", true);
    let found = found.with("event", "changed").with("limit", HEAT_EVENTS);
    let pages = Question::of("pages").with("site", &name).with("sort", "-changes").with("limit", PAGES_SHOWN);
    let events = Question::of("changes").with("site", &name).with("order", "newest").with("brief", true);
    let events = events.with("event", "changed,gone,back,template").with("limit", EVENTS_SHOWN);
    let rules = Question::of("noise").with("site", &name).with("limit", RULES_SHOWN);
    let (status, sites, found, pages, events, rules) = tokio::join!(
        reader.one::<Status>(Question::of("status")),
        reader.list::<Site>(Question::of("sites").with("site", &name)),
        reader.list::<Event>(found),
        reader.list::<PageRow>(pages),
        reader.list::<Event>(events),
        reader.list::<Rule>(rules),
    );
    let (status, sites) = (status?, sites?.rows);
    let Some(site) = sites.first() else {
        return Err(Problem::new(StatusCode::NOT_FOUND, format!("no site {} is known here", words::cut(&name, 300))));
    };
    let times = Times::new(status.now());
    let hours = hours(&found?.rows);
    drawn(&SiteScreen {
        frame: Frame::of(&reader, site.site.clone(), Place::Sites, &status),
        facts: facts(site),
        busiest: busiest(&hours),
        heat: hours.iter().any(Option::is_some).then(|| heat(&hours, "Changes found in each hour of the week")),
        pages: pages?.rows.iter().filter(|page| page.changes > 0).map(|page| page_line(page, &times)).collect(),
        events: events?.rows.iter().map(|event| told::row(event, &times)).collect(),
        hints: site
            .hints
            .iter()
            .map(|hint| HintLine {
                source: hint.source.clone(),
                says: words::cut(&hint.says, 300),
                is_muted: hint.muted.is_some(),
            })
            .collect(),
        courtesy: courtesy(site, &times),
        rules: rules?
            .rows
            .iter()
            .map(|rule| RuleLine {
                standing: rule.standing.clone(),
                what: words::cut(&rule.what, 300),
                on: rule.on.clone(),
            })
            .collect(),
        traps: site.traps.iter().take(RULES_SHOWN).map(|trap| words::cut(trap, 300)).collect(),
        links: Links {
            changes: link("/changes", &[("site", &*site.site)]),
            watch: link("/watches/new", &[("site", &*site.site)]),
        },
        name: site.site.clone(),
        tags: site.tags.clone(),
        trouble: site.trouble.clone(),
    })
}

/// The changes in each hour of the week, from Monday on, by the visits that found them; nothing where there were none at all.
fn hours(events: &[Event]) -> [Option<f64>; 168] {
    let mut sums = [None; 168];
    if !events.is_empty() {
        sums = [Some(0.0); 168];
    }
    for at in events.iter().filter_map(|event| second_of(event.seen_different.as_deref()?)) {
        let hour = ((at / HOUR_S) as i64 + FIRST_HOUR).rem_euclid(WEEK_HOURS);
        if let Some(Some(sum)) = sums.get_mut(hour as usize) {
            *sum += 1.0;
        }
    }
    sums
}

/// The hours of the day when most is found, in words.
fn busiest(hours: &[Option<f64>; 168]) -> String {
    let of_day = |hour: usize| (0..7).filter_map(|day| hours[day * 24 + hour]).sum::<f64>();
    let total: f64 = (0..24).map(of_day).sum();
    let Some(best) = (0..24).max_by(|a, b| of_day(*a).total_cmp(&of_day(*b))).filter(|_| total > 0.0) else {
        return "No change was found yet.".into();
    };
    let share = of_day(best) / total * 24.0;
    match share {
        much if much >= 2.0 => format!("Most is found around {best:02} h UTC, {} times the mean.", figure(much)),
        _ => "Changes come at all hours of the day.".into(),
    }
}

fn facts(site: &Site) -> Vec<Fact> {
    let (counts, measures) = (&site.counts, &site.measures);
    let fact = |name, figure, unit: &str, line| Fact { name, figure, unit: unit.to_owned(), line };
    let measured = match measures.freshness_measured {
        Some(found) => format!("{} of {} found", share(Some(found)), counted(measures.freshness_samples, "sample")),
        None => "not measured yet".into(),
    };
    let cost = counts.visits as f64 / counts.changes as f64;
    let cost = if counts.changes > 0 { format!("one for every {} visits", figure(cost)) } else { "none yet".into() };
    let waiting = format!("{} waiting, {} gone", count(counts.waiting), count(counts.gone));
    let rate = measures.change_rate_per_day.map_or("–".into(), figure);
    vec![
        fact("Pages held", count(counts.held), "", waiting),
        fact("Believed fresh", share(measures.freshness_believed), "", measured),
        fact("A page changes", rate, "times a day", "mean of its pages".into()),
        fact("Changes", count(counts.changes), &format!("from {}", counted(counts.visits, "visit")), cost),
        fact(
            "On the wire",
            bytes(counts.wire_bytes),
            "",
            format!("{}, {} in a row now", counted(counts.failures, "failure"), site.failures_in_a_row),
        ),
    ]
}

fn page_line(page: &PageRow, times: &Times) -> PageLine {
    PageLine {
        link: page_link("/page", &page.url),
        path: words::path(&page.url),
        changes: count(page.changes),
        visits: count(page.visits),
        seen: times.ago(page.last_visit.as_deref()),
    }
}

fn courtesy(site: &Site, times: &Times) -> Vec<(&'static str, String)> {
    let delay = site.crawl_delay_secs.map_or("none asked for".into(), span);
    let mut rows = vec![("Standing", site.standing.clone()), ("Crawl-delay of robots.txt", delay)];
    if let Some(not_before) = &site.not_before {
        rows.push(("Not before", times.moment(Some(not_before)).words));
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hours_of_weeks_are_laid_over_each_other() {
        let event = |at: &str| Event { seen_different: Some(at.to_owned()), ..Event::default() };
        // Two Mondays at nine.
        let hours = hours(&[event("2026-11-16T09:10:00Z"), event("2026-11-23T09:50:00Z")]);
        assert_eq!((hours[9], hours[24 + 9]), (Some(2.0), Some(0.0)));
        assert_eq!(busiest(&hours), "Most is found around 09 h UTC, 24.0 times the mean.");
        assert_eq!(busiest(&[None; 168]), "No change was found yet.");
    }
}
