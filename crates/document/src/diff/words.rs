//! Cuts text into words, and finds the words that were added and removed between two texts.
//!
//! A word is a run of letters and digits (with points and the like inside, so that `9.99` is one); every other letter
//! that stands for itself, punctuation or a character of a script without spaces, is a word of its own. Each word takes
//! the space before it along, so the words of a text are the whole text. The first word counts as if a space were before it.

use vernal_model::Document;
use xxhash_rust::xxh3::xxh3_64;

use super::steps::Steps;
use crate::detect::alignment::in_order;

/// Longer texts are not compared word by word.
pub const WORDS_MAX: usize = 100_000;

/// Up to so many differing words, the shortest edit script is searched. Beyond it, words that occur once on both sides are
/// matched.
const DISTANCE_MAX: usize = 400;

/// The separator between the parts of a split or the sources of a merge. No paragraph contains it.
pub const BOUNDARY: char = '\n';

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Word {
    pub start: u32,
    pub end: u32,
    /// A mark that is equal for equal words.
    pub mark: u64,
}

pub fn text_of(document: &Document, place: usize) -> &str {
    let Some(paragraph) = document.paragraphs.get(place) else { return "" };
    document.text.get(paragraph.start as usize..paragraph.end as usize).unwrap_or_default()
}

/// The words of a text, which together are the whole text. `None` beyond the limit.
pub fn words(text: &str) -> Option<Vec<Word>> {
    let mut found: Vec<Word> = Vec::with_capacity(text.len() / 5);
    let mut start = 0;
    let mut first = true;
    for cut in cuts(text) {
        if found.len() >= WORDS_MAX {
            return None;
        }
        let mark = xxh3_64(cut.word.as_bytes()) ^ u64::from(cut.spaced || first);
        let end = start + usize::from(cut.spaced) + cut.word.len();
        found.push(Word { start: start as u32, end: end as u32, mark });
        first = cut.word.starts_with(BOUNDARY);
        start = end;
    }
    Some(found)
}

/// A word, empty before a second space, and whether there is a space before it.
pub struct Cut<'a> {
    pub word: &'a str,
    pub spaced: bool,
}

/// Cuts the text into words, which together are the whole text.
pub fn cuts(text: &str) -> impl Iterator<Item = Cut<'_>> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let spaced = rest.starts_with(' ');
        let body = if spaced { &rest[1..] } else { rest };
        let (word, behind) = body.split_at(word_length(body));
        rest = behind;
        Some(Cut { word, spaced })
    })
}

/// The role of a byte within a word.
#[derive(Copy, Clone)]
enum Within {
    Goes,
    /// Part of the word if a letter or digit follows.
    Joins,
    Ends,
    /// Not ASCII: the character must be decoded.
    Beyond,
}

const WITHIN: [Within; 256] = {
    let mut table = [Within::Beyond; 256];
    let mut byte = 0;
    while byte < 128 {
        table[byte as usize] = match byte {
            b'.' | b',' | b'\'' | b'-' | b'_' | b':' => Within::Joins,
            _ if byte.is_ascii_alphanumeric() => Within::Goes,
            _ => Within::Ends,
        };
        byte += 1;
    }
    table
};

/// The length of the word at the start of the text. Zero if the text is empty or begins with a space.
fn word_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    // The end of the text counts as a space.
    let within = |place: usize| WITHIN[usize::from(bytes.get(place).copied().unwrap_or(b' '))];
    match within(0) {
        Within::Goes => {}
        Within::Joins => return 1,
        Within::Ends => return usize::from(!matches!(bytes.first(), None | Some(b' '))),
        Within::Beyond => return word_length_of_any(text),
    }
    let mut place = 1;
    loop {
        match within(place) {
            Within::Goes => place += 1,
            Within::Joins => match within(place + 1) {
                Within::Goes => place += 2,
                Within::Beyond => return word_length_of_any(text),
                Within::Joins | Within::Ends => return place,
            },
            Within::Ends => return place,
            Within::Beyond => return word_length_of_any(text),
        }
    }
}

/// The length of the first word in any script.
fn word_length_of_any(text: &str) -> usize {
    let mut letters = text.char_indices().peekable();
    let Some((_, first)) = letters.next() else { return 0 };
    if first == ' ' {
        return 0;
    }
    if stands_alone(first) || !first.is_alphanumeric() {
        return first.len_utf8();
    }
    while let Some((place, letter)) = letters.next() {
        if stands_alone(letter) {
            return place;
        }
        if letter.is_alphanumeric() {
            continue;
        }
        let joins =
            matches!(letter, '.' | ',' | '\'' | '’' | '-' | '_' | ':' | '\u{ad}' | '\u{200d}') || is_mark(letter);
        let goes_on = letters.peek().is_some_and(|&(_, next)| next.is_alphanumeric() && !stands_alone(next));
        if !(is_mark(letter) || joins && goes_on) {
            return place;
        }
    }
    text.len()
}

/// Accents and vowel signs written after their letter.
fn is_mark(letter: char) -> bool {
    matches!(letter, '\u{300}'..='\u{36f}' | '\u{483}'..='\u{489}' | '\u{591}'..='\u{5c7}' | '\u{610}'..='\u{61a}'
        | '\u{64b}'..='\u{65f}' | '\u{900}'..='\u{903}' | '\u{93a}'..='\u{94f}' | '\u{1ab0}'..='\u{1aff}'
        | '\u{20d0}'..='\u{20ff}' | '\u{fe00}'..='\u{fe0f}')
}

/// Characters of scripts that are written without spaces: Thai, Lao, Khmer, Burmese, kana, Han.
fn stands_alone(letter: char) -> bool {
    matches!(letter, '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}'
        | '\u{2e80}'..='\u{303f}' | '\u{3040}'..='\u{30ff}' | '\u{31f0}'..='\u{31ff}' | '\u{3400}'..='\u{4dbf}'
        | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{ff66}'..='\u{ff9f}' | '\u{20000}'..='\u{3ffff}')
}

/// For each old item the index of the new item that it is equal to. Uses the shortest edit script (Myers 1986) while the
/// distance is small, otherwise items that occur once. `None` if the steps are used up.
pub fn stayed(old: &[u64], new: &[u64], steps: &mut Steps) -> Option<Vec<Option<usize>>> {
    let mut stayed = vec![None; old.len()];
    let head = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let (a, b) = (&old[head..], &new[head..]);
    let tail = a.iter().rev().zip(b.iter().rev()).take_while(|(a, b)| a == b).count();
    if !steps.spend(head + tail + 1) {
        return None;
    }
    for place in (0..head).chain(old.len() - tail..old.len()) {
        stayed[place] = Some(if place < head { place } else { place + new.len() - old.len() });
    }
    let (a, b) = (&a[..a.len() - tail], &b[..b.len() - tail]);
    if a.is_empty() || b.is_empty() {
        slide_later(old, new, &mut stayed);
        return Some(stayed);
    }
    let pairs = match least_script(a, b, steps) {
        Search::Found(pairs) => pairs,
        Search::TooFar => in_order(a, b, steps).into_iter().enumerate().filter_map(|(x, y)| Some((x, y?))).collect(),
        Search::Ended => return None,
    };
    for (x, y) in pairs {
        stayed[head + x] = Some(head + y);
    }
    slide_later(old, new, &mut stayed);
    Some(stayed)
}

/// Moves added and removed runs as late as possible: the text added after "card." is " Thanks." and not ". Thanks".
fn slide_later(old: &[u64], new: &[u64], stayed: &mut [Option<usize>]) {
    // The first old item of the last removed run, and the first new item that is not processed yet.
    let (mut gone, mut next) = (0, 0);
    for place in 0..old.len() {
        let Some(to) = stayed[place] else { continue };
        let (went, came) = (gone < place, next < to);
        if came && !went && new[next] == new[to] {
            stayed[place] = Some(next);
            (gone, next) = (place + 1, next + 1);
        } else if went && !came && old[gone] == old[place] {
            (stayed[gone], stayed[place]) = (Some(to), None);
            (gone, next) = (gone + 1, to + 1);
        } else {
            (gone, next) = (place + 1, to + 1);
        }
    }
}

enum Search {
    Found(Vec<(usize, usize)>),
    /// The distance exceeds `DISTANCE_MAX`.
    TooFar,
    Ended,
}

/// The greedy forward search. It keeps the furthest points of every distance for the way back.
fn least_script(old: &[u64], new: &[u64], steps: &mut Steps) -> Search {
    let limit = (old.len() + new.len()).min(DISTANCE_MAX);
    // Diagonals run from -limit to limit, with room for one neighbour on both sides.
    let middle = limit as isize + 1;
    let mut furthest = vec![0isize; 2 * limit + 3];
    let mut trace: Vec<Vec<isize>> = Vec::new();
    for distance in 0..=limit as isize {
        trace.push(furthest[(middle - distance) as usize..=(middle + distance) as usize].to_vec());
        let mut walked = 2 * distance as usize + 1;
        for diagonal in (-distance..=distance).step_by(2) {
            let at = |diagonal: isize| furthest[(middle + diagonal) as usize];
            let came_from = source(diagonal, distance, at);
            let mut x = at(came_from) + isize::from(came_from < diagonal);
            let mut y = x - diagonal;
            while x < old.len() as isize && y < new.len() as isize && old[x as usize] == new[y as usize] {
                (x, y, walked) = (x + 1, y + 1, walked + 1);
            }
            furthest[(middle + diagonal) as usize] = x;
            if x >= old.len() as isize && y >= new.len() as isize {
                let found = steps.spend(walked);
                return if found { Search::Found(walk_back(old.len(), new.len(), &trace)) } else { Search::Ended };
            }
        }
        if !steps.spend(walked) {
            return Search::Ended;
        }
    }
    Search::TooFar
}

/// The diagonal from which the furthest point on this one is reached.
fn source(diagonal: isize, distance: isize, furthest: impl Fn(isize) -> isize) -> isize {
    let is_down = diagonal == -distance || diagonal != distance && furthest(diagonal - 1) < furthest(diagonal + 1);
    if is_down { diagonal + 1 } else { diagonal - 1 }
}

/// The pairs on the way from the end to the beginning. `trace[d]` holds the diagonals from -d to d as they were before
/// distance d was tried.
fn walk_back(old: usize, new: usize, trace: &[Vec<isize>]) -> Vec<(usize, usize)> {
    let mut pairs = Vec::new();
    let (mut x, mut y) = (old as isize, new as isize);
    for (distance, furthest) in trace.iter().enumerate().skip(1).rev() {
        let distance = distance as isize;
        let at = |diagonal: isize| furthest[(diagonal + distance) as usize];
        let diagonal = x - y;
        let came_from = source(diagonal, distance, at);
        let before = (at(came_from), at(came_from) - came_from);
        while x > before.0 && y > before.1 {
            (x, y) = (x - 1, y - 1);
            pairs.push((x as usize, y as usize));
        }
        (x, y) = before;
    }
    while x > 0 && y > 0 {
        (x, y) = (x - 1, y - 1);
        pairs.push((x as usize, y as usize));
    }
    pairs.reverse();
    pairs
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::steps::STEPS_MAX;
    use super::*;

    fn cut(text: &str) -> Vec<&str> {
        let words = words(text).expect("short");
        words.iter().map(|word| &text[word.start as usize..word.end as usize]).collect()
    }

    /// The length of the longest common subsequence, by dynamic programming.
    fn longest_common(old: &[u64], new: &[u64]) -> usize {
        let mut row = vec![0; new.len() + 1];
        for &a in old {
            let mut corner = 0;
            for (j, &b) in new.iter().enumerate() {
                let above = row[j + 1];
                row[j + 1] = if a == b { corner + 1 } else { above.max(row[j]) };
                corner = above;
            }
        }
        row[new.len()]
    }

    #[test]
    fn words_are_what_people_call_words() {
        assert_eq!(cut("It's €9.99, e-mail me."), ["It's", " €", "9.99", ",", " e-mail", " me", "."]);
        assert_eq!(cut("東京 2024年"), ["東", "京", " 2024", "年"]);
        assert_eq!(cut("cafe\u{301} au lait"), ["cafe\u{301}", " au", " lait"]);
        assert_eq!(cut("a\nb"), ["a", "\n", "b"]);
    }

    #[test]
    fn what_stands_first_is_what_stands_after_a_space() {
        let (first, later) = (words("one").unwrap(), words("zero one\none").unwrap());
        assert_eq!(first[0].mark, later[1].mark);
        assert_eq!(first[0].mark, later[3].mark);
        assert_ne!(words("x-").unwrap()[1].mark, words("x -").unwrap()[1].mark);
    }

    proptest! {
        #[test]
        fn short_ways_give_the_same_words(text in "( |[a-z0-9.,'_:-]{0,5}|[#()\n]|[é’\u{301}年\u{ad}]){0,12}") {
            prop_assert_eq!(word_length(&text), word_length_of_any(&text));
        }

        #[test]
        fn words_cover_their_text(text in "\\PC{0,60}") {
            prop_assert_eq!(cut(&text).concat(), text);
        }

        #[test]
        fn the_script_is_the_least(old in prop::collection::vec(0u64..6, 0..50), new in prop::collection::vec(0u64..6, 0..50)) {
            let found = stayed(&old, &new, &mut Steps::new(STEPS_MAX)).unwrap();
            let pairs: Vec<(usize, usize)> = found.iter().enumerate().filter_map(|(x, y)| Some((x, (*y)?))).collect();
            prop_assert!(pairs.windows(2).all(|two| two[0].1 < two[1].1));
            prop_assert!(pairs.iter().all(|&(x, y)| old[x] == new[y]));
            prop_assert_eq!(pairs.len(), longest_common(&old, &new));
        }
    }
}
