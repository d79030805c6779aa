//! All sites by their numbers, and their sections: a path with enough pages has a clock and a prior of its own, because large
//! sites publish by sections. Everywhere else a section is one more site; pages move to it when it begins, and stay.

use super::site::Site;

/// Sites with a number beyond this are treated as unknown: their pages share the first place.
const SITES_MAX: u32 = 1 << 27;
/// A path is a section if it has so many pages, and the site as many beside it: fewer tell each other too little, and each
/// section costs as much as a site.
pub const SECTION_PAGES_MIN: u32 = 20;
/// A site has no more sections: what is remembered of all of them is written as one row.
pub const SECTIONS_MAX: usize = 32;

#[derive(Clone, Debug)]
pub struct Sites {
    /// Sites and sections; the first is for pages whose site is not known.
    all: Vec<Site>,
    /// The place of each site among these, by its number; 0 if it was not met.
    places: Vec<u32>,
    /// Sites of which sections began, and whose pages have yet to move.
    splitting: Vec<u32>,
    has_sections: bool,
}

impl Sites {
    pub fn new(has_sections: bool) -> Self {
        Sites { all: vec![Site::default()], places: Vec::new(), splitting: Vec::new(), has_sections }
    }

    pub fn len(&self) -> usize {
        self.all.len()
    }

    pub fn at(&self, site: u32) -> &Site {
        &self.all[site as usize]
    }

    pub fn at_mut(&mut self, site: u32) -> &mut Site {
        &mut self.all[site as usize]
    }

    pub fn iter(&self) -> impl Iterator<Item = &Site> {
        self.all.iter()
    }

    /// Their places, of those that a filter lets pass.
    pub fn those(&self, filter: impl Fn(&Site) -> bool) -> Vec<u32> {
        (0u32..).zip(&self.all).filter(|(_, site)| filter(site)).map(|(place, _)| place).collect()
    }

    /// The place of a site, by its number.
    pub fn place_of(&mut self, number: u32) -> u32 {
        if number >= SITES_MAX {
            return 0;
        }
        let index = number as usize;
        if self.places.len() <= index {
            self.places.resize(index + 1, 0);
        }
        if self.places[index] == 0 {
            self.places[index] = self.add(Site::default());
        }
        self.places[index]
    }

    /// The site as a whole that a section is part of; a site itself.
    pub fn whole(&self, site: u32) -> u32 {
        match self.at(site).section_of {
            0 => site,
            whole => whole,
        }
    }

    /// One more page of a path: the place where it belongs, and its group.
    pub fn admit(&mut self, site: u32, path: u32) -> (u32, u8) {
        let group = self.at_mut(site).group_of(path);
        let Some(of_path) = self.at_mut(site).group_mut(group) else { return (site, group) };
        of_path.pages += 1;
        self.begin_sections(site);
        (self.section_of(site, group).unwrap_or(site), group)
    }

    /// A page of a group is no longer held.
    pub fn dismiss(&mut self, site: u32, group: u8) {
        self.at_mut(site).pages -= 1;
        let whole = self.whole(site);
        if let Some(of_path) = self.at_mut(whole).group_mut(group) {
            of_path.pages = of_path.pages.saturating_sub(1);
        }
    }

    /// A page of one place belongs to another from now on.
    pub fn move_page(&mut self, number: u32, from: u32, to: u32) {
        self.at_mut(from).pages -= 1;
        let site = self.at_mut(to);
        site.pages += 1;
        site.sample = number;
    }

    /// The section of a site that pages of this group belong to.
    pub fn section_of(&self, site: u32, group: u8) -> Option<u32> {
        let site = self.at(site);
        let section = site.group(group).filter(|_| site.section_of == 0)?.section;
        (section > 0).then_some(section)
    }

    /// A path group of a site becomes a section, if it is none and may be.
    pub fn begin_section(&mut self, site: u32, group: u8) {
        let whole = self.at(site);
        let sections = || whole.paths.iter().filter(|group| group.section > 0).count();
        let may_begin = self.has_sections && site > 0 && whole.group(group).is_some_and(|group| group.section == 0);
        if !may_begin || sections() >= SECTIONS_MAX {
            return;
        }
        let section = self.add(Site { section_of: site, ..Site::default() });
        if let Some(group) = self.at_mut(site).group_mut(group) {
            group.section = section;
        }
        self.splitting.push(site);
    }

    /// Sites of which sections began since this was last asked.
    pub fn take_splitting(&mut self) -> Vec<u32> {
        std::mem::take(&mut self.splitting)
    }

    /// Begins those sections of a site that its pages ask for, in whatever order they came.
    fn begin_sections(&mut self, site: u32) {
        let paths = &self.at(site).paths;
        let pages: u32 = paths.iter().map(|group| group.pages).sum();
        if !self.has_sections || site == 0 || paths.len() < 2 || pages < 2 * SECTION_PAGES_MIN {
            return;
        }
        for index in 0..paths.len() {
            let own = self.at(site).paths[index].pages;
            if own >= SECTION_PAGES_MIN && pages - own >= SECTION_PAGES_MIN {
                self.begin_section(site, index as u8 + 1);
            }
        }
    }

    fn add(&mut self, site: Site) -> u32 {
        self.all.push(site);
        self.all.len() as u32 - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn sections_do_not_depend_on_the_order_in_which_pages_come(
            paths in prop::collection::vec(0u32..4, 0..160),
            turned in any::<u64>(),
        ) {
            let sections = |paths: &[u32]| {
                let mut sites = Sites::new(true);
                let site = sites.place_of(3);
                paths.iter().for_each(|&path| _ = sites.admit(site, path));
                let begun = sites.at(site).paths.iter().filter(|group| group.section > 0).map(|group| group.path);
                begun.collect::<std::collections::BTreeSet<u32>>()
            };
            let mut mixed = paths.clone();
            mixed.sort_by_key(|&path| vernal_model::Chance::new(turned).numbered(path.into()).bits());
            prop_assert_eq!(sections(&paths), sections(&mixed));
        }
    }

    #[test]
    fn sites_that_are_not_known_share_the_first_place() {
        let mut sites = Sites::new(true);
        assert_eq!((sites.place_of(u32::MAX), sites.place_of(SITES_MAX)), (0, 0));
        assert_eq!((sites.place_of(9), sites.place_of(2), sites.place_of(9)), (1, 2, 1));
    }

    #[test]
    fn a_site_has_no_more_sections_than_are_remembered() {
        let mut sites = Sites::new(true);
        let site = sites.place_of(0);
        (0..100).for_each(|path| (0..SECTION_PAGES_MIN).for_each(|_| _ = sites.admit(site, path)));
        assert_eq!(sites.those(|of| of.section_of == site).len(), SECTIONS_MAX);
        assert!(sites.take_splitting().iter().all(|&splitting| splitting == site));
    }

    #[test]
    fn without_a_site_clock_nothing_is_split() {
        let mut sites = Sites::new(false);
        let site = sites.place_of(0);
        (0..200).for_each(|number| assert_eq!(sites.admit(site, number % 2).0, site));
    }
}
