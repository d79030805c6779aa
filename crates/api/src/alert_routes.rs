//! Routes of alerts: where deliveries go. Nothing secret is answered, but for a new secret, once.

use std::sync::Arc;

use axum::extract::State;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use vernal_watch::{Route, RouteKind, RouteShown, Secret};

use super::alerting::locked;
use super::answer::{self, ApiError, ApiResult, Many, One};
use super::nouns::Nouns;
use super::parameters::{Given, Parameters};
use super::shared::Shared;
use super::watches::sample;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OfRoute {
    /// The name of a route
    name: String,
}

#[derive(Serialize, JsonSchema)]
pub struct MadeAnswer {
    route: RouteShown,
    /// With which deliveries are signed. It is never answered again.
    secret: Option<String>,
}

#[derive(Serialize, JsonSchema)]
pub struct TriedAnswer {
    route: String,
    taken: bool,
    status: Option<u16>,
    answer: String,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "RemovedRoute")]
pub struct Removed {
    removed: String,
}

pub fn routes(nouns: Nouns) -> Nouns {
    nouns
        .get("/api/v1/routes", "Where alerts go; nothing secret is told", list)
        .post("/api/v1/routes", "Makes a route to a webhook or to mail; a new secret is told once", add)
        .get("/api/v1/routes/{name}", "One route", show)
        .put("/api/v1/routes/{name}", "Changes a route; secrets that are not given stay", change)
        .delete("/api/v1/routes/{name}", "Removes a route that no watch uses", remove)
        .post("/api/v1/routes/{name}/test", "Sends a test now", test)
        .post("/api/v1/routes/{name}/enable", "Sends again on a route that was switched off", enable)
        .post("/api/v1/routes/{name}/rotate", "Makes a new secret beside the one in force, and tells it once", rotate)
}

async fn list(State(shared): State<Arc<Shared>>) -> ApiResult<Many<RouteShown>> {
    let rows = locked(&shared.alerts()?).routes_shown();
    Ok(answer::lines(move |lines| {
        for row in rows {
            lines.line(&row)?;
        }
        Ok(())
    }))
}

async fn show(State(shared): State<Arc<Shared>>, Parameters(asked): Parameters<OfRoute>) -> ApiResult<One<RouteShown>> {
    Ok(answer::value(&shown(&shared, &asked.name)?))
}

fn shown(shared: &Shared, name: &str) -> Result<RouteShown, ApiError> {
    let alerts = shared.alerts()?;
    let alerts = locked(&alerts);
    alerts.route(name)?;
    let found = alerts.routes_shown().into_iter().find(|route| route.name == name);
    found.ok_or_else(|| ApiError::not_found(format!("there is no route `{name}`")))
}

async fn add(State(shared): State<Arc<Shared>>, Given(route): Given<Route>) -> ApiResult<One<MadeAnswer>> {
    if locked(&shared.alerts()?).route(&route.name).is_ok() {
        return Err(ApiError::bad_request(format!("there is a route `{}` already", route.name)));
    }
    put(&shared, route)
}

/// Secrets that are not given stay as they are.
async fn change(
    State(shared): State<Arc<Shared>>,
    Parameters(asked): Parameters<OfRoute>,
    Given(route): Given<Route>,
) -> ApiResult<One<MadeAnswer>> {
    let mut route = Route { name: asked.name, ..route };
    let known = locked(&shared.alerts()?).route(&route.name)?.route.clone();
    if let (RouteKind::Webhook(new), RouteKind::Webhook(old)) = (&mut route.to, known.to)
        && new.secrets.is_empty()
    {
        new.secrets = old.secrets;
    }
    put(&shared, route)
}

/// Every webhook is signed: where no secret was given, one is made.
fn put(shared: &Shared, mut route: Route) -> ApiResult<One<MadeAnswer>> {
    let mut secret = None;
    if let RouteKind::Webhook(hook) = &mut route.to
        && hook.secrets.is_empty()
    {
        let fresh = Secret::fresh()?;
        secret = fresh.reveal().map(str::to_owned);
        hook.secrets.push(fresh);
    }
    let name = route.name.clone();
    locked(&shared.alerts()?).put_route(route, shared.alerting()?.now())?;
    Ok(answer::value(&MadeAnswer { route: shown(shared, &name)?, secret }))
}

/// A new secret comes into force beside the one before it, which goes with the next change.
async fn rotate(
    State(shared): State<Arc<Shared>>,
    Parameters(asked): Parameters<OfRoute>,
) -> ApiResult<One<MadeAnswer>> {
    let fresh = Secret::fresh()?;
    let secret = fresh.reveal().map(str::to_owned);
    let alerts = shared.alerts()?;
    let mut secrets = vec![fresh];
    if let RouteKind::Webhook(hook) = &locked(&alerts).route(&asked.name)?.route.to {
        secrets.extend(hook.secrets.first().cloned());
    }
    locked(&alerts).put_secrets(&asked.name, secrets, shared.alerting()?.now())?;
    Ok(answer::value(&MadeAnswer { route: shown(&shared, &asked.name)?, secret }))
}

async fn remove(State(shared): State<Arc<Shared>>, Parameters(asked): Parameters<OfRoute>) -> ApiResult<One<Removed>> {
    locked(&shared.alerts()?).remove_route(&asked.name, shared.alerting()?.now())?;
    Ok(answer::value(&Removed { removed: asked.name }))
}

async fn enable(
    State(shared): State<Arc<Shared>>,
    Parameters(asked): Parameters<OfRoute>,
) -> ApiResult<One<RouteShown>> {
    locked(&shared.alerts()?).enable_route(&asked.name, shared.alerting()?.now())?;
    Ok(answer::value(&shown(&shared, &asked.name)?))
}

async fn test(
    State(shared): State<Arc<Shared>>,
    Parameters(asked): Parameters<OfRoute>,
) -> ApiResult<One<TriedAnswer>> {
    let alerting = Arc::clone(shared.alerting()?);
    let route = locked(&shared.alerts()?).route(&asked.name)?.route.clone();
    let delivery = sample(&asked.name, alerting.now());
    let outcome = alerting.send(route, delivery).await;
    let (taken, status, answer) = (outcome.taken, outcome.status, outcome.answer);
    Ok(answer::value(&TriedAnswer { route: asked.name, taken, status, answer }))
}
