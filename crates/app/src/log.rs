//! Lines for the operator, on standard error only: text for people, or one JSON object per line for machines.

use std::fmt;
use std::io::{self, IsTerminal, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    Error,
    Warn,
    Info,
    Debug,
}

#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum LogFormat {
    #[default]
    Text,
    Json,
}

/// Cheap to clone; every clone writes to the same standard error.
#[derive(Clone, Debug)]
pub struct Log {
    format: LogFormat,
    loudest: Level,
    /// A progress line stands on the terminal and must be wiped before another line is written.
    progress_shown: Arc<AtomicBool>,
}

impl Log {
    pub fn new(format: LogFormat, quiet: bool, verbose: u8) -> Log {
        let loudest = match (quiet, verbose) {
            (true, _) => Level::Error,
            (false, 0) => Level::Info,
            (false, _) => Level::Debug,
        };
        Log { format, loudest, progress_shown: Arc::default() }
    }

    pub fn error(&self, line: impl fmt::Display) {
        self.write(Level::Error, line);
    }

    pub fn warn(&self, line: impl fmt::Display) {
        self.write(Level::Warn, line);
    }

    pub fn info(&self, line: impl fmt::Display) {
        self.write(Level::Info, line);
    }

    pub fn debug(&self, line: impl fmt::Display) {
        self.write(Level::Debug, line);
    }

    /// Whether more was asked for than usual.
    pub fn is_verbose(&self) -> bool {
        self.loudest == Level::Debug
    }

    /// Whether progress is one line that is written again and again; else it is a plain line now and then.
    pub fn progress_is_live(&self) -> bool {
        self.format == LogFormat::Text && self.loudest >= Level::Info && io::stderr().is_terminal()
    }

    /// Replaces the progress line on a terminal.
    pub fn progress(&self, line: &str) {
        if self.loudest < Level::Info {
            return;
        }
        self.progress_shown.store(true, Ordering::Relaxed);
        // Nobody reads standard error any more: there is nobody to tell that either.
        let _ = write!(io::stderr().lock(), "\r\x1b[2K{line}");
    }

    fn write(&self, level: Level, line: impl fmt::Display) {
        if level > self.loudest {
            return;
        }
        let mut out = io::stderr().lock();
        if self.progress_shown.swap(false, Ordering::Relaxed) {
            let _ = write!(out, "\r\x1b[2K");
        }
        let _ = match self.format {
            LogFormat::Text => match level {
                Level::Info | Level::Debug => writeln!(out, "vernal: {line}"),
                Level::Warn => writeln!(out, "vernal: warning: {line}"),
                Level::Error => writeln!(out, "vernal: {line}"),
            },
            LogFormat::Json => {
                let record = serde_json::json!({
                    "time": crate::runtime::clock::wall().rfc3339(),
                    "level": level.name(),
                    "message": line.to_string(),
                });
                writeln!(out, "{record}")
            }
        };
    }
}

impl Level {
    fn name(self) -> &'static str {
        match self {
            Level::Error => "error",
            Level::Warn => "warn",
            Level::Info => "info",
            Level::Debug => "debug",
        }
    }
}
