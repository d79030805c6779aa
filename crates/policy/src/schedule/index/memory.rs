//! What is remembered beyond pages: of each site its priors and its clock, and with it what all sites share, so that
//! the newest site's bytes bring that back too.
//!
//! The bytes of a site, little-endian: format (1), visits heard of (8), mean rate of all (8), price of an allocation (4),
//! changes foretold and found (8 each, not in format 2), octaves of importance (see there; not before format 5), firmness (see there;
//! not before format 6), prior of the site (4), day of its fitting (4), visits since (4),
//! groups (1, then for each: path 4, prior 4), sections (1, then for each: path 4, prior 4, day 4, visits 4, bytes of its
//! clock 4, clock; not before format 4), and to the end its clock, if it has one.

use super::calibration::Calibration;
use super::firmness::Firmness;
use super::octaves::Octaves;
use super::policy::Index;
use super::site::{GROUPS_MAX, Site};
use crate::RateSums;
use crate::estimate::SiteClock;
use crate::schedule::allocation::Allocation;

/// The mean rate before anything is known, in changes per day, and how many sites' worth that counts.
const MEAN_FIRST: f64 = 0.02;
const MEAN_FIRST_WEIGHT: f64 = 2.0;
/// The mean moves only when it is off by this much, in logarithm: each move looks at all pages of sites that have no rate
/// of their own yet.
const MEAN_STEP: f64 = 0.2;
/// An allocation is settled anew after as many visits as there are pages, over this, and at least so many.
const SETTLED_PAGES_OVER: u64 = 4;
const SETTLED_VISITS_MIN: u64 = 16;
const FORMAT: u8 = 6;
/// As it was before firmness was learned, before octaves of importance were asked, before there were sections, and before
/// anybody remembered how right it was.
const FORMAT_WITHOUT_FIRMNESS: u8 = 5;
const FORMAT_WITHOUT_OCTAVES: u8 = 4;
const FORMAT_WITHOUT_SECTIONS: u8 = 3;
const FORMAT_WITHOUT_CALIBRATION: u8 = 2;

#[derive(Clone, Debug)]
pub(super) struct Shared {
    /// The mean rate of all pages, as it was last fitted.
    pub mean: f64,
    /// What the coordinator said that the mean is.
    pub told: Option<f64>,
    pub sums: RateSums,
    /// The price of an allocation; 0 before it is settled.
    pub price: f32,
    pub per_day: f64,
    visits: u64,
    /// Visits heard of, ever: whose bytes say more knows better.
    heard: u64,
    /// How right it was lately.
    pub calibration: Calibration,
}

impl Default for Shared {
    fn default() -> Self {
        Shared {
            mean: MEAN_FIRST,
            told: None,
            sums: RateSums::default(),
            price: 0.0,
            per_day: 0.0,
            visits: 0,
            heard: 0,
            calibration: Calibration::default(),
        }
    }
}

impl Shared {
    pub fn hear(&mut self) {
        self.heard += 1;
        self.visits += 1;
    }

    /// Fits the mean; whether it moved.
    pub fn fit(&mut self) -> bool {
        let RateSums { weighted, weight } = self.sums;
        let own = (MEAN_FIRST_WEIGHT * MEAN_FIRST + weighted.max(0.0)) / (MEAN_FIRST_WEIGHT + weight.max(0.0));
        let mean = self.told.filter(|told| told.is_finite() && *told > 0.0).unwrap_or(own);
        if (mean / self.mean).ln().abs() < MEAN_STEP {
            return false;
        }
        self.mean = mean;
        true
    }
}

impl Index {
    /// Settles the price of an allocation on what is known of all rates now.
    pub(super) fn settle(&mut self, allocation: Allocation) {
        let pages: u64 = self.sites.iter().map(|site| u64::from(site.pages)).sum();
        let enough = (pages / SETTLED_PAGES_OVER).max(SETTLED_VISITS_MIN);
        if self.shared.per_day <= 0.0 || (self.shared.price > 0.0 && self.shared.visits < enough) {
            return;
        }
        self.shared.visits = 0;
        let numbers: Vec<u32> = self.pages.numbers().collect();
        let wanted: Vec<_> = numbers.iter().map(|&number| self.wanted(self.pages.at(number))).collect();
        self.shared.price = allocation.price(&wanted, self.shared.per_day) as f32;
        self.shake_all();
    }

    pub(super) fn site_bytes(&self, site: u32) -> Vec<u8> {
        let site = &self.sites[site as usize];
        let fitted: Vec<_> = site.groups.iter().filter(|group| group.mean > 0.0).take(GROUPS_MAX).collect();
        let mut bytes = vec![FORMAT];
        bytes.extend(self.shared.heard.to_le_bytes());
        bytes.extend(self.shared.mean.to_le_bytes());
        bytes.extend(self.shared.price.to_le_bytes());
        self.shared.calibration.parts().iter().for_each(|part| bytes.extend(part.to_le_bytes()));
        self.octaves.write(&mut bytes);
        self.firmness.write(&mut bytes);
        bytes.extend(site.fitting().bytes());
        bytes.push(fitted.len() as u8);
        for group in fitted {
            bytes.extend(group.path.to_le_bytes());
            bytes.extend(group.mean.to_le_bytes());
        }
        let sections: Vec<_> = site.groups.iter().filter(|group| group.section > 0).collect();
        bytes.push(sections.len() as u8);
        for group in sections {
            let section = &self.sites[group.section as usize];
            let mut clock = Vec::new();
            section.clock.iter().for_each(|section| section.write(&mut clock));
            bytes.extend(group.path.to_le_bytes());
            bytes.extend(section.fitting().bytes());
            bytes.extend((clock.len() as u32).to_le_bytes());
            bytes.extend(clock);
        }
        if let Some(clock) = &site.clock {
            clock.write(&mut bytes);
        }
        bytes
    }

    /// Bytes that are not ours are passed over.
    pub(super) fn take_site_bytes(&mut self, site: u32, bytes: &[u8]) -> Option<()> {
        let (&format, mut rest) = bytes.split_first()?;
        if !(FORMAT_WITHOUT_CALIBRATION..=FORMAT).contains(&format) {
            return None;
        }
        let heard = u64::from_le_bytes(take(&mut rest)?);
        let mean = f64::from_le_bytes(take(&mut rest)?);
        let price = f32::from_le_bytes(take(&mut rest)?);
        let calibration = match format {
            FORMAT_WITHOUT_CALIBRATION => Calibration::default(),
            _ => Calibration::of([f64::from_le_bytes(take(&mut rest)?), f64::from_le_bytes(take(&mut rest)?)])?,
        };
        let octaves = match format {
            ..=FORMAT_WITHOUT_OCTAVES => Octaves::default(),
            _ => Octaves::read(&mut rest, format == FORMAT_WITHOUT_FIRMNESS)?,
        };
        let firmness = if format > FORMAT_WITHOUT_FIRMNESS { Firmness::read(&mut rest)? } else { Firmness::default() };
        let fitting = Fitting::take(&mut rest)?;
        if !(mean.is_finite() && mean > 0.0 && price.is_finite() && price >= 0.0) {
            return None;
        }
        let mut groups = Vec::new();
        for _ in 0..u8::from_le_bytes(take(&mut rest)?) {
            let path = u32::from_le_bytes(take(&mut rest)?);
            let mean = f32::from_le_bytes(take(&mut rest)?);
            groups.push((path, Some(mean).filter(|mean| mean.is_finite() && *mean >= 0.0)?));
        }
        let mut sections = Vec::new();
        let count = if format > FORMAT_WITHOUT_SECTIONS { u8::from_le_bytes(take(&mut rest)?) } else { 0 };
        for _ in 0..count {
            let path = u32::from_le_bytes(take(&mut rest)?);
            let fitting = Fitting::take(&mut rest)?;
            let length = u32::from_le_bytes(take(&mut rest)?);
            sections.push((path, fitting, clock_of(rest.split_off(..length as usize)?)?));
        }
        let clock = clock_of(rest)?;
        if heard >= self.shared.heard {
            self.shared = Shared { mean, price, heard, calibration, ..self.shared.clone() };
            self.remember_octaves(octaves);
            self.firmness = firmness;
        }
        self.remember(site, fitting, clock);
        for (path, mean) in groups {
            if let Some(index) = usize::from(self.sites[site as usize].group_of(path)).checked_sub(1) {
                self.sites[site as usize].groups[index].mean = mean;
            }
        }
        for (path, fitting, clock) in sections {
            let Some(index) = usize::from(self.sites[site as usize].group_of(path)).checked_sub(1) else { continue };
            self.begin_section(site, index);
            match self.sites[site as usize].groups[index].section {
                0 => {}
                section => self.remember(section, fitting, clock),
            }
        }
        Some(())
    }

    fn remember(&mut self, site: u32, fitting: Fitting, clock: Option<Box<SiteClock>>) {
        let life = &mut self.sites[site as usize];
        (life.all.mean, life.fitted_day, life.unfitted) = (fitting.mean, fitting.day, fitting.unfitted);
        life.clock = clock.filter(|_| self.rule.site_clock);
        life.stale = true;
        self.share_clock(site);
    }
}

/// What is remembered of fitting a site's prior: what it came to, on which day, and the visits since.
struct Fitting {
    mean: f32,
    day: u32,
    unfitted: u32,
}

impl Site {
    fn fitting(&self) -> Fitting {
        Fitting { mean: self.all.mean, day: self.fitted_day, unfitted: self.unfitted }
    }
}

impl Fitting {
    fn bytes(&self) -> impl Iterator<Item = u8> {
        let parts = [self.mean.to_le_bytes(), self.day.to_le_bytes(), self.unfitted.to_le_bytes()];
        parts.into_iter().flatten()
    }

    fn take(bytes: &mut &[u8]) -> Option<Fitting> {
        let mean = f32::from_le_bytes(take(bytes)?);
        let (day, unfitted) = (u32::from_le_bytes(take(bytes)?), u32::from_le_bytes(take(bytes)?));
        (mean.is_finite() && mean >= 0.0).then_some(Fitting { mean, day, unfitted })
    }
}

/// The clock in all of these bytes, if there are any; `None` if they are no clock.
#[expect(clippy::option_option, reason = "there may be no clock, and the bytes may be none")]
fn clock_of(bytes: &[u8]) -> Option<Option<Box<SiteClock>>> {
    if bytes.is_empty() {
        return Some(None);
    }
    Some(Some(Box::new(SiteClock::from_bytes(bytes)?)))
}

fn take<const N: usize>(bytes: &mut &[u8]) -> Option<[u8; N]> {
    let (head, rest) = bytes.split_first_chunk::<N>()?;
    *bytes = rest;
    Some(*head)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where the changes foretold and found lie in the bytes.
    const CALIBRATION: std::ops::Range<usize> = 21..37;
    /// Where the octaves of importance lie, while nobody asked them.
    const OCTAVES: std::ops::Range<usize> = 37..43;
    /// Among them, in how many days they are asked next.
    const OCTAVES_DAYS: usize = 41;
    /// Where firmness lies, while nothing was heard of it.
    const FIRMNESS: std::ops::Range<usize> = 43..44;

    #[test]
    fn bytes_from_before_are_taken_as_well_and_others_are_passed_over() {
        let mut policy = Index::named("vernal").unwrap();
        let site = policy.site_index(0);
        policy.shared.hear();
        policy.shared.mean = 0.5;
        policy.shared.calibration.hear(0.25, true);
        let bytes = policy.site_bytes(site);
        let mut without_firmness = bytes.clone();
        without_firmness.drain(FIRMNESS);
        without_firmness[0] = FORMAT_WITHOUT_FIRMNESS;
        let mut without_octaves = without_firmness.clone();
        without_firmness.remove(OCTAVES_DAYS);
        without_octaves.drain(OCTAVES);
        without_octaves[0] = FORMAT_WITHOUT_OCTAVES;
        let mut without_sections = without_octaves.clone();
        without_sections.pop();
        without_sections[0] = FORMAT_WITHOUT_SECTIONS;
        let mut before = without_sections.clone();
        before.drain(CALIBRATION);
        before[0] = FORMAT_WITHOUT_CALIBRATION;
        let calibration = policy.shared.calibration;
        let known = [
            (&bytes, calibration),
            (&without_firmness, calibration),
            (&without_octaves, calibration),
            (&without_sections, calibration),
            (&before, Calibration::default()),
        ];
        for (bytes, calibration) in known {
            let mut other = Index::named("vernal").unwrap();
            let site = other.site_index(0);
            assert_eq!(other.take_site_bytes(site, bytes), Some(()));
            assert_eq!((other.shared.mean, other.shared.calibration), (0.5, calibration));
        }
        before[0] = FORMAT_WITHOUT_CALIBRATION - 1;
        assert_eq!(policy.take_site_bytes(site, &before), None);
        assert_eq!(policy.take_site_bytes(site, &bytes[..30]), None);
    }
}
