//! Strings of the information dictionary: UTF-16 or UTF-8 with a mark, otherwise the encoding of PDF itself.

/// Longer titles and authors are cut.
const LETTERS_MAX: usize = 1_000;

pub fn text_of(bytes: &[u8]) -> String {
    let bytes = &bytes[..bytes.len().min(LETTERS_MAX * 4)];
    let text = match bytes {
        [0xfe, 0xff, rest @ ..] => encoding_rs::UTF_16BE.decode_without_bom_handling(rest).0.into_owned(),
        [0xff, 0xfe, rest @ ..] => encoding_rs::UTF_16LE.decode_without_bom_handling(rest).0.into_owned(),
        [0xef, 0xbb, 0xbf, rest @ ..] => String::from_utf8_lossy(rest).into_owned(),
        _ => bytes.iter().map(|&byte| letter(byte)).collect(),
    };
    text.chars().filter(|letter| !letter.is_control()).take(LETTERS_MAX).collect::<String>().trim().to_owned()
}

/// PDFDocEncoding: Latin-1 with letters of its own from 0x80 to 0xa0.
fn letter(byte: u8) -> char {
    const OWN: [char; 33] = [
        '•', '†', '‡', '…', '—', '–', 'ƒ', '⁄', '‹', '›', '−', '‰', '„', '“', '”', '‘', '’', '‚', '™', 'ﬁ', 'ﬂ', 'Ł',
        'Œ', 'Š', 'Ÿ', 'Ž', 'ı', 'ł', 'œ', 'š', 'ž', '\u{fffd}', '€',
    ];
    match byte {
        0x80..=0xa0 => OWN[usize::from(byte - 0x80)],
        _ => char::from(byte),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_are_read_in_each_of_their_encodings() {
        assert_eq!(text_of(b"\xfe\xff\x00T\x00\xe4"), "Tä");
        assert_eq!(text_of(b"\xef\xbb\xbfT\xc3\xa4"), "Tä");
        assert_eq!(text_of(b"T\xe4 \x84 \xa0"), "Tä — €");
    }
}
