//! Bytes handed to room `document`: the payload digest, the one pass, the wall, behind a fence against panics.

use std::panic::{AssertUnwindSafe, catch_unwind};

use sha1::{Digest as _, Sha1};
use vernal_model::{Digest, Document, Failure, Signature, Url, Wall};

use crate::answer::{Answer, protocol};
use crate::http::head;

/// What a body means.
pub struct Meaning {
    /// Nothing where the body is the one that we hold.
    pub document: Option<Document>,
    pub signature: Signature,
    pub wall: Option<(Wall, String)>,
}

/// Reads an unpacked body, whose digest as received may be known already. No page may end the loop: a panic becomes a
/// failure of this one visit.
pub fn read(url: &Url, answer: &Answer, payload: Option<Digest>, unpacked: &[u8]) -> Result<Meaning, Failure> {
    fenced(|| meaning(url, answer, payload, unpacked))
}

/// The digest of a body as received.
pub fn payload(answer: &Answer) -> Digest {
    Digest(Sha1::digest(&answer.exchange.body).into())
}

/// The meaning of a body that we hold already, told by its digest alone: it is neither unpacked nor read again.
pub fn held(payload: Digest) -> Meaning {
    Meaning { document: None, signature: Signature { payload, ..Signature::default() }, wall: None }
}

/// A panic becomes a failure of this one visit.
fn fenced<T>(read: impl FnOnce() -> T) -> Result<T, Failure> {
    catch_unwind(AssertUnwindSafe(read)).map_err(|_| protocol("reading the body panicked"))
}

fn meaning(url: &Url, answer: &Answer, payload: Option<Digest>, unpacked: &[u8]) -> Meaning {
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
    Meaning { document: Some(parsed.document), signature: parsed.signature, wall }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_a_failure_of_one_visit() {
        assert_eq!(fenced(|| 7), Ok(7));
        let fell: Result<(), Failure> = fenced(|| panic!("a page did this"));
        assert_eq!(fell, Err(protocol("reading the body panicked")));
    }
}
