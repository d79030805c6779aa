//! One scan of the markup: what the writer needs of a page, piece by piece.

use super::containers::Containers;
use super::image::Image;
use super::inline::{Inline, Mark};
use super::names::language;
use super::pieces::{Marker, Piece, Shape, Table};
use crate::parse::element_stack::ElementStack;
use crate::parse::references::{Within, decoded};
use crate::parse::scan::{OpenTag, Sink};
use crate::parse::tag::Tag;
use crate::parse::text::TextBuilder;

/// Further pieces are dropped.
const PIECES_MAX: usize = 50_000;
/// Deeper lists are not indented further.
const LISTS_MAX: usize = 12;
/// A longer text in a cell tells that the table is for layout.
const CELL_BYTES_MAX: usize = 600;

pub struct Pass {
    pub pieces: Vec<Piece>,
    pub tables: Vec<Table>,
    pub containers: Containers,
    pub inline: Inline,
    pub addresses: Addresses,
    around: ElementStack,
    paragraphs: ParagraphCount,
    lists: Vec<List>,
    marker: Option<Marker>,
    quotes: u8,
    heading: u8,
    code: Option<Code>,
    open_tables: Vec<usize>,
    row: Row,
    in_title: bool,
}

/// Where links lead to, as written.
#[derive(Default)]
pub struct Addresses {
    pub targets: Vec<String>,
    /// The first base of the page.
    pub base: Option<String>,
}

/// Counts the paragraphs of the document as it is read.
struct ParagraphCount {
    /// `None` where nobody asks for them.
    builder: Option<TextBuilder>,
    /// Those that earlier pieces have.
    counted: usize,
}

/// Text as it is.
struct Code {
    language: String,
    /// Whether a line feed that follows would be its first letter.
    begins: bool,
}

/// Where the scan is in a table.
#[derive(Copy, Clone, PartialEq, Eq)]
enum Row {
    Outside,
    BeforeCells,
    InCell,
}

struct List {
    /// The number of the next item, of a numbered list.
    next: Option<u32>,
    indent: usize,
}

impl Pass {
    /// `paragraphs`: counts them, so that pieces can be named by them.
    pub fn new(source: &str, paragraphs: bool) -> Pass {
        let mut inline = Inline::default();
        inline.text.reserve(source.len() / 2);
        let counter = || TextBuilder::with_capacity(source.len()).without_letters();
        Pass {
            pieces: Vec::new(),
            tables: Vec::new(),
            containers: Containers::new(),
            inline,
            addresses: Addresses::default(),
            around: ElementStack::default(),
            paragraphs: ParagraphCount { builder: if paragraphs { Some(counter()) } else { None }, counted: 0 },
            lists: Vec::new(),
            marker: None,
            quotes: 0,
            heading: 0,
            code: None,
            open_tables: Vec::new(),
            row: Row::Outside,
            in_title: false,
        }
    }

    pub fn finish(&mut self) {
        if let Some(paragraphs) = &mut self.paragraphs.builder {
            paragraphs.end_paragraph();
        }
        self.flush();
    }

    /// Ends the present piece, if it has words.
    fn flush(&mut self) {
        let ended = self.paragraphs.builder.as_ref().map_or(0, TextBuilder::ended);
        if self.inline.is_empty() && self.code.is_none() {
            self.inline.finish();
            self.paragraphs.counted = ended;
            return;
        }
        let shape = match (self.code.take(), self.open_tables.last()) {
            (Some(code), _) => Shape::Code(code.language),
            (None, Some(&table)) if self.in_row() && !self.tables[table].is_layout => Shape::Row(table),
            _ if self.heading > 0 => Shape::Heading(self.heading),
            _ => Shape::Text,
        };
        let written = self.inline.finish();
        if written.letters == 0 && written.images == 0 || self.pieces.len() >= PIECES_MAX {
            return;
        }
        let container = self.containers.current();
        let is_prose = shape == Shape::Text && self.lists.is_empty();
        self.containers.count(container, written.letters, written.linked, is_prose);
        let in_list = !matches!(shape, Shape::Row(_));
        let marker = self.marker.take().filter(|_| in_list);
        let indent = self.lists.last().filter(|_| in_list).map_or(0, |list| list.indent);
        if let Shape::Row(table) = shape {
            let row = &self.inline.text[written.start..written.end];
            let table = &mut self.tables[table];
            table.columns = table.columns.max(row.split(super::pieces::CELL).count());
            let is_long = |cell: &str| cell.len() > CELL_BYTES_MAX;
            table.is_layout |= !table.has_heads && row.split(super::pieces::CELL).any(is_long);
        }
        self.pieces.push(Piece {
            shape,
            start: written.start,
            end: written.end,
            letters: written.letters,
            linked: written.linked,
            container,
            role: self.around.role(),
            quotes: self.quotes,
            indent,
            marker,
            lists: self.lists.len(),
            paragraphs: (self.paragraphs.counted, ended),
        });
        self.paragraphs.counted = ended;
    }

    fn in_row(&self) -> bool {
        self.row != Row::Outside
    }

    /// The boundary of a block: inside a cell only a break, outside the end of a piece.
    fn boundary(&mut self, tag: Tag) {
        if !self.in_row() || self.code.is_some() {
            return self.flush();
        }
        match tag {
            Tag::Tr => self.flush(),
            Tag::Caption | Tag::Thead | Tag::Tbody | Tag::Tfoot => self.flush(),
            _ if tag.is_heading() || tag.is_list() || matches!(tag, Tag::Pre | Tag::Table | Tag::Blockquote) => {
                let Some(&table) = self.open_tables.last() else { return self.flush() };
                if self.tables[table].has_heads && !matches!(tag, Tag::Pre | Tag::Table) {
                    return self.inline.cell_break();
                }
                self.tables[table].is_layout = true;
                self.flush();
            }
            _ => self.inline.cell_break(),
        }
    }

    fn open_block(&mut self, tag: &OpenTag<'_, '_>) {
        self.boundary(tag.tag);
        match tag.tag {
            Tag::Ul | Tag::Ol | Tag::Menu | Tag::Dir => self.open_list(tag),
            Tag::Li => self.open_item(),
            Tag::Blockquote => self.quotes = self.quotes.saturating_add(1),
            Tag::Pre | Tag::Listing | Tag::Xmp | Tag::Plaintext => {
                self.code = Some(Code { language: language(tag), begins: true });
            }
            Tag::Hr => self.rule(),
            Tag::Table => {
                let is_layout = tag.value("role").is_some_and(|role| matches!(&*role, "presentation" | "none"));
                self.tables.push(Table { is_layout, ..Table::default() });
                self.open_tables.push(self.tables.len() - 1);
                self.row = Row::Outside;
            }
            Tag::Tr if !self.open_tables.is_empty() => self.row = Row::BeforeCells,
            heading if heading.is_heading() => self.heading = heading.heading_level(),
            _ => {}
        }
    }

    fn close_block(&mut self, tag: Tag) {
        if matches!(tag, Tag::Pre | Tag::Table) {
            self.flush();
        } else {
            self.boundary(tag);
        }
        match tag {
            Tag::Ul | Tag::Ol | Tag::Menu | Tag::Dir => {
                self.lists.pop();
                self.marker = None;
            }
            Tag::Li => self.marker = None,
            Tag::Blockquote => self.quotes = self.quotes.saturating_sub(1),
            Tag::Pre | Tag::Listing | Tag::Xmp => self.code = None,
            Tag::Table => {
                self.open_tables.pop();
                self.row = Row::Outside;
            }
            Tag::Tr => self.row = Row::Outside,
            heading if heading.is_heading() => self.heading = 0,
            _ => {}
        }
    }

    fn open_list(&mut self, tag: &OpenTag<'_, '_>) {
        let indent = self.lists.last().map_or(0, |list| list.indent);
        let first = || tag.value("start").and_then(|start| start.trim().parse().ok()).unwrap_or(1);
        let next = if tag.tag == Tag::Ol { Some(first()) } else { None };
        let deeper = if self.lists.len() < LISTS_MAX { 2 } else { 0 };
        self.lists.push(List { next, indent: indent + deeper });
    }

    fn open_item(&mut self) {
        let outer =
            self.lists.len().checked_sub(2).and_then(|outer| self.lists.get(outer)).map_or(0, |list| list.indent);
        let is_deep = self.lists.len() > LISTS_MAX;
        let Some(list) = self.lists.last_mut() else {
            self.marker = Some(Marker::Bullet);
            return;
        };
        let marker = match &mut list.next {
            None => Marker::Bullet,
            Some(next) => {
                *next = next.saturating_add(1);
                Marker::Number(next.saturating_sub(1))
            }
        };
        if !is_deep {
            list.indent = outer + marker.width();
        }
        self.marker = Some(marker);
    }

    fn rule(&mut self) {
        if self.pieces.len() < PIECES_MAX && self.lists.is_empty() {
            let at = self.inline.text.len();
            self.pieces.push(Piece {
                shape: Shape::Rule,
                start: at,
                end: at,
                letters: 0,
                linked: 0,
                container: self.containers.current(),
                role: self.around.role(),
                quotes: self.quotes,
                indent: 0,
                marker: None,
                lists: 0,
                paragraphs: (self.paragraphs.counted, self.paragraphs.counted),
            });
        }
    }

    fn open_inline(&mut self, tag: &OpenTag<'_, '_>) {
        match tag.tag {
            Tag::Strong | Tag::B => self.inline.open(Mark::Strong),
            Tag::Em | Tag::I => self.inline.open(Mark::Emphasis),
            Tag::Code | Tag::Tt if self.code.is_none() => self.inline.open(Mark::Code),
            Tag::Code => {
                if let Some(known) = self.code.as_mut().filter(|known| known.language.is_empty()) {
                    known.language = language(tag);
                }
            }
            Tag::A => {
                self.inline.close(|mark| matches!(mark, Mark::Link(_)));
                if let Some(target) = tag.value("href") {
                    self.addresses.targets.push(target.trim().to_owned());
                    self.inline.open(Mark::Link(self.addresses.targets.len() - 1));
                }
            }
            Tag::Img => {
                let is_shown = self.code.is_none() && !self.in_title && !self.around.is_hidden();
                if let Some(image) = Image::of(tag).filter(|_| is_shown && !self.inline.in_code()) {
                    self.addresses.targets.push(image.address);
                    self.inline.image(&image.says, self.addresses.targets.len() - 1);
                }
            }
            Tag::Br if self.code.is_some() => self.inline.push_raw("\n"),
            Tag::Br if self.in_row() || self.heading > 0 => self.inline.space(),
            Tag::Br => self.inline.line_break(),
            Tag::Td | Tag::Th if self.code.is_some() => self.inline.push_raw("\n"),
            Tag::Td | Tag::Th if self.in_row() => {
                if let (Tag::Th, Some(&table)) = (tag.tag, self.open_tables.last()) {
                    self.tables[table].has_heads = true;
                }
                if self.row == Row::InCell {
                    self.inline.cell();
                }
                self.row = Row::InCell;
            }
            Tag::Base if self.addresses.base.is_none() => {
                self.addresses.base = tag.value("href").map(|base| base.trim().to_owned())
            }
            other if other.separates_words() => self.inline.space(),
            _ => {}
        }
    }
}

impl Sink for Pass {
    fn open(&mut self, tag: &OpenTag<'_, '_>) {
        if let Some(paragraphs) = &mut self.paragraphs.builder {
            paragraphs.open(tag);
        }
        if tag.foreign && tag.tag != Tag::Svg {
            return;
        }
        if tag.tag == Tag::Title {
            self.in_title = true;
        }
        if tag.tag.is_block() {
            self.open_block(tag);
        } else {
            self.open_inline(tag);
        }
        self.containers.open(tag);
        if !tag.foreign {
            self.around.open(tag);
        }
    }

    fn close(&mut self, tag: Tag) {
        if let Some(paragraphs) = &mut self.paragraphs.builder {
            paragraphs.close(tag);
        }
        if tag.is_block() {
            self.close_block(tag);
        }
        match tag {
            Tag::Strong | Tag::B => self.inline.close(|mark| *mark == Mark::Strong),
            Tag::Em | Tag::I => self.inline.close(|mark| *mark == Mark::Emphasis),
            Tag::Code | Tag::Tt => self.inline.close(|mark| *mark == Mark::Code),
            Tag::A => self.inline.close(|mark| matches!(mark, Mark::Link(_))),
            Tag::Title => self.in_title = false,
            other if other.separates_words() => self.inline.space(),
            _ => {}
        }
        self.containers.close(tag);
        self.around.close(tag);
    }

    fn text(&mut self, text: &str, coded: bool) {
        if let Some(paragraphs) = &mut self.paragraphs.builder {
            paragraphs.push(text, coded);
        }
        if self.in_title || self.around.is_hidden() {
            return;
        }
        let plain = if coded { decoded(text, Within::Text).into() } else { std::borrow::Cow::Borrowed(text) };
        if let Some(code) = &mut self.code {
            let begins = std::mem::take(&mut code.begins);
            let plain = if begins { plain.strip_prefix('\n').unwrap_or(&plain) } else { &plain };
            self.inline.push_raw(plain);
        } else {
            self.inline.push(&plain);
        }
    }

    fn raw(&mut self, tag: Tag, text: &str) {
        if !matches!(tag, Tag::Script | Tag::Style)
            && let Some(paragraphs) = &mut self.paragraphs.builder
        {
            paragraphs.push(text, false);
        }
    }

    fn comment(&mut self, _text: &str) {
        if let Some(paragraphs) = &mut self.paragraphs.builder {
            paragraphs.comment();
        }
    }
}
