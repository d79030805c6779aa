//! The open elements around the present position of the scan. They give the role of text, the mark of the place, and the font
//! size.
//!
//! Only elements that give a role or hide their content are remembered while they are open, and only so many of them. Deeper
//! nesting is only counted, so that depth costs neither time nor memory.

use vernal_model::Role;

use super::scan::OpenTag;
use super::tag::Tag;
use crate::signature::checksum::{PLAIN_POINTS, font_points, heading_points, styled_points};
use crate::signature::digest;

/// The limit of remembered open elements.
const OPEN_MAX: usize = 128;

#[derive(Default)]
pub struct ElementStack {
    open: Vec<OpenElement>,
    /// Elements that were opened beyond the limit.
    beyond: usize,
    /// The last block that is not on the stack: its name, and its font size if it sets one.
    block: u64,
    block_points: Option<f32>,
    font_points: Option<f32>,
}

#[derive(Copy, Clone)]
struct OpenElement {
    tag: Tag,
    /// The facts about everything inside it.
    context: Context,
    /// A running mark of the surrounding names, including this one.
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
    /// Inside an article or similar element, whose header and footer are not those of the page.
    const SECTION: u16 = 128;
    /// Inside a template, which is not part of the page.
    const INERT: u16 = 256;

    fn is(self, facts: u16) -> bool {
        self.0 & facts != 0
    }
}

impl ElementStack {
    pub fn open(&mut self, tag: &OpenTag<'_, '_>) {
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
        if tag == Tag::Font {
            self.font_points = None;
        }
        if tag.is_block() {
            (self.block, self.block_points) = (0, None);
        }
        if tag.is_held() {
            self.release(tag);
        }
    }

    pub fn is_hidden(&self) -> bool {
        self.context().is(Context::HIDDEN)
    }

    /// Whether the content here is not part of the page, not even its links.
    pub fn is_inert(&self) -> bool {
        self.context().is(Context::INERT)
    }

    pub fn role(&self) -> Role {
        let context = self.context();
        if context.is(Context::NAVIGATION) {
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

    /// The mark of the place, made of all surrounding elements.
    pub fn place(&self) -> u16 {
        (mix(self.open.last().map_or(0, |open| open.place), self.block) >> 16) as u16
    }

    /// 1 to 6 in a heading.
    pub fn heading(&self) -> u8 {
        self.open.last().map_or(0, |open| open.heading)
    }

    pub fn points(&self) -> f32 {
        let here = self.font_points.or(self.block_points);
        here.unwrap_or_else(|| self.open.last().map_or(PLAIN_POINTS as f32, |open| open.points))
    }

    fn context(&self) -> Context {
        self.open.last().map_or(Context::default(), |open| open.context)
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
            // A declarative shadow root is displayed in place.
            Tag::Template if !tag.has("shadowrootmode") => Context::HIDDEN | Context::INERT,
            Tag::Nav | Tag::Menu => Context::NAVIGATION,
            Tag::Header if of_page => Context::HEADER,
            Tag::Footer if of_page => Context::FOOTER,
            // What stands beside the content of the page, such as a sidebar.
            Tag::Aside if of_page => Context::NAVIGATION,
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
            Some("complementary") if of_page => Context::NAVIGATION,
            Some("contentinfo") => Context::FOOTER,
            _ => 0,
        };
        if tag.tag == Tag::Table {
            facts &= !(Context::ITEM | Context::ROW);
        }
        let around = self.open.last().copied();
        let level = tag.tag.heading_level();
        let given = if level > 0 { Some(heading_points(level) as f32) } else { None };
        self.open.push(OpenElement {
            tag: tag.tag,
            context: Context(facts),
            place: place_inside(around.map_or(0, |open| open.place), tag),
            heading: if level > 0 { level } else { around.map_or(0, |open| open.heading) },
            points: styled(tag).or(given).unwrap_or(around.map_or(PLAIN_POINTS as f32, |open| open.points)),
        });
        (self.block, self.block_points) = (0, None);
    }

    /// A list item ends the previous one, as a row ends a row and a heading a heading.
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
        let same = |open: &OpenElement| open.tag == tag || (tag.is_heading() && open.tag.is_heading());
        if let Some(place) = self.open.iter().rposition(same) {
            self.open.truncate(place);
        }
    }
}

/// The mark of a place inside this element: its name, and those of its id and classes that look written by a person.
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

/// Whether a name consists of letters and single hyphens and is no word for a temporary state. Such names are stable across
/// builds and visits.
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

/// Longer names are generated.
const NAME_BYTES_MAX: usize = 32;

const PLACE_SALT: u32 = 0x9e37_79b9;

fn mix(state: u32, item: u64) -> u32 {
    let product = (u64::from(state) ^ item ^ 0x9e37_79b9_7f4a_7c15).wrapping_mul(0xd134_2543_de82_ef95);
    (product ^ product >> 32) as u32
}

/// The font size in the style of the element.
fn styled(tag: &OpenTag<'_, '_>) -> Option<f32> {
    let style = tag.attributes.iter().find(|attribute| attribute.is("style"))?;
    styled_points(style.raw).map(|points| points as f32)
}
