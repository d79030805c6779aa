//! Found rows on one side, the known set on the other; what is new between them is offered to the dispatcher.

use std::ops::Bound;

use fjall::UserValue;
use serde::Deserialize;
use vernal_model::{Fingerprint, Found, PageKey, Partition, Sequence, Via};
use xxhash_rust::xxh3::xxh3_64;

use super::run::{BARRED, Key};
use crate::tables::rows::{FoundRow, State, content, decode};
use crate::tables::{Tables, keys};
use crate::{Error, Result};

/// What a pass of the sieve offers. It decides nothing: the `Sieved` deeds that follow do.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sieving {
    pub partitions: Vec<PartitionSieving>,
    /// Findings met in this pass, known ones and repeats included.
    pub found: usize,
    /// Findings are left that this pass had no room for.
    pub more: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub struct PartitionSieving {
    pub partition: Partition,
    /// To be named by the `Sieved` deed, also when nothing is fresh.
    pub through: Sequence,
    /// Each URL once, in the order in which they were found.
    pub fresh: Vec<Candidate>,
}

/// A URL that is not known, or is barred and now given as a seed.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// The first finding; a seed comes before all others.
    pub found: Found,
    /// Links to it so far.
    pub back_links: u32,
}

/// A finding as its row holds it, not copied.
pub(crate) struct Finding {
    pub fingerprint: Fingerprint,
    pub what: Sight,
}

#[derive(Copy, Clone, PartialEq)]
pub(crate) enum Sight {
    SpelledOut(Via),
    /// A link to a URL that was spelled out before.
    Again,
    /// A link that is there no more.
    Gone,
}

impl Finding {
    /// What this finding adds to the back-link count.
    pub fn back_links(&self) -> i32 {
        match self.what {
            Sight::SpelledOut(Via::Link) | Sight::Again => 1,
            // A list for machines is no page that links to it.
            Sight::SpelledOut(_) => 0,
            Sight::Gone => -1,
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

/// Walks through a packed row of findings without copying them: first the URLs spelled out, then the links to others,
/// then those that are gone.
pub(crate) fn each_found(row: &[u8], mut take: impl FnMut(Finding)) -> Result<usize> {
    let wrong = |why| Error::row("found", why);
    let (urls, mut rest): (u64, _) = postcard::take_from_bytes(content("found", row)?).map_err(wrong)?;
    for _ in 0..urls {
        let (found, after): (FoundRef<'_>, _) = postcard::take_from_bytes(rest).map_err(wrong)?;
        take(Finding { fingerprint: Fingerprint(xxh3_64(found.url.as_bytes())), what: Sight::SpelledOut(found.via) });
        rest = after;
    }
    let (again, mut rest): (u64, _) = postcard::take_from_bytes(rest).map_err(wrong)?;
    for _ in 0..again {
        let (fingerprint, after) = postcard::take_from_bytes(rest).map_err(wrong)?;
        take(Finding { fingerprint, what: Sight::Again });
        rest = after;
    }
    let (gone, mut rest): (u64, _) = postcard::take_from_bytes(rest).map_err(wrong)?;
    for _ in 0..gone {
        let (fingerprint, after) = postcard::take_from_bytes(rest).map_err(wrong)?;
        take(Finding { fingerprint, what: Sight::Gone });
        rest = after;
    }
    Ok((urls + again + gone) as usize)
}

/// One finding in a batch.
struct Sighting {
    key: Key,
    /// A seed comes before a URL spelled out, and that before a bare link.
    order: u8,
    /// What it adds to the back links.
    links: i8,
    /// Counted over the whole batch.
    ordinal: u32,
}

const SEED: u8 = 0;
const SPELLED_OUT: u8 = 1;
const BARE: u8 = 2;

/// Meets at most about `limit` found URLs with what is known: whole rows, in the order of their sequence, beginning
/// with the partition `from`. The second answer is the partition to begin with next time.
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
        if batch.sightings.len() >= limit {
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
    sieving.found = batch.sightings.len();
    let fresh = fresh(std::mem::take(&mut batch.sightings), known)?;
    batch.pick(fresh, &mut sieving.partitions)?;
    Ok((sieving, next_from))
}

#[derive(Default)]
struct Batch {
    /// Each row with its partition and how many findings it holds.
    rows: Vec<(Partition, u32, UserValue)>,
    sightings: Vec<Sighting>,
}

impl Batch {
    /// Takes the rows of one partition; answers with the last sequence taken and whether rows are left.
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
            if self.sightings.len() >= limit {
                return Ok(taken.map(|sequence| (sequence, true)));
            }
            let (key, row) = guard.into_inner().map_err(Error::tables("read what was found"))?;
            let sequence = keys::found_sequence(&key).ok_or_else(|| Error::row("found", "its key is too short"))?;
            let sightings = &mut self.sightings;
            let count = each_found(&row, |found| {
                let ordinal = sightings.len() as u32;
                let order = match found.what {
                    Sight::SpelledOut(Via::Seed) => SEED,
                    Sight::SpelledOut(_) => SPELLED_OUT,
                    Sight::Again | Sight::Gone => BARE,
                };
                let key = (partition, found.fingerprint);
                sightings.push(Sighting { key, order, links: found.back_links() as i8, ordinal });
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

/// The sightings that win, as (ordinal, back links), in the order in which they were found.
fn fresh(mut sightings: Vec<Sighting>, known: &super::KnownSet) -> Result<Vec<(u32, u32)>> {
    sightings.sort_unstable_by_key(|sighting| (sighting.key, sighting.order, sighting.ordinal));
    let mut probe = known.probe();
    let mut fresh = Vec::new();
    for group in sightings.chunk_by(|one, other| one.key == other.key) {
        let first = &group[0];
        if first.order == BARE {
            continue;
        }
        let record = probe.look_up(first.key)?;
        // A person's word lifts the bar: whoever gives a barred URL as a seed wants it asked.
        if record.is_some_and(|record| record.number != BARRED || first.order != SEED) {
            continue;
        }
        let before = record.map_or(0, |record| i64::from(record.back_links.cast_signed()));
        let links: i64 = group.iter().map(|sighting| i64::from(sighting.links)).sum();
        fresh.push((first.ordinal, u32::try_from(before + links).unwrap_or(0)));
    }
    fresh.sort_unstable();
    Ok(fresh)
}
