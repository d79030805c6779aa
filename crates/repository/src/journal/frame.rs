//! One frame: its writer and its reader.

use std::io::Read;

use serde::{Deserialize, Serialize};
use vernal_model::{Deed, Moment, Partition, Sequence};
use xxhash_rust::xxh3::Xxh3;

use crate::bodies::End;
use crate::{Error, Result};

pub(super) const MAGIC: [u8; 4] = 0xA17F_D33D_u32.to_le_bytes();
pub(super) const HEAD_BYTES: usize = 24;
/// A group is about 1 MiB; a sieve that admits a million URLs stays below this too.
pub(super) const PAYLOAD_BYTES_MAX: u64 = 512 << 20;

/// One commit group as the journal holds it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Frame {
    pub moment: Moment,
    /// Where the bodies ended when this was acknowledged.
    pub end: End,
    /// The position of the first deed.
    pub first: u64,
    pub entries: Vec<(Partition, Sequence, Deed)>,
}

#[derive(Serialize, Deserialize)]
struct Opening {
    moment: Moment,
    end: End,
    deeds: u32,
}

/// What lies at a place in a file.
pub(super) enum Next {
    /// A frame, and its bytes in the file.
    Frame(Frame, u64),
    /// The end of the file.
    End,
    /// No whole frame with a good checksum.
    Torn(&'static str),
    /// The checksum is good, and still we cannot read it: no torn write does this.
    Unreadable(String),
}

/// Writes a frame into `buffer`, which is cleared first.
pub(super) fn encode<'a>(
    buffer: &mut Vec<u8>,
    seed: u64,
    moment: Moment,
    end: End,
    first: u64,
    entries: impl ExactSizeIterator<Item = (Partition, Sequence, &'a Deed)>,
) -> Result<()> {
    buffer.clear();
    buffer.resize(HEAD_BYTES, 0);
    let deeds = u32::try_from(entries.len()).unwrap_or(u32::MAX);
    extend(buffer, &Opening { moment, end, deeds })?;
    for entry in entries {
        extend(buffer, &entry)?;
    }
    let bytes = (buffer.len() - HEAD_BYTES) as u64;
    let length = u32::try_from(bytes).ok().filter(|_| bytes <= PAYLOAD_BYTES_MAX);
    let length = length.ok_or(Error::GroupTooLarge { bytes, limit: PAYLOAD_BYTES_MAX })?;
    buffer[..4].copy_from_slice(&MAGIC);
    buffer[4..8].copy_from_slice(&length.to_le_bytes());
    buffer[8..16].copy_from_slice(&first.to_le_bytes());
    let checksum = checksum(seed, &buffer[..16], &buffer[HEAD_BYTES..]);
    buffer[16..24].copy_from_slice(&checksum.to_le_bytes());
    Ok(())
}

fn extend<T: Serialize>(buffer: &mut Vec<u8>, value: &T) -> Result<()> {
    *buffer = postcard::to_extend(value, std::mem::take(buffer)).map_err(|why| Error::row("journal", why))?;
    Ok(())
}

/// The position of the first deed and the bytes of the frame with this head, unread.
pub(super) fn read_head(head: &[u8; HEAD_BYTES]) -> Option<(u64, u64)> {
    let length = u64::from(u32::from_le_bytes(array(&head[4..8])));
    let is_one = head[..4] == MAGIC && length <= PAYLOAD_BYTES_MAX;
    is_one.then(|| (u64::from_le_bytes(array(&head[8..16])), HEAD_BYTES as u64 + length))
}

/// Reads the frame that begins here; `remaining` is what the file still holds.
pub(super) fn next(input: &mut impl Read, remaining: u64, seed: u64) -> std::io::Result<Next> {
    if remaining == 0 {
        return Ok(Next::End);
    }
    if remaining < HEAD_BYTES as u64 {
        return Ok(Next::Torn("the head of a frame is cut short"));
    }
    let mut head = [0; HEAD_BYTES];
    input.read_exact(&mut head)?;
    if head[..4] != MAGIC {
        return Ok(Next::Torn("no frame begins here"));
    }
    let length = u64::from(u32::from_le_bytes(array(&head[4..8])));
    if length > PAYLOAD_BYTES_MAX || length > remaining - HEAD_BYTES as u64 {
        return Ok(Next::Torn("a frame is cut short"));
    }
    let mut payload = vec![0; usize::try_from(length).unwrap_or(0)];
    input.read_exact(&mut payload)?;
    if checksum(seed, &head[..16], &payload) != u64::from_le_bytes(array(&head[16..24])) {
        return Ok(Next::Torn("the checksum of a frame is wrong"));
    }
    let first = u64::from_le_bytes(array(&head[8..16]));
    Ok(match decode(first, &payload) {
        Ok(frame) => Next::Frame(frame, HEAD_BYTES as u64 + length),
        Err(why) => Next::Unreadable(why.to_string()),
    })
}

fn decode(first: u64, payload: &[u8]) -> postcard::Result<Frame> {
    let (opening, mut rest): (Opening, _) = postcard::take_from_bytes(payload)?;
    let mut entries = Vec::with_capacity((opening.deeds as usize).min(payload.len()));
    for _ in 0..opening.deeds {
        let (entry, after) = postcard::take_from_bytes(rest)?;
        entries.push(entry);
        rest = after;
    }
    if !rest.is_empty() {
        return Err(postcard::Error::DeserializeBadEncoding);
    }
    Ok(Frame { moment: opening.moment, end: opening.end, first, entries })
}

/// Whether a whole frame begins within `bytes`, at any offset: then what stands before it is no torn tail.
pub(super) fn holds_a_frame(bytes: &[u8], seed: u64) -> bool {
    find(bytes, seed).is_some()
}

/// Where the first whole frame within `bytes` begins.
pub(super) fn find(bytes: &[u8], seed: u64) -> Option<usize> {
    let mut starts = bytes.windows(MAGIC.len()).enumerate().filter(|(_, window)| *window == MAGIC);
    let begins = |offset: usize| {
        let mut rest = &bytes[offset..];
        let remaining = rest.len() as u64;
        matches!(next(&mut rest, remaining, seed), Ok(Next::Frame(..) | Next::Unreadable(_)))
    };
    starts.find(|(offset, _)| begins(*offset)).map(|(offset, _)| offset)
}

pub(super) fn checksum(seed: u64, head: &[u8], payload: &[u8]) -> u64 {
    let mut hash = Xxh3::with_seed(seed);
    hash.update(head);
    hash.update(payload);
    hash.digest()
}

/// A slice whose length the caller has fixed.
pub(super) fn array<const N: usize>(bytes: &[u8]) -> [u8; N] {
    let mut out = [0; N];
    out.copy_from_slice(bytes);
    out
}

/// The reader of payloads alone, for `fuzz_journal`: checksums would keep chance away from it.
pub(super) fn fuzz_payload(bytes: &[u8]) {
    let _ = decode(1, bytes);
}
