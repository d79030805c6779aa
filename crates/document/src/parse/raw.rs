//! Finds the end of raw text: the content of scripts, styles and similar elements, in which `<` begins no tag.

use memchr::{memchr_iter, memchr2};

use super::scan::is_space;

/// The start of the end tag with this name, or the end of input.
pub fn raw_end(bytes: &[u8], start: usize, name: &[u8]) -> usize {
    let rest = &bytes[start..];
    let found = memchr_iter(b'<', rest).find(|&ahead| is_end_tag(&rest[ahead..], name));
    found.map_or(bytes.len(), |ahead| start + ahead)
}

/// The end of a script. It may contain comments with a nested script, whose end tag does not count.
pub fn script_end(bytes: &[u8], start: usize) -> usize {
    let (mut commented, mut nested) = (false, false);
    let mut place = start;
    loop {
        // Outside a comment `>` means nothing, and scripts have many of them.
        let next = match commented {
            true => memchr2(b'<', b'>', &bytes[place..]),
            false => memchr::memchr(b'<', &bytes[place..]),
        };
        let Some(ahead) = next else { return bytes.len() };
        place += ahead;
        let rest = &bytes[place..];
        if rest[0] == b'>' {
            if bytes[start..place].ends_with(b"--") {
                (commented, nested) = (false, false);
            }
        } else if is_end_tag(rest, b"script") {
            if !nested {
                return place;
            }
            nested = false;
        } else if rest.starts_with(b"<!--") {
            commented = true;
        } else if commented && is_name_at(&rest[1..], b"script") {
            nested = true;
        }
        place += 1;
    }
}

fn is_end_tag(rest: &[u8], name: &[u8]) -> bool {
    rest.get(1) == Some(&b'/') && is_name_at(&rest[2..], name)
}

fn is_name_at(rest: &[u8], name: &[u8]) -> bool {
    rest.get(..name.len()).is_some_and(|found| found.eq_ignore_ascii_case(name))
        && rest.get(name.len()).is_some_and(|&byte| is_space(byte) || byte == b'/' || byte == b'>')
}
