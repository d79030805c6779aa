//! Applies what a person had forgotten: all rows of a page go, and its earlier events lose their words. It reads the tables, so
//! its group must not contain other deeds about the same page.

use vernal_model::{ErasedPage, ErasedSite, Event, Location, PageKey, Partition, Unfound};

use super::apply::Applying;
use super::row_batch::RowBatch;
use super::rows::{FoundRow, decode};
use super::{Table, keys};
use crate::{Error, EventId, Result};

impl Applying<'_> {
    pub(super) fn erased(&mut self, id: EventId, position: u64, erased: &ErasedPage) -> Result<()> {
        let tables = &self.shared.tables;
        let key = erased.page.bytes();
        let by_page = [
            &tables.urls,
            &tables.pages,
            &tables.documents,
            &tables.terms,
            &tables.page_topics,
            &tables.page_noise,
            &tables.page_hints,
            &tables.left,
        ];
        by_page.into_iter().for_each(|table| self.rows.remove(table, key));
        for table in [&tables.visits, &tables.version_rows, &tables.names, &tables.listed] {
            remove_prefix(&mut self.rows, table, &key)?;
        }
        self.rows.remove(&tables.hints, keys::hint_file(&erased.site, erased.page));
        self.rows.remove(&tables.hints, keys::hint_subscription(&erased.site, erased.page));
        if let Some(place) = &erased.left {
            self.waits_no_more(id.partition, place)?;
        }
        for (position, event) in &erased.retold {
            self.retell(*position, event)?;
        }
        if let Some(event) = &erased.event {
            self.forget_events(erased.page, event)?;
            self.rows.put(&tables.events, "events", position.to_be_bytes(), &(id, event))?;
            self.rows.put(&tables.page_events, "page_events", keys::page_event(erased.page, position), &())?;
        }
        self.erases = true;
        self.queue_overwriting(&erased.records)?;
        self.relinked.push(erased.page);
        self.count_erased(id.partition, erased);
        Ok(())
    }

    pub(super) fn site_erased(&mut self, partition: Partition, erased: &ErasedSite) -> Result<()> {
        let tables = &self.shared.tables;
        for origin in &erased.origins {
            self.rows.remove(&tables.robots, keys::named(partition, origin.as_str()));
        }
        for visit in &erased.visits {
            self.rows.remove(&tables.visits, keys::visit(visit.page, visit.started, visit.sequence));
        }
        self.erases = true;
        for table in [&tables.noise, &tables.hints] {
            remove_prefix(&mut self.rows, table, &keys::noise_site(partition, &erased.site))?;
        }
        self.queue_overwriting(&erased.records)
    }

    /// Earlier events of the page keep their places and ids. Each says from now on what the last one says.
    fn forget_events(&mut self, page: PageKey, last: &Event) -> Result<()> {
        for guard in self.shared.tables.page_events.prefix(page.bytes()) {
            let key = guard.key().map_err(Error::tables("read the events of a page"))?;
            let position = key.get(key.len().saturating_sub(8)..).and_then(keys::position);
            let position = position.ok_or_else(|| Error::row("page_events", "its key is too short"))?;
            self.retell(position, last)?;
        }
        Ok(())
    }

    /// Puts another event in the place of an earlier one, whose id and time it keeps.
    fn retell(&mut self, position: u64, event: &Event) -> Result<()> {
        let table = &self.shared.tables.events;
        let Some(row) = table.get(position.to_be_bytes()).map_err(Error::tables("read an event"))? else {
            return Ok(());
        };
        let (id, before): (EventId, Event) = decode("events", &row)?;
        let event = Event { seen_different: before.seen_different, ..event.clone() };
        self.rows.put(table, "events", position.to_be_bytes(), &(id, event))
    }

    /// Takes URLs out of what waits for the sieve.
    pub(super) fn unfound(&mut self, partition: Partition, unfound: &[Unfound]) -> Result<()> {
        let table = &self.shared.tables.found;
        self.erases = true;
        for Unfound { sequence, urls } in unfound {
            let key = keys::found(partition, *sequence);
            let Some(row) = table.get(key).map_err(Error::tables("read what was found"))? else { continue };
            let mut row: FoundRow<'_> = decode("found", &row)?;
            let before = row.urls.len();
            row.urls.to_mut().retain(|found| !urls.contains(&found.url.fingerprint()));
            let fewer = (before - row.urls.len()) as u64;
            self.state.totals.found_pending = self.state.totals.found_pending.saturating_sub(fewer);
            self.rows.put(table, "found", key, &row)?;
        }
        Ok(())
    }

    pub(super) fn overwritten(&mut self, records: &[Location]) {
        records.iter().for_each(|record| self.rows.remove(&self.shared.tables.meta, keys::overwrite(record)));
    }

    fn queue_overwriting(&mut self, records: &[Location]) -> Result<()> {
        for record in records {
            self.rows.put(&self.shared.tables.meta, "meta", keys::overwrite(record), &record.length)?;
        }
        Ok(())
    }
}

fn remove_prefix(rows: &mut RowBatch<'_>, table: &Table, prefix: &[u8]) -> Result<()> {
    for guard in table.prefix(prefix) {
        let key = guard.key().map_err(Error::tables("read what is to be erased"))?;
        rows.remove(table, key);
    }
    Ok(())
}
