//! A Bloom filter for each run. It recognises most keys that are not in the run without a read. It is in memory only, takes 13
//! bits per record, and is rebuilt whenever a run is opened or written.

use super::run::Key;

/// 13 bits per record. With four bits set for each key, about one unknown key in a hundred passes.
const RECORDS_PER_WORD: u64 = 5;

pub(super) struct Filter {
    words: Box<[u64]>,
}

impl Filter {
    /// A filter for so many records.
    pub fn for_records(count: u64) -> Filter {
        let words = (count / RECORDS_PER_WORD + 1) as usize;
        Filter { words: vec![0; words].into_boxed_slice() }
    }

    pub fn put(&mut self, key: Key) {
        let (word, bits) = self.place(key);
        self.words[word] |= bits;
    }

    /// Whether the key may be in the run. `false` is certain.
    pub fn may_hold(&self, key: Key) -> bool {
        let (word, bits) = self.place(key);
        self.words[word] & bits == bits
    }

    /// Four bits in one word, so that a look-up touches one cache line. The index of the word follows the order of the keys, so
    /// sorted keys access memory in order, partition by partition. The bits come from a multiplication, so they do not depend
    /// on that index.
    fn place(&self, (partition, fingerprint): Key) -> (usize, u64) {
        let word = ((u128::from(fingerprint.0) * self.words.len() as u128) >> 64) as usize;
        let mixed = (fingerprint.0 ^ (u64::from(partition.0) << 56)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let again = mixed.rotate_left(32).wrapping_mul(0xD6E8_FEB8_6659_FD93);
        let bits = [40, 46, 52, 58].iter().fold(0, |bits, shift| bits | 1u64 << (again >> shift & 63));
        (word, bits)
    }
}

#[cfg(test)]
mod tests {
    use vernal_model::{Chance, Fingerprint, Partition};

    use super::*;

    #[test]
    fn what_was_put_in_is_never_denied_and_most_else_is() {
        let mut chance = Chance::new(1);
        let mut key = || (Partition((chance.bits() % 64) as u8), Fingerprint(chance.bits()));
        let (held, others): (Vec<Key>, Vec<Key>) = (0..10_000).map(|_| (key(), key())).unzip();
        let mut filter = Filter::for_records(held.len() as u64);
        held.iter().for_each(|key| filter.put(*key));
        assert!(held.iter().all(|key| filter.may_hold(*key)));
        let wrongly = others.iter().filter(|key| filter.may_hold(**key)).count();
        assert!(wrongly < others.len() / 50, "{wrongly}");
        assert!(!Filter::for_records(0).may_hold(held[0]));
    }
}
