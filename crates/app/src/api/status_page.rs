//! The first page that a person sees: totals, sites and the latest changes. No script, no foreign text unescaped.

use std::fmt::Write;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::HeaderValue;
use axum::http::header::CONTENT_SECURITY_POLICY;
use axum::response::Response;
use vernal_model::Event;
use vernal_repository::Cursor;

use super::answer::{self, No};
use super::shared::Shared;

const SITES_SHOWN: usize = 20;
const EVENTS_SHOWN: usize = 20;
/// The newest events are looked for this far back in the journal, then farther.
const LOOK_BACK_DEEDS: u64 = 256;

/// Our own style sheet and nothing else.
const POLICY: &str =
    "default-src 'none'; style-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";

const STYLE: &str = "body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#1b2a1f;background:#fbfdf9}\
h1{font-weight:600}table{border-collapse:collapse;width:100%;margin-bottom:2rem}td,th{padding:.2rem .8rem .2rem 0;text-align:left;\
border-bottom:1px solid #dde8dc;overflow-wrap:anywhere}td.n,th.n{text-align:right}a{color:#276a3c}";

pub async fn show(State(shared): State<Arc<Shared>>) -> Result<Response, No> {
    let mut html = String::from(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\"><title>Vernal</title>",
    );
    html.push_str("<link rel=\"stylesheet\" href=\"/style.css\"><h1>Vernal</h1>");
    totals(&shared, &mut html);
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

fn totals(shared: &Shared, html: &mut String) {
    let totals = shared.reader.totals();
    let crawling = if shared.hands.pulse().is_some() { "crawling" } else { "stopped" };
    let paused = if shared.reader.paused_all() { ", paused" } else { "" };
    let _ =
        write!(html, "<p>{} is {crawling}{paused}.</p><table>", escaped(&shared.settings.data.display().to_string()));
    let rows = [
        ("pages held", totals.held),
        ("URLs waiting", totals.waiting),
        ("gone", totals.gone),
        ("visits", totals.visits),
        ("versions", totals.versions),
        ("changes", totals.changes),
        ("bytes on the wire", totals.wire_bytes),
    ];
    for (name, count) in rows {
        let _ = write!(html, "<tr><th>{name}<td class=\"n\">{count}");
    }
    html.push_str("</table>");
}

fn sites(shared: &Shared, html: &mut String) {
    let mut sites = shared.reader.sites();
    sites.sort_by_key(|row| std::cmp::Reverse(row.counts.held));
    html.push_str("<h2>Sites</h2><table><tr><th>site<th class=\"n\">held<th class=\"n\">waiting<th class=\"n\">visits<th class=\"n\">changes");
    for row in sites.iter().take(SITES_SHOWN) {
        let counts = row.counts;
        let _ = write!(
            html,
            "<tr><td>{}<td class=\"n\">{}<td class=\"n\">{}<td class=\"n\">{}<td class=\"n\">{}",
            escaped(row.site.as_str()),
            counts.held,
            counts.waiting,
            counts.visits,
            counts.changes
        );
    }
    html.push_str("</table>");
}

fn changes(shared: &Shared, html: &mut String) -> Result<(), No> {
    html.push_str("<h2>Latest changes</h2><table><tr><th>seen<th>event<th>page");
    for event in latest(shared)? {
        let title = if event.title.is_empty() { event.url.as_str() } else { &event.title };
        let _ = write!(
            html,
            "<tr><td>{}<td>{}<td>{}<br><small>{}</small>",
            escaped(&event.seen_different.rfc3339()),
            event.kind.name(),
            escaped(title),
            escaped(event.url.as_str())
        );
    }
    html.push_str("</table>");
    Ok(())
}

/// The newest events, newest first. Cursors are numbers of deeds, few of which are events: so look farther back until
/// there are enough.
fn latest(shared: &Shared) -> Result<Vec<Event>, No> {
    let end = shared.reader.cursor();
    let mut back = LOOK_BACK_DEEDS;
    loop {
        let start = Cursor(end.0.saturating_sub(back));
        let events = shared.reader.events(start, usize::MAX)?;
        if events.len() >= EVENTS_SHOWN || start == Cursor::START {
            return Ok(events.into_iter().rev().take(EVENTS_SHOWN).map(|(_, _, event)| event).collect());
        }
        back *= 4;
    }
}

/// Titles and URLs are hostile.
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
