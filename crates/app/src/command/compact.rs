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
}

impl Arguments {
    pub fn flags(&self) -> Flags {
        let mut flags = Flags::default();
        for (name, value) in [("keep-versions", &self.keep_versions), ("keep-for", &self.keep_for)] {
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
    for name in ["segment_bytes_before", "segment_bytes_after", "table_bytes_before", "table_bytes_after"] {
        rows.push((name.replace("_bytes_", "s "), bytes(&done, name)));
    }
    for name in ["segments_rewritten", "versions_dropped", "records_dropped", "records_moved"] {
        rows.push((name.replace('_', " "), cell(&done, name)));
    }
    names_and_values(&mut sink, &rows)?;
    sink.flush()
}
