//! Compares found rows with the known set. The new URLs are offered to the dispatcher.

use std::ops::Bound;

use fjall::UserValue;
use serde::Deserialize;
use vernal_model::{Fingerprint, Found, PageKey, Partition, Sequence, Via};
use xxhash_rust::xxh3::xxh3_64;

use super::run::{BARRED, FORGOTTEN, Key};
use crate::tables::rows::{FoundRow, State, content, decode};
use crate::tables::{Tables, keys};
use crate::{Error, Result};

/// The result of a pass of the sieve. It decides nothing: the `Sieved` deeds that follow do.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sieving {
    pub partitions: Vec<PartitionSieving>,
    /// Findings in this pass, including known URLs and repeats.
    pub found: usize,
    /// Whether findings are left that exceeded the limit of this pass.
    pub more: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub struct PartitionSieving {
    pub partition: Partition,
    /// The last sequence, for the `Sieved` deed. It is needed even when there is no new URL.
    pub through: Sequence,
    /// The new URLs, each once, in the order in which they were found.
    pub fresh: Vec<Candidate>,
}

/// A URL that is not known, or is barred and now given as a seed.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// The first finding, or the first that is a seed.
    pub found: Found,
    /// Links to it so far.
    pub back_links: u32,
}

/// A finding, borrowed from its row.
pub(crate) struct Finding {
    pub fingerprint: Fingerprint,
    pub what: FindingKind,
}

#[derive(Copy, Clone, PartialEq)]
pub(crate) enum FindingKind {
    SpelledOut(Via),
    /// A link to a URL that an earlier finding contained.
    Again,
    /// A link that was removed.
    Gone,
}

impl Finding {
    /// What this finding adds to the back-link count.
    pub fn back_links(&self) -> i32 {
        match self.what {
            FindingKind::SpelledOut(Via::Link) | FindingKind::Again => 1,
            // An entry of a sitemap or feed is not a link from a page.
            FindingKind::SpelledOut(_) => 0,
            FindingKind::Gone => -1,
        }
    }
}

/// A `Found` in its row.
#[derive(Deserialize)]
struct FoundRef<'a> {
    url: &'a str,
    via: Via,
    _depth: u16,
    _found_on: Option<PageKey>,
    _forward: u32,
}

/// Reads a packed row of findings without copying: first the new URLs, then the links to URLs found before, then the links
/// that were removed.
pub(crate) fn each_found(row: &[u8], mut take: impl FnMut(Finding)) -> Result<usize> {
    let wrong = |why| Error::row("found", why);
    let (urls, mut rest): (u64, _) = postcard::take_from_bytes(content("found", row)?).map_err(wrong)?;
    for _ in 0..urls {
        let (found, after): (FoundRef<'_>, _) = postcard::take_from_bytes(rest).map_err(wrong)?;
        take(Finding {
            fingerprint: Fingerprint(xxh3_64(found.url.as_bytes())),
            what: FindingKind::SpelledOut(found.via),
        });
        rest = after;
    }
    let (again, mut rest): (u64, _) = postcard::take_from_bytes(rest).map_err(wrong)?;
    for _ in 0..again {
        let (fingerprint, after) = postcard::take_from_bytes(rest).map_err(wrong)?;
        take(Finding { fingerprint, what: FindingKind::Again });
        rest = after;
    }
    let (gone, mut rest): (u64, _) = postcard::take_from_bytes(rest).map_err(wrong)?;
    for _ in 0..gone {
        let (fingerprint, after) = postcard::take_from_bytes(rest).map_err(wrong)?;
        take(Finding { fingerprint, what: FindingKind::Gone });
        rest = after;
    }
    Ok((urls + again + gone) as usize)
}

/// One finding in a batch.
struct BatchEntry {
    key: Key,
    /// Seeds come before URLs, and those before bare links.
    order: u8,
    /// What it adds to the back-link count.
    links: i8,
    /// Counted over the whole batch.
    ordinal: u32,
}

const SEED: u8 = 0;
const SPELLED_OUT: u8 = 1;
const BARE: u8 = 2;

/// Compares at most about `limit` found URLs with the known set: whole rows in the order of their sequence, beginning with the
/// partition `from`. Also returns the partition to begin with next time.
pub(crate) fn sieve(
    tables: &Tables,
    state: &State,
    known: &super::KnownSet,
    limit: usize,
    from: u8,
) -> Result<(Sieving, u8)> {
    let mut batch = Batch::default();
    let mut sieving = Sieving::default();
    let mut next_from = from;
    for step in 0..Partition::COUNT {
        let partition = Partition((from + step) % Partition::COUNT);
        if batch.entries.len() >= limit {
            next_from = partition.0;
            sieving.more = true;
            break;
        }
        let through = state.partition(partition).through;
        if let Some((through, more)) = batch.take_rows(tables, partition, through, limit)? {
            sieving.partitions.push(PartitionSieving { partition, through, fresh: Vec::new() });
            sieving.more |= more;
        }
    }
    sieving.found = batch.entries.len();
    let fresh = fresh(std::mem::take(&mut batch.entries), known)?;
    batch.pick(fresh, &mut sieving.partitions)?;
    Ok((sieving, next_from))
}

#[derive(Default)]
struct Batch {
    /// Each row with its partition and how many findings it holds.
    rows: Vec<(Partition, u32, UserValue)>,
    entries: Vec<BatchEntry>,
}

impl Batch {
    /// Reads the rows of one partition. Returns the last sequence read and whether rows are left.
    fn take_rows(
        &mut self,
        tables: &Tables,
        partition: Partition,
        through: Sequence,
        limit: usize,
    ) -> Result<Option<(Sequence, bool)>> {
        let after = keys::found(partition, through);
        let last = keys::found(partition, Sequence(u64::MAX));
        let range = (Bound::Excluded(&after[..]), Bound::Included(&last[..]));
        let mut taken = None;
        for guard in tables.found.range::<&[u8], _>(range) {
            if self.entries.len() >= limit {
                return Ok(taken.map(|sequence| (sequence, true)));
            }
            let (key, row) = guard.into_inner().map_err(Error::tables("read what was found"))?;
            let sequence = keys::found_sequence(&key).ok_or_else(|| Error::row("found", "its key is too short"))?;
            let entries = &mut self.entries;
            let count = each_found(&row, |found| {
                let ordinal = entries.len() as u32;
                let order = match found.what {
                    FindingKind::SpelledOut(Via::Seed) => SEED,
                    FindingKind::SpelledOut(_) => SPELLED_OUT,
                    FindingKind::Again | FindingKind::Gone => BARE,
                };
                let key = (partition, found.fingerprint);
                entries.push(BatchEntry { key, order, links: found.back_links() as i8, ordinal });
            })?;
            self.rows.push((partition, count as u32, row));
            taken = Some(sequence);
        }
        Ok(taken.map(|sequence| (sequence, false)))
    }

    /// Reads the chosen findings, whose ordinals rise, out of their rows.
    fn pick(&self, fresh: Vec<(u32, u32)>, partitions: &mut [PartitionSieving]) -> Result<()> {
        let mut wanted = fresh.into_iter().peekable();
        let mut ordinal = 0;
        for (partition, count, row) in &self.rows {
            let here = wanted.peek().is_some_and(|(wanted, _)| *wanted < ordinal + *count);
            if here {
                let found: FoundRow<'_> = decode("found", row)?;
                let place = partitions.iter_mut().find(|sieving| sieving.partition == *partition);
                let sieving = place.expect("each row was taken for a partition of this pass");
                for (index, found) in found.urls.into_owned().into_iter().enumerate() {
                    let is_wanted = |(wanted, _): &(u32, u32)| *wanted == ordinal + index as u32;
                    if let Some((_, back_links)) = wanted.next_if(is_wanted) {
                        sieving.fresh.push(Candidate { found, back_links });
                    }
                }
            }
            ordinal += count;
        }
        Ok(())
    }
}

/// The findings that become candidates, as (ordinal, back links), in the order in which they were found.
fn fresh(mut entries: Vec<BatchEntry>, known: &super::KnownSet) -> Result<Vec<(u32, u32)>> {
    entries.sort_unstable_by_key(|sighting| (sighting.key, sighting.order, sighting.ordinal));
    let mut probe = known.probe();
    let mut fresh = Vec::new();
    for group in entries.chunk_by(|one, other| one.key == other.key) {
        let first = &group[0];
        if first.order == BARE {
            continue;
        }
        let record = probe.look_up(first.key)?;
        // A barred URL that a person gives as a seed becomes a candidate again.
        let is_known = |number: u32| number != FORGOTTEN && (number != BARRED || first.order != SEED);
        if record.is_some_and(|record| is_known(record.number)) {
            continue;
        }
        let before = record.map_or(0, |record| i64::from(record.back_links.cast_signed()));
        let links: i64 = group.iter().map(|sighting| i64::from(sighting.links)).sum();
        fresh.push((first.ordinal, u32::try_from(before + links).unwrap_or(0)));
    }
    fresh.sort_unstable();
    Ok(fresh)
}
