//! What people gave to begin with.

use std::sync::Arc;

use axum::extract::State;
use schemars::JsonSchema;
use serde::Serialize;
use vernal_crawler::{Act, Acted};
use vernal_model::{ForgottenRow, Moment, Scope, Seed};

use super::answer::{self, ApiError, ApiResult, Listed, One};
use super::forget::why_barred;
use super::nouns::Nouns;
use super::paging::Part;
use super::parameters::{JsonLines, List, OfUrl, Parameters, Sort, url};
use super::seed_entry::{SeedEntry, SeedError, from_json, why_never_visited};
use super::shared::{Shared, time};

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "SeedRow")]
pub struct Row {
    url: String,
    added: Option<String>,
    tags: Vec<String>,
    weight: f32,
    scope: Scope,
    depth: Option<u16>,
    at_least_every: Option<String>,
    at_most_every: Option<String>,
    moved_to: Option<String>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "AddedSeeds")]
pub struct Added {
    new: usize,
    known: usize,
    wrong: Vec<Wrong>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "WrongSeed")]
pub struct Wrong {
    line: usize,
    error: String,
}

#[derive(Serialize, JsonSchema)]
pub struct Removed {
    removed: bool,
}

const COLUMNS: [&str; 6] = ["url", "added", "weight", "scope", "depth", "tags"];

pub fn routes(nouns: Nouns) -> Nouns {
    nouns.get("/api/v1/seeds", "The seeds", list).post("/api/v1/seeds", "Adds seeds, given as JSON lines", add).delete(
        "/api/v1/seeds",
        "Removes a seed",
        remove,
    )
}

pub async fn list(State(shared): State<Arc<Shared>>, Parameters(asked): Parameters<List>) -> ApiResult<Listed<Row>> {
    let mut seeds = shared.reader.seeds()?;
    if let Some(tag) = &asked.tag {
        seeds.retain(|seed| seed.tags.contains(tag));
    }
    if let Some(text) = &asked.sort {
        let sort = Sort::read(text, &COLUMNS)?;
        match sort.column {
            "added" => seeds.sort_by_key(|seed| seed.added),
            "weight" => seeds.sort_by(|a, b| a.weight.total_cmp(&b.weight)),
            "scope" => seeds.sort_by_key(|seed| seed.scope as u8),
            "depth" => seeds.sort_by_key(|seed| seed.depth.unwrap_or(u16::MAX)),
            "tags" => seeds.sort_by(|a, b| a.tags.cmp(&b.tags)),
            _ => seeds.sort_by(|a, b| a.url.cmp(&b.url)),
        }
        if sort.descending {
            seeds.reverse();
        }
    }
    let part = Part::read(asked.limit, asked.after.as_deref())?;
    Ok(answer::listed(move |lines| part.write(seeds, lines, |seed| Ok(row(seed)))))
}

/// Takes JSON lines; those that are no seeds are named by number, the rest is taken.
pub async fn add(State(shared): State<Arc<Shared>>, body: JsonLines<SeedEntry>) -> ApiResult<One<Added>> {
    let now = shared.clock.now();
    let (mut seeds, mut wrong) = (Vec::new(), Vec::new());
    let forgotten = shared.reader.forgotten()?;
    for (place, line) in body.text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        match from_json(line).and_then(|entry| visitable_seed(&shared, &forgotten, &entry, now)) {
            Ok(seed) => seeds.push(seed),
            Err(error) => wrong.push(Wrong { line: place + 1, error: error.to_string() }),
        }
    }
    if seeds.is_empty() {
        let first = wrong.first().map_or("no seed was given", |wrong| &wrong.error);
        return Err(ApiError::bad_request(first));
    }
    match shared.backend.act(Act::AddSeeds(seeds), now).await? {
        Acted::Seeds { new, known } => Ok(answer::value(&Added { new, known, wrong })),
        other => Err(ApiError::failed(format!("adding seeds came to {other:?}"))),
    }
}

fn visitable_seed(
    shared: &Shared,
    forgotten: &[ForgottenRow],
    entry: &SeedEntry,
    now: Moment,
) -> Result<Seed, SeedError> {
    let seed = entry.seed(shared.defaults(), now)?;
    if let Some(entry) = forgotten.iter().find(|row| row.bars() && row.rule.covers(&seed.url)) {
        return Err(SeedError::Shut(why_barred(&seed.url, entry.id)));
    }
    match why_never_visited(&seed.url, shared.settings.crawler.allow_private, shared.settings.guard) {
        Some(why) => Err(SeedError::Shut(why)),
        None => Ok(seed),
    }
}

pub async fn remove(
    State(shared): State<Arc<Shared>>,
    Parameters(asked): Parameters<OfUrl>,
) -> ApiResult<One<Removed>> {
    let url = url(&asked.url)?;
    match shared.backend.act(Act::RemoveSeed(url.clone()), shared.clock.now()).await? {
        Acted::Removed(true) => Ok(answer::value(&Removed { removed: true })),
        Acted::Removed(false) => Err(ApiError::not_found(format!("{url} is no seed"))),
        other => Err(ApiError::failed(format!("removing a seed came to {other:?}"))),
    }
}

fn row(seed: Seed) -> Row {
    Row {
        url: seed.url.to_string(),
        added: time(seed.added),
        tags: seed.tags,
        weight: seed.weight,
        scope: seed.scope,
        depth: seed.depth,
        at_least_every: seed.at_least_every.map(|span| span.to_string()),
        at_most_every: seed.at_most_every.map(|span| span.to_string()),
        moved_to: seed.moved_to.map(|url| url.to_string()),
    }
}
