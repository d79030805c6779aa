//! The errors of this room.

use std::path::PathBuf;

/// Our own failures. What a receiver answers is data of its delivery.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("{act} {}: {source}", path.display())]
    Io { act: &'static str, path: PathBuf, source: std::io::Error },
    #[error("{}: {what}", path.display())]
    Log { path: PathBuf, what: String },
    /// What somebody asked for is wrong.
    #[error("{0}")]
    Wrong(String),
    #[error("there is no {noun} `{name}`")]
    Unknown { noun: &'static str, name: String },
    /// The text index has not come as far as the event; it will in a moment.
    #[error("the text index is behind the feed")]
    Behind,
    /// The feed could not be read.
    #[error("read the feed: {0}")]
    Feed(String),
    #[error(transparent)]
    Repository(#[from] vernal_repository::Error),
}

pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    pub(crate) fn wrong(what: impl Into<String>) -> Error {
        Error::Wrong(what.into())
    }
}
