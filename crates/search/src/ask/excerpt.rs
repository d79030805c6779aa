//! The part of a text that is shown, with its marks.

use std::ops::Range;

/// Letters of a text that is shown whole.
pub const EXCERPT_LETTERS_MAX: usize = 320;
/// Letters shown before the first mark.
const LETTERS_BEFORE: usize = 80;
/// Marks in one excerpt.
const MARKS_MAX: usize = 64;

/// A part of a text, and its marks in characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Excerpt {
    pub text: String,
    pub marks: Vec<(usize, usize)>,
}

/// The part around the first of the marks, which are ranges of bytes in order. A longer text is cut, and dots stand where.
pub fn excerpt(text: &str, marks: &[Range<usize>]) -> Excerpt {
    let letters = text.chars().count();
    if letters <= EXCERPT_LETTERS_MAX {
        return cut(text, 0..text.len(), marks, false, false);
    }
    let first = marks.first().map_or(0, |mark| mark.start);
    let from = back(text, first, LETTERS_BEFORE);
    let to = on(text, from, EXCERPT_LETTERS_MAX);
    cut(text, from..to, marks, from > 0, to < text.len())
}

fn cut(text: &str, shown: Range<usize>, marks: &[Range<usize>], is_cut_before: bool, is_cut_behind: bool) -> Excerpt {
    let mut out = String::with_capacity(shown.len() + 6);
    if is_cut_before {
        out.push('…');
    }
    let ahead = usize::from(is_cut_before);
    let place = |at: usize| ahead + text[shown.start..at].chars().count();
    let within = marks.iter().filter(|mark| mark.start >= shown.start && mark.end <= shown.end);
    let marks = within.take(MARKS_MAX).map(|mark| (place(mark.start), place(mark.end))).collect();
    out.push_str(&text[shown]);
    if is_cut_behind {
        out.push('…');
    }
    Excerpt { text: out, marks }
}

/// So many letters before a place, at the beginning of a word.
fn back(text: &str, at: usize, letters: usize) -> usize {
    let start = text[..at].char_indices().rev().take(letters).last().map_or(at, |(start, _)| start);
    if start == 0 {
        return 0;
    }
    let word = text[start..at].find(char::is_whitespace);
    word.map_or(start, |space| start + space + text[start + space..].chars().next().map_or(0, char::len_utf8))
}

/// So many letters behind a place, at the end of a word.
fn on(text: &str, at: usize, letters: usize) -> usize {
    let end = text[at..].char_indices().nth(letters).map_or(text.len(), |(end, _)| at + end);
    if end == text.len() {
        return end;
    }
    let half = at + (end - at) / 2;
    let half = (half..=end).find(|place| text.is_char_boundary(*place)).unwrap_or(end);
    text[half..end].rfind(char::is_whitespace).map_or(end, |space| half + space)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_long_text_is_cut_at_words_around_its_mark() {
        let text = format!("{} needle {}", "word ".repeat(200), "more ".repeat(200));
        let place = text.find("needle").unwrap();
        let mark = place..place + "needle".len();
        let shown = excerpt(&text, std::slice::from_ref(&mark));
        let (from, to) = shown.marks[0];
        let marked: String = shown.text.chars().skip(from).take(to - from).collect();
        assert_eq!(marked, "needle");
        assert!(shown.text.starts_with("…word") && shown.text.ends_with("more…"), "{}", shown.text);
    }

    proptest! {
        #[test]
        fn marks_stand_where_they_stood(text in "[aä日 ]{0,900}", from in 0usize..900, length in 0usize..20) {
            let boundary = |mut at: usize| { at = at.min(text.len()); while !text.is_char_boundary(at) { at -= 1 } at };
            let mark = boundary(from)..boundary(from + length).max(boundary(from));
            let shown = excerpt(&text, std::slice::from_ref(&mark));
            prop_assert!(shown.text.chars().count() <= EXCERPT_LETTERS_MAX + 2);
            for (from, to) in shown.marks {
                let marked: String = shown.text.chars().skip(from).take(to - from).collect();
                prop_assert_eq!(&marked, &text[mark.clone()]);
            }
        }
    }
}
