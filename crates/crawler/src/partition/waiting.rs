//! URLs that wait for their first visit: how they move from disk into the window of a partition, and out of it.

use std::collections::BTreeSet;

use foldhash::{HashSet, HashSetExt};
use vernal_frontier::{Frontier, FrontierLimits, VisitOrder, Waiting};
use vernal_model::{Moment, PageKey, Partition as PartitionId, Site, Span, WaitingPlace};
use vernal_repository::{Reader, UrlRow};

use super::{SiteBook, SiteLife};
use crate::Result;

/// The window of one partition. With 64 partitions, this bounds the URLs in memory to 128 Ki.
const WINDOW: FrontierLimits = FrontierLimits { window_max: 2_048, per_site_max: 256 };
/// A site draws more from disk when fewer than this of its URLs are in the window.
const SITE_WINDOW_LOW: usize = 64;
/// A site that cannot be asked for longer than this gives its part of a full window to other sites.
const AWAY_MIN: Span = Span::from_secs(10);
/// The shortest time between two searches of a full window for such sites.
const LOOK_THROUGH_EVERY: Span = Span::from_secs(1);

pub(crate) struct WaitingUrls {
    pub window: Frontier,
    /// Sites whose part of the window runs low while more of their URLs wait on disk.
    low: BTreeSet<u32>,
    /// Sites that cannot be asked for a while and were removed from the window, by the Moment at which they come back.
    away: BTreeSet<(Moment, u32)>,
    /// When a full window was last searched for such sites.
    looked_through: Moment,
    /// URLs of open sites that wait on disk.
    undrawn: u64,
    /// URLs that bypassed the window, because they are wanted before all others.
    taken: HashSet<PageKey>,
    /// Whether a URL never goes before one of an earlier band of its site.
    is_strict: bool,
}

impl Default for WaitingUrls {
    fn default() -> Self {
        WaitingUrls {
            window: Frontier::new(WINDOW),
            low: BTreeSet::new(),
            away: BTreeSet::new(),
            looked_through: Moment::EPOCH,
            undrawn: 0,
            taken: HashSet::new(),
            is_strict: false,
        }
    }
}

impl WaitingUrls {
    pub fn in_order(order: VisitOrder) -> Self {
        let plain = WaitingUrls::default();
        match order.is_strict() {
            true => WaitingUrls { window: plain.window.in_strict_order(), is_strict: true, ..plain },
            false => plain,
        }
    }

    /// URLs that wait, on disk or in the window.
    pub fn len(&self) -> u64 {
        self.undrawn + self.window.len() as u64
    }

    /// Whether no URL of an open site waits.
    pub fn is_empty(&self) -> bool {
        self.undrawn == 0 && self.window.is_empty()
    }

    /// URLs of one open site that wait.
    pub fn len_of(&self, life: &SiteLife) -> u64 {
        if life.is_open() { life.undrawn + self.window.len_of(&life.site) as u64 } else { 0 }
    }

    /// Restores an open site with this many URLs waiting on disk.
    pub fn recall(&mut self, site: u32, undrawn: u64) {
        self.undrawn += undrawn;
        self.low.insert(site);
    }

    /// The next new URL, 4 : 2 : 1 over the sites that are free now.
    pub fn next(&mut self, sites: &SiteBook, now: Moment) -> Option<Waiting> {
        let waiting = self.window.next(&sites.politeness, now)?;
        self.check_low(sites, &waiting.place.site);
        Some(waiting)
    }

    /// Marks a site whose part of the window runs low.
    fn check_low(&mut self, sites: &SiteBook, site: &Site) {
        if self.window.len_of(site) < SITE_WINDOW_LOW
            && let Some(number) = sites.number_of(site.as_str())
            && sites.at(number).undrawn > 0
        {
            self.low.insert(number);
        }
    }

    /// Draws waiting URLs from disk into the window for the sites that run low, earliest free site first. Pages that
    /// are `busy` (ordered and not yet committed) are still on disk and are skipped.
    pub fn draw(
        &mut self,
        id: PartitionId,
        sites: &mut SiteBook,
        reader: &Reader,
        busy: &dyn Fn(PageKey) -> bool,
        now: Moment,
    ) -> Result<()> {
        self.bring_back(now);
        if self.low.is_empty() {
            return Ok(());
        }
        self.make_room(sites, now);
        let low = std::mem::take(&mut self.low);
        let mut low: Vec<(Moment, u32)> =
            low.into_iter().map(|number| (sites.politeness.earliest(&sites.at(number).site), number)).collect();
        low.sort_unstable();
        for (earliest, number) in low {
            let parked = self.window.is_full() && sites.politeness.is_parked(&sites.at(number).site);
            let life = sites.at_mut(number);
            let wants = life.undrawn > 0 && life.is_open();
            if let Some(until) = away_until(earliest, parked, now).filter(|_| wants) {
                self.away.insert((until, number));
                continue;
            }
            // A site without room in the window stays marked as low.
            if wants && (self.window.room_for(&life.site) == 0 || !self.draw_site(id, life, reader, busy)?) {
                self.low.insert(number);
            }
        }
        Ok(())
    }

    /// Marks sites that may be asked again soon as low, so that they get their part of the window back.
    fn bring_back(&mut self, now: Moment) {
        while let Some(&(until, number)) = self.away.first().filter(|(until, _)| *until <= now) {
            self.away.remove(&(until, number));
            self.low.insert(number);
        }
    }

    /// Removes sites that cannot be asked for a while from a full window, so that they do not starve the others.
    fn make_room(&mut self, sites: &mut SiteBook, now: Moment) {
        if !self.window.is_full() || now.since(self.looked_through) < LOOK_THROUGH_EVERY {
            return;
        }
        self.looked_through = now;
        let politeness = &sites.politeness;
        let away = self.window.sites().filter_map(|site| {
            let until = away_until(politeness.earliest(site), politeness.is_parked(site), now)?;
            Some((until, site.clone()))
        });
        let away: Vec<(Moment, Site)> = away.collect();
        for (until, site) in away {
            let number = sites.number(&site);
            self.give_back(sites, number);
            self.away.insert((until, number));
        }
    }

    /// Draws URLs of one site; returns whether the window accepted all of them.
    fn draw_site(
        &mut self,
        id: PartitionId,
        life: &mut SiteLife,
        reader: &Reader,
        busy: &dyn Fn(PageKey) -> bool,
    ) -> Result<bool> {
        if !life.bands_read {
            for band in waiting_bands(id, &life.site, reader)? {
                life.drawn.entry(band).or_default();
            }
            life.bands_read = true;
        }
        let mut room = self.window.room_for(&life.site);
        for (&band, drawn) in &mut life.drawn {
            if room == 0 || life.undrawn == 0 {
                break;
            }
            let after = drawn.map_or_else(|| before_band(&life.site, band), |arrival| place(&life.site, band, arrival));
            let rows = reader.waiting(id, &life.site, after.as_ref(), room)?;
            for waiting in rows.into_iter().take_while(|row| row.place.band == band) {
                *drawn = Some(waiting.place.arrival);
                if busy(waiting.page) || self.taken.contains(&waiting.page) {
                    continue;
                }
                life.undrawn = life.undrawn.saturating_sub(1);
                self.undrawn = self.undrawn.saturating_sub(1);
                room -= 1;
                if !self.window.accept(window_row(waiting)) {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// Takes a waiting URL before all others, out of the window or from disk.
    pub fn take(&mut self, sites: &mut SiteBook, row: UrlRow) -> Option<Waiting> {
        if !self.taken.insert(row.page) {
            return None;
        }
        if let Some(waiting) = self.window.take(&row.place.site, row.page) {
            self.check_low(sites, &waiting.place.site);
            return Some(waiting);
        }
        let life = sites.site_mut(&row.place.site);
        life.undrawn = life.undrawn.saturating_sub(1);
        if life.is_open() {
            self.undrawn = self.undrawn.saturating_sub(1);
        }
        Some(window_row(row))
    }

    /// Notes that there is a slot for a site that waited for one. If it was removed from a full window, it comes back.
    pub fn called(&mut self, sites: &SiteBook, site: &Site) {
        self.check_low(sites, site);
    }

    pub fn is_taken(&self, key: PageKey) -> bool {
        self.taken.contains(&key)
    }

    /// Notes that a page had its first visit.
    pub fn visited(&mut self, key: PageKey) {
        self.taken.remove(&key);
    }

    /// Notes that a URL of this site was admitted and waits on disk.
    pub fn admitted(&mut self, sites: &mut SiteBook, site: &Site, band: u8) {
        let life = sites.site_mut(site);
        life.undrawn += 1;
        life.drawn.entry(band).or_default();
        if !life.is_open() {
            return;
        }
        self.undrawn += 1;
        let is_overtaken = self.is_strict && life.drawn.range(band + 1..).any(|(_, drawn)| drawn.is_some());
        match sites.number_of(site.as_str()).filter(|_| is_overtaken) {
            // Later bands stand in the window already: they go back, and the next draw begins with this one.
            Some(number) => {
                self.give_back(sites, number);
                self.low.insert(number);
            }
            None => self.check_low(sites, site),
        }
    }

    /// Closes a site to first visits.
    pub fn close_site(&mut self, sites: &mut SiteBook, site: u32) {
        self.undrawn -= sites.at(site).undrawn;
        self.undraw(sites, site);
    }

    /// Opens a site to first visits again.
    pub fn open_site(&mut self, sites: &SiteBook, site: u32) {
        self.undrawn += sites.at(site).undrawn;
        self.low.insert(site);
    }

    /// Removes an open site from the window; its URLs wait on disk.
    fn give_back(&mut self, sites: &mut SiteBook, site: u32) {
        let before = sites.at(site).undrawn;
        self.undraw(sites, site);
        self.undrawn += sites.at(site).undrawn - before;
    }

    /// Removes a site that may not be asked from the window; its URLs stay on disk.
    fn undraw(&mut self, sites: &mut SiteBook, site: u32) {
        let life = sites.at_mut(site);
        life.undrawn += self.window.drop_site(&life.site).len() as u64;
        life.drawn.values_mut().for_each(|drawn| *drawn = None);
    }
}

/// Until when a site that is free at `earliest` leaves a full window to others, because it cannot be asked for a while or is
/// parked. A site whose requests are all under way does not count: an answer may come at any time.
fn away_until(earliest: Moment, parked: bool, now: Moment) -> Option<Moment> {
    let until = if parked { now + AWAY_MIN } else { earliest };
    (until != Moment::NEVER && (parked || until > now + AWAY_MIN)).then_some(until)
}

/// The bands in which URLs of this site wait: one read per band.
fn waiting_bands(id: PartitionId, site: &Site, reader: &Reader) -> Result<Vec<u8>> {
    let mut bands = Vec::new();
    let mut after = None;
    while let Some(row) = reader.waiting(id, site, after.as_ref(), 1)?.pop() {
        bands.push(row.place.band);
        after = place(site, row.place.band, u64::MAX);
    }
    Ok(bands)
}

fn place(site: &Site, band: u8, arrival: u64) -> Option<WaitingPlace> {
    Some(WaitingPlace { site: site.clone(), band, arrival })
}

/// The place just before the first URL of this band.
fn before_band(site: &Site, band: u8) -> Option<WaitingPlace> {
    band.checked_sub(1).and_then(|earlier| place(site, earlier, u64::MAX))
}

pub(crate) fn window_row(row: UrlRow) -> Waiting {
    Waiting {
        page: row.page,
        url: row.url,
        place: row.place,
        rank: row.rank,
        depth: row.depth,
        via: row.via,
        found_on: row.found_on,
        admitted: row.admitted,
    }
}

#[cfg(test)]
mod tests;
