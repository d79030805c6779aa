//! What a pass over all links finds out, as rows: how much each URL weighs, how far the pass saw, and which pages left the
//! collection for better ones.

use serde::{Deserialize, Serialize};

use crate::{Moment, Page, PageKey, PageState};

/// The scores of a run of URLs of one partition, by their dense numbers, unread ones included. A score is what links alone
/// say, scaled so that the mean over the held pages is 1.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WeightRow {
    /// The scores are those of the numbers from `chunk · NUMBERS` on; at most `NUMBERS` of them.
    pub chunk: u32,
    pub scores: Vec<f32>,
}

impl WeightRow {
    /// Numbers in one row: a row is 4 KiB, and a million URLs are a thousand rows.
    pub const NUMBERS: u32 = 1_024;

    /// The row that a number lies in, and its place there.
    pub fn place(number: u32) -> (u32, usize) {
        (number / Self::NUMBERS, (number % Self::NUMBERS) as usize)
    }
}

/// The last pass over all links that came to its end.
#[derive(Copy, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct GraphMark {
    pub passes: u32,
    /// When it ended.
    pub moment: Moment,
    /// The last deed that was applied when it began: it saw every link that was known then.
    pub position: u64,
    /// Visits of the whole repository when it began.
    pub visits: u64,
    /// URLs that could be linked to, and links between them.
    pub urls: u64,
    pub links: u64,
    /// Sweeps over all links until the scores stood still.
    pub sweeps: u32,
    /// The importance that a URL needed to get into the collection; 0 while the collection had room.
    pub bar: f32,
}

/// A page that leaves the collection.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Leaving {
    /// The page's row as it becomes.
    pub page: Page,
    pub was: PageState,
    pub row: LeftRow,
}

/// Why a page left, and when.
#[derive(Copy, Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LeftRow {
    pub moment: Moment,
    /// What it weighed then, and what the URL that it made room for did. A page that left because more was held than
    /// should be made room for itself.
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
