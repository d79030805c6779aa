//! The versions of a page, with how long each of them was seen.

use std::collections::HashMap;

use vernal_model::{Event, Moment, Outcome, Page, Span, Version};
use vernal_repository::{Reader, Result};

use super::digits::rounded;

/// One version of a page, as evidence of the page at its moments.
#[derive(Clone, Debug)]
pub struct Memento {
    pub version: Version,
    /// The last visit that found this version. It is the visit of the version itself if no other did.
    pub seen_until: Moment,
    /// What the feed told of it.
    pub event: Option<Event>,
}

/// All versions of one page, oldest first. Their moments differ by whole seconds: of several within one second the last stands.
#[derive(Clone, Debug, Default)]
pub struct Mementos(Vec<Memento>);

impl Memento {
    /// The moment of the visit that brought it, in whole seconds.
    pub fn moment(&self) -> Moment {
        rounded(self.version.moment)
    }

    /// Whether all that differed from the version before was noise.
    pub fn is_noise(&self) -> bool {
        self.event.as_ref().is_some_and(|event| event.change.is_noise())
    }

    /// How far a moment lies outside the time in which this version was seen.
    fn distance(&self, moment: Moment) -> Span {
        let (first, last) = (self.moment(), rounded(self.seen_until));
        if moment < first { first.since(moment) } else { moment.since(last) }
    }
}

impl Mementos {
    pub fn of(reader: &Reader, page: &Page) -> Result<Mementos> {
        let mut all: Vec<Memento> = Vec::new();
        for visit in reader.visits(page.key)? {
            match (visit.version, &visit.outcome) {
                (Some(version), _) => {
                    all.push(Memento { version, seen_until: visit.started, event: None });
                }
                (None, Outcome::Read { .. } | Outcome::NotModified) => {
                    if let Some(last) = all.last_mut() {
                        last.seen_until = last.seen_until.max(visit.started);
                    }
                }
                _ => {}
            }
        }
        let mut events: HashMap<u32, Event> = HashMap::new();
        for (_, _, event) in reader.page_events(page.key)? {
            if let Some(number) = event.version.filter(|_| !event.kind.is_of_names() && !event.is_of_requisite()) {
                events.entry(number).or_insert(event);
            }
        }
        for memento in &mut all {
            memento.event = events.remove(&memento.version.number);
        }
        Ok(Mementos::from(all))
    }

    pub fn all(&self) -> &[Memento] {
        &self.0
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The memento that is nearest to a moment. A memento covers all the time in which visits found it, because they are
    /// evidence that the page was like this. Of two at the same distance the earlier is nearest.
    pub fn nearest(&self, moment: Moment) -> Option<usize> {
        let moment = rounded(moment);
        let distances = self.0.iter().map(|memento| memento.distance(moment));
        distances.enumerate().min_by_key(|(_, distance)| *distance).map(|(place, _)| place)
    }

    /// The memento of exactly this second.
    pub fn at(&self, moment: Moment) -> Option<usize> {
        self.0.iter().position(|memento| memento.moment() == rounded(moment))
    }
}

impl From<Vec<Memento>> for Mementos {
    fn from(all: Vec<Memento>) -> Mementos {
        let mut kept: Vec<Memento> = Vec::with_capacity(all.len());
        for memento in all {
            if kept.last().is_some_and(|last| last.moment() == memento.moment()) {
                kept.pop();
            }
            kept.push(memento);
        }
        Mementos(kept)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use vernal_model::Digest;

    use super::*;

    pub fn memento(number: u32, from: i64, until: i64) -> Memento {
        let version = Version {
            number,
            moment: Moment::from_secs(from),
            status: 200,
            payload: Digest::default(),
            body_bytes: 1,
            location: None,
        };
        Memento { version, seen_until: Moment::from_secs(until), event: None }
    }

    #[test]
    fn the_nearest_memento_is_the_one_that_was_seen_nearest() {
        let all = Mementos::from(vec![memento(1, 100, 400), memento(2, 500, 500), memento(3, 900, 1_000)]);
        let nearest = |secs| all.nearest(Moment::from_secs(secs)).map(|place| all.all()[place].version.number);
        // Version 1 was still found at 390, though version 2 began only 110 seconds later.
        for (secs, number) in [(0, 1), (100, 1), (390, 1), (450, 1), (451, 2), (699, 2), (701, 3), (9_999, 3)] {
            assert_eq!(nearest(secs), Some(number), "{secs}");
        }
        assert_eq!(Mementos::default().nearest(Moment::EPOCH), None);
    }

    #[test]
    fn within_one_second_the_last_version_stands() {
        let all = Mementos::from(vec![memento(1, 100, 100), memento(2, 100, 100), memento(3, 101, 101)]);
        let numbers: Vec<u32> = all.all().iter().map(|memento| memento.version.number).collect();
        assert_eq!(numbers, [2, 3]);
        assert_eq!(all.at(Moment::from_secs(101)), Some(1));
        assert_eq!(all.at(Moment::from_secs(102)), None);
    }
}
