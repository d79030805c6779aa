//! What can go wrong while copies are made.

pub type Result<T> = std::result::Result<T, Error>;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Repository(#[from] vernal_repository::Error),
    /// What was asked for cannot be given.
    #[error("{0}")]
    Asked(String),
    #[error("write the export: {0}")]
    Write(#[from] std::io::Error),
    #[error("write the export as Parquet: {0}")]
    Parquet(#[from] parquet::errors::ParquetError),
    #[error("write a row of the export: {0}")]
    Json(#[from] serde_json::Error),
    #[error("write the export as WACZ: {0}")]
    Zip(#[from] zip::result::ZipError),
}

impl Error {
    /// Whether whoever reads the export has gone away.
    pub fn is_reader_gone(&self) -> bool {
        let is_pipe = |error: &std::io::Error| error.kind() == std::io::ErrorKind::BrokenPipe;
        match self {
            Error::Write(error) => is_pipe(error),
            Error::Json(error) => error.io_error_kind() == Some(std::io::ErrorKind::BrokenPipe),
            Error::Zip(zip::result::ZipError::Io(error)) => is_pipe(error),
            Error::Repository(vernal_repository::Error::Io { source, .. }) => is_pipe(source),
            Error::Parquet(parquet::errors::ParquetError::External(error)) => {
                error.downcast_ref::<std::io::Error>().is_some_and(is_pipe)
            }
            _ => false,
        }
    }
}
