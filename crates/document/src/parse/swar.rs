//! SWAR scans: searches over eight bytes at a time in one 64-bit word. With loops over bytes they would take most of the pass.

use memchr::memchr;

const LOW: u64 = eight(0x7f);
/// The highest bit of each byte.
pub const HIGH: u64 = eight(0x80);

/// Targets are usually near. Beyond so many bytes `memchr` is faster in spite of its set-up cost.
const NEAR_BYTES: usize = 32;

const fn eight(byte: u8) -> u64 {
    u64::from_ne_bytes([byte; 8])
}

/// Eight bytes as a word, the first byte lowest.
#[inline(always)]
fn block_at(bytes: &[u8], place: usize) -> Option<u64> {
    bytes.get(place..).and_then(|rest| rest.first_chunk::<8>()).map(|block| u64::from_le_bytes(*block))
}

/// The first position of a byte.
#[inline]
pub fn find_near(bytes: &[u8], wanted: u8) -> Option<usize> {
    let mut place = 0;
    while place < NEAR_BYTES {
        let Some(block) = block_at(bytes, place) else {
            return bytes[place..].iter().position(|&byte| byte == wanted).map(|ahead| place + ahead);
        };
        let other = block ^ eight(wanted);
        // The lowest set high bit belongs to the first byte that matches.
        let found = other.wrapping_sub(eight(1)) & !other & HIGH;
        if found != 0 {
            return Some(place + (found.trailing_zeros() / 8) as usize);
        }
        place += 8;
    }
    memchr(wanted, &bytes[place..]).map(|ahead| place + ahead)
}

/// The position of the first digit from `from` on.
#[inline]
pub fn next_digit(bytes: &[u8], from: usize) -> Option<usize> {
    let mut place = from;
    while let Some(block) = block_at(bytes, place) {
        // Only a digit becomes less than ten. Adding 118 carries all other bytes into the high bit.
        let block = block ^ eight(b'0');
        let digits = !(((block & LOW) + eight(118)) | block) & HIGH;
        if digits != 0 {
            return Some(place + (digits.trailing_zeros() / 8) as usize);
        }
        place += 8;
    }
    bytes.get(place..)?.iter().position(u8::is_ascii_digit).map(|ahead| place + ahead)
}

/// The number of ASCII white space bytes at the start.
#[inline]
pub fn white_space(bytes: &[u8]) -> usize {
    let mut place = 0;
    loop {
        // Lines are usually indented with spaces.
        while block_at(bytes, place) == Some(eight(b' ')) {
            place += 8;
        }
        match bytes.get(place) {
            Some(byte) if byte.is_ascii_whitespace() => place += 1,
            _ => return place,
        }
    }
}

/// The run of at most eight bytes from 0x40 on at the start: its length, and its bytes in lower case, the first byte highest. All
/// bytes that end a name in markup are below 0x40.
#[inline(always)]
pub fn leading_letters(bytes: &[u8]) -> (usize, u64) {
    let Some(block) = bytes.first_chunk::<8>() else { return (0, 0) };
    let block = u64::from_be_bytes(*block);
    // Bytes below 0x40 have neither of the two highest bits.
    let below = !(block | block << 1) & HIGH;
    let length = below.leading_zeros() as usize / 8;
    // If the first byte is below 0x40, all eight are shifted out.
    (length, lower_case(block.checked_shr(64 - 8 * length as u32).unwrap_or(0)))
}

/// Changes capital letters to lower case.
#[inline(always)]
pub fn lower_case(block: u64) -> u64 {
    block | between(block, b'A', b'Z') >> 2
}

/// The highest bit of each byte between the two ASCII bytes.
#[inline(always)]
pub fn between(block: u64, first: u8, last: u8) -> u64 {
    let heptets = block & LOW;
    let from_first = heptets + eight(128 - first);
    let after_last = heptets + eight(127 - last);
    (from_first ^ after_last) & !block & HIGH
}

/// The end of a run of plain ASCII words separated by single spaces. It may stop early, but never after a space.
pub fn skip_plain(bytes: &[u8], start: usize) -> usize {
    let mut place = start;
    // A space at the start would have to be folded.
    let mut after_space = 0x80;
    while let Some(block) = block_at(bytes, place) {
        // With the high bit set in every byte, no subtraction borrows from the next byte.
        let raised = block | HIGH;
        let unusual = (block | !(raised - eight(b' '))) & HIGH;
        // Among the usual bytes, exactly the spaces.
        let spaces = !(raised - eight(b' ' + 1)) & HIGH;
        let doubled = spaces & (spaces << 8 | after_space);
        let stop = unusual | doubled;
        if stop != 0 {
            place += (stop.trailing_zeros() / 8) as usize;
            break;
        }
        after_space = spaces >> 56;
        place += 8;
    }
    if place > start && bytes[place - 1] == b' ' { place - 1 } else { place }
}

#[cfg(test)]
mod tests {
    use vernal_model::Chance;

    use super::*;

    #[test]
    fn every_byte_is_found_wherever_it_stands() {
        let mut bytes = vec![b'x' + 1; 70];
        for byte in 0..=255u8 {
            for place in 0..bytes.len() {
                bytes[place] = byte;
                assert_eq!(next_digit(&bytes, 0), byte.is_ascii_digit().then_some(place), "{byte} at {place}");
                assert_eq!(next_digit(&bytes, place + 1), None);
                let found = (byte != b'x' + 1).then_some(place).or(Some(0));
                assert_eq!(find_near(&bytes, byte), found, "{byte} at {place}");
                bytes[place] = b'x' + 1;
            }
        }
        assert_eq!(next_digit(b"", 3), None);
        assert_eq!(find_near(b"", b'"'), None);
    }

    #[test]
    fn searches_give_what_a_loop_over_bytes_gives() {
        const LETTERS: [u8; 12] = [b'a', b'Z', b'[', b'@', b'`', b'{', b'>', b' ', b'\n', 0x80, 0xdf, 0xff];
        let mut chance = Chance::new(7);
        for _ in 0..50_000 {
            let bytes: Vec<u8> = (0..chance.below(40)).filter_map(|_| chance.pick(&LETTERS).copied()).collect();
            assert_eq!(find_near(&bytes, b'>'), bytes.iter().position(|&byte| byte == b'>'));
            let white = bytes.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
            assert_eq!(white_space(&bytes), white);
            let (length, letters) = leading_letters(&bytes);
            let expected: Vec<u8> = bytes.iter().take(8).copied().take_while(|&byte| byte >= 0x40).collect();
            if bytes.len() >= 8 {
                let packed = expected.iter().fold(0, |packed, byte| packed << 8 | u64::from(byte.to_ascii_lowercase()));
                assert_eq!((length, letters), (expected.len(), packed), "{bytes:?}");
            } else {
                assert_eq!((length, letters), (0, 0));
            }
        }
    }

    #[test]
    fn what_is_skipped_needs_no_folding() {
        const LETTERS: [&str; 8] = ["a", "b", "cd", " ", " ", "\n", "é", "\u{a0}"];
        let mut chance = Chance::new(3);
        let mut skipped = 0;
        for _ in 0..20_000 {
            let letters: Vec<&str> = (0..chance.below(60)).filter_map(|_| chance.pick(&LETTERS).copied()).collect();
            let text: String = letters.concat();
            let plain = &text[..skip_plain(text.as_bytes(), 0)];
            assert_eq!(plain, plain.split_whitespace().collect::<Vec<_>>().join(" "), "{text:?}");
            skipped += plain.len();
        }
        assert!(skipped > 0);
    }
}
