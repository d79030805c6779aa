//! The place in the journal that a commit of the index is consistent with.

use serde::{Deserialize, Serialize};
use vernal_repository::{Cursor, EventId, Reader};

use crate::Result;

/// Another number means other units or fields: such an index is made anew.
pub const FORMAT: u32 = 2;

#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// Everything up to this cursor is in the index.
    pub cursor: Cursor,
    /// The last event that is in it, by which another journal is recognised.
    pub last: Option<(Cursor, EventId)>,
    /// Whether every page has the words of all links to it that are in the index.
    pub has_anchors: bool,
}

#[derive(Serialize, Deserialize)]
struct Payload {
    format: u32,
    cursor: Cursor,
    last: Option<(Cursor, EventId)>,
    #[serde(default)]
    has_anchors: bool,
}

impl Place {
    pub fn to_payload(self) -> String {
        let Place { cursor, last, has_anchors } = self;
        let payload = Payload { format: FORMAT, cursor, last, has_anchors };
        serde_json::to_string(&payload).expect("numbers are always JSON")
    }

    /// `None` if it was written in another format.
    pub fn of_payload(text: &str) -> Option<Place> {
        let payload: Payload = serde_json::from_str(text).ok()?;
        let Payload { format, cursor, last, has_anchors } = payload;
        (format == FORMAT).then_some(Place { cursor, last, has_anchors })
    }

    /// Whether this journal has what the index says it has read.
    pub fn is_of(&self, reader: &Reader) -> Result<bool> {
        if self.cursor > reader.cursor() {
            return Ok(false);
        }
        let Some((cursor, id)) = self.last else { return Ok(true) };
        let found = reader.events(Cursor(cursor.0.saturating_sub(1)), 1)?;
        Ok(found.first().is_some_and(|(at, found, _)| (*at, *found) == (cursor, id)))
    }
}
