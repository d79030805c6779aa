//! Archives that are imported together. The first pass finds where each record is and when it was made; the second gives the records
//! in the order of their dates. Of each record only its place is kept in memory.

use std::collections::{HashMap, HashSet};
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use vernal_model::{Moment, Url};
use vernal_repository::Record;
use vernal_repository::bodies::{Scan, ScanLimits};
use xxhash_rust::xxh3::xxh3_64;

use super::prepared::{About, What, prepared, what};
use super::section::Section;
use super::{cdxj_lines, zip_entries};

/// Records of one import; their places are kept in memory.
const RECORDS_MAX: usize = 20_000_000;
/// Files of one import.
const FILES_MAX: usize = 10_000;
/// Lines about single records; further ones are only counted.
const TOLD_MAX: usize = 100;
/// Damaged places of one file, after which it is given up: garbage would be looked through byte by byte.
const DAMAGES_MAX: u32 = 1_000;
/// The limits of one record, and of one file.
const LIMITS: ScanLimits =
    ScanLimits { record_bytes_max: 64 << 20, head_bytes_max: 64 << 10, ratio_max: 200, unpacked_bytes_free: 128 << 20 };

/// What kind of file is imported.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Form {
    Warc,
    Wacz,
    Cdxj,
}

#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    #[error("read {}: {error}", path.display())]
    Read { path: PathBuf, error: std::io::Error },
    #[error("{}: {why}", path.display())]
    Refused { path: PathBuf, why: String },
    #[error("these archives have more than {RECORDS_MAX} records; import them in parts")]
    TooMany,
    #[error("{} has no WARC file", .0.display())]
    Empty(PathBuf),
}

/// What the archives have that is not imported.
#[derive(Clone, Debug, Default)]
pub struct LeftOut {
    /// Records that are no copies of pages: requests, metadata, robots.txt.
    pub other: u64,
    /// What is damaged, wrong or beyond a limit.
    pub told: Vec<String>,
    pub total: u64,
}

/// Bytes done, and bytes in all.
pub type Progress<'a> = &'a mut dyn FnMut(u64, u64);

/// Where a record is.
#[derive(Copy, Clone, Debug)]
struct Place {
    moment: Moment,
    file: u32,
    offset: u64,
}

struct Source {
    name: String,
    section: Section,
}

/// All archives of one import.
#[derive(Default)]
pub struct Archives {
    sources: Vec<Source>,
    /// Where each record is, sorted by date.
    places: Vec<Place>,
    /// Records with a payload, by URL and second, and by the digest that they name.
    by_visit: HashMap<u64, Place>,
    by_payload: HashMap<u64, Place>,
    /// Ids of requests that asked for something else than a page, and of their answers.
    other_requests: HashSet<u64>,
    left_out: LeftOut,
}

impl Archives {
    /// Opens archives and finds their records. Entries that are packed are unpacked to files without a name in `scratch`.
    pub fn open(
        form: Form,
        paths: &[PathBuf],
        scratch: &Path,
        progress: Progress<'_>,
    ) -> Result<Archives, ImportError> {
        let mut archives = Archives::default();
        let mut indexes = Vec::new();
        for path in paths {
            match form {
                Form::Warc => archives.add_warcs(path)?,
                Form::Wacz => archives.add_wacz(path, scratch)?,
                Form::Cdxj => indexes.push(path),
            }
        }
        let total = archives.sources.iter().map(|source| source.section.length()).sum();
        let mut done = 0;
        for file in 0..archives.sources.len() {
            archives.find_records(file, &mut |offset| progress(done + offset, total))?;
            done += archives.sources[file].section.length();
        }
        for path in indexes {
            archives.add_index(path, progress)?;
        }
        // Of one second the order of the files stands.
        archives.places.sort_by_key(|place| (place.moment, place.file, place.offset));
        Ok(archives)
    }

    /// Records to import, or to find unfit.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    pub fn left_out(&self) -> &LeftOut {
        &self.left_out
    }

    /// One record by its place in the order of the dates; `None` where it turned out unfit, which is noted.
    pub fn record(&mut self, place: usize) -> Option<Record> {
        let place = *self.places.get(place)?;
        match self.prepared_at(place) {
            Ok(Some(record)) => Some(record),
            Ok(None) => {
                self.left_out.other += 1;
                None
            }
            Err(why) => {
                let name = &self.sources[place.file as usize].name;
                self.leave_out(format!("{name} at byte {}: {why}", place.offset));
                None
            }
        }
    }

    /// The record, or nothing where it answers a form that was sent and is no page.
    fn prepared_at(&self, place: Place) -> Result<Option<Record>, String> {
        let record = self.read(place)?;
        if ids(&record).any(|id| self.other_requests.contains(&id)) {
            return Ok(None);
        }
        let (what, about) = what(&record)?;
        let about = about.ok_or("it is no copy of a page")?;
        match what {
            What::Other => Err("it is no copy of a page".into()),
            What::Payload => prepared(&record, &about, None).map(Some),
            What::Revisit => {
                let original = self.payload_of(&record, &about)?;
                prepared(&record, &about, Some(&original)).map(Some)
            }
        }
    }

    /// The record with the payload that a revisit refers to: by URL and date, else by its digest.
    fn payload_of(&self, revisit: &Record, about: &About) -> Result<Record, String> {
        let digest = revisit.header("WARC-Payload-Digest");
        let named = revisit.refers_to().and_then(|(url, moment)| Some((Url::parse(url).ok()?, moment)));
        let by_name = named.as_ref().and_then(|(url, moment)| self.by_visit.get(&visit_mark(url, *moment)));
        let by_digest = digest.and_then(|digest| self.by_payload.get(&digest_mark(digest)));
        for place in by_name.into_iter().chain(by_digest) {
            let Ok(original) = self.read(*place) else { continue };
            let theirs = original.header("WARC-Payload-Digest");
            // Marks may collide, and what a revisit names may be of other bytes.
            let is_it = match (digest, theirs) {
                (Some(ours), Some(theirs)) => digests_agree(ours, theirs),
                _ => named.as_ref().is_some_and(|(url, moment)| {
                    original.target().and_then(|target| Url::parse(target).ok()).as_ref() == Some(url)
                        && original.date().is_some_and(|date| date.secs() == moment.secs())
                }),
            };
            if is_it {
                return Ok(original);
            }
        }
        Err(format!("{} of {}: the record that it refers to is not in these archives", about.url, about.moment))
    }

    fn read(&self, place: Place) -> Result<Record, String> {
        let source = self.sources.get(place.file as usize).ok_or("its file is not here")?;
        match Scan::new(source.section.from(place.offset), LIMITS).next() {
            Some(Ok(scanned)) if scanned.offset == 0 => Ok(scanned.record),
            Some(Err(damage)) => Err(damage.what),
            _ => Err("no record begins here".to_owned()),
        }
    }

    fn add_warcs(&mut self, path: &Path) -> Result<(), ImportError> {
        let read = |error| ImportError::Read { path: path.to_owned(), error };
        if !path.is_dir() {
            return self.add_file(path);
        }
        let mut inside = Vec::new();
        for entry in fs::read_dir(path).map_err(read)? {
            let entry = entry.map_err(read)?;
            if zip_entries::is_warc(&entry.file_name().to_string_lossy()) && entry.path().is_file() {
                inside.push(entry.path());
            }
        }
        if inside.is_empty() {
            return Err(ImportError::Empty(path.to_owned()));
        }
        inside.sort();
        inside.iter().try_for_each(|path| self.add_file(path))
    }

    fn add_file(&mut self, path: &Path) -> Result<(), ImportError> {
        let opened = File::open(path).and_then(|file| match file.metadata()?.is_file() {
            true => Section::whole(file),
            false => Err(std::io::Error::other("it is no file")),
        });
        let section = opened.map_err(|error| ImportError::Read { path: path.to_owned(), error })?;
        self.add_source(path.display().to_string(), section, path)
    }

    fn add_source(&mut self, name: String, section: Section, path: &Path) -> Result<(), ImportError> {
        if self.sources.len() == FILES_MAX {
            let why = format!("more than {FILES_MAX} files at a time");
            return Err(ImportError::Refused { path: path.to_owned(), why });
        }
        self.sources.push(Source { name, section });
        Ok(())
    }

    fn add_wacz(&mut self, path: &Path, scratch: &Path) -> Result<(), ImportError> {
        let file = File::open(path).map_err(|error| ImportError::Read { path: path.to_owned(), error })?;
        let refused = |why| ImportError::Refused { path: path.to_owned(), why };
        let entries = zip_entries::warcs(file, scratch).map_err(refused)?;
        if entries.is_empty() {
            return Err(ImportError::Empty(path.to_owned()));
        }
        for (name, section) in entries {
            let shown: String = name.chars().filter(|letter| !letter.is_control()).take(100).collect();
            match section {
                Ok(section) => self.add_source(format!("{}: {shown}", path.display()), section, path)?,
                Err(why) => self.leave_out(format!("{}: {shown}: {why}", path.display())),
            }
        }
        Ok(())
    }

    fn add_index(&mut self, path: &Path, progress: Progress<'_>) -> Result<(), ImportError> {
        let total = fs::metadata(path).map_or(0, |metadata| metadata.len());
        let (mut named, mut wrong) = (Vec::new(), Vec::new());
        let read = cdxj_lines::lines(path, |line| {
            match line {
                Ok(line) => named.push(line),
                Err(why) => wrong.push(why),
            }
            named.len() + wrong.len() <= RECORDS_MAX
        });
        read.map_err(|error| ImportError::Read { path: path.to_owned(), error })?;
        wrong.into_iter().for_each(|why| self.leave_out(format!("{}: {why}", path.display())));
        let mut files: HashMap<String, Option<u32>> = HashMap::new();
        let all = named.len().max(1) as u64;
        for (done, line) in named.into_iter().enumerate() {
            let file = match files.get(&line.filename) {
                Some(file) => *file,
                None => {
                    let file = match cdxj_lines::file_beside(path, &line.filename) {
                        Ok(file) => {
                            self.add_file(&file)?;
                            Some(self.sources.len() as u32 - 1)
                        }
                        Err(why) => {
                            self.leave_out(why);
                            None
                        }
                    };
                    files.insert(line.filename.clone(), file);
                    file
                }
            };
            if let Some(file) = file {
                let place = Place { moment: Moment::EPOCH, file, offset: line.offset };
                match self.read(place) {
                    Ok(record) => self.note(&record, place)?,
                    Err(why) => self.leave_out(format!("{} at byte {}: {why}", line.filename, line.offset)),
                }
            }
            progress(total * done as u64 / all, total);
        }
        Ok(())
    }

    fn find_records(&mut self, file: usize, progress: &mut dyn FnMut(u64)) -> Result<(), ImportError> {
        let section = self.sources[file].section.clone();
        let mut damages = 0;
        for scanned in Scan::new(section, LIMITS) {
            match scanned {
                Ok(scanned) => {
                    let place = Place { moment: Moment::EPOCH, file: file as u32, offset: scanned.offset };
                    self.note(&scanned.record, place)?;
                    progress(scanned.offset);
                }
                Err(damage) => {
                    self.leave_out(format!("{} at byte {}: {}", self.sources[file].name, damage.offset, damage.what));
                    damages += 1;
                    if damages == DAMAGES_MAX {
                        self.leave_out(format!("{}: given up, too much is damaged", self.sources[file].name));
                        break;
                    }
                }
            }
        }
        Ok(())
    }

    fn note(&mut self, record: &Record, place: Place) -> Result<(), ImportError> {
        match what(record) {
            Ok((What::Other, _) | (_, None)) => {
                self.left_out.other += 1;
                if record.kind() == "request"
                    && !record.block.starts_with(b"GET ")
                    && self.other_requests.len() < RECORDS_MAX
                {
                    self.other_requests.extend(ids(record));
                }
            }
            Ok((what, Some(about))) => {
                if self.places.len() == RECORDS_MAX {
                    return Err(ImportError::TooMany);
                }
                let place = Place { moment: about.moment, ..place };
                self.places.push(place);
                if matches!(what, What::Payload) {
                    self.by_visit.entry(visit_mark(&about.url, about.moment)).or_insert(place);
                    if let Some(digest) = record.header("WARC-Payload-Digest") {
                        self.by_payload.entry(digest_mark(digest)).or_insert(place);
                    }
                }
            }
            Err(why) => {
                self.leave_out(format!("{} at byte {}: {why}", self.sources[place.file as usize].name, place.offset))
            }
        }
        Ok(())
    }

    fn leave_out(&mut self, line: String) {
        self.left_out.total += 1;
        if self.left_out.told.len() < TOLD_MAX {
            self.left_out.told.push(line.chars().filter(|letter| !letter.is_control()).take(400).collect());
        }
    }
}

/// Marks of the id of a record, and of the records that it belongs to.
fn ids(record: &Record) -> impl Iterator<Item = u64> {
    ["WARC-Record-ID", "WARC-Concurrent-To"].into_iter().filter_map(|name| Some(digest_mark(record.header(name)?)))
}

fn visit_mark(url: &Url, moment: Moment) -> u64 {
    xxh3_64(format!("{} {url}", moment.secs()).as_bytes())
}

fn digest_mark(digest: &str) -> u64 {
    xxh3_64(digest.trim().to_ascii_lowercase().as_bytes())
}

fn digests_agree(one: &str, other: &str) -> bool {
    one.trim().eq_ignore_ascii_case(other.trim())
}
