//! The one digest of everything that is compared by 64 bits.

use xxhash_rust::xxh3::xxh3_64;

/// Kept out of line on purpose: the pass calls it from a dozen places, and with a copy in each of them its code no longer
/// fits into the processor's first cache.
#[inline(never)]
pub fn digest(bytes: &[u8]) -> u64 {
    xxh3_64(bytes)
}
