//! Words of pages on their way to a screen: never longer than a reader reads, and only in languages that have a name.

/// Letters of a title that are shown.
const TITLE_MAX: usize = 160;
/// Letters of a paragraph that are shown.
const PARAGRAPH_MAX: usize = 20_000;
/// Letters of a line in a list.
const LINE_MAX: usize = 240;
/// Letters that stay before the first difference of a line.
const BEFORE_MAX: usize = 40;

/// A run of words: as it was, or marked as come or gone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// `ins`, `del`, or nothing.
    pub mark: &'static str,
    pub text: String,
}

impl Piece {
    pub fn new(mark: &'static str, text: impl Into<String>) -> Piece {
        Piece { mark, text: text.into() }
    }

    /// Marked words, with the space before them left unmarked.
    pub fn marked(mark: &'static str, text: &str) -> impl Iterator<Item = Piece> {
        let words = text.trim_start();
        let space = &text[..text.len() - words.len()];
        let pieces = if mark.is_empty() { [("", text), ("", "")] } else { [("", space), (mark, words)] };
        let pieces = pieces.map(|(mark, text)| Piece::new(mark, paragraph(text)));
        pieces.into_iter().filter(|piece| !piece.text.is_empty())
    }

    pub fn is_plain(&self) -> bool {
        self.mark.is_empty()
    }

    pub fn is_new(&self) -> bool {
        self.mark == "ins"
    }
}

/// At most so many letters, with an ellipsis where some are left out.
pub fn cut(text: &str, letters_max: usize) -> String {
    match text.char_indices().nth(letters_max) {
        Some((place, _)) => format!("{}…", &text[..place]),
        None => text.to_owned(),
    }
}

pub fn paragraph(text: &str) -> String {
    cut(text, PARAGRAPH_MAX)
}

/// The title of a page, or the end of its URL where it has none.
pub fn title(title: &str, url: &str) -> String {
    let title = title.trim();
    if !title.is_empty() {
        return cut(title, TITLE_MAX);
    }
    let path = url.split(['?', '#']).next().unwrap_or(url).trim_end_matches('/');
    cut(path.rsplit('/').next().filter(|last| !last.is_empty()).unwrap_or(url), TITLE_MAX)
}

/// The part of a URL behind its site.
pub fn path(url: &str) -> String {
    let behind = url.split_once("://").map_or(url, |(_, rest)| rest);
    cut(behind.find('/').map_or("/", |place| &behind[place..]), LINE_MAX)
}

/// A language that browsers know how to read; anything else is none.
pub fn language(text: &str) -> Option<String> {
    let mut parts = text.split('-');
    let is_word = |part: &str| (1..=8).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let first =
        parts.next().filter(|first| matches!(first.len(), 2 | 3) && first.bytes().all(|b| b.is_ascii_alphabetic()));
    (first.is_some() && parts.all(is_word)).then(|| text.to_owned())
}

/// What differs between two texts, as one run of words that went and one that came.
pub fn between(before: &str, after: &str) -> (Vec<Piece>, Vec<Piece>) {
    let (from, until) = common(before, after);
    let pieces = |text: &str, mark| {
        let end = text.len() - until;
        let parts = [("", &text[..from]), (mark, &text[from..end]), ("", &text[end..])];
        parts
            .into_iter()
            .filter(|(_, text)| !text.is_empty())
            .map(|(mark, text)| Piece::new(mark, paragraph(text)))
            .collect()
    };
    (pieces(before, "del"), pieces(after, "ins"))
}

/// A line of a list for each side, which begins shortly before the first difference.
pub fn lines(before: &str, after: &str) -> (String, String) {
    let (from, _) = common(before, after);
    let line = |text: &str| {
        let begins = text[..from].char_indices().rev().take(BEFORE_MAX).last().map_or(from, |(place, _)| place);
        let begins =
            if begins == 0 { 0 } else { text[..from][begins..].find(' ').map_or(begins, |space| begins + space + 1) };
        let lead = if begins > 0 { "…" } else { "" };
        format!("{lead}{}", cut(&text[begins..], LINE_MAX))
    };
    (line(before), line(after))
}

/// Bytes that both begin with and end with, at borders of words.
fn common(before: &str, after: &str) -> (usize, usize) {
    let alike = before.char_indices().zip(after.chars()).take_while(|((_, a), b)| a == b);
    let from = alike.last().map_or(0, |((place, letter), _)| place + letter.len_utf8());
    let from = if from == before.len() || from == after.len() { from } else { 0 }.max(border(&before[..from]));
    let (old, new) = (&before[from..], &after[from..]);
    let alike = old.chars().rev().zip(new.chars().rev()).take_while(|(a, b)| a == b).map(|(a, _)| a);
    let until: usize = alike.map(char::len_utf8).sum();
    let end = &old[old.len() - until..];
    let until =
        if until == old.len() || until == new.len() { until } else { end.find(' ').map_or(0, |space| until - space) };
    (from, until)
}

/// The end of the last whole word.
fn border(text: &str) -> usize {
    text.rfind(char::is_whitespace).map_or(0, |place| place + text[place..].chars().next().map_or(1, char::len_utf8))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(pieces: &[Piece]) -> String {
        pieces
            .iter()
            .map(|piece| if piece.is_plain() { piece.text.clone() } else { format!("[{}]", piece.text) })
            .collect()
    }

    #[test]
    fn what_differs_is_marked_in_whole_words() {
        let (old, new) = between("The fee is 1.85 euros a night.", "The fee is 2.25 euros a night.");
        assert_eq!(
            (&*shown(&old), &*shown(&new)),
            ("The fee is [1.85] euros a night.", "The fee is [2.25] euros a night.")
        );
        let (old, new) = between("Ämter öffnen früh", "Ämter öffnen spät");
        assert_eq!((&*shown(&old), &*shown(&new)), ("Ämter öffnen [früh]", "Ämter öffnen [spät]"));
        assert_eq!(shown(&between("same", "same").0), "same");
        assert_eq!(shown(&between("", "came").1), "[came]");
        let (old, new) = between("one two", "one two three");
        assert_eq!((&*shown(&old), &*shown(&new)), ("one two", "one two[ three]"));
        for (a, b) in [("aa", "a"), ("a b a", "a a"), ("éé", "é"), ("x y", "y x")] {
            let (old, new) = between(a, b);
            let whole = |pieces: &[Piece]| pieces.iter().map(|piece| piece.text.as_str()).collect::<String>();
            assert_eq!((&*whole(&old), &*whole(&new)), (a, b));
        }
    }

    #[test]
    fn a_line_begins_shortly_before_the_difference() {
        let before = format!("{}end", "word ".repeat(40));
        let after = format!("{}start", "word ".repeat(40));
        let (old, new) = lines(&before, &after);
        assert!(old.starts_with("…word ") && old.ends_with("end") && new.ends_with("start") && old.len() < 60, "{old}");
    }

    #[test]
    fn a_page_without_a_title_has_the_end_of_its_url() {
        assert_eq!(title(" ", "http://a.example/b/c.html?d"), "c.html");
        assert_eq!(title("", "http://a.example/"), "a.example");
        assert_eq!(title("T", "http://a.example/"), "T");
        assert_eq!(title(&"x".repeat(1 << 20), "").chars().count(), TITLE_MAX + 1);
    }

    #[test]
    fn only_languages_with_a_name_are_named() {
        assert_eq!(language("de-CH").as_deref(), Some("de-CH"));
        for none in ["", "x", "\"><b>", "english", "de_", "de-"] {
            assert_eq!(language(none), None, "{none}");
        }
    }
}
