//! The letter of a glyph. Where the file does not name it, the font is asked which letter it would draw so.

use std::collections::HashMap;

use hayro_interpret::font::{Glyph, OutlineGlyph};
use hayro_interpret::hayro_cmap::BfString;
use skrifa::MetadataProvider;

/// Fonts beyond this are not asked.
const FONTS_MAX: usize = 256;

/// What was learned of the fonts of one file.
#[derive(Default)]
pub struct UnicodeOfGlyphs {
    fonts: HashMap<u128, HashMap<u32, char>>,
}

impl UnicodeOfGlyphs {
    pub fn of(&mut self, glyph: &Glyph<'_>) -> Option<BfString> {
        let named = glyph.as_unicode().filter(is_text);
        let drawn = || match glyph {
            Glyph::Outline(outline) => self.by_font(outline),
            Glyph::Type3(_) => None,
        };
        named.or_else(drawn).or_else(|| by_code(glyph.char_code()))
    }

    fn by_font(&mut self, glyph: &OutlineGlyph) -> Option<BfString> {
        let data = glyph.font_data()?;
        if self.fonts.len() >= FONTS_MAX && !self.fonts.contains_key(&data.cache_key) {
            return None;
        }
        let letters = self.fonts.entry(data.cache_key).or_insert_with(|| {
            let bytes: &[u8] = (*data.data).as_ref();
            let Ok(font) = skrifa::FontRef::new(bytes) else { return HashMap::new() };
            let mut letters = HashMap::new();
            for (letter, id) in font.charmap().mappings() {
                let letter = char::from_u32(letter).filter(|letter| !letter.is_control());
                if let Some(letter) = letter {
                    letters.entry(id.to_u32()).or_insert(letter);
                }
            }
            letters
        });
        let id = glyph.glyph_id();
        letters.get(&id.to_u32()).copied().map(BfString::Char)
    }
}

fn is_text(text: &BfString) -> bool {
    match text {
        BfString::Char(letter) => *letter != '\0' && *letter != '\u{fffd}',
        BfString::String(text) => !text.is_empty() && text.chars().any(|letter| letter != '\0'),
    }
}

fn by_code(code: u32) -> Option<BfString> {
    char::from_u32(code).filter(|letter| matches!(letter, ' '..='~')).map(BfString::Char)
}
