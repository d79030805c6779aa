//! `vernal compact`

use axum::http::Method;
use clap::Args;

use super::Context;
use super::printed_list::{bytes, cell, names_and_values};
use crate::config::Flags;
use crate::error::Result;
use crate::output::Sink;
use crate::runtime::folder::Folder;

#[derive(Args)]
pub struct Arguments {
    /// Keep the bodies of the N newest versions of each page [default: all]
    #[arg(long, value_name = "N")]
    keep_versions: Option<String>,
    /// Keep the bodies of versions that are not older than this, such as 90d [default: for ever]
    #[arg(long, value_name = "SPAN")]
    keep_for: Option<String>,
    /// The deeds before a checkpoint of the tables: drop, archive or keep [default: as the last run]
    #[arg(long, value_name = "WHAT")]
    journal: Option<String>,
}

impl Arguments {
    pub fn flags(&self) -> Flags {
        let mut flags = Flags::default();
        let given = [("keep-versions", &self.keep_versions), ("keep-for", &self.keep_for), ("journal", &self.journal)];
        for (name, value) in given {
            if let Some(value) = value {
                flags.push(name, value.clone());
            }
        }
        flags
    }
}

pub async fn compact(context: &Context) -> Result<()> {
    let folder = Folder::open(context, false).await?;
    let answer = folder.ask(Method::POST, "/api/v1/compact", String::new()).await?;
    let done = answer.json().await?;
    folder.close()?;
    let mut sink = Sink::stdout();
    if context.json {
        sink.line(&done.to_string())?;
        return sink.flush();
    }
    let mut rows: Vec<(String, String)> = Vec::new();
    for (part, shown) in [("segment", "segments"), ("table", "tables"), ("journal", "journal")] {
        for when in ["before", "after"] {
            rows.push((format!("{shown} {when}"), bytes(&done, &format!("{part}_bytes_{when}"))));
        }
    }
    for name in ["segments_rewritten", "versions_dropped", "records_dropped", "records_moved"] {
        rows.push((name.replace('_', " "), cell(&done, name)));
    }
    names_and_values(&mut sink, &rows)?;
    sink.flush()
}
