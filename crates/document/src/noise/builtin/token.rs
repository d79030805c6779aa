//! Recognises generated runs of letters and digits: hashes, nonces, ids, times in seconds.

use crate::parse::attribute::CharacterClasses;

/// Shorter runs are words, sizes and versions.
pub const TOKEN_BYTES_MIN: usize = 8;

/// A time in seconds has ten digits, one in milliseconds thirteen. Row ids are shorter on most sites.
const CLOCK_DIGITS_MIN: usize = 9;

/// The reason why a run of letters, digits, `-` and `_` looks generated; `None` if it does not.
pub fn drawn(run: &[u8]) -> Option<&'static str> {
    if run.len() < TOKEN_BYTES_MIN {
        return None;
    }
    let look = CharacterCounts::of(run);
    if look.digits == 0 {
        return None;
    }
    if look.digits == run.len() {
        return (run.len() >= CLOCK_DIGITS_MIN).then_some("number of a clock");
    }
    if is_uuid(run) {
        return Some("trace id");
    }
    if look.marks > 0 {
        // Words with separators are a token only if one of the words is.
        let mut pieces = run.split(|byte| !byte.is_ascii_alphanumeric());
        let random = run.len() >= 20 && look.changes * 4 >= run.len();
        return if random { Some("token") } else { pieces.find_map(drawn) };
    }
    let letters = look.lower + look.upper;
    let one_case = look.lower == 0 || look.upper == 0;
    if look.not_hex == 0 && one_case && look.digits >= 2 && letters >= 1 {
        return Some("build id");
    }
    let random = look.changes >= 3 && look.changes * 4 >= run.len();
    (random && (run.len() >= 12 || look.changes * 5 >= run.len() * 2)).then_some("token")
}

/// A name generated at build time or for each answer, such as `css-1x2y3z`, `Button_root__3kF9d` or `ember1432`.
pub fn is_random_name(word: &str) -> bool {
    let bytes = word.as_bytes();
    let makers: &[&str] = match bytes {
        [b'c', b's', ..] => &["css-"],
        [b's', b'c', ..] => &["sc-"],
        [b's', b'v', ..] => &["svelte-"],
        [b'j', b's', ..] => &["jsx-", "jss"],
        [b'e', b'm', ..] => &["emotion-", "ember"],
        [b'r', b'a', ..] => &["radix-"],
        [b'h', b'e', ..] => &["headlessui-"],
        _ => &[],
    };
    if makers.iter().any(|maker| {
        word.strip_prefix(maker).is_some_and(|rest| {
            rest.len() >= 3
                && rest.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b':')
                && (rest.bytes().any(|byte| byte.is_ascii_digit())
                    || rest.bytes().any(|byte| byte.is_ascii_uppercase()))
        })
    }) {
        return true;
    }
    let signs = CharacterClasses::of(word);
    if signs.has_underscore() && is_module_name(word) {
        return true;
    }
    signs.has_digit() && is_random_of_pieces(bytes)
}

fn is_random_of_pieces(bytes: &[u8]) -> bool {
    is_uuid(bytes) || bytes.split(|byte| matches!(byte, b'-' | b'_' | b':' | b'.')).any(is_random_piece)
}

/// The class name of a CSS module ends with two underscores and a short hash.
fn is_module_name(word: &str) -> bool {
    let bytes = word.as_bytes();
    let Some(marks) = bytes.windows(2).rposition(|pair| pair == b"__") else { return false };
    let hash = &bytes[marks + 2..];
    if hash.len() > 8 {
        return false;
    }
    let look = CharacterCounts::of(hash);
    (5..=8).contains(&hash.len()) && (look.digits > 0 || (look.upper > 0 && look.lower > 0)) && look.changes >= 2
}

/// A name that ends with a long number, such as `num88966858` or `red-hole-tux-231189`: used as ids.
pub fn is_numbered_name(name: &str) -> bool {
    const DIGITS_MIN: usize = 5;
    let digits = name.bytes().rev().take_while(u8::is_ascii_digit).count();
    digits >= DIGITS_MIN && digits < name.len()
}

fn is_random_piece(piece: &[u8]) -> bool {
    if piece.len() < 5 {
        return false;
    }
    let look = CharacterCounts::of(piece);
    if look.digits == piece.len() {
        return piece.len() >= 6;
    }
    // A size, such as `24x24`.
    if look.digits + 1 == piece.len() && piece.contains(&b'x') {
        return false;
    }
    look.digits > 0 && look.changes >= 2 && look.changes * 4 >= piece.len()
}

pub fn is_uuid(run: &[u8]) -> bool {
    run.len() == 36
        && run.iter().enumerate().all(|(place, byte)| match place {
            8 | 13 | 18 | 23 => *byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

/// The kinds of characters in a run.
#[derive(Default)]
struct CharacterCounts {
    digits: usize,
    lower: usize,
    upper: usize,
    /// Characters other than letters and digits.
    marks: usize,
    /// Letters and other characters that no hexadecimal number has.
    not_hex: usize,
    /// How often the class changes between digits, small and capital letters. A capital before a small letter is no change.
    changes: usize,
}

impl CharacterCounts {
    fn of(run: &[u8]) -> CharacterCounts {
        let mut look = CharacterCounts::default();
        let mut last = 0;
        for stretch in run.chunks(STRETCH_BYTES) {
            let mut counts = 0u64;
            for &byte in stretch {
                let class = CLASSES[usize::from(byte)];
                counts += COUNTS[usize::from(last << 4 | class) & 127];
                last = class & 7;
            }
            let field = |place: u32| (counts >> (place * FIELD_BITS)) as usize & STRETCH_BYTES;
            look.digits += field(0);
            look.lower += field(1);
            look.upper += field(2);
            look.not_hex += field(3);
            look.changes += field(4);
        }
        look.marks = run.len() - look.digits - look.lower - look.upper;
        look
    }
}

/// Five counts share one number, with so many bits each, for at most so many bytes.
const FIELD_BITS: u32 = 12;
const STRETCH_BYTES: usize = (1 << FIELD_BITS) - 1;

const DIGIT: u8 = 1;
const LOWER: u8 = 2;
const UPPER: u8 = 3;
const MARK: u8 = 4;
const NOT_HEX: u8 = 8;

const CLASSES: [u8; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let class = match byte as u8 {
            b'0'..=b'9' => DIGIT,
            b'a'..=b'z' => LOWER,
            b'A'..=b'Z' => UPPER,
            _ => MARK,
        };
        table[byte] = if (byte as u8).is_ascii_hexdigit() { class } else { class | NOT_HEX };
        byte += 1;
    }
    table
};

/// What a byte adds to the counts, by the class of the previous byte (in the upper bits, 0 at the start) and its own class.
const COUNTS: [u64; 128] = {
    let mut counts = [0; 128];
    let mut pair = 0;
    while pair < 128 {
        let (last, next) = (pair as u8 >> 4, pair as u8 & 7);
        let is_counted = next == DIGIT || next == LOWER || next == UPPER;
        if is_counted {
            counts[pair] += 1 << ((next - DIGIT) as u32 * FIELD_BITS);
        }
        if pair as u8 & NOT_HEX != 0 {
            counts[pair] += 1 << (3 * FIELD_BITS);
        }
        let takes_turn = is_counted && last != 0 && last < MARK && last != next;
        if takes_turn && !(last == UPPER && next == LOWER) {
            counts[pair] += 1 << (4 * FIELD_BITS);
        }
        pair += 1;
    }
    counts
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_machines_draw_is_told_from_what_people_write() {
        for token in [
            "3f2a9c1b",
            "d41d8cd98f00b204e9800998ecf8427e",
            "1700000000",
            "1700000000123",
            "123e4567-e89b-12d3-a456-426614174000",
            "AKx9fQ2mZ7pL0wE4",
            "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9",
        ] {
            assert!(drawn(token.as_bytes()).is_some(), "{token}");
        }
        for word in [
            "jquery-3",
            "bootstrap",
            "20240501",
            "2024-05-01",
            "internationalization",
            "version-2-0-1",
            "col-md-6",
            "getElementById",
            "utf8mb4",
            "windows1252",
            "iso-8859-1",
            "backgroundColor2",
        ] {
            assert_eq!(drawn(word.as_bytes()), None, "{word}");
        }
    }

    #[test]
    fn names_made_by_builds_are_random_and_names_made_by_people_are_not() {
        for name in
            ["css-1x2y3z", "sc-bdVaJa", "Button_root__3kF9d", "ember1432", "jsx-123456789", "a1b2c3d4", "_3x7dk9"]
        {
            assert!(is_random_name(name), "{name}");
        }
        for name in [
            "col-md-6",
            "mt-4",
            "h1",
            "grid-12",
            "header",
            "post-2024",
            "active",
            "btn-primary",
            "block__element",
            "nav__item--active",
            "w-1200",
            "wp-block-column",
            "page-id-42",
            "icon-24x24",
            "section2",
        ] {
            assert!(!is_random_name(name), "{name}");
        }
    }
}
