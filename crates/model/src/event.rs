//! The events of the change feed.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Change, Moment, PageKey, Url};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Event {
    pub kind: EventKind,
    pub page: PageKey,
    pub url: Url,
    /// The version that this event made current; `None` where there is none (gone, blocked).
    pub version: Option<u32>,
    pub previous: Option<u32>,
    /// The last visit that found the previous state. The change happened after it …
    pub seen_same: Option<Moment>,
    /// … and before this visit, which found the new one.
    pub seen_different: Moment,
    pub title: Box<str>,
    pub language: Box<str>,
    pub content_type: Box<str>,
    pub change: Change,
    /// The target of a moved page, the reason of a blocked one, or the first name of one that is a second name.
    pub detail: Box<str>,
}

impl Event {
    /// The detail of an event that came with somebody else's archive.
    pub const IMPORTED: &str = "imported";

    /// Whether it came with somebody else's archive: it tells of the past, and happened to nobody who waits for news.
    pub fn is_imported(&self) -> bool {
        self.kind == EventKind::Imported || &*self.detail == Event::IMPORTED
    }

    /// Whether it tells of a requisite of the page alone: the page itself has the version that it had.
    pub fn is_of_requisite(&self) -> bool {
        self.kind == EventKind::Changed && self.version.is_some() && self.version == self.previous
    }
}

#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum EventKind {
    New,
    Changed,
    Gone,
    Back,
    Moved,
    Blocked,
    Erased,
    Template,
    /// The page was blocked and is read again.
    Unblocked,
    /// The page is a second name of another one from now on.
    Joined,
    /// The page was a second name and stands on its own again.
    Parted,
    /// A version from before the newest was imported. What the page is now stays as it is.
    Imported,
}

impl EventKind {
    /// Whether it tells of the names of a page alone.
    pub fn is_of_names(self) -> bool {
        matches!(self, EventKind::Joined | EventKind::Parted)
    }

    pub fn name(self) -> &'static str {
        match self {
            EventKind::New => "new",
            EventKind::Changed => "changed",
            EventKind::Gone => "gone",
            EventKind::Back => "back",
            EventKind::Moved => "moved",
            EventKind::Blocked => "blocked",
            EventKind::Erased => "erased",
            EventKind::Template => "template",
            EventKind::Unblocked => "unblocked",
            EventKind::Joined => "joined",
            EventKind::Parted => "parted",
            EventKind::Imported => "imported",
        }
    }
}
