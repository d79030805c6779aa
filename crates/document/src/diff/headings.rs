//! The headings above each paragraph.

use vernal_model::{Document, Role};

use super::words::text_of;
use crate::parse::links::limited;

/// The text limit of one heading in a trail.
const HEADING_BYTES_MAX: usize = 200;

/// The level of a heading of unknown level: the lowest.
const LEVEL_LOWEST: u8 = 6;

/// For each paragraph the nearest higher heading above it. A trail follows these links upwards.
pub struct Headings {
    above: Vec<Option<u32>>,
}

impl Headings {
    pub fn of(document: &Document) -> Self {
        let mut open: Vec<(u8, u32)> = Vec::new();
        let above = document.paragraphs.iter().enumerate().map(|(place, paragraph)| {
            let level = match (paragraph.heading, paragraph.role) {
                (0, Role::Heading) => LEVEL_LOWEST,
                (level, _) => level,
            };
            // The headings of the content say nothing of the frame around it.
            if level == 0 && matches!(paragraph.role, Role::Navigation | Role::Footer) {
                return None;
            }
            if level > 0 {
                open.retain(|&(higher, _)| higher < level);
            }
            let nearest = open.last().map(|&(_, heading)| heading);
            if level > 0 {
                open.push((level, place as u32));
            }
            nearest
        });
        Headings { above: above.collect() }
    }

    /// The highest first.
    pub fn trail(&self, document: &Document, place: usize) -> Vec<Box<str>> {
        let mut trail = Vec::new();
        let mut next = self.above.get(place).copied().flatten();
        while let Some(heading) = next {
            trail.push(Box::from(limited(text_of(document, heading as usize), HEADING_BYTES_MAX)));
            next = self.above[heading as usize];
        }
        // Which page of a file it is, or which sheet, comes before all headings.
        trail.extend(document.place_of(place).map(Box::from));
        trail.reverse();
        trail
    }
}

/// The headings above each paragraph, the highest first.
pub fn heading_trails(document: &Document) -> Vec<Vec<Box<str>>> {
    let headings = Headings::of(document);
    (0..document.paragraphs.len()).map(|place| headings.trail(document, place)).collect()
}
