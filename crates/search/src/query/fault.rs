//! What is wrong in a query, and where.

/// Columns count characters from 1.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("column {column}: {what}")]
pub struct QueryFault {
    pub column: usize,
    pub what: String,
}

impl QueryFault {
    pub fn new(column: usize, what: impl Into<String>) -> QueryFault {
        QueryFault { column, what: what.into() }
    }
}
