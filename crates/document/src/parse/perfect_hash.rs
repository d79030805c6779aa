//! A perfect hash table of known names that are packed into one number: a look-up takes one step and no unpredictable branches.

/// `COUNT` is a power of two.
pub struct PerfectHash<T: 'static, const COUNT: usize> {
    factor: u64,
    names: [u64; COUNT],
    values: [T; COUNT],
    default: T,
}

impl<T: Copy, const COUNT: usize> PerfectHash<T, COUNT> {
    /// Searches a factor without collisions, at compile time. Names that are not packed (0) are left out.
    pub const fn of(known: &[(u64, T)], default: T) -> Self {
        let mut factor = 0x9e37_79b9_7f4a_7c15u64;
        loop {
            let (mut names, mut values) = ([0; COUNT], [default; COUNT]);
            let mut place = 0;
            while place < known.len() {
                let (name, value) = known[place];
                let slot = Self::slot(name, factor);
                if name != 0 {
                    if names[slot] != 0 {
                        break;
                    }
                    names[slot] = name;
                    values[slot] = value;
                }
                place += 1;
            }
            if place == known.len() {
                return PerfectHash { factor, names, values, default };
            }
            factor = factor.wrapping_mul(0xd134_2543_de82_ef95).wrapping_add(2);
        }
    }

    #[inline(always)]
    pub fn find(&self, name: u64) -> T {
        let slot = Self::slot(name, self.factor);
        if self.names[slot] == name && name != 0 { self.values[slot] } else { self.default }
    }

    #[inline(always)]
    const fn slot(name: u64, factor: u64) -> usize {
        (name.wrapping_mul(factor) >> (64 - COUNT.trailing_zeros())) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_name_is_met_and_no_other() {
        static TABLE: PerfectHash<u8, 64> = PerfectHash::of(&[(7, 1), (0, 9), (1 << 40, 2), (u64::MAX, 3), (8, 4)], 0);
        for (name, value) in [(7, 1), (1 << 40, 2), (u64::MAX, 3), (8, 4), (0, 0), (9, 0), (1 << 41, 0)] {
            assert_eq!(TABLE.find(name), value, "{name}");
        }
    }
}
