//! What the words of an RTF file mean.

use encoding_rs::{Encoding, WINDOWS_1252};

use super::blocks::OpenBlock;
use super::tables::{Tables, of_code_page};
use super::tokens::{Token, Tokens};
use crate::draft::{Draft, Facts};
use crate::fault::Fault;
use crate::package::Fields;

/// Deeper groups are counted and share the state of the last.
const GROUPS_MAX: usize = 1_000;

/// Bytes that wait for their character set.
const PENDING_MAX: usize = 1 << 20;

/// Where text goes.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Goal {
    Body,
    Nothing,
    Fonts,
    Styles,
    Title,
    Author,
    Created,
    Modified,
    Head,
    Foot,
    Instruction,
}

#[derive(Copy, Clone)]
struct Group {
    goal: Goal,
    encoding: &'static Encoding,
    /// Characters after a `\u` that stand for it in old programs.
    skips: usize,
    is_hidden: bool,
    field: bool,
}

struct Reader<'b> {
    draft: Draft,
    tokens: Tokens<'b>,
    groups: Vec<Group>,
    beyond: usize,
    tables: Tables,
    code_page: &'static Encoding,
    /// Bytes that wait for their character set.
    pending: Vec<u8>,
    /// Letters to pass over, because they repeat one for old programs.
    to_skip: usize,
    /// The first half of a letter of two.
    high: Option<u16>,
    /// Whether a group that is not known may be left out.
    star: bool,
    fields: Fields,
    open: OpenBlock,
    other: Other,
}

/// What a group that is not body text has gathered.
#[derive(Default)]
struct Other {
    text: String,
    /// The font or style that the text names.
    number: i32,
    date: [i32; 5],
}

pub fn read_rtf(bytes: &[u8]) -> Result<Draft, Fault> {
    let start = bytes.iter().take(512).position(|byte| *byte == b'{').unwrap_or_default();
    let bytes = &bytes[start..];
    if !bytes.starts_with(b"{\\rtf") {
        return Err(Fault::broken("no RTF that can be opened"));
    }
    let first = Group { goal: Goal::Body, encoding: WINDOWS_1252, skips: 1, is_hidden: false, field: false };
    let mut reader = Reader {
        draft: Draft::new(Facts::default()),
        tokens: Tokens::of(bytes),
        groups: vec![first],
        beyond: 0,
        tables: Tables::default(),
        code_page: WINDOWS_1252,
        pending: Vec::new(),
        to_skip: 0,
        high: None,
        star: false,
        fields: Fields::default(),
        open: OpenBlock::default(),
        other: Other::default(),
    };
    reader.read();
    Ok(reader.draft)
}

impl Reader<'_> {
    fn read(&mut self) {
        while let Some(token) = self.tokens.next() {
            match token {
                Token::Open => self.open(),
                Token::Close => self.close(),
                Token::Byte(byte) => self.byte(byte),
                Token::Text(text) => text.iter().for_each(|byte| self.byte(*byte)),
                Token::Symbol(symbol) => self.symbol(symbol),
                Token::Word(name, number) => self.word(name, number),
            }
            if self.draft.is_full() {
                return;
            }
        }
        self.flush();
        self.open.end_paragraph(&mut self.draft);
        self.open.end_row(&mut self.draft);
    }

    fn group(&mut self) -> &mut Group {
        let last = self.groups.len() - 1;
        &mut self.groups[last]
    }

    fn open(&mut self) {
        self.flush();
        self.star = false;
        if self.groups.len() >= GROUPS_MAX {
            self.beyond += 1;
        } else {
            let group = Group { field: false, ..*self.group() };
            self.groups.push(group);
        }
    }

    fn close(&mut self) {
        self.flush();
        self.to_skip = 0;
        if self.beyond > 0 {
            self.beyond -= 1;
            return;
        }
        let Some(closed) = self.groups.pop() else { return };
        if self.groups.is_empty() {
            // More groups end than began.
            self.groups.push(closed);
            return;
        }
        if closed.field {
            self.fields.end();
        }
        if self.group().goal == closed.goal {
            if closed.goal == Goal::Styles {
                self.end_entry();
            }
            return;
        }
        self.end_goal(closed.goal);
    }

    fn end_goal(&mut self, goal: Goal) {
        let text = std::mem::take(&mut self.other.text);
        let [year, month, day, hour, minute] = self.other.date;
        let date = || format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:00");
        match goal {
            Goal::Title => self.draft.facts.title = text,
            Goal::Author => self.draft.facts.author = text,
            Goal::Created if year > 0 => self.draft.facts.created = date(),
            Goal::Modified if year > 0 => self.draft.facts.modified = date(),
            Goal::Head => self.draft.head(&text),
            Goal::Foot => self.draft.foot(&text),
            Goal::Instruction => {
                // A field shows its result only once its instruction is over.
                self.fields.instruct(&text);
                self.fields.separate();
            }
            _ => {}
        }
    }

    fn end_entry(&mut self) {
        let name = std::mem::take(&mut self.other.text);
        self.tables.style(self.other.number, &name);
        self.other.number = 0;
    }

    fn byte(&mut self, byte: u8) {
        if self.to_skip > 0 {
            self.to_skip -= 1;
        } else if self.group().goal != Goal::Nothing && self.pending.len() < PENDING_MAX {
            self.pending.push(byte);
        }
    }

    /// Decodes the bytes that wait. Letters of two bytes are written as two tokens, so this happens as late as it can.
    fn flush(&mut self) {
        if self.pending.is_empty() {
            return;
        }
        let bytes = std::mem::take(&mut self.pending);
        let encoding = self.group().encoding;
        let text = encoding.decode_without_bom_handling(&bytes).0;
        self.push(&text);
    }

    fn push(&mut self, text: &str) {
        let group = *self.group();
        match group.goal {
            Goal::Nothing | Goal::Fonts | Goal::Created | Goal::Modified => {}
            Goal::Body if group.is_hidden || self.fields.is_instruction() => {}
            Goal::Body => {
                let link = self.fields.link().map(str::to_owned);
                self.open.line.push(text, link.as_deref());
            }
            _ if self.other.text.len() < PENDING_MAX => self.other.text.push_str(text),
            _ => {}
        }
    }

    fn symbol(&mut self, symbol: u8) {
        if symbol == b'*' {
            self.star = true;
            return;
        }
        self.flush();
        match symbol {
            b'~' => self.push("\u{a0}"),
            b'_' => self.push("\u{2011}"),
            b'\\' | b'{' | b'}' => self.byte(symbol),
            b'\r' | b'\n' => self.open.end_paragraph(&mut self.draft),
            _ => {}
        }
    }

    fn word(&mut self, name: &str, number: Option<i32>) {
        let star = std::mem::take(&mut self.star);
        if name == "u" {
            self.flush();
            return self.unicode(number.unwrap_or_default());
        }
        self.flush();
        if name == "bin" {
            return self.tokens.pass_over(number.unwrap_or_default().max(0) as usize);
        }
        let is_known = self.destination(name) || self.state(name, number) || self.letter(name);
        if star && !is_known {
            self.group().goal = Goal::Nothing;
        }
    }

    /// Words that begin a group with a goal of its own.
    fn destination(&mut self, name: &str) -> bool {
        let goal = match name {
            "fonttbl" => Goal::Fonts,
            "stylesheet" => Goal::Styles,
            "title" => Goal::Title,
            "author" => Goal::Author,
            "creatim" => Goal::Created,
            "revtim" => Goal::Modified,
            "header" | "headerl" | "headerr" | "headerf" => Goal::Head,
            "footer" | "footerl" | "footerr" | "footerf" => Goal::Foot,
            "fldinst" => Goal::Instruction,
            "fldrslt" => {
                self.fields.separate();
                return true;
            }
            "field" => {
                self.fields.begin();
                self.group().field = true;
                return true;
            }
            "footnote" => {
                // A note stands where it is named; it is told apart by spaces.
                self.push(" ");
                return true;
            }
            "colortbl" | "pict" | "object" | "info" | "listtext" | "pntext" | "nonshppict" | "private" | "xe"
            | "tc" | "bkmkstart" | "bkmkend" | "generator" | "filetbl" | "revtbl" | "listtable"
            | "listoverridetable" | "rsidtbl" | "themedata" | "datastore" | "latentstyles" | "annotation" | "atnid"
            | "atnauthor" | "datafield" | "template" | "operator" | "company" | "subject" | "keywords" | "comment"
            | "category" | "manager" | "doccomm" | "hlinkbase" | "buptim" | "printim" | "sp" | "shpinst" => {
                if name == "listtext" || name == "pntext" {
                    self.open.is_item = true;
                }
                // The information group holds others that matter.
                if !matches!(name, "info" | "shpinst") {
                    self.group().goal = Goal::Nothing;
                }
                return true;
            }
            "shptxt" => Goal::Body,
            _ => return false,
        };
        if self.group().goal != Goal::Nothing || goal == Goal::Body {
            self.group().goal = goal;
        }
        if matches!(goal, Goal::Created | Goal::Modified) {
            self.other.date = [0; 5];
        }
        true
    }

    /// Words that change what follows.
    fn state(&mut self, name: &str, number: Option<i32>) -> bool {
        let value = number.unwrap_or_default();
        match name {
            "ansicpg" => {
                if let Some(encoding) = of_code_page(value) {
                    self.code_page = encoding;
                    self.groups.iter_mut().for_each(|group| group.encoding = encoding);
                }
            }
            "mac" => {
                self.code_page = encoding_rs::MACINTOSH;
                self.group().encoding = encoding_rs::MACINTOSH;
            }
            "uc" => self.group().skips = value.clamp(0, 16) as usize,
            "f" if self.group().goal == Goal::Fonts => self.other.number = value,
            "fcharset" => self.tables.font(self.other.number, value),
            "f" => self.group().encoding = self.tables.encoding(value).unwrap_or(self.code_page),
            "plain" => {
                self.group().is_hidden = false;
                self.group().encoding = self.code_page;
            }
            "v" => self.group().is_hidden = number != Some(0),
            "s" if self.group().goal == Goal::Styles => self.other.number = value,
            "s" => self.open.level = self.tables.level(value),
            "outlinelevel" if (0..9).contains(&value) => self.open.level = Some(value as u8 + 1),
            "pard" => (self.open.level, self.open.is_item, self.open.in_table) = (None, false, false),
            "intbl" => self.open.in_table = true,
            "ls" => self.open.is_item = true,
            "yr" => self.other.date[0] = value,
            "mo" => self.other.date[1] = value,
            "dy" => self.other.date[2] = value,
            "hr" => self.other.date[3] = value,
            "min" => self.other.date[4] = value,
            _ => return false,
        }
        true
    }

    /// Words that are letters, or end something.
    fn letter(&mut self, name: &str) -> bool {
        let text = match name {
            "par" | "sect" | "page" => {
                if self.group().goal == Goal::Body {
                    self.open.end_paragraph(&mut self.draft);
                    return true;
                }
                " "
            }
            "cell" | "nestcell" => {
                self.open.end_cell();
                return true;
            }
            "row" | "nestrow" => {
                self.open.end_row(&mut self.draft);
                return true;
            }
            "tab" | "line" | "lbr" | "emspace" | "enspace" | "qmspace" => " ",
            "emdash" => "—",
            "endash" => "–",
            "bullet" => "•",
            "lquote" => "‘",
            "rquote" => "’",
            "ldblquote" => "“",
            "rdblquote" => "”",
            _ => return false,
        };
        self.push(text);
        true
    }

    fn unicode(&mut self, number: i32) {
        let unit = (number & 0xffff) as u16;
        let mut text = String::new();
        match (self.high.take(), unit) {
            (_, 0xd800..=0xdbff) => self.high = Some(unit),
            (Some(high), 0xdc00..=0xdfff) => text.extend(char::decode_utf16([high, unit]).flatten()),
            // Symbol fonts hold their letters there.
            (_, 0xf020..=0xf07e) => text.extend(char::from_u32(u32::from(unit) - 0xf000)),
            _ => text.extend(char::from_u32(u32::from(unit)).filter(|letter| *letter != '\0')),
        }
        self.push(&text);
        self.to_skip = self.group().skips;
    }
}

#[cfg(test)]
mod tests;
