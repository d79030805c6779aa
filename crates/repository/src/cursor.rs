//! A position in the change feed: `c` and the hexadecimal position of a deed. It is opaque to clients, and stable because the
//! journal counts positions.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use vernal_model::{Partition, Sequence};

use crate::Error;

/// Everything up to and including the deed with this number, counted over all partitions from 1.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Cursor(pub u64);

/// The id of an event derives from the journal, so that a replay gives the same one.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct EventId {
    pub partition: Partition,
    pub sequence: Sequence,
}

impl Cursor {
    /// Before the first event.
    pub const START: Cursor = Cursor(0);
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "c{:x}", self.0)
    }
}

impl FromStr for Cursor {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let digits = text.strip_prefix('c').filter(|rest| rest.bytes().all(|byte| byte.is_ascii_hexdigit()));
        digits
            .and_then(|digits| u64::from_str_radix(digits, 16).ok())
            .map(Cursor)
            .ok_or_else(|| Error::NotACursor(text.to_owned()))
    }
}

impl fmt::Display for EventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.partition.0, self.sequence.0)
    }
}

impl FromStr for EventId {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let is_number = |digits: &str| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        let (partition, sequence) = text
            .split_once('-')
            .filter(|(partition, sequence)| is_number(partition) && is_number(sequence))
            .ok_or_else(|| Error::NotAnEvent(text.to_owned()))?;
        let partition = partition.parse().ok().filter(|partition| *partition < Partition::COUNT);
        let sequence = sequence.parse().ok();
        partition
            .zip(sequence)
            .map(|(partition, sequence)| EventId { partition: Partition(partition), sequence: Sequence(sequence) })
            .ok_or_else(|| Error::NotAnEvent(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_is_read_as_it_was_written_and_nothing_else_is_one() {
        for position in [0, 1, 255, u64::MAX] {
            assert_eq!(Cursor(position).to_string().parse::<Cursor>().unwrap(), Cursor(position));
        }
        for text in ["", "c", "12", "c+1", "cxyz", "c11111111111111111"] {
            assert!(text.parse::<Cursor>().is_err(), "{text}");
        }
    }

    #[test]
    fn the_id_of_an_event_is_read_as_it_was_written_and_nothing_else_is_one() {
        for (partition, sequence) in [(0, 1), (63, u64::MAX), (7, 12)] {
            let id = EventId { partition: Partition(partition), sequence: Sequence(sequence) };
            assert_eq!(id.to_string().parse::<EventId>().unwrap(), id);
        }
        for text in ["", "-", "1-", "-1", "64-1", "1-+2", "1-2-3", "1-99999999999999999999", "a-1"] {
            assert!(text.parse::<EventId>().is_err(), "{text}");
        }
    }
}
