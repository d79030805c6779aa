//! The fault trial: any file of a small repository is cut, removed, changed by one bit or swapped with an older copy. Each read
//! then gives the answer of the undamaged repository or says what it could not read; what other files still hold is never lost.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use tempfile::TempDir;
use vernal_model::{Chance, Digest, Exchange, Location, Moment, PageKey, Span, Url};
use vernal_repository::{
    Cursor, Error, Keep, KeepKind, Reader, Recovery, Repository, Settings, TablesRecovery, compare_tables, note_damage,
    verify_journal,
};

use super::copy;
use crate::world::World;

/// Faults that every build tries, and those of the long trial.
const FAULTS: u64 = 300;
const FAULTS_OF_LONG_TRIAL: u64 = 5_000;

fn settings() -> Settings {
    Settings { segment_bytes_max: 6_000, ..Settings::default() }
}

fn open(dir: &Path) -> vernal_repository::Result<(Repository, Recovery)> {
    Repository::open(dir, settings(), Moment::from_secs(1))
}

#[derive(Clone, Debug)]
enum Fault {
    Bit(u64, u8),
    Cut(u64),
    Removed,
    Older,
}

/// Where a fault lies: which answers may be missing follows from this.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    Format,
    Journal,
    Bodies,
    /// Tables, known runs, links by target, passes, the lock: all of them are made anew from the journal.
    Cache,
}

/// A small repository with its history: a copy of its folder from before, and what it answers.
struct Sound {
    dir: TempDir,
    older: TempDir,
    files: Vec<PathBuf>,
    urls: Vec<Url>,
    answers: Answers,
}

#[derive(Clone, PartialEq)]
struct Answers {
    /// Every row of every table, without the row of the progress.
    rows: String,
    events: String,
    back_links: String,
    totals: String,
    /// The body of each version, by page and number, or why it cannot be read.
    bodies: BTreeMap<(PageKey, u32), Result<Vec<u8>, String>>,
}

impl Sound {
    fn new(number: u64) -> Sound {
        let (dir, older) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let mut world = World::new(number);
        for round in 0..3 {
            let (mut repository, _) = open(dir.path()).unwrap();
            for _ in 0..22 {
                world.step(&mut repository);
            }
            repository.keep_pass("links", &round).unwrap();
            if round == 1 {
                assert!(repository.shorten_journal().unwrap());
            }
            repository.close().unwrap();
            if round == 1 {
                copy(dir.path(), older.path());
            }
        }
        let urls: Vec<Url> = world.plain.pages.values().map(|page| page.url.clone()).collect();
        let (repository, _) = open(dir.path()).unwrap();
        let answers = Answers::of(&repository.reader(), &urls).unwrap();
        assert!(answers.bodies.len() > 5 && answers.bodies.values().all(Result::is_ok));
        repository.close().unwrap();
        let mut files = Vec::new();
        list(dir.path(), dir.path(), &mut files);
        files.sort();
        Sound { dir, older, files, urls, answers }
    }

    fn fault(&self, chance: &mut Chance) -> (PathBuf, Fault) {
        let places = [Place::Format, Place::Journal, Place::Journal, Place::Bodies, Place::Bodies, Place::Cache];
        let place = *chance.pick(&places).unwrap_or(&Place::Cache);
        let files: Vec<&PathBuf> = self.files.iter().filter(|file| self::place(file) == place).collect();
        let file = (*chance.pick(&files).unwrap()).clone();
        let bytes = fs::metadata(self.dir.path().join(&file)).unwrap().len();
        let fault = match chance.below(8) {
            0..=3 if bytes > 0 => Fault::Bit(chance.below(bytes), chance.below(8) as u8),
            4 | 5 if bytes > 0 => Fault::Cut(chance.below(bytes)),
            6 => Fault::Older,
            _ => Fault::Removed,
        };
        (file, fault)
    }

    /// A copy of the folder with this fault.
    fn damaged(&self, file: &Path, fault: &Fault) -> TempDir {
        let dir = tempfile::tempdir().unwrap();
        copy(self.dir.path(), dir.path());
        // After a crash there is no mark of the closing, and the store alone guards its files.
        let is_stored = file.starts_with("tables/keyspaces") && matches!(fault, Fault::Bit(at, _) if at % 2 == 0);
        if is_stored {
            fs::remove_file(dir.path().join("tables/closed")).unwrap();
        }
        let path = dir.path().join(file);
        match fault {
            Fault::Bit(at, bit) => {
                let mut bytes = fs::read(&path).unwrap();
                bytes[*at as usize] ^= 1 << bit;
                fs::write(&path, bytes).unwrap();
            }
            Fault::Cut(at) => fs::File::options().write(true).open(&path).unwrap().set_len(*at).unwrap(),
            Fault::Removed => fs::remove_file(&path).unwrap(),
            Fault::Older => drop(fs::copy(self.older.path().join(file), &path)),
        }
        dir
    }
}

fn list(folder: &Path, top: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => list(&path, top, files),
            false => files.push(path.strip_prefix(top).unwrap().to_owned()),
        }
    }
}

fn place(file: &Path) -> Place {
    match file.iter().next().and_then(|first| first.to_str()).unwrap() {
        "FORMAT" | "FORMAT.copy" => Place::Format,
        "journal" => Place::Journal,
        "bodies" => Place::Bodies,
        _ => Place::Cache,
    }
}

impl Answers {
    fn of(reader: &Reader, urls: &[Url]) -> vernal_repository::Result<Answers> {
        let mut rows = Vec::new();
        reader.dump(&mut rows)?;
        let rows = String::from_utf8(rows).unwrap();
        let (_, rows) = rows.split_once('\n').unwrap();
        let (mut events, mut back_links) = (String::new(), String::new());
        for event in reader.events(Cursor::START, usize::MAX)? {
            writeln!(events, "{event:?}").unwrap();
        }
        let mut bodies = BTreeMap::new();
        for url in urls {
            for link in reader.back_links(url)? {
                writeln!(back_links, "{url} {:?}", link?).unwrap();
            }
            let Some(page) = reader.page_by_url(url)? else { continue };
            for version in reader.versions(page.key)? {
                let Some(location) = version.location else { continue };
                bodies.insert((page.key, version.number), body(reader, &location)?);
            }
        }
        let totals = format!("{:?} {:?}", reader.totals(), reader.sites());
        Ok(Answers { rows: rows.to_owned(), events, back_links, totals, bodies })
    }

    /// Every answer is that of the sound repository. Bodies may be unreadable where segments were damaged, and say so.
    fn check(&self, sound: &Answers, place: Place) {
        super::assert_same(&self.rows, &sound.rows, "rows");
        super::assert_same(&self.events, &sound.events, "events");
        super::assert_same(&self.back_links, &sound.back_links, "back links");
        assert_eq!(self.totals, sound.totals);
        assert_eq!(self.bodies.len(), sound.bodies.len());
        for (key, body) in &self.bodies {
            match body {
                Ok(_) => assert!(*body == sound.bodies[key], "{key:?} has other bytes"),
                Err(why) => assert!(place == Place::Bodies && !why.is_empty(), "{key:?}: {why}"),
            }
        }
    }
}

fn body(reader: &Reader, location: &Location) -> vernal_repository::Result<Result<Vec<u8>, String>> {
    match reader.body(location) {
        Ok(record) => Ok(Ok(record.payload().unwrap().to_vec())),
        Err(error @ (Error::Corrupt { .. } | Error::SegmentMissing(_))) => Ok(Err(error.to_string())),
        Err(error) => Err(error),
    }
}

/// What became of a fault.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Met {
    /// Nothing that anybody reads is other than before.
    Harmless,
    /// The opening noticed it and made anew what was damaged.
    Healed,
    /// A read said what it could not read.
    Told,
    /// The opening refused, and the journal was mended.
    Mended,
}

/// Lives through one fault: opens, reads, repairs where that is asked for, and goes on writing.
fn live_through(sound: &Sound, dir: &Path, place: Place) -> Met {
    let mut met = Met::Harmless;
    let (mut repository, mut recovery) = match open(dir) {
        Ok(opened) => opened,
        Err(error) => {
            assert!(error.is_damage() && place == Place::Journal, "refused: {error}");
            met = mend(dir);
            open(dir).unwrap()
        }
    };
    for _ in 0..2 {
        if recovery.tables != TablesRecovery::Sound || recovery.format_mended || recovery.segment_lost.is_some() {
            met = met.max(Met::Healed);
        }
        let reader = repository.reader();
        match Answers::of(&reader, &sound.urls) {
            Ok(answers) => {
                answers.check(&sound.answers, place);
                if answers.bodies.values().any(Result::is_err) {
                    met = met.max(Met::Told);
                }
                break;
            }
            Err(error) => {
                assert!(place == Place::Cache && note_damage(&reader, &error), "not told as damage: {error}");
                met = Met::Told;
                drop(reader);
                drop(repository);
                (repository, recovery) = open(dir).unwrap();
                assert_ne!(recovery.tables, TablesRecovery::Sound, "a distrusted table is made anew");
            }
        }
    }
    goes_on(sound, &mut repository, place);
    let reader = repository.reader();
    if !verify_journal(dir, &mut |_, _| {}).unwrap().is_sound() {
        assert!(place == Place::Journal);
        drop(reader);
        repository.close().unwrap();
        met = mend(dir);
        repository = open(dir).unwrap().0;
        Answers::of(&repository.reader(), &sound.urls).unwrap().check_after(&sound.answers);
    }
    let compared = compare_tables(&repository.reader(), &mut |_, _| {}).unwrap();
    assert!(compared.faults.is_empty(), "{:?}", compared.faults);
    met
}

fn mend(dir: &Path) -> Met {
    let journal = dir.join("journal");
    let before: Vec<Vec<u8>> = files_of(&journal);
    let mended = Repository::mend_journal(dir, Moment::from_secs(9)).unwrap().expect("the tables are sound");
    assert_eq!(files_of(&mended.folder.join("journal")), before, "what was there is kept for people");
    assert!(verify_journal(dir, &mut |_, _| {}).unwrap().is_sound());
    Met::Mended
}

fn files_of(folder: &Path) -> Vec<Vec<u8>> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    entries.map(|entry| fs::read(entry.unwrap().path()).unwrap()).collect()
}

/// What is written after the fault takes the place of nothing that was there before.
fn goes_on(sound: &Sound, repository: &mut Repository, place: Place) {
    let url = Url::parse("http://later.example.org/").unwrap();
    let exchange = Exchange {
        response_head: b"HTTP/1.1 200 OK\r\n\r\n".to_vec(),
        body: b"written after the fault".to_vec(),
        ..Exchange::default()
    };
    let now = repository.reader().last_moment() + Span::from_secs(1);
    let keep =
        Keep { url: &url, moment: now, exchange: &exchange, payload: Digest::default(), what: KeepKind::Response };
    let location = repository.keep(&keep).unwrap();
    repository.commit(&[(url.partition(), vernal_model::Deed::Started { moment: now })], now).unwrap();
    let reader = repository.reader();
    assert_eq!(body(&reader, &location).unwrap().as_deref(), Ok(&exchange.body[..]));
    Answers::of(&reader, &sound.urls).unwrap().check(&sound.answers, place);
}

impl Answers {
    fn check_after(&self, sound: &Answers) {
        self.check(sound, Place::Journal);
    }
}

fn trial(number: u64, faults: u64) {
    let sound = Sound::new(number);
    let mut chance = Chance::new(number).stream("damage");
    let mut met: BTreeMap<(Place, Met), u64> = BTreeMap::new();
    let mut wrong = Vec::new();
    for _ in 0..faults {
        let (file, fault) = sound.fault(&mut chance);
        let dir = sound.damaged(&file, &fault);
        let place = place(&file);
        match catch_unwind(AssertUnwindSafe(|| live_through(&sound, dir.path(), place))) {
            Ok(found) => *met.entry((place, found)).or_default() += 1,
            Err(panic) => {
                let why = panic.downcast_ref::<String>().cloned();
                let why = why.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
                wrong.push(format!("{} {fault:?}: {}", file.display(), why.unwrap_or_default()));
            }
        }
    }
    println!("{met:#?}");
    assert!(wrong.is_empty(), "{} of {faults} faults:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn a_damaged_list_of_table_files_is_noticed_also_after_a_crash() {
    let sound = Sound::new(62);
    let lists = sound.files.iter().filter(|file| file.file_name().unwrap().to_str().unwrap().starts_with('v'));
    for file in lists.filter(|file| file.starts_with("tables/keyspaces")) {
        let dir = sound.damaged(file, &Fault::Bit(54, 7));
        assert!(!dir.path().join("tables/closed").exists());
        assert_eq!(live_through(&sound, dir.path(), Place::Cache), Met::Healed, "{}", file.display());
    }
}

#[test]
fn a_mended_journal_that_is_damaged_again_still_tells_what_people_decided() {
    let sound = Sound::new(64);
    let dir = sound.dir.path();
    mend(dir);
    let (repository, _) = open(dir).unwrap();
    let reader = repository.reader();
    let (seeds, paused) = (reader.seeds().unwrap(), reader.paused_all());
    let standings = reader.sites().into_iter().map(|row| (row.site, row.profile.standing));
    let standings: Vec<_> = standings.filter(|(_, standing)| *standing != vernal_model::SiteState::Active).collect();
    assert!(!seeds.is_empty() && !standings.is_empty());
    drop(reader);
    repository.close().unwrap();
    fs::remove_dir_all(dir.join("tables")).unwrap();
    let (_, aside) = Repository::begin_repair(dir, settings(), Moment::from_secs(9)).unwrap();
    assert_eq!((aside.saved.seeds, aside.saved.paused, aside.saved.standings), (seeds, paused, standings));
}

#[test]
fn a_copy_of_a_folder_that_cannot_be_written_gives_every_answer_and_changes_no_byte() {
    let sound = Sound::new(63);
    let bytes = |dir: &Path| sound.files.iter().map(|file| fs::read(dir.join(file)).unwrap()).collect::<Vec<_>>();
    let before = bytes(sound.dir.path());
    let opened = Repository::open_copy(sound.dir.path(), settings(), Moment::from_secs(1)).unwrap();
    let reader = opened.repository.reader();
    Answers::of(&reader, &sound.urls).unwrap().check(&sound.answers, Place::Cache);
    drop(reader);
    opened.repository.close().unwrap();
    assert!(bytes(sound.dir.path()) == before);
    let (_held, _) = open(sound.dir.path()).unwrap();
    let refused = Repository::open_copy(sound.dir.path(), settings(), Moment::from_secs(1)).err();
    assert!(matches!(refused, Some(Error::Held { .. })), "somebody writes");
}

#[test]
fn no_fault_in_any_file_makes_a_read_silently_wrong_or_loses_what_others_hold() {
    trial(60, FAULTS);
}

#[test]
#[ignore = "takes minutes"]
fn no_fault_of_thousands_makes_a_read_silently_wrong() {
    for number in 61..66 {
        trial(number, FAULTS_OF_LONG_TRIAL / 5);
    }
}
