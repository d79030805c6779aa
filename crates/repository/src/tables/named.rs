//! Applies what visits and people changed of the names of pages. Only the last state of each row in a group is written, because
//! marks may come and go within a group.

use std::collections::BTreeMap;

use vernal_model::{Deed, NameMark, NameRow, Named, PageKey, Partition, Retold, Sequence};

use super::apply::Applying;
use super::keys;
use crate::{EventId, Result};

impl Applying<'_> {
    /// Writes the rows and marks that the deeds of one group change, and each event under the position of its deed.
    pub(super) fn named(&mut self, first: u64, entries: &[(Partition, Sequence, &Deed)]) -> Result<()> {
        let tables = &self.shared.tables;
        let mut rows: BTreeMap<PageKey, &NameRow> = BTreeMap::new();
        let mut marks: BTreeMap<(PageKey, NameMark), bool> = BTreeMap::new();
        for (position, (partition, sequence, deed)) in (first..).zip(entries) {
            let Deed::Named(named) = deed else { continue };
            let Named { page, row, marked, unmarked, retold, event } = &**named;
            rows.extend(row.iter().map(|row| (*page, row)));
            marks.extend(marked.iter().map(|mark| ((*page, *mark), true)));
            marks.extend(unmarked.iter().map(|mark| ((*page, *mark), false)));
            if let Some(Retold { first, from_start }) = retold {
                let key = keys::told_name(*page, if *from_start { 0 } else { position });
                self.rows.put(&tables.names, "names", key, first)?;
            }
            let Some(event) = event else { continue };
            let id = EventId { partition: *partition, sequence: *sequence };
            self.rows.put(&tables.events, "events", position.to_be_bytes(), &(id, event))?;
            self.rows.put(&tables.page_events, "page_events", keys::page_event(*page, position), &())?;
            self.state.totals.events += 1;
        }
        for (page, row) in rows {
            match row.is_empty() {
                true => self.rows.remove(&tables.names, page.bytes()),
                false => self.rows.put(&tables.names, "names", page.bytes(), row)?,
            }
        }
        for ((page, mark), is_marked) in marks {
            let key = keys::marked_page(page, mark);
            match is_marked {
                true => self.rows.put(&tables.name_marks, "name_marks", key, &())?,
                false => self.rows.remove(&tables.name_marks, key),
            }
        }
        Ok(())
    }
}
