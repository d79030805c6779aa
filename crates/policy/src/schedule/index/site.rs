//! What the index policies keep of a site: its prior rates, its clock, and where its pages wait.

use std::cmp::Ordering;

use super::dial::{Bucket, Dial};
use super::entries::Entries;
use super::rungs::Ladder;
use super::trains::Train;
use crate::estimate::SiteClock;

/// A path group more or less says nothing on a site with so many.
pub(super) const GROUPS_MAX: usize = 255;
/// How many pages' worth the level above counts in a pooled prior.
pub(super) const POOLING: f64 = 5.0;
/// A prior moves only when it is off by this much (in logarithm): each move looks at all pages of the site.
const PRIOR_STEP: f64 = 0.2;

#[derive(Clone, Debug, Default)]
pub(super) struct Site {
    pub clock: Option<Box<SiteClock>>,
    /// What was last read off the clock.
    pub dial: Dial,
    /// The earliest entry that the list of wakes holds for it.
    pub queued: f64,
    /// Those that follow others among them.
    pub at_home: u32,
    /// The rung from which on all its pages at home stand on the ladder.
    pub floor: u16,
    /// Pages of it must be placed anew: all, or those of groups whose prior moved.
    pub stale: bool,
    pub moved: bool,
    /// Pages at home whose value is above the floor.
    pub ladder: Ladder,
    /// Pages at home by the bin of their last visit; those before all bins, or of a site without a clock, in `older`.
    pub older: Entries,
    pub shaken: bool,
    /// Its state is new since it was last asked for.
    pub untold: bool,
    /// A train of it may have lost the page that led, and followers may not be in order: who attends to the site passes by its
    /// trains otherwise.
    pub is_unled: bool,
    pub is_mixed: bool,
    pub pages: u32,
    /// Pages at home that follow others.
    pub trains: Vec<Train>,
    pub groups: Vec<Group>,
    /// The day on which its priors were last fitted, and the visits since.
    pub fitted_day: u32,
    pub unfitted: u32,
    /// Of a section, the site that it is part of; 0 otherwise.
    pub whole: u32,
    /// Any page of it, to ask whether the site has room.
    pub sample: u32,
    /// The whole site as one group.
    pub all: Group,
    pub buckets: Vec<Bucket>,
}

/// Pages that are thought alike: Σ of their mean rates, how many were compared, and the prior fitted to them.
#[derive(Copy, Clone, Debug, Default)]
pub(super) struct Group {
    pub path: u32,
    pub compared: u32,
    pub rates: f64,
    pub pages: u32,
    /// The section that its pages belong to; 0 if it is none.
    pub section: u32,
    /// 0 until it is fitted.
    pub mean: f32,
    /// The prior moved, and its pages must be placed anew.
    pub moved: bool,
}

/// Smallest key first.
#[derive(Copy, Clone, Debug)]
pub(super) struct Entry {
    pub key: f32,
    pub page: u32,
}

impl Group {
    /// Fits the prior anew; whether it moved. The first one begins with what was expected before, which is the parent's,
    /// and `follows` says whether that moved since the pages were placed.
    pub fn fit(&mut self, parent: f64, follows: bool) -> bool {
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

    pub fn count(&mut self, before: f32, after: f32) {
        self.rates += f64::from(after) - f64::from(before);
        self.compared = self.compared + u32::from(after > 0.0) - u32::from(before > 0.0);
    }
}

impl Site {
    pub fn new(floor: u16) -> Self {
        Site { floor, queued: f64::INFINITY, ..Site::default() }
    }

    /// The number of a path's group within the site, from 1; 0 when there are too many.
    pub fn group_of(&mut self, path: u32) -> u8 {
        if let Some(index) = self.groups.iter().position(|group| group.path == path) {
            return index as u8 + 1;
        }
        if self.groups.len() >= GROUPS_MAX {
            return 0;
        }
        self.groups.push(Group { path, ..Group::default() });
        self.groups.len() as u8
    }

    pub fn group(&self, group: u8) -> Option<&Group> {
        self.groups.get(usize::from(group).checked_sub(1)?)
    }

    pub fn count(&mut self, group: u8, before: f32, after: f32) {
        self.all.count(before, after);
        if let Some(group) = usize::from(group).checked_sub(1).and_then(|index| self.groups.get_mut(index)) {
            group.count(before, after);
        }
    }

    /// Fits the priors anew; whether any moved.
    pub fn fit(&mut self, global: f64, by_path: bool) -> bool {
        self.moved |= self.all.fit(global, false);
        if by_path && self.groups.len() > 1 {
            let (parent, follows) = (f64::from(self.all.mean), self.all.moved);
            for group in self.groups.iter_mut().filter(|group| group.compared > 0) {
                self.moved |= group.fit(parent, follows);
            }
        }
        self.moved
    }

    /// Whether the prior of a page in this group moved since the site's pages were last placed.
    pub fn has_moved(&self, group: u8) -> bool {
        self.group(group).filter(|group| group.mean > 0.0).unwrap_or(&self.all).moved
    }

    /// All pages are placed by the priors as they are.
    pub fn settle(&mut self) {
        (self.stale, self.moved, self.all.moved) = (false, false, false);
        self.groups.iter_mut().for_each(|group| group.moved = false);
    }

    /// Pages at home that follow no other: they wait, or stand on the ladder.
    pub fn waiting(&self) -> u32 {
        self.at_home - self.trains.iter().map(|train| train.followers().len() as u32).sum::<u32>()
    }

    /// The bucket of pages that were last visited at this instant; the one that is `near` is looked at first.
    pub fn bucket_of(&self, last: f64, near: usize) -> Option<usize> {
        if self.buckets.get(near).is_some_and(|bucket| bucket.covers(last)) {
            return Some(near);
        }
        let index = self.buckets.partition_point(|bucket| bucket.start() <= last).checked_sub(1)?;
        self.buckets[index].covers(last).then_some(index)
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

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Entry {}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Entry {
    fn cmp(&self, other: &Self) -> Ordering {
        other.key.total_cmp(&self.key).then(other.page.cmp(&self.page))
    }
}
