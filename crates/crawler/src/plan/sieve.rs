//! Turns found URLs into waiting ones: the sieve separates new URLs from known ones, the scope and the trap book decide
//! on admission, and the windows of the partitions are filled from disk.

use vernal_frontier::{band, rank};
use vernal_model::{Admitted, Deed, Moment, Outcome, Partition as PartitionId, Refusal, Span, Via, WaitingPlace};
use vernal_repository::{Candidate, PartitionSieving};

use super::Planner;
use crate::Result;
use crate::core::Core;
use crate::partition::{Partition, bits};

/// Found URLs that one run of the sieve takes at most; bounds its memory.
const SIEVE_URLS_MAX: usize = 200_000;
/// How often URLs that may be new are sieved, so that a site whose URLs are all new does not wait for more to
/// accumulate.
const SIEVE_EVERY: Span = Span::from_secs(30);
/// Links to known URLs only need counting. Fewer than this are worth a run, which writes two groups of deeds, only
/// after a longer wait: where time runs fast, half a minute passes between any two visits.
const SIEVE_LINKS_MIN: u64 = 256;
const SIEVE_FEW_EVERY: Span = Span::from_secs(300);
/// One run compares with every known URL, so the shortest time between two runs grows with their number. It keeps the
/// sieve below a hundredth of a core.
const SIEVE_SPAN_PER_KNOWN: Span = Span::from_micros(4);

/// When the sieve ran last.
pub(crate) struct Sieve {
    ran: Moment,
}

impl Default for Sieve {
    fn default() -> Self {
        Sieve { ran: Moment::EPOCH }
    }
}

impl Sieve {
    /// When the sieve should run next: at once where few other URLs are left to visit, and soon where a site has nothing
    /// else to visit, however many URLs of other sites wait.
    pub fn next(&self, core: &Core) -> Option<Moment> {
        let found = core.work.found();
        if found == 0 {
            return None;
        }
        let runs_low = (core.partitions.waiting() as usize) < 2 * core.settings.concurrency;
        let may_be_new = core.work.new_urls() > 0;
        // Only the end of a crawl with `once` waits for links to be counted.
        let is_missed = may_be_new || (core.settings.once && core.in_flight.is_empty());
        if (runs_low && is_missed) || found as usize >= SIEVE_URLS_MAX {
            return Some(self.ran);
        }
        let few = !may_be_new && found < SIEVE_LINKS_MIN;
        let usual = if few { SIEVE_FEW_EVERY } else { SIEVE_EVERY };
        let soon = SIEVE_SPAN_PER_KNOWN.scaled(core.work.acknowledged().totals().known as f64);
        Some(self.ran + if core.site_ran_dry { usual.min(soon) } else { usual })
    }
}

impl Planner {
    /// Runs the sieve on the found URLs. Everything must be committed before, and the decisions must be committed
    /// after.
    pub fn sieve(&mut self, core: &mut Core, now: Moment) -> Result<()> {
        self.sieve.ran = now;
        core.site_ran_dry = false;
        for PartitionSieving { partition, through, fresh } in core.work.sieve(SIEVE_URLS_MAX)?.partitions {
            let (mut admitted, mut barred) = (Vec::new(), Vec::new());
            for candidate in fresh {
                match self.admit(core, partition, &candidate, now) {
                    Ok(row) => {
                        let Partition { waiting, sites, .. } = core.partitions.of_mut(partition);
                        waiting.admitted(sites, &row.place.site, row.place.band);
                        admitted.push(row);
                    }
                    // It stays unknown, so that it may come once the entry of the ledger is taken back.
                    Err(Refusal::Forgotten(_)) => {}
                    Err(refusal) => {
                        let why = Outcome::Refused(refusal).detail();
                        barred.push((candidate.found.url, why.into()));
                    }
                }
            }
            tracing::debug!(partition = partition.0, admitted = admitted.len(), barred = barred.len(), "URLs sieved");
            core.work.push(partition, Deed::Sieved { through, admitted, barred });
        }
        Ok(())
    }

    /// Handles the commit of the sieve's decisions.
    pub fn sieved(&mut self, core: &mut Core) {
        if core.work.sieved() {
            self.discovery_pages.all_sieved();
        }
    }

    fn admit(
        &mut self,
        core: &mut Core,
        id: PartitionId,
        candidate: &Candidate,
        now: Moment,
    ) -> std::result::Result<Admitted, Refusal> {
        let found = &candidate.found;
        let site = found.url.site();
        let partition = core.partitions.of_mut(id);
        // A URL that a person gave as a seed is no trap.
        if found.via != Via::Seed
            && let Some(words) = partition.sites.traps.suspects(&found.url, now)
        {
            return Err(Refusal::Trap(words));
        }
        match found.via {
            Via::Requisite => core.scope.admit_requisite(&found.url)?,
            _ => core.scope.admit(&found.url, found.depth)?,
        }
        // A page that uses a new image leads to no new page.
        let led_from = found.found_on.filter(|_| found.via != Via::Requisite);
        led_from.into_iter().for_each(|page| self.discovery_pages.led_to_one(page));
        let number = partition.number_page();
        core.partitions.settle(&site, id);
        let arrival = u64::from(number);
        let rank = rank(core.settings.visit_order, found.forward, candidate.back_links, found.depth, arrival);
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

/// Fills the windows with URLs of the sites that can be asked.
pub(crate) fn draw(core: &mut Core, now: Moment) -> Result<()> {
    core.partitions.note_active();
    for index in bits(core.partitions.active_bits()) {
        let (in_flight, work) = (&core.in_flight, &core.work);
        let is_busy = |page| in_flight.has(page) || work.is_open(page);
        let Partition { id, waiting, sites, .. } = core.partitions.at_mut(index);
        waiting.draw(*id, sites, work.acknowledged(), &is_busy, now)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use vernal_model::{Fingerprint, Found};

    use super::*;
    use crate::Settings;
    use crate::testing::{Bench, START, after, held, unhindered, url};

    fn found(core: &mut Core, urls: u32, again: u32) {
        let found = |number| Found {
            url: url(&format!("http://a.example/{number}")),
            via: Via::Link,
            depth: 1,
            found_on: None,
            forward: 0,
        };
        let again = (0..again).map(|number| Fingerprint(number.into())).collect();
        let deed = Deed::Found { urls: (0..urls).map(found).collect(), again };
        core.work.push(url("http://a.example/").partition(), deed);
    }

    #[test]
    fn new_urls_pass_at_once_where_little_waits_and_soon_where_much_does() {
        let mut bench = Bench::new(Settings { concurrency: 2, ..unhindered() });
        let (sieve, core) = (Sieve { ran: START }, &mut bench.crawler.core);
        assert_eq!(sieve.next(core), None, "nothing was found");
        found(core, 1, 0);
        assert_eq!(sieve.next(core), Some(START));
        let page = held("http://a.example/", 0);
        let site = core.partitions.of_mut(page.key.partition).sites.number(&page.url.site());
        core.partitions.of_mut(page.key.partition).waiting.recall(site, 4);
        core.partitions.note_active();
        assert_eq!(sieve.next(core), Some(START + SIEVE_EVERY));
    }

    #[test]
    fn a_site_with_nothing_else_to_visit_waits_for_no_other_site() {
        let mut bench = Bench::new(Settings { concurrency: 2, ..unhindered() });
        let (sieve, core) = (Sieve { ran: START }, &mut bench.crawler.core);
        let busy = held("http://a.example/", 0);
        let site = core.partitions.of_mut(busy.key.partition).sites.number(&busy.url.site());
        core.partitions.of_mut(busy.key.partition).waiting.recall(site, 300);
        core.partitions.of_mut(busy.key.partition).sites.at_mut(site).undrawn = 300;
        core.partitions.note_active();
        let link = |text: &str| Found { url: url(text), via: Via::Link, depth: 1, found_on: None, forward: 0 };
        core.announce(link("http://a.example/1"));
        assert_eq!(sieve.next(core), Some(START + SIEVE_EVERY), "this site has enough to do");
        core.announce(link("http://b.example/1"));
        let known = core.work.acknowledged().totals().known as f64;
        assert_eq!(sieve.next(core), Some(START + SIEVE_SPAN_PER_KNOWN.scaled(known)));
    }

    #[test]
    fn links_to_known_urls_wait_for_others_to_pile_up() {
        let mut bench = Bench::new(unhindered());
        let (sieve, core) = (Sieve { ran: START }, &mut bench.crawler.core);
        found(core, 0, 1);
        assert_eq!(sieve.next(core), Some(START + SIEVE_FEW_EVERY));
        found(core, 0, SIEVE_LINKS_MIN as u32);
        assert_eq!(sieve.next(core), Some(START + SIEVE_EVERY));
        found(core, 0, SIEVE_URLS_MAX as u32);
        assert_eq!(sieve.next(core), Some(START), "the memory of a pass is bounded");
    }

    #[test]
    fn a_crawl_that_ends_waits_for_no_links() {
        let mut bench = Bench::new(Settings { once: true, ..unhindered() });
        let (sieve, core) = (Sieve { ran: START }, &mut bench.crawler.core);
        found(core, 0, 1);
        assert_eq!(sieve.next(core), Some(START));
    }

    #[test]
    fn a_url_is_admitted_once_and_what_lies_outside_is_barred() {
        let mut bench = Bench::seeded(unhindered(), &["http://a.example/"]);
        let (core, plan) = (&mut bench.crawler.core, &mut bench.crawler.plan);
        for text in ["http://a.example/1", "http://a.example/1", "http://b.example/"] {
            core.announce(Found { url: url(text), via: Via::Link, depth: 1, found_on: None, forward: 0 });
        }
        core.work.commit(START).unwrap();
        plan.sieve(core, after(1)).unwrap();
        core.work.commit(after(1)).unwrap();
        plan.sieved(core);
        core.partitions.note_active();
        let known = |text: &str| core.work.key_of(&url(text)).unwrap();
        assert_eq!(core.partitions.waiting(), 2, "the seed and the link");
        assert!(known("http://a.example/1").is_some_and(|known| known.key.is_some() && known.back_links == 2));
        assert!(known("http://b.example/").is_some_and(|known| known.key.is_none()));
        assert_eq!((core.work.found(), core.work.new_urls()), (0, 0));
        core.announce(Found { url: url("http://a.example/1"), via: Via::Link, depth: 1, found_on: None, forward: 0 });
        core.work.commit(after(2)).unwrap();
        plan.sieve(core, after(2)).unwrap();
        core.work.commit(after(2)).unwrap();
        assert_eq!(core.partitions.waiting(), 2, "it is known");
    }

    #[test]
    fn urls_deeper_than_their_seed_may_lead_are_barred() {
        let mut bench = Bench::seeded(Settings { depth: Some(2), ..unhindered() }, &["http://a.example/"]);
        let (core, plan) = (&mut bench.crawler.core, &mut bench.crawler.plan);
        for depth in 1..5 {
            let url = url(&format!("http://a.example/{depth}"));
            core.announce(Found { url, via: Via::Link, depth, found_on: None, forward: 0 });
        }
        core.work.commit(START).unwrap();
        plan.sieve(core, after(1)).unwrap();
        core.partitions.note_active();
        assert_eq!(core.partitions.waiting(), 3, "the seed, and two levels below it");
    }
}
