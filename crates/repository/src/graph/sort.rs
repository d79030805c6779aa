//! Sorts more links than fit into memory: pieces are sorted in memory, appended to a file, and merged at the end.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::os::unix::fs::FileExt;

use super::NodeState;
use super::pieces::{LINK_BYTES, Pieces};
use crate::{Error, Result};

/// So many links are sorted in memory at a time, eight bytes each. Those of one page stay together.
const PIECE_LINKS: usize = 1 << 20;
/// Links of each piece that are in memory during the merge.
const HEAD_LINKS: usize = 4_096;

/// One link in the order of the file: target, then source, then whether it counts (those that do come first).
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Packed(u64);

impl Packed {
    /// `source` is below 2³¹.
    pub fn new(target: u32, source: u32, counted: bool) -> Self {
        Packed(u64::from(target) << 32 | u64::from(source) << 1 | u64::from(!counted))
    }

    pub fn target(self) -> u32 {
        (self.0 >> 32) as u32
    }

    pub fn source(self) -> u32 {
        self.0 as u32 >> 1
    }

    pub fn counted(self) -> bool {
        self.0 & 1 == 0
    }
}

pub(super) struct LinkSorter {
    pieces: Pieces,
    piece: Vec<u64>,
}

impl LinkSorter {
    /// Continues after the existing pieces.
    pub fn new(pieces: Pieces) -> Self {
        LinkSorter { pieces, piece: Vec::with_capacity(PIECE_LINKS) }
    }

    pub fn push(&mut self, link: Packed) {
        self.piece.push(link.0);
    }

    /// Whether a piece is full.
    pub fn is_full(&self) -> bool {
        self.piece.len() >= PIECE_LINKS
    }

    /// Writes the links that were pushed since the last piece, with the states of their source URLs.
    pub fn write_piece(&mut self, states: &[NodeState]) -> Result<()> {
        self.piece.sort_unstable();
        self.pieces.append(states, &self.piece)?;
        self.piece.clear();
        Ok(())
    }

    /// Merges all pieces.
    pub fn merged(self) -> Result<Merge> {
        let head = |piece: &super::pieces::Piece| {
            let end = piece.offset + (piece.links * LINK_BYTES) as u64;
            Head { next: piece.offset, end, links: Vec::new(), at: 0 }
        };
        let heads: Vec<Head> = self.pieces.pieces.iter().map(head).collect();
        let mut merge = Merge { pieces: self.pieces, heads, heap: BinaryHeap::new() };
        for index in 0..merge.heads.len() {
            merge.advance(index)?;
        }
        Ok(merge)
    }
}

/// All links in order. A link may come twice.
pub(super) struct Merge {
    pieces: Pieces,
    heads: Vec<Head>,
    heap: BinaryHeap<Reverse<(u64, usize)>>,
}

struct Head {
    /// The range of the links in the file that are not in memory yet.
    next: u64,
    end: u64,
    links: Vec<u64>,
    at: usize,
}

impl Merge {
    pub fn next(&mut self) -> Result<Option<Packed>> {
        let Some(Reverse((link, index))) = self.heap.pop() else { return Ok(None) };
        self.advance(index)?;
        Ok(Some(Packed(link)))
    }

    fn advance(&mut self, index: usize) -> Result<()> {
        let head = &mut self.heads[index];
        if head.at == head.links.len() {
            let count = (head.end - head.next).min((HEAD_LINKS * LINK_BYTES) as u64);
            let mut bytes = vec![0; count as usize];
            let Pieces { file, path, .. } = &self.pieces;
            file.read_exact_at(&mut bytes, head.next).map_err(Error::io("read", path))?;
            head.links.clear();
            head.links.extend(bytes.as_chunks::<LINK_BYTES>().0.iter().map(|link| u64::from_le_bytes(*link)));
            head.next += count;
            head.at = 0;
        }
        if let Some(&link) = head.links.get(head.at) {
            head.at += 1;
            self.heap.push(Reverse((link, index)));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use vernal_model::{Chance, Moment};

    use super::*;
    use crate::graph::{Numbering, PassStart};

    #[test]
    fn what_was_pushed_comes_out_sorted_however_many_pieces_it_took() {
        let dir = tempfile::tempdir().unwrap();
        let numbering = Numbering::new([9].into_iter()).unwrap();
        let begun = PassStart { moment: Moment::EPOCH, position: 0, visits: 0 };
        for (count, in_a_piece) in [(0, 1), (1, 1), (5_000, 70), (20_000, 20_000), (20_000, 5_001)] {
            let mut chance = Chance::new(count as u64);
            let mut sorter = LinkSorter::new(Pieces::create(dir.path(), &numbering, &begun).unwrap());
            let mut expected = Vec::new();
            for number in 0..count {
                let link = Packed::new(chance.below(1_000) as u32, chance.below(1 << 20) as u32, chance.happens(0.5));
                expected.push(link);
                sorter.push(link);
                if number % in_a_piece == 0 {
                    sorter.write_piece(&[]).unwrap();
                }
            }
            sorter.write_piece(&[]).unwrap();
            expected.sort_unstable();
            let mut merge = sorter.merged().unwrap();
            let merged: Vec<Packed> = std::iter::from_fn(|| merge.next().unwrap()).collect();
            assert!(merged == expected, "{count}");
        }
    }

    #[test]
    fn a_packed_link_is_what_it_was_made_of() {
        let link = Packed::new(u32::MAX, (1 << 31) - 1, false);
        assert_eq!((link.target(), link.source(), link.counted()), (u32::MAX, (1 << 31) - 1, false));
        assert!(Packed::new(1, 2, true) < Packed::new(1, 2, false));
        assert!(Packed::new(1, 3, true) > Packed::new(1, 2, false));
    }
}
