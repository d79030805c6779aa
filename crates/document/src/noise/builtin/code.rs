//! Noise in scripts and style sheets: tokens, ids and times that a server writes into them.

use super::token::{TOKEN_BYTES_MIN, drawn};
use super::{Cleaned, Cutter};
use crate::parse::swar::next_digit;

/// So many digits after the point are never written by people: measured seconds, random numbers.
const FRACTION_DIGITS_MIN: usize = 6;

/// The text of a script or a style sheet without generated tokens.
pub fn code(text: &str) -> Cleaned<'_> {
    let bytes = text.as_bytes();
    if bytes.len() < FRACTION_DIGITS_MIN {
        return Cleaned::plain(text);
    }
    let mut cutter = Cutter::new(text);
    let (windows, rest) = bytes.as_chunks::<WINDOW_BYTES>();
    // The start of the run that reaches into the window. A run may span many windows.
    let mut open = None;
    for (number, window) in windows.iter().enumerate() {
        window_of_code(bytes, number * WINDOW_BYTES, window, &mut open, &mut cutter);
    }
    // The remaining bytes, and one that ends every run.
    let mut last = [0; WINDOW_BYTES];
    last[..rest.len()].copy_from_slice(rest);
    window_of_code(bytes, bytes.len() - rest.len(), &last, &mut open, &mut cutter);
    cutter.finish()
}

/// So many bytes are processed together, with one bit for each in a number.
const WINDOW_BYTES: usize = 64;

/// Cuts the runs that end in this window and have a digit.
fn window_of_code(
    bytes: &[u8],
    base: usize,
    window: &[u8; WINDOW_BYTES],
    open: &mut Option<usize>,
    cutter: &mut Cutter<'_>,
) {
    let runs = bits(window, is_in_run);
    let mut left = runs;
    if let Some(start) = *open {
        let length = runs.trailing_ones();
        if length as usize == WINDOW_BYTES {
            return;
        }
        *open = None;
        let end = base + length as usize;
        if end - start >= FRACTION_DIGITS_MIN && next_digit(&bytes[start..end], 0).is_some() {
            cut_run(bytes, start, end, cutter);
        }
        left &= u64::MAX << length;
    }
    let trailing = left.leading_ones();
    if trailing > 0 {
        *open = Some(base + WINDOW_BYTES - trailing as usize);
        left &= u64::MAX.checked_shr(trailing).unwrap_or(0);
    }
    let mut long = starts_of_long_runs(left);
    if long == 0 {
        return;
    }
    let digits = bits(window, |byte| byte.wrapping_sub(b'0') < 10);
    while long != 0 {
        let start = long.trailing_zeros();
        let length = (left >> start).trailing_ones();
        let run = (u64::MAX >> (WINDOW_BYTES as u32 - length)) << start;
        if digits & run != 0 {
            cut_run(bytes, base + start as usize, base + (start + length) as usize, cutter);
        }
        long &= !run;
    }
}

/// One bit for each byte, the first byte in the lowest bit.
#[inline(always)]
fn bits(window: &[u8; WINDOW_BYTES], wanted: impl Fn(u8) -> bool) -> u64 {
    let mut flags = [0u8; WINDOW_BYTES];
    for (flag, &byte) in flags.iter_mut().zip(window) {
        *flag = u8::from(wanted(byte));
    }
    let (swar, _) = flags.as_chunks::<8>();
    // The product collects the lowest bits of the eight flags in its highest byte.
    let gathered = |flags: &[u8; 8]| u64::from_le_bytes(*flags).wrapping_mul(0x0102_0408_1020_4080) >> 56;
    swar.iter().rev().fold(0, |bits, flags| bits << 8 | gathered(flags))
}

/// The bits from which at least [`FRACTION_DIGITS_MIN`] set bits follow.
fn starts_of_long_runs(runs: u64) -> u64 {
    let two = runs & runs >> 1;
    let four = two & two >> 2;
    four & two >> 4
}

fn cut_run(bytes: &[u8], start: usize, end: usize, cutter: &mut Cutter<'_>) {
    let run = &bytes[start..end];
    if is_fraction(bytes, start, run) {
        cutter.cut(start, end, "measured time");
    } else if run.len() >= TOKEN_BYTES_MIN
        && let Some(detector) = drawn(run)
    {
        cutter.cut(start, end, detector);
    }
}

fn is_fraction(bytes: &[u8], start: usize, run: &[u8]) -> bool {
    start > 1
        && bytes[start - 1] == b'.'
        && bytes[start - 2].is_ascii_digit()
        && run.len() >= FRACTION_DIGITS_MIN
        && run.iter().all(u8::is_ascii_digit)
}

/// Letters, digits, `_`, `-` and `+`: names, numbers, and base 64 except `/`.
#[inline(always)]
fn is_in_run(byte: u8) -> bool {
    // Without branches, so that the compiler can vectorise it.
    let letter = (byte | 0x20).wrapping_sub(b'a') < 26;
    let digit = byte.wrapping_sub(b'0') < 10;
    letter | digit | (byte == b'_') | (byte == b'-') | (byte == b'+')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The same result, computed run by run.
    fn code_by_runs(text: &str) -> String {
        let bytes = text.as_bytes();
        let mut kept = String::new();
        let mut place = 0;
        while place < bytes.len() {
            let length = bytes[place..].iter().take_while(|&&byte| is_in_run(byte)).count().max(1);
            let run = &bytes[place..place + length];
            let is_run = is_in_run(run[0]) && run.iter().any(u8::is_ascii_digit);
            let goes = is_run && (is_fraction(bytes, place, run) || drawn(run).is_some());
            kept.push_str(if goes { "…" } else { &text[place..place + length] });
            place += length;
        }
        kept
    }

    #[test]
    fn tokens_go_and_code_stays() {
        let quiet =
            code(r#"var nonce="AKx9fQ2mZ7pL0wE4", time=1700000000123, took=0.0123456; step(2); color="ff00aa";"#);
        assert_eq!(quiet.text, "var nonce=\"…\", time=…, took=0.…; step(2); color=\"ff00aa\";");
        assert_eq!(code("a = b + 1200; f(20240501)").detector, None);
    }

    proptest! {
        #[test]
        fn windows_miss_no_run_and_split_none(
            text in "([a-z]{0,9}|[0-9]{0,11}|[0-9a-fA-F]{0,12}|[0-9a-zA-Z]{50,140}|[ .=_+;\"-]{0,3}){0,30}"
        ) {
            prop_assert_eq!(code(&text).text, code_by_runs(&text));
        }
    }
}
