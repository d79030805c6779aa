//! `vernal lab compare|replay|crawl|bound|papers|policies`: what a policy is worth, shown on invented and on recorded webs.
//!
//! - `worlds`: the worlds that a command line names. `trials`: how they are played and shown.

mod bound;
mod compare;
mod crawl;
mod papers;
mod policies;
mod replay;
mod trials;
mod worlds;

use clap::{Args, Subcommand};

use super::Context;
use crate::error::Result;

#[derive(Args)]
pub struct Arguments {
    #[command(subcommand)]
    act: Act,
}

#[derive(Subcommand)]
enum Act {
    /// Policies side by side on invented webs
    Compare(compare::Arguments),
    /// Policies side by side on a recorded web, or on one's own crawl
    Replay(replay::Arguments),
    /// The whole crawler on invented webs, with faults
    Crawl(crawl::Arguments),
    /// What no policy can exceed on a web
    Bound(bound::Arguments),
    /// The founding papers' tables and figures enacted again, with a verdict on each claim
    Papers(papers::Arguments),
    /// Every policy with its parameters: range, default, and what the paper sets
    Policies(policies::Arguments),
}

pub fn lab(context: &Context, arguments: &Arguments) -> Result<()> {
    match &arguments.act {
        Act::Compare(arguments) => compare::compare(context, arguments),
        Act::Replay(arguments) => replay::replay(context, arguments),
        Act::Crawl(arguments) => crawl::crawl(context, arguments),
        Act::Bound(arguments) => bound::bound(context, arguments),
        Act::Papers(arguments) => papers::papers(context, arguments),
        Act::Policies(arguments) => policies::policies(context, arguments),
    }
}
