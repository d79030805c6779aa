//! Applies the decisions of the sieve: newly known URLs, and findings that are done.

use fjall::Slice;
use vernal_model::{Admitted, Deed, PageKey, Partition, Sequence};

use super::apply::Applying;
use super::keys;
use super::rows::encode_url;
use crate::sieve::{BARRED, FORGOTTEN, Update, each_found};
use crate::{Error, Result};

impl Applying<'_> {
    /// Merges all decisions of this group into the known set, in one pass, and removes what was forgotten.
    pub(super) fn sieved(&mut self, entries: &[(Partition, Sequence, &Deed)]) -> Result<()> {
        let mut updates = Vec::new();
        let mut decisions = Vec::new();
        for (partition, _, deed) in entries {
            if let Deed::Erased(erased) = deed {
                let key = (*partition, erased.fingerprint);
                updates.push(Update { key, decided: Some(FORGOTTEN), back_links: 0 });
            }
            let Deed::Sieved { through, admitted, barred } = deed else { continue };
            self.take_found(*partition, *through, &mut updates)?;
            for admitted in admitted {
                let key = (*partition, admitted.url.fingerprint());
                updates.push(Update { key, decided: Some(admitted.number), back_links: 0 });
                decisions.push((key, admitted.place.site.clone()));
                self.admit(*partition, admitted)?;
            }
            for (url, _) in barred {
                let key = (*partition, url.fingerprint());
                updates.push(Update { key, decided: Some(BARRED), back_links: 0 });
                decisions.push((key, url.site()));
            }
        }
        if updates.is_empty() {
            return Ok(());
        }
        let updates = folded(updates);
        let known = self.shared.live().known.clone();
        let (next, answers) = known.merge(&updates)?;
        self.obsolete.runs = known.obsolete_after(&next);
        (self.state.run_big, self.state.run_small) = next.generations();
        self.known = Some(next);
        for (key, site) in decisions {
            let Ok(place) = updates.binary_search_by_key(&key, |update| update.key) else { continue };
            self.count_decided(key.0, &site, answers[place], updates[place].decided == Some(BARRED));
        }
        Ok(())
    }

    /// Counts the links in the found rows that this deed covers, and marks those rows as obsolete.
    fn take_found(&mut self, partition: Partition, through: Sequence, updates: &mut Vec<Update>) -> Result<()> {
        let before = self.state.partition(partition).through;
        if through <= before {
            return Ok(());
        }
        let from = Sequence(before.0 + 1);
        let range = keys::found(partition, from)..=keys::found(partition, through);
        let mut count = 0;
        for guard in self.shared.tables.found.range(range) {
            let row = guard.value().map_err(Error::tables("read what was found"))?;
            count += each_found(&row, |found| {
                let key = (partition, found.fingerprint);
                updates.push(Update { key, decided: None, back_links: found.back_links() });
            })?;
        }
        let pending = &mut self.state.totals.found_pending;
        *pending = pending.saturating_sub(count as u64);
        self.state.partition_mut(partition).through = through;
        self.obsolete.found.push((partition, from, through));
        self.obsolete.findings += count;
        Ok(())
    }

    fn admit(&mut self, partition: Partition, admitted: &Admitted) -> Result<()> {
        let tables = &self.shared.tables;
        let page = PageKey::new(partition, admitted.number);
        let row = Slice::from(encode_url(admitted, self.rows.scratch())?);
        self.rows.insert(&tables.urls, page.bytes(), row);
        self.begins_to_wait(partition, &admitted.place, admitted.number)?;
        let place = self.state.partition_mut(partition);
        place.next_number = place.next_number.max(admitted.number.saturating_add(1));
        Ok(())
    }
}

/// Sorts updates and merges those with the same key: link counts are added, and a decision wins over none.
fn folded(mut updates: Vec<Update>) -> Vec<Update> {
    updates.sort_unstable_by_key(|update| (update.key, update.decided));
    updates.dedup_by(|next, kept| {
        let same = next.key == kept.key;
        if same {
            kept.back_links = kept.back_links.saturating_add(next.back_links);
            // A number is smaller than `BARRED`, so a URL that is both admitted and barred counts as admitted.
            kept.decided = kept.decided.or(next.decided);
        }
        same
    });
    updates
}
