//! Which events of the feed are asked for, and what of them.

use serde::Deserialize;
use vernal_model::{Event, EventKind, Kind, Moment, Role, Site};

use super::answer::ApiError;
use super::event_text;
use super::folds::Row;
use super::shared::{Seeds, Shared};

/// Which events are asked for, parsed.
#[derive(Clone)]
pub struct EventFilter {
    pub not_before: Option<Moment>,
    pub site: Option<Site>,
    pub kind: Option<Kind>,
    pub events: Option<Vec<EventKind>>,
    pub role: Option<RolesAsked>,
    pub tag: Option<String>,
    pub with_noise: bool,
    /// Also events of pages that are second names of others.
    pub with_names: bool,
    /// Every version of every page, whatever it is.
    pub pages: bool,
    pub brief: bool,
}

/// The part of a page whose paragraphs are asked for.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RolesAsked {
    Main,
    /// Menus, headers, footers and what stands beside the content.
    Frame,
}

impl RolesAsked {
    fn has(self, role: Role) -> bool {
        let is_frame = matches!(role, Role::Navigation | Role::Footer);
        is_frame == (self == RolesAsked::Frame)
    }
}

const EVENT_KINDS: [EventKind; 11] = [
    EventKind::New,
    EventKind::Changed,
    EventKind::Gone,
    EventKind::Back,
    EventKind::Moved,
    EventKind::Blocked,
    EventKind::Erased,
    EventKind::Template,
    EventKind::Unblocked,
    EventKind::Joined,
    EventKind::Parted,
];

/// Kinds of events, separated by commas.
pub fn event_kinds(text: &str) -> Result<Vec<EventKind>, ApiError> {
    let named = |name: &str| {
        EVENT_KINDS.into_iter().find(|kind| kind.name() == name).ok_or_else(|| {
            let all = EVENT_KINDS.map(EventKind::name).join(", ");
            ApiError::bad_request(format!("`{name}` is no kind of event; there are {all}"))
        })
    };
    text.split(',').map(|name| named(name.trim())).collect()
}

pub fn kind(text: &str) -> Result<Kind, ApiError> {
    let found = Kind::ALL.into_iter().find(|kind| kind.name() == text);
    found.ok_or_else(|| {
        ApiError::bad_request(format!(
            "`{text}` is no kind of change; there are {}",
            Kind::ALL.map(Kind::name).join(", ")
        ))
    })
}

impl EventFilter {
    /// Whether an event of the store may have rows that are asked for.
    pub fn covers(&self, event: &Event, seeds: &Seeds) -> bool {
        let is_noise = event.kind == EventKind::Changed && !event.change.is_change();
        // Other bytes in which nothing differs concern only who keeps a copy.
        let is_nothing = is_noise && event.change.kinds.is_empty();
        (self.pages || !is_noise || self.with_noise && !is_nothing)
            && self.not_before.is_none_or(|moment| event.seen_different >= moment)
            && self.site.as_ref().is_none_or(|site| event.url.site_text() == site.as_str())
            && self.events.as_ref().is_none_or(|kinds| kinds.contains(&event.kind))
            && seeds.tagged(self.tag.as_deref(), &event.url, 0)
    }

    /// Whether an event of a page with this first name is asked for. That the page became a second name is told to everybody, so
    /// that whoever knows it under its own name drops it.
    pub fn covers_name(&self, event: &Event, same_as: Option<&str>) -> bool {
        self.pages || self.with_names || same_as.is_none() || event.kind == EventKind::Joined
    }

    /// What is asked for of a row, with all the words that it can have. A version that cannot be read takes nothing else
    /// from the feed, and the row says so.
    pub fn told(&self, shared: &Shared, mut row: Row) -> Option<Row> {
        let change = &mut row.event.change;
        let kinds = if self.with_noise { change.kinds } else { change.left };
        if self.kind.is_some_and(|kind| !kinds.contains(kind)) {
            return None;
        }
        if let Some(role) = self.role
            && matches!(row.event.kind, EventKind::Changed | EventKind::Template)
        {
            change.paragraphs.retain(|one| role.has(one.role));
            // What is neither a paragraph nor words lies in no part of the page.
            change.notes.clear();
            change.left = vernal_model::Kinds::of(&[Kind::Content]);
            if change.paragraphs.is_empty() {
                return None;
            }
        }
        // The steps have the words of whoever keeps a copy.
        if !self.brief && !self.pages {
            row.unread = event_text::fill(shared, &mut row.event).err().and_then(|error| error.unread());
        }
        Some(row)
    }
}
