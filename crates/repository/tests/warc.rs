//! The laws of segments: what is kept is read back, what was not acknowledged goes, and damage is found.

#![allow(clippy::unwrap_used, reason = "the helpers of tests fail as tests do")]

mod web;

use std::fs::{self, OpenOptions};
use std::io::{Cursor, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use tempfile::TempDir;
use vernal_model::{Exchange, Location, Moment, Protocol};
use vernal_repository::Error;
use vernal_repository::bodies::{Bodies, End, KeepKind, Scan, ScanLimits, Segments, read, scan, segments, verify};
use web::{LIMIT, digest, info, keep, moment, page, sample, url};

fn opened(dir: &TempDir, acknowledged: Option<End>) -> Segments {
    Segments::open(dir.path(), info(), LIMIT, acknowledged, moment(0)).unwrap().0
}

fn open_path(dir: &TempDir) -> PathBuf {
    segments(dir.path()).unwrap().pop().unwrap().path
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn what_is_kept_is_read_back(
        body in prop::collection::vec(any::<u8>(), 0..5_000),
        fields in prop::collection::vec("[A-Za-z-]{1,12}: [ -~]{0,40}", 0..6),
        status in 100u16..600,
        content_encoded: bool,
        second in 0i64..4_000_000_000,
    ) {
        let dir = TempDir::new().unwrap();
        let mut writer = opened(&dir, None);
        let head = format!("HTTP/1.1 {status} Yes\r\n{}\r\n", fields.iter().map(|f| format!("{f}\r\n")).collect::<String>());
        let exchange = Exchange { content_encoded, ..page(head.as_bytes(), &body) };
        let (url, moment) = (url("http://example.org/a?b=c"), Moment::from_secs(second));
        let location = writer.keep(&keep(&url, moment, &exchange, KeepKind::Response), moment).unwrap();
        writer.sync().unwrap();

        let record = read(dir.path(), &location).unwrap();
        prop_assert_eq!((record.kind(), record.target(), record.date()), ("response", Some(url.as_str()), Some(moment)));
        prop_assert_eq!(record.payload_digest(), Some(digest(&body)));
        prop_assert_eq!(&record.block, &[head.as_bytes(), &body].concat());
        let http = record.http().unwrap();
        prop_assert_eq!((http.status, http.body, http.headers.len()), (status, &body[..], fields.len()));
        let report = verify(dir.path(), &mut |_, _| {}).unwrap();
        prop_assert!(report.is_sound());
    }

    #[test]
    fn any_head_is_kept_as_it_is(head in prop::collection::vec(any::<u8>(), 0..200), body in prop::collection::vec(any::<u8>(), 0..200)) {
        let dir = TempDir::new().unwrap();
        let mut writer = opened(&dir, None);
        let exchange = page(&head, &body);
        let url = url("http://example.org/");
        let location = writer.keep(&keep(&url, moment(1), &exchange, KeepKind::Response), moment(1)).unwrap();
        writer.sync().unwrap();
        prop_assert_eq!(read(dir.path(), &location).unwrap().block, [head, body].concat());
    }
}

#[test]
fn an_exchange_is_kept_with_its_request_and_its_address() {
    let dir = TempDir::new().unwrap();
    let mut writer = opened(&dir, None);
    let exchange = Exchange { protocol: Protocol::Http2, ..page(b"HTTP/2 200 \r\n\r\n", b"hi") };
    let url = url("https://example.org/");
    let location = writer.keep(&keep(&url, moment(3), &exchange, KeepKind::Response), moment(3)).unwrap();
    writer.sync().unwrap();
    let records: Vec<_> = scan(&open_path(&dir)).unwrap().map(|item| item.unwrap()).collect();
    let kinds: Vec<&str> = records.iter().map(|scanned| scanned.record.kind()).collect();
    assert_eq!(kinds, ["warcinfo", "response", "request"]);
    let (response, request) = (&records[1].record, &records[2].record);
    assert_eq!((records[1].offset, records[1].length), (location.offset, u64::from(location.length)));
    assert_eq!(request.header("WARC-Concurrent-To"), response.id());
    assert_ne!(request.id(), response.id());
    assert_eq!(request.block, exchange.request_head);
    assert_eq!(response.header("WARC-IP-Address"), Some("192.0.2.7"));
    assert_eq!(response.header("WARC-Protocol"), Some("h2"));
    let about = String::from_utf8(records[0].record.block.clone()).unwrap();
    for line in ["software: vernal/0", "operator: The Tests", "http-header-from: tests@example.org", "robots: obey"] {
        assert!(about.contains(&format!("{line}\r\n")), "{line}");
    }
}

#[test]
fn a_304_keeps_the_digest_of_what_it_confirms_and_its_own_head_beside_it() {
    let dir = TempDir::new().unwrap();
    let mut writer = opened(&dir, None);
    let places = sample(&mut writer);
    let record = read(dir.path(), &places[2]).unwrap();
    assert!(record.header("WARC-Profile").unwrap().ends_with("server-not-modified"));
    assert_eq!(record.payload_digest(), Some(digest(web::BODY)));
    assert_eq!(record.refers_to(), Some(("http://example.org/page", moment(100))));
    assert!(record.block.is_empty());
    let metadata = scan(&open_path(&dir)).unwrap().flatten().find(|s| s.record.kind() == "metadata").unwrap().record;
    assert_eq!(metadata.header("WARC-Concurrent-To"), record.id());
    assert_eq!(metadata.block, b"http-status-line: HTTP/1.1 304 Not Modified\r\nETag: \"x\"\r\n");
}

#[test]
fn a_crash_at_every_byte_of_the_tail_leaves_what_was_acknowledged() {
    let dir = TempDir::new().unwrap();
    let mut writer = opened(&dir, None);
    let first = sample(&mut writer);
    let end = writer.end();
    let (url, exchange) = (url("http://example.org/late"), page(b"HTTP/1.1 200 OK\r\n\r\n", b"late"));
    let late = keep(&url, moment(500), &exchange, KeepKind::Response);
    writer.keep(&late, moment(500)).unwrap();
    writer.sync().unwrap();
    drop(writer);
    let (path, whole) = (open_path(&dir), fs::read(open_path(&dir)).unwrap());
    for bytes in end.length as usize..=whole.len() {
        lengthen(&path, &whole[..bytes]);
        let (mut writer, cut) = Segments::open(dir.path(), info(), LIMIT, Some(end), moment(9)).unwrap();
        assert_eq!((cut.bytes, cut.removed.len()), ((bytes as u64) - end.length, 0));
        assert_eq!(writer.end(), end);
        // Writing goes on in the same file.
        if bytes % 97 == 0 {
            let again = writer.keep(&late, moment(500)).unwrap();
            writer.sync().unwrap();
            assert_eq!(again.segment, first[0].segment);
            assert!(verify(dir.path(), &mut |_, _| {}).unwrap().is_sound());
            assert_eq!(fs::read(&path).unwrap(), whole, "the same records at the same place have the same bytes");
        }
    }
}

#[test]
fn with_the_journal_lost_only_a_torn_record_goes() {
    let dir = TempDir::new().unwrap();
    let mut writer = opened(&dir, None);
    sample(&mut writer);
    drop(writer);
    let (path, whole) = (open_path(&dir), fs::read(open_path(&dir)).unwrap());
    let ends: Vec<u64> = scan(&path).unwrap().flatten().map(|scanned| scanned.offset + scanned.length).collect();
    for bytes in ends[ends.len() - 3] as usize..=whole.len() {
        lengthen(&path, &whole[..bytes]);
        let (writer, _) = Segments::open(dir.path(), info(), LIMIT, None, moment(9)).unwrap();
        let kept = *ends.iter().rev().find(|&&end| end <= bytes as u64).unwrap();
        assert_eq!(writer.end().length, kept);
    }
}

#[test]
fn a_segment_that_was_never_acknowledged_is_removed_and_sealed_ones_stay() {
    let dir = TempDir::new().unwrap();
    let mut writer = opened(&dir, None);
    sample(&mut writer);
    writer.seal().unwrap();
    let end = writer.end();
    sample(&mut writer);
    assert_eq!(writer.end().segment, 2);
    drop(writer);
    let (writer, cut) = Segments::open(dir.path(), info(), LIMIT, Some(end), moment(9)).unwrap();
    assert_eq!((cut.removed, writer.end()), (vec![2], end));
    let left = segments(dir.path()).unwrap();
    assert_eq!((left.len(), left[0].open, left[0].bytes), (1, false, end.length));
    // Nothing acknowledged at all: sealed segments stay even then.
    drop(writer);
    let (_, cut) = Segments::open(dir.path(), info(), LIMIT, Some(End::default()), moment(9)).unwrap();
    assert_eq!(cut.bytes, 0);
    assert_eq!(segments(dir.path()).unwrap().len(), 1);
}

#[test]
fn nothing_takes_the_place_of_records_that_a_file_lost() {
    let dir = TempDir::new().unwrap();
    let mut writer = opened(&dir, None);
    sample(&mut writer);
    let end = writer.end();
    drop(writer);
    let path = open_path(&dir);
    OpenOptions::new().write(true).open(&path).unwrap().set_len(end.length - 1).unwrap();
    let (mut writer, cut) = Segments::open(dir.path(), info(), LIMIT, Some(end), moment(9)).unwrap();
    assert!(cut.lost.is_some_and(|line| line.contains("segment 1 is damaged")));
    let left = segments(dir.path()).unwrap();
    assert_eq!((left.len(), left[0].open, left[0].bytes), (1, false, end.length - 1), "what is left of it is sealed");
    assert_eq!(writer.end(), end, "what was acknowledged never goes back");
    assert_eq!(sample(&mut writer)[0].segment, 2);
    let end = writer.end();
    drop(writer);
    fs::remove_file(open_path(&dir)).unwrap();
    let (mut writer, cut) = Segments::open(dir.path(), info(), LIMIT, Some(end), moment(9)).unwrap();
    assert!(cut.lost.is_some_and(|line| line.contains("segment 2 is not here")));
    assert_eq!(sample(&mut writer)[0].segment, 3, "no serial is used twice");
}

#[test]
fn segments_roll_between_groups_and_readers_follow_the_new_names() {
    let dir = TempDir::new().unwrap();
    let (mut writer, _) = Segments::open(dir.path(), info(), 1_000, None, moment(0)).unwrap();
    let reader = Bodies::new(dir.path());
    let mut places: Vec<Location> = Vec::new();
    for _ in 0..4 {
        // One group stays together, however far it passes the limit.
        let group = sample(&mut writer);
        assert!(group.iter().all(|place| place.segment == group[0].segment));
        places.extend(group);
        for place in &places {
            reader.read(place).unwrap();
        }
    }
    let files = segments(dir.path()).unwrap();
    assert_eq!(
        files.iter().map(|file| (file.serial, file.open)).collect::<Vec<_>>(),
        [(1, false), (2, false), (3, false), (4, true)]
    );
    let ids: std::collections::BTreeSet<String> =
        places.iter().map(|place| reader.read(place).unwrap().id().unwrap().to_owned()).collect();
    assert_eq!(ids.len(), places.len());
    let mut heard = Vec::new();
    assert!(verify(dir.path(), &mut |done, total| heard.push((done, total))).unwrap().is_sound());
    assert!(heard.is_sorted() && heard.last().is_some_and(|(done, total)| done == total));
}

#[test]
fn one_flipped_byte_anywhere_is_found_at_its_record() {
    let dir = TempDir::new().unwrap();
    let mut writer = opened(&dir, None);
    sample(&mut writer);
    writer.seal().unwrap();
    let path = open_path(&dir);
    let whole = fs::read(&path).unwrap();
    let starts: Vec<u64> = scan(&path).unwrap().flatten().map(|scanned| scanned.offset).collect();
    for (place, &byte) in whole.iter().enumerate() {
        // Hint, time, extra flags and system in a member's header say nothing about the record and are not checked.
        let start = *starts.iter().rev().find(|&&start| start <= place as u64).unwrap();
        if (3..10).contains(&(place as u64 - start)) {
            continue;
        }
        overwrite(&path, place, byte ^ 1);
        let report = verify(dir.path(), &mut |_, _| {}).unwrap();
        overwrite(&path, place, byte);
        let offsets: Vec<u64> = report
            .faults
            .iter()
            .map(|fault| match fault {
                Error::Corrupt { segment: 1, offset, .. } => *offset,
                other => panic!("{other}"),
            })
            .collect();
        assert!(offsets.contains(&start), "byte {place} of the record at {start}: {offsets:?}");
        assert!(report.records + 1 >= starts.len() as u64, "byte {place} cost more than its record");
    }
}

#[test]
fn a_revisit_without_its_target_is_found() {
    let dir = TempDir::new().unwrap();
    let mut writer = opened(&dir, None);
    let exchange = page(b"HTTP/1.1 200 OK\r\n\r\n", b"");
    let (here, elsewhere) = (url("http://example.org/"), url("http://example.org/lost"));
    let what = KeepKind::Revisit { target: &elsewhere, date: moment(1), server_not_modified: false };
    let place = writer.keep(&keep(&here, moment(2), &exchange, what), moment(2)).unwrap();
    writer.sync().unwrap();
    let report = verify(dir.path(), &mut |_, _| {}).unwrap();
    assert_eq!(report.faults_total, 1);
    assert!(matches!(report.faults[0], Error::Corrupt { offset, .. } if offset == place.offset));
}

#[test]
fn a_torn_tail_of_an_open_segment_is_no_damage() {
    let dir = TempDir::new().unwrap();
    let mut writer = opened(&dir, None);
    sample(&mut writer);
    let end = writer.end();
    sample(&mut writer);
    drop(writer);
    let path = open_path(&dir);
    OpenOptions::new().write(true).open(&path).unwrap().set_len(end.length + 30).unwrap();
    let report = verify(dir.path(), &mut |_, _| {}).unwrap();
    assert!(report.is_sound());
    assert_eq!(report.unfinished_bytes, 30);
}

#[test]
fn a_gzip_bomb_is_refused() {
    let limits = ScanLimits { record_bytes_max: 1 << 20, ..ScanLimits::default() };
    let bomb = web::gzipped(&vec![b'x'; 8 << 20]);
    assert_refused(&bomb, limits, "more than a record may have");
    // Many members that each stay below the limit.
    let limits = ScanLimits { ratio_max: 10, unpacked_bytes_free: 2 << 20, ..limits };
    let small = web::gzipped(&web::plain_record(&vec![b'x'; 900 << 10]));
    let items: Vec<_> = Scan::new(Cursor::new(small.repeat(100)), limits).collect();
    assert!(items.len() < 5, "{}", items.len());
    assert!(items.last().unwrap().as_ref().unwrap_err().what.contains("far more than it has"));
}

#[test]
fn an_endless_head_is_refused() {
    let endless = [b"WARC/1.1\r\n".to_vec(), b"A: b\r\n".repeat(100_000)].concat();
    assert_refused(&endless, ScanLimits::default(), "head of a record is too long");
    assert_refused(&web::gzipped(&endless), ScanLimits::default(), "head of a record is too long");
    let huge = b"WARC/1.1\r\nWARC-Type: resource\r\nContent-Length: 99999999999\r\n\r\n";
    assert_refused(huge, ScanLimits::default(), "longer than a record may be");
}

#[test]
fn strangers_files_are_read_packed_and_plain_and_past_damage() {
    let (one, two) = (web::plain_record(b"one"), web::plain_record(b"two"));
    let damaged = b"WARC/1.1\r\nContent-Length: 1\r\n\r\nthree\r\n\r\n".to_vec();
    let packed = [web::gzipped(&one), b"rubbish".to_vec(), web::gzipped(&damaged), web::gzipped(&two)].concat();
    for bytes in [[one, damaged, two].concat(), packed] {
        let items: Vec<_> = Scan::new(Cursor::new(&bytes), ScanLimits::default()).collect();
        let blocks: Vec<&[u8]> = items.iter().flatten().map(|scanned| &scanned.record.block[..]).collect();
        assert_eq!(blocks, [b"one", b"two"]);
        assert!(items.iter().any(Result::is_err));
    }
}

#[test]
fn one_member_for_two_records_is_refused_by_name() {
    let both = [web::plain_record(b"one"), web::plain_record(b"two")].concat();
    let items: Vec<_> = Scan::new(Cursor::new(web::gzipped(&both)), ScanLimits::default()).collect();
    assert!(items[0].as_ref().unwrap_err().what.contains("more than one record"));
}

#[test]
fn a_resource_keeps_its_type_and_its_bytes() {
    let dir = TempDir::new().unwrap();
    let mut writer = opened(&dir, None);
    let exchange = Exchange { protocol: Protocol::Gopher, body: b"hello".to_vec(), ..Exchange::default() };
    let url = url("gopher://example.org/0/a");
    let what = KeepKind::Resource { content_type: "text/plain" };
    let place = writer.keep(&keep(&url, moment(1), &exchange, what), moment(1)).unwrap();
    writer.sync().unwrap();
    let record = read(dir.path(), &place).unwrap();
    assert_eq!((record.kind(), record.header("Content-Type")), ("resource", Some("text/plain")));
    assert_eq!((record.payload(), record.http()), (Some(&b"hello"[..]), None));
    assert!(verify(dir.path(), &mut |_, _| {}).unwrap().is_sound());
}

/// Makes a file that begins like `whole` equal to it, in place: replacing files is far slower.
fn lengthen(path: &Path, whole: &[u8]) {
    let mut file = OpenOptions::new().write(true).open(path).unwrap();
    file.set_len(whole.len() as u64).unwrap();
    file.write_all(whole).unwrap();
}

fn overwrite(path: &Path, place: usize, byte: u8) {
    let mut file = OpenOptions::new().write(true).open(path).unwrap();
    file.seek(SeekFrom::Start(place as u64)).unwrap();
    file.write_all(&[byte]).unwrap();
}

fn assert_refused(bytes: &[u8], limits: ScanLimits, why: &str) {
    let items: Vec<_> = Scan::new(Cursor::new(bytes), limits).collect();
    assert_eq!(items.len(), 1, "the scan stops there");
    let damage = items[0].as_ref().unwrap_err();
    assert!(damage.offset == 0 && damage.what.contains(why), "{damage:?}");
}
