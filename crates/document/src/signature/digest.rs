//! The 64-bit digest for all comparisons.

use xxhash_rust::xxh3::xxh3_64;

/// Not inlined on purpose: the pass calls it from a dozen places, and with a copy in each its code would no longer fit into the
/// instruction cache.
#[inline(never)]
pub fn digest(bytes: &[u8]) -> u64 {
    xxh3_64(bytes)
}
