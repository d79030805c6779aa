//! Routes of alerts: where deliveries go. Nothing secret is answered, but for a new secret, once.

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::routing::{get, post};
use serde::{Deserialize, Serialize};
use vernal_watch::{Route, RouteKind, RouteShown, Secret};

use super::alerting::{locked, parsed};
use super::answer::{self, ApiError, ApiResult};
use super::parameters::Parameters;
use super::shared::Shared;
use super::watches::sample;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct OfRoute {
    name: String,
}

#[derive(Serialize)]
struct MadeAnswer {
    route: RouteShown,
    /// With which deliveries are signed. It is never answered again.
    secret: Option<String>,
}

#[derive(Serialize)]
struct TriedAnswer {
    route: String,
    taken: bool,
    status: Option<u16>,
    answer: String,
}

pub fn routes() -> Router<Arc<Shared>> {
    Router::new()
        .route("/routes", get(list).post(add))
        .route("/routes/{name}", get(show).put(change).delete(remove))
        .route("/routes/{name}/test", post(test))
        .route("/routes/{name}/enable", post(enable))
        .route("/routes/{name}/rotate", post(rotate))
}

async fn list(State(shared): State<Arc<Shared>>) -> ApiResult {
    let rows = locked(&shared.alerts()?).routes_shown();
    Ok(answer::lines(move |lines| {
        for row in rows {
            lines.line(&row)?;
        }
        Ok(())
    }))
}

async fn show(State(shared): State<Arc<Shared>>, Parameters(asked): Parameters<OfRoute>) -> ApiResult {
    Ok(answer::value(&shown(&shared, &asked.name)?))
}

fn shown(shared: &Shared, name: &str) -> Result<RouteShown, ApiError> {
    let alerts = shared.alerts()?;
    let alerts = locked(&alerts);
    alerts.route(name)?;
    let found = alerts.routes_shown().into_iter().find(|route| route.name == name);
    found.ok_or_else(|| ApiError::not_found(format!("there is no route `{name}`")))
}

async fn add(State(shared): State<Arc<Shared>>, body: String) -> ApiResult {
    let route: Route = parsed(&body)?;
    if locked(&shared.alerts()?).route(&route.name).is_ok() {
        return Err(ApiError::bad_request(format!("there is a route `{}` already", route.name)));
    }
    put(&shared, route)
}

/// Secrets that are not given stay as they are.
async fn change(State(shared): State<Arc<Shared>>, Parameters(asked): Parameters<OfRoute>, body: String) -> ApiResult {
    let mut route = Route { name: asked.name, ..parsed(&body)? };
    let known = locked(&shared.alerts()?).route(&route.name)?.route.clone();
    if let (RouteKind::Webhook(new), RouteKind::Webhook(old)) = (&mut route.to, known.to)
        && new.secrets.is_empty()
    {
        new.secrets = old.secrets;
    }
    put(&shared, route)
}

/// Every webhook is signed: where no secret was given, one is made.
fn put(shared: &Shared, mut route: Route) -> ApiResult {
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
async fn rotate(State(shared): State<Arc<Shared>>, Parameters(asked): Parameters<OfRoute>) -> ApiResult {
    let mut route = locked(&shared.alerts()?).route(&asked.name)?.route.clone();
    let RouteKind::Webhook(hook) = &mut route.to else {
        return Err(ApiError::bad_request("only webhooks have secrets that can be changed here"));
    };
    let fresh = Secret::fresh()?;
    let secret = fresh.reveal().map(str::to_owned);
    hook.secrets.truncate(1);
    hook.secrets.insert(0, fresh);
    locked(&shared.alerts()?).put_route(route, shared.alerting()?.now())?;
    Ok(answer::value(&MadeAnswer { route: shown(&shared, &asked.name)?, secret }))
}

async fn remove(State(shared): State<Arc<Shared>>, Parameters(asked): Parameters<OfRoute>) -> ApiResult {
    locked(&shared.alerts()?).remove_route(&asked.name, shared.alerting()?.now())?;
    Ok(answer::value(&serde_json::json!({ "removed": asked.name })))
}

async fn enable(State(shared): State<Arc<Shared>>, Parameters(asked): Parameters<OfRoute>) -> ApiResult {
    locked(&shared.alerts()?).enable_route(&asked.name, shared.alerting()?.now())?;
    Ok(answer::value(&shown(&shared, &asked.name)?))
}

async fn test(State(shared): State<Arc<Shared>>, Parameters(asked): Parameters<OfRoute>) -> ApiResult {
    let alerting = Arc::clone(shared.alerting()?);
    let route = locked(&shared.alerts()?).route(&asked.name)?.route.clone();
    let delivery = sample(&asked.name, alerting.now());
    let outcome = alerting.send(route, delivery).await;
    let (taken, status, answer) = (outcome.taken, outcome.status, outcome.answer);
    Ok(answer::value(&TriedAnswer { route: asked.name, taken, status, answer }))
}
