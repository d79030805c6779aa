//! What is held back for the digest of a watch on a route.

use serde::{Deserialize, Serialize};
use vernal_model::Moment;

use super::delivery::{Alert, Reason};
use crate::told::Told;

/// Events of one digest; more are counted and linked.
pub const EVENTS_MAX: usize = 200;
/// Bytes of words that an event keeps for a digest.
pub const WORDS_BYTES_MAX: usize = 4 << 10;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Held {
    /// When it is sent.
    pub due: Moment,
    /// In the order of the feed.
    pub events: Vec<Told>,
    pub more: u64,
}

impl Held {
    pub fn new(due: Moment) -> Held {
        Held { due, events: Vec::new(), more: 0 }
    }

    /// Takes an event that is to be told then at the latest. A page that changes back and forth is one event, with the number
    /// of times.
    pub fn take(&mut self, told: Told, due: Moment) {
        self.due = self.due.min(due);
        let told = told.bounded(WORDS_BYTES_MAX);
        let is_same = |one: &&mut Told| one.url == told.url && one.change.flapping && told.change.flapping;
        if let Some(known) = self.events.iter_mut().find(is_same) {
            let (id, cursor, times) = (known.id.clone(), known.cursor.clone(), known.times.unwrap_or(1) + 1);
            // The id stays that of the first, by which the digest is named.
            *known = Told { id, cursor, times: Some(times), ..told };
        } else if self.events.len() < EVENTS_MAX {
            self.events.push(told);
        } else {
            self.more += 1;
        }
    }

    /// The digest: by site, then by page, the largest changes first among the pages of a site. `None` where there is nothing
    /// to tell. The name is that of its first event, so that it is the same after a crash.
    pub fn closed(&self) -> Option<(String, Alert)> {
        let first = self.events.first()?;
        let name = format!("digest-{}", first.id);
        let since = Some(first.cursor.clone());
        let mut events = self.events.clone();
        let largest = |url: &str| {
            let of_page = self.events.iter().filter(|told| told.url == url);
            of_page.map(|told| told.change.degree).max().unwrap_or_default()
        };
        // The sort is stable, so that the events of a page stay in their order.
        events.sort_by(|one, other| {
            let degrees = || largest(&other.url).cmp(&largest(&one.url));
            one.site.cmp(&other.site).then_with(degrees).then_with(|| one.url.cmp(&other.url))
        });
        let alert = Alert { reason: Reason::Digest, says: None, events, more: self.more, since };
        Some((name, alert))
    }
}

#[cfg(test)]
mod tests {
    use vernal_model::Degree;

    use super::*;

    fn told(id: &str, site: &str, path: &str, degree: Degree) -> Told {
        let event = serde_json::json!({ "id": id, "cursor": "c1", "event": "changed", "site": site,
            "url": format!("http://{site}/{path}"), "degree": degree.name(),
            "paragraphs": [{ "op": "added", "after": "New words" }] });
        serde_json::from_value(event).unwrap()
    }

    #[test]
    fn a_digest_is_by_site_then_page_with_the_largest_changes_first_and_never_empty() {
        let mut held = Held::new(Moment::EPOCH);
        assert_eq!(held.closed(), None);
        for (id, site, path, degree) in [
            ("e1", "b.example", "x", Degree::Slight),
            ("e2", "a.example", "y", Degree::Slight),
            ("e3", "a.example", "z", Degree::Large),
            ("e4", "a.example", "y", Degree::Moderate),
        ] {
            held.take(told(id, site, path, degree), Moment::EPOCH);
        }
        let (name, alert) = held.closed().unwrap();
        let ids: Vec<&str> = alert.events.iter().map(|told| told.id.as_str()).collect();
        assert_eq!((name.as_str(), ids), ("digest-e1", vec!["e3", "e2", "e4", "e1"]));
        assert!(alert.is_readable() && alert.line() == "4 changes of 2 sites");
    }

    #[test]
    fn a_digest_has_a_limit_and_counts_what_is_beyond_it() {
        let mut held = Held::new(Moment::EPOCH);
        for number in 0..EVENTS_MAX + 7 {
            let one = told(&format!("e{number}"), "a.example", &number.to_string(), Degree::Slight);
            held.take(one, Moment::EPOCH);
        }
        let (_, alert) = held.closed().unwrap();
        assert_eq!((alert.events.len(), alert.more), (EVENTS_MAX, 7));
    }

    #[test]
    fn a_page_that_changes_back_and_forth_is_one_line() {
        let mut held = Held::new(Moment::EPOCH);
        for number in 0..14 {
            let mut one = told(&format!("e{number}"), "a.example", "x", Degree::Slight);
            one.change.flapping = true;
            held.take(one, Moment::EPOCH);
        }
        let (name, alert) = held.closed().unwrap();
        assert_eq!((name.as_str(), alert.events.len()), ("digest-e0", 1));
        assert!(alert.line().starts_with("changes back and forth, 14 times"), "{}", alert.line());
    }
}
