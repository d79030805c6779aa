//! Columns for people. Rows stream: the widths are taken from the first rows and kept for the rest. On a terminal no line is
//! wider than it, and columns that have no room there are left out; elsewhere nothing is cut.

use super::width::{cut, cut_at_end, width};
use super::{Sink, plain};
use crate::error::Result;

/// Rows that are looked at before the widths are fixed.
const ROWS_MEASURED: usize = 200;
/// A column is never wider than this on account of its first rows; longer cells push their own row only.
const WIDTH_MAX: usize = 80;
/// A column is not made narrower than this for the terminal's sake: a date fits in. Addresses and the last column keep more.
const CUT_WIDTH_MIN: usize = 11;
const LAST_WIDTH_MIN: usize = 24;
const ADDRESS_WIDTH_MIN: usize = 30;
/// On a terminal that has no room for that, columns have this width at least.
const NARROW_WIDTH_MIN: usize = 4;
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
    /// What the column keeps on a terminal.
    least: usize,
    /// A narrow terminal goes without it.
    optional: bool,
}

impl Column {
    pub const fn left(title: &'static str) -> Column {
        Column { title, align: Align::Left, least: CUT_WIDTH_MIN, optional: false }
    }

    pub const fn right(title: &'static str) -> Column {
        Column { align: Align::Right, ..Column::left(title) }
    }

    /// A column of URLs, which say nothing when little is left of them.
    pub const fn address(title: &'static str) -> Column {
        Column { least: ADDRESS_WIDTH_MIN, ..Column::left(title) }
    }

    /// The column is left out where a terminal is too narrow for all.
    pub const fn optional(self) -> Column {
        Column { optional: true, ..self }
    }
}

pub struct Table {
    columns: Vec<Column>,
    titles: Vec<String>,
    held_back: Vec<Vec<String>>,
    widths: Option<Vec<Width>>,
    /// The columns of the terminal, if there is one.
    terminal: Option<usize>,
}

impl Table {
    /// A table whose rows are shown one by one as they come: no cell is waited for, so each column says how wide it is.
    pub fn at_once(columns: &[Column], widths: &[usize], sink: &mut Sink) -> Result<Table> {
        let mut table = Table::new(columns);
        let widths = fitted(columns, widths, table.terminal);
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
        let widths = fitted(&self.columns, &widths, self.terminal);
        for row in [titles].into_iter().chain(&rows) {
            sink.line(&laid_out(&self.columns, &widths, row, self.terminal))?;
        }
        self.widths = Some(widths);
        Ok(())
    }
}

/// The width of a column; `None` where the terminal has no room for it.
type Width = Option<usize>;

/// The widths made narrower until a line fits the terminal, the widest column first. If that is not enough, optional columns are
/// left out, the first of them first, and at last all columns become narrower than they should be. A width of 0 is what is left for
/// the last.
fn fitted(columns: &[Column], widths: &[usize], terminal: Option<usize>) -> Vec<Width> {
    let mut wanted: Vec<Width> = widths.iter().copied().map(Some).collect();
    let Some(terminal) = terminal else { return wanted };
    let last = widths.len().saturating_sub(1);
    if let Some(open) = wanted.last_mut().filter(|width| **width == Some(0)) {
        *open = Some(LAST_WIDTH_MIN);
    }
    let least = |place: usize| match place == last {
        true => columns[place].least.max(LAST_WIDTH_MIN),
        false => columns[place].least,
    };
    let mut optional = (0..columns.len()).filter(|&place| columns[place].optional);
    let mut widths = narrowed(&wanted, least, terminal);
    while total(&widths) > terminal
        && let Some(place) = optional.next()
    {
        wanted[place] = None;
        widths = narrowed(&wanted, least, terminal);
    }
    widths = narrowed(&widths, |_| NARROW_WIDTH_MIN, terminal);
    let room = terminal.saturating_sub(total(&widths));
    if let Some(Some(last)) = widths.last_mut() {
        *last += room;
    }
    widths
}

fn narrowed(widths: &[Width], least: impl Fn(usize) -> usize, terminal: usize) -> Vec<Width> {
    let mut widths = widths.to_vec();
    while total(&widths) > terminal {
        let shown = widths.iter_mut().enumerate().filter_map(|(place, width)| Some((place, width.as_mut()?)));
        let wide = shown.filter(|(place, width)| **width > least(*place));
        let Some((_, widest)) = wide.max_by_key(|(_, width)| **width) else { break };
        *widest -= 1;
    }
    widths
}

/// The width of a line.
fn total(widths: &[Width]) -> usize {
    let shown = || widths.iter().flatten();
    shown().sum::<usize>() + GAP * shown().count().saturating_sub(1)
}

fn laid_out(columns: &[Column], widths: &[Width], cells: &[String], terminal: Option<usize>) -> String {
    let mut line = String::new();
    for ((column, wide), cell) in columns.iter().zip(widths).zip(cells) {
        let Some(wide) = *wide else { continue };
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
        Some(terminal) => cut_at_end(&line, terminal),
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
        assert_eq!(laid_out(&columns, &[Some(9), Some(5)], &cells, None), "a.example      7");
        let cells = vec!["你好".to_owned(), "7".to_owned()];
        assert_eq!(laid_out(&columns, &[Some(9), Some(5)], &cells, None), "你好           7");
    }

    #[test]
    fn a_line_is_cut_to_the_terminal_in_its_widest_columns_and_not_at_all_elsewhere() {
        let columns = [Column::right("n"), Column::address("url"), Column::left("what")];
        let url = "http://a.example/a/long/way/to/the/page.html";
        let cells = vec!["12".to_owned(), url.to_owned(), "Some words that changed on this page".to_owned()];
        let widths = [2, url.len(), 36];
        let whole = laid_out(&columns, &fitted(&columns, &widths, None), &cells, None);
        assert!(whole.contains(url) && whole.ends_with("this page"));
        for terminal in [60, 80, 200] {
            let fitted = fitted(&columns, &widths, Some(terminal));
            let line = laid_out(&columns, &fitted, &cells, Some(terminal));
            assert!(width(&line) <= terminal, "{terminal}: {line}");
            assert!(line.contains("http://a.ex") && line.contains("page.html"), "{line}");
            assert_eq!(line.contains('…'), terminal < 100, "{line}");
        }
        let widths = |terminal| fitted(&columns, &[20, 8, 0], terminal);
        assert_eq!(widths(Some(80)), [20, 8, 48].map(Some), "the last column gets what is left");
        assert_eq!(widths(None), [20, 8, 0].map(Some));
    }

    #[test]
    fn a_narrow_terminal_goes_without_optional_columns_and_keeps_addresses_readable() {
        let columns = [
            Column::left("seen"),
            Column::left("kinds").optional(),
            Column::right("version").optional(),
            Column::address("url"),
            Column::left("what"),
        ];
        let texts =
            ["2026-11-20 01:50:30", "structure content", "12", "http://a.example/a/way/to/page-7.html", "a → b"];
        let cells = texts.map(str::to_owned);
        let line = |terminal: usize| {
            let fitted = fitted(&columns, &[19, 17, 7, 37, 40], Some(terminal));
            let line = laid_out(&columns, &fitted, &cells, Some(terminal));
            assert!(width(&line) <= terminal, "{terminal}: {line}");
            line
        };
        assert_eq!(line(80), "2026-11-20 0…       12  http://a.exampl…to/page-7.html  a → b");
        assert!(line(110).contains("structure") && !line(80).contains("structure"), "{}", line(110));
        assert!(line(60).starts_with("2026-11-") && line(60).contains("page-7.html"), "{}", line(60));
        for terminal in 0..60 {
            line(terminal);
        }
    }

    #[test]
    fn a_strangers_title_cannot_speak_to_the_terminal() {
        assert_eq!(one_line("a\x1b[2J\nb"), "a [2J b");
    }
}
