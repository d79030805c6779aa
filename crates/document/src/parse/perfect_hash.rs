//! Known names, each in a slot of its own: a name that is packed into one number is met in one step, without a search
//! whose turns no machine can foresee.

/// `COUNT` is a power of two.
pub struct Slots<T: 'static, const COUNT: usize> {
    factor: u64,
    names: [u64; COUNT],
    things: [T; COUNT],
    other: T,
}

impl<T: Copy, const COUNT: usize> Slots<T, COUNT> {
    /// Looks for a factor under which no two names meet, while the program is built. Names that are not packed (0) are
    /// left out.
    pub const fn of(known: &[(u64, T)], other: T) -> Self {
        let mut factor = 0x9e37_79b9_7f4a_7c15u64;
        loop {
            let (mut names, mut things) = ([0; COUNT], [other; COUNT]);
            let mut place = 0;
            while place < known.len() {
                let (name, thing) = known[place];
                let slot = Self::slot(name, factor);
                if name != 0 {
                    if names[slot] != 0 {
                        break;
                    }
                    names[slot] = name;
                    things[slot] = thing;
                }
                place += 1;
            }
            if place == known.len() {
                return Slots { factor, names, things, other };
            }
            factor = factor.wrapping_mul(0xd134_2543_de82_ef95).wrapping_add(2);
        }
    }

    #[inline(always)]
    pub fn find(&self, name: u64) -> T {
        let slot = Self::slot(name, self.factor);
        if self.names[slot] == name && name != 0 { self.things[slot] } else { self.other }
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
        static SLOTS: Slots<u8, 64> = Slots::of(&[(7, 1), (0, 9), (1 << 40, 2), (u64::MAX, 3), (8, 4)], 0);
        for (name, thing) in [(7, 1), (1 << 40, 2), (u64::MAX, 3), (8, 4), (0, 0), (9, 0), (1 << 41, 0)] {
            assert_eq!(SLOTS.find(name), thing, "{name}");
        }
    }
}
