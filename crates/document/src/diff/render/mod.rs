//! A diff as people read it. Everything that came from a page is hostile here: control characters never reach a
//! terminal, and nothing of it is markup, style, script or an address in a page of ours.

mod html;
mod rows;
mod source;
mod text;

pub use html::html;
pub use source::source;
pub use text::text;

/// What to show, and under which names.
#[derive(Clone, Debug)]
pub struct View<'a> {
    /// The page's title or address.
    pub title: &'a str,
    /// What the two sides are called: "version 3, 2026-11-01" and the like.
    pub from: &'a str,
    pub to: &'a str,
    /// Everything, not only what changed.
    pub full: bool,
    /// How many unchanged paragraphs (or lines of source) stand around a change, where not all do.
    pub context: usize,
    /// ANSI colours, in text and source.
    pub colour: bool,
}

impl Default for View<'_> {
    fn default() -> Self {
        View { title: "", from: "before", to: "after", full: false, context: 1, colour: false }
    }
}
