//! Noise in scripts and style sheets: the tokens, ids and times that a server writes into them.

use super::token::{TOKEN_BYTES_MIN, drawn, next_digit};
use super::{Cutter, Quieted};

/// Digits after the point that no person writes: measured seconds, random numbers.
const FRACTION_DIGITS_MIN: usize = 6;

/// The text of a script or a style sheet without drawn tokens.
pub fn code(text: &str) -> Quieted<'_> {
    let bytes = text.as_bytes();
    let mut cutter = Cutter::new(text);
    let in_run = |byte: &u8| IN_RUN[usize::from(*byte)];
    let mut from = 0;
    // Only runs with a digit count, so that we go from digit to digit.
    while let Some(digit) = next_digit(bytes, from) {
        let start = digit - bytes[from..digit].iter().rev().take_while(|byte| in_run(byte)).count();
        let end = digit + bytes[digit..].iter().take_while(|byte| in_run(byte)).count();
        from = end;
        if end - start < FRACTION_DIGITS_MIN {
            continue;
        }
        let run = &bytes[start..end];
        if is_fraction(bytes, start, run) {
            cutter.cut(start, end, "measured time");
        } else if run.len() >= TOKEN_BYTES_MIN
            && let Some(detector) = drawn(run)
        {
            cutter.cut(start, end, detector);
        }
    }
    cutter.finish()
}

fn is_fraction(bytes: &[u8], start: usize, run: &[u8]) -> bool {
    start > 1
        && bytes[start - 1] == b'.'
        && bytes[start - 2].is_ascii_digit()
        && run.len() >= FRACTION_DIGITS_MIN
        && run.iter().all(u8::is_ascii_digit)
}

/// Letters, digits, `_`, `-` and `+`: names, numbers, and the letters of base 64 but one.
const IN_RUN: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        let letter = byte as u8;
        table[byte] = letter.is_ascii_alphanumeric() || matches!(letter, b'_' | b'-' | b'+');
        byte += 1;
    }
    table
};

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Run by run, whether it has a digit or not.
    fn code_by_runs(text: &str) -> String {
        let bytes = text.as_bytes();
        let mut kept = String::new();
        let mut place = 0;
        while place < bytes.len() {
            let length = bytes[place..].iter().take_while(|byte| IN_RUN[usize::from(**byte)]).count().max(1);
            let run = &bytes[place..place + length];
            let is_run = IN_RUN[usize::from(run[0])] && run.iter().any(u8::is_ascii_digit);
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
        fn going_from_digit_to_digit_misses_no_run(text in "([a-z]{0,9}|[0-9]{0,11}|[0-9a-fA-F]{0,12}|[ .=_+;\"-]{0,3}){0,12}") {
            prop_assert_eq!(code(&text).text, code_by_runs(&text));
        }
    }
}
