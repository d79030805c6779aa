//! What people say of events: seen, to be acted on, or noise; and how far each of them has read.
//!
//! ```text
//! DIR/watch/marks   frames of records, as in the log of the outbox
//! ```
//!
//! Nothing of it can be derived from anything else, and no crawl needs it.

use std::collections::{BTreeMap, VecDeque};
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use vernal_model::Moment;
use vernal_repository::Cursor;

use crate::frames::{FrameLog, LogName};
use crate::{Error, Result};

const NAME: LogName = LogName { file: "marks", head: b"vernal marks 1\n" };
/// Marks in all: some hundred bytes of memory each.
pub const MARKS_MAX: usize = 500_000;
/// Events that are marked at once.
pub const MARKED_AT_ONCE_MAX: usize = 200_000;
/// Acts that can be undone, and the events of all of them.
const UNDOS_MAX: usize = 100;
const UNDO_EVENTS_MAX: usize = 400_000;
/// A note beside a mark.
const NOTE_LETTERS_MAX: usize = 1_000;
/// Readers whose place is kept; tokens are fewer.
const READERS_MAX: usize = 10_000;

#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum MarkState {
    Seen,
    /// Something is to be done about it.
    Act,
    /// It says nothing.
    Noise,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mark {
    pub state: MarkState,
    /// The token of whoever set it.
    pub by: String,
    pub at: Moment,
    pub note: Option<String>,
}

/// All marks of a folder. They are written to disk before anybody hears that they are set.
pub struct Marks {
    data: PathBuf,
    /// Made with the first mark.
    log: Option<FrameLog>,
    state: State,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct State {
    /// By the id of the event.
    marks: BTreeMap<String, Mark>,
    readers: BTreeMap<String, Cursor>,
    /// The newest last.
    undos: VecDeque<Undo>,
    last_undo: u64,
}

/// What was before an act.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Undo {
    number: u64,
    before: Vec<(String, Option<Mark>)>,
    after: Option<Mark>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Record {
    /// Everything so far; the first record of a log that was written anew.
    Whole(Box<State>),
    /// These events have this mark now, or none.
    Marked {
        events: Vec<String>,
        mark: Option<Mark>,
    },
    Undone(u64),
    Read {
        reader: String,
        until: Cursor,
    },
}

impl MarkState {
    pub fn name(self) -> &'static str {
        match self {
            MarkState::Seen => "seen",
            MarkState::Act => "act",
            MarkState::Noise => "noise",
        }
    }
}

impl Marks {
    /// Opens those of a data folder, which may have none. The text says what was damaged.
    pub fn open(data: &Path) -> Result<(Marks, Option<String>)> {
        let mut marks = Marks { data: data.to_owned(), log: None, state: State::default() };
        let damage = if NAME.exists(data) { marks.open_log()? } else { None };
        Ok((marks, damage))
    }

    fn open_log(&mut self) -> Result<Option<String>> {
        let state = &mut self.state;
        let (log, damage) = FrameLog::open(&self.data, NAME, &mut |record| state.apply(record))?;
        self.log = Some(log);
        Ok(damage)
    }

    pub fn of(&self, event: &str) -> Option<&Mark> {
        self.state.marks.get(event)
    }

    /// Sets the mark of these events, or takes it away, and gives the number by which that is undone.
    pub fn set(&mut self, events: Vec<String>, mark: Option<Mark>) -> Result<u64> {
        if events.len() > MARKED_AT_ONCE_MAX {
            return Err(Error::Wrong(format!("these are more than {MARKED_AT_ONCE_MAX} events; mark fewer at once")));
        }
        if let Some(note) = mark.as_ref().and_then(|mark| mark.note.as_ref())
            && note.chars().count() > NOTE_LETTERS_MAX
        {
            return Err(Error::Wrong(format!("a note has at most {NOTE_LETTERS_MAX} letters")));
        }
        let new = || events.iter().filter(|event| !self.state.marks.contains_key(*event)).count();
        if mark.is_some() && self.state.marks.len() + new() > MARKS_MAX {
            let line = "marks, which is all there may be; say how far you have read instead (PUT /api/v1/reader)";
            return Err(Error::Wrong(format!("with these there were more than {MARKS_MAX} {line}")));
        }
        self.commit(Record::Marked { events, mark })?;
        Ok(self.state.last_undo)
    }

    /// Gives these events back the marks that they had before an act, except those that were marked anew since. Gives their
    /// count.
    pub fn undo(&mut self, number: u64) -> Result<usize> {
        let undo = self.state.undos.iter().find(|undo| undo.number == number);
        let undo = undo.ok_or_else(|| Error::Unknown { noun: "act to undo", name: format!("u{number}") })?;
        let count = undo.before.iter().filter(|(event, _)| self.state.marks.get(event) == undo.after.as_ref()).count();
        self.commit(Record::Undone(number))?;
        Ok(count)
    }

    /// Up to where somebody has read.
    pub fn read_until(&self, reader: &str) -> Option<Cursor> {
        self.state.readers.get(reader).copied()
    }

    pub fn set_read_until(&mut self, reader: &str, until: Cursor) -> Result<()> {
        if self.state.readers.len() >= READERS_MAX && !self.state.readers.contains_key(reader) {
            return Err(Error::Wrong(format!("there are {READERS_MAX} readers already")));
        }
        self.commit(Record::Read { reader: reader.to_owned(), until })
    }

    /// Returns when the record is on disk.
    fn commit(&mut self, record: Record) -> Result<()> {
        if self.log.is_none() {
            self.open_log()?;
        }
        let Some(log) = &mut self.log else { return Ok(()) };
        log.append(std::slice::from_ref(&record))?;
        log.sync()?;
        self.state.apply(record);
        if log.is_long() {
            log.write_anew(&Record::Whole(Box::new(self.state.clone())))?;
        }
        Ok(())
    }
}

impl State {
    fn apply(&mut self, record: Record) {
        match record {
            Record::Whole(state) => *self = *state,
            Record::Marked { events, mark } => {
                let before = events.into_iter().map(|event| {
                    let was = match &mark {
                        Some(mark) => self.marks.insert(event.clone(), mark.clone()),
                        None => self.marks.remove(&event),
                    };
                    (event, was)
                });
                let before = before.collect();
                self.last_undo += 1;
                self.undos.push_back(Undo { number: self.last_undo, before, after: mark });
                self.forget_old_undos();
            }
            Record::Undone(number) => {
                let Some(place) = self.undos.iter().position(|undo| undo.number == number) else { return };
                let Some(undo) = self.undos.remove(place) else { return };
                for (event, was) in undo.before {
                    if self.marks.get(&event) != undo.after.as_ref() {
                        continue;
                    }
                    match was {
                        Some(mark) => drop(self.marks.insert(event, mark)),
                        None => drop(self.marks.remove(&event)),
                    }
                }
            }
            Record::Read { reader, until } => drop(self.readers.insert(reader, until)),
        }
    }

    fn forget_old_undos(&mut self) {
        let mut events: usize = self.undos.iter().map(|undo| undo.before.len()).sum();
        while self.undos.len() > UNDOS_MAX || events > UNDO_EVENTS_MAX {
            let Some(oldest) = self.undos.pop_front() else { return };
            events -= oldest.before.len();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mark(state: MarkState) -> Option<Mark> {
        Some(Mark { state, by: "desk".into(), at: Moment::from_secs(7), note: None })
    }

    fn events(numbers: std::ops::Range<u64>) -> Vec<String> {
        numbers.map(|number| format!("e1-{number}")).collect()
    }

    fn states(marks: &Marks) -> Vec<&'static str> {
        events(0..4).iter().map(|event| marks.of(event).map_or("none", |mark| mark.state.name())).collect()
    }

    #[test]
    fn marks_last_and_each_act_can_be_undone() {
        let dir = tempfile::tempdir().unwrap();
        let (mut marks, _) = Marks::open(dir.path()).unwrap();
        assert!(!NAME.exists(dir.path()), "a folder without marks has no file of them");
        let first = marks.set(events(0..3), mark(MarkState::Seen)).unwrap();
        let second = marks.set(events(1..2), mark(MarkState::Act)).unwrap();
        marks.set(events(2..3), None).unwrap();
        marks.set_read_until("desk", Cursor(9)).unwrap();
        drop(marks);
        let (mut marks, damage) = Marks::open(dir.path()).unwrap();
        assert_eq!((damage, states(&marks)), (None, vec!["seen", "act", "none", "none"]));
        assert_eq!((marks.read_until("desk"), marks.read_until("other")), (Some(Cursor(9)), None));
        assert_eq!(marks.undo(first).unwrap(), 1, "what was marked anew since is left");
        assert_eq!(states(&marks), ["none", "act", "none", "none"]);
        assert_eq!(marks.undo(second).unwrap(), 1);
        assert_eq!(states(&marks), ["none", "seen", "none", "none"]);
        assert!(matches!(marks.undo(first), Err(Error::Unknown { .. })), "an act is undone once");
    }

    #[test]
    fn whatever_part_of_the_log_reached_the_disk_is_a_state_that_was() {
        let dir = tempfile::tempdir().unwrap();
        let (mut marks, _) = Marks::open(dir.path()).unwrap();
        let mut was = vec![states(&marks)];
        for (numbers, state) in [(0..2, MarkState::Seen), (1..3, MarkState::Noise), (0..1, MarkState::Act)] {
            marks.set(events(numbers), mark(state)).unwrap();
            was.push(states(&marks));
        }
        marks.undo(2).unwrap();
        was.push(states(&marks));
        let path = dir.path().join("watch/marks");
        let whole = std::fs::read(&path).unwrap();
        for cut in 0..=whole.len() {
            std::fs::write(&path, &whole[..cut]).unwrap();
            let (marks, damage) = Marks::open(dir.path()).unwrap();
            assert!(damage.is_none() && was.contains(&states(&marks)), "cut at {cut}: {:?}", states(&marks));
        }
        assert_eq!(states(&Marks::open(dir.path()).unwrap().0), was[4]);
    }

    #[test]
    fn a_log_that_was_written_anew_says_the_same() {
        let dir = tempfile::tempdir().unwrap();
        let (mut marks, _) = Marks::open(dir.path()).unwrap();
        let note = Some("x".repeat(NOTE_LETTERS_MAX));
        let noted = mark(MarkState::Seen).map(|mark| Mark { note, ..mark });
        marks.set(events(0..4_000), noted.clone()).unwrap();
        let largest = |marks: &mut Marks| {
            marks.set(events(0..4_000), noted.clone()).unwrap();
            std::fs::metadata(dir.path().join("watch/marks")).unwrap().len()
        };
        let sizes: Vec<u64> = (0..4).map(|_| largest(&mut marks)).collect();
        let undo = marks.set(events(0..1), mark(MarkState::Act)).unwrap();
        let (mut again, _) = Marks::open(dir.path()).unwrap();
        assert_eq!(states(&again), ["act", "seen", "seen", "seen"]);
        assert_eq!(again.undo(undo).unwrap(), 1);
        assert!(sizes.iter().all(|size| *size < 1 << 30), "{sizes:?}");
        let long = mark(MarkState::Seen).map(|mark| Mark { note: Some("x".repeat(NOTE_LETTERS_MAX + 1)), ..mark });
        assert!(again.set(events(0..1), long).is_err());
        assert!(again.set(events(0..MARKED_AT_ONCE_MAX as u64 + 1), None).is_err());
    }
}
