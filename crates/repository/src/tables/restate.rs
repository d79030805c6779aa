//! The tables as deeds. A journal that lost deeds begins anew with the rows that those deeds had made.

use vernal_model::{Deed, Partition, Restated, RestatedRow};

use super::apply::{self, Group};
use super::obsolete::Obsolete;
use super::rows::{State, decode, encode};
use super::{Shared, keys};
use crate::{Error, Result};

/// Rows of one deed: a group is about as large as any other.
const ROWS_BYTES_MAX: usize = 1 << 20;

/// Applies one group: all of it or nothing. A group of restated rows has one deed.
pub(crate) fn apply(shared: &Shared, group: &Group<'_>) -> Result<Obsolete> {
    match group.entries.first() {
        Some((partition, sequence, Deed::Restated(restated))) => {
            let mut state = shared.live().state.clone();
            if let Restated::State(row) = &**restated {
                let (run_big, run_small) = (state.run_big, state.run_small);
                state = State { run_big, run_small, ..decode("meta", row)? };
            }
            let place = state.partition_mut(*partition);
            place.sequence = place.sequence.max(*sequence);
            state.moment = state.moment.max(group.moment);
            state.position = group.first;
            restate(shared, state, restated)
        }
        _ => apply::apply(shared, group),
    }
}

fn restate(shared: &Shared, mut state: State, restated: &Restated) -> Result<Obsolete> {
    let (tables, mut obsolete, mut known) = (&shared.tables, Obsolete::default(), None);
    let mut batch = tables.batch(1);
    match restated {
        Restated::Rows { table, rows } => {
            let found = tables.named().find(|(name, _)| **name == **table);
            let (_, target) = found.ok_or_else(|| Error::row("journal", format!("there is no table {table}")))?;
            rows.iter().for_each(|one| batch.insert(target, &one.key[..], &one.row[..]));
        }
        Restated::Known(records) => {
            let before = shared.live().known.clone();
            let next = before.restated(records)?;
            (state.run_big, state.run_small) = next.generations();
            obsolete.runs = before.obsolete_after(&next);
            known = Some(next);
        }
        Restated::State(_) => {}
    }
    batch.insert(&tables.meta, keys::STATE, encode("meta", &state, &mut Vec::new())?);
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

/// Gives the whole of the tables as deeds, in the order in which they are applied.
pub(crate) fn restatement(shared: &Shared, take: &mut dyn FnMut(Deed) -> Result<()>) -> Result<()> {
    let mut give = |restated: Restated| take(Deed::Restated(Box::new(restated)));
    for (name, table) in shared.tables.named() {
        let (mut rows, mut bytes) = (Vec::new(), 0);
        for guard in table.iter() {
            let (key, row) = guard.into_inner().map_err(Error::tables("read a row"))?;
            if name == "meta" && *key == *keys::STATE.as_bytes() {
                continue;
            }
            bytes += key.len() + row.len();
            rows.push(RestatedRow { key: Box::from(&*key), row: Box::from(&*row) });
            if bytes >= ROWS_BYTES_MAX {
                give(Restated::Rows { table: name.into(), rows: std::mem::take(&mut rows) })?;
                bytes = 0;
            }
        }
        if !rows.is_empty() {
            give(Restated::Rows { table: name.into(), rows })?;
        }
    }
    give(Restated::Known(shared.live().known.clone().records()?))?;
    let state = shared.live().state.clone();
    give(Restated::State(encode("meta", &state, &mut Vec::new())?.into()))
}

/// The partition whose sequence counts restated rows.
pub(crate) const RESTATED_IN: Partition = Partition(0);
