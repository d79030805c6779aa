//! Holds an expression against the words of one text, and finds the places of its words.

use std::ops::Range;

use foldhash::HashSet;
use vernal_model::{PageKey, Role};

use super::answer::RoleAsked;
use super::compiled::{Compiled, Words};
use crate::analysis::words::words;
use crate::follow::page_unit::is_frame;
use crate::query::expression::{Filter, Scope};

/// A part of a page with its words.
pub struct Part {
    pub region: Region,
    words: Vec<(String, Range<usize>)>,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Region {
    Title,
    Url,
    Main,
    Frame,
}

impl Region {
    pub fn of(role: Role) -> Region {
        match role {
            Role::Title => Region::Title,
            role if is_frame(role) => Region::Frame,
            _ => Region::Main,
        }
    }

    /// How much its words count.
    pub fn weight(self) -> f64 {
        match self {
            Region::Title => 4.0,
            Region::Url => 1.5,
            Region::Main => 1.0,
            Region::Frame => 0.25,
        }
    }

    fn is_asked(self, scope: Scope, role: Option<RoleAsked>) -> bool {
        let by_scope = match scope {
            Scope::Anywhere => true,
            Scope::Title => self == Region::Title,
            Scope::Url => self == Region::Url,
            // What other pages say is no part of a text.
            Scope::Anchor => false,
        };
        let by_role = match role {
            None => true,
            Some(RoleAsked::Main) => self != Region::Frame,
            Some(RoleAsked::Frame) => self == Region::Frame,
        };
        by_scope && by_role
    }
}

impl Part {
    pub fn of(region: Region, text: &str) -> Part {
        Part { region, words: words(text) }
    }

    /// How many words it has.
    pub fn word_count(&self) -> usize {
        self.words.len()
    }

    /// How often and where these words stand in it, as ranges of bytes.
    pub fn places(&self, asked: &Words) -> Vec<Range<usize>> {
        match asked.forms.as_slice() {
            [forms] => {
                let forms: HashSet<&str> = forms.iter().map(String::as_str).collect();
                let hits = self.words.iter().filter(|(word, _)| forms.contains(word.as_str()));
                hits.map(|(_, place)| place.clone()).collect()
            }
            phrase => {
                let firsts: Vec<&str> = phrase.iter().filter_map(|forms| forms.first()).map(String::as_str).collect();
                let windows = self.words.windows(firsts.len().max(1));
                let fits = windows.filter(|window| window.iter().zip(&firsts).all(|((word, _), first)| word == first));
                fits.map(|window| window[0].1.start..window[window.len() - 1].1.end).collect()
            }
        }
    }
}

/// Holds expressions against texts.
pub struct Matcher<'m> {
    pub role: Option<RoleAsked>,
    /// The page whose text it is.
    pub page: PageKey,
    /// Whether a filter lets the page pass.
    pub passes: &'m dyn Fn(&Filter) -> bool,
}

impl Matcher<'_> {
    pub fn fits(&self, compiled: &Compiled, parts: &[Part]) -> bool {
        match compiled {
            Compiled::Every(all) => all.iter().all(|one| self.fits(one, parts)),
            Compiled::Either(some) => some.iter().any(|one| self.fits(one, parts)),
            Compiled::Not(one) => !self.fits(one, parts),
            Compiled::Filter(filter) => (self.passes)(filter),
            Compiled::Page(page) => *page == self.page,
            Compiled::Words(words) => {
                let asked = parts.iter().filter(|part| part.region.is_asked(words.scope, self.role));
                asked.into_iter().any(|part| !part.places(words).is_empty())
            }
        }
    }
}

/// The places of all words that are asked for, in order and without overlaps, and how many of the texts asked for were found.
pub fn marks(part: &Part, asked: &[&Words], role: Option<RoleAsked>) -> (Vec<Range<usize>>, usize) {
    let (mut marks, mut found) = (Vec::new(), 0);
    for words in asked.iter().filter(|words| part.region.is_asked(words.scope, role)) {
        let places = part.places(words);
        found += usize::from(!places.is_empty());
        marks.extend(places);
    }
    marks.sort_by_key(|mark| (mark.start, std::cmp::Reverse(mark.end)));
    let mut end = 0;
    marks.retain(|mark: &Range<usize>| {
        let is_free = mark.start >= end;
        end = if is_free { mark.end } else { end };
        is_free
    });
    (marks, found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query::expression::Form;

    fn asked(forms: &[&[&str]]) -> Words {
        let forms = forms.iter().map(|forms| forms.iter().map(|form| (*form).to_owned()).collect()).collect();
        Words { scope: Scope::Anywhere, form: Form::Stem, forms }
    }

    #[test]
    fn a_word_fits_by_any_form_and_a_phrase_by_its_words_in_order() {
        let text = "The terms of use. Use of terms!";
        let part = Part::of(Region::Main, text);
        let shown = |words: &Words| -> Vec<&str> { part.places(words).into_iter().map(|place| &text[place]).collect() };
        assert_eq!(shown(&asked(&[&["use", "uses"]])), ["use", "Use"]);
        assert_eq!(shown(&asked(&[&["terms"], &["of"], &["use"]])), ["terms of use"]);
        assert_eq!(shown(&asked(&[&["terms"], &["use"]])), Vec::<&str>::new());
    }

    #[test]
    fn a_not_is_what_does_not_fit() {
        let matcher = Matcher { role: None, page: PageKey::default(), passes: &|_| true };
        let parts = [Part::of(Region::Main, "alpha beta"), Part::of(Region::Title, "gamma")];
        let word = |word: &str| Compiled::Words(asked(&[&[word]]));
        let without = |word: Compiled| Compiled::Not(Box::new(word));
        assert!(matcher.fits(&Compiled::Every(vec![word("alpha"), word("gamma")]), &parts));
        assert!(!matcher.fits(&Compiled::Every(vec![word("alpha"), without(word("beta"))]), &parts));
        assert!(matcher.fits(&without(word("delta")), &parts));
    }
}
