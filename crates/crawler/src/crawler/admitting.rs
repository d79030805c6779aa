//! How found URLs become waiting ones: the sieve tells the new from the known, the dispatcher and the trap book
//! decide, and the frontier's windows are fed from disk.

use vernal_frontier::{band, rank};
use vernal_model::{Admitted, Deed, Moment, Partition as PartitionId, Refusal, Span, Via, WaitingPlace};
use vernal_repository::{Candidate, PartitionSieving};

use super::{Crawler, places};
use crate::Result;

/// Found URLs that one pass of the sieve takes at most; it bounds the memory of a pass.
const SIEVE_URLS_MAX: usize = 200_000;
/// URLs that may be new are sieved so often, so that a site whose URLs are all new does not wait for others to pile up.
const SIEVE_EVERY: Span = Span::from_secs(30);
/// Links to known URLs are only to be counted. Fewer than this are worth a pass, which writes two groups of deeds, only after a
/// while: where time runs fast, half a minute goes by between any two visits.
const SIEVE_LINKS_MIN: u64 = 256;
const SIEVE_FEW_EVERY: Span = Span::from_secs(300);

impl Crawler {
    /// Keeps URLs within reach of the sites that can be asked.
    pub(super) fn feed_frontier(&mut self, now: Moment) -> Result<()> {
        if self.next_sieve().is_some_and(|next| next <= now) {
            self.sieve(now)?;
        }
        self.note_lively();
        for index in places(self.lively) {
            self.partitions[index].draw(&self.reader, &self.out, now)?;
        }
        Ok(())
    }

    /// When what was found is to pass the sieve; at once where nothing else is left to ask for.
    pub(super) fn next_sieve(&self) -> Option<Moment> {
        let pending = self.reader.totals().found_pending;
        if pending == 0 && !self.group.has_found {
            return None;
        }
        let runs_low = (self.waiting() as usize) < 2 * self.settings.concurrency;
        let may_be_new = self.spelled + self.group.spelled > 0;
        // Nothing waits for links to be counted but the end of a crawl that has one.
        let is_missed = may_be_new || (self.settings.once && self.in_flight.is_empty());
        if (runs_low && is_missed) || pending as usize >= SIEVE_URLS_MAX {
            return Some(self.sieved);
        }
        let few = !may_be_new && pending < SIEVE_LINKS_MIN;
        Some(self.sieved + if few { SIEVE_FEW_EVERY } else { SIEVE_EVERY })
    }

    fn sieve(&mut self, now: Moment) -> Result<()> {
        self.sieved = now;
        self.commit(now)?;
        let sieving = self.repository.sieve(SIEVE_URLS_MAX)?;
        for PartitionSieving { partition, through, fresh } in sieving.partitions {
            let (mut admitted, mut barred) = (Vec::new(), Vec::new());
            for candidate in fresh {
                match self.admit(partition, &candidate, now) {
                    Ok(row) => {
                        self.partition(partition).admitted(&row.place.site, row.place.band);
                        admitted.push(row);
                    }
                    Err(refusal) => {
                        let why = vernal_model::Outcome::Refused(refusal).detail();
                        barred.push((candidate.found.url, why.into()));
                    }
                }
            }
            self.group.push(partition, Deed::Sieved { through, admitted, barred });
        }
        self.commit(now)?;
        if self.reader.totals().found_pending == 0 {
            self.spelled = 0;
            self.signposts.all_sieved();
        }
        Ok(())
    }

    fn admit(&mut self, id: PartitionId, candidate: &Candidate, now: Moment) -> std::result::Result<Admitted, Refusal> {
        let found = &candidate.found;
        let site = found.url.site();
        let order = self.settings.visit_order;
        let partition = &mut self.partitions[usize::from(id.0)];
        // What a person gave as a seed is no trap.
        if found.via != Via::Seed
            && let Some(words) = partition.traps.suspects(&found.url, now)
        {
            return Err(Refusal::Trap(words));
        }
        self.dispatcher.admit(&found.url, found.depth)?;
        found.found_on.into_iter().for_each(|page| self.signposts.led_to_one(page));
        let number = partition.next_number;
        partition.next_number += 1;
        self.home.insert(site.clone(), id);
        let arrival = u64::from(number);
        let rank = rank(order, found.forward, candidate.back_links, found.depth, arrival);
        Ok(Admitted {
            number,
            url: found.url.clone(),
            via: found.via,
            depth: found.depth,
            found_on: found.found_on,
            moment: now,
            rank,
            place: WaitingPlace { site, band: band(rank), arrival },
        })
    }
}
