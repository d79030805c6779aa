//! Reads XLSX: sheet by sheet and row by row, as far as cells have a value.

use std::collections::HashMap;
use std::io::Cursor;
use std::panic::{AssertUnwindSafe, catch_unwind};

use calamine::{DataRef, ExcelDateTime, Reader, Xlsx};

use super::parts::Parts;
use super::properties::facts_of;
use crate::draft::{Block, Draft, Line};
use crate::fault::Fault;

/// Further sheets are left out.
const SHEETS_MAX: usize = 1_000;

/// Further links of a sheet are left out.
const LINKS_MAX: usize = 50_000;

pub fn read_xlsx(bytes: &[u8]) -> Result<Draft, Fault> {
    let mut parts = Parts::open(bytes)?;
    parts.check_announced_sizes()?;
    let mut draft = Draft::new(facts_of(&mut parts, "docProps/core.xml")?);
    let mut book: Xlsx<_> = guarded(|| Xlsx::new(Cursor::new(bytes))).ok_or(Fault::Crashed)?.map_err(Fault::broken)?;
    let names = book.sheet_names();
    draft.facts.pages = Some(names.len());
    for name in names.iter().take(SHEETS_MAX) {
        draft.end_table();
        draft.place(&format!("sheet {name}"));
        draft.block(Block::Heading(2), &Line::of(name.as_str()));
        let links = links_of(&mut book, name);
        // A chart has no cells.
        if let Some(Ok(mut cells)) = guarded(|| book.worksheet_cells_reader(name)) {
            let mut row = Row::default();
            while let Some(Ok(Some(cell))) = guarded(|| cells.next_cell()) {
                let (down, across) = cell.get_position();
                if row.number != Some(down) {
                    row.write(&mut draft);
                    row.number = Some(down);
                }
                row.add(across, text_of(cell.get_value()), links.get(&(down, across)).cloned());
                if draft.is_full() {
                    return Ok(draft);
                }
            }
            row.write(&mut draft);
        }
    }
    Ok(draft)
}

/// What the library answers; `None` if it fell over: it counts rows and columns without a limit, so that "A99999999999" is too much for it.
fn guarded<T>(read: impl FnOnce() -> T) -> Option<T> {
    catch_unwind(AssertUnwindSafe(read)).ok()
}

/// The cells of one row that have a value.
#[derive(Default)]
struct Row {
    number: Option<u32>,
    cells: Vec<Line>,
    next: u32,
}

/// So many empty cells between two others are shown as such. More are one.
const EMPTY_CELLS_MAX: u32 = 16;

impl Row {
    fn add(&mut self, across: u32, text: String, link: Option<String>) {
        if text.is_empty() {
            return;
        }
        let missing = across.saturating_sub(self.next);
        let missing = if missing > EMPTY_CELLS_MAX { 1 } else { missing };
        self.cells.extend((0..missing).map(|_| Line::default()));
        let mut line = Line::default();
        line.push(&text, link.as_deref());
        self.cells.push(line);
        self.next = across.saturating_add(1);
    }

    fn write(&mut self, draft: &mut Draft) {
        draft.row(&self.cells);
        *self = Row::default();
    }
}

fn links_of(book: &mut Xlsx<Cursor<&[u8]>>, sheet: &str) -> HashMap<(u32, u32), String> {
    let all = guarded(|| book.hyperlinks_by_sheet_name(sheet)).and_then(Result::ok).unwrap_or_default();
    let of_cell = |link: calamine::Hyperlink| Some((link.range.start, link.target?));
    all.into_iter().take(LINKS_MAX).filter_map(of_cell).collect()
}

fn text_of(value: &DataRef<'_>) -> String {
    match value {
        DataRef::Int(number) => number.to_string(),
        DataRef::Float(number) => number.to_string(),
        DataRef::String(text) | DataRef::DateTimeIso(text) | DataRef::DurationIso(text) => text.clone(),
        DataRef::SharedString(text) => (*text).to_owned(),
        DataRef::Bool(true) => "True".into(),
        DataRef::Bool(false) => "False".into(),
        DataRef::DateTime(moment) => date_of(moment),
        DataRef::Error(error) => error.to_string(),
        DataRef::Empty => String::new(),
    }
}

fn date_of(moment: &ExcelDateTime) -> String {
    if moment.is_duration() {
        return moment.as_f64().to_string();
    }
    let (year, month, day, hour, minute, second, _) = moment.to_ymd_hms_milli();
    if moment.as_f64() < 1.0 {
        return format!("{hour:02}:{minute:02}:{second:02}");
    }
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}")
}
