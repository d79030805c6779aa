//! Reads DOCX.

use super::docx_styles::Styles;
use super::fields::{Fields, link_of_instruction};
use super::parts::Parts;
use super::properties::facts_of;
use super::relations::Relations;
use super::xml::{Element, Step, walk};
use crate::draft::{Block, Draft, Line};
use crate::fault::Fault;

/// Tables within tables are flattened below this depth.
const TABLES_DEPTH_MAX: usize = 16;

/// Headers and footers that are read.
const FRAMES_MAX: usize = 64;

pub fn read_docx(bytes: &[u8]) -> Result<Draft, Fault> {
    let mut parts = Parts::open(bytes)?;
    let main = main_part(&mut parts)?;
    let mut draft = Draft::new(facts_of(&mut parts, "docProps/core.xml")?);
    let relations = Relations::of(&mut parts, &main)?;
    let of_kind = |kind: &str| relations.parts_of_kind(kind).map(str::to_owned).collect::<Vec<_>>();
    let styles = match of_kind("styles").first() {
        Some(part) => Styles::read(&parts.text(part)?.unwrap_or_default())?,
        None => Styles::default(),
    };
    for part in of_kind("header").iter().take(FRAMES_MAX) {
        frame_text(&mut parts, part)?.iter().for_each(|line| draft.head(line));
    }
    let xml = parts.text(&main)?.ok_or_else(|| Fault::broken("the package has no text part"))?;
    Body::read(&xml, &styles, &relations, &mut draft)?;
    for part in of_kind("footnotes").iter().chain(&of_kind("endnotes")) {
        let of_notes = Relations::of(&mut parts, part)?;
        let xml = parts.text(part)?.unwrap_or_default();
        Body::read(&xml, &styles, &of_notes, &mut draft)?;
    }
    for part in of_kind("footer").iter().take(FRAMES_MAX) {
        frame_text(&mut parts, part)?.iter().for_each(|line| draft.foot(line));
    }
    Ok(draft)
}

/// The part with the text, which need not have its usual name.
fn main_part(parts: &mut Parts<'_>) -> Result<String, Fault> {
    let package = Relations::of(parts, "")?;
    let named = package.parts_of_kind("officeDocument").next().map(str::to_owned);
    let known = named
        .filter(|part| parts.has(part))
        .or_else(|| parts.has("word/document.xml").then(|| "word/document.xml".into()));
    known.ok_or_else(|| Fault::broken("the package has no text part"))
}

/// The paragraphs of a header or footer.
fn frame_text(parts: &mut Parts<'_>, part: &str) -> Result<Vec<String>, Fault> {
    let mut lines = vec![String::new()];
    walk(&parts.text(part)?.unwrap_or_default(), |step| {
        let last = lines.len() - 1;
        match step {
            Step::Close("p") if lines.len() < 100 => lines.push(String::new()),
            Step::Open(element) if matches!(element.name, "tab" | "br") => lines[last].push(' '),
            Step::Text(text) if !text.trim_matches(['\n', '\r']).is_empty() => lines[last].push_str(text),
            _ => {}
        }
    })?;
    lines.retain(|line| !line.trim().is_empty());
    Ok(lines)
}

/// The text part while it is read.
struct Body<'a> {
    draft: &'a mut Draft,
    styles: &'a Styles,
    relations: &'a Relations,
    /// Open paragraphs: a text box stands inside one.
    paragraphs: Vec<Paragraph>,
    tables: Vec<Table>,
    fields: Fields,
    /// Links that are open as elements.
    links: Vec<Option<String>>,
    /// Elements whose content is not shown, by depth.
    hidden: usize,
    in_text: bool,
    in_instruction: bool,
}

#[derive(Default)]
struct Paragraph {
    line: Line,
    level: Option<u8>,
    is_item: bool,
}

#[derive(Default)]
struct Table {
    cells: Vec<Line>,
    cell: Line,
}

impl<'a> Body<'a> {
    fn read(xml: &str, styles: &'a Styles, relations: &'a Relations, draft: &'a mut Draft) -> Result<(), Fault> {
        let mut body = Body {
            draft,
            styles,
            relations,
            paragraphs: Vec::new(),
            tables: Vec::new(),
            fields: Fields::default(),
            links: Vec::new(),
            hidden: 0,
            in_text: false,
            in_instruction: false,
        };
        walk(xml, |step| match step {
            Step::Open(element) => body.open(&element),
            Step::Close(name) => body.close(name),
            Step::Text(text) => body.text(text),
        })?;
        body.draft.end_table();
        Ok(())
    }

    fn open(&mut self, element: &Element<'_>) {
        if is_hidden(element.name) {
            self.hidden += 1;
        }
        match element.name {
            "p" => self.paragraphs.push(Paragraph::default()),
            "pStyle" => {
                let (Some(paragraph), Some(id)) = (self.paragraphs.last_mut(), element.value("val")) else { return };
                paragraph.level = self.styles.level(&id);
                paragraph.is_item |= self.styles.is_list(&id);
            }
            "outlineLvl" => {
                let level = element.value("val").and_then(|level| level.parse::<u8>().ok()).filter(|level| *level < 9);
                if let (Some(paragraph), Some(level)) = (self.paragraphs.last_mut(), level) {
                    paragraph.level = Some(level + 1);
                }
            }
            "numId" => {
                if let Some(paragraph) = self.paragraphs.last_mut() {
                    paragraph.is_item = element.value("val").is_some_and(|id| id != "0");
                }
            }
            "t" => self.in_text = true,
            "instrText" => self.in_instruction = true,
            "tab" | "br" | "cr" | "ptab" => self.push(" "),
            "noBreakHyphen" => self.push("-"),
            "sym" => self.push(&symbol(element)),
            "hyperlink" => {
                let target = element.exact("r:id").or_else(|| element.value("id"));
                self.links.push(target.and_then(|id| self.relations.address(&id).map(str::to_owned)));
            }
            "fldSimple" => self.links.push(element.value("instr").as_deref().and_then(link_of_instruction)),
            "fldChar" => match element.value("fldCharType").as_deref() {
                Some("begin") => self.fields.begin(),
                Some("separate") => self.fields.separate(),
                Some("end") => self.fields.end(),
                _ => {}
            },
            "docPr" => {
                let alternative = element.value("descr").filter(|text| !text.trim().is_empty());
                if let Some(text) = alternative {
                    self.push(&format!(" {text} "));
                }
            }
            "tbl" if self.tables.len() < TABLES_DEPTH_MAX => self.tables.push(Table::default()),
            "lang" if self.draft.facts.language.is_empty() => {
                self.draft.facts.language = element.value("val").unwrap_or_default();
            }
            _ => {}
        }
    }

    fn close(&mut self, name: &str) {
        if is_hidden(name) {
            self.hidden = self.hidden.saturating_sub(1);
        }
        match name {
            "p" => self.end_paragraph(),
            "t" => self.in_text = false,
            "instrText" => self.in_instruction = false,
            "hyperlink" | "fldSimple" => drop(self.links.pop()),
            "tc" => {
                if let Some(table) = self.tables.last_mut() {
                    let cell = std::mem::take(&mut table.cell);
                    table.cells.push(cell);
                }
            }
            "tr" => {
                let Some(table) = self.tables.last_mut() else { return };
                let cells = std::mem::take(&mut table.cells);
                match self.tables.len() {
                    1 => self.draft.row(&cells),
                    // A table within a cell belongs to the cell.
                    depth => cells.into_iter().for_each(|cell| append(&mut self.tables[depth - 2].cell, cell)),
                }
            }
            "tbl" => {
                self.tables.pop();
                if self.tables.is_empty() {
                    self.draft.end_table();
                }
            }
            _ => {}
        }
    }

    fn text(&mut self, text: &str) {
        if self.in_instruction {
            self.fields.instruct(text);
        } else if self.in_text {
            self.push(text);
        }
    }

    fn push(&mut self, text: &str) {
        if self.hidden > 0 || self.fields.is_instruction() {
            return;
        }
        let link = self.links.iter().rev().flatten().next().map(String::as_str).or_else(|| self.fields.link());
        if let Some(paragraph) = self.paragraphs.last_mut() {
            paragraph.line.push(text, link);
        }
    }

    fn end_paragraph(&mut self) {
        let Some(paragraph) = self.paragraphs.pop() else { return };
        if let Some(table) = self.tables.last_mut() {
            append(&mut table.cell, paragraph.line);
            return;
        }
        let block = match paragraph.level {
            Some(level) => Block::Heading(level),
            None if paragraph.is_item => Block::Item,
            None => Block::Paragraph,
        };
        self.draft.block(block, &paragraph.line);
    }
}

/// Text that was deleted, the old way to write what a newer element says, and what is only a preview.
fn is_hidden(name: &str) -> bool {
    matches!(name, "del" | "moveFrom" | "Fallback" | "rubyPr" | "sdtPr")
}

fn append(cell: &mut Line, line: Line) {
    if line.is_blank() {
        return;
    }
    if !cell.is_blank() {
        cell.push(" ", None);
    }
    cell.append(line);
}

fn symbol(element: &Element<'_>) -> String {
    let code = element.value("char").and_then(|code| u32::from_str_radix(&code, 16).ok());
    let letter = code.and_then(char::from_u32);
    letter.filter(|letter| !('\u{e000}'..='\u{f8ff}').contains(letter)).map(String::from).unwrap_or_default()
}
