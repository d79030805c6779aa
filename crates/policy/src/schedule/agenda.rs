//! The pages of a policy in the order of their due Moments, site by site, so that a site without room costs one
//! question and not one for each of its pages.

use std::collections::{BTreeSet, HashMap};
use std::ops::Bound;

use vernal_model::{Moment, PageKey, Span};

use crate::View;
use crate::pages::Pages;

#[derive(Clone, Debug)]
pub(super) struct Agenda<T> {
    pages: Pages<Entry<T>>,
    /// The pages that are not in flight, by group and due Moment. A group is a site, or a page alone while its site is not
    /// known.
    groups: Vec<BTreeSet<(Moment, PageKey)>>,
    /// The first page of each group, with the place of the group: equal due Moments go by the page, whatever its site.
    firsts: BTreeSet<(Moment, PageKey, u32)>,
    /// The place of each group; looked up only, never walked through: its order is chance.
    places: HashMap<u64, u32>,
}

#[derive(Clone, Debug)]
pub(super) struct Entry<T> {
    pub due: Moment,
    pub last_visit: Moment,
    /// What the policy itself knows of the page.
    pub note: T,
    group: u32,
    is_in_flight: bool,
}

/// Which pages may be drawn: those whose due Moment is `wait` ago at `until`, and whose last visit is `refresh_min` ago
/// now. Where due Moments are real, `until` is now; where they are only an order, it is [`Moment::NEVER`].
#[derive(Copy, Clone, Debug)]
pub(super) struct Terms {
    pub wait: Span,
    pub until: Moment,
    pub now: Moment,
}

impl Terms {
    /// Whatever is first, due or not.
    pub fn next_in_order(now: Moment) -> Self {
        Terms { wait: Span::ZERO, until: Moment::NEVER, now }
    }
}

impl<T> Default for Agenda<T> {
    fn default() -> Self {
        Agenda { pages: Pages::default(), groups: Vec::new(), firsts: BTreeSet::new(), places: HashMap::new() }
    }
}

impl<T> Agenda<T> {
    pub fn find(&self, page: PageKey) -> Option<&Entry<T>> {
        self.pages.find(page)
    }

    pub fn len(&self) -> usize {
        self.pages.len()
    }

    pub fn is_waiting(&self, page: PageKey) -> bool {
        self.pages.find(page).is_some_and(|entry| !entry.is_in_flight)
    }

    /// Takes in a page, or one that was in flight again, with its new due Moment.
    pub fn put(&mut self, page: PageKey, site: Option<u32>, last_visit: Moment, due: Moment, note: T) {
        let known = self.take_out(page);
        let group = match (site, known) {
            (Some(site), _) => self.place(u64::from(site)),
            (None, Some(group)) => group,
            (None, None) => self.place(alone(page)),
        };
        self.pages.insert(page, Entry { due, last_visit, note, group, is_in_flight: false });
        self.bring_in(group, due, page);
    }

    /// A page that was chosen was not visited, and waits again.
    pub fn put_back(&mut self, page: PageKey) {
        let Some(entry) = self.pages.find_mut(page).filter(|entry| entry.is_in_flight) else { return };
        entry.is_in_flight = false;
        let (group, due) = (entry.group, entry.due);
        self.bring_in(group, due, page);
    }

    pub fn forget(&mut self, page: PageKey) {
        self.take_out(page);
        self.pages.remove(page);
    }

    /// Draws the pages that the terms allow, earliest first, from sites with room; at most `visits_max`.
    pub fn draw(&mut self, view: &dyn View, terms: Terms, visits_max: usize) -> Vec<PageKey> {
        let mut drawn = Vec::new();
        let mut after = None;
        while drawn.len() < visits_max {
            let Some(first @ (due, _, group)) = self.first_after(after) else { break };
            if due + terms.wait > terms.until {
                break;
            }
            match self.ready_of(group, view, terms) {
                Some(page) => {
                    self.take_out(page);
                    drawn.push(page);
                }
                None => after = Some(first),
            }
        }
        drawn
    }

    /// Whether `draw` has an answer now.
    pub fn is_ready(&self, view: &dyn View, terms: Terms) -> bool {
        self.firsts
            .iter()
            .take_while(|&&(due, ..)| due + terms.wait <= terms.until)
            .any(|&(.., group)| self.ready_of(group, view, terms).is_some())
    }

    /// When `draw` has an answer next, as far as only sites without room do not hold it back.
    pub fn next_due(&self, view: &dyn View, wait: Span, now: Moment) -> Option<Moment> {
        let refresh_min = view.refresh_min();
        let terms = Terms { wait, until: now, now };
        let mut earliest: Option<Moment> = None;
        for &(first_due, _, group) in &self.firsts {
            if earliest.is_some_and(|earliest| earliest <= first_due + wait) {
                break;
            }
            let due = self.first_free(group, refresh_min, wait, now);
            if due.is_some_and(|due| due <= now) && self.ready_of(group, view, terms).is_none() {
                continue;
            }
            earliest = [earliest, due].into_iter().flatten().min();
        }
        earliest.map(|earliest| earliest.max(now))
    }

    /// Marks a page as in flight and gives back its group; it stays known.
    pub fn take_out(&mut self, page: PageKey) -> Option<u32> {
        let entry = self.pages.find_mut(page)?;
        let (group, due) = (entry.group, entry.due);
        if std::mem::replace(&mut entry.is_in_flight, true) {
            return Some(group);
        }
        let pages = &mut self.groups[group as usize];
        let first = pages.first().copied();
        pages.remove(&(due, page));
        if first == Some((due, page)) {
            self.firsts.remove(&(due, page, group));
            if let Some(&(next, page)) = pages.first() {
                self.firsts.insert((next, page, group));
            }
        }
        Some(group)
    }

    /// The first page of a group that is due and rested, if its site has room.
    fn ready_of(&self, group: u32, view: &dyn View, terms: Terms) -> Option<PageKey> {
        let refresh_min = view.refresh_min();
        let due = self.groups[group as usize].iter().take_while(|&&(due, _)| due + terms.wait <= terms.until);
        let page = due.map(|&(_, page)| page).find(|&page| self.rested(page, refresh_min) <= terms.now)?;
        view.has_room(page).then_some(page)
    }

    /// When the first page of a group may be visited, room or not.
    fn first_free(&self, group: u32, refresh_min: Span, wait: Span, now: Moment) -> Option<Moment> {
        let mut earliest: Option<Moment> = None;
        for &(due, page) in &self.groups[group as usize] {
            if earliest.is_some_and(|earliest| earliest <= due + wait || earliest <= now) {
                break;
            }
            let free = (due + wait).max(self.rested(page, refresh_min));
            earliest = Some(earliest.map_or(free, |earliest| earliest.min(free)));
        }
        earliest
    }

    fn rested(&self, page: PageKey, refresh_min: Span) -> Moment {
        self.pages.find(page).map_or(Moment::NEVER, |entry| entry.last_visit + refresh_min)
    }

    fn first_after(&self, after: Option<(Moment, PageKey, u32)>) -> Option<(Moment, PageKey, u32)> {
        match after {
            None => self.firsts.first().copied(),
            Some(after) => self.firsts.range((Bound::Excluded(after), Bound::Unbounded)).next().copied(),
        }
    }

    fn bring_in(&mut self, group: u32, due: Moment, page: PageKey) {
        let pages = &mut self.groups[group as usize];
        let first = pages.first().copied();
        pages.insert((due, page));
        if first.is_none_or(|first| (due, page) < first) {
            if let Some((before, page)) = first {
                self.firsts.remove(&(before, page, group));
            }
            self.firsts.insert((due, page, group));
        }
    }

    fn place(&mut self, group: u64) -> u32 {
        let next = self.groups.len() as u32;
        let place = *self.places.entry(group).or_insert(next);
        if place == next {
            self.groups.push(BTreeSet::new());
        }
        place
    }
}

/// The group of a page whose site is not known: beyond every site number, one for each page.
fn alone(page: PageKey) -> u64 {
    1 << 63 | u64::from(page.partition.0) << 32 | u64::from(page.number)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;
    use vernal_model::Partition;

    use super::*;

    /// What an agenda should hold, page by page.
    #[derive(Clone, Debug)]
    struct Row {
        due: Moment,
        last_visit: Moment,
        site: Option<u32>,
        is_in_flight: bool,
    }

    /// One site has no room.
    struct Plain {
        rows: BTreeMap<PageKey, Row>,
        full: Option<u32>,
        refresh_min: Span,
    }

    impl View for Plain {
        fn visits_left(&self) -> usize {
            usize::MAX
        }

        fn has_room(&self, page: PageKey) -> bool {
            self.full.is_none() || self.rows[&page].site != self.full
        }

        fn refresh_min(&self) -> Span {
            self.refresh_min
        }

        fn held(&self) -> u64 {
            self.rows.len() as u64
        }

        fn per_day(&self) -> f64 {
            0.0
        }
    }

    impl Plain {
        fn is_ready(&self, page: PageKey, row: &Row, terms: Terms) -> bool {
            let is_rested = row.last_visit + self.refresh_min <= terms.now;
            !row.is_in_flight && is_rested && row.due + terms.wait <= terms.until && self.has_room(page)
        }

        /// What is drawn first: a site goes by its first page, rested or not.
        fn next(&self, terms: Terms) -> Option<PageKey> {
            let first_of_site = |page: PageKey, row: &Row| {
                let is_sibling =
                    |&(&other, of): &(&PageKey, &Row)| other == page || row.site.is_some() && of.site == row.site;
                let siblings = self.rows.iter().filter(|(_, other)| !other.is_in_flight).filter(is_sibling);
                siblings.map(|(&page, row)| (row.due, page)).min()
            };
            let ready = self.rows.iter().filter(|&(&page, row)| self.is_ready(page, row, terms));
            let turn = |&(&page, row): &(&PageKey, &Row)| (first_of_site(page, row), row.due, page);
            ready.min_by_key(turn).map(|(&page, _)| page)
        }

        fn next_due(&self, wait: Span, now: Moment) -> Option<Moment> {
            let waiting = self.rows.values().filter(|row| !row.is_in_flight);
            waiting.map(|row| (row.due + wait).max(row.last_visit + self.refresh_min).max(now)).min()
        }
    }

    #[derive(Clone, Debug)]
    enum Act {
        Put { number: u32, site: Option<u32>, last_visit: i64, due: i64 },
        PutBack(u32),
        Forget(u32),
        Draw { visits_max: usize, full: Option<u32> },
    }

    fn acts() -> impl Strategy<Value = Vec<Act>> {
        let number = || 0u32..12;
        let put = (number(), prop::option::of(0u32..3), 0i64..20, 0i64..40);
        let draw = (0usize..6, prop::option::of(0u32..3));
        let act = prop_oneof![
            5 => put.prop_map(|(number, site, last_visit, due)| Act::Put { number, site, last_visit, due }),
            2 => number().prop_map(Act::PutBack),
            1 => number().prop_map(Act::Forget),
            3 => draw.prop_map(|(visits_max, full)| Act::Draw { visits_max, full }),
        ];
        prop::collection::vec(act, 1..60)
    }

    fn key(number: u32) -> PageKey {
        PageKey::new(Partition((number % 2) as u8), number)
    }

    proptest! {
        /// Whoever looks at every page finds the same ones, in the same order.
        #[test]
        fn pages_are_drawn_as_from_a_plain_list(
            acts in acts(), refresh_min in 0u64..8, wait in 0u64..4, is_order_alone in any::<bool>(),
        ) {
            let mut agenda = Agenda::default();
            let mut plain = Plain { rows: BTreeMap::new(), full: None, refresh_min: Span::from_secs(refresh_min) };
            for (second, act) in (0i64..).zip(acts) {
                let now = Moment::from_secs(second);
                let terms = match is_order_alone {
                    true => Terms::next_in_order(now),
                    false => Terms { wait: Span::from_secs(wait), until: now, now },
                };
                match act {
                    Act::Put { number, site, last_visit, due } => {
                        let page = key(number);
                        let [last_visit, due] = [last_visit, due].map(Moment::from_secs);
                        agenda.put(page, site, last_visit, due, number);
                        // Who does not know the site leaves the page where it was.
                        let site = site.or_else(|| plain.rows.get(&page)?.site);
                        plain.rows.insert(page, Row { due, last_visit, site, is_in_flight: false });
                    }
                    Act::PutBack(number) => {
                        agenda.put_back(key(number));
                        plain.rows.entry(key(number)).and_modify(|row| row.is_in_flight = false);
                    }
                    Act::Forget(number) => {
                        agenda.forget(key(number));
                        plain.rows.remove(&key(number));
                    }
                    Act::Draw { visits_max, full } => {
                        plain.full = full;
                        prop_assert_eq!(agenda.is_ready(&plain, terms), plain.next(terms).is_some());
                        let drawn = agenda.draw(&plain, terms, visits_max);
                        for &page in &drawn {
                            prop_assert_eq!(plain.next(terms), Some(page));
                            plain.rows.get_mut(&page).unwrap().is_in_flight = true;
                        }
                        prop_assert!(drawn.len() == visits_max || plain.next(terms).is_none());
                    }
                }
                plain.full = None;
                let wait = Span::from_secs(wait);
                prop_assert_eq!(agenda.next_due(&plain, wait, now), plain.next_due(wait, now));
                prop_assert_eq!(agenda.len(), plain.rows.len());
                for (&page, row) in &plain.rows {
                    prop_assert_eq!(agenda.is_waiting(page), !row.is_in_flight);
                    prop_assert_eq!(agenda.find(page).map(|entry| (entry.due, entry.note)), Some((row.due, page.number)));
                }
            }
        }
    }

    #[test]
    fn a_site_without_room_is_asked_once_however_many_pages_it_has() {
        use std::cell::Cell;

        struct Counting(Cell<u32>);
        impl View for Counting {
            fn visits_left(&self) -> usize {
                usize::MAX
            }
            fn has_room(&self, _: PageKey) -> bool {
                self.0.set(self.0.get() + 1);
                false
            }
            fn refresh_min(&self) -> Span {
                Span::ZERO
            }
            fn held(&self) -> u64 {
                0
            }
            fn per_day(&self) -> f64 {
                0.0
            }
        }
        let (mut agenda, view) = (Agenda::default(), Counting(Cell::new(0)));
        for number in 0..1_000 {
            agenda.put(key(number), Some(number % 3), Moment::EPOCH, Moment::EPOCH, ());
        }
        assert!(agenda.draw(&view, Terms::next_in_order(Moment::EPOCH), 10).is_empty());
        assert_eq!(view.0.get(), 3);
    }
}
