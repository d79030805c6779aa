//! Unobserved groups: pages of a site of which no visit was compared yet differ by their last visit alone. They are worth the
//! same a time after it, and whatever the clock of their site does, a page that was visited before another is worth no less. So
//! the page whose visit lies longest ago leads, and the others follow: they have no entry in a waiting list and no level, and
//! are not looked at until it is their turn to lead. Where a crawl begins that is every page.
//!
//! Who leads follows from the pages that are eligible, in whatever order they came.

use std::collections::VecDeque;

use crate::schedule::by_value::page::{Page, State};
use crate::schedule::by_value::pages::Pages;

/// A site has no more unobserved groups than this, because pages look for theirs among all of them; other pages wait alone.
const GROUPS_MAX: usize = 16;
/// There is room for one in so many more followers than there are.
const FOLLOWERS_SPARE: usize = 4;

/// All unobserved groups of a site.
#[derive(Clone, Debug, Default)]
pub struct UnobservedGroups {
    /// In the order of their kinds.
    groups: Vec<UnobservedGroup>,
    /// A group may have lost its leader.
    lacks_leader: bool,
    /// Followers of a group may not be in order.
    is_unsorted: bool,
}

#[derive(Clone, Debug)]
struct UnobservedGroup {
    kind: Kind,
    /// Nobody from when it left until the next one leads.
    leader: Option<u32>,
    /// By their last visits and numbers, unless they are unsorted.
    followers: VecDeque<u32>,
    is_unsorted: bool,
}

/// What pages of a group have in common: their path group, which has one prior, and their importance.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Kind {
    path_group: u8,
    importance: u16,
}

impl Kind {
    fn of(page: &Page) -> Self {
        Kind { path_group: page.group, importance: page.importance_code() }
    }
}

/// What a page that becomes eligible does in its group.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Role {
    /// There are too many groups.
    Alone,
    Leads,
    /// It leads from now on, and this page follows.
    Overtakes(u32),
    Follows,
}

impl UnobservedGroups {
    /// A page joins the others of its kind.
    pub fn join(&mut self, number: u32, pages: &Pages) -> Role {
        let kind = Kind::of(pages.at(number));
        let index = match self.find(kind) {
            Ok(index) => index,
            Err(_) if self.groups.len() >= GROUPS_MAX => return Role::Alone,
            Err(index) => {
                let leader = Some(number);
                self.groups.reserve_exact(1);
                self.groups
                    .insert(index, UnobservedGroup { kind, leader, followers: VecDeque::new(), is_unsorted: false });
                return Role::Leads;
            }
        };
        let group = &mut self.groups[index];
        match group.leader {
            Some(leader) if turn_of(pages, number) < turn_of(pages, leader) => {
                group.leader = Some(number);
                group.followers.push_front(leader);
                Role::Overtakes(leader)
            }
            _ => {
                group.follow(number, pages);
                self.is_unsorted |= group.is_unsorted;
                Role::Follows
            }
        }
    }

    /// Pages became eligible: those that follow are put in order.
    pub fn sort(&mut self, pages: &Pages) {
        if std::mem::take(&mut self.is_unsorted) {
            self.groups.iter_mut().for_each(|group| group.sort(pages));
        }
    }

    /// Takes a page out of its group; whether it led others.
    pub fn leave(&mut self, number: u32, pages: &Pages) -> bool {
        let page = pages.at(number);
        let Ok(index) = self.find(Kind::of(page)) else { return false };
        let group = &mut self.groups[index];
        let led = group.leader == Some(number);
        if led {
            group.leader = None;
        } else if page.state() == State::Following {
            let turn = turn_of(pages, number);
            let place = group.followers.binary_search_by_key(&turn, |&other| turn_of(pages, other));
            place.ok().map(|place| group.followers.remove(place));
        }
        if group.followers.is_empty() && group.leader.is_none() {
            self.groups.remove(index);
            if self.groups.is_empty() {
                self.groups.shrink_to_fit();
            }
            return false;
        }
        self.lacks_leader |= led;
        led
    }

    /// Lets the next page lead in every group that lost its leader; these pages.
    pub fn new_leaders(&mut self) -> Vec<u32> {
        match std::mem::take(&mut self.lacks_leader) {
            true => self.groups.iter_mut().filter_map(UnobservedGroup::next_leads).collect(),
            false => Vec::new(),
        }
    }

    /// The page that leads after this one, which has left.
    pub fn next_after(&self, leader: &Page) -> Option<u32> {
        let index = self.find(Kind::of(leader)).ok()?;
        self.groups[index].followers.front().copied()
    }

    /// The followers in groups of these path groups.
    pub fn followers_in(&self, path_group: impl Fn(u8) -> bool) -> impl Iterator<Item = u32> {
        let groups = self.groups.iter().filter(move |group| path_group(group.kind.path_group));
        groups.flat_map(|group| group.followers.iter().copied())
    }

    /// How many pages follow others.
    pub fn followers(&self) -> u32 {
        self.groups.iter().map(|group| group.followers.len() as u32).sum()
    }

    /// Where the group of a kind is, or where it belongs. Mostly all pages of a site weigh the same and there are groups of
    /// all its paths, so that the first look finds it.
    fn find(&self, kind: Kind) -> Result<usize, usize> {
        let likely = usize::from(kind.path_group.saturating_sub(1));
        match self.groups.get(likely).is_some_and(|group| group.kind == kind) {
            true => Ok(likely),
            false => self.groups.binary_search_by_key(&kind, |group| group.kind),
        }
    }

    /// Leaders go before their followers, these are in order, and each page is what its place here says.
    #[cfg(test)]
    pub fn check(&self, pages: &Pages, site: u32) {
        for group in &self.groups {
            let leader = group.leader.expect("every group is led between two choices");
            assert!(!group.is_unsorted);
            assert_eq!(pages.at(leader).state(), State::Eligible);
            let turns = || std::iter::once(leader).chain(group.followers.iter().copied()).map(|n| turn_of(pages, n));
            assert!(turns().is_sorted_by(|one, next| one < next));
            for &number in &group.followers {
                let page = pages.at(number);
                assert_eq!((page.state(), Kind::of(page)), (State::Following, group.kind));
                assert!(page.is_unobserved() && page.site == site);
            }
        }
    }
}

impl UnobservedGroup {
    fn follow(&mut self, number: u32, pages: &Pages) {
        let last = self.followers.back();
        self.is_unsorted |= last.is_some_and(|&last| turn_of(pages, last) > turn_of(pages, number));
        if self.followers.len() == self.followers.capacity() {
            self.followers.reserve_exact(1 + self.followers.len() / FOLLOWERS_SPARE);
        }
        self.followers.push_back(number);
    }

    fn sort(&mut self, pages: &Pages) {
        if std::mem::take(&mut self.is_unsorted) {
            self.followers.make_contiguous().sort_by_key(|&number| turn_of(pages, number));
        }
    }

    fn next_leads(&mut self) -> Option<u32> {
        if self.leader.is_some() {
            return None;
        }
        self.leader = self.followers.pop_front();
        if self.followers.capacity() > 2 * FOLLOWERS_SPARE + 2 * self.followers.len() {
            self.followers.shrink_to(self.followers.len());
        }
        self.leader
    }
}

/// The order in which pages of a group lead.
fn turn_of(pages: &Pages, number: u32) -> (u32, u32) {
    (pages.at(number).last, number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use vernal_model::{PageKey, Partition};

    fn pages(visits: &[u32]) -> Pages {
        let mut pages = Pages::default();
        for (number, &last) in (0u32..).zip(visits) {
            let page = pages.make(PageKey::new(Partition(0), number));
            (page.last, page.site, page.group) = (last, 1, 1 + (number % 2) as u8);
        }
        pages
    }

    fn join(groups: &mut UnobservedGroups, pages: &mut Pages, number: u32) {
        match groups.join(number, pages) {
            Role::Leads | Role::Alone => pages.at_mut(number).enter(State::Eligible),
            Role::Follows => pages.at_mut(number).enter(State::Following),
            Role::Overtakes(before) => {
                pages.at_mut(number).enter(State::Eligible);
                pages.at_mut(before).enter(State::Following);
            }
        }
    }

    proptest! {
        #[test]
        fn pages_of_a_kind_lead_in_the_order_of_their_visits(visits in prop::collection::vec(0u32..30, 1..50)) {
            let (mut pages, mut groups) = (pages(&visits), UnobservedGroups::default());
            (0..visits.len() as u32).for_each(|number| join(&mut groups, &mut pages, number));
            groups.sort(&pages);
            groups.check(&pages, 1);
            let mut expected: Vec<(u32, u32)> = (0u32..).zip(&visits).step_by(2).map(|(number, &last)| (last, number)).collect();
            expected.sort_unstable();
            let mut next = Some(expected[0].1);
            for (_, number) in expected {
                prop_assert_eq!(next, Some(number));
                let led = groups.leave(number, &pages);
                let page = *pages.at(number);
                next = groups.next_after(&page);
                prop_assert_eq!(led, next.is_some());
                let leaders = groups.new_leaders();
                prop_assert_eq!(leaders.first().copied(), next);
                leaders.iter().for_each(|&leader| pages.at_mut(leader).enter(State::Eligible));
            }
        }
    }

    #[test]
    fn a_follower_leaves_without_a_change_of_leader() {
        let (mut pages, mut groups) = (pages(&[5, 0, 6, 0, 7]), UnobservedGroups::default());
        [0, 2, 4].iter().for_each(|&number| join(&mut groups, &mut pages, number));
        assert!(!groups.leave(2, &pages) && groups.new_leaders().is_empty());
        assert_eq!((groups.followers(), groups.next_after(pages.at(0))), (1, Some(4)));
        assert_eq!(groups.followers_in(|group| group == 1).collect::<Vec<u32>>(), [4]);
    }

    #[test]
    fn pages_of_too_many_kinds_wait_alone() {
        let visits = [0; 2 * GROUPS_MAX + 2];
        let (mut pages, mut groups) = (pages(&visits), UnobservedGroups::default());
        for number in 0..visits.len() as u32 {
            pages.at_mut(number).group = number as u8 + 1;
            let role = groups.join(number, &pages);
            assert_eq!(role, if (number as usize) < GROUPS_MAX { Role::Leads } else { Role::Alone });
        }
    }
}
