//! The terms of one document.

use std::collections::HashMap;

use vernal_model::{AnchorTerms, Document, Fingerprint, LinkKind, PageTerms, Role};

use super::stop_words::Languages;
use super::words::words;

/// So many words of a page may be its topics. More would show what it mentions and not what it is about.
pub const WORDS_MAX: usize = 40;
/// So many words of the text are examined. The beginning shows what a page is about.
const WORDS_READ_MAX: usize = 300;
/// The limits of linked pages with anchor words, and of words for each.
pub const ANCHORS_MAX: usize = 32;
const ANCHOR_WORDS_MAX: usize = 4;
/// The weights of a word in the title and in a heading, with 1 for the text.
const TITLE_WEIGHT: u32 = 6;
const HEADING_WEIGHT: u32 = 3;

/// The terms of a document that was read as this version of its page. `page` is its own URL: anchor texts of
/// links to itself are ignored.
pub fn page_terms(document: &Document, page: Fingerprint, version: u32) -> PageTerms {
    let languages = Languages::of(&document.language);
    PageTerms { version, words: own_words(document, languages), anchors: anchors(document, page, languages) }
}

fn own_words(document: &Document, languages: Languages) -> Vec<Box<str>> {
    let mut chosen = WeightedWords::default();
    words(&document.title, |word| chosen.take(word, TITLE_WEIGHT, languages));
    let mut left = WORDS_READ_MAX;
    for paragraph in &document.paragraphs {
        let weight = match paragraph.role {
            Role::Heading => HEADING_WEIGHT,
            Role::Main | Role::ListItem | Role::TableRow => 1,
            // Navigation is the same on every page of a site, and the title was used above.
            Role::Navigation | Role::Footer | Role::Title => continue,
        };
        let Some(text) = document.text.get(paragraph.start as usize..paragraph.end as usize) else { continue };
        words(text, |word| {
            left = left.saturating_sub(1);
            chosen.take(word, weight, languages) && left > 0
        });
        if left == 0 {
            break;
        }
    }
    chosen.best()
}

/// Words with their weights, in order of appearance.
#[derive(Default)]
struct WeightedWords {
    /// The map is never iterated, because its order is random.
    places: HashMap<Box<str>, usize>,
    weights: Vec<(u32, usize)>,
}

impl WeightedWords {
    fn take(&mut self, word: &str, weight: u32, languages: Languages) -> bool {
        if let Some(&place) = self.places.get(word) {
            self.weights[place].0 += weight;
        } else if !languages.stop(word) {
            let place = self.weights.len();
            self.places.insert(word.into(), place);
            self.weights.push((weight, place));
        }
        true
    }

    fn best(self) -> Vec<Box<str>> {
        let mut words = vec![Box::<str>::default(); self.weights.len()];
        for (word, place) in self.places {
            words[place] = word;
        }
        let mut order = self.weights;
        order.sort_by(|one, other| other.0.cmp(&one.0).then(one.1.cmp(&other.1)));
        order.into_iter().take(WORDS_MAX).map(|(_, place)| std::mem::take(&mut words[place])).collect()
    }
}

fn anchors(document: &Document, page: Fingerprint, languages: Languages) -> Vec<AnchorTerms> {
    let mut anchors: Vec<AnchorTerms> = Vec::new();
    for link in document.links.iter().filter(|link| link.kind == LinkKind::Anchor) {
        if anchors.len() == ANCHORS_MAX {
            break;
        }
        let target = link.target.fingerprint();
        if target == page || anchors.iter().any(|anchor| anchor.target == target) {
            continue;
        }
        let mut found: Vec<Box<str>> = Vec::new();
        words(document.anchor(link), |word| {
            if !languages.stop(word) && !found.iter().any(|known| **known == *word) {
                found.push(word.into());
            }
            found.len() < ANCHOR_WORDS_MAX
        });
        if !found.is_empty() {
            anchors.push(AnchorTerms { target, words: found });
        }
    }
    anchors
}

#[cfg(test)]
mod tests {
    use vernal_model::{Digest, Url};

    use super::*;
    use crate::{Input, read};

    fn document(html: &str) -> (Document, Fingerprint) {
        let url = Url::parse("http://garden.example/roses").expect("a URL");
        let input = Input {
            url: &url,
            bytes: html.as_bytes(),
            content_type: Some("text/html; charset=utf-8"),
            content_language: None,
            robots_tags: &[],
            payload: Digest::default(),
        };
        (read(&input).document, url.fingerprint())
    }

    #[test]
    fn title_and_headings_come_first_and_menus_not_at_all() {
        let html = "<html lang=en><title>Roses in winter</title><nav><a href=/shop>Wellingtons</a></nav>\
                    <h1>Pruning</h1><p>The secateurs and the secateurs are not for the hedge.</p>";
        let (document, page) = document(html);
        let terms = page_terms(&document, page, 3);
        assert_eq!(terms.version, 3);
        assert_eq!(
            terms.words.iter().map(|word| &**word).collect::<Vec<_>>(),
            ["roses", "winter", "pruning", "secateurs", "hedge"]
        );
        assert_eq!(terms.anchors.len(), 1);
        assert_eq!(*terms.anchors[0].words[0], *"wellingtons");
    }

    #[test]
    fn the_language_says_which_words_say_nothing() {
        let (mut document, page) = document("<title>der die das Rosen</title><p>the mit und</p>");
        document.language = "de-AT".into();
        assert_eq!(page_terms(&document, page, 1).words, [Box::from("rosen")]);
        // Without a language, the stop words of all languages apply.
        document.language = String::new();
        assert_eq!(page_terms(&document, page, 1).words, [Box::from("rosen")]);
    }

    #[test]
    fn a_page_of_any_size_has_terms_within_the_limits() {
        let mut html = String::from("<title>long</title>");
        for number in 0..5_000 {
            html.push_str(&format!("<p>word{number} <a href=/page/{number}>name{number} one two three four</a>"));
        }
        let (document, page) = document(&html);
        let terms = page_terms(&document, page, 1);
        assert_eq!((terms.words.len(), terms.anchors.len()), (WORDS_MAX, ANCHORS_MAX));
        assert!(terms.anchors.iter().all(|anchor| anchor.words.len() <= ANCHOR_WORDS_MAX));
    }

    #[test]
    fn what_a_page_calls_itself_is_no_anchor() {
        let (document, page) =
            document("<a href=/roses>Mirrors</a><a href=/tulips>Tulips</a><a href=/tulips>Bulbs</a>");
        let anchors = page_terms(&document, page, 1).anchors;
        assert_eq!(anchors.len(), 1);
        assert_eq!(anchors[0].words, [Box::from("tulips")]);
    }
}
