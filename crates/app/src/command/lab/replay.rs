//! `vernal lab replay`

use std::sync::Arc;

use clap::Args;
use vernal_simulator::lab::Source;

use super::trials::{self, Trials};
use super::worlds::{Length, Recorded};
use crate::command::Context;
use crate::error::Result;

#[derive(Args)]
#[command(
    after_help = "Without --trace, the crawl in --data is replayed. With --json, standard output gets one JSON line for \
                        each budget, policy and chance number. A folder for --trace is that of Microsoft's recrawl release: \
                        url_urlid_hostid.txt, host_hostid_isconstrained.txt, urlid_imp.txt, urlid_offset_history.txt and, \
                        where rates are known, urlid_chrate_compl_obs_hist.txt."
)]
pub struct Arguments {
    #[command(flatten)]
    trials: Trials,
    #[command(flatten)]
    recorded: Recorded,
    #[command(flatten)]
    length: Length,
}

pub fn replay(context: &Context, arguments: &Arguments) -> Result<()> {
    let (world, notes) = arguments.recorded.world(context, &arguments.length)?;
    let sources = vec![Source::Recorded(Arc::new(world))];
    trials::play(context, &arguments.trials, sources, "Policies on a recorded web", notes)
}
