//! Which styles of a DOCX file are headings.

use std::collections::HashMap;

use super::xml::{Step, walk};
use crate::fault::Fault;
use crate::style_names::level_of_name;

/// Further styles are body text.
const STYLES_MAX: usize = 10_000;

/// Styles that rest on each other, at most so many.
const BASED_ON_MAX: usize = 16;

#[derive(Default)]
pub struct Styles {
    all: HashMap<String, Style>,
}

#[derive(Default, Clone)]
struct Style {
    level: Option<u8>,
    based_on: Option<String>,
    is_list: bool,
}

impl Styles {
    pub fn read(xml: &str) -> Result<Styles, Fault> {
        let mut styles = Styles::default();
        let mut open: Option<(String, Style)> = None;
        walk(xml, |step| match step {
            Step::Open(element) => match element.name {
                "style" => open = element.value("styleId").map(|id| (id, Style::default())),
                "name" => {
                    if let (Some((_, style)), Some(name)) = (&mut open, element.value("val")) {
                        style.level = style.level.or_else(|| level_of_name(&name));
                        style.is_list |= name.to_ascii_lowercase().starts_with("list ");
                    }
                }
                "outlineLvl" => {
                    if let (Some((_, style)), Some(level)) = (&mut open, element.value("val")) {
                        style.level = level.parse::<u8>().ok().filter(|level| *level < 9).map(|level| level + 1);
                    }
                }
                "basedOn" => {
                    if let Some((_, style)) = &mut open {
                        style.based_on = element.value("val");
                    }
                }
                _ => {}
            },
            Step::Close("style") => {
                if let Some((id, style)) = open.take()
                    && styles.all.len() < STYLES_MAX
                {
                    styles.all.insert(id, style);
                }
            }
            Step::Close(_) | Step::Text(_) => {}
        })?;
        Ok(styles)
    }

    /// The level of a heading, 1 and up.
    pub fn level(&self, id: &str) -> Option<u8> {
        let mut next = Some(id);
        for _ in 0..BASED_ON_MAX {
            let Some(style) = next.and_then(|id| self.all.get(id)) else { break };
            if style.level.is_some() {
                return style.level;
            }
            next = style.based_on.as_deref();
        }
        // A file without styles still names them.
        if self.all.is_empty() { level_of_name(id) } else { None }
    }

    pub fn is_list(&self, id: &str) -> bool {
        self.all.get(id).is_some_and(|style| style.is_list)
    }
}
