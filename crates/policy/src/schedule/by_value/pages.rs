//! All pages in one vector, by their dense numbers.

use vernal_model::PageKey;

use super::page::{Page, State};
use super::queue::Entry;

#[derive(Clone, Debug, Default)]
pub struct Pages {
    /// A number that no known page has takes room as well, if a larger one is known.
    rows: Vec<Page>,
}

impl Pages {
    /// As many pages as have numbers, known or not.
    pub fn numbered(&self) -> usize {
        self.rows.len()
    }

    pub fn get(&self, number: u32) -> Option<&Page> {
        self.rows.get(number as usize)
    }

    /// A page that is known.
    pub fn known(&self, key: PageKey) -> Option<&Page> {
        self.get(key.number).filter(|page| page.state() != State::Unknown && page.partition == key.partition.0)
    }

    pub fn at(&self, number: u32) -> &Page {
        &self.rows[number as usize]
    }

    pub fn at_mut(&mut self, number: u32) -> &mut Page {
        &mut self.rows[number as usize]
    }

    /// Makes room for a page.
    pub fn make(&mut self, key: PageKey) -> &mut Page {
        if self.rows.len() <= key.number as usize {
            self.rows.resize(key.number as usize + 1, Page::default());
        }
        let page = self.at_mut(key.number);
        page.partition = key.partition.0;
        page
    }

    /// Whether an entry of a site's waiting lists still speaks of a page that waits there.
    pub fn waits(&self, entry: &Entry, site: u32) -> bool {
        let page = self.at(entry.page);
        page.state() == State::Eligible && page.waits_with(entry.key) && page.site == site
    }

    pub fn key(&self, number: u32) -> PageKey {
        self.at(number).key(number)
    }

    /// The numbers of all known pages.
    pub fn numbers(&self) -> impl Iterator<Item = u32> + Clone {
        (0u32..).zip(&self.rows).filter(|(_, page)| page.state() != State::Unknown).map(|(number, _)| number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use vernal_model::Partition;

    #[test]
    fn pages_are_found_and_counted_by_their_numbers() {
        let mut pages = Pages::default();
        let numbers = [3, 40_000, 70_000];
        for number in numbers {
            let page = pages.make(PageKey::new(Partition(1), number));
            page.last = number;
            page.enter(State::Eligible);
        }
        assert!(pages.numbers().eq(numbers));
        assert!(numbers.iter().all(|&number| pages.at(number).last == number));
        assert_eq!(pages.numbered(), 70_001);
        assert!(pages.get(4).is_some_and(|page| page.state() == State::Unknown));
        assert!(pages.get(70_001).is_none() && pages.get(u32::MAX).is_none());
        assert!(pages.known(PageKey::new(Partition(1), 3)).is_some_and(|page| page.last == 3));
        assert!(pages.known(PageKey::new(Partition(2), 3)).is_none());
    }
}
