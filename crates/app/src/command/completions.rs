//! `vernal completions SHELL`

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use super::CommandLine;
use crate::error::Result;
use crate::output::Sink;

#[derive(Args)]
pub struct Arguments {
    shell: Shell,
}

pub fn completions(arguments: &Arguments) -> Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut CommandLine::command(), "vernal", &mut script);
    let mut sink = Sink::stdout();
    sink.bytes(&script)?;
    sink.flush()
}
