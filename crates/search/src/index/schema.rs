//! The fields of the index.

use tantivy::Index;
use tantivy::schema::{
    BytesOptions, FAST, Field, INDEXED, IndexRecordOption, STORED, STRING, Schema, TextFieldIndexing, TextOptions,
};
use vernal_model::{PageKey, Partition};

use crate::analysis::tokenizer::{NAME, WordTokenizer};

/// The names of the fields that are read by name.
pub const OF: &str = "of";
pub const SITE: &str = "site";
pub const LANGUAGE: &str = "language";
pub const KIND: &str = "kind";
pub const TIME: &str = "time";
pub const VERSION: &str = "version";
pub const ADDRESS: &str = "address";
pub const ANCHORS_DIGEST: &str = "anchors_digest";
pub const LINKS_DIGEST: &str = "links_digest";

/// Pages and removed paragraphs have their text in different fields, so that the counts of one say nothing of the other.
#[derive(Copy, Clone, Debug)]
pub struct Fields {
    /// The page that a unit belongs to.
    pub of: Field,
    /// The same again, of pages alone, by which the unit of a page is replaced.
    pub current: Field,
    pub site: Field,
    pub language: Field,
    /// The kinds of the change that made this version or took this paragraph, and `new`.
    pub kind: Field,
    /// Seconds: when this version was first seen, or when the paragraph was first found gone.
    pub time: Field,
    /// The version of a page's text.
    pub version: Field,
    /// The fingerprint of a page's URL, by which links name it.
    pub address: Field,
    pub url: Field,
    pub title: Field,
    pub headings: Field,
    /// Main text by paragraph.
    pub body: Field,
    /// Menus, headers and footers.
    pub frame: Field,
    /// The words of links to the page, and one number for them.
    pub anchors: Field,
    pub anchors_digest: Field,
    /// The links out of the page (see `follow::link_words`), and one number for all of them.
    pub link: Field,
    pub links_digest: Field,
    /// The words of a removed paragraph, of main text and of the frame.
    pub gone: Field,
    pub gone_frame: Field,
    /// The words that stand in its place now.
    pub after: Field,
    /// What is told of a removed paragraph.
    pub told: Field,
}

pub fn schema() -> (Schema, Fields) {
    let indexing = TextFieldIndexing::default()
        .set_tokenizer(NAME)
        .set_fieldnorms(true)
        .set_index_option(IndexRecordOption::WithFreqsAndPositions);
    let text = TextOptions::default().set_indexing_options(indexing);
    let mut builder = Schema::builder();
    let fields = Fields {
        of: builder.add_u64_field(OF, FAST | INDEXED),
        current: builder.add_u64_field("current", INDEXED),
        site: builder.add_text_field(SITE, STRING | FAST),
        language: builder.add_text_field(LANGUAGE, STRING | FAST),
        kind: builder.add_text_field(KIND, STRING | FAST),
        time: builder.add_i64_field(TIME, FAST),
        version: builder.add_u64_field(VERSION, FAST),
        address: builder.add_u64_field(ADDRESS, FAST | INDEXED),
        url: builder.add_text_field("url", text.clone()),
        title: builder.add_text_field("title", text.clone()),
        headings: builder.add_text_field("headings", text.clone()),
        body: builder.add_text_field("body", text.clone()),
        frame: builder.add_text_field("frame", text.clone()),
        anchors: builder.add_text_field("anchors", text.clone()),
        anchors_digest: builder.add_u64_field(ANCHORS_DIGEST, FAST),
        link: builder.add_bytes_field("link", BytesOptions::default().set_indexed()),
        links_digest: builder.add_u64_field(LINKS_DIGEST, FAST),
        gone: builder.add_text_field("gone", text.clone()),
        gone_frame: builder.add_text_field("gone_frame", text.clone()),
        after: builder.add_text_field("after", text),
        told: builder.add_bytes_field("told", STORED),
    };
    (builder.build(), fields)
}

/// The index must know how its words are cut, whenever it is opened.
pub fn register(index: &Index) {
    index.tokenizers().register(NAME, WordTokenizer::default());
}

/// A page as one number, in the order of its key.
pub fn number_of(page: PageKey) -> u64 {
    u64::from(page.partition.0) << 32 | u64::from(page.number)
}

pub fn page_of(number: u64) -> PageKey {
    PageKey::new(Partition((number >> 32) as u8), number as u32)
}
