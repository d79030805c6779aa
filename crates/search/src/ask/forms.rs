//! The words of the index that a word of the query stands for.
//!
//! The index holds words as they are written. A word of the query stands for all words with its stem, in each language that
//! the pages have, or in the one that the query names. They are found in the sorted lists of words, near the beginning
//! that forms of a word share.

use foldhash::{HashMap, HashSet, HashSetExt};
use tantivy::schema::Field;
use tantivy::{Searcher, Term};

use crate::analysis::stems::WordStemmer;
use crate::analysis::words::is_unspaced;
use crate::index::schema::Fields;
use crate::query::expression::{Form, TextAsked};
use crate::{Error, Result};

/// Words that one word may stand for.
pub const FORMS_MAX: usize = 96;
/// Words of one list that are looked at for one word.
const LOOKED_AT_MAX: usize = 5_000;
/// A stem with fewer letters stands for itself.
const STEM_LETTERS_MIN: usize = 3;
/// Languages whose stems are tried.
const LANGUAGES_MAX: usize = 24;

/// Finds the forms of words.
pub struct FormFinder<'s> {
    searcher: &'s Searcher,
    lists: Vec<Field>,
    stemmers: Vec<WordStemmer>,
    found: HashMap<(String, bool), Vec<String>>,
    /// Whether some word stands for more than may be looked at.
    pub is_cut: bool,
}

impl<'s> FormFinder<'s> {
    /// `language`: only the stems of this one.
    pub fn of(searcher: &'s Searcher, fields: &Fields, language: Option<&str>) -> Result<FormFinder<'s>> {
        let lists = vec![
            fields.title,
            fields.headings,
            fields.body,
            fields.frame,
            fields.url,
            fields.anchors,
            fields.gone,
            fields.gone_frame,
            fields.after,
        ];
        let languages = match language {
            Some(language) => vec![language.to_owned()],
            None => languages(searcher, fields)?,
        };
        let stemmers = languages.iter().filter_map(|language| WordStemmer::of(language)).take(LANGUAGES_MAX).collect();
        Ok(FormFinder { searcher, lists, stemmers, found: HashMap::default(), is_cut: false })
    }

    /// For each word of a text that is asked for, what it stands for.
    pub fn forms(&mut self, asked: &TextAsked) -> Result<Vec<Vec<String>>> {
        asked.words.iter().map(|word| self.forms_of(word, asked.form)).collect()
    }

    fn forms_of(&mut self, word: &str, form: Form) -> Result<Vec<String>> {
        let is_prefix = match form {
            Form::Exact => return Ok(vec![word.to_owned()]),
            Form::Stem if is_unspaced(word) => return Ok(vec![word.to_owned()]),
            Form::Stem => false,
            Form::Prefix => true,
        };
        let key = (word.to_owned(), is_prefix);
        if let Some(found) = self.found.get(&key) {
            return Ok(found.clone());
        }
        let mut forms = match is_prefix {
            true => self.beginning_with(word, |_| true)?,
            false => self.with_stem_of(word)?,
        };
        if !is_prefix {
            forms.insert(word.to_owned());
        }
        let mut forms: Vec<String> = forms.into_iter().collect();
        // The shortest are nearest to what was typed.
        forms.sort_unstable_by(|a, b| (a.len(), a).cmp(&(b.len(), b)));
        self.is_cut |= forms.len() > FORMS_MAX;
        forms.truncate(FORMS_MAX);
        self.found.insert(key, forms.clone());
        Ok(forms)
    }

    fn with_stem_of(&mut self, word: &str) -> Result<HashSet<String>> {
        let mut forms = HashSet::new();
        let mut stemmers = std::mem::take(&mut self.stemmers);
        for stemmer in &mut stemmers {
            let stem = stemmer.stem(word);
            if let Some(beginning) = beginning(&stem, word) {
                forms.extend(self.beginning_with(beginning, |other| stemmer.stem(other) == stem)?);
            }
        }
        self.stemmers = stemmers;
        Ok(forms)
    }

    fn beginning_with(&mut self, beginning: &str, mut is_one: impl FnMut(&str) -> bool) -> Result<HashSet<String>> {
        let mut found: HashSet<String> = HashSet::new();
        let mut seen: HashSet<String> = HashSet::new();
        for segment in self.searcher.segment_readers() {
            for list in &self.lists {
                let inverted = segment.inverted_index(*list).map_err(Error::index("read the words of the index"))?;
                let mut stream = words_from(&inverted, beginning)?;
                let mut looked_at = 0;
                while stream.advance() {
                    let Ok(word) = std::str::from_utf8(stream.key()) else { continue };
                    looked_at += 1;
                    if !word.starts_with(beginning) {
                        break;
                    }
                    if looked_at > LOOKED_AT_MAX {
                        self.is_cut = true;
                        break;
                    }
                    if !seen.contains(word) {
                        seen.insert(word.to_owned());
                        if is_one(word) {
                            found.insert(word.to_owned());
                        }
                    }
                }
            }
        }
        Ok(found)
    }
}

fn words_from<'i>(
    inverted: &'i tantivy::InvertedIndexReader,
    beginning: &str,
) -> Result<tantivy::termdict::TermStreamer<'i>> {
    let stream = inverted.terms().range().ge(beginning.as_bytes()).into_stream();
    stream.map_err(|error| Error::index("read the words of the index")(error.into()))
}

/// What all forms of a word begin with. Stemmers change the last letter of some stems (`happi` of `happy`).
fn beginning<'w>(stem: &str, word: &'w str) -> Option<&'w str> {
    let common = stem.chars().zip(word.chars()).take_while(|(a, b)| a == b).count();
    let letters = if common == stem.chars().count() && common > STEM_LETTERS_MIN { common - 1 } else { common };
    if letters < STEM_LETTERS_MIN {
        return None;
    }
    let end = word.char_indices().nth(letters).map_or(word.len(), |(end, _)| end);
    Some(&word[..end])
}

/// The languages that units have.
fn languages(searcher: &Searcher, fields: &Fields) -> Result<Vec<String>> {
    let mut all: Vec<String> = Vec::new();
    for segment in searcher.segment_readers() {
        let act = "read the languages of the index";
        let inverted = segment.inverted_index(fields.language).map_err(Error::index(act))?;
        let mut stream = inverted.terms().stream().map_err(|error| Error::index(act)(error.into()))?;
        while stream.advance() {
            if let Ok(language) = std::str::from_utf8(stream.key()) {
                all.push(language.to_owned());
            }
        }
    }
    all.sort_unstable();
    all.dedup();
    Ok(all)
}

/// How many units have a word in this field.
pub fn units_with(searcher: &Searcher, field: Field, word: &str) -> Result<u64> {
    searcher.doc_freq(&Term::from_field_text(field, word)).map_err(Error::index("count the units with a word"))
}
