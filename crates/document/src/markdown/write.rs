//! The chosen pieces as one text.

use std::fmt::Write;

use vernal_model::Url;

use super::inline::longest_run;
use super::main_content::main_content;
use super::pass::Pass;
use super::pieces::{BREAK, CELL, Marker, Piece, Shape, TARGET};
use crate::Input;
use crate::parse::format::{Reading, format_of};
use crate::parse::scan::scan;
use crate::read::{letters_of, markup_of};

/// What the name of a paragraph is, by its index in the document.
pub type ParagraphName<'a> = &'a dyn Fn(usize) -> Option<String>;

#[derive(Copy, Clone, Default)]
pub struct MarkdownOptions<'a> {
    /// Everything on the page and not the main content alone.
    pub all: bool,
    /// Names that are written behind paragraphs (`^name`).
    pub names: Option<ParagraphName<'a>>,
}

/// A body as Markdown; empty where it has no text. It never panics, and its time and memory are bounded by the length of the body.
pub fn markdown(input: &Input<'_>, options: &MarkdownOptions<'_>) -> String {
    let source = letters_of(input);
    let Some(markup) = markup_of(input) else {
        return match format_of(input.content_type, input.bytes).reading {
            Reading::Opaque => String::new(),
            _ => source.chars().filter(|&letter| !letter.is_control() || matches!(letter, '\n' | '\t')).collect(),
        };
    };
    let mut pass = Pass::new(&source, options.names.is_some());
    scan(&source, markup, &mut pass);
    pass.finish();
    let chosen = if options.all { vec![true; pass.pieces.len()] } else { main_content(&pass.pieces, &pass.containers) };
    let base = pass.addresses.base.as_deref().and_then(|base| input.url.join(base).ok());
    let base = base.as_ref().unwrap_or(input.url);
    let mut writer = Writer { pass: &pass, base, names: options.names, out: String::with_capacity(source.len() / 4) };
    let kept: Vec<&Piece> =
        pass.pieces.iter().zip(&chosen).filter(|(_, chosen)| **chosen).map(|(piece, _)| piece).collect();
    writer.write(&kept);
    writer.out
}

struct Writer<'a> {
    pass: &'a Pass,
    base: &'a Url,
    names: Option<ParagraphName<'a>>,
    out: String,
}

impl Writer<'_> {
    fn write(&mut self, pieces: &[&Piece]) {
        let mut at = 0;
        while let Some(piece) = pieces.get(at) {
            let before = at.checked_sub(1).map(|before| pieces[before]);
            if before.is_some() {
                self.separate(before, piece);
            }
            match piece.shape {
                Shape::Row(table) if !self.pass.tables[table].is_layout => {
                    let rows = pieces[at..].iter().take_while(|row| row.shape == piece.shape).count();
                    self.table(&pieces[at..at + rows], self.pass.tables[table].columns);
                    at += rows;
                    continue;
                }
                Shape::Rule => {
                    // A rule at an end, or beside another one, divides nothing.
                    let is_between = before.is_some_and(|before| before.shape != Shape::Rule) && at + 1 < pieces.len();
                    if is_between {
                        self.out.push_str("---\n");
                    }
                }
                Shape::Code(ref language) => self.code(piece, language),
                _ => self.words(piece),
            }
            at += 1;
        }
        let end = self.out.trim_end_matches('\n').len();
        self.out.truncate(end);
        if !self.out.is_empty() {
            self.out.push('\n');
        }
    }

    /// Items of one list stand close, all else has a line between.
    fn separate(&mut self, before: Option<&Piece>, piece: &Piece) {
        let is_close = before.is_some_and(|before| {
            piece.marker.is_some() && before.lists > 0 && before.quotes == piece.quotes && before.shape == Shape::Text
        });
        if is_close || self.out.is_empty() || self.out.ends_with("\n\n") {
            return;
        }
        let quotes = before.map_or(0, |before| before.quotes.min(piece.quotes));
        self.out.push_str(">".repeat(usize::from(quotes)).trim_end());
        self.out.push('\n');
    }

    fn text_of(&self, piece: &Piece) -> &str {
        &self.pass.inline.text[piece.start..piece.end]
    }

    fn words(&mut self, piece: &Piece) {
        let text = self.with_targets(self.text_of(piece));
        let mut parts = text.split([CELL, BREAK]).map(trimmed).filter(|part| !part.is_empty()).peekable();
        let mut is_first = true;
        while let Some(part) = parts.next() {
            for (number, line) in part.split('\n').enumerate() {
                let marked = is_first && number == 0;
                self.line_start(piece, marked);
                if let (true, Shape::Heading(level)) = (marked, &piece.shape) {
                    self.out.push_str(&"#".repeat(usize::from(*level)));
                    self.out.push(' ');
                }
                self.out.push_str(line);
                self.out.push('\n');
            }
            is_first = false;
            if parts.peek().is_some() {
                self.out.push('\n');
            }
        }
        let (first, behind) = piece.paragraphs;
        if let Some(name) = self.names.filter(|_| first < behind && !is_first).and_then(|names| names(first)) {
            self.out.truncate(self.out.trim_end_matches('\n').len());
            self.out.push_str(" ^");
            self.out.push_str(&name);
            self.out.push('\n');
        }
    }

    fn line_start(&mut self, piece: &Piece, marked: bool) {
        for _ in 0..piece.quotes.min(QUOTES_MAX) {
            self.out.push_str("> ");
        }
        let marker = piece.marker.filter(|_| marked);
        let width = marker.map_or(0, Marker::width);
        self.out.push_str(&" ".repeat(piece.indent.saturating_sub(width)));
        match marker {
            Some(Marker::Bullet) => self.out.push_str("- "),
            Some(Marker::Number(number)) => {
                let _ = write!(self.out, "{number}. ");
            }
            None => {}
        }
    }

    fn code(&mut self, piece: &Piece, language: &str) {
        let pass = self.pass;
        let text = &pass.inline.text[piece.start..piece.end];
        let fence = "`".repeat(longest_run(text).max(2) + 1);
        self.line_start(piece, true);
        let _ = writeln!(self.out, "{fence}{language}");
        for line in text.trim_end().split('\n') {
            let from = self.out.len();
            self.line_start(piece, false);
            self.out.push_str(line);
            if line.trim().is_empty() {
                self.out.truncate(from + self.out[from..].trim_end().len());
            }
            self.out.push('\n');
        }
        self.line_start(piece, false);
        let _ = writeln!(self.out, "{fence}");
    }

    /// The first row is the head: tables of Markdown have one.
    fn table(&mut self, rows: &[&Piece], columns: usize) {
        for (number, row) in rows.iter().enumerate() {
            let text = self.with_targets(self.text_of(row));
            let line_from = self.out.len();
            self.line_start(row, number == 0);
            self.out.push('|');
            let cells = text.split(CELL).map(trimmed).chain(std::iter::repeat("")).take(columns);
            for cell in cells {
                self.out.push(' ');
                let mut is_escaped = false;
                for letter in cell.chars() {
                    match letter {
                        BREAK | '\n' => self.out.push(' '),
                        '|' if !is_escaped => self.out.push_str("\\|"),
                        letter => self.out.push(letter),
                    }
                    is_escaped = letter == '\\' && !is_escaped;
                }
                self.out.push_str(" |");
            }
            debug_assert!(self.out.len() > line_from, "a row has at least one sign");
            self.out.push('\n');
            if number == 0 {
                self.line_start(row, false);
                let _ = writeln!(self.out, "|{}", " --- |".repeat(columns));
            }
        }
    }

    /// The words with the addresses of their links.
    fn with_targets(&self, text: &str) -> String {
        let mut out = String::with_capacity(text.len() + 64);
        let mut parts = text.split(TARGET);
        out.push_str(parts.next().unwrap_or_default());
        // Each number stands between two signs.
        while let (Some(number), Some(rest)) = (parts.next(), parts.next()) {
            let target = number.parse().ok().and_then(|number: usize| self.pass.addresses.targets.get(number));
            self.push_target(&mut out, target.map_or("", String::as_str));
            out.push_str(rest);
        }
        out
    }

    fn push_target(&self, out: &mut String, target: &str) {
        let joined = self.base.join(target);
        let whole = match &joined {
            Ok(url) => with_fragment(url.as_str(), target),
            Err(_) => target.to_owned(),
        };
        for letter in whole.chars().take(TARGET_LETTERS_MAX) {
            match letter {
                '(' => out.push_str("%28"),
                ')' => out.push_str("%29"),
                '<' => out.push_str("%3C"),
                '>' => out.push_str("%3E"),
                letter if letter.is_whitespace() || letter.is_control() => out.push_str("%20"),
                letter => out.push(letter),
            }
        }
    }
}

fn trimmed(text: &str) -> &str {
    text.trim_matches(|letter: char| letter.is_whitespace() || letter == BREAK)
}

/// Deeper quotes are not marked deeper.
const QUOTES_MAX: u8 = 8;
/// The rest of a longer address is cut.
const TARGET_LETTERS_MAX: usize = 2_048;

/// Our URLs have no fragment, but readers follow links to a place in a page.
fn with_fragment(url: &str, target: &str) -> String {
    match target.split_once('#') {
        Some((_, fragment)) if !fragment.is_empty() && !url.contains('#') => format!("{url}#{fragment}"),
        _ => url.to_owned(),
    }
}
