//! Our own failures. What the web does wrong is an `Outcome`.

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Repository(#[from] vernal_repository::Error),
    #[error(transparent)]
    Frontier(#[from] vernal_frontier::Error),
    #[error("{0}")]
    Policy(vernal_policy::parameters::SpecError),
    #[error(
        "import: the disk is nearly full (disk-free-min); what came before is imported, and the same command goes on from there"
    )]
    DiskNearlyFull,
    #[error("take a report for order {0}, which was never given")]
    StrayReport(u64),
}

pub type Result<T> = std::result::Result<T, Error>;
