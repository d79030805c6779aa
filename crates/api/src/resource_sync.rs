//! ResourceSync: which pages changed, for programs that follow changes of the web by that standard.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::HeaderMap;
use axum::response::Response;
use vernal_archive::memento;

use super::answer::{self, ApiError, ApiResult};
use super::memento::base;
use super::shared::Shared;

pub async fn capability_list(State(shared): State<Arc<Shared>>, headers: HeaderMap) -> Response {
    xml(memento::capability_list(&base(&shared, &headers)))
}

pub async fn index(State(shared): State<Arc<Shared>>, headers: HeaderMap) -> Response {
    let began = shared.reader.time_origin().map_or(vernal_model::Moment::EPOCH, |origin| origin.moment);
    xml(memento::change_list_index(&base(&shared, &headers), shared.reader.cursor(), began))
}

/// One list by its number, `0.xml` and so on.
pub async fn change_list(State(shared): State<Arc<Shared>>, headers: HeaderMap, Path(name): Path<String>) -> ApiResult {
    let unknown = || ApiError::not_found(format!("there is no change list {name}"));
    let list = name.strip_suffix(".xml").and_then(|number| number.parse().ok()).ok_or_else(unknown)?;
    let text = {
        let base = base(&shared, &headers);
        answer::on_blocking_thread(move || Ok(memento::change_list(&shared.reader, &base, list)?)).await?
    };
    text.map(xml).ok_or_else(unknown)
}

fn xml(text: String) -> Response {
    answer::typed("application/xml", Body::from(text))
}
