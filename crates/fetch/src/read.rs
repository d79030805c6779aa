//! Hands a body to `vernal-document`: payload digest, document, signature and wall. Panics are caught here.

use std::panic::{AssertUnwindSafe, catch_unwind};

use sha1::{Digest as _, Sha1};
use vernal_model::{Digest, Document, Failure, Signature, Url, Wall};

use crate::answer::{Answer, protocol};
use crate::http::head;

/// What was read from a body.
pub struct ReadBody {
    /// `None` where the body is the one that we hold.
    pub document: Option<Document>,
    pub signature: Signature,
    pub wall: Option<(Wall, String)>,
}

/// Reads an unpacked body. `payload` is the digest of the body as received, where it is known already. A panic becomes a
/// failure of this visit, because no page may end the loop.
pub fn read(url: &Url, answer: &Answer, payload: Option<Digest>, unpacked: &[u8]) -> Result<ReadBody, Failure> {
    catch_panics(|| parse(url, answer, payload, unpacked))
}

/// The digest of a body as received.
pub fn payload(answer: &Answer) -> Digest {
    Digest(Sha1::digest(&answer.exchange.body).into())
}

/// The result for a body that we hold already, as its digest shows. It is neither unpacked nor read again.
pub fn held(payload: Digest) -> ReadBody {
    ReadBody { document: None, signature: Signature { payload, ..Signature::default() }, wall: None }
}

/// Turns a panic into a failure.
fn catch_panics<T>(read: impl FnOnce() -> T) -> Result<T, Failure> {
    catch_unwind(AssertUnwindSafe(read)).map_err(|_| protocol("reading the body panicked"))
}

fn parse(url: &Url, answer: &Answer, payload: Option<Digest>, unpacked: &[u8]) -> ReadBody {
    let response_head = &answer.exchange.response_head;
    let robots_tags: Vec<&str> =
        head::fields(response_head, "x-robots-tag").filter_map(|value| std::str::from_utf8(value).ok()).collect();
    let parsed = vernal_document::read(&vernal_document::Input {
        url,
        bytes: unpacked,
        content_type: answer.content_type(),
        content_language: answer.field("content-language"),
        robots_tags: &robots_tags,
        payload: payload.unwrap_or_else(|| self::payload(answer)),
    });
    let field = |name: &str| answer.field(name).map(str::to_owned);
    let wall = vernal_document::wall(answer.status, &field, Some(&parsed));
    ReadBody { document: Some(parsed.document), signature: parsed.signature, wall }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_a_failure_of_one_visit() {
        assert_eq!(catch_panics(|| 7), Ok(7));
        let failed: Result<(), Failure> = catch_panics(|| panic!("a page did this"));
        assert_eq!(failed, Err(protocol("reading the body panicked")));
    }
}
