//! Counts on how many pages each word is. The vocabulary is limited. Beyond the limit, words on the fewest pages are dropped, which
//! hardly ever are possible topics.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

/// The limit of counted words, about 100 MB. Beyond it, those on the fewest pages are dropped.
pub const VOCABULARY_MAX: usize = 1 << 20;
/// The least number of pages of a topic. With more pages it grows as an eighth of their square root, so that there is enough to
/// sample.
const PAGES_MIN: f64 = 5.0;
const PAGES_MIN_OF_ROOT: f64 = 0.125;
/// A word on a larger share of the pages does not distinguish them.
const SHARE_MAX: f64 = 0.1;
/// The limit of topics; those on the most pages are kept. The cost of a pass is a column of reputations for each.
const TOPICS_MAX: usize = 20_000;

/// The limits for words that may be topics.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct TopicLimits {
    pub pages_min: u32,
    pub pages_max: u32,
    pub topics_max: usize,
}

impl TopicLimits {
    /// The limits for a repository of so many pages.
    pub fn for_pages(pages: usize) -> TopicLimits {
        let pages = pages as f64;
        let pages_min = PAGES_MIN.max((pages.sqrt() * PAGES_MIN_OF_ROOT).ceil());
        // A small repository has topics too.
        let pages_max = (pages * SHARE_MAX).floor().max(4.0 * pages_min);
        TopicLimits { pages_min: pages_min as u32, pages_max: pages_max as u32, topics_max: TOPICS_MAX }
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Vocabulary {
    /// Iterated only where the order does not matter or the result is sorted.
    counts: HashMap<Box<str>, u32>,
    words_max: usize,
    pages: usize,
}

impl Default for Vocabulary {
    fn default() -> Self {
        Vocabulary::with_limit(VOCABULARY_MAX)
    }
}

impl Vocabulary {
    pub fn with_limit(words_max: usize) -> Self {
        Vocabulary { counts: HashMap::new(), words_max: words_max.max(1), pages: 0 }
    }

    /// Counts the words of one page, each once.
    pub fn count(&mut self, words: &[Box<str>]) {
        self.pages += 1;
        for word in words {
            match self.counts.get_mut(word) {
                Some(count) => *count += 1,
                None => {
                    if self.counts.len() >= self.words_max {
                        self.drop_rare();
                    }
                    self.counts.insert(word.clone(), 1);
                }
            }
        }
    }

    pub fn pages(&self) -> usize {
        self.pages
    }

    pub fn len(&self) -> usize {
        self.counts.len()
    }

    pub fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }

    pub fn count_of(&self, word: &str) -> u32 {
        self.counts.get(word).copied().unwrap_or(0)
    }

    /// The words that may be topics, in alphabetical order.
    pub fn fit(&self, fit: TopicLimits) -> Vec<(Box<str>, u32)> {
        let within = |count: u32| (fit.pages_min..=fit.pages_max).contains(&count);
        let fitting = self.counts.iter().filter(|&(_, &count)| within(count));
        let mut words: Vec<(Box<str>, u32)> = fitting.map(|(word, &count)| (word.clone(), count)).collect();
        if words.len() > fit.topics_max {
            words.sort_unstable_by(|one, other| other.1.cmp(&one.1).then(one.0.cmp(&other.0)));
            words.truncate(fit.topics_max);
        }
        words.sort_unstable();
        words
    }

    /// The numbers of words on too few and on too many pages to be topics.
    pub fn unfit(&self, fit: TopicLimits) -> (usize, usize) {
        let few = self.counts.values().filter(|count| **count < fit.pages_min).count();
        let many = self.counts.values().filter(|count| **count > fit.pages_max).count();
        (few, many)
    }

    /// Drops a quarter of the words, those on the fewest pages.
    fn drop_rare(&mut self) {
        let mut least = 1;
        while self.counts.len() > self.words_max - self.words_max / 4 {
            self.counts.retain(|_, count| *count > least);
            least *= 2;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(words: &[&str]) -> Vec<Box<str>> {
        words.iter().map(|&word| word.into()).collect()
    }

    #[test]
    fn words_on_too_few_or_too_many_pages_are_no_topics() {
        let mut vocabulary = Vocabulary::default();
        for number in 0..20 {
            let mut words = vec!["everywhere"];
            words.extend((number < 6).then_some("some"));
            words.extend((number < 2).then_some("rare"));
            vocabulary.count(&page(&words));
        }
        let fit = TopicLimits { pages_min: 3, pages_max: 10, topics_max: 9 };
        assert_eq!(vocabulary.fit(fit), [(Box::from("some"), 6)]);
        assert_eq!(vocabulary.unfit(fit), (1, 1));
        assert_eq!((vocabulary.pages(), vocabulary.count_of("rare")), (20, 2));
        let one = TopicLimits { pages_max: 99, topics_max: 1, ..fit };
        assert_eq!(vocabulary.fit(one), [(Box::from("everywhere"), 20)]);
    }

    #[test]
    fn a_vocabulary_keeps_to_its_limit_and_what_stands_on_many_pages_stays() {
        let mut vocabulary = Vocabulary::with_limit(100);
        for number in 0..5_000 {
            vocabulary.count(&page(&["common", &format!("own{number}")]));
            assert!(vocabulary.len() <= 100);
        }
        assert_eq!(vocabulary.count_of("common"), 5_000);
    }

    #[test]
    fn topics_are_larger_where_there_are_more_pages() {
        assert_eq!(TopicLimits::for_pages(100), TopicLimits { pages_min: 5, pages_max: 20, topics_max: TOPICS_MAX });
        assert_eq!(TopicLimits::for_pages(100_000).pages_min, 40);
        assert_eq!(TopicLimits::for_pages(100_000).pages_max, 10_000);
    }
}
