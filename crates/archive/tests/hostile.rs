//! Archives that lie: bombs, names that lead away, symbolic links, wrong lengths. What is sound in them is read all the same.

#![allow(clippy::unwrap_used, reason = "the helpers of tests fail as tests do")]

use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::{DeflateEncoder, GzEncoder};
use vernal_archive::import::{Archives, Form, ImportError};

const SYMLINK_MODE: u32 = 0o120_777 << 16;

/// One entry of a ZIP file, as its directory tells it.
struct Entry {
    name: &'static str,
    packed: Vec<u8>,
    method: u16,
    size: u32,
    attributes: u32,
}

fn stored(name: &'static str, bytes: &[u8]) -> Entry {
    Entry { name, packed: bytes.to_vec(), method: 0, size: bytes.len() as u32, attributes: 0 }
}

fn deflated(name: &'static str, bytes: &[u8]) -> Entry {
    let mut packer = DeflateEncoder::new(Vec::new(), Compression::best());
    packer.write_all(bytes).unwrap();
    Entry { name, packed: packer.finish().unwrap(), method: 8, size: bytes.len() as u32, attributes: 0 }
}

fn zip(entries: &[Entry]) -> Vec<u8> {
    let (mut file, mut directory) = (Vec::new(), Vec::new());
    for entry in entries {
        let mut common = Vec::new();
        common.extend(20u16.to_le_bytes());
        common.extend(0u16.to_le_bytes());
        common.extend(entry.method.to_le_bytes());
        common.extend([0; 8]);
        common.extend((entry.packed.len() as u32).to_le_bytes());
        common.extend(entry.size.to_le_bytes());
        common.extend((entry.name.len() as u16).to_le_bytes());
        common.extend(0u16.to_le_bytes());
        directory.extend(b"PK\x01\x02\x14\x03");
        directory.extend(&common);
        directory.extend([0; 6]);
        directory.extend(entry.attributes.to_le_bytes());
        directory.extend((file.len() as u32).to_le_bytes());
        directory.extend(entry.name.as_bytes());
        file.extend(b"PK\x03\x04");
        file.extend(&common);
        file.extend(entry.name.as_bytes());
        file.extend(&entry.packed);
    }
    let start = file.len() as u32;
    file.extend(&directory);
    file.extend(b"PK\x05\x06\0\0\0\0");
    file.extend((entries.len() as u16).to_le_bytes());
    file.extend((entries.len() as u16).to_le_bytes());
    file.extend((directory.len() as u32).to_le_bytes());
    file.extend(start.to_le_bytes());
    file.extend([0; 2]);
    file
}

fn response(url: &str, date: &str, body: &str) -> Vec<u8> {
    let block = format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n{body}");
    record("response", url, date, "", block.as_bytes())
}

fn record(kind: &str, url: &str, date: &str, fields: &str, block: &[u8]) -> Vec<u8> {
    let head = format!(
        "WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Target-URI: {url}\r\nWARC-Date: {date}\r\nWARC-Record-ID: <urn:uuid:{}>\r\n\
         {fields}Content-Type: application/http\r\nContent-Length: {}\r\n\r\n",
        "00000000-0000-4000-8000-000000000000",
        block.len()
    );
    [head.as_bytes(), block, b"\r\n\r\n"].concat()
}

fn files(folder: &Path) -> BTreeSet<PathBuf> {
    std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect()
}

/// Opens the bytes and reads every record; the URLs that came, and what was told. Nothing may be written.
fn read(form: Form, bytes: &[u8]) -> Result<(Vec<String>, Vec<String>), ImportError> {
    let dir = tempfile::tempdir().unwrap();
    let scratch = dir.path().join("data");
    std::fs::create_dir(&scratch).unwrap();
    let path = dir.path().join("archive");
    std::fs::write(&path, bytes).unwrap();
    let before = files(dir.path());
    let opened = Archives::open(form, &[path], &scratch, &mut |_, _| {});
    let read = opened.map(|mut archives| {
        let records: Vec<_> = (0..archives.len()).filter_map(|place| archives.record(place)).collect();
        let urls = records.iter().map(|record| record.target().unwrap().to_owned()).collect();
        (urls, archives.left_out().told.clone())
    });
    assert_eq!(files(dir.path()), before);
    assert!(files(&scratch).is_empty());
    read
}

const GOOD: &str = "http://a.example/";

fn good() -> Vec<u8> {
    response(GOOD, "2019-03-01T10:00:00Z", "<p>Some words.</p>")
}

#[test]
fn entries_that_lead_away_are_told_and_the_others_read() {
    let mut link = stored("archive/link.warc", b"/etc/passwd");
    link.attributes = SYMLINK_MODE;
    let entries = [
        stored("../../out.warc", &good()),
        stored("/etc/out.warc", &good()),
        stored("archive\\out.warc", &good()),
        link,
        stored("archive/good.warc", &good()),
        stored("pages/pages.jsonl", b"{}"),
    ];
    let (urls, told) = read(Form::Wacz, &zip(&entries)).unwrap();
    assert_eq!(urls, [GOOD]);
    assert_eq!(told.len(), 4, "{told:?}");
    assert!(told.iter().filter(|line| line.contains("leads out of the archive")).count() == 3);
    assert!(told.iter().any(|line| line.contains("symbolic link")));
}

#[test]
fn packed_entries_are_unpacked_within_limits_and_bombs_are_not() {
    let (urls, told) = read(Form::Wacz, &zip(&[deflated("archive/a.warc", &good())])).unwrap();
    assert_eq!((urls.len(), told.len()), (1, 0));
    let bomb = deflated("archive/bomb.warc", &vec![0; 64 << 20]);
    let mut liar = deflated("archive/liar.warc", &vec![0; 64 << 20]);
    liar.size = 1_000;
    let mut short = deflated("archive/short.warc", &good());
    short.size += 1;
    let other = Entry { method: 14, ..stored("archive/lzma.warc", b"x") };
    let (urls, told) = read(Form::Wacz, &zip(&[bomb, liar, short, other])).unwrap();
    assert!(urls.is_empty());
    for (line, why) in told.iter().zip(["far more", "the size that", "the size that", "not supported"]) {
        assert!(line.contains(why), "{line}");
    }
    // Entries that say that they overlap.
    let mut wide = stored("archive/a.warc", &good());
    wide.size = 1 << 30;
    let mut bytes = zip(&[wide]);
    let at = bytes.windows(4).position(|window| window == b"PK\x01\x02").unwrap() + 20;
    bytes[at..at + 4].copy_from_slice(&(1u32 << 30).to_le_bytes());
    let told = read(Form::Wacz, &bytes).map(|(_, told)| told).unwrap_or_default();
    assert!(told.iter().all(|line| line.contains("more bytes than the file")), "{told:?}");
}

#[test]
fn a_gzip_bomb_ends_its_file_and_costs_no_memory() {
    let mut packer = GzEncoder::new(Vec::new(), Compression::best());
    let head = b"WARC/1.0\r\nWARC-Type: response\r\nContent-Length: 300000000\r\n\r\n";
    packer.write_all(head).unwrap();
    for _ in 0..300 {
        packer.write_all(&vec![0; 1 << 20]).unwrap();
    }
    let bomb = packer.finish().unwrap();
    let mut packed = GzEncoder::new(Vec::new(), Compression::default());
    packed.write_all(&good()).unwrap();
    let file = [packed.finish().unwrap(), bomb].concat();
    let (urls, told) = read(Form::Warc, &file).unwrap();
    assert_eq!(urls, [GOOD], "what came before the bomb is read");
    assert_eq!(told.len(), 1, "{told:?}");
}

#[test]
fn records_that_are_wrong_cost_only_themselves() {
    let cut = |bytes: Vec<u8>| bytes[..bytes.len() - 20].to_vec();
    let file = [
        good(),
        response("javascript:alert(1)", "2019-03-01T10:00:00Z", "x"),
        response("http://b.example/", "yesterday", "x"),
        response("http://c.example/", "1850-01-01T00:00:00Z", "x"),
        record(
            "response",
            "http://d.example/",
            "2019-03-01T10:00:00Z",
            "WARC-Truncated: length\r\n",
            b"HTTP/1.1 200 OK\r\n\r\n",
        ),
        record("revisit", "http://e.example/", "2019-03-01T10:00:00Z", "WARC-Payload-Digest: sha1:NONE\r\n", b""),
        record("response", "dns:a.example", "2019-03-01T10:00:00Z", "", b"20190301 a.example. 1.2.3.4"),
        record("request", GOOD, "2019-03-01T10:00:00Z", "", b"GET / HTTP/1.1\r\n\r\n"),
        response("http://a.example/robots.txt", "2019-03-01T10:00:00Z", "Disallow: /"),
        cut(response("http://f.example/", "2019-03-01T10:00:00Z", "x")),
    ]
    .concat();
    let (urls, told) = read(Form::Warc, &file).unwrap();
    assert_eq!(urls, [GOOD]);
    assert_eq!(told.len(), 6, "{told:?}");
}

#[test]
fn the_answer_to_a_form_that_was_sent_is_no_page() {
    let id = |number: u32| format!("<urn:uuid:00000000-0000-4000-8000-{number:012}>");
    let with_id = |record: Vec<u8>, number: u32| {
        let text = String::from_utf8(record).unwrap();
        text.replace(&id(0), &id(number)).into_bytes()
    };
    let of = |number: u32| format!("WARC-Concurrent-To: {}\r\n", id(number));
    let date = "2019-03-01T10:00:00Z";
    let file = [
        with_id(response("http://a.example/form", date, "thanks"), 1),
        with_id(record("request", "http://a.example/form", date, &of(1), b"POST /form HTTP/1.1\r\n\r\n"), 2),
        with_id(response(GOOD, date, "page"), 3),
        with_id(record("request", GOOD, date, &of(3), b"GET / HTTP/1.1\r\n\r\n"), 4),
    ]
    .concat();
    assert_eq!(read(Form::Warc, &file).unwrap(), (vec![GOOD.to_owned()], Vec::new()));
}

#[test]
fn revisits_find_their_payload_by_name_and_by_digest_and_records_come_by_date() {
    let digest = "WARC-Payload-Digest: sha1:ABCDEFGHIJKLMNOPQRSTUVWXYZ234567\r\n";
    let block = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>Some words.</p>";
    let named = "WARC-Refers-To-Target-URI: http://a.example/\r\nWARC-Refers-To-Date: 2019-03-01T10:00:00Z\r\n";
    let file = [
        record(
            "revisit",
            "http://b.example/",
            "2021-01-01T00:00:00Z",
            digest,
            b"HTTP/1.1 200 OK\r\nX-Own: yes\r\n\r\n",
        ),
        record("revisit", GOOD, "2020-01-01T00:00:00Z", named, b"HTTP/1.1 304 Not Modified\r\n\r\n"),
        record("response", GOOD, "2019-03-01T10:00:00Z", digest, block),
    ]
    .concat();
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.warc");
    std::fs::write(&path, file).unwrap();
    let mut archives = Archives::open(Form::Warc, &[path], dir.path(), &mut |_, _| {}).unwrap();
    let records: Vec<_> = (0..archives.len()).map(|place| archives.record(place).unwrap()).collect();
    let read: Vec<_> = records.iter().map(|record| (record.target().unwrap(), record.payload().unwrap())).collect();
    let words = &b"<p>Some words.</p>"[..];
    assert_eq!(read, [(GOOD, words), (GOOD, words), ("http://b.example/", words)]);
    // The head of the answer is its own, and one that says nothing of the page is not.
    assert_eq!(records[2].http().unwrap().header("x-own"), Some("yes"));
    assert_eq!(records[1].http().unwrap().status, 200);
}
