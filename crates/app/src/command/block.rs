//! `vernal block SITE`

use axum::http::Method;
use clap::Args;

use super::Context;
use super::printed_list::{Question, copy};
use crate::error::Result;
use crate::output::Sink;
use crate::runtime::folder::Folder;

#[derive(Args)]
#[command(after_help = "The whole site is blocked, also where a single page is named. To leave out single pages give \
                        `--exclude` to `vernal run`.")]
pub struct Arguments {
    /// A host, with its port where that is not the scheme's own, or any URL of the site
    site: String,
}

pub async fn block(context: &Context, arguments: &Arguments) -> Result<()> {
    let say = |site: &str| {
        format!("blocked the whole site {site}: none of its pages is asked for until `vernal resume {site}`")
    };
    act(context, "block", say, Some(&arguments.site)).await
}

/// Pause, resume and block are one request with three names.
pub async fn act(context: &Context, verb: &str, say: impl FnOnce(&str) -> String, site: Option<&str>) -> Result<()> {
    let question = Question::at(&format!("/api/v1/{verb}")).with("site", site);
    let folder = Folder::open(context, false).await?;
    let answer = folder.ask(Method::POST, question.text(), String::new()).await?;
    if context.json {
        copy(answer, &mut Sink::stdout()).await?;
    } else {
        let done = answer.json().await?;
        tracing::info!("{}", say(done["site"].as_str().unwrap_or("the whole crawl")));
    }
    folder.close()
}
