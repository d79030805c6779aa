//! Which paragraphs of a Word file are headings, list items, cells and ends of rows.

use super::bytes::{part, u16_at, u32_at};
use super::header::Header;

/// Pages of the file hold the properties of paragraphs.
const PAGE_BYTES: usize = 512;

/// Further pages are left out.
const PAGES_MAX: usize = 200_000;

/// Styles beyond this have no number of ours.
const STYLES_MAX: u16 = 4_096;

#[derive(Copy, Clone, Debug, Default)]
pub struct Kind {
    pub level: Option<u8>,
    pub is_item: bool,
    pub in_table: bool,
    pub ends_row: bool,
}

/// The properties of all paragraphs, by where they lie.
#[derive(Default)]
pub struct Paragraphs {
    /// Start, end, kind; sorted.
    all: Vec<(u32, u32, Kind)>,
}

impl Paragraphs {
    pub fn read(stream: &[u8], tables: &[u8], header: &Header) -> Paragraphs {
        let levels = levels_of(tables, header);
        let mut paragraphs = Paragraphs::default();
        let (start, length) = header.paragraphs;
        let table = part(tables, start, length).unwrap_or_default();
        let entry = if header.is_97 { 8 } else { 6 };
        let count = (table.len().saturating_sub(4) / entry).min(PAGES_MAX);
        for number in 0..count {
            let place = 4 * (count + 1) + (entry - 4) * number;
            let page = if header.is_97 {
                u32_at(table, place).map(|page| page & 0x3f_ffff)
            } else {
                u16_at(table, place).map(u32::from)
            };
            let Some(page) = page else { break };
            let start = page as usize * PAGE_BYTES;
            if let Some(page) = stream.get(start..start + PAGE_BYTES) {
                paragraphs.add_page(page, header.is_97, &levels);
            }
        }
        paragraphs.all.sort_by_key(|(start, ..)| *start);
        paragraphs
    }

    /// What the paragraph is whose last letter lies here.
    pub fn kind(&self, offset: u32) -> Kind {
        let after = self.all.partition_point(|(start, ..)| *start <= offset);
        let found = after.checked_sub(1).map(|place| self.all[place]);
        found.filter(|(_, end, _)| offset < *end).map(|(.., kind)| kind).unwrap_or_default()
    }

    fn add_page(&mut self, page: &[u8], is_97: bool, levels: &[Option<u8>]) {
        let count = usize::from(page[PAGE_BYTES - 1]);
        let entry = if is_97 { 13 } else { 7 };
        for number in 0..count {
            let (Some(start), Some(end)) = (u32_at(page, 4 * number), u32_at(page, 4 * number + 4)) else { return };
            let Some(words) = page.get(4 * (count + 1) + entry * number) else { return };
            let kind = match usize::from(*words) * 2 {
                0 => Kind::default(),
                place => kind_of(page, place, is_97, levels),
            };
            self.all.push((start, end, kind));
        }
    }
}

fn kind_of(page: &[u8], place: usize, is_97: bool, levels: &[Option<u8>]) -> Kind {
    let length = page.get(place).copied().map_or(0, usize::from);
    let (start, length) = match (length, is_97) {
        (0, true) => (place + 2, page.get(place + 1).copied().map_or(0, usize::from) * 2),
        _ => (place + 1, (length * 2).saturating_sub(1)),
    };
    let bytes = page.get(start..(start + length).min(page.len())).unwrap_or_default();
    let style = u16_at(bytes, 0).unwrap_or_default();
    let mut kind = Kind { level: levels.get(usize::from(style)).copied().flatten(), ..Kind::default() };
    if is_97 {
        apply(bytes.get(2..).unwrap_or_default(), &mut kind);
    }
    kind
}

/// Applies the properties that a paragraph changes of its style.
fn apply(mut bytes: &[u8], kind: &mut Kind) {
    while let (Some(code), Some(rest)) = (u16_at(bytes, 0), bytes.get(2..)) {
        let first = rest.first().copied().unwrap_or_default();
        match code {
            0x2416 => kind.in_table = first != 0,
            0x2417 => kind.ends_row = first != 0,
            0x460b => kind.is_item = u16_at(rest, 0).is_some_and(|list| list != 0 && list != 0xf801),
            0x2640 if first < 9 => kind.level = Some(first + 1),
            _ => {}
        }
        let length = match (code >> 13, code) {
            (0 | 1, _) => 1,
            (2 | 4 | 5, _) => 2,
            (3, _) => 4,
            (7, _) => 3,
            (_, 0xd608) => usize::from(u16_at(rest, 0).unwrap_or_default()) + 1,
            _ => usize::from(first) + 1,
        };
        let Some(after) = rest.get(length..) else { return };
        bytes = after;
    }
}

/// The level of each style, by its number.
fn levels_of(tables: &[u8], header: &Header) -> Vec<Option<u8>> {
    let (start, length) = header.styles;
    let sheet = part(tables, start, length).unwrap_or_default();
    let read = || {
        let begin = usize::from(u16_at(sheet, 0)?) + 2;
        let count = u16_at(sheet, 2)?.min(STYLES_MAX);
        let mut place = begin;
        let mut levels = Vec::new();
        for _ in 0..count {
            let length = usize::from(u16_at(sheet, place)?);
            let known = u16_at(sheet, place + 2).filter(|_| length >= 2).map(|style| style & 0xfff);
            levels.push(match known {
                Some(level @ 1..=9) => Some(level as u8),
                Some(62) => Some(1),
                _ => None,
            });
            place += 2 + length + (length & 1);
        }
        Some(levels)
    };
    read().unwrap_or_default()
}
