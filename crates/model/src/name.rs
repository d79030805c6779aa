//! The names of a page: pages of one site that are one page with several addresses. One of them is the first name, under which
//! the page is told; the others are its second names.

use serde::{Deserialize, Serialize};

use crate::{Event, Fingerprint, Moment, PageKey};

/// What is known of the names of one page.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct NameRow {
    /// The page that this one is a second name of.
    pub same_as: Option<SameAs>,
    /// Whether this page is the first name of others.
    pub is_first: bool,
    /// The URL that the page names by its canonical link, if it is another one of its site.
    pub canonical: Option<Fingerprint>,
    /// What people said of this page and another one.
    pub words: Vec<NameWord>,
}

impl NameRow {
    /// People may say something of so many pairs with this page.
    pub const WORDS_MAX: usize = 32;

    /// An empty row is not kept.
    pub fn is_empty(&self) -> bool {
        *self == NameRow::default()
    }

    /// What people said of this page and that one.
    pub fn word_on(&self, other: PageKey) -> Option<&NameWord> {
        self.words.iter().find(|word| word.other == other)
    }
}

/// Why a page is a second name, and of which page.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SameAs {
    pub first: PageKey,
    pub why: NameReason,
    pub since: Moment,
    /// Visits in a row that found other content here than at the first name, and could not tell whether both have it by now.
    pub unequal: u8,
}

/// What makes two pages one.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum NameReason {
    /// A person said so.
    Person,
    /// One names the other by its canonical link, and both have the same content.
    Canonical,
    /// Both have the same content, and their addresses are spellings of one another.
    Spelling,
}

impl NameReason {
    pub fn name(self) -> &'static str {
        match self {
            NameReason::Person => "person",
            NameReason::Canonical => "canonical",
            NameReason::Spelling => "spelling",
        }
    }
}

/// What a person said of a page and another one. Both pages keep it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NameWord {
    pub other: PageKey,
    pub says: NameRelation,
    pub since: Moment,
    pub reason: Box<str>,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum NameRelation {
    /// The other page is a second name of this one.
    FirstOf,
    /// This page is a second name of the other one.
    SecondOf,
    /// They are two pages, whatever they contain.
    Apart,
}

/// A mark under which a page is found by those that may be the same page.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum NameMark {
    /// Its address without what spellings of one address differ in (see `Url::plain_spelling`). Only pages with enough text
    /// have it.
    Spelling(u64),
    /// The page names this URL by its canonical link.
    Canonical(Fingerprint),
    /// The page is a second name of the page with this number.
    SecondOf(u32),
}

/// The name under which a page is told from a place in the journal on.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Retold {
    /// The first name of the page; `None` where it stands on its own.
    pub first: Option<PageKey>,
    /// The place is that of the deed, or the beginning for a page that was a second name from its first version on.
    pub from_start: bool,
}

/// What a visit or a person changed of the names of one page.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Named {
    pub page: PageKey,
    /// The new row, if it is another one. An empty one removes it.
    pub row: Option<NameRow>,
    /// Marks that the page has from now on, and those that it has no more.
    pub marked: Vec<NameMark>,
    pub unmarked: Vec<NameMark>,
    /// Whether the page is told under another name from now on.
    pub retold: Option<Retold>,
    /// The page became a second name after it had been told, or stands on its own again.
    pub event: Option<Event>,
}

impl Named {
    pub fn new(page: PageKey) -> Self {
        Named { page, row: None, marked: Vec::new(), unmarked: Vec::new(), retold: None, event: None }
    }

    /// Whether nothing is changed.
    pub fn is_empty(&self) -> bool {
        *self == Named::new(self.page)
    }
}
