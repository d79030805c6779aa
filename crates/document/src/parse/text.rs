//! The visible text as paragraphs: white space folded, each with the role that the markup around it gives.
//!
//! Only the elements that give a role or hide their content are remembered while they are open, and only so many of
//! them; nesting beyond that is counted and otherwise ignored, so that depth costs neither time nor memory.

use vernal_model::{Paragraph, Role};

use super::eights::{skip_plain, white_space};
use super::references::{Within, decoded};
use super::scan::OpenTag;
use super::tag::Tag;
use crate::PARAGRAPHS_MAX;
use crate::signature::checksum::{PLAIN_POINTS, font_points, heading_points, styled_points};
use crate::signature::digest;
use crate::signature::letters::LetterSums;

/// Open elements remembered at once.
const OPEN_MAX: usize = 128;

#[derive(Default)]
pub struct TextBuilder {
    text: String,
    paragraphs: Vec<Paragraph>,
    /// Where the open paragraph began, and what it is.
    begun: Option<Begun>,
    space_pending: bool,
    /// `br` tags since the last word: two in a row end a paragraph.
    breaks: u8,
    open: Vec<Open>,
    /// Elements that were opened when no more could be remembered.
    beyond: usize,
    level: u16,
    in_title: bool,
    /// Whether a tag or a comment stood since the last word.
    after_tag: bool,
    /// Where two words lie side by side with a tag between them and no white space.
    joints: Vec<u32>,
    /// The block that began last and is not remembered otherwise: its name, and the size of its type if it says one.
    block: u64,
    block_points: Option<f32>,
    font_points: Option<f32>,
    /// Paper 003's two checksums, paragraph by paragraph.
    letters: Letters,
    /// Nobody asks for them.
    without_letters: bool,
    /// Inside a style or script of foreign content, whose text is markup to the scan.
    foreign_code: Option<Tag>,
}

/// What is known of the text beside its words.
#[derive(Clone, Default)]
pub struct Letters {
    /// Where a tag parts two words without white space, in bytes of the text.
    pub joints: Vec<u32>,
    /// The root mean squares of the paragraphs, added up.
    pub rms: f64,
    pub checksum: f64,
}

#[derive(Copy, Clone)]
struct Begun {
    start: usize,
    role: Role,
    level: u16,
    place: u16,
    heading: u8,
    points: f32,
}

#[derive(Copy, Clone)]
struct Open {
    tag: Tag,
    /// What is true of everything inside it.
    context: Context,
    /// A running mark of the names around, this one's included.
    place: u32,
    heading: u8,
    points: f32,
}

/// A set of facts about the place in the page.
#[derive(Copy, Clone, Default)]
struct Context(u16);

impl Context {
    const HIDDEN: u16 = 1;
    const NAVIGATION: u16 = 2;
    const HEADER: u16 = 4;
    const FOOTER: u16 = 8;
    const HEADING: u16 = 16;
    const ITEM: u16 = 32;
    const ROW: u16 = 64;
    /// Inside an article or its kin, whose own header and footer are not the page's.
    const SECTION: u16 = 128;
    /// Inside a template: nothing in it is part of the page.
    const INERT: u16 = 256;

    fn is(self, facts: u16) -> bool {
        self.0 & facts != 0
    }
}

impl TextBuilder {
    pub fn with_capacity(bytes: usize) -> Self {
        TextBuilder {
            text: String::with_capacity(bytes),
            paragraphs: Vec::with_capacity(bytes / 64),
            open: Vec::with_capacity(OPEN_MAX),
            ..Default::default()
        }
    }

    /// For those who want the words and no checksums.
    pub fn without_letters(self) -> Self {
        TextBuilder { without_letters: true, ..self }
    }

    pub fn open(&mut self, tag: &OpenTag<'_, '_>) {
        self.after_tag = true;
        self.separate(tag.tag);
        if tag.tag.makes_level() && !(tag.foreign && tag.self_closing) {
            self.level = self.level.saturating_add(1);
        }
        if tag.foreign {
            let is_code = matches!(tag.tag, Tag::Style | Tag::Script) && !tag.self_closing;
            self.foreign_code = if is_code { Some(tag.tag) } else { None };
            return;
        }
        self.foreign_code = None;
        self.in_title = tag.tag == Tag::Title;
        if tag.tag.is_held() {
            self.hold(tag);
        } else if tag.tag.is_block() {
            self.block = tag.name.packed();
            self.block_points = styled(tag);
        } else if tag.tag == Tag::Font {
            self.font_points = tag.value("size").and_then(|size| font_points(&size)).map(|points| points as f32);
        }
    }

    pub fn close(&mut self, tag: Tag) {
        self.after_tag = true;
        self.separate(tag);
        self.foreign_code = None;
        if tag == Tag::Title {
            self.in_title = false;
        } else if tag == Tag::Font {
            self.font_points = None;
        }
        if tag.is_block() {
            (self.block, self.block_points) = (0, None);
        }
        if tag.makes_level() {
            self.level = self.level.saturating_sub(1);
        }
        if tag.is_held() {
            self.release(tag);
        }
    }

    pub fn comment(&mut self) {
        self.after_tag = true;
    }

    pub fn push(&mut self, text: &str, coded: bool) {
        if self.is_hidden() {
            return;
        }
        let space = white_space(text.as_bytes());
        self.space_pending |= space > 0;
        // Between two tags there is often nothing else.
        let text = &text[space..];
        if text.is_empty() {
            return;
        }
        if coded {
            self.push_folded(&decoded(text, Within::Text));
        } else {
            self.push_folded(text);
        }
    }

    /// Ends the open paragraph, if there is one.
    pub fn end_paragraph(&mut self) {
        self.space_pending = false;
        self.breaks = 0;
        if self.paragraphs.len() + 1 >= PARAGRAPHS_MAX {
            // The last paragraph takes all that follows.
            self.space_pending = self.begun.is_some();
            return;
        }
        self.finish_paragraph();
    }

    /// A whole paragraph of its own, for sources without markup.
    pub fn push_line(&mut self, words: &str, role: Role) {
        self.end_paragraph();
        self.push_folded(words);
        if let Some(begun) = &mut self.begun {
            begun.role = role;
        }
        self.end_paragraph();
    }

    /// Where the next word will stand, for whoever wants to cut text out later.
    pub fn mark(&self) -> usize {
        self.text.len()
    }

    /// What was written since a mark, without the white space around it.
    pub fn since(&self, mark: usize) -> &str {
        self.text.get(mark..).unwrap_or_default().trim()
    }

    /// The style or script of foreign content that the next text belongs to.
    pub fn foreign_code(&self) -> Option<Tag> {
        self.foreign_code
    }

    fn is_hidden(&self) -> bool {
        self.foreign_code.is_some() || self.context().is(Context::HIDDEN)
    }

    /// Whether even the links here are not the page's.
    pub fn is_inert(&self) -> bool {
        self.context().is(Context::INERT)
    }

    pub fn is_title(&self) -> bool {
        self.in_title
    }

    pub fn finish(mut self) -> (String, Vec<Paragraph>, Letters) {
        self.finish_paragraph();
        self.letters.joints = self.joints;
        (self.text, self.paragraphs, self.letters)
    }

    fn finish_paragraph(&mut self) {
        let Some(Begun { start, role, level, place, heading, points }) = self.begun.take() else { return };
        let end = self.text.len();
        let words = &self.text[start..end];
        let digest = digest(words.as_bytes());
        if !self.without_letters {
            let sums = LetterSums::of(words);
            self.letters.rms += sums.rms();
            self.letters.checksum += sums.checksum(f64::from(points));
        }
        self.paragraphs.push(Paragraph { start: start as u32, end: end as u32, role, level, digest, place, heading });
    }

    fn context(&self) -> Context {
        self.open.last().map_or(Context::default(), |open| open.context)
    }

    fn separate(&mut self, tag: Tag) {
        if tag.is_block() {
            self.end_paragraph();
        } else if tag.separates_words() {
            self.space_pending = true;
        } else if tag == Tag::Br {
            self.space_pending = true;
            self.breaks = self.breaks.saturating_add(1);
            if self.breaks >= 2 {
                self.end_paragraph();
            }
        }
    }

    fn hold(&mut self, tag: &OpenTag<'_, '_>) {
        self.close_implied(tag.tag);
        if self.open.len() >= OPEN_MAX {
            self.beyond = self.beyond.saturating_add(1);
            return;
        }
        let mut facts = self.context().0;
        let of_page = facts & Context::SECTION == 0;
        facts |= match tag.tag {
            Tag::Noscript => Context::HIDDEN,
            // A declarative shadow root is shown in place.
            Tag::Template if !tag.has("shadowrootmode") => Context::HIDDEN | Context::INERT,
            Tag::Nav | Tag::Menu => Context::NAVIGATION,
            Tag::Header if of_page => Context::HEADER,
            Tag::Footer if of_page => Context::FOOTER,
            Tag::Article | Tag::Main | Tag::Section | Tag::Blockquote => Context::SECTION,
            Tag::Li => Context::ITEM,
            Tag::Tr => Context::ROW,
            Tag::Table => 0,
            heading if heading.is_heading() => Context::HEADING,
            _ => 0,
        };
        facts |= match tag.value("role").as_deref() {
            Some("navigation" | "menu" | "menubar") => Context::NAVIGATION,
            Some("banner") => Context::HEADER,
            Some("contentinfo") => Context::FOOTER,
            _ => 0,
        };
        if tag.tag == Tag::Table {
            facts &= !(Context::ITEM | Context::ROW);
        }
        let around = self.open.last().copied();
        let level = tag.tag.heading_level();
        let given = if level > 0 { Some(heading_points(level) as f32) } else { None };
        self.open.push(Open {
            tag: tag.tag,
            context: Context(facts),
            place: place_inside(around.map_or(0, |open| open.place), tag),
            heading: if level > 0 { level } else { around.map_or(0, |open| open.heading) },
            points: styled(tag).or(given).unwrap_or(around.map_or(PLAIN_POINTS as f32, |open| open.points)),
        });
        (self.block, self.block_points) = (0, None);
    }

    /// A list item ends the one before it, a row the row, a heading the heading.
    fn close_implied(&mut self, tag: Tag) {
        for place in (0..self.open.len()).rev() {
            let open = self.open[place].tag;
            let ends = match tag {
                Tag::Li => open == Tag::Li,
                Tag::Tr => open == Tag::Tr,
                _ if tag.is_heading() => open.is_heading(),
                _ => false,
            };
            if ends {
                self.open.truncate(place);
                return;
            }
            let walled = match tag {
                Tag::Li => open.is_list() || matches!(open, Tag::Table | Tag::Template),
                Tag::Tr => matches!(open, Tag::Table | Tag::Template),
                _ => true,
            };
            if walled {
                return;
            }
        }
    }

    fn release(&mut self, tag: Tag) {
        if self.beyond > 0 {
            self.beyond -= 1;
            return;
        }
        let same = |open: &Open| open.tag == tag || (tag.is_heading() && open.tag.is_heading());
        if let Some(place) = self.open.iter().rposition(same) {
            self.open.truncate(place);
        }
    }

    fn role(&self) -> Role {
        let context = self.context();
        if self.in_title {
            Role::Title
        } else if context.is(Context::NAVIGATION) {
            Role::Navigation
        } else if context.is(Context::FOOTER) {
            Role::Footer
        } else if context.is(Context::HEADING) {
            Role::Heading
        } else if context.is(Context::HEADER) {
            Role::Navigation
        } else if context.is(Context::ITEM) {
            Role::ListItem
        } else if context.is(Context::ROW) {
            Role::TableRow
        } else {
            Role::Main
        }
    }

    fn push_folded(&mut self, text: &str) {
        let bytes = text.as_bytes();
        let mut place = 0;
        while place < bytes.len() {
            let start = place;
            while step_over_plain(bytes, start, &mut place) {}
            if start < place {
                self.push_word(&text[start..place]);
            }
            let space = white_space(&bytes[place..]);
            if space > 0 {
                self.space_pending = true;
                place += space;
            } else if place < bytes.len() {
                place += self.push_rare(&text[place..]);
            }
        }
    }

    /// Takes one letter that may be white space; gives its length.
    fn push_rare(&mut self, rest: &str) -> usize {
        let Some(letter) = rest.chars().next() else { return 1 };
        if letter.is_whitespace() {
            self.space_pending = true;
        } else if letter != '\0' {
            // The standard drops NUL from the text of a body.
            self.push_word(&rest[..letter.len_utf8()]);
        }
        letter.len_utf8()
    }

    fn begin(&self) -> Begun {
        let around = self.open.last();
        let place = mix(around.map_or(0, |open| open.place), self.block);
        let role = self.role();
        let points = self.font_points.or(self.block_points);
        Begun {
            start: self.text.len(),
            role,
            level: self.level,
            place: (place >> 16) as u16,
            heading: if role == Role::Heading { around.map_or(0, |open| open.heading) } else { 0 },
            points: points.unwrap_or(around.map_or(PLAIN_POINTS as f32, |open| open.points)),
        }
    }

    fn push_word(&mut self, word: &str) {
        if self.begun.is_none() {
            if !self.text.is_empty() {
                self.text.push('\n');
            }
            self.begun = Some(self.begin());
        } else if self.space_pending {
            self.text.push(' ');
        } else if self.after_tag {
            self.joints.push(self.text.len() as u32);
        }
        self.after_tag = false;
        self.space_pending = false;
        self.breaks = 0;
        self.text.push_str(word);
    }
}

/// The mark of a place inside this element: its name, and those of its id and classes that a person gave it.
fn place_inside(around: u32, tag: &OpenTag<'_, '_>) -> u32 {
    let mut place = mix(around, tag.name.packed());
    for attribute in tag.attributes {
        if attribute.is("id") || attribute.is("class") {
            for word in attribute.raw.split_ascii_whitespace().filter(|word| is_lasting(word)) {
                // The order of classes means nothing.
                place = place.wrapping_add(mix(PLACE_SALT, digest(word.as_bytes())));
            }
        }
    }
    place
}

/// Letters and single hyphens only, and no word for a passing state: such names outlive builds and visits.
fn is_lasting(word: &str) -> bool {
    let is_passing = || {
        matches!(
            word,
            "active"
                | "current"
                | "selected"
                | "open"
                | "opened"
                | "closed"
                | "hidden"
                | "visible"
                | "show"
                | "first"
                | "last"
                | "loaded"
        )
    };
    let (mut plain, mut hyphens) = (true, false);
    for byte in word.bytes() {
        plain &= byte.is_ascii_lowercase() || byte == b'-';
        hyphens |= byte == b'-';
    }
    let is_made = || hyphens && word.as_bytes().windows(4).any(|letters| letters == b"css-");
    plain && word.len() <= NAME_BYTES_MAX && !is_made() && !is_passing()
}

/// Longer names are made by machines.
const NAME_BYTES_MAX: usize = 32;

const PLACE_SALT: u32 = 0x9e37_79b9;

fn mix(state: u32, item: u64) -> u32 {
    let product = (u64::from(state) ^ item ^ 0x9e37_79b9_7f4a_7c15).wrapping_mul(0xd134_2543_de82_ef95);
    (product ^ product >> 32) as u32
}

/// The size of type that the element's own style asks for.
fn styled(tag: &OpenTag<'_, '_>) -> Option<f32> {
    let style = tag.attributes.iter().find(|attribute| attribute.is("style"))?;
    styled_points(style.raw).map(|points| points as f32)
}

/// Goes over letters and single spaces, which need no folding, and first over as many as can be seen at once; whether
/// there may be more of them.
#[inline(always)]
fn step_over_plain(bytes: &[u8], start: usize, place: &mut usize) -> bool {
    *place = skip_plain(bytes, *place);
    // What the wide look did not pass is looked at byte by byte, and then there may be more for it.
    let end = bytes.len().min(*place + 8);
    while *place < end {
        if !MAY_FOLD[usize::from(bytes[*place])] {
            *place += 1;
        } else if bytes[*place] == b' '
            && *place > start
            && bytes.get(*place + 1).is_some_and(|&next| !MAY_FOLD[usize::from(next)])
        {
            *place += 2;
        } else {
            return false;
        }
    }
    *place < bytes.len()
}

/// First bytes of letters that may be white space, and NUL.
const MAY_FOLD: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte <= 0x20 {
        table[byte] = true;
        byte += 1;
    }
    // U+0085 and U+00A0; U+1680; U+2000 to U+205F; U+3000.
    table[0xc2] = true;
    table[0xe1] = true;
    table[0xe2] = true;
    table[0xe3] = true;
    table
};
