//! One gzip member (RFC 1952) around one record.
//!
//! ```text
//! 1f 8b 08 00 00000000 00 ff | deflate blocks | CRC-32 of the content, LE | its length mod 2^32, LE
//! stored block: 00 or 01 (last) | length, LE | its complement, LE | bytes
//! ```

use std::ops::Range;

use flate2::{Compress, Compression, FlushCompress, Status};

/// Flags, time and name are left out: the same record gives the same bytes on every machine.
const HEADER: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff];
const STORED_BYTES_MAX: usize = 0xffff; // the length field of a stored block has 16 bits
const STORED_HEADER_BYTES: usize = 5;
const TRAILER_BYTES: usize = 8;
const DEFLATE_LEVEL: u32 = 1; // higher levels cost several times the CPU of a whole visit

/// Deflated bytes pass through a piece of memory of this size. It stays in the processor's nearest caches.
const PIECE_BYTES: usize = 16 << 10;

/// Makes members with one compressor.
pub(super) struct MemberMaker {
    compress: Compress,
    /// The compressor writes here and not into the spare room of the output. That room is as large as the buffer of a
    /// segment, and the compressor's safe interface fills all the room it is given with zeros at each call.
    piece: Box<[u8]>,
}

impl MemberMaker {
    pub(super) fn new() -> Self {
        MemberMaker {
            compress: Compress::new(Compression::new(DEFLATE_LEVEL), false),
            piece: vec![0; PIECE_BYTES].into_boxed_slice(),
        }
    }

    /// Appends a member that holds `parts`, concatenated and stored uncompressed.
    pub(super) fn stored(&self, out: &mut Vec<u8>, parts: &[&[u8]]) {
        let total = total_bytes(parts);
        out.reserve(total + total / STORED_BYTES_MAX * STORED_HEADER_BYTES + 32);
        out.extend_from_slice(&HEADER);
        if total <= STORED_BYTES_MAX {
            // One block and one checksum over all of it: a checksum of many small parts costs more.
            stored_block_header(out, total, true);
            let start = out.len();
            parts.iter().for_each(|part| out.extend_from_slice(part));
            let checksum = crc32fast::hash(&out[start..]);
            return end(out, checksum, total);
        }
        let mut left = total;
        let mut room_in_block = 0;
        for mut part in parts.iter().copied() {
            while !part.is_empty() {
                if room_in_block == 0 {
                    room_in_block = left.min(STORED_BYTES_MAX);
                    stored_block_header(out, room_in_block, room_in_block == left);
                }
                let (now, later) = part.split_at(part.len().min(room_in_block));
                out.extend_from_slice(now);
                room_in_block -= now.len();
                left -= now.len();
                part = later;
            }
        }
        trailer(out, parts);
    }

    /// Appends a member that holds `parts`, concatenated and deflated.
    pub(super) fn deflated(&mut self, out: &mut Vec<u8>, parts: &[&[u8]]) {
        out.extend_from_slice(&HEADER);
        self.compress.reset();
        for part in parts {
            self.push(out, part, FlushCompress::None);
        }
        self.push(out, &[], FlushCompress::Finish);
        trailer(out, parts);
    }

    fn push(&mut self, out: &mut Vec<u8>, mut input: &[u8], flush: FlushCompress) {
        loop {
            let (taken, made) = (self.compress.total_in(), self.compress.total_out());
            let status = self
                .compress
                .compress(input, &mut self.piece, flush)
                .expect("deflate with room for its output has no way to fail");
            input = &input[(self.compress.total_in() - taken) as usize..];
            out.extend_from_slice(&self.piece[..(self.compress.total_out() - made) as usize]);
            let finished = match flush {
                FlushCompress::Finish => status == Status::StreamEnd,
                _ => input.is_empty(),
            };
            if finished {
                return;
            }
        }
    }
}

/// The content of a member that is stored as `MemberMaker::stored` does it, whole and with the right checksum, in the
/// memory of the member; anything else is given back as it was.
pub(super) fn stored_content(mut member: Vec<u8>, bytes_max: usize) -> Result<Vec<u8>, Vec<u8>> {
    let Some(blocks) = stored_blocks(&member, bytes_max) else { return Err(member) };
    let mut end = 0;
    for block in blocks {
        let bytes = block.len();
        member.copy_within(block, end);
        end += bytes;
    }
    member.truncate(end);
    Ok(member)
}

/// Where the blocks of a stored member lie.
fn stored_blocks(member: &[u8], bytes_max: usize) -> Option<Vec<Range<usize>>> {
    let (mut rest, trailer) = member.strip_prefix(&HEADER)?.split_last_chunk::<TRAILER_BYTES>()?;
    if rest.len() > bytes_max {
        return None;
    }
    let mut blocks = Vec::with_capacity(rest.len() / usize::from(u16::MAX) + 1);
    let (mut crc, mut total, mut is_last) = (crc32fast::Hasher::new(), 0, false);
    while !is_last {
        let (&[last, low, high, low_again, high_again], behind) = rest.split_first_chunk::<STORED_HEADER_BYTES>()?;
        let length = u16::from_le_bytes([low, high]);
        if last > 1 || u16::from_le_bytes([low_again, high_again]) != !length {
            return None;
        }
        let (bytes, behind) = behind.split_at_checked(usize::from(length))?;
        crc.update(bytes);
        total += bytes.len();
        let end = member.len() - TRAILER_BYTES - behind.len();
        blocks.push(end - bytes.len()..end);
        (is_last, rest) = (last == 1, behind);
    }
    let mut expected = Vec::with_capacity(TRAILER_BYTES);
    self::end(&mut expected, crc.finalize(), total);
    (rest.is_empty() && *trailer == *expected).then_some(blocks)
}

/// A member of exactly so many bytes. `content` makes a content of a given length; `None` where the length has no room for it.
pub(super) fn padded(length: usize, content: &dyn Fn(usize) -> Option<Vec<u8>>) -> Option<Vec<u8>> {
    let room = length.checked_sub(HEADER.len() + TRAILER_BYTES)?;
    // With so few blocks as hold the rest. One of them may be empty.
    let blocks = room.div_ceil(STORED_BYTES_MAX + STORED_HEADER_BYTES);
    let content = content(room.checked_sub(blocks * STORED_HEADER_BYTES)?)?;
    let mut member = Vec::with_capacity(length);
    member.extend_from_slice(&HEADER);
    let mut left = content.as_slice();
    for block in 1..=blocks {
        let (now, later) = left.split_at(left.len().min(STORED_BYTES_MAX));
        stored_block_header(&mut member, now.len(), block == blocks);
        member.extend_from_slice(now);
        left = later;
    }
    trailer(&mut member, &[&content]);
    Some(member)
}

fn stored_block_header(out: &mut Vec<u8>, bytes: usize, last: bool) {
    let length = bytes as u16;
    out.push(u8::from(last));
    out.extend_from_slice(&length.to_le_bytes());
    out.extend_from_slice(&(!length).to_le_bytes());
}

fn trailer(out: &mut Vec<u8>, parts: &[&[u8]]) {
    let mut crc = crc32fast::Hasher::new();
    for part in parts {
        crc.update(part);
    }
    end(out, crc.finalize(), total_bytes(parts));
}

fn end(out: &mut Vec<u8>, checksum: u32, bytes: usize) {
    out.extend_from_slice(&checksum.to_le_bytes());
    out.extend_from_slice(&(bytes as u32).to_le_bytes());
}

fn total_bytes(parts: &[&[u8]]) -> usize {
    parts.iter().map(|part| part.len()).sum()
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use proptest::prelude::*;

    use super::*;

    fn unpacked(member: &[u8]) -> Vec<u8> {
        let mut decoder = flate2::bufread::GzDecoder::new(member);
        let mut content = Vec::new();
        decoder.read_to_end(&mut content).unwrap();
        assert!(decoder.into_inner().is_empty(), "bytes after the member");
        content
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn a_member_unpacks_to_its_parts(
            parts in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..3_000), 0..4)
        ) {
            let parts: Vec<&[u8]> = parts.iter().map(Vec::as_slice).collect();
            let mut maker = MemberMaker::new();
            for _ in 0..2 {
                let (mut stored, mut deflated) = (Vec::new(), Vec::new());
                maker.stored(&mut stored, &parts);
                maker.deflated(&mut deflated, &parts);
                prop_assert_eq!(unpacked(&stored), parts.concat());
                prop_assert_eq!(unpacked(&deflated), parts.concat());
                prop_assert_eq!(stored_content(stored, 10_000), Ok(parts.concat()));
                prop_assert_eq!(stored_content(deflated.clone(), 10_000), Err(deflated));
            }
        }

        #[test]
        fn a_stored_member_with_one_byte_changed_or_cut_has_no_content(
            content in prop::collection::vec(any::<u8>(), 0..300),
            place in any::<prop::sample::Index>(),
            flip in 1u8..,
        ) {
            let mut member = Vec::new();
            MemberMaker::new().stored(&mut member, &[&content]);
            let place = place.index(member.len());
            prop_assert!(stored_content(member[..place].to_vec(), 1_000).is_err());
            member[place] ^= flip;
            prop_assert_eq!(stored_content(member.clone(), 1_000), Err(member));
        }
    }

    #[test]
    fn stored_members_unpack_at_every_block_border() {
        for bytes in [0, 1, 0xfffe, 0xffff, 0x1_0000, 0x1_fffe, 0x1_ffff, 300_000] {
            let content: Vec<u8> = (0..bytes).map(|place| (place % 251) as u8).collect();
            for cut in [0, bytes / 3, bytes] {
                let mut member = Vec::new();
                MemberMaker::new().stored(&mut member, &[&content[..cut], &content[cut..]]);
                assert_eq!(unpacked(&member), content, "{bytes} bytes cut at {cut}");
                assert_eq!(stored_content(member.clone(), 1 << 20), Ok(content.clone()));
                assert!(stored_content(member, bytes / 2).is_err(), "more than it may have");
            }
        }
    }

    #[test]
    fn large_blocks_deflate_whole() {
        let content: Vec<u8> = (0..3_000_000u32).flat_map(|n| (n.wrapping_mul(2_654_435_761)).to_le_bytes()).collect();
        let mut member = Vec::new();
        MemberMaker::new().deflated(&mut member, &[&content]);
        assert_eq!(unpacked(&member), content);
    }

    #[test]
    fn the_same_record_gives_the_same_bytes_whatever_the_output_holds() {
        let text: Vec<u8> =
            (0..40_000u32).flat_map(|n| format!("{} ", n.wrapping_mul(2_654_435_761) % 977).into_bytes()).collect();
        let parts: [&[u8]; 4] = [b"WARC/1.1\r\n", &text, &[], b"\r\n\r\n"];
        let mut fresh = Vec::new();
        MemberMaker::new().deflated(&mut fresh, &parts);
        assert!(fresh.len() > 2 * PIECE_BYTES, "it passes through several pieces");

        let mut used = MemberMaker::new();
        used.deflated(&mut Vec::new(), &[&text[..70_000]]);
        for (held, room) in [(0, 0), (1, 100), (5_000, 1 << 20), (300_000, 7)] {
            let mut out = Vec::with_capacity(held + room);
            out.resize(held, b'x');
            used.deflated(&mut out, &parts);
            assert!(out[held..] == fresh, "{held} bytes were there, with room for {room}");
        }
    }

    #[test]
    fn passing_through_pieces_changes_no_byte_of_the_deflate_stream() {
        for bytes in [0, 1, 1_000, PIECE_BYTES, 300_000, 2_000_000] {
            let content: Vec<u8> =
                (0..bytes as u64).map(|n| (n.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 60) as u8).collect();
            let mut member = Vec::new();
            MemberMaker::new().deflated(&mut member, &[&content]);
            let mut whole = Vec::with_capacity(2 * bytes + 1_000);
            let mut compress = Compress::new(Compression::new(DEFLATE_LEVEL), false);
            compress.compress_vec(&content, &mut whole, FlushCompress::None).unwrap();
            compress.compress_vec(&[], &mut whole, FlushCompress::Finish).unwrap();
            assert!(member[HEADER.len()..member.len() - TRAILER_BYTES] == whole, "{bytes} bytes");
        }
    }
}
