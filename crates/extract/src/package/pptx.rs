//! Reads PPTX: slide by slide, the title as a heading, then what stands on it, then its notes.

use super::parts::Parts;
use super::properties::facts_of;
use super::relations::Relations;
use super::xml::{Element, Step, walk};
use crate::draft::{Block, Draft, Line};
use crate::fault::Fault;

/// Further slides are left out.
const SLIDES_MAX: usize = 5_000;

pub fn read_pptx(bytes: &[u8]) -> Result<Draft, Fault> {
    let mut parts = Parts::open(bytes)?;
    let mut draft = Draft::new(facts_of(&mut parts, "docProps/core.xml")?);
    let slides = slides_of(&mut parts)?;
    draft.facts.pages = Some(slides.len());
    for (number, slide) in slides.iter().enumerate() {
        draft.place(&format!("slide {}", number + 1));
        let relations = Relations::of(&mut parts, slide)?;
        read_slide(&parts.text(slide)?.unwrap_or_default(), &relations, &mut draft, false)?;
        let diagrams: Vec<String> = relations.parts_of_kind("diagramData").map(str::to_owned).collect();
        for diagram in diagrams {
            read_slide(&parts.text(&diagram)?.unwrap_or_default(), &relations, &mut draft, false)?;
        }
        let notes: Vec<String> = relations.parts_of_kind("notesSlide").map(str::to_owned).collect();
        for notes in notes {
            let of_notes = Relations::of(&mut parts, &notes)?;
            read_slide(&parts.text(&notes)?.unwrap_or_default(), &of_notes, &mut draft, true)?;
        }
        if draft.is_full() {
            break;
        }
    }
    Ok(draft)
}

/// The slides in the order in which they are shown.
fn slides_of(parts: &mut Parts<'_>) -> Result<Vec<String>, Fault> {
    let package = Relations::of(parts, "")?;
    let main = package.parts_of_kind("officeDocument").next().unwrap_or("ppt/presentation.xml").to_owned();
    let relations = Relations::of(parts, &main)?;
    let xml = parts.text(&main)?.ok_or_else(|| Fault::broken("the package has no presentation"))?;
    let mut slides = Vec::new();
    walk(&xml, |step| {
        if let Step::Open(element) = step
            && element.name == "sldId"
            && slides.len() < SLIDES_MAX
            && let Some(part) = element.exact("r:id").and_then(|id| relations.part(&id).map(str::to_owned))
        {
            slides.push(part);
        }
    })?;
    Ok(slides)
}

/// What a shape is there for.
#[derive(Copy, Clone, PartialEq, Eq)]
enum Purpose {
    Body,
    Title,
    /// Date, footer and number of the slide.
    Frame,
    /// The picture of the slide above its notes.
    Nothing,
}

struct Slide<'a> {
    draft: &'a mut Draft,
    relations: &'a Relations,
    purpose: Purpose,
    line: Line,
    link: Option<String>,
    in_text: bool,
    cells: Option<Vec<Line>>,
    cell: Line,
    is_notes: bool,
}

fn read_slide(xml: &str, relations: &Relations, draft: &mut Draft, is_notes: bool) -> Result<(), Fault> {
    let mut slide = Slide {
        draft,
        relations,
        purpose: Purpose::Body,
        line: Line::default(),
        link: None,
        in_text: false,
        cells: None,
        cell: Line::default(),
        is_notes,
    };
    let mut hidden = 0usize;
    walk(xml, |step| match step {
        Step::Open(element) if element.name == "Fallback" => hidden += 1,
        Step::Close("Fallback") => hidden = hidden.saturating_sub(1),
        _ if hidden > 0 => {}
        Step::Open(element) => slide.open(&element),
        Step::Close(name) => slide.close(name),
        Step::Text(text) if slide.in_text => {
            let link = slide.link.clone();
            slide.line.push(text, link.as_deref());
        }
        Step::Text(_) => {}
    })?;
    slide.draft.end_table();
    Ok(())
}

impl Slide<'_> {
    fn open(&mut self, element: &Element<'_>) {
        match element.name {
            "sp" | "pic" | "graphicFrame" => self.purpose = Purpose::Body,
            "ph" => {
                self.purpose = match element.value("type").as_deref() {
                    Some("title" | "ctrTitle") => Purpose::Title,
                    Some("dt" | "ftr" | "sldNum" | "hdr") => Purpose::Frame,
                    Some("sldImg") => Purpose::Nothing,
                    _ => Purpose::Body,
                }
            }
            "cNvPr" => {
                let alternative = element.value("descr").filter(|text| !text.trim().is_empty());
                if let (Some(text), false) = (alternative, self.is_notes) {
                    self.draft.picture(&text);
                }
            }
            "t" => self.in_text = true,
            "br" | "tab" => self.line.push(" ", None),
            "r" | "fld" => self.link = None,
            "hlinkClick" => {
                let id = element.exact("r:id");
                self.link = id.and_then(|id| self.relations.address(&id).map(str::to_owned));
            }
            "tr" => self.cells = Some(Vec::new()),
            _ => {}
        }
    }

    fn close(&mut self, name: &str) {
        match name {
            "t" => self.in_text = false,
            "r" | "fld" => self.link = None,
            "p" => self.end_paragraph(),
            "tc" => {
                let cell = std::mem::take(&mut self.cell);
                if let Some(cells) = &mut self.cells {
                    cells.push(cell);
                }
            }
            "tr" => {
                if let Some(cells) = self.cells.take() {
                    self.draft.row(&cells);
                }
            }
            "tbl" => self.draft.end_table(),
            _ => {}
        }
    }

    fn end_paragraph(&mut self) {
        let line = std::mem::take(&mut self.line);
        if line.is_blank() {
            return;
        }
        if self.cells.is_some() {
            if !self.cell.is_blank() {
                self.cell.push(" ", None);
            }
            self.cell.append(line);
            return;
        }
        match self.purpose {
            Purpose::Body => self.draft.block(Block::Paragraph, &line),
            Purpose::Title => self.draft.block(Block::Heading(2), &line),
            Purpose::Frame => self.draft.foot(&line.text()),
            Purpose::Nothing => {}
        }
    }
}
