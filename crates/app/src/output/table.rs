//! Columns for people. Rows stream: the widths are taken from the first rows and kept for the rest.

use super::Sink;
use crate::error::Result;

/// Rows that are looked at before the widths are fixed.
const ROWS_MEASURED: usize = 200;
/// A column is never wider than this on account of its first rows; longer cells push their own row only.
const WIDTH_MAX: usize = 80;

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Align {
    Left,
    Right,
}

#[derive(Copy, Clone, Debug)]
pub struct Column {
    pub title: &'static str,
    pub align: Align,
}

impl Column {
    pub const fn left(title: &'static str) -> Column {
        Column { title, align: Align::Left }
    }

    pub const fn right(title: &'static str) -> Column {
        Column { title, align: Align::Right }
    }
}

pub struct Table {
    columns: Vec<Column>,
    titles: Vec<String>,
    held_back: Vec<Vec<String>>,
    widths: Option<Vec<usize>>,
}

impl Table {
    /// A table whose rows are shown one by one as they come: no cell is waited for, so each column says how wide it is.
    pub fn at_once(columns: &[Column], widths: &[usize], sink: &mut Sink) -> Result<Table> {
        let mut table = Table::new(columns);
        sink.line(&laid_out(columns, widths, &table.titles))?;
        table.widths = Some(widths.to_vec());
        Ok(table)
    }

    /// Whether no row has come.
    pub fn is_empty(&self) -> bool {
        self.widths.is_none() && self.held_back.is_empty()
    }

    pub fn new(columns: &[Column]) -> Table {
        let titles = columns.iter().map(|column| column.title.to_owned()).collect();
        Table { columns: columns.to_vec(), titles, held_back: Vec::new(), widths: None }
    }

    /// The column with another title, where the title depends on what is shown.
    pub fn with_title(mut self, place: usize, title: String) -> Table {
        self.titles[place] = title;
        self
    }

    pub fn row(&mut self, sink: &mut Sink, cells: Vec<String>) -> Result<()> {
        let cells = cells.into_iter().map(|cell| one_line(&cell)).collect();
        if let Some(widths) = &self.widths {
            return sink.line(&laid_out(&self.columns, widths, &cells));
        }
        self.held_back.push(cells);
        if self.held_back.len() >= ROWS_MEASURED { self.fix_widths(sink) } else { Ok(()) }
    }

    /// Shows what is still held back. An empty table shows nothing, not even its titles.
    pub fn end(&mut self, sink: &mut Sink) -> Result<()> {
        if self.widths.is_none() && !self.held_back.is_empty() {
            self.fix_widths(sink)?;
        }
        sink.flush()
    }

    fn fix_widths(&mut self, sink: &mut Sink) -> Result<()> {
        let (titles, rows) = (&self.titles, std::mem::take(&mut self.held_back));
        let widths: Vec<usize> = (0..self.columns.len())
            .map(|place| {
                let cells = rows.iter().chain([titles]).filter_map(|row| row.get(place));
                cells.map(|cell| cell.chars().count()).max().unwrap_or(0).min(WIDTH_MAX)
            })
            .collect();
        for row in [titles].into_iter().chain(&rows) {
            sink.line(&laid_out(&self.columns, &widths, row))?;
        }
        self.widths = Some(widths);
        Ok(())
    }
}

fn laid_out(columns: &[Column], widths: &[usize], cells: &Vec<String>) -> String {
    let mut line = String::new();
    for ((column, &width), cell) in columns.iter().zip(widths).zip(cells) {
        if !line.is_empty() {
            line.push_str("  ");
        }
        match column.align {
            Align::Left => line.push_str(&format!("{cell:<width$}")),
            Align::Right => line.push_str(&format!("{cell:>width$}")),
        }
    }
    line.truncate(line.trim_end().len());
    line
}

/// Titles and URLs come from sites: no cell may break its line or send control codes to the terminal.
fn one_line(cell: &str) -> String {
    cell.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_stand_under_their_titles() {
        let columns = [Column::left("site"), Column::right("pages")];
        let cells = vec!["a.example".to_owned(), "7".to_owned()];
        assert_eq!(laid_out(&columns, &[9, 5], &cells), "a.example      7");
    }

    #[test]
    fn a_strangers_title_cannot_speak_to_the_terminal() {
        assert_eq!(one_line("a\x1b[2J\nb"), "a [2J b");
    }
}
