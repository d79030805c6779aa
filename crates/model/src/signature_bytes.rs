//! A signature as bytes: fixed width, little end first, 202 bytes and 15 for each paragraph.
//!
//! ```text
//! layout 1 · format 1 · payload 20 · content 16
//! structure 8 · presentation 8 · behaviour 8 · links 8 · images 8 · metadata 8
//! quiet: content 8 · structure 8 · presentation 8 · behaviour 8 · links 8 · images 8 · metadata 8
//! simhash 8 · sketch 16 x 2 · rms 4 · checksum 4 · tags 4
//! paragraphs 4 · then for each: digest 8 · id 4 · place 2 · role 1
//! check 4 (the low half of xxh3 over all before it)
//! ```
//!
//! `layout` says where the fields lie and is refused when unknown; `format` says what the marks mean and is kept as it is.

use std::fmt;

use serde::de::{Error as _, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use xxhash_rust::xxh3::xxh3_64;

use crate::{Digest, ParagraphMark, QuietMarks, Role, Signature};

/// The order of the fields in the bytes.
const LAYOUT: u8 = 2;

const FIXED_BYTES: usize = 202;
const PARAGRAPH_BYTES: usize = 15;
const CHECK_BYTES: usize = 4;

/// Why bytes are no signature.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
pub enum SignatureFault {
    #[error("read signature: layout {0} was written by another build, this one knows {LAYOUT}")]
    Layout(u8),
    #[error("read signature: {0} bytes are too few or too many")]
    Length(usize),
    #[error("read signature: no role has the number {0}")]
    Role(u8),
    #[error("read signature: the check at the end does not fit")]
    Check,
}

impl Signature {
    /// The bytes that are kept on disk.
    pub fn pack(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(FIXED_BYTES + PARAGRAPH_BYTES * self.paragraphs.len());
        bytes.extend_from_slice(&[LAYOUT, self.format]);
        bytes.extend_from_slice(&self.payload.0);
        bytes.extend_from_slice(&self.content.to_le_bytes());
        let quiet = &self.quiet;
        let marks = [
            self.structure,
            self.presentation,
            self.behaviour,
            self.links,
            self.images,
            self.metadata,
            quiet.content,
            quiet.structure,
            quiet.presentation,
            quiet.behaviour,
            quiet.links,
            quiet.images,
            quiet.metadata,
            self.simhash,
        ];
        for mark in marks {
            bytes.extend_from_slice(&mark.to_le_bytes());
        }
        for least in self.sketch {
            bytes.extend_from_slice(&least.to_le_bytes());
        }
        bytes.extend_from_slice(&self.rms.to_le_bytes());
        bytes.extend_from_slice(&self.checksum.to_le_bytes());
        bytes.extend_from_slice(&self.tags.to_le_bytes());
        bytes.extend_from_slice(&(self.paragraphs.len() as u32).to_le_bytes());
        for mark in &self.paragraphs {
            bytes.extend_from_slice(&mark.digest.to_le_bytes());
            bytes.extend_from_slice(&mark.id.to_le_bytes());
            bytes.extend_from_slice(&mark.place.to_le_bytes());
            bytes.push(mark.role as u8);
        }
        let check = xxh3_64(&bytes) as u32;
        bytes.extend_from_slice(&check.to_le_bytes());
        bytes
    }

    /// What `pack` wrote.
    pub fn unpack(bytes: &[u8]) -> Result<Signature, SignatureFault> {
        let length = SignatureFault::Length(bytes.len());
        match bytes.first() {
            None => return Err(length),
            Some(&LAYOUT) => {}
            Some(&other) => return Err(SignatureFault::Layout(other)),
        }
        let Some((body, check)) = bytes.split_last_chunk::<CHECK_BYTES>() else { return Err(length) };
        let Some(body_rest) = body.get(1..) else { return Err(length) };
        let mut rest = Rest(body_rest);
        let signature = rest.signature().ok_or(length.clone())?;
        let count = rest.u32().ok_or(length.clone())? as usize;
        if Some(rest.0.len()) != count.checked_mul(PARAGRAPH_BYTES) {
            return Err(length);
        }
        if xxh3_64(body) as u32 != u32::from_le_bytes(*check) {
            return Err(SignatureFault::Check);
        }
        let paragraphs = rest.0.chunks_exact(PARAGRAPH_BYTES).map(paragraph).collect::<Result<_, _>>()?;
        Ok(Signature { paragraphs, ..signature })
    }
}

/// What is still to be read.
struct Rest<'a>(&'a [u8]);

impl Rest<'_> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (taken, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*taken)
    }

    fn u64(&mut self) -> Option<u64> {
        self.take().map(u64::from_le_bytes)
    }

    fn u32(&mut self) -> Option<u32> {
        self.take().map(u32::from_le_bytes)
    }

    /// Everything but the paragraphs. Fields are read in the order in which they stand here.
    fn signature(&mut self) -> Option<Signature> {
        Some(Signature {
            format: self.take::<1>()?[0],
            payload: Digest(self.take()?),
            content: u128::from_le_bytes(self.take()?),
            structure: self.u64()?,
            presentation: self.u64()?,
            behaviour: self.u64()?,
            links: self.u64()?,
            images: self.u64()?,
            metadata: self.u64()?,
            quiet: QuietMarks {
                content: self.u64()?,
                structure: self.u64()?,
                presentation: self.u64()?,
                behaviour: self.u64()?,
                links: self.u64()?,
                images: self.u64()?,
                metadata: self.u64()?,
            },
            simhash: self.u64()?,
            sketch: self.sketch()?,
            rms: f32::from_le_bytes(self.take()?),
            checksum: f32::from_le_bytes(self.take()?),
            tags: self.u32()?,
            paragraphs: Vec::new(),
        })
    }

    fn sketch(&mut self) -> Option<[u16; 16]> {
        let mut sketch = [0; 16];
        for least in &mut sketch {
            *least = u16::from_le_bytes(self.take()?);
        }
        Some(sketch)
    }
}

fn paragraph(bytes: &[u8]) -> Result<ParagraphMark, SignatureFault> {
    const ROLES: [Role; 7] =
        [Role::Main, Role::Heading, Role::Navigation, Role::Footer, Role::ListItem, Role::TableRow, Role::Title];
    let mut rest = Rest(bytes);
    let cut = SignatureFault::Length(bytes.len());
    let (Some(digest), Some(id), Some(place), Some([role])) = (rest.u64(), rest.u32(), rest.take(), rest.take()) else {
        return Err(cut);
    };
    let role = *ROLES.get(usize::from(role)).ok_or(SignatureFault::Role(role))?;
    Ok(ParagraphMark { digest, id, place: u16::from_le_bytes(place), role })
}

impl Serialize for Signature {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(&self.pack())
    }
}

impl<'de> Deserialize<'de> for Signature {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_bytes(Packed)
    }
}

struct Packed;

impl<'de> Visitor<'de> for Packed {
    type Value = Signature;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the bytes of a signature")
    }

    fn visit_bytes<E: serde::de::Error>(self, bytes: &[u8]) -> Result<Signature, E> {
        Signature::unpack(bytes).map_err(E::custom)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Signature, A::Error> {
        let mut bytes = Vec::new();
        while let Some(byte) = items.next_element::<u8>()? {
            bytes.push(byte);
        }
        Signature::unpack(&bytes).map_err(A::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn marks() -> impl Strategy<Value = [u64; 14]> {
        prop::array::uniform14(any::<u64>())
    }

    fn signatures() -> impl Strategy<Value = Signature> {
        let paragraph = (any::<u64>(), any::<u32>(), any::<u16>(), 0u8..7).prop_map(|(digest, id, place, role)| {
            let bytes: Vec<u8> = [&digest.to_le_bytes()[..], &id.to_le_bytes(), &place.to_le_bytes(), &[role]].concat();
            super::paragraph(&bytes).expect("a known role")
        });
        let paragraphs = prop::collection::vec(paragraph, 0..40);
        (
            any::<u8>(),
            any::<[u8; 20]>(),
            any::<u128>(),
            marks(),
            any::<[u16; 16]>(),
            0f32..1e9,
            any::<u32>(),
            paragraphs,
        )
            .prop_map(|(format, payload, content, marks, sketch, rms, tags, paragraphs)| {
                let [structure, presentation, behaviour, links, images, metadata, a, b, c, d, e, f, g, simhash] = marks;
                Signature {
                    format,
                    payload: Digest(payload),
                    content,
                    structure,
                    presentation,
                    behaviour,
                    links,
                    images,
                    metadata,
                    quiet: QuietMarks {
                        content: a,
                        structure: b,
                        presentation: c,
                        behaviour: d,
                        links: e,
                        images: f,
                        metadata: g,
                    },
                    simhash,
                    sketch,
                    rms,
                    checksum: rms / 3.0,
                    tags,
                    paragraphs,
                }
            })
    }

    proptest! {
        #[test]
        fn what_was_packed_is_read_again(signature in signatures()) {
            let bytes = signature.pack();
            prop_assert!(bytes.len() <= 300 + 16 * signature.paragraphs.len());
            prop_assert_eq!(Signature::unpack(&bytes), Ok(signature.clone()));
        }

        #[test]
        fn every_cut_and_every_flip_is_noticed(signature in signatures(), at in any::<prop::sample::Index>(), bit in 0u8..8) {
            let bytes = signature.pack();
            let place = at.index(bytes.len());
            prop_assert!(Signature::unpack(&bytes[..place]).is_err());
            let mut flipped = bytes.clone();
            flipped[place] ^= 1 << bit;
            prop_assert!(Signature::unpack(&flipped).is_err());
        }

        #[test]
        fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
            let _ = Signature::unpack(&bytes);
        }
    }

    #[test]
    fn a_signature_is_small_and_of_fixed_width() {
        assert_eq!(Signature::default().pack().len(), FIXED_BYTES);
        let paragraphs = vec![ParagraphMark::default(); 3];
        assert_eq!(Signature { paragraphs, ..Signature::default() }.pack().len(), FIXED_BYTES + 3 * PARAGRAPH_BYTES);
    }

    #[test]
    fn another_layout_is_refused_by_its_number() {
        let mut bytes = Signature::default().pack();
        bytes[0] = 7;
        let fault = Signature::unpack(&bytes).expect_err("an unknown layout");
        assert_eq!(fault.to_string(), "read signature: layout 7 was written by another build, this one knows 2");
    }
}
