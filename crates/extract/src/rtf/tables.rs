//! The character sets of fonts, and the styles that are headings.

use std::collections::HashMap;

use encoding_rs::Encoding;

use crate::style_names::level_of_name;

/// Further fonts and styles are not remembered.
const ENTRIES_MAX: usize = 4_096;

#[derive(Default)]
pub struct Tables {
    fonts: HashMap<i32, &'static Encoding>,
    styles: HashMap<i32, u8>,
}

impl Tables {
    pub fn font(&mut self, number: i32, character_set: i32) {
        if let Some(encoding) = of_character_set(character_set)
            && self.fonts.len() < ENTRIES_MAX
        {
            self.fonts.insert(number, encoding);
        }
    }

    pub fn encoding(&self, font: i32) -> Option<&'static Encoding> {
        self.fonts.get(&font).copied()
    }

    pub fn style(&mut self, number: i32, name: &str) {
        if let Some(level) = level_of_name(name.trim().trim_end_matches(';'))
            && self.styles.len() < ENTRIES_MAX
        {
            self.styles.insert(number, level);
        }
    }

    pub fn level(&self, style: i32) -> Option<u8> {
        self.styles.get(&style).copied()
    }
}

/// The encoding of a Windows code page.
pub fn of_code_page(number: i32) -> Option<&'static Encoding> {
    let label = match number {
        437 | 850 | 1252 => "windows-1252",
        852 | 1250 => "windows-1250",
        866 => "ibm866",
        874 => "windows-874",
        932 => "shift_jis",
        936 => "gbk",
        949 => "euc-kr",
        950 => "big5",
        1251 => "windows-1251",
        1253 => "windows-1253",
        1254 => "windows-1254",
        1255 => "windows-1255",
        1256 => "windows-1256",
        1257 => "windows-1257",
        1258 => "windows-1258",
        10000 => "macintosh",
        65001 => "utf-8",
        _ => return None,
    };
    Encoding::for_label(label.as_bytes())
}

/// The encoding of a character set as fonts name it.
pub fn of_character_set(number: i32) -> Option<&'static Encoding> {
    of_code_page(match number {
        0 => 1252,
        77 => 10000,
        128 => 932,
        129 | 130 => 949,
        134 => 936,
        136 => 950,
        161 => 1253,
        162 => 1254,
        163 => 1258,
        177 => 1255,
        178 => 1256,
        186 => 1257,
        204 => 1251,
        222 => 874,
        238 => 1250,
        _ => return None,
    })
}
