//! The tables as deeds, for the checkpoints of the journal and for a journal that lost deeds.

use vernal_model::{Restated, RestatedRow};

use super::apply::{self, Group};
use super::obsolete::Obsolete;
use super::rows::State;
use super::table::Rows;
use super::{Shared, keys};
use crate::{Error, Result};

/// Rows of one deed: a group is about as large as any other.
const ROWS_BYTES_MAX: usize = 1 << 20;
/// Records of known URLs of one deed.
const KNOWN_BYTES_MAX: usize = 16 << 20;

/// Applies one group: all of it or nothing. A group of restated rows has one deed.
pub(crate) fn apply(shared: &Shared, group: &Group<'_>) -> Result<Obsolete> {
    match group.entries.first() {
        Some((_, _, vernal_model::Deed::Restated(restated))) => restate(shared, restated),
        _ => apply::apply(shared, group),
    }
}

/// Only the last part of a checkpoint says what the tables have seen, so that a process that ends before it begins anew.
fn restate(shared: &Shared, restated: &Restated) -> Result<Obsolete> {
    let (tables, mut obsolete, mut known) = (&shared.tables, Obsolete::default(), None);
    let mut state = shared.live().state.clone();
    let mut batch = tables.batch(1);
    match restated {
        Restated::Rows { table, rows } => {
            let found = tables.named().find(|(name, _)| **name == **table);
            let (_, target) = found.ok_or_else(|| Error::row("journal", format!("there is no table {table}")))?;
            rows.iter().for_each(|one| batch.insert(target, &one.key[..], &one.row[..]));
        }
        Restated::Known(records) | Restated::KnownMore(records) => {
            let before = shared.live().known.clone();
            let next = before.restated(records, matches!(restated, Restated::KnownMore(_)))?;
            (state.run_big, state.run_small) = next.generations();
            obsolete.runs = before.obsolete_after(&next);
            known = Some(next);
        }
        Restated::State(row) => {
            let (run_big, run_small) = (state.run_big, state.run_small);
            state = State { run_big, run_small, ..State::decode(row)? };
        }
    }
    batch.insert(&tables.meta, keys::STATE, state.encode(&mut Vec::new())?);
    batch.commit().map_err(Error::tables("write the tables"))?;
    let sites = if matches!(restated, Restated::State(_)) { Some(tables.sites()?) } else { None };
    let mut live = shared.live_mut();
    live.state = state;
    live.known = known.unwrap_or_else(|| live.known.clone());
    if let Some(sites) = sites {
        live.sites = sites;
    }
    Ok(obsolete)
}

/// The whole of the tables as they are at one moment, in parts and in the order in which they are applied. The store keeps the
/// rows of that moment for as long as this lives; tables in memory must not be written meanwhile.
pub(crate) struct Restatement {
    /// The tables that were not given yet, the next one last.
    tables: Vec<(&'static str, Rows)>,
    /// The row with the progress of the tables.
    state: Option<Box<[u8]>>,
}

impl Restatement {
    /// Begins by giving the known URLs to `take`.
    pub fn begin(shared: &Shared, take: &mut dyn FnMut(Restated) -> Result<()>) -> Result<Restatement> {
        let tables: Vec<_> = shared.tables.named().map(|(name, table)| (name, table.iter())).collect();
        let (state, known) = {
            let live = shared.live();
            (live.state.encode(&mut Vec::new())?.into(), live.known.clone())
        };
        let (mut records, mut is_first) = (Vec::new(), true);
        let mut give = |records: Vec<u8>| {
            let records = records.into();
            let part = if is_first { Restated::Known(records) } else { Restated::KnownMore(records) };
            is_first = false;
            take(part)
        };
        known.each(&mut |record| {
            records.extend_from_slice(&record.bytes());
            if records.len() >= KNOWN_BYTES_MAX { give(std::mem::take(&mut records)) } else { Ok(()) }
        })?;
        give(records)?;
        Ok(Restatement { tables: tables.into_iter().rev().collect(), state: Some(state) })
    }

    /// The next part; `None` behind the last one.
    pub fn next(&mut self) -> Result<Option<Restated>> {
        while let Some((name, left)) = self.tables.last_mut() {
            let (name, mut rows, mut bytes) = (*name, Vec::new(), 0);
            while bytes < ROWS_BYTES_MAX
                && let Some(guard) = left.next()
            {
                let (key, row) = guard.into_inner().map_err(Error::tables("read a row"))?;
                if name == "meta" && *key == *keys::STATE.as_bytes() {
                    continue;
                }
                bytes += key.len() + row.len();
                rows.push(RestatedRow { key: Box::from(&*key), row: Box::from(&*row) });
            }
            if bytes < ROWS_BYTES_MAX {
                self.tables.pop();
            }
            if !rows.is_empty() {
                return Ok(Some(Restated::Rows { table: name.into(), rows }));
            }
        }
        Ok(self.state.take().map(Restated::State))
    }
}
