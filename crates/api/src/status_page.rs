//! The status page: totals, sites and the latest changes. It has no script, and all text from sites is escaped.

use std::fmt::Write;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::HeaderValue;
use axum::http::header::CONTENT_SECURITY_POLICY;
use axum::response::Response;
use vernal_crawler::{Believed, PromisesKept};
use vernal_model::{Event, EventKind, Moment, bytes_shown};

use super::answer::{self, ApiError};
use super::folds::Folds;
use super::names;
use super::shared::Shared;
use super::status::{believed, remedy, waits_for_budget_until};

const SITES_SHOWN: usize = 20;
const EVENTS_SHOWN: usize = 20;

/// Our own style sheet and nothing else.
const POLICY: &str =
    "default-src 'none'; style-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";

const STYLE: &str = "body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#1b2a1f;background:#fbfdf9}\
h1,h2{font-weight:600}table{border-collapse:collapse;width:100%}div{overflow-x:auto;margin-bottom:2rem}td,th{padding:.2rem .8rem .2rem 0;\
text-align:left;vertical-align:top;border-bottom:1px solid #dde8dc}td{overflow-wrap:anywhere}th{overflow-wrap:normal;white-space:nowrap}\
td:last-child,th:last-child{padding-right:0}td.n,th.n{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}td.w{white-space:nowrap}td.t{min-width:6.5rem}table.totals{width:auto;min-width:min(100%,24rem)}table.totals td{white-space:normal}\
small{color:#5a6b5e}a{color:#276a3c}@media(max-width:30rem){body{margin:1rem auto;font-size:14px}td,th{padding-right:.5rem}}";

pub async fn show(State(shared): State<Arc<Shared>>) -> Result<Response, ApiError> {
    let mut html = String::from(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\"><title>Vernal</title>",
    );
    html.push_str("<link rel=\"stylesheet\" href=\"/style.css\"><h1>Vernal</h1>");
    let promises = shared.backend.promises(shared.clock.now()).await?;
    let believed = believed(&shared).await?;
    totals(&shared, promises, believed, &mut html);
    sites(&shared, &mut html);
    changes(&shared, &mut html)?;
    html.push_str("<p>API: <a href=\"/api/v1/openapi.json\">openapi.json</a> · <a href=\"/api/v1/status\">status</a> · <a href=\"/metrics\">metrics</a></p>");
    let mut response = answer::typed("text/html; charset=utf-8", Body::from(html));
    response.headers_mut().insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    Ok(response)
}

pub async fn style() -> Response {
    answer::typed("text/css; charset=utf-8", Body::from(STYLE))
}

fn totals(shared: &Shared, promises: Option<PromisesKept>, believed: Option<Believed>, html: &mut String) {
    let totals = shared.reader.totals();
    let crawling = if shared.backend.pulse().is_some() { "crawling" } else { "stopped" };
    let paused = if shared.reader.paused_all() { ", paused" } else { "" };
    let data = escaped(&shared.settings.data.display().to_string());
    let _ = write!(html, "<p>{data} is {crawling}{paused}.</p><div><table class=\"totals\">");
    let mut rows = vec![
        ("pages held", totals.held.to_string()),
        ("URLs waiting", totals.waiting.to_string()),
        ("gone", totals.gone.to_string()),
        ("visits", totals.visits.to_string()),
        ("versions", format!("{} ({})", totals.versions, bytes_shown(totals.body_bytes))),
        ("changes", totals.changes.to_string()),
        ("on the wire", bytes_shown(totals.wire_bytes)),
        ("budget", shared.settings.crawler.budget.to_string()),
        ("policy", shared.settings.crawler.policy.clone()),
    ];
    if totals.found_pending > 0 {
        rows.insert(2, ("found, not yet looked through", totals.found_pending.to_string()));
    }
    rows.extend(pulse(shared, believed));
    if let Some(kept) = promises {
        rows.push(("promised pages overdue", format!("{} of {}", kept.overdue, kept.promised)));
        rows.extend(kept.remedies.iter().map(|one| ("would keep promises", remedy(one))));
    }
    for (name, value) in rows {
        let _ = write!(html, "<tr><th>{name}<td class=\"n\">{}", escaped(&value));
    }
    html.push_str("</table></div>");
}

/// A running crawl at this instant.
fn pulse(shared: &Shared, believed: Option<Believed>) -> Vec<(&'static str, String)> {
    let Some(pulse) = shared.backend.pulse() else { return Vec::new() };
    let mut rows = vec![
        ("running since", shown_time(shared.clock.began())),
        ("requests under way", pulse.in_flight.to_string()),
        ("requests so far", pulse.orders_sent.to_string()),
        ("sites in trouble", pulse.sites_backing_off.to_string()),
        ("pages to try again", pulse.retries_waiting.to_string()),
    ];
    if let Some(expected) = believed.and_then(|believed| believed.all.share()) {
        rows.push(("fresh, as expected", format!("{:.1} %", expected * 100.0)));
    }
    if let Some(measured) = pulse.measured {
        let share = 100.0 * measured.share();
        rows.push(("fresh, as measured", format!("{share:.1} % of {} samples", measured.samples)));
        if let Some(outside) =
            measured.share_outside_traps().filter(|_| measured.samples_outside_traps < measured.samples)
        {
            let samples = measured.samples_outside_traps;
            rows.push(("the same without traps", format!("{:.1} % of {samples} samples", outside * 100.0)));
        }
    }
    if let Some(until) = waits_for_budget_until(shared) {
        rows.push(("waiting for budget until", shown_time(until)));
    }
    if let Some(pages) = pulse.scope_pass_pages {
        rows.push(("held pages met with the changed scope", pages.to_string()));
    }
    if pulse.disk_full {
        rows.push(("stopped for", "want of room on the disk".into()));
    }
    rows
}

fn shown_time(moment: Moment) -> String {
    let shown = moment.rfc3339();
    format!("{} UTC", shown.split('.').next().unwrap_or(&shown).replace('T', " "))
}

fn sites(shared: &Shared, html: &mut String) {
    let mut sites = shared.reader.sites();
    sites.sort_by_key(|row| std::cmp::Reverse(row.counts.held));
    html.push_str("<h2>Sites</h2><div><table><tr><th>site<th class=\"n\">held<th class=\"n\">waiting<th class=\"n\">visits<th class=\"n\">changes");
    for row in sites.iter().take(SITES_SHOWN) {
        let counts = row.counts;
        let _ = write!(
            html,
            "<tr><td>{}{}<td class=\"n\">{}<td class=\"n\">{}<td class=\"n\">{}<td class=\"n\">{}",
            escaped(row.site.as_str()),
            row.profile
                .trouble
                .as_deref()
                .map_or_else(String::new, |why| format!("<br><small>{}</small>", escaped(why))),
            counts.held,
            counts.waiting,
            counts.visits,
            counts.changes
        );
    }
    html.push_str("</table></div>");
}

fn changes(shared: &Shared, html: &mut String) -> Result<(), ApiError> {
    html.push_str("<h2>Latest changes</h2><div><table><tr><th>seen<th>event<th>page");
    for event in latest(shared)? {
        let title = if event.title.is_empty() { "(no title)" } else { &event.title };
        let _ = write!(
            html,
            "<tr><td class=\"t\">{}<td class=\"w\">{}<td>{}<br><small>{}</small>",
            shown_time(event.seen_different),
            event.kind.name(),
            escaped(title),
            escaped(event.url.as_str())
        );
    }
    html.push_str("</table></div>");
    Ok(())
}

fn latest(shared: &Shared) -> Result<Vec<Event>, ApiError> {
    // Where much is noise or folded, a page of events may be nothing else; a few times as many are enough.
    let mut folds = Folds::default();
    let mut rows = Vec::new();
    for (cursor, _, event) in shared.reader.latest_events(EVENTS_SHOWN * 10)? {
        let is_noise = event.kind == EventKind::Changed && !event.change.is_change();
        let is_told = event.kind == EventKind::Joined || names::first_name(&shared.reader, cursor, &event)?.is_none();
        if rows.len() < EVENTS_SHOWN && !is_noise && is_told {
            rows.extend(folds.listed(shared, cursor, event)?.into_iter().map(|row| row.event));
        }
    }
    Ok(rows)
}

/// Titles and URLs come from sites and may be hostile.
fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            other => safe.push(other),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hostile_title_stays_text() {
        assert_eq!(escaped("<script a='b\">&"), "&lt;script a=&#39;b&quot;&gt;&amp;");
    }
}
