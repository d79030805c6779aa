//! All settings in force, with their sources.

use std::sync::Arc;

use axum::extract::State;

use super::answer::{self, ApiResult};
use super::shared::Shared;

pub async fn list(State(shared): State<Arc<Shared>>) -> ApiResult {
    let rows = shared.settings_shown.clone();
    Ok(answer::lines(move |lines| {
        for row in rows {
            lines.line(&row)?;
        }
        Ok(())
    }))
}
