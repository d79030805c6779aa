//! Columns for people. Rows stream: the widths are taken from the first rows and kept for the rest. On a terminal no line is
//! wider than it; elsewhere nothing is cut.

use super::Sink;
use super::verdict::plain;
use super::width::{cut, width};
use crate::error::Result;

/// Rows that are looked at before the widths are fixed.
const ROWS_MEASURED: usize = 200;
/// A column is never wider than this on account of its first rows; longer cells push their own row only.
const WIDTH_MAX: usize = 80;
/// A column is never made narrower than this for the terminal's sake: a date fits in. The last column, which is most often a URL,
/// keeps more.
const CUT_WIDTH_MIN: usize = 11;
const LAST_WIDTH_MIN: usize = 24;
/// Blanks between two columns.
const GAP: usize = 2;

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
    /// The columns of the terminal, if there is one.
    terminal: Option<usize>,
}

impl Table {
    /// A table whose rows are shown one by one as they come: no cell is waited for, so each column says how wide it is.
    pub fn at_once(columns: &[Column], widths: &[usize], sink: &mut Sink) -> Result<Table> {
        let mut table = Table::new(columns);
        let widths = fitted(widths, table.terminal);
        sink.line(&laid_out(columns, &widths, &table.titles, table.terminal))?;
        table.widths = Some(widths);
        Ok(table)
    }

    /// Whether no row has come.
    pub fn is_empty(&self) -> bool {
        self.widths.is_none() && self.held_back.is_empty()
    }

    pub fn new(columns: &[Column]) -> Table {
        let titles = columns.iter().map(|column| column.title.to_owned()).collect();
        Table { columns: columns.to_vec(), titles, held_back: Vec::new(), widths: None, terminal: Sink::columns() }
    }

    /// The column with another title, where the title depends on what is shown.
    pub fn with_title(mut self, place: usize, title: String) -> Table {
        self.titles[place] = title;
        self
    }

    pub fn row(&mut self, sink: &mut Sink, cells: Vec<String>) -> Result<()> {
        let cells: Vec<String> = cells.into_iter().map(|cell| one_line(&cell)).collect();
        if let Some(widths) = &self.widths {
            return sink.line(&laid_out(&self.columns, widths, &cells, self.terminal));
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
                cells.map(|cell| width(cell)).max().unwrap_or(0).min(WIDTH_MAX)
            })
            .collect();
        let widths = fitted(&widths, self.terminal);
        for row in [titles].into_iter().chain(&rows) {
            sink.line(&laid_out(&self.columns, &widths, row, self.terminal))?;
        }
        self.widths = Some(widths);
        Ok(())
    }
}

/// The widths made narrower until a line fits the terminal, the widest column first. A width of 0 is what is left for the last.
fn fitted(widths: &[usize], terminal: Option<usize>) -> Vec<usize> {
    let mut widths = widths.to_vec();
    let Some(terminal) = terminal else { return widths };
    let total = |widths: &[usize]| widths.iter().sum::<usize>() + GAP * widths.len().saturating_sub(1);
    if let Some(last) = widths.last_mut().filter(|last| **last == 0) {
        *last = LAST_WIDTH_MIN;
    }
    let count = widths.len();
    while total(&widths) > terminal {
        let least = |place: usize| if place + 1 == count { LAST_WIDTH_MIN } else { CUT_WIDTH_MIN };
        let wide = widths.iter_mut().enumerate().filter(|(place, width)| **width > least(*place));
        let Some((_, widest)) = wide.max_by_key(|(_, width)| **width) else { break };
        *widest -= 1;
    }
    let room = terminal.saturating_sub(total(&widths));
    if let Some(last) = widths.last_mut() {
        *last += room;
    }
    widths
}

fn laid_out(columns: &[Column], widths: &[usize], cells: &[String], terminal: Option<usize>) -> String {
    let mut line = String::new();
    for ((column, &wide), cell) in columns.iter().zip(widths).zip(cells) {
        if !line.is_empty() {
            line.push_str(&" ".repeat(GAP));
        }
        let cell = if terminal.is_some() { cut(cell, wide) } else { cell.clone() };
        let padding = " ".repeat(wide.saturating_sub(width(&cell)));
        match column.align {
            Align::Left => line.extend([cell, padding]),
            Align::Right => line.extend([padding, cell]),
        }
    }
    line.truncate(line.trim_end().len());
    match terminal {
        Some(terminal) => cut(&line, terminal),
        None => line,
    }
}

/// Titles and URLs come from sites: no cell may break its line or send control codes to the terminal.
fn one_line(cell: &str) -> String {
    plain(cell)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_stand_under_their_titles() {
        let columns = [Column::left("site"), Column::right("pages")];
        let cells = vec!["a.example".to_owned(), "7".to_owned()];
        assert_eq!(laid_out(&columns, &[9, 5], &cells, None), "a.example      7");
        let cells = vec!["你好".to_owned(), "7".to_owned()];
        assert_eq!(laid_out(&columns, &[9, 5], &cells, None), "你好           7");
    }

    #[test]
    fn a_line_is_cut_to_the_terminal_in_its_widest_columns_and_not_at_all_elsewhere() {
        let columns = [Column::right("n"), Column::left("url"), Column::left("what")];
        let url = "http://a.example/a/long/way/to/the/page.html";
        let cells = vec!["12".to_owned(), url.to_owned(), "Some words that changed on this page".to_owned()];
        let widths = [2, url.len(), 36];
        let whole = laid_out(&columns, &widths, &cells, None);
        assert!(whole.contains(url) && whole.ends_with("this page"));
        for terminal in [60, 80, 200] {
            let fitted = fitted(&widths, Some(terminal));
            let line = laid_out(&columns, &fitted, &cells, Some(terminal));
            assert!(width(&line) <= terminal, "{terminal}: {line}");
            assert!(line.contains("http://a.ex") && line.contains("page.html"), "{line}");
            assert_eq!(line.contains('…'), terminal < 100, "{line}");
        }
        assert_eq!(fitted(&[20, 8, 0], Some(80)), [20, 8, 48], "the last column gets what is left");
        assert_eq!(fitted(&[20, 8, 0], None), [20, 8, 0]);
        assert!(width(&laid_out(&columns, &fitted(&widths, Some(9)), &cells, Some(9))) <= 9, "a very narrow terminal");
    }

    #[test]
    fn a_strangers_title_cannot_speak_to_the_terminal() {
        assert_eq!(one_line("a\x1b[2J\nb"), "a [2J b");
    }
}
