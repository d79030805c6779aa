//! Trains of pages: pages of a site that nobody compared yet differ by their last visit alone. They are worth the same a time
//! after it, and whatever the clock of their site does, who was visited before another is worth no less. So the one whose visit
//! lies longest ago leads, and the others follow: they wait nowhere, stand on no rung and are not looked at until it is their
//! turn to lead. Where a crawl begins that is every page.
//!
//! Who leads follows from the pages that are at home, in whatever order they came.

use std::collections::VecDeque;

use super::page::{Page, Place};
use super::pieces::Pages;
use super::policy::Index;
use super::rule::Timing;
use super::site::Site;

/// A site has no more trains than this, for pages that are alike are looked for among all of them; what is beyond goes alone.
const TRAINS_MAX: usize = 16;
/// There is room for one in so many more followers than there are.
const FOLLOWERS_SPARE: usize = 4;
/// Numbers of pages are dense, so that nobody has this one.
pub(super) const NOBODY: u32 = u32::MAX;

#[derive(Clone, Debug)]
#[repr(C)]
pub(super) struct Train {
    kind: Kind,
    /// Nobody from when it left until the next one leads.
    leader: u32,
    /// By their last visits and numbers, unless they are mixed.
    followers: VecDeque<u32>,
    /// Some that came home just now are not in order.
    is_mixed: bool,
}

/// What pages of a train have in common: their group, which has one prior, and their importance.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Kind {
    group: u8,
    importance: u16,
}

impl Kind {
    fn of(page: &Page) -> Self {
        Kind { group: page.group, importance: page.importance_code() }
    }
}

/// What a page that came home does there.
enum Part {
    Alone,
    Leads,
    /// It leads from now on, and this one no longer does.
    Overtakes(u32),
    Follows,
}

impl Train {
    pub fn group(&self) -> u8 {
        self.kind.group
    }

    pub fn followers(&self) -> impl ExactSizeIterator<Item = u32> {
        self.followers.iter().copied()
    }

    pub fn is_led(&self) -> bool {
        self.leader != NOBODY
    }

    /// Who leads next.
    pub fn next(&self) -> Option<&u32> {
        self.followers.front()
    }

    fn follow(&mut self, number: u32, pages: &Pages) {
        let last = self.followers.back();
        self.is_mixed |= last.is_some_and(|&last| turn_of(pages, last) > turn_of(pages, number));
        if self.followers.len() == self.followers.capacity() {
            self.followers.reserve_exact(1 + self.followers.len() / FOLLOWERS_SPARE);
        }
        self.followers.push_back(number);
    }

    fn settle(&mut self, pages: &Pages) {
        if std::mem::take(&mut self.is_mixed) {
            self.followers.make_contiguous().sort_by_key(|&number| turn_of(pages, number));
        }
    }
}

/// Where the train of a kind is, or where it belongs: they are in order. Mostly all pages of a site weigh the same and there are
/// trains of all its groups, so that the first look finds it.
fn find(trains: &[Train], kind: Kind) -> Result<usize, usize> {
    let likely = likely(kind);
    match trains.get(likely).is_some_and(|train| train.kind == kind) {
        true => Ok(likely),
        false => trains.binary_search_by_key(&kind, |train| train.kind),
    }
}

fn likely(kind: Kind) -> usize {
    usize::from(kind.group.saturating_sub(1))
}

/// The order in which pages of a train lead.
fn turn_of(pages: &Pages, number: u32) -> (u32, u32) {
    (pages.at(number).last, number)
}

impl Index {
    /// Whether a page differs from others of its kind by its last visit alone. Pages of sites that are not known have nothing in
    /// common, and where bytes count no two weigh the same.
    fn is_alike(&self, number: u32) -> bool {
        let page = self.pages.at(number);
        let by_belief = self.rule.timing == Timing::Value && !self.rule.known_rates && !self.counts_bytes;
        by_belief && page.site > 0 && page.is_unheard() && !self.hints.contains_key(&number)
    }

    /// Finds the part of a page that comes home; whether it follows another there.
    pub(super) fn joins_train(&mut self, number: u32) -> bool {
        match self.part_of(number) {
            Part::Alone | Part::Leads => return false,
            Part::Overtakes(before) => {
                self.stand_back(before);
                return false;
            }
            Part::Follows => {}
        }
        self.pages.at_mut(number).go(Place::Following);
        true
    }

    fn part_of(&mut self, number: u32) -> Part {
        if !self.is_alike(number) {
            return Part::Alone;
        }
        let page = self.pages.at(number);
        let (kind, pages) = (Kind::of(page), &self.pages);
        let Site { trains, is_mixed, .. } = &mut self.sites[page.site as usize];
        let index = match find(trains, kind) {
            Ok(index) => index,
            Err(_) if trains.len() >= TRAINS_MAX => return Part::Alone,
            Err(index) => {
                trains.reserve_exact(1);
                trains.insert(index, Train { kind, leader: number, followers: VecDeque::new(), is_mixed: false });
                return Part::Leads;
            }
        };
        let train = &mut trains[index];
        if turn_of(pages, train.leader) < turn_of(pages, number) {
            train.follow(number, pages);
            *is_mixed |= train.is_mixed;
            return Part::Follows;
        }
        let before = std::mem::replace(&mut train.leader, number);
        train.followers.push_front(before);
        Part::Overtakes(before)
    }

    /// Pages came home to a site: those that follow are put in order.
    pub(super) fn settle_trains(&mut self, site: u32) {
        let life = &mut self.sites[site as usize];
        if std::mem::take(&mut life.is_mixed) {
            life.trains.iter_mut().for_each(|train| train.settle(&self.pages));
        }
    }

    /// Takes a page out of its train; whether it led others.
    pub(super) fn leave_train(&mut self, number: u32) -> bool {
        let page = self.pages.at(number);
        // Whoever was heard of left its train before.
        if !page.is_unheard() {
            return false;
        }
        let (kind, pages) = (Kind::of(page), &self.pages);
        let Site { trains, is_unled, .. } = &mut self.sites[page.site as usize];
        let Ok(index) = find(trains, kind) else { return false };
        let train = &mut trains[index];
        let led = train.leader == number;
        if led {
            train.leader = NOBODY;
        } else if page.place() == Place::Following {
            let place = train.followers.binary_search_by_key(&turn_of(pages, number), |&other| turn_of(pages, other));
            place.ok().map(|place| train.followers.remove(place));
        }
        if train.followers.is_empty() && !train.is_led() {
            trains.remove(index);
            if trains.is_empty() {
                trains.shrink_to_fit();
            }
            return false;
        }
        *is_unled |= led;
        led
    }

    /// Lets the next page lead where the one that led has left. Its site must be queued after it, and its best step shown.
    pub(super) fn lead_on(&mut self, site: u32, now: f64, near: &mut usize) {
        if !std::mem::take(&mut self.sites[site as usize].is_unled) {
            return;
        }
        for index in 0..self.sites[site as usize].trains.len() {
            self.lead_on_in(site, index, now, near);
        }
    }

    fn lead_on_in(&mut self, site: u32, index: usize, now: f64, near: &mut usize) {
        let train = &mut self.sites[site as usize].trains[index];
        if train.is_led() {
            return;
        }
        let Some(next) = train.followers.pop_front() else { return };
        train.leader = next;
        if train.followers.capacity() > 2 * FOLLOWERS_SPARE + 2 * train.followers.len() {
            train.followers.shrink_to(train.followers.len());
        }
        self.pages.at_mut(next).go(Place::Home);
        self.set_out(next, now, near);
    }

    /// The same at once when this leader was drawn, for the next page may be the next best.
    pub(super) fn lead_on_at_once(&mut self, leader: u32, now: f64) {
        let page = self.pages.at(leader);
        let (site, life) = (page.site, &self.sites[page.site as usize]);
        let index = find(&life.trains, Kind::of(page)).ok();
        let next = index.and_then(|index| life.trains[index].next().map(|&next| (index, next)));
        let Some((index, next)) = next else { return self.show_head(site) };
        let bucket = self.bucket_of(self.pages.at(next), 0);
        // Where nobody has waited in its bucket, that is made by a reading; and a site of which all stood on the ladder when the
        // floor sank has yet to follow.
        if (life.clock.is_some() && bucket.is_none()) || life.floor > self.floor {
            self.sites[site as usize].shaken = true;
            return self.attend(site, &[], now);
        }
        // Nobody else of the site was drawn since it was attended to.
        self.sites[site as usize].is_unled = false;
        self.lead_on_in(site, index, now, &mut bucket.unwrap_or(0));
        self.show_head(site);
        self.queue_sooner(site, bucket, now);
    }

    /// Where bytes count, everybody goes alone.
    pub(super) fn part_trains(&mut self) {
        let following: Vec<u32> =
            self.pages.numbers().filter(|&number| self.pages.at(number).place() == Place::Following).collect();
        for number in following {
            self.unplace(number);
            self.rest(number);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::reference::hour::Hour;
    use super::*;
    use crate::{Held, Refresh, Seen, View};
    use proptest::prelude::*;
    use vernal_model::{Chance, Moment, PageKey, Partition, PolicyState, Span};

    const SITES: u32 = 3;

    #[derive(Clone, Debug)]
    enum Act {
        Recall(u32, u64),
        Forget(u32),
        Weigh(u32, f32),
        Hint(u32),
        /// So many visits are chosen; each is put back, or finds a change or none.
        Choose(usize, Option<bool>),
    }

    fn acts() -> impl Strategy<Value = Vec<Act>> {
        let page = || 0u32..40;
        let act = prop_oneof![
            8 => (page(), 0u64..90).prop_map(|(page, age)| Act::Recall(page, age)),
            1 => page().prop_map(Act::Forget),
            2 => (page(), 1u8..3).prop_map(|(page, importance)| Act::Weigh(page, importance.into())),
            1 => page().prop_map(Act::Hint),
            4 => (0usize..4, any::<Option<bool>>()).prop_map(|(visits, changed)| Act::Choose(visits, changed)),
        ];
        prop::collection::vec(act, 1..60)
    }

    fn key(number: u32) -> PageKey {
        PageKey::new(Partition(0), number)
    }

    fn recall(policy: &mut Index, number: u32, last_visit: Moment) {
        policy.recall(&Held {
            path: number % 2,
            ..Held::new(key(number), number % SITES, last_visit, &PolicyState::default())
        });
    }

    fn act(policy: &mut Index, act: &Act, now: Moment) {
        match *act {
            Act::Recall(number, age) => recall(policy, number, now - Span::from_hours(age)),
            Act::Forget(number) => policy.forget(key(number)),
            Act::Weigh(number, importance) => policy.weigh(key(number), importance),
            Act::Hint(number) => policy.hint(key(number), Span::from_hours(7)),
            Act::Choose(visits_left, found) => {
                let view = Hour { visits_left, held: 40 };
                for page in policy.choose(&view, now, &mut Chance::new(1)) {
                    match found {
                        None => policy.put_back(page),
                        Some(changed) => {
                            let (previous, last_modified) = (None, None);
                            let changed = Some(changed);
                            policy.learn(&Seen {
                                page,
                                moment: now,
                                previous,
                                changed,
                                degree: 0.0,
                                last_modified,
                                wire_bytes: 0,
                            });
                        }
                    }
                }
            }
        }
    }

    /// Leaders go before their followers, these are in order, and everybody is counted once.
    fn check(policy: &Index) {
        let mut following = 0;
        for (site, life) in policy.sites.iter().enumerate() {
            let mut of_site = 0;
            for train in &life.trains {
                assert!(train.is_led() && !train.is_mixed);
                assert_eq!(policy.pages.at(train.leader).place(), Place::Home);
                let turns =
                    || std::iter::once(train.leader).chain(train.followers()).map(|n| turn_of(&policy.pages, n));
                assert!(turns().is_sorted_by(|one, next| one < next));
                for number in train.followers() {
                    let page = policy.pages.at(number);
                    assert_eq!((page.place(), Kind::of(page)), (Place::Following, train.kind));
                    assert!(policy.is_alike(number) && page.site as usize == site);
                    of_site += 1;
                }
            }
            let at_home = |number: &u32| policy.is_home(*number) && policy.pages.at(*number).site as usize == site;
            assert_eq!(life.at_home as usize, policy.pages.numbers().filter(at_home).count());
            assert_eq!(life.waiting(), life.at_home - of_site);
            following += of_site;
        }
        let all = policy.pages.numbers().filter(|&number| policy.pages.at(number).place() == Place::Following);
        assert_eq!(all.count(), following as usize);
    }

    proptest! {
        #[test]
        fn trains_hold_whatever_becomes_of_their_pages(acts in acts()) {
            for name in ["vernal", "bayes", "index"] {
                let mut policy = Index::named(name).unwrap();
                let mut now = Moment::from_secs(1_700_000_000);
                for one in &acts {
                    act(&mut policy, one, now);
                    now += Span::from_hours(1);
                    policy.best(&Hour { visits_left: 1, held: 40 }, now);
                    check(&policy);
                }
            }
        }

        #[test]
        fn the_order_in_which_pages_came_home_changes_no_choice(ages in prop::collection::vec(0u64..200, 1..40), turned in any::<u64>()) {
            let now = Moment::from_secs(1_700_000_000);
            let numbers: Vec<u32> = (0..ages.len() as u32).collect();
            let mut mixed = numbers.clone();
            mixed.sort_by_key(|&number| Chance::new(turned).numbered(number.into()).below(1 << 30));
            let [mut at_once, mut one_by_one] = [0, 1].map(|_| Index::named("vernal").unwrap());
            let view = Hour { visits_left: 7, held: ages.len() as u64 };
            let last = |number: u32| now - Span::from_hours(ages[number as usize]);
            numbers.iter().for_each(|&number| recall(&mut at_once, number, last(number)));
            for &number in &mixed {
                recall(&mut one_by_one, number, last(number));
                one_by_one.best(&view, now);
            }
            for hour in 1..20 {
                let now = now + Span::from_hours(hour);
                let chosen = at_once.choose(&view, now, &mut Chance::new(1));
                prop_assert_eq!(&chosen, &one_by_one.choose(&view, now, &mut Chance::new(1)));
                let rested = |policy: &mut Index| chosen.iter().skip(3).for_each(|&page| policy.put_back(page));
                rested(&mut at_once);
                rested(&mut one_by_one);
            }
        }
    }

    /// Where bytes count.
    struct ByBytes(Hour);

    impl View for ByBytes {
        fn visits_left(&self) -> usize {
            self.0.visits_left
        }
        fn has_room(&self, page: PageKey) -> bool {
            self.0.has_room(page)
        }
        fn refresh_min(&self) -> Span {
            self.0.refresh_min()
        }
        fn held(&self) -> u64 {
            self.0.held
        }
        fn per_day(&self) -> f64 {
            self.0.per_day()
        }
        fn counts_bytes(&self) -> bool {
            true
        }
    }

    #[test]
    fn pages_go_alone_where_bytes_count() {
        let mut policy = Index::named("vernal").unwrap();
        let now = Moment::from_secs(1_700_000_000);
        (0..30).for_each(|number| recall(&mut policy, number, now - Span::from_hours(number.into())));
        let hour = || Hour { visits_left: 1, held: 30 };
        policy.best(&hour(), now);
        assert_eq!(policy.sites.iter().map(Site::waiting).sum::<u32>(), 2 * SITES);
        policy.best(&ByBytes(hour()), now);
        check(&policy);
        assert_eq!(policy.sites.iter().map(Site::waiting).sum::<u32>(), 30);
    }
}
