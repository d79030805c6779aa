//! Which events of the feed are asked for, and what of them.

use schemars::JsonSchema;
use serde::Deserialize;
use vernal_model::{Degree, Event, EventKind, Kind, Moment, Role, Site};

use super::answer::ApiError;
use super::event_text;
use super::folds::Row;
use super::marks::MarkAsked;
use super::shared::{Seeds, Shared};
use super::words_asked::WordsAsked;

/// Which events are asked for, parsed.
#[derive(Clone)]
pub struct EventFilter {
    pub not_before: Option<Moment>,
    pub site: Option<Site>,
    pub kind: Option<Kind>,
    pub events: Option<Vec<EventKind>>,
    pub role: Option<RolesAsked>,
    /// Before this Moment.
    pub until: Option<Moment>,
    /// What the URL begins with.
    pub prefix: Option<String>,
    pub least: Option<LeastMagnitude>,
    pub words: Option<WordsAsked>,
    pub tag: Option<String>,
    pub mark: Option<MarkAsked>,
    pub with_noise: bool,
    /// Also events of pages that are second names of others.
    pub with_names: bool,
    /// Every version of every page, whatever it is.
    pub pages: bool,
    /// Events as they were told, with what the site tells of them as well.
    pub whole: bool,
    pub brief: bool,
}

/// The part of a page whose paragraphs are asked for.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
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

/// The least change that is asked for. Events that are no change, such as `gone`, have no magnitude.
#[derive(Copy, Clone, Debug, PartialEq)]
pub enum LeastMagnitude {
    Degree(Degree),
    Share(f32),
}

const DEGREES: [Degree; 4] = [Degree::Slight, Degree::Moderate, Degree::Large, Degree::Total];

impl LeastMagnitude {
    pub fn read(text: &str) -> Result<LeastMagnitude, ApiError> {
        if let Some(degree) = DEGREES.into_iter().find(|degree| degree.name() == text) {
            return Ok(LeastMagnitude::Degree(degree));
        }
        let share = text.parse().ok().filter(|share| (0.0..=1.0).contains(share));
        share.map(LeastMagnitude::Share).ok_or_else(|| {
            let names = DEGREES.map(Degree::name).join(", ");
            ApiError::bad_request(format!("`{text}` is no magnitude: give {names}, or a number from 0 to 1"))
        })
    }

    fn is_reached(self, event: &Event) -> bool {
        let is_change = matches!(event.kind, EventKind::Changed | EventKind::Template);
        is_change
            && match self {
                LeastMagnitude::Degree(degree) => event.change.degree >= degree,
                LeastMagnitude::Share(share) => event.change.magnitude >= share,
            }
    }
}

const EVENT_KINDS: [EventKind; 12] = [
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
    EventKind::Imported,
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
    /// Every event, with all its words.
    pub fn of_everything() -> EventFilter {
        EventFilter {
            not_before: None,
            site: None,
            kind: None,
            events: None,
            role: None,
            until: None,
            prefix: None,
            least: None,
            words: None,
            tag: None,
            mark: None,
            with_noise: true,
            with_names: true,
            pages: false,
            whole: false,
            brief: false,
        }
    }

    /// Whether an event of the store may have rows that are asked for.
    pub fn covers(&self, event: &Event, seeds: &Seeds) -> bool {
        let is_noise = event.kind == EventKind::Changed && !event.change.is_change();
        // Other bytes in which nothing differs concern only who keeps a copy.
        let is_nothing = is_noise && event.change.kinds.is_empty();
        (self.pages || !is_noise || self.with_noise && !is_nothing)
            && self.not_before.is_none_or(|moment| event.seen_different >= moment)
            && self.until.is_none_or(|until| event.seen_different < until)
            && self.prefix.as_ref().is_none_or(|prefix| event.url.as_str().starts_with(prefix))
            && self.least.is_none_or(|least| least.is_reached(event))
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
        if self.words.is_some() || !self.brief && !self.pages {
            row.unread = event_text::fill(shared, &mut row.event).err().and_then(|error| error.unread());
        }
        if let Some(words) = &self.words {
            // Nobody knows which words a version had that cannot be read: it is told, and says why.
            let is_told = row.unread.is_some() || words.are_in(&row.event.change.paragraphs);
            return is_told.then_some(row);
        }
        Some(row)
    }
}
