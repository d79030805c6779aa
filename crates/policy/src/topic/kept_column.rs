//! The values and residuals of all pages for one word: a small open-addressed table by page, so that a look-up costs
//! one or two memory reads.

use std::collections::VecDeque;

/// One page of a column, or an empty slot.
#[derive(Copy, Clone, Debug)]
struct Slot {
    /// The page number and its flags.
    key: u32,
    sum: f64,
    held_back: f64,
}

const FREE: Slot = Slot { key: EMPTY, sum: 0.0, held_back: 0.0 };

#[derive(Clone, Debug, Default)]
pub(super) struct KeptColumn {
    /// N_t.
    pub holders: u32,
    /// Pages whose residual exceeds the tolerance.
    pub queue: VecDeque<u32>,
    /// The length is a power of two.
    slots: Vec<Slot>,
    taken: usize,
}

const EMPTY: u32 = u32::MAX;
/// Flag: the page is queued.
const QUEUED: u32 = 1 << 31;
/// Flag: the page's own list of passed-on words contains this word.
const LISTED: u32 = 1 << 30;
/// The mask of the page number.
const PAGE: u32 = LISTED - 1;
/// Values up to this are rounding errors, left after a page lost a word.
const NOTHING: f64 = 1e-13;

impl KeptColumn {
    /// Adds to the residual of a page; returns whether this queued the page.
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

    /// Adds the residual of a page to its sum; returns the residual, and whether the page must list this word.
    pub fn hand_on(&mut self, page: u32) -> (f64, bool) {
        let Some(at) = self.place_of(page) else { return (0.0, false) };
        let slot = &mut self.slots[at];
        let what = std::mem::take(&mut slot.held_back);
        slot.sum += what;
        let is_first = slot.key & LISTED == 0;
        slot.key = page | LISTED;
        (what, is_first)
    }

    /// What a page has passed on; `None` if that became zero, and then its list need not contain this word any more.
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

    /// The slot of a page, which is created if there is none.
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

    /// Enlarges the table, and drops slots whose values became zero.
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

/// Spreads consecutive page numbers over the table (Knuth's multiplier).
fn spread(page: u32) -> usize {
    (page.wrapping_mul(0x9E37_79B1) >> 7) as usize
}
