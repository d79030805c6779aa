//! All settings in force, with their sources.

use std::sync::Arc;

use axum::extract::State;

use super::answer::{self, Answered};
use super::shared::Shared;

pub async fn list(State(shared): State<Arc<Shared>>) -> Answered {
    let rows = shared.settings_shown.clone();
    Ok(answer::lines(move |lines| {
        for row in rows {
            lines.line(&row)?;
        }
        Ok(())
    }))
}
