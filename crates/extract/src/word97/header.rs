//! What a Word file says at its beginning (the FIB): which version it is, and where its tables and stories lie.

use encoding_rs::{Encoding, WINDOWS_1252};

use super::bytes::{u16_at, u32_at};
use crate::fault::Fault;

/// The mark of Word 6 and later.
const MARKS: [u16; 3] = [0xa5ec, 0xa5dc, 0xa699];

/// The first version with 16-bit text and tables in a stream of their own.
const VERSION_97: u16 = 0xc1;

/// How many characters each story has, in the order in which they lie.
#[derive(Debug, Default)]
pub struct Stories {
    pub main: u32,
    pub footnotes: u32,
    pub headers: u32,
    pub macros: u32,
    pub remarks: u32,
    pub endnotes: u32,
    pub boxes: u32,
}

/// Where a table lies: its start and its length.
pub type TablePlace = (u32, u32);

#[derive(Debug)]
pub struct Header {
    pub is_97: bool,
    /// Whether the tables lie in the stream `1Table` instead of `0Table`.
    pub second_table: bool,
    pub text: (u32, u32),
    pub stories: Stories,
    pub styles: TablePlace,
    pub paragraphs: TablePlace,
    pub pieces: TablePlace,
    pub encoding: &'static Encoding,
}

impl Header {
    pub fn read(stream: &[u8]) -> Result<Header, Fault> {
        Self::of(stream).unwrap_or_else(|| Err(Fault::broken("its beginning is cut short")))
    }

    fn of(stream: &[u8]) -> Option<Result<Header, Fault>> {
        if !MARKS.contains(&u16_at(stream, 0)?) {
            return Some(Err(Fault::broken("no Word file of a version that can be read")));
        }
        let (version, flags) = (u16_at(stream, 2)?, u16_at(stream, 0x0a)?);
        if flags & 0x0100 != 0 {
            return Some(Err(Fault::Locked));
        }
        let is_97 = version >= VERSION_97;
        let number = |place: usize| u32_at(stream, place).unwrap_or_default();
        let table = |place: usize| (number(place), number(place + 4));
        let counts = if is_97 { 0x4c } else { 0x34 };
        let count = |story: usize| number(counts + 4 * story);
        let (styles, paragraphs, pieces) = if is_97 { (0xa2, 0x102, 0x1a2) } else { (0x60, 0xc0, 0x160) };
        Some(Ok(Header {
            is_97,
            second_table: flags & 0x0200 != 0,
            text: (number(0x18), number(0x1c)),
            stories: Stories {
                main: count(0),
                footnotes: count(1),
                headers: count(2),
                macros: count(3),
                remarks: count(4),
                endnotes: count(5),
                boxes: count(6),
            },
            styles: table(styles),
            paragraphs: table(paragraphs),
            pieces: table(pieces),
            encoding: encoding_of(u16_at(stream, 6)?),
        }))
    }
}

/// The character set that files of Word 6 in a language mostly have.
fn encoding_of(language: u16) -> &'static Encoding {
    match language & 0x3ff {
        0x01 => encoding_rs::WINDOWS_1256,
        0x02 | 0x19 | 0x22 | 0x23 => encoding_rs::WINDOWS_1251,
        0x04 => encoding_rs::GBK,
        0x05 | 0x0e | 0x15 | 0x18 | 0x1a | 0x1b | 0x24 => encoding_rs::WINDOWS_1250,
        0x08 => encoding_rs::WINDOWS_1253,
        0x0d => encoding_rs::WINDOWS_1255,
        0x11 => encoding_rs::SHIFT_JIS,
        0x12 => encoding_rs::EUC_KR,
        0x1f => encoding_rs::WINDOWS_1254,
        0x25..=0x27 => encoding_rs::WINDOWS_1257,
        _ => WINDOWS_1252,
    }
}
