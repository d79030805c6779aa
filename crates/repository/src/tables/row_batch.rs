//! The rows that one group of deeds writes, encoded and committed as one atomic batch.

use fjall::Slice;
use serde::Serialize;
use vernal_model::PageKey;

use super::Shared;
use super::rows::{encode, encoded};
use super::table::{Batch, RowKey, Table};
use crate::{Error, Result};

/// Room for the rows of a group that belong to no visit: sites, the state, found URLs.
const FURTHER_ROWS: usize = 16;

pub(super) struct RowBatch<'a> {
    shared: &'a Shared,
    batch: Batch,
    /// The buffer in which rows are encoded.
    scratch: Vec<u8>,
    /// The rows of pages in this batch, for the rows in memory.
    page_rows: Vec<(PageKey, Slice)>,
}

impl<'a> RowBatch<'a> {
    pub fn new(shared: &'a Shared, deeds: usize) -> Self {
        RowBatch {
            shared,
            batch: shared.tables.batch(2 * deeds + FURTHER_ROWS),
            scratch: Vec::new(),
            page_rows: Vec::with_capacity(deeds),
        }
    }

    pub fn put<T: Serialize>(&mut self, table: &Table, name: &'static str, key: impl RowKey, row: &T) -> Result<()> {
        let row = Slice::from(encode(name, row, &mut self.scratch)?);
        self.insert(table, key, row);
        Ok(())
    }

    /// Puts a row whose bytes the journal has.
    pub fn put_written(&mut self, table: &Table, key: impl RowKey, row: &[u8]) {
        let row = Slice::from(encoded(row, &mut self.scratch));
        self.insert(table, key, row);
    }

    /// Puts a row that begins with `first` and goes on with bytes that the journal has.
    pub fn put_written_behind<T: Serialize>(
        &mut self,
        table: &Table,
        name: &'static str,
        key: impl RowKey,
        first: &T,
        rest: &[u8],
    ) -> Result<()> {
        encode(name, first, &mut self.scratch)?;
        self.scratch.extend_from_slice(rest);
        let row = Slice::from(self.scratch.as_slice());
        self.insert(table, key, row);
        Ok(())
    }

    pub fn insert(&mut self, table: &Table, key: impl RowKey, row: Slice) {
        if self.shared.page_rows.is_some()
            && std::ptr::eq(table, &self.shared.tables.pages)
            && let Some(page) = PageKey::from_bytes(key.as_ref())
        {
            self.page_rows.push((page, row.clone()));
        }
        self.batch.insert(table, key, row);
    }

    pub fn remove(&mut self, table: &Table, key: impl RowKey) {
        if self.shared.page_rows.is_some()
            && std::ptr::eq(table, &self.shared.tables.pages)
            && let Some(page) = PageKey::from_bytes(key.as_ref())
        {
            self.page_rows.push((page, Slice::empty()));
        }
        self.batch.remove(table, key);
    }

    pub fn scratch(&mut self) -> &mut Vec<u8> {
        &mut self.scratch
    }

    /// Writes all rows or none, and then updates the rows of pages in memory.
    pub fn commit(self) -> Result<()> {
        self.batch.commit().map_err(Error::tables("write the tables"))?;
        if let Some(page_rows) = &self.shared.page_rows {
            page_rows.put(self.page_rows);
        }
        Ok(())
    }
}
