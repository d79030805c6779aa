//! The state that all parts of the crawler share: the unit of work, the partitions, the scope, the sites, the budget,
//! and the orders under way. Each part owns its fields; this file holds only what needs several of them at once.

use std::sync::Arc;

use vernal_model::{
    BudgetUnit, Chance, Deed, Fingerprint, Found, Moment, PageKey, Partition as PartitionId, Site, SiteState, Span, Url,
};

use crate::Settings;
use crate::coordinator::Coordinator;
use crate::in_flight::InFlight;
use crate::intake::discovery::Recent;
use crate::partition::{Facts, Partition, Partitions, Sums};
use crate::scope::Scope;
use crate::sites::Sites;
use crate::sites::addresses::is_private;
use crate::work::Work;

pub(crate) struct Core {
    pub settings: Arc<Settings>,
    pub work: Work,
    pub partitions: Partitions,
    pub scope: Scope,
    pub sites: Sites,
    pub coordinator: Coordinator,
    pub in_flight: InFlight,
    /// URLs that were recently announced to the sieve.
    pub recent: Recent,
    /// Whether a site has nothing left to visit but URLs that wait for the sieve.
    pub site_ran_dry: bool,
    pub chance: Chance,
}

impl Core {
    /// Whether the page is being worked on: it is ordered, or its row is not committed yet.
    pub fn is_busy(&self, page: PageKey) -> bool {
        self.in_flight.has(page) || self.work.is_open(page)
    }

    /// Whether another page may be read for the first time.
    pub fn may_discover(&self) -> bool {
        self.may_discover_beside(self.partitions.held())
    }

    /// Whether another page may be read for the first time when this many pages are held.
    pub fn may_discover_beside(&self, held: u64) -> bool {
        held + self.in_flight.first_visits() < self.settings.pages_max
    }

    /// Whether the collection is full and a URL waits for room, or more pages are held than the limit allows.
    pub fn is_collection_full(&self) -> bool {
        let held = self.partitions.held();
        let known = self.work.acknowledged().totals().known;
        !self.may_discover_beside(held) && (known > held || held > self.settings.pages_max)
    }

    /// Announces one URL to the sieve.
    pub fn announce(&mut self, found: Found) {
        let id = self.partitions.home_of(&found.url);
        self.announce_all(id, vec![found], Vec::new());
    }

    /// Announces the URLs of one partition to the sieve, and links to URLs that were announced before.
    pub fn announce_all(&mut self, id: PartitionId, mut urls: Vec<Found>, again: Vec<Fingerprint>) {
        urls.retain(|found| self.scope.forgotten.entry_of(&found.url).is_none());
        if urls.is_empty() && again.is_empty() {
            return;
        }
        let partition = self.partitions.of(id);
        self.site_ran_dry |= urls.iter().any(|found| partition.has_run_dry(found.url.site_text()));
        self.work.push(id, Deed::Found { urls, again });
    }

    /// Whether there is a slot for a request to this site. If not, the site waits in line for one.
    pub fn has_slot(&mut self, site: &Site, id: PartitionId) -> bool {
        let pace = self.partitions.of(id).sites.site(site).map(|life| life.pace).unwrap_or_default();
        let has_room = self.sites.slots.room(pace.level()) > 0;
        if !has_room {
            self.partitions.of_mut(id).sites.politeness.park(site);
            self.sites.slots.wait(id, site.clone(), pace);
        }
        has_room
    }

    /// Lets as many sites leave the lines for slots as there is room for.
    pub fn call_up(&mut self) {
        for (id, site) in self.sites.slots.call_up() {
            let Partition { sites, waiting, .. } = self.partitions.of_mut(id);
            sites.politeness.unpark(&site);
            waiting.called(sites, &site);
        }
    }

    /// Journals the current state of a site.
    pub fn note_site(&mut self, site: &Site, id: PartitionId) {
        let profile = self.partitions.of_mut(id).sites.site_mut(site).profile.clone();
        self.work.push(id, Deed::SiteSeen(site.clone(), profile));
    }

    /// Sets the state of a site, here and in the journal; returns false if the site is not known.
    pub fn set_standing(&mut self, site: &Site, standing: SiteState) -> bool {
        let Some(id) = self.partitions.home_of_site(site) else { return false };
        self.partitions.of_mut(id).set_standing(site, standing);
        self.note_site(site, id);
        true
    }

    /// Journals what the policies remember of all sites.
    pub fn remember_sites(&mut self) {
        for id in (0..PartitionId::COUNT).map(PartitionId) {
            for number in 0..self.partitions.of(id).sites.len() as u32 {
                if self.partitions.of(id).sites.at(number).learned > 0 {
                    self.remember_site(id, number);
                }
            }
        }
    }

    /// Journals what the policy remembers of one site.
    pub fn remember_site(&mut self, id: PartitionId, number: u32) {
        let Partition { sites, refresh, .. } = self.partitions.of_mut(id);
        let life = sites.at_mut(number);
        life.learned = 0;
        let Some(state) = refresh.site_state(number) else { return };
        life.profile.policy = state.into();
        let site = life.site.clone();
        self.note_site(&site, id);
    }

    /// When the site's address may be asked, if not now.
    pub fn address_is_busy(&mut self, site: &Site, id: PartitionId, now: Moment) -> Option<Moment> {
        let life = self.partitions.of_mut(id).sites.site_mut(site);
        match self.sites.addresses.earliest(life.profile.address?, life.pace.is_slow()) {
            None => Some(now + Span::from_millis(50)),
            Some(at) if at > now => Some(at),
            Some(_) => None,
        }
    }

    /// Whether the site of this URL answered from a private address when it was asked last.
    pub fn is_private(&self, url: &Url) -> bool {
        let sites = &self.partitions.of(self.partitions.home_of(url)).sites;
        sites.site(&url.site()).and_then(|site| site.profile.address).is_some_and(is_private)
    }

    /// The mean number of bytes per request so far.
    pub fn mean_visit_bytes(&self) -> f64 {
        let (visits, wire_bytes) = self.work.requests();
        wire_bytes as f64 / visits.max(1) as f64
    }

    /// Visits to held pages that the budget pays for.
    pub fn refresh_per_day(&self, Sums { held, waiting }: Sums) -> f64 {
        let counts_bytes = self.settings.budget.unit == BudgetUnit::WireBytes;
        let mean_bytes = if counts_bytes { self.mean_visit_bytes() } else { 0.0 };
        self.coordinator.refresh_per_day(waiting, held, mean_bytes)
    }

    /// The numbers that are the same for every partition. A caller that asks all partitions sums them up once.
    pub fn all_facts(&self, left: usize, sums: Sums) -> AllFacts {
        let held = sums.held;
        let per_day = self.refresh_per_day(sums);
        // A process that ends when nothing is due visits a page only when the budget would have reached it. A process
        // that runs for ever spends its budget as it accrues, on the pages that come next.
        let turn = Span::from_secs_f64(held as f64 / per_day.max(f64::MIN_POSITIVE) * 86_400.0);
        let refresh_min = self.settings.refresh_min;
        AllFacts(Facts {
            visits_left: left,
            refresh_min: if self.settings.once { refresh_min.max(turn) } else { refresh_min },
            held,
            any_site: false,
            per_day,
            mean_rate: self.partitions.mean_rate(),
            counts_bytes: self.settings.budget.unit == BudgetUnit::WireBytes,
            may_abandon: self.settings.abandon,
        })
    }
}

/// What the policies of all partitions can see.
#[derive(Copy, Clone)]
pub(crate) struct AllFacts(Facts);

impl AllFacts {
    /// The part of one partition, whose share of the visits equals its share of the held pages.
    pub fn of(self, partition: &Partition) -> Facts {
        let AllFacts(all) = self;
        let per_day = if all.held == 0 { 0.0 } else { all.per_day * partition.held as f64 / all.held as f64 };
        Facts { held: partition.held, per_day, ..all }
    }
}
