//! The parts of a package, within limits.

use std::io::{Cursor, Read};

use zip::ZipArchive;

use crate::fault::Fault;

/// The size of one part, unpacked.
const PART_BYTES_MAX: u64 = 64 << 20;

/// The size of all parts that are read, unpacked.
const PACKAGE_BYTES_MAX: u64 = 256 << 20;

const PARTS_MAX: usize = 20_000;

pub struct Parts<'b> {
    archive: ZipArchive<Cursor<&'b [u8]>>,
    bytes_left: u64,
}

impl<'b> Parts<'b> {
    pub fn open(bytes: &'b [u8]) -> Result<Parts<'b>, Fault> {
        let archive = ZipArchive::new(Cursor::new(bytes)).map_err(Fault::broken)?;
        if archive.len() > PARTS_MAX {
            return Err(Fault::TooLarge { what: "the number of its parts", limit: PARTS_MAX.to_string() });
        }
        Ok(Parts { archive, bytes_left: PACKAGE_BYTES_MAX })
    }

    pub fn has(&self, name: &str) -> bool {
        self.archive.file_names().any(|known| known.is_ok_and(|known| known == name))
    }

    /// A part as text; `None` if there is none of this name.
    pub fn text(&mut self, name: &str) -> Result<Option<String>, Fault> {
        Ok(self.bytes(name)?.map(|bytes| decoded(&bytes)))
    }

    pub fn bytes(&mut self, name: &str) -> Result<Option<Vec<u8>>, Fault> {
        let Ok(part) = self.archive.by_name(name.trim_start_matches('/')) else { return Ok(None) };
        let limit = PART_BYTES_MAX.min(self.bytes_left);
        let mut bytes = Vec::new();
        // A part that is cut short still has its start.
        let _ = part.take(limit + 1).read_to_end(&mut bytes);
        if bytes.len() as u64 > limit {
            let limit = format!("{} MB", limit >> 20);
            return Err(Fault::TooLarge { what: "the unpacked size of a part", limit });
        }
        self.bytes_left -= bytes.len() as u64;
        Ok(Some(bytes))
    }

    /// Refuses a package whose parts, as it says itself, are beyond the limits; for readers that unpack by themselves.
    pub fn check_announced_sizes(&mut self) -> Result<(), Fault> {
        let mut all = 0u64;
        for place in 0..self.archive.len() {
            let Ok(part) = self.archive.by_index(place) else { continue };
            all = all.saturating_add(part.size());
            if part.size() > PART_BYTES_MAX || all > PACKAGE_BYTES_MAX {
                let limit = format!("{} MB", PART_BYTES_MAX >> 20);
                return Err(Fault::TooLarge { what: "the unpacked size of a part", limit });
            }
        }
        Ok(())
    }
}

/// XML is UTF-8 unless it begins with the mark of UTF-16 or names another character set.
fn decoded(bytes: &[u8]) -> String {
    if let Some((encoding, _)) = encoding_rs::Encoding::for_bom(bytes) {
        return encoding.decode(bytes).0.into_owned();
    }
    let start = String::from_utf8_lossy(&bytes[..bytes.len().min(200)]).into_owned();
    let named = start.split_once("encoding=").and_then(|(_, rest)| {
        let quote = rest.chars().next().filter(|quote| matches!(quote, '"' | '\''))?;
        rest[1..].split(quote).next()
    });
    let encoding =
        named.and_then(|name| encoding_rs::Encoding::for_label(name.as_bytes())).unwrap_or(encoding_rs::UTF_8);
    encoding.decode_without_bom_handling(bytes).0.into_owned()
}
