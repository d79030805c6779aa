//! Renders a diff for terminals, similar to `diff -u`: `-` removed, `+` added, `~` edited, `>` moved, `/` split, `&` merged,
//! space unchanged. Inside an edit, removed words are in `[-…-]` and added words in `{+…+}`.

use std::fmt::Write;

use vernal_model::{Document, Operation};

use super::View;
use super::rows::{Row, remark, rows, shortened};
use crate::diff::words::text_of;
use crate::diff::{Diff, ParagraphDiff, WordOperation};

/// The escape sequences of a terminal, or nothing.
pub struct Paint {
    pub removed: &'static str,
    pub added: &'static str,
    pub place: &'static str,
    pub faint: &'static str,
    pub end: &'static str,
}

impl Paint {
    pub fn of(view: &View<'_>) -> Self {
        match view.colour {
            true => {
                Paint { removed: "\x1b[31m", added: "\x1b[32m", place: "\x1b[36m", faint: "\x1b[2m", end: "\x1b[0m" }
            }
            false => Paint { removed: "", added: "", place: "", faint: "", end: "" },
        }
    }
}

/// The diff as lines of text. It is empty if nothing differs and only changes are shown.
pub fn text(diff: &Diff, new: &Document, view: &View<'_>) -> String {
    let paint = Paint::of(view);
    let mut out = String::new();
    if diff.is_empty() && !view.full {
        return out;
    }
    out += &format!("--- {}\n+++ {}\n", clean(view.from), clean(view.to));
    let mut place = None;
    for row in rows(diff, new, view) {
        match row {
            Row::Changed(paragraph) => {
                if place != Some(&paragraph.headings) {
                    place = Some(&paragraph.headings);
                    push_place(&mut out, paragraph, &paint);
                }
                push_changed(&mut out, paragraph, view, &paint);
            }
            Row::Same(same) => push_lines(&mut out, "  ", &clean(text_of(new, same)), "", ""),
            Row::Skipped(count) => {
                let word = if count == 1 { "paragraph" } else { "paragraphs" };
                push_lines(&mut out, "  ", &format!("… {count} {word} unchanged"), paint.faint, paint.end);
            }
        }
    }
    if diff.fallback.is_some() {
        out += "\\ the limit was met: some paragraphs are shown whole\n";
    }
    out
}

fn push_place(out: &mut String, paragraph: &ParagraphDiff, paint: &Paint) {
    let trail: Vec<String> = paragraph.headings.iter().map(|heading| clean(heading)).collect();
    let trail = if trail.is_empty() { String::new() } else { format!(" {}", trail.join(" › ")) };
    let _ = writeln!(out, "{}@@{trail} @@{}", paint.place, paint.end);
}

fn push_changed(out: &mut String, paragraph: &ParagraphDiff, view: &View<'_>, paint: &Paint) {
    let before = || clean(paragraph.before.as_deref().unwrap_or_default());
    let after = || clean(paragraph.after.as_deref().unwrap_or_default());
    let (mark, told) = match paragraph.op {
        Operation::Removed => return push_lines(out, "- ", &before(), paint.removed, paint.end),
        Operation::Added => return push_lines(out, "+ ", &after(), paint.added, paint.end),
        Operation::Edited => ("~ ", String::new()),
        Operation::Moved => ("> ", format!(" ({})", remark(paragraph))),
        Operation::Split => ("/ ", format!(" ({})", remark(paragraph))),
        Operation::Merged => ("& ", format!(" ({})", remark(paragraph))),
    };
    let words = if paragraph.words.is_empty() { after() } else { marked(paragraph, view, paint) };
    push_lines(out, mark, &format!("{words}{}{told}{}", paint.faint, paint.end), "", "");
}

fn marked(paragraph: &ParagraphDiff, view: &View<'_>, paint: &Paint) -> String {
    let mut line = String::new();
    for (op, text, tail) in shortened(&paragraph.words, view) {
        let words = clean(&text.replace('\n', "¶"));
        // The space before a word stays outside of its marks.
        let (space, words) = words.strip_prefix(' ').map_or(("", &*words), |words| (" ", words));
        let _ = match op {
            WordOperation::Same => write!(line, "{space}{words}"),
            WordOperation::Removed => write!(line, "{space}{}[-{words}-]{}", paint.removed, paint.end),
            WordOperation::Added => write!(line, "{space}{}{{+{words}+}}{}", paint.added, paint.end),
        };
        if let Some(tail) = tail {
            line += " …";
            line += &clean(tail);
        }
    }
    line
}

fn push_lines(out: &mut String, mark: &str, words: &str, begin: &str, end: &str) {
    let _ = writeln!(out, "{begin}{mark}{words}{end}");
}

/// Text that is safe in a terminal: without control characters, and with letters that turn its direction as escapes.
pub fn clean(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '\t' => safe.push(' '),
            letter if letter.is_control() => safe.push('\u{fffd}'),
            letter if turns_direction(letter) => {
                let _ = write!(safe, "\\u{:04x}", u32::from(letter));
            }
            letter => safe.push(letter),
        }
    }
    safe
}

/// Whether a letter turns the direction of the text around it, so that people would read another order than programs.
pub fn turns_direction(letter: char) -> bool {
    matches!(letter, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}
