//! Deliveries: what was sent, what waits and what was given up.

use std::sync::Arc;

use axum::extract::State;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use vernal_watch::{Delivery, DeliveryQuery, DeliveryState, Told, WatchEntry};

use super::alerting::locked;
use super::answer::{self, ApiError, ApiResult, Listed, One};
use super::nouns::Nouns;
use super::parameters::Parameters;
use super::shared::{Shared, time};

/// Deliveries of one answer where nothing is asked for.
const LIMIT: usize = 1_000;

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DeliveriesQuery {
    /// Only of this watch
    watch: Option<String>,
    /// Only on this route
    route: Option<String>,
    /// waiting, sent or given-up
    state: Option<DeliveryState>,
    /// Where an earlier answer ended
    after: Option<String>,
    /// At most so many rows
    limit: Option<usize>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OfDelivery {
    /// The id of a delivery, percent-encoded
    id: String,
}

#[derive(Serialize, JsonSchema)]
pub struct DeliveryAnswer {
    id: String,
    watch: String,
    watch_name: String,
    route: String,
    state: DeliveryState,
    reason: &'static str,
    line: String,
    events: Vec<String>,
    urls: Vec<String>,
    made: Option<String>,
    tries: u32,
    latest: Vec<TryJson>,
    /// When it is tried next; null where it is not.
    next: Option<String>,
}

#[derive(Serialize, JsonSchema)]
pub struct TryJson {
    at: Option<String>,
    took_ms: u64,
    status: Option<u16>,
    taken: bool,
    answer: String,
}

/// What `status` tells of the outbox.
#[derive(Serialize, JsonSchema)]
pub struct OutboxJson {
    pub watches: usize,
    pub waiting: usize,
    /// Since when the oldest waits.
    pub oldest_s: Option<f64>,
    /// Routes that failed several times in a row, or are switched off.
    pub failing_routes: Vec<String>,
    /// Watches that lost their page or region, or hear nothing, which nobody acknowledged.
    pub lost: Vec<String>,
}

#[derive(Serialize, JsonSchema)]
pub struct Again {
    again: String,
}

pub fn routes(nouns: Nouns) -> Nouns {
    nouns.get("/api/v1/deliveries", "What was sent, what waits and what was given up, newest first", list).post(
        "/api/v1/deliveries/{id}/again",
        "Sends a delivery anew, with the same id",
        again,
    )
}

/// `None` where there were no alerts yet: asking does not make the log.
pub fn outbox(shared: &Shared) -> Option<OutboxJson> {
    let alerting = shared.alerting().ok().filter(|alerting| alerting.is_used())?;
    let alerts = shared.alerts().ok()?;
    let alerts = locked(&alerts);
    let state = alerts.state();
    let oldest = state.waiting().map(|delivery| delivery.made).min();
    let failing = state.all_routes().filter(|route| route.is_failing() || route.disabled.is_some());
    let is_lost = |entry: &&WatchEntry| entry.trouble.as_ref().is_some_and(|trouble| !trouble.acknowledged);
    Some(OutboxJson {
        watches: state.watches.len(),
        waiting: state.waiting().count(),
        oldest_s: oldest.map(|made| alerting.now().since(made).secs_f64()),
        failing_routes: failing.map(|route| route.route.name.clone()).collect(),
        lost: state.watches.values().filter(is_lost).map(|entry| entry.watch.id.clone()).collect(),
    })
}

async fn list(
    State(shared): State<Arc<Shared>>,
    Parameters(query): Parameters<DeliveriesQuery>,
) -> ApiResult<Listed<DeliveryAnswer>> {
    let limit = query.limit.unwrap_or(LIMIT);
    let after = query.after.as_deref().map(place).transpose()?;
    let asked = DeliveryQuery { watch: query.watch, route: query.route, state: query.state, after, limit };
    let rows = locked(&shared.alerts()?).deliveries(&asked);
    Ok(answer::listed(move |lines| {
        let last = rows.last().map(|(number, _)| *number).filter(|_| rows.len() == limit);
        for (_, delivery) in rows {
            lines.line(&of_delivery(delivery))?;
        }
        match last {
            Some(last) => Ok(lines.rest(format!("a{last:x}"))?),
            _ => Ok(()),
        }
    }))
}

fn place(text: &str) -> Result<u64, ApiError> {
    let number = text.strip_prefix('a').and_then(|digits| u64::from_str_radix(digits, 16).ok());
    number.ok_or_else(|| ApiError::bad_request(format!("`{text}` is no place in a list")))
}

async fn again(State(shared): State<Arc<Shared>>, Parameters(asked): Parameters<OfDelivery>) -> ApiResult<One<Again>> {
    locked(&shared.alerts()?).again(&asked.id, shared.alerting()?.now())?;
    Ok(answer::value(&Again { again: asked.id }))
}

fn of_delivery(delivery: Delivery) -> DeliveryAnswer {
    let events: &[Told] = &delivery.alert.events;
    let latest = delivery.latest.iter().map(|tried| TryJson {
        at: time(tried.at),
        took_ms: tried.took_ms,
        status: tried.status,
        taken: tried.taken,
        answer: tried.answer.clone(),
    });
    DeliveryAnswer {
        reason: delivery.alert.reason.name(),
        line: delivery.alert.line(),
        events: events.iter().map(|told| told.id.clone()).collect(),
        urls: events.iter().map(|told| told.url.clone()).collect(),
        latest: latest.collect(),
        made: time(delivery.made),
        next: time(delivery.next).filter(|_| delivery.is_waiting()),
        id: delivery.id,
        watch: delivery.watch,
        watch_name: delivery.watch_name,
        route: delivery.route,
        state: delivery.state,
        tries: delivery.tries,
    }
}
