//! The meaning of one body: data only, the functions live in room `document`.

use serde::{Deserialize, Serialize};

use crate::{Fingerprint, Listing, Partition, Signature, Url};

/// The parsed meaning of one body; short-lived.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Document {
    pub media: Media,
    /// The media type as the site gave it or as the bytes show it, without parameters, lower case.
    pub content_type: String,
    /// The name of the character set the text was read in.
    pub charset: &'static str,
    pub title: String,
    /// BCP 47 as the page says it (`lang`, Content-Language); empty when it does not.
    pub language: String,
    pub canonical: Option<Url>,
    pub alternates: Vec<AlternateLink>,
    /// Every link with its kind, in order, repeats kept, up to the limit.
    pub links: Vec<Link>,
    /// The words of the links, one behind the other (see `Document::anchor`).
    pub anchors: String,
    /// Links beyond the limit, counted and not kept.
    pub links_dropped: u32,
    /// The visible text: the paragraphs one after the other, separated by line feeds.
    pub text: String,
    pub paragraphs: Vec<Paragraph>,
    /// Where in the source each paragraph begins, and at last where the source ends; empty where nobody noted it.
    pub begins: Vec<u32>,
    /// What meta robots and X-Robots-Tag ask of us.
    pub directives: Directives,
    /// The content of paper 000's meta-updates tag, as written.
    pub meta_updates: Option<String>,
    /// What it lists, where it is a sitemap, a feed or a table of volatile information.
    pub listing: Option<Box<Listing>>,
}

impl Document {
    /// The words of one of its links, white space folded, limited.
    pub fn anchor(&self, link: &Link) -> &str {
        let AnchorPlace { start, bytes } = link.anchor;
        self.anchors.get(start as usize..start as usize + usize::from(bytes)).unwrap_or_default()
    }
}

#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Media {
    Html,
    Xml,
    Text,
    Json,
    Pdf,
    Image,
    Style,
    Script,
    #[default]
    Other,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    pub target: Url,
    pub kind: LinkKind,
    pub rel: Rel,
    /// Where its words lie.
    pub anchor: AnchorPlace,
}

/// Where the words of a link lie among those of all links of its document: most pages have many links, and each with a
/// text of its own would be a piece of memory of its own.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct AnchorPlace {
    pub start: u32,
    pub bytes: u8,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[repr(u8)]
pub enum LinkKind {
    Anchor = 0,
    Image = 1,
    Style = 2,
    Script = 3,
    Frame = 4,
    Media = 5,
    /// A redirect met on the way.
    Redirect = 6,
    Canonical = 7,
    Alternate = 8,
    /// A feed that the page names.
    Feed = 9,
    /// The table of its volatile parts that the page names (paper 004).
    Companion = 10,
}

/// The rel words that change what we do, as bits.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rel(pub u8);

impl Rel {
    pub const NOFOLLOW: Rel = Rel(1);
    pub const UGC: Rel = Rel(2);
    pub const SPONSORED: Rel = Rel(4);
    pub const NEXT: Rel = Rel(8);

    pub fn contains(self, other: Rel) -> bool {
        self.0 & other.0 == other.0
    }

    #[must_use]
    pub fn with(self, other: Rel) -> Rel {
        Rel(self.0 | other.0)
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct AlternateLink {
    pub target: Url,
    pub language: String,
    pub content_type: String,
}

/// A block of text. Its words are `document.text[start..end]`.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Paragraph {
    pub start: u32,
    pub end: u32,
    pub role: Role,
    /// 64 bits (xxh3) of its words, white space folded.
    pub digest: u64,
    /// The tags around it, as a mark (see `ParagraphMark`).
    pub place: u16,
    /// 1 to 6 for a heading, 0 for everything else.
    pub heading: u8,
}

#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[repr(u8)]
pub enum Role {
    #[default]
    Main = 0,
    Heading = 1,
    Navigation = 2,
    Footer = 3,
    ListItem = 4,
    TableRow = 5,
    Title = 6,
}

/// What a page asks of robots (meta robots, X-Robots-Tag).
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Directives {
    /// Kept and marked, left out of search and text exports unless asked.
    pub noindex: bool,
    /// Links are recorded and not followed.
    pub nofollow: bool,
    /// Digests and schedule are kept, no body.
    pub noarchive: bool,
}

impl Directives {
    #[must_use]
    pub fn with(self, other: Directives) -> Directives {
        Directives {
            noindex: self.noindex || other.noindex,
            nofollow: self.nofollow || other.nofollow,
            noarchive: self.noarchive || other.noarchive,
        }
    }
}

/// What the tables keep of the newest document of a page.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DocumentRow {
    pub signature: Signature,
    pub media: Media,
    pub content_type: Box<str>,
    pub title: Box<str>,
    pub language: Box<str>,
    pub directives: Directives,
    pub links: Vec<LinkRow>,
    /// The number that the page's next new paragraph gets (see `ParagraphMark`).
    pub next_paragraph: u32,
    /// The content of the version before, by which a page is seen to flap.
    pub content_before: Option<u128>,
}

/// Where the sieve counts a link as a back link: in the partition of its target, or nowhere, because it is not followed,
/// leads out of the scope, or stands on the page a second time. One byte.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CountedIn(u8);

impl CountedIn {
    pub const NOWHERE: CountedIn = CountedIn(0);

    pub fn new(partition: Partition) -> Self {
        CountedIn(partition.0 + 1)
    }

    pub fn partition(self) -> Option<Partition> {
        self.0.checked_sub(1).map(Partition)
    }
}

/// One link, packed: ten bytes and two flags instead of a row of its own.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkRow {
    pub target: Fingerprint,
    pub kind: LinkKind,
    pub rel: Rel,
    pub counted: CountedIn,
}
