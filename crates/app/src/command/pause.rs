//! `vernal pause [SITE]`

use clap::Args;

use super::Context;
use super::block::act;
use crate::error::Result;

#[derive(Args)]
pub struct Arguments {
    /// A host; without one the whole crawl is meant
    site: Option<String>,
}

pub async fn pause(context: &Context, arguments: &Arguments) -> Result<()> {
    act(context, "pause", |what| format!("paused {what}"), arguments.site.as_deref()).await
}
