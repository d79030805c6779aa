//! Counts for Prometheus, in its text format.

use std::cmp::Reverse;
use std::fmt::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use axum::body::Body;
use axum::extract::State;

use super::answer::{self, PlainText};
use super::connection_counts::ConnectionCounts;
use super::measures::{self, Figures, Measures};
use super::nouns::Nouns;
use super::shared::Shared;

/// Measures of single sites are told of this many at most: those with the most held pages.
const SITES_TOLD_MAX: usize = 50;

pub fn routes(nouns: Nouns) -> Nouns {
    nouns.get("/metrics", "Counts for Prometheus", show)
}

pub async fn show(State(shared): State<Arc<Shared>>) -> PlainText {
    let mut text = String::new();
    totals(&shared, &mut text);
    // Without them there are still counts.
    if let Ok(measures) = measures::taken(&shared).await {
        tell_measures(&shared, &measures, &mut text);
    }
    search(&shared, &mut text);
    outbox(&shared, &mut text);
    pulse(&shared, &mut text);
    connections(&shared.connections, &mut text);
    PlainText(answer::typed("text/plain; version=0.0.4; charset=utf-8", Body::from(text)))
}

fn totals(shared: &Shared, text: &mut String) {
    let totals = shared.reader.totals();
    counter(text, "visits_total", "Requests that left, robots included", totals.visits as f64);
    counter(text, "changes_total", "Visits that found a change", totals.changes as f64);
    counter(text, "noise_total", "Visits that found a difference of which nothing was left", totals.noise as f64);
    counter(text, "versions_total", "Versions kept", totals.versions as f64);
    counter(text, "events_total", "Events of the change feed", totals.events as f64);
    counter(text, "wire_bytes_total", "Bytes sent and received", totals.wire_bytes as f64);
    counter(text, "body_bytes_total", "Bytes of kept bodies", totals.body_bytes as f64);
    counter(text, "budget_spent_total", "Spent in the unit of the budget", shared.reader.account().spent);
    gauge(text, "urls_known", "URLs met, barred ones included", totals.known as f64);
    gauge(text, "urls_waiting", "URLs that wait for their first visit", totals.waiting as f64);
    gauge(text, "urls_barred", "URLs that are never asked", totals.barred as f64);
    let _ = writeln!(text, "# HELP vernal_pages Visited pages by state\n# TYPE vernal_pages gauge");
    let states = [
        ("held", totals.held),
        ("gone", totals.gone),
        ("moved", totals.moved),
        ("blocked", totals.blocked),
        ("refused", totals.refused),
        ("failed", totals.failed),
    ];
    for (state, count) in states {
        let _ = writeln!(text, "vernal_pages{{state=\"{state}\"}} {count}");
    }
    gauge(text, "sites", "Sites known", shared.reader.sites().len() as f64);
    gauge(text, "paused", "Whether a person paused the whole crawl", f64::from(u8::from(shared.reader.paused_all())));
    if let Ok(disk) = shared.reader.disk_free() {
        gauge(text, "disk_free_bytes", "Free room on the disk of the data folder", disk.free_bytes as f64);
    }
}

type OfFigures = fn(&Figures) -> Option<f64>;

const MEASURES: [(&str, &str, OfFigures); 6] = [
    ("change_ratio", "Changed visits over all visits of the last seven days", |of| of.change_ratio),
    ("degree_of_success", "Visits that found a change over all that could be compared", |of| of.degree_of_success),
    ("change_rate_per_day", "Changes a day of a page, in the mean", |of| of.change_rate_per_day),
    ("freshness_believed", "The share of pages that is believed to be up to date", |of| of.freshness_believed),
    ("freshness_measured", "The share of samples drawn by chance that was up to date", |of| of.freshness_measured),
    ("mean_age_days", "The mean age of the held pages, as it is believed", |of| of.mean_age_days),
];

/// The measures of the whole copy, and of the sites with the most held pages. What is not known is left out.
fn tell_measures(shared: &Shared, measures: &Measures, text: &mut String) {
    let mut sites = shared.reader.sites();
    sites.sort_by_key(|row| Reverse(row.counts.held));
    sites.retain(|row| row.counts.held > 0);
    sites.truncate(SITES_TOLD_MAX);
    let sites: Vec<(String, Figures)> =
        sites.iter().map(|row| (label(row.site.as_str()), measures.of(&row.site))).collect();
    for (name, help, of) in MEASURES {
        if let Some(value) = of(&measures.all) {
            gauge(text, name, help, value);
        }
        let known: Vec<(&String, f64)> =
            sites.iter().filter_map(|(site, figures)| Some((site, of(figures)?))).collect();
        if !known.is_empty() {
            let _ = writeln!(text, "# HELP vernal_site_{name} {help}, by site\n# TYPE vernal_site_{name} gauge");
        }
        for (site, value) in known {
            let _ = writeln!(text, "vernal_site_{name}{{site=\"{site}\"}} {value}");
        }
    }
}

/// A text between the quotes of a label.
fn label(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

fn outbox(shared: &Shared, text: &mut String) {
    let Some(outbox) = super::deliveries::outbox(shared) else { return };
    gauge(text, "deliveries_waiting", "Deliveries of alerts that wait", outbox.waiting as f64);
    gauge(text, "delivery_oldest_seconds", "How long the oldest of them waits", outbox.oldest_s.unwrap_or(0.0));
    gauge(text, "routes_failing", "Routes that fail or are switched off", outbox.failing_routes.len() as f64);
}

fn search(shared: &Shared, text: &mut String) {
    let Some(status) = shared.search.status() else { return };
    gauge(text, "search_units", "Pages and removed paragraphs in the search index", status.units as f64);
    gauge(text, "search_bytes", "Size of the search index", status.bytes as f64);
    gauge(text, "search_behind_events", "Events that are not in the search index yet", status.behind_events as f64);
    gauge(text, "search_events_per_second", "Events that the search index took last", shared.search.rate() as f64);
}

fn pulse(shared: &Shared, text: &mut String) {
    let Some(pulse) = shared.backend.pulse() else { return };
    counter(text, "orders_sent_total", "Orders given to the workers by this process", pulse.orders_sent as f64);
    counter(text, "reports_taken_total", "Reports taken by this process", pulse.reports_taken as f64);
    counter(text, "commits_total", "Groups of deeds written by this process", pulse.commits as f64);
    gauge(text, "in_flight", "Requests under way", pulse.in_flight as f64);
    gauge(text, "window", "URLs in the windows of the frontiers", pulse.window as f64);
    gauge(text, "sites_backing_off", "Sites held back by failures", pulse.sites_backing_off as f64);
    gauge(text, "retries_waiting", "Pages that wait for a retry", pulse.retries_waiting as f64);
    gauge(text, "budget_in_hand", "What may be spent now", pulse.budget_in_hand);
    gauge(text, "disk_full", "Whether fetching has stopped for want of room", f64::from(u8::from(pulse.disk_full)));
}

/// Of the listener on the network; the socket in the folder is not counted.
fn connections(counts: &ConnectionCounts, text: &mut String) {
    let of = |count: &AtomicU64| count.load(Ordering::Relaxed) as f64;
    gauge(text, "api_connections", "Connections to the API", of(&counts.open));
    counter(text, "api_connections_total", "Connections to the API that were taken", of(&counts.opened));
    counter(text, "api_connections_gave_way_total", "Connections closed to make room", of(&counts.gave_way));
    counter(text, "api_slow_readers_total", "Connections cut off because nobody read", of(&counts.slow_readers));
    counter(text, "api_not_accepted_total", "Connections that could not be taken", of(&counts.not_accepted));
    let refused = [
        ("unauthorized", "without a token that opens anything", &counts.unauthorized),
        ("forbidden", "with too small a role, or from a page that may not ask", &counts.forbidden),
        ("too_many", "beyond the rate of their token or address", &counts.too_many),
        ("without_place", "for which no place was free", &counts.without_place),
    ];
    for (name, why, count) in refused {
        counter(text, &format!("api_requests_{name}_total"), &format!("Requests refused {why}"), of(count));
    }
}

fn counter(text: &mut String, name: &str, help: &str, value: f64) {
    number(text, name, help, "counter", value);
}

fn gauge(text: &mut String, name: &str, help: &str, value: f64) {
    number(text, name, help, "gauge", value);
}

fn number(text: &mut String, name: &str, help: &str, shape: &str, value: f64) {
    let _ = writeln!(text, "# HELP vernal_{name} {help}\n# TYPE vernal_{name} {shape}\nvernal_{name} {value}");
}
