//! The conditions of a watch as people give them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use vernal_model::{Degree, EventKind, Kind};

use super::number::Number;

/// An empty list asks for everything of its sort, except that new pages are told only where `events` names them: the first
/// crawl of a site would tell thousands.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "WatchWhen")]
pub struct When {
    pub events: Vec<EventKind>,
    /// Kinds of a change that must be left after noise.
    pub kinds: Vec<Kind>,
    /// The least degree, which weighs the roles of paragraphs.
    pub min: Option<Degree>,
    /// The least magnitude, from 0 to 1.
    pub magnitude: Option<f32>,
    pub words: Vec<String>,
    /// A pattern of linear time; one of it or of the words is enough.
    pub regex: Option<String>,
    pub r#in: Side,
    /// Only paragraphs of these roles.
    pub roles: Vec<Role>,
    pub not_roles: Vec<Role>,
    pub number: Option<Number>,
    /// Nothing of a page that returns to what it had before the last change.
    pub not_flapping: bool,
    /// Only pages in this language, such as `de`.
    pub language: Option<String>,
}

/// Where words are looked for.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "WatchSide")]
pub enum Side {
    /// In what stands there now and did not.
    Added,
    /// In what stood there and does not.
    Removed,
    /// In one of the two.
    #[default]
    Either,
    /// Anywhere in a paragraph that changed, before or after.
    Paragraph,
}

/// The part that a paragraph has on its page.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "WatchedRole")]
pub enum Role {
    Main,
    Heading,
    Navigation,
    Footer,
    ListItem,
    TableRow,
    Title,
}

impl Role {
    pub fn name(self) -> &'static str {
        match self {
            Role::Main => "main",
            Role::Heading => "heading",
            Role::Navigation => "navigation",
            Role::Footer => "footer",
            Role::ListItem => "list-item",
            Role::TableRow => "table-row",
            Role::Title => "title",
        }
    }
}

impl When {
    /// Whether it asks for something in the words of paragraphs.
    pub fn asks_for_words(&self) -> bool {
        !self.words.is_empty() || self.regex.is_some()
    }

    /// Whether paragraphs of this role are asked for.
    pub fn has_role(&self, name: &str) -> bool {
        let named = |roles: &[Role]| roles.iter().any(|role| role.name() == name);
        (self.roles.is_empty() || named(&self.roles)) && !named(&self.not_roles)
    }

    /// Whether an event of this kind is asked for.
    pub fn has_event(&self, event: EventKind) -> bool {
        match self.events.is_empty() {
            true => !matches!(event, EventKind::New | EventKind::Joined | EventKind::Parted | EventKind::Erased),
            false => self.events.contains(&event),
        }
    }

    pub fn selects_paragraphs(&self) -> bool {
        !self.roles.is_empty() || !self.not_roles.is_empty()
    }
}
