//! Recognises pages of the same template.

use vernal_model::ParagraphMark;
use xxhash_rust::xxh3::xxh3_64;

use super::changed_spots::is_main;

/// A number that pages of the same template share: the two least marks of the places in menus and footers, or of all places
/// where there is neither. 0 where no places are known.
pub fn template_key(marks: &[ParagraphMark]) -> u32 {
    const ORDERS: [u64; 2] = [0x9E37_79B9_7F4A_7C15, 0xD1B5_4A32_D192_ED03];
    const FRAME_PLACES_MIN: usize = 3;
    let distinct = |wanted: &dyn Fn(&ParagraphMark) -> bool| {
        let mut places: Vec<u16> =
            marks.iter().filter(|mark| mark.place != 0 && wanted(mark)).map(|mark| mark.place).collect();
        places.sort_unstable();
        places.dedup();
        places
    };
    let mut places = distinct(&|mark| !is_main(mark.role));
    if places.len() < FRAME_PLACES_MIN {
        places = distinct(&|_| true);
    }
    if places.is_empty() {
        return 0;
    }
    let least = |order: u64| places.iter().map(|place| xxh3_64(&(u64::from(*place) ^ order).to_le_bytes())).min();
    let bytes: Vec<u8> = ORDERS.iter().flat_map(|order| least(*order).unwrap_or(0).to_le_bytes()).collect();
    (xxh3_64(&bytes) as u32).max(1)
}
