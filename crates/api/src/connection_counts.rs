//! What happened to the connections of the listener on the network and to their requests, for the metrics.

use std::sync::atomic::AtomicU64;

/// What happened since the start.
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
    /// Requests without a token that opens anything.
    pub unauthorized: AtomicU64,
    /// Requests whose role was too small, or that came from a page that may not ask.
    pub forbidden: AtomicU64,
    /// Requests beyond the rate of their token or address.
    pub too_many: AtomicU64,
    /// Expensive requests that found no place.
    pub without_place: AtomicU64,
}
