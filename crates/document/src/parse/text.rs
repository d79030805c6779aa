//! Builds the visible text as paragraphs with folded white space. Each has the role that the markup around it gives.

use vernal_model::{Paragraph, Role};

use super::element_stack::ElementStack;
use super::references::{Within, decoded};
use super::scan::OpenTag;
use super::swar::{skip_plain, white_space};
use super::tag::Tag;
use crate::PARAGRAPHS_MAX;
use crate::signature::digest;
use crate::signature::letters::LetterSums;

#[derive(Default)]
pub struct TextBuilder {
    text: String,
    paragraphs: Vec<Paragraph>,
    /// The open paragraph.
    begun: Option<OpenParagraph>,
    space_pending: bool,
    /// `br` tags since the last word: two in a row end a paragraph.
    breaks: u8,
    around: ElementStack,
    in_title: bool,
    /// Whether there was a tag or a comment since the last word.
    after_tag: bool,
    /// Positions where a tag separates two words without white space.
    joints: Vec<u32>,
    /// The two checksums of paper 003, paragraph by paragraph.
    letters: TextChecksums,
    /// Whether the checksums are not needed.
    without_letters: bool,
    /// Whether those of each paragraph are kept.
    keeps_letters: bool,
    /// By index, the paragraphs whose words are not needed. They stay empty; all others are read.
    unread: Vec<bool>,
    /// Inside a style or script of foreign content, whose text the scan reads as markup.
    foreign_code: Option<Tag>,
    begins: Option<ParagraphStarts>,
}

/// Finds where paragraphs begin in the source that contains the texts.
#[derive(Default)]
struct ParagraphStarts {
    /// The address of the source, and of the last text.
    source: usize,
    piece: usize,
    places: Vec<u32>,
}

/// The checksums of the text.
#[derive(Clone, Default)]
pub struct TextChecksums {
    /// Where a tag separates two words without white space, in bytes of the text.
    pub joints: Vec<u32>,
    /// The sum of the root mean squares of the paragraphs.
    pub rms: f64,
    pub checksum: f64,
    /// Those of each paragraph, where they were asked for.
    pub paragraphs: Vec<ParagraphLetters>,
}

/// The letters of one paragraph, and the size of its text in points.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct ParagraphLetters {
    pub sums: LetterSums,
    pub points: f64,
}

#[derive(Copy, Clone)]
struct OpenParagraph {
    start: usize,
    role: Role,
    place: u16,
    heading: u8,
    points: f32,
}

impl TextBuilder {
    /// A builder for a source of so many bytes. Text is hardly ever longer than its source. Unused capacity costs nothing, while
    /// moving text to a larger buffer costs as much as reading it.
    pub fn with_capacity(bytes: usize) -> Self {
        TextBuilder {
            text: String::with_capacity(bytes),
            paragraphs: Vec::with_capacity(bytes / 256),
            ..Default::default()
        }
    }

    /// Leaves out the checksums.
    pub fn without_letters(self) -> Self {
        TextBuilder { without_letters: true, ..self }
    }

    /// Keeps the checksums of each paragraph too.
    pub fn with_letters_of_paragraphs(self) -> Self {
        TextBuilder { keeps_letters: true, ..self }
    }

    /// Leaves out the words of some paragraphs.
    pub fn without_words_of(self, unread: Vec<bool>) -> Self {
        TextBuilder { unread, ..self }
    }

    /// Records where in this source each paragraph begins. All pushed texts must be slices of it.
    pub fn with_begins_in(self, source: &str) -> Self {
        let places = Vec::with_capacity(self.paragraphs.capacity() + 1);
        let begins = ParagraphStarts { source: source.as_ptr().addr(), piece: 0, places };
        TextBuilder { begins: Some(begins), ..self }
    }

    pub fn open(&mut self, tag: &OpenTag<'_, '_>) {
        self.after_tag = true;
        self.separate(tag.tag);
        if tag.foreign {
            let is_code = matches!(tag.tag, Tag::Style | Tag::Script) && !tag.self_closing;
            self.foreign_code = if is_code { Some(tag.tag) } else { None };
            return;
        }
        self.foreign_code = None;
        self.in_title = tag.tag == Tag::Title;
        self.around.open(tag);
    }

    pub fn close(&mut self, tag: Tag) {
        self.after_tag = true;
        self.separate(tag);
        self.foreign_code = None;
        if tag == Tag::Title {
            self.in_title = false;
        }
        self.around.close(tag);
    }

    pub fn comment(&mut self) {
        self.after_tag = true;
    }

    pub fn push(&mut self, text: &str, coded: bool) {
        if self.is_hidden() {
            return;
        }
        let space = white_space(text.as_bytes());
        self.space_pending |= space > 0;
        // Between two tags there is often nothing else.
        let text = &text[space..];
        if text.is_empty() {
            return;
        }
        if let Some(begins) = &mut self.begins {
            begins.piece = text.as_ptr().addr();
        }
        if self.is_unread() {
            self.pass_over(text, coded);
        } else if coded {
            self.push_folded(&decoded(text, Within::Text));
        } else {
            self.push_folded(text);
        }
    }

    /// Ends the open paragraph, if there is one.
    pub fn end_paragraph(&mut self) {
        self.space_pending = false;
        self.breaks = 0;
        if self.paragraphs.len() + 1 >= PARAGRAPHS_MAX {
            // The last paragraph gets all further text.
            self.space_pending = self.begun.is_some();
            return;
        }
        self.finish_paragraph();
    }

    /// Adds a whole paragraph, for sources without markup.
    pub fn push_line(&mut self, words: &str, role: Role) {
        self.end_paragraph();
        self.push_folded(words);
        if let Some(begun) = &mut self.begun {
            begun.role = role;
        }
        self.end_paragraph();
    }

    /// The offset of the next word, for cutting out text later.
    pub fn mark(&self) -> usize {
        self.text.len()
    }

    /// The text since an offset, trimmed.
    pub fn since(&self, mark: usize) -> &str {
        self.text.get(mark..).unwrap_or_default().trim()
    }

    /// The number of finished paragraphs.
    pub fn ended(&self) -> usize {
        self.paragraphs.len()
    }

    /// Takes the starts of the paragraphs in the source, if they were recorded.
    pub fn take_begins(&mut self) -> Vec<u32> {
        self.begins.take().unwrap_or_default().places
    }

    /// Sets the style or script of foreign content that the next text belongs to.
    pub fn foreign_code(&self) -> Option<Tag> {
        self.foreign_code
    }

    /// Whether the words of the open or next paragraph are not needed.
    fn is_unread(&self) -> bool {
        self.unread.get(self.paragraphs.len()).is_some_and(|unread| *unread)
    }

    /// Processes text whose words are not needed: only whether there are any matters.
    fn pass_over(&mut self, text: &str, coded: bool) {
        let first = text.as_bytes()[0];
        let is_word = |letter: char| !letter.is_whitespace() && letter != '\0';
        let may_be_none = MAY_FOLD[usize::from(first)] || coded && first == b'&';
        let has_words = match coded {
            _ if !may_be_none => true,
            true => decoded(text, Within::Text).contains(is_word),
            false => text.contains(is_word),
        };
        if has_words {
            if self.begun.is_none() {
                self.begun = Some(self.begin());
            }
            self.after_tag = false;
            self.breaks = 0;
        }
        self.space_pending = !has_words;
    }

    fn is_hidden(&self) -> bool {
        self.foreign_code.is_some() || self.around.is_hidden()
    }

    /// Whether the content here is not part of the page, not even its links.
    pub fn is_inert(&self) -> bool {
        self.around.is_inert()
    }

    pub fn is_title(&self) -> bool {
        self.in_title
    }

    pub fn finish(mut self) -> (String, Vec<Paragraph>, TextChecksums) {
        self.finish_paragraph();
        self.letters.joints = self.joints;
        (self.text, self.paragraphs, self.letters)
    }

    fn finish_paragraph(&mut self) {
        let Some(OpenParagraph { start, role, place, heading, points }) = self.begun.take() else { return };
        let end = self.text.len();
        let words = &self.text[start..end];
        let digest = digest(words.as_bytes());
        if !self.without_letters {
            let sums = LetterSums::of(words);
            self.letters.rms += sums.rms();
            self.letters.checksum += sums.checksum(f64::from(points));
            if self.keeps_letters {
                self.letters.paragraphs.push(ParagraphLetters { sums, points: f64::from(points) });
            }
        }
        self.paragraphs.push(Paragraph { start: start as u32, end: end as u32, role, digest, place, heading });
    }

    fn separate(&mut self, tag: Tag) {
        if tag.is_block() {
            self.end_paragraph();
        } else if tag.separates_words() {
            self.space_pending = true;
        } else if tag == Tag::Br {
            self.space_pending = true;
            self.breaks = self.breaks.saturating_add(1);
            if self.breaks >= 2 {
                self.end_paragraph();
            }
        }
    }

    fn push_folded(&mut self, text: &str) {
        let bytes = text.as_bytes();
        let mut place = 0;
        while place < bytes.len() {
            let start = place;
            while step_over_plain(bytes, start, &mut place) {}
            if start < place {
                self.push_word(&text[start..place]);
            }
            let space = white_space(&bytes[place..]);
            if space > 0 {
                self.space_pending = true;
                place += space;
            } else if place < bytes.len() {
                place += self.push_rare(&text[place..]);
            }
        }
    }

    /// Processes one character that may be white space and returns its length.
    fn push_rare(&mut self, rest: &str) -> usize {
        let Some(letter) = rest.chars().next() else { return 1 };
        if letter.is_whitespace() {
            self.space_pending = true;
        } else if letter != '\0' {
            // The standard removes NUL from text.
            self.push_word(&rest[..letter.len_utf8()]);
        }
        letter.len_utf8()
    }

    fn begin(&self) -> OpenParagraph {
        let role = if self.in_title { Role::Title } else { self.around.role() };
        OpenParagraph {
            start: self.text.len(),
            role,
            place: self.around.place(),
            heading: if role == Role::Heading { self.around.heading() } else { 0 },
            points: self.around.points(),
        }
    }

    fn push_word(&mut self, word: &str) {
        if self.begun.is_none() {
            if !self.text.is_empty() {
                self.text.push('\n');
            }
            self.begun = Some(self.begin());
            if let Some(begins) = &mut self.begins {
                begins.places.push(begins.piece.wrapping_sub(begins.source) as u32);
            }
        } else if self.space_pending {
            self.text.push(' ');
        } else if self.after_tag {
            self.joints.push(self.text.len() as u32);
        }
        self.after_tag = false;
        self.space_pending = false;
        self.breaks = 0;
        self.text.push_str(word);
    }
}

/// Skips characters that need no folding: first with the SWAR scan, then byte by byte. Returns whether the SWAR scan may find
/// more.
#[inline(always)]
fn step_over_plain(bytes: &[u8], start: usize, place: &mut usize) -> bool {
    *place = skip_plain(bytes, *place);
    // Bytes where the SWAR scan stopped are examined one by one. After them it may continue.
    let end = bytes.len().min(*place + 8);
    while *place < end {
        if !MAY_FOLD[usize::from(bytes[*place])] {
            *place += 1;
        } else if bytes[*place] == b' '
            && *place > start
            && bytes.get(*place + 1).is_some_and(|&next| !MAY_FOLD[usize::from(next)])
        {
            *place += 2;
        } else {
            return false;
        }
    }
    *place < bytes.len()
}

/// First bytes of characters that may be white space, and NUL.
const MAY_FOLD: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte <= 0x20 {
        table[byte] = true;
        byte += 1;
    }
    // U+0085 and U+00A0; U+1680; U+2000 to U+205F; U+3000.
    table[0xc2] = true;
    table[0xe1] = true;
    table[0xe2] = true;
    table[0xe3] = true;
    table
};
