//! The signature of one document, by which versions are compared without reading their bodies.

use std::fmt::{self, Write as _};

use serde::{Deserialize, Serialize};

use crate::Role;

/// All digests of one document. What the marks mean is fixed by `format`; a reader of another format compares nothing.
///
/// Each kind has two marks: the plain one differs whenever anything of that kind does, the one in `quiet` only when
/// something differs that the built-in detectors do not know as noise. On disk it is packed (see `signature_bytes`).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Signature {
    pub format: u8,
    /// SHA-1 of the body as received: the payload digest of the WARC record and the first test of equality.
    pub payload: Digest,
    /// The words of the visible text in order, with folded white space: in the high half xxh3 of the words as read, in the low half
    /// of the words as tags separate them. For a body without text, 128 bits of its bytes.
    pub content: u128,
    /// The sequence of opening tags.
    pub structure: u64,
    /// Style elements and every attribute of every element, in order.
    pub presentation: u64,
    /// Scripts and their sources, handlers, forms, their fields and their targets.
    pub behaviour: u64,
    /// The set of link targets.
    pub links: u64,
    /// Sources and alternative texts of images.
    pub images: u64,
    /// Meta, link and base of the head.
    pub metadata: u64,
    pub quiet: QuietMarks,
    /// The simhash of the paragraph digests: similar pages have similar marks (Charikar).
    pub simhash: u64,
    /// The least paragraph digests in sixteen orders, sixteen bits each: the share of equal entries estimates the share of common
    /// paragraphs (Broder).
    pub sketch: [u16; 16],
    /// The two checksums of paper 003: hints of magnitude that ignore order.
    pub rms: f32,
    pub checksum: f32,
    /// The number of opening tags.
    pub tags: u32,
    pub paragraphs: Vec<ParagraphMark>,
}

/// The marks of each kind after the built-in detectors have removed tokens, nonces, build ids and the like.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuietMarks {
    pub content: u64,
    pub structure: u64,
    pub presentation: u64,
    pub behaviour: u64,
    pub links: u64,
    pub images: u64,
    pub metadata: u64,
}

impl Signature {
    pub const FORMAT: u8 = 2;

    /// Whether both have the same words in the same order. White space that appears or disappears next to a tag does not count: it
    /// changes only one half of `content`.
    pub fn has_words_of(&self, other: &Signature) -> bool {
        let differing = self.content ^ other.content;
        differing >> 64 == 0 || differing as u64 == 0
    }
}

/// One paragraph of a version: sixteen bytes at most on disk.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ParagraphMark {
    /// 64 bits (xxh3) of its words, white space folded.
    pub digest: u64,
    /// Its number among all paragraphs that its page ever had, kept across edits and moves. 0 until intake assigns one.
    pub id: u32,
    /// Sixteen bits of the surrounding tags: the same place of the same template has the same mark.
    pub place: u16,
    pub role: Role,
}

/// A SHA-1 digest; written in base 32, as WARC does.
#[derive(Copy, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Digest(pub [u8; 20]);

impl Digest {
    const ALPHABET: &'static [u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

    /// Its thirty-two letters in base 32.
    pub fn base32(&self) -> [u8; 32] {
        let mut letters = [0; 32];
        for (group, out) in self.0.chunks_exact(5).zip(letters.chunks_exact_mut(8)) {
            let bits = group.iter().fold(0u64, |bits, &byte| bits << 8 | u64::from(byte));
            for (place, letter) in out.iter_mut().enumerate() {
                *letter = Self::ALPHABET[(bits >> (35 - place * 5) & 31) as usize];
            }
        }
        letters
    }

    pub fn from_base32(text: &str) -> Option<Self> {
        if text.len() != 32 {
            return None;
        }
        let mut digest = [0u8; 20];
        for (group, out) in text.as_bytes().chunks_exact(8).zip(digest.chunks_exact_mut(5)) {
            let mut bits = 0u64;
            for letter in group {
                let value = Self::ALPHABET.iter().position(|known| known == &letter.to_ascii_uppercase())?;
                bits = bits << 5 | value as u64;
            }
            out.copy_from_slice(&bits.to_be_bytes()[3..]);
        }
        Some(Digest(digest))
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("sha1:")?;
        self.base32().iter().try_for_each(|&letter| f.write_char(char::from(letter)))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base32_is_that_of_the_warc_world() {
        // SHA-1 of the empty text, as in every archive.
        let empty = Digest([
            0xda, 0x39, 0xa3, 0xee, 0x5e, 0x6b, 0x4b, 0x0d, 0x32, 0x55, 0xbf, 0xef, 0x95, 0x60, 0x18, 0x90, 0xaf, 0xd8,
            0x07, 0x09,
        ]);
        assert_eq!(empty.to_string(), "sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ");
        assert_eq!(Digest::from_base32("3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ"), Some(empty));
        assert_eq!(Digest::from_base32("3I42"), None);
    }
}
