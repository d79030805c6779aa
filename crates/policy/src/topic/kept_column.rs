//! What the pages have and hold back of one word: a small table by page, open-addressed, so that a look-up is one or two
//! reads of memory.

use std::collections::VecDeque;

/// One page of a column, or nothing.
#[derive(Copy, Clone, Debug)]
struct Slot {
    /// The page and its marks.
    key: u32,
    sum: f64,
    held_back: f64,
}

const FREE: Slot = Slot { key: EMPTY, sum: 0.0, held_back: 0.0 };

#[derive(Clone, Debug, Default)]
pub(super) struct KeptColumn {
    /// N_t.
    pub holders: u32,
    /// Pages that hold back too much.
    pub queue: VecDeque<u32>,
    /// A power of two of them.
    slots: Vec<Slot>,
    taken: usize,
}

const EMPTY: u32 = u32::MAX;
/// The page is queued.
const QUEUED: u32 = 1 << 31;
/// The page's own list of words that it has handed on names this one.
const LISTED: u32 = 1 << 30;
/// Pages that can be told apart.
const PAGE: u32 = LISTED - 1;
/// Sums of rounding errors, after a page has lost a word.
const NOTHING: f64 = 1e-13;

impl KeptColumn {
    /// Adds to what a page holds back; whether it is queued by this.
    pub fn give(&mut self, page: u32, what: f64, enough: f64) -> bool {
        let slot = self.slot_for(page);
        slot.held_back += what;
        if slot.held_back.abs() > enough && slot.key & QUEUED == 0 {
            slot.key |= QUEUED;
            self.queue.push_back(page);
            return true;
        }
        false
    }

    /// Takes what a page holds back into its sum; how much it is, and whether the page has to list this word.
    pub fn hand_on(&mut self, page: u32) -> (f64, bool) {
        let Some(at) = self.place_of(page) else { return (0.0, false) };
        let slot = &mut self.slots[at];
        let what = std::mem::take(&mut slot.held_back);
        slot.sum += what;
        let is_first = slot.key & LISTED == 0;
        slot.key = page | LISTED;
        (what, is_first)
    }

    /// What a page has handed on; nothing where that came to nothing, and then its list need not name this word any more.
    pub fn sum_if_listed(&mut self, page: u32) -> Option<f64> {
        let at = self.place_of(page)?;
        let slot = &mut self.slots[at];
        if slot.sum.abs() >= NOTHING {
            return Some(slot.sum);
        }
        slot.sum = 0.0;
        slot.key &= !LISTED;
        None
    }

    pub fn reputation(&self, page: u32) -> f64 {
        let sum = self.place_of(page).map_or(0.0, |at| self.slots[at].sum + self.slots[at].held_back);
        sum.max(0.0) / f64::from(self.holders.max(1))
    }

    fn place_of(&self, page: u32) -> Option<usize> {
        let last = self.slots.len().checked_sub(1)?;
        let mut at = spread(page) & last;
        loop {
            match self.slots[at].key {
                EMPTY => return None,
                key if key & PAGE == page => return Some(at),
                _ => at = (at + 1) & last,
            }
        }
    }

    /// The slot of a page; it is made where there is none.
    fn slot_for(&mut self, page: u32) -> &mut Slot {
        if (self.taken + 1) * 8 > self.slots.len() * 7 {
            self.grow();
        }
        let last = self.slots.len() - 1;
        let mut at = spread(page) & last;
        loop {
            match self.slots[at].key {
                EMPTY => break,
                key if key & PAGE == page => return &mut self.slots[at],
                _ => at = (at + 1) & last,
            }
        }
        self.taken += 1;
        self.slots[at].key = page;
        &mut self.slots[at]
    }

    /// Makes room, without what came to nothing.
    fn grow(&mut self) {
        let mut kept = std::mem::take(&mut self.slots);
        kept.retain(is_kept);
        let slots = (kept.len() * 4 / 3 + 1).next_power_of_two().max(8);
        (self.slots, self.taken) = (vec![FREE; slots], kept.len());
        for slot in kept {
            let mut at = spread(slot.key & PAGE) & (slots - 1);
            while self.slots[at].key != EMPTY {
                at = (at + 1) & (slots - 1);
            }
            self.slots[at] = slot;
        }
    }
}

fn is_kept(slot: &Slot) -> bool {
    let is_marked = slot.key & (QUEUED | LISTED) != 0;
    slot.key != EMPTY && (is_marked || slot.sum.abs() + slot.held_back.abs() >= NOTHING)
}

/// Pages that follow each other lie apart (Knuth's multiplier).
fn spread(page: u32) -> usize {
    (page.wrapping_mul(0x9E37_79B1) >> 7) as usize
}
