//! The texts of tokens: random, long, and kept by nobody but their owners.

use std::fs::File;
use std::io::Read;

use sha2::{Digest, Sha256};

/// So that people and scanners of lost secrets know a token when they see one.
pub const PREFIX: &str = "vernal_";
const RANDOM_BYTES: usize = 32;

/// Sixty-four hexadecimal digits that nobody can guess.
pub fn random_text() -> std::io::Result<String> {
    let mut random = [0; RANDOM_BYTES];
    File::open("/dev/urandom")?.read_exact(&mut random)?;
    Ok(random.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// A new token.
pub fn new_token() -> std::io::Result<String> {
    Ok(format!("{PREFIX}{}", random_text()?))
}

/// What is kept of a token. One pass of SHA-256 is enough for 256 random bits: there are no words to try.
pub fn digest(token: &str) -> [u8; 32] {
    Sha256::digest(token.as_bytes()).into()
}

/// Takes as long for a text that is nearly right as for one that is all wrong.
pub fn is_same(given: &[u8], wanted: &[u8]) -> bool {
    let mut differs = u8::from(given.len() != wanted.len());
    for (place, byte) in wanted.iter().enumerate() {
        differs |= byte ^ given.get(place).copied().unwrap_or(!byte);
    }
    std::hint::black_box(differs) == 0 && !wanted.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_differ_and_are_long_and_known_by_their_prefix() {
        let (one, other) = (new_token().unwrap(), new_token().unwrap());
        assert!(one != other && one.len() == PREFIX.len() + 2 * RANDOM_BYTES && one.starts_with(PREFIX));
        assert_ne!(digest(&one), digest(&other));
    }

    #[test]
    fn the_digest_is_sha_256() {
        let abc = digest("abc").iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        assert_eq!(abc, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }

    #[test]
    fn only_the_same_text_is_the_same() {
        assert!(is_same(b"s3cret", b"s3cret"));
        for given in [&b""[..], b"s3cre", b"s3cret1", b"S3cret", b"\0\0\0\0\0\0"] {
            assert!(!is_same(given, b"s3cret"));
        }
        assert!(!is_same(b"", b""), "an empty token opens nothing");
    }
}
