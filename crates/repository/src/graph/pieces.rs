//! The links that a pass has read so far, in sorted pieces, with everything needed to continue after them.
//!
//! ```text
//! DIR/graph/links.pieces                                            all numbers little-endian
//!
//! file:    magic "VRNLPIEC" | URLs of each partition u32 × 64 | position u64 | visits u64 | moment i64 | checksum u64 |
//!          piece | …
//! piece:   states u32 | links u32 | state u8 … | link u64 … | checksum u64
//! ```
//!
//! A piece has the states of the next URLs in the order of the numbering, and the links out of them. Checksums are
//! XXH3-64. The file is appended to and never synced. After a loss of power, the pass continues after the last whole piece.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use vernal_model::{Moment, Partition};
use xxhash_rust::xxh3::xxh3_64;

use super::{NodeState, Numbering};
use crate::{Error, Result, passes};

const FILE: &str = "links.pieces";
const MAGIC: &[u8; 8] = b"VRNLPIEC";
const COUNTS_BYTES: usize = 4 * Partition::COUNT as usize;
const HEAD_BYTES: usize = 8 + COUNTS_BYTES + 8 + 8 + 8 + 8;
const PIECE_HEAD_BYTES: usize = 8;
pub(super) const LINK_BYTES: usize = 8;

/// When a pass began, and the state of the repository then.
#[derive(Copy, Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct PassStart {
    pub moment: Moment,
    /// The last deed that was applied.
    pub position: u64,
    /// Visits of the whole repository.
    pub visits: u64,
}

/// The range of the links of a piece in the file.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    pub offset: u64,
    pub links: usize,
}

pub(super) struct Pieces {
    pub path: PathBuf,
    pub file: File,
    pub pieces: Vec<Piece>,
    end: u64,
    bytes: Vec<u8>,
}

/// The progress of a pass that was cut short, up to its last whole piece.
pub(super) struct Resumed {
    pub pieces: Pieces,
    pub numbering: Numbering,
    pub begun: PassStart,
    /// The states of the URLs that were read.
    pub states: Vec<NodeState>,
}

impl Pieces {
    /// Makes an empty file, replacing an old one.
    pub fn create(folder: &Path, numbering: &Numbering, begun: &PassStart) -> Result<Pieces> {
        let path = folder.join(FILE);
        let mut options = OpenOptions::new();
        let opened = options.read(true).write(true).create(true).truncate(true).open(&path);
        let mut file = opened.map_err(Error::io("make", &path))?;
        let head = head(numbering, begun);
        file.write_all(&head).map_err(Error::io("write", &path))?;
        Ok(Pieces { path, file, pieces: Vec::new(), end: head.len() as u64, bytes: Vec::new() })
    }

    /// Opens the file to continue after its last whole piece. `None` if there is no readable file.
    pub fn resume(folder: &Path) -> Result<Option<Resumed>> {
        let path = folder.join(FILE);
        let Ok(mut file) = OpenOptions::new().read(true).write(true).open(&path) else { return Ok(None) };
        let mut bytes = vec![0; HEAD_BYTES];
        if file.read_exact(&mut bytes).is_err() {
            return Ok(None);
        }
        let Some((numbering, begun)) = read_head(&bytes) else { return Ok(None) };
        let (mut states, mut pieces, mut end) = (Vec::new(), Vec::new(), HEAD_BYTES as u64);
        while let Some((links, length)) = read_piece(&mut file, &numbering, &mut states, &mut bytes) {
            let offset = end + (length - links * LINK_BYTES - 8) as u64;
            pieces.push(Piece { offset, links });
            end += length as u64;
        }
        file.set_len(end).map_err(Error::io("cut", &path))?;
        std::io::Seek::seek(&mut file, std::io::SeekFrom::Start(end)).map_err(Error::io("write", &path))?;
        let pieces = Pieces { path, file, pieces, end, bytes: Vec::new() };
        Ok(Some(Resumed { pieces, numbering, begun, states }))
    }

    /// Appends a piece: the states of the next URLs, and their outgoing links in sorted order.
    pub fn append(&mut self, states: &[NodeState], links: &[u64]) -> Result<()> {
        self.bytes.clear();
        self.bytes.extend_from_slice(&(states.len() as u32).to_le_bytes());
        self.bytes.extend_from_slice(&(links.len() as u32).to_le_bytes());
        self.bytes.extend(states.iter().map(|state| *state as u8));
        let offset = self.end + self.bytes.len() as u64;
        self.bytes.extend(links.iter().flat_map(|link| link.to_le_bytes()));
        let checksum = xxh3_64(&self.bytes);
        self.bytes.extend_from_slice(&checksum.to_le_bytes());
        self.file.write_all(&self.bytes).map_err(Error::io("write", &self.path))?;
        self.pieces.push(Piece { offset, links: links.len() });
        self.end += self.bytes.len() as u64;
        Ok(())
    }
}

pub(super) fn remove(folder: &Path) -> Result<()> {
    passes::remove(&folder.join(FILE))
}

/// Removes the pieces of a pass that saw deeds which this repository has not applied. Those deeds were lost, and others will
/// get their positions.
pub(crate) fn remove_pieces_if_ahead(folder: &Path, applied: u64) -> Result<()> {
    let mut head = [0; HEAD_BYTES];
    let read = File::open(folder.join(FILE)).and_then(|mut file| file.read_exact(&mut head));
    let begun = read.ok().and_then(|()| read_head(&head)).map(|(_, begun)| begun);
    if begun.is_some_and(|begun| begun.position <= applied) { Ok(()) } else { remove(folder) }
}

/// Reads the next piece and adds its states to `states`. Returns the number of its links and of its bytes.
fn read_piece(
    file: &mut File,
    numbering: &Numbering,
    states: &mut Vec<NodeState>,
    bytes: &mut Vec<u8>,
) -> Option<(usize, usize)> {
    let mut head = [0; PIECE_HEAD_BYTES];
    file.read_exact(&mut head).ok()?;
    let [count, links] = [&head[..4], &head[4..]].map(|part| part.first_chunk::<4>().map(|b| u32::from_le_bytes(*b)));
    let (count, links) = (count? as usize, links? as usize);
    if states.len() + count > numbering.len() as usize {
        return None;
    }
    bytes.clear();
    bytes.extend_from_slice(&head);
    let rest = count + links * LINK_BYTES + 8;
    if file.take(rest as u64).read_to_end(bytes).ok()? != rest {
        return None;
    }
    let (content, checksum) = bytes.split_last_chunk::<8>()?;
    if u64::from_le_bytes(*checksum) != xxh3_64(content) {
        return None;
    }
    let read = content.get(PIECE_HEAD_BYTES..PIECE_HEAD_BYTES + count)?.iter().map(|byte| NodeState::of(*byte));
    states.extend(read.collect::<Option<Vec<NodeState>>>()?);
    Some((links, bytes.len()))
}

fn head(numbering: &Numbering, begun: &PassStart) -> Vec<u8> {
    let mut bytes = MAGIC.to_vec();
    for partition in (0..Partition::COUNT).map(Partition) {
        bytes.extend_from_slice(&numbering.count(partition).to_le_bytes());
    }
    bytes.extend_from_slice(&begun.position.to_le_bytes());
    bytes.extend_from_slice(&begun.visits.to_le_bytes());
    bytes.extend_from_slice(&begun.moment.micros().to_le_bytes());
    let checksum = xxh3_64(&bytes);
    bytes.extend_from_slice(&checksum.to_le_bytes());
    bytes
}

fn read_head(bytes: &[u8]) -> Option<(Numbering, PassStart)> {
    let counts = bytes.get(MAGIC.len()..MAGIC.len() + COUNTS_BYTES)?.as_chunks::<4>().0.iter();
    let numbering = Numbering::new(counts.map(|bytes| u32::from_le_bytes(*bytes)))?;
    let rest = bytes.get(MAGIC.len() + COUNTS_BYTES..)?.as_chunks::<8>().0;
    let &[position, visits, moment, _] = rest else { return None };
    let begun = PassStart {
        moment: Moment::from_micros(i64::from_le_bytes(moment)),
        position: u64::from_le_bytes(position),
        visits: u64::from_le_bytes(visits),
    };
    (head(&numbering, &begun) == bytes).then_some((numbering, begun))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn begun() -> PassStart {
        PassStart { moment: Moment::from_secs(99), position: 77, visits: 12 }
    }

    #[test]
    fn what_was_cut_anywhere_goes_on_behind_its_last_whole_piece() {
        let dir = tempfile::tempdir().unwrap();
        let numbering = Numbering::new([3, 0, 4].into_iter()).unwrap();
        let all = [NodeState::Held, NodeState::Waiting, NodeState::Left, NodeState::Other, NodeState::Held];
        let mut pieces = Pieces::create(dir.path(), &numbering, &begun()).unwrap();
        let mut ends = vec![pieces.end];
        for (states, links) in [(&all[..2], &[4, 9][..]), (&all[2..4], &[]), (&all[4..], &[1, 2, 3])] {
            pieces.append(states, links).unwrap();
            ends.push(pieces.end);
        }
        let good = fs::read(&pieces.path).unwrap();
        assert_eq!(good.len() as u64, pieces.end);
        for length in 0..=good.len() {
            fs::write(&pieces.path, &good[..length]).unwrap();
            let resumed = Pieces::resume(dir.path()).unwrap();
            let whole = ends.iter().filter(|end| **end <= length as u64).count();
            let Some(resumed) = resumed else {
                assert_eq!(whole, 0, "cut to {length}");
                continue;
            };
            assert_eq!((resumed.numbering, resumed.begun), (numbering.clone(), begun()));
            assert_eq!(resumed.states, all[..[0, 2, 4, 5][whole - 1]], "cut to {length}");
            assert_eq!(resumed.pieces.pieces, pieces.pieces[..whole - 1]);
            assert_eq!(fs::metadata(&pieces.path).unwrap().len(), ends[whole - 1]);
        }
        for at in 0..good.len() {
            let mut bad = good.clone();
            bad[at] ^= 1 << (at % 8);
            fs::write(&pieces.path, &bad).unwrap();
            let whole = ends.iter().filter(|end| **end <= at as u64).count();
            let resumed = Pieces::resume(dir.path()).unwrap().map_or(0, |resumed| resumed.pieces.pieces.len() + 1);
            assert_eq!(resumed, whole, "byte {at}");
        }
    }

    #[test]
    fn a_resumed_file_is_appended_to() {
        let dir = tempfile::tempdir().unwrap();
        let numbering = Numbering::new([9].into_iter()).unwrap();
        let mut whole = Pieces::create(dir.path(), &numbering, &begun()).unwrap();
        whole.append(&[NodeState::Held], &[5]).unwrap();
        whole.append(&[NodeState::Left], &[6, 7]).unwrap();
        let expected = fs::read(&whole.path).unwrap();
        let mut cut = Pieces::create(dir.path(), &numbering, &begun()).unwrap();
        cut.append(&[NodeState::Held], &[5]).unwrap();
        cut.file.write_all(b"half a piece").unwrap();
        let mut resumed = Pieces::resume(dir.path()).unwrap().unwrap().pieces;
        resumed.append(&[NodeState::Left], &[6, 7]).unwrap();
        assert_eq!(fs::read(&resumed.path).unwrap(), expected);
    }
}
