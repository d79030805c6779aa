//! Reads ODT, ODS and ODP: text, sheets and slides of OpenDocument.

use super::parts::Parts;
use super::properties::facts_of;
use super::xml::{Element, Step, walk};
use crate::draft::{Block, Draft, Line};
use crate::fault::Fault;

/// A cell that says it stands there more often is shown so often: programs fill rows to their end so.
const REPEATS_MAX: usize = 64;

/// Cells of one row; what follows is left out.
const CELLS_MAX: usize = 16_384;

/// Paragraphs within paragraphs (notes, frames), at most so deep.
const NESTED_MAX: usize = 32;

pub fn read_opendocument(bytes: &[u8]) -> Result<Draft, Fault> {
    let mut parts = Parts::open(bytes)?;
    let mut draft = Draft::new(facts_of(&mut parts, "meta.xml")?);
    let styles = parts.text("styles.xml")?.unwrap_or_default();
    let (heads, feet) = frames_of(&styles)?;
    heads.iter().for_each(|line| draft.head(line));
    let xml = parts.text("content.xml")?.ok_or_else(|| Fault::broken("the package has no content"))?;
    let mut content = Content::of(&mut draft);
    walk(&xml, |step| match step {
        Step::Open(element) => content.open(&element),
        Step::Close(name) => content.close(name),
        Step::Text(text) => content.push(text),
    })?;
    draft.end_table();
    feet.iter().for_each(|line| draft.foot(line));
    Ok(draft)
}

/// The running heads and feet of the page styles.
fn frames_of(styles: &str) -> Result<(Vec<String>, Vec<String>), Fault> {
    let (mut heads, mut feet, mut inside) = (Vec::new(), Vec::new(), None);
    let mut line = String::new();
    walk(styles, |step| match step {
        Step::Open(element) => match element.name {
            "header" | "header-left" | "header-first" => inside = Some(true),
            "footer" | "footer-left" | "footer-first" => inside = Some(false),
            "tab" | "s" | "line-break" => line.push(' '),
            _ => {}
        },
        Step::Close(name) => match (name, inside) {
            ("header" | "header-left" | "header-first" | "footer" | "footer-left" | "footer-first", _) => inside = None,
            ("p" | "h", Some(is_head)) => {
                let line = std::mem::take(&mut line);
                let lines = if is_head { &mut heads } else { &mut feet };
                if !line.trim().is_empty() && lines.len() < 100 {
                    lines.push(line);
                }
            }
            _ => {}
        },
        Step::Text(text) => {
            if inside.is_some() {
                line.push_str(text);
            }
        }
    })?;
    Ok((heads, feet))
}

struct Content<'a> {
    draft: &'a mut Draft,
    /// Open paragraphs; notes and frames stand inside others.
    lines: Vec<(Block, Line)>,
    links: Vec<Option<String>>,
    lists: usize,
    tables: usize,
    cells: Vec<Line>,
    cell: Option<(Line, usize)>,
    /// Elements whose content is not shown, by depth.
    hidden: usize,
    slides: usize,
}

impl<'a> Content<'a> {
    fn of(draft: &'a mut Draft) -> Self {
        Content {
            draft,
            lines: Vec::new(),
            links: Vec::new(),
            lists: 0,
            tables: 0,
            cells: Vec::new(),
            cell: None,
            hidden: 0,
            slides: 0,
        }
    }

    fn open(&mut self, element: &Element<'_>) {
        if is_hidden(element.name) {
            self.hidden += 1;
        }
        if self.hidden > 0 {
            return;
        }
        match element.name {
            "p" | "h" if self.lines.len() < NESTED_MAX => {
                let level = || element.value("outline-level").and_then(|level| level.parse().ok()).unwrap_or(1u8);
                let block = match element.name {
                    "h" => Block::Heading(level()),
                    _ if self.lists > 0 => Block::Item,
                    _ => Block::Paragraph,
                };
                self.lines.push((block, Line::default()));
            }
            "a" => self.links.push(element.value("href").filter(|target| !target.starts_with('#'))),
            "s" => {
                let count = element.value("c").and_then(|count| count.parse::<usize>().ok()).unwrap_or(1);
                self.push(&" ".repeat(count.min(8)));
            }
            "tab" | "line-break" => self.push(" "),
            "list" => self.lists += 1,
            "table" => {
                self.tables += 1;
                if let (Some(name), 1, true) = (element.exact("table:name"), self.tables, self.lines.is_empty()) {
                    self.draft.end_table();
                    self.draft.place(&format!("table {name}"));
                }
            }
            "table-cell" | "covered-table-cell" if self.tables == 1 => {
                let repeats = element.value("number-columns-repeated").and_then(|count| count.parse::<usize>().ok());
                self.cell = Some((Line::default(), repeats.unwrap_or(1)));
            }
            "page" => {
                self.slides += 1;
                self.draft.place(&format!("slide {}", self.slides));
            }
            "desc" | "title" if !self.lines.is_empty() => self.push(" "),
            _ => {}
        }
    }

    fn close(&mut self, name: &str) {
        if is_hidden(name) {
            self.hidden = self.hidden.saturating_sub(1);
            return;
        }
        if self.hidden > 0 {
            return;
        }
        match name {
            "p" | "h" => self.end_paragraph(),
            "a" => drop(self.links.pop()),
            "list" => self.lists = self.lists.saturating_sub(1),
            "table-cell" | "covered-table-cell" if self.tables == 1 => self.end_cell(),
            "table-row" if self.tables == 1 => {
                let mut cells = std::mem::take(&mut self.cells);
                while cells.last().is_some_and(Line::is_blank) {
                    cells.pop();
                }
                self.draft.row(&cells);
            }
            "table" => {
                self.tables = self.tables.saturating_sub(1);
                if self.tables == 0 {
                    self.draft.end_table();
                }
            }
            _ => {}
        }
    }

    fn push(&mut self, text: &str) {
        if self.hidden > 0 {
            return;
        }
        let link = self.links.iter().rev().flatten().next();
        if let Some((_, line)) = self.lines.last_mut() {
            line.push(text, link.map(String::as_str));
        }
    }

    fn end_paragraph(&mut self) {
        let Some((block, line)) = self.lines.pop() else { return };
        match &mut self.cell {
            Some((cell, _)) => {
                if !cell.is_blank() && !line.is_blank() {
                    cell.push(" ", None);
                }
                cell.append(line);
            }
            None => self.draft.block(block, &line),
        }
    }

    fn end_cell(&mut self) {
        let Some((cell, repeats)) = self.cell.take() else { return };
        let repeats = repeats.min(REPEATS_MAX).min(CELLS_MAX.saturating_sub(self.cells.len()));
        self.cells.extend(std::iter::repeat_n(cell, repeats));
    }
}

/// What was deleted, what people remarked, and what forms are made of.
fn is_hidden(name: &str) -> bool {
    matches!(name, "tracked-changes" | "annotation" | "forms" | "ruby-text" | "automatic-styles" | "font-face-decls")
}
