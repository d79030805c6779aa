//! How parent and child speak.
//!
//! ```text
//! child, once      1 byte   what confines it (see `Confinement`)
//! parent, per file 1 byte   kind of the file       4 bytes  length, little endian   the file
//! child, per file  1 byte   0 HTML, 1 fault        4 bytes  length, little endian   the HTML or the words of the fault
//! ```

pub const HTML: u8 = 0;
pub const FAULT: u8 = 1;

/// The bytes before each payload.
pub const HEAD_BYTES: usize = 5;

pub fn head(kind: u8, length: usize) -> Option<[u8; HEAD_BYTES]> {
    let [a, b, c, d] = u32::try_from(length).ok()?.to_le_bytes();
    Some([kind, a, b, c, d])
}

pub fn parse_head([kind, length @ ..]: [u8; HEAD_BYTES]) -> (u8, usize) {
    (kind, u32::from_le_bytes(length) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_is_read_as_it_was_written() {
        assert_eq!(head(3, 70_000).map(parse_head), Some((3, 70_000)));
        assert_eq!(head(3, usize::MAX), None);
    }
}
