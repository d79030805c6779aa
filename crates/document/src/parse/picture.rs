//! The width and height of a picture, from the first bytes of its file.

/// Pixels across and down; `None` for formats that do not say so near the beginning.
pub fn picture_size(bytes: &[u8]) -> Option<(u32, u32)> {
    png(bytes).or_else(|| gif(bytes)).or_else(|| webp(bytes)).or_else(|| bmp(bytes)).or_else(|| jpeg(bytes))
}

fn png(bytes: &[u8]) -> Option<(u32, u32)> {
    let rest = bytes.strip_prefix(b"\x89PNG\r\n\x1a\n")?;
    let at = |from: usize| Some(u32::from_be_bytes(*rest.get(from..)?.first_chunk()?));
    (rest.get(4..8)? == b"IHDR").then_some(())?;
    Some((at(8)?, at(12)?))
}

fn gif(bytes: &[u8]) -> Option<(u32, u32)> {
    let rest = bytes.strip_prefix(b"GIF87a").or_else(|| bytes.strip_prefix(b"GIF89a"))?;
    Some((u32::from(little(rest, 0)?), u32::from(little(rest, 2)?)))
}

fn bmp(bytes: &[u8]) -> Option<(u32, u32)> {
    bytes.strip_prefix(b"BM")?;
    let at = |from: usize| Some(i32::from_le_bytes(*bytes.get(from..)?.first_chunk()?));
    // A negative height says that the rows are stored from the top.
    Some((at(18)?.unsigned_abs(), at(22)?.unsigned_abs()))
}

fn webp(bytes: &[u8]) -> Option<(u32, u32)> {
    bytes.strip_prefix(b"RIFF")?;
    (bytes.get(8..12)? == b"WEBP").then_some(())?;
    let data = bytes.get(20..)?;
    match bytes.get(12..16)? {
        b"VP8 " => Some((u32::from(little(data, 6)? & 0x3fff), u32::from(little(data, 8)? & 0x3fff))),
        b"VP8L" => {
            let bits = u32::from_le_bytes(*data.get(1..)?.first_chunk()?);
            Some(((bits & 0x3fff) + 1, (bits >> 14 & 0x3fff) + 1))
        }
        b"VP8X" => {
            let at = |from: usize| Some(u32::from(little(data, from)?) | u32::from(*data.get(from + 2)?) << 16);
            Some((at(4)? + 1, at(7)? + 1))
        }
        _ => None,
    }
}

/// Looks for the first frame header among the segments.
fn jpeg(bytes: &[u8]) -> Option<(u32, u32)> {
    let mut rest = bytes.strip_prefix(b"\xff\xd8")?;
    loop {
        let [0xff, marker, ..] = *rest else { return None };
        match marker {
            0xff => rest = &rest[1..],
            0x01 | 0xd0..=0xd7 => rest = &rest[2..],
            0xc0..=0xc3 | 0xc5..=0xc7 | 0xc9..=0xcb | 0xcd..=0xcf => {
                return Some((u32::from(big(rest, 7)?), u32::from(big(rest, 5)?)));
            }
            _ => rest = rest.get(2 + usize::from(big(rest, 2)?)..)?,
        }
    }
}

fn little(bytes: &[u8], from: usize) -> Option<u16> {
    Some(u16::from_le_bytes(*bytes.get(from..)?.first_chunk()?))
}

fn big(bytes: &[u8], from: usize) -> Option<u16> {
    Some(u16::from_be_bytes(*bytes.get(from..)?.first_chunk()?))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_common_formats_tell_their_size() {
        let png = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR\0\0\x02\x80\0\0\x01\xe0\x08\x02\0\0\0";
        let jpeg = b"\xff\xd8\xff\xe0\0\x04ab\xff\xff\xc0\0\x11\x08\x01\xe0\x02\x80\x03";
        let webp = b"RIFF\0\0\0\0WEBPVP8X\x0a\0\0\0\0\0\0\0\x7f\x02\0\xdf\x01\0";
        let bmp = b"BM\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x80\x02\0\0\x20\xfe\xff\xff";
        for picture in [&png[..], jpeg, webp, bmp, b"GIF89a\x80\x02\xe0\x01"] {
            assert_eq!(picture_size(picture), Some((640, 480)), "{picture:?}");
        }
        for other in [&b""[..], b"<svg/>", b"\xff\xd8\xff\xd9", b"GIF89a", &png[..12]] {
            assert_eq!(picture_size(other), None);
        }
    }

    proptest! {
        #[test]
        fn no_bytes_break_it(start in 0usize..5, tail in prop::collection::vec(any::<u8>(), 0..80)) {
            let starts: [&[u8]; 5] = [b"\x89PNG\r\n\x1a\n", b"GIF87a", b"\xff\xd8\xff", b"RIFF\0\0\0\0WEBPVP8", b"BM"];
            picture_size(&[starts[start], &tail].concat());
        }
    }
}
