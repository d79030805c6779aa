//! The repository against plain maps in memory, under random deeds, with a crash after each write.

#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

mod counting;
mod damage;
mod following;
mod hinting;
mod naming;
mod plain;
mod shortening;
mod world;

use std::fs;
use std::path::{Path, PathBuf};

use vernal_model::{Chance, Deed, Looks, Moment, PageKey, Partition, RuleState, Seed, Site, SiteState, Url};
use vernal_repository::{
    Error, Reader, Recovery, Repository, Settings, TablesRecovery, compare_tables, verify_journal,
};
use world::World;

fn open(dir: &Path) -> (Repository, Recovery) {
    Repository::open(dir, Settings::default(), Moment::from_secs(1)).unwrap()
}

fn dump(reader: &Reader) -> String {
    let mut out = Vec::new();
    reader.dump(&mut out).unwrap();
    String::from_utf8(out).unwrap()
}

/// Where two dumps first differ, so that a failure can be read.
fn assert_same(one: &str, other: &str, what: &str) {
    let differs = one.lines().zip(other.lines()).find(|(one, other)| one != other);
    assert!(one == other, "{what}: {differs:#?} ({} and {} lines)", one.lines().count(), other.lines().count());
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        match entry.file_type().unwrap().is_dir() {
            true => copy(&source, &target),
            false => drop(fs::copy(&source, &target).unwrap()),
        }
    }
}

fn copy_parts(from: &Path, to: &Path, parts: &[&str]) {
    fs::create_dir_all(to).unwrap();
    fs::copy(from.join("FORMAT"), to.join("FORMAT")).unwrap();
    for part in parts {
        copy(&from.join(part), &to.join(part));
    }
}

fn only_file(folder: &Path) -> PathBuf {
    let mut files = fs::read_dir(folder).unwrap();
    let file = files.next().unwrap().unwrap().path();
    assert!(files.next().is_none());
    file
}

#[test]
fn every_answer_is_that_of_plain_maps_also_after_reopening() {
    for number in 0..4 {
        let dir = tempfile::tempdir().unwrap();
        let mut world = World::new(number);
        for round in 0..5 {
            let (mut repository, recovery) = open(dir.path());
            assert_eq!(recovery.made, round == 0);
            assert_eq!(recovery.tables, TablesRecovery::Sound);
            assert_eq!(recovery.groups_replayed, 0, "a clean close leaves nothing to replay");
            world.plain.check(&repository.reader());
            for _ in 0..25 {
                world.step(&mut repository);
            }
            world.plain.check(&repository.reader());
            for page in world.plain.pages.values().filter_map(|page| page.version) {
                let record = repository.reader().body(&page.location.unwrap()).unwrap();
                assert_eq!(record.payload().unwrap().len(), page.body_bytes as usize);
            }
            repository.close().unwrap();
        }
    }
}

#[test]
fn a_clean_close_leaves_the_store_no_log_to_replay_and_a_kill_while_it_is_emptied_loses_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let mut world = World::new(31);
    let (mut repository, _) = open(dir.path());
    for _ in 0..40 {
        world.step(&mut repository);
    }
    let expected = dump(&repository.reader());
    repository.close().unwrap();
    let logs = |dir: &Path| -> Vec<PathBuf> {
        let files = fs::read_dir(dir.join("tables")).unwrap().map(|entry| entry.unwrap().path());
        files.filter(|path| path.extension().is_some_and(|suffix| suffix == "jnl")).collect()
    };
    let killed = tempfile::tempdir().unwrap();
    copy(dir.path(), killed.path());
    for log in logs(killed.path()) {
        fs::write(log, "").unwrap();
    }
    for dir in [killed.path(), dir.path()] {
        for _ in 0..2 {
            let (repository, recovery) = open(dir);
            assert_eq!((recovery.tables, recovery.groups_replayed), (TablesRecovery::Sound, 0));
            assert!(!dir.join("tables/flushed").exists(), "what is written from now on lies in the log alone");
            let logged: u64 = logs(dir).iter().map(|log| log.metadata().unwrap().len()).sum();
            assert!(logged < 4_096, "{logged} bytes of log");
            assert_same(&dump(&repository.reader()), &expected, "opened again");
            world.plain.check(&repository.reader());
        }
    }
}

#[test]
fn a_short_log_of_the_store_outlives_a_clean_close_and_the_tables_are_the_same() {
    let dir = tempfile::tempdir().unwrap();
    let mut world = World::new(32);
    let mut expected: Option<String> = None;
    for round in 0..4 {
        let (mut repository, recovery) = open(dir.path());
        assert_eq!(recovery.groups_replayed, 0);
        if let Some(expected) = &expected {
            assert_same(&dump(&repository.reader()), expected, "opened again");
        }
        for _ in 0..10 {
            world.step(&mut repository);
        }
        world.plain.check(&repository.reader());
        expected = Some(dump(&repository.reader()));
        repository.close().unwrap();
        // The first file of the log is long from the start, and those of later openings are not.
        assert_eq!(dir.path().join("tables/flushed").exists(), round == 0);
    }
}

#[test]
fn any_prefix_of_the_journal_applied_to_an_empty_store_equals_the_tables() {
    let dir = tempfile::tempdir().unwrap();
    let mut world = World::new(77);
    let (mut repository, _) = open(dir.path());
    for step in 0..60 {
        world.step(&mut repository);
        if step % 4 != 0 {
            continue;
        }
        let prefix = tempfile::tempdir().unwrap();
        copy_parts(dir.path(), prefix.path(), &["journal", "bodies"]);
        let (rebuilt, recovery) = open(prefix.path());
        assert!(matches!(recovery.tables, TablesRecovery::Rebuilt(_)));
        assert_eq!(recovery.groups_replayed, world.groups);
        assert_same(&dump(&rebuilt.reader()), &dump(&repository.reader()), "rebuilt");
        world.plain.check(&rebuilt.reader());
    }
}

#[test]
fn tables_in_memory_are_those_that_the_store_would_hold() {
    let dir = tempfile::tempdir().unwrap();
    let in_memory = || Settings { tables_in_memory: true, ..Settings::default() };
    let mut world = World::new(78);
    let (mut repository, _) = Repository::open(dir.path(), in_memory(), Moment::from_secs(1)).unwrap();
    for _ in 0..40 {
        world.step(&mut repository);
        world.plain.check(&repository.reader());
    }
    let rebuilt_in = tempfile::tempdir().unwrap();
    copy_parts(dir.path(), rebuilt_in.path(), &["journal", "bodies"]);
    let (rebuilt, _) = open(rebuilt_in.path());
    assert_same(&dump(&repository.reader()), &dump(&rebuilt.reader()), "in the store");
    repository.close().unwrap();
    assert!(!dir.path().join("tables").exists());
    let (again, recovery) = Repository::open(dir.path(), in_memory(), Moment::from_secs(1)).unwrap();
    assert_eq!(recovery.groups_replayed, world.groups);
    assert_same(&dump(&again.reader()), &dump(&rebuilt.reader()), "opened again");
}

#[test]
fn a_crash_at_any_byte_leaves_the_last_whole_commit() {
    for number in 0..3 {
        let mut chance = Chance::new(number).stream("crash");
        let dir = tempfile::tempdir().unwrap();
        let mut world = World::new(number + 100);
        let (mut repository, _) = open(dir.path());
        for _ in 0..8 {
            for _ in 0..chance.below(12) {
                world.step(&mut repository);
            }
            world.step(&mut repository);
            // The tables stand at this commit; journal and bodies are torn while the next one is written.
            let crashed = tempfile::tempdir().unwrap();
            copy(dir.path(), crashed.path());
            let (before, whole_before) = (dump(&repository.reader()), world.plain.clone());
            let journal = only_file(&dir.path().join("journal"));
            let journal_bytes = fs::metadata(&journal).unwrap().len();
            let segment_bytes = segment(dir.path()).map_or(0, |path| fs::metadata(path).unwrap().len());
            world.step(&mut repository);
            let torn_at = tear(&journal, &crashed.path().join("journal"), journal_bytes, &mut chance);
            if let Some(segment) = segment(dir.path()) {
                let whole = torn_at.is_none();
                let from = if whole { fs::metadata(&segment).unwrap().len() } else { segment_bytes };
                tear(&segment, &crashed.path().join("bodies"), from, &mut chance);
            }
            let (reopened, recovery) = open(crashed.path());
            assert_eq!(recovery.tables, TablesRecovery::Sound);
            let (expected, plain) = match torn_at {
                None => (dump(&repository.reader()), &world.plain),
                Some(_) => (before, &whole_before),
            };
            assert_same(&dump(&reopened.reader()), &expected, "after the crash");
            plain.check(&reopened.reader());
        }
    }
}

/// The open segment, if there is one yet.
fn segment(dir: &Path) -> Option<PathBuf> {
    let bodies = dir.join("bodies");
    (fs::read_dir(&bodies).ok()?.count() > 0).then(|| only_file(&bodies))
}

/// Copies a file that has grown since it had `from` bytes, cut at a random byte behind them; `None` when it is whole.
fn tear(file: &Path, folder: &Path, from: u64, chance: &mut Chance) -> Option<u64> {
    let bytes = fs::read(file).unwrap();
    let grown = bytes.len() as u64 - from;
    let cut = match chance.happens(0.2) {
        true => bytes.len() as u64,
        false => from + chance.below(grown + 1),
    };
    fs::write(folder.join(file.file_name().unwrap()), &bytes[..cut as usize]).unwrap();
    (cut < bytes.len() as u64).then_some(cut)
}

#[test]
fn after_a_crash_the_crawl_goes_on_as_if_nothing_had_happened() {
    let (calm, rough) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (mut calm_world, mut rough_world) = (World::new(5), World::new(5));
    let (mut calm_repository, _) = open(calm.path());
    for _ in 0..40 {
        calm_world.step(&mut calm_repository);
    }
    let (mut repository, _) = open(rough.path());
    let mut folders = vec![rough];
    for step in 0..40 {
        if step % 7 == 6 {
            // The process is killed: its files stay as they are, and another process takes them up.
            let next = tempfile::tempdir().unwrap();
            copy(folders.last().unwrap().path(), next.path());
            drop(repository);
            (repository, _) = open(next.path());
            folders.push(next);
        }
        rough_world.step(&mut repository);
    }
    // Which partition a pass of the sieve begins with is not kept, so the two need not agree byte for byte; that the
    // plain model holds in both is the law.
    rough_world.plain.check(&repository.reader());
    calm_world.plain.check(&calm_repository.reader());
}

#[test]
fn tables_that_a_power_cut_left_at_different_commits_are_healed_by_replay() {
    for number in 30..34 {
        let dir = tempfile::tempdir().unwrap();
        let mut world = World::new(number);
        let (mut repository, _) = open(dir.path());
        for _ in 0..6 {
            world.step(&mut repository);
        }
        let (early, early_groups) = (tempfile::tempdir().unwrap(), world.groups);
        copy(dir.path(), early.path());
        for _ in 0..9 {
            world.step(&mut repository);
        }
        let expected = dump(&repository.reader());
        drop(repository);
        // The state row falls back to an earlier commit; all other tables stay ahead of it.
        let state = with_meta(early.path(), |meta| meta.get("state").unwrap().unwrap());
        with_meta(dir.path(), |meta| meta.insert("state", state.clone()).unwrap());
        let (reopened, recovery) = open(dir.path());
        assert_eq!(recovery.tables, TablesRecovery::Sound);
        assert_eq!(recovery.groups_replayed, world.groups - early_groups);
        assert_same(&dump(&reopened.reader()), &expected, "after the power cut");
        world.plain.check(&reopened.reader());
    }
}

/// Reaches under the repository into the embedded store.
fn with_table<T>(dir: &Path, name: &str, act: impl FnOnce(&fjall::Keyspace) -> T) -> T {
    let database = fjall::Database::builder(dir.join("tables")).open().unwrap();
    act(&database.keyspace(name, fjall::KeyspaceCreateOptions::default).unwrap())
}

fn with_meta<T>(dir: &Path, act: impl FnOnce(&fjall::Keyspace) -> T) -> T {
    with_table(dir, "meta", act)
}

#[test]
fn missing_and_damaged_tables_are_rebuilt_and_it_is_told() {
    let dir = tempfile::tempdir().unwrap();
    let mut world = World::new(9);
    let (mut repository, _) = open(dir.path());
    for _ in 0..30 {
        world.step(&mut repository);
    }
    let expected = dump(&repository.reader());
    repository.close().unwrap();
    let damage: [&dyn Fn(); 4] = [
        &|| fs::remove_dir_all(dir.path().join("tables")).unwrap(),
        // As a kill leaves it while the store is made.
        &|| {
            fs::remove_dir_all(dir.path().join("tables")).unwrap();
            fs::create_dir(dir.path().join("tables")).unwrap();
            fs::write(dir.path().join("tables/0.jnl"), "").unwrap();
        },
        &|| fs::remove_dir_all(dir.path().join("known")).unwrap(),
        &|| {
            for entry in fs::read_dir(dir.path().join("known")).unwrap() {
                let path = entry.unwrap().path();
                let mut bytes = fs::read(&path).unwrap();
                let middle = bytes.len() / 2;
                bytes[middle] ^= 1;
                fs::write(&path, bytes).unwrap();
            }
        },
    ];
    for act in damage {
        act();
        let (repository, recovery) = open(dir.path());
        assert!(matches!(recovery.tables, TablesRecovery::Rebuilt(_)), "{recovery:?}");
        assert_same(&dump(&repository.reader()), &expected, "rebuilt");
        world.plain.check(&repository.reader());
        repository.close().unwrap();
    }
}

#[test]
fn a_journal_that_lost_what_the_tables_have_seen_is_an_error_and_nothing_is_cut() {
    let dir = tempfile::tempdir().unwrap();
    let mut world = World::new(10);
    let (mut repository, _) = open(dir.path());
    for _ in 0..10 {
        world.step(&mut repository);
    }
    repository.close().unwrap();
    let journal = only_file(&dir.path().join("journal"));
    let bytes = fs::read(&journal).unwrap();
    fs::write(&journal, &bytes[..bytes.len() - 3]).unwrap();
    let segment_before = segment(dir.path()).map(|path| fs::metadata(path).unwrap().len());
    for _ in 0..2 {
        let refused = Repository::open(dir.path(), Settings::default(), Moment::EPOCH);
        assert!(matches!(refused, Err(Error::CorruptFile { .. })));
    }
    assert_eq!(segment(dir.path()).map(|path| fs::metadata(path).unwrap().len()), segment_before);
    fs::remove_dir_all(dir.path().join("tables")).unwrap();
    let (repository, recovery) = open(dir.path());
    assert_eq!(recovery.groups_replayed, world.groups - 1);
    drop(repository);
}

#[test]
fn a_folder_in_use_is_refused_and_named_until_the_last_reader_is_gone() {
    let dir = tempfile::tempdir().unwrap();
    let (repository, _) = open(&dir.path().join("deep/er"));
    let reader = repository.reader();
    repository.close().unwrap();
    let again = Repository::open(&dir.path().join("deep/er"), Settings::default(), Moment::EPOCH);
    let Err(Error::Held { process, .. }) = again else { panic!("opened twice") };
    assert_eq!(process, std::process::id().to_string());
    drop(reader);
    open(&dir.path().join("deep/er"));
}

#[test]
fn lists_go_on_behind_what_was_seen() {
    let dir = tempfile::tempdir().unwrap();
    let mut world = World::new(21);
    let (mut repository, _) = open(dir.path());
    for _ in 0..80 {
        world.step(&mut repository);
    }
    let reader = repository.reader();
    let (mut pages, mut after): (Vec<PageKey>, _) = (Vec::new(), None);
    loop {
        let some = reader.pages(after, 3).unwrap();
        let Some(last) = some.last() else { break };
        after = Some(last.key);
        pages.extend(some.iter().map(|page| page.key));
    }
    assert_eq!(pages, world.plain.pages.keys().copied().collect::<Vec<_>>());
    let (mut events, mut cursor) = (0, vernal_repository::Cursor::START);
    loop {
        let some = reader.events(cursor, 4).unwrap();
        let Some(last) = some.last() else { break };
        assert!(last.0 > cursor);
        (events, cursor) = (events + some.len() as u64, last.0);
    }
    assert_eq!(events, reader.totals().events);
    assert!(pages.len() > 5 && events > 5, "the world was lively");
    assert!(reader.disk_free().unwrap().total_bytes > 0);
}

#[test]
fn a_sound_journal_has_no_faults_and_the_tables_are_the_journal_applied() {
    let dir = tempfile::tempdir().unwrap();
    let mut world = World::new(41);
    let (mut repository, _) = open(dir.path());
    for _ in 0..50 {
        world.step(&mut repository);
    }
    let mut told = 0;
    let report = verify_journal(dir.path(), &mut |done, total| told = done.max(told).min(total)).unwrap();
    assert_eq!((report.faults, report.files, report.frames), (Vec::new(), 1, world.groups));
    assert_eq!((report.deeds, report.bytes), (world.plain.position, told));
    let compared = compare_tables(&repository.reader(), &mut |_, _| {}).unwrap();
    assert_eq!((compared.faults, compared.deeds), (Vec::new(), world.plain.position));
    assert!(compared.rows > 0);
    assert!(!dir.path().join("rebuilt").exists(), "the second store is gone");
}

#[test]
fn tables_that_are_not_the_journal_applied_are_named() {
    let (one, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let settings = || Settings { id: Some(7), ..Settings::default() };
    for (dir, number) in [(&one, 42), (&other, 44)] {
        let (mut repository, _) = Repository::open(dir.path(), settings(), Moment::from_secs(1)).unwrap();
        let mut world = World::new(number);
        for _ in 0..30 {
            world.step(&mut repository);
        }
        repository.close().unwrap();
    }
    let (repository, _) = open(one.path());
    // Another history under the same name: every frame is sound, and only the rows can tell.
    fs::copy(only_file(&other.path().join("journal")), only_file(&one.path().join("journal"))).unwrap();
    assert!(verify_journal(one.path(), &mut |_, _| {}).unwrap().is_sound());
    let compared = compare_tables(&repository.reader(), &mut |_, _| {}).unwrap();
    assert!(compared.faults.iter().any(|fault| fault.starts_with("table pages")), "{:?}", compared.faults);
}

#[test]
fn a_flipped_bit_is_a_fault_with_its_place_and_the_frames_behind_it_are_read() {
    let dir = tempfile::tempdir().unwrap();
    let mut world = World::new(43);
    let (mut repository, _) = open(dir.path());
    for _ in 0..20 {
        world.step(&mut repository);
    }
    repository.close().unwrap();
    let path = only_file(&dir.path().join("journal"));
    let good = fs::read(&path).unwrap();
    let sound = verify_journal(dir.path(), &mut |_, _| {}).unwrap();
    let mut chance = Chance::new(43);
    for _ in 0..200 {
        let mut bad = good.clone();
        let place = chance.below(bad.len() as u64) as usize;
        bad[place] ^= 1 << chance.below(8);
        fs::write(&path, &bad).unwrap();
        let report = verify_journal(dir.path(), &mut |_, _| {}).unwrap();
        assert!(!report.is_sound() || report.unfinished_bytes > 0, "byte {place} went unnoticed");
        assert!(report.frames + 1 >= sound.frames, "one bad byte costs one frame");
        assert_eq!(fs::read(&path).unwrap(), bad, "nothing is written");
    }
}

#[test]
fn records_stay_however_often_a_repository_without_its_journal_is_opened() {
    let dir = tempfile::tempdir().unwrap();
    let mut world = World::new(45);
    let (mut repository, _) = open(dir.path());
    for _ in 0..30 {
        world.step(&mut repository);
    }
    repository.close().unwrap();
    let kept = fs::read(segment(dir.path()).unwrap()).unwrap();
    for part in ["journal", "tables", "known"] {
        fs::remove_dir_all(dir.path().join(part)).unwrap();
    }
    for _ in 0..3 {
        drop(open(dir.path()));
        assert!(fs::read(segment(dir.path()).unwrap()).unwrap() == kept);
    }
}

/// Makes FORMAT that of an older Vernal, which wrote neither a sum nor a copy.
fn written_by_format(dir: &Path, number: u32) {
    let path = dir.join("FORMAT");
    let text =
        fs::read_to_string(&path).unwrap().replace("vernal-repository 9", &format!("vernal-repository {number}"));
    fs::write(&path, &text[..text.find("sum ").unwrap()]).unwrap();
    fs::remove_file(dir.join("FORMAT.copy")).unwrap();
}

#[test]
fn a_folder_of_format_3_goes_on_with_tables_made_anew() {
    let dir = tempfile::tempdir().unwrap();
    let mut world = World::new(51);
    let (mut repository, _) = open(dir.path());
    for _ in 0..30 {
        world.step(&mut repository);
    }
    let expected = dump(&repository.reader());
    drop(repository);
    let path = dir.path().join("FORMAT");
    let format = fs::read_to_string(&path).unwrap();
    written_by_format(dir.path(), 3);
    // There each URL that waited had a row of its own, with its number behind the byte 2.
    with_table(dir.path(), "waiting", |waiting| {
        let keys: Vec<_> = waiting.iter().map(|guard| guard.key().unwrap()).collect();
        assert!(!keys.is_empty());
        keys.into_iter().for_each(|key| waiting.insert(key, [2, 7]).unwrap());
    });
    let (reopened, recovery) = open(dir.path());
    assert!(matches!(&recovery.tables, TablesRecovery::Rebuilt(_)), "{:?}", recovery.tables);
    assert_same(&dump(&reopened.reader()), &expected, "from tables of format 3");
    world.plain.check(&reopened.reader());
    assert_eq!(fs::read_to_string(&path).unwrap(), format);
}

#[test]
fn a_folder_of_format_5_goes_on_with_its_tables_and_gets_those_of_names_and_history() {
    let dir = tempfile::tempdir().unwrap();
    let (mut repository, _) = open(dir.path());
    let now = Moment::from_secs(1_000);
    let seed = Seed::new(Url::parse("http://a.example/").unwrap(), now);
    repository.commit(&[(Partition(0), Deed::Seeded(seed))], now).unwrap();
    let expected = dump(&repository.reader());
    repository.close().unwrap();
    let path = dir.path().join("FORMAT");
    let format = fs::read_to_string(&path).unwrap();
    written_by_format(dir.path(), 5);
    fs::remove_file(dir.path().join("tables/closed")).unwrap();
    let database = fjall::Database::builder(dir.path().join("tables")).open().unwrap();
    for name in ["names", "name_marks", "series"] {
        let table = database.keyspace(name, fjall::KeyspaceCreateOptions::default).unwrap();
        database.delete_keyspace(table).unwrap();
    }
    drop(database);
    let (mut repository, recovery) = open(dir.path());
    assert_eq!((&recovery.tables, recovery.groups_replayed), (&TablesRecovery::Sound, 0));
    assert_same(&dump(&repository.reader()), &expected, "from tables of format 5");
    assert_eq!(fs::read_to_string(&path).unwrap(), format, "the folder is of our format from then on");
    let page = PageKey::new(Partition(1), 7);
    let deeds = naming::deeds(&[page], None, now, &mut Chance::new(3));
    repository.commit(&deeds, now).unwrap();
    assert!(dump(&repository.reader()).contains("name"));
    assert_eq!((repository.reader().open_hour(), repository.reader().oldest_hour().unwrap()), (None, None));
    let deeds = counting::deeds(&Default::default(), &[], &mut Chance::new(3));
    repository.commit(&deeds, now).unwrap();
    assert!(repository.reader().open_hour().is_some());
}

/// The journal of a folder of format 4 with a deed about noise. Its rows had another layout.
const JOURNAL_OF_FORMAT_4: &str = "56524e4c4a524e4c020000000100000001000000000000007253c4425441523d\
    3dd37fa1aa0000000100000000000000e8c94519d6aee9a5000000020301000003020b09612e6578616d706c65010307110101050602\
    0551756f7465001280ade204131415160117011801190401040204000856696577733a2023090003070480897a8092f4010304050607\
    0856696577733a20310856696577733a2032026e6f020809030203010d73637269707420736f75726365020180897a8092f401030405\
    0607000003796573000101010b0c0d020e809bee0280a4e8030f010307010110";

#[test]
fn a_folder_of_format_4_goes_on_with_what_it_learned_of_noise() {
    let dir = tempfile::tempdir().unwrap();
    let id = "0123456789abcdef0123456789abcdef";
    let format = format!("vernal-repository 4\npartitions 64\nsuffixes psl-2\nid {id}\n");
    fs::write(dir.path().join("FORMAT"), format).unwrap();
    fs::create_dir(dir.path().join("journal")).unwrap();
    let bytes = JOURNAL_OF_FORMAT_4.as_bytes().chunks(2);
    let bytes: Vec<u8> = bytes.map(|digits| u8::from_str_radix(str::from_utf8(digits).unwrap(), 16).unwrap()).collect();
    fs::write(dir.path().join("journal/00000001.log"), bytes).unwrap();
    let check = |reader: &Reader| {
        let book = reader.noise_book(&Site::new("a.example")).unwrap();
        assert_eq!(book.rules.iter().map(|rule| rule.id).collect::<Vec<_>>(), [3, 4]);
        assert_eq!(book.rules[0].standing, RuleState::Learned);
        assert_eq!(book.last_id, 4);
        let noise = reader.page_noise(PageKey::new(Partition(3), 7)).unwrap();
        assert_eq!(noise.suspects[0].looks, Looks { made: 1, differed: 1, latest: Vec::new() });
    };
    let (repository, recovery) = open(dir.path());
    assert!(matches!(&recovery.tables, TablesRecovery::Rebuilt(_)), "{:?}", recovery.tables);
    check(&repository.reader());
    repository.close().unwrap();
    let (repository, recovery) = open(dir.path());
    assert_eq!(recovery.tables, TablesRecovery::Sound);
    check(&repository.reader());
    drop(repository);
    // A table with a row of format 4, whose format byte is 2.
    with_meta(dir.path(), |meta| {
        let keys: Vec<_> = meta.iter().map(|guard| guard.key().unwrap()).collect();
        for key in keys {
            let mut row = meta.get(&key).unwrap().unwrap().to_vec();
            row[0] = 2;
            meta.insert(key, row).unwrap();
        }
    });
    let (repository, recovery) = open(dir.path());
    assert!(matches!(&recovery.tables, TablesRecovery::Rebuilt(_)), "{:?}", recovery.tables);
    check(&repository.reader());
}

#[test]
fn a_folder_of_format_1_is_refused_by_name_and_a_repair_keeps_its_records_and_seeds() {
    let dir = tempfile::tempdir().unwrap();
    let mut world = World::new(50);
    let (mut repository, _) = open(dir.path());
    for _ in 0..30 {
        world.step(&mut repository);
    }
    let seeds = repository.reader().seeds().unwrap();
    let standings = repository.reader().sites().into_iter().filter(|row| row.profile.standing != SiteState::Active);
    let standings: Vec<_> = standings.map(|row| (row.site, row.profile.standing)).collect();
    assert!(!seeds.is_empty() && !standings.is_empty());
    repository.close().unwrap();
    // The folder as the older Vernal left it: its name, and its seeds without the wish that came later.
    written_by_format(dir.path(), 1);
    with_meta(dir.path(), |meta| {
        for seed in &seeds {
            let old = (&seed.url, seed.added, &seed.tags, seed.weight, seed.scope, seed.depth, seed.at_least_every);
            let row = [vec![1], postcard::to_allocvec(&(old, &seed.moved_to)).unwrap()].concat();
            meta.insert(format!("seed/{}", seed.url.as_str()), row).unwrap();
        }
    });
    let refused = Repository::open(dir.path(), Settings::default(), Moment::EPOCH).err().unwrap();
    assert!(matches!(&refused, Error::OlderFormat { found, .. } if found == "vernal-repository 1"), "{refused}");
    assert!(refused.is_damage(), "a repair helps");
    let segment = segment(dir.path()).unwrap();
    let bytes = fs::metadata(&segment).unwrap().len();
    let (mut repository, aside) = Repository::begin_repair(dir.path(), Settings::default(), world.now).unwrap();
    assert_eq!((aside.saved.seeds, aside.saved.standings), (seeds, standings));
    assert!(!aside.folder.exists(), "nothing is moved before the new state stands");
    repository.end_repair().unwrap();
    repository.close().unwrap();
    Repository::put_repaired(dir.path()).unwrap();
    assert!(aside.folder.join("FORMAT").exists() && aside.folder.join("journal").exists());
    assert_eq!(fs::metadata(&segment).unwrap().len(), bytes, "every whole record stays");
    open(dir.path());
}
