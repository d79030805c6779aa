//! Runs of letters and digits that a machine drew: hashes, nonces, ids, times in seconds.

/// Shorter runs are words, sizes and versions.
pub const TOKEN_BYTES_MIN: usize = 8;

/// A time in seconds has ten digits, one in milliseconds thirteen; ids of rows are shorter for most sites.
const CLOCK_DIGITS_MIN: usize = 9;

/// Why a run of letters, digits, `-` and `_` looks drawn by a machine; `None` if it does not.
pub fn drawn(run: &[u8]) -> Option<&'static str> {
    if run.len() < TOKEN_BYTES_MIN {
        return None;
    }
    let look = Look::of(run);
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
        // Words parted by marks: a token only if one of its pieces is.
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

/// A name made at build time or at each answer, such as `css-1x2y3z`, `Button_root__3kF9d` or `ember1432`.
pub fn is_random_name(word: &str) -> bool {
    const MADE_BY: [&str; 9] = ["css-", "sc-", "svelte-", "jsx-", "jss", "emotion-", "ember", "radix-", "headlessui-"];
    let bytes = word.as_bytes();
    if MADE_BY.iter().any(|maker| {
        word.strip_prefix(maker).is_some_and(|rest| {
            rest.len() >= 3
                && rest.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b':')
                && (rest.bytes().any(|byte| byte.is_ascii_digit())
                    || rest.bytes().any(|byte| byte.is_ascii_uppercase()))
        })
    }) {
        return true;
    }
    if !bytes.iter().any(u8::is_ascii_digit) {
        return is_module_name(word);
    }
    is_module_name(word)
        || is_uuid(bytes)
        || bytes.split(|byte| matches!(byte, b'-' | b'_' | b':' | b'.')).any(is_random_piece)
}

/// A CSS module's name ends with two underscores and a short hash.
fn is_module_name(word: &str) -> bool {
    let Some((_, hash)) = word.rsplit_once("__") else { return false };
    let look = Look::of(hash.as_bytes());
    (5..=8).contains(&hash.len()) && (look.digits > 0 || (look.upper > 0 && look.lower > 0)) && look.changes >= 2
}

/// A name that ends with a long number, such as `num88966858` or `red-hole-tux-231189`: fit for ids, which nobody reads.
pub fn is_numbered_name(name: &str) -> bool {
    const DIGITS_MIN: usize = 5;
    let digits = name.bytes().rev().take_while(u8::is_ascii_digit).count();
    digits >= DIGITS_MIN && digits < name.len()
}

fn is_random_piece(piece: &[u8]) -> bool {
    if piece.len() < 5 {
        return false;
    }
    let look = Look::of(piece);
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

/// What a run is made of.
#[derive(Default)]
struct Look {
    digits: usize,
    lower: usize,
    upper: usize,
    /// All but letters and digits.
    marks: usize,
    /// Letters and marks that no hexadecimal number has.
    not_hex: usize,
    /// How often digits, small and capital letters take turns; a capital before a small letter is no turn.
    changes: usize,
}

impl Look {
    fn of(run: &[u8]) -> Look {
        let mut look = Look::default();
        let mut last = 0u8;
        for byte in run {
            let class = match byte {
                b'0'..=b'9' => {
                    look.digits += 1;
                    1
                }
                b'a'..=b'z' => {
                    look.lower += 1;
                    2
                }
                b'A'..=b'Z' => {
                    look.upper += 1;
                    3
                }
                _ => {
                    look.marks += 1;
                    4
                }
            };
            look.not_hex += usize::from(!byte.is_ascii_hexdigit());
            let turns = last != 0 && class != last && class != 4 && last != 4 && !(last == 3 && class == 2);
            look.changes += usize::from(turns);
            last = class;
        }
        look
    }
}

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
