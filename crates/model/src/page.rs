//! A URL that has been visited at least once; it lives across versions.

use serde::{Deserialize, Serialize};

use crate::{Moment, Outcome, PageKey, Url, Validators, Version};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Page {
    pub key: PageKey,
    pub url: Url,
    pub state: PageState,
    /// Links followed from the nearest seed.
    pub depth: u16,
    pub found_on: Option<PageKey>,
    pub admitted: Moment,
    pub first_visit: Moment,
    pub last_visit: Moment,
    /// The last visit that got an answer which speaks about the page's content (Read or NotModified).
    pub last_confirmed: Option<Moment>,
    pub last_outcome: Outcome,
    pub visits: u32,
    /// Visits that could be compared with an earlier version, and those of them that found a change.
    pub compared: u32,
    pub changes: u32,
    /// Visits in a row that found it gone, and since when.
    pub misses: u16,
    pub missing_since: Option<Moment>,
    /// Visits in a row that failed.
    pub failures: u16,
    /// Not before this Moment, whatever the policy says (retries, refusals).
    pub not_before: Moment,
    /// The newest version.
    pub version: Option<Version>,
    pub validators: Validators,
    /// How much this page counts in freshness; 1 unless someone said otherwise.
    pub importance: f32,
    /// Something on it was seen to differ without meaning, or is suspected of it: there is a row about that.
    pub noisy: bool,
    pub policy: PolicyState,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PageState {
    /// We keep a version and mean to keep it fresh.
    Held,
    /// Confirmed gone over time; the last good version stays.
    Gone,
    /// It redirects; the target is a page of its own.
    Moved,
    /// Behind a wall and never read.
    Blocked,
    /// We may not ask (robots, guard), or chose not to (trap).
    Refused,
    /// Never read successfully; will be tried again.
    Failed,
    /// It had to make room for a more important page; its versions and what was learned of it stay.
    Left,
}

impl PageState {
    pub const ALL: [PageState; 7] = [
        PageState::Held,
        PageState::Gone,
        PageState::Moved,
        PageState::Blocked,
        PageState::Refused,
        PageState::Failed,
        PageState::Left,
    ];

    pub fn name(self) -> &'static str {
        match self {
            PageState::Held => "held",
            PageState::Gone => "gone",
            PageState::Moved => "moved",
            PageState::Blocked => "blocked",
            PageState::Refused => "refused",
            PageState::Failed => "failed",
            PageState::Left => "left",
        }
    }
}

/// What a policy wants to remember of a page: its own bytes, at most 40, which travel in the visit's deed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PolicyState(Box<[u8]>);

impl PolicyState {
    pub const BYTES_MAX: usize = 40;

    /// `None` if the bytes are more than a policy may keep.
    pub fn new(bytes: &[u8]) -> Option<Self> {
        (bytes.len() <= Self::BYTES_MAX).then(|| PolicyState(bytes.into()))
    }

    pub fn bytes(&self) -> &[u8] {
        &self.0
    }
}
