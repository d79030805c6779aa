//! The laws of the journal, at every byte.

use std::fs;
use std::path::Path;

use vernal_model::{Chance, Deed, Moment, Partition, Sequence, Url};

use super::{Frame, Journal, Tail, file, frame, replay};
use crate::bodies::End;
use crate::{Error, Result};

const SEED: u64 = 42;

fn deed(n: u64) -> Deed {
    Deed::Unseeded(Url::parse(&format!("http://example.org/{n}")).unwrap())
}

/// Groups of one to four deeds. The number in a deed is its position.
fn groups(count: u64) -> Vec<Vec<(Partition, Sequence, Deed)>> {
    let (mut chance, mut position) = (Chance::new(count), 0);
    let mut sequences = [0; 3];
    let mut group = || {
        let deeds = 1 + chance.below(4);
        let entry = |_| {
            position += 1;
            let partition = chance.below(3) as usize;
            sequences[partition] += 1;
            (Partition(partition as u8), Sequence(sequences[partition]), deed(position))
        };
        (0..deeds).map(entry).collect()
    };
    (0..count).map(|_| group()).collect()
}

fn end(n: usize) -> End {
    End { segment: 1, length: n as u64 * 100 }
}

/// Appends the groups. Returns the length of the last file after each of them.
fn append(journal: &mut Journal, groups: &[Vec<(Partition, Sequence, Deed)>]) {
    for (n, group) in groups.iter().enumerate() {
        let entries = group.iter().map(|(partition, sequence, deed)| (*partition, *sequence, deed));
        journal.append(Moment::from_secs(n as i64), end(n), entries).unwrap();
    }
}

fn read(folder: &Path, applied: u64) -> Result<(Vec<Frame>, Tail)> {
    let mut frames = Vec::new();
    let tail = replay(folder, SEED, applied, &mut |frame| {
        frames.push(frame);
        Ok(())
    })?;
    Ok((frames, tail))
}

fn open(folder: &Path) -> Journal {
    let (_, tail) = read(folder, 0).unwrap();
    Journal::resume(folder, SEED, tail).unwrap()
}

/// The groups that a reader finds must be the first ones, and whole.
fn assert_prefix(frames: &[Frame], groups: &[Vec<(Partition, Sequence, Deed)>]) {
    assert!(frames.len() <= groups.len());
    for (n, (frame, group)) in frames.iter().zip(groups).enumerate() {
        assert_eq!(frame.entries, *group);
        assert_eq!((frame.moment, frame.end), (Moment::from_secs(n as i64), end(n)));
    }
}

#[test]
fn what_was_appended_is_replayed_from_any_position_across_files() {
    let dir = tempfile::tempdir().unwrap();
    let groups = groups(60);
    let mut journal = open(dir.path()).with_file_bytes_max(700);
    append(&mut journal, &groups);
    assert!(file::listed(dir.path()).unwrap().len() > 3);
    let (all, _) = read(dir.path(), 0).unwrap();
    assert_eq!(all.len(), groups.len());
    assert_prefix(&all, &groups);
    for skipped in 0..=groups.len() {
        let applied = groups[..skipped].iter().map(|group| group.len() as u64).sum();
        let (frames, tail) = read(dir.path(), applied).unwrap();
        assert_eq!(frames, all[skipped..]);
        assert_eq!(tail.end, end(groups.len() - 1));
    }
}

#[test]
fn writing_goes_on_after_reopening() {
    let dir = tempfile::tempdir().unwrap();
    let groups = groups(20);
    for group in &groups {
        let mut journal = open(dir.path()).with_file_bytes_max(300);
        let entries = group.iter().map(|(partition, sequence, deed)| (*partition, *sequence, deed));
        journal.append(Moment::EPOCH, End::default(), entries).unwrap();
    }
    let (frames, _) = read(dir.path(), 0).unwrap();
    assert_eq!(frames.into_iter().map(|frame| frame.entries).collect::<Vec<_>>(), groups);
}

#[test]
fn a_tail_torn_at_any_byte_is_cut_to_the_last_whole_group_and_writing_goes_on() {
    let dir = tempfile::tempdir().unwrap();
    let groups = groups(5);
    append(&mut open(dir.path()), &groups);
    let path = file::path(dir.path(), 1);
    let good = fs::read(&path).unwrap();
    let mut lengths = Vec::new();
    for length in 0..=good.len() {
        fs::write(&path, &good[..length]).unwrap();
        let (frames, tail) = read(dir.path(), 0).unwrap();
        assert_prefix(&frames, &groups);
        lengths.push(frames.len());
        let deeds: usize = groups[..frames.len()].iter().map(Vec::len).sum();
        assert_eq!(tail.next, deeds as u64 + 1);
        let mut journal = Journal::resume(dir.path(), SEED, tail).unwrap();
        let entry = deed(99);
        journal.append(Moment::EPOCH, End::default(), [(Partition(0), Sequence(9), &entry)].into_iter()).unwrap();
        assert_eq!(read(dir.path(), 0).unwrap().0.len(), frames.len() + 1);
    }
    assert!(lengths.is_sorted());
    assert_eq!((lengths[0], lengths[good.len()]), (0, groups.len()));
}

#[test]
fn a_tail_of_noughts_or_noise_is_cut() {
    for filler in [0x00, 0xff, 0x3d] {
        let dir = tempfile::tempdir().unwrap();
        let groups = groups(3);
        append(&mut open(dir.path()), &groups);
        let path = file::path(dir.path(), 1);
        let mut bytes = fs::read(&path).unwrap();
        bytes.extend([filler; 5_000]);
        fs::write(&path, &bytes).unwrap();
        let (frames, tail) = read(dir.path(), 0).unwrap();
        assert_eq!((frames.len(), tail.cut_bytes), (3, 5_000));
        assert_eq!(read(dir.path(), 0).unwrap().1.cut_bytes, 0);
    }
}

#[test]
fn a_flipped_bit_loses_the_last_group_at_most_and_elsewhere_is_an_error_that_names_the_place() {
    let dir = tempfile::tempdir().unwrap();
    let groups = groups(4);
    append(&mut open(dir.path()), &groups[..3]);
    let path = file::path(dir.path(), 1);
    let last_frame = fs::metadata(&path).unwrap().len();
    let (_, tail) = read(dir.path(), 0).unwrap();
    let mut journal = Journal::resume(dir.path(), SEED, tail).unwrap();
    let entries = groups[3].iter().map(|(partition, sequence, deed)| (*partition, *sequence, deed));
    journal.append(Moment::from_secs(3), end(3), entries).unwrap();
    let good = fs::read(&path).unwrap();
    for bit in 0..good.len() * 8 {
        let mut bad = good.clone();
        bad[bit / 8] ^= 1 << (bit % 8);
        fs::write(&path, &bad).unwrap();
        let found = read(dir.path(), 0);
        if (bit / 8) as u64 >= last_frame {
            let (frames, _) = found.unwrap();
            assert_eq!(frames.len(), 3);
            assert_prefix(&frames, &groups);
            continue;
        }
        let Err(Error::CorruptFile { path: named, offset, .. }) = found else { panic!("bit {bit} went unnoticed") };
        assert_eq!(named, path);
        assert!(offset <= (bit / 8) as u64);
        assert_eq!(fs::read(&path).unwrap(), bad, "nothing is cut where whole frames follow");
    }
}

#[test]
fn damage_in_an_older_file_and_a_missing_file_are_errors() {
    let dir = tempfile::tempdir().unwrap();
    append(&mut open(dir.path()).with_file_bytes_max(300), &groups(20));
    let path = file::path(dir.path(), 2);
    let good = fs::read(&path).unwrap();
    fs::write(&path, &good[..good.len() - 1]).unwrap();
    assert!(matches!(read(dir.path(), 0), Err(Error::CorruptFile { path: named, .. }) if named == path));
    fs::remove_file(&path).unwrap();
    assert!(matches!(read(dir.path(), 0), Err(Error::CorruptFile { .. })));
}

#[test]
fn a_torn_end_that_the_tables_have_seen_is_not_cut() {
    let dir = tempfile::tempdir().unwrap();
    let groups = groups(3);
    append(&mut open(dir.path()), &groups);
    let path = file::path(dir.path(), 1);
    let good = fs::read(&path).unwrap();
    fs::write(&path, &good[..good.len() - 1]).unwrap();
    let applied = groups.iter().map(|group| group.len() as u64).sum();
    assert!(matches!(read(dir.path(), applied), Err(Error::CorruptFile { .. })));
    assert_eq!(fs::metadata(&path).unwrap().len(), good.len() as u64 - 1);
}

#[test]
fn bytes_of_a_foreign_journal_are_no_frames_of_ours() {
    let (ours, foreign) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    append(&mut open(ours.path()), &groups(2));
    let tail = replay(foreign.path(), SEED + 1, 0, &mut |_| Ok(())).unwrap();
    append(&mut Journal::resume(foreign.path(), SEED + 1, tail).unwrap(), &groups(2));
    // A page whose title is a frame, in a group that was torn.
    let path = file::path(ours.path(), 1);
    let mut bytes = fs::read(&path).unwrap();
    bytes.extend(b"torn");
    bytes.extend(&fs::read(file::path(foreign.path(), 1)).unwrap()[file::HEAD_BYTES..]);
    fs::write(&path, bytes).unwrap();
    assert_eq!(read(ours.path(), 0).unwrap().0.len(), 2);
}

#[test]
fn any_bytes_are_read_without_panic() {
    let dir = tempfile::tempdir().unwrap();
    append(&mut open(dir.path()), &groups(6));
    let good = fs::read(file::path(dir.path(), 1)).unwrap();
    let mut chance = Chance::new(3);
    read_any(&good);
    for _ in 0..3_000 {
        let mut bytes = good.clone();
        for _ in 0..1 + chance.below(8) {
            let place = chance.below(bytes.len() as u64) as usize;
            bytes[place] = chance.bits() as u8;
        }
        bytes.truncate(chance.below(bytes.len() as u64 + 1) as usize);
        read_any(&bytes);
        let noise: Vec<u8> = (0..chance.below(200)).map(|_| chance.bits() as u8).collect();
        read_any(&noise);
    }
}

/// Reads any bytes as a journal file. Nothing panics, and nothing takes more memory than the bytes.
fn read_any(bytes: &[u8]) {
    const SEED: u64 = 7;
    if let Some(head) = bytes.first_chunk::<{ file::HEAD_BYTES }>() {
        let _ = file::read_head(head, 1, SEED);
    }
    let mut rest = bytes.get(file::HEAD_BYTES..).unwrap_or(bytes);
    loop {
        let remaining = rest.len() as u64;
        match frame::next(&mut rest, remaining, SEED) {
            Ok(frame::FrameRead::Frame(..)) => {}
            Ok(frame::FrameRead::End | frame::FrameRead::Torn(_) | frame::FrameRead::Unreadable(_)) | Err(_) => break,
        }
    }
    let _ = frame::holds_a_frame(bytes, SEED);
    // The reader of payloads must survive any bytes too: the checksum before them is no protection against ourselves.
    let _ = frame::decode(1, bytes);
}
