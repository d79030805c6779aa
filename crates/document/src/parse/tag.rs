//! The known element names as small numbers with properties, so that a tag needs no allocation.

use super::name::{Name, PACKED_BYTES_MAX};
use super::perfect_hash::PerfectHash;

/// Names of up to eight letters are packed into one number and compared in one step. Longer ones are compared as text.
macro_rules! tags {
    ($($variant:ident = $name:literal: $traits:expr;)*) => {
        #[derive(Copy, Clone, Debug, PartialEq, Eq)]
        #[repr(u8)]
        pub enum Tag {
            /// An unknown name.
            Other,
            $($variant,)*
        }

        impl Tag {
            /// The element with this name, ignoring case.
            pub fn of(name: Name<'_>) -> Tag {
                static SLOTS: PerfectHash<Tag, 1024> = PerfectHash::of(&[$((pack($name.as_bytes()), Tag::$variant),)*], Tag::Other);
                if name.packed() != 0 {
                    return SLOTS.find(name.packed());
                }
                $(if $name.len() > PACKED_BYTES_MAX && name.is($name) {
                    return Tag::$variant;
                })*
                Tag::Other
            }

            const TRAITS: &'static [u16] = &[0, $($traits,)*];
        }
    };
}

/// The letters in lower case as one number. 0 for names that are too long.
#[inline(always)]
pub const fn pack(name: &[u8]) -> u64 {
    if name.len() > PACKED_BYTES_MAX {
        return 0;
    }
    let mut packed = 0;
    let mut place = 0;
    while place < name.len() {
        packed = packed << 8 | name[place].to_ascii_lowercase() as u64;
        place += 1;
    }
    packed
}

/// Begins and ends a paragraph.
const BLOCK: u16 = 1;
/// Separates words without ending a paragraph.
const SPACE: u16 = 2;
/// Has no content and no end tag.
const VOID: u16 = 4;
/// Remembered while it is open, because it gives its content a role or hides it.
const HELD: u16 = 16;
/// Ends foreign content (svg, math) when it begins inside it.
const BREAKOUT: u16 = 32;

tags! {
    A = "a": 0;
    Address = "address": BLOCK;
    AnnotationXml = "annotation-xml": 0;
    Area = "area": VOID;
    Article = "article": BLOCK | HELD;
    Aside = "aside": BLOCK | HELD;
    Audio = "audio": SPACE;
    B = "b": BREAKOUT;
    Base = "base": VOID;
    Big = "big": BREAKOUT;
    Blockquote = "blockquote": BLOCK | BREAKOUT | HELD;
    Body = "body": BLOCK | BREAKOUT;
    Br = "br": VOID | BREAKOUT;
    Button = "button": SPACE;
    Canvas = "canvas": SPACE;
    Caption = "caption": BLOCK;
    Center = "center": BLOCK | BREAKOUT;
    Code = "code": BREAKOUT;
    Col = "col": VOID;
    Colgroup = "colgroup": 0;
    Dd = "dd": BLOCK | BREAKOUT;
    Desc = "desc": SPACE;
    Details = "details": BLOCK;
    Dialog = "dialog": BLOCK;
    Dir = "dir": BLOCK | HELD;
    Div = "div": BLOCK | HELD | BREAKOUT;
    Dl = "dl": BLOCK | BREAKOUT;
    Dt = "dt": BLOCK | BREAKOUT;
    Em = "em": BREAKOUT;
    Embed = "embed": VOID | BREAKOUT;
    Fieldset = "fieldset": BLOCK;
    Figcaption = "figcaption": BLOCK;
    Figure = "figure": BLOCK;
    Font = "font": 0;
    Footer = "footer": BLOCK | HELD;
    ForeignObject = "foreignobject": SPACE;
    Form = "form": BLOCK;
    Frame = "frame": VOID;
    Frameset = "frameset": BLOCK;
    H1 = "h1": BLOCK | HELD | BREAKOUT;
    H2 = "h2": BLOCK | HELD | BREAKOUT;
    H3 = "h3": BLOCK | HELD | BREAKOUT;
    H4 = "h4": BLOCK | HELD | BREAKOUT;
    H5 = "h5": BLOCK | HELD | BREAKOUT;
    H6 = "h6": BLOCK | HELD | BREAKOUT;
    Head = "head": BLOCK | BREAKOUT;
    Header = "header": BLOCK | HELD;
    Hgroup = "hgroup": BLOCK;
    Hr = "hr": BLOCK | VOID | BREAKOUT;
    Html = "html": BLOCK;
    I = "i": BREAKOUT;
    Iframe = "iframe": SPACE;
    Image = "image": 0;
    Img = "img": VOID | BREAKOUT;
    Input = "input": VOID | SPACE;
    Label = "label": SPACE;
    Legend = "legend": BLOCK;
    Li = "li": BLOCK | HELD | BREAKOUT;
    Link = "link": VOID;
    Listing = "listing": BLOCK | BREAKOUT;
    Main = "main": BLOCK | HELD;
    Math = "math": 0;
    Menu = "menu": BLOCK | HELD | BREAKOUT;
    Meta = "meta": VOID | BREAKOUT;
    Mi = "mi": 0;
    Mn = "mn": 0;
    Mo = "mo": 0;
    Ms = "ms": 0;
    Mtext = "mtext": 0;
    Nav = "nav": BLOCK | HELD;
    Nobr = "nobr": BREAKOUT;
    Noembed = "noembed": 0;
    Noframes = "noframes": 0;
    Noscript = "noscript": SPACE | HELD;
    Object = "object": SPACE;
    Ol = "ol": BLOCK | HELD | BREAKOUT;
    Optgroup = "optgroup": SPACE;
    Option = "option": SPACE;
    P = "p": BLOCK | BREAKOUT;
    Param = "param": VOID;
    Plaintext = "plaintext": BLOCK;
    Pre = "pre": BLOCK | BREAKOUT;
    Ruby = "ruby": BREAKOUT;
    S = "s": BREAKOUT;
    Script = "script": 0;
    Search = "search": BLOCK;
    Section = "section": BLOCK | HELD;
    Select = "select": SPACE;
    Small = "small": BREAKOUT;
    Source = "source": VOID;
    Span = "span": BREAKOUT;
    Strike = "strike": BREAKOUT;
    Strong = "strong": BREAKOUT;
    Style = "style": 0;
    Sub = "sub": BREAKOUT;
    Summary = "summary": BLOCK;
    Sup = "sup": BREAKOUT;
    Svg = "svg": SPACE;
    Table = "table": BLOCK | HELD | BREAKOUT;
    Tbody = "tbody": BLOCK;
    Td = "td": SPACE;
    Template = "template": HELD;
    Textarea = "textarea": SPACE;
    Tfoot = "tfoot": BLOCK;
    Th = "th": SPACE;
    Thead = "thead": BLOCK;
    Title = "title": BLOCK;
    Tr = "tr": BLOCK | HELD;
    Track = "track": VOID;
    Tt = "tt": BREAKOUT;
    U = "u": BREAKOUT;
    Ul = "ul": BLOCK | HELD | BREAKOUT;
    Var = "var": BREAKOUT;
    Video = "video": SPACE;
    Wbr = "wbr": VOID;
    Xmp = "xmp": BLOCK;
}

impl Tag {
    fn has(self, wanted: u16) -> bool {
        Self::TRAITS[self as usize] & wanted != 0
    }

    pub fn is_block(self) -> bool {
        self.has(BLOCK)
    }

    pub fn separates_words(self) -> bool {
        self.has(SPACE)
    }

    pub fn is_void(self) -> bool {
        self.has(VOID)
    }

    pub fn is_held(self) -> bool {
        self.has(HELD)
    }

    pub fn ends_foreign_content(self) -> bool {
        self.has(BREAKOUT)
    }

    pub fn is_heading(self) -> bool {
        (Tag::H1 as u8..=Tag::H6 as u8).contains(&(self as u8))
    }

    /// 1 to 6 for a heading, 0 for everything else.
    pub fn heading_level(self) -> u8 {
        if self.is_heading() { self as u8 - Tag::H1 as u8 + 1 } else { 0 }
    }

    pub fn is_list(self) -> bool {
        matches!(self, Tag::Ul | Tag::Ol | Tag::Menu | Tag::Dir)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tag_of(name: &str) -> Tag {
        Tag::of(Name::of(name))
    }

    #[test]
    fn names_are_met_in_any_case_and_only_whole() {
        assert_eq!(tag_of("DIV"), Tag::Div);
        assert_eq!(tag_of("h6"), Tag::H6);
        assert_eq!(tag_of("noscript"), Tag::Noscript);
        assert_eq!(tag_of("BlockQuote"), Tag::Blockquote);
        assert_eq!(tag_of("annotation-xml"), Tag::AnnotationXml);
        assert_eq!(tag_of("divx"), Tag::Other);
        assert_eq!(tag_of(""), Tag::Other);
        assert_eq!(tag_of("my-very-own-element"), Tag::Other);
    }
}
