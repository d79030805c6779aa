//! Changes that one page alone has shown so far. Hardly any of them is ever met on a second page, so they are remembered
//! here and written nowhere; a fold with a row of its own begins with the second page.

use vernal_model::{Kinds, Moment, PageKey};

/// Sightings of all sites together: a few for each of the last thousands of changed pages. A power of two. What is
/// forgotten costs one page more that tells of the change itself.
const SIGHTINGS_MAX: usize = 1 << 14;

/// What one page has shown.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Sighting {
    /// A mark of the site and of the change of one paragraph.
    pub mark: u64,
    pub page: PageKey,
    pub moment: Moment,
    /// The kinds left and a mark of the notes that came with it (see `Fold`).
    pub left: Kinds,
    pub notes: u64,
}

/// The latest sightings, each in the one place that its mark gives it: a newer one there takes it.
#[derive(Clone, Debug, Default)]
pub struct Sightings {
    /// Empty until there is one.
    places: Vec<Option<Sighting>>,
}

impl Sightings {
    /// What was seen under this mark.
    pub fn get(&self, mark: u64) -> Option<&Sighting> {
        self.places.get(place(mark))?.as_ref().filter(|seen| seen.mark == mark)
    }

    pub fn put(&mut self, sighting: Sighting) {
        if self.places.is_empty() {
            self.places = vec![None; SIGHTINGS_MAX];
        }
        self.places[place(sighting.mark)] = Some(sighting);
    }
}

fn place(mark: u64) -> usize {
    mark as usize % SIGHTINGS_MAX
}

#[cfg(test)]
mod tests {
    use vernal_model::Partition;

    use super::*;

    #[test]
    fn a_sighting_is_kept_until_another_takes_its_place() {
        let sighting = |mark, number| Sighting {
            mark,
            page: PageKey::new(Partition(0), number),
            moment: Moment::from_secs(i64::from(number)),
            left: Kinds::default(),
            notes: 0,
        };
        let mut sightings = Sightings::default();
        assert_eq!(sightings.get(7), None);
        sightings.put(sighting(7, 1));
        sightings.put(sighting(8, 2));
        assert_eq!(sightings.get(7), Some(&sighting(7, 1)));
        let same_place = 7 + SIGHTINGS_MAX as u64;
        assert_eq!(sightings.get(same_place), None, "one that lies there is not taken for another");
        sightings.put(sighting(same_place, 3));
        assert_eq!((sightings.get(7), sightings.get(8)), (None, Some(&sighting(8, 2))));
    }
}
