//! The noise books of recently visited sites.

use std::collections::VecDeque;

use foldhash::HashMap;
use vernal_model::{Deed, NoiseBook, NoiseRows, Partition, Site};

use crate::Result;
use crate::work::Work;

pub(crate) struct NoiseBooks {
    /// Looked up for every visit, never iterated: its order is random.
    books: HashMap<Site, NoiseBook>,
    /// The sites in the order in which their books were read.
    read: VecDeque<Site>,
    books_max: usize,
}

impl NoiseBooks {
    pub fn new(books_max: usize) -> Self {
        NoiseBooks { books: HashMap::default(), read: VecDeque::new(), books_max: books_max.max(1) }
    }

    /// A site's noise book. It is read if it is not in memory; the book that was read first is then dropped.
    pub fn book(&mut self, work: &Work, site: &Site) -> Result<&NoiseBook> {
        if !self.books.contains_key(site) {
            if self.read.len() >= self.books_max
                && let Some(oldest) = self.read.pop_front()
            {
                self.books.remove(&oldest);
            }
            self.books.insert(site.clone(), work.noise_book(site)?);
            self.read.push_back(site.clone());
        }
        Ok(self.books.get(site).expect("it was read if it was not there"))
    }

    /// Stores what was learned, here and in the journal; returns whether the page has a row about noise now, if that
    /// row was written.
    pub fn learn(&mut self, work: &mut Work, id: Partition, rows: NoiseRows) -> Option<bool> {
        if rows.is_empty() {
            return None;
        }
        let noisy = rows.page.as_ref().map(|(_, noise)| !noise.is_empty());
        if let Some(book) = self.books.get_mut(&rows.site) {
            book.take(&rows);
        }
        work.push(id, Deed::NoiseLearned(Box::new(rows)));
        noisy
    }
}

#[cfg(test)]
mod tests {
    use vernal_document::noise;
    use vernal_model::{NoisePattern, RuleReach};

    use super::*;
    use crate::testing::{Bench, START, unhindered};

    fn site(number: usize) -> Site {
        Site::new(&format!("s{number}.example"))
    }

    /// A rule that a person gives.
    fn rule(books: &mut NoiseBooks, work: &mut Work, number: usize) {
        let site = site(number);
        let what = NoisePattern::Words { shape: "* visitors".into(), place: 0 };
        let book = books.book(work, &site).unwrap();
        let rows = noise::add(&site, book, what, RuleReach::Site, "it counts", START).expect("there is room");
        assert_eq!(books.learn(work, Partition(0), rows), None, "it is of no page");
    }

    #[test]
    fn a_book_that_made_room_is_read_again_with_all_that_was_learned_committed_or_not() {
        let (mut bench, mut books) = (Bench::new(unhindered()), NoiseBooks::new(2));
        let work = &mut bench.crawler.core.work;
        for round in 1..=3 {
            for number in 0..5 {
                rule(&mut books, work, number);
                assert!(books.books.len() <= 2 && books.read.len() == books.books.len());
            }
            for number in 0..5 {
                let rules = books.book(work, &site(number)).unwrap().rules.len();
                assert_eq!(rules, round, "in round {round}");
            }
            if round == 2 {
                work.commit(START).unwrap();
            }
        }
    }

    #[test]
    fn the_book_that_was_read_first_makes_room() {
        let (bench, mut books) = (Bench::new(unhindered()), NoiseBooks::new(2));
        let work = &bench.crawler.core.work;
        for number in [0, 1, 0, 2] {
            books.book(work, &site(number)).unwrap();
        }
        assert!(!books.books.contains_key(&site(0)), "looking at it again made it no younger");
        assert!(books.books.contains_key(&site(1)) && books.books.contains_key(&site(2)));
    }

    #[test]
    fn nothing_learned_is_no_deed() {
        let (mut bench, mut books) = (Bench::new(unhindered()), NoiseBooks::new(2));
        assert_eq!(books.learn(&mut bench.crawler.core.work, Partition(0), NoiseRows::new(site(0))), None);
        assert!(bench.crawler.core.work.is_empty());
    }
}
