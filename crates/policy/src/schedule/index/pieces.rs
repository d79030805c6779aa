//! All pages in one row, found by their dense numbers.

use std::alloc::{Layout, handle_alloc_error};

use bytemuck::{cast_slice, from_bytes, from_bytes_mut};
use memmap2::MmapMut;
use vernal_model::PageKey;

use super::page::{Page, Place};

/// So many pages are few.
const FEW: usize = 1 << 17;
/// Pages of a piece. It is a whole number of huge pages of memory, as most processors have them.
const PIECE: usize = 1 << 20;

/// Few pages lie in a row for which there is room from the first of them on; what of it nobody touched takes no memory. What is
/// beyond lies in pieces. So pages never move, and growing copies nothing.
#[derive(Clone, Debug, Default)]
pub(super) struct Pages {
    few: Vec<Page>,
    pieces: Vec<Piece>,
    /// One more than the largest number among them.
    numbered: usize,
}

impl Pages {
    /// As many pages as have numbers, known or not.
    pub fn numbered(&self) -> usize {
        self.numbered
    }

    pub fn get(&self, number: u32) -> Option<&Page> {
        ((number as usize) < self.numbered).then(|| self.at(number))
    }

    /// A page that is known.
    pub fn known(&self, key: PageKey) -> Option<&Page> {
        self.get(key.number).filter(|page| page.place() != Place::Unknown && page.partition == key.partition.0)
    }

    #[inline(always)]
    pub fn at(&self, number: u32) -> &Page {
        match (number as usize).checked_sub(FEW) {
            None => &self.few[number as usize],
            Some(more) => self.pieces[more / PIECE].at(more % PIECE),
        }
    }

    #[inline(always)]
    pub fn at_mut(&mut self, number: u32) -> &mut Page {
        match (number as usize).checked_sub(FEW) {
            None => &mut self.few[number as usize],
            Some(more) => self.pieces[more / PIECE].at_mut(more % PIECE),
        }
    }

    /// Makes room for a page.
    pub fn make(&mut self, key: PageKey) -> &mut Page {
        self.numbered = self.numbered.max(key.number as usize + 1);
        let of_few = self.numbered.min(FEW);
        if self.few.len() < of_few {
            self.few.reserve_exact(FEW - self.few.len());
            self.few.resize(of_few, Page::default());
        }
        while FEW + self.pieces.len() * PIECE < self.numbered {
            self.pieces.push(Piece::new());
        }
        let page = self.at_mut(key.number);
        page.partition = key.partition.0;
        page
    }

    pub fn key(&self, number: u32) -> PageKey {
        self.at(number).key(number)
    }

    /// The numbers of all known pages.
    pub fn numbers(&self) -> impl Iterator<Item = u32> + '_ {
        let all = self.few.iter().chain(self.pieces.iter().flat_map(Piece::all));
        (0u32..).zip(all).filter(|(_, page)| page.place() != Place::Unknown).map(|(number, _)| number)
    }
}

/// Memory from the system itself, which is told that huge pages are welcome: with many millions of pages nearly every look
/// at one is at memory that nobody looked at for long, and where that lies is found sooner when it lies in fewer places. What
/// nobody touched is zeros and takes no memory; a page of zeros is one that nobody knows.
#[derive(Debug)]
struct Piece(MmapMut);

impl Piece {
    fn new() -> Self {
        let layout = Layout::new::<[Page; PIECE]>();
        let map = MmapMut::map_anon(layout.size()).unwrap_or_else(|_| handle_alloc_error(layout));
        // A system that has none goes on without them.
        #[cfg(target_os = "linux")]
        let _ = map.advise(memmap2::Advice::HugePage);
        Piece(map)
    }

    fn all(&self) -> &[Page] {
        cast_slice(&self.0)
    }

    #[inline(always)]
    fn at(&self, index: usize) -> &Page {
        from_bytes(&self.0[index * size_of::<Page>()..][..size_of::<Page>()])
    }

    #[inline(always)]
    fn at_mut(&mut self, index: usize) -> &mut Page {
        from_bytes_mut(&mut self.0[index * size_of::<Page>()..][..size_of::<Page>()])
    }
}

impl Clone for Piece {
    fn clone(&self) -> Self {
        let mut piece = Piece::new();
        piece.0.copy_from_slice(&self.0);
        piece
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use vernal_model::Partition;

    #[test]
    fn pages_are_found_and_counted_by_their_numbers_across_pieces() {
        let mut pages = Pages::default();
        let far = (FEW + 2 * PIECE) as u32;
        let numbers = [3, 40_000, FEW as u32 - 1, FEW as u32, far + 7];
        for number in numbers {
            let page = pages.make(PageKey::new(Partition(1), number));
            page.last = number;
            page.go(Place::Home);
        }
        for pages in [pages.clone(), pages] {
            assert!(pages.numbers().eq(numbers));
            assert!(numbers.iter().all(|&number| pages.at(number).last == number));
            assert_eq!(pages.numbered(), far as usize + 8);
            assert!(pages.get(far - PIECE as u32).is_some_and(|page| page.place() == Place::Unknown));
            assert!(pages.get(far + 8).is_none() && pages.get(u32::MAX).is_none());
        }
    }

    #[test]
    fn pages_never_move_however_many_come() {
        let mut pages = Pages::default();
        let first = std::ptr::from_mut(pages.make(PageKey::new(Partition(0), 0))).addr();
        for number in 1..=(FEW + PIECE) as u32 {
            pages.make(PageKey::new(Partition(0), number));
            assert_eq!(pages.pieces.len(), (number as usize + 1).saturating_sub(FEW).div_ceil(PIECE));
        }
        assert_eq!(std::ptr::from_ref(pages.at(0)).addr(), first);
    }

    #[test]
    fn a_page_that_nobody_knows_is_zeros() {
        assert!(bytemuck::bytes_of(&Page::default()).iter().all(|&byte| byte == 0));
        assert_eq!(Page::default().place(), Place::Unknown);
    }

    #[test]
    fn a_piece_is_a_whole_number_of_huge_pages() {
        assert_eq!(size_of::<[Page; PIECE]>() % (2 << 20), 0);
    }
}
