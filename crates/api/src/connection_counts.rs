//! What happened to the connections of the listener on the network, for the metrics.

use std::sync::atomic::AtomicU64;

/// What happened to connections since the start, for the metrics.
#[derive(Debug, Default)]
pub struct ConnectionCounts {
    pub open: AtomicU64,
    pub opened: AtomicU64,
    /// Closed to make room for others.
    pub gave_way: AtomicU64,
    /// Cut off because nobody read the answer.
    pub slow_readers: AtomicU64,
    /// Connections that could not be taken, mostly for want of descriptors.
    pub not_accepted: AtomicU64,
}
