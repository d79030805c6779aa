//! A journal that is shortened leads to the same rows, whenever that happens and wherever it is cut short.

use std::fs;
use std::path::{Path, PathBuf};

use vernal_model::{Chance, Moment};
use vernal_repository::{JournalKept, Recovery, Repository, Settings, TablesRecovery, compare_tables, verify_journal};

use super::world::World;
use super::{assert_same, copy, copy_parts, dump};

fn open(dir: &Path, journal: JournalKept, journal_bytes_min: u64) -> (Repository, Recovery) {
    let settings = Settings { journal, journal_bytes_min, ..Settings::default() };
    Repository::open(dir, settings, Moment::from_secs(1)).unwrap()
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

fn bytes(folder: &Path) -> u64 {
    files(folder).iter().map(|path| path.metadata().unwrap().len()).sum()
}

/// The journal alone, applied to an empty store, gives these rows.
fn leads_to(dir: &Path, expected: &str, what: &str) {
    let bare = tempfile::tempdir().unwrap();
    copy_parts(dir, bare.path(), &["journal", "bodies"]);
    let (rebuilt, recovery) = open(bare.path(), JournalKept::Keep, 0);
    assert!(matches!(recovery.tables, TablesRecovery::Rebuilt(_)), "{what}");
    assert_same(&dump(&rebuilt.reader()), expected, what);
}

fn is_sound(repository: &Repository, dir: &Path) {
    let report = verify_journal(dir, &mut |_, _| {}).unwrap();
    assert!(report.is_sound(), "{report:?}");
    let compared = compare_tables(&repository.reader(), &mut |_, _| {}).unwrap();
    assert!(compared.faults.is_empty(), "{compared:?}");
}

#[test]
fn the_law_of_prefixes_begins_at_a_checkpoint() {
    for number in 80..84 {
        let dir = tempfile::tempdir().unwrap();
        let mut world = World::new(number);
        let mut chance = Chance::new(number).stream("shorten");
        let (mut repository, _) = open(dir.path(), JournalKept::Drop, u64::MAX);
        for step in 0..60 {
            world.step(&mut repository);
            if chance.happens(0.15) {
                let before = bytes(&dir.path().join("journal"));
                assert!(repository.shorten_journal().unwrap());
                assert!(!repository.shorten_journal().unwrap(), "nothing was written since");
                let after = files(&dir.path().join("journal"));
                assert_eq!(after.len(), 2, "the checkpoint and what follows it: {after:?}");
                assert!(step < 30 || bytes(&dir.path().join("journal")) < before * 2);
            }
            if step % 4 == 0 {
                leads_to(dir.path(), &dump(&repository.reader()), "a prefix");
            }
        }
        world.plain.check(&repository.reader());
        is_sound(&repository, dir.path());
        let report = verify_journal(dir.path(), &mut |_, _| {}).unwrap();
        assert!(report.begins_after > 0 && report.begins_after <= world.plain.position);
        repository.close().unwrap();
        for _ in 0..2 {
            let (mut repository, recovery) = open(dir.path(), JournalKept::Drop, u64::MAX);
            assert_eq!((recovery.tables, recovery.groups_replayed), (TablesRecovery::Sound, 0));
            world.plain.check(&repository.reader());
            world.step(&mut repository);
            world.plain.check(&repository.reader());
            repository.close().unwrap();
        }
    }
}

#[test]
fn a_crawl_that_shortens_its_journal_in_turns_may_be_killed_between_any_two() {
    for number in 85..88 {
        let dir = tempfile::tempdir().unwrap();
        let mut world = World::new(number);
        let (mut repository, _) = open(dir.path(), JournalKept::Drop, 4_000);
        let (mut shortened, mut unfinished) = (0, 0);
        for _ in 0..90 {
            world.step(&mut repository);
            let report = verify_journal(dir.path(), &mut |_, _| {}).unwrap();
            assert!(report.is_sound(), "{report:?}");
            let begun = dir.path().join("journal/checkpoint.new").exists();
            if !begun && (report.begins_after == 0 || report.begins_after <= shortened) {
                continue;
            }
            shortened = shortened.max(report.begins_after);
            unfinished += u64::from(begun);
            let expected = dump(&repository.reader());
            leads_to(dir.path(), &expected, "killed, and the tables are lost");
            let killed = tempfile::tempdir().unwrap();
            copy(dir.path(), killed.path());
            let (again, recovery) = open(killed.path(), JournalKept::Drop, 4_000);
            assert_eq!(recovery.tables, TablesRecovery::Sound);
            assert_same(&dump(&again.reader()), &expected, "killed");
            assert!(!killed.path().join("journal/checkpoint.new").exists(), "what was begun is removed");
        }
        assert!(shortened > 0 && unfinished > 0, "{shortened} {unfinished}");
        world.plain.check(&repository.reader());
        is_sound(&repository, dir.path());
    }
}

/// The folder before and after, and every state between: parts of the checkpoint under its first name, and the renamed one
/// with some of the files that it replaced.
#[test]
fn a_crash_at_any_step_of_the_replacement_leads_to_the_same_rows() {
    let (before, dir) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let mut world = World::new(90);
    // Several files are replaced: a file ends wherever a checkpoint is begun and abandoned.
    let (mut repository, _) = open(dir.path(), JournalKept::Drop, u64::MAX);
    for _ in 0..4 {
        (0..12).for_each(|_| world.step(&mut repository));
        drop(repository);
        let journal = dir.path().join("journal");
        let (blocked, last) = (journal.join("checkpoint.new"), files(&journal).len());
        (repository, _) = open_with_blocked(dir.path(), &blocked);
        assert_eq!(files(&journal).len(), last + 1, "a file was begun");
    }
    world.step(&mut repository);
    let expected = dump(&repository.reader());
    repository.close().unwrap();
    copy(dir.path(), before.path());
    let (mut repository, _) = open(dir.path(), JournalKept::Drop, u64::MAX);
    assert!(repository.shorten_journal().unwrap());
    assert_same(&dump(&repository.reader()), &expected, "shortened");
    repository.close().unwrap();
    let after = files(&dir.path().join("journal"));
    let (checkpoint, name) = (fs::read(&after[0]).unwrap(), after[0].file_name().unwrap());
    let old = files(&before.path().join("journal"));
    let next = after[1].file_name().unwrap();
    let lives = |what: String, make: &dyn Fn(&Path)| {
        let crashed = tempfile::tempdir().unwrap();
        copy(before.path(), crashed.path());
        make(&crashed.path().join("journal"));
        leads_to(crashed.path(), &expected, &what);
        let (repository, recovery) = open(crashed.path(), JournalKept::Drop, u64::MAX);
        assert_eq!(recovery.tables, TablesRecovery::Sound, "{what}");
        assert_same(&dump(&repository.reader()), &expected, &what);
        is_sound(&repository, crashed.path());
        assert!(!crashed.path().join("journal/checkpoint.new").exists(), "{what}");
    };
    for part in 0..8 {
        let length = checkpoint.len() * part / 7;
        lives(format!("{length} bytes of the checkpoint"), &|journal| {
            fs::copy(&after[1], journal.join(next)).unwrap();
            fs::write(journal.join("checkpoint.new"), &checkpoint[..length]).unwrap();
        });
    }
    for removed in 0..old.len() {
        lives(format!("{removed} files removed"), &|journal| {
            fs::copy(&after[1], journal.join(next)).unwrap();
            fs::write(journal.join(name), &checkpoint).unwrap();
            let replaced = old.iter().map(|path| path.file_name().unwrap()).filter(|old| *old != name);
            replaced.take(removed).for_each(|old| fs::remove_file(journal.join(old)).unwrap());
        });
    }
}

/// Opens the folder and begins a checkpoint that cannot be made, because something else has its name.
fn open_with_blocked(dir: &Path, blocked: &Path) -> (Repository, Recovery) {
    let (mut repository, recovery) = open(dir, JournalKept::Drop, u64::MAX);
    fs::create_dir(blocked).unwrap();
    assert!(repository.shorten_journal().is_err());
    fs::remove_dir(blocked).unwrap();
    (repository, recovery)
}

#[test]
fn what_is_archived_and_what_is_left_have_every_deed() {
    let dir = tempfile::tempdir().unwrap();
    let mut world = World::new(91);
    let (mut repository, _) = open(dir.path(), JournalKept::Archive, u64::MAX);
    for _ in 0..5 {
        (0..10).for_each(|_| world.step(&mut repository));
        assert!(repository.shorten_journal().unwrap());
    }
    (0..5).for_each(|_| world.step(&mut repository));
    let expected = dump(&repository.reader());
    repository.close().unwrap();
    let whole = tempfile::tempdir().unwrap();
    copy_parts(dir.path(), whole.path(), &["journal", "bodies"]);
    let checkpoint = files(&whole.path().join("journal")).remove(0);
    fs::remove_file(checkpoint).unwrap();
    copy(&dir.path().join("journal.archive"), &whole.path().join("journal"));
    let report = verify_journal(whole.path(), &mut |_, _| {}).unwrap();
    assert!(report.is_sound() && report.begins_after == 0, "{report:?}");
    let (rebuilt, recovery) = open(whole.path(), JournalKept::Keep, 0);
    assert_eq!(recovery.deeds_replayed, world.plain.position);
    assert_same(&dump(&rebuilt.reader()), &expected, "from the first deed on");
}

#[test]
fn a_journal_that_is_kept_has_every_deed() {
    let dir = tempfile::tempdir().unwrap();
    let mut world = World::new(92);
    let (mut repository, _) = open(dir.path(), JournalKept::Keep, 0);
    (0..30).for_each(|_| world.step(&mut repository));
    assert!(!repository.shorten_journal().unwrap());
    let report = verify_journal(dir.path(), &mut |_, _| {}).unwrap();
    assert_eq!((report.begins_after, report.deeds), (0, world.plain.position));
}

#[test]
fn tables_from_before_the_checkpoint_are_made_anew() {
    let dir = tempfile::tempdir().unwrap();
    let mut world = World::new(93);
    let (mut repository, _) = open(dir.path(), JournalKept::Drop, u64::MAX);
    (0..20).for_each(|_| world.step(&mut repository));
    repository.close().unwrap();
    let older = tempfile::tempdir().unwrap();
    copy(dir.path(), older.path());
    let (mut repository, _) = open(dir.path(), JournalKept::Drop, u64::MAX);
    (0..20).for_each(|_| world.step(&mut repository));
    repository.shorten_journal().unwrap();
    world.step(&mut repository);
    let expected = dump(&repository.reader());
    repository.close().unwrap();
    for part in ["tables", "known"] {
        fs::remove_dir_all(dir.path().join(part)).unwrap();
        copy(&older.path().join(part), &dir.path().join(part));
    }
    let (repository, recovery) = open(dir.path(), JournalKept::Drop, u64::MAX);
    assert!(matches!(&recovery.tables, TablesRecovery::Rebuilt(why) if why.contains("begins after")), "{recovery:?}");
    assert_same(&dump(&repository.reader()), &expected, "made anew");
    world.plain.check(&repository.reader());
}
