//! Words become rows: what stands on one line of the page, as groups that wide gaps part.

use super::letters::Mark;
use super::words::{Word, joined};

/// A gap wider than this, in parts of the size, parts two groups: a column or a cell may begin there.
const GROUP_GAP: f32 = 1.15;

/// Words whose lines differ by less than this part of their size stand on one row.
const SAME_ROW: f32 = 0.4;

/// Words that stand near each other on one line.
#[derive(Clone, Debug)]
pub struct WordGroup {
    pub words: Vec<Word>,
    pub start: f32,
    pub end: f32,
    pub size: f32,
}

#[derive(Clone, Debug)]
pub struct Row {
    pub groups: Vec<WordGroup>,
    pub down: f32,
    pub size: f32,
}

impl WordGroup {
    fn of(words: Vec<Word>) -> WordGroup {
        let start = words.iter().map(|word| word.start).fold(f32::INFINITY, f32::min);
        let end = words.iter().map(|word| word.end).fold(f32::NEG_INFINITY, f32::max);
        let size = main_size(words.iter().map(|word| (word.size, word.text.len())));
        WordGroup { words, start, end, size }
    }

    /// Its words, with a space between them.
    pub fn text(&self) -> String {
        self.words.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ")
    }

    pub fn mark(&self) -> Mark {
        self.words.first().map_or(Mark::None, |word| word.mark)
    }
}

impl Row {
    pub fn text(&self) -> String {
        self.groups.iter().map(WordGroup::text).collect::<Vec<_>>().join(" ")
    }

    pub fn start(&self) -> f32 {
        self.groups.first().map_or(0.0, |group| group.start)
    }

    pub fn end(&self) -> f32 {
        self.groups.iter().map(|group| group.end).fold(f32::NEG_INFINITY, f32::max)
    }

    pub fn is_artifact(&self) -> bool {
        self.groups.iter().all(|group| group.mark() == Mark::Artifact)
    }
}

/// The rows of a page from top to bottom.
pub fn rows_of(mut words: Vec<Word>) -> Vec<Row> {
    words.sort_by(|one, other| one.down.total_cmp(&other.down));
    let mut lines: Vec<Vec<Word>> = Vec::new();
    for word in words {
        let joins = lines.last().and_then(|line| line.last()).is_some_and(|last| {
            let size = last.size.min(word.size);
            word.down - last.down < SAME_ROW * size
        });
        match lines.last_mut() {
            Some(line) if joins => line.push(word),
            _ => lines.push(vec![word]),
        }
    }
    let lines = with_raised_words(lines);
    lines.into_iter().map(row_of).collect()
}

/// Puts raised and lowered words, such as the numbers of notes, into the line beside which they stand.
fn with_raised_words(lines: Vec<Vec<Word>>) -> Vec<Vec<Word>> {
    let mut all: Vec<Vec<Word>> = Vec::with_capacity(lines.len());
    let mut lines = lines.into_iter().peekable();
    while let Some(mut line) = lines.next() {
        if let Some(next) = lines.peek_mut()
            && is_raised(&line, next)
        {
            // The line below goes on with what is raised above it.
            next.append(&mut line);
            continue;
        }
        match all.last_mut() {
            Some(last) if is_raised(&line, last) => last.append(&mut line),
            _ => all.push(line),
        }
    }
    all
}

/// Whether the words of a line are small, near the other line, and stand between its words instead of above them.
fn is_raised(small: &[Word], line: &[Word]) -> bool {
    let size_of = |words: &[Word]| main_size(words.iter().map(|word| (word.size, word.text.len())));
    let (size, other) = (size_of(small), size_of(line));
    let down = |words: &[Word]| words.iter().map(|word| word.down).fold(0.0, f32::max);
    let apart = (down(small) - down(line)).abs();
    let is_free = |word: &Word| {
        let touches = |other: &Word| word.start < other.end - 0.1 * size && word.end > other.start + 0.1 * size;
        let is_beside =
            |other: &Word| (word.start - other.end).abs() < other.size || (other.start - word.end).abs() < other.size;
        !line.iter().any(touches) && line.iter().any(is_beside)
    };
    size < 0.85 * other && apart < 0.6 * other && small.len() <= 12 && small.iter().all(is_free)
}

fn row_of(mut words: Vec<Word>) -> Row {
    words.sort_by(|one, other| one.start.total_cmp(&other.start));
    let down = words
        .iter()
        .map(|word| (word.down, word.size))
        .fold((0.0, 0.0), |best, next| if next.1 > best.1 { next } else { best })
        .0;
    let mut groups: Vec<Vec<Word>> = Vec::new();
    for word in joined(words) {
        let joins = groups
            .last()
            .and_then(|group| group.last())
            .is_some_and(|last| word.start - last.end < GROUP_GAP * last.size.max(word.size));
        match groups.last_mut() {
            Some(group) if joins => group.push(word),
            _ => groups.push(vec![word]),
        }
    }
    let groups: Vec<WordGroup> = groups.into_iter().map(WordGroup::of).collect();
    let size = main_size(groups.iter().map(|group| (group.size, group.words.len())));
    Row { groups, down, size }
}

/// The size that most of the text has.
pub fn main_size(sizes: impl Iterator<Item = (f32, usize)>) -> f32 {
    let mut counts: Vec<(i32, usize)> = Vec::new();
    for (size, letters) in sizes {
        let size = (size * 4.0).round() as i32;
        match counts.iter().position(|(known, _)| *known == size) {
            Some(place) => counts[place].1 += letters,
            None if counts.len() < 64 => counts.push((size, letters)),
            None => {}
        }
    }
    counts.into_iter().max_by_key(|&(size, count)| (count, size)).map_or(1.0, |(size, _)| (size as f32 / 4.0).max(0.25))
}
