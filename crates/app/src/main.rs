//! The one binary: reads the command line, runs one command, and ends with one clear line and an exit code.

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

/// Parsed pages are hundreds of small allocations, made on one thread and freed on another, which this allocator does
/// faster than the system's (decision 16).
#[cfg(feature = "own-allocator")]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn main() -> ExitCode {
    // A child that reads files for its parent has no command line, no settings and no log.
    if std::env::args_os().nth(1).is_some_and(|verb| verb == runtime::files::CHILD_VERB) {
        return runtime::files::serve();
    }
    let command_line = match CommandLine::try_parse() {
        Ok(command_line) => command_line,
        Err(error) => return refuse(&error),
    };
    match carry_out(command_line) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            if let Some(line) = error.line() {
                eprintln!("vernal: {}", output::escaped(line));
            }
            ExitCode::from(error.exit_code())
        }
    }
}

fn carry_out(command_line: CommandLine) -> Result<()> {
    runtime::descriptors::raise();
    let context = Context::new(&command_line.global, &command_line.verb)?;
    command_line.verb.carry_out(&context)
}

/// Help and version are answers; everything else is wrong usage, told with the nearest name.
fn refuse(error: &clap::Error) -> ExitCode {
    // A closed pipe ends quietly, here too.
    let _ = error.print();
    if error.use_stderr() { ExitCode::from(2) } else { ExitCode::SUCCESS }
}
