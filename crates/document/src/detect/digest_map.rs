//! Maps and sets whose keys are digests already: a second, slow digest of a digest would buy nothing.
//!
//! A page can be made whose digests collide here. There are at most `PARAGRAPHS_MAX` paragraphs, so that costs it a few
//! milliseconds and nobody else anything.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};

/// Same answers on every machine and in every run; iterate over it only where order does not matter.
pub type DigestMap<V> = HashMap<u64, V, BuildHasherDefault<DigestHasher>>;
pub type DigestSet = HashSet<u64, BuildHasherDefault<DigestHasher>>;

#[derive(Copy, Clone, Debug, Default)]
pub struct DigestHasher(u64);

impl Hasher for DigestHasher {
    fn write(&mut self, bytes: &[u8]) {
        self.write_u64(xxhash_rust::xxh3::xxh3_64(bytes));
    }

    fn write_u64(&mut self, digest: u64) {
        // Numbers that are counted instead of drawn, as tests have them, are spread over all bits too.
        let product = u128::from(self.0 ^ digest) * u128::from(0x9e37_79b9_7f4a_7c15u64);
        self.0 = product as u64 ^ (product >> 64) as u64;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
