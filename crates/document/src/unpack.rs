//! Removes content codings within limits, so that a small body cannot use large resources.

use std::cell::RefCell;
use std::io::{self, Read};
use std::panic::{AssertUnwindSafe, catch_unwind};

use flate2::bufread::{DeflateDecoder, GzDecoder, ZlibDecoder};
use memchr::memmem;
use vernal_model::Failure;

/// The limit of nested codings. One is usual, two may be a mistake, and more is an attack.
const CODINGS_MAX: usize = 2;
/// The limit of members of one gzip body. Each needs a new decoder, however small it is.
const GZIP_MEMBERS_MAX: usize = 1_000;
/// The limit of frames of one zstd body, for the same reason.
const ZSTD_FRAMES_MAX: usize = 1_000;
/// The limit of the zstd window (RFC 9659 sets it for HTTP).
const ZSTD_WINDOW_BYTES_MAX: u64 = 8 << 20;
/// The best usual compression ratio of text, for estimating the unpacked size.
const USUAL_RATIO_MAX: usize = 10;

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Coding {
    Gzip,
    Deflate,
    Brotli,
    Zstd,
}

/// The limits of an unpacked body.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct UnpackLimits {
    /// Beyond this the outcome is Failed(Bomb).
    pub decoded_bytes_max: usize,
    /// Unpacked bytes per wire byte, once more than `ratio_free_bytes` are unpacked; beyond this Failed(Bomb).
    pub ratio_max: usize,
    /// The ratio does not apply to bodies up to this size.
    pub ratio_free_bytes: usize,
}

impl Default for UnpackLimits {
    fn default() -> Self {
        UnpackLimits { decoded_bytes_max: 32 << 20, ratio_max: 100, ratio_free_bytes: 1 << 20 }
    }
}

/// Removes the content codings of a kept body. The head is the one that was kept with it.
pub fn unpack(response_head: &[u8], body: &[u8], limits: &UnpackLimits) -> Result<Vec<u8>, Failure> {
    let mut unpacked = Vec::new();
    unpack_into(response_head, body, limits, &mut unpacked)?;
    Ok(unpacked)
}

/// Fills `into` with the body without its content codings.
pub fn unpack_into(
    response_head: &[u8],
    body: &[u8],
    limits: &UnpackLimits,
    into: &mut Vec<u8>,
) -> Result<(), Failure> {
    into.clear();
    let codings = codings(response_head)?;
    if codings.is_empty() || body.is_empty() {
        into.extend_from_slice(body);
        return Ok(());
    }
    // One limit for every layer, relative to the size on the wire, so that nested bombs gain nothing.
    let by_ratio = body.len().saturating_mul(limits.ratio_max).max(limits.ratio_free_bytes);
    let limit = by_ratio.min(limits.decoded_bytes_max);
    let mut layers = codings.iter().rev();
    if let Some(outermost) = layers.next() {
        unpack_one(*outermost, body, limit, into)?;
    }
    for coding in layers {
        let packed = std::mem::take(into);
        unpack_one(*coding, &packed, limit, into)?;
    }
    Ok(())
}

/// Fills `into` with the start of a body, if its coding allows this. `wanted` gets the size of the whole and returns how many
/// bytes are needed. The last few hundred of them may be missing, and the rest of the body is not verified, so callers must
/// verify the result. Returns whether there is a start.
pub fn unpack_start_into(
    response_head: &[u8],
    body: &[u8],
    limits: &UnpackLimits,
    wanted: impl FnOnce(usize) -> Option<usize>,
    into: &mut Vec<u8>,
) -> bool {
    let size =
        announced_size(body).filter(|&size| size <= limits.decoded_bytes_max && size / DEFLATE_RATIO_MAX <= body.len());
    let Some(size) = size.filter(|_| matches!(codings(response_head).as_deref(), Ok([Coding::Gzip]))) else {
        return false;
    };
    let Some(bytes) = wanted(size).filter(|&bytes| bytes < size) else { return false };
    into.clear();
    into.resize(bytes, 0);
    let outcome = UNPACKER.with_borrow_mut(|unpacker| unpacker.gzip_decompress(body, into));
    // The decoder writes until the buffer is full.
    matches!(outcome, Err(libdeflater::DecompressionError::InsufficientSpace))
}

/// Fills `into` with the content of a gzip file. After a fault it holds everything before it.
pub(crate) fn unpack_gzip_file(packed: &[u8], limits: &UnpackLimits, into: &mut Vec<u8>) -> Result<(), Failure> {
    let by_ratio = packed.len().saturating_mul(limits.ratio_max).max(limits.ratio_free_bytes);
    unpack_one(Coding::Gzip, packed, by_ratio.min(limits.decoded_bytes_max), into)
}

/// Guesses, without unpacking, whether the unpacked body has more bytes than these.
pub fn is_likely_larger(response_head: &[u8], body: &[u8], bytes: usize) -> bool {
    let unpacked = match codings(response_head).as_deref() {
        Ok([]) | Err(_) => body.len(),
        Ok([Coding::Gzip]) => announced_size(body).unwrap_or(0).max(body.len()),
        Ok(_) => body.len().saturating_mul(USUAL_RATIO_MAX),
    };
    unpacked > bytes
}

/// The codings in the order in which they were applied.
fn codings(response_head: &[u8]) -> Result<Vec<Coding>, Failure> {
    let mut codings = Vec::new();
    let words = content_encodings(response_head).flat_map(|value| value.split(|&byte| byte == b','));
    for word in words.map(<[u8]>::trim_ascii) {
        let coding = match word.to_ascii_lowercase().as_slice() {
            b"" | b"identity" | b"none" => continue,
            b"gzip" | b"x-gzip" => Coding::Gzip,
            b"deflate" => Coding::Deflate,
            b"br" => Coding::Brotli,
            b"zstd" => Coding::Zstd,
            other => return Err(Failure::Encoding(format!("unknown coding `{}`", shown(other)))),
        };
        if codings.len() == CODINGS_MAX {
            return Err(Failure::Encoding(format!("more than {CODINGS_MAX} codings")));
        }
        codings.push(coding);
    }
    Ok(codings)
}

/// The values of the Content-Encoding lines of a response head.
fn content_encodings(head: &[u8]) -> impl Iterator<Item = &[u8]> {
    let lines = head.split(|&byte| byte == b'\n').skip(1).map(<[u8]>::trim_ascii_end);
    lines.take_while(|line| !line.is_empty()).filter_map(|line| {
        let colon = memchr::memchr(b':', line)?;
        line[..colon].eq_ignore_ascii_case(b"content-encoding").then(|| line[colon + 1..].trim_ascii())
    })
}

fn shown(word: &[u8]) -> String {
    String::from_utf8_lossy(&word[..word.len().min(32)]).escape_default().to_string()
}

fn unpack_one(coding: Coding, packed: &[u8], limit: usize, into: &mut Vec<u8>) -> Result<(), Failure> {
    into.clear();
    let unpacked = catch_unwind(AssertUnwindSafe(|| match coding {
        Coding::Gzip => unpack_gzip(packed, limit, into),
        Coding::Deflate => unpack_deflate(packed, limit, into),
        Coding::Brotli => unpack_brotli(packed, limit, into),
        Coding::Zstd => unpack_zstd(packed, limit, into),
    }));
    // A body that makes a decoder panic counts as one that does not unpack.
    unpacked.unwrap_or_else(|_| Err(Failure::Encoding("the decoder panicked".into())))
}

fn unpack_gzip(packed: &[u8], limit: usize, into: &mut Vec<u8>) -> Result<(), Failure> {
    if unpack_single_member(packed, limit, into) {
        return Ok(());
    }
    into.clear();
    let mut rest = packed;
    for _ in 0..GZIP_MEMBERS_MAX {
        let mut decoder = GzDecoder::new(rest);
        read_limited(&mut decoder, limit, into).map_err(|failure| named("gzip", failure))?;
        rest = decoder.into_inner();
        // Bytes after the last member are padding, which browsers ignore too.
        if !rest.starts_with(&GZIP_MAGIC) {
            return Ok(());
        }
    }
    Err(Failure::Encoding("gzip: too many members".into()))
}

thread_local! {
    /// The decoder is reused, because setting up its tables takes longer than unpacking a small body.
    static UNPACKER: RefCell<libdeflater::Decompressor> = RefCell::new(libdeflater::Decompressor::new());
}

const GZIP_MAGIC: [u8; 3] = [0x1f, 0x8b, 8];

/// The highest ratio of deflate. A larger announced size is wrong and is not allocated.
const DEFLATE_RATIO_MAX: usize = 1_032;

/// The fast path for the usual body: one member with a plausible announced size, unpacked at once. Returns whether it worked. A
/// body that may have a second member takes the slow path.
fn unpack_single_member(packed: &[u8], limit: usize, into: &mut Vec<u8>) -> bool {
    let Some(size) = announced_size(packed).filter(|&size| size > 0 && size <= limit) else { return false };
    let may_have_second = memmem::find(&packed[1..], &GZIP_MAGIC).is_some();
    if may_have_second || size / DEFLATE_RATIO_MAX > packed.len() {
        return false;
    }
    into.resize(size, 0);
    let outcome = UNPACKER.with_borrow_mut(|unpacker| unpacker.gzip_decompress(packed, into));
    outcome.is_ok_and(|written| written == size)
}

/// The size in the last four bytes of a gzip body, which is only a hint.
fn announced_size(packed: &[u8]) -> Option<usize> {
    let is_gzip = packed.starts_with(&GZIP_MAGIC) && packed.len() >= 18;
    let last = packed.last_chunk::<4>().filter(|_| is_gzip)?;
    Some(u32::from_le_bytes(*last) as usize)
}

/// By the standard `deflate` means zlib, but many servers send raw deflate.
fn unpack_deflate(packed: &[u8], limit: usize, into: &mut Vec<u8>) -> Result<(), Failure> {
    let looks_like_zlib = match packed {
        [first, second, ..] => first & 0x0f == 8 && (u16::from(*first) << 8 | u16::from(*second)).is_multiple_of(31),
        _ => false,
    };
    if looks_like_zlib {
        match read_limited(&mut ZlibDecoder::new(packed), limit, into) {
            Ok(()) => return Ok(()),
            Err(Failure::Bomb) => return Err(Failure::Bomb),
            Err(_) => into.clear(),
        }
    }
    read_limited(&mut DeflateDecoder::new(packed), limit, into).map_err(|failure| named("deflate", failure))
}

fn unpack_brotli(packed: &[u8], limit: usize, into: &mut Vec<u8>) -> Result<(), Failure> {
    // The mark of the large-window variant, which HTTP does not allow and whose window may be a gigabyte.
    if packed.first().is_some_and(|first| first & 0x7f == 0x11) {
        return Err(Failure::Encoding("br: a large window".into()));
    }
    let mut decoder = brotli_decompressor::Decompressor::new(packed, 4 << 10);
    read_limited(&mut decoder, limit, into).map_err(|failure| named("br", failure))
}

fn unpack_zstd(packed: &[u8], limit: usize, into: &mut Vec<u8>) -> Result<(), Failure> {
    let failed = |why: String| Failure::Encoding(format!("zstd: {why}"));
    let mut rest = packed;
    for _ in 0..ZSTD_FRAMES_MAX {
        if rest.is_empty() {
            return Ok(());
        }
        if let Some(after) = skippable(rest) {
            rest = after.ok_or_else(|| failed("a frame cut short".into()))?;
            continue;
        }
        let decoder = ruzstd::decoding::StreamingDecoder::new_with_max_window_size(&mut rest, ZSTD_WINDOW_BYTES_MAX);
        let mut decoder = decoder.map_err(|error| failed(error.to_string()))?;
        read_limited(&mut decoder, limit, into).map_err(|failure| named("zstd", failure))?;
    }
    Err(failed("too many frames".into()))
}

/// The bytes after a skippable frame (RFC 8878, 3.1.2). The inner `None` means that the frame is cut short.
fn skippable(rest: &[u8]) -> Option<Option<&[u8]>> {
    let magic = u32::from_le_bytes(*rest.first_chunk::<4>()?);
    if magic & 0xffff_fff0 != 0x184d_2a50 {
        return None;
    }
    let length = rest[4..].first_chunk::<4>().map(|length| u32::from_le_bytes(*length) as usize);
    Some(length.and_then(|length| rest[8..].get(length..)))
}

/// Appends the output of the decoder, unless the whole exceeds the limit.
fn read_limited(decoder: &mut impl Read, limit: usize, into: &mut Vec<u8>) -> Result<(), Failure> {
    let room = (limit + 1).saturating_sub(into.len());
    let read = decoder.take(room as u64).read_to_end(into);
    if into.len() > limit {
        return Err(Failure::Bomb);
    }
    read.map(|_| ()).map_err(|error: io::Error| Failure::Encoding(error.to_string()))
}

fn named(coding: &str, failure: Failure) -> Failure {
    match failure {
        Failure::Encoding(why) => Failure::Encoding(format!("{coding}: {why}")),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};

    fn head(coding: &str) -> Vec<u8> {
        format!("HTTP/1.1 200 OK\r\nContent-Encoding: {coding}\r\n\r\n").into_bytes()
    }

    fn unpacked(coding: &str, body: Vec<u8>) -> Result<Vec<u8>, Failure> {
        let mut into = b"left over".to_vec();
        unpack_into(&head(coding), &body, &UnpackLimits::default(), &mut into).map(|()| into)
    }

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn text() -> Vec<u8> {
        (0..2_000).flat_map(|number| format!("line {number}\n").into_bytes()).collect()
    }

    #[test]
    fn every_coding_gives_the_same_bytes() {
        let mut zlib = ZlibEncoder::new(Vec::new(), Compression::default());
        zlib.write_all(&text()).unwrap();
        let mut raw = DeflateEncoder::new(Vec::new(), Compression::default());
        raw.write_all(&text()).unwrap();
        let zstd = ruzstd::encoding::compress_to_vec(&text()[..], ruzstd::encoding::CompressionLevel::Fastest);
        for (coding, body) in [
            ("identity", text()),
            ("GZIP", gzip(&text())),
            ("x-gzip", gzip(&text())),
            ("gzip, gzip", gzip(&gzip(&text()))),
            ("deflate", zlib.finish().unwrap()),
            ("deflate", raw.finish().unwrap()),
            ("zstd", zstd.clone()),
            ("gzip, identity", gzip(&text())),
            ("zstd, gzip", gzip(&zstd)),
        ] {
            assert_eq!(unpacked(coding, body), Ok(text()), "{coding}");
        }
        // "<html><title>br</title><p>hello brotli</p></html>", packed with brotli.
        let brotli = [
            27, 48, 0, 248, 141, 212, 94, 181, 74, 44, 7, 129, 110, 44, 151, 241, 22, 158, 20, 46, 130, 88, 47, 112,
            189, 9, 41, 181, 12, 164, 21, 8, 65, 135, 112, 132, 250, 137, 212, 7, 160, 150, 214, 183, 159, 70, 33,
        ];
        let page = b"<html><title>br</title><p>hello brotli</p></html>".to_vec();
        assert_eq!(unpacked("br", brotli.to_vec()), Ok(page));
        for coding in ["gzip", "br", "zstd", "deflate"] {
            assert_eq!(unpacked(coding, Vec::new()), Ok(Vec::new()), "an empty body is empty");
        }
    }

    #[test]
    fn members_and_frames_are_read_one_after_the_other() {
        let twice = [text(), text()].concat();
        assert_eq!(unpacked("gzip", [gzip(&text()), gzip(&text())].concat()), Ok(twice.clone()));
        let padded = [gzip(&text()), vec![0; 512]].concat();
        assert_eq!(unpacked("gzip", padded), Ok(text()));
        let zstd = ruzstd::encoding::compress_to_vec(&text()[..], ruzstd::encoding::CompressionLevel::Fastest);
        let skipped = [0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3];
        assert_eq!(unpacked("zstd", [&zstd[..], &skipped, &zstd].concat()), Ok(twice));
        assert!(matches!(unpacked("zstd", [&zstd[..], &skipped[..9]].concat()), Err(Failure::Encoding(_))));
    }

    #[test]
    fn floods_of_empty_members_have_an_end() {
        let flood = gzip(b"").repeat(GZIP_MEMBERS_MAX + 1);
        assert!(matches!(unpacked("gzip", flood), Err(Failure::Encoding(_))));
        let frames = [0x50, 0x2a, 0x4d, 0x18, 0, 0, 0, 0].repeat(ZSTD_FRAMES_MAX + 1);
        assert!(matches!(unpacked("zstd", frames), Err(Failure::Encoding(_))));
    }

    #[test]
    fn a_window_larger_than_http_allows_is_refused() {
        // A frame that asks for a window of 128 MiB and holds one empty block.
        let frame = vec![0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x88, 1, 0, 0];
        assert!(matches!(unpacked("zstd", frame), Err(Failure::Encoding(_))));
    }

    #[test]
    fn every_cut_of_a_packed_body_is_noticed() {
        let zstd = ruzstd::encoding::compress_to_vec(&text()[..], ruzstd::encoding::CompressionLevel::Fastest);
        for (coding, body) in [("gzip", gzip(&text())), ("zstd", zstd)] {
            for end in (1..body.len()).step_by(97) {
                let cut = unpacked(coding, body[..end].to_vec());
                assert!(matches!(cut, Err(Failure::Encoding(_))), "{coding} cut at {end}");
            }
        }
    }

    #[test]
    fn a_large_body_is_known_before_it_is_unpacked() {
        let large = |coding: &str, body: Vec<u8>| is_likely_larger(&head(coding), &body, 100_000);
        assert!(large("identity", vec![0; 100_001]));
        assert!(!large("identity", vec![0; 100_000]));
        assert!(large("gzip", gzip(&vec![0; 100_001])));
        assert!(!large("gzip", gzip(&vec![0; 100_000])));
        assert!(large("br", vec![0; 10_001]));
    }
}
