//! Seeded randomness, split into named streams. The generator is implemented here because a library may change its algorithm, and
//! a recorded chance number must give the same results on every machine and after years.

/// A stream of chance (xorshift-multiply of a Weyl sequence: SplitMix64, Steele, Lea and Flood 2014).
#[derive(Clone, Debug)]
pub struct Chance {
    state: u64,
}

impl Chance {
    pub fn new(number: u64) -> Self {
        Chance { state: number }
    }

    /// An independent stream for one purpose. The parent does not advance, so streams do not depend on their order.
    pub fn stream(&self, name: &str) -> Chance {
        Chance { state: xxhash_rust::xxh3::xxh3_64_with_seed(name.as_bytes(), self.state) }
    }

    /// An independent stream for one number.
    pub fn numbered(&self, number: u64) -> Chance {
        Chance { state: xxhash_rust::xxh3::xxh3_64_with_seed(&number.to_le_bytes(), self.state) }
    }

    pub fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A whole number in `0..end`, or 0 when `end` is 0.
    pub fn below(&mut self, end: u64) -> u64 {
        ((u128::from(self.bits()) * u128::from(end)) >> 64) as u64
    }

    /// A number in `0.0..1.0`.
    pub fn share(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    pub fn happens(&mut self, probability: f64) -> bool {
        self.share() < probability
    }

    /// The wait until the next event of a Poisson process with this rate.
    pub fn wait(&mut self, rate: f64) -> f64 {
        -(1.0 - self.share()).ln() / rate
    }

    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> Option<&'a T> {
        items.get(self.below(items.len() as u64) as usize)
    }

    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for end in (1..items.len()).rev() {
            items.swap(end, self.below(end as u64 + 1) as usize);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stream_equals_the_published_vector() {
        // The first outputs of SplitMix64 from 1234567, as published with the reference code.
        let mut chance = Chance::new(1_234_567);
        let drawn: Vec<u64> = (0..3).map(|_| chance.bits()).collect();
        assert_eq!(drawn, [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]);
    }

    #[test]
    fn named_streams_do_not_depend_on_the_order_of_asking() {
        let root = Chance::new(7);
        let first = root.stream("links").bits();
        let _ = root.stream("drift").bits();
        assert_eq!(root.stream("links").bits(), first);
        assert_ne!(root.stream("drift").bits(), first);
    }

    #[test]
    fn a_shuffle_loses_nothing() {
        let mut items: Vec<u32> = (0..100).collect();
        Chance::new(1).shuffle(&mut items);
        assert_ne!(items, (0..100).collect::<Vec<_>>());
        items.sort_unstable();
        assert_eq!(items, (0..100).collect::<Vec<_>>());
    }
}
