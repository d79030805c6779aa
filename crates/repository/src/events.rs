//! The events of the feed, by their cursors, by their ids and by their pages.

use std::cmp::Ordering;

use vernal_model::{Event, PageKey, Partition};

use crate::tables::rows::{decode, decode_head};
use crate::tables::{Row, keys};
use crate::{Cursor, Error, EventId, Reader, Result};

impl Reader {
    /// Events after the cursor `after`, in the order of the journal.
    pub fn events(&self, after: Cursor, limit: usize) -> Result<Vec<(Cursor, EventId, Event)>> {
        let Some(start) = after.0.checked_add(1) else { return Ok(Vec::new()) };
        let rows = self.shared.tables.events.range(start.to_be_bytes()..);
        rows.take(limit).map(event_row).collect()
    }

    /// The event with this id; `None` where there is none. Within a partition events stand in the order of their sequences, so
    /// half of those that are left are set aside at each look.
    pub fn event(&self, id: EventId) -> Result<Option<(Cursor, EventId, Event)>> {
        // A position counts the deeds of all partitions, so it is never less than a sequence.
        let (mut from, mut until) = (id.sequence.0, self.cursor().0.saturating_add(1));
        while from < until {
            let middle = from + (until - from) / 2;
            let Some((position, found)) = self.next_event_of(id.partition, middle, until)? else {
                until = middle;
                continue;
            };
            match found.sequence.cmp(&id.sequence) {
                Ordering::Equal => return self.events(Cursor(position - 1), 1).map(|mut events| events.pop()),
                Ordering::Less => from = position + 1,
                Ordering::Greater => until = middle,
            }
        }
        Ok(None)
    }

    /// The first event of a partition within these positions.
    fn next_event_of(&self, partition: Partition, from: u64, until: u64) -> Result<Option<(u64, EventId)>> {
        for guard in self.shared.tables.events.range(from.to_be_bytes()..until.to_be_bytes()) {
            let (key, value) = guard.into_inner().map_err(Error::tables("read the events"))?;
            let id: EventId = decode_head("events", &value)?;
            if id.partition == partition {
                let position = keys::position(&key);
                return Ok(Some((position.ok_or_else(|| Error::row("events", "its key is too short"))?, id)));
            }
        }
        Ok(None)
    }

    /// The events of one page, oldest first.
    pub fn page_events(&self, key: PageKey) -> Result<Vec<(Cursor, EventId, Event)>> {
        let tables = &self.shared.tables;
        let mut events = Vec::new();
        for guard in tables.page_events.prefix(key.bytes()) {
            let key = guard.key().map_err(Error::tables("read the events of a page"))?;
            let position = key.get(key.len().saturating_sub(8)..).and_then(keys::position);
            let position = position.ok_or_else(|| Error::row("page_events", "its key is too short"))?;
            let row: Option<(EventId, Event)> = self.row(&tables.events, "events", &position.to_be_bytes())?;
            let (id, event) = row.ok_or_else(|| Error::row("page_events", "it leads to no event"))?;
            events.push((Cursor(position), id, event));
        }
        Ok(events)
    }

    /// Events before the cursor, newest first.
    pub fn events_before(&self, before: Cursor, limit: usize) -> Result<Vec<(Cursor, EventId, Event)>> {
        let rows = self.shared.tables.events.range(..before.0.to_be_bytes());
        rows.rev().take(limit).map(event_row).collect()
    }

    /// The newest events, newest first.
    pub fn latest_events(&self, limit: usize) -> Result<Vec<(Cursor, EventId, Event)>> {
        self.events_before(Cursor(u64::MAX), limit)
    }
}

fn event_row(guard: Row) -> Result<(Cursor, EventId, Event)> {
    let (key, value) = guard.into_inner().map_err(Error::tables("read the events"))?;
    let position = keys::position(&key).ok_or_else(|| Error::row("events", "its key is too short"))?;
    let (id, event): (EventId, Event) = decode("events", &value)?;
    Ok((Cursor(position), id, event))
}
