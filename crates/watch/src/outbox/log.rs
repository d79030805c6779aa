//! The log of the outbox: what its records are written to, and when it is written anew.

use std::path::Path;

use vernal_model::Moment;
use vernal_repository::Cursor;

use super::Outbox;
use super::record::Record;
use super::state::State;
use crate::Result;
use crate::frames::{FrameLog, LogName};

const NAME: LogName = LogName { file: "log", head: b"vernal watch log 1\n" };

/// A log that was opened, and what was found damaged in it.
pub struct Opened {
    pub outbox: Outbox,
    pub damage: Option<String>,
}

impl Outbox {
    /// Whether a data folder has one.
    pub fn exists(data: &Path) -> bool {
        NAME.exists(data)
    }

    /// Opens the outbox of a data folder, or makes it.
    pub fn open(data: &Path) -> Result<Opened> {
        let mut state = State::default();
        let (log, damage) = FrameLog::open(data, NAME, &mut |record| state.apply(record))?;
        Ok(Opened { outbox: Outbox { log, state }, damage })
    }

    /// Moves the places of watches that found nothing. This costs no sync: after a crash the events before them are read again.
    pub fn pass(&mut self, watches: Vec<String>, upto: Cursor) -> Result<()> {
        let seen = Record::Seen { watches, upto };
        self.log.append(std::slice::from_ref(&seen))?;
        self.state.apply(seen);
        Ok(())
    }

    /// Writes these records as one frame and applies them. Returns when they are on disk.
    pub fn commit(&mut self, records: Vec<Record>, now: Moment) -> Result<()> {
        if records.is_empty() {
            return Ok(());
        }
        let is_erasure = records.iter().any(|record| matches!(record, Record::Forgot { .. }));
        self.log.append(&records)?;
        self.log.sync()?;
        records.into_iter().for_each(|record| self.state.apply(record));
        // What was erased must leave the older frames too.
        if is_erasure || self.log.is_long() {
            self.state.trim(now);
            self.log.write_anew(&Record::Whole(Box::new(self.state.clone())))?;
        }
        Ok(())
    }
}
