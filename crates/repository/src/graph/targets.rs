//! Looks up the number of a link target by its fingerprint.
//!
//! Fingerprints are evenly distributed. So a table with one slot per URL gives the position in the sorted list, and a look-up
//! takes two memory reads. It costs 16 bytes for each URL during a gathering pass.

use vernal_model::{Fingerprint, PageKey};

use super::Numbering;
use crate::Result;
use crate::sieve::{BARRED, FORGOTTEN, KnownSet};

pub(super) struct Targets {
    /// Sorted.
    fingerprints: Vec<u64>,
    nodes: Vec<u32>,
    /// The start of the fingerprints of each slot, and the end of the last.
    slots: Vec<u32>,
    /// How far a fingerprint is shifted to be the number of its slot.
    shift: u32,
}

impl Targets {
    pub fn of(known: &KnownSet, numbering: &Numbering) -> Result<Targets> {
        let mut pairs: Vec<(u64, u32)> = Vec::with_capacity(numbering.len() as usize);
        known.each(&mut |record| {
            if record.number != BARRED && record.number != FORGOTTEN {
                let node = numbering.node_of(PageKey::new(record.key.0, record.number));
                pairs.extend(node.map(|node| (record.key.1.0, node)));
            }
            Ok(())
        })?;
        pairs.sort_unstable();
        Ok(Targets::sorted(&pairs))
    }

    fn sorted(pairs: &[(u64, u32)]) -> Targets {
        let bits = usize::BITS - pairs.len().leading_zeros();
        let shift = u64::BITS - bits.clamp(1, 31);
        let mut slots = vec![0; (1 << (u64::BITS - shift)) + 1];
        for (fingerprint, _) in pairs {
            slots[(fingerprint >> shift) as usize + 1] += 1;
        }
        let mut sum = 0;
        for slot in &mut slots {
            sum += *slot;
            *slot = sum;
        }
        Targets {
            fingerprints: pairs.iter().map(|pair| pair.0).collect(),
            nodes: pairs.iter().map(|pair| pair.1).collect(),
            slots,
            shift,
        }
    }

    pub fn node_of(&self, target: Fingerprint) -> Option<u32> {
        let slot = (target.0 >> self.shift) as usize;
        let (from, to) = (self.slots[slot] as usize, self.slots[slot + 1] as usize);
        let place = self.fingerprints[from..to].iter().position(|known| *known == target.0)?;
        Some(self.nodes[from + place])
    }
}

#[cfg(test)]
mod tests {
    use vernal_model::Chance;

    use super::*;

    #[test]
    fn every_known_fingerprint_is_found_and_no_other() {
        for count in [0, 1, 2, 3, 1_000] {
            let mut chance = Chance::new(count);
            let mut pairs: Vec<(u64, u32)> = (0..count as u32).map(|node| (chance.bits(), node)).collect();
            pairs.sort_unstable();
            let targets = Targets::sorted(&pairs);
            for &(fingerprint, node) in &pairs {
                assert_eq!(targets.node_of(Fingerprint(fingerprint)), Some(node));
                assert_eq!(targets.node_of(Fingerprint(fingerprint.wrapping_add(1))), None);
            }
            assert_eq!(targets.node_of(Fingerprint(u64::MAX)), None);
            assert_eq!(targets.node_of(Fingerprint(0)), None);
        }
    }
}
