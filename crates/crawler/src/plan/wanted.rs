//! URLs that the last pass over all links found worth a visit before all others, the most important first.

use std::collections::{BTreeSet, HashMap};

use vernal_frontier::Waiting;
use vernal_model::{Moment, PageKey, Site, Span};

/// URLs wanted at most; each is kept in memory with its site.
pub(crate) const WANTED_MAX: usize = 65_536;
/// Wanted URLs examined in one call to find one whose site is free.
const LOOKS_MAX: usize = 256;
/// The wait before a URL is tried again whose site has no known Moment at which it is free.
const LOOK_AGAIN: Span = Span::from_secs(60);

#[derive(Default)]
pub(crate) struct Wanted {
    /// By the Moment at which they may be visited, then by importance.
    order: BTreeSet<(Moment, u32, PageKey)>,
    entries: HashMap<PageKey, Entry>,
    /// Only these URLs may use the free room: it was made for them.
    pub alone: bool,
}

struct Entry {
    site: Site,
    place: u32,
    /// Already taken from disk or window, and put back.
    waiting: Option<Box<Waiting>>,
}

impl Wanted {
    /// Replaces the list after another pass. URLs that were taken out and put back stay.
    pub(crate) fn renew(&mut self, best: Vec<(PageKey, Site)>, alone: bool) {
        self.alone = alone;
        self.entries.retain(|_, entry| entry.waiting.is_some());
        self.order.retain(|(_, _, key)| self.entries.contains_key(key));
        for (place, (key, site)) in best.into_iter().take(WANTED_MAX).enumerate() {
            let place = place as u32;
            self.entries.entry(key).or_insert_with(|| {
                self.order.insert((Moment::EPOCH, place, key));
                Entry { site, place, waiting: None }
            });
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// Takes the first URL whose site is free. URLs of busy sites are rescheduled to the Moment at which the site is
    /// free.
    pub(crate) fn take(
        &mut self,
        now: Moment,
        free: impl Fn(PageKey, &Site) -> Moment,
    ) -> Option<(PageKey, Option<Box<Waiting>>)> {
        for _ in 0..LOOKS_MAX {
            let first = self.order.first().copied().filter(|&(at, _, _)| at <= now)?;
            self.order.remove(&first);
            let (_, place, key) = first;
            let entry = self.entries.get(&key)?;
            let free = free(key, &entry.site);
            if free <= now {
                return Some((key, self.entries.remove(&key).and_then(|entry| entry.waiting)));
            }
            let later = if free == Moment::NEVER { now + LOOK_AGAIN } else { free };
            self.order.insert((later, place, key));
        }
        None
    }

    /// Puts back a URL that could not be ordered now.
    pub(crate) fn put_back(&mut self, waiting: Waiting, now: Moment) {
        let (key, site) = (waiting.page, waiting.place.site.clone());
        self.order.insert((now, 0, key));
        self.entries.insert(key, Entry { site, place: 0, waiting: Some(Box::new(waiting)) });
    }

    /// When the first of them may be visited.
    pub(crate) fn next(&self) -> Option<Moment> {
        self.order.first().map(|&(at, _, _)| at)
    }

    /// The rank of a URL in the list, for explanations.
    pub(crate) fn place_of(&self, key: PageKey) -> Option<u32> {
        self.entries.get(&key).map(|entry| entry.place)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use vernal_model::Partition;

    use super::*;

    #[test]
    fn the_most_important_whose_site_is_free_comes_first() {
        let key = |number| PageKey::new(Partition(0), number);
        let mut wanted = Wanted::default();
        let (busy, free) = (Site::new("busy.example"), Site::new("free.example"));
        wanted.renew(vec![(key(1), busy.clone()), (key(2), free.clone()), (key(3), free)], true);
        let now = Moment::from_secs(100);
        let earliest = |_: PageKey, site: &Site| if *site == busy { now + Span::from_secs(5) } else { now };
        assert_eq!(wanted.take(now, earliest).map(|(key, _)| key), Some(key(2)));
        assert_eq!(wanted.next(), Some(Moment::EPOCH));
        assert_eq!(wanted.take(now, earliest).map(|(key, _)| key), Some(key(3)));
        assert_eq!(wanted.take(now, earliest).map(|(key, _)| key), None);
        assert_eq!(wanted.next(), Some(now + Span::from_secs(5)));
        assert_eq!((wanted.place_of(key(1)), wanted.place_of(key(2))), (Some(0), None));
        wanted.renew(Vec::new(), false);
        assert!(wanted.is_empty());
    }

    proptest! {
        #[test]
        fn every_wanted_url_is_taken_once_and_the_most_important_of_the_free_first(
            sites in prop::collection::vec(0u64..40, 1..60),
        ) {
            let key = |number| PageKey::new(Partition(0), number);
            let (mut wanted, mut left) = (Wanted::default(), BTreeSet::new());
            let best = sites.iter().enumerate().map(|(place, free)| {
                left.insert(place as u32);
                (key(place as u32), Site::new(&free.to_string()))
            });
            wanted.renew(best.collect(), true);
            for second in 0..41 {
                let now = Moment::from_secs(100 + second);
                let earliest = |_: PageKey, site: &Site| Moment::from_secs(100 + site.as_str().parse::<i64>().unwrap());
                while let Some((taken, _)) = wanted.take(now, earliest) {
                    let is_free = |place: &&u32| sites[**place as usize] as i64 <= second;
                    prop_assert_eq!(Some(&taken.number), left.iter().find(is_free));
                    left.remove(&taken.number);
                }
            }
            prop_assert!(left.is_empty() && wanted.is_empty());
        }
    }

    #[test]
    fn what_was_taken_from_its_place_and_given_back_outlives_the_next_opinion() {
        let waiting = crate::testing::waiting("http://a.example/1", 1);
        let (now, page) = (Moment::from_secs(100), waiting.page);
        let mut wanted = Wanted::default();
        wanted.put_back(waiting, now);
        wanted.renew(vec![(page, Site::new("a.example"))], false);
        let taken = wanted.take(now, |_, _| now);
        assert_eq!(taken.map(|(key, waiting)| (key, waiting.is_some())), Some((page, true)));
        assert!(wanted.take(now, |_, _| now).is_none());
    }

    #[test]
    fn a_site_that_cannot_tell_when_it_is_free_is_looked_at_again_soon() {
        let (mut wanted, now) = (Wanted::default(), Moment::from_secs(100));
        wanted.renew(vec![(PageKey::default(), Site::new("a.example"))], false);
        assert!(wanted.take(now, |_, _| Moment::NEVER).is_none());
        assert_eq!(wanted.next(), Some(now + LOOK_AGAIN));
        assert!(!wanted.is_empty());
    }
}
