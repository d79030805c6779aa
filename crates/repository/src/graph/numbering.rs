//! Numbers every URL of the repository densely: partition after partition, in the order of the keys.

use vernal_model::{PageKey, Partition};

/// The number of URLs of each partition at the time of the numbering.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Numbering {
    /// The first number of each partition, and the total at the end.
    firsts: Vec<u32>,
}

impl Numbering {
    /// Numbers the URLs of the partitions with these counts. `None` when there are more URLs than numbers.
    pub fn new(counts: impl Iterator<Item = u32>) -> Option<Self> {
        let mut firsts = vec![0];
        let mut all: u32 = 0;
        for count in counts.take(usize::from(Partition::COUNT)) {
            all = all.checked_add(count)?;
            firsts.push(all);
        }
        firsts.resize(usize::from(Partition::COUNT) + 1, all);
        Some(Numbering { firsts })
    }

    pub fn len(&self) -> u32 {
        self.firsts.last().copied().unwrap_or(0)
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many URLs one partition has.
    pub fn count(&self, partition: Partition) -> u32 {
        let at = usize::from(partition.0);
        self.firsts.get(at + 1).zip(self.firsts.get(at)).map_or(0, |(end, first)| end - first)
    }

    /// The number of a URL; `None` for one that was admitted later.
    pub fn node_of(&self, key: PageKey) -> Option<u32> {
        let first = self.firsts.get(usize::from(key.partition.0))?;
        (key.number < self.count(key.partition)).then(|| first + key.number)
    }

    /// The URL of a number below `len`.
    pub fn key_of(&self, node: u32) -> PageKey {
        let partition = self.firsts.partition_point(|&first| first <= node).saturating_sub(1);
        PageKey::new(Partition(partition as u8), node - self.firsts[partition])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_keys_are_each_others_way_back() {
        let counts = [0, 3, 0, 0, 5, 1];
        let numbering = Numbering::new(counts.into_iter()).unwrap();
        assert_eq!(numbering.len(), 9);
        for node in 0..9 {
            assert_eq!(numbering.node_of(numbering.key_of(node)), Some(node));
        }
        assert_eq!(numbering.key_of(3), PageKey::new(Partition(4), 0));
        assert_eq!(numbering.node_of(PageKey::new(Partition(4), 5)), None);
        assert_eq!(Numbering::new([u32::MAX, 1].into_iter()), None);
    }
}
