//! The one binary: reads the command line, lets one verb do its work, and ends with one clear line and a code.

mod api;
mod command;
mod config;
mod error;
mod log;
mod output;
mod runtime;
mod seeds;

use std::process::ExitCode;

use clap::Parser;

use command::{CommandLine, Context};
use error::Result;

/// What one thread reads another judges and gives up, in hundreds of small pieces per page, which this allocator does in less
/// time than the system's (decision 16).
#[cfg(feature = "own-allocator")]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn main() -> ExitCode {
    let command_line = match CommandLine::try_parse() {
        Ok(command_line) => command_line,
        Err(error) => return refuse(&error),
    };
    match carry_out(command_line) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            if let Some(line) = error.line() {
                eprintln!("vernal: {line}");
            }
            ExitCode::from(error.exit_code())
        }
    }
}

fn carry_out(command_line: CommandLine) -> Result<()> {
    let context = Context::new(&command_line.global, &command_line.verb)?;
    command_line.verb.carry_out(&context)
}

/// Help and version are answers; everything else is wrong usage, told with the nearest name.
fn refuse(error: &clap::Error) -> ExitCode {
    // A closed pipe ends quietly, here too.
    let _ = error.print();
    if error.use_stderr() { ExitCode::from(2) } else { ExitCode::SUCCESS }
}
