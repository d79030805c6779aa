//! How waiting URLs come from disk into the window of a partition, and leave it again.

use foldhash::HashSet;
use vernal_frontier::Waiting;
use vernal_model::{Moment, PageKey, Partition as PartitionId, Site, Span, WaitingPlace};
use vernal_repository::{Reader, UrlRow};

use super::{Partition, SiteLife};
use crate::Result;

/// A site draws more from disk when fewer than this of its URLs are in the window.
const SITE_WINDOW_LOW: usize = 64;
/// A site that cannot be asked for longer than this leaves its part of the window to others, if they want it.
const REST_MIN: Span = Span::from_secs(10);
/// A full window is looked through for such sites at most so often.
const REST_EVERY: Span = Span::from_secs(1);

impl Partition {
    /// The next new URL, 4 : 2 : 1 over the sites that are free now.
    pub(crate) fn next_new(&mut self, now: Moment) -> Option<Waiting> {
        let waiting = self.frontier.next(&self.politeness, now)?;
        self.feel_hunger(&waiting.place.site);
        Some(waiting)
    }

    /// Marks a site whose part of the window runs low.
    fn feel_hunger(&mut self, site: &Site) {
        if self.frontier.len_of(site) < SITE_WINDOW_LOW
            && let Some(&number) = self.by_name.get(site)
            && self.sites[number as usize].undrawn > 0
        {
            self.hungry.insert(number);
        }
    }

    /// Draws waiting URLs from disk into the window for the sites that run low, earliest free site first.
    /// Pages that are `out` (ordered and not yet committed) still lie there and are passed over.
    pub(crate) fn draw(&mut self, reader: &Reader, out: &HashSet<PageKey>, now: Moment) -> Result<()> {
        self.wake_rested(now);
        if self.hungry.is_empty() {
            return Ok(());
        }
        self.make_room(now);
        let hungry = std::mem::take(&mut self.hungry);
        let earliest = |number: u32| self.politeness.earliest(&self.sites[number as usize].site);
        let mut hungry: Vec<(Moment, u32)> = hungry.into_iter().map(|number| (earliest(number), number)).collect();
        hungry.sort_unstable();
        for (earliest, number) in hungry {
            let life = &self.sites[number as usize];
            let wants = life.undrawn > 0 && life.is_open();
            if wants && rests(earliest, now) {
                self.resting.insert((earliest, number));
                continue;
            }
            // What finds no room stays hungry.
            if wants && (self.frontier.room_for(&life.site) == 0 || !self.draw_site(number, reader, out)?) {
                self.hungry.insert(number);
            }
        }
        Ok(())
    }

    /// Sites whose rest is over want their part of the window again.
    fn wake_rested(&mut self, now: Moment) {
        while let Some(&(until, number)) = self.resting.first().filter(|(until, _)| *until <= now) {
            self.resting.remove(&(until, number));
            self.hungry.insert(number);
        }
    }

    /// Lets sites that cannot be asked for a while out of a window that is full, so that they do not starve the others.
    fn make_room(&mut self, now: Moment) {
        if !self.frontier.is_full() || now.since(self.rested) < REST_EVERY {
            return;
        }
        self.rested = now;
        let resting = self.frontier.sites().map(|site| (self.politeness.earliest(site), site.clone()));
        let resting: Vec<(Moment, Site)> = resting.filter(|&(earliest, _)| rests(earliest, now)).collect();
        for (earliest, site) in resting {
            let number = self.site_number(&site);
            let before = self.sites[number as usize].undrawn;
            self.undraw(&site);
            self.undrawn_active += self.sites[number as usize].undrawn - before;
            self.resting.insert((earliest, number));
        }
    }

    /// Whether the window took all that was drawn.
    fn draw_site(&mut self, number: u32, reader: &Reader, out: &HashSet<PageKey>) -> Result<bool> {
        let life = &mut self.sites[number as usize];
        if !life.bands_read {
            for band in waiting_bands(self.id, &life.site, reader)? {
                life.drawn.entry(band).or_default();
            }
            life.bands_read = true;
        }
        let mut room = self.frontier.room_for(&life.site);
        for (&band, drawn) in &mut life.drawn {
            if room == 0 || life.undrawn == 0 {
                break;
            }
            let after = drawn.map_or_else(|| before_band(&life.site, band), |arrival| place(&life.site, band, arrival));
            let rows = reader.waiting(self.id, &life.site, after.as_ref(), room)?;
            for waiting in rows.into_iter().take_while(|row| row.place.band == band) {
                *drawn = Some(waiting.place.arrival);
                if out.contains(&waiting.page) || self.taken.contains(&waiting.page) {
                    continue;
                }
                life.undrawn = life.undrawn.saturating_sub(1);
                self.undrawn_active = self.undrawn_active.saturating_sub(1);
                room -= 1;
                if !self.frontier.accept(window_row(waiting)) {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// Takes a waiting URL past all others, out of the window or from disk.
    pub(crate) fn take_waiting(&mut self, key: PageKey, reader: &Reader) -> Result<Option<Waiting>> {
        let Some(row) = reader.url(key)?.filter(|_| !self.taken.contains(&key)) else { return Ok(None) };
        self.taken.insert(key);
        if let Some(waiting) = self.frontier.take(&row.place.site, key) {
            self.feel_hunger(&waiting.place.site);
            return Ok(Some(waiting));
        }
        let life = self.site_mut(&row.place.site);
        life.undrawn = life.undrawn.saturating_sub(1);
        if life.is_open() {
            self.undrawn_active = self.undrawn_active.saturating_sub(1);
        }
        Ok(Some(window_row(row)))
    }

    pub(crate) fn is_taken(&self, key: PageKey) -> bool {
        self.taken.contains(&key)
    }

    /// When a site may be asked for a page that is not held yet.
    pub(crate) fn earliest_new(&self, site: &Site) -> Moment {
        let is_open = self.site(site).is_none_or(SiteLife::is_open);
        if is_open { self.politeness.earliest(site) } else { Moment::NEVER }
    }

    /// A URL of this site was admitted and waits on disk.
    pub(crate) fn admitted(&mut self, site: &Site, band: u8) {
        let life = self.site_mut(site);
        life.undrawn += 1;
        life.drawn.entry(band).or_default();
        if life.is_open() {
            self.undrawn_active += 1;
            self.feel_hunger(site);
        }
    }

    /// Empties the window of a site that may not be asked any more; its URLs wait on disk as before.
    pub(crate) fn undraw(&mut self, site: &Site) {
        let dropped = self.frontier.drop_site(site).len() as u64;
        let life = self.site_mut(site);
        life.undrawn += dropped;
        life.drawn.values_mut().for_each(|drawn| *drawn = None);
    }
}

/// Whether a site that is free at `earliest` cannot be asked for a while. One whose requests are all under way is not at
/// rest: an answer may come at any time.
fn rests(earliest: Moment, now: Moment) -> bool {
    earliest != Moment::NEVER && earliest > now + REST_MIN
}

/// The bands in which URLs of this site wait: one look per band.
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

/// The place just before everything in this band.
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
