//! `vernal resume [SITE]`

use clap::Args;

use super::Context;
use super::block::act;
use crate::error::Result;

#[derive(Args)]
pub struct Arguments {
    /// A host; without one the whole crawl is meant
    site: Option<String>,
}

pub async fn resume(context: &Context, arguments: &Arguments) -> Result<()> {
    act(context, "resume", |what| format!("resumed {what}"), arguments.site.as_deref()).await
}
