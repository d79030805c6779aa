//! Where output goes: standard output, or a file that a person named with `--out`.

use std::fs::File;
use std::io::{self, BufWriter, IsTerminal, Write};

use super::escaped;
use crate::error::{Error, Result};

/// Every write says whether it worked: a closed pipe ends the command quietly, anything else is a failure.
pub struct Sink {
    name: String,
    out: Box<dyn Write + Send>,
}

impl Sink {
    pub fn stdout() -> Sink {
        Sink { name: "standard output".into(), out: Box::new(BufWriter::new(io::stdout())) }
    }

    /// Whether standard output is a terminal that may be given colours.
    pub fn takes_colours() -> bool {
        io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
    }

    /// The columns of the terminal that standard output is; `None` where it is none.
    pub fn columns() -> Option<usize> {
        if !io::stdout().is_terminal() {
            return None;
        }
        let asked = rustix::termios::tcgetwinsize(io::stdout()).map(|size| usize::from(size.ws_col));
        let told = || std::env::var("COLUMNS").ok()?.parse().ok();
        asked.ok().filter(|&columns| columns > 0).or_else(told).filter(|&columns| columns > 0)
    }

    /// `-` is standard output.
    pub fn named(path: &str) -> Result<Sink> {
        if path == "-" {
            return Ok(Sink::stdout());
        }
        let file = File::create(path).map_err(|error| Error::Failed(format!("create {path}: {error}")))?;
        Ok(Sink { name: path.to_owned(), out: Box::new(BufWriter::new(file)) })
    }

    /// A line that may hold what sites wrote.
    pub fn line(&mut self, line: &str) -> Result<()> {
        self.bytes(escaped(line).as_bytes())?;
        self.bytes(b"\n")
    }

    pub fn bytes(&mut self, bytes: &[u8]) -> Result<()> {
        self.out.write_all(bytes).map_err(|error| Error::writing(&self.name, &error))
    }

    pub fn flush(&mut self) -> Result<()> {
        self.out.flush().map_err(|error| Error::writing(&self.name, &error))
    }
}
