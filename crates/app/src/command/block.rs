//! `vernal block SITE`

use axum::http::Method;
use clap::Args;

use super::Context;
use super::printed_list::{Question, copy};
use crate::error::Result;
use crate::output::Sink;
use crate::runtime::folder::Folder;

#[derive(Args)]
pub struct Arguments {
    /// A host, with its port where that is not the scheme's own
    site: String,
}

pub async fn block(context: &Context, arguments: &Arguments) -> Result<()> {
    act(context, "block", "blocked", Some(&arguments.site)).await
}

/// Pause, resume and block are one request with three names.
pub async fn act(context: &Context, verb: &str, done: &str, site: Option<&str>) -> Result<()> {
    let question = Question::at(&format!("/api/v1/{verb}")).with("site", site);
    let folder = Folder::open(context, false).await?;
    let answer = folder.ask(Method::POST, question.text(), String::new()).await?;
    if context.json {
        copy(answer, &mut Sink::stdout()).await?;
    } else {
        tracing::info!("{done} {}", site.unwrap_or("the whole crawl"));
    }
    folder.close()
}
