//! Writes the words of a piece: emphasis, code and links around them, and escapes where a reader of Markdown would see a mark.

use super::pieces::{BREAK, CELL, TARGET};

/// A mark around words that is open now.
#[derive(Clone, Debug, PartialEq)]
pub enum Mark {
    Strong,
    Emphasis,
    Code,
    /// The number of its target.
    Link(usize),
}

#[derive(Default)]
pub struct Inline {
    pub text: String,
    /// Where the present piece begins.
    start: usize,
    open: Vec<OpenMark>,
    space: bool,
    letters: usize,
    linked: usize,
    images: usize,
}

struct OpenMark {
    mark: Mark,
    /// Where the words inside it begin, once there are any.
    written: Option<usize>,
}

/// Deeper marks are ignored.
const OPEN_MAX: usize = 16;

/// What was written since the last piece.
pub struct Finished {
    pub start: usize,
    pub end: usize,
    pub letters: usize,
    pub linked: usize,
    pub images: usize,
}

impl Inline {
    pub fn open(&mut self, mark: Mark) {
        if self.open.len() < OPEN_MAX && !self.open.iter().any(|open| open.mark == mark) {
            self.open.push(OpenMark { mark, written: None });
        }
    }

    /// Ends the innermost mark that fits; those inside it go on behind it.
    pub fn close(&mut self, fits: impl Fn(&Mark) -> bool) {
        let Some(place) = self.open.iter().rposition(|open| fits(&open.mark)) else { return };
        for inner in (place..self.open.len()).rev() {
            self.end_mark(inner);
        }
        self.open.remove(place);
    }

    pub fn space(&mut self) {
        self.space = true;
    }

    /// Text with its white space folded.
    pub fn push(&mut self, text: &str) {
        let mut rest = text;
        while !rest.is_empty() {
            let word_end = rest.find(is_space).unwrap_or(rest.len());
            if word_end > 0 {
                self.word(&rest[..word_end]);
            }
            let behind = &rest[word_end..];
            self.space |= !behind.is_empty();
            rest = behind.trim_start_matches(is_space);
        }
    }

    /// An image in the place where it stands, with the number of its target. What it says is no words of the page, so that it counts
    /// for nothing when the main content is looked for.
    pub fn image(&mut self, says: &str, target: usize) {
        self.begin_word();
        self.text.push_str("![");
        let mut words = says.split(is_space).filter(|word| !word.is_empty());
        words.next().into_iter().for_each(|word| self.escaped(word, false));
        words.for_each(|word| {
            self.text.push(' ');
            self.escaped(word, false);
        });
        self.push_target(target);
        self.images += 1;
    }

    /// Text as it is, for code.
    pub fn push_raw(&mut self, text: &str) {
        let written = self.text.len();
        self.text.extend(text.chars().filter(|letter| !letter.is_control() || matches!(letter, '\n' | '\t')));
        self.letters += self.text[written..].split_ascii_whitespace().map(str::len).sum::<usize>();
    }

    /// A line that the author broke.
    pub fn line_break(&mut self) {
        if self.text.len() > self.start && !self.text.ends_with([CELL, BREAK]) {
            self.text.push_str("\\\n");
            self.space = false;
        }
    }

    /// Whether the words here are code.
    pub fn in_code(&self) -> bool {
        self.open.iter().any(|open| open.mark == Mark::Code)
    }

    pub fn cell(&mut self) {
        self.end_marks();
        self.text.push(CELL);
        self.space = false;
    }

    pub fn cell_break(&mut self) {
        self.end_marks();
        if self.text.len() > self.start && !self.text.ends_with([CELL, BREAK]) {
            self.text.push(BREAK);
        }
        self.space = false;
    }

    pub fn is_empty(&self) -> bool {
        self.letters == 0 && self.images == 0
    }

    /// Ends the piece. Marks that are still open go on in the next one.
    pub fn finish(&mut self) -> Finished {
        self.end_marks();
        while self.text.len() > self.start && self.text.ends_with("\\\n") {
            self.text.truncate(self.text.len() - 2);
        }
        let (start, end) = (self.start, self.text.len());
        let finished = Finished { start, end, letters: self.letters, linked: self.linked, images: self.images };
        (self.start, self.letters, self.linked, self.space) = (end, 0, 0, false);
        self.images = 0;
        finished
    }

    fn end_marks(&mut self) {
        for place in (0..self.open.len()).rev() {
            self.end_mark(place);
        }
    }

    fn end_mark(&mut self, place: usize) {
        let Some(begun) = self.open[place].written.take() else { return };
        match self.open[place].mark {
            Mark::Strong => self.text.push_str("**"),
            Mark::Emphasis => self.text.push('*'),
            Mark::Code => self.end_code(begun),
            Mark::Link(target) => self.push_target(target),
        }
    }

    fn push_target(&mut self, target: usize) {
        self.text.push_str("](");
        self.text.push(TARGET);
        self.text.push_str(&target.to_string());
        self.text.push(TARGET);
        self.text.push(')');
    }

    /// The fence of a code span is longer than any run of its sign inside.
    fn end_code(&mut self, begun: usize) {
        let longest = longest_run(&self.text[begun..]);
        if longest == 0 {
            self.text.push('`');
            return;
        }
        let fence = "`".repeat(longest + 1);
        self.text.insert_str(begun, &format!("{} ", &fence[1..]));
        self.text.push(' ');
        self.text.push_str(&fence);
    }

    /// What stands before a word: a space, and the marks that are open. Says whether the word begins a line.
    fn begin_word(&mut self) -> bool {
        let is_first = self.text.len() == self.start || self.text.ends_with([CELL, BREAK]);
        let at_line = is_first || self.text.ends_with('\n');
        if std::mem::take(&mut self.space) && !at_line {
            self.text.push(' ');
        }
        for place in 0..self.open.len() {
            if self.open[place].written.is_none() {
                self.text.push_str(match self.open[place].mark {
                    Mark::Strong => "**",
                    Mark::Emphasis => "*",
                    Mark::Code => "`",
                    Mark::Link(_) => "[",
                });
                self.open[place].written = Some(self.text.len());
            }
        }
        at_line
    }

    fn word(&mut self, word: &str) {
        let at_line = self.begin_word();
        let before = self.text.len();
        if self.in_code() {
            self.text.extend(word.chars().filter(|letter| !letter.is_control()));
        } else {
            self.escaped(word, at_line);
        }
        self.letters += self.text.len() - before;
        if self.open.iter().any(|open| matches!(open.mark, Mark::Link(_))) {
            self.linked += self.text.len() - before;
        }
    }

    fn escaped(&mut self, word: &str, at_line: bool) {
        if at_line && begins_a_mark(word) {
            // In a number it is the point that makes a list.
            let digits = word.bytes().take_while(u8::is_ascii_digit).count();
            self.text.push_str(&word[..digits]);
            self.text.push('\\');
            self.text.push_str(&word[digits..]);
            return;
        }
        let bytes = word.as_bytes();
        let mut done = 0;
        for (place, &byte) in bytes.iter().enumerate() {
            if byte >= b' ' && byte != 0x7f && !matches!(byte, b'\\' | b'*' | b'`' | b'[' | b']' | b'<' | b'_') {
                continue;
            }
            let is_letter = |at: usize| bytes.get(at).is_some_and(|near| near.is_ascii_alphanumeric() || *near >= 0x80);
            let is_within = byte == b'_' && place > 0 && is_letter(place - 1) && is_letter(place + 1);
            self.text.push_str(&word[done..place]);
            done = place;
            match byte {
                _ if byte < b' ' || byte == 0x7f => done = place + 1,
                b'<' if !bytes
                    .get(place + 1)
                    .is_some_and(|next| next.is_ascii_alphabetic() || b"/!?".contains(next)) => {}
                _ if is_within => {}
                _ => self.text.push('\\'),
            }
        }
        self.text.push_str(&word[done..]);
    }
}

/// Whether a word at the beginning of a line would be a mark of Markdown.
fn begins_a_mark(word: &str) -> bool {
    let digits = word.bytes().take_while(u8::is_ascii_digit).count();
    match word.as_bytes() {
        [b'-' | b'+'] | [b'>', ..] => true,
        [b'#', ..] => word.bytes().all(|byte| byte == b'#'),
        [b'=' | b'-', ..] if word.len() > 2 => word.bytes().all(|byte| byte == word.as_bytes()[0]),
        [b'~', b'~', b'~', ..] => true,
        _ => (1..=9).contains(&digits) && matches!(&word.as_bytes()[digits..], b"." | b")"),
    }
}

pub fn longest_run(text: &str) -> usize {
    text.split(|letter| letter != '`').map(str::len).max().unwrap_or(0)
}

fn is_space(letter: char) -> bool {
    letter.is_whitespace()
}
