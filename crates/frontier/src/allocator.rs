//! Draws from the three priority lists, 4 : 2 : 1 per round (Yadav 2012, 3.1.4).

/// One round: four turns of the first list, two of the second, one of the third.
const ROUND: [usize; 7] = [0, 0, 0, 0, 1, 1, 2];

/// Chooses the list to draw from. A list without an eligible URL loses its turn. A list with one is served within one round,
/// so none is starved.
#[derive(Clone, Debug, Default)]
pub struct Allocator {
    turn: usize,
    drawn: [u64; 3],
}

impl Allocator {
    /// The list to draw from now, given which lists have an eligible URL. `None` if none has.
    pub fn next(&mut self, askable: [bool; 3]) -> Option<usize> {
        if askable == [false; 3] {
            return None;
        }
        for _ in 0..ROUND.len() {
            let list = ROUND[self.turn];
            self.turn = (self.turn + 1) % ROUND.len();
            if askable[list] {
                self.drawn[list] += 1;
                return Some(list);
            }
        }
        None
    }

    /// The turns of each list in one round.
    pub fn turns() -> [u64; 3] {
        std::array::from_fn(|list| ROUND.iter().filter(|turn| **turn == list).count() as u64)
    }

    /// How often each list was drawn from.
    pub fn drawn(&self) -> [u64; 3] {
        self.drawn
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn full_lists_are_drawn_four_to_two_to_one() {
        let mut allocator = Allocator::default();
        let mut drawn = [0; 3];
        for _ in 0..70 {
            drawn[allocator.next([true; 3]).unwrap()] += 1;
        }
        assert_eq!(drawn, [40, 20, 10]);
        assert_eq!((Allocator::turns(), allocator.drawn()), ([4, 2, 1], [40, 20, 10]));
    }

    #[test]
    fn the_turn_of_an_empty_list_passes_on() {
        let mut allocator = Allocator::default();
        let drawn: Vec<_> = (0..6).filter_map(|_| allocator.next([false, true, true])).collect();
        assert_eq!(drawn, [1, 1, 2, 1, 1, 2]);
        assert_eq!(allocator.next([false; 3]), None);
    }

    proptest! {
        #[test]
        fn no_list_is_starved(others in prop::collection::vec(prop::array::uniform3(any::<bool>()), 200), patient in 0usize..3) {
            let (mut allocator, mut waited) = (Allocator::default(), 0);
            for mut askable in others {
                askable[patient] = true;
                waited = if allocator.next(askable) == Some(patient) { 0 } else { waited + 1 };
                prop_assert!(waited < ROUND.len());
            }
        }
    }
}
