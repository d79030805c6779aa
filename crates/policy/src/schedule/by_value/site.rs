//! What is known of a site, or of a section of one: its priors and its clock.

use crate::estimate::SiteClock;

/// A site has no more path groups than a byte can number; with so many, one more or less says nothing.
pub const GROUPS_MAX: usize = 255;
/// How many pages' worth the level above counts in a pooled prior.
pub const POOLING: f64 = 5.0;
/// A prior moves only when it is off by this much (in logarithm): each move looks at all pages of the site.
const PRIOR_STEP: f64 = 0.2;
/// Sites with fewer pages have no clock: a single page has no siblings to learn from.
const CLOCK_PAGES_MIN: u32 = 2;
/// Sites with more pages than this get their clock with the first change seen, and learn enough soon after; smaller
/// ones from the first visit, because they cannot spare what an unchanged page says.
const CLOCK_AT_ONCE_PAGES_MAX: u32 = 64;
/// Priors of small sites wait for so many visits within a day.
const UNFITTED_VISITS_MIN: u32 = 16;

#[derive(Clone, Debug, Default)]
pub struct Site {
    pub clock: Option<Box<SiteClock>>,
    /// The whole site as one group.
    pub all: PathGroup,
    pub paths: Vec<PathGroup>,
    pub pages: u32,
    /// Any page of it, to ask whether the site has room.
    pub sample: u32,
    /// Of a section, the site that it is part of; 0 otherwise.
    pub section_of: u32,
    pub fitting: Fitting,
    /// The prior of a group moved, and its pages must be placed anew.
    pub prior_moved: bool,
    /// What is remembered of it changed since it was last asked for.
    pub has_news: bool,
}

/// The day on which the priors of a site were last fitted, and the visits since.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Fitting {
    pub day: u32,
    pub visits_since: u32,
}

/// Pages that are expected to change alike: Σ of their mean rates, how many were compared, and the prior fitted to them.
#[derive(Copy, Clone, Debug, Default)]
pub struct PathGroup {
    pub path: u32,
    pub compared: u32,
    pub rates: f64,
    pub pages: u32,
    /// The section that its pages belong to; 0 if it is none.
    pub section: u32,
    /// The prior; 0 until it is fitted.
    pub mean: f32,
    pub moved: bool,
}

impl PathGroup {
    /// Fits the prior anew; whether it moved. The first one begins with what was expected before, which is the parent's,
    /// and `follows` says whether that moved since the pages were placed.
    fn fit(&mut self, parent: f64, follows: bool) -> bool {
        let mean = (POOLING * parent + self.rates.max(0.0)) / (POOLING + f64::from(self.compared));
        if self.mean == 0.0 {
            self.mean = parent as f32;
            self.moved |= follows;
        }
        if (mean / f64::from(self.mean)).ln().abs() < PRIOR_STEP {
            return false;
        }
        self.mean = mean as f32;
        self.moved = true;
        true
    }

    fn count(&mut self, before: f32, after: f32) {
        self.rates += f64::from(after) - f64::from(before);
        self.compared = self.compared + u32::from(after > 0.0) - u32::from(before > 0.0);
    }
}

impl Site {
    /// The number of a path's group within the site, from 1; 0 when there are too many.
    pub fn group_of(&mut self, path: u32) -> u8 {
        if let Some(index) = self.paths.iter().position(|group| group.path == path) {
            return index as u8 + 1;
        }
        if self.paths.len() >= GROUPS_MAX {
            return 0;
        }
        self.paths.push(PathGroup { path, ..PathGroup::default() });
        self.paths.len() as u8
    }

    pub fn group(&self, group: u8) -> Option<&PathGroup> {
        self.paths.get(usize::from(group).checked_sub(1)?)
    }

    pub fn group_mut(&mut self, group: u8) -> Option<&mut PathGroup> {
        self.paths.get_mut(usize::from(group).checked_sub(1)?)
    }

    /// The prior fitted to a group alone; `None` before it is fitted.
    pub fn group_prior(&self, group: u8) -> Option<f64> {
        self.group(group).map(|group| f64::from(group.mean)).filter(|&mean| mean > 0.0)
    }

    /// Counts another mean rate of a page in this group, 0 being none.
    pub fn count_rate(&mut self, group: u8, before: f32, after: f32) {
        self.all.count(before, after);
        if let Some(group) = self.group_mut(group) {
            group.count(before, after);
        }
    }

    /// Counts a visit; whether the priors are to be fitted: once a day, and as soon as the site has had as many visits as it
    /// has pages. A site that is visited often must not wait for the next day to be known as lively.
    pub fn is_fitting_due(&mut self, today: u32) -> bool {
        self.fitting.visits_since += 1;
        let is_new_day = self.fitting.day != today || self.all.mean == 0.0;
        let is_due = is_new_day || self.fitting.visits_since >= self.pages.max(UNFITTED_VISITS_MIN);
        if is_due {
            self.fitting = Fitting { day: today, visits_since: 0 };
        }
        is_due
    }

    /// Fits the priors anew; whether any moved.
    pub fn fit(&mut self, global: f64, by_path: bool) -> bool {
        self.prior_moved |= self.all.fit(global, false);
        if by_path && self.paths.len() > 1 {
            let (parent, follows) = (f64::from(self.all.mean), self.all.moved);
            for group in self.paths.iter_mut().filter(|group| group.compared > 0) {
                self.prior_moved |= group.fit(parent, follows);
            }
        }
        self.prior_moved
    }

    /// Whether the prior of a page in this group moved since the site's pages were last placed.
    pub fn has_prior_moved(&self, group: u8) -> bool {
        self.group(group).filter(|group| group.mean > 0.0).unwrap_or(&self.all).moved
    }

    /// All pages are placed by the priors as they are.
    pub fn settle_priors(&mut self) {
        (self.prior_moved, self.all.moved) = (false, false);
        self.paths.iter_mut().for_each(|group| group.moved = false);
    }

    /// Begins a clock if the site has none and this visit is a reason for one; whether it began.
    pub fn begin_clock(&mut self, changed: bool) -> bool {
        let is_worth_it = self.pages >= CLOCK_PAGES_MIN && (changed || self.pages <= CLOCK_AT_ONCE_PAGES_MAX);
        if self.clock.is_some() || !is_worth_it {
            return false;
        }
        let mut clock = Box::new(SiteClock::default());
        clock.shared_by(self.pages);
        self.clock = Some(clock);
        true
    }

    /// v and v·mean of the site in the mean over all sites.
    pub fn share(&self) -> (f64, f64) {
        let compared = f64::from(self.all.compared);
        if compared == 0.0 {
            return (0.0, 0.0);
        }
        let share = compared / (compared + POOLING);
        (share, share * self.all.rates / compared)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_prior_lies_between_what_was_expected_and_what_was_seen(
            rates in prop::collection::vec(0.001f32..10.0, 1..40),
            parent in 0.001f64..10.0,
        ) {
            let mut site = Site::default();
            let group = site.group_of(7);
            rates.iter().for_each(|&rate| site.count_rate(group, 0.0, rate));
            site.fit(parent, true);
            let seen = rates.iter().map(|&rate| f64::from(rate)).sum::<f64>() / rates.len() as f64;
            let within = |mean: f32| {
                let (low, high) = (parent.min(seen) * (1.0 - 1e-6), parent.max(seen) * (1.0 + 1e-6));
                (low..=high).contains(&f64::from(mean))
            };
            prop_assert!(within(site.all.mean), "{} from {parent} and {seen}", site.all.mean);
            rates.iter().for_each(|&rate| site.count_rate(group, rate, 0.0));
            prop_assert_eq!((site.all.compared, site.paths[0].compared), (0, 0));
            prop_assert!(site.all.rates.abs() < 1e-9);
        }
    }

    #[test]
    fn a_prior_that_hardly_moves_moves_no_page() {
        let mut site = Site::default();
        site.count_rate(0, 0.0, 0.5);
        assert!(site.fit(0.5, false) == site.prior_moved);
        site.settle_priors();
        site.count_rate(0, 0.0, 0.55);
        assert!(!site.fit(0.5, false) && !site.has_prior_moved(0));
        (0..20).for_each(|_| site.count_rate(0, 0.0, 5.0));
        assert!(site.fit(0.5, false) && site.has_prior_moved(0));
    }

    #[test]
    fn a_large_site_gets_its_clock_with_the_first_change_and_a_small_one_at_once() {
        let begins = |pages, changed| Site { pages, ..Site::default() }.begin_clock(changed);
        assert!(!begins(1, true) && begins(2, false) && begins(CLOCK_AT_ONCE_PAGES_MAX, false));
        assert!(!begins(CLOCK_AT_ONCE_PAGES_MAX + 1, false) && begins(CLOCK_AT_ONCE_PAGES_MAX + 1, true));
    }

    #[test]
    fn priors_are_fitted_once_a_day_or_after_as_many_visits_as_there_are_pages() {
        let mut site = Site { pages: 30, ..Site::default() };
        assert!(site.is_fitting_due(7));
        site.all.mean = 1.0;
        let due = (1..=30).filter(|_| site.is_fitting_due(7)).count();
        assert_eq!((due, site.fitting.visits_since), (1, 0));
        assert!(site.is_fitting_due(8));
    }

    #[test]
    fn more_paths_than_a_byte_can_number_have_no_group() {
        let mut site = Site::default();
        let groups: Vec<u8> = (0..300).map(|path| site.group_of(path)).collect();
        assert_eq!(groups[..3], [1, 2, 3]);
        assert_eq!((groups[254], groups[255], groups[299]), (255, 0, 0));
        assert!(site.group(0).is_none() && site.group(255).is_some());
    }
}
