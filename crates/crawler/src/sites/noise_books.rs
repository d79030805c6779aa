//! The noise books of sites that were visited lately, and what single pages have shown.

use std::collections::VecDeque;

use foldhash::HashMap;
use vernal_document::noise::PendingFolds;
use vernal_model::{Deed, NoiseBook, NoiseRows, Partition, Site};

use crate::Result;
use crate::work::Work;

pub(crate) struct NoiseBooks {
    /// Looked up for every visit, and never walked through: its order is chance.
    books: HashMap<Site, NoiseBook>,
    /// In the order in which they were read.
    read: VecDeque<Site>,
    books_max: usize,
    /// Of all sites.
    sightings: PendingFolds,
}

impl NoiseBooks {
    pub fn new(books_max: usize) -> Self {
        NoiseBooks {
            books: HashMap::default(),
            read: VecDeque::new(),
            books_max: books_max.max(1),
            sightings: PendingFolds::default(),
        }
    }

    /// A site's book. It is read when it is not at hand; then the one that was read first makes room.
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

    /// The same, with what single pages have shown.
    pub fn with_sightings(&mut self, work: &Work, site: &Site) -> Result<(&NoiseBook, &mut PendingFolds)> {
        self.book(work, site)?;
        Ok((self.books.get(site).expect("it was read just now"), &mut self.sightings))
    }

    /// Writes down what was learned, here and in the journal; says whether the page has a row about noise now, if that
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
