//! The open paragraph of an RTF file, and the row in which it may stand.

use crate::draft::{Block, Draft, Line};

/// Cells of one row; further ones are left out.
const CELLS_MAX: usize = 1_000;

#[derive(Default)]
pub struct OpenBlock {
    pub line: Line,
    pub level: Option<u8>,
    pub is_item: bool,
    pub in_table: bool,
    cell: Line,
    cells: Vec<Line>,
}

impl OpenBlock {
    pub fn end_paragraph(&mut self, draft: &mut Draft) {
        if self.in_table {
            return self.end_paragraph_in_cell();
        }
        self.end_row(draft);
        let line = std::mem::take(&mut self.line);
        let block = match self.level {
            Some(level) => Block::Heading(level),
            None if self.is_item => Block::Item,
            None => Block::Paragraph,
        };
        draft.block(block, &line);
        self.is_item = false;
    }

    pub fn end_cell(&mut self) {
        self.end_paragraph_in_cell();
        let cell = std::mem::take(&mut self.cell);
        if self.cells.len() < CELLS_MAX {
            self.cells.push(cell);
        }
    }

    pub fn end_row(&mut self, draft: &mut Draft) {
        let cell = std::mem::take(&mut self.cell);
        if !cell.is_blank() {
            self.cells.push(cell);
        }
        let cells = std::mem::take(&mut self.cells);
        draft.row(&cells);
    }

    fn end_paragraph_in_cell(&mut self) {
        let line = std::mem::take(&mut self.line);
        if line.is_blank() {
            return;
        }
        if !self.cell.is_blank() {
            self.cell.push(" ", None);
        }
        self.cell.append(line);
    }
}
