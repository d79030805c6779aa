//! Compares the source of two bodies line by line. Long generated lines are broken before tags.

use std::fmt::Write;

use xxhash_rust::xxh3::xxh3_64;

use super::View;
use super::text::{Paint, clean};
use crate::diff::steps::{STEPS_MAX, Steps};
use crate::diff::words::stayed;

/// Longer lines are broken before tags, or anywhere if there is no tag.
const LINE_BYTES: usize = 160;
const LINE_BYTES_MAX: usize = 2_000;

/// Longer source is not compared line by line.
const LINES_MAX: usize = 200_000;

/// A unified diff of two sources. It is empty if they differ in line ends only.
pub fn source(old: &str, new: &str, view: &View<'_>) -> String {
    let (a, b) = (lines(old), lines(new));
    let mut out = String::new();
    if a == b && !view.full {
        return out;
    }
    let _ = write!(out, "--- {}\n+++ {}\n", clean(view.from), clean(view.to));
    let marks = |lines: &[&str]| lines.iter().map(|line| xxh3_64(line.as_bytes())).collect::<Vec<u64>>();
    let small = a.len().max(b.len()) <= LINES_MAX;
    let found = small.then(|| stayed(&marks(&a), &marks(&b), &mut Steps::new(STEPS_MAX))).flatten();
    let whole = found.is_none();
    let script = script(&found.unwrap_or_else(|| vec![None; a.len()]), b.len());
    let context = if view.full { usize::MAX } else { view.context };
    for hunk in hunks(&script, context) {
        push_hunk(&mut out, &script[hunk], &a, &b, &Paint::of(view));
    }
    if whole {
        out += "\\ the limit was met: the source is shown whole\n";
    }
    out
}

/// A line of one side or of both, by its indices. The side without the line has the index where it would be.
#[derive(Copy, Clone)]
enum Line {
    Same(usize, usize),
    Removed(usize, usize),
    Added(usize, usize),
}

fn script(stays: &[Option<usize>], new: usize) -> Vec<Line> {
    let mut script = Vec::with_capacity(stays.len() + new);
    let mut next = 0;
    for (place, to) in stays.iter().enumerate() {
        match to {
            None => script.push(Line::Removed(place, next)),
            Some(to) => {
                script.extend((next..*to).map(|added| Line::Added(place, added)));
                script.push(Line::Same(place, *to));
                next = to + 1;
            }
        }
    }
    script.extend((next..new).map(|added| Line::Added(stays.len(), added)));
    script
}

/// Ranges of lines with changes, with so many unchanged lines around them.
fn hunks(script: &[Line], context: usize) -> Vec<std::ops::Range<usize>> {
    let mut hunks: Vec<std::ops::Range<usize>> = Vec::new();
    if context == usize::MAX {
        hunks.push(0..script.len());
        return hunks;
    }
    for (place, _) in script.iter().enumerate().filter(|(_, line)| !matches!(line, Line::Same(..))) {
        let (start, end) = (place.saturating_sub(context), (place + context + 1).min(script.len()));
        match hunks.last_mut() {
            Some(last) if last.end >= start => last.end = end,
            _ => hunks.push(start..end),
        }
    }
    hunks
}

fn push_hunk(out: &mut String, lines: &[Line], old: &[&str], new: &[&str], paint: &Paint) {
    let Some(&first) = lines.first() else { return };
    let (Line::Same(a, b) | Line::Removed(a, b) | Line::Added(a, b)) = first;
    let on_old = lines.iter().filter(|line| !matches!(line, Line::Added(..))).count();
    let on_new = lines.iter().filter(|line| !matches!(line, Line::Removed(..))).count();
    let start = |place: usize, count: usize| if count == 0 { place } else { place + 1 };
    let (a, b) = (start(a, on_old), start(b, on_new));
    let _ = writeln!(out, "{}@@ -{a},{on_old} +{b},{on_new} @@{}", paint.place, paint.end);
    for line in lines {
        let _ = match *line {
            Line::Same(place, _) => writeln!(out, " {}", clean(old[place])),
            Line::Removed(place, _) => writeln!(out, "{}-{}{}", paint.removed, clean(old[place]), paint.end),
            Line::Added(_, place) => writeln!(out, "{}+{}{}", paint.added, clean(new[place]), paint.end),
        };
    }
}

fn lines(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    for line in text.lines() {
        let mut rest = line;
        while rest.len() > LINE_BYTES {
            let from = rest.floor_char_boundary(LINE_BYTES);
            let limit = rest.floor_char_boundary(LINE_BYTES_MAX);
            let end = rest[from..limit].find('<').map_or(limit, |tag| from + tag);
            if end >= rest.len() {
                break;
            }
            found.push(&rest[..end]);
            rest = &rest[end..];
        }
        found.push(rest);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_line_is_a_hunk_with_its_place() {
        let view = View { from: "a", to: "b", ..View::default() };
        let told = source("<p>one\n<p>two\n<p>three\n<p>four\n", "<p>one\n<p>2\n<p>three\n<p>four\n", &view);
        assert_eq!(told, "--- a\n+++ b\n@@ -1,3 +1,3 @@\n <p>one\n-<p>two\n+<p>2\n <p>three\n");
    }

    #[test]
    fn what_comes_to_nothing_or_from_nothing_has_no_lines_there() {
        let view = View { context: 0, ..View::default() };
        assert!(source("", "x\n", &view).contains("@@ -0,0 +1,1 @@\n+x"));
        assert!(source("a\nb\n", "a\n", &view).contains("@@ -2,1 +1,0 @@\n-b"));
        assert_eq!(source("a\r\n", "a\n", &view), "");
    }

    #[test]
    fn one_long_line_is_broken_before_tags() {
        let page = |word: &str| format!("<html>{}<b>{word}</b>{}", "<i>item</i>".repeat(50), "<i>item</i>".repeat(50));
        let told = source(&page("old"), &page("new"), &View { context: 0, ..View::default() });
        assert!(told.len() < 600, "{told}");
    }

    #[test]
    fn a_terminal_gets_no_orders_from_a_page() {
        let told = source("a", "\u{1b}]0;title\u{7}", &View::default());
        assert!(!told.contains('\u{1b}') && !told.contains('\u{7}'));
    }
}
