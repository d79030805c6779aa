//! The laws of copies: an index names every capture, an export stands on its own, a compaction breaks no revisit.

#![allow(clippy::unwrap_used, reason = "the helpers of tests fail as tests do")]

mod web;

use std::fs;

use tempfile::TempDir;
use vernal_repository::archive::{ExportTo, IndexOf, cdxj, compact, export_warc};
use vernal_repository::bodies::{Bodies, End, Segments, scan, segments, verify};
use vernal_repository::{Error, Record};
use web::{LIMIT, info, moment, sample};

fn opened(dir: &TempDir) -> Segments {
    Segments::open(dir.path(), info(), LIMIT, None, moment(0)).unwrap().0
}

#[test]
fn the_index_has_a_sorted_line_for_every_capture() {
    let dir = TempDir::new().unwrap();
    let mut writer = opened(&dir);
    let places = sample(&mut writer);
    writer.seal().unwrap();
    let mut out = Vec::new();
    cdxj(dir.path(), IndexOf::Folder, &|_| true, &mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 4);
    assert!(lines.is_sorted());
    assert!(
        lines[0].starts_with("org,example)/other?a=1&b=2 20260101000500 {\"url\": \"http://www.example.org/other?")
    );
    assert!(lines[1].contains("\"mime\": \"text/html\", \"status\": \"200\", \"digest\": \"sha1:"));
    assert!(lines[1].contains(&format!("\"length\": \"{}\", \"offset\": \"{}\"", places[0].length, places[0].offset)));
    assert!(lines[2].contains("\"mime\": \"warc/revisit\", \"status\": \"200\""));
    assert!(lines[3].contains("\"mime\": \"warc/revisit\", \"digest\""));
}

#[test]
fn an_export_of_a_revisit_brings_its_target_along() {
    let dir = TempDir::new().unwrap();
    sample(&mut opened(&dir));
    let out = TempDir::new().unwrap();
    let file = out.path().join("one.warc.gz");
    let report = export_warc(dir.path(), ExportTo::File(&file), &|record| record.kind() == "revisit").unwrap();
    assert_eq!((report.added_for_revisits, report.damaged), (1, 0));
    let kinds: Vec<String> = scan(&file).unwrap().map(|item| item.unwrap().record.kind().to_owned()).collect();
    assert_eq!(kinds, ["warcinfo", "response", "request", "revisit", "request", "revisit", "metadata", "request"]);
    assert_eq!(report.records, 8);
    assert_eq!(report.bytes, fs::metadata(&file).unwrap().len());
    let again = export_warc(dir.path(), ExportTo::File(&file), &|_| true);
    assert!(matches!(again, Err(Error::Io { .. })), "nothing is overwritten");
}

/// The index of an export: URL, file, offset and length of each line.
fn index(dir: &TempDir, of: IndexOf<'_>, filter: &dyn Fn(&Record) -> bool) -> Vec<(String, String, u64, u64)> {
    let mut out = Vec::new();
    cdxj(dir.path(), of, filter, &mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    let field = |line: &str, name: &str| {
        let (_, rest) = line.split_once(&format!("\"{name}\": \"")).unwrap();
        rest.split_once('"').unwrap().0.to_owned()
    };
    let number = |line: &str, name: &str| field(line, name).parse().unwrap();
    let row =
        |line: &str| (field(line, "url"), field(line, "filename"), number(line, "offset"), number(line, "length"));
    text.lines().map(row).collect()
}

#[test]
fn an_index_names_the_files_and_places_that_the_export_with_the_same_filter_writes() {
    let dir = TempDir::new().unwrap();
    let mut writer = opened(&dir);
    sample(&mut writer);
    writer.seal().unwrap();
    sample(&mut writer);
    let filters: [&dyn Fn(&Record) -> bool; 3] = [&|_| true, &|record| record.kind() == "revisit", &|record| {
        record.target().is_some_and(|target| target.contains("/other"))
    }];
    for filter in filters {
        let out = TempDir::new().unwrap();
        let one = out.path().join("one.warc.gz");
        let folder = out.path().join("many");
        export_warc(dir.path(), ExportTo::Folder(&folder), filter).unwrap();
        export_warc(dir.path(), ExportTo::File(&one), filter).unwrap();
        for (of, within) in [(IndexOf::Folder, folder.as_path()), (IndexOf::File("one.warc.gz"), out.path())] {
            let rows = index(&dir, of, filter);
            assert!(!rows.is_empty());
            let mut indexed = 0;
            for (url, file, offset, length) in rows {
                let found = scan(&within.join(&file)).unwrap().flatten().find(|scanned| scanned.offset == offset);
                let scanned = found.unwrap_or_else(|| panic!("{file} has no record at {offset}"));
                assert_eq!((scanned.record.target(), scanned.length), (Some(url.as_str()), length));
                indexed += 1;
            }
            let captures = |path: &std::path::Path| {
                let kinds = scan(path).unwrap().flatten().map(|scanned| scanned.record.kind().to_owned());
                kinds.filter(|kind| kind == "response" || kind == "revisit").count()
            };
            let files: Vec<_> = match of {
                IndexOf::File(_) => vec![one.clone()],
                IndexOf::Folder => fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect(),
            };
            assert_eq!(indexed, files.iter().map(|path| captures(path)).sum::<usize>(), "no capture is left out");
        }
    }
}

#[test]
fn an_export_of_everything_is_the_same_bytes() {
    let dir = TempDir::new().unwrap();
    let mut writer = opened(&dir);
    sample(&mut writer);
    writer.seal().unwrap();
    sample(&mut writer);
    let out = TempDir::new().unwrap();
    let report = export_warc(dir.path(), ExportTo::Folder(&out.path().join("new")), &|_| true).unwrap();
    assert_eq!(report.files.len(), 2);
    for (file, copy) in segments(dir.path()).unwrap().iter().zip(&report.files) {
        assert_eq!(fs::read(&file.path).unwrap(), fs::read(copy).unwrap());
        assert!(copy.to_str().unwrap().ends_with(".warc.gz"));
    }
    let none = export_warc(dir.path(), ExportTo::Folder(out.path()), &|_| false).unwrap();
    assert!(none.files.is_empty());
}

#[test]
fn a_compaction_drops_what_nobody_keeps_and_breaks_no_revisit() {
    let dir = TempDir::new().unwrap();
    let mut writer = opened(&dir);
    let places = sample(&mut writer);
    writer.seal().unwrap();
    let reader = Bodies::new(dir.path());
    let (response, revisit) = (reader.read(&places[0]).unwrap(), reader.read(&places[1]).unwrap());
    // Only the revisit is kept by name; its target must stay with it.
    let mut committed = Vec::new();
    let done = compact(&mut writer, &|place| *place == places[1], 0.1, moment(900), &mut |writer, compaction| {
        committed.push((writer.end(), compaction.clone()));
        assert_eq!(segments(dir.path()).unwrap().len(), 2, "the old segment stays until the commit");
        Ok(())
    })
    .unwrap();
    assert_eq!(done.len(), 1);
    assert_eq!(done[0], committed[0].1);
    assert_eq!(done[0].moved.iter().map(|(old, _)| *old).collect::<Vec<_>>(), places[..2]);
    assert_eq!(done[0].dropped, places[2..]);
    assert!(done[0].bytes_after < done[0].bytes_before);
    let [(_, response_place), (_, revisit_place)] = done[0].moved[..] else { panic!("two records moved") };
    assert_eq!((reader.read(&response_place).unwrap(), reader.read(&revisit_place).unwrap()), (response, revisit));
    assert!(matches!(reader.read(&places[0]), Err(Error::SegmentMissing(1))));
    assert!(verify(dir.path(), &mut |_, _| {}).unwrap().is_sound());
    // A repository that crashes now goes on from what was committed.
    drop(writer);
    let (writer, cut) = Segments::open(dir.path(), info(), LIMIT, Some(committed[0].0), moment(901)).unwrap();
    assert_eq!((cut.bytes, writer.end()), (0, committed[0].0));
}

#[test]
fn a_compaction_that_is_not_committed_loses_nothing() {
    let dir = TempDir::new().unwrap();
    let mut writer = opened(&dir);
    let places = sample(&mut writer);
    writer.seal().unwrap();
    let end = writer.end();
    let failed =
        compact(&mut writer, &|place| *place == places[0], 0.1, moment(900), &mut |_, _| Err(Error::SegmentMissing(0)));
    assert!(failed.is_err());
    drop(writer);
    let (_, cut) = Segments::open(dir.path(), info(), LIMIT, Some(end), moment(901)).unwrap();
    assert_eq!(cut.removed, [2]);
    let reader = Bodies::new(dir.path());
    for place in &places {
        reader.read(place).unwrap();
    }
}

#[test]
fn a_compaction_leaves_segments_alone_that_are_mostly_kept() {
    let dir = TempDir::new().unwrap();
    let mut writer = opened(&dir);
    let places = sample(&mut writer);
    writer.seal().unwrap();
    let done = compact(&mut writer, &|place| *place != places[3], 0.9, moment(900), &mut |_, _| Ok(())).unwrap();
    assert!(done.is_empty());
    assert_ne!(writer.end(), End::default());
}
