//! Changes that were seen on one page so far. Few of them are ever seen on a second page, so they are kept in memory only. A fold
//! with a row of its own begins with the second page.

use vernal_model::{Kinds, Moment, PageKey};

/// The capacity for all sites, enough for the last thousands of changed pages; a power of two. A forgotten entry costs one more
/// event of a page.
const PENDING_MAX: usize = 1 << 14;

/// A change of one page.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct PendingFold {
    /// A mark of the site and of the change of one paragraph.
    pub mark: u64,
    pub page: PageKey,
    pub moment: Moment,
    /// The kinds that are left, and a mark of the notes of the change (see `Fold`).
    pub left: Kinds,
    pub notes: u64,
}

/// The latest changes. The mark of a change gives its index, where it replaces an older one.
#[derive(Clone, Debug, Default)]
pub struct PendingFolds {
    /// Empty until the first change.
    places: Vec<Option<PendingFold>>,
}

impl PendingFolds {
    /// The change with this mark.
    pub fn get(&self, mark: u64) -> Option<&PendingFold> {
        self.places.get(place(mark))?.as_ref().filter(|seen| seen.mark == mark)
    }

    pub fn put(&mut self, pending: PendingFold) {
        if self.places.is_empty() {
            self.places = vec![None; PENDING_MAX];
        }
        self.places[place(pending.mark)] = Some(pending);
    }
}

fn place(mark: u64) -> usize {
    mark as usize % PENDING_MAX
}

#[cfg(test)]
mod tests {
    use vernal_model::Partition;

    use super::*;

    #[test]
    fn a_sighting_is_kept_until_another_takes_its_place() {
        let pending = |mark, number| PendingFold {
            mark,
            page: PageKey::new(Partition(0), number),
            moment: Moment::from_secs(i64::from(number)),
            left: Kinds::default(),
            notes: 0,
        };
        let mut pending_folds = PendingFolds::default();
        assert_eq!(pending_folds.get(7), None);
        pending_folds.put(pending(7, 1));
        pending_folds.put(pending(8, 2));
        assert_eq!(pending_folds.get(7), Some(&pending(7, 1)));
        let same_place = 7 + PENDING_MAX as u64;
        assert_eq!(pending_folds.get(same_place), None, "one that lies there is not taken for another");
        pending_folds.put(pending(same_place, 3));
        assert_eq!((pending_folds.get(7), pending_folds.get(8)), (None, Some(&pending(8, 2))));
    }
}
