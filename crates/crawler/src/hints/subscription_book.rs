//! The state of the subscriptions with hubs, and when each hub is asked next.

use std::collections::{BTreeMap, BTreeSet};

use vernal_model::{Moment, PageKey, Site, SubscriptionRow, Url};

#[derive(Default)]
pub(crate) struct SubscriptionBook {
    feeds: BTreeMap<PageKey, Feed>,
    /// The feeds whose hub must be asked, by time.
    due: BTreeSet<(Moment, PageKey)>,
}

/// A feed that names a hub.
pub(crate) struct Feed {
    pub site: Site,
    pub hub: Url,
    pub topic: Url,
    /// The URL that the hub redirected to, for the next request only.
    pub sent_to: Option<Url>,
    pub hops: u8,
    /// `None` until the hub is first asked.
    pub row: Option<SubscriptionRow>,
    due: Option<Moment>,
}

impl SubscriptionBook {
    /// Adds a feed with its hub; a known feed with the same hub is left unchanged.
    pub(crate) fn want(
        &mut self,
        file: PageKey,
        site: &Site,
        hub: &Url,
        topic: &Url,
        row: Option<SubscriptionRow>,
        now: Moment,
    ) {
        if self.feeds.get(&file).is_some_and(|feed| feed.hub == *hub && feed.topic == *topic) {
            return;
        }
        self.forget(file);
        let row = row.filter(|row| row.hub == *hub && row.topic == *topic);
        let due = row.as_ref().map_or(now, |row| row.next);
        let (site, hub, topic) = (site.clone(), hub.clone(), topic.clone());
        self.feeds.insert(file, Feed { site, hub, topic, sent_to: None, hops: 0, row, due: None });
        self.place(file, due);
    }

    /// The feed names no hub any more; a running subscription ends with its lease.
    pub(crate) fn forget(&mut self, file: PageKey) {
        if let Some(due) = self.feeds.remove(&file).and_then(|feed| feed.due) {
            self.due.remove(&(due, file));
        }
    }

    pub(crate) fn feed(&mut self, file: PageKey) -> Option<&mut Feed> {
        self.feeds.get_mut(&file)
    }

    /// The feeds whose topic has this URL.
    pub(crate) fn of_topic(&self, topic: &Url) -> Vec<PageKey> {
        self.feeds.iter().filter(|(_, feed)| feed.topic == *topic).map(|(file, _)| *file).collect()
    }

    /// The first feed whose hub must be asked now, if any.
    pub(crate) fn first_due(&self, now: Moment) -> Option<PageKey> {
        self.due.first().filter(|(due, _)| *due <= now).map(|(_, file)| *file)
    }

    pub(crate) fn next(&self) -> Option<Moment> {
        self.due.first().map(|(due, _)| *due)
    }

    /// Schedules the next request to the hub of this feed.
    pub(crate) fn place(&mut self, file: PageKey, due: Moment) {
        self.take(file);
        if let Some(feed) = self.feeds.get_mut(&file) {
            feed.due = Some(due);
            self.due.insert((due, file));
        }
    }

    /// Removes the feed from the schedule, because its hub is being asked.
    pub(crate) fn take(&mut self, file: PageKey) {
        if let Some(due) = self.feeds.get_mut(&file).and_then(|feed| feed.due.take()) {
            self.due.remove(&(due, file));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;
    use vernal_model::Partition;

    use super::*;
    use crate::testing::{after, url};

    proptest! {
        #[test]
        fn the_first_that_is_due_is_the_first_of_all_that_were_placed(
            deeds in prop::collection::vec((0u32..4, 0u8..4, 0u64..50), 1..40),
        ) {
            let (mut book, mut model) = (SubscriptionBook::default(), BTreeMap::new());
            let site = Site::new("a.example");
            for (number, deed, secs) in deeds {
                let file = PageKey::new(Partition(0), number);
                match deed {
                    0 => {
                        book.want(file, &site, &url("http://hub.example/"), &url("http://a.example/"), None, after(secs));
                        model.entry(file).or_insert(Some(after(secs)));
                    }
                    1 => {
                        book.place(file, after(secs));
                        model.entry(file).and_modify(|due| *due = Some(after(secs)));
                    }
                    2 => {
                        book.take(file);
                        model.entry(file).and_modify(|due| *due = None);
                    }
                    _ => {
                        book.forget(file);
                        model.remove(&file);
                    }
                }
                let first = model.iter().filter_map(|(&file, &due)| Some((due?, file))).min();
                prop_assert_eq!(book.next(), first.map(|(due, _)| due));
                prop_assert_eq!(book.first_due(after(60)), first.map(|(_, file)| file));
                prop_assert_eq!(book.of_topic(&url("http://a.example/")), model.keys().copied().collect::<Vec<_>>());
            }
        }
    }
}
