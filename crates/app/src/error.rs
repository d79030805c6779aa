//! How a command fails: one clear line and an exit code.

use std::fmt;
use std::io;

/// Texts are enough here, at the top: the errors of every room below name their act and thing, and this one shows them.
#[derive(Debug)]
pub enum Error {
    /// The command line or the settings were wrong: exit 2.
    Usage(String),
    /// The command failed: exit 1.
    Failed(String),
    /// Nothing failed: two things differ, and the exit code is asked to say so.
    Differs,
    /// The reader of our output went away: nothing failed, and nothing is printed.
    PipeClosed,
}

pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    pub fn usage(line: impl fmt::Display) -> Error {
        Error::Usage(line.to_string())
    }

    pub fn failed(line: impl fmt::Display) -> Error {
        Error::Failed(line.to_string())
    }

    pub fn exit_code(&self) -> u8 {
        match self {
            Error::Usage(_) => 2,
            Error::Failed(_) => 1,
            Error::Differs => 3,
            Error::PipeClosed => 0,
        }
    }

    /// The line for standard error; `None` where there is nothing to say.
    pub fn line(&self) -> Option<&str> {
        match self {
            Error::Usage(line) | Error::Failed(line) => Some(line),
            Error::Differs | Error::PipeClosed => None,
        }
    }

    /// A write to standard output or to a file that a person named.
    pub fn writing(thing: &str, error: &io::Error) -> Error {
        if error.kind() == io::ErrorKind::BrokenPipe {
            return Error::PipeClosed;
        }
        Error::Failed(format!("write {thing}: {error}"))
    }
}

/// For failures of other rooms, whose texts name the act and the thing already.
pub trait OrFail<T> {
    fn or_fail(self) -> Result<T>;
    fn or_usage(self) -> Result<T>;
}

impl<T, E: fmt::Display> OrFail<T> for std::result::Result<T, E> {
    fn or_fail(self) -> Result<T> {
        self.map_err(Error::failed)
    }

    fn or_usage(self) -> Result<T> {
        self.map_err(Error::usage)
    }
}
