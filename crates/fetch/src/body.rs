//! Removes content codings within the limits of a visit. `vernal-document` does the work, because it reads kept bodies too.

use vernal_document::{UnpackLimits, is_likely_larger, unpack_into};
use vernal_model::Failure;

use crate::Settings;
use crate::answer::Answer;

/// A kept body without its content codings, which the response head names.
pub fn unpack_body(response_head: &[u8], body: &[u8], settings: &Settings) -> Result<Vec<u8>, Failure> {
    vernal_document::unpack(response_head, body, &settings.unpacking())
}

/// Fills `into` with the body without its content codings.
pub fn unpack(answer: &Answer, settings: &Settings, into: &mut Vec<u8>) -> Result<(), Failure> {
    unpack_into(&answer.exchange.response_head, &answer.exchange.body, &settings.unpacking(), into)
}

/// The same, but only where the body unpacks to at most so many bytes. False if it is larger, which is not yet a fault.
pub fn unpack_up_to(
    answer: &Answer,
    settings: &Settings,
    bytes_max: usize,
    into: &mut Vec<u8>,
) -> Result<bool, Failure> {
    let whole = settings.unpacking();
    let some = UnpackLimits { decoded_bytes_max: whole.decoded_bytes_max.min(bytes_max), ..whole };
    match unpack_into(&answer.exchange.response_head, &answer.exchange.body, &some, into) {
        Err(Failure::Bomb) if some != whole => Ok(false),
        unpacked => unpacked.map(|()| true),
    }
}

/// Guesses, without unpacking, whether the body is too large to be read on the worker loop.
pub fn is_likely_large(answer: &Answer, large_bytes: usize) -> bool {
    is_likely_larger(&answer.exchange.response_head, &answer.exchange.body, large_bytes)
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use vernal_model::{Exchange, Validators};

    use super::*;

    fn answer(unpacked: usize) -> Answer {
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        packed.write_all(&vec![0; unpacked]).unwrap();
        let mut body = packed.finish().unwrap();
        // The size that gzip announces is a lie.
        let end = body.len() - 4;
        body[end..].copy_from_slice(&100u32.to_le_bytes());
        let response_head = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n".to_vec();
        let exchange = Exchange { response_head, body, ..Exchange::default() };
        Answer { status: 200, content_type: None, validators: Validators::default(), exchange }
    }

    #[test]
    fn a_body_that_lies_about_its_size_is_unpacked_to_the_limit_of_the_loop_and_no_further() {
        let (large, settings) = (8 << 20, Settings { ratio_max: 10_000, ..Settings::default() });
        let mut unpacked = Vec::new();
        assert!(!is_likely_large(&answer(large), 512 << 10), "it looks small");
        assert_eq!(unpack_up_to(&answer(large), &settings, 512 << 10, &mut unpacked), Ok(false));
        assert!(unpacked.capacity() <= 2 << 20, "{}", unpacked.capacity());
        assert_eq!(unpack_up_to(&answer(40 << 20), &settings, 64 << 20, &mut unpacked), Err(Failure::Bomb));
    }
}
