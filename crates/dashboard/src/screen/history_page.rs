//! A page: what is known of it, every visit, and why the next one is when it is.

use askama::Template;
use axum::extract::Query;
use axum::response::Response;
use serde::Deserialize;

use super::history::{self, VersionLine};
use super::page::drawn;
use super::page_head::PageHead;
use crate::answers::{Page, Status, UrlRecord, Visit, Why};
use crate::chart::{Svg, meter};
use crate::frame::{Frame, Place};
use crate::numbers::{bytes, counted, figure, percent};
use crate::problem::Told;
use crate::question::Question;
use crate::reader::Reader;
use crate::times::Times;

/// Visits that one screen draws.
const VISITS_MAX: usize = 400;

#[derive(Deserialize)]
pub struct Asked {
    url: String,
}

#[derive(Template)]
#[template(path = "page.html")]
struct PageScreen {
    frame: Frame,
    head: PageHead,
    facts: Vec<Fact>,
    trouble: Option<String>,
    visits: Option<Visits>,
    why: Option<Reasons>,
    why_not: String,
    record: Vec<(&'static str, String)>,
    found: Vec<(&'static str, String)>,
    url: String,
}

/// A figure with its unit, and a line below it.
pub struct Fact {
    pub name: &'static str,
    pub figure: String,
    pub unit: String,
    pub line: String,
}

struct Visits {
    summary: String,
    timeline: Option<Svg>,
    versions: Vec<VersionLine>,
    calendar: Option<Svg>,
    evidence: Vec<(&'static str, String)>,
    /// Whether older visits are not drawn.
    is_cut: bool,
}

/// Why the next visit is when it is.
struct Reasons {
    sentence: String,
    share: Option<Svg>,
    rows: Vec<(String, String)>,
}

pub async fn show(reader: Reader, Query(asked): Query<Asked>) -> Told<Response> {
    let url = asked.url;
    let history = Question::of("history").with("url", &url).with("limit", VISITS_MAX);
    let (status, page, why, visits) = tokio::join!(
        reader.one::<Status>(Question::of("status")),
        reader.one::<Page>(Question::of("page").with("url", &url)),
        reader.one::<Why>(Question::of("why").with("url", &url)),
        reader.list::<Visit>(history),
    );
    let (status, page) = (status?, page?);
    let times = Times::new(status.now());
    // A URL that waits for its first visit has no visits and no reasons, and says so.
    let (why, why_not) = match why {
        Ok(why) => (Some(why), String::new()),
        Err(problem) => (None, problem.line),
    };
    let listed = match visits {
        Ok(listed) => Some(listed),
        Err(problem) if problem.is_unknown() => None,
        Err(problem) => return Err(problem),
    };
    let visits = listed.as_ref().map_or(&[][..], |listed| &listed.rows);
    let due = why.as_ref().and_then(|why| moment_of(reason(why, "due")?));
    let drawn_visits = (!visits.is_empty()).then(|| Visits {
        summary: history::summary(visits, &times),
        timeline: history::timeline(visits, &times, due.as_deref()).map(|timeline| timeline.svg()),
        versions: history::versions(&url, visits, &times),
        calendar: history::days(visits, &times.now()),
        evidence: evidence(&visits[0], &times),
        is_cut: listed.as_ref().is_some_and(|listed| listed.after.is_some()),
    });
    let head = PageHead::of(&page, "/page");
    drawn(&PageScreen {
        frame: Frame::of(&reader, head.title.clone(), Place::Sites, &status),
        facts: facts(&page, why.as_ref(), due.as_deref(), &times),
        trouble: page.trouble.clone(),
        visits: drawn_visits,
        why: why.as_ref().map(reasons),
        why_not,
        record: page.url_record.as_ref().map(record).unwrap_or_default(),
        found: found(&page, &times),
        head,
        url,
    })
}

fn reason<'w>(why: &'w Why, name: &str) -> Option<&'w str> {
    why.reasons.iter().find(|reason| reason.name == name).map(|reason| reason.value.as_str())
}

/// The moment that a reason begins with.
fn moment_of(value: &str) -> Option<String> {
    let moment = value.split([',', ' ']).next()?;
    crate::times::second_of(moment).map(|_| moment.to_owned())
}

/// The figure that a reason begins with.
fn figure_of(value: &str) -> Option<f64> {
    value.split([' ', ',', '%']).next()?.parse().ok()
}

fn facts(page: &Page, why: Option<&Why>, due: Option<&str>, times: &Times) -> Vec<Fact> {
    let fact = |name, figure: String, unit: String, line: String| Fact { name, figure, unit, line };
    let seen = &page.visited;
    let mut facts = Vec::new();
    let likely = why.and_then(|why| figure_of(reason(why, "up to date")?));
    let confirmed = format!("seen {}", times.ago(seen.last_confirmed.as_deref().or(seen.last_visit.as_deref())));
    facts.push(match likely {
        Some(likely) => fact("Up to date", format!("{likely:.1} %"), "likely".into(), confirmed),
        None => fact("State", page.state.clone(), String::new(), confirmed),
    });
    if let Some(rate) = why.and_then(|why| figure_of(reason(why, "posterior").or(reason(why, "changes a day"))?)) {
        let line = format!("{} seen in {}", counted(seen.changes, "change"), counted(seen.compared, "comparison"));
        facts.push(fact("Changes", figure(rate), "a day".into(), line));
    }
    if let Some(due) = due {
        facts.push(fact("Next visit", times.moment(Some(due)).words, String::new(), times.ago(Some(due))));
    }
    if seen.compared > 0 {
        let won = percent(seen.changes as f64 / seen.compared as f64);
        let of = format!("{} of {}", seen.changes, seen.compared);
        facts.push(fact("Visits that won", format!("{won} %"), of, "the rest found it the same".into()));
    }
    if let Some(newest) = &page.newest {
        let line = format!("{} in the newest", bytes(newest.body_bytes));
        facts.push(fact("Kept", newest.number.to_string(), "versions".into(), line));
    }
    facts
}

/// Reasons that are told in the facts or say nothing of the schedule.
const TOLD_ALREADY: [&str; 5] = ["state", "last visit", "last outcome", "visits compared", "up to date"];

fn reasons(why: &Why) -> Reasons {
    let value = reason(why, "value").and_then(figure_of);
    let price = reason(why, "price").and_then(figure_of);
    let share = value.zip(price).filter(|(_, price)| *price > 0.0).map(|(value, price)| value / price);
    let sentence = match share {
        Some(share) if share >= 1.0 => "A visit is made when its value passes the price of now, which is the value of the last \
                                        page that the budget pays for. This page is past it and is visited as soon as its site may be asked."
            .to_owned(),
        Some(share) => format!(
            "A visit is made when its value passes the price of now, which is the value of the last page that the budget pays \
             for. This page stands at {:.0} % of it and gains as time passes.",
            share * 100.0
        ),
        None => format!("The policy in force is {}; these are its reasons.", why.policy),
    };
    let label = |share: f64| format!("value is {:.0} % of the price", share * 100.0);
    let rows = why.reasons.iter().filter(|reason| !TOLD_ALREADY.contains(&reason.name.as_str()));
    Reasons {
        sentence,
        share: share.map(|share| meter(share, &label(share), false)),
        rows: rows.map(|reason| (reason.name.clone(), shown(&reason.value))).collect(),
    }
}

/// Moments within a reason without their fractions of a second.
fn shown(value: &str) -> String {
    value.split(' ').map(short).collect::<Vec<String>>().join(" ")
}

fn short(word: &str) -> String {
    let (moment, rest) = word.split_at(word.find(',').unwrap_or(word.len()));
    match crate::times::second_of(moment) {
        Some(second) => format!("{}{rest}", crate::times::written(second, "%-d %b %Y %H:%M")),
        None => word.to_owned(),
    }
}

/// The record of the URL as paper 004 keeps it.
fn record(record: &UrlRecord) -> Vec<(&'static str, String)> {
    let hours = record.current_hours.map_or_else(String::new, |hours| format!(", {} hours", figure(hours)));
    let success = record.degree_of_success.map_or("none yet".into(), |success| format!("{success:.2}"));
    vec![
        ("refresh time", format!("{} mean waits{hours}", figure(record.current_mean_waits))),
        ("degree of success p_c", format!("{success}, {} of {} visits changed", record.changes, record.visits)),
        ("thresholds", format!("{} and {}", figure(record.lower_threshold), figure(record.upper_threshold))),
        ("kept by", record.kept_by.clone()),
    ]
}

fn evidence(visit: &Visit, times: &Times) -> Vec<(&'static str, String)> {
    let status = visit.status.map_or_else(String::new, |status| format!("{status}, "));
    let mut rows = vec![
        ("Asked", times.moment(visit.started.as_deref()).words),
        ("Answer", format!("{status}{}, {} on the wire", visit.outcome, bytes(visit.wire_bytes))),
    ];
    if !visit.detail.is_empty() {
        rows.push(("Detail", crate::words::cut(&visit.detail, 400)));
    }
    if let Some(decided) = visit.change.as_ref().and_then(|change| change.decided_by.clone()) {
        rows.push(("Decided by", decided));
    }
    if let Some(version) = &visit.version {
        rows.push(("Payload", version.payload_digest.clone()));
    }
    rows
}

fn found(page: &Page, times: &Times) -> Vec<(&'static str, String)> {
    let found = &page.found;
    let mut rows = Vec::new();
    if found.admitted.is_some() {
        rows.push(("Known since", times.moment(found.admitted.as_deref()).words));
    }
    if let Some(on) = &found.found_on {
        rows.push(("Found on", crate::words::cut(on, 300)));
    }
    rows.push(("Links into it", found.back_links.to_string()));
    if let Some(depth) = found.depth {
        rows.push(("Depth", depth.to_string()));
    }
    if let Some(importance) = found.importance {
        rows.push(("Importance", figure(importance)));
    }
    if !page.also_named.is_empty() {
        rows.push(("Also named", crate::words::cut(&page.also_named.join(", "), 400)));
    }
    if let Some(name) = &page.same_as {
        rows.push(("First name", name.clone()));
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_read_for_their_figures_and_moments() {
        assert_eq!(figure_of("96.8 % likely"), Some(96.8));
        assert_eq!(figure_of("0.0001 (importance 1)"), Some(0.0001));
        assert_eq!(figure_of("0.0002, the value of the last page chosen"), Some(0.0002));
        assert_eq!(moment_of("2026-11-21T02:49:25.551Z, in 5.8m").as_deref(), Some("2026-11-21T02:49:25.551Z"));
        assert_eq!((moment_of("now"), figure_of("none")), (None, None));
        assert_eq!(shown("2026-11-21T02:49:25.551Z, in 5.8m"), "21 Nov 2026 02:49, in 5.8m");
    }
}
