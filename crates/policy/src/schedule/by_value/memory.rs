//! What is remembered of a site beyond its pages: its priors and its clock, and with it what all sites share, so that the
//! newest site's bytes bring that back too.
//!
//! The bytes of a site, little-endian: format (1), visits heard of (8), mean rate of all (8), price of an allocation (4),
//! changes foretold and found (8 each, not in format 2), importance buckets (see there; not before format 5), prior strength
//! (see there; not before format 6), prior of the site (4), day of its fitting (4), visits since (4), path groups (1, then for
//! each: path 4, prior 4), sections (1, then for each: path 4, prior 4, day 4, visits 4, bytes of its clock 4, clock; not
//! before format 4), and to the end its clock, if it has one.

use super::belief::{Calibration, ImportanceBuckets, PriorStrength};
use super::model::Model;
use super::site::{Fitting, GROUPS_MAX, Site};
use crate::estimate::SiteClock;

const FORMAT: u8 = 6;
/// As it was before prior strength was learned, before importance buckets, before sections, and before calibration.
const FORMAT_WITHOUT_STRENGTH: u8 = 5;
const FORMAT_WITHOUT_BUCKETS: u8 = 4;
const FORMAT_WITHOUT_SECTIONS: u8 = 3;
const FORMAT_WITHOUT_CALIBRATION: u8 = 2;

/// What is remembered of one site.
#[derive(Clone, Debug)]
pub struct MemoryOfSite {
    shared: SharedMemory,
    site: Learned,
    /// Path and prior of each path group whose prior is fitted.
    paths: Vec<(u32, f32)>,
    /// Each section by its path.
    sections: Vec<(u32, Learned)>,
}

/// What all sites share.
#[derive(Clone, Debug)]
struct SharedMemory {
    visits: u64,
    mean: f64,
    allocation_price: f32,
    calibration: Calibration,
    importance: ImportanceBuckets,
    strength: PriorStrength,
}

/// The prior and the clock of a site or section.
#[derive(Clone, Debug)]
struct Learned {
    mean: f32,
    fitting: Fitting,
    clock: Option<Box<SiteClock>>,
}

impl MemoryOfSite {
    /// What is to be remembered of a site.
    pub fn of(model: &Model, site: u32) -> Self {
        let beliefs = &model.beliefs;
        let shared = SharedMemory {
            visits: model.visits,
            mean: beliefs.global.mean,
            allocation_price: model.valuer.allocation_price,
            calibration: beliefs.calibration,
            importance: beliefs.importance.clone(),
            strength: beliefs.strength,
        };
        let site = model.sites.at(site);
        let fitted = site.paths.iter().filter(|group| group.mean > 0.0).take(GROUPS_MAX);
        let sections = site.paths.iter().filter(|group| group.section > 0);
        MemoryOfSite {
            shared,
            site: Learned::of(site),
            paths: fitted.map(|group| (group.path, group.mean)).collect(),
            sections: sections.map(|group| (group.path, Learned::of(model.sites.at(group.section)))).collect(),
        }
    }

    /// Gives a model back what is remembered here; what all sites share only if this is newer than what the model knows.
    pub fn restore(self, model: &mut Model, site: u32) {
        if self.shared.visits >= model.visits {
            self.shared.restore(model);
        }
        self.site.restore(model, site);
        for (path, mean) in self.paths {
            let group = model.sites.at_mut(site).group_of(path);
            if let Some(group) = model.sites.at_mut(site).group_mut(group) {
                group.mean = mean;
            }
        }
        for (path, learned) in self.sections {
            let group = model.sites.at_mut(site).group_of(path);
            model.sites.begin_section(site, group);
            if let Some(section) = model.sites.section_of(site, group) {
                learned.restore(model, section);
            }
        }
    }

    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = vec![FORMAT];
        self.shared.write(&mut bytes);
        self.site.write_fitting(&mut bytes);
        bytes.push(self.paths.len() as u8);
        for (path, mean) in &self.paths {
            bytes.extend(path.to_le_bytes());
            bytes.extend(mean.to_le_bytes());
        }
        bytes.push(self.sections.len() as u8);
        for (path, section) in &self.sections {
            let clock = section.clock_bytes();
            bytes.extend(path.to_le_bytes());
            section.write_fitting(&mut bytes);
            bytes.extend((clock.len() as u32).to_le_bytes());
            bytes.extend(clock);
        }
        bytes.extend(self.site.clock_bytes());
        bytes
    }

    /// `None` if these bytes are none that `to_bytes` wrote, now or in an older format.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (&format, mut rest) = bytes.split_first()?;
        if !(FORMAT_WITHOUT_CALIBRATION..=FORMAT).contains(&format) {
            return None;
        }
        let shared = SharedMemory::read(&mut rest, format)?;
        let mut site = Learned::read_fitting(&mut rest)?;
        let mut paths = Vec::new();
        for _ in 0..u8::from_le_bytes(take(&mut rest)?) {
            let path = u32::from_le_bytes(take(&mut rest)?);
            let mean = f32::from_le_bytes(take(&mut rest)?);
            paths.push((path, Some(mean).filter(|mean| mean.is_finite() && *mean >= 0.0)?));
        }
        let mut sections = Vec::new();
        let count = if format > FORMAT_WITHOUT_SECTIONS { u8::from_le_bytes(take(&mut rest)?) } else { 0 };
        for _ in 0..count {
            let path = u32::from_le_bytes(take(&mut rest)?);
            let mut section = Learned::read_fitting(&mut rest)?;
            let length = u32::from_le_bytes(take(&mut rest)?);
            section.read_clock(rest.split_off(..length as usize)?)?;
            sections.push((path, section));
        }
        site.read_clock(rest)?;
        Some(MemoryOfSite { shared, site, paths, sections })
    }
}

impl SharedMemory {
    fn restore(self, model: &mut Model) {
        model.visits = self.visits;
        model.beliefs.global.mean = self.mean;
        model.valuer.allocation_price = self.allocation_price;
        model.beliefs.calibration = self.calibration;
        let times = model.beliefs.importance.take_fitting(self.importance);
        model.set_importance_times(times);
        model.beliefs.strength = self.strength;
    }

    fn write(&self, bytes: &mut Vec<u8>) {
        bytes.extend(self.visits.to_le_bytes());
        bytes.extend(self.mean.to_le_bytes());
        bytes.extend(self.allocation_price.to_le_bytes());
        self.calibration.parts().iter().for_each(|part| bytes.extend(part.to_le_bytes()));
        self.importance.write(bytes);
        self.strength.write(bytes);
    }

    fn read(bytes: &mut &[u8], format: u8) -> Option<Self> {
        let visits = u64::from_le_bytes(take(bytes)?);
        let mean = f64::from_le_bytes(take(bytes)?);
        let allocation_price = f32::from_le_bytes(take(bytes)?);
        let calibration = match format {
            FORMAT_WITHOUT_CALIBRATION => Calibration::default(),
            _ => Calibration::of([f64::from_le_bytes(take(bytes)?), f64::from_le_bytes(take(bytes)?)])?,
        };
        let importance = match format {
            ..=FORMAT_WITHOUT_BUCKETS => ImportanceBuckets::default(),
            _ => ImportanceBuckets::read(bytes, format == FORMAT_WITHOUT_STRENGTH)?,
        };
        let strength =
            if format > FORMAT_WITHOUT_STRENGTH { PriorStrength::read(bytes)? } else { PriorStrength::default() };
        let is_sound = mean.is_finite() && mean > 0.0 && allocation_price.is_finite() && allocation_price >= 0.0;
        is_sound.then_some(SharedMemory { visits, mean, allocation_price, calibration, importance, strength })
    }
}

impl Learned {
    fn of(site: &Site) -> Self {
        Learned { mean: site.all.mean, fitting: site.fitting, clock: site.clock.clone() }
    }

    fn restore(self, model: &mut Model, site: u32) {
        let keeps_clock = model.rule().site_clock;
        let of_site = model.sites.at_mut(site);
        (of_site.all.mean, of_site.fitting) = (self.mean, self.fitting);
        of_site.clock = self.clock.filter(|_| keeps_clock);
        model.dirty.invalidate_later(site);
        model.share_clock(site);
    }

    fn write_fitting(&self, bytes: &mut Vec<u8>) {
        bytes.extend(self.mean.to_le_bytes());
        bytes.extend(self.fitting.day.to_le_bytes());
        bytes.extend(self.fitting.visits_since.to_le_bytes());
    }

    fn read_fitting(bytes: &mut &[u8]) -> Option<Self> {
        let mean = f32::from_le_bytes(take(bytes)?);
        let (day, visits_since) = (u32::from_le_bytes(take(bytes)?), u32::from_le_bytes(take(bytes)?));
        let fitting = Fitting { day, visits_since };
        (mean.is_finite() && mean >= 0.0).then_some(Learned { mean, fitting, clock: None })
    }

    fn clock_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.clock.iter().for_each(|clock| clock.write(&mut bytes));
        bytes
    }

    /// Reads the clock in all of these bytes, if there are any.
    fn read_clock(&mut self, bytes: &[u8]) -> Option<()> {
        if !bytes.is_empty() {
            self.clock = Some(Box::new(SiteClock::from_bytes(bytes)?));
        }
        Some(())
    }
}

fn take<const N: usize>(bytes: &mut &[u8]) -> Option<[u8; N]> {
    let (head, rest) = bytes.split_first_chunk::<N>()?;
    *bytes = rest;
    Some(*head)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::by_value::rule::Rule;

    /// Where the changes foretold and found lie in the bytes.
    const CALIBRATION: std::ops::Range<usize> = 21..37;
    /// Where the importance buckets lie, while they were never fitted.
    const BUCKETS: std::ops::Range<usize> = 37..43;
    /// Among them, in how many days they are fitted next.
    const BUCKETS_DAYS: usize = 41;
    /// Where prior strength lies, while nothing was heard of it.
    const STRENGTH: std::ops::Range<usize> = 43..44;

    fn model() -> (Model, u32) {
        let mut model = Model::new(Rule::named("vernal").unwrap());
        let site = model.sites.place_of(0);
        (model, site)
    }

    #[test]
    fn bytes_from_before_are_taken_as_well_and_others_are_passed_over() {
        let (mut model, site) = model();
        model.hear_visit();
        model.beliefs.global.mean = 0.5;
        model.beliefs.calibration.hear(0.25, true);
        let bytes = MemoryOfSite::of(&model, site).to_bytes();
        let mut without_strength = bytes.clone();
        without_strength.drain(STRENGTH);
        without_strength[0] = FORMAT_WITHOUT_STRENGTH;
        let mut without_buckets = without_strength.clone();
        without_strength.remove(BUCKETS_DAYS);
        without_buckets.drain(BUCKETS);
        without_buckets[0] = FORMAT_WITHOUT_BUCKETS;
        let mut without_sections = without_buckets.clone();
        without_sections.pop();
        without_sections[0] = FORMAT_WITHOUT_SECTIONS;
        let mut before = without_sections.clone();
        before.drain(CALIBRATION);
        before[0] = FORMAT_WITHOUT_CALIBRATION;
        let calibration = model.beliefs.calibration;
        let known = [
            (&bytes, calibration),
            (&without_strength, calibration),
            (&without_buckets, calibration),
            (&without_sections, calibration),
            (&before, Calibration::default()),
        ];
        for (bytes, calibration) in known {
            let (mut other, site) = self::model();
            MemoryOfSite::from_bytes(bytes).expect("a format of ours").restore(&mut other, site);
            assert_eq!((other.beliefs.global.mean, other.beliefs.calibration), (0.5, calibration));
        }
        before[0] = FORMAT_WITHOUT_CALIBRATION - 1;
        assert!(MemoryOfSite::from_bytes(&before).is_none());
        assert!(MemoryOfSite::from_bytes(&bytes[..30]).is_none());
    }

    #[test]
    fn sections_and_paths_come_back_with_their_priors_and_clocks() {
        let (mut model, site) = model();
        let group = model.sites.at_mut(site).group_of(9);
        model.sites.begin_section(site, group);
        let section = model.sites.section_of(site, group).unwrap();
        model.sites.at_mut(site).group_mut(group).unwrap().mean = 0.75;
        let of_section = model.sites.at_mut(section);
        (of_section.pages, of_section.all.mean) = (5, 0.25);
        assert!(of_section.begin_clock(true));
        let bytes = MemoryOfSite::of(&model, site).to_bytes();
        let (mut other, site) = self::model();
        MemoryOfSite::from_bytes(&bytes).unwrap().restore(&mut other, site);
        let section = other.sites.section_of(site, 1).expect("it is a section again");
        assert_eq!((other.sites.at(site).group_prior(1), other.sites.at(section).all.mean), (Some(0.75), 0.25));
        assert!(other.sites.at(section).clock.is_some());
        assert_eq!(MemoryOfSite::of(&other, site).to_bytes(), bytes);
    }

    #[test]
    fn an_older_memory_does_not_overwrite_what_all_sites_share() {
        let (mut older, site) = model();
        older.beliefs.global.mean = 3.0;
        let bytes = MemoryOfSite::of(&older, site).to_bytes();
        let (mut model, site) = model();
        model.hear_visit();
        let mean = model.beliefs.global.mean;
        MemoryOfSite::from_bytes(&bytes).unwrap().restore(&mut model, site);
        assert_eq!(model.beliefs.global.mean, mean);
    }
}
