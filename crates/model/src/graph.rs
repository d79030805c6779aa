//! The rows that a pass over all links writes: the scores of URLs, the state of the pass, and evicted pages.

use serde::{Deserialize, Serialize};

use crate::{Moment, Page, PageKey, PageState};

/// The scores of a chunk of URLs of one partition, by their dense numbers, including unread ones. A score is computed from links
/// alone and scaled so that the mean over the held pages is 1.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WeightRow {
    /// The first number is `chunk · NUMBERS`. There are at most `NUMBERS` scores.
    pub chunk: u32,
    pub scores: Vec<f32>,
}

impl WeightRow {
    /// Numbers in one row: a row is 4 KiB, and a million URLs are a thousand rows.
    pub const NUMBERS: u32 = 1_024;

    /// The chunk of a number, and its index there.
    pub fn place(number: u32) -> (u32, usize) {
        (number / Self::NUMBERS, (number % Self::NUMBERS) as usize)
    }
}

/// The last completed pass over all links.
#[derive(Copy, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct GraphMark {
    pub passes: u32,
    /// When it ended.
    pub moment: Moment,
    /// The last deed that was applied when it began. It covers every link that was known then.
    pub position: u64,
    /// Visits of the whole repository when it began.
    pub visits: u64,
    /// The known URLs, and the links between them.
    pub urls: u64,
    pub links: u64,
    /// Iterations until the scores converged.
    pub sweeps: u32,
    /// The importance that a URL needed to be held; 0 while there was room.
    pub bar: f32,
}

/// An evicted page.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Eviction {
    /// The new row of the page.
    pub page: Page,
    pub was: PageState,
    pub row: EvictionRow,
}

/// Why and when a page was evicted.
#[derive(Copy, Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EvictionRow {
    pub moment: Moment,
    /// Its importance at that time, and that of the URL that replaced it. If there were simply too many pages, both are its own.
    pub importance: f32,
    pub better: f32,
    pub made_room_for: PageKey,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_has_one_place() {
        assert_eq!(WeightRow::place(0), (0, 0));
        assert_eq!(WeightRow::place(1_023), (0, 1_023));
        assert_eq!(WeightRow::place(1_024), (1, 0));
        assert_eq!(WeightRow::place(u32::MAX), (4_194_303, 1_023));
    }
}
