//! Opens the index, or makes it anew where it cannot be used.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use tantivy::postings::SegmentPostings;
use tantivy::schema::IndexRecordOption;
use tantivy::{DocSet, Index, IndexReader, ReloadPolicy, Searcher, SegmentReader, TERMINATED, Term};
use vernal_model::PageKey;
use vernal_repository::{Cursor, Reader};

use super::place::Place;
use super::schema::{Fields, number_of, register, schema};
use crate::{Error, Result};

/// The folder within the data folder.
pub const FOLDER: &str = "search";
/// A file that says that pages were erased whose words may still be in files of the index.
const TO_PURGE_FILE: &str = "to-purge";

/// The checksums of an index up to this size are compared at each opening. A larger one is checked as it is read.
const CHECKED_BYTES_MAX: u64 = 64 << 20;

/// The index of one repository. Cheap to clone, and may be asked from any thread.
#[derive(Clone)]
pub struct SearchIndex {
    inner: Arc<Inner>,
}

struct Inner {
    dir: PathBuf,
    index: Index,
    reader: IndexReader,
    fields: Fields,
    /// The place of the commit that is being asked.
    place: Mutex<Place>,
}

/// An index that was opened.
pub struct Opened {
    pub index: SearchIndex,
    /// Why it begins anew, where there was one that could not be used.
    pub anew: Option<String>,
}

/// How large the index is and how far it has come.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct SearchStatus {
    /// Units: pages and removed paragraphs.
    pub units: u64,
    pub bytes: u64,
    pub cursor: Cursor,
    /// Events that are not in the index yet, counted up to a limit.
    pub behind_events: u64,
}

/// Events behind that are counted one by one.
const BEHIND_COUNTED_MAX: usize = 1_000;

impl SearchIndex {
    /// Opens the index of the data folder `data`. One that is damaged, of another format or of another journal is made anew.
    pub fn open(data: &Path, reader: &Reader) -> Result<Opened> {
        let dir = data.join(FOLDER);
        let anew = if dir.exists() {
            match SearchIndex::existing(&dir, reader)? {
                Ok(index) => return Ok(Opened { index, anew: None }),
                Err(why) => Some(why),
            }
        } else {
            None
        };
        Ok(Opened { index: SearchIndex::made(&dir)?, anew })
    }

    /// How large the index is and how far it has come, where there is one that can be used. Nothing is made or written.
    pub fn look(data: &Path, reader: &Reader) -> Result<Option<SearchStatus>> {
        let dir = data.join(FOLDER);
        if !dir.exists() {
            return Ok(None);
        }
        SearchIndex::existing(&dir, reader)?.ok().map(|index| index.status(reader)).transpose()
    }

    /// Removes the index and begins it anew.
    pub fn rebuild(data: &Path) -> Result<SearchIndex> {
        SearchIndex::made(&data.join(FOLDER))
    }

    fn existing(dir: &Path, reader: &Reader) -> Result<std::result::Result<SearchIndex, String>> {
        let index = match Index::open_in_dir(dir) {
            Ok(index) => index,
            Err(error) => return Ok(Err(error.to_string())),
        };
        let place = match usable(&index, dir) {
            Ok(place) => place,
            Err(why) => return Ok(Err(why)),
        };
        if !place.is_of(reader)? {
            return Ok(Err("it has read another journal than this one".into()));
        }
        match SearchIndex::of(dir, index, place) {
            Ok(index) => Ok(Ok(index)),
            Err(error) => Ok(Err(error.to_string())),
        }
    }

    fn made(dir: &Path) -> Result<SearchIndex> {
        match std::fs::remove_dir_all(dir) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(Error::io("remove", dir)(error)),
            _ => {}
        }
        std::fs::create_dir_all(dir).map_err(Error::io("make", dir))?;
        let index = Index::create_in_dir(dir, schema().0).map_err(Error::index("make the search index"))?;
        SearchIndex::of(dir, index, Place::default())
    }

    fn of(dir: &Path, index: Index, place: Place) -> Result<SearchIndex> {
        register(&index);
        let reader = index.reader_builder().reload_policy(ReloadPolicy::Manual).try_into();
        let reader = reader.map_err(Error::index("open the search index"))?;
        let (_, fields) = schema();
        Ok(SearchIndex {
            inner: Arc::new(Inner { dir: dir.to_owned(), index, reader, fields, place: Mutex::new(place) }),
        })
    }

    pub(crate) fn library(&self) -> &Index {
        &self.inner.index
    }

    pub(crate) fn fields(&self) -> &Fields {
        &self.inner.fields
    }

    /// What was committed last, and its place. Both belong together.
    pub(crate) fn searcher(&self) -> (Searcher, Place) {
        let place = self.inner.place.lock().unwrap_or_else(PoisonError::into_inner);
        (self.inner.reader.searcher(), *place)
    }

    /// Whether the last commit has current text of this page.
    pub(crate) fn has_page(&self, page: PageKey) -> Result<bool> {
        let failed = Error::index("look for a page in the search index");
        let (searcher, _) = self.searcher();
        let term = Term::from_field_u64(self.fields().current, number_of(page));
        let found = searcher.segment_readers().iter().map(|segment| has_term(segment, &term));
        found.collect::<tantivy::Result<Vec<bool>>>().map(|found| found.contains(&true)).map_err(failed)
    }

    /// The place that is asked.
    pub fn place(&self) -> Place {
        *self.inner.place.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// From now on the last commit is asked, which has come to this place.
    pub(crate) fn show(&self, place: Place) -> Result<()> {
        let mut shown = self.inner.place.lock().unwrap_or_else(PoisonError::into_inner);
        self.inner.reader.reload().map_err(Error::index("read the search index again"))?;
        *shown = place;
        Ok(())
    }

    /// The journal went on without an event: nothing is to be written, and the index is as new as the journal.
    pub(crate) fn note_place(&self, place: Place) {
        *self.inner.place.lock().unwrap_or_else(PoisonError::into_inner) = place;
    }

    pub fn status(&self, reader: &Reader) -> Result<SearchStatus> {
        let (searcher, place) = self.searcher();
        let behind = reader.events(place.cursor, BEHIND_COUNTED_MAX)?.len() as u64;
        Ok(SearchStatus {
            units: searcher.num_docs(),
            bytes: bytes_of(&self.inner.dir),
            cursor: place.cursor,
            behind_events: behind,
        })
    }

    /// Whether pages were erased whose words may still be in its files.
    pub fn is_to_purge(&self) -> bool {
        self.inner.dir.join(TO_PURGE_FILE).exists()
    }

    pub(crate) fn set_to_purge(&self, is_so: bool) -> Result<()> {
        let path = self.inner.dir.join(TO_PURGE_FILE);
        match (is_so, path.exists()) {
            (true, false) => std::fs::write(&path, []).map_err(Error::io("make", &path)),
            (false, true) => std::fs::remove_file(&path).map_err(Error::io("remove", &path)),
            _ => Ok(()),
        }
    }

    /// The files that the index lies in, added up.
    pub fn bytes(&self) -> u64 {
        bytes_of(&self.inner.dir)
    }
}

/// Whether a segment has a unit with this term that was not replaced since.
fn has_term(segment: &SegmentReader, term: &Term) -> tantivy::Result<bool> {
    let units = segment.inverted_index(term.field())?.read_postings(term, IndexRecordOption::Basic)?;
    Ok(units.is_some_and(|units| count_held(segment, units, 1) > 0))
}

/// How many of these units were not replaced since, counted up to a limit.
pub(crate) fn count_held(segment: &SegmentReader, mut units: SegmentPostings, most: usize) -> usize {
    let mut held = 0;
    while held < most && units.doc() != TERMINATED {
        held += usize::from(!segment.is_deleted(units.doc()));
        units.advance();
    }
    held
}

/// The place of an index, if it has our fields and its files are whole.
fn usable(index: &Index, dir: &Path) -> std::result::Result<Place, String> {
    if index.schema() != schema().0 {
        return Err("it has the fields of another version".into());
    }
    let metas = index.load_metas().map_err(|error| error.to_string())?;
    let place = match &metas.payload {
        None if metas.segments.is_empty() => Place::default(),
        None => return Err("it does not say how far it has come".into()),
        Some(text) => Place::of_payload(text).ok_or("it is of another format")?,
    };
    if bytes_of(dir) <= CHECKED_BYTES_MAX {
        let damaged = index.validate_checksum().map_err(|error| error.to_string())?;
        if let Some(path) = damaged.iter().next() {
            return Err(format!("{} is damaged", path.display()));
        }
    }
    Ok(place)
}

fn bytes_of(dir: &Path) -> u64 {
    let Ok(entries) = std::fs::read_dir(dir) else { return 0 };
    entries.filter_map(|entry| entry.ok()?.metadata().ok()).filter(|data| data.is_file()).map(|data| data.len()).sum()
}
