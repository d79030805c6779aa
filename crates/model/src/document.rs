//! The parsed meaning of one body, data only. The functions are in `vernal-document`.

use serde::{Deserialize, Serialize};

use crate::{Fingerprint, Partition, Signature, SiteList, Url};

/// The parsed meaning of one body; short-lived.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Document {
    pub media: Media,
    /// The media type as the site gave it or as the bytes show, in lower case and without parameters.
    pub content_type: String,
    /// The character set of the source.
    pub charset: &'static str,
    pub title: String,
    /// The language in BCP 47 as the page names it (`lang`, Content-Language); empty if it does not.
    pub language: String,
    pub canonical: Option<Url>,
    pub alternates: Vec<AlternateLink>,
    /// Every link with its kind, in order, repeats kept, up to the limit.
    pub links: Vec<Link>,
    /// The words of the links, concatenated (see `Document::anchor`).
    pub anchors: String,
    /// Links beyond the limit, counted and not kept.
    pub links_dropped: u32,
    /// The visible text: the paragraphs one after the other, separated by line feeds.
    pub text: String,
    pub paragraphs: Vec<Paragraph>,
    /// The start of each paragraph in the source, and the end of the source; empty if it was not recorded.
    pub begins: Vec<u32>,
    /// The pages, sheets or slides of a file: the first paragraph of each and its name; empty for pages of HTML.
    pub places: Vec<(u32, Box<str>)>,
    /// The directives of meta robots and X-Robots-Tag.
    pub directives: Directives,
    /// The content of the meta-updates tag of paper 000, as written.
    pub meta_updates: Option<String>,
    /// Its entries, if it is a sitemap, a feed or a table of volatile information.
    pub listing: Option<Box<SiteList>>,
}

impl Document {
    /// The words of one of its links, white space folded, limited.
    pub fn anchor(&self, link: &Link) -> &str {
        let AnchorPlace { start, bytes } = link.anchor;
        self.anchors.get(start as usize..start as usize + usize::from(bytes)).unwrap_or_default()
    }

    /// The page, sheet or slide on which a paragraph begins.
    pub fn place_of(&self, paragraph: usize) -> Option<&str> {
        let after = self.places.partition_point(|(first, _)| *first as usize <= paragraph);
        after.checked_sub(1).map(|place| &*self.places[place].1)
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
    /// The range of its words.
    pub anchor: AnchorPlace,
}

/// The range of the words of a link in the common text of all links of its document. Separate strings would be many small
/// allocations.
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
    /// A redirect.
    Redirect = 6,
    Canonical = 7,
    Alternate = 8,
    /// A feed of the page.
    Feed = 9,
    /// The table of the volatile parts of the page (paper 004).
    Companion = 10,
}

/// The rel words that matter to us, as bits.
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

impl Role {
    /// One word for JSON and for pages.
    pub fn name(self) -> &'static str {
        match self {
            Role::Main => "main",
            Role::Heading => "heading",
            Role::Navigation => "navigation",
            Role::Footer => "footer",
            Role::ListItem => "list-item",
            Role::TableRow => "table-row",
            Role::Title => "title",
        }
    }
}

/// The robots directives of a page (meta robots, X-Robots-Tag).
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Directives {
    /// The page is kept and marked, and left out of search and text exports by default.
    pub noindex: bool,
    /// Links are recorded, but not followed.
    pub nofollow: bool,
    /// Digests and schedule are kept, but no body.
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
    /// The number for the next new paragraph of the page (see `ParagraphMark`).
    pub next_paragraph: u32,
    /// The content mark of the previous version, by which flapping is recognised.
    pub content_before: Option<u128>,
}

/// Where the sieve counts a link as a back link: in the partition of its target, or nowhere, because it is not followed, leads out
/// of the scope, or is repeated on the page. One byte.
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

/// One packed link: ten bytes and two flags.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkRow {
    pub target: Fingerprint,
    pub kind: LinkKind,
    pub rel: Rel,
    pub counted: CountedIn,
}
