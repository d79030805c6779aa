//! All settings in force, with their sources; and those of them that answers depend on.

use std::path::PathBuf;
use std::sync::Arc;

use axum::extract::State;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use vernal_document::UnpackLimits;
use vernal_model::{Span, Url};

use super::answer::{self, ApiResult, Many};
use super::nouns::Nouns;
use super::seed_entry::AddressGuard;
use super::shared::Shared;

/// What answers depend on.
#[derive(Clone, Debug)]
pub struct Settings {
    pub data: PathBuf,
    /// As a crawler of this folder has them.
    pub crawler: vernal_crawler::Settings,
    pub unpacking: UnpackLimits,
    /// What the fetchers say of an address.
    pub guard: AddressGuard,
    pub indexnow_keys: Vec<String>,
    pub websub_secret: Option<String>,
    pub websub_callback: Option<Url>,
    pub keep_versions: Option<u32>,
    pub keep_for: Option<Span>,
    /// All settings in force with their sources, as they are shown.
    pub shown: Vec<SettingRow>,
}

/// One setting in force, as it is shown.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct SettingRow {
    pub name: String,
    pub value: serde_json::Value,
    pub source: String,
}

pub fn routes(nouns: Nouns) -> Nouns {
    nouns.get("/api/v1/settings", "All settings in force, with their sources", list)
}

pub async fn list(State(shared): State<Arc<Shared>>) -> ApiResult<Many<SettingRow>> {
    let rows = shared.settings.shown.clone();
    Ok(answer::lines(move |lines| {
        for row in rows {
            lines.line(&row)?;
        }
        Ok(())
    }))
}
