//! What can go wrong while the index is made or asked.

use std::path::PathBuf;

use crate::query::fault::QueryFault;

pub type Result<T> = std::result::Result<T, Error>;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Query(#[from] QueryFault),
    #[error("{act}: {source}")]
    Index { act: &'static str, source: Box<tantivy::TantivyError> },
    #[error("{act} {path}: {source}")]
    Io { act: &'static str, path: PathBuf, source: std::io::Error },
    #[error(transparent)]
    Repository(#[from] vernal_repository::Error),
    /// What was asked for beside the query is wrong.
    #[error("{0}")]
    Asked(String),
    /// The page of `like` has no text to compare others with.
    #[error("{0} has no text that others could be compared with")]
    NoText(String),
    #[error("the index has been closed")]
    Closed,
    #[error("the search index was damaged and is made anew; ask again in a moment")]
    Anew,
}

impl Error {
    pub(crate) fn index(act: &'static str) -> impl FnOnce(tantivy::TantivyError) -> Error {
        move |source| Error::Index { act, source: Box::new(source) }
    }

    pub(crate) fn io(act: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Error {
        let path = path.into();
        move |source| Error::Io { act, path, source }
    }

    /// Whether its files could not be opened or written.
    pub fn is_of_files(&self) -> bool {
        matches!(self, Error::Index { .. } | Error::Io { .. })
    }

    /// Whether the index itself failed, so that making it anew may help.
    pub fn is_of_index(&self) -> bool {
        matches!(self, Error::Index { .. })
    }
}
