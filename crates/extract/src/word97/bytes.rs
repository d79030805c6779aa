//! Numbers at places that may not be there.

pub fn u16_at(bytes: &[u8], place: usize) -> Option<u16> {
    Some(u16::from_le_bytes(bytes.get(place..place.checked_add(2)?)?.try_into().ok()?))
}

pub fn u32_at(bytes: &[u8], place: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(place..place.checked_add(4)?)?.try_into().ok()?))
}

/// A part of a stream; `None` where it is not whole.
pub fn part(bytes: &[u8], start: u32, length: u32) -> Option<&[u8]> {
    let start = start as usize;
    bytes.get(start..start.checked_add(length as usize)?)
}
