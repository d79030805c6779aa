//! A URL that has been visited at least once; it lives across versions.

use std::fmt;

use serde::de::{Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

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
    /// The weight of this page in freshness; 1 by default.
    pub importance: f32,
    /// Whether there is a row about noise or suspected noise on this page.
    pub noisy: bool,
    pub policy: PolicyState,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PageState {
    /// We keep a version and mean to keep it fresh.
    Held,
    /// Confirmed gone over time. The last good version stays.
    Gone,
    /// It redirects. The target is a page of its own.
    Moved,
    /// Behind a wall and never read.
    Blocked,
    /// We may not request it (robots, guard), or chose not to (trap).
    Refused,
    /// Never read successfully. It will be tried again.
    Failed,
    /// Evicted for a more important page. Its versions and what was learned of it stay.
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

/// The state of a policy for a page: at most 40 bytes, written with the deed of the visit. They are stored inline, because the row
/// is read or written with every visit and should need no further allocation.
#[derive(Copy, Clone, PartialEq, Eq)]
pub struct PolicyState {
    /// The bytes after the length are zero.
    bytes: [u8; PolicyState::BYTES_MAX],
    length: u8,
}

impl PolicyState {
    pub const BYTES_MAX: usize = 40;

    /// `None` if the bytes are more than a policy may keep.
    pub fn new(bytes: &[u8]) -> Option<Self> {
        let mut state = PolicyState::default();
        state.bytes.get_mut(..bytes.len())?.copy_from_slice(bytes);
        state.length = bytes.len() as u8;
        Some(state)
    }

    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.length)]
    }
}

impl Default for PolicyState {
    fn default() -> Self {
        PolicyState { bytes: [0; PolicyState::BYTES_MAX], length: 0 }
    }
}

impl fmt::Debug for PolicyState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("PolicyState").field(&self.bytes()).finish()
    }
}

/// Writes the bytes at once. In postcard they look like the list of numbers of earlier formats.
impl Serialize for PolicyState {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(self.bytes())
    }
}

impl<'de> Deserialize<'de> for PolicyState {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_bytes(StateBytes)
    }
}

struct StateBytes;

impl<'de> Visitor<'de> for StateBytes {
    type Value = PolicyState;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at most {} bytes", PolicyState::BYTES_MAX)
    }

    fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<PolicyState, E> {
        PolicyState::new(bytes).ok_or_else(|| E::invalid_length(bytes.len(), &self))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut numbers: A) -> Result<PolicyState, A::Error> {
        let mut bytes = Vec::new();
        while let Some(byte) = numbers.next_element()? {
            bytes.push(byte);
        }
        self.visit_bytes(&bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_policy_keeps_is_written_as_a_list_of_numbers_and_read_from_one() {
        for length in [0, 1, 35, PolicyState::BYTES_MAX] {
            let bytes: Vec<u8> = (0..length as u8).map(|byte| byte.wrapping_mul(77)).collect();
            let state = PolicyState::new(&bytes).unwrap();
            assert_eq!(state.bytes(), bytes);
            let written = postcard::to_allocvec(&state).unwrap();
            assert_eq!(written, postcard::to_allocvec(&bytes).unwrap());
            assert_eq!(postcard::from_bytes::<PolicyState>(&written), Ok(state));
            let told = serde_json::to_string(&state).unwrap();
            assert_eq!(told, serde_json::to_string(&bytes).unwrap());
            assert_eq!(serde_json::from_str::<PolicyState>(&told).unwrap(), state);
        }
    }

    #[test]
    fn more_than_a_policy_may_keep_is_refused() {
        let bytes = [1; PolicyState::BYTES_MAX + 1];
        assert_eq!(PolicyState::new(&bytes), None);
        assert!(postcard::from_bytes::<PolicyState>(&postcard::to_allocvec(&bytes.to_vec()).unwrap()).is_err());
    }
}
