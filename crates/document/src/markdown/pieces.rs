//! The parts of a page that the writer puts one after the other.

use vernal_model::Role;

/// A run of text between two boundaries of blocks, with its words as Markdown.
#[derive(Clone, Debug)]
pub struct Piece {
    pub shape: Shape,
    /// Its range in the text of the pass.
    pub start: usize,
    pub end: usize,
    /// Bytes of words, and how many of them are words of links.
    pub letters: usize,
    pub linked: usize,
    pub container: usize,
    pub role: Role,
    /// Quotes around it.
    pub quotes: u8,
    /// Spaces in front of each line, because it lies in a list.
    pub indent: usize,
    /// The mark of the list item that begins here.
    pub marker: Option<Marker>,
    /// The lists around it.
    pub lists: usize,
    /// The first of the paragraphs that it contains, and the one behind the last.
    pub paragraphs: (usize, usize),
}

#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    Text,
    /// 1 to 6.
    Heading(u8),
    /// Text as it is, with the name of its language if there is one.
    Code(String),
    /// A row of the table with this number; its cells are separated by [`CELL`].
    Row(usize),
    Rule,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Marker {
    Bullet,
    Number(u32),
}

impl Marker {
    /// The bytes of the mark with its space.
    pub fn width(self) -> usize {
        match self {
            Marker::Bullet => 2,
            Marker::Number(number) => number.checked_ilog10().unwrap_or(0) as usize + 3,
        }
    }
}

#[derive(Clone, Debug, Default)]
pub struct Table {
    /// It puts parts of the page beside each other and is no table of facts.
    pub is_layout: bool,
    /// It has cells that are heads of rows or columns.
    pub has_heads: bool,
    pub columns: usize,
}

/// Between two cells of a row. Control characters of a page never come so far, so that these are ours.
pub const CELL: char = '\u{1f}';
/// Where a block begins or ends inside a cell.
pub const BREAK: char = '\u{1e}';
/// Around the number of a link target.
pub const TARGET: char = '\u{1d}';
