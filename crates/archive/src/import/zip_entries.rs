//! The WARC files within a WACZ. A WACZ is a ZIP file, and what its directory says is checked before it is believed.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::Arc;

use flate2::read::DeflateDecoder;
use zip::{CompressionMethod, ZipArchive};

use super::section::Section;

/// Entries of one ZIP file.
const ENTRIES_MAX: u64 = 100_000;
/// Bytes of the name of an entry.
const NAME_BYTES_MAX: usize = 1_024;
/// WARC files of one WACZ.
const WARCS_MAX: usize = 10_000;
/// An entry may unpack to so many times its bytes, and this many more.
const RATIO_MAX: u64 = 50;
const UNPACKED_BYTES_FREE: u64 = 16 << 20;
/// Where the end of the directory is looked for.
const END_BYTES_MAX: u64 = (64 << 10) + 22 + 76;
const END_OF_DIRECTORY: &[u8] = b"PK\x05\x06";
const END_OF_LARGE_DIRECTORY: &[u8] = b"PK\x06\x06";

/// One WARC file within the ZIP file, or why it is left out.
pub(super) type Entry = (String, Result<Section, String>);

/// The WARC files of a WACZ, in the order of its directory. Packed ones are unpacked to files without a name in `scratch`.
pub(super) fn warcs(file: File, scratch: &Path) -> Result<Vec<Entry>, String> {
    let whole = Section::whole(file).map_err(|error| error.to_string())?;
    if entries_told(&whole).map_err(|error| error.to_string())? > ENTRIES_MAX {
        return Err(format!("its directory has more than {ENTRIES_MAX} entries"));
    }
    let mut zip = ZipArchive::new(whole.clone()).map_err(|error| format!("it is no ZIP file: {error}"))?;
    if zip.len() as u64 > ENTRIES_MAX {
        return Err(format!("its directory has more than {ENTRIES_MAX} entries"));
    }
    let (mut warcs, mut packed_bytes) = (Vec::new(), 0u64);
    for place in 0..zip.len() {
        let Ok(entry) = zip.by_index_raw(place) else { continue };
        let Ok(name) = std::str::from_utf8(entry.name_raw()).map(str::to_owned) else { continue };
        if !is_warc(&name) || entry.is_dir() {
            continue;
        }
        if warcs.len() == WARCS_MAX {
            return Err(format!("it has more than {WARCS_MAX} WARC files"));
        }
        // Entries that overlap would be read again and again.
        packed_bytes = packed_bytes.saturating_add(entry.compressed_size());
        let wrong = match () {
            _ if packed_bytes > whole.length() => Some("its entries have more bytes than the file"),
            _ if entry.is_symlink() => Some("a symbolic link"),
            _ if entry.encrypted() => Some("encrypted"),
            _ => wrong_name(&name),
        };
        let section = match (wrong, entry.data_start()) {
            (Some(wrong), _) => Err(wrong.to_owned()),
            (None, None) => Err("its place is not known".to_owned()),
            (None, Some(start)) => {
                let (packed, size) = (whole.part(start, entry.compressed_size()), entry.size());
                match entry.compression() {
                    CompressionMethod::Stored => Ok(packed),
                    CompressionMethod::Deflated => unpacked(packed, size, scratch),
                    other => Err(format!("packed by a method that is not supported: {other:?}")),
                }
            }
        };
        warcs.push((name, section));
    }
    Ok(warcs)
}

/// Names are only shown, but one that tries to lead elsewhere is no honest entry.
pub(super) fn wrong_name(name: &str) -> Option<&'static str> {
    let leads_away = name.starts_with('/')
        || name.contains(['\\', '\0', ':'])
        || name.split('/').any(|part| part == ".." || part == "." || part.is_empty());
    match () {
        _ if name.len() > NAME_BYTES_MAX => Some("its name is too long"),
        _ if leads_away => Some("its name leads out of the archive"),
        _ => None,
    }
}

pub(super) fn is_warc(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    name.ends_with(".warc") || name.ends_with(".warc.gz")
}

fn unpacked(packed: Section, size: u64, scratch: &Path) -> Result<Section, String> {
    let allowed = packed.length().saturating_mul(RATIO_MAX).saturating_add(UNPACKED_BYTES_FREE);
    if size > allowed {
        return Err("it unpacks to far more than it has".to_owned());
    }
    let wrong = |error: io::Error| format!("unpack it: {error}");
    let mut file = tempfile::tempfile_in(scratch).map_err(wrong)?;
    let mut unpacked = DeflateDecoder::new(packed).take(size.saturating_add(1));
    let mut buffer = vec![0; 256 << 10];
    let mut bytes = 0;
    loop {
        let read = unpacked.read(&mut buffer).map_err(wrong)?;
        if read == 0 {
            break;
        }
        bytes += read as u64;
        file.write_all(&buffer[..read]).map_err(wrong)?;
    }
    match bytes == size {
        true => Ok(Section::new(Arc::new(file), 0, bytes)),
        false => Err("it does not have the size that the directory says".to_owned()),
    }
}

/// How many entries the end of the directory tells of, before anything is read of them.
fn entries_told(whole: &Section) -> io::Result<u64> {
    let mut end = whole.from(whole.length().saturating_sub(END_BYTES_MAX));
    end.seek(SeekFrom::Start(0))?;
    let mut bytes = Vec::new();
    end.read_to_end(&mut bytes)?;
    let told = |mark: &[u8], at: usize, width: usize| {
        let places = bytes.windows(4).enumerate().filter(|(_, window)| *window == mark);
        let numbers = places.filter_map(|(place, _)| bytes.get(place + at..place + at + width));
        numbers.map(|number| number.iter().rev().fold(0u64, |all, byte| all << 8 | u64::from(*byte))).max()
    };
    let small = told(END_OF_DIRECTORY, 10, 2).filter(|count| *count < 0xffff);
    Ok(small.into_iter().chain(told(END_OF_LARGE_DIRECTORY, 32, 8)).max().unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_lead_away_are_refused() {
        for name in
            ["/etc/x.warc", "../x.warc", "a/../../x.warc", "a\\..\\x.warc", "c:x.warc", "a//x.warc", "a/\0.warc"]
        {
            assert!(wrong_name(name).is_some(), "{name}");
        }
        assert_eq!(wrong_name("archive/data-001.warc.gz"), None);
        assert!(wrong_name(&"a".repeat(2_000)).is_some());
    }
}
