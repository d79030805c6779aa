//! The topics, by their words, and how a page that was just read is categorised (Algorithm 2 of seed 001).

use std::collections::{BTreeMap, HashMap};

use vernal_model::{PageTerms, TopicId, TopicMark, TopicOf, TopicRow};
use vernal_policy::topic::{Known, LinkedFrom, TopicTerms, known_for};
use vernal_repository::Reader;

use crate::Result;

#[derive(Clone, Debug, Default)]
pub struct TopicBook {
    /// Looked up only, never iterated: its order is random.
    by_word: HashMap<Box<str>, Known>,
    /// Topics without pages are included: a number is never reused for another word.
    rows: BTreeMap<TopicId, TopicRow>,
    mark: TopicMark,
}

impl TopicBook {
    pub(crate) fn open(reader: &Reader) -> Result<TopicBook> {
        let rows: Vec<TopicRow> = reader.topics().collect::<std::result::Result<_, _>>()?;
        let mut book = TopicBook { mark: reader.topic_mark()?, ..TopicBook::default() };
        book.take(rows);
        Ok(book)
    }

    pub fn mark(&self) -> TopicMark {
        self.mark
    }

    pub fn set_mark(&mut self, mark: TopicMark) {
        self.mark = mark;
    }

    pub fn take(&mut self, rows: Vec<TopicRow>) {
        for row in rows {
            self.by_word.insert(row.word.clone(), Known { topic: row.id, holders: row.holders });
            self.rows.insert(row.id, row);
        }
    }

    /// The number of a word's topic, whether or not the topic has pages.
    pub(super) fn id(&self, word: &str) -> Option<TopicId> {
        self.by_word.get(word).map(|known| known.topic)
    }

    pub(super) fn row(&self, id: TopicId) -> Option<&TopicRow> {
        self.rows.get(&id)
    }

    pub(super) fn rows(&self) -> impl Iterator<Item = &TopicRow> {
        self.rows.values()
    }

    /// The topics of a page with these words and these pages linking to it.
    pub fn known_for(&self, by: TopicTerms, terms: &PageTerms, linked_from: &[LinkedFrom<'_>]) -> Vec<TopicOf> {
        let own = terms.words.iter().filter_map(|word| self.by_word.get(word).copied());
        let own: Vec<Known> = own.filter(|known| known.holders > 0).collect();
        known_for(&own, linked_from, by.reckoning.jump, by.most)
    }
}
