//! Sections: a path with enough pages has a clock and a prior of its own, because large sites publish by sections. To the
//! scheduler a section is one more site; pages move to it when it begins, and stay.

use super::dial::drain_unless;
use super::policy::Index;
use super::site::{Entry, Site};

/// A path is a section if it has so many pages, and the site as many beside it: fewer tell each other too little, and each
/// section is kept like a site.
pub(super) const SECTION_PAGES_MIN: u32 = 20;
/// So many sections a site may have; what is remembered of all of them is written as one row.
pub(super) const SECTIONS_MAX: usize = 32;

impl Index {
    pub(super) fn new_site(&mut self) -> u32 {
        self.sites.push(Site::new(self.floor));
        self.sites.len() as u32 - 1
    }

    /// The site as a whole that a section is part of; a site itself.
    pub(super) fn whole(&self, site: u32) -> u32 {
        match self.sites[site as usize].whole {
            0 => site,
            whole => whole,
        }
    }

    /// One more page of a path: where it belongs, and its group.
    pub(super) fn admit(&mut self, site: u32, path: u32) -> (u32, u8) {
        let group = self.sites[site as usize].group_of(path);
        let Some(index) = usize::from(group).checked_sub(1) else { return (site, group) };
        self.sites[site as usize].groups[index].pages += 1;
        self.begin_sections(site);
        match self.sites[site as usize].groups[index].section {
            0 => (site, group),
            section => (section, group),
        }
    }

    /// One page less.
    pub(super) fn dismiss(&mut self, site: u32, group: u8) {
        let whole = self.whole(site);
        self.sites[site as usize].pages -= 1;
        self.share_clock(site);
        if let Some(index) = usize::from(group).checked_sub(1) {
            let of_path = &mut self.sites[whole as usize].groups[index];
            of_path.pages = of_path.pages.saturating_sub(1);
        }
    }

    /// Begins those sections of a site that its pages ask for, in whatever order they came.
    fn begin_sections(&mut self, site: u32) {
        if !self.rule.site_clock || site == 0 {
            return;
        }
        let groups = &self.sites[site as usize].groups;
        let pages: u32 = groups.iter().map(|group| group.pages).sum();
        if groups.len() < 2 || pages < 2 * SECTION_PAGES_MIN {
            return;
        }
        for index in 0..groups.len() {
            let group = &self.sites[site as usize].groups[index];
            if group.pages >= SECTION_PAGES_MIN && pages - group.pages >= SECTION_PAGES_MIN {
                self.begin_section(site, index);
            }
        }
    }

    /// A group of a site becomes a section, if it is none and may be.
    pub(super) fn begin_section(&mut self, site: u32, group: usize) {
        let groups = &self.sites[site as usize].groups;
        let sections = || groups.iter().filter(|group| group.section > 0).count();
        if !self.rule.site_clock || site == 0 || groups[group].section > 0 || sections() >= SECTIONS_MAX {
            return;
        }
        let section = self.new_site();
        self.sites[section as usize].whole = site;
        self.sites[site as usize].groups[group].section = section;
        self.splitting.push(site);
    }

    /// Lets pages move to sections that began since this was last asked. Those that were chosen move when they are heard of.
    pub(super) fn move_to_sections(&mut self) {
        if self.splitting.is_empty() {
            return;
        }
        for site in std::mem::take(&mut self.splitting) {
            for number in self.at_home_in_sections(site) {
                self.unplace(number);
                self.move_to_section(number);
                self.rest(number);
            }
        }
        let mut resting: Vec<(u32, u32)> = self.rests().chain(self.to_take_up()).collect();
        resting.sort_unstable();
        resting.into_iter().for_each(|(_, number)| self.move_to_section(number));
        self.resting.move_to(|number| self.pages.at(number).site);
    }

    /// Takes the pages out of a site's buckets that belong to its sections.
    fn at_home_in_sections(&mut self, site: u32) -> Vec<u32> {
        let mut moving = Vec::new();
        let life = &mut self.sites[site as usize];
        let (mut buckets, mut older) = (std::mem::take(&mut life.buckets), std::mem::take(&mut life.older));
        let stays = |entry: &Entry| {
            let group = life.group(self.pages.at(entry.page).group);
            group.is_none_or(|group| group.section == 0)
        };
        buckets.iter_mut().for_each(|bucket| bucket.drain_unless(stays, &mut moving));
        drain_unless(&mut older, stays, &mut moving);
        (life.buckets, life.older) = (buckets, older);
        moving.retain(|entry| self.stands(entry, site));
        // A page that was put back may wait under the key that it had before, and then both entries stand for it.
        let mut pages: Vec<u32> = moving.into_iter().map(|entry| entry.page).collect();
        let life = &self.sites[site as usize];
        let parting =
            life.trains.iter().filter(|train| life.group(train.group()).is_some_and(|group| group.section > 0));
        pages.extend(parting.flat_map(|train| train.followers()));
        pages.sort_unstable();
        pages.dedup();
        pages
    }

    /// A page that is neither at home nor counted anywhere else goes where its path belongs now.
    pub(super) fn move_to_section(&mut self, number: u32) {
        let page = *self.pages.at(number);
        let life = &self.sites[page.site as usize];
        let section = if life.whole == 0 { life.group(page.group).map_or(0, |group| group.section) } else { 0 };
        if section == 0 {
            return;
        }
        let topics = self.take_topics(number);
        if page.rate() > 0.0 {
            self.set_rate(number, 0.0);
        }
        self.sites[page.site as usize].pages -= 1;
        self.pages.at_mut(number).site = section;
        let life = &mut self.sites[section as usize];
        life.pages += 1;
        life.sample = number;
        self.share_clock(page.site);
        self.share_clock(section);
        if page.rate() > 0.0 {
            self.set_rate(number, page.rate());
        }
        if let Some(topics) = topics {
            self.put_topics(number, topics);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::reference::hour::Hour;
    use super::*;
    use crate::{Held, Refresh, Seen};
    use vernal_model::{Chance, Moment, PageKey, Partition, PolicyState, Span};

    #[test]
    fn pages_that_rest_while_their_section_begins_come_home_to_it() {
        let pages = 2 * SECTION_PAGES_MIN;
        let key = |number| PageKey::new(Partition(0), number);
        let (mut policy, start) = (Index::named("vernal").unwrap(), Moment::from_secs(1_700_000_000));
        let recall = |policy: &mut Index, number: u32| {
            policy.recall(&Held { path: number % 2, ..Held::new(key(number), 0, start, &PolicyState::default()) });
        };
        let choose = |policy: &mut Index, day: u64| {
            let view = Hour { visits_left: pages as usize, held: pages.into() };
            let now = start + Span::from_hours(24 * day);
            let mut chosen = policy.choose(&view, now, &mut Chance::new(1));
            for &page in &chosen {
                let (previous, last_modified, changed) = (None, None, Some(false));
                let seen = Seen { page, moment: now, previous, changed, degree: 0.0, last_modified, wire_bytes: 0 };
                policy.learn(&seen);
            }
            chosen.sort_unstable();
            chosen
        };
        // The last page makes both paths sections, and all others rest by then.
        (0..pages - 1).for_each(|number| recall(&mut policy, number));
        assert_eq!(choose(&mut policy, 1).len() as u32, pages - 1);
        recall(&mut policy, pages - 1);
        let all: Vec<PageKey> = (0..pages).map(key).collect();
        assert_eq!(choose(&mut policy, 2), all);
        assert_eq!(policy.sites.iter().filter(|site| site.whole > 0).count(), 2);
    }
}
