//! ResourceSync: which pages changed, for programs that follow changes of the web by that standard.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use schemars::JsonSchema;
use serde::Deserialize;
use vernal_archive::memento;

use super::answer::{self, ApiError, ApiResult};
use super::memento::base;
use super::nouns::Nouns;
use super::other_forms::Xml;
use super::parameters::{Heads, Parameters};
use super::shared::Shared;

pub fn routes(nouns: Nouns) -> Nouns {
    nouns
        .get("/resourcesync/capabilitylist.xml", "What is offered by ResourceSync", capability_list)
        .get("/resourcesync/changelist.xml", "The change lists there are", index)
        .get("/resourcesync/changelist/{list}", "One change list: which pages changed", change_list)
}

async fn capability_list(State(shared): State<Arc<Shared>>, Heads(headers): Heads) -> Xml {
    xml(memento::capability_list(&base(&shared, &headers)))
}

async fn index(State(shared): State<Arc<Shared>>, Heads(headers): Heads) -> Xml {
    let began = shared.reader.time_origin().map_or(vernal_model::Moment::EPOCH, |origin| origin.moment);
    xml(memento::change_list_index(&base(&shared, &headers), shared.reader.cursor(), began))
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct OfList {
    /// The number of a list with its ending, such as 0.xml
    list: String,
}

/// One list by its number, `0.xml` and so on.
async fn change_list(
    State(shared): State<Arc<Shared>>,
    Heads(headers): Heads,
    Parameters(asked): Parameters<OfList>,
) -> ApiResult<Xml> {
    let name = asked.list;
    let unknown = || ApiError::not_found(format!("there is no change list {name}"));
    let list = name.strip_suffix(".xml").and_then(|number| number.parse().ok()).ok_or_else(unknown)?;
    let text = {
        let base = base(&shared, &headers);
        answer::on_blocking_thread(move || Ok(memento::change_list(&shared.reader, &base, list)?)).await?
    };
    text.map(xml).ok_or_else(unknown)
}

fn xml(text: String) -> Xml {
    Xml(answer::typed("application/xml", Body::from(text)))
}
