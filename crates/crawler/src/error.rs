//! Our own failures. What the web does wrong is an `Outcome`.

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Repository(#[from] vernal_repository::Error),
    #[error(transparent)]
    Frontier(#[from] vernal_frontier::Error),
    #[error("there is no policy `{0}`; there are: {1}")]
    Policy(String, String),
    #[error("take a report for order {0}, which was never given")]
    StrayReport(u64),
}

pub type Result<T> = std::result::Result<T, Error>;
