//! Removes content codings within the limits of a visit. `vernal-document` does the work, because it reads kept bodies too.

use vernal_document::{UnpackLimits, is_likely_larger, unpack_into};
use vernal_model::Failure;

use crate::Settings;
use crate::answer::Answer;

/// A kept body without its content codings, which the response head names.
pub fn unpack_body(response_head: &[u8], body: &[u8], settings: &Settings) -> Result<Vec<u8>, Failure> {
    vernal_document::unpack(response_head, body, &limits(settings))
}

/// Fills `into` with the body without its content codings.
pub fn unpack(answer: &Answer, settings: &Settings, into: &mut Vec<u8>) -> Result<(), Failure> {
    unpack_into(&answer.exchange.response_head, &answer.exchange.body, &limits(settings), into)
}

/// Guesses, without unpacking, whether the body is too large to be read on the worker loop.
pub fn is_likely_large(answer: &Answer, large_bytes: usize) -> bool {
    is_likely_larger(&answer.exchange.response_head, &answer.exchange.body, large_bytes)
}

fn limits(settings: &Settings) -> UnpackLimits {
    UnpackLimits {
        decoded_bytes_max: settings.decoded_bytes_max,
        ratio_max: settings.ratio_max,
        ratio_free_bytes: settings.ratio_free_bytes,
    }
}
