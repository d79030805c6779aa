//! The result by site, and by band of change rates.

use super::findings::{Band, SiteFigures};
use super::{AFTER, Gauge};

/// Bands of change rate of the allocation table: four to a tenfold, from once in 27 years to ten times a day and more.
const RATE_BANDS: usize = 22;
const RATE_BANDS_PER_TENFOLD: f64 = 4.0;
const RATE_LOG_MIN: f64 = -4.0;

impl Gauge<'_> {
    pub(super) fn site_figures(&self) -> Vec<SiteFigures> {
        let mut sites = vec![SiteFigures::default(); self.world.sites.len()];
        for (number, page) in self.world.pages.iter().enumerate() {
            let (from, until) = self.world.life(number);
            let site = &mut sites[page.site as usize];
            let weight = f64::from(page.weight);
            site.fresh += self.pages[number].fresh_days_after * weight;
            site.online += self.periods[AFTER].overlap(from, until) * weight;
            site.visits += u64::from(self.pages[number].visits_after);
        }
        sites
    }

    pub(super) fn allocation(&self) -> Vec<Band> {
        let mut bands = vec![Band::default(); RATE_BANDS];
        let mut days = [(0.0, 0.0); RATE_BANDS];
        for (number, page) in self.world.pages.iter().enumerate() {
            let (from, until) = self.world.life(number);
            let online = self.periods[AFTER].overlap(from, until);
            let band = rate_band(page.rate);
            bands[band].pages += 1;
            bands[band].changes_per_day += page.rate;
            bands[band].visits_per_day += f64::from(self.pages[number].visits_after);
            days[band].0 += self.pages[number].fresh_days_after;
            days[band].1 += online;
        }
        let mut told = Vec::new();
        for (number, (band, (fresh, online))) in bands.into_iter().zip(days).enumerate() {
            if band.pages == 0 || online <= 0.0 {
                continue;
            }
            let low = RATE_LOG_MIN + (number as f64 - 1.0) / RATE_BANDS_PER_TENFOLD;
            told.push(Band {
                changes_per_day_from: if number == 0 { 0.0 } else { 10f64.powf(low) },
                pages: band.pages,
                changes_per_day: band.changes_per_day / band.pages as f64,
                visits_per_day: band.visits_per_day / online,
                freshness: fresh / online,
            });
        }
        told
    }
}

fn rate_band(rate: f64) -> usize {
    if rate <= 0.0 {
        return 0;
    }
    let band = ((rate.log10() - RATE_LOG_MIN) * RATE_BANDS_PER_TENFOLD).floor() + 1.0;
    band.clamp(1.0, RATE_BANDS as f64 - 1.0) as usize
}
