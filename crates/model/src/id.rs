//! Small identifiers that all crates use.

use std::fmt;

use serde::{Deserialize, Serialize};

/// One of the parts into which state is divided by registrable domain.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Partition(pub u8);

impl Partition {
    /// The number of partitions of a repository.
    pub const COUNT: u8 = 64;
}

/// A page by its dense number within its partition: numbers index plain arrays and make short keys.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct PageKey {
    pub partition: Partition,
    pub number: u32,
}

impl PageKey {
    pub const fn new(partition: Partition, number: u32) -> Self {
        PageKey { partition, number }
    }

    /// The five bytes of a table key: the partition and then the number, so that the order of bytes is the order of keys.
    pub fn bytes(self) -> [u8; 5] {
        let n = self.number.to_be_bytes();
        [self.partition.0, n[0], n[1], n[2], n[3]]
    }

    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let [partition, a, b, c, d] = *bytes.first_chunk::<5>()?;
        Some(PageKey::new(Partition(partition), u32::from_be_bytes([a, b, c, d])))
    }
}

impl fmt::Display for PageKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.partition.0, self.number)
    }
}

/// A paragraph by its number within its page (see `ParagraphMark`): unique in the repository, kept across edits and moves.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ParagraphKey {
    pub page: PageKey,
    pub number: u32,
}

/// `p`, then partition, page and paragraph in hexadecimal digits: `p1f-3a-7`.
impl fmt::Display for ParagraphKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "p{:02x}-{:x}-{:x}", self.page.partition.0, self.page.number, self.number)
    }
}

/// 64 bits of a canonical URL (xxh3), by which the sieve compares found URLs with known ones.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Fingerprint(pub u64);

/// The number of a deed in its journal. The first deed has number 1.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Sequence(pub u64);

/// One order of one process; never stored.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct OrderId(pub u64);
