//! The text of a Word file, put together from its pieces.

use encoding_rs::WINDOWS_1252;

use super::bytes::{part, u16_at, u32_at};
use super::header::Header;

/// More text is cut.
const LETTERS_MAX: usize = 16 << 20;

/// Further pieces are left out.
const PIECES_MAX: usize = 1 << 20;

/// The text, and where each piece of it lies in the file.
#[derive(Default)]
pub struct Text {
    pub letters: Vec<char>,
    places: Vec<Place>,
}

/// A run of letters that lie one after the other in the file.
struct Place {
    /// The first letter, by its number.
    first: usize,
    /// Where it lies.
    offset: u32,
    bytes_per_letter: u32,
}

impl Text {
    /// Where a letter lies in the file. Styles are named by that place.
    pub fn offset(&self, letter: usize) -> u32 {
        let after = self.places.partition_point(|place| place.first <= letter);
        let Some(place) = after.checked_sub(1).map(|place| &self.places[place]) else { return 0 };
        let steps = u32::try_from(letter - place.first).unwrap_or(u32::MAX);
        place.offset.saturating_add(steps.saturating_mul(place.bytes_per_letter))
    }

    fn add(&mut self, stream: &[u8], header: &Header, (offset, is_wide): (u32, bool), count: u32) {
        let bytes_per_letter = if is_wide { 2 } else { 1 };
        let start = (offset as usize).min(stream.len());
        let room = LETTERS_MAX.saturating_sub(self.letters.len());
        let count = (count as usize).min(room).min((stream.len() - start) / bytes_per_letter);
        let bytes = &stream[start..start + count * bytes_per_letter];
        self.places.push(Place { first: self.letters.len(), offset, bytes_per_letter: bytes_per_letter as u32 });
        if is_wide {
            // Each half of a pair counts as one letter; the second half is left empty.
            let units = bytes.chunks_exact(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]]));
            for letter in char::decode_utf16(units) {
                let letter = letter.unwrap_or('\u{fffd}');
                self.letters.push(letter);
                if u32::from(letter) > 0xffff {
                    self.letters.push('\u{feff}');
                }
            }
        } else {
            let encoding = if header.is_97 { WINDOWS_1252 } else { header.encoding };
            if encoding.is_single_byte() {
                let letter =
                    |byte: &u8| encoding.decode_without_bom_handling(&[*byte]).0.chars().next().unwrap_or('\u{fffd}');
                self.letters
                    .extend(bytes.iter().map(|byte| if byte.is_ascii() { char::from(*byte) } else { letter(byte) }));
            } else {
                self.letters.extend(encoding.decode_without_bom_handling(bytes).0.chars());
            }
        }
    }
}

pub fn text_of(stream: &[u8], tables: &[u8], header: &Header) -> Text {
    let mut text = Text::default();
    let pieces = pieces_of(tables, header).unwrap_or_default();
    if pieces.is_empty() {
        // A file that was not saved in pieces has its text in one.
        let (start, end) = header.text;
        text.add(stream, header, (start, false), end.saturating_sub(start));
        return text;
    }
    for (place, count) in pieces {
        text.add(stream, header, place, count);
        if text.letters.len() >= LETTERS_MAX {
            break;
        }
    }
    text
}

/// The pieces: where each lies, whether its letters have two bytes, and how many they are.
fn pieces_of(tables: &[u8], header: &Header) -> Option<Vec<((u32, bool), u32)>> {
    let (start, length) = header.pieces;
    let mut rest = part(tables, start, length)?;
    // Changes of formatting come first.
    while let [1, after @ ..] = rest {
        let skipped = usize::from(u16_at(after, 0)?) + 2;
        rest = after.get(skipped..)?;
    }
    let [2, after @ ..] = rest else { return None };
    let table = after.get(4..)?;
    let table = &table[..table.len().min(u32_at(after, 0)? as usize)];
    let count = (table.len().checked_sub(4)? / 12).min(PIECES_MAX);
    let mut pieces = Vec::with_capacity(count);
    for number in 0..count {
        let (first, next) = (u32_at(table, 4 * number)?, u32_at(table, 4 * number + 4)?);
        let offset = u32_at(table, 4 * (count + 1) + 8 * number + 2)?;
        let place = match header.is_97 {
            true if offset & 0x4000_0000 != 0 => ((offset & 0x3fff_ffff) / 2, false),
            true => (offset & 0x3fff_ffff, true),
            false => (offset, false),
        };
        pieces.push((place, next.saturating_sub(first)));
    }
    Some(pieces)
}
