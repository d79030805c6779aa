//! Laws of the crate `vernal-repository`: WARC files and journals that may hold any bytes.

use std::fs;
use std::io::Cursor;

use vernal_repository::bodies::{Scan, ScanLimits};
use vernal_repository::verify_journal;
use xxhash_rust::xxh3::Xxh3;

/// Scans the bytes as a WARC file: they are records and damage, in order and within the limits.
///
/// # Panics
///
/// If the scan goes back or leaves the file.
pub fn warc(bytes: &[u8]) {
    let limits =
        ScanLimits { record_bytes_max: 1 << 20, head_bytes_max: 4 << 10, ratio_max: 200, unpacked_bytes_free: 4 << 20 };
    let mut reached = 0;
    for item in Scan::new(Cursor::new(bytes), limits) {
        let offset = match &item {
            Ok(scanned) => scanned.offset,
            Err(damage) => damage.offset,
        };
        assert!(reached <= offset && offset <= bytes.len() as u64, "the scan goes forward");
        reached = offset;
        if let Ok(scanned) = item {
            let record = &scanned.record;
            let _ = (record.kind(), record.target(), record.date(), record.payload_digest(), record.refers_to());
            let _ = (record.http(), record.payload());
            reached += scanned.length;
        }
    }
}

/// Reads the bytes as a journal file, and once more as the payload of a frame with a good checksum, which the reader of
/// payloads must survive too.
///
/// # Panics
///
/// If the reader fails on anything but the file system.
pub fn journal(bytes: &[u8]) {
    const FORMAT: &str = "vernal-repository 4\npartitions 64\nsuffixes psl-2\nid 00000000000000000000000000000007\n";
    let dir = tempfile::tempdir().expect("a folder for one journal");
    fs::write(dir.path().join("FORMAT"), FORMAT).expect("write FORMAT");
    fs::create_dir(dir.path().join("journal")).expect("make the folder of the journal");
    for file in [bytes.to_vec(), sealed(bytes)] {
        fs::write(dir.path().join("journal/00000001.log"), file).expect("write the journal");
        let report = verify_journal(dir.path(), &mut |_, _| {}).expect("damage is reported, not an error");
        assert!(report.unfinished_bytes <= report.bytes, "no more is torn than there is");
    }
}

/// A journal file of one frame with this payload, with the checksums of a repository whose id is 7.
fn sealed(payload: &[u8]) -> Vec<u8> {
    let mut file = b"VRNLJRNL".to_vec();
    file.extend(2u32.to_le_bytes());
    file.extend(1u32.to_le_bytes());
    file.extend(1u64.to_le_bytes());
    file.extend(checksum(&file, &[]).to_le_bytes());
    let mut head = 0xA17F_D33Du32.to_le_bytes().to_vec();
    head.extend((payload.len() as u32).to_le_bytes());
    head.extend(1u64.to_le_bytes());
    head.extend(checksum(&head, payload).to_le_bytes());
    [&file, &head, payload].concat()
}

fn checksum(head: &[u8], payload: &[u8]) -> u64 {
    let mut hash = Xxh3::with_seed(7);
    hash.update(head);
    hash.update(payload);
    hash.digest()
}
