//! More links than fit into memory, sorted: pieces are sorted in memory, laid down one after the other in a file without
//! a name, and met in one merge. The file goes with the process, however that ends.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use crate::{Error, Result};

/// Links sorted in memory at a time, eight bytes each.
const PIECE_LINKS: usize = 1 << 20;
/// Links that each piece has in memory while all are merged.
const HEAD_LINKS: usize = 4_096;
const LINK_BYTES: usize = 8;

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
    folder: PathBuf,
    file: File,
    piece: Vec<u64>,
    /// Links of each piece in the file.
    lengths: Vec<usize>,
    bytes: Vec<u8>,
}

impl LinkSorter {
    pub fn new(folder: &Path) -> Result<Self> {
        let file = tempfile::tempfile_in(folder).map_err(Error::io("make a file in", folder))?;
        Ok(LinkSorter {
            folder: folder.to_owned(),
            file,
            piece: Vec::with_capacity(PIECE_LINKS),
            lengths: Vec::new(),
            bytes: Vec::new(),
        })
    }

    pub fn push(&mut self, link: Packed) -> Result<()> {
        self.piece.push(link.0);
        if self.piece.len() == PIECE_LINKS { self.lay_down() } else { Ok(()) }
    }

    fn lay_down(&mut self) -> Result<()> {
        self.piece.sort_unstable();
        self.bytes.clear();
        self.bytes.extend(self.piece.iter().flat_map(|link| link.to_le_bytes()));
        self.file.write_all(&self.bytes).map_err(Error::io("write to a file in", &self.folder))?;
        self.lengths.push(self.piece.len());
        self.piece.clear();
        Ok(())
    }

    pub fn merged(mut self) -> Result<Merge> {
        if !self.piece.is_empty() {
            self.lay_down()?;
        }
        let mut heads = Vec::new();
        let mut from = 0;
        for length in self.lengths {
            heads.push(Head { next: from, end: from + length, links: Vec::new(), at: 0 });
            from += length;
        }
        let mut merge = Merge { folder: self.folder, file: self.file, heads, heap: BinaryHeap::new() };
        for index in 0..merge.heads.len() {
            merge.advance(index)?;
        }
        Ok(merge)
    }
}

/// All links in order; the same one may come twice.
pub(super) struct Merge {
    folder: PathBuf,
    file: File,
    heads: Vec<Head>,
    heap: BinaryHeap<Reverse<(u64, usize)>>,
}

struct Head {
    /// Links of the file that are not in memory yet.
    next: usize,
    end: usize,
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
            let count = HEAD_LINKS.min(head.end - head.next);
            let mut bytes = vec![0; count * LINK_BYTES];
            let offset = (head.next * LINK_BYTES) as u64;
            self.file.read_exact_at(&mut bytes, offset).map_err(Error::io("read a file in", &self.folder))?;
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
    use vernal_model::Chance;

    use super::*;

    #[test]
    fn what_was_pushed_comes_out_sorted_however_many_pieces_it_took() {
        let dir = tempfile::tempdir().unwrap();
        for count in [0, 1, 5_000, PIECE_LINKS, 2 * PIECE_LINKS + 7] {
            let mut chance = Chance::new(count as u64);
            let mut sorter = LinkSorter::new(dir.path()).unwrap();
            let mut expected = Vec::new();
            for _ in 0..count {
                let link = Packed::new(chance.below(1_000) as u32, chance.below(1 << 20) as u32, chance.happens(0.5));
                expected.push(link);
                sorter.push(link).unwrap();
            }
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
