//! An answer on its way to a file, with progress on a terminal.

use std::time::Duration;

use tokio::time::Instant;

use crate::command::Context;
use crate::error::{Error, Result};
use crate::output::bytes_shown;
use crate::runtime::folder::Answer;
use crate::runtime::live::now;

const SHOWN_EVERY: Duration = Duration::from_secs(1);
/// Elsewhere than on a terminal, a plain line.
const LOGGED_EVERY: Duration = Duration::from_secs(10);

/// How much came, and how fast.
pub struct Transfer<'a> {
    context: &'a Context,
    what: String,
    bytes: u64,
    lines: u64,
    began: Instant,
    shown: Instant,
}

impl<'a> Transfer<'a> {
    pub fn new(context: &'a Context, what: impl Into<String>) -> Transfer<'a> {
        let began = now();
        Transfer { context, what: what.into(), bytes: 0, lines: 0, began, shown: began }
    }

    /// Notes a part; `lines` are what it has of rows or files.
    pub fn note(&mut self, bytes: u64, lines: u64) {
        self.bytes += bytes;
        self.lines += lines;
        let is_live = self.context.log.progress_is_live();
        if self.shown.elapsed() < if is_live { SHOWN_EVERY } else { LOGGED_EVERY } {
            return;
        }
        self.shown = now();
        let line = self.line();
        if is_live { self.context.log.progress(&line) } else { tracing::info!("{line}") }
    }

    fn line(&self) -> String {
        let secs = self.began.elapsed().as_secs_f64().max(1e-3);
        let rows = if self.lines > 0 { format!("{} rows, ", self.lines) } else { String::new() };
        let rate = bytes_shown((self.bytes as f64 / secs) as u64);
        format!("{}: {rows}{}, {rate}/s", self.what, bytes_shown(self.bytes))
    }

    /// Gives the bytes of an answer as they come.
    pub async fn bytes(mut self, answer: Answer, mut take: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
        let what = self.what.clone();
        let taken = answer.each_part(|part| {
            take(part)?;
            self.note(part.len() as u64, 0);
            Ok(())
        });
        taken.await.map_err(|error| broken_off(&what, error))
    }

    /// Gives the lines of an answer as they come.
    pub async fn lines(mut self, answer: Answer, mut take: impl FnMut(&str) -> Result<()>) -> Result<()> {
        let what = self.what.clone();
        let taken = answer.each_line(|line| {
            take(line)?;
            self.note(line.len() as u64 + 1, 1);
            Ok(())
        });
        taken.await.map_err(|error| broken_off(&what, error))
    }
}

fn broken_off(what: &str, error: Error) -> Error {
    match error {
        Error::Failed(line) => Error::Failed(format!("{what} broke off: {line}")),
        error => error,
    }
}
