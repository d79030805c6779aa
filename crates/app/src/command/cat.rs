//! `vernal cat URL`

use clap::Args;

use super::Context;
use super::printed_list::{Question, copy};
use crate::error::Result;
use crate::output::Sink;
use crate::runtime::folder::Folder;

#[derive(Args)]
pub struct Arguments {
    url: String,
    /// The version that was current then: RFC 3339, a date, an age such as 7d, or 14 digits
    #[arg(long, value_name = "TIME", conflicts_with = "version")]
    at: Option<String>,
    /// The version with this number
    #[arg(long, value_name = "N")]
    version: Option<u32>,
    /// The body as received, still content-encoded
    #[arg(long)]
    raw: bool,
    /// A file to write to; - is standard output
    #[arg(long, value_name = "PATH", default_value = "-")]
    out: String,
}

pub async fn cat(context: &Context, arguments: &Arguments) -> Result<()> {
    let question = Question::at("/api/v1/body")
        .with("url", Some(&arguments.url))
        .with("at", arguments.at.as_ref())
        .with("version", arguments.version)
        .when("raw", arguments.raw);
    let folder = Folder::open(context, false).await?;
    let answer = folder.get(question.text()).await?;
    copy(answer, &mut Sink::named(&arguments.out)?).await?;
    folder.close()
}
