//! Text becomes paragraphs and rows. The stories of a file lie one after the other: the text, notes, headers, text boxes.

use std::io::{Cursor, Read};
use std::ops::Range;

use cfb::CompoundFile;

use super::header::Header;
use super::pieces::{Text, text_of};
use super::styles::{Kind, Paragraphs};
use super::summary::facts_of;
use crate::draft::{Block, Draft, Line};
use crate::fault::Fault;
use crate::package::Fields;

/// The size of one stream.
const STREAM_BYTES_MAX: u64 = 64 << 20;

/// Cells of one row; further ones are left out.
const CELLS_MAX: usize = 1_000;

/// Headers and footers that are shown.
const FRAMES_MAX: usize = 200;

pub fn read_word97(bytes: &[u8]) -> Result<Draft, Fault> {
    let mut file = CompoundFile::open(Cursor::new(bytes)).map_err(Fault::broken)?;
    let stream =
        stream_of(&mut file, "/WordDocument")?.ok_or_else(|| Fault::broken("no Word file that can be opened"))?;
    let header = Header::read(&stream)?;
    let tables = match (header.is_97, header.second_table) {
        (false, _) => None,
        (true, true) => stream_of(&mut file, "/1Table")?,
        (true, false) => stream_of(&mut file, "/0Table")?,
    };
    let tables = tables.as_deref().unwrap_or(&stream);
    let summary = stream_of(&mut file, "/\u{5}SummaryInformation")?.unwrap_or_default();
    let mut draft = Draft::new(facts_of(&summary));
    let text = text_of(&stream, tables, &header);
    let paragraphs = Paragraphs::read(&stream, tables, &header);
    let [main, footnotes, headers, endnotes, boxes] = ranges(&header, text.letters.len());
    frame(&text.letters[headers], &mut draft);
    for story in [main, footnotes, endnotes, boxes] {
        Story { text: &text, paragraphs: &paragraphs, is_97: header.is_97, draft: &mut draft }.read(story);
    }
    Ok(draft)
}

fn stream_of(file: &mut CompoundFile<Cursor<&[u8]>>, name: &str) -> Result<Option<Vec<u8>>, Fault> {
    if !file.is_stream(name) {
        return Ok(None);
    }
    let stream = file.open_stream(name).map_err(Fault::broken)?;
    let mut bytes = Vec::new();
    // A stream that is cut short still has its start.
    let _ = stream.take(STREAM_BYTES_MAX).read_to_end(&mut bytes);
    Ok(Some(bytes))
}

/// Where the stories lie that are read.
fn ranges(header: &Header, letters: usize) -> [Range<usize>; 5] {
    let stories = &header.stories;
    let mut start = 0usize;
    let mut next = |count: u32| {
        let end = start.saturating_add(count as usize).min(letters);
        let range = start.min(letters)..end;
        start = end;
        range
    };
    let main = next(stories.main);
    let (footnotes, headers) = (next(stories.footnotes), next(stories.headers));
    let _ = (next(stories.macros), next(stories.remarks));
    [main, footnotes, headers, next(stories.endnotes), next(stories.boxes)]
}

/// Headers and footers, of which nothing says here which is which.
fn frame(letters: &[char], draft: &mut Draft) {
    let mut fields = Fields::default();
    let mut line = String::new();
    let mut lines = Vec::new();
    for letter in letters {
        match letter {
            '\u{13}' => fields.begin(),
            '\u{14}' => fields.separate(),
            '\u{15}' => fields.end(),
            '\r' | '\u{7}' | '\u{c}' => lines.push(std::mem::take(&mut line)),
            _ if fields.is_instruction() => {}
            '\t' | '\u{b}' => line.push(' '),
            letter if *letter >= ' ' => line.push(*letter),
            _ => {}
        }
    }
    lines.push(line);
    lines.retain(|line| !line.trim().is_empty());
    lines.iter().take(FRAMES_MAX).for_each(|line| draft.head(line));
}

struct Story<'a> {
    text: &'a Text,
    paragraphs: &'a Paragraphs,
    is_97: bool,
    draft: &'a mut Draft,
}

#[derive(Default)]
struct Open {
    line: Line,
    cell: Line,
    cells: Vec<Line>,
    /// The last letter ended a cell, and nothing came since.
    after_cell: bool,
}

impl Story<'_> {
    fn read(mut self, range: Range<usize>) {
        let mut fields = Fields::default();
        let mut open = Open::default();
        let mut letters = String::new();
        for place in range {
            let letter = self.text.letters[place];
            if letter >= ' ' && letter != '\u{feff}' || letter == '\u{1e}' {
                open.after_cell = false;
                letters.push(if letter == '\u{1e}' { '-' } else { letter });
                continue;
            }
            put(&mut open.line, &mut fields, &mut letters);
            match letter {
                '\u{13}' => fields.begin(),
                '\u{14}' => fields.separate(),
                '\u{15}' => fields.end(),
                '\t' | '\u{b}' | '\u{e}' => letters.push(' '),
                '\r' | '\u{c}' => self.end_paragraph(&mut open, place),
                '\u{7}' => self.end_cell(&mut open, place),
                _ => {}
            }
            if self.draft.is_full() {
                return;
            }
        }
        put(&mut open.line, &mut fields, &mut letters);
        self.draft.row(&open.cells);
        self.draft.block(Block::Paragraph, &open.line);
        self.draft.end_table();
    }

    fn end_paragraph(&mut self, open: &mut Open, place: usize) {
        let kind = self.paragraphs.kind(self.text.offset(place));
        let line = std::mem::take(&mut open.line);
        if kind.in_table {
            join(&mut open.cell, line);
            return;
        }
        self.end_row(open);
        self.draft.block(block_of(kind), &line);
    }

    fn end_cell(&mut self, open: &mut Open, place: usize) {
        let kind = self.paragraphs.kind(self.text.offset(place));
        // Word 6 is not asked for its rows: two ends of cells without text between them end one.
        let ends_row = kind.ends_row || !self.is_97 && open.after_cell;
        join(&mut open.cell, std::mem::take(&mut open.line));
        if ends_row {
            self.end_row(open);
            open.after_cell = false;
            return;
        }
        if open.cells.len() < CELLS_MAX {
            open.cells.push(std::mem::take(&mut open.cell));
        }
        open.after_cell = true;
    }

    fn end_row(&mut self, open: &mut Open) {
        if !open.cell.is_blank() {
            open.cells.push(std::mem::take(&mut open.cell));
        }
        let cells = std::mem::take(&mut open.cells);
        self.draft.row(&cells);
    }
}

/// Puts the letters read so far where the open fields want them.
fn put(line: &mut Line, fields: &mut Fields, letters: &mut String) {
    if letters.is_empty() {
        return;
    }
    if fields.is_instruction() {
        fields.instruct(letters);
    } else {
        let link = fields.link().map(str::to_owned);
        line.push(letters, link.as_deref());
    }
    letters.clear();
}

fn join(cell: &mut Line, line: Line) {
    if line.is_blank() {
        return;
    }
    if !cell.is_blank() {
        cell.push(" ", None);
    }
    cell.append(line);
}

fn block_of(kind: Kind) -> Block {
    match kind.level {
        Some(level) => Block::Heading(level),
        None if kind.is_item => Block::Item,
        None => Block::Paragraph,
    }
}
