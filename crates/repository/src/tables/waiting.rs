//! The waiting URLs of a site, packed: one row for a band and a range of arrivals. With one row per URL, the store merged the
//! rows repeatedly, more and more as a crawl went on.
//!
//! ```text
//! row:    format u8 (3) | entry | …, in the order of their arrivals
//! entry:  arrival behind the row's first u8 | number less arrival, zigzag varint: nothing for almost all
//! ```
//!
//! Entries are added and removed by arrival, so applying a group twice gives the same rows.

use std::collections::hash_map::Entry;

use foldhash::HashMap;
use vernal_model::{Partition, WaitingPlace};

use super::apply::Applying;
use super::table::Table;
use super::{Tables, keys};
use crate::encoding::append;
use crate::{Error, Result};

/// So many arrivals share a row, for each band of each site. Removing one URL rewrites a row of this size.
pub(crate) const ARRIVALS_PER_ROW: u64 = 128;
/// The format byte of each row. In earlier formats each URL had its own row.
const FORMAT: u8 = 3;

/// The rows that a group changes, by key.
pub(super) type WaitingRows = HashMap<Vec<u8>, WaitingRow>;

#[derive(Debug, Default, PartialEq)]
pub(crate) struct WaitingRow {
    /// Distance from the first arrival of the row, and page number.
    entries: Vec<(u8, u32)>,
}

impl WaitingRow {
    pub fn decode(key: &[u8], bytes: &[u8]) -> Result<WaitingRow> {
        let mut rest = match bytes.split_first() {
            Some((&FORMAT, rest)) => rest,
            Some((other, _)) => return Err(Error::row("waiting", format!("format {other} is not {FORMAT}"))),
            None => return Err(Error::row("waiting", "it is empty")),
        };
        let first = first_arrival(key)?;
        let mut entries = Vec::with_capacity(rest.len() / 2);
        while !rest.is_empty() {
            let wrong = |why| Error::row("waiting", why);
            let ((behind, less), after): ((u8, i64), _) = postcard::take_from_bytes(rest).map_err(wrong)?;
            if u64::from(behind) >= ARRIVALS_PER_ROW {
                return Err(Error::row("waiting", "an arrival lies behind its end"));
            }
            entries.push((behind, (first + u64::from(behind)).wrapping_add_signed(less) as u32));
            rest = after;
        }
        Ok(WaitingRow { entries })
    }

    fn encode<'s>(&self, key: &[u8], scratch: &'s mut Vec<u8>) -> Result<&'s [u8]> {
        let first = first_arrival(key)?;
        scratch.clear();
        scratch.push(FORMAT);
        for (behind, number) in &self.entries {
            let less = u64::from(*number).wrapping_sub(first + u64::from(*behind)).cast_signed();
            append(scratch, &(behind, less)).map_err(|why| Error::row("waiting", why))?;
        }
        Ok(scratch)
    }

    /// Arrivals and numbers, in the order of arrivals.
    pub fn entries(&self, key: &[u8]) -> Result<impl Iterator<Item = (u64, u32)>> {
        let first = first_arrival(key)?;
        Ok(self.entries.iter().map(move |(behind, number)| (first + u64::from(*behind), *number)))
    }

    fn put(&mut self, arrival: u64, number: u32) {
        match self.place(arrival) {
            Ok(place) => self.entries[place].1 = number,
            Err(place) => self.entries.insert(place, (behind(arrival), number)),
        }
    }

    fn take(&mut self, arrival: u64) {
        if let Ok(place) = self.place(arrival) {
            self.entries.remove(place);
        }
    }

    fn place(&self, arrival: u64) -> std::result::Result<usize, usize> {
        self.entries.binary_search_by_key(&behind(arrival), |(behind, _)| *behind)
    }
}

fn behind(arrival: u64) -> u8 {
    (arrival % ARRIVALS_PER_ROW) as u8
}

fn first_arrival(key: &[u8]) -> Result<u64> {
    let first = key.last_chunk::<8>().map(|first| u64::from_be_bytes(*first));
    let first = first.filter(|first| first.is_multiple_of(ARRIVALS_PER_ROW));
    first.ok_or_else(|| Error::row("waiting", "its key is not that of a row"))
}

impl Tables {
    /// Fails for rows of earlier formats, which held one URL each. Then the tables are rebuilt. All rows have the same format, so
    /// one is checked.
    pub fn check_waiting(&self) -> Result<()> {
        let Some(last) = self.waiting.iter().next_back() else { return Ok(()) };
        let (key, row) = last.into_inner().map_err(Error::tables("read what waits"))?;
        WaitingRow::decode(&key, &row).map(drop)
    }
}

impl Applying<'_> {
    pub(super) fn begins_to_wait(&mut self, partition: Partition, place: &WaitingPlace, number: u32) -> Result<()> {
        self.waiting_row(partition, place)?.put(place.arrival, number);
        Ok(())
    }

    pub(super) fn waits_no_more(&mut self, partition: Partition, place: &WaitingPlace) -> Result<()> {
        self.waiting_row(partition, place)?.take(place.arrival);
        Ok(())
    }

    /// The row with the changes of this group so far.
    fn waiting_row(&mut self, partition: Partition, place: &WaitingPlace) -> Result<&mut WaitingRow> {
        let key = keys::waiting(partition, place);
        match self.waiting.entry(key) {
            Entry::Occupied(row) => Ok(row.into_mut()),
            Entry::Vacant(vacant) => {
                let row = read(&self.shared.tables.waiting, vacant.key())?;
                Ok(vacant.insert(row))
            }
        }
    }

    pub(super) fn write_waiting(&mut self) -> Result<()> {
        let table = &self.shared.tables.waiting;
        let mut rows: Vec<_> = std::mem::take(&mut self.waiting).into_iter().collect();
        rows.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
        for (key, row) in rows {
            if row.entries.is_empty() {
                self.rows.remove(table, key);
                continue;
            }
            let bytes = fjall::Slice::from(row.encode(&key, self.rows.scratch())?);
            self.rows.insert(table, key, bytes);
        }
        Ok(())
    }
}

fn read(table: &Table, key: &[u8]) -> Result<WaitingRow> {
    let row = table.get(key).map_err(Error::tables("read what waits"))?;
    row.map_or_else(|| Ok(WaitingRow::default()), |bytes| WaitingRow::decode(key, &bytes))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;
    use vernal_model::{Admitted, Deed, Moment, Sequence, Url, Via};

    use super::*;
    use crate::{Repository, Settings};

    #[test]
    fn a_thousand_that_wait_at_a_site_share_a_few_rows() {
        let dir = tempfile::tempdir().unwrap();
        let mut repository = Repository::open(dir.path(), Settings::default(), Moment::EPOCH).unwrap().0;
        let url = |number: u32| Url::parse(&format!("http://example.org/{number}")).unwrap();
        let (partition, site) = (url(0).partition(), url(0).site());
        let admitted = |number: u32| Admitted {
            number,
            url: url(number),
            via: Via::Link,
            depth: 1,
            found_on: None,
            moment: Moment::EPOCH,
            rank: 0,
            place: WaitingPlace { site: site.clone(), band: (number % 2) as u8, arrival: number.into() },
        };
        // In groups that end within a row.
        for group in [0..300, 300..1_000] {
            let admitted = group.map(admitted).collect();
            let sieved = Deed::Sieved { through: Sequence(0), admitted, barred: Vec::new() };
            repository.commit(&[(partition, sieved)], Moment::EPOCH).unwrap();
        }
        let reader = repository.reader();
        assert_eq!(reader.shared.tables.waiting.iter().count(), 2 * 8);
        let waiting = reader.waiting(partition, &site, None, usize::MAX).unwrap();
        let numbers: Vec<u32> = waiting.iter().map(|row| row.page.number).collect();
        assert_eq!(numbers, (0..1_000).step_by(2).chain((1..1_000).step_by(2)).collect::<Vec<u32>>());
    }

    proptest! {
        #[test]
        fn a_row_holds_what_was_put_and_not_taken_in_the_order_of_arrivals(
            first in (0..u64::MAX / ARRIVALS_PER_ROW).prop_map(|row| row * ARRIVALS_PER_ROW),
            acts in prop::collection::vec((0..ARRIVALS_PER_ROW, any::<Option<u32>>()), 0..300),
        ) {
            let (key, mut scratch) = (first.to_be_bytes(), Vec::new());
            let (mut row, mut plain) = (WaitingRow::default(), BTreeMap::new());
            for (behind, number) in acts {
                let arrival = first + behind;
                match number {
                    Some(number) => {
                        row.put(arrival, number);
                        plain.insert(arrival, number);
                    }
                    None => {
                        row.take(arrival);
                        plain.remove(&arrival);
                    }
                }
                let bytes = row.encode(&key, &mut scratch).unwrap();
                row = WaitingRow::decode(&key, bytes).unwrap();
            }
            prop_assert_eq!(row.entries(&key).unwrap().collect::<Vec<_>>(), plain.into_iter().collect::<Vec<_>>());
        }
    }
}
