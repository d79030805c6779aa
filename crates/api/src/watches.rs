//! Watches: saved questions to the change feed.

use std::sync::Arc;

use axum::extract::State;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use vernal_model::{Moment, Span};
use vernal_repository::Cursor;
use vernal_watch::outbox::TroubleKind;
use vernal_watch::{
    Alert, Alerts, Delivery, Preview, Reach, Reason, Route, Told, Watch, WatchChange, WatchEntry, preview,
};

use super::alerting::{locked, spelled_as_the_feed};
use super::answer::{self, ApiError, ApiResult, Many, One};
use super::nouns::Nouns;
use super::parameters::{Given, Parameters};
use super::shared::{Shared, time};
use super::watch_feed::WatchFeed;

/// How far back a preview looks.
const PREVIEW_FOR: Span = Span::from_days(30);
/// The newest events of a preview that are shown.
const PREVIEW_SHOWN: usize = 10;
/// Changes that a test looks at.
const TESTED: u64 = 100;
const TESTED_MAX: u64 = 10_000;
/// Events that are read to find the cursor of a time.
const BATCH: usize = 256;

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AddQuery {
    /// A cursor or a time from which on it tells; now where nothing is given
    since: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OfWatch {
    /// The id of a watch, such as w7
    id: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ResumeQuery {
    /// The id of a watch, such as w7
    id: String,
    /// Also what happened meanwhile
    #[serde(default)]
    missed: bool,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TestQuery {
    /// The id of a watch, such as w7
    id: String,
    /// So many of the newest changes of what it watches (default: 100)
    last: Option<u64>,
    /// Only this event, by its id
    event: Option<String>,
}

/// A watch that is not made yet.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PreviewRequest {
    watch: Watch,
    r#for: Option<String>,
}

#[derive(Serialize, JsonSchema)]
pub struct WatchAnswer {
    #[serde(flatten)]
    watch: Watch,
    made: Option<String>,
    /// The settings that made it, and that alone change it.
    from: Option<String>,
    /// It has seen everything up to here.
    seen: String,
    lost: Option<LostJson>,
    /// Events that wait for a digest.
    held: usize,
    /// Deliveries that wait.
    waiting: usize,
    /// The address of its Atom feed, where it has one.
    feed: Option<String>,
}

/// What a watch has lost.
#[derive(Serialize, JsonSchema)]
pub struct LostJson {
    what: TroubleKind,
    says: String,
    since: Option<String>,
    acknowledged: bool,
}

#[derive(Serialize, JsonSchema)]
pub struct PreviewAnswer {
    matches: u64,
    per_day: f64,
    /// Events of what is watched.
    covered: u64,
    since: Option<String>,
    /// The feed goes further back than was read.
    cut: bool,
    /// That a digest would serve better.
    advice: Option<String>,
    /// Events of the feed, each with the line that says what happened.
    latest: Vec<Value>,
}

#[derive(Serialize, JsonSchema)]
pub struct AddedAnswer {
    watch: WatchAnswer,
    preview: PreviewAnswer,
}

#[derive(Serialize, JsonSchema)]
pub struct TestAnswer {
    delivery: String,
    route: Option<String>,
    event: String,
    url: String,
    line: String,
    seen: Option<String>,
    body: String,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "RemovedWatch")]
pub struct Removed {
    removed: String,
}

/// The first line counts, the others are what would be sent.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
pub enum TestLine {
    Preview(Box<PreviewAnswer>),
    Delivery(Box<TestAnswer>),
}

pub fn routes(nouns: Nouns) -> Nouns {
    nouns
        .get("/api/v1/watches", "The watches", list)
        .post("/api/v1/watches", "Makes a watch, and shows what it would have told in 30 days", add)
        .post("/api/v1/watches/preview", "What a watch would have told", show_preview)
        .get("/api/v1/watches/{id}", "One watch", show)
        .put("/api/v1/watches/{id}", "Puts a watch in the place of the one with this id", change)
        .delete("/api/v1/watches/{id}", "Removes a watch, and what waits to be sent because of it", remove)
        .get("/api/v1/watches/{id}/test", "What the last changes would have sent, and to whom; nothing is sent", test)
        .post("/api/v1/watches/{id}/pause", "Tells nothing until it is resumed", pause)
        .post("/api/v1/watches/{id}/resume", "Tells again", resume)
        .post("/api/v1/watches/{id}/acknowledge", "Says no more of what it lost", acknowledge)
}

async fn list(State(shared): State<Arc<Shared>>) -> ApiResult<Many<WatchAnswer>> {
    let alerts = shared.alerts()?;
    let rows: Vec<WatchAnswer> = {
        let alerts = locked(&alerts);
        alerts.state().watches.values().map(|entry| of_entry(&shared, &alerts, entry)).collect()
    };
    Ok(answer::lines(move |lines| {
        for row in rows {
            lines.line(&row)?;
        }
        Ok(())
    }))
}

async fn show(
    State(shared): State<Arc<Shared>>,
    Parameters(asked): Parameters<OfWatch>,
) -> ApiResult<One<WatchAnswer>> {
    let alerts = shared.alerts()?;
    let alerts = locked(&alerts);
    let entry = alerts.watch(&asked.id)?;
    Ok(answer::value(&of_entry(&shared, &alerts, entry)))
}

async fn add(
    State(shared): State<Arc<Shared>>,
    Parameters(query): Parameters<AddQuery>,
    Given(watch): Given<Watch>,
) -> ApiResult<One<AddedAnswer>> {
    let watch = spelled_as_the_feed(watch).map_err(ApiError::bad_request)?;
    let answered = answer::on_blocking_thread(move || {
        let (alerts, now) = (shared.alerts()?, shared.clock.now());
        watch.check()?;
        let seen = match &query.since {
            None => shared.reader.cursor(),
            Some(since) => cursor_of(&shared, since)?,
        };
        // A search that cannot be asked is refused before the watch is made.
        let looked = looked(&shared, &watch, Reach::For(PREVIEW_FOR))?;
        let wall = shared.alerting()?.now();
        let watch = locked(&alerts).add(watch, seen, (now, wall))?;
        let alerts = locked(&alerts);
        let watch = of_entry(&shared, &alerts, alerts.watch(&watch.id)?);
        Ok(AddedAnswer { watch, preview: of_preview(looked) })
    })
    .await?;
    Ok(answer::value(&answered))
}

async fn change(
    State(shared): State<Arc<Shared>>,
    Parameters(asked): Parameters<OfWatch>,
    Given(watch): Given<Watch>,
) -> ApiResult<One<WatchAnswer>> {
    let watch = Watch { id: asked.id.clone(), ..spelled_as_the_feed(watch).map_err(ApiError::bad_request)? };
    let alerts = shared.alerts()?;
    let mut alerts = locked(&alerts);
    alerts.change(watch, shared.alerting()?.now())?;
    Ok(answer::value(&of_entry(&shared, &alerts, alerts.watch(&asked.id)?)))
}

async fn remove(State(shared): State<Arc<Shared>>, Parameters(asked): Parameters<OfWatch>) -> ApiResult<One<Removed>> {
    locked(&shared.alerts()?).remove(&asked.id, shared.alerting()?.now())?;
    Ok(answer::value(&Removed { removed: asked.id }))
}

async fn pause(
    State(shared): State<Arc<Shared>>,
    Parameters(asked): Parameters<OfWatch>,
) -> ApiResult<One<WatchAnswer>> {
    act(&shared, &asked.id, WatchChange::Pause)
}

async fn resume(
    State(shared): State<Arc<Shared>>,
    Parameters(asked): Parameters<ResumeQuery>,
) -> ApiResult<One<WatchAnswer>> {
    act(&shared, &asked.id, WatchChange::Resume { missed: asked.missed })
}

async fn acknowledge(
    State(shared): State<Arc<Shared>>,
    Parameters(asked): Parameters<OfWatch>,
) -> ApiResult<One<WatchAnswer>> {
    act(&shared, &asked.id, WatchChange::Acknowledge)
}

fn act(shared: &Shared, id: &str, change: WatchChange) -> ApiResult<One<WatchAnswer>> {
    let alerts = shared.alerts()?;
    let mut alerts = locked(&alerts);
    alerts.act(id, change, shared.reader.cursor(), shared.alerting()?.now())?;
    Ok(answer::value(&of_entry(shared, &alerts, alerts.watch(id)?)))
}

async fn show_preview(
    State(shared): State<Arc<Shared>>,
    Given(request): Given<PreviewRequest>,
) -> ApiResult<One<PreviewAnswer>> {
    let watch = spelled_as_the_feed(request.watch).map_err(ApiError::bad_request)?;
    let span = request.r#for.as_deref().map_or(Ok(PREVIEW_FOR), Span::parse).map_err(ApiError::bad_request)?;
    let answered = answer::on_blocking_thread(move || {
        watch.check()?;
        Ok(of_preview(looked(&shared, &watch, Reach::For(span))?))
    });
    Ok(answer::value(&answered.await?))
}

/// What the last changes would have sent. Nothing is sent.
async fn test(
    State(shared): State<Arc<Shared>>,
    Parameters(asked): Parameters<TestQuery>,
) -> ApiResult<Many<TestLine>> {
    let (watch, routes) = {
        let alerts = shared.alerts()?;
        let alerts = locked(&alerts);
        let watch = alerts.watch(&asked.id)?.watch.clone();
        let named = watch.to.iter().filter_map(|to| alerts.route(&to.route).ok());
        let routes: Vec<Route> = named.map(|entry| entry.route.clone().written_for(&watch)).collect();
        (watch, routes)
    };
    let links = shared.alerting()?.links();
    let last = asked.last.unwrap_or(TESTED).min(TESTED_MAX);
    let looked = {
        let (shared, watch) = (Arc::clone(&shared), watch.clone());
        answer::on_blocking_thread(move || Ok(looked_all(&shared, &watch, Reach::Changes(last))?)).await?
    };
    let now = shared.alerting()?.now();
    Ok(answer::lines(move |lines| {
        let told: Vec<Told> = looked.latest.iter().rev().cloned().collect();
        lines.line(&TestLine::Preview(Box::new(of_preview(Preview { latest: Vec::new(), ..looked }))))?;
        let is_asked = |told: &&Told| asked.event.as_ref().is_none_or(|event| *event == told.id);
        for told in told.iter().filter(is_asked) {
            let made = |route: Option<&Route>| {
                TestLine::Delivery(Box::new(tested(&watch, route, told, links.as_deref(), now)))
            };
            match routes.is_empty() {
                true => lines.line(&made(None))?,
                false => routes.iter().try_for_each(|route| lines.line(&made(Some(route))))?,
            }
        }
        Ok(())
    }))
}

fn tested(watch: &Watch, route: Option<&Route>, told: &Told, links: Option<&str>, now: Moment) -> TestAnswer {
    let name = route.map_or("-", |route| route.name.as_str());
    let id = format!("{}/{}/{name}", watch.id, told.id);
    let alert = Alert::of_event(told.clone());
    let delivery = Delivery::new(id, (&watch.id, watch.shown_name()), name, alert, now);
    let body = match route {
        Some(route) => vernal_watch::send::written(route, &delivery, links).unwrap_or_else(|error| error.to_string()),
        None => vernal_watch::template::json(&delivery, links),
    };
    TestAnswer {
        delivery: delivery.id,
        route: route.map(|route| route.name.clone()),
        event: told.event.name().to_owned(),
        url: told.url.clone(),
        line: told.line(),
        seen: told.versions.seen_different.clone(),
        body,
    }
}

fn looked(shared: &Arc<Shared>, watch: &Watch, reach: Reach) -> Result<Preview, vernal_watch::Error> {
    preview(&WatchFeed::new(Arc::clone(shared)), watch, reach, PREVIEW_SHOWN)
}

fn looked_all(shared: &Arc<Shared>, watch: &Watch, reach: Reach) -> Result<Preview, vernal_watch::Error> {
    preview(&WatchFeed::new(Arc::clone(shared)), watch, reach, usize::MAX)
}

fn of_preview(looked: Preview) -> PreviewAnswer {
    let advice = looked
        .wants_digest()
        .then(|| format!("about {:.0} a day: a digest such as `daily 07:00` would be easier to read", looked.per_day));
    PreviewAnswer {
        matches: looked.matches,
        per_day: looked.per_day,
        covered: looked.covered,
        since: looked.since.and_then(time),
        cut: looked.cut,
        advice,
        latest: looked.latest.iter().map(|told| vernal_watch::template::event(told, None)).collect(),
    }
}

fn of_entry(shared: &Shared, alerts: &Alerts, entry: &WatchEntry) -> WatchAnswer {
    let lost = entry.trouble.as_ref().map(|trouble| LostJson {
        what: trouble.kind,
        says: trouble.says.clone(),
        since: time(trouble.since),
        acknowledged: trouble.acknowledged,
    });
    WatchAnswer {
        made: time(entry.made),
        from: entry.from.clone(),
        seen: entry.seen.to_string(),
        lost,
        held: entry.held.values().map(|held| held.events.len() + held.more as usize).sum(),
        waiting: alerts.state().waiting().filter(|delivery| delivery.watch == entry.watch.id).count(),
        feed: alerts.has_feed(&entry.watch).then(|| shared.feed_of(&entry.watch.id)),
        watch: entry.watch.clone(),
    }
}

/// A cursor, or the last one before a time.
fn cursor_of(shared: &Shared, since: &str) -> Result<Cursor, ApiError> {
    if let Ok(cursor) = since.parse::<Cursor>() {
        return Ok(cursor.min(shared.reader.cursor()));
    }
    let moment = Moment::parse(since, shared.clock.now()).map_err(ApiError::bad_request)?;
    let mut before = Cursor(u64::MAX);
    loop {
        let batch = shared.reader.events_before(before, BATCH)?;
        let Some((last, _, _)) = batch.last() else { return Ok(Cursor::START) };
        before = *last;
        if let Some((cursor, ..)) = batch.iter().find(|(_, _, event)| event.seen_different < moment) {
            return Ok(*cursor);
        }
    }
}

/// A sample that says what it is.
pub(super) fn sample(route: &str, now: Moment) -> Delivery {
    let says = "this is a test: alerts on this route arrive".to_owned();
    let alert = Alert { reason: Reason::Test, says: Some(says), events: Vec::new(), more: 0, since: None };
    Delivery::new(format!("test/{}/{route}", now.micros()), ("test", "Vernal".into()), route, alert, now)
}
