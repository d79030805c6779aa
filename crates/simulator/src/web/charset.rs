//! The charsets of pages, and how a page says which one it has.

use super::plan::{Charset, PagePlan};

/// How an HTML page says which charset it is written in.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Declared {
    InHeader,
    InMeta,
    Nowhere,
}

impl PagePlan {
    pub(super) fn declared(&self, charset: Charset) -> Declared {
        match self.chance.stream("declared").below(10) {
            // Text in UTF-8 and in Cyrillic or Japanese charsets can be recognised without a word; others are declared.
            0..=1 if charset != Charset::Latin1 => Declared::Nowhere,
            2..=5 => Declared::InMeta,
            _ => Declared::InHeader,
        }
    }
}

impl Charset {
    pub(super) fn name(self) -> &'static str {
        match self {
            Charset::Utf8 => "utf-8",
            Charset::Latin1 => "iso-8859-1",
            Charset::Cyrillic => "windows-1251",
            Charset::ShiftJis => "shift_jis",
        }
    }

    pub(super) fn encode(self, text: String) -> Vec<u8> {
        let encoding = match self {
            Charset::Utf8 => return text.into_bytes(),
            Charset::Latin1 => encoding_rs::WINDOWS_1252,
            Charset::Cyrillic => encoding_rs::WINDOWS_1251,
            Charset::ShiftJis => encoding_rs::SHIFT_JIS,
        };
        encoding.encode(&text).0.into_owned()
    }
}
