//! Every visit to one page, and the versions that they made; newest first.

use std::sync::Arc;

use axum::extract::State;
use serde::Serialize;
use vernal_model::{DecidedBy, Location, Visit};

use super::answer::{self, Answered};
use super::page::{self, VersionRow, version_row};
use super::parameters::{Asked, OfUrl, url};
use super::shared::{Shared, time};

#[derive(Serialize)]
struct Row {
    started: Option<String>,
    finished: Option<String>,
    outcome: &'static str,
    status: Option<u16>,
    detail: String,
    version: Option<VersionRow>,
    decided_by: Option<DecidedBy>,
    address: Option<std::net::IpAddr>,
    wire_bytes: u64,
    record: Option<Location>,
}

pub async fn list(State(shared): State<Arc<Shared>>, Asked(asked): Asked<OfUrl>) -> Answered {
    let page = page::of(&shared, &url(&asked.url)?)?;
    let visits = shared.reader.visits(page.key)?;
    let limit = asked.limit.unwrap_or(usize::MAX);
    Ok(answer::lines(move |lines| {
        for visit in visits.into_iter().rev().take(limit) {
            lines.line(&row(visit))?;
        }
        Ok(())
    }))
}

fn row(visit: Visit) -> Row {
    Row {
        started: time(visit.started),
        finished: time(visit.finished),
        outcome: visit.outcome.name(),
        status: visit.outcome.status(),
        detail: visit.outcome.detail(),
        version: visit.version.as_ref().map(version_row),
        decided_by: visit.decided_by,
        address: visit.address,
        wire_bytes: visit.wire_bytes,
        record: visit.record,
    }
}
