//! The pages of a policy in the order of their due Moments, site by site, so that a site without room costs one
//! question and not one for each of its pages.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use vernal_model::{Moment, PageKey, Span};

use crate::View;

#[derive(Clone, Debug, Default)]
pub(super) struct Agenda<T> {
    /// Looked up only, never walked through: its order is chance.
    pages: HashMap<PageKey, Entry<T>>,
    /// The pages at home, by group and due Moment. A group is a site, or a page alone while its site is not known.
    groups: BTreeMap<u64, BTreeSet<(Moment, PageKey)>>,
    heads: BTreeSet<(Moment, u64)>,
}

#[derive(Clone, Debug)]
pub(super) struct Entry<T> {
    pub due: Moment,
    pub last_visit: Moment,
    /// What the policy itself knows of the page.
    pub note: T,
    group: u64,
    out: bool,
}

impl<T> Agenda<T> {
    pub fn find(&self, page: PageKey) -> Option<&Entry<T>> {
        self.pages.get(&page)
    }

    /// Takes in a page, or brings home one that was out, with its new due Moment.
    pub fn put(&mut self, page: PageKey, site: Option<u32>, last_visit: Moment, due: Moment, note: T) {
        let known = self.take_out(page);
        let group = site.map(u64::from).or(known).unwrap_or_else(|| alone(page));
        self.pages.insert(page, Entry { due, last_visit, note, group, out: false });
        self.bring_in(group, due, page);
    }

    /// A page that was chosen comes home unvisited.
    pub fn put_back(&mut self, page: PageKey) {
        let Some(entry) = self.pages.get_mut(&page).filter(|entry| entry.out) else { return };
        entry.out = false;
        let (group, due) = (entry.group, entry.due);
        self.bring_in(group, due, page);
    }

    pub fn forget(&mut self, page: PageKey) {
        self.take_out(page);
        self.pages.remove(&page);
    }

    /// Draws the pages whose due Moment is `wait` ago, earliest first, from sites with room, none within `refresh_min`
    /// of its last visit.
    pub fn draw(&mut self, view: &dyn View, wait: Span, now: Moment) -> Vec<PageKey> {
        let mut drawn = Vec::new();
        let mut after = None;
        while drawn.len() < view.visits_left() {
            let Some((due, group)) = self.head_after(after) else { break };
            if due + wait > now {
                break;
            }
            match self.ready_of(group, view, wait, now) {
                Some(page) => {
                    self.take_out(page);
                    drawn.push(page);
                }
                None => after = Some((due, group)),
            }
        }
        drawn
    }

    /// When `draw` has an answer next, as far as only sites without room do not hold it back.
    pub fn next_due(&self, view: &dyn View, wait: Span, now: Moment) -> Option<Moment> {
        let refresh_min = view.refresh_min();
        let mut earliest: Option<Moment> = None;
        for &(head_due, group) in &self.heads {
            if earliest.is_some_and(|earliest| earliest <= head_due + wait) {
                break;
            }
            let due = self.first_free(group, refresh_min, wait, now);
            if due.is_some_and(|due| due <= now) && self.ready_of(group, view, wait, now).is_none() {
                continue;
            }
            earliest = [earliest, due].into_iter().flatten().min();
        }
        earliest.map(|earliest| earliest.max(now))
    }

    /// The first page of a group that is due and rested, if its site has room.
    fn ready_of(&self, group: u64, view: &dyn View, wait: Span, now: Moment) -> Option<PageKey> {
        let refresh_min = view.refresh_min();
        let due = self.groups.get(&group)?.iter().take_while(|&&(due, _)| due + wait <= now);
        let page = due.map(|&(_, page)| page).find(|&page| self.rested(page, refresh_min) <= now)?;
        view.has_room(page).then_some(page)
    }

    /// When the first page of a group may be visited, room or not.
    fn first_free(&self, group: u64, refresh_min: Span, wait: Span, now: Moment) -> Option<Moment> {
        let mut earliest: Option<Moment> = None;
        for &(due, page) in self.groups.get(&group)? {
            if earliest.is_some_and(|earliest| earliest <= due + wait || earliest <= now) {
                break;
            }
            let free = (due + wait).max(self.rested(page, refresh_min));
            earliest = Some(earliest.map_or(free, |earliest| earliest.min(free)));
        }
        earliest
    }

    fn rested(&self, page: PageKey, refresh_min: Span) -> Moment {
        self.pages.get(&page).map_or(Moment::NEVER, |entry| entry.last_visit + refresh_min)
    }

    fn head_after(&self, after: Option<(Moment, u64)>) -> Option<(Moment, u64)> {
        match after {
            None => self.heads.first().copied(),
            Some((due, group)) => self.heads.range((due, group.saturating_add(1))..).next().copied(),
        }
    }

    fn bring_in(&mut self, group: u64, due: Moment, page: PageKey) {
        let pages = self.groups.entry(group).or_default();
        if let Some(&(head, _)) = pages.first() {
            self.heads.remove(&(head, group));
        }
        pages.insert((due, page));
        if let Some(&(head, _)) = pages.first() {
            self.heads.insert((head, group));
        }
    }

    /// Marks a page as out and gives back its group; it stays known.
    fn take_out(&mut self, page: PageKey) -> Option<u64> {
        let entry = self.pages.get_mut(&page)?;
        let (group, due) = (entry.group, entry.due);
        if std::mem::replace(&mut entry.out, true) {
            return Some(group);
        }
        let Some(pages) = self.groups.get_mut(&group) else { return Some(group) };
        if let Some(&(head, _)) = pages.first() {
            self.heads.remove(&(head, group));
        }
        pages.remove(&(due, page));
        match pages.first() {
            Some(&(head, _)) => {
                self.heads.insert((head, group));
            }
            None => {
                self.groups.remove(&group);
            }
        }
        Some(group)
    }
}

/// The group of a page whose site is not known: beyond every site number, one for each page.
fn alone(page: PageKey) -> u64 {
    1 << 63 | u64::from(page.partition.0) << 32 | u64::from(page.number)
}
