//! What is drawn on a page, letter by letter, with its place.
//!
//! Places are in points, seen along the direction in which a letter is written: `along` grows in that direction, `down` grows to the
//! next line. Text that is written upwards or upside down has a turn of its own and is laid out for itself.

use std::collections::HashMap;

use hayro_interpret::font::{Glyph, GlyphRun};
use hayro_interpret::hayro_cmap::{BfString, WritingMode};
use hayro_interpret::hayro_syntax::object::{Dict, Name};
use hayro_interpret::kurbo::{BezPath, Point};
use hayro_interpret::{BlendMode, ClipPath, Device, DrawMode, DrawProps, Image, ImageDrawProps, SoftMask};

use super::unicode::UnicodeOfGlyphs;

/// Further letters of a page are left out: no reader would see them.
const LETTERS_MAX: usize = 400_000;

/// Two equal letters this near to each other, in parts of their size, are one: that is how some programs write bold.
const DOUBLE_WITHIN: f32 = 0.12;

/// Deeper marked content is only counted.
const MARKED_DEPTH_MAX: usize = 256;

/// What the file says of a piece of its text.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum Mark {
    #[default]
    None,
    /// Running heads, page numbers and other furniture of the page.
    Artifact,
    /// The level of a heading, 0 where it is not named.
    Heading(u8),
}

#[derive(Clone, Debug)]
pub struct Letter {
    pub text: LetterText,
    pub along: f32,
    pub down: f32,
    pub advance: f32,
    pub size: f32,
    /// Quarters of a turn, clockwise.
    pub turn: u8,
    pub mark: Mark,
    /// The centre on the page, for links.
    pub x: f32,
    pub y: f32,
}

/// Nearly every glyph is one character.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LetterText {
    One(char),
    More(Box<str>),
}

/// The device that a page is drawn on.
pub struct Letters<'u> {
    pub letters: Vec<Letter>,
    pub pictures: usize,
    width: f32,
    height: f32,
    unicode: &'u mut UnicodeOfGlyphs,
    marks: Vec<Mark>,
    marked_beyond: usize,
    seen: HashMap<(char, i32, i32), (f32, f32)>,
}

impl<'u> Letters<'u> {
    pub fn new((width, height): (f32, f32), unicode: &'u mut UnicodeOfGlyphs) -> Self {
        Letters {
            letters: Vec::new(),
            pictures: 0,
            width,
            height,
            unicode,
            marks: Vec::new(),
            marked_beyond: 0,
            seen: HashMap::new(),
        }
    }

    fn add(&mut self, glyph: &Glyph<'_>, place: hayro_interpret::kurbo::Affine, is_vertical: bool) {
        let Some(text) = self.unicode.of(glyph).and_then(kept_text) else { return };
        let origin = place * Point::ZERO;
        let along = place * Point::new(1000.0, 0.0) - origin;
        let up = place * Point::new(0.0, 1000.0) - origin;
        let (stretched, size) = (along.hypot() as f32, up.hypot() as f32);
        let numbers = [origin.x as f32, origin.y as f32, stretched, size];
        if numbers.iter().any(|number| !number.is_finite() || number.abs() > 1e6) || size < 0.01 {
            return;
        }
        let advance = match glyph {
            Glyph::Outline(outline) => outline.advance_width(),
            Glyph::Type3(drawn) => drawn.advance_width(),
        };
        // The glyph may be stretched to its width; its width is not.
        let em = if (0.75..1.33).contains(&(stretched / size)) { size } else { stretched };
        let advance = (advance.unwrap_or(500.0) / 1000.0 * em).clamp(0.0, 10.0 * em);
        let turn = if is_vertical { 1 } else { turn_of(along.x, along.y) };
        let (x, y) = (origin.x as f32, origin.y as f32);
        let (along, down) = turned(x, y, turn);
        let (advance, size) = if is_vertical { (size, size) } else { (advance, size) };
        let letter = Letter { text, along, down, advance, size, turn, mark: self.mark(), x, y };
        if self.is_on_page(&letter) && !self.is_double(&letter) {
            self.letters.push(letter);
        }
    }

    fn mark(&self) -> Mark {
        self.marks.iter().rev().copied().find(|mark| *mark != Mark::None).unwrap_or_default()
    }

    /// What lies beyond the crop box is not seen.
    fn is_on_page(&self, letter: &Letter) -> bool {
        let slack = letter.size * 0.5;
        (-slack..=self.width + slack).contains(&letter.x) && (-slack..=self.height + slack).contains(&letter.y)
    }

    fn is_double(&mut self, letter: &Letter) -> bool {
        let LetterText::One(character) = letter.text else { return false };
        if character == ' ' {
            return false;
        }
        let within = (letter.size * DOUBLE_WITHIN).max(0.05);
        let cell = |number: f32| (number / (within * 2.0)).round() as i32;
        let (column, row) = (cell(letter.x), cell(letter.y));
        let near = (-1..=1).flat_map(|x| (-1..=1).map(move |y| (column.saturating_add(x), row.saturating_add(y))));
        for (x, y) in near {
            if let Some(&(seen_x, seen_y)) = self.seen.get(&(character, x, y))
                && (seen_x - letter.x).abs() <= within
                && (seen_y - letter.y).abs() <= within
            {
                return true;
            }
        }
        self.seen.insert((character, column, row), (letter.x, letter.y));
        false
    }
}

impl<'a> Device<'a> for Letters<'_> {
    fn draw_path(&mut self, _: &BezPath, _: DrawProps<'a>, _: &DrawMode) {}

    fn push_clip_path(&mut self, _: &ClipPath) {}

    fn push_transparency_group(&mut self, _: f32, _: Option<SoftMask<'a>>, _: BlendMode) {}

    fn draw_glyph_run(&mut self, run: &GlyphRun<'_, 'a>, props: DrawProps<'a>, _: &DrawMode) {
        let is_vertical = matches!(run.writing_mode(), WritingMode::Vertical);
        for glyph in run.glyphs() {
            if self.letters.len() >= LETTERS_MAX {
                return;
            }
            self.add(glyph, props.transform * glyph.transform(), is_vertical);
        }
    }

    fn draw_image(&mut self, _: Image<'a, '_>, _: ImageDrawProps<'a>) {
        self.pictures += 1;
    }

    fn pop_clip(&mut self) {}

    fn pop_transparency_group(&mut self) {}

    fn begin_marked_content(&mut self, tag: &[u8], properties: Option<&Dict<'_>>) {
        if self.marks.len() >= MARKED_DEPTH_MAX {
            self.marked_beyond += 1;
            return;
        }
        let mark = match tag {
            b"Artifact" => {
                let kind = properties.and_then(|properties| properties.get::<Name<'_>>("Type"));
                let is_furniture = kind.is_none_or(|kind| kind.as_str() == "Pagination");
                if is_furniture { Mark::Artifact } else { Mark::None }
            }
            b"H" | b"Title" => Mark::Heading(0),
            [b'H', level @ b'1'..=b'6'] => Mark::Heading(level - b'0'),
            _ => Mark::None,
        };
        self.marks.push(mark);
    }

    fn end_marked_content(&mut self) {
        if self.marked_beyond > 0 {
            self.marked_beyond -= 1;
        } else {
            self.marks.pop();
        }
    }
}

fn turn_of(x: f64, y: f64) -> u8 {
    match (x.abs() >= y.abs(), x >= 0.0, y >= 0.0) {
        (true, true, _) => 0,
        (true, false, _) => 2,
        (false, _, true) => 1,
        (false, _, false) => 3,
    }
}

fn turned(x: f32, y: f32, turn: u8) -> (f32, f32) {
    match turn {
        0 => (x, y),
        1 => (y, -x),
        2 => (-x, -y),
        _ => (-y, x),
    }
}

/// The text of a glyph without what is no text. White space is kept, because it ends words.
fn kept_text(text: BfString) -> Option<LetterText> {
    match text {
        BfString::Char(character) => kept(character).map(LetterText::One),
        BfString::String(text) => {
            let text: String = text.chars().filter_map(kept).collect();
            let mut characters = text.chars();
            match (characters.next(), characters.next()) {
                (None, _) => None,
                (Some(one), None) => Some(LetterText::One(one)),
                _ => Some(LetterText::More(text.into())),
            }
        }
    }
}

fn kept(character: char) -> Option<char> {
    Some(match character {
        '\u{a0}' | '\t' | '\n' | '\r' | '\u{3000}' => ' ',
        // Bullets of symbol fonts.
        '\u{f0b7}' | '\u{f0a8}' | '\u{f06c}' => '•',
        '\u{f0a7}' | '\u{f06e}' => '▪',
        '\u{f0d8}' => '➢',
        // Symbol fonts hold letters at these places.
        '\u{f020}'..='\u{f07e}' => char::from_u32(u32::from(character) - 0xf000)?,
        '\u{fffd}' => return None,
        _ if character.is_control() => return None,
        _ => character,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_of_any_direction_is_laid_out_along_its_lines() {
        // A line that is written downwards: what stands lower comes later, what stands further left is the next line.
        assert_eq!(turn_of(0.0, 12.0), 1);
        let (first, second) = (turned(100.0, 10.0, 1), turned(100.0, 20.0, 1));
        assert!(first.0 < second.0 && first.1 == second.1);
        assert!(turned(80.0, 10.0, 1).1 > first.1);
        // Upside down, and upwards.
        assert!(turned(90.0, 10.0, 2).0 > turned(100.0, 10.0, 2).0);
        assert!(turned(100.0, 10.0, 3).0 > turned(100.0, 20.0, 3).0);
    }
}
