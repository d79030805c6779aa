//! Merges the decisions of the sieve into the next generation of the known set, in one pass over sorted records.

use std::sync::Arc;

use super::known::{KnownSet, Resolved, Update, both};
use super::run::{END, KnownRecord, Ordinal, RECORD_BYTES, Run, Stream, ordinal};
use super::run_writer::RunWriter;
use crate::{Error, Result};

/// The small run stays below one in so many records of the big one.
const SMALL_PART: u64 = 8;

impl KnownSet {
    /// Writes the next generation. `updates` are sorted, each key once. The results are in the same order.
    pub fn merge(&self, updates: &[Update]) -> Result<(KnownSet, Vec<Resolved>)> {
        let mut answers = Vec::with_capacity(updates.len());
        let mut news = Vec::with_capacity(updates.len());
        let mut probe = self.probe();
        for update in updates {
            let (resolved, number) = probe.resolve(update)?;
            answers.push(resolved);
            let changes_nothing = resolved == Resolved::Known && update.back_links == 0;
            if resolved != Resolved::Undecided && !changes_nothing {
                news.push(KnownRecord { key: update.key, number, back_links: update.back_links.cast_unsigned() });
            }
        }
        if news.is_empty() {
            return Ok((self.clone(), answers));
        }
        Ok((self.with(&news, false)?, answers))
    }

    /// The same set in one run.
    pub fn in_one_run(&self) -> Result<KnownSet> {
        if self.small.is_none() { Ok(self.clone()) } else { self.with(&[], true) }
    }

    /// Every known URL in the order of the keys, and those that were forgotten, whose links are still counted.
    pub fn each(&self, take: &mut dyn FnMut(KnownRecord) -> Result<()>) -> Result<()> {
        Sources {
            big: Peeked::new(self.big.as_deref().map(Run::stream))?,
            small: Peeked::new(self.small.as_deref().map(Run::stream))?,
            news: &[],
        }
        .each(take)
    }

    /// A known set of exactly these records, or, where there are `more`, of these behind those that it has.
    pub fn restated(&self, records: &[u8], more: bool) -> Result<KnownSet> {
        let (records, rest) = records.as_chunks::<RECORD_BYTES>();
        let records: Vec<KnownRecord> = records.iter().map(KnownRecord::from_bytes).collect();
        if !rest.is_empty() || !records.is_sorted_by_key(|record| record.key) {
            return Err(Error::row("journal", "the records of known URLs are not whole or not in order"));
        }
        if more {
            return self.with(&records, false);
        }
        let folder = self.folder.clone();
        if records.is_empty() {
            return Ok(KnownSet { folder, big: None, small: None });
        }
        let (big, small) = self.generations();
        let mut out = RunWriter::new(&self.folder, big.max(small) + 1, records.len() as u64)?;
        records.iter().try_for_each(|record| out.push(record))?;
        Ok(KnownSet { folder, big: Some(Arc::new(out.finish()?)), small: None })
    }

    fn with(&self, news: &[KnownRecord], in_one: bool) -> Result<KnownSet> {
        let (big, small) = self.generations();
        let generation = big.max(small) + 1;
        let count = |run: &Option<Arc<Run>>| run.as_ref().map_or(0, |run| run.count);
        let small_count = count(&self.small) + news.len() as u64;
        let fits_small = !in_one && small_count.saturating_mul(SMALL_PART) <= count(&self.big);
        let older = self.big.as_deref().filter(|_| !fits_small);
        let sources = Sources {
            big: Peeked::new(older.map(Run::stream))?,
            small: Peeked::new(self.small.as_deref().map(Run::stream))?,
            news,
        };
        let records_max = small_count + older.map_or(0, |run| run.count);
        let mut out = RunWriter::new(&self.folder, generation, records_max)?;
        sources.write(&mut out)?;
        let run = Some(Arc::new(out.finish()?));
        let folder = self.folder.clone();
        Ok(match fits_small {
            true => KnownSet { folder, big: self.big.clone(), small: run },
            false => KnownSet { folder, big: run, small: None },
        })
    }
}

/// Up to three sorted sources, oldest first.
struct Sources<'a> {
    big: Peeked<'a>,
    small: Peeked<'a>,
    news: &'a [KnownRecord],
}

impl Sources<'_> {
    fn each(mut self, take: &mut dyn FnMut(KnownRecord) -> Result<()>) -> Result<()> {
        while let Some(record) = self.next()? {
            take(record)?;
        }
        Ok(())
    }

    /// Records between two keys of the other sources are copied without comparing each.
    fn write(mut self, out: &mut RunWriter) -> Result<()> {
        loop {
            let [big, small, news] = self.keys();
            if big < small.min(news) {
                self.big.pass_below(small.min(news), out)?;
            } else if small < big.min(news) {
                self.small.pass_below(big.min(news), out)?;
            } else if news < big.min(small) {
                self.pass_news_below(big.min(small), out)?;
            } else {
                // Two sources have this key, or all have ended.
                let Some(record) = self.next()? else { return Ok(()) };
                out.push(&record)?;
            }
        }
    }

    fn pass_news_below(&mut self, limit: Ordinal, out: &mut RunWriter) -> Result<()> {
        while let [record, rest @ ..] = self.news
            && ordinal(record.key) < limit
        {
            out.push(record)?;
            self.news = rest;
        }
        Ok(())
    }

    /// Merges the records of the least key from all sources.
    fn next(&mut self) -> Result<Option<KnownRecord>> {
        let keys = self.keys();
        let least = keys[0].min(keys[1]).min(keys[2]);
        if least == END {
            return Ok(None);
        }
        let [mut big, mut small, mut news] = [None; 3];
        if keys[0] == least {
            big = self.big.take()?;
        }
        if keys[1] == least {
            small = self.small.take()?;
        }
        if keys[2] == least {
            news = self.news.split_off_first().copied();
        }
        Ok(both(both(big, small), news))
    }

    fn keys(&self) -> [Ordinal; 3] {
        let news = self.news.first().map_or(END, |record| ordinal(record.key));
        [self.big.key(), self.small.key(), news]
    }
}

/// A stream with its next record peeked.
struct Peeked<'a> {
    stream: Option<Stream<'a>>,
    head: Option<KnownRecord>,
}

impl<'a> Peeked<'a> {
    fn new(stream: Option<Stream<'a>>) -> Result<Peeked<'a>> {
        let mut peeked = Peeked { stream, head: None };
        peeked.take()?;
        Ok(peeked)
    }

    fn key(&self) -> Ordinal {
        self.head.map_or(END, |record| ordinal(record.key))
    }

    /// Writes all records below `limit` to `out`. The next record is below it.
    fn pass_below(&mut self, limit: Ordinal, out: &mut RunWriter) -> Result<()> {
        if let (Some(head), Some(stream)) = (self.head, &mut self.stream) {
            out.push(&head)?;
            self.head = stream.pass_below(limit, out)?;
        }
        Ok(())
    }

    fn take(&mut self) -> Result<Option<KnownRecord>> {
        let next = match &mut self.stream {
            Some(stream) => stream.next()?,
            None => None,
        };
        Ok(std::mem::replace(&mut self.head, next))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use vernal_model::{Chance, Fingerprint, Partition};

    use super::*;
    use crate::sieve::run::{BARRED, FORGOTTEN};

    #[test]
    fn many_batches_make_the_same_set_as_a_plain_map() {
        let dir = tempfile::tempdir().unwrap();
        let mut known = KnownSet::open(dir.path(), 0, 0).unwrap();
        let mut map: BTreeMap<_, (u32, u32)> = BTreeMap::new();
        let mut chance = Chance::new(11);
        let (mut number, mut small_seen) = (0, false);
        for _ in 0..120 {
            let mut batch: BTreeMap<_, Update> = BTreeMap::new();
            for _ in 0..chance.below(60) {
                let key = (Partition(chance.below(3) as u8), Fingerprint(chance.below(3_000)));
                let decided = match map.get(&key) {
                    Some((BARRED | FORGOTTEN, _)) if chance.happens(0.3) => Some(0),
                    Some((number, _)) if *number != FORGOTTEN && chance.happens(0.1) => Some(FORGOTTEN),
                    Some(_) => None,
                    None => Some(if chance.happens(0.2) { BARRED } else { 0 }).filter(|_| chance.happens(0.9)),
                };
                let decided = decided.map(|decided| {
                    if decided == BARRED || decided == FORGOTTEN {
                        decided
                    } else {
                        number += 1;
                        number
                    }
                });
                let links = map.get(&key).map_or(0, |known| known.1);
                let back_links = chance.below(u64::from(links.min(3)) + 4) as i32 - links.min(3) as i32;
                batch.insert(key, Update { key, decided, back_links });
            }
            let updates: Vec<Update> = batch.into_values().collect();
            let (next, answers) = known.merge(&updates).unwrap();
            for (update, answer) in updates.iter().zip(answers) {
                let expected = match (map.get(&update.key).map(|known| known.0), update.decided) {
                    (None, None) => Resolved::Undecided,
                    (None | Some(FORGOTTEN), Some(_)) => Resolved::New,
                    (Some(_), Some(FORGOTTEN)) => Resolved::Forgotten,
                    (Some(BARRED), Some(_)) => Resolved::Readmitted,
                    _ => Resolved::Known,
                };
                assert_eq!(answer, expected);
                if answer != Resolved::Undecided {
                    let row = map.entry(update.key).or_insert((BARRED, 0));
                    row.0 = update.decided.unwrap_or(row.0);
                    row.1 = row.1.strict_add_signed(update.back_links);
                }
            }
            known = next;
            let (big, small) = known.generations();
            small_seen |= small != 0;
            let reopened = KnownSet::open(dir.path(), big, small).unwrap();
            for (key, (number, back_links)) in &map {
                let record = reopened.look_up(key.0, key.1).unwrap();
                assert_eq!(record, Some(KnownRecord { key: *key, number: *number, back_links: *back_links }));
            }
        }
        assert!(small_seen, "both levels were in use");
    }
    #[test]
    #[ignore = "takes a minute and only prints figures"]
    fn figures_of_a_merge_with_ten_million_known() {
        let dir = tempfile::tempdir().unwrap();
        let key = |n: u64| (Partition((n / 156_250) as u8), Fingerprint((n % 156_250) << 40));
        let mut out = RunWriter::new(dir.path(), 1, 10_000_000).unwrap();
        for n in 0..10_000_000 {
            out.push(&KnownRecord { key: key(n), number: n as u32, back_links: 1 }).unwrap();
        }
        out.finish().unwrap();
        let mut known = KnownSet::open(dir.path(), 1, 0).unwrap();
        let mut chance = Chance::new(5);
        for _ in 0..4 {
            let mut updates: Vec<Update> = (0..500_000)
                .map(|n| {
                    let (partition, fingerprint) = key(chance.below(10_000_000));
                    let is_new = n % 2 == 0;
                    let fingerprint = Fingerprint(fingerprint.0 + u64::from(is_new) * (1 + chance.below(1 << 39)));
                    Update { key: (partition, fingerprint), decided: is_new.then_some(n), back_links: 1 }
                })
                .collect();
            updates.sort_by_key(|update| update.key);
            updates.dedup_by_key(|update| update.key);
            let begun = cpu_us();
            let mut probe = known.probe();
            let met = updates.iter().filter(|update| probe.look_up(update.key).unwrap().is_some()).count();
            let probed = cpu_us();
            known = known.merge(&updates).unwrap().0;
            println!(
                "{met} of {} met in {} ms, merged in {} ms of CPU, runs {:?}",
                updates.len(),
                (probed - begun) / 1_000,
                (cpu_us() - probed) / 1_000,
                known.generations()
            );
        }
    }

    /// What this thread has used, in microseconds.
    fn cpu_us() -> u64 {
        let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
        text.split_whitespace().next().and_then(|ns| ns.parse::<u64>().ok()).unwrap_or(0) / 1_000
    }
}
