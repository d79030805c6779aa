//! The version of a page that was held in a state, as its events told it.

use vernal_model::{Event, EventKind, PageKey, Url, Version};
use vernal_repository::{Cursor, Reader};

use super::Result;
use super::asked::Until;

/// A page that had text in a state.
#[derive(Clone, Debug)]
pub struct Held {
    pub page: PageKey,
    pub url: Url,
    pub version: Version,
    /// What was told of it until then, oldest first.
    pub events: Vec<Event>,
}

/// What a page was in a state.
#[derive(Clone, Debug)]
pub enum State {
    /// Nothing was known of it.
    Unknown,
    Held(Box<Held>),
    /// It had no text of its own any more, and the event that told so.
    Ended(Box<Event>),
}

/// The history of a page, read once for both states of a difference.
pub struct History {
    page: PageKey,
    events: Vec<(Cursor, Event)>,
}

impl History {
    pub fn of(reader: &Reader, page: PageKey) -> Result<History> {
        let events = reader.page_events(page)?.into_iter().map(|(cursor, _, event)| (cursor, event)).collect();
        Ok(History { page, events })
    }

    /// The events of a difference.
    pub fn between(&self, from: Option<&Until>, to: &Until) -> impl Iterator<Item = &Event> {
        let is_new = move |(cursor, event): &&(Cursor, Event)| {
            to.has(*cursor, event) && from.is_none_or(|from| !from.has(*cursor, event))
        };
        self.events.iter().filter(is_new).map(|(_, event)| event)
    }

    pub fn state(&self, reader: &Reader, until: &Until) -> Result<State> {
        let mut told: Vec<&(Cursor, Event)> =
            self.events.iter().filter(|(cursor, event)| until.has(*cursor, event)).collect();
        let Some((last, _)) = told.last().copied() else { return Ok(State::Unknown) };
        // Imported versions stand by their dates, whenever the repository learned of them (decision 52).
        told.sort_by_key(|(_, event)| event.seen_different);
        // Events of sites, and of pages that show a wall for a while, say nothing of the text that is held.
        let speaking =
            told.iter().rev().find(|(_, event)| !matches!(event.kind, EventKind::Template | EventKind::Blocked));
        let Some((_, event)) = speaking else { return Ok(State::Unknown) };
        let is_end = matches!(event.kind, EventKind::Gone | EventKind::Moved | EventKind::Joined | EventKind::Erased);
        if is_end || reader.first_name_at(self.page, *last)?.is_some() {
            return Ok(State::Ended(Box::new(event.clone())));
        }
        let number = told.iter().rev().find_map(|(_, event)| event.version.or(event.previous));
        let version = number.map(|number| version_of(reader, self.page, number)).transpose()?.flatten();
        Ok(version.map_or(State::Unknown, |version| {
            let events = told.iter().map(|(_, event)| event.clone()).collect();
            State::Held(Box::new(Held { page: self.page, url: event.url.clone(), version, events }))
        }))
    }
}

fn version_of(reader: &Reader, page: PageKey, number: u32) -> Result<Option<Version>> {
    let newest = reader.page(page)?.and_then(|page| page.version);
    if let Some(version) = newest.filter(|version| version.number == number) {
        return Ok(Some(version));
    }
    Ok(reader.versions(page)?.into_iter().find(|version| version.number == number))
}
