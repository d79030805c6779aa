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
    /// What the settings say is changed there.
    #[error("the {noun} `{name}` is one of {from}: change it there, and start the run anew")]
    OfSettings { noun: &'static str, name: String, from: String },
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

    /// Refuses what is for the settings alone to change.
    pub(crate) fn unless_own(noun: &'static str, name: &str, from: Option<&String>) -> Result<()> {
        match from {
            Some(from) => Err(Error::OfSettings { noun, name: name.to_owned(), from: from.clone() }),
            None => Ok(()),
        }
    }
}
