//! `vernal diff URL`

use clap::Args;

use super::Context;
use super::printed_list::{Question, copy};
use crate::error::{Error, Result};
use crate::output::Sink;
use crate::runtime::folder::Folder;

#[derive(Args)]
pub struct Arguments {
    url: String,
    /// The older version: a number, a time, latest or previous [default: the one before --to]
    #[arg(long, value_name = "V")]
    from: Option<String>,
    /// The newer version: a number, a time, latest or previous [default: latest]
    #[arg(long, value_name = "V")]
    to: Option<String>,
    /// The source, line by line
    #[arg(long, conflicts_with = "html")]
    source: bool,
    /// Print a page of HTML with marks, safe to open in a browser
    #[arg(long)]
    html: bool,
    /// Everything, not only what changed
    #[arg(long)]
    full: bool,
    /// Also what was set aside as noise
    #[arg(long)]
    with_noise: bool,
    /// Also what the methods of paper 003 say: levels of the tree, fingerprints, root mean squares, checksums
    #[arg(long, conflicts_with_all = ["html", "source"])]
    papers: bool,
    /// The rules on noise: those of the newer version's time (then), or those of today (now)
    #[arg(long, value_name = "WHEN", default_value = "then", value_parser = ["then", "now"])]
    rules: String,
}

pub async fn diff(context: &Context, arguments: &Arguments) -> Result<()> {
    if context.json && (arguments.html || arguments.source) {
        return Err(Error::usage("give one of --json, --html and --source"));
    }
    let view = match (context.json, arguments.source, arguments.html) {
        (true, ..) => "json",
        (_, true, _) => "source",
        (_, _, true) => "html",
        _ => "text",
    };
    let question = Question::at("/api/v1/diff")
        .with("url", Some(&arguments.url))
        .with("from", arguments.from.as_ref())
        .with("to", arguments.to.as_ref())
        .with("view", Some(view))
        .when("full", arguments.full)
        .when("with_noise", arguments.with_noise)
        .when("papers", arguments.papers)
        .with("rules", Some(&arguments.rules))
        .when("colour", matches!(view, "text" | "source") && Sink::takes_colours());
    let folder = Folder::open(context, false).await?;
    let answer = folder.get(question.text()).await?;
    copy(answer, &mut Sink::stdout()).await?;
    folder.close()
}
