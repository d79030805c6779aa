//! `vernal lab compare`

use clap::Args;

use super::trials::{self, Trials};
use super::worlds::{Invented, Length};
use crate::command::Context;
use crate::error::Result;

#[derive(Args)]
#[command(
    after_help = "With --json, standard output gets one JSON line for each world, budget, policy and chance number."
)]
pub struct Arguments {
    #[command(flatten)]
    trials: Trials,
    #[command(flatten)]
    invented: Invented,
    #[command(flatten)]
    length: Length,
}

pub fn compare(context: &Context, arguments: &Arguments) -> Result<()> {
    let sources = arguments.invented.sources(&arguments.length)?;
    trials::play(context, &arguments.trials, sources, "Policies on invented webs", Vec::new())
}
