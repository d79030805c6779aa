//! Maps and sets with digests as keys, which need no second hash.
//!
//! A page may be constructed so that its digests collide here. With at most `PARAGRAPHS_MAX` paragraphs this costs a few
//! milliseconds for that page alone.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};

/// Behaves the same on every machine and in every run. Iterate over it only where the order does not matter.
pub type DigestMap<V> = HashMap<u64, V, BuildHasherDefault<DigestHasher>>;
pub type DigestSet = HashSet<u64, BuildHasherDefault<DigestHasher>>;

#[derive(Copy, Clone, Debug, Default)]
pub struct DigestHasher(u64);

impl Hasher for DigestHasher {
    fn write(&mut self, bytes: &[u8]) {
        self.write_u64(xxhash_rust::xxh3::xxh3_64(bytes));
    }

    fn write_u64(&mut self, digest: u64) {
        // Tests use consecutive numbers, so the bits are mixed.
        let product = u128::from(self.0 ^ digest) * u128::from(0x9e37_79b9_7f4a_7c15u64);
        self.0 = product as u64 ^ (product >> 64) as u64;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
