//! Lines become paragraphs, headings and list items. Words that a hyphen parts at the end of a line become one again.

use crate::draft::Line;

use super::letters::Mark;
use super::rows::{Row, WordGroup};
use super::words::Word;

/// A step to the next line larger than this part of the usual one begins a paragraph.
const STEP_MAX: f32 = 1.35;

/// A line that is indented by more than this, in parts of its size, begins a paragraph.
const INDENT_MIN: f32 = 0.8;

/// Two lines alone, with a step of more than this part of their size between them, are two paragraphs where a sentence ends with the first.
const STEP_OF_TWO: f32 = 1.6;

/// Words whose letters differ in size by more than this part are not of one paragraph.
const SIZE_DIFFERS: f32 = 0.14;

/// A paragraph of running text as the page shows it.
#[derive(Clone, Debug)]
pub struct Piece {
    pub line: Line,
    pub size: f32,
    pub mark: Mark,
    pub is_item: bool,
    /// Lines of the page that it takes.
    pub lines: usize,
}

/// The paragraphs of lines that stand one below the other.
pub fn pieces_of(rows: &[Row], links: &dyn Fn(u32) -> Option<String>) -> Vec<Piece> {
    let usual = usual_step(rows);
    let left = rows.iter().map(Row::start).fold(f32::INFINITY, f32::min);
    let right = rows.iter().map(Row::end).fold(f32::NEG_INFINITY, f32::max);
    let mut pieces: Vec<Piece> = Vec::new();
    for (place, row) in rows.iter().enumerate() {
        let line = line_of(row.groups.iter().flat_map(|group| &group.words), links);
        let is_item = begins_item(&line);
        let begins = place == 0
            || begins_paragraph(&Around {
                before: &rows[place - 1],
                before_that: place.checked_sub(2).map(|place| &rows[place]),
                row,
                usual,
                left,
                right,
                is_pair: rows.len() == 2,
                lines: pieces.last().map_or(0, |piece| piece.lines),
                in_item: pieces.last().is_some_and(|piece| piece.is_item),
            })
            || is_item;
        match pieces.last_mut() {
            Some(piece) if !begins => {
                append(&mut piece.line, line);
                piece.lines += 1;
            }
            _ => {
                let mark = row.groups.first().map_or(Mark::None, WordGroup::mark);
                pieces.push(Piece { line, size: row.size, mark, is_item, lines: 1 });
            }
        }
    }
    pieces
}

/// The words of a line or a cell, with their links.
pub fn line_of<'w>(words: impl Iterator<Item = &'w Word>, links: &dyn Fn(u32) -> Option<String>) -> Line {
    let words: Vec<&Word> = words.collect();
    let mut line = Line::default();
    let right_to_left = is_right_to_left(&words);
    let mut last_link = None;
    let mut add = |word: &Word, is_first: bool| {
        let target = word.link.and_then(links);
        if !is_first {
            // The space belongs to the link only where the link goes on.
            let within = if word.link == last_link { target.as_deref() } else { None };
            line.push(" ", within);
        }
        let reversed = right_to_left && has_right_to_left(&word.text);
        let text = if reversed { word.text.chars().rev().collect() } else { word.text.clone() };
        line.push(&text, target.as_deref());
        last_link = word.link;
    };
    if right_to_left {
        words.iter().rev().enumerate().for_each(|(place, word)| add(word, place == 0));
    } else {
        words.iter().enumerate().for_each(|(place, word)| add(word, place == 0));
    }
    line
}

/// Appends the next line of a paragraph.
pub fn append(paragraph: &mut Line, next: Line) {
    let first = next.runs.first().and_then(|run| run.text.chars().next());
    let Some(last) = paragraph.runs.last_mut() else {
        *paragraph = next;
        return;
    };
    let mut end = last.text.chars().rev();
    let is_hyphen = |letter: char| matches!(letter, '-' | '\u{ad}' | '\u{2010}');
    let (hyphen, before) = (end.next(), end.next());
    let parts_a_word = hyphen.is_some_and(is_hyphen)
        && before.is_some_and(char::is_alphabetic)
        && (first.is_some_and(char::is_lowercase) || hyphen == Some('\u{ad}'));
    if parts_a_word {
        last.text.pop();
    } else if !(hyphen.is_some_and(is_ideographic) && first.is_some_and(is_ideographic)) {
        paragraph.push(" ", None);
    }
    paragraph.append(next);
}

struct Around<'r> {
    before: &'r Row,
    before_that: Option<&'r Row>,
    row: &'r Row,
    usual: f32,
    left: f32,
    right: f32,
    /// They are the only lines, so that their width says nothing of the column's.
    is_pair: bool,
    lines: usize,
    in_item: bool,
}

fn begins_paragraph(around: &Around<'_>) -> bool {
    let Around { before, row, .. } = around;
    let size = row.size.max(before.size);
    let step = row.down - before.down;
    if step > STEP_MAX * around.usual && step > 1.2 * size || step > 2.2 * size {
        return true;
    }
    let mark = |row: &Row| row.groups.first().map_or(Mark::None, WordGroup::mark);
    if (row.size - before.size).abs() > SIZE_DIFFERS * size || mark(row) != mark(before) {
        return true;
    }
    let width = (around.right - around.left).max(1.0);
    let (indent, indent_before) = (row.start() - around.left, before.start() - around.left);
    if indent - indent_before > INDENT_MIN * size && !around.in_item && around.lines != 1 {
        return true;
    }
    // The first line of the paragraph before was not indented, and this one is: it begins another.
    if indent - indent_before > INDENT_MIN * size && !around.in_item && indent < 5.0 * size && width > 12.0 * size {
        return true;
    }
    // A line that goes further left than two lines before it did, which hang.
    let hangs = around.before_that.is_some_and(|other| (other.start() - before.start()).abs() < 0.3 * size);
    if indent_before - indent > INDENT_MIN * size && hangs && around.lines > 1 {
        return true;
    }
    let missing = around.right - before.end();
    let ends = before.groups.last().and_then(|group| group.words.last()).and_then(|word| word.text.chars().next_back());
    let next_word = row.groups.first().and_then(|group| group.words.first());
    let ends = ends.is_some_and(ends_sentence);
    let would_have_fitted = next_word.is_some_and(|word| missing > (word.end - word.start) + 1.5 * size);
    let starts_small = next_word.and_then(|word| word.text.chars().next()).is_some_and(char::is_lowercase);
    if around.is_pair && step > STEP_OF_TWO * size && ends && !starts_small {
        return true;
    }
    would_have_fitted && !starts_small && (ends || missing > 0.35 * width)
}

fn ends_sentence(letter: char) -> bool {
    matches!(letter, '.' | '!' | '?' | ':' | '。' | '！' | '？')
}

/// The step from line to line that is met most.
fn usual_step(rows: &[Row]) -> f32 {
    let mut steps: Vec<f32> =
        rows.windows(2).map(|pair| pair[1].down - pair[0].down).filter(|step| *step > 0.0).collect();
    if steps.is_empty() {
        return f32::INFINITY;
    }
    steps.sort_by(f32::total_cmp);
    // The lower third: there are fewer steps within paragraphs than between them where all are short.
    steps[steps.len() / 3]
}

/// Whether a line begins with a bullet or a number of a list.
fn begins_item(line: &Line) -> bool {
    let Some(first) = line.runs.first() else { return false };
    let Some((mark, rest)) = first.text.split_once(' ') else { return false };
    if rest.trim().is_empty() && line.runs.len() == 1 {
        return false;
    }
    let is_bullet = |mark: &str| {
        matches!(mark, "•" | "‣" | "▪" | "■" | "●" | "○" | "◦" | "–" | "-" | "*" | "➢" | "✓" | "□" | "·" | "❖" | "►")
    };
    is_bullet(mark) || is_number(mark)
}

/// "1." and "12)", "(3)", "a)", "iv.": short, and with a mark behind it.
fn is_number(mark: &str) -> bool {
    let (inner, bracketed) = match mark.strip_prefix('(') {
        Some(inner) => (inner.strip_suffix(')').unwrap_or_default(), true),
        None => (mark.strip_suffix([')', '.']).unwrap_or_default(), false),
    };
    let is_digits = |text: &str| text.len() <= 2 && text.bytes().all(|byte| byte.is_ascii_digit());
    let is_letter = |text: &str| text.len() == 1 && text.bytes().all(|byte| byte.is_ascii_lowercase());
    !inner.is_empty() && (is_digits(inner) || is_letter(inner) && (bracketed || mark.ends_with(')')))
}

fn has_right_to_left(text: &str) -> bool {
    text.chars()
        .any(|letter| matches!(letter, '\u{590}'..='\u{8ff}' | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{fefc}'))
}

fn is_right_to_left(words: &[&Word]) -> bool {
    let right_to_left = words.iter().filter(|word| has_right_to_left(&word.text)).count();
    right_to_left * 2 > words.len()
}

fn is_ideographic(letter: char) -> bool {
    matches!(letter, '\u{2e80}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{ff00}'..='\u{ffef}' | '\u{20000}'..='\u{3ffff}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pdf::rows::rows_of;

    fn rows(lines: &[(&str, f32, f32)]) -> Vec<Row> {
        let word = |text: &str, start: f32, down: f32| Word {
            text: text.into(),
            start,
            end: start + 5.0 * text.chars().count() as f32,
            down,
            size: 10.0,
            mark: Mark::None,
            link: None,
            spaced: true,
        };
        let mut words = Vec::new();
        for &(text, mut start, down) in lines {
            for part in text.split(' ') {
                words.push(word(part, start, down));
                start += 5.0 * part.chars().count() as f32 + 3.0;
            }
        }
        rows_of(words)
    }

    fn texts(lines: &[(&str, f32, f32)]) -> Vec<String> {
        pieces_of(&rows(lines), &|_| None).into_iter().map(|piece| piece.line.text()).collect()
    }

    #[test]
    fn lines_join_and_a_hyphen_at_their_end_goes() {
        assert_eq!(
            texts(&[
                ("The first line of a para-", 50.0, 100.0),
                ("graph with a well-known-", 50.0, 112.0),
                ("Name inside, and more", 50.0, 124.0),
            ]),
            ["The first line of a paragraph with a well-known- Name inside, and more"]
        );
    }

    #[test]
    fn room_an_indent_or_a_short_line_begins_a_paragraph() {
        let long = "a line that goes to the right edge of the page";
        assert_eq!(texts(&[(long, 50.0, 100.0), (long, 50.0, 112.0), (long, 50.0, 130.0)]).len(), 2);
        assert_eq!(texts(&[(long, 50.0, 100.0), (long, 50.0, 112.0), (long, 62.0, 124.0)]).len(), 2);
        assert_eq!(
            texts(&[
                (long, 50.0, 100.0),
                ("It ends.", 50.0, 112.0),
                ("Another one begins and is as long", 50.0, 124.0)
            ])
            .len(),
            2
        );
    }

    #[test]
    fn bullets_and_numbers_begin_items() {
        let pieces = pieces_of(
            &rows(&[("• one thing", 50.0, 100.0), ("• another", 50.0, 112.0), ("2. third", 50.0, 124.0)]),
            &|_| None,
        );
        assert!(pieces.len() == 3 && pieces.iter().all(|piece| piece.is_item));
        assert!(
            is_number("(3)")
                && is_number("12)")
                && is_number("a)")
                && !is_number("2024.")
                && !is_number("3.5")
                && !is_number(".")
        );
    }

    #[test]
    fn text_from_right_to_left_is_read_so() {
        let row = &rows(&[("ב א", 50.0, 100.0)])[0];
        assert_eq!(line_of(row.groups.iter().flat_map(|group| &group.words), &|_| None).text(), "א ב");
    }
}
