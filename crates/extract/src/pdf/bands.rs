//! Rows become columns, tables and running text, in reading order.
//!
//! A band is a run of rows with a gutter between them: a strip without text that goes through all of them. What stands in such a band is
//! text in columns, read column by column, or a table, read row by row. Everything between two bands is running text.

use super::rows::{Row, WordGroup};

/// Columns within columns, at most so deep.
const DEPTH_MAX: usize = 5;

/// A strip narrower than this, in parts of the size, is no gutter.
const GUTTER_MIN: f32 = 0.8;

/// A band ends where so much room, in parts of the size, is between two rows.
const BAND_GAP: f32 = 6.0;

/// A longer band is cut, so that no page costs the square of its rows.
const BAND_ROWS_MAX: usize = 1_000;

/// Columns of a table beyond this are put into the last.
const COLUMNS_MAX: usize = 64;

pub enum Region {
    /// Lines one below the other.
    Text(Vec<Row>),
    /// Rows of cells; a cell without text is `None`.
    Table(Vec<Vec<Option<WordGroup>>>),
}

/// The parts of a page, or of a column of it, in reading order.
pub fn regions_of(rows: Vec<Row>) -> Vec<Region> {
    let mut regions = Vec::new();
    arrange(rows, 0, &mut regions);
    regions
}

fn arrange(rows: Vec<Row>, depth: usize, regions: &mut Vec<Region>) {
    let mut plain: Vec<Row> = Vec::new();
    let mut rest = rows.into_iter().collect::<std::collections::VecDeque<Row>>();
    while let Some(row) = rest.front() {
        let band = if row.groups.len() > 1 && depth < DEPTH_MAX { band_at(rest.make_contiguous()) } else { None };
        let Some(Band { rows, gutters, is_table }) = band else {
            plain.extend(rest.pop_front());
            continue;
        };
        let mut band: Vec<Row> = Vec::new();
        if !is_table {
            take_first_lines(&mut plain, &mut band, &gutters, rest.front());
        }
        band.extend(rest.drain(..rows));
        finish(&mut plain, regions);
        if is_table {
            regions.push(Region::Table(band.into_iter().map(|row| cells_of(row, &gutters)).collect()));
        } else {
            for column in columns_of(band, &gutters) {
                arrange(column, depth + 1, regions);
            }
        }
    }
    finish(&mut plain, regions);
}

fn finish(plain: &mut Vec<Row>, regions: &mut Vec<Region>) {
    if !plain.is_empty() {
        regions.push(Region::Text(std::mem::take(plain)));
    }
}

struct Band {
    rows: usize,
    gutters: Vec<Gutter>,
    is_table: bool,
}

#[derive(Copy, Clone, Debug)]
struct Gutter {
    start: f32,
    end: f32,
}

/// The band that begins with the first of these rows.
fn band_at(rows: &[Row]) -> Option<Band> {
    let first = rows.first()?;
    let mut free = gaps(first);
    let mut count = 1;
    for row in rows.iter().skip(1).take(BAND_ROWS_MAX) {
        let size = row.size.max(first.size.min(row.size * 2.0));
        if row.down - rows[count - 1].down > BAND_GAP * size {
            break;
        }
        let narrowed: Vec<Gutter> = free.iter().filter_map(|gutter| narrowed(*gutter, row)).collect();
        if narrowed.is_empty() {
            break;
        }
        free = narrowed;
        count += 1;
    }
    let (mut rows, mut gutters) = (&rows[..count], gutters_of(&rows[..count]));
    if gutters.is_empty() {
        return None;
    }
    let mut is_table = is_table(rows, &gutters);
    if is_table {
        // What stands alone below a table is no part of it.
        while rows.len() > 1 && rows.last().is_some_and(|row| columns_with_text(row, &gutters) < 2) {
            rows = &rows[..rows.len() - 1];
        }
        gutters = gutters_of(rows);
        is_table = !gutters.is_empty();
    }
    let both = rows.iter().filter(|row| columns_with_text(row, &gutters) > 1).count();
    let is_band = both >= 2 && (is_table || both * 8 >= rows.len());
    is_band.then_some(Band { rows: rows.len(), gutters, is_table })
}

/// The strips between the groups of a row.
fn gaps(row: &Row) -> Vec<Gutter> {
    let pairs = row.groups.windows(2);
    pairs.map(|pair| Gutter { start: pair[0].end, end: pair[1].start }).filter(|gap| gap.end > gap.start).collect()
}

/// What a row leaves of a gutter: its widest free part.
fn narrowed(gutter: Gutter, row: &Row) -> Option<Gutter> {
    let mut widest: Option<Gutter> = None;
    let mut start = gutter.start;
    let mut consider = |start: f32, end: f32| {
        if end - start >= GUTTER_MIN * row.size && widest.is_none_or(|widest| end - start > widest.end - widest.start) {
            widest = Some(Gutter { start, end });
        }
    };
    for group in row.groups.iter().filter(|group| group.end > gutter.start && group.start < gutter.end) {
        consider(start, group.start);
        start = start.max(group.end);
    }
    consider(start, gutter.end);
    widest
}

/// The gutters that go through all rows.
fn gutters_of(rows: &[Row]) -> Vec<Gutter> {
    let mut groups: Vec<(f32, f32)> =
        rows.iter().flat_map(|row| row.groups.iter().map(|group| (group.start, group.end))).collect();
    groups.sort_by(|one, other| one.0.total_cmp(&other.0));
    let size = rows.iter().map(|row| row.size).fold(f32::INFINITY, f32::min);
    let mut gutters = Vec::new();
    let mut covered = groups.first().map_or(0.0, |group| group.1);
    for (start, end) in groups {
        if start - covered >= GUTTER_MIN * size {
            gutters.push(Gutter { start: covered, end: start });
        }
        covered = covered.max(end);
    }
    gutters.truncate(COLUMNS_MAX - 1);
    gutters
}

fn column_of(group: &WordGroup, gutters: &[Gutter]) -> usize {
    let middle = (group.start + group.end) / 2.0;
    gutters.iter().filter(|gutter| (gutter.start + gutter.end) / 2.0 < middle).count()
}

fn columns_with_text(row: &Row, gutters: &[Gutter]) -> usize {
    let mut columns: Vec<usize> = row.groups.iter().map(|group| column_of(group, gutters)).collect();
    columns.dedup();
    columns.len()
}

/// Text in columns fills its lines; cells of a table are short, and stand beside each other.
fn is_table(rows: &[Row], gutters: &[Gutter]) -> bool {
    #[derive(Default, Clone)]
    struct Column {
        lines: usize,
        letters: usize,
        filled: f32,
        start: f32,
        end: f32,
    }
    let mut columns =
        vec![Column { start: f32::INFINITY, end: f32::NEG_INFINITY, ..Column::default() }; gutters.len() + 1];
    for group in rows.iter().flat_map(|row| &row.groups) {
        let column = &mut columns[column_of(group, gutters)];
        column.lines += 1;
        column.letters += group.words.iter().map(|word| word.text.chars().count() + 1).sum::<usize>();
        column.filled += group.end - group.start;
        column.start = column.start.min(group.start);
        column.end = column.end.max(group.end);
    }
    let is_text = |column: &Column| {
        let lines = column.lines.max(1);
        let filled = column.filled / lines as f32 / (column.end - column.start).max(1.0);
        column.lines >= 3 && column.letters / lines >= 18 && filled >= 0.55
    };
    if columns.iter().all(is_text) {
        return false;
    }
    let both = rows.iter().filter(|row| columns_with_text(row, gutters) > 1).count();
    let least = columns.iter().map(|column| column.lines).min().unwrap_or_default();
    let share = if gutters.len() == 1 { both as f32 / least.max(1) as f32 } else { both as f32 / rows.len() as f32 };
    share >= 0.4
}

fn cells_of(row: Row, gutters: &[Gutter]) -> Vec<Option<WordGroup>> {
    let mut cells: Vec<Option<WordGroup>> = vec![None; gutters.len() + 1];
    for group in row.groups {
        match &mut cells[column_of(&group, gutters)] {
            Some(cell) => {
                cell.end = cell.end.max(group.end);
                cell.words.extend(group.words);
            }
            cell => *cell = Some(group),
        }
    }
    cells
}

fn columns_of(rows: Vec<Row>, gutters: &[Gutter]) -> Vec<Vec<Row>> {
    let mut columns: Vec<Vec<Row>> = vec![Vec::new(); gutters.len() + 1];
    for row in rows {
        for (column, group) in cells_of(row.clone(), gutters).into_iter().enumerate() {
            if let Some(group) = group {
                columns[column].push(part_of(&row, group, gutters, column));
            }
        }
    }
    columns
}

/// The part of a row that stands in one column, with the groups that it had there.
fn part_of(row: &Row, whole: WordGroup, gutters: &[Gutter], column: usize) -> Row {
    let groups: Vec<WordGroup> =
        row.groups.iter().filter(|group| column_of(group, gutters) == column).cloned().collect();
    let size = whole.size;
    Row { groups, down: row.down, size }
}

/// Lines that were taken for running text, but begin a column: they stand on one side of a gutter and close above the band.
fn take_first_lines(plain: &mut Vec<Row>, band: &mut Vec<Row>, gutters: &[Gutter], first: Option<&Row>) {
    let Some(mut below) = first.map(|row| (row.down, row.size)) else { return };
    while let Some(row) = plain.last() {
        let crosses =
            |gutter: &Gutter| row.groups.iter().any(|group| group.start < gutter.end && group.end > gutter.start);
        let is_near = below.0 - row.down < 1.8 * below.1 && (row.size - below.1).abs() < 0.15 * below.1;
        if !is_near || gutters.iter().any(crosses) {
            break;
        }
        below = (row.down, row.size);
        band.insert(0, plain.pop().expect("the last row was just seen"));
    }
}

#[cfg(test)]
mod tests {
    use super::super::letters::Mark;
    use super::super::words::Word;
    use super::*;
    use crate::pdf::rows::rows_of;

    fn word(text: &str, start: f32, down: f32) -> Word {
        let end = start + 5.0 * text.chars().count() as f32;
        Word { text: text.into(), start, end, down, size: 10.0, mark: Mark::None, link: None, spaced: true }
    }

    fn line(text: &str, mut start: f32, down: f32) -> Vec<Word> {
        let mut words = Vec::new();
        for part in text.split(' ') {
            words.push(word(part, start, down));
            start += 5.0 * part.chars().count() as f32 + 3.0;
        }
        words
    }

    fn shown(words: Vec<Word>) -> Vec<String> {
        let show = |region: Region| match region {
            Region::Text(rows) => rows.iter().map(Row::text).collect::<Vec<_>>().join(" / "),
            Region::Table(rows) => {
                let cell = |cell: &Option<WordGroup>| cell.as_ref().map_or(String::new(), WordGroup::text);
                rows.iter()
                    .map(|row| row.iter().map(cell).collect::<Vec<_>>().join("|"))
                    .collect::<Vec<_>>()
                    .join(" / ")
            }
        };
        regions_of(rows_of(words)).into_iter().map(show).collect()
    }

    #[test]
    fn text_in_columns_is_read_column_by_column_below_its_title() {
        let mut words = line("A title that goes over both of the columns of this page of ours", 50.0, 40.0);
        for (place, down) in [60.0, 72.0, 84.0, 96.0].into_iter().enumerate() {
            words.extend(line(&format!("left {place} has a line that is long enough"), 50.0, down));
            words.extend(line(&format!("right {place} has such a line all the same"), 320.0, down + 3.5));
        }
        let shown = shown(words);
        assert_eq!(shown.len(), 3, "{shown:?}");
        assert!(
            shown[1].starts_with("left 0") && shown[1].contains("left 3") && !shown[1].contains("right"),
            "{shown:?}"
        );
        assert!(shown[2].starts_with("right 0") && shown[2].contains("right 3"), "{shown:?}");
    }

    #[test]
    fn a_table_is_read_row_by_row() {
        let mut words = line("Prices of the year", 50.0, 40.0);
        for (down, cells) in
            [(60.0, ["Name", "Price", "Count"]), (72.0, ["Pear", "1.20", "7"]), (84.0, ["Plum", "2.00", "12"])]
        {
            for (place, cell) in cells.into_iter().enumerate() {
                words.extend(line(cell, 50.0 + 120.0 * place as f32, down));
            }
        }
        words.extend(line("A sentence that follows the table and goes over all of it again", 50.0, 110.0));
        assert_eq!(
            shown(words),
            [
                "Prices of the year",
                "Name|Price|Count / Pear|1.20|7 / Plum|2.00|12",
                "A sentence that follows the table and goes over all of it again"
            ]
        );
    }
}
