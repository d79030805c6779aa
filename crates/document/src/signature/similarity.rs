//! Estimates the similarity of two pages from the digests of their paragraphs. Marks made of words would cost more than the whole
//! scan.

/// The number of digests has at most so many binary digits.
const COUNT_BITS: usize = 32;

/// The simhash (Charikar): each bit has the value of the majority of the digests.
pub fn simhash(digests: impl Iterator<Item = u64>) -> u64 {
    // Sixty-four bit-sliced counters: each plane holds one binary digit of all, and a digest is added to all at once.
    let mut planes = [0u64; COUNT_BITS];
    let mut all = 0u32;
    for digest in digests {
        all += 1;
        let mut carry = digest;
        for plane in &mut planes {
            if carry == 0 {
                break;
            }
            (*plane, carry) = (*plane ^ carry, *plane & carry);
        }
    }
    above(&planes, all / 2)
}

/// The bits with a larger count than this.
fn above(planes: &[u64; COUNT_BITS], half: u32) -> u64 {
    let (mut larger, mut equal) = (0, u64::MAX);
    for (digit, plane) in planes.iter().enumerate().rev() {
        if half >> digit & 1 == 1 {
            equal &= plane;
        } else {
            larger |= equal & plane;
            equal &= !plane;
        }
    }
    larger
}

/// Odd factors. Each defines another order of the digests.
const ORDERS: [u64; 16] = {
    let mut orders = [0; 16];
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    let mut place = 0;
    while place < 16 {
        state = state.wrapping_mul(0xd134_2543_de82_ef95).wrapping_add(0x2545_f491_4f6c_dd1d);
        orders[place] = state | 1;
        place += 1;
    }
    orders
};

/// Sixteen bits of the least digest in each of sixteen orders (Broder; Li and König for the bits).
pub fn sketch(digests: impl Iterator<Item = u64>) -> [u16; 16] {
    let mut least = [u64::MAX; 16];
    for digest in digests {
        for (least, order) in least.iter_mut().zip(ORDERS) {
            *least = (*least).min((digest ^ order).wrapping_mul(order));
        }
    }
    least.map(|least| (least >> 16) as u16)
}

/// From 0 to 1: the estimated share of paragraphs in common.
#[cfg(test)]
fn resemblance(old: &[u16; 16], new: &[u16; 16]) -> f32 {
    let agreeing = old.iter().zip(new).filter(|(old, new)| old == new).count();
    agreeing as f32 / 16.0
}

#[cfg(test)]
mod tests {
    use vernal_model::Chance;

    use super::*;

    #[test]
    fn near_sets_have_near_marks() {
        let mut chance = Chance::new(5);
        let old: Vec<u64> = (0..400).map(|_| chance.bits()).collect();
        let mut new = old.clone();
        for digest in new.iter_mut().take(40) {
            *digest = chance.bits();
        }
        let other: Vec<u64> = (0..400).map(|_| chance.bits()).collect();
        let mark = |digests: &[u64]| (simhash(digests.iter().copied()), sketch(digests.iter().copied()));
        let (old, new, other) = (mark(&old), mark(&new), mark(&other));
        assert!((old.0 ^ new.0).count_ones() < (old.0 ^ other.0).count_ones());
        // 360 of 440 paragraphs are in both.
        assert!(resemblance(&old.1, &new.1) > 0.55);
        assert!(resemblance(&old.1, &other.1) < 0.1);
        assert_eq!(resemblance(&old.1, &old.1), 1.0);
    }

    #[test]
    fn each_bit_is_what_most_digests_have_there() {
        let mut chance = Chance::new(11);
        for count in [0, 1, 2, 3, 4, 7, 8, 100, 255, 256, 1_000] {
            let digests: Vec<u64> = (0..count).map(|_| chance.bits() & chance.bits() | chance.bits()).collect();
            let most = |bit: &u32| digests.iter().filter(|&digest| digest >> bit & 1 == 1).count() * 2 > digests.len();
            let expected = (0..64).filter(most).fold(0u64, |mark, bit| mark | 1 << bit);
            assert_eq!(simhash(digests.iter().copied()), expected, "{count}");
        }
    }

    #[test]
    fn order_and_repeats_do_not_change_the_sketch() {
        let digests = [7u64, 1 << 40, 99, 12_345_678_901_234];
        let again = [99u64, 7, 7, 12_345_678_901_234, 1 << 40];
        assert_eq!(sketch(digests.into_iter()), sketch(again.into_iter()));
    }
}
